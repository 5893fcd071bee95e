"""The bots of a store, a version each: `arena bots`. When it played, what it called itself, and what is new in it.

A version is its content. What it is called is the name that it had last, and versions of one name follow one another in
the order of their first games.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.bots.changed import named
from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.league.entrants import file_changes
from arena.league.store import GameRow
from arena.report.consoles import to_json
from arena.report.game_list import Roster, date_text
from arena.report.standings import declared_in
from arena.report.terminal import GAP, short_names

DIGITS = 6
"""Of a digest, as in `hunter@3f9a12`."""


class BotVersion(msgspec.Struct, frozen=True):
    """One version of a bot.

    `shown` is what tables call it, `name` that without a version. `declared` is what it called itself in its last game,
    and `author` who it said has written it.
    `first` and `last` are when the first and the last of its games began, in UTC as in ISO 8601. `took_part` is whether
    it took part when the store was last used. `before` is the digest of the version before it, and `changes` what has
    become of which of its files since: `new`, `gone` or `changed`. What is not known, or is not there, is null.
    """

    name: str
    shown: str
    digest: str
    declared: str | None
    author: str | None
    games: int
    first: str | None
    last: str | None
    took_part: bool
    before: str | None
    changes: dict[str, str] | None


@dataclass
class _Played:
    """What is counted of a version as its games go by."""

    player: Player
    games: int = 0
    first: GameRow | None = None
    last: GameRow | None = None
    starts: list[float] = field(default_factory=list)
    """The earliest and the latest start."""

    def add(self, row: GameRow) -> None:
        self.games += 1
        self.first = self.first or row
        self.last = row
        if row.started is not None:
            self.starts = [min([*self.starts, row.started]), max([*self.starts, row.started])]


class VersionCount:
    """Counts the games of each version as their rows go by; `roster` knows who is who in them."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._played = {roster.names[player]: _Played(player) for player in roster.players}

    def add(self, row: GameRow) -> None:
        for player in dict.fromkeys(row.players):
            if player in self._roster.names:  # the others have come since the roster was made
                self._played[self._roster.names[player]].add(row)

    def versions(
        self,
        entrants: Iterable[Player],
        *,
        record_of: Callable[[int], GameRecord | None],
        files_of: Callable[[Player], Mapping[str, str]],
    ) -> list[BotVersion]:
        """All versions, by name and then in the order of their first games; those who have played none come last.

        `record_of` gives the record of a game by its number, None where it cannot be read; `files_of` the fingerprints
        of a player's files, empty where they are not known.
        """
        played = self._played
        files = dict[str, Mapping[str, str]]()
        for player, shown in self._roster.names.items():
            files[shown] = files_of(player) or files.get(shown, {})
        present = {player.digest for player in entrants}
        found: list[BotVersion] = []
        for shown in sorted(played, key=self._order):
            one = played[shown]
            before = found[-1] if found and found[-1].name == one.player.name else None
            first, last = _dates(one)
            declared = declared_in(record_of(one.last.number) if one.last else None, one.player.digest)
            known = before and files[before.shown] and files[shown]
            found.append(
                BotVersion(
                    name=one.player.name,
                    shown=shown,
                    digest=one.player.digest,
                    declared=declared.name,
                    author=declared.author,
                    games=one.games,
                    first=first,
                    last=last,
                    took_part=one.player.digest in present,
                    before=before.digest if before else None,
                    changes=file_changes(files[before.shown], files[shown]) if before and known else None,
                )
            )
        return found

    def _order(self, shown: str) -> tuple[str, bool, int]:
        one = self._played[shown]
        return one.player.name, one.first is None, one.first.number if one.first else 0


def bot_versions(
    rows: Iterable[GameRow],
    roster: Roster,
    entrants: Iterable[Player],
    *,
    record_of: Callable[[int], GameRecord | None],
    files_of: Callable[[Player], Mapping[str, str]],
) -> list[BotVersion]:
    """The versions of these games, which are gone through once: see `VersionCount`."""
    count = VersionCount(roster)
    for row in rows:
        count.add(row)
    return count.versions(entrants, record_of=record_of, files_of=files_of)


def _dates(one: _Played) -> tuple[str | None, str | None]:
    """Return when the first and the last game began."""
    return (date_text(one.starts[0]) or None, date_text(one.starts[-1]) or None) if one.starts else (None, None)


def bots_json(versions: Sequence[BotVersion]) -> str:
    """All of them as one array."""
    return to_json(list(versions))


def bots_report(versions: Sequence[BotVersion], width: int) -> RenderableType:
    """A table of them, and below it what has changed from version to version."""
    if not versions:
        return Text("no bot has played here yet")
    rows = [
        (
            "*" if one.took_part else "",
            one.digest[:DIGITS],
            str(one.games),
            *((date or "-").partition("T")[0] for date in (one.first, one.last)),
        )
        for one in versions
    ]
    fixed = sum(GAP + max(map(len, column)) for column in zip(("", "version", "games", "", ""), *rows, strict=True))
    room = width - fixed - GAP
    declared = max(len("calls itself"), *(cell_len(_said(one)) for one in versions))
    short = short_names((one.name for one in versions), max(room - declared, room // 2))
    declared = max(1, room - max(len("bot"), *(cell_len(name) for name in short.values())))
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for header in ("", "bot", "version", "games", "first", "last", "calls itself"):
        justify: Literal["right", "left"] = "right" if header == "games" else "left"
        most = declared if header == "calls itself" else None
        grid.add_column(header, justify=justify, no_wrap=True, overflow="ellipsis", max_width=most)
    for one, (mark, *cells) in zip(versions, rows, strict=True):
        grid.add_row(mark, Text(short[one.name]), *cells, Text(_said(one) or "-"))
    changes = [_changes_text(one) for one in versions if one.before]
    marked = Text("* took part when the store was last used")
    below: list[RenderableType] = ["", *map(Text, changes)] if changes else []
    return Group(grid, marked, *below)


def _said(one: BotVersion) -> str:
    """What a version has said of itself, in words."""
    author = f"by {one.author}" if one.author else ""
    return ", ".join(filter(None, (one.declared, author)))


def _changes_text(one: BotVersion) -> str:
    if one.changes is None:
        words = "the store does not know the files of both"
    else:
        words = named(one.changes) or "the same files"
    return f"{one.name}@{one.digest[:DIGITS]}, against {(one.before or '')[:DIGITS]}: {words}"
