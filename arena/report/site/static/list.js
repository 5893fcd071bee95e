// The list of games: its filters and its order.
"use strict";

const LISTED = 500;

const filter = document.querySelector("#filter"), { sort: sorting, shown: showing } = filter.elements;
const heads = document.querySelectorAll("#games [data-sort]"), list = document.querySelector("#games tbody");
let allGames = null, unfiltered = [...list.rows];

window.arenaList = ({ names, elos, reasons, forfeits, behind, results, scores, first, rows }) => {
  allGames = rows.map(([number, red, blue, result, reason, plies, after, hasPage]) => ({
    number, plies, hasPage, red: names[red], blue: names[blue],
    winner: results[result], result: scores[result], reason: reasons[reason],
    started: first + after,
    date: first + after > 0 ? new Date(1000 * (first + after)).toISOString().slice(0, 16).replace("T", " ") : "",
    forfeits: forfeits[reason], comebacks: behind[number] || 0,
    upsets: ({ red: 1, blue: -1 }[results[result]] || 0) * (elos[blue] - elos[red]),
  }));
};

function makeRow(game) {
  const row = document.querySelector("#game").content.firstElementChild.cloneNode(true);
  for (const place of row.querySelectorAll("[data-put]")) place.textContent = game[place.dataset.put];
  if (game.hasPage) row.querySelector("a").href = "games/" + game.number + ".html";
  row.querySelector(`[data-put=${game.winner}]`)?.parentNode.classList.add("winner");
  return row;
}

// But for lengths, only games are shown that have more than 0 of what can be chosen as shown.
function chosen({ bot, against, result, reason, shown, from = 0, to = Infinity }, sort) {
  const key = sort.replace("-", ""), order = key === sort ? 1 : -1;
  const fits = (game, own, other) => (!bot || game[own] === bot) && (!against || game[other] === against) &&
    (!result || game.winner === { won: own, lost: other }[result] || game.winner === result);
  return allGames.filter((game) =>
    (fits(game, "red", "blue") || fits(game, "blue", "red")) && (!reason || game.reason === reason) &&
    !(game[shown] <= 0) && game.plies >= from && game.plies <= to,
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
  const { said = "", order = "" } = showing.selectedOptions[0].dataset, sort = wanted.sort || order;
  for (const head of heads) head.ariaSort = { [head.dataset.sort]: "ascending", ["-" + head.dataset.sort]: "descending" }[sort] || "none";
  const games = isWanted ? chosen(wanted, sort) : [];
  list.replaceChildren(...(isWanted ? games.slice(0, LISTED).map(makeRow) : unfiltered));
  const count = filter.dataset[games.length === 1 ? "one" : games.length > LISTED ? "newest" : "many"];
  document.querySelector("#found").textContent = isWanted ? fill(count, { games: games.length, listed: LISTED }) + said : "";
}

function readAddress() {
  filter.reset();
  for (const [name, value] of Object.entries({ sort: "", ...asked() })) {
    const field = filter.elements.namedItem(name);
    if (field) field.value = value;
  }
  showList();
}

for (const head of heads) {
  const button = element("button", {}, ...head.childNodes), key = head.dataset.sort;
  button.addEventListener("click", () => {
    sorting.value = sorting.value === key ? "-" + key : key;
    showList();
  });
  head.append(button);
}
filter.addEventListener("input", ({ target }) => {
  if (target === showing) sorting.value = "";
  showList();
});
filter.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", readAddress);
document.addEventListener("renewed", ({ detail }) => {
  allGames = null;
  unfiltered = [...detail.querySelector("#games tbody").rows];
  showList();
});
readAddress();
