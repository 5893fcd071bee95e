"""The text of each page of a site by its name. Templates escape all that a bot may have chosen."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from arena.errors import UsageError
from arena.game import Names, Variant, displayed
from arena.game.faults import GameResult
from arena.game.time_control import parse_time
from arena.league.readers import Audience
from arena.league.store import Damage, GameRow
from arena.league.store.document import Setting
from arena.report.bot_versions import BotVersion
from arena.report.game_list import Roster, score_text
from arena.report.placings import PlacingEntry, stop_text
from arena.report.shown import shown_class
from arena.report.site.charts import CurvePoint, EloCurves, TimeBars, whiskers
from arena.report.site.game_page import GameLinks, GamePages
from arena.report.site.page_frame import PageFrame
from arena.report.standings import Line, Table, Tally, rated_lines
from arena.report.terminal import missing_text, not_counted_text
from arena.system.printable import counted, printable
from protocol.seats import Color, Reason

PER_PAGE = 500
MOST_IN_CROSSTABLE = 500
"""The largest crosstable in bots: its cells are their square, and a store may name any number of bots."""
CHECKPOINTS = 12
"""Moments at which Elo is fitted for the curve."""
ROUNDS_PAGE = "rounds.html"
DAMAGED = "The store is damaged, or was changed from outside. Damaged games are reported and excluded."


@dataclass(frozen=True, slots=True)
class ListedGame:
    number: int
    red: int
    blue: int
    result: GameResult
    reason: Reason
    plies: int
    started: int
    pair: int


def _by_color() -> dict[Color, Counter[str]]:
    return {color: Counter() for color in Color}


class LeagueValues:
    """The counts that pages show, made from the rows in one pass; players outside the roster are left out.

    `met[bot][opponent][color]` are wins, draws and losses with that colour; `history` has numbers of games with a
    bot's Elo after them.
    """

    def __init__(self, games: int, roster: Roster, order: list[str]) -> None:
        self.order = order
        self.games: list[ListedGame] = []
        self.met: dict[str, dict[str, dict[Color, Counter[str]]]] = {name: defaultdict(_by_color) for name in order}
        self.history: dict[str, list[CurvePoint]] = {name: [] for name in order}
        self._names, self._digests = roster.names, roster.digests
        self._numbers = {name: number for number, name in enumerate(order)}
        self._tally = Tally(roster.names)
        self._moments = (
            {round(games * part / CHECKPOINTS) for part in range(1, CHECKPOINTS + 1)} if games >= CHECKPOINTS else set()
        )

    def add(self, row: GameRow) -> None:
        red, blue = (self._names.get(player, "") for player in row.players)
        if red not in self._numbers or blue not in self._numbers:
            return
        ends = (self._numbers[red], self._numbers[blue])
        started = int(row.started or 0)
        self.games.append(ListedGame(row.number, *ends, row.result, row.reason, row.plies, started, row.pair_seed or 0))
        if red == blue:  # it counts nowhere, but has a page
            return
        for color, name, other in ((Color.RED, red, blue), (Color.BLUE, blue, red)):
            outcome = "D" if row.result is GameResult.DRAW else "W" if row.result.winner is color else "L"
            self.met[name][other][color][outcome] += 1
        self._tally.add(row)
        if self._tally.games in self._moments:
            for line in rated_lines(self._digests, self._tally)[0]:
                if line.elo is not None:
                    point = CurvePoint(self._tally.games, line.elo, line.elo_low, line.elo_high)
                    self.history[line.name].append(point)


@dataclass
class PlayedGames:
    """The findings of playing games again, for other pages.

    Times of moves are by bot, as `charts.histogram` counts them. By game, `behind` has the pieces by which the winner
    was once behind, and `faults` tell why there is no page.
    """

    times: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    behind: dict[int, int] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteContents:
    """The values of the pages of a league, and the pages. `numbers` are the games that have pages."""

    table: Table
    league: LeagueValues
    roster: Roster
    versions: Sequence[BotVersion]
    numbers: tuple[int, ...]
    rules: dict[str, Any]
    damage: tuple[Damage, ...]
    placing: PlacingEntry | None
    not_counted: int
    game_pages: GamePages

    @property
    def notes(self) -> list[str]:
        left_out = not_counted_text(self.not_counted) if self.not_counted else ""
        placing = self.placing.lines if self.placing else ()
        notes = [missing_text(self.table), *placing, left_out, DAMAGED if self.damage else ""]
        return [note for note in notes if note]

    @property
    def _frame(self) -> PageFrame:
        return self.game_pages.frame

    @cached_property
    def href(self) -> dict[str, str]:
        return {name: f"bots/{number}.html" for number, name in enumerate(self.league.order, 1)}

    @cached_property
    def links(self) -> dict[int, GameLinks]:
        """The links of the page of each game that has one, by its number."""
        order, found, numbers = self.league.order, dict[int, GameLinks](), set(self.numbers)
        last, of_pair = dict[frozenset[int], int](), dict[tuple[int, int, int], int]()
        for game in self.league.games:
            if game.number not in numbers:
                continue
            bots = frozenset((game.red, game.blue))
            found[game.number] = GameLinks((self.href[order[game.red]], self.href[order[game.blue]]), {})
            others = {"next game": last.get(bots)}  # by the text of the link from there
            if game.pair and len(bots) == 2:
                others["return game"] = of_pair.get((game.blue, game.red, game.pair))
            for text, other in others.items():
                if other is not None:
                    found[other].games[text] = game.number
                    found[game.number].games[text.replace("next", "previous")] = other
            last[bots] = of_pair[game.red, game.blue, game.pair] = game.number
        return found

    @cached_property
    def _stronger(self) -> dict[tuple[str, str], float]:
        """The likelihood that the first of two bots is stronger than the second."""
        pairs = {(each.name, each.opponent): each.stronger for each in self.table.pairs or ()}
        return pairs | {(other, name): 1 - share for (name, other), share in pairs.items()}

    @cached_property
    def _lists(self) -> list[str]:
        pages = max(1, -(-len(self.league.games) // PER_PAGE))
        return ["games.html", *(f"games-{number}.html" for number in range(2, pages + 1))]

    def names(self) -> Iterator[str]:
        """Yield the names of all pages and scripts except those of games."""
        yield from ("index.html", "crosstable.html", "games.js", "rules.html", "embed.html")
        if self.placing and self.placing.rounds:
            yield ROUNDS_PAGE
        yield from self._lists
        yield from self.href.values()

    def text(self, name: str, played: PlayedGames) -> str | None:
        """Return the page or script of this name; None for an unknown name or a game."""
        shown = frozenset(self.numbers) - played.faults.keys()
        match name:
            case "index.html":
                return self._standings()
            case "rounds.html" if self.placing and self.placing.rounds:
                return self._frame.page(name, name, placing=self.placing, href=self.href, shown=shown)
            case "crosstable.html":
                return self._crosstable()
            case "rules.html":
                return self._frame.page(here=name, **self.rules)
            case "games.js":
                return self._games_script(shown, played)
            case "embed.html":
                return self._frame.page(name, name, labels=self.rules["labels"])
        if name in self._lists:
            return self._games(name, shown, played)
        return next((self._bot(line, played) for line in self.table.lines if self.href[line.name] == name), None)

    def _standings(self) -> str:
        table, lines = self.table, self.table.lines
        placing = self.placing if self.placing and self.placing.places else None
        history = {name: points for name, points in self.league.history.items() if len(points) > 1}
        game, rules, time = (
            printable(self.game_pages.settings.get(name, "")) for name in (Setting.GAME, Setting.RULESET, Setting.TIME)
        )
        rules = f"{game}, {rules}" if game else rules
        summary = f"{len(lines)} bots, {table.games} games; rules {rules or 'not known'}, time {time or 'not known'}"
        if table.against_itself:
            summary += f"; games of a bot against itself, which do not count: {table.against_itself}"
        return self._frame.page(
            "index.html",
            "index.html",
            summary=summary,
            placing=placing,
            stop=stop_text(placing.stop) if placing and placing.stop else "",
            lines=list(zip(lines, whiskers([(line.elo, line.elo_low, line.elo_high) for line in lines]), strict=True)),
            href=self.href,
            notes=self.notes,
            endings=table.endings,
            history=EloCurves(history) if history else None,
        )

    def _crosstable(self) -> str:
        return self._frame.page(
            "crosstable.html",
            "crosstable.html",
            order=self.league.order[:MOST_IN_CROSSTABLE],
            bots=len(self.league.order),
            href=self.href,
            cross=self.table.crosstable,
            stronger=self._stronger,
        )

    def _games(self, name: str, shown: frozenset[int], played: PlayedGames) -> str:
        games, number = self.league.games[::-1], self._lists.index(name)
        note = counted(len(games), "game")
        if len(shown) < len(games):
            note = f"{len(games)} games, {len(shown)} of them to be replayed"
        return self._frame.page(
            "games.html",
            name,
            games=games[number * PER_PAGE : (number + 1) * PER_PAGE],
            shown=shown,
            names=self.league.order,
            reasons=sorted({game.reason.value for game in games}),
            has_comebacks=bool(played.behind),
            results=[result.value for result in GameResult],
            list_names=self._lists,
            games_note=note,
        )

    def _games_script(self, shown: frozenset[int], played: PlayedGames) -> str:
        reasons = sorted({game.reason for game in self.league.games}, key=lambda reason: reason.value)
        results, elos = list(GameResult), {line.name: round(line.elo or 0) for line in self.table.lines}
        elo, signs = [elos[name] for name in self.league.order], {GameResult.RED: 1, GameResult.BLUE: -1}
        rows = [
            [
                *(game.number, game.red, game.blue, results.index(game.result), reasons.index(game.reason), game.plies),
                *(game.started, int(game.number in shown), int(game.reason.is_forfeit)),
                *(played.behind.get(game.number, 0), signs.get(game.result, 0) * (elo[game.blue] - elo[game.red])),
            ]
            for game in self.league.games[::-1]
        ]
        data = {
            "names": self.league.order,
            "reasons": reasons,
            "results": results,
            "scores": [score_text(result) for result in results],
            "rows": rows,
        }
        text = msgspec.json.encode(data).decode().replace("<", "\\u003c")  # no markup, whatever reads the file
        return f"arenaList({text});\n"

    def _bot(self, line: Line, played: PlayedGames) -> str:
        """Return the page of one bot. Only its author and the host see what it declares, and its times."""
        versions = [one for one in self.versions if one.digest == line.digest]
        times: Mapping[int, int] = played.times.get(line.name, {})
        reader, players = self.game_pages.reader, (at for at, name in self.roster.names.items() if name == line.name)
        is_host = reader.audience is Audience.ALL and self.game_pages.has_logs
        if not is_host and reader.bots.isdisjoint(players):
            versions = [msgspec.structs.replace(one, declared=None, author=None) for one in versions]
            times = {}
        try:
            limit = parse_time(self.game_pages.settings.get(Setting.TIME, "")).move_ms
        except UsageError:
            limit = None
        order, met = self.league.order, self.league.met[line.name]
        return self._frame.page(
            "bot.html",
            self.href[line.name],
            line=line,
            bots=len(order),
            said=next((one for one in reversed(versions) if one.declared or one.author), None),
            opponents=[
                (other, *met[other].values(), self._stronger.get((line.name, other))) for other in order if other in met
            ],
            href=self.href,
            losses=[(end.reason.value, end.losers[line.name]) for end in self.table.endings if line.name in end.losers],
            times=TimeBars(times, limit) if times else None,
            moves=sum(times.values()),
            versions=versions,
        )


def rules_values(variant: Variant, names: Names) -> dict[str, Any]:
    """Return the values of the page of the rules, and its template. Raises `UsageError` for impossible rules."""
    values = displayed(variant.kind.displays.rules, _plain_rules_values)(variant, names)
    return {**values, "labels": shown_class(variant.kind).labels(variant, names)}


def _plain_rules_values(variant: Variant, names: Names) -> dict[str, Any]:
    del names
    game = variant.kind
    return {
        "template": "rules.html",
        "title": f"Rules: {game.name}",
        "source": f"Version {game.version}, variant {variant.name}.",
        "paragraphs": [text for text in game.rules_in_words(variant).split("\n\n") if text.strip()],
        "rules": variant.rules,
        "endings": [(word, ending.sentence, ending.is_draw) for word, ending in game.endings.items()],
    }
