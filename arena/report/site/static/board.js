// Draws the board of Stratego, or the image or text of another game.
"use strict";

const SIDE = 40, LEFT = 20, TOP = 4;
const WAYS = { // across and down
  ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  Home: [-9, 0], End: [9, 0], PageUp: [0, -9], PageDown: [0, 9],
};

const board = part("board");
// What a page may add: chosen(square), key(event, square), look(square) of the newest position, shown(), clocks(), pace.
const on = {};
const UNSAID = { "aria-hidden": "true" }, SQUARE = { role: "gridcell", width: SIDE, height: SIDE, tabindex: -1 };
const boxes = new Map(SQUARES.map((square) => [square, drawn("rect", { ...SQUARE, "data-square": square })]));
const places = new Map(SQUARES.map((square) => [square, drawn("g")]));
const pieces = drawn("g", { ...UNSAID, class: "pieces" }, ...places.values());
const lostPieces = drawn("g", { ...UNSAID, class: "pieces" });
let order = []; // the squares as they are read, from Red's side or Blue's
let shown = null, cursor = "a1", slideMs = 300;

// The parts of a piece of 40 by 40, crossed out if it is lost; an eye means that the other side knows it.
function pieceParts(cell, isLost = false) {
  const [, letter, isKnown] = cell, used = (id) => drawn("use", { href: "#" + id });
  if (!sideOf(cell)) return [];
  const parts = [used("tile-" + sideOf(cell)), used("rank-" + letter)], number = labels.pieces[letter]?.[0];
  if (number && !"FB".includes(letter)) parts.push(drawn("text", { x: 20, y: 34.5 }, number));
  if (isKnown) parts.push(used("eye"));
  if (isLost) parts.push(used("cross"));
  return parts;
}

function pieceImage(cell, name = "small piece", isLost = false) {
  return drawn("svg", { ...UNSAID, class: name, viewBox: "0 0 40 40" }, ...pieceParts(cell, isLost));
}

const translated = ([x, y], scale = 1, unit = "") => `translate(${x}${unit}, ${y}${unit}) scale(${scale})`;

function placeOf(square) {
  const at = order.indexOf(square);
  return [LEFT + SIDE * (at % 10), TOP + SIDE * Math.floor(at / 10)];
}

function layOut() {
  const isHeld = board.contains(document.activeElement);
  order = TEN.flatMap((row) => SQUARES.slice(90 - 10 * row, 100 - 10 * row));
  if (flipped) order.reverse();
  for (const square of order) {
    const [x, y] = placeOf(square);
    set(boxes.get(square), { x, y });
    set(places.get(square), { transform: translated([x, y]) });
  }
  const rows = TEN.map((row) => order.slice(10 * row, 10 * row + 10).map((square) => boxes.get(square)));
  board.replaceChildren(
    drawn("use", { ...UNSAID, href: flipped ? "#frame-blue" : "#frame-red" }),
    ...rows.map((row) => drawn("g", { role: "row" }, ...row)), pieces, lostPieces,
  );
  board.before(part("player=" + (flipped ? "red" : "blue")));
  board.after(part("player=" + (flipped ? "blue" : "red")));
  if (isHeld) focusOn(cursor);
}

// Show cells by square, with the marks of the last action. `look` gives classes with their meanings.
function showBoard(cells, look = () => ({}), marks = {}) {
  if (order[0] !== (flipped ? "j1" : "a10")) layOut();
  shown = cells;
  for (const [square, box] of boxes) {
    const cell = cells.get(square), mark = marks[square], place = places.get(square);
    const isOdd = (square.charCodeAt() + Number(square.slice(1))) % 2;
    const ground = cell === "~~" ? "lake" : /^(to|lost)$/.test(mark) ? "mark" : isOdd ? "field-2" : "field";
    const meanings = { known: cell[2] && texts.known, [mark]: texts[mark], ...look(square) };
    const signs = Object.entries(meanings).filter(([, words]) => words);
    if (place.dataset.cell !== cell) place.replaceChildren(...pieceParts(cell));
    place.dataset.cell = cell;
    set(box, {
      fill: `var(--${ground})`, class: ["square", ...signs.map(([name]) => name)].join(" "), "data-cell": cell.slice(0, 2),
      "aria-label": [`${square} ${calledOf(cell)}`, ...signs.map(([, words]) => words)].join("; "),
    });
  }
}

// Let the moved piece slide; lost ones go, crossed out, into the corner of their square.
function showStep(fight, from, to) {
  const isStill = !to || matchMedia("(prefers-reduced-motion: reduce)").matches, lost = fight?.lost ?? [];
  const slide = (node, start, ...end) => {
    const way = [translated(placeOf(start), 1, "px"), translated(...end, "px")];
    if (!isStill) node.animate({ transform: way }, { duration: slideMs, easing: "ease-out" });
  };
  if (to && !lost.includes(fight?.attacker)) {
    pieces.append(places.get(to)); // above the others
    slide(places.get(to), from, placeOf(to), 1);
  }
  lostPieces.replaceChildren(...lost.map((cell, at) => {
    const [x, y] = placeOf(fight.square), isTaken = sideOf(shown.get(fight.square));
    const end = isTaken ? [x + 21, y - 4] : [x + 20 * at, y + 10];
    const look = { class: "small lost-piece", transform: translated(end, 0.55) };
    const node = drawn("g", look, ...pieceParts(cell, true));
    slide(node, cell === fight.attacker ? from : fight.square, end, 0.55);
    return node;
  }));
}

function calledOf(cell) {
  const name = labels.pieces[cell[1]]?.[1] ?? texts[cell[1]];
  return sideOf(cell) ? `${labels[sideOf(cell)]}: ${name}` : texts[cell];
}

function showPicture(text, image) {
  part("image").hidden = !image;
  part("picture").hidden = Boolean(image);
  if (image) Object.assign(part("image"), { src: svgAddress(image), alt: text });
  else put("picture", text || texts.no_position);
}

function focusOn(square) {
  set(boxes.get(cursor), { tabindex: -1 });
  cursor = square;
  set(boxes.get(square), { tabindex: 0 }).focus();
}

function hearKey(event, square) {
  const { key } = event, isChosen = key === "Enter" || key === " ", way = WAYS[key], at = order.indexOf(square);
  const within = (value) => Math.max(0, Math.min(9, value));
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!isChosen && !way) return on.key?.(event, square);
  event.preventDefault();
  if (isChosen) on.chosen?.(square);
  else focusOn(order[within((at % 10) + way[0]) + 10 * within(Math.floor(at / 10) + way[1])]);
}

if (board) {
  const listen = (name, hear) =>
    board.addEventListener(name, (event) => hear(event.target.dataset.square ?? null, event));
  set(board, { role: "grid" });
  set(boxes.get(cursor), { tabindex: 0 });
  listen("click", (square) => square && on.chosen?.(square));
  listen("keydown", (square, event) => square && hearKey(event, square));
  listen("focusin", (square) => square && square !== cursor && focusOn(square));
  for (const name of ["focusin", "pointerover"]) listen(name, (square) => game && tellSquare(square));
  listen("mousedown", (_, event) => on.chosen || event.preventDefault()); // arrows stay keys of the game
}
