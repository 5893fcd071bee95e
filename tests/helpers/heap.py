"""A game for tests that is not Stratego: each seat secretly adds to a heap, then both take; the last one loses."""

from collections.abc import Sequence
from random import Random

from arena.errors import IllegalAnswerError
from arena.game import Ending, Game, State, Told, Variant, moved, to_both
from protocol.seats import Color, Outcome, Reason

LAST = "last-one"


class Heap(State):
    def __init__(self, size: int, most: int) -> None:
        self._size, self._most = size, most

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        return (f"heap {self._size}",)

    def legal_actions(self) -> Sequence[str]:
        return [str(number) for number in range(1, min(self._size, self._most) + 1)]

    def act(self, action: str) -> Told:
        if action not in self.legal_actions():
            raise IllegalAnswerError(f"expected one of {', '.join(self.legal_actions())}, got {action}")
        mover = self.to_move
        self._size -= int(action)
        if not self._size:
            self.outcome = Outcome(mover.opponent, Reason(LAST))
        self.to_move = mover.opponent
        return to_both(moved(mover, action))

    def text(self, seat: Color | None) -> str:
        return f"heap of {self._size}"


class HeapGame(Game):
    name = "heap"
    has_setups = True
    endings = {LAST: Ending("took the last one")}  # noqa: RUF012
    seat_names = ("First", "Second")

    def variant_names(self) -> Sequence[str]:
        return "heap", "quick"

    def rules_of(self, name: str) -> Sequence[tuple[str, str]]:
        return (("most", "9" if name == "quick" else "3"),)

    def check_setup_form(self, text: str) -> None:
        """Any text has the form of a set-up."""

    def check_setup(self, variant: Variant, color: Color, setup: str) -> None:
        if setup not in map(str, range(5, 11)):
            raise IllegalAnswerError(f"expected a number from 5 to 10, got {setup}")

    def random_setup(self, variant: Variant, color: Color, seed: int) -> str:
        return str(Random(seed).randint(5, 10))

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Heap:
        return Heap(sum(map(int, setups)), int(dict(variant.rules)["most"]))


GAME = HeapGame
