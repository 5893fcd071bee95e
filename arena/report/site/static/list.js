// The list of games: its filters, its order, and rows that lead to their games.
"use strict";

const LISTED = 500;
// The order of what can be chosen as shown. But for lengths, only games are shown that have more than 0 of it.
const ORDERS = { upsets: "-upsets", shortest: "plies", longest: "-plies", forfeits: "", comebacks: "-comebacks" };

const filter = document.querySelector("#filter");
const heads = document.querySelectorAll("#games [data-sort]");
const list = document.querySelector("#games tbody");
let unfiltered = [...list.rows];

let allGames = null;
window.arenaList = ({ names, elos, reasons, forfeits, behind, results, scores, first, rows }) => {
  allGames = rows.map(([number, red, blue, result, reason, plies, after, hasPage]) => ({
    number, plies, hasPage,
    red: names[red],
    blue: names[blue],
    winner: results[result],
    result: scores[result],
    reason: reasons[reason],
    started: first + after,
    forfeits: forfeits[reason],
    upsets: ({ red: 1, blue: -1 }[results[result]] || 0) * (elos[blue] - elos[red]),
    comebacks: behind[number] || 0,
  }));
};

function makeRow(game) {
  const row = document.querySelector("#game").content.firstElementChild.cloneNode(true);
  const date = game.started > 0 ? new Date(1000 * game.started).toISOString().slice(0, 16).replace("T", " ") : "";
  for (const place of row.querySelectorAll("[data-put]")) place.textContent = { date, ...game }[place.dataset.put];
  if (game.hasPage) row.querySelector("a").href = "games/" + game.number + ".html";
  row.querySelector("[data-put=" + game.winner + "]")?.parentNode.classList.add("winner");
  return row;
}

const isSide = (word) => word === "red" || word === "blue";

function chosen({ bot, against, result, reason, shown, from, to }, sort) {
  const meets = (one, other) => (!bot || bot === one) && (!against || against === other);
  const key = sort.replace("-", ""), order = key === sort ? 1 : -1;
  return allGames.filter((game) =>
    (meets(game.red, game.blue) || meets(game.blue, game.red)) &&
    (!result || game.winner === result || ((result === "won" || result === "lost") && isSide(game.winner) && (game[game.winner] === bot) === (result === "won"))) &&
    (!reason || game.reason === reason) &&
    (!(shown in game) || game[shown] > 0) &&
    game.plies >= (from || 0) && game.plies <= (to || Infinity),
  ).sort((one, other) => order * (one[key] < other[key] ? -1 : one[key] > other[key] ? 1 : 0));
}

async function showList() {
  const wanted = Object.fromEntries([...new FormData(filter)].filter(([, value]) => value));
  const isWanted = Object.keys(wanted).length > 0;
  history.replaceState(null, "", isWanted ? "#" + new URLSearchParams(wanted) : location.href.split("#")[0]);
  document.querySelector(".pages")?.toggleAttribute("hidden", isWanted);
  if (isWanted && !allGames) {
    await load("games.js");
    return showList(); // what is wanted may have changed meanwhile
  }
  const sort = wanted.sort || ORDERS[wanted.shown] || "";
  for (const head of heads) {
    head.ariaSort = { [head.dataset.sort]: "ascending", ["-" + head.dataset.sort]: "descending" }[sort] || "none";
  }
  const games = isWanted ? chosen(wanted, sort) : [];
  list.replaceChildren(...(isWanted ? games.slice(0, LISTED).map(makeRow) : unfiltered));
  const texts = JSON.parse(filter.dataset.texts);
  const count = texts[games.length === 1 ? "one" : games.length > LISTED ? "newest" : "many"];
  const said = [fill(count, { games: games.length, listed: LISTED }), texts[wanted.shown]].filter((text) => text);
  document.querySelector("#found").textContent = isWanted ? said.join("; ") : "";
}

// Take what the address says.
function readAddress() {
  filter.reset();
  for (const [name, value] of Object.entries({ sort: "", ...asked() })) {
    const field = filter.elements.namedItem(name);
    if (field) field.value = value;
  }
  showList();
}

for (const head of heads) {
  const button = element("button", "", ...head.childNodes), { sort } = filter.elements, key = head.dataset.sort;
  button.addEventListener("click", () => {
    sort.value = sort.value === key ? "-" + key : key;
    showList();
  });
  head.append(button);
}
// A click anywhere on a row leads where its link does.
list.addEventListener("click", (event) => {
  const link = event.target.closest("tr").querySelector("a[href]");
  const isOther = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.target.closest("a");
  if (link && !isOther && getSelection().isCollapsed) link.click();
});
filter.addEventListener("input", ({ target }) => {
  if (target.name === "shown") filter.elements.sort.value = "";
  showList();
});
filter.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", readAddress);
document.addEventListener("renewed", ({ detail }) => {
  allGames = null;
  unfiltered = [...detail.querySelector("#games tbody").rows];
  showList();
});
filter.hidden = false;
readAddress();
