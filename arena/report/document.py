"""Results as JSON, for programs: nobody should have to scrape a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from arena.printable import printable
from arena.report.standings import Line, Meeting, Table
from arena.store import KEPT_BESIDE, GameRow
from protocol.notation import Color

NO_FAULTS: Mapping[str, str] = {}


class GameEntry(msgspec.Struct, frozen=True):
    """One game in a list. `result` names the side that won, or is `draw`, or `neither` for a game that both lost."""

    number: int
    id: str
    red: str
    blue: str
    result: str
    reason: str
    plies: int
    seconds: float
    detail: str


class LeagueDocument(msgspec.Struct, frozen=True):
    """A whole league. Times are in milliseconds, Elo is relative to the mean of all."""

    store: str
    settings: dict[str, str]
    standings: tuple[Line, ...]
    crosstable: tuple[Meeting, ...]
    endings: dict[str, int]
    games: tuple[GameEntry, ...]
    broken: dict[str, str] = {}
    """The bots that could not be started, and why."""


def game_entry(row: GameRow) -> GameEntry:
    """A stored game as a list entry."""
    return GameEntry(
        number=row.number,
        id=row.id,
        red=row.players[Color.RED].name,
        blue=row.players[Color.BLUE].name,
        result=row.result.value,
        reason=row.reason.value,
        plies=row.plies,
        seconds=round(row.seconds, 3),
        detail=row.detail,
    )


def league_document(
    store: Path,
    settings: dict[str, str],
    table: Table,
    rows: Sequence[GameRow],
    faults: Mapping[str, str] = NO_FAULTS,
) -> str:
    """A league's results as one JSON document; `faults` are those of the bots that could not be started, by name."""
    document = LeagueDocument(
        store=printable(str(store)),
        settings={name: value for name, value in settings.items() if not name.startswith(KEPT_BESIDE)},
        standings=table.lines,
        crosstable=table.meetings,
        endings={ending.reason.value: ending.games for ending in table.endings},
        games=tuple(game_entry(row) for row in rows),
        broken=dict(faults),
    )
    return _json(document)


def games_document(rows: Sequence[GameRow]) -> str:
    """A list of games as JSON."""
    return _json([game_entry(row) for row in rows])


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
