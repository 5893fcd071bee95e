// The drawing: the board of Stratego as one SVG, or the image or text of another game. A board knows no rule: it shows
// cells, marks and fights, lets pieces slide from one position to the next, and tells which square was chosen.
"use strict";

const SIDE = 40, LEFT = 20, TOP = 4;
const WAYS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0], Home: [-9, 0], End: [9, 0], PageUp: [0, 9], PageDown: [0, -9] };

const used = (id) => svgElement("use", { href: "#" + id });

// What is drawn of a piece in a box of 40 by 40: the tile of its side with its rank, or its back. `pieces` has what stands
// on a rank and what it is called, by letter. A small one has its number alone; one with a third character in its cell has
// an eye, as the other side knows it.
function pieceParts(cell, pieces, isSmall = false) {
  const tile = used(cell[0] === "r" ? "tile-red" : "tile-blue"), known = pieces[cell[1]];
  if (!known) return [tile, used(cell[1] === "!" ? "moved" : "unknown")];
  const image = used("rank-" + cell[1]);
  const number = svgElement("text", isSmall ? { x: 20, y: 28.5, class: "small" } : { x: 20, y: 34.5 }, known[0]);
  const parts = "FB".includes(cell[1]) ? [tile, image] : isSmall ? [tile, number] : [tile, image, number];
  return cell.length > 2 ? [...parts, used("eye")] : parts;
}

// A piece beside the board: in a tray, a list, or a fight.
function pieceImage(cell, pieces, isSmall = true) {
  return svgElement("svg", { class: "piece", viewBox: "0 0 40 40", "aria-hidden": "true", "data-cell": cell }, ...pieceParts(cell, pieces, isSmall));
}

class Board {
  // `labels` has the names of `red` and `blue` and the `pieces`; `on` may have chosen(square), looked(square or null) and
  // key(event, square).
  constructor(root, labels, texts, on = {}) {
    Object.assign(this, { root, labels, texts, on });
    this.boxes = new Map(SQUARES.map((square, at) => [square, svgElement("rect", {
      role: "gridcell", width: SIDE, height: SIDE, tabindex: -1, "data-square": square, "data-ground": "square" + ((at + Math.floor(at / 10)) % 2 ? " odd" : ""),
    })]));
    this.standing = new Map(); // by square: the cell and the node of a piece
    this.pieces = svgElement("g", { "aria-hidden": "true", class: "pieces" });
    this.over = svgElement("g", { "aria-hidden": "true" });
    root.setAttribute("viewBox", "0 0 424 424");
    root.setAttribute("role", "grid");
    this.point("a1");
    this.turn(false);
    const listen = (name, hear) => root.addEventListener(name, (event) => hear(event.target.dataset.square ?? null, event));
    listen("click", (square) => square && on.chosen?.(square));
    listen("keydown", (square, event) => square && this.pressed(event, square));
    listen("focusin", (square) => { if (square) this.point(square); on.looked?.(square); });
    listen("pointerover", (square) => on.looked?.(square));
    listen("mousedown", (_, event) => on.chosen || event.preventDefault()); // the arrow keys stay those of the game
    root.addEventListener("pointerleave", (event) => event.pointerType === "touch" || on.looked?.(root.contains(document.activeElement) ? this.cursor : null));
  }

  at(square) {
    const file = FILES.indexOf(square[0]), rank = Number(square.slice(1)) - 1;
    const [across, down] = this.flipped ? [9 - file, rank] : [file, 9 - rank];
    return { x: LEFT + SIDE * across, y: TOP + SIDE * down };
  }

  // Red's side at the bottom, or Blue's.
  turn(flipped) {
    if (this.flipped === flipped) return;
    this.flipped = flipped;
    const isHeld = this.root.contains(document.activeElement), ranks = [...Array(10).keys()], files = [...FILES];
    (flipped ? files : ranks).reverse();
    const name = (x, y, text) => svgElement("text", { x, y, "aria-hidden": "true", class: "name" }, text);
    for (const [square, box] of this.boxes) for (const [key, value] of Object.entries(this.at(square))) box.setAttribute(key, value);
    this.root.replaceChildren(
      svgElement("rect", { width: 424, height: 424, rx: 6, class: "frame", "aria-hidden": "true" }),
      ...ranks.map((rank, down) => svgElement("g", { role: "row" }, name(10, TOP + SIDE * down + 24, rank + 1), ...files.map((file) => this.boxes.get(file + (rank + 1))))),
      ...files.map((file, across) => name(LEFT + SIDE * across + 20, 418, file)), this.pieces, this.over,
    );
    this.root.classList.add("still");
    for (const [square, { node }] of this.standing) this.put(node, square);
    this.over.replaceChildren();
    if (isHeld) this.focus(this.cursor);
  }

  put(node, square) {
    const { x, y } = this.at(square);
    node.style.transform = `translate(${x}px, ${y}px)`;
  }

  // Show these cells by square. `marks` says what the last action did to which squares, `fight` who fought in it, `known`
  // which pieces have an eye. With `isStep` pieces move there from the position that is shown; null is that position
  // again. `look(square)` may give further classes, more to say, and whether it can be dragged.
  show(cells, { marks = {}, fight = null, known = new Set(), isStep = false, look = () => ({}) } = {}) {
    this.shown = cells;
    if (isStep !== null) {
      for (const node of this.pieces.querySelectorAll(".falls")) node.remove();
      this.root.classList.toggle("still", !isStep);
      this.showLost(cells, fight);
    }
    this.move(cells, fight, known, isStep);
    for (const [square, box] of this.boxes) {
      const { classes = [], more = [], drags } = look(square), cell = cells.get(square);
      box.setAttribute("class", [box.dataset.ground, cell === "~~" && "lake", marks[square], ...classes].filter(Boolean).join(" "));
      box.setAttribute("aria-label", [this.said(square, cell, marks[square], fight, known.has(square)), ...more].filter(Boolean).join("; "));
      box.dataset.cell = cell;
      box.toggleAttribute("data-drags", Boolean(drags));
    }
  }

  move(cells, fight, known, isStep) {
    const gone = [], come = [];
    for (const square of SQUARES) {
      const there = this.standing.get(square), cell = cells.get(square) + (known.has(square) ? "+" : "");
      if (there?.cell === cell) continue;
      if (there) gone.push({ square, ...there });
      if (isPiece(cell)) come.push({ square, cell });
      this.standing.delete(square);
    }
    for (const { square, cell } of come) {
      const isOwn = (old) => old.cell[0] === cell[0];
      let old = gone.find((one) => one.square === square && isOwn(one)); // it was there, and is better known now
      old ??= gone.find((one) => isOwn(one) && !come.some((other) => other.square === one.square && isOwn(other)));
      if (old) gone.splice(gone.indexOf(old), 1);
      const node = old?.node ?? this.pieces.appendChild(svgElement("g"));
      if (old?.cell !== cell) node.replaceChildren(...pieceParts(cell, this.labels.pieces));
      this.put(node, square);
      this.standing.set(square, { cell, node });
    }
    for (const { cell, node } of gone) {
      if (!isStep || !fight) {
        node.remove();
        continue;
      }
      const shown = fight.lost.find((lost) => lost[0] === cell[0]);
      if (shown) node.replaceChildren(...pieceParts(shown, this.labels.pieces));
      node.setAttribute("class", "falls"); // to the fight, and out of sight
      this.put(node, fight.square);
    }
  }

  // What was lost in a fight, crossed out in the corner of its square.
  showLost(cells, fight) {
    this.over.replaceChildren(...(fight?.lost ?? []).map((cell, place) => {
      const { x, y } = this.at(fight.square), cross = svgElement("path", { d: "M7 33L33 7", class: "cross" });
      const at = isPiece(cells.get(fight.square)) ? `translate(${x + 21} ${y - 4}) scale(.55)` : `translate(${x + 20 * place} ${y + 10}) scale(.5)`;
      return svgElement("g", { class: "lost-piece", transform: at }, ...pieceParts(cell, this.labels.pieces, true), cross);
    }));
  }

  // What a piece is called, with the name of its side.
  called(cell) {
    const name = this.labels.pieces[cell[1]]?.[1] ?? this.texts[cell[1] === "!" ? "moved" : "unknown"];
    return this.labels[cell[0] === "r" ? "red" : "blue"] + ": " + name;
  }

  // What a screen reader says of a square.
  said(square, cell, mark, fight, isKnown) {
    const parts = [square + " " + (cell === ".." ? this.texts.empty : cell === "~~" ? this.texts.lake : this.called(cell))];
    if (isKnown) parts.push(this.texts.known);
    if (mark) parts.push(this.texts[mark.endsWith("from") ? "came_from" : "went_to"]);
    if (fight?.square === square) parts.push(fill(this.texts.lost_here, { pieces: fight.lost.map((lost) => this.called(lost)).join(", ") }));
    return parts.join("; ");
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
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const way = WAYS[event.key];
    if (!way) {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.on.chosen?.(square);
      } else this.on.key?.(event, square);
      return;
    }
    event.preventDefault();
    const within = (value) => Math.max(0, Math.min(9, value)), turn = this.flipped ? -1 : 1;
    const file = within(FILES.indexOf(square[0]) + turn * way[0]), rank = within(Number(square.slice(1)) - 1 + turn * way[1]);
    this.focus(FILES[file] + (rank + 1));
  }
}

// The position of any other game, as an image or as text.
class Picture {
  constructor(root, texts) {
    Object.assign(this, { root, texts });
  }

  show(text, image) {
    const kind = image ? "img" : text ? "pre" : "p";
    const made = this.root.querySelector(kind) ?? element(kind);
    if (image) {
      made.src = svgAddress(image);
      made.alt = text;
    } else {
      made.textContent = text || this.texts.no_position;
      made.tabIndex = 0; // it may be wider than the page
    }
    if (!made.parentNode) this.root.replaceChildren(made);
  }
}
