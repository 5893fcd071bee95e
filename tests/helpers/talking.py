"""Games between processes that a test has started itself, judged by a referee whose clock stands still."""

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from waiting import PATIENCE

from arena.game.game_spec import GameSpec, Player
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color

if TYPE_CHECKING:
    from arena.game.seat import Introduction


class Talk:
    """One process of a bot, and where its conversation stands."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.input: IO[bytes] = process.stdin
        self.output: IO[bytes] = process.stdout
        self.introduction: Introduction | None = None


@contextmanager
def talking(
    command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[Talk]:
    """A bot that is running; at the end it must exit by itself, because it is told to."""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        silent = threading.Timer(PATIENCE, process.kill)
        silent.start()
        try:
            talk = Talk(process)
            yield talk
            talk.input.write(b"quit later\n")
            talk.input.flush()
            process.wait(PATIENCE)  # while its input is open
        finally:
            silent.cancel()
            process.kill()
    assert process.returncode == 0


def play(name: str, plies: int, talks: tuple[Talk, Talk], time: TimeControl | None = None) -> Referee:
    """A game between two processes that have perhaps played others before, cut off after so many plies."""
    ruleset = replace(load_ruleset(name), max_plies=plies)
    spec = GameSpec(
        "0" * 16, variant_of(ruleset), time or TimeControl(), (Player("r", "1"), Player("b", "2")), (7, 2**32 - 1), 5
    )
    known = {color: talk.introduction for color, talk in zip(Color, talks, strict=True) if talk.introduction}
    referee = Referee(spec, introduced=known, keeps=True)
    while referee.verdict is None:
        for color in referee.due():
            talks[color].input.write(referee.take(color))
            talks[color].input.flush()
            referee.sent(color, 0.0)
        for color in referee.awaited():
            line = talks[color].output.readline()
            assert line, f"{name}: {color} has ended"
            referee.receive(color, line, 0.0)
    for color, talk in zip(Color, talks, strict=True):
        talk.input.write(referee.take(color))
        talk.introduction = referee.seats[color].introduction
    return referee
