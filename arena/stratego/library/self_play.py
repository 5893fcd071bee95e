"""A bot against itself in one process, for its author: `python mine.py --play-itself`.

The kit's own `Conversation` answers, the arena's `Referee` judges, without processes, pipes or clocks. So the bot's
exceptions have their traceback, and a debugger works. The kit imports this module by name, and only for such a game
(`protocol.bot`). Both sides are objects of one class in one process, so they share what the class keeps.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from arena.errors import ArenaError
from arena.game.game_spec import Player
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.game.verdict import GameResult
from arena.league.game_ids import Games
from arena.league.league_options import LARGEST_SEED
from arena.league.settings import Settings
from arena.stratego.game import variant_of
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.shown.boards import board_text, marks_of
from arena.stratego.shown.event_words import told_words
from arena.stratego.shown.piece_names import DEFAULT_NAMES
from arena.stratego.state import as_stratego
from arena.system.printable import counted
from protocol.bot import Bot, Conversation
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.notation import Color

NO_HURRY = TimeControl(move_ms=10**9, start_ms=10**9, setup_ms=10**9)
"""The time control that the bots receive, which is not enforced."""
AT = 0.0
"""The time of all messages."""
USUAL_SEED = 2
"""With 1 a game of random moves is over after one ply under isf: a scout takes the flag at once."""
PLAYED, FAILED, ASKED_WRONGLY = 0, 1, 2


def main(make_bot: Callable[[], Bot], words: Sequence[str]) -> int:
    """Play as the arguments of a command line say. Returns the exit code: 1 if the bot has lost by a fault.

    An exception of the bot is raised with a note on the ply.
    """
    options = options_parser().parse_args(words)
    try:
        ruleset = load_ruleset(options.rules)
    except (RulesetError, ArenaError) as error:
        print(f"--rules: {error}", file=sys.stderr)
        return ASKED_WRONGLY
    out, sys.stdout = sys.stdout, sys.stderr  # as in a game: what the bot prints must not be taken for anything else
    try:
        return play_itself(make_bot, ruleset, options.seed, lambda text: _write(out, text), boards=options.boards)
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
    parser.add_argument("--rules", default="isf", metavar="NAME", help="as in 'arena rules' (default: isf)")
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
    make_bot: Callable[[], Bot], ruleset: Ruleset, seed: int, write: Callable[[str], object], *, boards: bool = True
) -> int:
    """Play a whole game and `write` it, ply by ply, with the real time of each. Returns the exit code."""
    players = Player("red", "red"), Player("blue", "blue")
    spec = Games(Settings(variant_of(ruleset), NO_HURRY, seed)).game(*players, 0)
    game = _SelfPlay(Referee(spec), make_bot, write, boards=boards)
    write(f"{ruleset.name}, seed {seed}: {getattr(make_bot, '__name__', 'the bot')} against itself")
    game.play()
    verdict = game.referee.verdict
    assert verdict is not None, "no clock can void the game, and nothing is restored"
    plies = counted(verdict.plies, "ply", "plies")
    write(f"after {plies}: {verdict.detail}")
    return FAILED if verdict.reason.is_forfeit or verdict.result is GameResult.NEITHER else PLAYED


class _SelfPlay:
    def __init__(
        self, referee: Referee, make_bot: Callable[[], Bot], write: Callable[[str], object], *, boards: bool
    ) -> None:
        self.referee = referee
        self._bots = tuple(Conversation(make_bot) for _ in Color)
        self._write, self._boards = write, boards
        self._shown = 0
        self._notes = 0

    def play(self) -> None:
        while self.referee.due():
            for color in self.referee.due():
                self._ask(color)

    def _ask(self, color: Color) -> None:
        data = self.referee.take(color)
        self.referee.sent(color, AT)
        started = time.perf_counter()
        answers = []
        try:
            for line in data.splitlines(keepends=True):
                message = decode_for_bot(line)
                if message is not None:
                    answers += [encode_from_bot(answer) for answer in self._bots[color].receive(message)]
        except (Exception, KeyboardInterrupt) as error:  # Ctrl-C shows where a bot is that does not come to an end
            error.add_note(f"{color.word}, {self._when()}, was told: {_last_line(data)}")
            raise
        milliseconds = (time.perf_counter() - started) * 1000
        if answers:
            self.referee.receive(color, b"".join(answers), AT)
            self._show(color, milliseconds)

    def _when(self) -> str:
        return f"ply {len(self.referee.actions) + 1}" if self.referee.state else "before the first ply"

    def _show(self, color: Color, milliseconds: float) -> None:
        referee = self.referee
        for note in referee.notes[self._notes :]:
            self._write(f"note of {note.color}: {note.text}")
        self._notes = len(referee.notes)
        if referee.state is None:
            return
        state = as_stratego(referee.state)
        plies = len(referee.actions)
        if plies > self._shown:
            words = "; ".join(filter(None, (referee.actions[-1], told_words(state.events, DEFAULT_NAMES))))
            self._write(f"\nply {plies}: {color.word} {words}  [{milliseconds:.1f} ms]")
        if self._boards and (plies > self._shown or not plies):
            self._write(board_text(state.cells(None), marks_of(state.events)))
        self._shown = plies


def _last_line(data: bytes) -> str:
    lines = data.decode("ascii").splitlines()
    return lines[-1] if lines else ""
