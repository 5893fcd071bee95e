// What moves on the pages: the board of a game and the way through it. It knows no
// rule: it puts on the squares what the page was given. No text is ever set as
// markup. Other scripts of a page may use `Board` and `Replay`.
"use strict";

// --- helpers ---------------------------------------------------------------------------------------------------------

const words = {
  ply: "ply",
  milliseconds: "{} ms",
  seconds: "{} s",
  empty: "empty",
  lake: "lake",
  unknown: "unknown piece",
  moved: "unknown piece that has moved",
  came_from: "the last move began here",
  went_to: "the last move ended here",
  lost_here: "lost here: {}",
  lost_so_far: "lost: {}",
  now: "ply {ply}: {side} {action}",
  setups: "Both sides have set up.",
  beginning: "The game begins.",
  no_position: "No position to show.",
  noted: "{side} notes: {text}",
  first_title: "To the set-ups (Home)",
  back_title: "One ply back (left arrow)",
  play_title: "Play and pause (space)",
  next_title: "One ply on (right arrow)",
  last_title: "To the end (End)",
  flip_title: "Turn the board round (f)",
  to_first: "to the set-ups",
  to_back: "back",
  to_play: "play",
  to_next: "forward",
  to_last: "to the end",
  to_flip: "turn the board",
};

// A text with what belongs into its braces: {name} by name, {} the value itself.
function fill(text, values) {
  return text.replace(/\{(\w*)\}/g, (_, name) => String(name === "" ? values : values[name]));
}

function element(name, classes, ...children) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...children);
  return made;
}

function load(script) {
  return new Promise((resolve, reject) => {
    const made = document.createElement("script");
    made.src = script;
    made.onload = resolve;
    made.onerror = () => reject(new Error(script));
    document.head.append(made);
  });
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// What the address says behind its #, by name.
function asked() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

// --- the board -------------------------------------------------------------------------------------------------------

const FILES = "abcdefghij";

// The name of a square in two characters, as data has it: 0 stands for 10.
function squareName(square) {
  return FILES[square % 10] + ((Math.floor(square / 10) + 1) % 10);
}

// The name as people write it.
function squareText(square) {
  return square.replace(/0$/, "10");
}

function dataName(text) {
  return text[0] + text[text.length - 1];
}

// A board of 100 squares. `labels` has the names of `red` and `blue`, and `pieces`: what stands on a piece and what it is
// called, by letter. A cell is two characters: `r` or `b` and the letter of a rank, `?` for one that is not known, `!` for
// one that is not known and has moved; `..` is empty, `~~` a lake.
class Board {
  constructor(root, labels) {
    this.root = root;
    this.labels = labels;
    this.boxes = new Map();
    this.shown = new Map();
    for (let square = 0; square < 100; square++) {
      const box = element("span", "cell" + ((square % 10 + Math.floor(square / 10)) % 2 ? " odd" : ""));
      box.setAttribute("role", "cell");
      box.dataset.square = squareName(square);
      this.boxes.set(squareName(square), box);
    }
    root.setAttribute("role", "table");
    this.turn(false);
  }

  // Red's side at the bottom, or Blue's.
  turn(flipped) {
    const ranks = [...Array(10).keys()], files = [...ranks];
    if (flipped) files.reverse(); else ranks.reverse();
    const rows = ranks.map((rank) => {
      const row = element("span", "row", this.coordinate(rank + 1), ...files.map((file) => this.boxes.get(squareName(10 * rank + file))));
      row.setAttribute("role", "row");
      return row;
    });
    const bottom = element("span", "row", this.coordinate(""), ...files.map((file) => this.coordinate(FILES[file])));
    bottom.setAttribute("aria-hidden", "true");
    this.root.replaceChildren(...rows, bottom);
  }

  coordinate(text) {
    const made = element("span", "coordinate", String(text));
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  // Show these cells by square; `marks` says what the last action did on which squares, and `fallen` has the cells of
  // what was lost on which.
  show(cells, marks = {}, fallen = {}) {
    for (const [square, box] of this.boxes) {
      const state = [cells.get(square), marks[square] || "", ...(fallen[square] || [])].join(" ");
      if (this.shown.get(square) === state) continue;
      this.shown.set(square, state);
      this.fillBox(box, square, cells.get(square), marks[square], fallen[square] || []);
    }
  }

  fillBox(box, square, cell, mark, fallen) {
    box.dataset.cell = cell;
    box.classList.remove("from", "to", "lost", "lost-from");
    box.classList.toggle("lake", cell === "~~");
    if (mark) box.classList.add(mark);
    box.replaceChildren();
    if (this.isPiece(cell)) box.append(this.piece(cell));
    if (fallen.length) box.append(element("span", "fallen", ...fallen.map((lost) => this.piece(lost))));
    box.setAttribute("aria-label", this.said(square, cell, mark, fallen));
  }

  isPiece(cell) {
    return cell[0] === "r" || cell[0] === "b";
  }

  piece(cell) {
    const known = this.labels.pieces[cell[1]];
    const text = known ? known[0] : cell[1] === "!" ? "\u2022" : "";
    const made = element("span", "piece " + (cell[0] === "r" ? "red" : "blue") + (known ? "" : " unknown"), text);
    made.title = this.called(cell);
    return made;
  }

  // What a piece is called, with the name of its side.
  called(cell) {
    const known = this.labels.pieces[cell[1]];
    const side = cell[0] === "r" ? this.labels.red : this.labels.blue;
    return side + ": " + (known ? known[1] : cell[1] === "!" ? words.moved : words.unknown);
  }

  // What a screen reader says of a square.
  said(square, cell, mark, fallen) {
    const what = cell === ".." ? words.empty : cell === "~~" ? words.lake : this.called(cell);
    const parts = [squareText(square) + " " + what];
    if (mark) parts.push(mark.endsWith("from") ? words.came_from : words.went_to);
    if (fallen.length) parts.push(fill(words.lost_here, fallen.map((lost) => this.called(lost)).join(", ")));
    return parts.join("; ");
  }
}

// --- the replay ------------------------------------------------------------------------------------------------------

const PLAY_MS = 700;
const ADDRESS_MS = 200;
const KEYS = { ArrowLeft: "back", ArrowRight: "next", ArrowUp: "first", ArrowDown: "last", Home: "first", End: "last", " ": "play", f: "flip" };

class Replay {
  constructor(root, game) {
    this.root = root;
    this.labels = game.labels;
    this.now = root.querySelector("[data-now]");
    this.list = root.querySelector("[data-moves]");
    this.slider = root.querySelector("input[type=range]");
    this.board = this.newBoard();
    this.ply = 0;
    this.flipped = false;
    this.timer = null;
    this.waiting = new Map();
    this.makeControls();
    this.addressed = 0;
    this.addressing = null;
    this.take(game);
    this.listen();
    this.follow();
  }

  newBoard() {
    return new Board(this.root.querySelector("[data-board]"), this.labels);
  }

  // Show this game from now on: another one, or the same with more plies.
  take(game) {
    this.game = { actions: [], notes: [], dialogue: [], marks: {}, ...game };
    this.last = this.game.actions.length;
    this.views = Object.keys(game.views);
    if (!this.views.includes(this.view)) this.view = this.views[0];
    this.states = new Map();
    this.slider.max = this.last;
    this.listMoves();
    this.markFights();
  }

  controls() {
    return ["first", "back", "play", "next", "last", "flip"];
  }

  makeControls() {
    this.root.querySelector("[data-controls]").replaceChildren(...this.controls().map((what) => {
      const button = element("button", "", element("i"));
      button.type = "button";
      button.dataset.go = what;
      button.title = words[what + "_title"];
      button.setAttribute("aria-label", words["to_" + what]);
      if (what === "play") button.setAttribute("aria-pressed", "false");
      return button;
    }));
  }

  seen() {
    return this.game.views[this.view];
  }

  // The board after a ply, as the chosen view has it: cells by square. Those of all plies before it are kept.
  cells(ply) {
    if (!this.states.has(this.view)) {
      const start = new Map();
      for (let square = 0; square < 100; square++) start.set(squareName(square), this.seen().start.slice(2 * square, 2 * square + 2));
      this.states.set(this.view, [start]);
    }
    const states = this.states.get(this.view);
    while (states.length <= ply) {
      const next = new Map(states[states.length - 1]);
      const change = this.seen().changes[states.length - 1];
      for (let at = 0; at < change.length; at += 4) next.set(change.slice(at, at + 2), change.slice(at + 2, at + 4));
      states.push(next);
    }
    return states[ply];
  }

  // A fight of a ply: its square, the two cells, and those of them that are lost.
  fight(ply) {
    const text = this.seen().fights?.[ply];
    if (!text) return null;
    const [square, attacker, defender, left] = [text.slice(0, 2), text.slice(2, 4), text.slice(4, 6), text[6]];
    const lost = { a: [defender], d: [attacker], n: [attacker, defender] }[left];
    return { square, attacker, defender, lost };
  }

  // What the action of a ply did, by square: unless it is said, it went from its first square to its last one.
  marks(ply) {
    if (!ply) return {};
    const squares = this.game.actions[ply - 1].match(/[a-j]\d+/g) || [];
    if (this.game.marks[ply] || squares.length < 2) return this.game.marks[ply] || {};
    return { [dataName(squares[0])]: "from", [dataName(squares[squares.length - 1])]: "to" };
  }

  // The letters of the pieces that Red and Blue have lost until a ply.
  lost(ply) {
    let lost = ["", ""];
    for (const [at, letters] of Object.entries(this.seen().lost || {})) if (Number(at) <= ply) lost = letters;
    return lost;
  }

  draw() {
    const fight = this.fight(this.ply);
    this.showPosition(fight);
    this.tellPlayers();
    this.tellPly(fight);
    this.tellDialogue();
    this.slider.value = this.ply;
    this.slider.setAttribute("aria-valuetext", words.ply + " " + this.ply);
    this.markCurrent();
  }

  showPosition(fight) {
    this.board.show(this.cells(this.ply), this.marks(this.ply), fight ? { [fight.square]: fight.lost } : {});
  }

  tellPlayers() {
    const lost = this.lost(this.ply);
    for (const line of this.root.querySelectorAll("[data-player]")) {
      const side = (line.dataset.player === "near") !== this.flipped ? "red" : "blue";
      const index = side === "red" ? 0 : 1;
      const made = [element("span", "name side " + side, this.labels[side])];
      const counts = {};
      for (const letter of lost[index]) counts[letter] = (counts[letter] || 0) + 1;
      const text = [...(this.labels.strength || "")].filter((letter) => counts[letter])
        .map((letter) => this.labels.pieces[letter][0] + (counts[letter] > 1 ? "\u00d7" + counts[letter] : "")).join(" ");
      if (text) made.push(element("span", "taken", fill(words.lost_so_far, text)));
      const bank = this.ply ? this.game.banks?.[this.ply - 1][index] : null;
      if (typeof bank === "number") made.push(element("span", "clock", fill(words.seconds, (bank / 1000).toFixed(1))));
      line.replaceChildren(...made);
    }
  }

  tellPly(fight) {
    const made = [];
    if (this.ply) {
      const side = this.side(this.ply);
      const text = fill(words.now, { ply: this.ply, side: this.labels[side], action: this.game.actions[this.ply - 1] });
      made.push(element("p", "what side-" + side, text, " ", element("span", "time", this.time(this.ply))));
    } else {
      made.push(element("p", "what", this.beginning()));
    }
    const told = this.seen().words?.[this.ply];
    if (told) made.push(element("p", "told", ...(fight ? [this.duel(fight), " "] : []), told));
    for (const [ply, side, text] of this.game.notes) {
      if (ply === this.ply || (ply > this.last && this.ply === this.last)) made.push(element("p", "said", fill(words.noted, { side: this.labels[side], text })));
    }
    if (this.last && this.ply === this.last) made.push(element("p", "verdict", this.labels.verdict));
    this.now.replaceChildren(...made);
  }

  beginning() {
    return words.setups;
  }

  // The two pieces of a fight side by side, what is lost crossed out.
  duel(fight) {
    const made = element("span", "duel", ...[fight.attacker, fight.defender].map((cell) => {
      const piece = this.board.piece(cell);
      piece.classList.toggle("gone", fight.lost.includes(cell));
      return piece;
    }));
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  tellDialogue() {
    const sides = { r: this.labels.red, b: this.labels.blue, "": "" };
    const lines = this.game.dialogue.filter(([ply]) => ply === this.ply || (ply > this.last && this.ply === this.last));
    this.root.querySelector("[data-dialogue]").textContent = lines.map(([, side, who, text]) => [sides[side], who, text].join(" ").trim()).join("\n");
  }

  side(ply) {
    return this.game.sides[ply - 1] === "r" ? "red" : "blue";
  }

  time(ply) {
    const taken = this.game.taken[ply - 1];
    return taken === null ? "" : fill(words.milliseconds, (taken / 10).toFixed(1));
  }

  listMoves() {
    const fights = this.seen().fights || {}, told = this.seen().words || {};
    this.list.replaceChildren(...this.game.actions.map((action, index) => {
      const ply = index + 1;
      const link = element("a", "side-" + this.side(ply), element("span", "number", ply + "."), element("span", "action", action + (fights[ply] ? "\u00a0\u00d7" : told[ply] ? "\u00a0!" : "")), element("span", "time", this.time(ply)));
      link.href = "#ply=" + ply;
      link.dataset.ply = ply;
      if (told[ply]) link.title = told[ply];
      return element("li", "", link);
    }));
  }

  markCurrent() {
    this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const item = this.ply ? this.list.children[this.ply - 1] : null;
    if (!item) {
      this.soon("scroll", () => { this.list.scrollTop = 0; });
      return;
    }
    item.firstChild.setAttribute("aria-current", "step");
    this.soon("scroll", () => { this.list.scrollTop = item.offsetTop - this.list.clientHeight / 2; });
  }

  // Do it with the next frame, once, however often it is asked for until then.
  soon(what, action) {
    if (!this.waiting.has(what)) requestAnimationFrame(() => { this.waiting.get(what)(); this.waiting.delete(what); });
    this.waiting.set(what, action);
  }

  markFights() {
    const svg = this.root.querySelector("[data-fights]");
    svg.setAttribute("viewBox", "0 0 " + Math.max(1, this.last) + " 1");
    svg.replaceChildren(...Object.keys(this.seen().words || {}).map((ply) => {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [key, value] of [["x1", ply], ["x2", ply], ["y1", 0], ["y2", 1]]) line.setAttribute(key, value);
      return line;
    }));
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.draw();
    this.address();
  }

  // Put ply and view behind the address; not at each ply while a key is held, which browsers refuse to do so often.
  address() {
    clearTimeout(this.addressing);
    const wait = this.addressed + ADDRESS_MS - Date.now();
    if (wait > 0) {
      this.addressing = setTimeout(() => this.address(), wait);
      return;
    }
    this.addressed = Date.now();
    history.replaceState(null, "", "#ply=" + this.ply + (this.view === this.views[0] ? "" : "&view=" + this.view) + (this.flipped ? "&from=blue" : ""));
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => (this.ply < this.last ? this.go(this.ply + 1) : this.play(false)), PLAY_MS) : null;
    this.now.setAttribute("aria-live", on ? "off" : "polite"); // it would never come to an end of announcing
    this.root.querySelector("[data-go=play]").setAttribute("aria-pressed", String(on));
  }

  look(view) {
    this.view = view;
    this.listMoves();
    this.markFights();
  }

  turn(flipped) {
    this.flipped = flipped;
    this.board.turn(flipped);
  }

  act(what) {
    const goals = { first: 0, back: this.ply - 1, next: this.ply + 1, last: this.last };
    if (what in goals) {
      this.play(false);
      this.go(goals[what]);
    } else if (what === "play") {
      if (this.timer === null && this.ply === this.last) this.go(0);
      this.play(this.timer === null);
    } else if (what === "flip") {
      this.turn(!this.flipped);
      this.go(this.ply);
    }
  }

  listen() {
    for (const button of this.root.querySelectorAll("[data-go]")) button.addEventListener("click", () => this.act(button.dataset.go));
    this.slider.addEventListener("input", () => { this.play(false); this.go(Number(this.slider.value)); });
    for (const input of this.root.querySelectorAll("input[name=view]")) {
      input.addEventListener("change", () => { this.look(input.value); this.go(this.ply); });
    }
    // After a click the arrow keys go through the game; with the keyboard they choose another view.
    this.root.querySelector(".views")?.addEventListener("click", ({ detail }) => {
      if (detail) setTimeout(() => document.activeElement.matches("input[name=view]") && document.activeElement.blur());
    });
    this.list.addEventListener("click", (event) => {
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
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, pre, .wide")) return;
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    const what = KEYS[event.key];
    if (!what) return;
    event.preventDefault();
    this.act(what);
  }

  // Go where the address says.
  follow() {
    const { ply, view, from } = asked();
    if (this.views.includes(view)) this.look(view);
    for (const input of this.root.querySelectorAll("input[name=view]")) input.checked = input.value === this.view;
    this.turn(from === "blue");
    const wanted = Number.parseInt(ply ?? "0", 10);
    this.go(Number.isNaN(wanted) ? 0 : wanted);
  }
}

// A game without a board of squares: there is an image or a text of the position for each ply.
class PlainReplay extends Replay {
  newBoard() {
    return null;
  }

  controls() {
    return super.controls().filter((what) => what !== "flip");
  }

  showPosition() {
    const box = this.root.querySelector("[data-position]"), { texts, images } = this.seen();
    const text = texts?.[this.ply] || "";
    const kind = images ? "img" : text ? "pre" : "p";
    const made = box.querySelector(kind) || element(kind, "");
    if (images) {
      made.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(images[this.ply]);
      made.alt = text;
    } else {
      made.textContent = text || words.no_position;
      made.tabIndex = 0; // it may be wider than the page
    }
    if (!made.parentNode) box.replaceChildren(made);
  }

  beginning() {
    return words.beginning;
  }

  turn() {} // a text or an image has one side up
}

const loading = new Map();
window.arenaGame = (number, packed) => loading.get(number)?.(packed);

async function startReplay(root) {
  root.querySelector(".stage").hidden = false; // without a script there is nothing to see or to press in it
  const number = Number(root.dataset.game);
  const packed = new Promise((resolve) => loading.set(number, resolve));
  await load(root.dataset.script);
  const kind = root.querySelector("[data-board]") ? Replay : PlainReplay;
  root.replay = new kind(root, await unpack(await packed));
}

// --- what this page has ----------------------------------------------------------------------------------------------

document.addEventListener("DOMContentLoaded", () => {
  const replay = document.querySelector("#replay");
  if (replay) startReplay(replay).catch((error) => { replay.querySelector("[data-now]").textContent = String(error); });
});
