// The state: a game (see arena/report/game_data.py), and what is shown of it. A cell is `r` or `b` with the letter
// of a rank, `?` or (moved) `!`, and `+` if the other side knows the rank; `..` is empty, `~~` a lake.
"use strict";

const FILES = "abcdefghij", OTHER = { red: "blue", blue: "red" };
const SQUARES = Array.from({ length: 100 }, (_, at) => FILES[at % 10] + (Math.floor(at / 10) + 1));
const sideOf = (cell) => ({ r: "red", b: "blue" })[cell[0]];

let game = null, last = 0, labels = JSON.parse(stage.dataset.labels ?? "{}");
let ply = 0, view = "", flipped = false;
let states = {}; // by view: the boards that were needed

function takeGame(data) {
  const viewsOf = (one) => Object.keys(one?.views ?? {});
  if (String(viewsOf(game)) !== String(viewsOf(data))) [view] = viewsOf(data);
  [game, last, labels, states] = [data, data.actions.length, data.labels, {}];
}

// Add what was played after the first `since` plies; false if plies between are missing.
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

function cellsAt(at) {
  const { start, changes } = game.views[view];
  const seen = (states[view] ??= [new Map(SQUARES.map((square, place) => [square, start.substr(2 * place, 2)]))]);
  while (seen.length <= at) seen.push(new Map([...seen.at(-1), ...Object.entries(changes[seen.length - 1])]));
  return seen[at];
}

// Whether the rank of a piece is not known to both sides, as far as the view tells.
const isHidden = (cell) => (view === "all" ? cell.length < 3 : "?!".includes(cell[1]));

// The newest entry of a map by ply, of those that fit.
function newest(told = {}, fits = () => true) {
  return Object.entries(told).findLast(([at, entry]) => at <= ply && fits(entry))?.[1];
}

// The side that does not know what is on a square, and the letters of the ranks that it may have for that side.
function couldBe(square, cell) {
  const seat = view === "all" ? OTHER[sideOf(cell)] : view, told = (could) => could[square];
  return { seat, letters: (sideOf(cell) && isHidden(cell) && newest(game.views[seat]?.could, told)?.[square]) || "" };
}
