// How a person chooses on the board: pieces are taken and led to where a legal action leads, by click, key or drag.
"use strict";

const DRAG_STARTS_AT = 6; // pixels: below it is a click
const page = JSON.parse(stage.dataset.data);

let held = null; // what was taken: { square } or, of the tray, { letter }
let legal = {}; // by origin, by target: the choices

const nameOf = (letter) => labels.pieces[letter]?.[1];
const targetsOf = (square) => Object.keys(legal[square] ?? {}).join(", ");

function offer(choices) {
  [held, legal] = [null, {}];
  for (const choice of choices) ((legal[choice.origin] ??= {})[choice.target] ??= []).push(choice);
}

function chooseMove(square) {
  const from = held?.square, found = legal[from]?.[square], cell = shown.get(square);
  const isFree = !found && from !== square && legal[square];
  const values = { from, square, to: square, piece: nameOf(cell[1]), targets: targetsOf(isFree ? square : from) };
  if (found) return sendAction(found);
  held = isFree ? { square } : from === square ? null : held;
  if (isFree) put("told", say("held", values));
  else if (from) held && refuse("no_way", values);
  else refuse(!Object.keys(legal).length ? "not_your_turn" : cell[0] === page.seat[0] ? "cannot_move" : "take_own", values);
}

function lookOfMove(square) {
  const from = held?.square, isHeld = from === square, targets = targetsOf(square);
  const isTarget = legal[from]?.[square], isAttack = isTarget && sideOf(shown.get(square));
  return {
    classes: [isHeld && "selected", isTarget && "target", isAttack && "attack", targets && "movable"],
    more: [
      isHeld && say("is_held"), targets && say("may_move", { targets }),
      isTarget && say(isAttack ? "target_attack" : "target_free", { from }),
    ],
    drags: targets,
  };
}

// Ask in the dialog which of these actions is meant, if any. Each list offers what fits those before it.
async function askWhich(dialog, choices) {
  let fitting;
  dialog.onchange = () => {
    fitting = choices;
    for (const list of dialog.querySelectorAll("select")) {
      const read = (choice) => choice[list.name] ?? "", values = [...new Set(fitting.map(read))];
      const picked = values.includes(list.value) ? list.value : values[0];
      const called = (value) => fill(value ? list.dataset.one : list.dataset.none, { value: nameOf(value) ?? value });
      list.replaceChildren(...values.map((value) => new Option(called(value), value, false, value === picked)));
      list.parentNode.hidden = values.length < 2 && !picked;
      fitting = fitting.filter((choice) => read(choice) === picked);
    }
  };
  dialog.onchange();
  return (await confirmed(dialog)) && fitting[0].action;
}

function confirmed(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// Dragging of what has `data-drags`; a drag that goes nowhere is a click, which comes by itself.
{
  let start = null, image = null;
  const hear = (name, listener, options) => document.addEventListener(name, listener, options);
  const end = () => { image?.remove(); start = image = null; };
  hear("pointerdown", (event) => {
    if (event.isPrimary && event.button === 0 && event.target.closest("[data-drags]")) start = event;
  });
  hear("pointermove", ({ isPrimary, clientX, clientY }) => {
    const isFar = start && Math.hypot(clientX - start.clientX, clientY - start.clientY) >= DRAG_STARTS_AT;
    if (!start || !isPrimary || !(image || isFar)) return;
    const { square, letter, cell } = start.target.closest("[data-drags]").dataset;
    if (!image) does(() => { held = square ? { square } : { letter }; });
    image ??= document.body.appendChild(pieceImage(cell, false));
    image.classList.add("dragged");
    image.style.transform = `translate(${clientX}px, ${clientY}px) translate(-50%, -50%)`;
  });
  hear("pointerup", ({ clientX, clientY }) => {
    const isDrag = image, swallow = (click) => click.stopPropagation();
    end();
    if (!isDrag) return;
    hear("click", swallow, { capture: true, once: true }); // which is part of the drag
    setTimeout(() => document.removeEventListener("click", swallow, { capture: true }));
    does(() => dropped(document.elementFromPoint(clientX, clientY)?.closest("[data-square], [data-tray]")?.dataset));
  });
  hear("pointercancel", end);
  hear("keydown", (event) => event.key === "Escape" && end());
  // A finger that drags does not move the page; touch-action has no effect within an SVG.
  hear("touchmove", (event) => start && event.preventDefault(), { passive: false });
}
