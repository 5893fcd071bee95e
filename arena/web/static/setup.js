// Setting up: a draft of where the own pieces stand, sent when it is whole. Whether it is legal is for the arena to say.
"use strict";

const HOME = [0, 1, 2, 3].flatMap((row) => [...FILES].map((file) => file + (page.seat === "red" ? row + 1 : 10 - row)));
const army = page.army ?? {}; // how many of each letter there are

let draft = []; // the letters on the home squares, "." for none

// Take over rows, the own back row first, as far as they are of this army. They outlive a reload.
function loadRows(rows) {
  const free = { ...army }, letters = rows.replaceAll("/", "");
  draft = HOME.map((_, at) => (free[letters[at]]-- > 0 ? letters[at] : "."));
  held = null;
  history.replaceState(rowsOf(), "");
}

const rowsOf = () => draft.join("").replace(/.{10}(?!$)/g, "$&/");
const left = (letter) => army[letter] - draft.filter((there) => there === letter).length;
const missing = () => Object.keys(army).reduce((sum, letter) => sum + left(letter), 0);
const letterOn = (square) => draft[HOME.indexOf(square)] ?? ".";

function shuffle() {
  const all = Object.entries(army).map(([letter, count]) => letter.repeat(count)).join("");
  const order = HOME.map((_, at) => [Math.random(), all[at] ?? "."]).sort(([one], [other]) => one - other);
  loadRows(order.map(([, letter]) => letter).join(""));
}

// Put a piece on a square, from the tray or a square whose piece changes places with it; or back to the tray.
function putPiece(square, { letter, square: from }) {
  const moved = letter ?? letterOn(from), values = { square: square ?? from, piece: nameOf(moved) };
  if (square && !HOME.includes(square)) return refuse("not_home", values);
  if (letter && !left(letter)) return refuse("none_left", values);
  if (from) draft[HOME.indexOf(from)] = letterOn(square);
  if (square) draft[HOME.indexOf(square)] = moved;
  history.replaceState(rowsOf(), "");
  put("told", say(square ? "placed" : "removed", { ...values, left: missing() }));
}

function choosePlace(square) {
  const had = held;
  if (!had && letterOn(square) === ".") return refuse(HOME.includes(square) ? "take_first" : "not_home", { square });
  held = had ? null : { square };
  if (had && had.square !== square) putPiece(square, had);
  if (had?.letter && left(had.letter)) held = had; // there is another one of them
}

function chooseLetter(letter) {
  const isBack = held?.square || held?.letter === letter || !left(letter);
  if (held?.square) putPiece(null, held);
  held = isBack ? null : { letter };
}

// What stands on a piece, or its letter in texts of moves, puts it on the square.
function typePiece(key, square) {
  const letter = Object.keys(army).find((one) => [one, labels.pieces[one][0]].includes(key));
  if (letter) putPiece(square, { letter });
  else if (/^(DELETE|BACKSPACE)$/.test(key) && letterOn(square) !== ".") putPiece(null, { square });
}

function cellsOfDraft() {
  const own = (letter) => (letter === "." ? ".." : page.seat[0] + letter);
  return new Map(SQUARES.map((square) => [square, /^[cdgh][56]$/.test(square) ? "~~" : own(letterOn(square))]));
}

function lookOfPlace(square) {
  const isHeld = held?.square === square;
  const classes = [HOME.includes(square) && "home", isHeld && "selected"];
  return { classes, more: [isHeld && say("is_held")], drags: letterOn(square) !== "." };
}

function drawTray() {
  for (const button of part("tray").children) {
    const { letter } = button.dataset, count = left(letter);
    button.querySelector("b").textContent = count;
    button.ariaPressed = held?.letter === letter;
    button.ariaDisabled = !count;
    button.toggleAttribute("data-drags", count > 0);
  }
  put("missing", say(missing() ? "missing" : "all_placed", { count: missing() }));
}

if (board) loadRows(history.state ?? "");
