// Setting up: a draft of where the own pieces stand, changed by clicks, drags, keys or whole sets of rows, and sent when it
// is whole. Whether a set-up is legal is for the arena to say; here it is only known which squares are one's own.

import { LAKES, element, homeSquares, pieceElement } from "./play-board.js";

export class Setup {
  // `pieces` by letter: { number, name, count }; `on` has told(text), refused(text), changed().
  constructor(panel, { seat, pieces, order, say, key, on }) {
    this.seat = seat;
    this.pieces = pieces;
    this.order = order;
    this.say = say;
    this.on = on;
    this.key = key;
    this.home = homeSquares(seat);
    this.held = null; // { square } or { letter }
    this.draft = new Map();
    this.tray = panel.querySelector("[data-tray]");
    this.tray.addEventListener("click", (event) => {
      const letter = event.target.closest("[data-letter]")?.dataset.letter;
      if (letter) this.chooseLetter(letter);
    });
    this.recall();
  }

  // --- the draft

  left(letter) {
    let placed = 0;
    for (const there of this.draft.values()) placed += there === letter;
    return this.pieces[letter].count - placed;
  }

  missing() {
    return this.order.reduce((sum, letter) => sum + this.left(letter), 0);
  }

  rows() {
    const letters = this.home.map((square) => this.draft.get(square) ?? ".").join("");
    return [0, 1, 2, 3].map((row) => letters.slice(10 * row, 10 * row + 10));
  }

  // Take over whole rows, as far as they are of this army.
  load(rows) {
    this.draft.clear();
    [...rows.join("")].slice(0, this.home.length).forEach((letter, at) => {
      if (this.pieces[letter] && this.left(letter) > 0) this.draft.set(this.home[at], letter);
    });
    this.held = null;
    this.keep();
  }

  mirror() {
    this.load(this.rows().map((row) => [...row].reverse().join("")));
  }

  // All of the army on any of its squares; of a small army most stay empty.
  shuffled() {
    const letters = this.order.flatMap((letter) => Array(this.pieces[letter].count).fill(letter));
    while (letters.length < this.home.length) letters.push(".");
    for (let at = letters.length - 1; at > 0; at--) {
      const other = Math.floor(Math.random() * (at + 1));
      [letters[at], letters[other]] = [letters[other], letters[at]];
    }
    return [letters.join("")];
  }

  put(letter, square) {
    if (!this.isHome(square) || this.left(letter) < 1) return false;
    this.draft.set(square, letter);
    this.keep();
    this.on.told(this.say("placed", { piece: this.pieces[letter].name, square, left: this.missing() }));
    return true;
  }

  swap(one, other) {
    if (!this.isHome(other)) return false;
    const [first, second] = [this.draft.get(one), this.draft.get(other)];
    this.draft.delete(one);
    if (second) this.draft.set(one, second);
    this.draft.set(other, first);
    this.keep();
    const words = { piece: this.pieces[first].name, square: other, other: second && this.pieces[second].name, from: one };
    this.on.told(this.say(second ? "swapped" : "placed", { ...words, left: this.missing() }));
    return true;
  }

  remove(square) {
    const letter = this.draft.get(square);
    if (!letter) return;
    this.draft.delete(square);
    this.keep();
    this.on.told(this.say("removed", { piece: this.pieces[letter].name, square, left: this.missing() }));
  }

  isHome(square) {
    if (this.home.includes(square)) return true;
    this.on.refused(this.say("not_home", { square }));
    return false;
  }

  // A draft outlives its tab, until it is sent.
  keep() {
    try {
      localStorage.setItem(this.key, this.rows().join("/"));
    } catch {
      // a browser may keep nothing; then a draft is as long-lived as its tab
    }
    this.on.changed();
  }

  recall() {
    try {
      const kept = localStorage.getItem(this.key);
      if (kept) this.load(kept.split("/"));
    } catch {
      // the same
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // the same
    }
  }

  // --- what is done to it

  chosen(square) {
    const held = this.held;
    if (held?.square) {
      if (held.square === square || this.swap(held.square, square)) this.held = null;
    } else if (held?.letter) {
      if (this.put(held.letter, square) && this.left(held.letter) < 1) this.held = null;
    } else if (this.draft.has(square)) {
      this.held = { square };
      this.on.told(this.say("held", { piece: this.pieces[this.draft.get(square)].name }));
    } else if (this.isHome(square)) {
      this.on.refused(this.say("take_first"));
    }
    this.on.changed();
  }

  chooseLetter(letter) {
    const square = this.held?.square;
    if (square) this.remove(square); // put back
    this.held = square || this.held?.letter === letter || this.left(letter) < 1 ? null : { letter };
    if (this.held) this.on.told(this.say("held", { piece: this.pieces[letter].name }));
    this.on.changed();
  }

  pressedKey(event, square) {
    const letter = this.letterOf(event.key.toUpperCase());
    if (event.key === "Escape") {
      this.held = null;
      this.on.changed();
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.remove(square);
    } else if (letter) {
      if (this.left(letter) > 0) this.put(letter, square);
      else this.on.refused(this.say("none_left", { piece: this.pieces[letter].name }));
    } else {
      return;
    }
    event.preventDefault();
  }

  lifted() {
    this.held = null;
  }

  keyOf(letter) {
    const { number } = this.pieces[letter];
    return number.length === 1 ? number : letter;
  }

  // A rank by what stands on its pieces, or by its letter in texts of moves.
  letterOf(key) {
    return this.order.find((letter) => this.pieces[letter].number === key) ?? this.order.find((letter) => letter === key);
  }

  // What was dragged is a square of the board or a rank of the tray; `target` is what it was dropped on.
  dropped(from, target) {
    const square = target?.closest("[data-square]")?.dataset.square;
    const origin = from.dataset.square;
    this.held = null;
    if (square && origin) {
      if (square !== origin) this.swap(origin, square);
    } else if (square) {
      this.put(from.dataset.letter, square);
    } else if (origin && target?.closest("[data-tray]")) {
      this.remove(origin);
    }
    this.on.changed();
  }

  // --- what is to be seen

  look(square) {
    const letter = this.draft.get(square);
    const isHome = this.home.includes(square);
    const selected = this.held?.square === square;
    const piece = letter && this.pieces[letter];
    const label = piece ? this.say("own", { square, piece: `${piece.name} ${piece.number}` })
      : isHome ? this.say("home_empty", { square }) : LAKES.includes(square) ? this.say("lake", { square }) : this.say("not_yours", { square });
    return {
      label: selected ? this.say("picked", { label }) : label,
      classes: [isHome ? "home" : "", selected ? "selected" : ""],
      selected,
      drags: Boolean(letter),
      piece: piece && (() => pieceElement(this.seat, piece.number)),
      key: letter,
    };
  }

  drawTray() {
    const focused = this.tray.contains(document.activeElement) ? document.activeElement.dataset.letter : null;
    this.tray.replaceChildren(...this.order.map((letter) => {
      const { number, name } = this.pieces[letter];
      const left = this.left(letter);
      const made = element("button", "rank" + (this.held?.letter === letter ? " selected" : ""));
      made.type = "button";
      made.dataset.letter = letter;
      made.setAttribute("aria-pressed", String(this.held?.letter === letter));
      made.setAttribute("aria-label", this.say("in_tray", { piece: name, number, left, key: this.keyOf(letter) }));
      made.title = this.say("tray_title", { piece: name, key: this.keyOf(letter) });
      made.setAttribute("aria-disabled", String(left < 1));
      if (left > 0) made.dataset.drags = "";
      made.append(pieceElement(this.seat, number), element("span", "count", "\u00d7" + left));
      return made;
    }));
    if (focused) this.tray.querySelector(`[data-letter="${focused}"]`)?.focus();
  }

  cursor() {
    return this.home.find((square) => !this.draft.has(square)) ?? this.home[0];
  }
}
