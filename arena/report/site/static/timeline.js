// The drawing of the whole game: how many pieces both sides have, the time of each action, fights and reveals.
"use strict";

const CHART = 40, PIECES = 26; // heights: of all, and of the part with the pieces

class Timeline {
  constructor(root) {
    this.svg = root.querySelector("svg");
    this.slider = root.querySelector("input");
  }

  draw(positions, view) {
    const { last, game } = positions, walk = "start" in positions.seen(view) ? positions.walk(view) : null;
    const path = (name, d) => svgElement("path", { class: name, d, "vector-effect": "non-scaling-stroke" });
    const all = (walk ?? []).flatMap(({ counts }) => counts), most = Math.max(...all), few = Math.min(...all, most - 1), longest = Math.max(1, ...game.taken);
    const lines = ["red", "blue"].map((side, at) => path(side, (walk ?? []).map(({ counts }, ply) => `${ply ? "L" : "M"}${ply} ${(PIECES - (PIECES - 5) * (counts[at] - few) / (most - few)).toFixed(1)}`).join("")));
    const bars = { red: "", blue: "" };
    game.taken.forEach((taken, at) => {
      const high = (CHART - PIECES - 2) * Math.log1p(taken ?? 0) / Math.log1p(longest);
      bars[positions.side(at + 1)] += `M${at + 1} ${CHART}v${-high.toFixed(2)}`;
    });
    const ticks = (plies, top, high) => plies.map((ply) => `M${ply} ${top}v${high}`).join("");
    const told = Object.keys(positions.seen(view).fights ?? positions.seen(view).words ?? {});
    const reveals = (walk ?? []).flatMap(({ reveals }, ply) => (reveals ? [ply] : []));
    this.fights = told.map(Number);
    this.reveals = reveals;
    this.svg.setAttribute("viewBox", `-0.5 0 ${Math.max(1, last) + 1} ${CHART}`);
    this.svg.replaceChildren(path("fight", ticks(told, 3, PIECES - 3)), ...lines, path("time red", bars.red), path("time blue", bars.blue),
      path("reveal", ticks(reveals, 0, 3)), path("here", `M0 0v${CHART}`));
    this.slider.max = last;
  }

  go(ply, text) {
    this.svg.lastChild?.setAttribute("d", `M${ply} 0v${CHART}`);
    this.slider.value = ply;
    this.slider.setAttribute("aria-valuetext", text);
  }

  // The next ply with a fight or a reveal, or the one before; the present one if there is none.
  next(what, ply, way) {
    const plies = way > 0 ? this[what] : [...this[what]].reverse();
    return plies.find((one) => (one - ply) * way > 0) ?? ply;
  }
}
