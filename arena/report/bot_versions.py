"""`arena bots`: the versions of the bots of a store, with their games and changed files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import msgspec

from arena.bots.covered import file_changes, named
from arena.game.game_spec import Player
from arena.league.store import Contents, GameRow, Store
from arena.report.game_list import Roster, date_text
from arena.report.standings import declared_in
from arena.report.terminal import short_names
from arena.system.terminal_text import GAP, Block, Grid, GridColumn, cell_len

DIGITS = 6


class BotVersion(msgspec.Struct, frozen=True):
    """One version of a bot; unknown values are null.

    `shown` is its name in tables; `declared` and `author` are from its last game. `first` and `last` are the starts of
    its first and last game, in UTC as in ISO 8601. `took_part` tells whether it took part when the store was last used.
    `before` is the digest of the previous version, `changes` its `new`, `gone` and `changed` files.
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
    player: Player
    games: int = 0
    first: int | None = None
    last: int | None = None
    earliest: float = inf
    latest: float = 0.0

    def add(self, row: GameRow) -> None:
        self.games += 1
        self.first = self.first or row.number
        self.last = row.number
        self.earliest, self.latest = min(self.earliest, row.started), max(self.latest, row.started)


class VersionCount:
    """Counts the games of each version of a roster."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._played = {roster.names[player]: _Played(player) for player in roster.players}

    def add(self, row: GameRow) -> None:
        for player in dict.fromkeys(row.players):
            if player in self._roster.names:  # the others have come since the roster was made
                self._played[self._roster.names[player]].add(row)

    def versions(self, store: Store, contents: Contents[Any]) -> list[BotVersion]:
        """Return all versions by name and first game; those without games come last."""
        played = self._played
        files = dict[str, Mapping[str, str]]()
        for player, shown in self._roster.names.items():
            files[shown] = contents.kept.files_of(player) or files.get(shown, {})
        present = {player.digest for player in contents.entrants}
        found: list[BotVersion] = []
        for shown in sorted(played, key=lambda shown: (played[shown].player.name, played[shown].first or inf)):
            one = played[shown]
            before = found[-1] if found and found[-1].name == one.player.name else None
            first, last = (date_text(time) or None for time in (one.earliest, one.latest))
            declared, author = declared_in(store.stored(one.last).sound if one.last else None, one.player.digest)
            known = before and files[before.shown] and files[shown]
            found.append(
                BotVersion(
                    name=one.player.name,
                    shown=shown,
                    digest=one.player.digest,
                    declared=declared,
                    author=author,
                    games=one.games,
                    first=first,
                    last=last,
                    took_part=one.player.digest in present,
                    before=before.digest if before else None,
                    changes=file_changes(files[before.shown], files[shown]) if before and known else None,
                )
            )
        return found


def bots_report(versions: Sequence[BotVersion], width: int) -> list[Block]:
    if not versions:
        return ["no bot has played here yet"]
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
    last = GridColumn("calls itself", most=declared)
    grid = Grid("", "bot", "version", GridColumn("games", ">"), "first", "last", last)
    for one, (mark, *cells) in zip(versions, rows, strict=True):
        grid.add_row(mark, short[one.name], *cells, _said(one) or "-")
    changes = [_changes_text(one) for one in versions if one.before]
    return [grid, "* took part when the store was last used", *(["", *changes] if changes else [])]


def _said(one: BotVersion) -> str:
    author = f"by {one.author}" if one.author else ""
    return ", ".join(filter(None, (one.declared, author)))


def _changes_text(one: BotVersion) -> str:
    if one.changes is None:
        words = "the store does not know the files of both"
    else:
        words = named(one.changes) or "the same files"
    return f"{one.name}@{one.digest[:DIGITS]}, against {(one.before or '')[:DIGITS]}: {words}"
