"""Small games that are not Stratego, for tests of what every game has: one open, one with hidden set-ups, and one with
chance and hidden actions."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import MappingProxyType

from arena.errors import IllegalAnswerError
from arena.game import Ending, Game, State, Told, Variant, add_game, moved, to_both
from protocol.seats import Color, Outcome, Reason

COLUMNS, ROWS, LINE = 7, 6, 4
HERE = Path(__file__)


class Discs(State):
    def __init__(self) -> None:
        self.columns: list[str] = [""] * COLUMNS

    def legal_actions(self) -> Sequence[str]:
        return [str(number + 1) for number, column in enumerate(self.columns) if len(column) < ROWS]

    def act(self, action: str) -> Told:
        if action not in self.legal_actions():
            raise IllegalAnswerError(f"expected one of the columns {', '.join(self.legal_actions())}, got {action}")
        mover, disc = self.to_move, "XO"[self.to_move]
        self.columns[int(action) - 1] += disc
        rows = self.text(None).split("\n")[:ROWS]
        cells = {(x, y): rows[y][2 * x] for x in range(COLUMNS) for y in range(ROWS)}
        steps = ((1, 0), (0, 1), (1, 1), (1, -1))
        if any(all(cells.get((x + n * a, y + n * b)) == disc for n in range(LINE)) for x, y in cells for a, b in steps):
            self.outcome = Outcome(mover, Reason("four-discs"))
        self.to_move = mover.opponent
        return to_both(moved(mover, action))

    def text(self, seat: Color | None) -> str:
        rows = [" ".join((column + "." * ROWS)[row] for column in self.columns) for row in reversed(range(ROWS))]
        return "\n".join([*rows, " ".join(str(number + 1) for number in range(COLUMNS))])

    def svg(self, seat: Color | None) -> str:
        discs = "".join(
            f'<circle cx="{10 * x + 5}" cy="{55 - 10 * y}" r="4" fill="{"red" if disc == "X" else "blue"}"/>'
            for x, column in enumerate(self.columns)
            for y, disc in enumerate(column)
        )
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 70 60">{discs}</svg>'


class FourInLine(Game):
    """Drop discs into columns; four in a line win."""

    name = "four"
    endings = MappingProxyType({"four-discs": Ending("let four in a line happen")})
    seat_names = ("Cross", "Circle")

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Discs:
        return Discs()


class Guesses(State):
    def __init__(self, setups: tuple[str, str]) -> None:
        self.setups = setups

    def act(self, action: str) -> Told:
        if not action.isdecimal():
            raise IllegalAnswerError(f"expected a number, got {action}")
        mover = self.to_move
        is_hit = action == self.setups[mover.opponent]
        if is_hit:
            self.outcome = Outcome(mover, Reason("guessed"))
        self.to_move = mover.opponent
        return to_both(moved(mover, action), "hit" if is_hit else "miss")

    def text(self, seat: Color | None) -> str:
        return "\n".join(f"{c.word} has {self.setups[c] if seat in (None, c) else '?'}" for c in Color)


class Guessing(Game):
    """Each side sets up a number; guess that of the other. It does not list its actions."""

    name = "guessing"
    has_setups = True
    endings = MappingProxyType({"guessed": Ending("had its number guessed")})

    def check_setup_form(self, text: str) -> None:
        return

    def check_setup(self, variant: Variant, color: Color, setup: str) -> None:
        if not (setup.isdecimal() and 1 <= int(setup) <= 99):
            raise IllegalAnswerError(f"expected a number from 1 to 99, got {setup}")

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Guesses:
        return Guesses(setups)

    def random_setup(self, variant: Variant, color: Color, seed: int) -> str:
        return str(Random(seed).randint(1, 99))


class Hands(State):
    """Each seat holds a number of six digits, which is in nothing that the other may see."""

    def __init__(self, seed: int) -> None:
        self._random = [Random(seed), Random(seed + 1)]
        self.held = [self._drawn(color) for color in Color]
        self.ever = [[number] for number in self.held]

    def _drawn(self, color: Color) -> str:
        return str(self._random[color].randint(100_000, 999_999))

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        return () if seat is None else (f"holds {seat.word} {self.held[seat]}",)

    def legal_actions(self) -> Sequence[str]:
        return ["keep", "exchange"]

    def act(self, action: str) -> Told:
        if action not in self.legal_actions():
            raise IllegalAnswerError(f"expected keep or exchange, got {action}")
        mover = self.to_move
        lines: list[tuple[str, ...]] = [(f"acted {mover.word}",), (f"acted {mover.word}",)]
        lines[mover] += (moved(mover, action),)
        if action == "exchange":
            self.held[mover] = self._drawn(mover)
            self.ever[mover].append(self.held[mover])
            lines[mover] += (f"holds {mover.word} {self.held[mover]}",)
        if self.ply == 7:
            winner = Color.RED if self.held[0] > self.held[1] else Color.BLUE
            self.outcome = Outcome(winner, Reason("lower"))
        self.to_move = mover.opponent
        return lines[0], lines[1]

    def text(self, seat: Color | None) -> str:
        return "\n".join(f"{c.word} {self.held[c] if seat in (None, c) else '?'}" for c in Color)


class Holding(Game):
    """Keep a hidden number, or exchange it; after eight actions the higher one wins."""

    name = "holding"
    has_chance = hides_actions = True
    endings = MappingProxyType({"lower": Ending("held the lower number")})

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Hands:
        return Hands(seed)

    def rules_in_words(self, variant: Variant) -> str:
        return "Keep your number, or get another.\n\nThe higher one wins."


FOUR = add_game(FourInLine())
GUESSING = add_game(Guessing())
HOLDING = add_game(Holding())
GAME = FOUR
"""For `--game`, which names this file."""
