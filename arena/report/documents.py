"""Results of leagues and stores as JSON, CSV and Markdown, in which names are no formulas and no markup."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from arena.errors import UsageError
from arena.league.store import GameRow
from arena.report.game_list import game_entry
from arena.report.placings import PlaceEntry, PlacingEntry
from arena.report.standings import HeadToHead, Line, Table
from arena.report.terminal import points_text, standings_columns
from arena.system.printable import printable
from arena.system.terminal_text import to_json, to_line

NO_FAULTS: Mapping[str, str] = {}


def league_json(
    store: Path,
    settings: dict[str, str],
    table: Table,
    rows: Sequence[GameRow],
    faults: Mapping[str, str] = NO_FAULTS,
    *,
    placing: PlacingEntry | None = None,
    not_counted: int = 0,
    as_line: bool = False,
) -> str:
    """Return a league as one JSON document; with `as_line` as one line of the kind `table`, without the games."""
    document = {
        "store": printable(str(store)),
        "settings": settings,
        "complete": table.is_complete,
        "planned_games": table.planned,
        "standings": table.lines,
        "difference": table.difference,
        "advantage": table.advantage,
        "draw_share": table.draw_share,
        "anchor": table.anchor,
        "crosstable": table.meetings,
        "endings": {ending.reason.value: ending.games for ending in table.endings},
        **({} if as_line else {"games": [game_entry(row, table.names) for row in rows]}),
        "against_itself": table.against_itself,
        "pairs": table.pairs,
        "broken": faults,
        "placing": placing,
        "not_counted": not_counted,
    }
    return to_line({"kind": "table", **document}) if as_line else to_json(document)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # noqa: RUF001  # spreadsheets take the wide ones too
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$@:^=])|(?<=\bwww)(\.)")


def table_text(table: Table, form: str, *, crosstable: bool) -> str:
    if form == "csv":
        return _csv(HeadToHead, table.meetings) if crosstable else _csv(Line, table.lines)
    names = [line.name for line in table.lines]
    bots = [[str(line.place), escaped(line.name)] for line in table.lines]
    if not crosstable:
        columns = [
            column for column in standings_columns(table.lines) if column.header not in ("%", "ms", "CPU", "slowest")
        ]
        cells = [["" if cell == "-" else cell for cell in column.cells] for column in columns]
        heads = [column.header for column in columns]
        return _markdown(["#", "bot", *heads], ([*bot, *row] for bot, *row in zip(bots, *cells, strict=True)))
    rows = []
    for rank, name in enumerate(names, 1):
        met = table.crosstable.row(name)
        results = [met.get(other) for other in names]
        rows.append([str(rank), escaped(name), *(f"{points_text(r.points)}/{r.games}" if r else "" for r in results)])
    return _markdown(["#", "bot", *(str(rank) for rank in range(1, len(names) + 1))], rows)


def places_text(store: Path, placing: PlacingEntry | None, form: str) -> str:
    if placing is None or not placing.places:
        raise UsageError(
            f"--places: expected a store whose last league was a Swiss, a knockout or a ladder, got {store}"
        )
    if form == "csv":
        return _csv(PlaceEntry, placing.places)
    rows = [[place.place_text, escaped(place.name), *map(escaped, placing.cells(place))] for place in placing.places]
    return _markdown(["#", "bot", *placing.headings], rows)


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
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    marks = [":--" if head == "bot" else "--:" for head in heads]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in ([*map(escaped, heads)], marks, *rows))


def escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1\2", text)
