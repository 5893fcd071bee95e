// Choosing on the board by click, key or drag. A piece is named by its square, or in the tray by its letter.
"use strict";

const page = JSON.parse(stage.dataset.data), HOME = page.home, army = page.army ?? {}; // counts by letter

let held = null, legal = {}; // by piece, by target: the choices
let fitting = [], chosenFor = 0; // what the dialog leaves, and the ply: another tab may play on
let draft = {}; // letters by square

const letterOf = (piece) => (piece?.[1] ? shown.get(piece)[1] : piece), nameOf = (letter) => labels.pieces[letter]?.[1];
const targetsOf = (piece) => (isSettingUp() ? piece in legal && texts.home : Object.keys(legal[piece] ?? {}).join(", "));

function offer(choices) {
  [held, legal] = [null, {}];
  for (const choice of choices) ((legal[choice.origin] ??= {})[choice.target] ??= []).push(choice);
}

function choose(square) {
  const isOwn = shown.get(square)[0] === page.seat[0], isFree = square in legal, piece = isFree ? square : held ?? square;
  const values = { square, piece: nameOf(letterOf(piece)), targets: targetsOf(piece) };
  if (legal[held]?.[square]) return isSettingUp() ? place(held, square) : sendAction(legal[held][square]);
  if (isFree) held = held === square ? null : square;
  if (isFree) put("told", held ? say("held", values) : "");
  else refuse(held ? "no_way" : !Object.keys(legal).length ? "not_your_turn" : isOwn ? "cannot_move" : "take_own", values);
}

function lookOf(square) {
  const targets = targetsOf(square), isTarget = legal[held]?.[square], side = sideOf(shown.get(square));
  return {
    home: isSettingUp() && HOME.includes(square) && texts.home,
    selected: held === square && texts.is_held,
    movable: targets && say("may_move", { targets }),
    target: isTarget && say("target", { piece: nameOf(letterOf(held)) }),
    attack: isTarget && side && side !== page.seat && texts.attack,
  };
}

// Play one of these actions: ask which, if there are several or something can be guessed.
function sendAction(choices) {
  [held, fitting, chosenFor] = [null, choices, state.plies + 1];
  if (choices.length === 1 && !choices[0].guessed) return sendChoice();
  const dialog = part("choice");
  dialog.onchange = () => narrow(dialog.querySelectorAll("select"), choices);
  dialog.onchange();
  dialog.showModal();
}

const sendChoice = () => send("act", { action: fitting[0].action, ply: chosenFor });

// Each list offers what fits the ones before.
function narrow(lists, choices) {
  fitting = choices;
  for (const list of lists) {
    const read = (choice) => choice[list.name] ?? "", values = [...new Set(fitting.map(read))];
    const picked = values.includes(list.value) ? list.value : values[0];
    const called = (value) => fill(value ? list.dataset.one : list.dataset.none, { value: nameOf(value) ?? value });
    list.replaceChildren(...values.map((value) => new Option(called(value), value, false, value === picked)));
    list.parentNode.hidden = values.length < 2 && !picked;
    fitting = fitting.filter((choice) => read(choice) === picked);
  }
}

// --- setting up

const left = (letter) => army[letter] - Object.values(draft).filter((there) => there === letter).length;
const missing = () => Object.keys(army).reduce((sum, letter) => sum + left(letter), 0);
const rowsOf = () => HOME.map((square) => draft[square] ?? ".").join("").replace(/.{10}(?!$)/g, "$&/");

// Take over rows, the own back row first.
function loadRows(rows) {
  draft = {};
  rows.replaceAll("/", "").split("").forEach((letter, at) => { if (left(letter) > 0) draft[HOME[at]] = letter; });
  keepDraft();
}

// The draft outlives a reload. Each piece may go to each home square.
function keepDraft() {
  const goals = Object.fromEntries(HOME.map((square) => [square, true]));
  const free = [...HOME.filter((square) => draft[square]), ...Object.keys(army).filter(left)];
  [held, legal] = [null, Object.fromEntries(free.map((piece) => [piece, goals]))];
  history.replaceState(rowsOf(), "");
}

// Put a piece on a square, whose piece takes its place; or back to the tray.
function place(piece, square) {
  const letter = draft[piece] ?? piece;
  if (draft[piece]) draft[piece] = draft[square];
  if (square) draft[square] = letter;
  keepDraft();
  put("told", say(square ? "placed" : "removed", { square: square ?? piece, piece: nameOf(letter), left: missing() }));
  if (letter === piece && left(letter)) held = piece; // there is another one of them
}

function chooseLetter(letter) {
  if (draft[held]) place(held);
  else held = held !== letter && left(letter) ? letter : null;
}

function typeOn(square, key) {
  const letter = Object.keys(army).find((one) => [one, labels.pieces[one][0]].includes(key.toUpperCase()));
  if (key === "Escape") held = null;
  if (!isSettingUp()) return;
  if (/^(Delete|Backspace)$/.test(key) && draft[square]) place(square);
  else if (legal[letter]?.[square]) place(letter, square);
  else if (letter) refuse("none_left", { piece: nameOf(letter), square });
}

function cellsOfDraft() {
  const cellOf = (square) => (draft[square] ? page.seat[0] + draft[square] : /^[cdgh][56]$/.test(square) ? "~~" : "..");
  return new Map(SQUARES.map((square) => [square, cellOf(square)]));
}

function drawTray() {
  for (const button of part("tray").children) {
    const { letter } = button.dataset, count = left(letter);
    button.querySelector("b").textContent = count;
    button.ariaPressed = held === letter;
    button.ariaDisabled = !count;
    button.classList.toggle("movable", count > 0);
  }
  put("missing", say(missing() ? "missing" : "all_placed", { count: missing() }));
}

if (board) loadRows(history.state ?? "");

// --- dragging; what does not leave its square is a click

let start = null, image = null;

function endDrag() {
  image?.remove();
  start = image = null;
}

const under = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY);
const hear = (name, listener) => document.addEventListener(name, listener, { passive: false });

hear("pointerdown", ({ isPrimary, button, target }) => { start = isPrimary && button === 0 && target.closest(".movable"); });
hear("pointermove", (event) => {
  if (!start || (!image && start.contains(under(event)))) return;
  const { square, letter, cell } = start.dataset;
  if (!image) does(() => { held = square ?? letter; });
  image ??= document.body.appendChild(pieceImage(cell, "piece dragged"));
  image.style.translate = `${event.clientX}px ${event.clientY}px`;
});
hear("pointerup", (event) => {
  const isDrag = image, { square, tray } = under(event)?.closest("[data-square], [data-tray]")?.dataset ?? {};
  endDrag();
  if (isDrag) does(() => {
    if (square) choose(square);
    else if (tray === "" && draft[held]) place(held);
    held = null;
  });
});
hear("pointercancel", endDrag);
// The page stays under the finger; touch-action has no effect within an SVG.
hear("touchmove", (event) => start && event.preventDefault());
