// A game that is being played: its moves as they come, the clocks, and at the end its replay.
"use strict";

(() => {
  const root = document.querySelector("#watched"), note = document.querySelector("#note"), live = document.querySelector("#live");
  let replay = null, clocks = [], came = 0;

  // Whether the newest ply is shown, and the clocks at it.
  function tell() {
    live.ariaPressed = replay?.ply === replay?.last;
    tellClocks(root, live.ariaPressed === "true" ? clocks : [], Date.now() - came);
  }

  live.addEventListener("click", () => replay.act("last"));
  setInterval(tell, 100);
  hearEvents(root.dataset.events, "board", ({ since, part, state }) => {
    if (part && since && !replay?.extend(since, part)) return "again";
    if (part && !since && replay) replay.take(part);
    else if (part && !since) replay = new Replay(root, part, { isLive: true, shown: tell });
    [clocks, came] = [state.clocks, Date.now()];
    note.textContent = state.note;
    live.hidden = !clocks.length;
    if (state.href) location.replace(state.href + (replay?.hash() ?? ""));
    return state.is_last && "over";
  }, () => { // without a connection nothing is known of the clocks
    note.textContent ||= root.dataset.lost;
    live.hidden = true;
    clocks = [];
  });
})();
