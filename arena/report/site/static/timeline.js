// The drawing of the whole game: how many pieces both sides have, the time of each action, fights and reveals.
"use strict";

const CHART = 40, PIECES = 26; // heights: of all, and of the part with the pieces

class Timeline {
  constructor(root) {
    this.svg = root.querySelector("svg");
    this.slider = root.querySelector("input");
  }

  draw({ last, game }, seen, counts) {
    this.fights = Object.keys(seen.fights ?? seen.words ?? {}).map(Number);
    this.reveals = counts.flatMap(({ hidden }, ply) => (hidden < counts[ply - 1]?.hidden ? [ply] : []));
    const all = counts.flatMap(({ red, blue }) => [red, blue]), few = Math.min(...all), most = Math.max(few + 1, ...all);
    const longest = Math.log1p(Math.max(1, ...game.taken));
    const path = (name, d) => element("path", { class: name, d });
    const ticks = (plies, top, high) => plies.map((ply) => `M${ply} ${top}v${high}`).join("");
    const line = (side) => counts.map((count, ply) => `${ply ? "L" : "M"}${ply} ${PIECES - (PIECES - 5) * (count[side] - few) / (most - few)}`);
    const bar = (ply) => ticks([ply], CHART, (PIECES + 2 - CHART) * Math.log1p(game.taken[ply - 1] ?? 0) / longest);
    const bars = (side) => game.sides.map((mover, at) => (mover === side ? bar(at + 1) : ""));
    this.svg.setAttribute("viewBox", `-0.5 0 ${Math.max(last, 1) + 1} ${CHART}`);
    this.svg.replaceChildren(
      path("fight", ticks(this.fights, 3, PIECES - 3)), path("reveal", ticks(this.reveals, 0, 3)),
      ...Object.keys(OTHER).flatMap((side) => [path(side, line(side).join("")), path("time " + side, bars(side).join(""))]), path("here", ""),
    );
    this.slider.max = last;
  }

  go(ply, text) {
    this.svg.lastChild.setAttribute("d", `M${ply} 0v${CHART}`);
    this.slider.value = ply;
    this.slider.setAttribute("aria-valuetext", text);
  }

  // The next ply with a fight or a reveal, or the one before; the present one if there is none.
  next(plies, ply, way) {
    return (way > 0 ? plies.find((one) => one > ply) : plies.findLast((one) => one < ply)) ?? ply;
  }
}
