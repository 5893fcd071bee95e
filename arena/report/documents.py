"""Results as JSON, CSV and Markdown, for programs, spreadsheets and pages.

The trap: names of bots are text of strangers. A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a
formula, so such a name gets an apostrophe before it; in Markdown, markup is escaped.
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from arena.errors import UsageError
from arena.league.pairing.placing import Placing
from arena.league.store import NO_GAMES, Damage, GameNumbers, GameRow
from arena.report.placings import PlaceEntry, PlacingEntry, cells, headings, place_text, placing_entry
from arena.report.result_words import interval_text, points_text, started_of
from arena.report.roster import NAMES_ALONE, ShownNames, shown_name, shown_names
from arena.report.standings import (
    NOT_LOOKED_AT,
    Advantage,
    AnchorBot,
    Declared,
    Difference,
    HeadToHead,
    Line,
    Superiority,
    Table,
    with_declared,
)
from arena.system.printable import printable

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
    crosstable: tuple[HeadToHead, ...]
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


FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # noqa: RUF001  # spreadsheets take the wide ones too
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$@:^=])|(?<=\bwww)(\.)")


def check_form(
    forms: Collection[str],
    *,
    as_json: bool,
    crosstable: bool,
    pairs: bool = False,
    places: bool = False,
    rounds: bool = False,
) -> None:
    """Raise `UsageError` for options that do not go together; `forms` are those that were asked for."""
    one_form([*(f"--{form}" for form in forms), *(["--json"] if as_json else [])])
    if crosstable and not forms:
        raise UsageError("--crosstable: expected --csv or --markdown with it; the table and --json have the crosstable")
    if places and not forms:
        raise UsageError("--places: expected --csv or --markdown with it; the table and --json have the places")
    if places and crosstable:
        raise UsageError("--places: expected one of places and crosstable, and --crosstable is the other")
    for option in [*(["--pairs"] if pairs else []), *(["--rounds"] if rounds else [])]:
        if forms:
            raise UsageError(f"{option}: expected the table or --json, which have them; --{next(iter(forms))} has not")


def one_form(options: Sequence[str]) -> None:
    """Raise `UsageError` if more than one of the options that say in which form to print is given."""
    if len(options) > 1:
        raise UsageError(f"{options[0]}: expected one form of output, and {options[1]} is another")


def table_text(table: Table, form: str, *, crosstable: bool, declared: Mapping[str, Declared] = NOT_LOOKED_AT) -> str:
    """Standings or crosstable as `csv` or `markdown`; it ends with a line feed. The standings as CSV have what bots
    have said of themselves (`declared`)."""
    if form == "csv":
        return crosstable_csv(table) if crosstable else standings_csv(table, declared)
    return crosstable_markdown(table) if crosstable else standings_markdown(table)


def standings_csv(table: Table, declared: Mapping[str, Declared] = NOT_LOOKED_AT) -> str:
    """The lines of the table, with a heading and with what bots have said of themselves, by digest; it ends with a
    line feed."""
    return _csv(Line, (with_declared(line, declared) for line in table.lines))


def crosstable_csv(table: Table) -> str:
    """What each bot scored against each other one, a row for each of the two."""
    return _csv(HeadToHead, table.meetings)


def places_text(store: Path, placing: Placing | None, form: str, names: ShownNames) -> str:
    """The places of a store's format as `csv`, where a cell is empty for what the format has not, or `markdown`; it
    ends with a line feed. Raises `UsageError` for a store without."""
    if placing is None or not placing.places:
        raise UsageError(
            f"--places: expected a store whose last league was a Swiss, a knockout or a ladder, got {store}"
        )
    if form == "csv":
        return _csv(PlaceEntry, placing_entry(placing, names).places)
    rows = [
        [place_text(place), escaped(shown_name(place.player, names)), *map(escaped, cells(place, names))]
        for place in placing.places
    ]
    return _markdown(["#", "bot", *headings(placing.places[0])], rows)


def _csv(kind: type[msgspec.Struct], values: Iterable[msgspec.Struct]) -> str:
    names = [field.name for field in msgspec.structs.fields(kind)]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(getattr(value, name)) for name in names] for value in values)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return value


def standings_markdown(table: Table) -> str:
    """The table with places, points, wins, draws, losses, forfeits and Elo; it ends with a line feed."""
    rows = [
        [
            str(line.place),
            escaped(line.name),
            f"{points_text(line.points)}/{line.games}",
            str(line.wins),
            str(line.draws),
            str(line.losses),
            str(line.forfeits),
            "" if line.elo is None else f"{round(line.elo) or 0:+d}",
            "" if line.elo is None else interval_text(line.elo_low, line.elo_high),
        ]
        for line in table.lines
    ]
    return _markdown(["#", "bot", "points", "W", "D", "L", "forfeits", "Elo", "95%"], rows)


def crosstable_markdown(table: Table) -> str:
    """Points and games of the row's bot against each other one."""
    names = [line.name for line in table.lines]
    met = {(meeting.name, meeting.opponent): meeting for meeting in table.meetings}
    rows = []
    for rank, name in enumerate(names, 1):
        cells = [met.get((name, opponent)) for opponent in names]
        shown = [f"{points_text(cell.points)}/{cell.games}" if cell else "" for cell in cells]
        rows.append([str(rank), escaped(name), *shown])
    return _markdown(["#", "bot", *(str(rank) for rank in range(1, len(names) + 1))], rows)


def _markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of GitHub's Markdown: all columns but that of the names are right-aligned."""
    marks = [":--" if heading == "bot" else "--:" for heading in headings]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in ([*map(escaped, headings)], marks, *rows))


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: each character that could be markup with a backslash before it."""
    return _MARKUP.sub(r"\\\1\2", text)
