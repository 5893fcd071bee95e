// The drawing: the board of Stratego as one SVG, or the image or text of another game. It knows no rule: it shows cells,
// marks and fights, lets the pieces of a step slide, and tells which square was chosen.
"use strict";

const SIDE = 40, LEFT = 20, TOP = 4;
const WAYS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0], Home: [-9, 0], End: [9, 0], PageUp: [0, 9], PageDown: [0, -9] };

const board = part("board");
const boxes = new Map(SQUARES.map((square) => [square, element("rect", { role: "gridcell", width: SIDE, height: SIDE, tabindex: -1, "data-square": square })]));
const places = new Map(SQUARES.map((square) => [square, element("g")]));
const pieces = element("g", { "aria-hidden": "true", class: "pieces" }, ...places.values()), lostPieces = element("g", { "aria-hidden": "true", class: "pieces" });
const hears = {}; // what is to be told of the board: chosen(square), key(event, square), looked(square or null)
let shown = null, cursor = "a1", slideMs = 300;

// What is drawn of a piece in a box of 40 by 40: the tile of its side with its rank, or its back. A small one has its
// number alone.
function pieceParts(cell, isSmall = false) {
  if (!sideOf(cell)) return [];
  const used = (id) => element("use", { href: "#" + id }), known = labels.pieces[cell[1]], hasNumber = !"FB".includes(cell[1]);
  const parts = [used("tile-" + sideOf(cell))];
  if (!known) return [...parts, used(cell[1] === "!" ? "moved" : "unknown")];
  if (!hasNumber || !isSmall) parts.push(used("rank-" + cell[1]));
  if (hasNumber) parts.push(element("text", isSmall ? { x: 20, y: 28.5, "font-size": 24 } : { x: 20, y: 34.5 }, known[0]));
  return cell[2] ? [...parts, used("eye")] : parts;
}

// A piece beside the board: in a tray, a list, or a fight.
function pieceImage(cell, isSmall = true, isGone = false) {
  return element("svg", { class: isGone ? "piece gone" : "piece", viewBox: "0 0 40 40", "aria-hidden": "true" }, ...pieceParts(cell, isSmall));
}

const translated = ([x, y], scale = 1, unit = "") => `translate(${x}${unit}, ${y}${unit}) scale(${scale})`;

function placeOf(square) {
  const file = FILES.indexOf(square[0]), rank = square.slice(1) - 1;
  return flipped ? [LEFT + SIDE * (9 - file), TOP + SIDE * rank] : [LEFT + SIDE * file, TOP + SIDE * (9 - rank)];
}

// The squares in the order in which they are read, from Red's side or Blue's.
function layOut() {
  const isHeld = board.contains(document.activeElement), ranks = [...Array(10).keys()], files = [...FILES];
  const name = (x, y, text) => element("text", { x, y, "font-size": 11, "font-weight": 400, "aria-hidden": "true" }, text);
  (flipped ? files : ranks).reverse();
  board.replaceChildren(
    element("rect", { width: 424, height: 424, rx: 6, fill: "var(--frame)", "aria-hidden": "true" }),
    ...ranks.map((rank, down) => element("g", { role: "row" }, name(10, TOP + SIDE * down + 24, rank + 1), ...files.map((file) => boxes.get(file + (rank + 1))))),
    ...files.map((file, across) => name(LEFT + SIDE * across + 20, 418, file)), pieces, lostPieces,
  );
  if (isHeld) focusOn(cursor);
}

// Show these cells by square. `marks` says what the last action did to which squares, `fight` who fought in it. `slide` has
// the squares between which a piece has moved; null is the same position again. `look(square)` may give further classes,
// more to say, and whether it can be dragged.
function showBoard(cells, { marks = {}, fight, slide = null, look = () => ({}) } = {}) {
  const [first] = board.querySelectorAll("[data-square]");
  if (first?.dataset.square !== (flipped ? "j1" : "a10")) layOut();
  shown = cells;
  for (const [square, box] of boxes) {
    const { classes = [], more = [], drags } = look(square), cell = cells.get(square), mark = marks[square], place = places.get(square);
    const [x, y] = placeOf(square), isOdd = (square.charCodeAt() + Number(square.slice(1))) % 2;
    if (place.dataset.cell !== cell) place.replaceChildren(...pieceParts(cell));
    place.dataset.cell = cell;
    place.setAttribute("transform", translated([x, y]));
    const ground = cell === "~~" ? "lake" : mark === "to" || mark === "lost" ? "mark" : isOdd ? "field-2" : "field";
    const said = [...saidOf(square, cell, mark, fight), ...more].filter(Boolean).join("; ");
    const drawn = { x, y, fill: `var(--${ground})`, class: ["square", mark, ...classes].filter(Boolean).join(" "), "aria-label": said };
    for (const [key, value] of Object.entries(drawn)) box.setAttribute(key, value);
    box.dataset.cell = cell.slice(0, 2);
    box.toggleAttribute("data-drags", Boolean(drags));
  }
  if (slide) showStep(cells, fight, slide);
}

// Let the piece slide that has moved; what was lost in a fight goes, crossed out, into the corner of its square.
function showStep(cells, fight, [from, to]) {
  const isStill = !from || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const slide = (node, start, ...end) => {
    const way = [translated(placeOf(start), 1, "px"), translated(...end, "px")];
    node.animate({ transform: way }, { duration: slideMs, easing: "ease-out" });
  };
  if (!isStill && !fight?.lost.includes(fight.attacker)) {
    pieces.append(places.get(to)); // above the others
    slide(places.get(to), from, placeOf(to), 1);
  }
  lostPieces.replaceChildren(...(fight?.lost ?? []).map((cell, at) => {
    const [x, y] = placeOf(fight.square), end = sideOf(cells.get(fight.square)) ? [x + 21, y - 4] : [x + 20 * at, y + 10];
    const cross = element("path", { d: "M7 33L33 7", stroke: "#fff", "stroke-width": 3.5 });
    const node = element("g", { class: "lost-piece", transform: translated(end, 0.55) }, ...pieceParts(cell, true), cross);
    if (!isStill) slide(node, cell === fight.attacker ? from : fight.square, end, 0.55);
    return node;
  }));
}

// What a piece is called, with the name of its side.
function calledOf(cell) {
  return labels[sideOf(cell)] + ": " + (labels.pieces[cell[1]]?.[1] ?? texts[cell[1] === "!" ? "moved" : "unknown"]);
}

// What a screen reader says of a square.
function saidOf(square, cell, mark, fight) {
  return [
    square + " " + (cell === ".." ? texts.empty : cell === "~~" ? texts.lake : calledOf(cell)), cell[2] && texts.known,
    mark && texts[mark.endsWith("from") ? "came_from" : "went_to"],
    fight?.square === square && fill(texts.lost_here, { pieces: fight.lost.map(calledOf).join(", ") }),
  ];
}

// The position of another game.
function showPicture(text, image) {
  const made = image ? element("img", { src: svgAddress(image), alt: text }) : element("pre", { tabindex: 0 }, text || texts.no_position);
  put("position", made);
}

function focusOn(square) {
  boxes.get(cursor).setAttribute("tabindex", -1);
  cursor = square;
  boxes.get(square).setAttribute("tabindex", 0);
  boxes.get(square).focus();
}

function hearKey(event, square) {
  const { key } = event, isChosen = key === "Enter" || key === " ", within = (value) => Math.max(0, Math.min(9, value));
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!isChosen && !WAYS[key]) return hears.key?.(event, square);
  event.preventDefault();
  if (isChosen) return hears.chosen?.(square);
  const [across, up] = WAYS[key].map((steps) => (flipped ? -steps : steps));
  focusOn(FILES[within(FILES.indexOf(square[0]) + across)] + (within(square.slice(1) - 1 + up) + 1));
}

if (board) {
  const listen = (name, hear) => board.addEventListener(name, (event) => hear(event.target.dataset.square ?? null, event));
  board.setAttribute("role", "grid");
  boxes.get(cursor).setAttribute("tabindex", 0);
  listen("click", (square) => square && hears.chosen?.(square));
  listen("keydown", (square, event) => square && hearKey(event, square));
  listen("focusin", (square) => { if (square && square !== cursor) focusOn(square); hears.looked?.(square); });
  listen("pointerover", (square) => hears.looked?.(square));
  listen("mousedown", (_, event) => hears.chosen || event.preventDefault()); // the arrow keys stay those of the game
}
