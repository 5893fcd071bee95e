// How a person chooses on the board: pieces are taken by click, key or drag, and led to where a legal action leads. The
// legal actions come from the arena with each turn.
"use strict";

const DRAG_STARTS_AT = 6; // pixels: below it is a click

// Where there is a choice between several actions of the same piece to the same square, in the order of asking.
const FIELDS = {
  way: (choice) => (choice.guessed ? "?" : choice.over ?? ""),
  guess: (choice) => choice.guessed ?? "",
  back: (choice) => choice.rescued ?? "",
  at: (choice) => choice.rescue_square ?? "",
};

class Choosing {
  // `page` has seat, say(key, values), tell(text), refuse(text), act(choices), draw() and called(square).
  constructor(page) {
    this.page = page;
    this.held = null;
    this.legal = new Map(); // by origin, by target: the choices
  }

  offer(choices) {
    this.held = null;
    this.legal = new Map();
    for (const choice of choices) {
      if (!this.legal.has(choice.origin)) this.legal.set(choice.origin, new Map());
      const targets = this.legal.get(choice.origin);
      targets.set(choice.target, [...(targets.get(choice.target) ?? []), choice]);
    }
  }

  targets(square) {
    return [...(this.legal.get(square)?.keys() ?? [])].join(", ");
  }

  chosen(square) {
    const { page } = this, found = this.legal.get(this.held)?.get(square);
    if (found) page.act(found);
    else if (this.held === square) this.held = null;
    else if (this.legal.has(square)) {
      this.held = square;
      page.tell(page.say("held", { square, piece: page.called(square), targets: this.targets(square) }));
    } else if (this.held) page.refuse(page.say("no_way", { from: this.held, to: square, targets: this.targets(this.held) }));
    else page.refuse(page.say(!this.legal.size ? "not_your_turn" : page.isOwn(square) ? "cannot_move" : "take_own", { square, piece: page.called(square) }));
    page.draw();
  }

  dropped(origin, target) {
    this.held = target && target !== origin ? origin : null;
    if (this.held) this.chosen(target);
    else this.page.draw();
  }

  lifted({ square }) {
    this.held = square;
    this.page.draw();
  }

  pressed(event) {
    if (event.key !== "Escape" || !this.held) return;
    event.preventDefault();
    this.held = null;
    this.page.draw();
  }

  look(square) {
    const { page } = this, isTarget = this.legal.get(this.held)?.has(square), parts = [];
    if (this.held === square) parts.push(page.say("is_held"));
    if (this.legal.has(square)) parts.push(page.say("may_move", { targets: this.targets(square) }));
    if (isTarget) parts.push(page.say(page.called(square) ? "target_attack" : "target_free", { from: this.held }));
    const classes = [this.held === square && "selected", isTarget && (page.called(square) ? "target attack" : "target"), this.legal.has(square) && "movable"];
    return { classes: classes.filter(Boolean).join(" "), more: parts, isSelected: this.held === square, drags: this.legal.has(square) };
  }
}

// Ask in the dialog which of these actions is meant; gives its text, or null if it was put away.
async function askWhich(dialog, choices, say, named) {
  const place = dialog.querySelector("[data-fields]"), picked = {};
  const shown = {
    way: (value) => (value === "?" ? say("way_guess") : value ? say("way_over", { square: value }) : say("way_straight")),
    guess: named, back: (value) => (value ? named(value) : say("back_nobody")), at: (value) => value,
  };

  // The fields in their order; each offers what fits those before it.
  function draw() {
    const focused = place.contains(document.activeElement) ? document.activeElement.name : null, made = [];
    let fitting = choices;
    for (const [field, read] of Object.entries(FIELDS)) {
      const values = [...new Set(fitting.map(read))];
      if (!values.includes(picked[field])) picked[field] = values[0];
      if (values.length > 1 || (field === "guess" && values[0])) made.push(list(field, values));
      fitting = fitting.filter((choice) => read(choice) === picked[field]);
    }
    place.replaceChildren(...made);
    if (focused) place.querySelector(`[name=${focused}]`)?.focus();
    return fitting[0].action;
  }

  function list(field, values) {
    const made = element("select", "", ...values.map((value) => new Option(shown[field](value), value, false, value === picked[field])));
    made.name = field;
    made.addEventListener("change", () => { picked[field] = made.value; draw(); });
    return element("label", "", say("field_" + field), made);
  }

  draw();
  return (await confirmed(dialog)) ? draw() : null;
}

// Ask yes or no.
function confirmed(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// Dragging with a mouse, a pen or a finger, of what has `data-drags` below `area`. `on` has lifted(dataset), image(dataset),
// and dropped(dataset, what lies below it). A drag that goes nowhere is a click, which comes by itself.
function listenForDrags(area, on) {
  let drag = null;

  function end() {
    drag?.ghost?.remove();
    drag = null;
  }

  area.addEventListener("pointerdown", (event) => {
    const from = event.target.closest("[data-drags]");
    if (from && event.isPrimary && event.button === 0) drag = { from, id: event.pointerId, x: event.clientX, y: event.clientY };
  });
  document.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.id) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_STARTS_AT) return;
      drag.ghost = on.image(drag.from.dataset);
      drag.ghost.classList.add("ghost");
      document.body.append(drag.ghost);
      on.lifted(drag.from.dataset);
    }
    drag.ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px) translate(-50%, -50%)`;
  });
  document.addEventListener("pointerup", (event) => {
    if (event.pointerId !== drag?.id) return;
    const { from, ghost } = drag;
    end();
    if (!ghost) return;
    const swallow = (click) => { click.stopPropagation(); click.preventDefault(); }; // the click that follows is part of the drag
    document.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => document.removeEventListener("click", swallow, { capture: true }), 0);
    on.dropped(from.dataset, document.elementFromPoint(event.clientX, event.clientY));
  });
  document.addEventListener("pointercancel", end);
  // A finger that drags does not move the page; touch-action would say so, but not of what is drawn in an SVG.
  document.addEventListener("touchmove", (event) => drag && event.preventDefault(), { passive: false });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });
}
