"""Results as JSON, for programs: nobody should have to scrape a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from arena.league.pairing.placing import Placing
from arena.league.store import NO_GAMES, Damage, GameNumbers, GameRow
from arena.printable import printable
from arena.report.crosstable import Meeting
from arena.report.declared import NOT_LOOKED_AT, Declared, with_declared
from arena.report.formats import PlacingEntry, placing_entry
from arena.report.game_facts import started_of
from arena.report.roster import NAMES_ALONE, ShownNames, shown_names
from arena.report.standings import Advantage, AnchorBot, Difference, Line, Superiority, Table

if TYPE_CHECKING:
    from arena.league.exchange import Imported
    from arena.league.record_file import LineFault

NO_FAULTS: Mapping[str, str] = {}


def to_json(value: object) -> str:
    """Any value as JSON that people can read, too; it ends without a line feed."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def to_line(value: object) -> str:
    """Any value as JSON in one line, which ends without a line feed."""
    return msgspec.json.encode(value).decode()


class GameEntry(msgspec.Struct, frozen=True, tag_field="kind", tag="game"):
    """One game, wherever it is listed.

    `result` names the side that won, or is `draw`, or `neither` for a game that both lost.
    `started` is in UTC, as in ISO 8601; `pair` is the same number in both games of a pair. They are null where a store
    does not say them beside the record.
    """

    number: int
    id: str
    red: str
    blue: str
    result: str
    reason: str
    plies: int
    seconds: float
    detail: str
    red_digest: str
    blue_digest: str
    started: str | None
    pair: int | None
    counted: bool = True
    """False for a game between the bots of the last league that this does not count."""


class LeagueJson(msgspec.Struct, frozen=True):
    """A whole league. Times are in milliseconds, Elo is relative to the mean of all, or to the `anchor`.

    `complete` tells whether no game is known to be missing of the `planned_games`, which are the least that there can
    be where the store does not say; both are null where no league of just these bots was played in the store, as after
    an import. `difference` is that between the bots of a match, else null. `advantage` is what
    the side of Red is worth, `draw_share` the share of their games that equal bots draw; both are null before any game.
    `pairs` has the likelihood of superiority of each two bots, and is null if it was not asked for. `against_itself`
    counts games of a bot against itself, which are among the `games` and count nowhere else. `not_counted` is how many
    games the store holds between these bots that their league does not count; they are not among the `games`.
    """

    store: str
    settings: dict[str, str]
    complete: bool | None
    planned_games: int | None
    standings: tuple[Line, ...]
    difference: Difference | None
    advantage: Advantage | None
    draw_share: float | None
    anchor: AnchorBot | None
    crosstable: tuple[Meeting, ...]
    endings: dict[str, int]
    games: tuple[GameEntry, ...]
    against_itself: int = 0
    pairs: tuple[Superiority, ...] | None = None
    broken: dict[str, str] = {}
    """The bots that could not be started, and why."""
    placing: PlacingEntry | None = None
    """How the format places the bots besides the table."""
    not_counted: int = 0


def game_entry(row: GameRow, names: ShownNames = NAMES_ALONE, not_counted: GameNumbers = NO_GAMES) -> GameEntry:
    """A stored game as a list entry; `names` are those to show, if not the players' own, `not_counted` the games that
    the last league does not count."""
    red, blue = shown_names(row.players, names)
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
        red_digest=row.players[0].digest,
        blue_digest=row.players[1].digest,
        started=started_of(row),
        pair=row.pair_seed,
        counted=row.number not in not_counted,
    )


def league_json(
    store: Path,
    settings: dict[str, str],
    table: Table,
    rows: Sequence[GameRow],
    faults: Mapping[str, str] = NO_FAULTS,
    *,
    names: ShownNames = NAMES_ALONE,
    placing: Placing | None = None,
    declared: Mapping[str, Declared] = NOT_LOOKED_AT,
    not_counted: int = 0,
    as_line: bool = False,
) -> str:
    """A league's results as one JSON document; `faults` are those of the bots that could not be started, by name.

    `names` are those that the table shows, if not the players' own; `declared` is what bots have said of themselves, by
    digest. With `as_line` it is one line, of the kind `table`,
    without the games.
    """
    document = LeagueJson(
        store=printable(str(store)),
        settings=settings,
        complete=table.is_complete,
        planned_games=table.planned,
        standings=tuple(with_declared(line, declared) for line in table.lines),
        difference=table.difference,
        advantage=table.advantage,
        draw_share=table.draw_share,
        anchor=table.anchor,
        crosstable=table.meetings,
        endings={ending.reason.value: ending.games for ending in table.endings},
        games=tuple(game_entry(row, names) for row in rows),
        against_itself=table.against_itself,
        pairs=table.pairs,
        broken=dict(faults),
        placing=placing_entry(placing, names) if placing else None,
        not_counted=not_counted,
    )
    return kind_line("table", document, but="games") if as_line else to_json(document)


def kind_line(kind: str, document: msgspec.Struct, but: str = "") -> str:
    """A document as JSON in one line that names its `kind`; without the field `but`."""
    fields = {name: value for name, value in msgspec.structs.asdict(document).items() if name != but}
    return to_line({"kind": kind, **fields})


class PausedJson(msgspec.Struct, frozen=True, tag_field="kind", tag="paused"):
    """A game that was saved in a file after so many plies."""

    file: str
    plies: int


def pausable_json(ended: "GameRow | PausedJson", *, as_line: bool) -> str:
    """What became of a game that can be interrupted: it is over, or saved."""
    value = ended if isinstance(ended, PausedJson) else game_entry(ended)
    return to_line(value) if as_line else to_json(value)


def games_json(rows: Sequence[GameRow], names: ShownNames = NAMES_ALONE, not_counted: GameNumbers = NO_GAMES) -> str:
    """A list of games as JSON; the rest is as for `game_entry`."""
    return to_json([game_entry(row, names, not_counted) for row in rows])


def game_lines(
    rows: Iterable[GameRow], names: ShownNames = NAMES_ALONE, not_counted: GameNumbers = NO_GAMES
) -> Iterator[str]:
    """The same as one object a line."""
    return (to_line(game_entry(row, names, not_counted)) for row in rows)


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
    return to_json(VerifyJson(printable(str(store)), games, tuple(FindingEntry(*finding) for finding in findings)))


class LineEntry(msgspec.Struct, frozen=True):
    """One thing that is wrong with a line of a file of records."""

    line: int
    text: str


class VerifyFileJson(msgspec.Struct, frozen=True):
    """What a check of a file of records has found; `games` counts its lines."""

    file: str
    games: int
    findings: tuple[LineEntry, ...]


def verify_file_json(file: Path, games: int, findings: "Sequence[LineFault]") -> str:
    """What `arena verify FILE` found, as JSON."""
    return to_json(VerifyFileJson(printable(str(file)), games, tuple(LineEntry(*finding) for finding in findings)))


class ImportJson(msgspec.Struct, frozen=True):
    """What an import has done: how many games it added, and how many were there."""

    store: str
    imported: int
    present: int


def import_json(store: Path, imported: "Imported") -> str:
    """What `arena import` did, as JSON."""
    return to_json(ImportJson(printable(str(store)), imported.new, imported.present))
