"""What there is to say of a recorded game besides its moves, as values: who played, when, under what, how it ended.

A side is told no more than it knew: its own seed, set-up and standard error, and no words on a fault of the other. What
a bot says of itself can be anything, a set-up too: it is told to whom the rest of its own words is told.
"""

from datetime import UTC, datetime

import msgspec

from arena.game.faults import lost_by
from arena.game.persons import is_person
from arena.game.record import GameRecord
from arena.game.record_lines import ALL
from arena.game.seat_lines import PUBLIC, verdict_words
from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.roster import ShownNames, shown_name
from protocol.notation import COLOR_BY_WORD, Color

A_PERSON = "a person"
DIGEST_DIGITS = 12
"""So much of a digest is shown; `--json` has all of it."""


class SideFacts(msgspec.Struct, frozen=True):
    """One side of a game. `name` is the one that tables show, `declared` what the bot called itself in this game,
    `author` who it said has written it: empty if it said nothing, or if whoever looks may not read its own words.

    `time` is its time control as options write it, before it is scaled; `sandbox` is how
    it was held, empty where that is not known, and `A_PERSON` where there was nothing to hold. `seed` is None if
    whoever looks may not know it.
    """

    name: str
    digest: str
    declared: str
    author: str
    time: str
    seed: int | None
    sandbox: str
    stderr: str | None
    setup: str | None


class GameFacts(msgspec.Struct, frozen=True):
    """A game without its moves. `has_opening` is whether both were given their set-ups. `started` is in UTC, as in ISO
    8601, `seconds` is how long it took. `time_percent` is by how much clocks were scaled to the machine, if they were.
    """

    number: int
    id: str
    started: str
    arena: str
    ruleset: str
    pair_seed: int | None
    has_opening: bool
    time_percent: int | None
    red: SideFacts
    blue: SideFacts
    result: str
    reason: str
    plies: int
    detail: str
    seconds: float


def facts_of(number: int, record: GameRecord, view: str, names: ShownNames) -> GameFacts:
    """The facts as `view` (`all`, a colour or `public`) may know them. `names` are to be shown, where not their own."""
    red, blue = (_side(record, color, view, names) for color in Color)
    verdict = record.verdict
    return GameFacts(
        number=number,
        id=record.id,
        started=date_text(record.started),
        arena=record.arena,
        ruleset=record.ruleset,
        pair_seed=record.pair_seed if view == ALL else None,
        has_opening=bool(record.opening),
        time_percent=record.time_percent or None,
        red=red,
        blue=blue,
        result=verdict.result.value,
        reason=verdict.reason.value,
        plies=verdict.plies,
        detail=detail_for(record, view),
        seconds=round(record.seconds, 3),
    )


def _side(record: GameRecord, color: Color, view: str, names: ShownNames) -> SideFacts:
    player = record.players[color]
    is_seen = view in (ALL, color.word)
    return SideFacts(
        name=shown_name(player, names),
        digest=player.digest,
        declared=record.declared[color] if is_seen else "",
        author=record.authors[color] if is_seen and record.authors else "",
        time=record.nominal_times[color].text,
        seed=record.seeds[color] if is_seen else None,
        sandbox=A_PERSON if is_person(player) else record.confinement[color],
        stderr=record.stderr[color] if is_seen else None,
        setup=record.setups[color] if is_seen else None,
    )


def detail_for(record: GameRecord, view: str) -> str:
    """How the game ended, in the words that this view may read: those on a fault can name a rank."""
    verdict = record.verdict
    if view == ALL:
        return verdict.detail
    if view == PUBLIC and verdict.result is not GameResult.NEITHER:
        loser = verdict.result.winner.opponent if verdict.result.winner is not None else None
        return lost_by(record.players, loser, verdict.reason)
    return verdict_words(record, COLOR_BY_WORD.get(view, Color.RED))


def date_text(seconds: float) -> str:
    """A moment, in seconds since the epoch, in UTC as in ISO 8601; empty for none that a calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def started_of(row: GameRow) -> str | None:
    """When a game was begun; None where the store does not say it."""
    return None if row.started is None else date_text(row.started) or None
