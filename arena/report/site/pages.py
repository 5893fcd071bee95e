"""The pages of a site as text: values in, HTML out. All that a bot may have chosen is escaped by the templates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from arena.game.verdict import GameResult
from arena.report.bot_versions import BotVersion
from arena.report.piece_names import Names
from arena.report.result_words import interval_text, points_text, score_text
from arena.report.rules_text import army_entries, rule_lines
from arena.report.sentences import RulesPart
from arena.report.site.charts import Whisker, bars, curves, edge, heat, whiskers
from arena.report.site.league_values import LeagueValues
from arena.report.site.page_frame import PageFrame, in_script, isolated
from arena.report.site.place_list import PlaceList
from arena.report.standings import Line, Table
from arena.rules.ruleset import Ruleset
from protocol.notation import Color

PER_PAGE = 500
"""Games on a page of the list."""
MOST_IN_CROSSTABLE = 500
"""Bots: their cells are so many squared, and a store says how many bots there are whether they have played or not."""


@dataclass(frozen=True)
class StandingsRow:
    """A line of the table, ready to be shown."""

    line: Line
    href: str
    points: str
    score: str
    elo: str
    interval: str
    whisker: Whisker
    mean: str
    cpu: str


class LeaguePages:
    """Makes the pages of one league, but for those of its games."""

    def __init__(self, frame: PageFrame, table: Table, league: LeagueValues) -> None:
        self._frame, self._table, self._league = frame, table, league
        self.order = [line.name for line in table.lines]
        self.href = {name: f"bots/{number}.html" for number, name in enumerate(self.order, 1)}
        self._superior = {(each.name, each.opponent): each.stronger for each in table.pairs or ()}

    # --- the league ---------------------------------------------------------------------------------------------------

    def standings(self, rules: str, time: str, notes: Sequence[str] = (), places: PlaceList | None = None) -> str:
        """The front page; of the settings it says the rules and the time. `notes` stand below the table, `places` of a
        format that has some above it."""
        words = self._frame.words
        summary = words.summary.format(
            bots=len(self._table.lines),
            games=self._table.games,
            rules=rules or words.not_known,
            time=time or words.not_known,
        )
        if self._table.against_itself:
            summary += f"; {words.against_itself.format(games=self._table.against_itself)}"
        lines = self._table.lines
        marks = whiskers([(line.elo, line.elo_low, line.elo_high) for line in lines])
        rows = [
            StandingsRow(
                line=line,
                href=self.href[line.name],
                points=points_text(line.points),
                score=f"{line.score:.1%}"[:-1] if line.score is not None else "",
                elo=f"{round(line.elo) or 0:+d}" if line.elo is not None else "",
                interval=interval_text(line.elo_low, line.elo_high) if line.elo is not None else "",
                whisker=mark,
                mean=_milliseconds(line.mean_ms),
                cpu=_milliseconds(line.cpu_ms),
            )
            for line, mark in zip(lines, marks, strict=True)
        ]
        endings = [
            {"reason": ending.reason.value, "games": ending.games, "losers": _counted(ending.losers)}
            for ending in self._table.endings
        ]
        history = curves(
            {name: self._league.history[name] for name in self.order if len(self._league.history[name]) > 1},
            words,
        )
        return self._frame.page(
            "index.html",
            "index.html",
            summary=summary,
            places=places,
            lines=rows,
            notes=notes,
            endings=endings,
            history=history,
        )

    def crosstable(self) -> str:
        """Who scored what against whom, and who is likely to be stronger than whom."""
        order = self.order[:MOST_IN_CROSSTABLE]
        cross = []
        for name in order:
            met = self._table.crosstable.row(name)
            cells = []
            for other in order:
                meeting = met.get(other)
                cells.append(
                    meeting
                    and {
                        "text": f"{points_text(meeting.points)}/{meeting.games}",
                        "heat": heat(meeting.points / meeting.games),
                        "title": f"{isolated(name)} - {isolated(other)}",
                        "href": f"games.html#{urlencode({'bot': name, 'against': other})}",
                    }
                )
            cross.append({"name": name, "href": self.href[name], "cells": cells})
        superior = [
            {
                "name": name,
                "cells": [
                    None if stronger is None else {"text": _likelihood(stronger), "heat": heat(stronger)}
                    for stronger in (self.stronger(name, other) for other in order)
                ],
            }
            for name in (order if self._superior else ())
        ]
        first = ""
        if len(order) < len(self.order):
            first = self._frame.words.first_places.format(shown=len(order), bots=len(self.order))
        return self._frame.page(
            "crosstable.html", "crosstable.html", order=order, first=first, cross=cross, superior=superior
        )

    def stronger(self, name: str, other: str) -> float | None:
        """How likely it is that the one is stronger than the other; None where it was not worked out."""
        if (name, other) in self._superior:
            return self._superior[name, other]
        return 1 - self._superior[other, name] if (other, name) in self._superior else None

    @property
    def list_names(self) -> list[str]:
        """The pages of the list of games by their file names, in order."""
        pages = max(1, -(-len(self._league.games) // PER_PAGE))
        return ["games.html", *(f"games-{number}.html" for number in range(2, pages + 1))]

    def games(self, name: str, shown: frozenset[int]) -> str:
        """A page of the list, the newest games first; those of `shown` have pages."""
        games, number = self._league.games[::-1], self.list_names.index(name) + 1
        rows = [
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
            for game in games[(number - 1) * PER_PAGE : number * PER_PAGE]
        ]
        words = self._frame.words
        note = (
            words.with_pages if len(shown) < len(games) else words.one_game if len(games) == 1 else words.so_many_games
        )
        return self._frame.page(
            "games.html",
            name,
            rows=rows,
            names=self.order,
            reasons=sorted({game.reason for game in games}),
            results=[result.value for result in GameResult],
            pages=len(self.list_names),
            number=number,
            games_note=note.format(len(games), games=len(games), pages=len(shown)),
        )

    def games_script(self, shown: frozenset[int]) -> str:
        """The whole list for the filter."""
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
        """The page of one bot; `times` are counted as `charts.histogram` does, of the games that have pages."""
        name = line.name
        opponents = []
        for other, by_color in self._league.met[name].items():
            red, blue = (by_color[color] for color in Color)
            games = red.total() + blue.total()
            stronger = self.stronger(name, other)
            opponents.append(
                {
                    "name": other,
                    "href": f"../{self.href[other]}",
                    "games_href": f"../games.html#{urlencode({'bot': name, 'against': other})}",
                    "points": points_text(red["W"] + blue["W"] + (red["D"] + blue["D"]) / 2),
                    "games": games,
                    "red": _record_text(red),
                    "blue": _record_text(blue),
                    "stronger": "" if stronger is None else _likelihood(stronger),
                }
            )
        opponents.sort(key=lambda row: self.order.index(str(row["name"])))
        lost = self._league.lost[name].most_common()
        words = self._frame.words
        said = next((one for one in reversed(versions) if one.declared or one.author), None)
        facts: list[tuple[str, object]] = [
            (words.digest, line.digest),
            *([(words.calls_itself, said.declared)] if said and said.declared else []),
            *([(words.says_by, said.author)] if said and said.author else []),
            (words.points, words.points_of.format(points=points_text(line.points), games=line.games)),
            *(
                [(words.elo, f"{round(line.elo) or 0:+d} ({interval_text(line.elo_low, line.elo_high)})")]
                if line.elo is not None
                else []
            ),
            (words.forfeits, line.forfeits),
            (words.mean_time, self._milliseconds(line.mean_ms)),
            (words.slowest, self._milliseconds(line.slowest_ms)),
        ]
        edges = [edge(number) for number in range(min(times, default=0), max(times, default=0) + 2)]
        counts = [times.get(number, 0) for number in range(min(times, default=0), max(times, default=0) + 1)]
        chart = bars(edges, counts, limit, words)
        return self._frame.page(
            "bot.html",
            self.href[name],
            line=line,
            summary=words.bot_summary.format(
                wins=line.wins, draws=line.draws, losses=line.losses, place=line.place, bots=len(self.order)
            ),
            facts=facts,
            opponents=opponents,
            losses=[
                {
                    "reason": reason,
                    "games": games,
                    "href": f"../games.html#{urlencode({'bot': name, 'reason': reason})}",
                }
                for reason, games in lost
            ],
            times=chart,
            times_note=words.move_times_note.format(sum(counts)),
            versions=versions,
        )

    def rules(self, ruleset: Ruleset, names: Names) -> str:
        """The rules in force."""
        words, lines = self._frame.words, rule_lines(ruleset, names)
        parts = [(part.value, [line for line in lines if line.part is part]) for part in RulesPart]
        source = words.ruleset_source if ruleset.source else words.ruleset
        return self._frame.page(
            "rules.html",
            "rules.html",
            title=words.rules_of.format(ruleset.title),
            source=source.format(name=ruleset.name, source=ruleset.source.rstrip(".")),
            parts=[(part, found) for part, found in parts if found],
            army=army_entries(ruleset, names),
        )

    def _milliseconds(self, value: float | None) -> str:
        return "-" if value is None else self._frame.words.milliseconds.format(_milliseconds(value))


def _likelihood(share: float) -> str:
    """A likelihood in per cent; it is never quite 0 or 100."""
    if share > 0.995:
        return ">99"
    return "<1" if share < 0.005 else f"{share:.0%}"[:-1]


def _record_text(outcomes: Counter[str]) -> str:
    return f"{outcomes['W']}-{outcomes['D']}-{outcomes['L']}" if outcomes else ""


def _counted(losers: Mapping[str, int]) -> str:
    most_first = sorted(losers.items(), key=lambda item: -item[1])
    return ", ".join(f"{isolated(name)} {games}" for name, games in most_first)


def _milliseconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
