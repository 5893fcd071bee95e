"""A game in the terminal: a session shown line by line, and the person's input.

A capable terminal shows each screen in place of the one before; otherwise the board is printed when it is the person's
turn, and a line for each action. A pipe is read a line at need, so that a file of moves can be played. The end of the
input pauses the game.

A set-up is a draft until 'ready': it may be incomplete or illegal. Lines are read without a thread, so that waiting can
be cancelled.
"""

import errno
import os
import random
import sys

import trio

from arena.cli.pager import AUTO, paint_for
from arena.cli.streams import flush_results, result
from arena.play.session import RefusedError, Session
from arena.report.boards import board_text
from arena.report.consoles import fitted, width_of
from arena.report.layout import Paint
from arena.report.seat_text import (
    WIDTH,
    Typed,
    Verb,
    action_words,
    actions_text,
    choices_text,
    piece_words,
    presets_text,
    read_typed,
    screen_text,
    setup_cells,
    stage_words,
)
from arena.stratego.person_seat import SeatStage, SeatState
from arena.stratego.setups import Rows
from arena.system.concurrency import open_nursery
from arena.system.printable import printable
from protocol.notation import EMPTY, HOME_SQUARES, SQUARE_INDEX, Color

CLEAR = "\x1b[H\x1b[2J"
"""Clears the screen alone: earlier output of the terminal stays in its history."""
LAST_PLIES = 2
"""Last actions below a screen: a bot answers before the person can read the own action."""
MOST_WAYS = 8
ASKED = (SeatStage.MOVING, SeatStage.SETTING_UP)
"""The stages that wait for the person."""
HELP = """\
e4-e5          move; also 'e4 e5' and 'e4e5'
e4             show where that piece can go
moves          show all that you may do
known e7       tell what is known of a piece
board          show the board again
back, next     show it as you knew it a ply before, a ply after; ply 12: after ply 12
history        list what was done so far
rules          show the rules in force
resign         give the game up
pause          save the game, to go on another day (so does Ctrl-C)
In some rulesets: d2-d3-e3 (a captain turns), a9-a10+8c2 (the colonel comes back
on c2), e7?e9B (guess that the piece on e9 is a bomb)."""


async def terminal_face(session: Session) -> None:
    """Show a session with one person in this terminal: a face for `arena.league.person_game`."""
    (color,) = session.persons
    await TerminalGame(session, color).play()


class TerminalGame:
    def __init__(self, session: Session, color: Color) -> None:
        self._session, self._color = session, color
        self._lines = TypedLines()
        self._is_typed = sys.stdin.isatty()
        self._redraws = self._is_typed and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self._paint = paint_for(AUTO)
        self._shown: tuple[SeatStage, int] | None = None
        """The stage and the ply on the screen."""
        self._plies_told = 0
        self._confirm = ""
        """A move that was held back once, as it could do more."""
        self._remarked = ""
        self._has_drawn = False
        self._earlier_ply = 0
        """The ply of the board shown last: `back` and `next` start there."""
        self._setup = SetupEditor(session, color, self._paint)

    async def play(self) -> None:
        while True:
            state = self._session.state(self._color)
            self._show(state)
            if state.stage in (SeatStage.OVER, SeatStage.PAUSED):
                return
            for line in await self._next(state):
                if line is None:
                    return  # the game is paused
                if not self._is_typed:
                    self._print(f"> {printable(line)}")
                self._do(read_typed(line))

    async def _next(self, state: SeatState) -> list[str | None]:
        """Wait for a line or a change of the state; return the line, or an empty list. None is the end of the input."""
        read: list[str | None] = []
        async with open_nursery() as nursery:

            async def read_line() -> None:
                read.append(await self._lines.line())
                nursery.cancel_scope.cancel()

            async def watch() -> None:
                await self._session.changed(self._color, state.version)
                nursery.cancel_scope.cancel()

            if self._is_typed or state.stage in ASKED:
                nursery.start_soon(read_line)
            nursery.start_soon(watch)
        return read

    # --- showing ------------------------------------------------------------------------------------------------------

    def _print(self, text: str, end: str = "\n") -> None:
        result(fitted(text, sys.stdout), end=end)
        flush_results()

    def _prompt(self, state: SeatState) -> None:
        if self._is_typed and state.stage in ASKED:
            self._print("> ", end="")

    def _show(self, state: SeatState) -> None:
        now = (state.stage, state.plies)
        if now == self._shown:
            self._tell_remark(state)
            return
        if self._shown is None or self._shown[0] is SeatStage.STARTING:  # in a resumed game only the last actions
            self._plies_told = max(0, state.plies - LAST_PLIES)
        self._shown = now
        self._earlier_ply = state.plies
        if state.stage is SeatStage.SETTING_UP:
            self._print(self._replacing(self._setup.screen(state.players)))
        elif state.stage is SeatStage.STARTING:
            self._print(stage_words(state))
        elif self._redraws:
            self._print(self._replacing(self._screen(state)))
            self._remarked = state.remark  # it is on the screen
        else:
            for action in self._session.actions(self._color, self._plies_told + 1):
                self._print(f"{action.ply}. {action_words(action, state.color)}")
                self._plies_told = action.ply
            if state.stage in (SeatStage.MOVING, SeatStage.OVER):
                self._print(self._screen(state))
            elif state.stage is not SeatStage.WAITING:
                self._print(stage_words(state))
        self._tell_remark(state)
        self._prompt(state)

    def _replacing(self, screen: str) -> str:
        """Return a screen that replaces the last one; the first one keeps earlier output."""
        is_first, self._has_drawn = not self._has_drawn, True
        return f"{CLEAR}{screen}" if self._redraws and not is_first else screen

    def _screen(self, state: SeatState) -> str:
        first = max(1, state.plies + 1 - LAST_PLIES)
        recent = self._session.actions(self._color, first) if self._redraws else ()
        return screen_text(state, recent, self._paint, width=_columns())

    def _tell_remark(self, state: SeatState) -> None:
        if state.remark != self._remarked:
            self._remarked = state.remark
            self._print(printable(state.remark))

    # --- doing --------------------------------------------------------------------------------------------------------

    def _do(self, typed: Typed) -> None:
        state = self._session.state(self._color)
        try:
            answer = self._answer(typed, state)
        except RefusedError as error:
            answer = printable(str(error))
        after = self._session.state(self._color)
        if answer:
            self._print(answer)
        if (after.stage, after.plies) == self._shown:
            self._prompt(after)

    def _answer(self, typed: Typed, state: SeatState) -> str:
        if state.stage is SeatStage.SETTING_UP and typed.verb not in (Verb.PAUSE, Verb.RESIGN, Verb.RULES):
            answer = self._setup.change(typed)
            return self._replacing(self._setup.screen(state.players)) if answer is None else answer
        match typed:
            case Typed(Verb.ACT, (action,)):
                return self._act(action, state)
            case Typed(Verb.TARGETS, (square,)):
                return self._targets(square, state)
            case Typed(Verb.KNOWN, (square,)):
                return _known(square, state)
            case Typed(Verb.KNOWN):
                return "expected a square: known e7"
            case Typed(Verb.MOVES):
                return choices_text(state.choices, _columns()) or "it is not your turn"
            case Typed(Verb.BOARD):
                self._earlier_ply = state.plies
                return self._replacing(self._screen(state))
            case Typed(Verb.BACK, ()):
                return self._earlier_board(self._earlier_ply - 1, state.plies)
            case Typed(Verb.NEXT, ()):
                return self._earlier_board(self._earlier_ply + 1, state.plies)
            case Typed(Verb.PLY, (number,)) if number.isascii() and number.isdecimal():
                return self._earlier_board(int(number[:10]), state.plies)
            case Typed(Verb.PLY | Verb.BACK | Verb.NEXT):
                return self._earlier_board(-1, state.plies)
            case Typed(Verb.HISTORY):
                return actions_text(self._session.actions(self._color), self._color.word) or "no actions so far"
            case Typed(Verb.RULES):
                return "\n".join(f"{name} {value}" for name, value in state.rules)
            case Typed(Verb.RESIGN):
                self._session.resign(self._color)
                return ""
            case Typed(Verb.PAUSE):
                begun = state.stage not in (SeatStage.STARTING, SeatStage.SETTING_UP, SeatStage.READY)
                (self._session.pause if begun else self._session.leave)()
                return ""
            case Typed(Verb.HELP):
                return HELP
            case Typed(Verb.NOTHING):
                return ""
            case _:
                return f"{printable(typed.text)}: expected a move such as e4-e5, or 'help'"

    def _earlier_board(self, ply: int, plies: int) -> str:
        if not 0 <= ply <= plies:
            raise RefusedError(
                f"expected a ply from 0 to {plies}, as in 'ply {plies}'; this is after ply {self._earlier_ply}"
            )
        self._earlier_ply = ply
        then = self._session.state_after(self._color, ply)
        screen = screen_text(then, (then.last,) if then.last else (), self._paint, width=_columns(), plies=plies)
        return self._replacing(f"{screen}\n('board' shows it as it is now)")

    def _act(self, action: str, state: SeatState) -> str:
        choices = state.choices
        more = [choice.action for choice in choices if choice.action.startswith(f"{action}+")]
        if more and self._confirm != action:
            self._confirm = action
            rest = [f"and {len(more) - MOST_WAYS} more: see 'moves'"] if len(more) > MOST_WAYS else []
            words = f"this move can bring a lost piece back: type one of these, or {action} again to move without:"
            return "\n".join([words, *more[:MOST_WAYS], *rest])
        if not any(choice.action == action for choice in choices):
            by_ends = [c.action for c in choices if f"{c.origin}-{c.target}" == action and not c.guessed]
            if len(by_ends) > 1:
                return f"{action}: there is more than one way: {', '.join(by_ends[:MOST_WAYS])}"
            action = by_ends[0] if by_ends else action
        self._session.act(self._color, action)
        self._confirm = ""
        return ""

    def _targets(self, square: str, state: SeatState) -> str:
        if state.stage is not SeatStage.MOVING:
            return "it is not your turn"
        choices = [choice for choice in state.choices if choice.origin == square]
        if choices:
            return choices_text(choices, _columns())
        is_own = any(piece.square == square and piece.color == state.color for piece in state.pieces)
        return f"{_known(square, state)}{'; it cannot move' if is_own else ''}"


def _columns() -> int:
    return width_of(sys.stdout) if sys.stdout.isatty() else WIDTH


def _known(square: str, state: SeatState) -> str:
    name = square.lower()
    if name not in SQUARE_INDEX:
        return f"{printable(square)}: expected a square, a1 to j10"
    piece = next((piece for piece in state.pieces if piece.square == name), None)
    return piece_words(piece, state.color) if piece else f"{name}: empty"


LARGEST_SEED = 2**32
SETUP_HELP = """\
preset NAME    begin with one of these:
{presets}
random [SEED]  a random set-up
{swap:<15}exchange two squares
setup ROWS     four rows separated by /, your back row first, . for empty:
               {rows}
board          show the set-up again
ready          play with it
pause          leave; there is nothing to save yet"""


class SetupEditor:
    def __init__(self, session: Session, color: Color, paint: Paint) -> None:
        self._session, self._color, self._paint = session, color, paint
        self.rows: Rows = session.presets()[0].rows

    def screen(self, players: tuple[str, str]) -> str:
        """Return the draft as a board, and the commands for it. `players` are the names of Red and Blue."""
        color = self._color
        board = board_text(setup_cells(self.rows, color), paint=self._paint, side=color)
        names = ", ".join(preset.name for preset in self._session.presets())
        words = "your set-up: type 'ready' to play with it, 'help' to change it"
        return f"{players[color]} has {color.word}\n{board}\n{words}\npresets: {names}"

    def change(self, typed: Typed) -> str | None:
        """Execute the typed command, and return the answer; None to show the draft.

        Raises `RefusedError` for a set-up that is ready and illegal.
        """
        presets = {preset.name: preset for preset in self._session.presets()}
        match typed:
            case Typed(Verb.READY):
                self._session.set_up(self._color, self.rows)
                return ""
            case Typed(Verb.PRESET, (name,)):
                if name not in presets:
                    return f"{printable(name)}: expected a preset: {', '.join(presets)}"
                self.rows = presets[name].rows
                return None
            case Typed(Verb.RANDOM, words):
                seed = words[0] if words else str(random.SystemRandom().randrange(LARGEST_SEED))
                if len(words) > 1 or not (seed.isascii() and seed.isdecimal() and len(seed) <= 10):
                    return "expected a whole number: random 7"
                self.rows = self._session.random_setup(int(seed))
                return None
            case Typed(Verb.SWAP, (first, second)):
                return self._swap(first.lower(), second.lower())
            case Typed(Verb.SETUP, (first, *more)):
                rows = tuple("/".join([first, *more]).split("/"))
                if problems := self._session.check_setup(rows).problems:
                    return printable("; ".join(problems))
                self.rows = rows
                return None
            case Typed(Verb.BOARD):
                return None
            case Typed(Verb.HELP):
                swap = "swap a10 b9" if self._color is Color.BLUE else "swap a1 b2"
                return SETUP_HELP.format(
                    presets=presets_text(self._session.presets()), rows="/".join(self.rows), swap=swap
                )
            case Typed(Verb.NOTHING):
                return ""
            case _:
                return f"{printable(typed.text)}: expected 'ready', or a change of the set-up; see 'help'"

    def _swap(self, first: str, second: str) -> str | None:
        home = HOME_SQUARES[self._color]
        for name in (first, second):
            if SQUARE_INDEX.get(name) not in home:
                return f"{printable(name)}: expected a square of your own four rows"
        letters = list("".join(self.rows))
        one, other = (home.index(SQUARE_INDEX[name]) for name in (first, second))
        letters[one], letters[other] = letters[other], letters[one]
        self.rows = tuple("".join(letters[start : start + 10]) for start in range(0, len(letters), 10))
        return f"{first} and {second} are both empty" if letters[one] == letters[other] == EMPTY else None


LONGEST_LINE = 4096
"""Characters; a longer line is cut, as it cannot be typed."""


class TypedLines:
    """The lines of a descriptor, which stays blocking, because other programs share it."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._data = b""
        self._has_ended = False
        self._can_wait = True

    async def line(self) -> str | None:
        """Return the next line without its end; None at the end of the input, or when the terminal is gone."""
        while b"\n" not in self._data and not self._has_ended:
            await self._read()
        if not self._data:
            return None
        line, _, self._data = self._data.partition(b"\n")
        return line[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")

    async def _read(self) -> None:
        if self._can_wait:
            try:
                await trio.lowlevel.wait_readable(self._descriptor)
            except PermissionError:  # a file on a disk, which can always be read
                self._can_wait = False
        else:
            await trio.lowlevel.checkpoint()
        try:
            data = os.read(self._descriptor, LONGEST_LINE)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):  # a program that shares the descriptor made it non-blocking
                return
            data = b""
        self._has_ended = not data
        self._data += data
        if len(self._data) > 2 * LONGEST_LINE and b"\n" not in self._data:
            self._data = self._data[:LONGEST_LINE]
