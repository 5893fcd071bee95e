// The state: a game as its data has it (see arena/report/game_data.py), by view and ply. Squares are named as people name
// them (a1 to j10). A cell is two characters: `r` or `b` with the letter of a rank, `?` for an unknown one or `!` for an
// unknown one that has moved; `..` is empty, `~~` a lake.
"use strict";

const FILES = "abcdefghij";
const SQUARES = Array.from({ length: 100 }, (_, at) => FILES[at % 10] + (Math.floor(at / 10) + 1));

const LAKES = ["c5", "d5", "g5", "h5", "c6", "d6", "g6", "h6"];

const isPiece = (cell) => cell[0] === "r" || cell[0] === "b";
const isUnknown = (cell) => cell[1] === "?" || cell[1] === "!";
const squareOf = (name) => name.replace("0", "10"); // in the data each square has two characters

class Positions {
  constructor(game) {
    this.take(game);
  }

  take(game) {
    this.game = { actions: [], taken: [], notes: [], dialogue: [], marks: {}, ...game };
    this.states = {};
    this.walks = {};
  }

  // Add what was played after the first `since` plies, as far as it is not there; false if plies between are missing.
  extend(since, part) {
    const { game } = this, known = this.last - since;
    if (known < 0) return false;
    for (const key of ["actions", "taken", "banks"]) game[key]?.push(...(part[key] ?? []).slice(known));
    game.sides += part.sides.slice(known);
    Object.assign(game.marks, part.marks);
    for (const [name, seen] of Object.entries(game.views)) {
      for (const [key, more] of Object.entries(part.views[name])) {
        if (Array.isArray(more)) (seen[key] ??= []).push(...more.slice(known));
        else if (typeof more === "object") Object.assign((seen[key] ??= {}), more);
      }
    }
    return true;
  }

  get last() {
    return this.game.actions.length;
  }

  seen(view) {
    return this.game.views[view];
  }

  side(ply) {
    return this.game.sides[ply - 1] === "r" ? "red" : "blue";
  }

  // The board after a ply: cells by square. Those of the plies before it are kept.
  cells(view, ply) {
    const { start, changes } = this.seen(view);
    const states = (this.states[view] ??= [new Map(SQUARES.map((square, at) => [square, start.slice(2 * at, 2 * at + 2)]))]);
    while (states.length <= ply) {
      const next = new Map(states.at(-1));
      for (const [, square, cell] of changes[states.length - 1].matchAll(/(..)(..)/g)) next.set(squareOf(square), cell);
      states.push(next);
    }
    return states[ply];
  }

  // The squares of pieces whose rank is shown, and known to the other side as well.
  known(view, ply) {
    const found = new Set();
    for (const [square, cell] of this.cells(view, ply)) {
      const other = { r: "blue", b: "red" }[cell[0]];
      if (other && other !== view && this.seen(other) && !isUnknown(this.cells(other, ply).get(square))) found.add(square);
    }
    return found;
  }

  // What the action of a ply did to which squares: unless the data says it, it went from its first to its last one.
  marks(ply) {
    if (!ply) return {};
    const said = this.game.marks[ply];
    if (said) return Object.fromEntries(Object.entries(said).map(([square, mark]) => [squareOf(square), mark]));
    const squares = this.game.actions[ply - 1].match(/[a-j]\d+/g) ?? [];
    return squares.length < 2 ? {} : { [squares[0]]: "from", [squares.at(-1)]: "to" };
  }

  // The fight of a ply: its square, the cells of both pieces, and those that were lost.
  fight(view, ply) {
    const text = this.seen(view).fights?.[ply];
    if (!text) return null;
    const [, square, attacker, defender, left] = text.match(/(..)(..)(..)(.)/);
    return { square: squareOf(square), attacker, defender, lost: { a: [defender], d: [attacker], n: [attacker, defender] }[left] };
  }

  // The letters of the pieces that Red and Blue have lost until a ply.
  lost(view, ply) {
    const told = Object.entries(this.seen(view).lost ?? {}).filter(([at]) => Number(at) <= ply);
    return told.length ? told.at(-1)[1] : ["", ""];
  }

  // The letters of all ranks that an unknown piece may have after a ply, for the seat that it is hidden from.
  could(seat, ply, square) {
    const told = Object.entries(this.seen(seat)?.could ?? {}).filter(([at]) => Number(at) <= ply).reverse();
    for (const [, sets] of told) {
      for (const [letters, squares] of Object.entries(sets)) if ((squares.match(/../g) ?? []).map(squareOf).includes(square)) return letters;
    }
    return "";
  }

  // By ply: how many pieces Red and Blue have on the board, and whether a rank has become known. Kept as `cells` is.
  walk(view) {
    const readers = view === "all" ? ["red", "blue"].filter((seat) => this.seen(seat)) : [view];
    const walk = (this.walks[view] ??= []);
    for (let ply = walk.length; ply <= this.last; ply++) {
      const hidden = readers.map((seat) => [...this.cells(seat, ply).values()].filter((cell) => isPiece(cell) && isUnknown(cell)).length);
      const cells = [...this.cells(view, ply).values()];
      const counts = ["r", "b"].map((side) => cells.filter((cell) => cell[0] === side).length);
      walk.push({ counts, hidden, reveals: ply > 0 && hidden.some((count, at) => count < walk[ply - 1].hidden[at]) });
    }
    return walk;
  }
}
