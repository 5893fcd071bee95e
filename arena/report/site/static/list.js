// The filter of the list of games. It needs the functions of arena.js.
"use strict";

let arenaGames = null;
window.arenaList = (games) => { arenaGames = games; };
const LISTED = 500;

class Filter {
  constructor(form) {
    this.form = form;
    this.table = document.querySelector("#games tbody");
    this.untouched = [...this.table.rows];
    this.status = document.querySelector("#found");
    form.hidden = false;
    form.addEventListener("input", () => this.apply());
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", () => this.follow());
    this.follow();
  }

  follow() {
    this.form.reset();
    for (const [field, value] of Object.entries(asked())) {
      const input = this.form.elements.namedItem(field);
      if (input) input.value = value;
    }
    this.apply();
  }

  async apply() {
    const values = Object.fromEntries([...new FormData(this.form)].filter(([, value]) => value !== ""));
    const has = Object.keys(values).length > 0;
    history.replaceState(null, "", has ? "#" + new URLSearchParams(values) : location.href.split("#")[0]);
    document.querySelector(".pages")?.toggleAttribute("hidden", has);
    if (!has) {
      this.status.textContent = "";
      this.table.replaceChildren(...this.untouched);
      return;
    }
    if (!arenaGames) await load(this.form.dataset.list);
    const found = this.found(values);
    const words = JSON.parse(this.form.dataset.texts);
    const text = found.length === 1 ? words.one : found.length > LISTED ? words.newest : words.many;
    this.status.textContent = fill(text, { games: found.length, listed: LISTED });
    this.table.replaceChildren(...found.slice(0, LISTED).map((game) => this.row(game)));
  }

  found(values) {
    const { names, reasons, results, rows } = arenaGames;
    const tests = [];
    const wanted = [values.bot, values.against].filter((name) => name !== undefined).map((name) => names.indexOf(name));
    const [one, other] = wanted;
    if (wanted.length === 1) tests.push(([, red, blue]) => red === one || blue === one);
    if (wanted.length === 2) tests.push(([, red, blue]) => (red === one && blue === other) || (red === other && blue === one));
    if (values.result) tests.push((row) => results[row[3]] === values.result);
    if (values.reason) tests.push((row) => reasons[row[4]] === values.reason);
    if (values.from) tests.push((row) => row[5] >= Number(values.from));
    if (values.to) tests.push((row) => row[5] <= Number(values.to));
    return rows.filter((row) => tests.every((test) => test(row)));
  }

  row([number, red, blue, result, why, plies, has]) {
    const { names, reasons, results, scores } = arenaGames;
    const head = element("th", "n", String(number));
    head.scope = "row";
    if (has) {
      const link = element("a", "", String(number));
      link.href = "games/" + number + ".html";
      head.replaceChildren(link);
    }
    const side = (color, name) => element("td", results[result] === color ? "winner" : "", names[name]);
    return element("tr", "", head, side("red", red), side("blue", blue), element("td", "c", scores[result]), element("td", "", reasons[why]), element("td", "n", String(plies)));
  }
}

document.addEventListener("DOMContentLoaded", () => new Filter(document.querySelector("#filter")));
