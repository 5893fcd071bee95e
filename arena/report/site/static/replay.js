// The controls: the way through a game, on the pages of replays, of games that are watched, and of persons' seats.
"use strict";

const PLY_MS = 700, SLIDE_MS = 300, ADDRESS_MS = 200, MOST_BEHIND = 3;
const CHART = 40, LINES = 26; // heights of the timeline, and of its part with the pieces
// What has uses of its own for keys: for all of them, for all but letters, for space.
const TYPED = "input:not([type=range], [type=radio]), textarea, select, dialog, .play [role=grid]";
const MOVED = "input, [role=grid], pre, .wide", PRESSED = "button, summary";

// `on` may have look(square) for the newest position, and shown(). In a game that goes on (`isLive`) later plies follow
// each other after `pace` milliseconds, if the reader `follows`.
let on = {}, follows = true, stepped = 0, looked = null;
let playing = null, following = null, addressing = null; // timers
let fights = [], reveals = [];

// Show a game; also instead of one, when it was begun again or there is more to be seen.
function begin(data, options = on) {
  const isFirst = !game;
  on = options;
  takeGame(data);
  listMoves(true);
  if (isFirst) listen();
  if (isFirst && !on.isLive) readAddress();
  else if (isFirst) go(last);
  else if (follows) catchUp();
  else go(ply);
}

// Add later plies; false if plies between are missing.
function extend(since, more) {
  if (!extendGame(since, more)) return false;
  listMoves();
  if (follows) catchUp();
  else draw();
  return true;
}

// Show the next ply when the one before has been seen; if there are many or it `isUrgent`, the newest.
function catchUp(isUrgent = false) {
  const behind = last - ply, wait = stepped + (on.pace ?? 0) - Date.now();
  clearTimeout(following);
  if (isUrgent || behind < 1 || behind > MOST_BEHIND) return go(last);
  if (wait > 0) return (following = setTimeout(catchUp, wait));
  stepped = Date.now();
  go(ply + 1, true);
  if (behind > 1) catchUp();
}

// --- what is shown

// Draw the position, which follows what was shown `before`; the same position again if that is null.
function draw(before = null) {
  const { fights: fought, texts: written, images } = game.views[view], fight = fought?.[ply];
  const [from, to] = Math.abs(ply - before) === 1 ? Object.keys(game.marks[Math.max(ply, before)] ?? {}) : [];
  const slide = before === null ? null : before < ply ? [from, to] : [to, from];
  if (board) showBoard(cellsAt(ply), { marks: game.marks[ply], fight, slide, look: ply === last ? on.look : undefined });
  else showPicture(written?.[ply], images?.[ply]);
  tellPlayers();
  tellPly(fight);
  if (board) tellSquare(looked);
  markPly();
  stage.dataset.ply = ply;
  on.shown?.();
}

function clockText(ms) {
  const left = Math.max(0, ms), seconds = Math.floor(left / 1000);
  return left < 10_000 ? (left / 1000).toFixed(1) : Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
}

// The clocks as of so long ago: for Red and Blue the milliseconds left, whether it runs, and the bank.
function tellClocks(clocks, passed = 0) {
  for (const clock of stage.querySelectorAll("[data-clock]")) {
    const [left = null, runs, bank] = clocks[clock.parentNode.dataset.side === "red" ? 0 : 1] ?? [];
    clock.classList.toggle("runs", Boolean(runs));
    clock.textContent = [runs && left !== null ? left - passed : left, bank].filter(Number.isInteger).map(clockText).join(" + ");
  }
}

function tellPlayers() {
  const lost = newest(game.views[view].lost) ?? ["", ""];
  for (const line of stage.querySelectorAll("[data-player]")) {
    const side = (line.dataset.player === "near") !== flipped ? "red" : "blue";
    line.dataset.side = side;
    line.querySelector("[data-name]").textContent = labels[side];
    line.querySelector("[data-lost]").replaceChildren(...piecesOf(side, lost[side === "red" ? 0 : 1]));
  }
  if (!on.isLive) tellClocks(game.banks?.[ply - 1]?.map((bank) => [bank]) ?? []);
}

function piecesOf(side, letters) {
  return [...(labels.strength ?? "")].filter((letter) => letters.includes(letter)).map((letter) => {
    const count = letters.split(letter).length - 1, times = count > 1 ? "\u00d7" + count : "";
    const title = `${labels.pieces[letter][1]} ${times}`.trim();
    return element("li", { title }, pieceImage(side[0] + letter), element("span", { class: "hidden" }, title), times);
  });
}

function tellPly(fight) {
  const side = game.sides[ply - 1], told = game.views[view].words?.[ply], action = game.actions[ply - 1];
  const isHere = ([at]) => at === ply || (at > last && ply === last);
  const line = (name, ...children) => element("p", { class: name }, ...children);
  const what = ply ? fill(texts.now, { ply, last, side: labels[side], action }) : texts.beginning;
  const duel = [fight?.attacker, fight?.defender].filter(Boolean).map((cell) => pieceImage(cell, false, fight.lost.includes(cell)));
  put("now",
    ...(last && ply === last && labels.verdict ? [line("verdict", labels.verdict)] : []),
    line(side ? "what side " + side : "what", what, " ", element("span", { class: "time" }, timeOf(ply))),
    ...(told ? [line("told", element("span", { class: "duel" }, ...duel), told)] : []),
    ...game.notes.filter(isHere).map(([, from, text]) => line("said", fill(texts.noted, { side: labels[from], text }))),
  );
  const said = game.dialogue.filter(isHere).map(([, from, who, text]) => `${labels[from] ?? ""} ${who} ${text}`.trim());
  put("dialogue", said.join("\n"));
}

// Tell of a square that is pointed at, and which ranks an unknown piece may have.
function tellSquare(square) {
  looked = square;
  const cell = square ? shown.get(square) : "", { seat, letters } = couldBe(square, cell);
  const could = element("ul", { class: "losses" }, ...piecesOf(cell, letters)), words = fill(texts.could, { seat: labels[seat] });
  put("about", square ? boxes.get(square).ariaLabel : texts.point, ...(letters ? [element("p", {}, words), could] : []));
}

function timeOf(at) {
  const taken = game.taken[at - 1] ?? null;
  return taken === null ? "" : fill(texts.milliseconds, { time: (taken / 10).toFixed(1) });
}

function listMoves(isNew = false) {
  const list = part("moves"), { fights: fought = {}, words = {} } = game.views[view];
  if (isNew) list.replaceChildren();
  for (let at = list.childElementCount + 1; at <= last; at++) {
    const action = game.actions[at - 1] + (fought[at] ? "\u00a0\u00d7" : words[at] ? "\u00a0!" : "");
    const told = Object.entries({ number: at + ".", action, time: timeOf(at) });
    const spans = told.map(([name, text]) => element("span", { class: name }, text));
    const link = { class: "side " + game.sides[at - 1], href: "#ply=" + at, "data-ply": at, title: words[at] ?? "" };
    list.append(element("li", {}, element("a", { ...link, tabindex: -1 }, ...spans))); // the arrows lead through hundreds
  }
  drawTimeline();
}

// How many pieces both sides have, the time of each action, fights, and where fewer ranks are hidden than before.
function drawTimeline() {
  const seen = game.views[view], sides = Object.keys(OTHER), plies = seen.start ? [...Array(last + 1).keys()] : [];
  const boards = plies.map((at) => [...cellsAt(at).values()].filter(sideOf));
  const counts = sides.map((side) => boards.map((cells) => cells.filter((cell) => sideOf(cell) === side).length));
  const hidden = boards.map((cells) => cells.filter(isHidden).length);
  const few = Math.min(...counts.flat()), most = Math.max(few + 1, ...counts.flat()), longest = Math.max(1, ...game.taken);
  const path = (name, ...parts) => element("path", { class: name, d: parts.join("") });
  const tick = (at, top, high) => `M${at} ${top}v${high}`;
  const level = (count) => LINES - (LINES - 5) * (count - few) / (most - few);
  const bar = (taken) => (LINES + 2 - CHART) * Math.log1p(taken) / Math.log1p(longest);
  fights = Object.keys(seen.fights ?? seen.words ?? {}).map(Number);
  reveals = plies.filter((at) => hidden[at] < hidden[at - 1]);
  const timesOf = (side) => game.taken.map((taken, at) => (game.sides[at] === side ? tick(at + 1, CHART, bar(taken)) : ""));
  const chart = element("svg", { viewBox: `-0.5 0 ${Math.max(last, 1) + 1} ${CHART}`, preserveAspectRatio: "none", ...UNSAID },
    path("fight", ...fights.map((at) => tick(at, 3, LINES - 3))), path("reveal", ...reveals.map((at) => tick(at, 0, 3))),
    ...counts.map((line, row) => path(sides[row], ...line.map((count, at) => `${at ? "L" : "M"}${at} ${level(count)}`))),
    ...sides.map((side) => path("time " + side, ...timesOf(side))),
    path("here"),
  );
  part("timeline").firstChild.replaceWith(chart);
  part("slider").max = last;
}

function markPly() {
  const list = part("moves"), item = list.children[ply - 1], slider = part("slider");
  part("timeline").querySelector(".here").setAttribute("d", `M${ply} 0v${CHART}`);
  slider.value = ply;
  slider.ariaValueText = texts.ply + " " + ply;
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  item?.firstChild.setAttribute("aria-current", "step");
  list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 : 0;
}

// --- what is done

function go(to, isFollowing = to >= last) {
  const before = ply;
  clearTimeout(following);
  ply = Math.max(0, Math.min(last, to));
  follows = isFollowing;
  draw(before);
  // Not at each ply while a key is held, which browsers refuse.
  clearTimeout(addressing);
  if (!on.isLive) addressing = setTimeout(() => history.replaceState(null, "", addressOf()), ADDRESS_MS);
}

function addressOf() {
  const { game: number } = asked(); // on a page for any game
  const seen = view === Object.keys(game.views)[0] ? {} : { view }, from = flipped ? { from: "blue" } : {};
  return "#" + new URLSearchParams({ ...(number && { game: number }), ply, ...seen, ...from });
}

function readAddress() {
  const { ply: to, view: seen, from } = asked();
  flipped = from === "blue";
  if (seen in game.views) look(seen);
  go(Number.parseInt(to, 10) || 0);
}

function look(seen) {
  view = seen;
  for (const input of stage.querySelectorAll("[name=view]")) input.checked = input.value === view;
  listMoves(true);
  go(ply);
}

function play(isOn) {
  const isGoing = isOn && ply < last, pause = (fights.includes(ply) ? 2 : 1) * PLY_MS / part("speed").value;
  clearTimeout(playing);
  slideMs = Math.min(SLIDE_MS, 0.8 * pause);
  playing = isGoing ? setTimeout(() => { go(ply + 1); play(true); }, pause) : null;
  part("now").ariaLive = isGoing ? "off" : "polite"; // it would never come to an end of announcing
  part("go=play").ariaPressed = isGoing;
}

// What a button does, or `isBack` its key with Shift.
function act(what, isBack = false) {
  const isOn = what === "play" ? !playing : what === "flip" && playing;
  const next = (plies) => (isBack ? plies.findLast((at) => at < ply) : plies.find((at) => at > ply)) ?? ply;
  if (what === "flip") flipped = !flipped;
  const goals = { first: 0, back: ply - 1, next: ply + 1, last, fight: next(fights), reveal: next(reveals) };
  go(goals[what] ?? (isOn && ply === last ? 0 : ply));
  play(isOn);
}

function hearKeys(event) {
  const { key, target } = event, name = key === " " ? "Space" : CSS.escape(key);
  const button = stage.querySelector(`[aria-keyshortcuts~="${name}"]`);
  if (!button || event.ctrlKey || event.altKey || event.metaKey || target.closest(TYPED)) return;
  if ((key.length > 1 && target.closest(MOVED)) || (key === " " && target.closest(`${MOVED}, ${PRESSED}`))) return;
  event.preventDefault();
  act(button.dataset.go, /^[A-Z]$/.test(key));
}

function listen() {
  // After a click the arrow keys go through the game; with the keyboard they choose another view or speed.
  const release = () => stage.querySelector(":is([name=view], [data-speed]):focus:not(:focus-visible)")?.blur();
  hears.looked ??= tellSquare;
  part("speed").addEventListener("change", () => { play(playing); release(); });
  part("slider").addEventListener("input", ({ target }) => { play(false); go(Number(target.value)); });
  part("views")?.addEventListener("change", ({ target }) => look(target.value));
  part("views")?.addEventListener("click", () => setTimeout(release));
  stage.addEventListener("click", (event) => {
    const { go: what, ply: to } = event.target.closest("[data-go], [data-moves] a")?.dataset ?? {};
    if (what) act(what);
    if (!to || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    play(false);
    go(Number(to));
  });
  document.addEventListener("keydown", hearKeys);
  window.addEventListener("hashchange", readAddress);
}
