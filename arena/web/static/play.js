// The page on which a person plays: a seat's state as the arena gives it, put on the page, and what the person does, sent
// back. The state comes whole, whenever the stream of events says that there is a new one; so a tab that was closed, or
// has lost its connection, needs nothing but the next state. Everything is set as text and never as markup.

import { Board, SQUARES, dragging, element } from "./play-board.js";
import { ask, confirmed } from "./play-choice.js";
import { Game } from "./play-game.js";
import { Earlier, listenForGoals } from "./play-history.js";
import { Link } from "./play-link.js";
import { Setup } from "./play-setup.js";
import { isOver, say, setLines, showClock, showConnection, showStatus } from "./play-words.js";

const root = document.querySelector("#play");
const data = JSON.parse(root.dataset.page);
const part = (name) => root.querySelector(`[data-${name}]`);
const parts = (name) => [...root.querySelectorAll(`[data-${name}]`)];

class Page {
  constructor() {
    this.state = null;
    this.received = 0; // when the state came, by the clock of the browser
    this.moves = [];
    this.connected = false;
    this.looked = null;
    this.looksBack = false; // at the set-ups of a game that is over
    this.flipped = data.seat === "blue";
    this.sending = false;
    this.board = new Board(part("board"), {
      chosen: (square) => this.doing()?.chosen(square),
      looked: (square) => this.tellDetails(square),
      key: (event, square) => {
        this.refuse("");
        this.doing()?.pressedKey(event, square);
      },
    });
    const shared = { seat: data.seat, pieces: data.pieces, order: data.order, say };
    const on = {
      told: (text) => this.tell(text),
      refused: (text) => this.refuse(text),
      changed: () => this.draw(),
      act: (actions) => this.act(actions),
    };
    this.game = new Game({ ...shared, on });
    this.earlier = new Earlier(new Game({ ...shared, on }), {
      say,
      on: { ...on, load: (ply) => this.link.ask("then?ply=" + ply) },
    });
    this.setup = new Setup(part("setup"), { ...shared, on, key: "setup " + location.pathname });
    dragging(part("stage"), {
      started: (from) => {
        this.doing()?.lifted?.(from);
        this.draw();
      },
      dropped: (from, below) => {
        this.refuse("");
        this.doing()?.dropped(from, below);
      },
      ended: () => {},
    });
    this.listen();
    this.tellDetails(null);
    this.link = new Link(say, {
      path: () => "state?from=" + this.moves.length,
      state: (answer) => this.update(answer),
      lost: () => this.lost(),
    });
    setInterval(() => this.drawClocks(), 250);
  }

  // What clicks and keys on the board are for now.
  doing() {
    if (!this.state || this.sending) return null;
    if (this.state.stage === "setting-up") return this.setup;
    return this.state.pieces.length ? this.view() : null;
  }

  // What the board shows: the set-up that is made, the board after an earlier ply, or the one of now.
  view() {
    if (this.state.stage === "setting-up") return this.setup;
    return this.earlier.isShown ? this.earlier : this.game;
  }

  // Look at another ply.
  go(goal) {
    if (part("game").hidden) return;
    if (this.looksBack) this.lookBack();
    this.earlier.go(goal, this.state.plies);
  }

  listen() {
    root.addEventListener("click", () => this.refuse(""), { capture: true }); // what was refused before has been read
    const actions = {
      flip: () => { this.flipped = !this.flipped; this.draw(); },
      resign: () => this.resign(),
      pause: () => this.pause(),
      random: () => this.setup.load(this.setup.shuffled()),
      mirror: () => this.setup.mirror(),
      clear: () => this.setup.load([]),
      ready: () => this.sendSetup(),
      setups: () => this.lookBack(),
    };
    for (const button of parts("do")) button.addEventListener("click", () => actions[button.dataset.do]());
    part("moves").addEventListener("click", (event) => {
      const line = event.target.closest("[data-ply]");
      if (line) this.go(Number(line.dataset.ply));
    });
    listenForGoals(root, { isPossible: () => this.state && !part("game").hidden, go: (goal) => this.go(goal) });
    part("typed").addEventListener("submit", (event) => {
      event.preventDefault();
      this.sendTyped();
    });
    part("presets").addEventListener("change", (event) => {
      const preset = data.presets[Number(event.target.value)];
      if (preset) this.setup.load(preset.rows);
    });
  }

  // --- what comes from the arena

  update({ state, since, moves, shown, after, setups }) {
    const before = this.state;
    this.state = state;
    this.received = performance.now();
    this.connected = this.link.isOpen;
    this.moves = [...this.moves.slice(0, since), ...moves];
    this.after = after;
    this.setups = setups;
    this.game.update(state, shown);
    if (state.plies < before?.plies) this.earlier.forget();
    if (this.looksBack) this.game.lookBack(setups);
    if (state.stage !== "setting-up" && before?.stage === "setting-up") this.setup.forget();
    if (before?.plies !== state.plies || before?.stage !== state.stage) this.refuse("");
    this.draw();
    if (this.board.cursor === null) this.board.point(state.stage === "setting-up" ? this.setup.cursor() : this.game.cursor());
    if (before && state.plies === before.plies + 1 && !this.earlier.isShown) this.slideLast();
  }

  // Between the board at the end and the set-ups.
  lookBack() {
    this.looksBack = !this.looksBack;
    root.querySelector("[data-do=setups]").setAttribute("aria-pressed", String(this.looksBack));
    this.game.lookBack(this.looksBack ? this.setups : null);
    if (this.looksBack) {
      this.earlier.now();
      this.tell(say("showing_setups"));
    }
    this.draw();
  }

  slideLast() {
    const { action, origin, target, marks } = this.state.last;
    if (marks[origin] === "from" && marks[target] === "to" && !action.includes("?")) this.board.slide(origin, target);
  }

  lost() {
    this.connected = false;
    this.drawConnection();
    return isOver(this.state);
  }

  // --- what goes to it

  async send(what, body) {
    if (this.sending) return;
    this.sending = true;
    this.refuse("");
    root.setAttribute("aria-busy", "true");
    const refused = await this.link.send(what, body);
    this.sending = false;
    root.removeAttribute("aria-busy");
    if (refused) this.refuse(refused);
    else {
      this.earlier.now();
      await this.link.load();
    }
    this.draw();
    return !refused;
  }

  // One of these actions: which, if there are several.
  async act(choices) {
    const ply = this.state.plies + 1; // while the dialog is open, another tab may play on
    const needs = choices.length > 1 || choices[0].guessed;
    const action = needs ? await ask(part("choice"), choices, { say, pieces: data.pieces }) : choices[0].action;
    this.game.held = null;
    if (action) await this.send("act", { action, ply });
    else this.draw();
  }

  async sendTyped() {
    const input = part("typed").elements.action;
    const action = input.value.trim().replace(/\s+/g, "");
    if (!action) return;
    const asked = action.match(/^(?:(back|next|board)|ply(\d{1,6}))$/i);
    if (asked) {
      this.go(asked[2] ? Number(asked[2]) : { back: "back", next: "next", board: "last" }[asked[1].toLowerCase()]);
      input.value = "";
      return;
    }
    if (await this.send("act", { action, ply: this.state.plies + 1 })) input.value = "";
  }

  async sendSetup() {
    const missing = this.setup.missing();
    if (missing) this.refuse(say(missing === 1 ? "one_missing" : "missing", { count: missing }));
    else await this.send("setup", { rows: this.setup.rows() });
  }

  async resign() {
    if (await confirmed(part("resigning"))) await this.send("resign");
  }

  async pause() {
    if (await confirmed(part("pausing"))) await this.send("pause");
  }

  // --- what is to be read

  tell(text) {
    part("told").textContent = text;
  }

  refuse(text) {
    part("refused").textContent = text;
  }

  tellDetails(square) {
    this.looked = square;
    const shown = this.state && square ? (this.state.stage === "setting-up" ? this.setup.look(square).label : this.state.pieces.length ? this.view().details(square) : "") : "";
    part("details").textContent = shown || say("details_hint");
  }

  draw() {
    const { state } = this;
    this.drawConnection();
    if (!state) return;
    const focused = document.activeElement;
    const stage = state.stage;
    root.dataset.stage = stage;
    root.dataset.plies = state.plies;
    part("stage").hidden = false;
    this.board.arrange(this.flipped);
    const view = this.view();
    for (const square of SQUARES) this.board.show(square, view.look(square));
    part("board").classList.toggle("holding", Boolean(view.held));
    part("setup").hidden = stage !== "setting-up";
    part("game").hidden = stage === "setting-up" || stage === "starting";
    for (const shown of parts("during")) shown.hidden = stage !== "moving" && stage !== "waiting";
    if (stage === "setting-up") this.drawSetup();
    this.drawStatus();
    this.drawPlayers();
    this.drawMoves();
    this.drawAfter();
    const fought = this.moves.slice(0, this.shownPly()).findLast((move) => move.fight);
    part("fight").hidden = !fought;
    if (fought) part("fight").replaceChildren(...this.game.fight(fought));
    this.drawHidden();
    this.drawPly();
    if (this.looked) this.tellDetails(this.looked);
    if (root.contains(focused) && focused.closest("[hidden]")) this.board.focus(this.board.cursor); // not lost with its button
  }

  // After how many plies the board is.
  shownPly() {
    return this.earlier.ply ?? this.state.plies;
  }

  // Where the board stands in the game: in words, on the board, and in the list of moves.
  drawPly() {
    const { plies } = this.state;
    const ply = this.shownPly();
    const isEarlier = this.earlier.isShown;
    part("controls").hidden = part("game").hidden || !plies;
    part("where").hidden = part("controls").hidden;
    part("board").classList.toggle("earlier", isEarlier);
    if (isEarlier) root.dataset.earlier = ply;
    else delete root.dataset.earlier;
    const move = isEarlier && ply ? this.moves[ply - 1] : null;
    const words = [say(isEarlier ? "ply_earlier" : "ply_now", { ply, plies }), ...(move ? [this.played(move)] : [])];
    setLines(part("where"), words);
    if (isEarlier || this.wasEarlier) this.tell(words.join(" ")); // of now the status tells
    this.wasEarlier = isEarlier;
    const list = part("moves");
    const line = isEarlier && ply ? list.children[ply - 1] : null;
    const before = list.querySelector("[aria-current]");
    if (before === (line?.firstChild ?? null)) return;
    before?.removeAttribute("aria-current");
    line?.firstChild.setAttribute("aria-current", "step");
    list.scrollTop = line ? line.offsetTop - list.offsetTop - list.clientHeight / 2 : isEarlier ? 0 : list.scrollHeight;
  }

  // How many of each rank the enemy still has that are not known.
  drawHidden() {
    const { hidden, end } = this.earlier.isShown ? this.earlier.game.state : this.state;
    const place = part("hidden");
    place.hidden = !hidden.length || Boolean(end);
    place.querySelector("summary").textContent = say("hidden", { count: hidden.reduce((sum, [, count]) => sum + count, 0) });
    const counts = Object.fromEntries(hidden);
    place.querySelector("p").textContent = data.order.filter((letter) => counts[letter])
      .map((letter) => data.pieces[letter].name + (counts[letter] > 1 ? " \u00d7" + counts[letter] : "")).join(", ");
  }

  drawConnection() {
    showConnection(part("connection"), this.connected, this.state);
  }

  drawSetup() {
    this.setup.drawTray();
    const list = part("presets");
    if (list.value && data.presets[list.value].rows.join("") !== this.setup.rows().join("")) list.value = "";
    const missing = this.setup.missing();
    part("missing").textContent = say(missing ? (missing === 1 ? "one_missing" : "missing") : "all_placed", { count: missing });
  }

  drawStatus() {
    const { state } = this;
    const mine = this.moves.findLastIndex((move) => move.color === data.seat);
    const before = this.moves.slice(Math.max(0, mine, this.moves.length - 2)).map((move) => this.played(move));
    const values = { opponent: this.player(this.game.enemy), color: say(data.seat), ply: state.plies + 1 };
    const now = say("stage_" + state.stage.replace("-", "_"), values);
    showStatus(part("status"), state, { now, title: data.title, before });
  }

  played({ color, ply, action, words }) {
    return say(words ? "played_words" : "played", { player: this.player(color), ply, action, words });
  }

  player(side) {
    if (side === data.seat) return say("you");
    const name = this.state.players[side === "red" ? 0 : 1];
    return /^[ -~]*$/.test(name) ? name : `\u2068${name}\u2069`; // written from right to left it would move what follows
  }

  drawPlayers() {
    for (const line of parts("player")) {
      const side = (line.dataset.player === "near") === this.flipped ? "blue" : "red";
      line.querySelector("[data-name]").textContent = this.state.players[side === "red" ? 0 : 1];
      line.querySelector("[data-side]").textContent = say(side) + (side === data.seat ? say("is_you") : "");
      line.dataset.color = side;
      line.querySelector("[data-lost]").replaceChildren(...(this.earlier.isShown ? this.earlier.game : this.game).lost(side));
      line.querySelector("[data-lost]").setAttribute("aria-label", say("lost_by", { player: this.state.players[side === "red" ? 0 : 1] }));
    }
    this.drawClocks();
  }

  // Clocks are as of when the state came; from then on they run here, to be looked at.
  drawClocks() {
    if (!this.state) return;
    for (const line of parts("player")) {
      const place = line.querySelector("[data-clock]");
      const clock = this.state.clocks[line.dataset.color === "red" ? 0 : 1];
      showClock(place, clock, this.connected ? this.received : null);
    }
  }

  drawMoves() {
    const list = part("moves");
    if (list.childElementCount > this.moves.length) list.replaceChildren();
    for (const move of this.moves.slice(list.childElementCount)) {
      const item = element("li", move.color);
      const line = element("button", "at");
      line.type = "button";
      line.tabIndex = -1; // hundreds of them; with the keyboard the list itself is gone to, and the arrows lead through it
      line.dataset.ply = move.ply;
      line.append(element("span", "ply", move.ply + "."), " ", element("span", move.words ? "action fight" : "action", move.action));
      item.append(line);
      if (move.words) item.append(" ", element("span", "words", move.words));
      list.append(item);
      if (!this.earlier.isShown) list.scrollTop = list.scrollHeight;
    }
    part("moves-title").textContent = say("moves", { count: this.moves.length });
  }

  drawAfter() {
    part("after").hidden = !this.after.length;
    setLines(part("next"), this.after);
    root.querySelector("[data-do=setups]").hidden = this.setups.length < 2;
  }
}

new Page();
