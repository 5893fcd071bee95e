// {{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena).

const NAME = "{{name}}";
const AUTHOR = "{{author}}";
const HOME_SQUARES = 40;

export class Bot {
  army = ""; // one letter a piece
  legal = [];
  random = mulberry32(0);

  /**
   * Your bot's thinking goes here.
   *
   * `this.legal` holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole board
   * before each turn, too, ask for it ("want legal board" below) and read the line "board", which has 100 cells from a1
   * to j10. What happened since the last turn is in the lines "moved", "battle" and "reveal".
   */
  choose() {
    return this.legal[this.below(this.legal.length)];
  }

  /**
   * Where the army stands: ten letters a row, the back row first, files a to j, "." for an empty square. Here it is
   * shuffled.
   */
  setUp() {
    const cells = [...this.army.padEnd(HOME_SQUARES, ".")];
    for (let last = cells.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [cells[last], cells[other]] = [cells[other], cells[last]];
    }
    return cells.join("").match(/.{10}/g).join("/");
  }

  /** What the bot answers to one line of the arena, without its line end; undefined, to most of them. */
  answer(line) {
    const [verb, ...fields] = line.split(" ");
    switch (verb) {
      case "hello":
        return `name ${NAME}\nauthor ${AUTHOR}\nwant legal\nready`;
      case "rule":
        if (fields[0] === "army") this.army = fields.slice(1).map(pieces).join("");
        return undefined;
      case "seed":
        this.random = mulberry32(Number(fields[0]));
        return undefined;
      case "setup":
        return `setup ${this.setUp()}`;
      case "legal": // a long list comes in several lines
        this.legal.push(...fields);
        return undefined;
      case "turn": {
        const action = this.choose();
        this.legal = [];
        return `move ${action}`;
      }
      default: // may be ignored, and what a later arena adds must be
        return undefined;
    }
  }

  /** A random whole number from 0 to `limit` - 1. */
  below(limit) {
    return Math.floor(this.random() * limit);
  }
}

/** The pieces of a field such as "B:6", a letter each. */
function pieces(field) {
  const [letter, count] = field.split(":");
  return letter.repeat(Number(count));
}

/** Random numbers from 0 to 1. The same seed gives the same game again, as Math.random does not. */
function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
