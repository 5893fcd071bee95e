// The page of a person's seat: its state as the arena gives it, put on the stage of the game, and what the person does, sent
// back. A tab that was closed, or has lost its connection, needs nothing but the next state.
"use strict";

const PACE_MS = 500; // between the own move and the answer

class Play {
  constructor(root) {
    this.root = root;
    for (const name of ["data", "texts", "labels"]) this[name] = JSON.parse(root.dataset[name]);
    this.seat = this.data.seat;
    this.choosing = new Choosing(this);
    if (this.part("board")) {
      this.board = new Board(this.part("board"), this.labels, this.texts, {
        chosen: (square) => this.does(() => this.doing().chosen(square)),
        looked: (square) => this.replay?.tellSquare(square),
        key: (event, square) => this.does(() => this.pressed(event, square)),
      });
      this.board.turn(this.seat === "blue");
      this.setup = new Setup(this);
      listenForDrags(root, {
        lifted: ({ square, letter, cell }) => {
          this.does(() => { this.doing().held = square ? { square } : { letter }; });
          return pieceImage(cell, this.labels.pieces, false);
        },
        dropped: (below) => this.does(() => this.doing().dropped(below?.closest("[data-square]")?.dataset.square, below?.closest("[data-tray]"))),
      });
    }
    this.listen();
    this.link = new Link(this);
    setInterval(() => this.drawClocks(), 250);
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  say(key, values) {
    return fill(this.texts[key], values ?? {});
  }

  tell(key, values) {
    this.part("told").textContent = this.say(key, values);
  }

  refuse(key, values) {
    this.part("refused").textContent = key in this.texts ? this.say(key, values) : key;
  }

  name(cell) {
    return this.labels.pieces[cell.at(-1)]?.[1];
  }

  // What clicks and keys on the board are for.
  doing() {
    return this.state.stage === "setting-up" ? this.setup : this.choosing;
  }

  isOver() {
    return ["over", "paused"].includes(this.state?.stage);
  }

  // Do something with the newest position, unless an earlier one is looked at.
  does(action) {
    this.refuse("");
    if (!this.state || this.isSending || this.isOver()) return;
    if (this.replay && !this.replay.follows) return this.refuse("is_earlier");
    this.replay?.catchUp(true);
    action();
    this.draw();
  }

  pressed(event, square) {
    const isDone = event.key === "Escape" || this.doing().pressed?.(event.key.toUpperCase(), square);
    if (event.key === "Escape") this.doing().held = null;
    if (isDone) event.preventDefault();
  }

  listen() {
    const ask = async (name, what) => (await confirmed(this.part(name))) && this.send(what);
    this.actions = {
      resign: () => ask("resigning", "resign"), pause: () => ask("pausing", "pause"),
      again: () => this.send("again", { swap: false }), rematch: () => this.send("again", { swap: true }),
      random: () => (this.setup ? this.setup.shuffle() : this.send("random")),
      mirror: () => this.setup.mirror(), clear: () => this.setup.load(""), ready: () => this.sendSetup(),
    };
    this.root.addEventListener("click", ({ target }) => {
      const { do: what, letter } = target.closest("button")?.dataset ?? {};
      if (what) this.refuse("");
      if (what) this.actions[what]();
      else if (letter) this.setup.chosenLetter(letter);
      else if (target.matches("[data-choices] button")) this.act([{ action: target.textContent }]);
      this.draw();
    });
    this.root.addEventListener("submit", (event) => event.target.elements.text && this.submit(event, event.target));
    this.part("presets")?.addEventListener("change", ({ target }) => { this.setup.load(target.value); this.draw(); });
  }

  async submit(event, form) {
    const line = form.elements.text, text = line.value.trim();
    event.preventDefault();
    line.value = "";
    const isDone = "rows" in form.dataset ? await this.send("setup", { rows: text.split("/") }) : !text || (await this.sendTyped(text));
    if (isDone === true || line.value) return;
    line.value = typeof isDone === "string" ? isDone : text;
    line.select(); // what is typed next takes the place of what was refused
  }

  // --- what comes from the arena

  path() {
    return `state?since=${this.replay?.last ?? 0}&begun=${this.begun ?? 0}`;
  }

  update(answer) {
    const { state: before, game, begun } = this, { part, since, ...others } = answer, { state } = answer;
    if (before && (game !== answer.game || (this.replay && !part))) return location.reload(); // another game, or it is set up again
    Object.assign(this, others, { received: Date.now() });
    if (before?.version !== state.version) this.choosing.offer(this.board ? state.choices : []);
    if (before?.stage === "setting-up" && state.stage !== before.stage) this.setup?.stored("removeItem");
    if (before?.plies !== state.plies || before.stage !== state.stage) this.refuse("");
    if (!this.replay && part) this.replay = new Replay(this.root, part, { isLive: true, pace: PACE_MS, isFlipped: this.seat === "blue", board: this.board, look: (square) => this.doing().look(square), known: () => !this.isOver() && new Set(this.known), shown: () => this.drawPly() });
    else if (begun !== answer.begun) this.replay?.take(part);
    else if (part && !this.replay.extend(since, part)) this.link.load();
    this.draw();
    if (before?.stage !== state.stage) this.focus();
  }

  // The keyboard goes where something can be done now, unless the person is busy elsewhere.
  focus() {
    const at = document.activeElement, form = this.root.querySelector("form:not([hidden]) input");
    if (at !== document.body && !at.closest("[hidden]")) return;
    if (this.board && !this.isOver()) this.board.focus(this.setup.home.find((square) => this.choosing.legal[square]) ?? this.board.cursor);
    else form?.focus();
  }

  lost() {
    this.drawConnection();
    return this.isOver() && !this.can_repeat;
  }

  // --- what goes to it

  async send(what, body) {
    if (this.isSending) return false;
    this.isSending = true;
    this.refuse("");
    const refused = await this.link.send(what, body);
    this.isSending = false;
    if (refused) this.refuse(refused);
    else {
      this.replay?.act("last");
      await this.link.load();
    }
    return !refused;
  }

  // One of these actions: which, if there are several.
  async act(choices) {
    const ply = this.state.plies + 1; // while the dialog is open, another tab may play on
    const isAsked = choices.length > 1 || choices[0].guessed;
    const action = isAsked ? await askWhich(this.part("choice"), choices, (field, value) => this.called(field, value)) : choices[0].action;
    this.choosing.held = null;
    if (action) await this.send("act", { action, ply });
    this.draw();
  }

  called(field, value) {
    if (field === "way") return this.say(value === "?" ? "way_guess" : value ? "way_over" : "way_straight", { square: value });
    return field === "at" ? value : value ? this.name(value) : this.say("back_nobody");
  }

  // What is typed is an action, or a way through the game. Gives whether it was done, or what was perhaps meant.
  async sendTyped(text) {
    const [, way, ply] = text.match(/^(?:(back|next|board)|ply ?(\d{1,6}))$/i) ?? [], action = text.replace(/\s+/g, "");
    if (ply || way) {
      if (ply) this.replay.go(Number(ply));
      else this.replay.act({ back: "back", next: "next", board: "last" }[way.toLowerCase()]);
      return true;
    }
    if (action.toLowerCase() === "resign") return this.actions.resign();
    const [, from, to] = (this.board && action.toLowerCase().match(/^([a-j]\d+)([a-j]\d+)$/)) ?? [];
    if (!from) return this.send("act", { action, ply: this.state.plies + 1 });
    this.refuse("meant", { action: `${from}-${to}` });
    return `${from}-${to}`;
  }

  sendSetup() {
    const count = this.setup.missing();
    if (count) this.refuse("missing", { count });
    else this.send("setup", { rows: this.setup.rows().split("/") });
  }

  // --- what is to be seen

  draw() {
    const { state, root, setup, replay } = this, isSettingUp = state?.stage === "setting-up", focused = document.activeElement;
    this.drawConnection();
    if (!state) return;
    root.classList.add("scripted");
    Object.assign(root.dataset, { stage: state.stage, plies: state.plies });
    const now = [state.stage, replay && "game", replay?.views.length > 1 && "views", this.can_repeat && "repeat"];
    for (const one of root.querySelectorAll("[data-when]")) one.hidden = !one.dataset.when.split(" ").some((what) => now.includes(what));
    if (replay) replay.draw(null);
    else this.board?.show(setup.cells(), { look: (square) => this.doing().look(square) });
    if (isSettingUp && setup) {
      const count = setup.missing(), list = this.part("presets");
      setup.drawTray();
      this.put("missing", this.say(count ? "missing" : "all_placed", { count }));
      list.value = setup.rows();
      if (list.selectedIndex < 0) list.value = "";
    }
    this.put("after", this.after.join("\n"));
    this.drawStatus();
    this.drawChoices();
    this.drawClocks();
    if (focused.closest("[hidden]")) this.focus();
  }

  // Put a text there, if it is not there yet: a live region says only what has changed.
  put(name, text) {
    if (this.part(name).textContent !== text) this.part(name).textContent = text;
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
    document.title = (["moving", "setting-up"].includes(stage) ? "\u25cf " : "") + this.data.title;
  }

  drawChoices() {
    const place = this.part("choices"), actions = this.board ? [] : this.state.choices.slice(0, 200);
    if (place.dataset.shown === String(actions)) return;
    place.dataset.shown = actions;
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...actions.map((action) => element("button", "", action)));
    if (hadFocus) (place.firstChild ?? this.part("typed").elements.text).focus();
  }

  drawConnection() {
    const { isOpen } = this.link ?? {};
    this.put("connection", isOpen ? "" : this.say(this.isOver() ? "ended" : this.state ? "not_connected" : "connecting"));
  }

  // Clocks are as of when the state came; from then on they run here, to be looked at.
  drawClocks() {
    const passed = this.link.isOpen ? Date.now() - this.received : 0;
    tellClocks(this.root, this.state?.clocks.map(({ left_ms, runs, bank_ms }) => [left_ms, runs, bank_ms]) ?? [], passed);
  }
}

new Play(document.querySelector("#play"));
