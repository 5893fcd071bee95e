"""The text of each page of a site by its name, made on demand, for a folder or a server."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game import Names
from arena.game.game_spec import Player
from arena.game.time_control import parse_time
from arena.league.pairing.pairing import Placing
from arena.league.readers import HOST, Audience, Reader, readable
from arena.league.store import Damage, DamagedError, Store
from arena.league.store.document import GAME, RULESET, TIME
from arena.report.bot_versions import BotVersion, VersionCount
from arena.report.game_list import Roster, players_of
from arena.report.placings import placing_in, placing_lines
from arena.report.result_words import missing_text, not_counted_text
from arena.report.site.game_page import GameTexts
from arena.report.site.page_frame import PageFrame, Site
from arena.report.site.pages import ROUNDS_PAGE, LeaguePages, LeagueValues, rules_values
from arena.report.standings import Line, Table, make_table
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
MENU_WITH_ROUNDS = (MENU[0], ("Rounds", ROUNDS_PAGE), *MENU[1:])
MOST_IN_PAIRS = 60
"""The most bots for which the likelihood of superiority is shown for each pair."""
DAMAGED = "The store is damaged, or was changed from outside. Damaged games are reported and excluded."


class NoGamesError(UsageError):
    pass


@dataclass(frozen=True)
class SitePlan:
    """The options of a site.

    The newest `newest` games have pages (None: all), and those of `numbers`. Pages include transcripts if `dialogues`
    (None: if there are at most `MOST_DIALOGUES` games). A `reader` who is the author of a bot needs only the name.
    """

    reader: Reader = HOST
    newest: int | None = None
    numbers: tuple[int, ...] = ()
    title: str = ""
    names: Names = field(default_factory=dict)
    dialogues: bool | None = None


@dataclass(frozen=True)
class PlayedGames:
    """Results of writing the pages of games.

    The times of moves by bot, as `charts.histogram` counts them, and by game why it has no page.
    """

    times: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    faults: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteContents:
    """The values of the pages of a league.

    `numbers` are the games that have pages; `not_counted` games of these bots are outside their league and on no page.
    """

    plan: SitePlan
    reader: Reader
    site: Site
    table: Table
    league: LeagueValues
    roster: Roster
    versions: Sequence[BotVersion]
    settings: dict[str, str]
    numbers: tuple[int, ...]
    rules: dict[str, Any]
    damage: tuple[Damage, ...]
    placing: Placing | None = None
    not_counted: int = 0

    @property
    def notes(self) -> list[str]:
        left_out = not_counted_text(self.not_counted) if self.not_counted else ""
        placing = placing_lines(self.placing, self.roster.names) if self.placing else ()
        notes = [missing_text(self.table), *placing, left_out, DAMAGED if self.damage else ""]
        return [note for note in notes if note]

    @cached_property
    def game_texts(self) -> GameTexts:
        plan = self.plan
        return GameTexts(
            site=self.site,
            reader=self.reader,
            names=dict(plan.names),
            shown=tuple(self.roster.names.items()),
            has_dialogues=len(self.numbers) <= MOST_DIALOGUES if plan.dialogues is None else plan.dialogues,
        )

    @cached_property
    def pages(self) -> LeaguePages:
        return LeaguePages(PageFrame(self.site), self.table, self.league)

    def names(self) -> Iterator[str]:
        """Yield the names of all pages and scripts except those of games."""
        yield from ("index.html", "crosstable.html", "games.js", "rules.html")
        if self.placing and self.placing.rounds:
            yield ROUNDS_PAGE
        yield from self.pages.list_names
        yield from self.pages.href.values()

    def text(self, name: str, played: PlayedGames) -> str | None:
        """Return the page or script of this name; None for an unknown name or a game."""
        pages, names = self.pages, self.roster.names
        shown = frozenset(self.numbers) - played.faults.keys()
        match name:
            case "index.html":
                game, rules, time = (printable(self.settings.get(name, "")) for name in (GAME, RULESET, TIME))
                return pages.standings(f"{game}, {rules}" if game else rules, time, self.notes, self.placing, names)
            case "rounds.html" if self.placing and self.placing.rounds:
                return pages.rounds(self.placing, names, shown)
            case "crosstable.html":
                return pages.crosstable()
            case "rules.html":
                return pages.rules(self.rules)
            case "games.js":
                return pages.games_script(shown)
        if name in pages.list_names:
            return pages.games(name, shown)
        return next((self._bot(line, played) for line in self.table.lines if pages.href[line.name] == name), None)

    def _bot(self, line: Line, played: PlayedGames) -> str:
        versions = [one for one in self.versions if one.digest == line.digest]
        times = played.times.get(line.name, {})
        reader, players = self.reader, (player for player, name in self.roster.names.items() if name == line.name)
        if reader.audience is not Audience.ALL and reader.bots.isdisjoint(players):
            versions = [msgspec.structs.replace(one, declared=None, author=None) for one in versions]
            times = {}
        try:
            limit = parse_time(self.settings.get(TIME, "")).move_ms
        except UsageError:
            limit = None
        return self.pages.bot(line, versions, times, limit)


def read_site(store: Store, plan: SitePlan) -> SiteContents:
    """Read the values of a site from a store, in two passes over its rows.

    Raises `DamagedError` if no game is undamaged, and `UsageError` for a store without games, for unknown games or an
    unknown bot in the plan, and for a reader to whom one game would show what another one hides.
    """
    contents = store.count(counted=True)
    settings = contents.settings
    players = contents.entrants or players_of(contents.rows, contents.entrants)
    pairs = len(players) <= MOST_IN_PAIRS
    planned, meets_all = contents.kept.planned_for(players)
    table = make_table(players, contents.rows, planned, meets_all=meets_all, pairs=pairs)
    if not table.games + table.against_itself:
        if contents.damage:
            raise DamagedError(store.path, contents.damage)
        raise NoGamesError(f"{store.path}: expected a store with games, and there are none of who takes part in it")
    roster = Roster(players, contents.rows)
    league, versions = LeagueValues(table.games, roster, [line.name for line in table.lines]), VersionCount(roster)
    for row in store.each_row(counted=True):
        league.add(row)
        versions.add(row)
    placing = placing_in(store, contents, table.lines, roster.names)
    reader = plan.reader
    if reader.audience is Audience.BOT:
        reader = replace(reader, bots=frozenset(roster.called(reader.name)))
    numbers = _chosen([game.number for game in league.games], plan)
    _refuse_what_gives_away(reader, settings, roster, league, numbers)
    return SiteContents(
        plan=plan,
        reader=reader,
        site=Site(
            plan.title or printable(store.path.stem),
            MENU_WITH_ROUNDS if placing and placing.rounds else MENU,
            f"Made by arena {__version__}.",
        ),
        table=table,
        league=league,
        roster=roster,
        versions=versions.versions(
            contents.entrants,
            record_of=lambda number: store.stored(number).sound,
            files_of=contents.kept.files_of,
        ),
        settings=settings,
        numbers=numbers,
        rules=_rules(store, league, plan.names),
        damage=contents.damage,
        placing=placing,
        not_counted=contents.not_counted,
    )


class _Row(NamedTuple):
    number: int
    players: tuple[Player, Player]


def _refuse_what_gives_away(
    reader: Reader, settings: dict[str, str], roster: Roster, league: LeagueValues, numbers: Collection[int]
) -> None:
    if reader.audience in (Audience.ALL, Audience.PUBLIC):
        return
    by_name = {roster.names[player]: player for player in roster.names}
    reader = replace(reader, bots=frozenset(by_name[roster.names[player]] for player in reader.bots))
    chosen = set(numbers)
    readable(
        (
            _Row(game.number, (by_name[league.order[game.red]], by_name[league.order[game.blue]]))
            for game in league.games
            if game.number in chosen
        ),
        settings,
        reader,
    )


def _chosen(numbers: Sequence[int], plan: SitePlan) -> tuple[int, ...]:
    missing = sorted(set(plan.numbers) - set(numbers))
    if missing:
        raise UsageError(f"no game {missing[0]} among those of the table")
    newest = numbers if plan.newest is None else numbers[len(numbers) - min(plan.newest, len(numbers)) :]
    return tuple(sorted({*newest, *plan.numbers}))


def _rules(store: Store, league: LeagueValues, names: Names) -> dict[str, Any]:
    """Return the values of the page of the rules, from the first readable record."""
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
