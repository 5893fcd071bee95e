// Setting up: a draft of where the own pieces stand, changed by clicks, drags, keys or whole rows, and sent when it is
// whole. Whether a set-up is legal is for the arena to say.
"use strict";

class Setup {
  // `page` as for `Choosing`, and its pieces; `army` is how many of each letter there are; a draft is kept under `key`.
  constructor(page, tray, army, key) {
    Object.assign(this, { page, tray, army, key });
    this.home = [0, 1, 2, 3].flatMap((row) => [...FILES].map((file) => file + (page.seat === "red" ? row + 1 : 10 - row)));
    this.order = [...page.labels.strength].filter((letter) => army[letter]);
    this.draft = new Map();
    this.held = null; // { square } or { letter }
    tray.addEventListener("click", (event) => {
      const letter = event.target.closest("[data-letter]")?.dataset.letter;
      if (letter) this.chooseLetter(letter);
    });
    this.load((this.stored("getItem") ?? "").split("/"));
  }

  // --- the draft

  left(letter) {
    return this.army[letter] - [...this.draft.values()].filter((there) => there === letter).length;
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
      if (this.army[letter] && this.left(letter) > 0) this.draft.set(this.home[at], letter);
    });
    this.held = null;
    this.keep();
  }

  mirror() {
    this.load(this.rows().map((row) => [...row].reverse().join("")));
  }

  // All of the army on any of its squares.
  shuffle() {
    const letters = this.order.flatMap((letter) => Array(this.army[letter]).fill(letter));
    while (letters.length < this.home.length) letters.push(".");
    for (let at = letters.length - 1; at > 0; at--) {
      const other = Math.floor(Math.random() * (at + 1));
      [letters[at], letters[other]] = [letters[other], letters[at]];
    }
    this.load([letters.join("")]);
  }

  // A draft outlives its tab, until it is sent; a browser may keep nothing.
  stored(what, ...more) {
    try {
      return localStorage[what](this.key, ...more);
    } catch {
      return null;
    }
  }

  keep() {
    this.stored("setItem", this.rows().join("/"));
  }

  forget() {
    this.stored("removeItem");
  }

  // Put a piece on a square: from the tray, or from another square, whose piece changes places with it.
  put(square, { letter, square: from }) {
    const { page, draft } = this, moved = letter ?? draft.get(from), there = draft.get(square);
    if (!this.home.includes(square)) page.refuse(page.say("not_home", { square }));
    else if (letter && this.left(letter) < 1) page.refuse(page.say("none_left", { piece: this.named(letter) }));
    else {
      if (from) draft.delete(from);
      if (from && there) draft.set(from, there);
      draft.set(square, moved);
      this.keep();
      page.tell(page.say("placed", { piece: this.named(moved), square, left: this.missing() }));
    }
  }

  remove(square) {
    const letter = this.draft.get(square);
    if (!letter) return;
    this.draft.delete(square);
    this.keep();
    this.page.tell(this.page.say("removed", { piece: this.named(letter), square, left: this.missing() }));
  }

  named(letter) {
    return this.page.labels.pieces[letter][1];
  }

  // --- what is done to it

  chosen(square) {
    const { held, page } = this;
    if (held) {
      if (held.square !== square) this.put(square, held);
      if (held.square || this.left(held.letter) < 1) this.held = null;
    } else if (this.draft.has(square)) this.held = { square };
    else page.refuse(page.say(this.home.includes(square) ? "take_first" : "not_home", { square }));
    page.draw();
  }

  chooseLetter(letter) {
    const { held } = this;
    if (held?.square) this.remove(held.square); // put back
    this.held = held?.square || held?.letter === letter || this.left(letter) < 1 ? null : { letter };
    this.page.draw();
  }

  lifted() {
    this.held = null;
  }

  dropped(origin, square, isTray, letter) {
    if (square && square !== origin) this.put(square, { square: origin, letter });
    else if (origin && isTray) this.remove(origin);
    this.page.draw();
  }

  // What stands on a piece, or its letter in texts of moves, puts it on the square.
  pressed(event, square) {
    const key = event.key.toUpperCase();
    const letter = this.order.find((one) => this.page.labels.pieces[one][0] === key) ?? this.order.find((one) => one === key);
    if (event.key === "Escape") this.held = null;
    else if (event.key === "Delete" || event.key === "Backspace") this.remove(square);
    else if (letter) this.put(square, { letter });
    else return;
    event.preventDefault();
    this.page.draw();
  }

  // --- what is to be seen

  cells() {
    const lakes = ["c5", "d5", "c6", "d6", "g5", "h5", "g6", "h6"], side = this.page.seat[0];
    return new Map(SQUARES.map((square) => [square, this.draft.has(square) ? side + this.draft.get(square) : lakes.includes(square) ? "~~" : ".."]));
  }

  look(square) {
    const isSelected = this.held?.square === square;
    const classes = [this.home.includes(square) && "home", isSelected && "selected"].filter(Boolean).join(" ");
    return { classes, isSelected, more: isSelected ? [this.page.say("is_held")] : [], drags: this.draft.has(square) };
  }

  drawTray() {
    const { page } = this, focused = this.tray.contains(document.activeElement) ? document.activeElement.dataset.letter : null;
    this.tray.replaceChildren(...this.order.map((letter) => {
      const left = this.left(letter), number = page.labels.pieces[letter][0], isHeld = this.held?.letter === letter;
      const made = element("button", isHeld ? "selected" : "", pieceImage(page.seat[0] + letter, page.labels.pieces, false), element("span", "", `${this.named(letter)} \u00d7${left}`));
      made.type = "button";
      made.dataset.letter = letter;
      made.title = page.say("key", { key: number.length === 1 ? number : letter });
      made.setAttribute("aria-pressed", String(isHeld));
      made.setAttribute("aria-disabled", String(left < 1));
      if (left > 0) made.dataset.drags = "";
      return made;
    }));
    if (focused) this.tray.querySelector(`[data-letter="${focused}"]`)?.focus();
  }
}
