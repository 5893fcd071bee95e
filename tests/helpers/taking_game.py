"""Games of a few lines for tests, as files, and a bot that plays them."""

from pathlib import Path

from made_files import put

TAKING = """
from arena.errors import IllegalAnswerError
from arena.game import Ending, Game, State, moved, to_both
from protocol.seats import Outcome, Reason


class Pile(State):
    def __init__(self, stones):
        self.stones = stones

    def legal_actions(self):
        return [str(count) for count in (1, 2, 3) if count <= self.stones]

    def act(self, action):
        if action not in self.legal_actions():
            raise IllegalAnswerError(f"expected one of {' '.join(self.legal_actions())}, got {action}")
        mover = self.to_move
        self.stones -= int(action)
        if not self.stones:
            self.outcome = Outcome(mover.opponent, Reason("last-stone"))
        self.to_move = mover.opponent
        return to_both(moved(mover, action))


class GAME(Game):
    name = "NAME"
    version = "VERSION"
    has_chance = CHANCE
    endings = {"last-stone": Ending("took the last stone")}

    def variant_names(self):
        return ["NAME", "short"]

    def rules_of(self, name):
        return [("stones", "4" if name == "short" else "9")]

    def rules_in_words(self, variant):
        return "Take one to three stones. Who takes the last one loses."

    def start(self, variant, seed, setups):
        return Pile(int(dict(variant.rules)["stones"]) + (seed % 3 if self.has_chance else 0))
"""
"""Two take stones from a pile, and who takes the last one loses."""
BOT = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello":
        print("ready", flush=True)
    elif words[0] == "turn":
        print("move 1", flush=True)
    elif words[0] == "quit":
        break
"""


def taking(folder: Path, name: str = "taking", *, version: str = "1", has_chance: bool = False) -> Path:
    text = TAKING.replace("NAME", name).replace("VERSION", version).replace("CHANCE", str(has_chance))
    return put(folder / f"{name.replace('-', '_')}.py", text, 0o644)


def takers(folder: Path) -> tuple[str, str]:
    """Write two bots that take one stone each time; return their paths."""
    first, second = (put(folder / f"{name}.py", f"# {name}{BOT}", 0o644) for name in ("ann", "bob"))
    return str(first), str(second)
