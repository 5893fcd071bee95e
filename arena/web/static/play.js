// The page of a person's seat: its state as the arena gives it, put on the stage of the game, and what the person does, sent
// back. A tab that was closed, or has lost its connection, needs nothing but the next state.
"use strict";

const PACE_MS = 500; // between the own move and the answer

class Play {
  constructor(root) {
    this.root = root;
    this.data = JSON.parse(root.dataset.page);
    this.texts = JSON.parse(root.dataset.texts);
    this.labels = JSON.parse(root.dataset.labels);
    this.seat = this.data.seat;
    this.choosing = new Choosing(this);
    if (this.part("board")) {
      this.board = new Board(this.part("board"), this.labels, this.texts, {
        chosen: (square) => this.isFree() && this.doing().chosen(square),
        looked: (square) => this.replay && this.replay.tellSquare(square),
        key: (event, square) => this.isFree() && this.doing().pressed(event, square),
      });
      this.board.turn(this.seat === "blue");
      this.setup = new Setup(this, this.part("tray"), this.data.army, "setup " + location.pathname);
    }
    this.listen();
    this.link = new Link({
      path: () => `state?since=${this.replay?.last ?? 0}&begun=${this.begun ?? 0}`,
      state: (answer) => this.update(answer),
      lost: () => this.lost(),
    });
    setInterval(() => this.drawClocks(), 250);
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  say(key, values) {
    return fill(this.texts[key], values ?? {});
  }

  // What clicks and keys on the board are for.
  doing() {
    return this.state?.stage === "setting-up" ? this.setup : this.choosing;
  }

  isNow() {
    return !this.replay || this.replay.follows;
  }

  // Whether something can be done on the board; if not, and it is because an earlier one is shown, that is said.
  isFree() {
    if (this.isNow()) this.replay?.catchUp(true);
    else this.refuse(this.say("is_earlier"));
    return this.state && !this.sending && this.isNow() && !this.isOver();
  }

  isOver() {
    return ["over", "paused"].includes(this.state?.stage);
  }

  isOwn(square) {
    return this.board.shown.get(square)[0] === this.seat[0];
  }

  // What the piece on a square is called; empty if there is none.
  called(square) {
    const cell = this.board.shown.get(square) ?? "..";
    return isPiece(cell) ? this.labels.pieces[cell[1]]?.[1] ?? this.texts[cell[1] === "!" ? "moved" : "unknown"] : "";
  }

  listen() {
    this.root.addEventListener("click", () => this.refuse(""), { capture: true }); // what was refused before has been read
    const ask = async (name, what) => (await confirmed(this.part(name))) && this.send(what);
    const actions = {
      resign: () => ask("resigning", "resign"),
      pause: () => ask("pausing", "pause"),
      draw: () => (this.setup ? this.setup.shuffle() : this.send("random")),
      mirror: () => this.setup.mirror(),
      clear: () => this.setup.load([]),
      ready: () => this.sendSetup(),
      again: () => this.send("again", { swap: false }),
      rematch: () => this.send("again", { swap: true }),
    };
    for (const button of this.root.querySelectorAll("[data-do]")) button.addEventListener("click", () => { actions[button.dataset.do](); this.draw(); });
    this.onSubmit("typed", (text) => this.sendTyped(text, actions));
    this.onSubmit("rows", (text) => this.send("setup", { rows: text.split("/") }));
    this.part("choices").addEventListener("click", ({ target }) => target.dataset.action && this.act([{ action: target.dataset.action }]));
    this.part("presets")?.addEventListener("change", ({ target }) => {
      this.setup.load(this.data.presets[Number(target.value)]?.rows ?? []);
      this.draw();
    });
    if (!this.board) return;
    const square = (below) => below?.closest?.("[data-square]")?.dataset.square;
    listenForDrags(this.root, {
      image: (from) => pieceImage(from.letter ? this.seat[0] + from.letter : from.cell, this.labels.pieces, false),
      lifted: (from) => this.isFree() && this.doing().lifted(from),
      dropped: (from, below) => {
        this.refuse("");
        if (this.isFree()) this.doing().dropped(from.square, square(below), Boolean(below?.closest?.("[data-tray]")), from.letter);
      },
    });
  }

  onSubmit(name, send) {
    const form = this.part(name);
    form?.addEventListener("submit", async (event) => {
      event.preventDefault();
      const line = form.elements.text, text = line.value.trim();
      line.value = "";
      if (!text || (await send(text)) || line.value) return;
      line.value = text;
      line.select(); // what is typed next takes the place of what was refused
    });
  }

  // --- what comes from the arena

  update({ state, game, begun, since, part, known, after, can_repeat }) {
    const before = this.state, isSame = begun === this.begun;
    if (before && (game !== this.game || (this.replay && !part))) return location.reload(); // another game, or the same once more
    Object.assign(this, { state, game, begun, known, after, canRepeat: can_repeat, received: performance.now() });
    if (before?.version !== state.version) this.choosing.offer(this.board ? state.choices : []);
    if (state.stage !== "setting-up" && before?.stage === "setting-up") this.setup?.forget();
    if (before?.plies !== state.plies || before?.stage !== state.stage) this.refuse("");
    if (state.stage === "ready") this.setup?.load(state.setup ?? []);
    if (part) this.takePart(since, part, isSame);
    this.draw();
    if (before?.stage !== state.stage) this.focus();
  }

  takePart(since, part, isSame) {
    if (!this.replay) {
      this.replay = new Replay(this.root, part, { isLive: true, pace: PACE_MS, board: this.board, look: (square) => this.look(square), known: () => !this.isOver() && new Set(this.known), shown: () => this.drawNow() });
      this.replay.turn(this.seat === "blue");
    } else if (isSame && since) {
      if (!this.replay.extend(since, part)) this.link.load();
    } else {
      this.replay.take(part);
    }
  }

  // The keyboard goes where something can be done now, unless the person is busy elsewhere.
  focus() {
    const at = document.activeElement, form = this.part(this.state.stage === "setting-up" ? "rows" : "typed");
    if (at !== document.body && !at.closest("[hidden]")) return;
    if (this.board && ["setting-up", "moving", "waiting", "ready"].includes(this.state.stage)) this.board.focus(this.setup.home.find((square) => this.choosing.legal.has(square)) ?? this.board.cursor);
    else if (form && !form.hidden) form.elements.text.focus();
  }

  lost() {
    this.drawConnection();
    return this.isOver() && !this.canRepeat;
  }

  // --- what goes to it

  async send(what, body) {
    if (this.sending) return false;
    this.sending = true;
    this.refuse("");
    const refused = await this.link.send(what, body);
    this.sending = false;
    if (refused) this.refuse(this.texts[refused] ?? refused);
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
    const action = isAsked ? await askWhich(this.part("choice"), choices, (key, values) => this.say(key, values), (letter) => this.labels.pieces[letter]?.[1] ?? letter) : choices[0].action;
    this.choosing.held = null;
    if (action) await this.send("act", { action, ply });
    this.draw();
  }

  async sendTyped(text, actions) {
    const asked = text.match(/^(?:(back|next|board)|ply ?(\d{1,6}))$/i), action = text.replace(/\s+/g, "");
    if (asked && this.replay) {
      if (asked[2]) this.replay.go(Number(asked[2]));
      else this.replay.act({ back: "back", next: "next", board: "last" }[asked[1].toLowerCase()]);
      return true;
    }
    if (action.toLowerCase() === "resign") return actions.resign();
    const [, origin, target] = (this.board && action.match(/^([a-j]\d+)([a-j]\d+)$/i)) ?? [];
    if (origin) {
      this.part("typed").elements.text.value = `${origin}-${target}`.toLowerCase();
      this.refuse(this.say("meant", { action: `${origin}-${target}`.toLowerCase() }));
      return false;
    }
    return this.send("act", { action, ply: this.state.plies + 1 });
  }

  sendSetup() {
    const count = this.setup.missing();
    if (count) this.refuse(this.say("missing", { count }));
    else this.send("setup", { rows: this.setup.rows() });
  }

  // --- what is to be read

  tell(text) {
    this.part("told").textContent = text;
  }

  refuse(text) {
    this.part("refused").textContent = text;
  }

  // How a square of the board of now looks, and what is said of it.
  look(square) {
    const { more, ...look } = this.doing().look(square), cell = this.board.shown.get(square);
    return { ...look, label: [this.board.said(square, cell, this.replay?.positions.marks(this.replay.ply)[square], null, this.known.includes(square)), ...more].join("; ") };
  }

  draw() {
    const { state, root } = this;
    this.drawConnection();
    if (!state) return;
    const { stage } = state, focused = document.activeElement, isSettingUp = stage === "setting-up", isPlaying = stage === "moving" || stage === "waiting";
    root.classList.add("scripted");
    Object.assign(root.dataset, { stage, plies: state.plies });
    const shows = { setup: isSettingUp, typed: isPlaying, during: isPlaying, finished: this.after.length > 0, game: Boolean(this.replay), views: this.replay?.views.length > 1, repeat: this.canRepeat, choices: isPlaying };
    for (const [name, isShown] of Object.entries(shows)) for (const one of root.querySelectorAll(`[data-when=${name}]`)) one.hidden = !isShown;
    if (this.replay) this.replay.draw(null);
    else if (this.board) this.drawBoard();
    if (isSettingUp && this.setup) {
      this.setup.drawTray();
      const missing = this.setup.missing(), list = this.part("presets");
      this.part("missing").textContent = this.say(missing ? "missing" : "all_placed", { count: missing });
      if (list.value && this.data.presets[list.value].rows.join("") !== this.setup.rows().join("")) list.value = "";
    }
    this.setLines("after", this.after);
    this.drawChoices();
    this.drawStatus();
    this.drawClocks();
    if (root.contains(focused) && focused.closest("[hidden]")) this.focus();
  }

  // The board before the game has begun: the draft, or what was sent.
  drawBoard() {
    const names = { near: this.seat, far: this.seat === "red" ? "blue" : "red" };
    for (const line of this.root.querySelectorAll("[data-player]")) {
      line.dataset.side = names[line.dataset.player];
      line.querySelector("[data-name]").textContent = this.labels[line.dataset.side];
    }
    const cells = this.setup.cells();
    this.board.show(cells, { look: (square) => this.look(square) });
  }

  // What follows from which ply is shown.
  drawNow() {
    if (!this.replay) return; // it is being made
    const { ply, last } = this.replay;
    if (this.root.dataset.earlier !== (this.isNow() ? undefined : String(ply))) this.refuse("");
    if (this.isNow()) delete this.root.dataset.earlier;
    else this.root.dataset.earlier = ply;
    this.part("where").textContent = this.isNow() ? "" : this.say("ply_earlier", { ply, last });
  }

  drawStatus() {
    const { state } = this, mine = this.seat === "red" ? 0 : 1;
    const values = { opponent: state.players[1 - mine], color: this.data.seats[mine], ply: state.plies + 1 };
    const lines = [state.end ? this.say("result_" + state.end.result, { words: state.end.words.replace(/\.$/, "") }) : this.say("stage_" + state.stage, values)];
    if (state.resigns && !state.end) lines.push(this.say("has_resigned"));
    if (state.remark) lines.push(state.remark);
    this.setLines("status", lines);
    document.title = (["moving", "setting-up"].includes(state.stage) ? "\u25cf " : "") + this.data.title;
  }

  // Put lines on the page, if they are not there: a live region says only what has changed.
  setLines(name, lines) {
    const place = this.part(name), text = lines.join("\n");
    if (place.dataset.text === text) return;
    place.dataset.text = text;
    place.replaceChildren(...lines.map((line) => element("span", "line", line)));
  }

  drawChoices() {
    const place = this.part("choices"), actions = this.board ? [] : this.state.choices.slice(0, 200), shown = actions.join(" ");
    if (place.dataset.shown === shown) return;
    place.dataset.shown = shown;
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...actions.map((action) => {
      const made = element("button", "", action);
      made.type = "button";
      made.dataset.action = action;
      return made;
    }));
    if (hadFocus) (place.firstChild ?? this.part("typed").elements.text).focus();
  }

  drawConnection() {
    const place = this.part("connection"), isOpen = this.link?.isOpen;
    place.textContent = isOpen ? "" : this.say(this.isOver() ? "ended" : this.state ? "not_connected" : "connecting");
    place.hidden = isOpen;
  }

  // Clocks are as of when the state came; from then on they run here, to be looked at.
  drawClocks() {
    for (const line of this.state ? this.root.querySelectorAll("[data-player]") : []) {
      const { left_ms: left, bank_ms: bank, runs } = this.state.clocks[line.dataset.side === "red" ? 0 : 1], place = line.querySelector("[data-clock]");
      const passed = runs && this.link.isOpen ? performance.now() - this.received : 0;
      const text = (ms) => Math.floor(ms / 60_000) + ":" + String(Math.ceil(ms / 1000) % 60).padStart(2, "0");
      place.textContent = left === null ? "" : text(Math.max(0, left - passed)) + (bank === null ? "" : " + " + text(bank));
      place.classList.toggle("runs", Boolean(runs));
    }
  }
}

new Play(document.querySelector("#play"));
