// The list of games: its filters, its order, and rows that lead to their games.
"use strict";

const LISTED = 500;

let arenaGames = null;
window.arenaList = ({ names, elos, reasons, forfeits, behind, results, scores, first, rows }) => {
  arenaGames = rows.map(([number, red, blue, result, reason, plies, after, hasPage]) => ({
    number, plies, hasPage,
    red: names[red],
    blue: names[blue],
    winner: results[result],
    result: scores[result],
    reason: reasons[reason],
    forfeits: forfeits[reason],
    upsets: ({ red: 1, blue: -1 }[results[result]] || 0) * (elos[blue] - elos[red]),
    comebacks: behind[number] || 0,
    started: first + after,
    date: first + after > 0 ? new Date(1000 * (first + after)).toISOString().slice(0, 16).replace("T", " ") : "",
  }));
};

// The order of what can be chosen as shown; of other choices than lengths, only games with a number above 0 are shown.
const ORDERS = { upsets: "-upsets", shortest: "plies", longest: "-plies", forfeits: "", comebacks: "-comebacks" };

class GameList {
  constructor(form) {
    this.form = form;
    this.texts = JSON.parse(form.dataset.texts);
    this.table = document.querySelector("#games");
    this.body = this.table.tBodies[0];
    this.untouched = [...this.body.rows];
    this.status = document.querySelector("#found");
    for (const head of this.table.tHead.rows[0].cells) this.makeButton(head);
    form.hidden = false;
    form.addEventListener("input", ({ target }) => {
      if (target.name === "shown") form.elements.sort.value = "";
      this.apply();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    this.body.addEventListener("click", (event) => this.follow(event));
    window.addEventListener("hashchange", () => this.read());
    this.read();
  }

  makeButton(head) {
    const button = element("button", "", ...head.childNodes), { sort } = this.form.elements, key = head.dataset.sort;
    button.addEventListener("click", () => {
      sort.value = sort.value === key ? "-" + key : key;
      this.apply();
    });
    head.append(button);
  }

  // A click anywhere on a row leads where its link does.
  follow(event) {
    const link = event.target.closest("tr").querySelector("a[href]");
    const isOther = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.target.closest("a");
    if (link && !isOther && getSelection().isCollapsed) link.click();
  }

  // Take what the address says.
  read() {
    this.form.reset();
    const values = { sort: "", ...asked() };
    for (const field of this.form.elements) if (field.name in values) field.value = values[field.name];
    this.apply();
  }

  async apply() {
    const wanted = Object.fromEntries([...new FormData(this.form)].filter(([, value]) => value));
    const isWanted = Object.keys(wanted).length > 0;
    history.replaceState(null, "", isWanted ? "#" + new URLSearchParams(wanted) : location.href.split("#")[0]);
    document.querySelector(".pages")?.toggleAttribute("hidden", isWanted);
    if (isWanted && !arenaGames) {
      await load(this.form.dataset.list);
      this.apply(); // what is wanted may have changed meanwhile
      return;
    }
    const sort = wanted.sort || ORDERS[wanted.shown] || "";
    for (const head of this.table.tHead.rows[0].cells) {
      head.ariaSort = { [head.dataset.sort]: "ascending", ["-" + head.dataset.sort]: "descending" }[sort] || "none";
    }
    const found = isWanted ? this.found(wanted, sort) : [];
    this.body.replaceChildren(...(isWanted ? found.slice(0, LISTED).map((game) => this.row(game)) : this.untouched));
    const count = found.length === 1 ? "one" : found.length > LISTED ? "newest" : "many";
    const texts = [fill(this.texts[count], { games: found.length, listed: LISTED }), this.texts[wanted.shown]];
    this.status.textContent = isWanted ? texts.filter((text) => text).join("; ") : "";
  }

  found({ bot, against, result, reason, shown, from, to }, sort) {
    const meets = (one, other) => (!bot || bot === one) && (!against || against === other);
    const key = sort.replace("-", ""), order = key === sort ? 1 : -1;
    return arenaGames.filter((game) =>
      (meets(game.red, game.blue) || meets(game.blue, game.red)) &&
      (!result || game.winner === result) &&
      (!reason || game.reason === reason) &&
      (!(shown in game) || game[shown] > 0) &&
      game.plies >= (from || 0) && game.plies <= (to || Infinity),
    ).sort((one, other) => order * (one[key] < other[key] ? -1 : one[key] > other[key] ? 1 : 0));
  }

  row(game) {
    const row = document.querySelector("#game").content.firstElementChild.cloneNode(true);
    for (const place of row.querySelectorAll("[data-put]")) place.textContent = game[place.dataset.put];
    if (game.hasPage) row.querySelector("a").href = "games/" + game.number + ".html";
    row.querySelector("[data-put=" + game.winner + "]")?.parentNode.classList.add("winner");
    return row;
  }
}

document.addEventListener("DOMContentLoaded", () => new GameList(document.querySelector("#filter")));
