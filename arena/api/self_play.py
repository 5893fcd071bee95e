"""A bot against itself in one process, for its author: `python mine.py --play-itself`.

The kit's own conversation answers, the arena's `Referee` judges, without processes, pipes or clocks. So the bot's
exceptions have their traceback, and a debugger works. The kit imports this module by name, and only for such a game
(`protocol.game_bot`). Both sides are objects of one class in one process, so they share what the class keeps.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from arena.errors import ArenaError
from arena.game import Variant
from arena.game.game_spec import Player
from arena.game.recorded import ReplayStep
from arena.game.referee import Referee
from arena.game.registry import load_game
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games
from arena.league.league_options import LARGEST_SEED
from arena.league.settings import Settings
from arena.report.shown import SeenBy, shown_class
from arena.system.printable import counted
from arena.system.terminal_text import plain
from protocol.game_bot import AnyConversation
from protocol.seats import Color

NO_HURRY = TimeControl(move_ms=10**9, start_ms=10**9, setup_ms=10**9)
"""The time control that the bots receive, which is not enforced."""
AT = 0.0
"""The time of all messages."""
USUAL_SEED = 2
"""With 1 a game of random moves is over after one ply under isf: a scout takes the flag at once."""
PLAYED, FAILED, ASKED_WRONGLY = 0, 1, 2

MakeConversation = Callable[[], AnyConversation[Any]]


def main(name: str, converse: MakeConversation, words: Sequence[str]) -> int:
    """Play as the arguments of a command line say. Returns the exit code: 1 if the bot has lost by a fault.

    An exception of the bot is raised with a note on the ply.
    """
    options = options_parser().parse_args(words)
    try:
        variant = load_game(options.game).variant(options.rules)
    except ArenaError as error:
        print(error, file=sys.stderr)
        return ASKED_WRONGLY
    out, sys.stdout = sys.stdout, sys.stderr  # as in a game: what the bot prints must not be taken for anything else
    try:
        return play_itself(name, converse, variant, options.seed, lambda text: _write(out, text), boards=options.boards)
    except _NobodyReadsError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())  # else Python complains when it flushes at the end
        return FAILED
    finally:
        sys.stdout = out


class _NobodyReadsError(Exception):
    """The reader of standard output has ended, as in `| head`."""


def _write(out: TextIO, text: str) -> None:
    try:
        print(text, file=out, flush=True)
    except BrokenPipeError:
        raise _NobodyReadsError from None


def options_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{sys.argv[0]} --play-itself", description="Play a game of this bot against itself, and print it."
    )
    parser.add_argument("--game", default="", metavar="GAME", help="as in 'arena match' (default: Stratego)")
    parser.add_argument("--rules", default="", metavar="NAME", help="as in 'arena rules' (default: isf)")
    parser.add_argument(
        "--seed", type=_seed, default=USUAL_SEED, help="of the random numbers; other ones give another game"
    )
    parser.add_argument("--no-boards", dest="boards", action="store_false", help="print the moves alone")
    return parser


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:30]) <= LARGEST_SEED):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {LARGEST_SEED}, got {text!r}")
    return int(text)


def play_itself(
    name: str,
    converse: MakeConversation,
    variant: Variant,
    seed: int,
    write: Callable[[str], object],
    *,
    boards: bool = True,
) -> int:
    """Play a whole game and `write` it, ply by ply, with the real time of each. Returns the exit code."""
    players = Player(Color.RED.word, "red"), Player(Color.BLUE.word, "blue")
    game = _SelfPlay(Referee(Games(Settings(variant, NO_HURRY, seed)).game(*players, 0)), converse, write, boards)
    write(f"{variant.full_name}, seed {seed}: {name} against itself")
    game.play()
    verdict = game.referee.verdict
    assert verdict is not None, "no clock can void the game, and nothing is restored"
    write(f"after {counted(verdict.plies, 'ply', 'plies')}: {verdict.detail}")
    return FAILED if verdict.reason.is_forfeit else PLAYED


class _SelfPlay:
    def __init__(
        self, referee: Referee, converse: MakeConversation, write: Callable[[str], object], boards: bool
    ) -> None:
        self.referee = referee
        self._bots = tuple(converse() for _ in Color)
        self._write, self._boards = write, boards
        self._notes = self._shown = 0
        """The notes, and the positions with that of the beginning, that were written."""

    def play(self) -> None:
        while self.referee.due():
            for color in self.referee.due():
                self._ask(color)

    def _ask(self, color: Color) -> None:
        data = self.referee.take(color)
        self.referee.sent(color, AT)
        lines, answers = data.splitlines(), list[bytes]()
        started = time.perf_counter()
        try:
            for line in lines:
                answers += self._bots[color].receive_line(line)
        except (Exception, KeyboardInterrupt) as error:  # Ctrl-C shows where a bot is that does not come to an end
            when = f"ply {len(self.referee.actions) + 1}" if self.referee.state else "before the first ply"
            error.add_note(f"{color.word}, {when}, was told: {lines[-1].decode('ascii')}")
            raise
        taken = time.perf_counter() - started
        if answers:
            self.referee.receive(color, b"".join(answers), AT)
            self._show(color, taken * 1000)

    def _show(self, color: Color, milliseconds: float) -> None:
        referee, state = self.referee, self.referee.state
        for note in referee.notes[self._notes :]:
            self._write(f"note of {note.color}: {note.text}")
        self._notes = len(referee.notes)
        plies = len(referee.actions)
        if state is None or plies < self._shown:
            return
        self._shown = plies + 1
        kind, step = referee.spec.kind, None
        seen = shown_class(kind)(kind, state, SeenBy.ALL, {})
        if plies:
            step = ReplayStep(plies, color, referee.actions[-1], referee.live.told, 0)
            words = f"; {text}" if (text := seen.words(step)) else ""
            self._write(f"\nply {plies}: {color.word} {step.action}{words}  [{milliseconds:.1f} ms]")
        if self._boards:
            self._write(seen.position(step, plain).rstrip("\n"))
