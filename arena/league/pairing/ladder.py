"""A ladder: an endless league that spends each next game where it tells most about the order.

A pair of games goes to two bots that are near each other in the current order. Its value for each of the two is

    value = doubt * added / (known + added)

`doubt` is the expected number of neighbours with which a bot is in the wrong order, `known` the precision of its
strength, `added` what two games add to that. So a new bot plays first, bots with a clear place play no more, and two
bots that may be equal do not use up all games.

Games are given out in batches, two of them under way at once: the third is chosen by the results of the first and no
later ones, so that the choice does not depend on the order in which games end.

The strengths are those of Bradley and Terry, with a draw as half a point, and a normal prior, which sends a new bot to
the middle. A fit moves each in turn to where its own games want it (Newton's method by coordinates).

For the confidence in an order, the difference of two strengths is taken to be normal, with the sum of the two variances
that they would have if all others were known.
"""

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Self

from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games
from arena.league.pairing.pairing import (
    FormatStage,
    LadderPlace,
    LadderStop,
    Ledger,
    Pair,
    Pairing,
    Placing,
    StopReason,
)
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.store import GameRow

PRIOR_PRECISION = (ELO_PER_LOGIT / 350) ** 2
"""Per square logit: bots are some 350 Elo around their mean, as much information as two games between equals."""
SETTLED = 1e-3
"""The step in logits (0.2 Elo) at which a search ends."""
MOST_SWEEPS = 30
LONGEST_STEP = 1.0  # in logits; a full step can overshoot
UNDER_WAY = 2  # batches at once
LEAST_PAIRS = 4
"""The fewest pairs of a batch; a bot is in several of them only where there are too few bots."""
SHARE = 4
LEAST_PART = 0.3
"""The least value of a pair that is given out, as a part of the best pair's value at that moment."""
REACH = 6
NEIGHBOURS = 10
"""The number of bots above a bot, and below it, that count for the doubt about its place."""


class Estimate:
    """The strengths of players in logits, and the precision of each."""

    def __init__(self, players: int) -> None:
        self.strengths = [0.0] * players
        self.precisions = [PRIOR_PRECISION] * players
        self.games = [0] * players
        self._met: list[dict[int, list[float]]] = [{} for _ in range(players)]

    def add(self, one: int, other: int, half_points: Iterable[int], games: int) -> None:
        for (player, opponent), gained in zip(((one, other), (other, one)), half_points, strict=True):
            entry = self._met[player].setdefault(opponent, [0.0, 0.0])
            entry[0] += games
            entry[1] += gained / 2
            self.games[player] += games

    def settle(self) -> None:
        strengths, moved = self.strengths, set(range(len(self.strengths)))
        for _ in range(MOST_SWEEPS):
            again: set[int] = set()
            for player in sorted(moved):
                strength, slope, precision = strengths[player], -PRIOR_PRECISION * strengths[player], PRIOR_PRECISION
                for opponent, (games, points) in self._met[player].items():
                    expected = _expected_score(strength - strengths[opponent])
                    slope += points - games * expected
                    precision += games * expected * (1 - expected)
                self.precisions[player] = precision
                step = max(-LONGEST_STEP, min(LONGEST_STEP, slope / precision))
                strengths[player] += step
                if abs(step) > SETTLED:
                    again.add(player)
                    again.update(self._met[player])
            if not again:
                return
            moved = again

    def information(self, one: int, other: int) -> float:
        expected = _expected_score(self.strengths[one] - self.strengths[other])
        return expected * (1 - expected)

    def doubt(self, one: int, other: int) -> float:
        """Return the likelihood that the weaker of two by these strengths is the stronger one."""
        variance = 1 / self.precisions[one] + 1 / self.precisions[other]
        return math.erfc(abs(self.strengths[one] - self.strengths[other]) / math.sqrt(2 * variance)) / 2

    def order(self, players: Iterable[int]) -> list[int]:
        """Sort players by strength, best first, and equals (but for rounding) by their numbers."""
        return sorted(players, key=lambda player: (-round(self.strengths[player], 6), player))

    def copy(self) -> Self:
        copy = type(self)(len(self.strengths))
        copy.strengths, copy.precisions, copy.games = [*self.strengths], [*self.precisions], [*self.games]
        copy._met = [{opponent: [*entry] for opponent, entry in met.items()} for met in self._met]
        return copy


def _expected_score(logit: float) -> float:
    odds = math.exp(-abs(logit))
    return (1 if logit >= 0 else odds) / (1 + odds)


class Ladder(Pairing):
    """Gives out batches until each bot is above the next one with a likelihood of `confidence`, or for `most` games.

    `known` are earlier results of these players: they are the first batch, and do not count for `most`. A bot with
    `disqualify` faults is in no later batch, and one with its digest in `idle` in none.
    """

    def __init__(
        self,
        games: Games,
        players: Sequence[Player],
        *,
        confidence: float | None,
        most: int,
        known: Sequence[GameRow] = (),
        disqualify: int | None = None,
        idle: Collection[str] = (),
    ) -> None:
        self._idle = {at for at, player in enumerate(players) if player.digest in idle}
        self._ledger = Ledger(games, players)
        self._confidence = confidence
        self._left = most
        self._disqualify = disqualify
        self._faults = [0] * len(players)
        self._estimate = Estimate(len(players))
        self._opening: list[tuple[Pair, list[GameSpec]]] | None = self._ledger.give_known(known) or None
        self._known = sum(len(given) for _, given in self._opening or ())
        self._planned = most + self._known
        self._under_way: deque[list[Pair]] = deque()
        self._is_settling = False
        """Whether the order was sure before the games under way, which may change it."""
        self._stop: StopReason | None = None

    @property
    def at_most(self) -> int:
        return self._planned

    @property
    def planned(self) -> int | None:
        return self._planned if self._confidence is None and not self._disqualify else None

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        self._ledger.tell(results)
        if self._opening:
            self._under_way.append([pair for pair, _ in self._opening])
            batch = [game for _, games in self._opening for game in games]
            self._opening = None
            self._is_settling = True  # the next batch is chosen when all of them are known
            return batch
        while self._stop is None:
            if len(self._under_way) < (1 if self._is_settling else UNDER_WAY):
                is_sure = self._is_sure()
                if not is_sure or not self._under_way:
                    self._is_settling = False
                    games = [] if is_sure else self._choose()
                    if not games:
                        over = StopReason.NO_PAIR if self._left else StopReason.GAMES
                        self._stop = StopReason.SURE if is_sure else over
                    return games or None
                self._is_settling = True
            elif any(pair.left for pair in self._under_way[0]):
                return []
            else:
                self._enter(self._estimate, self._under_way.popleft())
                self._estimate.settle()
        return None

    def _enter(self, estimate: Estimate, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            estimate.add(*pair.players, pair.half_points, pair.given - pair.left)
            if estimate is self._estimate:
                for player, number in zip(pair.players, pair.faults, strict=True):
                    self._faults[player] += number

    def _playing(self) -> list[int]:
        return [
            player
            for player in range(len(self._ledger.players))
            if player not in self._idle and (not self._disqualify or self._faults[player] < self._disqualify)
        ]

    def _is_sure(self) -> bool:
        if self._confidence is None:
            return False
        order = self._estimate.order(self._playing())
        return all(1 - self._estimate.doubt(one, other) >= self._confidence for one, other in pairwise(order))

    def _choose(self) -> list[GameSpec]:
        estimate = self._estimate
        order = estimate.order(self._playing())
        candidates = [(order[at], other) for at in range(len(order)) for other in order[at + 1 : at + 1 + REACH]]
        added = Counter[int]()
        doubts = self._doubts(order)
        expected = dict[int, float]()
        for pair in (pair for batch in self._under_way for pair in batch):
            self._expect(expected, *pair.players)
        wanted = max(LEAST_PAIRS, len(order) // SHARE)
        chosen: list[Pair] = []
        batch: list[GameSpec] = []
        while candidates and len(chosen) < wanted and self._left:
            values = {pair: self._value(*pair, doubts, expected) for pair in candidates}
            added.clear()
            least = LEAST_PART * max(values.values())
            for one, other in sorted(candidates, key=lambda pair: -values[pair]):  # stable: best first where equal
                if len(chosen) == wanted or not self._left or values[one, other] < least:
                    break
                if added[one] or added[other]:
                    continue
                added.update((one, other))
                self._expect(expected, one, other)
                pair, games = self._ledger.give(one, other, self._left)
                chosen.append(pair)
                batch += games
                self._left -= len(games)
        if chosen:
            self._under_way.append(chosen)
        return batch

    def _expect(self, expected: dict[int, float], one: int, other: int) -> None:
        information = 2 * self._estimate.information(one, other)
        for player in (one, other):
            expected[player] = expected.get(player, 0.0) + information

    def _doubts(self, order: Sequence[int]) -> dict[int, float]:
        doubts = dict.fromkeys(order, 0.0)
        for at, one in enumerate(order):
            for other in order[at + 1 : at + 1 + NEIGHBOURS]:
                doubt = self._estimate.doubt(one, other)
                doubts[one] += doubt
                doubts[other] += doubt
        return doubts

    def _value(self, one: int, other: int, doubts: dict[int, float], expected: dict[int, float]) -> float:
        """Return the value of a pair of games of these two, rounded to be the same on every machine."""
        added = 2 * self._estimate.information(one, other)
        value = 0.0
        for player in (one, other):
            known = self._estimate.precisions[player] + expected.get(player, 0.0)
            value += doubts[player] * added / (known + added)
        return round(value, 9)

    def placing(self) -> Placing:
        """Order the players by strength; the disqualified, and those that have no games and get none, have no place."""
        estimate = self._estimate.copy()
        for batch in self._under_way:
            self._enter(estimate, batch)
        estimate.settle()
        out = self._ledger.disqualified(self._disqualify)
        order = estimate.order(range(len(self._ledger.players)))
        mean = sum(estimate.strengths) / len(order)
        unplaced = {player for player in self._idle if not estimate.games[player]} | out.keys()
        order.sort(key=lambda player: player in unplaced)  # stable
        ranked = len(order) - len(unplaced)
        places = [
            LadderPlace(
                place=number if player not in unplaced else None,
                player=self._ledger.players[player],
                elo=ELO_PER_LOGIT * (estimate.strengths[player] - mean),
                games=estimate.games[player],
                above_next=1 - estimate.doubt(player, order[number]) if number < ranked else None,
            )
            for number, player in enumerate(order, 1)
        ]
        given = self._planned - self._left
        over = given - sum(pair.left for batch in self._under_way for pair in batch)
        if self._opening:  # no game was requested yet
            over = 0
        stage = FormatStage(is_over=self._stop is not None, done=over, of=self._planned)
        stop, sure = None, self._confidence
        if self._stop is not None:
            likely = [place.above_next for place in places if place.above_next is not None]
            unclear = None if sure is None else sum(each < sure for each in likely)
            stop = LadderStop(self._stop, given, self._known, sure, unclear)
        return Placing(tuple(places), self._ledger.as_disqualified(out), stop, stage=stage)
