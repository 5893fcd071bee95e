// A game (see arena/report/game_data.py), and what is shown of it. A cell is `r` or `b` with the letter of a rank, `?`
// or (moved) `!`, and `+` if the other side knows it; `..` is empty, `~~` a lake.
"use strict";

const FILES = "abcdefghij", TEN = [...Array(10).keys()], SIDES = ["red", "blue"];
const SQUARES = TEN.flatMap((row) => [...FILES].map((file) => file + (row + 1)));
const sideOf = (cell) => ({ r: "red", b: "blue" })[cell[0]];

let game = null, last = 0, labels = JSON.parse(stage.dataset.labels ?? "{}");
let ply = 0, view = "", flipped = false;

function takeGame(data) {
  const views = Object.keys(data.views);
  if (String(views) !== String(Object.keys(game?.views ?? {}))) [view] = views;
  [game, last, labels] = [data, data.actions.length, data.labels];
}

// Add what was played after the first `since` plies; false if plies between are missing.
function extendGame(since, more) {
  if (!game || since > last) return false;
  const { views, ...rest } = more;
  for (const [old, added] of [[game, rest], ...Object.keys(views).map((name) => [game.views[name], views[name]])]) {
    for (const [key, value] of Object.entries(added)) {
      if (Array.isArray(value)) (old[key] ??= []).push(...value.slice(last - since));
      else if (value instanceof Object) old[key] = { ...old[key], ...value };
    }
  }
  last = game.actions.length;
  return true;
}

function cellsAt(at) {
  const seen = game.views[view], boards = (seen.boards ??= []);
  if (!boards.length) boards.push(new Map(SQUARES.map((square, place) => [square, seen.start.substr(2 * place, 2)])));
  while (boards.length <= at) boards.push(new Map([...boards.at(-1), ...Object.entries(seen.changes[boards.length - 1])]));
  return boards[at];
}

const isHidden = (cell) => (view === "all" ? cell.length < 3 : "?!".includes(cell[1]));

function newest(told = {}, fits = () => true) {
  return Object.entries(told).findLast(([at, entry]) => at <= ply && fits(entry))?.[1];
}

// The side that does not know a piece, and its possible letters.
function couldBe(square, cell) {
  const seat = view !== "all" ? view : sideOf(cell) === "red" ? "blue" : "red";
  const isAsked = sideOf(cell) && isHidden(cell);
  return { seat, letters: (isAsked && newest(game.views[seat]?.could, (could) => could[square])?.[square]) || "" };
}
