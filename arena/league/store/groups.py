"""Counts of games of the same two players with the same colours: their endings, and their total times.

A league of 1,000 bots has a million pairs of a bot with Red and a bot with Blue, so no object is kept for any of them:
a pair has a place, and the counts are in arrays by that place, some 180 bytes a pair for any number of games.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.league.store.game_row import Columns, player_from
from protocol.seats import Reason

_SIDE = 5
_PAIR = 2 * _SIDE
_NO_TIMES = bytes(8 * _PAIR)
_MORE = 1024


class PairCount(NamedTuple):
    players: tuple[Player, Player]
    games: int


class SideTimes(NamedTuple):
    moves: int
    total_us: int
    slowest_us: int
    cpu_us: int
    measured_moves: int


class EndingCount(NamedTuple):
    red: int
    blue: int
    ending: int
    games: int


class Groups:
    """The counted games of some rows. Iteration yields a `PairCount` for each pair."""

    def __init__(self, rows: Iterable[Columns] = ()) -> None:
        self.games = 0
        self.endings: list[tuple[GameResult, Reason]] = []
        self.numbered: list[Player] = []
        self._met: list[dict[int, int]] = []
        """By the number of Red: the place of each pair by the number of Blue."""
        self._places = 0
        self._times = array("d")
        """The two sides of each place. Doubles are exact up to 2^53, centuries in microseconds, and do not overflow."""
        self._counts: list[array[int]] = []
        self._last: list[int] = []
        """For each player a number that rises with its last game."""
        self._add(rows)

    def _add(self, rows: Iterable[Columns]) -> None:
        players: dict[tuple[str, str], int] = {}
        endings: dict[tuple[str, str], int] = {}
        met, times, counts, last = self._met, self._times, self._counts, self._last
        for row in rows:
            red = players.setdefault(row[2:4], len(players))
            blue = players.setdefault(row[4:6], len(players))
            while len(players) > len(met):
                met.append({})
                last.append(0)
            places = met[red]
            place = places.get(blue)
            if place is None:
                place = places[blue] = self._places
                self._places += 1
                times.frombytes(_NO_TIMES)
            ending = endings.setdefault(row[6:8], len(endings))
            if ending == len(counts):
                counts.append(array("I"))
            count = counts[ending]
            if place >= len(count):
                count.frombytes(bytes(count.itemsize * max(_MORE, 2 * place - len(count))))
            count[place] += 1
            at = place * _PAIR
            moves, us, slowest_us, blue_moves, blue_us, blue_slowest_us, _, cpu_us, blue_cpu_us = row[10:19]
            times[at] += moves
            times[at + 1] += us
            times[at + 2] = max(times[at + 2], slowest_us)
            if cpu_us is not None:
                times[at + 3] += cpu_us
                times[at + 4] += moves
            times[at + 5] += blue_moves
            times[at + 6] += blue_us
            times[at + 7] = max(times[at + 7], blue_slowest_us)
            if blue_cpu_us is not None:
                times[at + 8] += blue_cpu_us
                times[at + 9] += blue_moves
            self.games += 1
            last[red], last[blue] = 2 * self.games, 2 * self.games + 1
        self.numbered = [player_from(*columns) for columns in players]
        self.endings = [(GameResult(result), Reason(reason)) for result, reason in endings]

    @property
    def players(self) -> list[Player]:
        """All players of these games, in the order of their last games, Red before Blue."""
        order = sorted(range(len(self._last)), key=self._last.__getitem__)
        return list(dict.fromkeys(self.numbered[number] for number in order))

    def __iter__(self) -> Iterator[PairCount]:
        for red, blue, place in self._pairs():
            games = sum(count[place] for count in self._counts if place < len(count))
            yield PairCount((self.numbered[red], self.numbered[blue]), games)

    def ended(self) -> Iterator[EndingCount]:
        counts = list(enumerate(self._counts))
        for red, blue, place in self._pairs():
            for ending, count in counts:
                if place < len(count) and count[place]:
                    yield EndingCount(red, blue, ending, count[place])

    def times(self, shown: Collection[int]) -> dict[int, SideTimes]:
        """Return the moves of each of these players, by number, in the games between different ones of them."""
        found = {number: [0.0] * _SIDE for number in shown}
        times = self._times
        for red, blue, place in self._pairs():
            if red not in found or blue not in found or red == blue:
                continue
            at = place * _PAIR
            for number in (red, blue):
                own = found[number]
                own[0] += times[at]
                own[1] += times[at + 1]
                own[2] = max(own[2], times[at + 2])
                own[3] += times[at + 3]
                own[4] += times[at + 4]
                at += _SIDE
        return {number: SideTimes(*map(int, own)) for number, own in found.items()}

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        for red, places in enumerate(self._met):
            for blue, place in places.items():
                yield red, blue, place
