// What moves on the pages: the filter of the list of games, and the replay of a game. It knows no rule: it puts on the
// squares what the page was given. Texts come from the page; nothing is ever set as markup.
"use strict";

const loading = new Map();
let arenaGames = null;

function load(script) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = script;
    element.onload = resolve;
    element.onerror = () => reject(new Error(script));
    document.head.append(element);
  });
}

function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// --- the replay ------------------------------------------------------------------------------------------------------

window.arenaGame = (number, packed) => loading.get(number)?.(packed);

function parts() {
  const found = {};
  for (const part of location.hash.slice(1).split("&")) {
    const [name, value] = part.split("=");
    if (value !== undefined) found[name] = decodeURIComponent(value);
  }
  return found;
}

class Replay {
  constructor(root, game) {
    this.root = root;
    this.game = game;
    this.labels = JSON.parse(root.dataset.labels);
    this.last = game.actions ? game.actions.length : 0;
    this.ply = 0;
    this.flipped = false;
    this.timer = null;
    this.board = root.querySelector("[data-board]");
    this.slider = root.querySelector("input[type=range]");
    this.views = Object.keys(game.views);
    this.view = this.views[0];
    this.states = new Map();
    this.slider.max = this.last;
    this.makeMoves();
    this.drawFights();
    this.listen();
    this.follow();
  }

  // The board after each ply, made as far as it is asked for: a list of cells by square.
  cells(ply) {
    if (!this.states.has(this.view)) {
      const start = new Map();
      const text = this.game.views[this.view].start;
      for (let square = 0; square < 100; square++) start.set(name(square), text.slice(2 * square, 2 * square + 2));
      this.states.set(this.view, [start]);
    }
    const states = this.states.get(this.view);
    while (states.length <= ply) {
      const next = new Map(states[states.length - 1]);
      const change = this.game.views[this.view].changes[states.length - 1];
      for (let at = 0; at < change.length; at += 4) next.set(change.slice(at, at + 2), change.slice(at + 2, at + 4));
      states.push(next);
    }
    return states[ply];
  }

  lost(ply) {
    const found = this.game.views[this.view].lost || {};
    let lost = ["", ""];
    for (const at of Object.keys(found)) if (Number(at) <= ply) lost = found[at];
    return lost;
  }

  draw() {
    const cells = this.cells(this.ply);
    const marks = this.ply ? this.game.marks[this.ply - 1] : {};
    const made = [];
    const rows = [...Array(10).keys()];
    const files = [...rows];
    if (!this.flipped) rows.reverse(); else files.reverse();
    for (const row of rows) {
      made.push(element("span", "coordinate", String(row + 1)));
      for (const file of files) made.push(this.cell(name(10 * row + file), cells, marks, (row + file) % 2));
    }
    made.push(element("span", "coordinate"));
    for (const file of files) made.push(element("span", "coordinate", "abcdefghij"[file]));
    this.board.replaceChildren(...made);
    this.board.setAttribute("role", "img");
    this.board.setAttribute("aria-label", this.said(cells));
    this.players();
    this.tell();
    this.slider.value = this.ply;
    this.slider.setAttribute("aria-valuetext", this.labels.ply + " " + this.ply);
    this.current();
  }

  cell(square, cells, marks, odd) {
    const cell = cells.get(square);
    const box = element("span", "cell" + (odd ? " odd" : "") + (cell === "~~" ? " lake" : ""));
    box.dataset.square = square;
    box.dataset.cell = cell;
    if (marks[square]) box.classList.add(marks[square]);
    if (cell !== ".." && cell !== "~~") {
      const known = this.labels.pieces[cell[1]];
      const piece = element("span", "piece " + (cell[0] === "r" ? "red" : "blue") + (known ? "" : " unknown"), known ? known[0] : cell[1] === "!" ? "·" : "");
      piece.title = (cell[0] === "r" ? this.labels.red : this.labels.blue) + ": " + (known ? known[1] : cell[1] === "!" ? this.labels.moved : this.labels.unknown);
      box.append(piece);
    }
    return box;
  }

  said(cells) {
    const words = [];
    for (const side of ["r", "b"]) {
      const pieces = [];
      for (const [square, cell] of cells) {
        if (cell[0] !== side) continue;
        const known = this.labels.pieces[cell[1]];
        pieces.push(square.replace(/0$/, "10") + " " + (known ? known[1] : this.labels.unknown));
      }
      words.push((side === "r" ? this.labels.red : this.labels.blue) + ": " + pieces.join(", "));
    }
    return words.join(". ");
  }

  players() {
    const lost = this.lost(this.ply);
    for (const line of this.root.querySelectorAll("[data-player]")) {
      const red = (line.dataset.player === "near") !== this.flipped;
      const made = [element("span", "name side " + (red ? "red" : "blue"), red ? this.labels.red : this.labels.blue)];
      const bank = this.game.banks && this.ply ? this.game.banks[this.ply - 1][red ? 0 : 1] : null;
      if (bank !== null && bank !== undefined) made.push(element("span", "clock", (bank / 1000).toFixed(1) + " s"));
      const counts = {};
      for (const letter of lost[red ? 0 : 1]) counts[letter] = (counts[letter] || 0) + 1;
      const text = this.labels.strength.split("").filter((letter) => counts[letter])
        .map((letter) => this.labels.pieces[letter][0] + (counts[letter] > 1 ? "×" + counts[letter] : "")).join(" ");
      if (text) made.push(element("span", "taken", this.labels.lost + " " + text));
      line.replaceChildren(...made);
    }
  }

  tell() {
    const now = this.root.querySelector("[data-now]");
    if (!this.ply) {
      now.textContent = this.labels.setups;
    } else {
      const side = this.game.sides[this.ply - 1] === "r" ? this.labels.red : this.labels.blue;
      const words = (this.game.views[this.view].words || {})[this.ply];
      const taken = this.game.taken[this.ply - 1];
      const time = taken === null ? "" : " [" + (taken / 1000).toFixed(1) + " ms]";
      now.textContent = this.labels.ply + " " + this.ply + ": " + side + " " + this.game.actions[this.ply - 1] + (words ? "; " + words : "") + time;
      if (this.ply === this.last) now.append(element("br"), this.labels.verdict);
    }
    for (const [ply, side, text] of this.game.notes || []) {
      if (ply === this.ply) now.append(element("br"), side + ": " + text);
    }
    const lines = (this.game.dialogue || []).filter((line) => line[0] === this.ply);
    const sides = { r: this.labels.red, b: this.labels.blue, "": "" };
    this.root.querySelector("[data-dialogue]").textContent = lines.map(([, side, who, text]) => [sides[side], who, text].join(" ").trim()).join("\n");
  }

  makeMoves() {
    const list = this.root.querySelector("[data-moves]");
    const words = this.game.views[this.view].words || {};
    list.replaceChildren(...(this.game.actions || []).map((action, index) => {
      const item = element("li");
      const link = element("a", words[index + 1] ? "fight" : "", index + 1 + ". " + action);
      link.href = "#ply=" + (index + 1);
      link.dataset.ply = index + 1;
      item.append(link);
      return item;
    }));
    list.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link) return;
      event.preventDefault();
      this.go(Number(link.dataset.ply));
    });
  }

  current() {
    const list = this.root.querySelector("[data-moves]");
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const link = this.ply && list.children[this.ply - 1].firstChild;
    if (!link) return;
    link.setAttribute("aria-current", "step");
    list.scrollTop = link.offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  drawFights() {
    const svg = this.root.querySelector("[data-fights]");
    svg.setAttribute("viewBox", "0 0 " + Math.max(1, this.last) + " 1");
    for (const ply of Object.keys(this.game.views[this.view].words || {})) {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [key, value] of [["x1", ply], ["x2", ply], ["y1", 0], ["y2", 1]]) line.setAttribute(key, value);
      svg.append(line);
    }
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.draw();
    const address = "#ply=" + this.ply + (this.view === this.views[0] ? "" : "&view=" + this.view) + (this.flipped ? "&from=blue" : "");
    history.replaceState(null, "", address);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => (this.ply < this.last ? this.go(this.ply + 1) : this.play(false)), 700) : null;
    this.root.querySelector("[data-go=play]").setAttribute("aria-pressed", String(on));
  }

  act(what) {
    if (what !== "play" && what !== "flip") this.play(false);
    if (what === "first") this.go(0);
    if (what === "back") this.go(this.ply - 1);
    if (what === "next") this.go(this.ply + 1);
    if (what === "last") this.go(this.last);
    if (what === "play") {
      if (this.timer === null && this.ply === this.last) this.go(0);
      this.play(this.timer === null);
    }
    if (what === "flip") {
      this.flipped = !this.flipped;
      this.go(this.ply);
    }
  }

  listen() {
    const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", ArrowUp: "first", ArrowDown: "last", " ": "play", f: "flip" };
    for (const button of this.root.querySelectorAll("[data-go]")) button.addEventListener("click", () => this.act(button.dataset.go));
    this.slider.addEventListener("input", () => { this.play(false); this.go(Number(this.slider.value)); });
    for (const input of this.root.querySelectorAll("input[name=view]")) {
      input.addEventListener("change", () => { this.view = input.value; this.go(this.ply); });
    }
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, pre, summary")) return;
      if (event.key === " " && event.target.closest("button, a")) return;
      const what = keys[event.key];
      if (!what) return;
      event.preventDefault();
      this.act(what);
    });
    window.addEventListener("hashchange", () => this.follow());
  }

  // Go where the address says.
  follow() {
    const asked = parts();
    if (this.views.includes(asked.view)) {
      this.view = asked.view;
      const input = this.root.querySelector("input[name=view][value=" + this.view + "]");
      if (input) input.checked = true;
    }
    this.flipped = asked.from === "blue";
    const ply = Number.parseInt(asked.ply ?? "0", 10);
    this.go(Number.isNaN(ply) ? 0 : ply);
  }
}

function name(square) {
  return "abcdefghij"[square % 10] + ((Math.floor(square / 10) + 1) % 10);
}

async function startReplay(root) {
  const number = Number(root.dataset.game);
  const packed = new Promise((resolve) => loading.set(number, resolve));
  await load(root.dataset.script);
  const game = await unpack(await packed);
  root.replay = new Replay(root, game);
}

// --- the list of games -----------------------------------------------------------------------------------------------

window.arenaList = (games) => { arenaGames = games; };
const SHOWN = 500;

function startFilter(form) {
  const table = document.querySelector("#games tbody");
  const untouched = [...table.rows];
  const asked = parts();
  for (const [field, value] of Object.entries(asked)) if (form.elements[field]) form.elements[field].value = value;
  form.hidden = false;

  async function apply() {
    const values = Object.fromEntries(new FormData(form));
    const has = Object.values(values).some((value) => value !== "");
    const address = Object.entries(values).filter(([, value]) => value !== "").map(([field, value]) => field + "=" + encodeURIComponent(value)).join("&");
    history.replaceState(null, "", address ? "#" + address : location.pathname.split("/").pop());
    document.querySelector(".pages")?.toggleAttribute("hidden", has);
    const status = document.querySelector("#found");
    if (!has) {
      status.textContent = "";
      table.replaceChildren(...untouched);
      return;
    }
    if (!arenaGames) await load(form.dataset.list);
    const { names, reasons, rows } = arenaGames;
    const bot = names.indexOf(values.bot), against = names.indexOf(values.against), reason = reasons.indexOf(values.reason);
    const from = values.from === "" ? 0 : Number(values.from), to = values.to === "" ? Infinity : Number(values.to);
    const found = rows.filter(([, red, blue, result, why, plies]) =>
      (bot < 0 || red === bot || blue === bot) && (against < 0 || ((red === against || blue === against) && (bot < 0 || (bot === against ? red === blue : red === bot || blue === bot))))
      && (!values.result || arenaGames.results[result] === values.result) && (reason < 0 || why === reason) && plies >= from && plies <= to);
    status.textContent = arenaGames.found.replace("%", found.length) + (found.length > SHOWN ? arenaGames.shown.replace("%", SHOWN) : "");
    table.replaceChildren(...found.slice(0, SHOWN).map((game) => row(game)));
  }

  function row([number, red, blue, result, why, plies, has]) {
    const { names, reasons, scores } = arenaGames;
    const made = element("tr");
    const head = element("th", "n");
    head.scope = "row";
    if (has) {
      const link = element("a", "", String(number));
      link.href = "games/" + number + ".html";
      head.append(link);
    } else {
      head.textContent = number;
    }
    made.append(head, element("td", "", names[red]), element("td", "", names[blue]), element("td", "c", scores[result]), element("td", "", reasons[why]), element("td", "n", String(plies)));
    return made;
  }

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => location.reload());
  apply();
}

const replay = document.querySelector("#replay");
if (replay) startReplay(replay).catch((error) => { replay.querySelector("[data-now]").textContent = String(error); });
const filter = document.querySelector("#filter");
if (filter) startFilter(filter);
