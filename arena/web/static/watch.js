// A game that is being played, and at its end the replay.
"use strict";

const note = document.querySelector("#note"), live = document.querySelector("#live");
let clocks = [], came = 0;

on.clocks = () => [ply === last ? clocks : [], Date.now() - came];
on.shown = () => { live.ariaPressed = ply === last; };
live.addEventListener("click", () => act("last"));
setInterval(tellClocks, 100);
hearEvents(stage.dataset.events, "board", ({ since, part: more, state }) => {
  if (more && !showGame(more, since)) return "again";
  [clocks, came] = [state.clocks, Date.now()];
  note.textContent = state.note;
  live.hidden = !clocks.length;
  if (state.href) location.replace(state.href + (game ? addressOf() : ""));
  return state.is_last && "over";
}, () => {
  note.textContent ||= stage.dataset.lost;
  live.hidden = true;
  clocks = [];
});
