"""Results as JSON, for programs: nobody should have to scrape a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from arena.game.spec import Player
from arena.league.pairing import Placing
from arena.league.store import KEPT_BESIDE, Damage, GameRow
from arena.printable import printable
from arena.report.formats import PlacingEntry, placing_entry
from arena.report.standings import NAMES_ALONE, Difference, Line, Meeting, Table

NO_FAULTS: Mapping[str, str] = {}


def to_json(value: object) -> str:
    """Any value as JSON that people can read, too; it ends without a line feed."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


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


class LeagueJson(msgspec.Struct, frozen=True):
    """A whole league. Times are in milliseconds, Elo is relative to the mean of all.

    `complete` tells whether no game is known to be missing of the `planned_games`, which are the least that there can
    be where the store does not say. `difference` is that between the bots of a match, else null.
    """

    store: str
    settings: dict[str, str]
    complete: bool
    planned_games: int
    standings: tuple[Line, ...]
    difference: Difference | None
    crosstable: tuple[Meeting, ...]
    endings: dict[str, int]
    games: tuple[GameEntry, ...]
    broken: dict[str, str] = {}
    """The bots that could not be started, and why."""
    placing: PlacingEntry | None = None
    """How the format places the bots besides the table."""


def game_entry(row: GameRow, names: Mapping[Player, str] = NAMES_ALONE) -> GameEntry:
    """A stored game as a list entry; `names` are those to show, if not the players' own."""
    red, blue = (names.get(player, player.name) for player in row.players)
    return GameEntry(
        number=row.number,
        id=row.id,
        red=red,
        blue=blue,
        result=row.result.value,
        reason=row.reason.value,
        plies=row.plies,
        seconds=round(row.seconds, 3),
        detail=row.detail,
    )


def league_json(
    store: Path,
    settings: dict[str, str],
    table: Table,
    rows: Sequence[GameRow],
    faults: Mapping[str, str] = NO_FAULTS,
    *,
    names: Mapping[Player, str] = NAMES_ALONE,
    placing: Placing | None = None,
) -> str:
    """A league's results as one JSON document; `faults` are those of the bots that could not be started, by name.

    `names` are those that the table shows, if not the players' own.
    """
    document = LeagueJson(
        store=printable(str(store)),
        settings={name: value for name, value in settings.items() if not name.startswith(KEPT_BESIDE)},
        complete=table.is_complete,
        planned_games=table.planned,
        standings=table.lines,
        difference=table.difference,
        crosstable=table.meetings,
        endings={ending.reason.value: ending.games for ending in table.endings},
        games=tuple(game_entry(row, names) for row in rows),
        broken=dict(faults),
        placing=placing_entry(placing, names) if placing else None,
    )
    return to_json(document)


def games_json(rows: Sequence[GameRow], names: Mapping[Player, str] = NAMES_ALONE) -> str:
    """A list of games as JSON; `names` are those to show, if not the players' own."""
    return to_json([game_entry(row, names) for row in rows])


class FindingEntry(msgspec.Struct, frozen=True):
    """One thing that is wrong with a store; `game` is null for what is no single game's."""

    game: int | None
    text: str


class VerifyJson(msgspec.Struct, frozen=True):
    """What a check of a whole store has found."""

    store: str
    games: int
    findings: tuple[FindingEntry, ...]


def verify_json(store: Path, games: int, findings: Sequence[Damage]) -> str:
    """What `arena verify` found, as JSON."""
    return to_json(VerifyJson(str(store), games, tuple(FindingEntry(*finding) for finding in findings)))
