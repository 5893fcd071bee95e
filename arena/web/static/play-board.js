// The board: a grid of a hundred squares that are buttons, with a cursor for the keyboard, and pieces that can be dragged.
// It knows no rule of the game and no word of the page: it is told how each square looks and is called, and tells back
// which one was chosen, left, or dragged where.

export const FILES = "abcdefghij";
export const SQUARES = Array.from({ length: 100 }, (_, n) => FILES[n % 10] + (Math.floor(n / 10) + 1));
export const LAKES = ["c5", "d5", "c6", "d6", "g5", "h5", "g6", "h6"];
const DRAG_STARTS_AT = 6; // pixels: below it is a click
const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0], Home: [-9, 0], End: [9, 0], PageUp: [0, -9], PageDown: [0, 9] };

// A side's own squares in the order of a set-up: its back row first, files a to j.
export function homeSquares(side) {
  return [0, 1, 2, 3].flatMap((row) => [...FILES].map((file) => file + (side === "red" ? row + 1 : 10 - row)));
}

export function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

// A piece as it lies on a square, in a tray or in a fight: a red one is square, a blue one round.
export function pieceElement(side, text, kind = "") {
  const made = element("span", "piece " + side + (kind ? " " + kind : ""), text);
  made.setAttribute("aria-hidden", "true");
  return made;
}

export class Board {
  // `on` has chosen(square), looked(square or null), key(event, square).
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.flipped = null;
    this.cursor = null;
    this.cells = new Map(SQUARES.map((square) => [square, this.make(square)]));
    root.addEventListener("click", (event) => {
      const square = squareOf(event.target);
      if (square) this.on.chosen(square);
    });
    root.addEventListener("keydown", (event) => this.pressed(event));
    root.addEventListener("focusin", (event) => {
      const square = squareOf(event.target);
      if (square) this.point(square);
      this.on.looked(square);
    });
    root.addEventListener("pointerover", (event) => this.on.looked(squareOf(event.target)));
    root.addEventListener("pointerleave", () => this.on.looked(root.contains(document.activeElement) ? this.cursor : null));
  }

  make(square) {
    const index = SQUARES.indexOf(square);
    const ground = LAKES.includes(square) ? "lake" : (index + Math.floor(index / 10)) % 2 ? "odd" : "";
    const made = element("button", "cell " + ground);
    made.type = "button";
    made.tabIndex = -1;
    made.dataset.square = square;
    made.dataset.drops = "";
    made.dataset.ground = ground;
    made.setAttribute("role", "gridcell");
    return made;
  }

  // Put the squares in their order, seen from Red's side or (`flipped`) from Blue's.
  arrange(flipped) {
    if (this.flipped === flipped) return;
    const held = this.root.contains(document.activeElement);
    this.flipped = flipped;
    const rows = [];
    const numbers = [...Array(10).keys()];
    const files = flipped ? [...numbers].reverse() : numbers;
    for (const row of flipped ? numbers : [...numbers].reverse()) {
      const line = element("div", "row");
      line.setAttribute("role", "row");
      line.append(coordinate(String(row + 1)), ...files.map((file) => this.cells.get(SQUARES[10 * row + file])));
      rows.push(line);
    }
    const names = element("div", "row names");
    names.setAttribute("aria-hidden", "true");
    names.append(coordinate(""), ...files.map((file) => coordinate(FILES[file])));
    this.root.replaceChildren(...rows, names);
    if (held) this.cells.get(this.cursor).focus();
  }

  // Show how a square looks: its label, its classes, whether it is selected and can be dragged, and its piece, a function
  // that makes it; `key` tells pieces apart.
  show(square, look) {
    const cell = this.cells.get(square);
    const shown = JSON.stringify(look);
    if (cell.shown === shown) return;
    cell.shown = shown;
    cell.className = ["cell", cell.dataset.ground, ...look.classes].filter(Boolean).join(" ");
    cell.setAttribute("aria-label", look.label);
    if (look.selected) cell.setAttribute("aria-selected", "true");
    else cell.removeAttribute("aria-selected");
    cell.toggleAttribute("data-drags", Boolean(look.drags));
    cell.replaceChildren(...(look.piece ? [look.piece()] : []));
  }

  // Where the keyboard is, without moving it there.
  point(square) {
    if (this.cursor) this.cells.get(this.cursor).tabIndex = -1;
    this.cursor = square;
    this.cells.get(square).tabIndex = 0;
  }

  focus(square) {
    this.point(square);
    this.cells.get(square).focus();
  }

  pressed(event) {
    const square = squareOf(event.target);
    if (!square || event.ctrlKey || event.altKey || event.metaKey) return;
    const way = MOVES[event.key];
    if (!way) {
      this.on.key(event, square);
      return;
    }
    event.preventDefault();
    const turn = this.flipped ? -1 : 1;
    const clamp = (value) => Math.max(0, Math.min(9, value));
    const file = clamp(FILES.indexOf(square[0]) + turn * way[0]);
    const row = clamp(Number(square.slice(1)) - 1 - turn * way[1]);
    this.focus(SQUARES[10 * row + file]);
  }

  // Let the piece that has come to `target` be seen to come from `origin`.
  slide(origin, target) {
    const piece = this.cells.get(target).firstElementChild;
    if (!piece || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const from = this.cells.get(origin).getBoundingClientRect();
    const to = this.cells.get(target).getBoundingClientRect();
    const start = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
    piece.animate([{ transform: start, zIndex: 2 }, { transform: "none", zIndex: 2 }], { duration: 220, easing: "ease-out" });
  }
}

export function squareOf(target) {
  return target?.closest?.("[data-square]")?.dataset.square ?? null;
}

function coordinate(text) {
  const made = element("span", "coordinate", text);
  made.setAttribute("aria-hidden", "true");
  return made;
}

// Dragging with a mouse, a pen or a finger, of whatever has `data-drags` below `area`. `on` has started(element),
// dropped(element, what lies below it), ended(). A drag that goes nowhere is a click, which comes by itself.
export function dragging(area, on) {
  let drag = null;

  function end() {
    if (!drag) return;
    drag.ghost?.remove();
    drag.over?.classList.remove("over");
    drag.from.classList.remove("lifted");
    drag = null;
    on.ended();
  }

  area.addEventListener("pointerdown", (event) => {
    const from = event.target.closest("[data-drags]");
    if (!from || !event.isPrimary || event.button !== 0) return;
    end();
    drag = { from, pointer: event.pointerId, x: event.clientX, y: event.clientY, ghost: null, over: null };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_STARTS_AT) return;
      lift(event);
    }
    const { width, height } = drag.ghost.getBoundingClientRect();
    drag.ghost.style.transform = `translate(${event.clientX - width / 2}px, ${event.clientY - height / 2}px)`;
    const over = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-drops]") ?? null;
    if (over !== drag.over) {
      drag.over?.classList.remove("over");
      over?.classList.add("over");
      drag.over = over;
    }
  });
  document.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    if (drag.ghost) {
      const { from } = drag;
      // The click that follows is part of the drag.
      const swallow = (click) => { click.stopPropagation(); click.preventDefault(); };
      document.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => document.removeEventListener("click", swallow, { capture: true }), 0);
      const below = document.elementFromPoint(event.clientX, event.clientY);
      end();
      on.dropped(from, below);
    } else {
      drag = null;
    }
  });
  document.addEventListener("pointercancel", end);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });

  function lift() {
    const piece = drag.from.querySelector(".piece") ?? drag.from;
    const { width, height } = piece.getBoundingClientRect();
    const ghost = piece.cloneNode(true);
    ghost.classList.add("ghost");
    ghost.style.width = width + "px";
    ghost.style.height = height + "px";
    document.body.append(ghost);
    drag.ghost = ghost;
    on.started(drag.from);
    drag.from.classList.add("lifted");
  }
}
