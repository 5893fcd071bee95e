"""A game in the terminal: a session shown line by line, and the person's input.

From a pipe, a line is read only when it is needed, so that a file of moves can be played. Lines are read without a
thread, so that waiting can be cancelled.
"""

import errno
import os
import secrets
import sys
from collections.abc import Sequence

import trio

from arena.cli.streams import AUTO, flush_results, paint_for, result
from arena.game import displayed
from arena.game.person_seat import SeatStage, SeatState
from arena.play.session import RefusedError, Session
from arena.report.shown import WIDTH, clock_lines, end_words, stage_words, title, wrapped
from arena.system.concurrency import open_nursery
from arena.system.printable import printable
from arena.system.terminal_text import fitted, width_of
from protocol.seats import COLOR_WORDS, RESIGN, Color

CLEAR = "\x1b[H\x1b[2J"
"""Clears the screen alone: earlier output of the terminal stays in its history."""
ASKED = (SeatStage.MOVING, SeatStage.SETTING_UP)
BEFORE = (SeatStage.STARTING, SeatStage.SETTING_UP, SeatStage.READY)
LINES_SHOWN = 6
MOST_LISTED = 3
"""Screen lines of actions that are listed unasked."""
HELP = """\
{example:<14} play this; 'move {example}' where that word is a command, too
moves          show all that you may do
board          show the position again
history        show what you were told so far
rules          show the rules in force
resign         give the game up
pause          save the game, to go on another day (so does Ctrl-C)"""
SETUP_HELP = """\
random [SEED]  set up at random
setup TEXT     set up so
rules          show the rules in force
pause          leave; there is nothing to save yet"""


async def terminal_face(session: Session) -> None:
    """Show a session with one person in this terminal: a face for `arena.league.person_game`."""
    (color,) = session.persons
    kind = displayed(session.spec.kind.displays.terminal, TerminalGame)
    await kind(session, color).play()


class TerminalGame:
    """A game of any kind in the terminal. A game may have a class of its own below this one."""

    def __init__(self, session: Session, color: Color) -> None:
        self.session, self.color = session, color
        self._lines = TypedLines()
        self._is_typed = sys.stdin.isatty()
        self.redraws = self._is_typed and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self.paint = paint_for(AUTO)
        self._shown: tuple[SeatStage, int, int] | None = None
        """The stage, the ply and the lines on the screen."""
        self._told = 0
        self._remarked = ""
        self._has_drawn = False

    async def play(self) -> None:
        while True:
            state = self.session.state(self.color)
            self._show(state)
            if state.stage in (SeatStage.OVER, SeatStage.PAUSED):
                return
            for line in await self._next(state):
                if line is None:
                    return  # the game is paused
                if not self._is_typed:
                    self._print(f"> {printable(line)}")
                self._do(line)

    async def _next(self, state: SeatState) -> list[str | None]:
        """Wait for a line or a change of the state; return the line, or an empty list. None is the end of the input."""
        read: list[str | None] = []
        async with open_nursery() as nursery:

            async def read_line() -> None:
                read.append(await self._lines.line())
                nursery.cancel_scope.cancel()

            async def watch() -> None:
                await self.session.changed(self.color, state.version)
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

    def _now(self, state: SeatState) -> tuple[SeatStage, int, int]:
        return state.stage, state.plies, len(self.session.seat(self.color).lines)

    def _show(self, state: SeatState) -> None:
        now = self._now(state)
        if now == self._shown:
            self._tell_remark(state)
            return
        is_new = self._shown is None or self._shown[:2] != now[:2]
        self.changed(state, is_first=self._shown is None or self._shown[0] is SeatStage.STARTING)
        self._shown = now
        if state.stage is SeatStage.SETTING_UP:
            self._print(self.replacing(self.setup_screen(state)))
        elif state.stage is SeatStage.STARTING:
            self._print(stage_words(state))
        elif self.redraws:
            self._print(self.replacing(self.screen(state)))
            self._remarked = state.remark  # it is on the screen
        else:
            for line in self.news():
                self._print(line)
            if state.stage in (SeatStage.MOVING, SeatStage.OVER):
                self._print(self.screen(state))
            elif state.stage is not SeatStage.WAITING and is_new:
                self._print(stage_words(state))
        self._tell_remark(state)
        self._prompt(state)

    def replacing(self, screen: str) -> str:
        """Return a screen that replaces the last one; the first one keeps earlier output."""
        is_first, self._has_drawn = not self._has_drawn, True
        return f"{CLEAR}{screen}" if self.redraws and not is_first else screen

    def _tell_remark(self, state: SeatState) -> None:
        if state.remark != self._remarked:
            self._remarked = state.remark
            self._print(printable(state.remark))

    def _do(self, line: str) -> None:
        state = self.session.state(self.color)
        try:
            answer = self.answer(line, state)
        except RefusedError as error:
            answer = printable(str(error))
        after = self.session.state(self.color)
        if answer:
            self._print(answer)
        if self._now(after) == self._shown:
            self._prompt(after)

    def pause(self, state: SeatState) -> None:
        (self.session.leave if state.stage in BEFORE else self.session.pause)()

    # --- what a game may show in its own way --------------------------------------------------------------------------

    def changed(self, state: SeatState, *, is_first: bool) -> None:
        """Called before anything new is shown; when `is_first` a resumed game has been played in part."""
        del state
        if is_first:
            self._told = max(0, len(self.session.seat(self.color).lines) - LINES_SHOWN)

    def news(self) -> list[str]:
        """Return the events since the last call, for a terminal that does not redraw."""
        lines = self.session.seat(self.color).lines[self._told :]
        self._told += len(lines)
        return [printable(line) for line in lines]

    def screen(self, state: SeatState) -> str:
        lines = [self.paint(title(state, seats=self._seats()), "bold")]
        lines += clock_lines(state, self.color)
        if text := self.session.text(self.color):
            lines += ["", *printable(text, lines=True).split("\n"), ""]
        if self.redraws:
            lines += map(printable, self.session.seat(self.color).lines[-LINES_SHOWN:])
        if state.stage is SeatStage.MOVING:
            listed = self._listed(state)
            if 0 < len(listed) <= MOST_LISTED:
                lines += ["you may play:", *listed]
            else:
                how = "'moves' lists" if listed else "type"
                lines.append(f"{how} what you may play, 'help' explains all")
        lines += [part for text in (end_words(state), state.remark) for part in wrapped(text, columns())]
        return "\n".join(lines)

    def _seats(self) -> Sequence[str]:
        names = [name.lower() for name in self.session.spec.kind.seat_names]
        return [word if name == word else f"{name}, {word}" for name, word in zip(names, COLOR_WORDS, strict=True)]

    def _listed(self, state: SeatState) -> list[str]:
        return wrapped("  ".join(state.choices), columns())

    def setup_screen(self, state: SeatState) -> str:
        return f"{title(state)}\nyour set-up: type 'setup' and the text of it, or 'random'; 'help' explains"

    def answer(self, line: str, state: SeatState) -> str:
        text = line.strip()
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if text in state.choices or (word == "move" and rest):
            self.session.act(self.color, text if text in state.choices else rest)
            return ""
        match word.lower():
            case "":
                return ""
            case "setup" if rest:
                self.session.set_up(self.color, rest.split("/"))
            case "random":
                self.session.set_up(self.color, self.session.random_setup(self.color, seed_of(rest)))
            case "moves":
                if state.stage is not SeatStage.MOVING:
                    return "it is not your turn"
                return "\n".join(self._listed(state)) or "this game does not list them: see 'rules'"
            case "board":
                return self.replacing(self.screen(state))
            case "history":
                return "\n".join(map(printable, self.session.seat(self.color).lines)) or "nothing so far"
            case "rules":
                words = self.session.spec.kind.rules_in_words(self.session.spec.variant)
                return "\n".join([*([words] if words else []), *(f"{name} {value}" for name, value in state.rules)])
            case "pause" | "quit" | "exit":
                self.pause(state)
            case "help" | "?" | "h":
                if state.stage is SeatStage.SETTING_UP:
                    return SETUP_HELP
                return HELP.format(example=next(iter(state.choices), "ACTION"))
            case _ if text == RESIGN:
                self.session.resign(self.color)
            case _ if state.stage is SeatStage.SETTING_UP:
                return f"{printable(text, 60)}: expected 'setup' and a set-up, or 'random'; see 'help'"
            case _:
                self.session.act(self.color, text)
        return ""


def seed_of(text: str) -> int:
    if not text:
        return secrets.randbits(32)
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise RefusedError("expected a whole number: random 7")
    return int(text)


def columns() -> int:
    return width_of(sys.stdout) if sys.stdout.isatty() else WIDTH


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
