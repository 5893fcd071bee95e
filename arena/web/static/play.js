// The page of a person's seat: its state as the arena gives it, put on the stage of the game, and what the person does, sent
// back. A tab that was closed, or has lost its connection, needs nothing but the next state.
"use strict";

const PACE_MS = 500, RETRY_MS = 2000; // between the own move and the answer; and until the arena is asked again

class Play {
  constructor(root) {
    this.root = root;
    for (const name of ["data", "texts", "labels"]) this[name] = JSON.parse(root.dataset[name]);
    this.seat = this.data.seat;
    this.choosing = new Choosing(this);
    if (this.part("board")) {
      this.board = new Board(this.part("board"), this.labels, this.texts, {
        chosen: (square) => this.does(() => this.mode.chosen(square)),
        looked: (square) => this.replay?.tellSquare(square),
        key: (event, square) => this.does(() => this.pressed(event, square)),
      });
      this.board.turn(this.seat === "blue");
      this.setup = new Setup(this);
      listenForDrags(root, ({ square, letter, cell }) => {
        this.does(() => { this.mode.held = square ? { square } : { letter }; });
        return pieceImage(cell, this.labels.pieces, false);
      }, (below) => this.does(() => this.dropped(below?.closest("[data-square], [data-tray]")?.dataset)));
    }
    this.listen();
    hearEvents("events", "state", () => { this.isOpen = true; return this.load(); }, () => { this.isOpen = false; return this.lost(); });
    setInterval(() => this.drawClocks(), 250);
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  // Put a text there, if it is not there yet: a live region says only what has changed.
  put(name, text) {
    if (this.part(name).textContent !== text) this.part(name).textContent = text;
  }

  say(key, values) {
    return fill(this.texts[key], values);
  }

  tell(key, values) {
    this.put("told", this.say(key, values));
  }

  refuse(key, values) {
    this.put("refused", key in this.texts ? this.say(key, values) : key);
  }

  name(cell) {
    return this.labels.pieces[cell[1] ?? cell]?.[1];
  }

  get isOver() {
    return ["over", "paused"].includes(this.state?.stage);
  }

  // What clicks and keys on the board are for.
  get mode() {
    return this.state.stage === "setting-up" ? this.setup : this.choosing;
  }

  // --- what the person does

  // Do something with the newest position, unless an earlier one is looked at.
  does(action) {
    this.refuse("");
    if (!this.state || this.isSending || this.isOver) return;
    if (this.replay && !this.replay.follows) return this.refuse("is_earlier");
    this.replay?.catchUp(true);
    action();
    this.draw();
  }

  pressed({ key }, square) {
    if (key === "Escape") this.mode.held = null;
    else this.mode.pressed?.(key.toUpperCase(), square);
  }

  dropped({ square, tray } = {}) {
    const { mode } = this;
    if (square) mode.chosen(square);
    else if (tray === "" && mode.held?.square) mode.put?.(null, mode.held);
    mode.held = null;
  }

  listen() {
    const { root, setup } = this, ask = async (name, what) => (await confirmed(this.part(name))) && this.send(what);
    this.actions = {
      resign: () => ask("resigning", "resign"), pause: () => ask("pausing", "pause"),
      again: () => this.send("again", { swap: false }), rematch: () => this.send("again", { swap: true }),
      random: () => (setup ? setup.shuffle() : this.send("random")), clear: () => setup.load(""),
      ready: () => (setup.missing ? this.refuse("missing", { count: setup.missing }) : this.sendSetup(setup.rows)),
    };
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("button"), { do: what, letter } = button?.dataset ?? {};
      if (what) this.refuse("");
      if (what) this.actions[what]();
      else if (letter) setup.chosenLetter(letter);
      else if (button?.closest("[data-choices]")) this.act([{ action: button.textContent }]);
      this.draw();
    });
    root.addEventListener("submit", (event) => event.target.elements.text && this.submit(event, event.target));
    this.part("presets")?.addEventListener("change", ({ target }) => { setup.load(target.value); target.value = ""; this.draw(); });
  }

  // Send what was typed: a set-up or an action. What was refused stays, or what was perhaps meant.
  async submit(event, form) {
    const line = form.elements.text, text = line.value.trim();
    event.preventDefault();
    line.value = "";
    const isDone = "rows" in form.dataset ? await this.sendSetup(text) : !text || (await this.sendTyped(text, line));
    if (isDone) return;
    line.value ||= text;
    line.select(); // what is typed next takes its place
  }

  // What is typed is an action, or a way through the game. Gives whether it was done.
  async sendTyped(text, line) {
    const [, way, ply] = text.match(/^(?:(back|next|board)|ply ?(\d{1,6}))$/i) ?? [], action = text.replace(/\s+/g, "");
    const [, from, to] = (this.board && action.toLowerCase().match(/^([a-j]\d+)([a-j]\d+)$/)) ?? [];
    if (ply) this.replay.go(Number(ply));
    else if (way) this.replay.act(way.toLowerCase().replace("board", "last"));
    else if (action.toLowerCase() === "resign") this.actions.resign();
    else if (from) {
      line.value = `${from}-${to}`;
      this.refuse("meant", { action: line.value });
    } else return this.send("act", { action, ply: this.state.plies + 1 });
    return !from;
  }

  sendSetup(rows) {
    return this.send("setup", { rows: rows.split("/") });
  }

  // One of these actions: which, if there are several.
  async act(choices) {
    const ply = this.state.plies + 1; // while the dialog is open, another tab may play on
    const isAsked = choices.length > 1 || choices[0].guessed;
    const called = ({ dataset }, value) => fill(value ? dataset.one : dataset.none, { value: this.name(value) ?? value });
    const action = isAsked ? await askWhich(this.part("choice"), choices, called) : choices[0].action;
    this.choosing.held = null;
    if (action) await this.send("act", { action, ply });
    this.draw();
  }

  // --- between the page and the arena

  // Send something. What is refused is told, in the words of the arena or the page.
  async send(what, body = {}) {
    if (this.isSending) return false;
    this.isSending = true;
    this.refuse("");
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(what, options).catch(() => null);
    const refused = !answer ? "not_sent" : !answer.ok ? "failed" : (await answer.json()).refused;
    this.isSending = false;
    if (refused) this.refuse(refused);
    else {
      this.replay?.act("last");
      await this.load();
    }
    return !refused;
  }

  // Ask for the state, one time after the other.
  load() {
    this.loading = Promise.resolve(this.loading).then(async () => {
      const address = `state?since=${this.replay?.last ?? 0}&begun=${this.begun ?? 0}`;
      const answer = await fetch(address).then((found) => found.ok && found.json()).catch(() => null);
      if (answer) this.update(answer);
      else if (!this.lost()) setTimeout(() => this.load(), RETRY_MS);
    });
    return this.loading;
  }

  update(answer) {
    const { state: before, game, begun, board } = this, { part, since, ...others } = answer, { state } = answer, isNew = before?.stage !== state.stage;
    if (before && (game !== answer.game || (this.replay && !part))) return location.reload(); // another game, or it is set up again
    Object.assign(this, others, { received: Date.now() });
    if (before?.version !== state.version) this.choosing.offer(board ? state.choices : []);
    if (isNew || before.plies !== state.plies) this.refuse("");
    const on = { isLive: true, pace: PACE_MS, isFlipped: this.seat === "blue", board, look: (square) => this.mode.look(square), shown: () => this.drawPly() };
    if (!this.replay && part) this.replay = new Replay(this.root, part, on);
    else if (begun !== answer.begun) this.replay?.take(part);
    else if (part && !this.replay.extend(since, part)) this.load();
    this.draw();
    if (isNew) this.focus();
  }

  lost() {
    this.drawConnection();
    return this.isOver && !this.can_repeat && "over";
  }

  // The keyboard goes where something can be done now, unless the person is busy elsewhere.
  focus() {
    const at = document.activeElement, form = this.root.querySelector("form:not([hidden]) input");
    if (at !== document.body && !at.closest("[hidden]")) return;
    if (this.board && !this.isOver) this.board.focus(this.setup.home.find((square) => this.choosing.legal[square]) ?? this.board.cursor);
    else form?.focus();
  }

  // --- what is to be seen

  draw() {
    const { state, root, setup, replay, board } = this, focused = document.activeElement;
    this.drawConnection();
    if (!state) return;
    Object.assign(root.dataset, { stage: state.stage, plies: state.plies });
    const now = [state.stage, replay && "game", replay?.views.length > 1 && "views", this.can_repeat && "repeat"];
    for (const one of root.querySelectorAll("[data-when]")) one.hidden = !one.dataset.when.split(" ").some((what) => now.includes(what));
    if (replay) replay.draw();
    else board?.show(setup.cells(), { look: (square) => this.mode.look(square) });
    if (setup && state.stage === "setting-up") {
      setup.drawTray();
      this.put("missing", this.say(setup.missing ? "missing" : "all_placed", { count: setup.missing }));
    }
    this.put("after", this.after.join("\n"));
    this.drawStatus();
    this.drawChoices();
    this.drawClocks();
    if (focused.closest("[hidden]")) this.focus();
  }

  drawPly() {
    const { ply, last, follows } = this.replay ?? { follows: true };
    if (this.shownPly !== ply && !follows) this.refuse("");
    this.shownPly = ply;
    this.root.toggleAttribute("data-earlier", !follows);
    this.put("where", follows ? "" : this.say("ply_earlier", { ply, last }));
  }

  drawStatus() {
    const { stage, plies, players, end, resigns, remark } = this.state, mine = this.seat === "red" ? 0 : 1;
    const values = { opponent: players[1 - mine], color: this.data.seats[mine], ply: plies + 1, words: end?.words.replace(/\.$/, "") };
    const lines = [this.say(end ? "result_" + end.result : "stage_" + stage, values), resigns && !end && this.say("has_resigned"), remark];
    this.put("status", lines.filter(Boolean).join("\n"));
    document.title = (/moving|setting-up/.test(stage) ? "\u25cf " : "") + this.data.title;
  }

  drawChoices() {
    const place = this.part("choices"), actions = this.board ? [] : this.state.choices.slice(0, 200);
    if (place.dataset.shown === String(actions)) return;
    place.dataset.shown = actions;
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...actions.map((action) => element("button", {}, action)));
    if (hadFocus) (place.firstChild ?? this.part("typed").elements.text).focus();
  }

  drawConnection() {
    this.put("connection", this.isOpen ? "" : this.say(this.isOver ? "ended" : this.state ? "not_connected" : "connecting"));
  }

  // Clocks are as of when the state came; from then on they run here, to be looked at.
  drawClocks() {
    const clocks = this.state?.clocks.map(({ left_ms, runs, bank_ms }) => [left_ms, runs, bank_ms]) ?? [];
    tellClocks(this.root, clocks, this.isOpen ? Date.now() - this.received : 0);
  }
}

new Play(document.querySelector("#play"));
