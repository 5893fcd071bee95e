// The drawing: the board of Stratego, or the image or text of another game. It knows no rule.
"use strict";

const SIDE = 40, LEFT = 20, TOP = 4;
const WAYS = {
  ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  Home: [-9, 0], End: [9, 0], PageUp: [0, 9], PageDown: [0, -9],
};

const board = part("board");
const UNSAID = { "aria-hidden": "true" }, SQUARE = { role: "gridcell", width: SIDE, height: SIDE, tabindex: -1 };
const boxes = new Map(SQUARES.map((square) => [square, element("rect", { ...SQUARE, "data-square": square })]));
const places = new Map(SQUARES.map((square) => [square, element("g")]));
const pieces = element("g", { ...UNSAID, class: "pieces" }, ...places.values());
const lostPieces = element("g", { ...UNSAID, class: "pieces" });
const hears = {}; // who is told of the board: chosen(square), key(event, square), looked(square or null)
let shown = null, cursor = "a1", slideMs = 300;

// A piece of 40 by 40: the tile of its side with its rank, or its back; a small one has its number alone.
function pieceParts(cell, isSmall = false) {
  if (!sideOf(cell)) return [];
  const used = (id) => element("use", { href: "#" + id }), parts = [used("tile-" + sideOf(cell))];
  const known = labels.pieces[cell[1]], hasNumber = !"FB".includes(cell[1]);
  if (!known) return [...parts, used(cell[1] === "!" ? "moved" : "unknown")];
  if (!hasNumber || !isSmall) parts.push(used("rank-" + cell[1]));
  const look = isSmall ? { y: 28.5, "font-size": 24 } : { y: 34.5 };
  if (hasNumber) parts.push(element("text", { x: 20, ...look }, known[0]));
  return cell[2] ? [...parts, used("eye")] : parts;
}

function pieceImage(cell, isSmall = true, isGone = false) {
  const look = { ...UNSAID, class: isGone ? "piece gone" : "piece", viewBox: "0 0 40 40" };
  return element("svg", look, ...pieceParts(cell, isSmall));
}

const translated = ([x, y], scale = 1, unit = "") => `translate(${x}${unit}, ${y}${unit}) scale(${scale})`;

function placeOf(square) {
  const file = FILES.indexOf(square[0]), rank = square.slice(1) - 1;
  return flipped ? [LEFT + SIDE * (9 - file), TOP + SIDE * rank] : [LEFT + SIDE * file, TOP + SIDE * (9 - rank)];
}

// The squares in the order in which they are read, from Red's side or Blue's.
function layOut() {
  const ranks = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], files = [...FILES], isHeld = board.contains(document.activeElement);
  const look = { ...UNSAID, "font-size": 11, "font-weight": 400 };
  const name = (x, y, text) => element("text", { x, y, ...look }, text);
  const row = (rank) => files.map((file) => boxes.get(file + rank));
  (flipped ? files : ranks).reverse();
  board.replaceChildren(
    element("rect", { ...UNSAID, width: 424, height: 424, rx: 6, fill: "var(--frame)" }),
    ...ranks.map((rank, down) => element("g", { role: "row" }, name(10, TOP + SIDE * down + 24, rank), ...row(rank))),
    ...files.map((file, across) => name(LEFT + SIDE * across + 20, 418, file)), pieces, lostPieces,
  );
  if (isHeld) focusOn(cursor);
}

// Show cells by square, with the marks of the last action and its fight. `slide` has the squares between which a
// piece has moved; null is the same position again. `look` gives more classes and words, and what can be dragged.
function showBoard(cells, { marks = {}, fight, slide = null, look = () => ({}) } = {}) {
  if (board.querySelector("[data-square]")?.dataset.square !== (flipped ? "j1" : "a10")) layOut();
  shown = cells;
  for (const [square, box] of boxes) {
    const { classes = [], more = [], drags } = look(square), [x, y] = placeOf(square);
    const cell = cells.get(square), mark = marks[square], place = places.get(square);
    const isOdd = (square.charCodeAt() + Number(square.slice(1))) % 2;
    if (place.dataset.cell !== cell) place.replaceChildren(...pieceParts(cell));
    set(place, { "data-cell": cell, transform: translated([x, y]) });
    const ground = cell === "~~" ? "lake" : /^(to|lost)$/.test(mark) ? "mark" : isOdd ? "field-2" : "field";
    const said = [...saidOf(square, cell, mark, fight), ...more].filter(Boolean).join("; ");
    const names = ["square", mark, ...classes].filter(Boolean).join(" ");
    set(box, { x, y, fill: `var(--${ground})`, class: names, "aria-label": said, "data-cell": cell.slice(0, 2) });
    box.toggleAttribute("data-drags", Boolean(drags));
  }
  if (slide) showStep(cells, fight, slide);
}

// Let the piece slide that has moved; what a fight has cost goes, crossed out, into the corner of its square.
function showStep(cells, fight, [from, to]) {
  const isStill = !(from && to) || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const slide = (node, start, ...end) => {
    const way = [translated(placeOf(start), 1, "px"), translated(...end, "px")];
    node.animate({ transform: way }, { duration: slideMs, easing: "ease-out" });
  };
  if (!isStill && !fight?.lost.includes(fight.attacker)) {
    pieces.append(places.get(to)); // above the others
    slide(places.get(to), from, placeOf(to), 1);
  }
  lostPieces.replaceChildren(...(fight?.lost ?? []).map((cell, at) => {
    const [x, y] = placeOf(fight.square), isTaken = sideOf(cells.get(fight.square));
    const end = isTaken ? [x + 21, y - 4] : [x + 20 * at, y + 10];
    const cross = element("path", { d: "M7 33L33 7", stroke: "#fff", "stroke-width": 3.5 });
    const look = { class: "lost-piece", transform: translated(end, 0.55) };
    const node = element("g", look, ...pieceParts(cell, true), cross);
    if (!isStill) slide(node, cell === fight.attacker ? from : fight.square, end, 0.55);
    return node;
  }));
}

function calledOf(cell) {
  return labels[sideOf(cell)] + ": " + (labels.pieces[cell[1]]?.[1] ?? texts[cell[1]]);
}

function saidOf(square, cell, mark, fight) {
  return [
    square + " " + (sideOf(cell) ? calledOf(cell) : texts[cell]), cell[2] && texts.known,
    mark && texts[mark.endsWith("from") ? "came_from" : "went_to"],
    fight?.square === square && fill(texts.lost_here, { pieces: fight.lost.map(calledOf).join(", ") }),
  ];
}

function showPicture(text, image) {
  if (image) put("position", element("img", { src: svgAddress(image), alt: text }));
  else put("position", element("pre", { tabindex: 0 }, text || texts.no_position));
}

function focusOn(square) {
  boxes.get(cursor).setAttribute("tabindex", -1);
  cursor = square;
  boxes.get(square).setAttribute("tabindex", 0);
  boxes.get(square).focus();
}

function hearKey(event, square) {
  const { key } = event, isChosen = key === "Enter" || key === " ";
  const within = (value) => Math.max(0, Math.min(9, value));
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!isChosen && !WAYS[key]) return hears.key?.(event, square);
  event.preventDefault();
  if (isChosen) return hears.chosen?.(square);
  const [across, up] = WAYS[key].map((steps) => (flipped ? -steps : steps));
  focusOn(FILES[within(FILES.indexOf(square[0]) + across)] + (within(square.slice(1) - 1 + up) + 1));
}

if (board) {
  const listen = (name, hear) =>
    board.addEventListener(name, (event) => hear(event.target.dataset.square ?? null, event));
  board.setAttribute("role", "grid");
  boxes.get(cursor).setAttribute("tabindex", 0);
  listen("click", (square) => square && hears.chosen?.(square));
  listen("keydown", (square, event) => square && hearKey(event, square));
  listen("focusin", (square) => square && square !== cursor && focusOn(square));
  listen("focusin", (square) => hears.looked?.(square));
  listen("pointerover", (square) => hears.looked?.(square));
  listen("mousedown", (_, event) => hears.chosen || event.preventDefault()); // arrows stay keys of the game
}
