// The controls: a board, and the way through its game, by buttons, keys, timeline, list of moves and address. The pages of
// stored games, of games that are watched, and of a person's seat are all made of it.
"use strict";

const PLY_MS = 700, SLIDE_MS = 300, ADDRESS_MS = 200, MOST_BEHIND = 3;
const KEYS = { ArrowLeft: "back", ArrowRight: "next", ArrowUp: "first", ArrowDown: "last", Home: "first", End: "last", " ": "play", f: "flip", n: "fight", N: "fight_back", r: "reveal", R: "reveal_back" };
const BUSY = "input, select, textarea, pre, dialog, [role=grid], .wide"; // what has uses of its own for these keys

class Replay {
  // `on` may have look(square) and known() for what is special on the newest position, shown(), and the `board` if there is
  // one already. In a game that goes on (`isLive`) later plies follow each other after `pace` milliseconds.
  constructor(root, game, on = {}) {
    this.root = root;
    this.on = on;
    this.texts = JSON.parse(root.dataset.texts);
    this.positions = new Positions(game);
    this.labels = game.labels;
    this.ply = 0;
    this.flipped = false;
    this.timer = null;
    this.waiting = new Map();
    this.timeline = new Timeline(this.part("timeline"));
    const board = this.part("board");
    const looked = (square) => this.tellSquare(square);
    this.board = on.board ?? (board ? new Board(board, this.labels, this.texts, { looked }) : new Picture(this.part("position"), this.texts));
    root.classList.add("scripted");
    this.set(game);
    this.listen();
    if (on.isLive) this.go(this.last);
    else this.follow();
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  set(game) {
    this.positions.take(game);
    this.labels = this.board.labels = game.labels;
    const old = String(this.views);
    this.views = Object.keys(game.views);
    if (String(this.views) !== old) this.view = this.views[0];
    this.ply = Math.min(this.ply, this.last);
    this.part("moves").replaceChildren();
    this.listAll();
  }

  // Show this game from now on, in which there is more to be seen, or which was begun again.
  take(game) {
    this.set(game);
    if (this.follows) this.catchUp();
    else this.go(this.ply);
  }

  // Add later plies, and follow the game if its newest position is shown; false if plies between are missing.
  extend(since, part) {
    if (!this.positions.extend(since, part)) return false;
    this.listAll();
    if (this.follows) this.catchUp();
    else this.draw(null);
    return true;
  }

  // Show the next ply when the one before has been seen; if there are many or it `isUrgent`, the newest.
  catchUp(isUrgent = false) {
    clearTimeout(this.following);
    const behind = this.last - this.ply, wait = (this.followed ?? 0) + (this.on.pace ?? 0) - Date.now();
    if (behind <= 0) return this.draw(null);
    if (wait > 0 && behind <= MOST_BEHIND && !isUrgent) {
      this.following = setTimeout(() => this.catchUp(), wait);
      return this.draw(null);
    }
    this.followed = Date.now();
    this.go(behind > MOST_BEHIND || isUrgent ? this.last : this.ply + 1, true);
    this.catchUp();
  }

  get last() {
    return this.positions.last;
  }

  seen() {
    return this.positions.seen(this.view);
  }

  // --- what is shown

  draw(isStep = null) {
    const { positions, view, ply } = this;
    if (this.board instanceof Picture) {
      const { texts, images } = this.seen();
      this.board.show({ text: texts?.[ply], image: images?.[ply] });
    } else {
      const isNow = this.on.look && ply === this.last;
      this.board.show(positions.cells(view, ply), { marks: positions.marks(ply), fight: positions.fight(view, ply), known: (isNow && this.on.known()) || positions.known(view, ply), isStep, look: (square) => (isNow ? this.on.look(square) : {}) });
    }
    this.tellPlayers();
    this.tellPly();
    this.tellSquare(this.looked);
    this.tellDialogue();
    this.timeline.go(ply, this.texts.ply + " " + ply);
    this.markCurrent();
    this.root.dataset.ply = ply;
    this.on.shown?.();
  }

  tellPlayers() {
    const lost = this.positions.lost(this.view, this.ply);
    for (const line of this.root.querySelectorAll("[data-player]")) {
      const side = (line.dataset.player === "near") !== this.flipped ? "red" : "blue", at = side === "red" ? 0 : 1;
      line.dataset.side = side;
      line.querySelector("[data-name]").textContent = this.labels[side];
      const bank = this.ply ? this.positions.game.banks?.[this.ply - 1][at] : null;
      if (!this.on.isLive) line.querySelector("[data-clock]").textContent = typeof bank === "number" ? fill(this.texts.seconds, { time: (bank / 1000).toFixed(1) }) : "";
      const counts = {};
      for (const letter of lost[at]) counts[letter] = (counts[letter] ?? 0) + 1;
      const order = [...(this.labels.strength ?? "")].filter((letter) => counts[letter]);
      line.querySelector("[data-lost]").replaceChildren(...order.map((letter) => {
        const name = this.labels.pieces[letter][1] + (counts[letter] > 1 ? ` \u00d7${counts[letter]}` : "");
        const made = element("li", "", pieceImage(side[0] + letter, this.labels.pieces), element("span", "hidden", name), counts[letter] > 1 ? "\u00d7" + counts[letter] : "");
        made.title = name;
        return made;
      }));
    }
  }

  tellPly() {
    const { ply, texts } = this, fight = this.board instanceof Board ? this.positions.fight(this.view, ply) : null;
    const made = [];
    if (ply) {
      const text = fill(texts.now, { ply, side: this.labels[this.positions.side(ply)], action: this.positions.game.actions[ply - 1] });
      made.push(element("p", "what side " + this.positions.side(ply), text, " ", element("span", "time", this.time(ply))));
    } else {
      made.push(element("p", "what", texts.beginning));
    }
    const told = this.seen().words?.[ply];
    if (told) made.push(element("p", "told", ...(fight ? [this.duel(fight)] : []), told));
    for (const [at, side, text] of this.positions.game.notes) {
      if (this.isAt(at)) made.push(element("p", "said", fill(texts.noted, { side: this.labels[side], text })));
    }
    if (this.last && ply === this.last && this.labels.verdict) made.push(element("p", "verdict", this.labels.verdict));
    this.part("now").replaceChildren(...made);
  }

  // Whether something that was said at a ply belongs to what is shown.
  isAt(ply) {
    return ply === this.ply || (ply > this.last && this.ply === this.last);
  }

  // The two pieces of a fight, what was lost crossed out.
  duel({ attacker, defender, lost }) {
    return element("span", "duel", ...[attacker, defender].map((cell) => {
      const piece = pieceImage(cell, this.labels.pieces, false);
      piece.classList.toggle("gone", lost.includes(cell));
      return piece;
    }));
  }

  // What there is to say of a square that is pointed at: the ranks that an unknown piece may have.
  tellSquare(square) {
    this.looked = square;
    const place = this.part("about");
    if (!place || !(this.board instanceof Board)) return;
    const cell = square ? this.positions.cells(this.view, this.ply).get(square) : null;
    const seat = this.view === "all" ? { r: "blue", b: "red" }[cell?.[0]] : this.view;
    const hides = cell && isPiece(cell) && this.positions.seen(seat) && isUnknown(this.positions.cells(seat, this.ply).get(square));
    const letters = hides ? this.positions.could(seat, this.ply, square) : "";
    const what = cell ? this.board.boxes.get(square).getAttribute("aria-label") : this.texts.point;
    const side = { r: "red", b: "blue" }[cell?.[0]];
    const could = [...(this.labels.strength ?? "")].filter((letter) => letters.includes(letter)).map((letter) => pieceImage(side[0] + letter, this.labels.pieces));
    const names = [...letters].map((letter) => this.labels.pieces[letter]?.[1]).join(", ");
    place.replaceChildren(element("span", "", what), ...(could.length ? [element("span", "could", fill(this.texts.could, { seat: this.labels[seat] }), ...could, element("span", "hidden", names))] : []));
  }

  tellDialogue() {
    const place = this.part("dialogue"), sides = { r: this.labels.red, b: this.labels.blue, "": "" };
    if (place) place.textContent = this.positions.game.dialogue.filter(([ply]) => this.isAt(ply)).map(([, side, who, text]) => `${sides[side]} ${who} ${text}`.trim()).join("\n");
  }

  time(ply) {
    const taken = this.positions.game.taken[ply - 1] ?? null;
    return taken === null ? "" : fill(this.texts.milliseconds, { time: (taken / 10).toFixed(1) });
  }

  // The list of moves, as far as it is not there yet, and the timeline.
  listAll() {
    const list = this.part("moves"), { fights = {}, words = {} } = this.seen();
    for (let ply = list.childElementCount + 1; ply <= this.last; ply++) {
      const action = this.positions.game.actions[ply - 1] + (fights[ply] ? "\u00a0\u00d7" : words[ply] ? "\u00a0!" : "");
      const link = element("a", "side " + this.positions.side(ply), element("span", "number", ply + "."), element("span", "action", action), element("span", "time", this.time(ply)));
      link.href = "#ply=" + ply;
      link.dataset.ply = ply;
      link.tabIndex = -1; // hundreds of them: with the keyboard the arrows lead through the list
      if (words[ply]) link.title = words[ply];
      list.append(element("li", "", link));
    }
    this.timeline.draw(this.positions, this.view);
  }

  markCurrent() {
    const list = this.part("moves"), item = this.ply ? list.children[this.ply - 1] : null;
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    item?.firstChild.setAttribute("aria-current", "step");
    this.soon("scroll", () => { list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 : 0; });
  }

  // Do it with the next frame, once, however often it is asked for until then.
  soon(what, action) {
    if (!this.waiting.has(what)) requestAnimationFrame(() => { this.waiting.get(what)(); this.waiting.delete(what); });
    this.waiting.set(what, action);
  }

  // --- what is done

  go(ply, follows = false) {
    const before = this.ply;
    clearTimeout(this.following);
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.follows = follows || this.ply === this.last;
    this.draw(Math.abs(this.ply - before) === 1);
    this.address();
  }

  // Put ply, view and side behind the address; not at each ply while a key is held, which browsers refuse to do so often.
  address() {
    clearTimeout(this.addressing);
    if (this.on.isLive) return;
    const wait = (this.addressed ?? 0) + ADDRESS_MS - Date.now();
    if (wait > 0) {
      this.addressing = setTimeout(() => this.address(), wait);
      return;
    }
    this.addressed = Date.now();
    history.replaceState(null, "", this.hash());
  }

  hash() {
    const { game } = asked(); // on a page for any game
    return "#" + (game ? `game=${game}&` : "") + "ply=" + this.ply + (this.view === this.views[0] ? "" : "&view=" + this.view) + (this.flipped ? "&from=blue" : "");
  }

  play(isOn) {
    clearInterval(this.timer);
    const pause = PLY_MS / Number(this.part("speed")?.value ?? 1);
    this.root.style.setProperty("--slide", Math.min(SLIDE_MS, 0.8 * pause) + "ms");
    this.timer = isOn ? setInterval(() => (this.ply < this.last ? this.go(this.ply + 1) : this.play(false)), pause) : null;
    this.part("now").setAttribute("aria-live", isOn ? "off" : "polite"); // it would never come to an end of announcing
    this.root.querySelector("[data-go=play]")?.setAttribute("aria-pressed", String(isOn));
  }

  // Show what the reader of a view saw.
  look(view) {
    this.view = view;
    for (const input of this.root.querySelectorAll("input[name=view]")) input.checked = input.value === view;
    this.part("moves").replaceChildren();
    this.listAll();
    this.go(this.ply);
  }

  turn(flipped) {
    this.flipped = flipped;
    this.board.turn?.(flipped);
    this.go(this.ply);
  }

  act(what) {
    const jump = (kind, way) => this.timeline.next(kind, this.ply, way);
    const goals = {
      first: () => 0, back: () => this.ply - 1, next: () => this.ply + 1, last: () => this.last,
      fight: () => jump("fights", 1), fight_back: () => jump("fights", -1), reveal: () => jump("reveals", 1), reveal_back: () => jump("reveals", -1),
    };
    if (what in goals) {
      this.play(false);
      this.go(goals[what]());
    } else if (what === "play") {
      if (this.timer === null && this.ply === this.last) this.go(0);
      this.play(this.timer === null);
    } else if (what === "flip") {
      this.turn(!this.flipped);
    }
  }

  listen() {
    const { root } = this;
    for (const button of root.querySelectorAll("[data-go]")) button.addEventListener("click", () => this.act(button.dataset.go));
    this.part("speed")?.addEventListener("change", () => this.play(this.timer !== null));
    this.timeline.slider.addEventListener("input", ({ target }) => { this.play(false); this.go(Number(target.value)); });
    for (const input of root.querySelectorAll("input[name=view]")) input.addEventListener("change", () => this.look(input.value));
    // After a click the arrow keys go through the game; with the keyboard they choose another view.
    this.part("views")?.addEventListener("click", ({ detail }) => {
      if (detail) setTimeout(() => document.activeElement.matches("input[name=view]") && document.activeElement.blur());
    });
    this.part("moves").addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.play(false);
      this.go(Number(link.dataset.ply));
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
    window.addEventListener("hashchange", () => this.follow());
  }

  pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest(BUSY)) return;
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    this.act(KEYS[event.key]);
  }

  // Go where the address says.
  follow() {
    const { ply, view, from } = asked();
    if (this.views.includes(view)) this.look(view);
    this.ply = Math.max(0, Math.min(this.last, Number.parseInt(ply ?? "0", 10) || 0));
    this.turn(from === "blue");
  }
}
