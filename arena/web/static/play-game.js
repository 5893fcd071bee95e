// The game under way, as this seat knows it: how each square looks, what may be played from it, what was played. All of it
// comes from the arena with each state; nothing is worked out here but which of the legal actions fit a square.

import { LAKES, SQUARES, homeSquares, element, pieceElement } from "./play-board.js";

const MARKS = { from: "mark_from", to: "mark_to", lost: "mark_lost", "lost-from": "mark_lost_from" };

export class Game {
  // `on` has act(actions), refused(text), told(text), changed().
  constructor({ seat, pieces, order, say, on }) {
    this.seat = seat;
    this.enemy = seat === "red" ? "blue" : "red";
    this.pieces = pieces;
    this.order = order;
    this.say = say;
    this.on = on;
    this.held = null;
    this.state = null;
    this.on_board = new Map(); // by square: the piece
    this.legal = new Map(); // by origin, by target: the choices
    this.marks = {};
  }

  // `shown` are the squares of own pieces that the enemy knows.
  update(state, shown = []) {
    if (state.plies !== this.state?.plies || state.stage !== this.state?.stage) this.held = null;
    this.state = state;
    this.on_board = new Map(piecesOf(state).map((piece) => [piece.square, piece]));
    this.legal = new Map();
    for (const choice of state.choices) {
      if (!this.legal.has(choice.origin)) this.legal.set(choice.origin, new Map());
      const targets = this.legal.get(choice.origin);
      targets.set(choice.target, [...(targets.get(choice.target) ?? []), choice]);
    }
    this.marks = state.last?.marks ?? {};
    this.shown = state.end ? [] : shown;
  }

  // Look at the set-ups, or (without rows) at the board as it is.
  lookBack(setups) {
    this.update(this.state);
    if (!setups) return;
    this.marks = {};
    this.on_board = new Map();
    ["red", "blue"].forEach((color, at) => {
      const letters = setups[at].replaceAll("/", "");
      homeSquares(color).forEach((square, place) => {
        if (letters[place] !== ".") this.on_board.set(square, { square, color, rank: letters[place], moved: false, could_be: [] });
      });
    });
  }

  side(square) {
    return this.on_board.get(square)?.color ?? null;
  }

  // --- what is done

  chosen(square) {
    const targets = this.legal.get(this.held);
    if (targets?.has(square)) this.on.act(targets.get(square));
    else if (this.held === square) this.held = null;
    else if (this.legal.has(square)) {
      this.held = square;
      this.on.told(this.say("held_targets", { piece: this.name(square), targets: [...this.legal.get(square).keys()].join(", ") }));
    } else if (this.held) this.on.refused(this.say("no_way", { from: this.held, to: square, targets: [...targets.keys()].join(", ") }));
    else if (this.state.stage !== "moving") this.on.refused(this.say("not_your_turn"));
    else if (this.side(square) === this.seat) this.on.refused(this.say("cannot_move", { square, piece: this.name(square) }));
    else this.on.refused(this.say("take_own"));
    this.on.changed();
  }

  lifted(from) {
    this.held = from.dataset.square;
  }

  dropped(from, target) {
    const square = target?.closest("[data-square]")?.dataset.square;
    if (square === undefined || square === from.dataset.square) {
      this.held = null;
      this.on.changed();
    } else {
      this.held = from.dataset.square;
      this.chosen(square);
    }
  }

  pressedKey(event) {
    if (event.key !== "Escape" || !this.held) return;
    event.preventDefault();
    this.held = null;
    this.on.told(this.say("put_back"));
    this.on.changed();
  }

  // --- what is to be seen

  name(square) {
    const piece = this.on_board.get(square);
    const known = this.pieces[piece.rank];
    return known ? `${known.name} ${known.number}` : this.say(piece.moved ? "unknown_moved" : "unknown_still");
  }

  label(square) {
    const side = this.side(square);
    const parts = [
      !side ? this.say(LAKES.includes(square) ? "lake" : "empty", { square })
        : this.say(side === this.seat ? "own" : "theirs", { square, piece: this.name(square) }),
    ];
    if (this.shown.includes(square)) parts.push(this.say("is_shown"));
    const targets = this.legal.get(square);
    if (this.held === square) parts.push(this.say("is_held"));
    if (targets) parts.push(this.say("may_move", { targets: [...targets.keys()].join(", ") }));
    if (this.legal.get(this.held)?.has(square)) parts.push(this.say(side ? "target_attack" : "target_free", { from: this.held }));
    if (this.marks[square]) parts.push(this.say(MARKS[this.marks[square]]));
    return parts.join(", ");
  }

  // What there is to say of a square in the line below the board.
  details(square) {
    const label = this.label(square);
    const could = this.on_board.get(square)?.could_be ?? [];
    if (!could.length) return label;
    const pieces = [...could].reverse().map((letter) => this.pieces[letter]?.name ?? letter);
    return this.say("could_be", { label, pieces: pieces.join(", ") });
  }

  look(square) {
    const piece = this.on_board.get(square);
    const side = piece?.color;
    const isTarget = this.legal.get(this.held)?.has(square);
    const known = this.pieces[piece?.rank];
    const kind = this.shown.includes(square) ? "shown" : !known ? (piece?.moved ? "unknown moved" : "unknown") : "";
    return {
      label: this.label(square),
      classes: [
        this.marks[square] ?? "",
        this.held === square ? "selected" : "",
        isTarget ? (side ? "target attack" : "target") : "",
        this.legal.has(square) ? "movable" : "",
      ],
      selected: this.held === square,
      drags: this.legal.has(square),
      piece: side && (() => pieceElement(side, known?.number ?? "", kind)),
      key: side && [side, known?.number, kind].join(),
    };
  }

  cursor() {
    return this.legal.keys().next().value ?? (this.seat === "red" ? "e4" : "e7");
  }

  // A move with a fight as pieces: who attacked whom, and who is left.
  fight({ ply, color, fight }) {
    const piece = (side, letter, lost) => {
      const known = this.pieces[letter];
      const made = element("span", "fighter" + (lost ? " beaten" : ""));
      made.append(pieceElement(side, known?.number ?? "", known ? "" : "unknown"), element("span", "", known?.name ?? this.say("unknown")));
      return made;
    };
    return [
      element("span", "ply", ply + "."),
      piece(color, fight.attacker, fight.survivor !== "attacker"),
      element("span", "against", this.say("attacks")),
      piece(color === "red" ? "blue" : "red", fight.defender, fight.survivor !== "defender"),
    ];
  }

  // The pieces that a side has lost, the strongest first.
  lost(side) {
    const counts = {};
    for (const letter of this.state.lost[side === "red" ? 0 : 1]) counts[letter] = (counts[letter] ?? 0) + 1;
    return this.order.filter((letter) => counts[letter]).map((letter) => {
      const made = element("li", "taken");
      made.append(pieceElement(side, this.pieces[letter].number), element("span", "hidden", `${this.pieces[letter].name} \u00d7${counts[letter]}`));
      if (counts[letter] > 1) made.append(count(counts[letter]));
      return made;
    });
  }
}

function count(number) {
  const made = element("span", "count", "\u00d7" + number);
  made.setAttribute("aria-hidden", "true");
  return made;
}

// What is on the board: what this seat knows, or all of it once the game is over.
function piecesOf(state) {
  const truth = state.end?.truth ?? [];
  if (!truth.length) return state.pieces;
  return SQUARES.flatMap((square, at) => {
    const color = { r: "red", b: "blue" }[truth[at][0]];
    return color ? [{ square, color, rank: truth[at][1], moved: false, could_be: [] }] : [];
  });
}
