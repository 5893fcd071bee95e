// The way through a game.
"use strict";

const PLY_MS = 700, SLIDE_MS = 300, ADDRESS_MS = 200, MOST_BEHIND = 3;
// What uses keys itself: all of them, all but letters, space.
const TYPED = "input:not([type=range], [type=radio]), textarea, select, dialog, .play [role=grid]";
const MOVED = "input, [role=grid], pre, .wide", PRESSED = "button, summary";

let follows = true; // whether later plies are shown as they come
let stepped = 0, looked = null, fights = [], reveals = [];
let playing = null, following = null, addressing = null; // timers

// Show a game, or what was played after its first `since` plies; false if plies between are missing.
function showGame(data, since = 0) {
  if (since && !extendGame(since, data)) return false;
  if (!since) takeGame(data);
  listMoves(!since);
  if (follows) catchUp();
  else go(ply);
  return true;
}

// Show the next ply when the one before has been seen, or the newest if it `isUrgent` or many wait.
function catchUp(isUrgent = false) {
  const behind = last - ply, wait = stepped + (on.pace ?? 0) - Date.now();
  clearTimeout(following);
  if (isUrgent || behind < 1 || behind > MOST_BEHIND) return go(last);
  if (wait > 0) following = setTimeout(catchUp, wait);
  else {
    stepped = Date.now();
    go(ply + 1, true);
    if (behind > 1) catchUp();
  }
}

function draw() {
  const seen = game.views[view], fight = seen.fights?.[ply];
  if (board) showBoard(cellsAt(ply), ply === last ? on.look : undefined, game.marks[ply]);
  else showPicture(seen.texts?.[ply], seen.images?.[ply]);
  SIDES.forEach((side, at) => {
    put("name=" + side, labels[side]);
    part("lost=" + side).replaceChildren(...piecesOf(side, newest(seen.lost)?.[at] ?? ""));
  });
  tellClocks();
  tellPly(fight);
  if (board) tellSquare(looked);
  markPly();
  stage.dataset.ply = ply;
}

function clockText(ms) {
  const left = Math.max(0, ms), seconds = Math.floor(left / 1000);
  return left < 10_000 ? (left / 1000).toFixed(1) : Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
}

function tellClocks() {
  const [clocks = [], passed] = on.clocks?.() ?? [game.banks?.[ply - 1]?.map((left_ms) => ({ left_ms }))];
  SIDES.forEach((side, at) => {
    const { left_ms, bank_ms, runs = false } = clocks[at] ?? {}, left = (left_ms ?? NaN) - (runs ? passed : 0);
    put("clock=" + side, [left, bank_ms].filter(Number.isInteger).map(clockText).join(" + "));
    part("clock=" + side).classList.toggle("runs", runs);
  });
}

function piecesOf(side, letters) {
  return [...(labels.strength ?? "")].filter((letter) => letters.includes(letter)).map((letter) => {
    const count = letters.split(letter).length - 1, times = count > 1 ? "\u00d7" + count : "";
    const item = copyOf(part("lost-piece"), { name: `${labels.pieces[letter][1]} ${times}`.trim(), times });
    item.prepend(pieceImage(side[0] + letter));
    return item;
  });
}

function tellPly(fight) {
  const side = game.sides[ply - 1], action = game.actions[ply - 1];
  const said = (lines, say) => lines.filter(([at]) => Math.min(at, last) === ply).map(say).join("\n");
  const duel = [fight?.attacker, fight?.defender].filter(Boolean);
  put("verdict", ply === last && last ? labels.verdict : "");
  put("what", ply ? fill(texts.now, { ply, last, side: labels[side], action }) : texts.beginning);
  part("what").className = side;
  put("taken", timeOf(ply));
  part("duel").replaceChildren(...duel.map((cell) => pieceImage(cell, "piece", fight.lost.includes(cell))));
  put("events", game.views[view].words?.[ply]);
  put("said", said(game.notes, ([, from, text]) => fill(texts.noted, { side: labels[from], text })));
  put("dialogue", said(game.dialogue, ([, from, who, text]) => `${labels[from] ?? ""} ${who} ${text}`.trim()));
}

function tellSquare(square) {
  looked = square;
  const cell = square ? shown.get(square) : "", { seat, letters } = couldBe(square, cell);
  put("pointed", square ? boxes.get(square).ariaLabel : texts.point);
  put("could", letters && fill(texts.could, { seat: labels[seat] }));
  part("ranks").replaceChildren(...piecesOf(cell, letters));
}

function timeOf(at) {
  const taken = game.taken[at - 1] ?? null;
  return taken === null ? "" : fill(texts.milliseconds, { time: (taken / 10).toFixed(1) });
}

function listMoves(isNew) {
  const list = part("moves"), { fights: fought = {}, words = {} } = game.views[view];
  if (isNew) list.replaceChildren();
  for (let at = list.childElementCount + 1; at <= last; at++) {
    const action = game.actions[at - 1] + (fought[at] ? "\u00a0\u00d7" : words[at] ? "\u00a0!" : "");
    const item = copyOf(part("move"), { number: at + ".", action, time: timeOf(at) });
    set(item.firstChild, { class: game.sides[at - 1], href: "#ply=" + at, "data-ply": at });
    list.append(item);
  }
  drawTimeline();
}

function drawTimeline() {
  const seen = game.views[view], plies = seen.start ? [...Array(last + 1).keys()] : [];
  const count = (fits) => plies.map((at) => [...cellsAt(at).values()].filter((cell) => sideOf(cell) && fits(cell)).length);
  const lines = SIDES.map((side) => count((cell) => sideOf(cell) === side)), hidden = count(isHidden);
  const most = Math.max(1, ...lines.flat()), height = most + 2 - Math.min(most - 1, ...lines.flat());
  const path = (name, parts) => set(part("chart=" + name), { d: parts.join("") });
  fights = Object.keys(seen.fights ?? seen.words ?? {}).map(Number);
  reveals = plies.filter((at) => hidden[at] < hidden[at - 1]);
  path("fights", fights.map((at) => `M${at} -99v100`));
  path("reveals", reveals.map((at) => `M${at} ${-1 - most}v${height / 8}`));
  SIDES.forEach((side, row) => path(side, lines[row].map((pieces, at) => `${at ? "L" : "M"}${at} ${-pieces}`)));
  set(part("timeline").firstElementChild, { viewBox: `-0.5 ${-1 - most} ${last + 1} ${height}` });
  part("slider").max = last;
}

function markPly() {
  const list = part("moves"), item = list.children[ply - 1];
  set(part("chart=here"), { d: `M${ply} -99v100` });
  part("slider").value = ply;
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  item?.firstChild.setAttribute("aria-current", "step");
  list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 : 0;
}

function go(to, isFollowing = to >= last) {
  const before = ply;
  clearTimeout(following);
  ply = Math.max(0, Math.min(last, to));
  follows = isFollowing;
  draw();
  on.shown?.();
  const way = Math.abs(ply - before) === 1 ? Object.keys(game.marks[Math.max(ply, before)] ?? {}).slice(0, 2) : [];
  if (board) showStep(game.views[view].fights?.[ply], ...(before < ply ? way : way.reverse()));
  // Not at each ply while a key is held, which browsers refuse.
  clearTimeout(addressing);
  addressing = setTimeout(() => history.replaceState(null, "", addressOf()), ADDRESS_MS);
}

const addressOf = () => "#" + new URLSearchParams({ ...asked(), ply, view, from: flipped ? "blue" : "red" });

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
  part("now").ariaLive = isGoing ? "off" : "polite"; // or it would never stop announcing
  part("go=play").ariaPressed = isGoing;
}

// What a button does, or `isBack` its key with Shift.
function act(what, isBack = false) {
  if (!game) return;
  const isOn = what === "play" ? !playing : what === "flip" && playing;
  const next = (plies) => (isBack ? plies.findLast((at) => at < ply) : plies.find((at) => at > ply)) ?? ply;
  if (what === "flip") flipped = !flipped;
  const goals = { first: 0, back: ply - 1, next: ply + 1, last, fight: next(fights), reveal: next(reveals) };
  go(goals[what] ?? (isOn && ply === last ? 0 : ply));
  play(isOn);
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event, name = key === " " ? "Space" : CSS.escape(key);
  const button = stage.querySelector(`[aria-keyshortcuts~="${name}"]`);
  if (!button || event.ctrlKey || event.altKey || event.metaKey || target.closest(TYPED)) return;
  if ((key.length > 1 && target.closest(MOVED)) || (key === " " && target.closest(`${MOVED}, ${PRESSED}`))) return;
  event.preventDefault();
  act(button.dataset.go, /^[A-Z]$/.test(key));
});

stage.addEventListener("click", (event) => {
  const { go: what, ply: to } = event.target.closest("[data-go], [data-moves] a")?.dataset ?? {};
  if (what) act(what);
  if (!to || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  play(false);
  go(Number(to));
});

// After a click on a view or speed the arrow keys go through the game.
const release = () => stage.querySelector(":focus:not(:focus-visible)")?.blur();
part("views")?.addEventListener("click", () => setTimeout(release));
part("views")?.addEventListener("change", ({ target }) => look(target.value));
part("speed").addEventListener("change", () => { play(playing); release(); });
part("slider").addEventListener("input", ({ target }) => { play(false); go(Number(target.value)); });
