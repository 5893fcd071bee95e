// A game that is being played: its moves as they come, the clocks, and at the end its replay.
"use strict";

class Watched {
  constructor(root) {
    this.root = root;
    this.note = document.querySelector("#note");
    this.live = document.querySelector("#live");
    this.clocks = [];
    this.live.addEventListener("click", () => this.replay.go(this.replay.last));
    setInterval(() => this.tell(), 100);
    hearEvents(root.dataset.events, "board", (told) => this.hear(told), () => this.lose());
  }

  hear({ since, part, state }) {
    if (part && !this.add(since, part)) return "again";
    this.clocks = state.clocks;
    this.came = Date.now();
    this.note.textContent = state.note;
    this.live.hidden = !state.clocks.length;
    if (state.href) location.replace(state.href + (this.replay?.hash() ?? ""));
    return state.is_last ? "over" : "";
  }

  // Without a connection nothing is known of the clocks.
  lose() {
    this.note.textContent ||= this.root.dataset.lost;
    this.live.hidden = true;
    this.clocks = [];
  }

  // Add plies; false if some before them are missing.
  add(since, part) {
    if (since) return this.replay?.extend(since, part);
    const old = this.replay, follows = old?.ply === old?.last; // a new viewer does, too
    this.replay ??= new Replay(this.root, part, { shown: () => this.tell() });
    old?.take(part);
    this.replay.go(follows ? this.replay.last : this.replay.ply);
    return true;
  }

  // Tell whether the newest ply is shown, and the clocks at it.
  tell() {
    const { replay, clocks } = this, isNow = replay?.ply === replay?.last;
    this.live.setAttribute("aria-pressed", isNow);
    if (isNow) tellClocks(this.root, clocks, Date.now() - this.came);
  }
}

new Watched(document.querySelector("#watched"));
