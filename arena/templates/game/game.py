"""A heap of stones, and two cups with hidden ones. README.md has the rules and the protocol. Change all of it."""

from collections.abc import Sequence
from random import Random

from arena.errors import IllegalAnswerError
from arena.game import Ending, Game, State, Told, Variant, moved, to_both
from protocol.seats import Color, Outcome, Reason

VARIANTS = {"{{name}}": (21, 3), "{{name}}-short": (9, 2)}
"""Stones on the heap, and how many a player may take at once, by variant."""
MOST_IN_CUP = 3
FEWER, EQUAL = "fewer-stones", "equal-stones"
"""The game's own reasons of an end, as bots and records have them."""


class Table(State):
    """One game under way: all of it, also what is hidden."""

    def __init__(self, random: Random, heap: int, most: int) -> None:
        self._heap = heap
        self._most = most
        self._taken = [0, 0]
        self._cups = [random.randint(0, MOST_IN_CUP) for _ in Color]

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        """Tell each seat its own cup, and nobody else."""
        return () if seat is None else (f"cup {self._cups[seat]}",)

    def legal_actions(self) -> Sequence[str]:
        return [str(stones) for stones in range(1, min(self._most, self._heap) + 1)]

    def act(self, action: str) -> Told:
        """Check before you change anything: a refused action must leave the game as it was."""
        legal = self.legal_actions()
        if action not in legal:
            raise IllegalAnswerError(f"{action}: expected one of {', '.join(legal)}")
        mover = self.to_move
        self._taken[mover] += int(action)
        self._heap -= int(action)
        self.to_move = mover.opponent
        if self._heap:
            return to_both(moved(mover, action))
        return to_both(moved(mover, action), *self._open_cups())

    def _open_cups(self) -> list[str]:
        red, blue = (self._taken[color] + self._cups[color] for color in Color)
        if red == blue:
            self.outcome = Outcome(None, Reason(EQUAL))
        else:
            self.outcome = Outcome(Color.RED if red > blue else Color.BLUE, Reason(FEWER))
        return [f"opened {color.word} {self._cups[color]}" for color in Color]

    def text(self, seat: Color | None) -> str:
        """Return the position for people: as a seat knows it, or all of it (None)."""
        lines = [f"heap {self._heap}"]
        for color in Color:
            is_seen = seat in (None, color) or self.outcome is not None
            cup = str(self._cups[color]) if is_seen else "?"
            lines.append(f"{color.word} took {self._taken[color]}, has {cup} in its cup")
        return "\n".join(lines)

    def svg(self, seat: Color | None) -> str:
        """Return the same as a drawing. Pages show the text instead if there is no such method."""
        lines = self.text(seat).split("\n")
        stones = [f'<circle cx="{18 + 18 * stone}" cy="16" r="7"/>' for stone in range(self._heap)]
        words = [f'<text x="12" y="{50 + 28 * number}">{line}</text>' for number, line in enumerate(lines)]
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 124">'
            f"<style>{STYLE}</style>{''.join((*stones, *words))}</svg>"
        )


STYLE = """
circle { fill: #b8732e; } text { font: 16px system-ui, sans-serif; fill: #222; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } }
"""


class HeapAndCups(Game):
    """See README.md."""

    name = "{{name}}"
    has_chance = True
    endings = {FEWER: Ending("has fewer stones"), EQUAL: Ending("both have as many stones", is_draw=True)}

    def variant_names(self) -> Sequence[str]:
        return tuple(VARIANTS)

    def rules_of(self, name: str) -> Sequence[tuple[str, str]]:
        heap, most = VARIANTS[name]
        return ("heap", str(heap)), ("most", str(most))

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Table:
        rules = dict(variant.rules)
        return Table(Random(seed), int(rules["heap"]), int(rules["most"]))

    def rules_in_words(self, variant: Variant) -> str:
        rules = dict(variant.rules)
        return (
            f"A heap of {rules['heap']} stones lies between two players. Each has a cup with 0 to {MOST_IN_CUP} more, "
            f"and sees only its own. In turns, Red first, they take 1 to {rules['most']} stones from the heap. When it "
            "is empty, the cups are opened: who has more stones, taken and in the cup, wins. As many each is a draw."
        )


GAME = HeapAndCups
