"""Standings and crosstable as CSV and as Markdown, for spreadsheets and for pages.

Names of bots are text of strangers here, too. A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a
formula, so a name that does gets an apostrophe before it; in Markdown, what could be markup is escaped. CSV has the
fields of `Line` and `Meeting` as they are, one row each; a cell is empty where there is no value.
"""

import csv
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from arena.errors import UsageError
from arena.league.pairing.placing import Placing
from arena.report.crosstable import Meeting
from arena.report.declared import NOT_LOOKED_AT, Declared, with_declared
from arena.report.formats import PlaceEntry, cells, headings, place_text, placing_entry
from arena.report.result_words import interval_text, points_text
from arena.report.roster import ShownNames, shown_name
from arena.report.standings import Line, Table

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
    return _csv(Meeting, table.meetings)


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
