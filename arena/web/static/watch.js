// Games that are being played: the list of them, and the board of one. It knows no rule: it puts on the squares what it is
// told, and each thing that is told is the whole state. Nothing is ever set as markup.
"use strict";

(() => {
  const cell = (name, text, classes) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (classes) made.className = classes;
    return made;
  };

  function watchList(table) {
    const word = document.querySelector("#watch-word").innerHTML;
    const source = new EventSource(table.dataset.events);
    source.addEventListener("games", (event) => {
      const { text, rows, over } = JSON.parse(event.data);
      if (over) source.close();
      document.querySelector("#progress").textContent = text;
      document.querySelector("#none").hidden = rows.length > 0;
      const focused = document.activeElement?.getAttribute("href");
      table.tBodies[0].replaceChildren(...rows.map(([id, red, blue, ply]) => {
        const row = document.createElement("tr"), link = cell("a", word), last = document.createElement("td");
        link.href = "now/" + id + ".html";
        last.append(link);
        row.append(cell("td", red), cell("td", blue), cell("td", String(ply), "n"), last);
        return row;
      }));
      if (focused) [...table.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    });
  }

  // Of Stratego: a board with its pieces.
  function boardOf(root) {
    const labels = JSON.parse(root.dataset.labels);
    const board = new Board(root.querySelector("[data-board]"), labels);
    root.querySelector(".table").hidden = false;
    return (state) => {
      const cells = new Map();
      for (let square = 0; square < 100; square++) cells.set(squareName(square), state.cells.slice(2 * square, 2 * square + 2));
      board.show(cells, state.marks);
      state.lost.forEach((letters, side) => {
        const name = side ? "blue" : "red", counts = {};
        for (const letter of letters) counts[letter] = (counts[letter] || 0) + 1;
        const lost = [...labels.strength].filter((letter) => counts[letter])
          .map((letter) => labels.pieces[letter][0] + (counts[letter] > 1 ? "\u00d7" + counts[letter] : "")).join(" ");
        root.querySelector("[data-player=" + name + "]").replaceChildren(
          element("span", "name side " + name, labels[name]), ...(lost ? [element("span", "taken", root.dataset.lost + " " + lost)] : []));
      });
    };
  }

  // Of another game: its text, or an image.
  function showPosition(root, { text, image }) {
    const shown = root.querySelector("[data-image]"), written = root.querySelector("[data-text]");
    if (image) shown.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(image);
    shown.alt = text;
    shown.hidden = !image;
    written.textContent = text;
    written.hidden = !text || Boolean(image);
  }

  function watchGame(root) {
    const show = root.dataset.labels ? boardOf(root) : (state) => showPosition(root, state);
    const source = new EventSource(root.dataset.events);
    source.addEventListener("board", (event) => {
      const state = JSON.parse(event.data);
      if (state.moves) {
        root.querySelector("[data-moves]").replaceChildren(...state.moves.map((move) => cell("li", move)));
        show(state);
      }
      const last = state.moves?.length ? state.moves[state.moves.length - 1] + (state.words ? "; " + state.words : "") : "";
      root.querySelector("[data-now]").textContent = state.note || last;
      if (!state.end) return;
      source.close();
      for (const note of root.querySelectorAll("[data-during]")) note.hidden = true;
      const link = cell("a", root.dataset.replay);
      link.href = state.href;
      document.querySelector("#end").replaceChildren(state.end + " ", ...(state.href ? [link] : []));
    });
  }

  const table = document.querySelector("#now");
  if (table) watchList(table);
  const watched = document.querySelector("#watched");
  if (watched) watchGame(watched);
})();
