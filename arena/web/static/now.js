// The games that are being played, with small boards. At the end of the league the standings take their place.
"use strict";

(() => {
  const list = document.querySelector("#now"), progress = document.querySelector("#progress");
  const template = document.querySelector("template").content.firstElementChild;
  let items = new Map(), isOver = false;

  function smallBoard(cells, pieces) {
    const square = (name, at) => svgElement("rect", { class: name, width: at, height: at });
    const places = cells.match(/../g).map((cell, at) => {
      const transform = `translate(${40 * (at % 10)} ${360 - 40 * Math.floor(at / 10)})`;
      return svgElement("g", { transform }, ...(isPiece(cell) ? pieceParts(cell, pieces, true) : cell === "~~" ? [square("lake", 40.5)] : []));
    });
    return svgElement("svg", { class: "board", viewBox: "0 0 400 400" }, square("square", 400), ...places);
  }

  function itemOf([id, red, blue, ply, position], pieces) {
    const item = items.get(id) ?? template.cloneNode(true), [place, ...texts] = item.querySelectorAll("[data-of]");
    item.firstElementChild.href = "now/" + id + ".html";
    [red, blue, ply].forEach((text, at) => { texts[at].textContent = text; });
    if (position?.cells) place.replaceChildren(smallBoard(position.cells, pieces));
    else if (position) new Picture(place, { no_position: "" }).show(position);
    return item;
  }

  async function showStandings() {
    const answer = await fetch("index.html").catch(() => null);
    if (!answer?.ok) return;
    const { body } = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (body.querySelector("table")) document.querySelector("main").replaceChildren(progress, ...body.querySelector("main").children);
  }

  hearEvents(list.dataset.events, "games", async (told) => {
    progress.textContent = told.text;
    isOver = told.is_over;
    const shown = told.games.map((game) => itemOf(game, told.pieces)), focused = document.activeElement;
    items = new Map(told.games.map(([id], at) => [id, shown[at]]));
    if (shown.length !== list.childElementCount || shown.some((item, at) => item !== list.children[at])) list.replaceChildren(...shown);
    if (list.contains(focused)) focused.focus();
    document.querySelector("#none").hidden = shown.length > 0;
    if (told.is_stored) await showStandings();
    return told.is_stored ? "over" : "";
  }, () => { if (!isOver) progress.textContent = progress.dataset.lost; });
})();
