"""The text of each page of a site by its name. Templates escape all that a bot may have chosen."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import msgspec

from arena.errors import UsageError
from arena.game import Names, Variant, displayed
from arena.game.time_control import parse_time
from arena.game.verdict import GameResult
from arena.league.readers import Audience
from arena.league.store import Damage, GameRow
from arena.league.store.document import GAME, RULESET, TIME
from arena.report.bot_versions import BotVersion
from arena.report.game_list import Roster, score_text
from arena.report.placings import MeetingEntry, PlacingEntry, full_title, stop_text
from arena.report.shown import shown_class
from arena.report.site.charts import bars, curves, edge, heat, whiskers
from arena.report.site.game_page import GameTexts
from arena.report.site.page_frame import PageFrame, in_script, milliseconds
from arena.report.standings import Line, Table, Tally, rated_lines
from arena.report.terminal import elo_text, interval_text, missing_text, not_counted_text, points_text
from arena.system.printable import counted, isolated, printable
from protocol.seats import Color

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
    reason: str
    plies: int


class LeagueValues:
    """The counts that pages show, made from the rows in one pass; players outside the roster are left out.

    `met[bot][opponent][color]` are wins, draws and losses with that colour; `lost[bot]` by reason; `history` has a
    bot's Elo after a number of games.
    """

    def __init__(self, games: int, roster: Roster, order: list[str]) -> None:
        self.order = order
        self.games: list[ListedGame] = []
        self.met: dict[str, dict[str, dict[Color, Counter[str]]]] = {
            name: defaultdict(lambda: {color: Counter() for color in Color}) for name in order
        }
        self.lost: dict[str, Counter[str]] = {name: Counter() for name in order}
        self.history: dict[str, list[tuple[int, float | None]]] = {name: [] for name in order}
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
        self.games.append(ListedGame(row.number, *ends, row.result, row.reason.value, row.plies))
        if red == blue:  # it counts nowhere, but has a page
            return
        for color, name, other in ((Color.RED, red, blue), (Color.BLUE, blue, red)):
            outcome = "D" if row.result is GameResult.DRAW else "W" if row.result.winner is color else "L"
            self.met[name][other][color][outcome] += 1
            if outcome == "L":
                self.lost[name][row.reason.value] += 1
        self._tally.add(row)
        if self._tally.games in self._moments:
            for line in rated_lines(self._digests, self._tally)[0]:
                if line.games:
                    self.history[line.name].append((self._tally.games, line.elo))


@dataclass
class PlayedGames:
    """The times of moves by bot, as `charts.histogram` counts them, and by game why it has no page."""

    times: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    faults: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteContents:
    """The values of the pages of a league, and the pages. `numbers` are the games that have pages."""

    table: Table
    league: LeagueValues
    roster: Roster
    versions: Sequence[BotVersion]
    settings: dict[str, str]
    numbers: tuple[int, ...]
    rules: dict[str, Any]
    damage: tuple[Damage, ...]
    placing: PlacingEntry | None
    not_counted: int
    game_texts: GameTexts

    @property
    def notes(self) -> list[str]:
        left_out = not_counted_text(self.not_counted) if self.not_counted else ""
        placing = self.placing.lines if self.placing else ()
        notes = [missing_text(self.table), *placing, left_out, DAMAGED if self.damage else ""]
        return [note for note in notes if note]

    @property
    def _frame(self) -> PageFrame:
        return self.game_texts.frame

    @cached_property
    def href(self) -> dict[str, str]:
        return {name: f"bots/{number}.html" for number, name in enumerate(self.league.order, 1)}

    @cached_property
    def _superior(self) -> dict[tuple[str, str], float]:
        return {(each.name, each.opponent): each.stronger for each in self.table.pairs or ()}

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
                return self._rounds(self.placing, shown)
            case "crosstable.html":
                return self._crosstable()
            case "rules.html":
                return self._frame.page(here=name, **self.rules)
            case "games.js":
                return self._games_script(shown)
            case "embed.html":
                return self._frame.page(name, name, labels=self.rules["labels"])
        if name in self._lists:
            return self._games(name, shown)
        return next((self._bot(line, played) for line in self.table.lines if self.href[line.name] == name), None)

    def _standings(self) -> str:
        table, lines, history = self.table, self.table.lines, self.league.history
        game, rules, time = (printable(self.settings.get(name, "")) for name in (GAME, RULESET, TIME))
        rules = f"{game}, {rules}" if game else rules
        summary = f"{len(lines)} bots, {table.games} games; rules {rules or 'not known'}, time {time or 'not known'}"
        if table.against_itself:
            summary += f"; games of a bot against itself, which do not count: {table.against_itself}"
        return self._frame.page(
            "index.html",
            "index.html",
            summary=summary,
            places=self._places(self.placing) if self.placing and self.placing.places else None,
            lines=list(zip(lines, whiskers([(line.elo, line.elo_low, line.elo_high) for line in lines]), strict=True)),
            href=self.href,
            notes=self.notes,
            endings=[
                (ending.reason.value, ending.games, [f"{isolated(name)} {n}" for name, n in ending.losers.items()])
                for ending in table.endings
            ],
            history=curves({name: history[name] for name in self.league.order if len(history[name]) > 1}),
        )

    def _places(self, placing: PlacingEntry) -> dict[str, object]:
        return {
            "title": full_title(placing),
            "headings": [head or "outcome" for head in placing.headings],
            "rows": [
                (place.place_text, place.name, self.href.get(place.name, ""), placing.cells(place))
                for place in placing.places
            ],
            "are_words": placing.is_knockout,
            "note": stop_text(placing.stop) if placing.stop else "",
            "rounds": ROUNDS_PAGE if placing.rounds else "",
        }

    def _rounds(self, placing: PlacingEntry, shown: frozenset[int]) -> str:
        return self._frame.page(
            "rounds.html",
            ROUNDS_PAGE,
            lead=placing.title,
            is_bracket=placing.is_knockout,
            rounds=[
                (each.name, [self._meeting(meeting, shown) for meeting in each.meetings]) for each in placing.rounds
            ],
        )

    def _meeting(self, meeting: MeetingEntry, shown: frozenset[int]) -> dict[str, object]:
        has_points = bool(meeting.games) or any(meeting.points) or (meeting.is_over and not meeting.is_bye)
        sides = []
        for name, points, other in zip(meeting.bots, meeting.points, meeting.points[::-1], strict=True):
            is_ahead = meeting.winner == name if meeting.winner else meeting.is_over and points > other
            sides.append(
                {
                    "name": name or "not known yet",
                    "href": self.href.get(name or "", ""),
                    "points": points_text(points) if has_points else "",
                    "is_winner": is_ahead,
                }
            )
        return {
            "sides": sides[:1] if meeting.is_bye else sides,
            "games": [(number, f"games/{number}.html" if number in shown else "") for number in meeting.games],
            "remark": "bye" if meeting.is_bye else meeting.remark,
        }

    def _crosstable(self) -> str:
        order = self.league.order[:MOST_IN_CROSSTABLE]
        cross = []
        for name in order:
            met = self.table.crosstable.row(name)
            meetings = [met.get(other) for other in order]
            cross.append(
                [
                    meeting
                    and {
                        "text": f"{points_text(meeting.points)}/{meeting.games}",
                        "heat": heat(meeting.points / meeting.games),
                        "title": f"{isolated(name)} - {isolated(meeting.opponent)}",
                        "href": f"games.html#{urlencode({'bot': name, 'against': meeting.opponent})}",
                    }
                    for meeting in meetings
                ]
            )
        superior = [
            [
                None if stronger is None else {"text": _likelihood(stronger), "heat": heat(stronger)}
                for stronger in (self._stronger(name, other) for other in order)
            ]
            for name in (order if self._superior else ())
        ]
        return self._frame.page(
            "crosstable.html",
            "crosstable.html",
            order=order,
            bots=len(self.league.order),
            href=self.href,
            cross=cross,
            superior=superior,
        )

    def _stronger(self, name: str, other: str) -> float | None:
        if (name, other) in self._superior:
            return self._superior[name, other]
        return 1 - self._superior[other, name] if (other, name) in self._superior else None

    def _games(self, name: str, shown: frozenset[int]) -> str:
        games, number, order = self.league.games[::-1], self._lists.index(name), self.league.order
        note = counted(len(games), "game")
        if len(shown) < len(games):
            note = f"{len(games)} games, {len(shown)} of them to be replayed"
        return self._frame.page(
            "games.html",
            name,
            rows=[
                {
                    "number": game.number,
                    "href": f"games/{game.number}.html" if game.number in shown else "",
                    "red": order[game.red],
                    "blue": order[game.blue],
                    "score": score_text(game.result),
                    "winner": game.result.winner.word if game.result.winner is not None else "",
                    "reason": game.reason,
                    "plies": game.plies,
                }
                for game in games[number * PER_PAGE : (number + 1) * PER_PAGE]
            ],
            names=order,
            reasons=sorted({game.reason for game in games}),
            results=[result.value for result in GameResult],
            list_names=self._lists,
            games_note=note,
        )

    def _games_script(self, shown: frozenset[int]) -> str:
        reasons = sorted({game.reason for game in self.league.games})
        places = {reason: number for number, reason in enumerate(reasons)}
        results = list(GameResult)
        rows = [
            [
                *(game.number, game.red, game.blue, results.index(game.result), places[game.reason], game.plies),
                int(game.number in shown),
            ]
            for game in self.league.games[::-1]
        ]
        data = {
            "names": self.league.order,
            "reasons": reasons,
            "results": [result.value for result in results],
            "scores": [score_text(result) for result in results],
            "rows": rows,
        }
        return f"arenaList({in_script(data)});\n"

    def _bot(self, line: Line, played: PlayedGames) -> str:
        """Return the page of one bot. Only its author and the host see what it declares, and its times."""
        versions = [one for one in self.versions if one.digest == line.digest]
        times: Mapping[int, int] = played.times.get(line.name, {})
        reader, players = self.game_texts.reader, (at for at, name in self.roster.names.items() if name == line.name)
        if reader.audience is not Audience.ALL and reader.bots.isdisjoint(players):
            versions = [msgspec.structs.replace(one, declared=None, author=None) for one in versions]
            times = {}
        try:
            limit = parse_time(self.settings.get(TIME, "")).move_ms
        except UsageError:
            limit = None
        first, last = min(times, default=0), max(times, default=0) + 1
        counts = [times.get(number, 0) for number in range(first, last)]
        losses = self.league.lost[line.name].most_common()
        return self._frame.page(
            "bot.html",
            self.href[line.name],
            line=line,
            bots=len(self.league.order),
            facts=_facts(line, versions),
            opponents=self._opponents(line.name),
            losses=[
                (reason, games, f"../games.html#{urlencode({'bot': line.name, 'reason': reason})}")
                for reason, games in losses
            ],
            times=bars([edge(number) for number in range(first, last + 1)], counts, limit),
            moves=sum(counts),
            versions=versions,
        )

    def _opponents(self, name: str) -> list[dict[str, object]]:
        opponents: list[dict[str, object]] = []
        for other in (each for each in self.league.order if each in self.league.met[name]):
            red, blue = (self.league.met[name][other][color] for color in Color)
            stronger = self._stronger(name, other)
            opponents.append(
                {
                    "name": other,
                    "href": f"../{self.href[other]}",
                    "games_href": f"../games.html#{urlencode({'bot': name, 'against': other})}",
                    "points": points_text(red["W"] + blue["W"] + (red["D"] + blue["D"]) / 2),
                    "games": red.total() + blue.total(),
                    "red": _record_text(red),
                    "blue": _record_text(blue),
                    "stronger": "" if stronger is None else _likelihood(stronger),
                }
            )
        return opponents


def _facts(line: Line, versions: Sequence[BotVersion]) -> list[tuple[str, object]]:
    said = next((one for one in reversed(versions) if one.declared or one.author), None)
    elo = f"{elo_text(line.elo)} ({interval_text(line.elo_low, line.elo_high)})"
    return [
        ("digest", line.digest),
        *([("calls itself", said.declared)] if said and said.declared else []),
        *([("says it is by", said.author)] if said and said.author else []),
        ("points", f"{points_text(line.points)} of {line.games}"),
        *([("Elo", elo)] if line.elo is not None else []),
        ("forfeits", line.forfeits),
        *(
            (label, "-" if ms is None else f"{milliseconds(ms)} ms")
            for label, ms in (("mean time of a move", line.mean_ms), ("slowest move", line.slowest_ms))
        ),
    ]


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


def _likelihood(share: float) -> str:
    if share > 0.995:
        return ">99"
    return "<1" if share < 0.005 else f"{share:.0%}"[:-1]


def _record_text(outcomes: Counter[str]) -> str:
    return f"{outcomes['W']}-{outcomes['D']}-{outcomes['L']}" if outcomes else ""
