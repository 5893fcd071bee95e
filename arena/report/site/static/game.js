// The state: a game as its data has it (see arena/report/game_data.py), and what is shown of it. A cell is `r` or `b` with
// the letter of a rank, `?` for an unknown one or `!` for an unknown one that has moved, and `+` if the other side knows the
// rank; `..` is empty, `~~` a lake.
"use strict";

const FILES = "abcdefghij", OTHER = { red: "blue", blue: "red" };
const SQUARES = Array.from({ length: 100 }, (_, at) => FILES[at % 10] + (Math.floor(at / 10) + 1));
const sideOf = (cell) => ({ r: "red", b: "blue" })[cell[0]];

let game = null, last = 0, labels = JSON.parse(stage.dataset.labels ?? "{}");
let ply = 0, view = "", flipped = false;
let states = {}; // by view: the boards that were needed

function takeGame(data) {
  if (String(Object.keys(game?.views ?? {})) !== String(Object.keys(data.views))) [view] = Object.keys(data.views);
  [game, last, labels, states] = [data, data.actions.length, data.labels, {}];
}

// Add what was played after the first `since` plies, as far as it is not there; false if plies between are missing.
function extendGame(since, more) {
  const known = last - since;
  const join = (old, added) => {
    for (const [key, value] of Object.entries(added)) {
      if (Array.isArray(value)) old[key] = [...(old[key] ?? []), ...value.slice(known)];
      else if (value instanceof Object) old[key] = { ...old[key], ...value };
    }
  };
  if (known < 0) return false;
  for (const [name, seen] of Object.entries(more.views)) join(game.views[name], seen);
  join(game, { ...more, views: {} });
  last = game.actions.length;
  return true;
}

// The cells of the board after a ply, by square.
function cellsAt(at) {
  const { start, changes } = game.views[view];
  const boards = (states[view] ??= [new Map(SQUARES.map((square, place) => [square, start.substr(2 * place, 2)]))]);
  while (boards.length <= at) boards.push(new Map([...boards.at(-1), ...Object.entries(changes[boards.length - 1])]));
  return boards[at];
}

// What the action of a ply did to which squares: unless the data says it, it went from its first to its last one.
function marksAt(at) {
  const squares = game.actions[at - 1]?.match(/[a-j]\d+/g) ?? [];
  return game.marks[at] ?? (squares.length > 1 ? { [squares[0]]: "from", [squares.at(-1)]: "to" } : {});
}

// Whether the rank of a piece is not known to both sides, as far as the view tells.
const isHidden = (cell) => (view === "all" ? cell.length < 3 : "?!".includes(cell[1]));

// The newest entry of a map by ply, of those that fit.
function newest(told = {}, fits = () => true) {
  return Object.entries(told).findLast(([at, entry]) => at <= ply && fits(entry))?.[1];
}

// The side that does not know the piece on a square, and the letters of the ranks that it may have for that side.
function couldBe(square, cell) {
  const seat = view === "all" ? OTHER[sideOf(cell)] : view;
  return { seat, letters: (isHidden(cell) && newest(game.views[seat]?.could, (told) => told[square])?.[square]) || "" };
}
