// The drawing: the board of Stratego as one SVG, or the image or text of another game. A board knows no rule: it shows
// cells, marks and fights, lets the pieces of a step slide, and tells which square was chosen.
"use strict";

const SIDE = 40, LEFT = 20, TOP = 4;
const WAYS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0], Home: [-9, 0], End: [9, 0], PageUp: [0, 9], PageDown: [0, -9] };

// What is drawn of a piece in a box of 40 by 40: the tile of its side with its rank, or its back. `pieces` has what stands
// on a rank and what it is called, by letter. A small one has its number alone.
function pieceParts(cell, pieces, isSmall = false) {
  if (!sideOf(cell)) return [];
  const used = (id) => element("use", { href: "#" + id }), parts = [used("tile-" + sideOf(cell))], known = pieces[cell[1]];
  if (!known) return [...parts, used(cell[1] === "!" ? "moved" : "unknown")];
  const hasNumber = !"FB".includes(cell[1]);
  if (!hasNumber || !isSmall) parts.push(used("rank-" + cell[1]));
  if (hasNumber) parts.push(element("text", isSmall ? { x: 20, y: 28.5, "font-size": 24 } : { x: 20, y: 34.5 }, known[0]));
  return cell[2] ? [...parts, used("eye")] : parts;
}

// A piece beside the board: in a tray, a list, or a fight.
function pieceImage(cell, pieces, isSmall = true) {
  return element("svg", { class: "piece", viewBox: "0 0 40 40", "aria-hidden": "true" }, ...pieceParts(cell, pieces, isSmall));
}

const transform = ([x, y], scale = 1, unit = "") => `translate(${x}${unit}, ${y}${unit}) scale(${scale})`;

class Board {
  // `labels` has the names of `red` and `blue` and the `pieces`; `on` may have chosen(square), looked(square or null) and
  // key(event, square).
  constructor(root, labels, texts, on = {}) {
    Object.assign(this, { root, labels, texts, on, slide: 300 });
    const box = (square) => element("rect", { role: "gridcell", width: SIDE, height: SIDE, tabindex: -1, "data-square": square });
    this.boxes = new Map(SQUARES.map((square) => [square, box(square)]));
    this.places = new Map(SQUARES.map((square) => [square, element("g")]));
    this.pieces = element("g", { "aria-hidden": "true", class: "pieces" }, ...this.places.values());
    this.lost = element("g", { "aria-hidden": "true", class: "pieces" });
    root.setAttribute("role", "grid");
    this.point("a1");
    this.turn(false);
    const listen = (name, hear) => root.addEventListener(name, (event) => hear(event.target.dataset.square ?? null, event));
    listen("click", (square) => square && on.chosen?.(square));
    listen("keydown", (square, event) => square && this.pressed(event, square));
    listen("focusin", (square) => { if (square) this.point(square); on.looked?.(square); });
    listen("pointerover", (square) => on.looked?.(square));
    listen("mousedown", (_, event) => on.chosen || event.preventDefault()); // the arrow keys stay those of the game
  }

  at(square) {
    const file = FILES.indexOf(square[0]), rank = square.slice(1) - 1;
    const [across, down] = this.flipped ? [9 - file, rank] : [file, 9 - rank];
    return [LEFT + SIDE * across, TOP + SIDE * down];
  }

  // Red's side at the bottom, or Blue's: the squares in the order in which they are read. They are drawn when shown.
  turn(flipped) {
    if (this.flipped === flipped) return;
    this.flipped = flipped;
    const isHeld = this.root.contains(document.activeElement), ranks = [...Array(10).keys()], files = [...FILES];
    (flipped ? files : ranks).reverse();
    const look = { "font-size": 11, "font-weight": 400, "aria-hidden": "true" };
    const name = (x, y, text) => element("text", { x, y, ...look }, text);
    this.root.replaceChildren(
      element("rect", { width: 424, height: 424, rx: 6, fill: "var(--frame)", "aria-hidden": "true" }),
      ...ranks.map((rank, down) => element("g", { role: "row" }, name(10, TOP + SIDE * down + 24, rank + 1), ...files.map((file) => this.boxes.get(file + (rank + 1))))),
      ...files.map((file, across) => name(LEFT + SIDE * across + 20, 418, file)), this.pieces, this.lost,
    );
    if (isHeld) this.focus(this.cursor);
  }

  // Show these cells by square. `marks` says what the last action did to which squares, `fight` who fought in it. `slides`
  // are the squares between which a piece has moved, if it is seen to; null is the same position again. `look(square)` may
  // give further classes, more to say, and whether it can be dragged.
  show(cells, { marks = {}, fight, slides = null, look = () => ({}) } = {}) {
    this.shown = cells;
    for (const [square, box] of this.boxes) {
      const { classes = [], more = [], drags } = look(square), cell = cells.get(square), mark = marks[square];
      const place = this.places.get(square), [x, y] = this.at(square), isOdd = (square.charCodeAt() + Number(square.slice(1))) % 2;
      if (place.dataset.cell !== cell) place.replaceChildren(...pieceParts(cell, this.labels.pieces));
      place.dataset.cell = cell;
      place.setAttribute("transform", transform([x, y]));
      const ground = cell === "~~" ? "lake" : mark === "to" || mark === "lost" ? "mark" : isOdd ? "field-2" : "field";
      const said = [this.said(square, cell, mark, fight), ...more].filter(Boolean).join("; ");
      const drawn = { x, y, fill: `var(--${ground})`, class: ["square", mark, ...classes].filter(Boolean).join(" "), "aria-label": said };
      for (const [key, value] of Object.entries(drawn)) box.setAttribute(key, value);
      box.dataset.cell = cell.slice(0, 2);
      box.toggleAttribute("data-drags", Boolean(drags));
    }
    if (slides) this.step(cells, fight, slides);
  }

  // Let the piece slide that has moved; what was lost in a fight goes, crossed out, into the corner of its square.
  step(cells, fight, [from, to]) {
    const isStill = !from || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const slide = (node, start, ...end) => {
      const way = [transform(this.at(start), 1, "px"), transform(...end, "px")];
      node.animate({ transform: way }, { duration: this.slide, easing: "ease-out" });
    };
    if (!isStill && !fight?.lost.includes(fight.attacker)) {
      this.pieces.append(this.places.get(to)); // above the others
      slide(this.places.get(to), from, this.at(to), 1);
    }
    this.lost.replaceChildren(...(fight?.lost ?? []).map((cell, place) => {
      const [x, y] = this.at(fight.square), cross = element("path", { d: "M7 33L33 7", stroke: "#fff", "stroke-width": 3.5 });
      const end = sideOf(cells.get(fight.square)) ? [x + 21, y - 4] : [x + 20 * place, y + 10];
      const node = element("g", { class: "lost-piece", transform: transform(end, 0.55) }, ...pieceParts(cell, this.labels.pieces, true), cross);
      if (!isStill) slide(node, cell === fight.attacker ? from : fight.square, end, 0.55);
      return node;
    }));
  }

  // What a piece is called, with the name of its side.
  called(cell) {
    const name = this.labels.pieces[cell[1]]?.[1] ?? this.texts[cell[1] === "!" ? "moved" : "unknown"];
    return this.labels[sideOf(cell)] + ": " + name;
  }

  // What a screen reader says of a square.
  said(square, cell, mark, fight) {
    const { texts } = this;
    return [
      square + " " + (cell === ".." ? texts.empty : cell === "~~" ? texts.lake : this.called(cell)), cell[2] && texts.known,
      mark && texts[mark.endsWith("from") ? "came_from" : "went_to"],
      fight?.square === square && fill(texts.lost_here, { pieces: fight.lost.map((lost) => this.called(lost)).join(", ") }),
    ].filter(Boolean).join("; ");
  }

  // Where the keyboard is, without taking it there.
  point(square) {
    this.boxes.get(this.cursor)?.setAttribute("tabindex", -1);
    this.cursor = square;
    this.boxes.get(square).setAttribute("tabindex", 0);
  }

  focus(square) {
    this.point(square);
    this.boxes.get(square).focus();
  }

  pressed(event, square) {
    const { key } = event, isChosen = key === "Enter" || key === " ", within = (value) => Math.max(0, Math.min(9, value));
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (!isChosen && !WAYS[key]) return this.on.key?.(event, square);
    event.preventDefault();
    if (isChosen) return this.on.chosen?.(square);
    const [across, up] = WAYS[key].map((steps) => (this.flipped ? -steps : steps));
    this.focus(FILES[within(FILES.indexOf(square[0]) + across)] + (within(square.slice(1) - 1 + up) + 1));
  }
}

// The position of any other game, as an image or as text.
class Picture {
  constructor(root, texts) {
    Object.assign(this, { root, texts });
  }

  show(text, image) {
    if (image) this.root.replaceChildren(element("img", { src: svgAddress(image), alt: text }));
    else this.root.replaceChildren(element("pre", { tabindex: 0 }, text || this.texts.no_position));
  }
}
