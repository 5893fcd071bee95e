// Looking back in a game under way: the board as this seat knew it after an earlier ply. Each such board comes from the
// arena, which makes it from what the seat had been told by then, so nothing that was learned later is on it. While one
// is shown the game goes on, and nothing can be played on the board.

const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
const OTHERS = "input, select, textarea, dialog, [role=grid], [data-tray]"; // what has uses of its own for these keys

// Where a key leads that was pressed somewhere on the page, or undefined.
function goalOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.(OTHERS)) return undefined;
  return KEYS[event.key];
}

// Has the buttons of a page and, while `isPossible`, its keys lead to another ply.
export function listenForGoals(root, { isPossible, go }) {
  for (const button of root.querySelectorAll("[data-go]")) button.addEventListener("click", () => go(button.dataset.go));
  document.addEventListener("keydown", (event) => {
    const goal = goalOf(event);
    if (!goal || !isPossible()) return;
    event.preventDefault();
    go(goal);
  });
}

export class Earlier {
  // `game` is a `Game` of its own to show boards with; `on` has load(ply), which gives a state and its shown squares or
  // null, refused(text), changed().
  constructor(game, { say, on }) {
    this.game = game;
    this.say = say;
    this.on = on;
    this.ply = null; // which one is shown; null: the board as it is now
    this.known = new Map(); // by ply: what the arena gave, which stays as it is
    this.wanted = null;
    this.busy = false;
  }

  get isShown() {
    return this.ply !== null;
  }

  // What the arena gave for the ply that is shown.
  get found() {
    return this.known.get(this.ply);
  }

  // The board as it is now.
  now() {
    this.wanted = null;
    if (!this.isShown) return;
    this.ply = null;
    this.on.changed();
  }

  // The game was begun again: what was known of it counts no more.
  forget() {
    this.known.clear();
    this.now();
  }

  // `goal` is "first", "back", "next" or "last" (which is now), or a ply; `plies` have been played.
  go(goal, plies) {
    const here = this.wanted ?? this.ply ?? plies;
    const ply = { first: 0, back: here - 1, next: here + 1, last: plies }[goal] ?? goal;
    if (ply >= plies) this.now();
    else if (ply >= 0) this.show(ply);
  }

  // While a key is held the next board is asked for when the last one has come, and only the last of those wanted.
  async show(ply) {
    this.wanted = ply;
    if (this.busy) return;
    this.busy = true;
    while (this.wanted !== null && this.wanted !== this.ply) {
      const asked = this.wanted;
      const found = this.known.get(asked) ?? (await this.on.load(asked));
      if (!found) {
        this.wanted = null;
        this.on.refused(this.say("not_fetched"));
        break;
      }
      this.known.set(asked, found);
      if (this.wanted === null) break;
      this.ply = asked;
      this.game.update(found.state, found.shown);
      this.on.refused("");
      this.on.changed();
    }
    this.wanted = null;
    this.busy = false;
  }

  // --- as the board asks it of a game

  look(square) {
    return this.game.look(square);
  }

  details(square) {
    return this.game.details(square);
  }

  chosen() {
    this.on.refused(this.say("is_earlier"));
  }

  dropped() {}

  pressedKey(event) {
    if (event.key === "Escape") this.now();
  }
}
