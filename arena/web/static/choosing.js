// How a person chooses on the board: pieces are taken by click, key or drag, and led to where a legal action leads. The
// legal actions come from the arena with each turn.
"use strict";

const DRAG_STARTS_AT = 6; // pixels: below it is a click

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

  chosen(square) {
    const { page, legal } = this, from = this.held?.square, found = legal[from]?.[square], cell = page.board.shown.get(square);
    const values = { square, from, piece: page.name(cell), targets: Object.keys(legal[from] ?? legal[square] ?? {}).join(", ") };
    if (found) page.act(found);
    else if (from === square) this.held = null;
    else if (legal[square]) {
      this.held = { square };
      page.tell("held", { ...values, targets: Object.keys(legal[square]).join(", ") });
    } else page.refuse(from ? "no_way" : !Object.keys(legal).length ? "not_your_turn" : cell[0] === page.seat[0] ? "cannot_move" : "take_own", values);
  }

  look(square) {
    const { page, legal } = this, from = this.held?.square, isHeld = from === square, isTarget = legal[from]?.[square];
    const isAttack = isTarget && sideOf(page.board.shown.get(square)), targets = Object.keys(legal[square] ?? {}).join(", ");
    return {
      classes: [isHeld && "selected", isTarget && "target", isAttack && "attack", targets && "movable"],
      more: [
        isHeld && page.say("is_held"), targets && page.say("may_move", { targets }),
        isTarget && page.say(isAttack ? "target_attack" : "target_free", { from }),
      ],
      drags: targets,
    };
  }
}

// Ask in the dialog which of these actions is meant; gives its text, or nothing if it was put away. Each list offers what
// fits those before it.
async function askWhich(dialog, choices, called) {
  let fitting;
  dialog.onchange = () => {
    fitting = choices;
    for (const list of dialog.querySelectorAll("select")) {
      const read = (choice) => choice[list.name] ?? "", values = [...new Set(fitting.map(read))];
      const picked = values.includes(list.value) ? list.value : values[0];
      list.replaceChildren(...values.map((value) => new Option(called(list, value), value, false, value === picked)));
      list.parentNode.hidden = values.length < 2 && !picked;
      fitting = fitting.filter((choice) => read(choice) === picked);
    }
  };
  dialog.onchange();
  return (await confirmed(dialog)) && fitting[0].action;
}

// Ask yes or no.
function confirmed(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// Dragging with a mouse, a pen or a finger, of what has `data-drags` below `area`: `lifted` gives an image for it, and
// `dropped` is told what lies below. A drag that goes nowhere is a click, which comes by itself.
function listenForDrags(area, lifted, dropped) {
  let start = null, image = null;
  const listen = (name, hear, options) => document.addEventListener(name, hear, options), end = () => { image?.remove(); start = image = null; };
  area.addEventListener("pointerdown", (event) => {
    if (event.isPrimary && event.button === 0 && event.target.closest("[data-drags]")) start = event;
  });
  listen("pointermove", ({ isPrimary, clientX, clientY }) => {
    if (!start || !isPrimary || (!image && Math.hypot(clientX - start.clientX, clientY - start.clientY) < DRAG_STARTS_AT)) return;
    image ??= lifted(start.target.closest("[data-drags]").dataset);
    image.classList.add("dragged");
    document.body.append(image);
    image.style.transform = `translate(${clientX}px, ${clientY}px) translate(-50%, -50%)`;
  });
  listen("pointerup", ({ clientX, clientY }) => {
    const isDrag = image, swallow = (click) => click.stopPropagation();
    end();
    if (!isDrag) return;
    listen("click", swallow, { capture: true, once: true }); // which follows, and is part of the drag
    setTimeout(() => document.removeEventListener("click", swallow, { capture: true }));
    dropped(document.elementFromPoint(clientX, clientY));
  });
  listen("pointercancel", end);
  listen("keydown", (event) => event.key === "Escape" && end());
  // A finger that drags does not move the page; touch-action would say so, but not of what is drawn in an SVG.
  listen("touchmove", (event) => start && event.preventDefault(), { passive: false });
}
