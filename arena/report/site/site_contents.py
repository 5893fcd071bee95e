"""Reads from a store what the pages of a site show."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.errors import ArenaError, UsageError
from arena.game import Names
from arena.league.readers import HOST, Audience, Reader, readable
from arena.league.store import Damage, DamagedError, Store
from arena.report.bot_versions import VersionCount
from arena.report.game_list import Roster
from arena.report.placings import stored_table
from arena.report.site.game_page import GamePages
from arena.report.site.page_frame import Site
from arena.report.site.pages import ROUNDS_PAGE, LeagueValues, SiteContents, rules_values
from arena.system.printable import printable
from arena.version import __version__

MOST_DIALOGUES = 1000
"""The most games for which pages include transcripts by default."""
MENU = (
    ("Standings", "index.html"),
    ("Crosstable", "crosstable.html"),
    ("Games", "games.html"),
    ("Rules", "rules.html"),
)
MOST_IN_PAIRS = 60
"""The most bots for which the likelihood of superiority is shown for each pair."""


class NoGamesError(UsageError):
    pass


@dataclass(frozen=True)
class SitePlan:
    """The options of a site. The newest `newest` games have pages (None: all), and those of `numbers`.

    Without `has_logs`, whole games are shown without what only the host and authors may read (`without_logs`).
    """

    reader: Reader = HOST
    newest: int | None = None
    numbers: tuple[int, ...] = ()
    title: str = ""
    names: Names = field(default_factory=dict)
    dialogues: bool | None = None
    has_logs: bool = True


def read_site(store: Store, plan: SitePlan) -> SiteContents:
    """Read the values of a site from a store, in two passes over its rows, or three for a reader with a seat.

    Raises `DamagedError` if no game is undamaged, and `UsageError` for a reader to whom games show what others hide.
    """
    contents, players, table, placing = stored_table(store, pairs=MOST_IN_PAIRS)
    if not table.games + table.against_itself:
        if contents.damage:
            raise DamagedError(store.path, contents.damage)
        raise NoGamesError(f"{store.path}: expected a store with games, and there are none of who takes part in it")
    roster = Roster(players, contents.rows)
    league, versions = LeagueValues(table.games, roster, [line.name for line in table.lines]), VersionCount(roster)
    for row in store.each_row(counted=True):
        league.add(row)
        versions.add(row)
    reader = plan.reader
    if reader.audience is Audience.BOT:
        reader = replace(reader, bots=frozenset(roster.called(reader.name)))
    numbers = _chosen([game.number for game in league.games], plan)
    if reader.audience not in (Audience.ALL, Audience.PUBLIC):
        paged = frozenset(numbers)
        readable((row for row in store.each_row(counted=True) if row.number in paged), contents.settings, reader)
    menu = (MENU[0], ("Rounds", ROUNDS_PAGE), *MENU[1:]) if placing and placing.rounds else MENU
    return SiteContents(
        table=table,
        league=league,
        roster=roster,
        versions=versions.versions(store, contents),
        numbers=numbers,
        rules=_rules(store, league, plan.names),
        damage=contents.damage,
        placing=placing,
        not_counted=contents.not_counted,
        game_pages=GamePages(
            site=Site(plan.title or printable(store.path.stem), menu, f"Made by arena {__version__}."),
            reader=reader,
            settings=contents.settings,
            names=dict(plan.names),
            called=roster.names,
            has_dialogues=len(numbers) <= MOST_DIALOGUES if plan.dialogues is None else plan.dialogues,
            has_logs=plan.has_logs,
        ),
    )


def read_path(path: Path, plan: SitePlan) -> SiteContents:
    with Store(path, create=False) as store:
        return read_site(store, plan)


def _chosen(numbers: Sequence[int], plan: SitePlan) -> tuple[int, ...]:
    missing = sorted(set(plan.numbers) - set(numbers))
    if missing:
        raise UsageError(f"no game {missing[0]} among those of the table")
    newest = numbers if plan.newest is None else numbers[len(numbers) - min(plan.newest, len(numbers)) :]
    return tuple(sorted({*newest, *plan.numbers}))


def _rules(store: Store, league: LeagueValues, names: Names) -> dict[str, Any]:
    damage: list[Damage] = []
    for game in league.games:
        stored = store.stored(game.number)
        record = stored.sound
        if record is None:
            damage += stored.damage
            continue
        record.variant.kind.check_names(names)
        try:
            return rules_values(record.variant, names)
        except UsageError:  # that game has no page, and says why
            continue
    if damage:
        raise DamagedError(store.path, tuple(damage))
    raise ArenaError(f"{store.path}: the rules of no game in it can be read")
