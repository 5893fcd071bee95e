// The page of a person's seat: its state as the arena gives it, and what the person does, sent back. A tab that was
// closed, or has lost its connection, needs nothing but the next state.
"use strict";

const PACE_MS = 500, RETRY_MS = 2000; // between the own move and the answer; and until the arena is asked again

let answer = {}, state = null, received = 0, shownPly = 0;
let isOpen = false, isSending = false, loading = Promise.resolve();

const say = (key, values) => fill(texts[key], values);
const refuse = (key, values) => put("refused", key in texts ? say(key, values) : key);
const isOver = () => ["over", "paused"].includes(state?.stage);
const isSettingUp = () => state?.stage === "setting-up";

// --- what the person does

// Do something with the newest position, unless an earlier one is looked at.
function does(action) {
  refuse("");
  if (!state || isSending || isOver()) return;
  if (game && !follows) return refuse("is_earlier");
  if (game) catchUp(true);
  action();
  drawPage();
}

function hearBoardKey({ key }, square) {
  if (key === "Escape") held = null;
  else if (isSettingUp()) typePiece(key.toUpperCase(), square);
}

const choose = (square) => (isSettingUp() ? choosePlace(square) : chooseMove(square));
const lookOf = (square) => (isSettingUp() ? lookOfPlace(square) : lookOfMove(square));

function dropped({ square, tray } = {}) {
  if (square) choose(square);
  else if (tray === "" && held?.square && isSettingUp()) putPiece(null, held);
  held = null;
}

// Do what a button says; with some, after a question.
async function doAs({ do: what, body = "{}" }) {
  const question = part(what + "-asked");
  refuse("");
  if (question && !(await confirmed(question))) return;
  if (what === "random" && board) shuffle();
  else if (what === "clear") loadRows("");
  else if (what !== "ready") send(what, JSON.parse(body));
  else if (missing()) refuse("missing", { count: missing() });
  else sendSetup(rowsOf());
  drawPage();
}

// Send what was typed: a set-up or an action. What was refused stays, or what was perhaps meant.
async function submit(event) {
  const line = event.target.elements.text, text = line?.value.trim();
  if (!line) return; // a dialog's
  event.preventDefault();
  line.value = "";
  const isDone = "rows" in event.target.dataset ? await sendSetup(text) : !text || (await sendTyped(text, line));
  if (isDone) return;
  line.value ||= text;
  line.select(); // what is typed next takes its place
}

function sendTyped(text, line) {
  const action = text.replace(/\s+/g, "");
  const [, from, to] = (board && action.toLowerCase().match(/^([a-j]\d+)([a-j]\d+)$/)) ?? [];
  if (action.toLowerCase() === "resign") return doAs({ do: "resign" }).then(() => true);
  if (!from) return send("act", { action, ply: state.plies + 1 });
  line.value = `${from}-${to}`;
  refuse("meant", { action: line.value });
  return false;
}

const sendSetup = (rows) => send("setup", { rows: rows.split("/") });

async function sendAction(choices) {
  const next = state.plies + 1; // while the dialog is open, another tab may play on
  const action = choices.length > 1 || choices[0].guessed ? await askWhich(part("choice"), choices) : choices[0].action;
  held = null;
  if (action) await send("act", { action, ply: next });
  drawPage();
}

// --- between the page and the arena

// Send something, and give whether it was taken. What is refused is told, in the words of the arena or the page.
async function send(what, body = {}) {
  if (isSending) return false;
  isSending = true;
  refuse("");
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const got = await fetch(what, options).catch(() => null);
  const refused = !got ? "not_sent" : got.ok ? (await got.json()).refused : "failed";
  isSending = false;
  if (refused) refuse(refused);
  else {
    if (game) act("last");
    await loadState();
  }
  return !refused;
}

// Ask for the state, one time after the other.
function loadState() {
  loading = loading.then(async () => {
    const asking = fetch(`state?since=${last}&begun=${answer.begun ?? 0}`).then((found) => found.ok && found.json());
    const got = await asking.catch(() => null);
    if (got) update(got);
    else if (!lost()) setTimeout(loadState, RETRY_MS);
  });
  return loading;
}

function update(got) {
  const before = state, { begun, game: id } = answer, { part: more, since } = got;
  if (before && (id !== got.game || (game && !more))) return location.reload(); // another game, or it is set up again
  [answer, state, received] = [got, got.state, Date.now()];
  if (before?.version !== state.version) offer(board ? state.choices : []);
  if (before?.stage !== state.stage || before.plies !== state.plies) refuse("");
  if (more && (!since || begun !== got.begun)) begin(more, { isLive: true, pace: PACE_MS, look: lookOf, shown: tellWhere });
  else if (more && !extend(since, more)) loadState();
  drawPage();
  if (before?.stage !== state.stage) takeFocus();
}

function lost() {
  tellConnection();
  return isOver() && !answer.can_repeat && "over";
}

// The keyboard goes where something can be done now, unless the person is busy elsewhere.
function takeFocus() {
  const at = document.activeElement;
  if (at !== document.body && !at.closest("[hidden]")) return;
  if (board && !isOver()) focusOn(HOME.find((square) => legal[square]) ?? cursor);
  else stage.querySelector("form:not([hidden]) input")?.focus();
}

// --- what is to be seen

function drawPage() {
  const focused = document.activeElement;
  tellConnection();
  if (!state) return;
  Object.assign(stage.dataset, { stage: state.stage, plies: state.plies });
  const now = [state.stage, game && "game", isOver() && game && "views", answer.can_repeat && "repeat"];
  for (const one of stage.querySelectorAll("[data-when]")) {
    one.hidden = !one.dataset.when.split(" ").some((what) => now.includes(what));
  }
  if (game) draw();
  else if (board) showBoard(cellsOfDraft(), { look: lookOf });
  if (board && isSettingUp()) drawTray();
  put("after", answer.after.join("\n"));
  tellStatus();
  drawChoices();
  tellTimes();
  if (focused.closest("[hidden]")) takeFocus();
}

function tellWhere() {
  if (shownPly !== ply && !follows) refuse("");
  shownPly = ply;
  stage.toggleAttribute("data-earlier", !follows);
  put("where", follows ? "" : say("ply_earlier", { ply, last }));
}

function tellStatus() {
  const { stage: now, plies, players, end, resigns, remark } = state, mine = page.seat === "red" ? 0 : 1;
  const values = { opponent: players[1 - mine], color: page.seats[mine], ply: plies + 1, words: end?.words.replace(/\.$/, "") };
  const lines = [say(end ? "result_" + end.result : "stage_" + now, values), resigns && !end && say("has_resigned"), remark];
  put("status", lines.filter(Boolean).join("\n"));
  document.title = (/moving|setting-up/.test(now) ? "\u25cf " : "") + page.title;
}

function drawChoices() {
  const actions = board ? [] : state.choices.slice(0, 200), place = part("choices");
  const hadFocus = place.contains(document.activeElement);
  if (place.dataset.shown === String(actions)) return;
  place.dataset.shown = actions;
  place.replaceChildren(...actions.map((action) => element("button", {}, action)));
  if (hadFocus) (place.firstChild ?? part("typed").elements.text).focus();
}

function tellConnection() {
  put("connection", isOpen ? "" : say(isOver() ? "ended" : state ? "not_connected" : "connecting"));
}

// Clocks are as of when the state came; from then on they run here, to be looked at.
function tellTimes() {
  const clocks = state?.clocks.map(({ left_ms, runs, bank_ms }) => [left_ms, runs, bank_ms]) ?? [];
  tellClocks(clocks, isOpen ? Date.now() - received : 0);
}

flipped = page.seat === "blue";
Object.assign(hears, {
  chosen: (square) => does(() => choose(square)), key: (event, square) => does(() => hearBoardKey(event, square)),
  looked: (square) => game && tellSquare(square),
});
stage.addEventListener("click", ({ target }) => {
  const button = target.closest("button"), { do: what, letter } = button?.dataset ?? {};
  if (what) doAs(button.dataset);
  else if (letter) chooseLetter(letter);
  else if (button?.closest("[data-choices]")) sendAction([{ action: button.textContent }]);
  drawPage();
});
stage.addEventListener("submit", submit);
part("presets")?.addEventListener("change", ({ target }) => { loadRows(target.value); target.value = ""; drawPage(); });
hearEvents("events", "state", () => { isOpen = true; return loadState(); }, () => { isOpen = false; return lost(); });
setInterval(tellTimes, 250);
