// The texts that the page says itself, and how lines and clocks are put on it. What is in braces is filled in.

import { element } from "./play-board.js";

const WORDS = {
  connecting: "Connecting with the arena.",
  not_connected: "Not connected. The page tries again; if the command that plays this game has ended, start it again.",
  not_sent: "That could not be sent: there is no connection with the arena.",
  failed: "The arena did not take that ({status}). Load the page again.",
  not_fetched: "That position cannot be shown now: there is no connection with the arena.",
  red: "Red",
  blue: "Blue",
  you: "You",
  is_you: " (you)",
  own: "{square}, your {piece}",
  is_shown: "known to the enemy",
  theirs: "{square}, enemy {piece}",
  empty: "{square}, empty",
  lake: "{square}, lake",
  unknown: "unknown piece",
  unknown_moved: "unknown piece that has moved",
  unknown_still: "unknown piece that has not moved",
  could_be: "{label}. It can be: {pieces}.",
  details_hint: "Point at a square, or go to it, to read what is known of it.",
  lost_by: "Pieces lost by {player}",
  hidden: "Enemy pieces that are not known ({count})",
  attacks: "attacks",
  placed: "{piece} on {square}; {left} to place",
  swapped: "{piece} on {square}, {other} on {from}",
  removed: "{piece} taken from {square}; {left} to place",
  held: "{piece} taken up",
  picked: "{label}, taken up",
  home_empty: "{square}, empty, one of your squares",
  not_yours: "{square}, not one of your rows",
  not_home: "{square} is not on your four rows.",
  take_first: "Choose a piece first, then its square.",
  none_left: "Each {piece} is on the board already.",
  in_tray: "{number} ×{left}, {piece}, key {key}",
  tray_title: "{piece} (key {key})",
  one_missing: "1 piece is still to be placed.",
  missing: "{count} pieces are still to be placed.",
  all_placed: "All pieces are placed.",
  plain_setting_up: "Set up: you play {color}.",
  plain_ready: "You have set up. Waiting for {opponent}.",
  stage_starting: "{opponent} is getting ready.",
  stage_setting_up: "Set up your army: you play {color}.",
  stage_ready: "Your army is set up. Waiting for {opponent}.",
  stage_moving: "Your turn (ply {ply}).",
  stage_waiting: "Waiting for {opponent} to move.",
  stage_over: "The game is over.",
  stage_paused: "The game is paused and saved.",
  result_win: "You have won: {words}.",
  result_loss: "You have lost: {words}.",
  result_draw: "Drawn: {words}.",
  has_resigned: "You have resigned; that counts as soon as it is your turn.",
  played: "{player}: {action}.",
  played_words: "{player}: {action}; {words}.",
  is_held: "taken up",
  may_move: "may move to {targets}",
  target_free: "the piece from {from} may move here",
  target_attack: "the piece from {from} may attack this",
  mark_from: "the last move began here",
  mark_to: "the last move led here",
  mark_lost: "a piece was lost here",
  mark_lost_from: "the piece that attacked from here was lost",
  held_targets: "{piece} taken up; it may move to {targets}",
  put_back: "put back",
  no_way: "The piece from {from} cannot go to {to}, only to {targets}.",
  not_your_turn: "It is not your turn.",
  cannot_move: "The {piece} on {square} cannot move now.",
  take_own: "Choose one of your own pieces first.",
  moves: "Moves ({count})",
  ply_now: "After ply {ply}: the board as it is now.",
  ply_earlier: "As you knew it after ply {ply} of {plies}.",
  is_earlier: "This is an earlier board. To play, go to the board as it is now (Escape).",
  field_way: "How",
  field_guess: "It is a",
  field_back: "Bring back",
  field_at: "On square",
  way_straight: "straight on",
  way_over: "over {square}",
  way_guess: "no move: guess what it is",
  back_nobody: "nobody",
  showing_setups: "The set-ups, as the game began.",
  ended: "The command that played this game has ended. What is here stays to be read.",
};

// A text of the page, with its values in place.
export function say(key, values = {}) {
  return WORDS[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

// Put lines into an element, if they are not there: a live region says only what has changed.
export function setLines(place, lines) {
  const text = lines.join("\n");
  if (place.dataset.text === text) return;
  place.dataset.text = text;
  place.replaceChildren(...lines.map((line) => element("span", "line", line)));
}

// Show where the game stands, after other lines: its result, or what is to be done `now`.
export function showStatus(place, state, { now, title, before = [] }) {
  const lines = [...before, state.end ? say("result_" + state.end.result, { words: state.end.words.replace(/\.$/, "") }) : now];
  if (state.resigns && !state.end) lines.push(say("has_resigned"));
  if (state.remark) lines.push(state.remark);
  setLines(place, lines);
  document.title = (state.stage === "moving" || state.stage === "setting-up" ? "\u25cf " : "") + title;
}

// Whether no more is to come; a state is null before the first has come.
export function isOver(state) {
  return ["over", "paused"].includes(state?.stage);
}

// Show what a missing connection means, if it is missing.
export function showConnection(place, isConnected, state) {
  place.textContent = isConnected ? "" : say(isOver(state) ? "ended" : state ? "not_connected" : "connecting");
  place.hidden = isConnected;
}

function timeText(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return (hours ? hours + ":" + two(Math.floor(seconds / 60) % 60) : Math.floor(seconds / 60)) + ":" + two(seconds % 60);
}

// Show a clock that was told at this time of the page, from when it runs here; null: it stands still, without a connection.
export function showClock(place, clock, since) {
  const passed = clock?.runs && since !== null ? performance.now() - since : 0;
  const left = clock && clock.left_ms !== null ? Math.max(0, clock.left_ms - passed) : null;
  const bank = clock?.bank_ms ?? null;
  const text = left === null ? "" : timeText(left) + (bank === null ? "" : " + " + timeText(bank));
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
  place.classList.toggle("runs", Boolean(clock?.runs));
  place.classList.toggle("short", left !== null && left < 10000);
}
