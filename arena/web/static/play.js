// A person's seat: its state as the arena gives it, and what the person does. A tab needs nothing but the next state.
"use strict";

const PACE_MS = 500, RETRY_MS = 2000; // between the own move and the answer; until the arena is asked again

let answer = {}, state = null, received = 0;
let isOpen = false, isSending = false, loading = Promise.resolve();

const say = (key, values) => fill(texts[key], values);
const refuse = (key, values) => put("refused", key in texts ? say(key, values) : key);
const isOver = () => ["over", "paused"].includes(state?.stage);
const isSettingUp = () => state?.stage === "setting-up";

// Do something with the newest position.
function does(action) {
  refuse("");
  if (!state || isSending || isOver()) return;
  if (!follows) return refuse("is_earlier");
  if (game) catchUp(true);
  action();
  drawPage();
}

const deeds = {
  clear: () => loadRows(""), choose: sendChoice,
  ready: () => (missing() ? refuse("missing", { count: missing() }) : sendSetup(rowsOf())),
};

stage.addEventListener("click", ({ target }) => {
  const button = target.closest("button"), { do: what, opens, letter, body = "{}" } = button?.dataset ?? {};
  if (what || opens) refuse("");
  if (opens) part(opens).showModal();
  else if (what) (deeds[what] ?? (() => send(what, JSON.parse(body))))();
  else if (letter) chooseLetter(letter);
  else if (button?.closest("[data-choices]")) sendAction([{ action: button.textContent }]);
  drawPage();
});

// Send a typed set-up or action. What was refused stays, or what was perhaps meant.
stage.addEventListener("submit", async (event) => {
  const line = event.target.elements.text, text = line?.value.trim();
  if (!line) return; // a dialog's
  event.preventDefault();
  const isDone = await ("rows" in event.target.dataset ? sendSetup(text) : sendTyped(text.replace(/\s+/g, ""), line));
  if (!isDone) line.select();
  else if (line.value.trim() === text) line.value = "";
});

function sendTyped(action, line) {
  const [, from, to] = (board && action.match(/^([a-j]\d+)([a-j]\d+)$/i)) ?? [];
  if (/^resign$/i.test(action)) part("resign-asked").showModal();
  else if (from) refuse("meant", { action: line.value = `${from}-${to}`.toLowerCase() });
  else return !action || send("act", { action, ply: state.plies + 1 });
}

const sendSetup = (rows) => send("setup", { rows: rows.split("/") });

const ask = (address, options) => fetch(address, options)
  .then((got) => (got.ok ? got.json() : { refused: "failed" }), () => ({ refused: "not_sent" }));

// Send something, and return whether it was accepted.
async function send(what, body = {}) {
  if (isSending) return false;
  isSending = true;
  refuse("");
  const headers = { "Content-Type": "application/json" };
  const { refused } = await ask(what, { method: "POST", headers, body: JSON.stringify(body) });
  isSending = false;
  if (refused) refuse(refused);
  else {
    act("last");
    await loadState();
  }
  return !refused;
}

// Ask for the state, one time after the other.
function loadState() {
  loading = loading.then(async () => {
    const got = await ask(`state?since=${last}&begun=${answer.begun ?? 0}`);
    if (!got.refused) update(got);
    else if (!lost()) setTimeout(loadState, RETRY_MS);
  });
  return loading;
}

function update(got) {
  const before = state, { part: more, since } = got;
  // Another game, or it is set up again.
  if (before && (answer.game !== got.game || (game && !more))) return location.reload();
  [answer, state, received] = [got, got.state, Date.now()];
  if (before?.version !== state.version && board) isSettingUp() ? keepDraft() : offer(state.choices);
  if (before?.stage !== state.stage || before.plies !== state.plies) refuse("");
  if (more && !showGame(more, since)) loadState();
  drawPage();
  if (before?.stage !== state.stage) takeFocus();
}

function lost() {
  drawPage();
  return isOver() && !answer.can_repeat && "over";
}

// Focus what can be used now, unless the person is busy elsewhere.
function takeFocus() {
  const at = document.activeElement;
  if (at !== document.body && !at.closest("[hidden]")) return;
  if (board && !isOver()) focusOn(HOME.find((square) => legal[square]) ?? cursor);
  else stage.querySelector("form:not([hidden]) input")?.focus();
}

function drawPage() {
  const focused = document.activeElement;
  put("connection", isOpen ? "" : say(isOver() ? "ended" : state ? "not_connected" : "connecting"));
  if (!state) return;
  Object.assign(stage.dataset, { stage: state.stage, plies: state.plies });
  const now = [state.stage, game && "game", isOver() && game && "views", answer.can_repeat && "repeat"];
  for (const one of stage.querySelectorAll("[data-when]")) {
    one.hidden = !one.dataset.when.split(" ").some((what) => now.includes(what));
  }
  if (game) draw();
  else if (board) showBoard(cellsOfDraft(), lookOf);
  if (board && isSettingUp()) drawTray();
  put("after", answer.after.join("\n"));
  put("status", answer.status);
  drawChoices();
  if (focused.closest("[hidden]")) takeFocus();
}

function drawChoices() {
  const actions = board ? [] : state.choices.slice(0, 200), place = part("choices");
  if (place.dataset.shown === String(actions)) return;
  place.dataset.shown = actions;
  place.replaceChildren(...actions.map((textContent) => Object.assign(document.createElement("button"), { textContent })));
}

flipped = page.seat === "blue";
Object.assign(on, {
  look: lookOf, pace: PACE_MS, clocks: () => [state?.clocks, isOpen ? Date.now() - received : 0],
  shown: () => { refuse(""); stage.toggleAttribute("data-earlier", !follows); },
  chosen: (square) => does(() => choose(square)), key: ({ key }, square) => does(() => typeOn(square, key)),
});
part("presets")?.addEventListener("change", ({ target }) => { loadRows(target.value); target.value = ""; drawPage(); });
hearEvents("events", "state", () => { isOpen = true; return loadState(); }, () => { isOpen = false; return lost(); });
setInterval(tellClocks, 250);
