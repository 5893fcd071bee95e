"""The record of a game that a referee has judged: all that follows from the game itself.

What the processes of the bots used and how they were held is for who ran them to add (`arena.play.runner`).
"""

import msgspec

from arena.game.record import GameRecord
from arena.game.referee import Referee


def judged(referee: Referee, *, arena: str, started: float, seconds: float, stderr: tuple[str, str]) -> GameRecord:
    """The record of a game that is over: `arena` is the version, `started` in seconds since the epoch, `stderr` of red
    and of blue."""
    spec = referee.spec
    assert referee.verdict is not None
    red, blue = referee.seats
    return GameRecord(
        id=spec.id,
        arena=arena,
        ruleset=spec.ruleset.name,
        rules=tuple(spec.ruleset.lines()),
        time=spec.time,
        players=spec.players,
        seeds=spec.seeds,
        pair_seed=spec.pair_seed,
        declared=(red.declared, blue.declared),
        setups=("/".join(red.rows) if red.rows else None, "/".join(blue.rows) if blue.rows else None),
        actions=tuple(referee.actions),
        times_us=tuple(referee.times_us),
        notes=tuple(referee.notes),
        verdict=referee.verdict,
        stderr=stderr,
        started=started,
        seconds=seconds,
        forgiven_us=tuple(referee.forgiven_us),
        interrupted=tuple(referee.interrupted),
        blue_time=spec.blue_time or msgspec.UNSET,
        authors=(red.author, blue.author) if red.author or blue.author else msgspec.UNSET,
        wants=(red.wants, blue.wants),
        opening=spec.opening or msgspec.UNSET,
        names_told=spec.names_told or msgspec.UNSET,
        cannot=(red.cannot, blue.cannot) if red.cannot or blue.cannot else msgspec.UNSET,
        time_percent=spec.time_percent or msgspec.UNSET,
    )
