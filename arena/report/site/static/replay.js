// The controls: a board, and the way through its game, by buttons, keys, timeline, list of moves and address. The pages of
// stored games, of games that are watched, and of a person's seat are all made of it.
"use strict";

const PLY_MS = 700, SLIDE_MS = 300, ADDRESS_MS = 200, MOST_BEHIND = 3;
const KEYS = { ArrowLeft: "back", ArrowRight: "next", ArrowUp: "first", ArrowDown: "last", Home: "first", End: "last", " ": "play", f: "flip", n: "fight", N: "fight_back", r: "reveal", R: "reveal_back" };
// What has uses of its own for all of these keys, for those that move, and for space.
const BUSY = "input:not([type=range]), textarea, dialog, .play [role=grid]";
const MOVES = "input, select, [role=grid], .now, .moves, .wide, pre", PRESSES = "button, a, summary, select";

// Put the clocks there, as of so long ago: for Red and Blue the milliseconds left, whether the clock runs, and the bank.
function tellClocks(root, clocks, passed) {
  for (const line of root.querySelectorAll("[data-player]")) {
    const [left, runs, bank] = clocks[line.dataset.side === "red" ? 0 : 1] ?? [], clock = line.querySelector("[data-clock]");
    clock.classList.toggle("runs", Boolean(runs));
    clock.textContent = [Number.isInteger(left) ? left - (runs ? passed : 0) : null, bank].filter(Number.isInteger).map(clockText).join(" + ");
  }
}

class Replay {
  // `on` may have look(square) and known() for what is special on the newest position, shown(), and the `board` if there is
  // one already. In a game that goes on (`isLive`) later plies follow each other after `pace` milliseconds.
  constructor(root, game, on = {}) {
    Object.assign(this, { root, on, ply: 0, timer: null });
    this.texts = JSON.parse(root.dataset.texts);
    this.positions = new Positions(game);
    this.timeline = new Timeline(this.part("timeline"));
    const looked = (square) => this.tellSquare(square);
    this.board = on.board ?? (this.part("board") ? new Board(this.part("board"), game.labels, this.texts, { looked }) : new Picture(this.part("position"), this.texts));
    root.classList.add("scripted");
    this.set(game);
    this.listen();
    this.flipped = on.isFlipped ?? false;
    if (on.isLive) this.go(this.last);
    else this.follow();
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  set(game) {
    const old = String(this.views);
    this.positions.take(game);
    this.labels = this.board.labels = game.labels;
    this.views = Object.keys(game.views);
    if (String(this.views) !== old) this.view = this.views[0];
    this.ply = Math.min(this.ply, this.last);
    this.part("moves").replaceChildren();
    this.list();
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
    this.list();
    if (this.follows) this.catchUp();
    else this.draw();
    return true;
  }

  // Show the next ply when the one before has been seen; if there are many or it `isUrgent`, the newest.
  catchUp(isUrgent = false) {
    clearTimeout(this.following);
    const behind = this.last - this.ply, wait = (this.followed ?? 0) + (this.on.pace ?? 0) - Date.now();
    const jumps = isUrgent || behind > MOST_BEHIND;
    if (behind <= 0) return this.draw();
    if (wait > 0 && !jumps) {
      this.following = setTimeout(() => this.catchUp(), wait);
      return this.draw();
    }
    this.followed = Date.now();
    this.go(jumps ? this.last : this.ply + 1, true);
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
    const { positions, view, ply, on, board } = this;
    if (board instanceof Picture) {
      board.show(this.seen().texts?.[ply], this.seen().images?.[ply]);
    } else {
      const isNow = on.look && ply === this.last, known = (isNow && on.known()) || positions.known(view, ply);
      board.show(positions.cells(view, ply), { marks: positions.marks(ply), fight: positions.fight(view, ply), known, isStep, look: isNow ? on.look : undefined });
    }
    this.tellPlayers();
    this.tellPly();
    this.tellSquare(this.looked);
    this.timeline.go(ply, this.texts.ply + " " + ply);
    this.markCurrent();
    this.root.dataset.ply = ply;
    on.shown?.();
  }

  tellPlayers() {
    const { positions, ply } = this, lost = positions.lost(this.view, ply);
    for (const line of this.root.querySelectorAll("[data-player]")) {
      const side = (line.dataset.player === "near") !== this.flipped ? "red" : "blue", at = side === "red" ? 0 : 1;
      line.dataset.side = side;
      line.querySelector("[data-name]").textContent = this.labels[side];
      line.querySelector("[data-lost]").replaceChildren(...this.pieces(side[0], lost[at]));
    }
    if (!this.on.isLive) tellClocks(this.root, positions.game.banks?.[ply - 1]?.map((bank) => [bank]) ?? [], 0);
  }

  // Pieces of a side, the strongest first: their images, each kind once with its number.
  pieces(side, letters) {
    return [...(this.labels.strength ?? "")].filter((letter) => letters.includes(letter)).map((letter) => {
      const count = letters.split(letter).length - 1, times = count > 1 ? "\u00d7" + count : "", name = `${this.labels.pieces[letter][1]} ${times}`.trim();
      const made = element("li", "", pieceImage(side + letter, this.labels.pieces), element("span", "hidden", name), times);
      made.title = name;
      return made;
    });
  }

  tellPly() {
    const { ply, texts, labels, positions } = this, fight = this.board instanceof Board && positions.fight(this.view, ply);
    const side = positions.side(ply), action = positions.game.actions[ply - 1], told = this.seen().words?.[ply];
    const made = [element("p", ply ? "what side " + side : "what", ply ? fill(texts.now, { ply, last: this.last, side: labels[side], action }) : texts.beginning, " ", element("span", "time", this.time(ply)))];
    if (this.last && ply === this.last && labels.verdict) made.unshift(element("p", "verdict", labels.verdict)); // so that it is seen
    if (told) made.push(element("p", "told", ...(fight ? [this.duel(fight)] : []), told));
    for (const [at, from, text] of positions.game.notes) {
      if (this.isAt(at)) made.push(element("p", "said", fill(texts.noted, { side: labels[from], text })));
    }
    this.part("now").replaceChildren(...made);
    const sides = { r: labels.red, b: labels.blue, "": "" }, lines = positions.game.dialogue.filter(([at]) => this.isAt(at));
    if (this.part("dialogue")) this.part("dialogue").textContent = lines.map(([, from, who, text]) => `${sides[from]} ${who} ${text}`.trim()).join("\n");
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
    const { positions, view, ply, texts, board } = this, place = this.part("about");
    this.looked = square;
    if (!(board instanceof Board)) return;
    const cell = square ? positions.cells(view, ply).get(square) : "";
    const seat = view === "all" ? { r: "blue", b: "red" }[cell[0]] : view;
    const hides = isPiece(cell) && positions.seen(seat) && isUnknown(positions.cells(seat, ply).get(square));
    const could = hides ? this.pieces(cell[0], positions.could(seat, ply, square)) : [];
    place.replaceChildren(square ? board.boxes.get(square).getAttribute("aria-label") : texts.point);
    if (could.length) place.append(element("p", "", fill(texts.could, { seat: this.labels[seat] })), element("ul", "losses", ...could));
  }

  time(ply) {
    const taken = this.positions.game.taken[ply - 1] ?? null;
    return taken === null ? "" : fill(this.texts.milliseconds, { time: (taken / 10).toFixed(1) });
  }

  // The list of moves, as far as it is not there yet, and the timeline.
  list() {
    const list = this.part("moves"), { fights = {}, words = {} } = this.seen();
    for (let ply = list.childElementCount + 1; ply <= this.last; ply++) {
      const action = this.positions.game.actions[ply - 1] + (fights[ply] ? "\u00a0\u00d7" : words[ply] ? "\u00a0!" : "");
      const link = element("a", "side " + this.positions.side(ply), element("span", "number", ply + "."), element("span", "action", action), element("span", "time", this.time(ply)));
      link.href = "#ply=" + ply;
      link.dataset.ply = ply;
      link.tabIndex = -1; // hundreds of them: with the keyboard the arrows lead through the list
      link.title = words[ply] ?? "";
      list.append(element("li", "", link));
    }
    this.timeline.draw(this.positions, this.view);
  }

  markCurrent() {
    const list = this.part("moves"), item = this.ply ? list.children[this.ply - 1] : null;
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    item?.firstChild.setAttribute("aria-current", "step");
    cancelAnimationFrame(this.scrolling);
    this.scrolling = requestAnimationFrame(() => { list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 : 0; });
  }

  // --- what is done

  go(ply, follows = false) {
    const before = this.ply;
    clearTimeout(this.following);
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.follows = follows || this.ply === this.last;
    this.board.turn?.(this.flipped);
    this.draw(Math.abs(this.ply - before) === 1);
    // Ply, view and side are put behind the address; not at each ply while a key is held, which browsers refuse.
    clearTimeout(this.addressing);
    if (!this.on.isLive) this.addressing = setTimeout(() => history.replaceState(null, "", this.hash()), ADDRESS_MS);
  }

  hash() {
    const game = this.root.dataset.game ? "" : asked().game; // on a page for any game
    return "#" + (game ? `game=${game}&` : "") + "ply=" + this.ply + (this.view === this.views[0] ? "" : "&view=" + this.view) + (this.flipped ? "&from=blue" : "");
  }

  play(isOn) {
    clearTimeout(this.timer);
    const pause = PLY_MS / Number(this.part("speed")?.value ?? 1);
    this.root.style.setProperty("--slide", Math.min(SLIDE_MS, 0.8 * pause) + "ms");
    const isFight = this.timeline.fights.includes(this.ply); // there is more to see
    this.timer = isOn ? setTimeout(() => { if (this.ply < this.last) this.go(this.ply + 1); this.play(this.ply < this.last); }, isFight ? 2 * pause : pause) : null;
    this.part("now").setAttribute("aria-live", isOn ? "off" : "polite"); // it would never come to an end of announcing
    this.root.querySelector("[data-go=play]")?.setAttribute("aria-pressed", isOn);
  }

  // Show what the reader of a view saw.
  look(view) {
    this.view = view;
    for (const input of this.root.querySelectorAll("input[name=view]")) input.checked = input.value === view;
    this.part("moves").replaceChildren();
    this.list();
    this.go(this.ply);
  }

  turn(flipped) {
    this.flipped = flipped;
    this.go(this.ply);
  }

  act(what) {
    const jump = (kind, way) => this.timeline.next(kind, this.ply, way);
    const goals = {
      first: () => 0, back: () => this.ply - 1, next: () => this.ply + 1, last: () => this.last,
      fight: () => jump("fights", 1), fight_back: () => jump("fights", -1), reveal: () => jump("reveals", 1), reveal_back: () => jump("reveals", -1),
    };
    if (what === "flip") return this.turn(!this.flipped);
    const isOn = what === "play" && this.timer === null;
    if (what !== "play") this.go(goals[what]());
    else if (isOn && this.ply === this.last) this.go(0);
    this.play(isOn);
  }

  listen() {
    const { root } = this;
    const speed = this.part("speed");
    speed?.addEventListener("change", () => { this.play(this.timer !== null); if (this.isPointing) speed.blur(); });
    for (const kind of ["pointerdown", "keydown"]) root.addEventListener(kind, () => { this.isPointing = kind === "pointerdown"; }, { capture: true });
    this.part("moves").addEventListener("mousedown", (event) => event.target.closest("a") && event.preventDefault()); // keys stay the page's
    this.timeline.slider.addEventListener("input", ({ target }) => { this.play(false); this.go(Number(target.value)); });
    this.part("views")?.addEventListener("change", ({ target }) => this.look(target.value));
    root.addEventListener("click", (event) => {
      const { go } = event.target.closest("[data-go]")?.dataset ?? {}, { ply } = event.target.closest("[data-moves] a")?.dataset ?? {};
      if (go) this.act(go);
      // After a click the arrow keys go through the game; with the keyboard they choose another view.
      if (event.detail && event.target.closest("[data-views]")) setTimeout(() => document.activeElement.name === "view" && document.activeElement.blur());
      if (!ply || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.play(false);
      this.go(Number(ply));
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
    window.addEventListener("hashchange", () => this.follow());
  }

  pressed(event) {
    const { key, target } = event, isAcross = key === "ArrowLeft" || key === "ArrowRight";
    if (!(key in KEYS) || event.ctrlKey || event.altKey || event.metaKey || target.closest(BUSY)) return;
    if (key === " " ? target.closest(PRESSES) : key.length > 1 && target.closest(MOVES) && !(isAcross && target.closest(".now, .moves"))) return;
    event.preventDefault();
    this.act(KEYS[key]);
  }

  // Go where the address says.
  follow() {
    const { ply, view, from } = asked();
    this.flipped = from === "blue";
    if (this.views.includes(view)) this.look(view);
    this.go(Number.parseInt(ply ?? "0", 10) || 0);
  }
}
