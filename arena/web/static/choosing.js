// How a person chooses on the board: pieces are taken by click, key or drag, and led to where a legal action leads. The
// legal actions come from the arena with each turn.
"use strict";

const DRAG_STARTS_AT = 6; // pixels: below it is a click

// What may differ between actions of the same piece to the same square, in the order of asking.
const FIELDS = {
  way: (choice) => (choice.guessed ? "?" : choice.over ?? ""),
  guess: (choice) => choice.guessed ?? "",
  back: (choice) => choice.rescued ?? "",
  at: (choice) => choice.rescue_square ?? "",
};

class Choosing {
  constructor(page) {
    this.page = page;
    this.offer([]);
  }

  offer(choices) {
    this.held = null; // { square }
    this.legal = {}; // by origin, by target: the choices
    for (const choice of choices) ((this.legal[choice.origin] ??= {})[choice.target] ??= []).push(choice);
  }

  targets(square) {
    return Object.keys(this.legal[square] ?? {}).join(", ");
  }

  chosen(square) {
    const { page, legal } = this, from = this.held?.square, found = legal[from]?.[square], cell = page.board.shown.get(square);
    const values = { square, from, piece: page.name(cell), targets: this.targets(from ?? square) };
    if (found) page.act(found);
    else if (from === square) this.held = null;
    else if (legal[square]) {
      this.held = { square };
      page.tell("held", { ...values, targets: this.targets(square) });
    } else page.refuse(from ? "no_way" : !Object.keys(legal).length ? "not_your_turn" : cell[0] === page.seat[0] ? "cannot_move" : "take_own", values);
  }

  dropped(square) {
    if (square && square !== this.held?.square) this.chosen(square);
    else this.held = null;
  }

  look(square) {
    const from = this.held?.square, isHeld = from === square, isTarget = this.legal[from]?.[square];
    const isMovable = this.legal[square], isAttack = isTarget && isPiece(this.page.board.shown.get(square));
    return {
      classes: [isHeld && "selected", isTarget && "target", isAttack && "attack", isMovable && "movable"],
      more: [
        isHeld && this.page.say("is_held"),
        isMovable && this.page.say("may_move", { targets: this.targets(square) }),
        isTarget && this.page.say(isAttack ? "target_attack" : "target_free", { from }),
      ],
      drags: isMovable,
    };
  }
}

// Ask in the dialog which of these actions is meant; gives its text, or nothing if it was put away. Each field offers what
// fits those before it.
async function askWhich(dialog, choices, called) {
  const draw = () => {
    let fitting = choices;
    for (const [field, read] of Object.entries(FIELDS)) {
      const list = dialog.querySelector(`[name=${field}]`), values = [...new Set(fitting.map(read))];
      const picked = values.includes(list.value) ? list.value : values[0];
      list.replaceChildren(...values.map((value) => new Option(called(field, value), value, false, value === picked)));
      list.parentNode.hidden = values.length < 2 && !(field === "guess" && picked);
      fitting = fitting.filter((choice) => read(choice) === picked);
    }
    return fitting[0].action;
  };
  dialog.onchange = draw;
  draw();
  return (await confirmed(dialog)) && draw();
}

// Ask yes or no.
function confirmed(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// Dragging with a mouse, a pen or a finger, of what has `data-drags` below `area`. `on` has lifted(dataset), which gives an
// image, and dropped(what lies below). A drag that goes nowhere is a click, which comes by itself.
function listenForDrags(area, on) {
  let drag = null;

  function end() {
    drag?.image?.remove();
    drag = null;
  }

  area.addEventListener("pointerdown", (event) => {
    const from = event.target.closest("[data-drags]");
    if (from && event.isPrimary && event.button === 0) drag = { from, id: event.pointerId, x: event.clientX, y: event.clientY };
  });
  document.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.id) return;
    if (!drag.image) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_STARTS_AT) return;
      drag.image = on.lifted(drag.from.dataset);
      drag.image.classList.add("dragged");
      document.body.append(drag.image);
    }
    drag.image.style.transform = `translate(${event.clientX}px, ${event.clientY}px) translate(-50%, -50%)`;
  });
  document.addEventListener("pointerup", (event) => {
    if (event.pointerId !== drag?.id) return;
    const isClick = !drag.image;
    end();
    if (isClick) return;
    const swallow = (click) => { click.stopPropagation(); click.preventDefault(); }; // the click that follows is part of the drag
    document.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => document.removeEventListener("click", swallow, { capture: true }));
    on.dropped(document.elementFromPoint(event.clientX, event.clientY));
  });
  document.addEventListener("pointercancel", end);
  document.addEventListener("keydown", (event) => event.key === "Escape" && end());
  // A finger that drags does not move the page; touch-action would say so, but not of what is drawn in an SVG.
  document.addEventListener("touchmove", (event) => drag && event.preventDefault(), { passive: false });
}
