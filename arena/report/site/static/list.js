// The list of games: its filters and its order.
"use strict";

const LISTED = 500;

const filter = document.querySelector("#filter"), { sort: sorting, shown: showing } = filter.elements;
const heads = document.querySelectorAll("#games [data-sort]"), list = document.querySelector("#games tbody");
let allGames = null, unfiltered = [...list.rows];

function arenaList({ names, reasons, results, scores, rows }) {
  allGames = rows.map(([number, red, blue, result, reason, plies, started, hasPage, forfeits, comebacks, upsets]) => ({
    number, plies, started, hasPage, forfeits, comebacks, upsets,
    red: names[red], blue: names[blue], winner: results[result], result: scores[result], reason: reasons[reason],
    date: started > 0 ? new Date(1000 * started).toISOString().slice(0, 16).replace("T", " ") : "",
  }));
  showList();
}

function makeRow(game) {
  const row = copyOf(document.querySelector("#game"), game);
  if (game.hasPage) row.querySelector("a").href = `games/${game.number}.html`;
  row.querySelector(`[data-put=${game.winner}]`)?.parentNode.classList.add("winner");
  return row;
}

// `shown` names a number that has to be above 0, or nothing that games have.
function chosen({ bot, against, result, reason, shown, from = 0, to = Infinity }, sort) {
  const key = sort.replace("-", ""), order = key === sort ? 1 : -1;
  const fits = (game, own, other) => (!bot || game[own] === bot) && (!against || game[other] === against) &&
    (!result || game.winner === ({ won: own, lost: other }[result] ?? result));
  return allGames.filter((game) =>
    (fits(game, "red", "blue") || fits(game, "blue", "red")) && (!reason || game.reason === reason) &&
    !(game[shown] <= 0) && game.plies >= from && game.plies <= to,
  ).sort((one, other) => order * (one[key] < other[key] ? -1 : one[key] > other[key] ? 1 : 0));
}

function showList() {
  const wanted = Object.fromEntries([...new FormData(filter)].filter(([, value]) => value));
  const isWanted = Object.keys(wanted).length > 0;
  history.replaceState(null, "", isWanted ? "#" + new URLSearchParams(wanted) : location.href.split("#")[0]);
  document.querySelector(".pages")?.toggleAttribute("hidden", isWanted);
  if (isWanted && !allGames) return load("games.js");
  const { said = "", order = "" } = showing.selectedOptions[0]?.dataset ?? {}, sort = wanted.sort || order;
  for (const head of heads) {
    head.ariaSort = sort === head.dataset.sort ? "ascending" : sort === "-" + head.dataset.sort ? "descending" : "none";
  }
  const games = isWanted ? chosen(wanted, sort) : [];
  list.replaceChildren(...(isWanted ? games.slice(0, LISTED).map(makeRow) : unfiltered));
  const count = filter.dataset[games.length === 1 ? "one" : games.length > LISTED ? "newest" : "many"];
  document.querySelector("#found").textContent = isWanted ? fill(count, { games: games.length, listed: LISTED }) + said : "";
}

function readAddress() {
  for (const field of filter.elements) field.value = asked()[field.name] ?? "";
  showList();
}

for (const head of heads) {
  const button = document.createElement("button"), key = head.dataset.sort;
  button.append(...head.childNodes);
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
window.addEventListener("hashchange", readAddress);
document.addEventListener("renewed", ({ detail }) => {
  allGames = null;
  unfiltered = [...detail.querySelector("#games tbody").rows];
  showList();
});
readAddress();
