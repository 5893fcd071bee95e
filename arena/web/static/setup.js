// Setting up: a draft of where the own pieces stand, changed by clicks, drags, keys or whole rows, and sent when it is
// whole. Whether a set-up is legal is for the arena to say.
"use strict";

class Setup {
  // The page's `army` is how many of each letter there are.
  constructor(page) {
    Object.assign(this, { page, army: page.data.army, tray: page.part("tray") });
    this.home = [0, 1, 2, 3].flatMap((row) => [...FILES].map((file) => file + (page.seat === "red" ? row + 1 : 10 - row)));
    this.load(history.state ?? "");
  }

  // Take over rows, the own back row first, as far as they are of this army. They outlive a reload.
  load(rows) {
    const left = { ...this.army }, letters = rows.replaceAll("/", "");
    this.draft = this.home.map((_, at) => (left[letters[at]]-- > 0 ? letters[at] : "."));
    this.held = null; // { square } or { letter }
    history.replaceState(this.rows, "");
  }

  get rows() {
    return this.draft.join("").replace(/.{10}(?!$)/g, "$&/");
  }

  get missing() {
    return Object.keys(this.army).reduce((sum, letter) => sum + this.left(letter), 0);
  }

  left(letter) {
    return this.army[letter] - this.draft.filter((there) => there === letter).length;
  }

  letterOn(square) {
    return this.draft[this.home.indexOf(square)] ?? ".";
  }

  // All of the army on any of its squares.
  shuffle() {
    const all = Object.entries(this.army).map(([letter, count]) => letter.repeat(count)).join("");
    const order = this.home.map((_, at) => [Math.random(), all[at] ?? "."]).sort(([one], [other]) => one - other);
    this.load(order.map(([, letter]) => letter).join(""));
  }

  // Put a piece on a square: from the tray, or from another square, whose piece changes places with it. Without a square it
  // goes back to the tray.
  put(square, { letter, square: from }) {
    const { page, draft, home } = this, moved = letter ?? this.letterOn(from), values = { square: square ?? from, piece: page.name(moved) };
    if (square && !home.includes(square)) return page.refuse("not_home", values);
    if (letter && this.left(letter) < 1) return page.refuse("none_left", values);
    if (from) draft[home.indexOf(from)] = this.letterOn(square);
    if (square) draft[home.indexOf(square)] = moved;
    history.replaceState(this.rows, "");
    page.tell(square ? "placed" : "removed", { ...values, left: this.missing });
  }

  // --- what is done to it

  chosen(square) {
    const { held, page } = this, letter = this.letterOn(square);
    if (!held && letter === ".") return page.refuse(this.home.includes(square) ? "take_first" : "not_home", { square });
    this.held = held ? null : { square };
    if (held && held.square !== square) this.put(square, held);
    if (held?.letter && this.left(held.letter)) this.held = held; // there is another one of them
  }

  chosenLetter(letter) {
    const { held } = this;
    if (held?.square) this.put(null, held);
    this.held = held?.square || held?.letter === letter || !this.left(letter) ? null : { letter };
  }

  // What stands on a piece, or its letter in texts of moves, puts it on the square.
  pressed(key, square) {
    const letter = Object.keys(this.army).find((one) => [one, this.page.labels.pieces[one][0]].includes(key));
    if (letter) this.put(square, { letter });
    else if (/^(DELETE|BACKSPACE)$/.test(key) && this.letterOn(square) !== ".") this.put(null, { square });
  }

  // --- what is to be seen

  cells() {
    const own = (letter) => (letter === "." ? ".." : this.page.seat[0] + letter);
    return new Map(SQUARES.map((square) => [square, /^[cdgh][56]$/.test(square) ? "~~" : own(this.letterOn(square))]));
  }

  look(square) {
    const isHeld = this.held?.square === square;
    return { classes: [this.home.includes(square) && "home", isHeld && "selected"], more: [isHeld && this.page.say("is_held")], drags: this.letterOn(square) !== "." };
  }

  drawTray() {
    for (const button of this.tray.children) {
      const { letter } = button.dataset, left = this.left(letter);
      button.querySelector("b").textContent = left;
      button.ariaPressed = this.held?.letter === letter;
      button.ariaDisabled = !left;
      button.toggleAttribute("data-drags", left > 0);
    }
  }
}
