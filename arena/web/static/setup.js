// Setting up: a draft of where the own pieces stand, changed by clicks, drags, keys or whole rows, and sent when it is
// whole. Whether a set-up is legal is for the arena to say.
"use strict";

class Setup {
  // The page's `army` is how many of each letter there are.
  constructor(page) {
    Object.assign(this, { page, army: page.data.army, tray: page.part("tray"), key: "setup " + location.pathname });
    this.home = [0, 1, 2, 3].flatMap((row) => [...FILES].map((file) => file + (page.seat === "red" ? row + 1 : 10 - row)));
    this.draft = new Map();
    this.held = null; // { square } or { letter }
    this.load(this.stored("getItem") ?? "");
  }

  // --- the draft

  left(letter) {
    return this.army[letter] - [...this.draft.values()].filter((there) => there === letter).length;
  }

  missing() {
    return Object.keys(this.army).reduce((sum, letter) => sum + this.left(letter), 0);
  }

  // Its rows, the own back row first, as they are sent and kept.
  rows() {
    return this.home.map((square, at) => (at && at % 10 === 0 ? "/" : "") + (this.draft.get(square) ?? ".")).join("");
  }

  // Take over rows, as far as they are of this army.
  load(rows) {
    this.draft.clear();
    [...rows.replaceAll("/", "")].forEach((letter, at) => this.left(letter) > 0 && this.draft.set(this.home[at], letter));
    this.held = null;
    this.stored("setItem", this.rows());
  }

  mirror() {
    this.load(this.rows().split("/").map((row) => [...row].reverse().join("")).join("/"));
  }

  // All of the army on any of its squares.
  shuffle() {
    const rest = [...this.home];
    this.draft.clear();
    for (const [letter, count] of Object.entries(this.army)) {
      for (let one = 0; one < count; one++) this.draft.set(rest.splice(Math.floor(Math.random() * rest.length), 1)[0], letter);
    }
    this.load(this.rows());
  }

  // A draft outlives its tab, until it is sent; a browser may keep nothing.
  stored(what, ...more) {
    try {
      return localStorage[what](this.key, ...more);
    } catch {
      return null;
    }
  }

  // Put a piece on a square: from the tray, or from another square, whose piece changes places with it. Without a square it
  // goes back to the tray.
  put(square, { letter, square: from }) {
    const { page, draft } = this, moved = letter ?? draft.get(from), there = draft.get(square), values = { square: square ?? from, piece: page.name(moved) };
    if (square && !this.home.includes(square)) return page.refuse("not_home", values);
    if (letter && this.left(letter) < 1) return page.refuse("none_left", values);
    if (from) draft.delete(from);
    if (from && there) draft.set(from, there);
    if (square) draft.set(square, moved);
    this.stored("setItem", this.rows());
    page.tell(square ? "placed" : "removed", { ...values, left: this.missing() });
  }

  // --- what is done to it

  chosen(square) {
    const { held, page } = this;
    if (held) {
      if (held.square !== square) this.put(square, held);
      if (held.square || this.left(held.letter) < 1) this.held = null;
    } else if (this.draft.has(square)) this.held = { square };
    else page.refuse(this.home.includes(square) ? "take_first" : "not_home", { square });
  }

  chosenLetter(letter) {
    const { held } = this;
    if (held?.square) this.put(null, held);
    this.held = held?.square || held?.letter === letter || this.left(letter) < 1 ? null : { letter };
  }

  dropped(square, isTray) {
    const { held } = this;
    this.held = null;
    if (held && square && square !== held.square) this.put(square, held);
    else if (held?.square && isTray) this.put(null, held);
  }

  // What stands on a piece, or its letter in texts of moves, puts it on the square.
  pressed(key, square) {
    const named = Object.keys(this.army).find((letter) => this.page.labels.pieces[letter][0] === key), letter = named ?? key;
    if (letter in this.army) this.put(square, { letter });
    else if ((key === "DELETE" || key === "BACKSPACE") && this.draft.has(square)) this.put(null, { square });
    else return false;
    return true;
  }

  // --- what is to be seen

  cells() {
    const cell = (square) => (this.draft.has(square) ? this.page.seat[0] + this.draft.get(square) : LAKES.includes(square) ? "~~" : "..");
    return new Map(SQUARES.map((square) => [square, cell(square)]));
  }

  look(square) {
    const isHeld = this.held?.square === square;
    return { classes: [this.home.includes(square) && "home", isHeld && "selected"], more: [isHeld && this.page.say("is_held")], drags: this.draft.has(square) };
  }

  drawTray() {
    for (const button of this.tray.children) {
      const { letter } = button.dataset, left = this.left(letter), isHeld = this.held?.letter === letter;
      button.querySelector("b").textContent = left;
      button.classList.toggle("selected", isHeld);
      button.setAttribute("aria-pressed", isHeld);
      button.setAttribute("aria-disabled", left < 1);
      button.toggleAttribute("data-drags", left > 0);
    }
  }
}
