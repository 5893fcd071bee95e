// The state: a game as its data has it (see arena/report/game_data.py), by view and ply. A cell is `r` or `b` with the letter
// of a rank, `?` for an unknown one or `!` for an unknown one that has moved, and `+` if the other side knows the rank;
// `..` is empty, `~~` a lake.
"use strict";

const FILES = "abcdefghij";
const SQUARES = Array.from({ length: 100 }, (_, at) => FILES[at % 10] + (Math.floor(at / 10) + 1));
const OTHER = { red: "blue", blue: "red" };

const sideOf = (cell) => ({ r: "red", b: "blue" })[cell[0]];
const isUnknown = (cell) => "?!".includes(cell[1]);

// The newest entry of a map by ply, of those that fit.
function newest(told = {}, ply, fits = () => true) {
  return Object.entries(told).findLast(([at, entry]) => at <= ply && fits(entry))?.[1];
}

class Positions {
  constructor(game) {
    this.game = game;
    this.states = {};
  }

  // Add what was played after the first `since` plies, as far as it is not there; false if plies between are missing.
  extend(since, part) {
    const known = this.last - since;
    if (known < 0) return false;
    const join = (old, more) => {
      for (const [key, value] of Object.entries(more)) {
        if (Array.isArray(value)) old[key] = [...(old[key] ?? []), ...value.slice(known)];
        else if (value instanceof Object) old[key] = { ...old[key], ...value };
      }
    };
    for (const [view, seen] of Object.entries(part.views)) join(this.game.views[view], seen);
    join(this.game, { ...part, views: {} });
    return true;
  }

  get last() {
    return this.game.actions.length;
  }

  // The cells of the board after a ply, by square. Those of the plies before it are kept.
  cells(view, ply) {
    const { start, changes } = this.game.views[view];
    const states = (this.states[view] ??= [new Map(SQUARES.map((square, at) => [square, start.slice(2 * at, 2 * at + 2)]))]);
    while (states.length <= ply) states.push(new Map([...states.at(-1), ...Object.entries(changes[states.length - 1])]));
    return states[ply];
  }

  // What the action of a ply did to which squares: unless the data says it, it went from its first to its last one.
  marks(ply) {
    const { actions, marks } = this.game, squares = actions[ply - 1]?.match(/[a-j]\d+/g) ?? [];
    return marks[ply] ?? (squares.length > 1 ? { [squares[0]]: "from", [squares.at(-1)]: "to" } : {});
  }

  // The letters of the ranks that a piece may have for the side that does not know it.
  could(view, ply, square) {
    const cell = this.cells(view, ply).get(square), seat = view === "all" ? OTHER[sideOf(cell)] : view;
    const isHidden = view === "all" ? cell.length < 3 : isUnknown(cell);
    return { seat, letters: (isHidden && newest(this.game.views[seat]?.could, ply, (told) => told[square])?.[square]) || "" };
  }

  // By ply: how many pieces Red and Blue have on the board, and how many of them are hidden from somebody.
  counts(view) {
    return Array.from({ length: this.last + 1 }, (_, ply) => {
      const pieces = [...this.cells(view, ply).values()].filter(sideOf), count = (fits) => pieces.filter(fits).length;
      const hidden = count((cell) => isUnknown(cell) || (view === "all" && cell.length < 3));
      return { red: count((cell) => cell[0] === "r"), blue: count((cell) => cell[0] === "b"), hidden };
    });
  }
}
