// A game that is being played: its moves as they come, the clocks, and at the end its replay.
"use strict";

const note = document.querySelector("#note"), live = document.querySelector("#live");
let clocks = [], came = 0;

// Whether the newest ply is shown, and the clocks at it.
function tellNewest() {
  live.ariaPressed = ply === last;
  tellClocks(ply === last ? clocks : [], Date.now() - came);
}

live.addEventListener("click", () => act("last"));
setInterval(tellNewest, 100);
hearEvents(stage.dataset.events, "board", ({ since, part: more, state }) => {
  if (more && since && !(game && extend(since, more))) return "again";
  if (more && !since) begin(more, { isLive: true, shown: tellNewest });
  [clocks, came] = [state.clocks, Date.now()];
  note.textContent = state.note;
  live.hidden = !clocks.length;
  if (state.href) location.replace(state.href + (game ? addressOf() : ""));
  return state.is_last && "over";
}, () => { // without a connection nothing is known of the clocks
  note.textContent ||= stage.dataset.lost;
  live.hidden = true;
  clocks = [];
});
