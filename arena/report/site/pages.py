"""The pages of a league as text: values in, HTML out. Templates escape all that a bot may have chosen."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from arena.game import Names, Variant
from arena.game.verdict import GameResult
from arena.league.pairing.pairing import Meeting, Placing
from arena.league.store import GameRow
from arena.report.bot_versions import BotVersion
from arena.report.game_list import Roster, ShownNames, score_text, shown_name
from arena.report.placings import (
    cells,
    headings,
    name_if_known,
    place_text,
    remarks_of,
    stop_text,
    title_of,
    title_text,
)
from arena.report.result_words import elo_text, interval_text, points_text
from arena.report.site.charts import bars, curves, edge, heat, whiskers
from arena.report.site.page_frame import PageFrame, in_script, isolated, milliseconds
from arena.report.standings import Line, Table, Tally, rated_lines
from protocol.seats import Color

PER_PAGE = 500
MOST_IN_CROSSTABLE = 500
"""The largest crosstable in bots: its cells are their square, and a store may name any number of bots."""
CHECKPOINTS = 12
"""Moments at which Elo is fitted for the curve."""
ROUNDS_PAGE = "rounds.html"


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


class LeaguePages:
    """Makes the pages of one league except those of games; `shown` are the games that have pages."""

    def __init__(self, frame: PageFrame, table: Table, league: LeagueValues) -> None:
        self._frame, self._table, self._league = frame, table, league
        self.order = [line.name for line in table.lines]
        self.href = {name: f"bots/{number}.html" for number, name in enumerate(self.order, 1)}
        self._superior = {(each.name, each.opponent): each.stronger for each in table.pairs or ()}
        pages = max(1, -(-len(league.games) // PER_PAGE))
        self.list_names = ["games.html", *(f"games-{number}.html" for number in range(2, pages + 1))]

    def standings(self, rules: str, time: str, notes: Sequence[str], placing: Placing | None, names: ShownNames) -> str:
        """Return the front page, with `notes` below the table and the places of a format above."""
        table, lines = self._table, self._table.lines
        summary = f"{len(lines)} bots, {table.games} games; rules {rules or 'not known'}, time {time or 'not known'}"
        if table.against_itself:
            summary += f"; games of a bot against itself, which do not count: {table.against_itself}"
        history = self._league.history
        return self._frame.page(
            "index.html",
            "index.html",
            summary=summary,
            places=self._places(placing, names) if placing and placing.places else None,
            lines=list(zip(lines, whiskers([(line.elo, line.elo_low, line.elo_high) for line in lines]), strict=True)),
            href=self.href,
            notes=notes,
            endings=[
                (ending.reason.value, ending.games, [f"{isolated(name)} {n}" for name, n in ending.losers.items()])
                for ending in table.endings
            ],
            history=curves({name: history[name] for name in self.order if len(history[name]) > 1}),
        )

    def _places(self, placing: Placing, names: ShownNames) -> dict[str, object]:
        heads = headings(placing.places[0])
        return {
            "title": title_text(placing),
            "headings": [head or "outcome" for head in heads],
            "rows": [
                (place_text(place), name, self.href.get(name, ""), cells(place, names))
                for place in placing.places
                for name in (shown_name(place.player, names),)
            ],
            "are_words": "" in heads,
            "note": stop_text(placing.stop) if placing.stop else "",
            "rounds": ROUNDS_PAGE if placing.rounds else "",
        }

    def rounds(self, placing: Placing, names: ShownNames, shown: frozenset[int]) -> str:
        return self._frame.page(
            "rounds.html",
            ROUNDS_PAGE,
            lead=title_text(placing).partition(":")[0],
            is_bracket=placing.rounds[0].left is not None,
            rounds=[
                (title_of(each), [self._meeting(meeting, names, shown) for meeting in each.meetings])
                for each in placing.rounds
            ],
        )

    def _meeting(self, meeting: Meeting, names: ShownNames, shown: frozenset[int]) -> dict[str, object]:
        has_points = bool(meeting.games) or any(meeting.points) or (meeting.is_over and not meeting.is_bye)
        sides = []
        for player, points, other in zip(meeting.players, meeting.points, meeting.points[::-1], strict=True):
            name = name_if_known(player, names)
            is_ahead = meeting.winner == player if meeting.winner else meeting.is_over and points > other
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
            "remark": "bye" if meeting.is_bye else remarks_of(meeting, names),
        }

    def crosstable(self) -> str:
        order = self.order[:MOST_IN_CROSSTABLE]
        cross = []
        for name in order:
            met = self._table.crosstable.row(name)
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
                for stronger in (self.stronger(name, other) for other in order)
            ]
            for name in (order if self._superior else ())
        ]
        return self._frame.page(
            "crosstable.html",
            "crosstable.html",
            order=order,
            bots=len(self.order),
            href=self.href,
            cross=cross,
            superior=superior,
        )

    def stronger(self, name: str, other: str) -> float | None:
        if (name, other) in self._superior:
            return self._superior[name, other]
        return 1 - self._superior[other, name] if (other, name) in self._superior else None

    def games(self, name: str, shown: frozenset[int]) -> str:
        games, number = self._league.games[::-1], self.list_names.index(name)
        note = "1 game" if len(games) == 1 else f"{len(games)} games"
        if len(shown) < len(games):
            note = f"{len(games)} games, {len(shown)} of them to be replayed"
        return self._frame.page(
            "games.html",
            name,
            rows=[
                {
                    "number": game.number,
                    "href": f"games/{game.number}.html" if game.number in shown else "",
                    "red": self.order[game.red],
                    "blue": self.order[game.blue],
                    "score": score_text(game.result),
                    "winner": game.result.winner.word if game.result.winner is not None else "",
                    "reason": game.reason,
                    "plies": game.plies,
                }
                for game in games[number * PER_PAGE : (number + 1) * PER_PAGE]
            ],
            names=self.order,
            reasons=sorted({game.reason for game in games}),
            results=[result.value for result in GameResult],
            list_names=self.list_names,
            games_note=note,
        )

    def games_script(self, shown: frozenset[int]) -> str:
        reasons = sorted({game.reason for game in self._league.games})
        places = {reason: number for number, reason in enumerate(reasons)}
        results = list(GameResult)
        rows = [
            [
                *(game.number, game.red, game.blue, results.index(game.result), places[game.reason], game.plies),
                int(game.number in shown),
            ]
            for game in self._league.games[::-1]
        ]
        data = {
            "names": self.order,
            "reasons": reasons,
            "results": [result.value for result in results],
            "scores": [score_text(result) for result in results],
            "rows": rows,
        }
        return f"arenaList({in_script(data)});\n"

    def bot(self, line: Line, versions: Sequence[BotVersion], times: Mapping[int, int], limit: float | None) -> str:
        """Return the page of one bot; `times` are counts as of `charts.histogram`."""
        name = line.name
        opponents = []
        for other, by_color in self._league.met[name].items():
            red, blue = (by_color[color] for color in Color)
            stronger = self.stronger(name, other)
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
        opponents.sort(key=lambda row: self.order.index(str(row["name"])))
        said = next((one for one in reversed(versions) if one.declared or one.author), None)
        facts: list[tuple[str, object]] = [
            ("digest", line.digest),
            *([("calls itself", said.declared)] if said and said.declared else []),
            *([("says it is by", said.author)] if said and said.author else []),
            ("points", f"{points_text(line.points)} of {line.games}"),
            *(
                [("Elo", f"{elo_text(line.elo)} ({interval_text(line.elo_low, line.elo_high)})")]
                if line.elo is not None
                else []
            ),
            ("forfeits", line.forfeits),
            *(
                (label, "-" if ms is None else f"{milliseconds(ms)} ms")
                for label, ms in (("mean time of a move", line.mean_ms), ("slowest move", line.slowest_ms))
            ),
        ]
        first, last = min(times, default=0), max(times, default=0) + 1
        counts = [times.get(number, 0) for number in range(first, last)]
        return self._frame.page(
            "bot.html",
            self.href[name],
            line=line,
            bots=len(self.order),
            facts=facts,
            opponents=opponents,
            losses=[
                (reason, games, f"../games.html#{urlencode({'bot': name, 'reason': reason})}")
                for reason, games in self._league.lost[name].most_common()
            ],
            times=bars([edge(number) for number in range(first, last + 1)], counts, limit),
            moves=sum(counts),
            versions=versions,
        )

    def rules(self, values: Mapping[str, Any]) -> str:
        return self._frame.page(here="rules.html", **values)


def rules_values(variant: Variant, names: Names) -> dict[str, Any]:
    """Return the values of the page of the rules, and its template. Raises `UsageError` for impossible rules."""
    game = variant.kind
    if own := game.display("rules"):
        values: dict[str, Any] = own(variant, names)
        return values
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
