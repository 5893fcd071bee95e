"""A site as text: each page of a league by its name, made when it is asked for, and nothing on any disk.

`arena.report.site.build` writes the pages to a folder; whoever serves them asks for one at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from arena.errors import ArenaError, UsageError
from arena.game.time_control import parse_time
from arena.league.store import Damage, Store, files_in
from arena.printable import printable
from arena.report.bots import BotVersion, VersionCount
from arena.report.names import DEFAULT_NAMES, Names
from arena.report.roster import Roster, players_of
from arena.report.site.audience import Audience
from arena.report.site.frame import Frame, Site
from arena.report.site.game_texts import GameTexts
from arena.report.site.pages import LeaguePages
from arena.report.site.values import League
from arena.report.standings import Table, make_table
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import Ruleset
from arena.version import __version__

MOST_DIALOGUES = 1000
"""Games up to which pages have the dialogues."""
MENU = (
    ("Standings", "index.html"),
    ("Crosstable", "crosstable.html"),
    ("Games", "games.html"),
    ("Rules", "rules.html"),
)
MOST_IN_PAIRS = 60
"""Bots up to which the likelihood of superiority of each two is shown."""


class NoGamesError(UsageError):
    """A store without a game of those who take part in it."""


@dataclass(frozen=True)
class SitePlan:
    """What a site is to be. `newest` is how many games have pages, None for all; `numbers` are those that have one in
    any case, or alone if `newest` is 0. `dialogues` is whether pages have all that was said to the bots and by them,
    which is most of their size; None: unless there are many games."""

    audience: Audience = Audience.ALL
    newest: int | None = None
    numbers: tuple[int, ...] = ()
    title: str = ""
    names: Names = DEFAULT_NAMES
    dialogues: bool | None = None


@dataclass(frozen=True)
class Played:
    """What the records of the games that have pages come to: `times` counts each bot's moves as `charts.histogram`
    does, `faults` says of games why they have no page after all."""

    times: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    faults: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteContents:
    """What the pages of a league are made from. `numbers` are the games that are to have pages."""

    plan: SitePlan
    site: Site
    table: Table
    league: League
    roster: Roster
    versions: Sequence[BotVersion]
    settings: Mapping[str, str]
    numbers: tuple[int, ...]
    ruleset: Ruleset
    damage: tuple[Damage, ...]

    @cached_property
    def game_texts(self) -> GameTexts:
        """What makes the pages of its games, from their records."""
        plan = self.plan
        return GameTexts(
            site=self.site,
            audience=plan.audience,
            language=plan.names.language,
            numbering=plan.names.numbering,
            shown=tuple(self.roster.names.items()),
            has_dialogues=len(self.numbers) <= MOST_DIALOGUES if plan.dialogues is None else plan.dialogues,
        )

    @cached_property
    def pages(self) -> LeaguePages:
        return LeaguePages(Frame(self.site), self.table, self.league)

    def names(self) -> Iterator[str]:
        """The names of all pages and scripts but those of the games."""
        yield from ("index.html", "crosstable.html", "games.js", "rules.html")
        yield from self.pages.list_names
        yield from self.pages.href.values()

    def text(self, name: str, played: Played) -> str | None:
        """The page or script of this name; None if there is none of it, or it is that of a game."""
        pages = self.pages
        match name:
            case "index.html":
                return pages.standings(self._summary())
            case "crosstable.html":
                return pages.crosstable()
            case "rules.html":
                return pages.rules(self.ruleset, self.plan.names)
            case "games.js":
                return pages.games_script(self._shown(played))
        if name in pages.list_names:
            return pages.games(name, self._shown(played))
        for line in self.table.lines:
            if pages.href[line.name] == name:
                versions = [one for one in self.versions if one.digest == line.digest]
                return pages.bot(line, versions, played.times.get(line.name, {}), _limit(self.settings))
        return None

    def _shown(self, played: Played) -> frozenset[int]:
        return frozenset(self.numbers) - played.faults.keys()

    def _summary(self) -> str:
        rules, time = (printable(self.settings.get(name, "not known")) for name in ("ruleset", "time"))
        return f"{len(self.table.lines)} bots, {self.table.games} games; rules {rules}, time {time}"


def read_site(store: Store, plan: SitePlan) -> SiteContents:
    """What the pages of a store are made from: its rows are gone through twice. Raises `UsageError` for a store without
    games, and for games of the plan that are not there."""
    contents = store.count()
    settings = contents.settings
    players = contents.entrants or players_of(contents.rows, contents.entrants)
    pairs = len(players) <= MOST_IN_PAIRS
    planned, meets_all = contents.planned_for(players)
    table = make_table(players, contents.rows, planned, meets_all=meets_all, pairs=pairs)
    if not table.games:
        raise NoGamesError(f"{store.path}: expected a store with games, and there are none of who takes part in it")
    roster = Roster(players, contents.rows)
    league, versions = League(table.games, roster, [line.name for line in table.lines]), VersionCount(roster)
    for row in store.each_row():
        league.add(row)
        versions.add(row)
    return SiteContents(
        plan=plan,
        site=Site(plan.title or printable(store.path.stem), MENU, f"Made by arena {__version__}."),
        table=table,
        league=league,
        roster=roster,
        versions=versions.versions(
            contents.entrants,
            record_of=lambda number: store.stored(number).record,
            files_of=lambda player: files_in(settings, player),
        ),
        settings=settings,
        numbers=_chosen([game.number for game in league.games], plan),
        ruleset=_rules(store, league),
        damage=contents.damage,
    )


def _chosen(numbers: Sequence[int], plan: SitePlan) -> tuple[int, ...]:
    missing = sorted(set(plan.numbers) - set(numbers))
    if missing:
        raise UsageError(f"no game {missing[0]} among those of the table")
    newest = numbers if plan.newest is None else numbers[len(numbers) - min(plan.newest, len(numbers)) :]
    return tuple(sorted({*newest, *plan.numbers}))


def _limit(settings: Mapping[str, str]) -> float | None:
    """The limit per move in milliseconds, if the store says one."""
    try:
        return parse_time(settings.get("time", "")).move_ms
    except UsageError:
        return None


def _rules(store: Store, league: League) -> Ruleset:
    """The rules that the games of the league were played by, as the first record that can be read has them."""
    for game in league.games:
        record = store.stored(game.number).record
        if record is not None:
            return ruleset_from_lines(record.ruleset, record.rules)
    raise ArenaError(f"{store.path}: no record in it can be read")
