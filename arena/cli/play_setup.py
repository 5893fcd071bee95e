"""Setting up in a terminal game: the set-up that one person is changing, and the answers to what is typed about it.

Nothing is told to the game before 'ready': until then it is a draft, which may be incomplete or not legal at all.
"""

import random

from arena.game.setups import Rows
from arena.play.session import Session
from arena.printable import printable
from arena.report.boards import board_text
from arena.report.paint import Paint
from arena.report.seat import presets_text, setup_cells
from arena.report.seat_commands import Typed, Verb
from protocol.notation import EMPTY, HOME_SQUARES, SQUARE_INDEX, Color

LARGEST_SEED = 2**32
HELP = """\
preset NAME    begin with one of these:
{presets}
random [SEED]  a random set-up
swap a1 b2     exchange two squares
setup ROWS     four rows separated by /, your back row first, . for empty:
               {rows}
board          show the set-up again
ready          play with it
pause          leave; there is nothing to save yet"""


class SetupEditor:
    """One person's draft of a set-up, which begins as the first preset."""

    def __init__(self, session: Session, color: Color, paint: Paint) -> None:
        self._session, self._color, self._paint = session, color, paint
        self.rows: Rows = session.presets()[0].rows

    def screen(self, players: tuple[str, str]) -> str:
        """The draft as a board, and what can be done with it. `players` are the names of Red and Blue."""
        color = self._color
        board = board_text(setup_cells(self.rows, color), paint=self._paint, side=color)
        names = ", ".join(preset.name for preset in self._session.presets())
        words = "your set-up: type 'ready' to play with it, 'help' to change it"
        return f"{players[color]} has {color.word}\n{board}\n{words}\npresets: {names}"

    def change(self, typed: Typed) -> str | None:
        """Do what was typed; returns what there is to say to it, or None if the draft is to be shown. Raises
        `RefusedError` if it is to be played with and is not legal."""
        match typed:
            case Typed(Verb.READY):
                self._session.set_up(self._color, self.rows)
                return ""
            case Typed(Verb.PRESET, (name,)):
                return self._take_preset(name)
            case Typed(Verb.RANDOM, words):
                return self._take_random(words)
            case Typed(Verb.SWAP, (first, second)):
                return self._swap(first.lower(), second.lower())
            case Typed(Verb.SETUP, (first, *more)):
                return self._take_rows(tuple("/".join([first, *more]).split("/")))
            case Typed(Verb.BOARD):
                return None
            case Typed(Verb.HELP):
                presets = presets_text(self._session.presets())
                return HELP.format(presets=presets, rows="/".join(self.rows))
            case Typed(Verb.NOTHING):
                return ""
            case _:
                return f"{printable(typed.text)}: expected 'ready', or a change of the set-up; see 'help'"

    def _take_preset(self, name: str) -> str | None:
        found = {preset.name: preset for preset in self._session.presets()}
        if name not in found:
            return f"{printable(name)}: expected a preset: {', '.join(found)}"
        self.rows = found[name].rows
        return None

    def _take_random(self, words: tuple[str, ...]) -> str | None:
        seed = _seed(words)
        if seed is None:
            return "expected a whole number: random 7"
        self.rows = self._session.random_setup(seed)
        return None

    def _take_rows(self, rows: Rows) -> str | None:
        if problems := self._session.check_setup(rows).problems:
            return printable("; ".join(problems))
        self.rows = rows
        return None

    def _swap(self, first: str, second: str) -> str | None:
        """Exchange what stands on two squares."""
        home = HOME_SQUARES[self._color]
        for name in (first, second):
            if SQUARE_INDEX.get(name) not in home:
                return f"{printable(name)}: expected a square of your own four rows"
        letters = list("".join(self.rows))
        one, other = (home.index(SQUARE_INDEX[name]) for name in (first, second))
        letters[one], letters[other] = letters[other], letters[one]
        self.rows = tuple("".join(letters[start : start + 10]) for start in range(0, len(letters), 10))
        return f"{first} and {second} are both empty" if letters[one] == letters[other] == EMPTY else None


def _seed(words: tuple[str, ...]) -> int | None:
    if not words:
        return random.SystemRandom().randrange(LARGEST_SEED)
    text = words[0]
    return int(text) if len(words) == 1 and text.isascii() and text.isdecimal() and len(text) <= 10 else None
