// The controls: a board, and the way through its game, by buttons, keys, timeline, list of moves and address. The pages of
// stored games, of games that are watched, and of a person's seat are all made of it.
"use strict";

const PLY_MS = 700, SLIDE_MS = 300, ADDRESS_MS = 200, MOST_BEHIND = 3;
const KEYS = {
  ArrowLeft: "back", ArrowRight: "next", ArrowUp: "first", ArrowDown: "last", Home: "first", End: "last", " ": "play",
  f: "flip", n: "fight", N: "fight_back", r: "reveal", R: "reveal_back",
};
// What has uses of its own for all of these keys, for those that move, for up and down, and for space.
const BUSY = "input:not([type=range]), textarea, dialog, .play [role=grid]";
const MOVES = "input, select, [role=grid], .wide, pre", SCROLLS = ".now, .moves", PRESSES = "button, a, summary, select";

function clockText(ms) {
  const left = Math.max(0, ms), seconds = Math.floor(left / 1000);
  return left < 10_000 ? (left / 1000).toFixed(1) : Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
}

// Put the clocks there, as of so long ago: for Red and Blue the milliseconds left, whether the clock runs, and the bank.
function tellClocks(root, clocks, passed = 0) {
  for (const clock of root.querySelectorAll("[data-clock]")) {
    const [left, runs, bank] = clocks[clock.parentNode.dataset.side === "red" ? 0 : 1] ?? [];
    clock.classList.toggle("runs", Boolean(runs));
    clock.textContent = [left !== null && runs ? left - passed : left, bank].filter(Number.isInteger).map(clockText).join(" + ");
  }
}

class Replay {
  // `on` may have look(square) for what is special on the newest position, shown(), and the `board` if there is one
  // already. In a game that goes on (`isLive`) later plies follow each other after `pace` milliseconds.
  constructor(root, game, on = {}) {
    Object.assign(this, { root, on, ply: 0, timer: null, flipped: Boolean(on.isFlipped), stepped: 0 });
    this.texts = JSON.parse(root.dataset.texts);
    this.timeline = new Timeline(this.part("timeline"));
    const looked = (square) => this.tellSquare(square);
    this.board = on.board ?? (this.part("board") ? new Board(this.part("board"), game.labels, this.texts, { looked }) : new Picture(this.part("position"), this.texts));
    this.set(game);
    this.listen();
    if (on.isLive) this.go(this.last);
    else this.follow();
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  put(name, ...children) {
    this.part(name)?.replaceChildren(...children);
  }

  set(game) {
    const views = Object.keys(game.views);
    this.positions = new Positions(game);
    this.labels = this.board.labels = game.labels;
    if (String(this.views) !== String(views)) this.view = views[0];
    this.views = views;
    this.list(true);
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
    const behind = this.last - this.ply, wait = this.stepped + (this.on.pace ?? 0) - Date.now();
    clearTimeout(this.following);
    if (isUrgent || behind > MOST_BEHIND) this.go(this.last);
    else if (behind < 1) this.go(this.ply);
    else if (wait > 0) this.following = setTimeout(() => this.catchUp(), wait);
    else {
      this.stepped = Date.now();
      this.go(this.ply + 1, true);
      if (behind > 1) this.catchUp();
    }
  }

  get last() {
    return this.positions.last;
  }

  get seen() {
    return this.positions.game.views[this.view];
  }

  // --- what is shown

  // Draw the position, which follows what was shown `before`; the same position again if that is null.
  draw(before = null) {
    const { positions, view, ply, on, board, seen } = this;
    if (board instanceof Board) {
      const [from, to] = Math.abs(ply - before) === 1 ? Object.keys(positions.marks(Math.max(ply, before))) : [];
      const slides = before === null ? null : before < ply ? [from, to] : [to, from], look = ply === this.last ? on.look : undefined;
      board.show(positions.cells(view, ply), { marks: positions.marks(ply), fight: seen.fights?.[ply], slides, look });
    } else board.show(seen.texts?.[ply], seen.images?.[ply]);
    this.tellPlayers();
    this.tellPly();
    this.tellSquare(this.looked);
    this.timeline.go(ply, this.texts.ply + " " + ply);
    this.markCurrent();
    this.root.dataset.ply = ply;
    on.shown?.();
  }

  tellPlayers() {
    const lost = newest(this.seen.lost, this.ply) ?? ["", ""];
    for (const line of this.root.querySelectorAll("[data-player]")) {
      const side = (line.dataset.player === "near") !== this.flipped ? "red" : "blue";
      line.dataset.side = side;
      line.querySelector("[data-name]").textContent = this.labels[side];
      line.querySelector("[data-lost]").replaceChildren(...this.pieces(side[0], lost[side === "red" ? 0 : 1]));
    }
    if (!this.on.isLive) tellClocks(this.root, this.positions.game.banks?.[this.ply - 1]?.map((bank) => [bank]) ?? []);
  }

  // Pieces of a side, the strongest first: their images, each kind once with its number.
  pieces(side, letters) {
    return [...(this.labels.strength ?? "")].filter((letter) => letters.includes(letter)).map((letter) => {
      const count = letters.split(letter).length - 1, times = count > 1 ? "\u00d7" + count : "", title = `${this.labels.pieces[letter][1]} ${times}`.trim();
      return element("li", { title }, pieceImage(side + letter, this.labels.pieces), element("span", { class: "hidden" }, title), times);
    });
  }

  tellPly() {
    const { ply, last, texts, labels, seen } = this, { sides, actions, notes, dialogue } = this.positions.game;
    const side = sides[ply - 1], fight = seen.fights?.[ply], line = (name, ...children) => element("p", { class: name }, ...children);
    const isHere = ([at]) => at === ply || (at > last && ply === last);
    const what = ply ? fill(texts.now, { ply, last, side: labels[side], action: actions[ply - 1] }) : texts.beginning;
    const made = [line(ply ? "what side " + side : "what", what, " ", element("span", { class: "time" }, this.time(ply)))];
    if (last && ply === last && labels.verdict) made.unshift(line("verdict", labels.verdict)); // so that it is seen
    if (seen.words?.[ply]) made.push(line("told", ...(fight ? [this.duel(fight)] : []), seen.words[ply]));
    const noted = notes.filter(isHere).map(([, from, text]) => line("said", fill(texts.noted, { side: labels[from], text })));
    this.put("now", ...made, ...noted);
    const names = { r: labels.red, b: labels.blue, "": "" };
    this.put("dialogue", dialogue.filter(isHere).map(([, from, who, text]) => `${names[from]} ${who} ${text}`.trim()).join("\n"));
  }

  // The two pieces of a fight, what was lost crossed out.
  duel({ attacker, defender, lost }) {
    const images = [attacker, defender].map((cell) => pieceImage(cell, this.labels.pieces, false));
    images.forEach((image, at) => image.classList.toggle("gone", lost.includes([attacker, defender][at])));
    return element("span", { class: "duel" }, ...images);
  }

  // What there is to say of a square that is pointed at: the ranks that an unknown piece may have.
  tellSquare(square) {
    const { positions, view, ply, texts, board, labels } = this;
    this.looked = square;
    if (!(board instanceof Board)) return;
    if (!square || !sideOf(board.shown.get(square))) return this.put("about", square ? board.boxes.get(square).ariaLabel : texts.point);
    const { seat, letters } = positions.could(view, ply, square);
    const could = this.pieces(board.shown.get(square)[0], letters);
    const told = could.length ? [element("p", {}, fill(texts.could, { seat: labels[seat] })), element("ul", { class: "losses" }, ...could)] : [];
    this.put("about", board.boxes.get(square).ariaLabel, ...told);
  }

  time(ply) {
    const taken = this.positions.game.taken[ply - 1] ?? null;
    return taken === null ? "" : fill(this.texts.milliseconds, { time: (taken / 10).toFixed(1) });
  }

  // The timeline, and the list of moves as far as it is not there yet.
  list(isNew = false) {
    const list = this.part("moves"), { fights = {}, words = {}, start } = this.seen, { sides, actions } = this.positions.game;
    if (isNew) list.replaceChildren();
    for (let ply = list.childElementCount + 1; ply <= this.last; ply++) {
      const action = actions[ply - 1] + (fights[ply] ? "\u00a0\u00d7" : words[ply] ? "\u00a0!" : "");
      const texts = Object.entries({ number: ply + ".", action, time: this.time(ply) }).map(([name, text]) => element("span", { class: name }, text));
      // Hundreds of them cannot be reached with Tab: the arrows lead through the list.
      const link = { class: "side " + sides[ply - 1], href: "#ply=" + ply, "data-ply": ply, tabindex: -1, title: words[ply] ?? "" };
      list.append(element("li", {}, element("a", link, ...texts)));
    }
    this.timeline.draw(this.positions, this.seen, start ? this.positions.counts(this.view) : []);
  }

  markCurrent() {
    const list = this.part("moves"), item = list.children[this.ply - 1];
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    item?.firstChild.setAttribute("aria-current", "step");
    list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 : 0;
  }

  // --- what is done

  go(ply, follows = ply >= this.last) {
    const before = this.ply;
    clearTimeout(this.following);
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.follows = follows;
    this.board.turn?.(this.flipped);
    this.draw(before);
    // Ply, view and side are put behind the address; not at each ply while a key is held, which browsers refuse.
    clearTimeout(this.addressing);
    if (!this.on.isLive) this.addressing = setTimeout(() => history.replaceState(null, "", this.hash()), ADDRESS_MS);
  }

  hash() {
    const { game } = asked(), view = this.view === this.views[0] ? "" : "&view=" + this.view; // the game, on a page for any
    return "#" + (game ? `game=${game}&` : "") + "ply=" + this.ply + view + (this.flipped ? "&from=blue" : "");
  }

  play(isOn) {
    const isFight = this.timeline.fights.includes(this.ply), pause = (isFight ? 2 : 1) * PLY_MS / this.part("speed").value;
    const isGoing = isOn && this.ply < this.last, step = () => { this.go(this.ply + 1); this.play(true); };
    clearTimeout(this.timer);
    this.board.slide = Math.min(SLIDE_MS, 0.8 * pause);
    this.timer = isGoing ? setTimeout(step, pause) : null;
    this.part("now").ariaLive = isGoing ? "off" : "polite"; // it would never come to an end of announcing
    this.root.querySelector("[data-go=play]").ariaPressed = isGoing;
  }

  // Show what the reader of a view saw.
  look(view) {
    this.view = view;
    for (const input of this.root.querySelectorAll("input[name=view]")) input.checked = input.value === view;
    this.list(true);
    this.go(this.ply);
  }

  act(what) {
    const { ply, last, timeline } = this, { fights, reveals } = timeline;
    const goals = {
      first: 0, back: ply - 1, next: ply + 1, last, play: ply === last && !this.timer ? 0 : ply, flip: ply,
      fight: timeline.next(fights, ply, 1), fight_back: timeline.next(fights, ply, -1),
      reveal: timeline.next(reveals, ply, 1), reveal_back: timeline.next(reveals, ply, -1),
    };
    if (what === "flip") this.flipped = !this.flipped;
    this.go(goals[what]);
    this.play(what === "play" ? !this.timer : what === "flip" && this.timer);
  }

  listen() {
    const { root } = this;
    // After a click the arrow keys go through the game; with the keyboard they choose another view or speed.
    const release = () => document.activeElement.matches(".replay :is([name=view], select):not(:focus-visible)") && document.activeElement.blur();
    this.part("speed").addEventListener("change", () => { this.play(this.timer); release(); });
    this.part("moves").addEventListener("mousedown", (event) => event.target.closest("a") && event.preventDefault()); // keys stay the page's
    this.timeline.slider.addEventListener("input", ({ target }) => { this.play(false); this.go(Number(target.value)); });
    this.part("views")?.addEventListener("change", ({ target }) => this.look(target.value));
    this.part("views")?.addEventListener("click", () => setTimeout(release));
    root.addEventListener("click", (event) => {
      const { go, ply } = event.target.closest("[data-go], [data-moves] a")?.dataset ?? {};
      if (go) this.act(go);
      if (!ply || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.play(false);
      this.go(Number(ply));
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
    window.addEventListener("hashchange", () => this.follow());
  }

  pressed(event) {
    const { key, target } = event, isDown = key.length > 1 && !/Left|Right/.test(key);
    if (!(key in KEYS) || event.ctrlKey || event.altKey || event.metaKey || target.closest(BUSY)) return;
    if (key === " " ? target.closest(PRESSES) : key.length > 1 && target.closest(isDown ? `${MOVES}, ${SCROLLS}` : MOVES)) return;
    event.preventDefault();
    this.act(KEYS[key]);
  }

  // Go where the address says.
  follow() {
    const { ply, view, from } = asked();
    this.flipped = from === "blue";
    if (this.views.includes(view)) this.look(view);
    this.go(Number.parseInt(ply, 10) || 0);
  }
}
