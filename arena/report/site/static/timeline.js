// The drawing of the whole game: how many pieces both sides have, the time of each action, fights and reveals.
"use strict";

const CHART = 40, PIECES = 26; // heights: of all, and of the part with the pieces

class Timeline {
  constructor(root) {
    this.svg = root.querySelector("svg");
    this.slider = root.querySelector("input");
  }

  draw(positions, view) {
    const { last, game } = positions, seen = positions.seen(view), walk = "start" in seen ? positions.walk(view) : [];
    const all = walk.flatMap(({ counts }) => counts), most = Math.max(...all), few = Math.min(...all, most - 1), longest = Math.max(1, ...game.taken);
    const path = (name, d) => svgElement("path", { class: name, d, "vector-effect": "non-scaling-stroke" });
    const ticks = (plies, top, high) => plies.map((ply) => `M${ply} ${top}v${high}`).join("");
    const height = (count) => (PIECES - (PIECES - 5) * (count - few) / (most - few)).toFixed(1);
    const line = (at) => walk.map(({ counts }, ply) => `${ply ? "L" : "M"}${ply} ${height(counts[at])}`).join("");
    const bar = (taken, ply) => `M${ply} ${CHART}v${((PIECES + 2 - CHART) * Math.log1p(taken ?? 0) / Math.log1p(longest)).toFixed(2)}`;
    const bars = (side) => game.taken.map((taken, at) => (positions.side(at + 1) === side ? bar(taken, at + 1) : "")).join("");
    this.fights = Object.keys(seen.fights ?? seen.words ?? {}).map(Number);
    this.reveals = walk.flatMap(({ reveals }, ply) => (reveals ? [ply] : []));
    this.svg.setAttribute("viewBox", `-0.5 0 ${Math.max(1, last) + 1} ${CHART}`);
    this.svg.replaceChildren(
      path("fight", ticks(this.fights, 3, PIECES - 3)), path("red", line(0)), path("blue", line(1)),
      path("time red", bars("red")), path("time blue", bars("blue")), path("reveal", ticks(this.reveals, 0, 3)), path("here", ""),
    );
    this.slider.max = last;
  }

  go(ply, text) {
    this.svg.lastChild.setAttribute("d", `M${ply} 0v${CHART}`);
    this.slider.value = ply;
    this.slider.setAttribute("aria-valuetext", text);
  }

  // The next ply with a fight or a reveal, or the one before; the present one if there is none.
  next(what, ply, way) {
    const plies = way > 0 ? this[what] : [...this[what]].reverse();
    return plies.find((one) => (one - ply) * way > 0) ?? ply;
  }
}
