// Games that are being played: the list of them, and the board of one. It knows no rule: it puts on the squares what it is
// told, and each thing that is told is the whole state. Nothing is ever set as markup.
"use strict";

(() => {
  function watchList(table) {
    const word = document.querySelector("#watch-word").innerHTML;
    const cell = (name, text, classes) => {
      const made = document.createElement(name);
      made.textContent = text;
      if (classes) made.className = classes;
      return made;
    };
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

  function watchGame(root) {
    const labels = JSON.parse(root.dataset.labels);
    const board = new Board(root.querySelector("[data-board]"), labels);
    root.querySelector(".table").hidden = false;
    const source = new EventSource(root.dataset.events);
    source.addEventListener("board", (event) => {
      const state = JSON.parse(event.data);
      if (state.cells) {
        const cells = new Map();
        for (let square = 0; square < 100; square++) cells.set(squareName(square), state.cells.slice(2 * square, 2 * square + 2));
        board.show(cells, state.marks);
        root.querySelector("[data-moves]").replaceChildren(...state.moves.map((move) => element("li", "", move)));
        state.lost.forEach((letters, side) => {
          const name = side ? "blue" : "red", counts = {};
          for (const letter of letters) counts[letter] = (counts[letter] || 0) + 1;
          const lost = [...labels.strength].filter((letter) => counts[letter])
            .map((letter) => labels.pieces[letter][0] + (counts[letter] > 1 ? "\u00d7" + counts[letter] : "")).join(" ");
          root.querySelector("[data-player=" + name + "]").replaceChildren(
            element("span", "name side " + name, labels[name]), ...(lost ? [element("span", "taken", root.dataset.lost + " " + lost)] : []));
        });
      }
      const last = state.moves?.length ? state.moves[state.moves.length - 1] + (state.words ? "; " + state.words : "") : "";
      root.querySelector("[data-now]").textContent = state.note || last;
      if (!state.end) return;
      source.close();
      for (const note of root.querySelectorAll("[data-during]")) note.hidden = true;
      const link = element("a", "", root.dataset.replay);
      link.href = state.href;
      document.querySelector("#end").replaceChildren(state.end + " ", ...(state.href ? [link] : []));
    });
  }

  const table = document.querySelector("#now");
  if (table) watchList(table);
  const watched = document.querySelector("#watched");
  if (watched) watchGame(watched);
})();
