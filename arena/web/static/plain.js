// The page of a person's seat in a game that has no page of its own: the position as text or as an image, what the seat
// was told, and the actions to choose from, or a line to type. Everything is set as text and never as markup.

import { element } from "./play-board.js";
import { confirmed } from "./play-choice.js";
import { Earlier, listenForGoals } from "./play-history.js";
import { Link } from "./play-link.js";
import { isOver, say, setLines, showClock, showConnection, showStatus } from "./play-words.js";

const MOST_BUTTONS = 200;
const root = document.querySelector("#play");
const data = JSON.parse(root.dataset.page);
const part = (name) => root.querySelector(`[data-${name}]`);
const sides = ["red", "blue"];

class Page {
  constructor() {
    this.state = null;
    this.received = 0; // when the state came, by the clock of the browser
    this.lines = [];
    this.connected = false;
    this.sending = false;
    const actions = {
      random: () => this.send("random"),
      resign: async () => (await confirmed(part("resigning"))) && this.send("resign"),
      pause: async () => (await confirmed(part("pausing"))) && this.send("pause"),
    };
    for (const button of root.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
    this.onSubmit("typed", (text) => this.act(text));
    this.onSubmit("setup", (text) => this.send("setup", { rows: text.split("/") }));
    part("choices").addEventListener("click", (event) => {
      const action = event.target.dataset.action;
      if (action) this.act(action);
    });
    this.link = new Link(say, {
      path: () => "state?from=" + this.lines.length,
      state: (answer) => this.update(answer),
      lost: () => this.lost(),
    });
    this.earlier = new Earlier({ update() {} }, {
      say,
      on: {
        load: (ply) => this.link.ask("then?ply=" + ply),
        refused: (text) => { part("refused").textContent = text; },
        changed: () => this.drawPosition(),
      },
    });
    listenForGoals(root, { isPossible: () => !part("controls").hidden, go: (goal) => this.go(goal) });
    setInterval(() => this.drawClocks(), 250);
  }

  onSubmit(name, send) {
    const form = part(name);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const line = form.elements.text;
      const text = line.value.trim();
      if (text && (await send(text))) line.value = "";
      else line.select(); // what is typed next takes the place of what was refused
    });
  }

  go(goal) {
    this.earlier.go(goal, this.state.plies);
  }

  act(action) {
    return this.send("act", { action, ply: this.state.plies + 1 });
  }

  async send(what, body) {
    if (this.sending) return false;
    this.sending = true;
    part("refused").textContent = "";
    const refused = await this.link.send(what, body);
    this.sending = false;
    if (refused) part("refused").textContent = refused;
    else {
      this.earlier.now();
      await this.link.load();
    }
    return !refused;
  }

  update(answer) {
    const before = this.state;
    this.state = answer.state;
    this.position = answer;
    if (this.state.plies < before?.plies) this.earlier.forget();
    this.received = performance.now();
    this.connected = this.link.isOpen;
    this.lines = [...this.lines.slice(0, answer.since), ...answer.lines];
    if (before?.plies !== this.state.plies || before?.stage !== this.state.stage) part("refused").textContent = "";
    this.draw(answer);
    if (before?.stage !== this.state.stage) this.focus();
  }

  // The keyboard goes to the line that is to be typed, unless the person is busy elsewhere.
  focus() {
    const form = { moving: "typed", "setting-up": "setup" }[this.state.stage];
    const at = document.activeElement;
    if (form && (at === document.body || at.closest("[hidden]"))) part(form).elements.text.focus();
  }

  lost() {
    this.connected = false;
    this.drawConnection();
    return isOver(this.state);
  }

  drawConnection() {
    showConnection(part("connection"), this.connected, this.state);
  }

  draw({ after }) {
    const { state } = this;
    this.drawConnection();
    root.dataset.stage = state.stage;
    root.dataset.plies = state.plies;
    part("stage").hidden = false;
    this.drawPosition();
    part("setup").hidden = state.stage !== "setting-up";
    part("typed").hidden = state.stage !== "moving" && state.stage !== "waiting";
    part("during").hidden = part("typed").hidden;
    this.drawStatus();
    this.drawChoices();
    this.drawPlayers();
    const list = part("lines");
    list.replaceChildren(...this.lines.map((line) => element("li", "", line)));
    list.scrollTop = list.scrollHeight;
    part("after").hidden = !after.length;
    setLines(part("next"), after);
  }

  // The position of now, or the one that is looked back at.
  drawPosition() {
    const { text, image } = this.earlier.found ?? this.position;
    const { ply, isShown } = this.earlier;
    const source = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(image);
    if (image && part("image").src !== source) part("image").src = source;
    part("image").alt = text;
    part("image").hidden = !image;
    part("text").textContent = text;
    part("text").hidden = !text || Boolean(image);
    part("controls").hidden = !this.state.plies || !text && !image;
    part("where").hidden = !isShown;
    part("where").textContent = isShown ? say("ply_earlier", { ply, plies: this.state.plies }) : "";
    if (isShown) root.dataset.earlier = ply;
    else delete root.dataset.earlier;
  }

  drawStatus() {
    const { state } = this;
    const mine = sides.indexOf(data.seat);
    const key = { "setting-up": "plain_setting_up", ready: "plain_ready" }[state.stage] ?? "stage_" + state.stage;
    const values = { opponent: state.players[1 - mine], color: data.seats[mine], ply: state.plies + 1 };
    showStatus(part("status"), state, { now: say(key, values), title: data.title });
  }

  drawChoices() {
    const place = part("choices"), shown = JSON.stringify(this.state.choices);
    if (place.dataset.shown === shown) return;
    place.dataset.shown = shown;
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...this.state.choices.slice(0, MOST_BUTTONS).map((action) => {
      const button = element("button", "", action);
      button.type = "button";
      button.dataset.action = action;
      return button;
    }));
    if (hadFocus) (place.firstChild ?? part("typed").elements.text).focus();
  }

  drawPlayers() {
    sides.forEach((side, number) => {
      const line = root.querySelector(`[data-player=${side}]`);
      line.dataset.color = side;
      line.querySelector("[data-name]").textContent = this.state.players[number];
      const called = data.seats[number], isColor = called.toLowerCase() === side;
      line.querySelector(".disc").hidden = !isColor;
      line.querySelector("[data-side]").textContent = called + (isColor ? "" : ", " + side) + (side === data.seat ? say("is_you") : "");
    });
    this.drawClocks();
  }

  // Clocks are as of when the state came; from then on they run here, to be looked at.
  drawClocks() {
    if (!this.state) return;
    sides.forEach((side, number) => {
      const since = this.connected ? this.received : null;
      showClock(root.querySelector(`[data-player=${side}] [data-clock]`), this.state.clocks[number], since);
    });
  }
}

new Page();
