// The dialogs of the page: which of several actions was meant (a captain's way, what to guess, whom to bring back and
// where), and yes or no. What is offered are legal actions as the arena has listed them, and nothing else.

import { element } from "./play-board.js";

// The parts of an action between which there can be a choice, in the order in which they are asked for.
const FIELDS = {
  way: (choice) => (choice.guessed ? "?" : choice.over ?? ""),
  guess: (choice) => choice.guessed ?? "",
  back: (choice) => choice.rescued ?? "",
  at: (choice) => choice.rescue_square ?? "",
};

// Asks in the dialog which of these actions is meant; gives its text, or null if it was put away.
export function ask(dialog, choices, { say, pieces }) {
  const form = dialog.querySelector("form");
  const place = form.querySelector("[data-fields]");
  const named = (letter) => pieces[letter]?.name ?? letter;
  const shown = {
    way: (value) => (value === "?" ? say("way_guess") : value ? say("way_over", { square: value }) : say("way_straight")),
    guess: (value) => named(value),
    back: (value) => (value ? named(value) : say("back_nobody")),
    at: (value) => value,
  };
  const picked = {};

  // Fields in their order; what each offers is what fits those before it.
  function draw() {
    const focused = place.contains(document.activeElement) ? document.activeElement.name : null;
    let fitting = choices;
    const made = [];
    for (const [field, read] of Object.entries(FIELDS)) {
      const values = [...new Set(fitting.map(read))];
      if (!values.includes(picked[field])) picked[field] = values[0];
      if (values.length > 1 || (field === "guess" && values[0])) made.push(select(field, values));
      fitting = fitting.filter((choice) => read(choice) === picked[field]);
    }
    place.replaceChildren(...made);
    if (focused) place.querySelector(`[name=${focused}]`)?.focus();
    return fitting[0];
  }

  function select(field, values) {
    const label = element("label", "field");
    const list = element("select");
    list.name = field;
    for (const value of values) {
      const option = element("option", "", shown[field](value));
      option.value = value;
      option.selected = value === picked[field];
      list.append(option);
    }
    list.addEventListener("change", () => { picked[field] = list.value; draw(); });
    label.append(element("span", "", say("field_" + field)), list);
    return label;
  }

  draw();
  dialog.returnValue = "";
  dialog.showModal();
  place.querySelector("select")?.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? draw().action : null), { once: true });
  });
}

// Asks yes or no.
export function confirmed(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
