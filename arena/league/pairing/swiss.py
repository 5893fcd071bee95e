"""A Swiss: in each round bots with equal points that have not met before meet in a pair of games.

After FIDE's Dutch system (Handbook C.04.3), simplified: the bot that floats down is not chosen so that it changes from
round to round, and exchanges between the halves of a score group are tried in the order of seeds rather than by the
quality of the whole bracket.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games
from arena.league.pairing.matching import Matching
from arena.league.pairing.pairing import (
    PAIR_HALF_POINTS,
    FormatStage,
    Ledger,
    Meeting,
    Pair,
    Pairing,
    Placing,
    Round,
    SwissPlace,
)
from arena.league.store import GameRow


def usual_rounds(players: int) -> int:
    """Return the fewest rounds after which no two bots can both have won everything."""
    return max(1, math.ceil(math.log2(max(players, 2))))


class Swiss(Pairing):
    """Gives out a round when all games of the previous one are over.

    With an odd number, the lowest bot of those with the fewest byes has a bye, which counts as both games won. A bot
    with `disqualify` faults is in no later round. `away` are the rounds in which a bot is not paired, by its digest.
    """

    def __init__(
        self,
        games: Games,
        players: Sequence[Player],
        rounds: int,
        disqualify: int | None = None,
        away: Mapping[str, Collection[int]] = MappingProxyType({}),
    ) -> None:
        most = len(players) - 1 + len(players) % 2
        if rounds > most:
            raise UsageError(
                f"--rounds: expected at most {most} in a Swiss of {len(players)} bots, in which no two meet again, "
                f"got {rounds}"
            )
        self._ledger = Ledger(games, players)
        self._rounds = rounds
        self._disqualify = disqualify
        self._present = {
            number: [at for at, player in enumerate(players) if number not in away.get(player.digest, ())]
            for number in range(1, rounds + 1)
        }
        self._given: list[tuple[list[Pair], int | None]] = []
        """The pairs of each round so far, and the player with the bye."""
        self._is_over = False

    @property
    def planned(self) -> int | None:
        return None if self._disqualify else sum(len(present) // 2 * 2 for present in self._present.values())

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        self._ledger.tell(results)
        if self._given and any(pair.left for pair in self._given[-1][0]):
            return []
        pairs, bye = self._paired() if len(self._given) < self._rounds else ([], None)
        if not pairs:
            self._is_over = True
            return None
        given = [self._ledger.give(*pair) for pair in pairs]
        self._given.append(([pair for pair, _ in given], bye))
        return [game for _, games in given for game in games]

    def _scores(self) -> tuple[Counter[int], Counter[int]]:
        """Return the half points and the byes of each player; a bye counts when its round is over."""
        byes = Counter(idle for pairs, idle in self._given if idle is not None and not any(pair.left for pair in pairs))
        points = Counter({player: PAIR_HALF_POINTS * count for player, count in byes.items()})
        for pair in (pair for pairs, _ in self._given for pair in pairs):
            for player, gained in zip(pair.players, pair.half_points, strict=True):
                points[player] += gained
        return points, byes

    def _paired(self) -> tuple[list[tuple[int, int]], int | None]:
        (points, byes), out = self._scores(), self._ledger.disqualified(self._disqualify)
        ranked = [player for player in self._present[len(self._given) + 1] if player not in out]
        ranked.sort(key=lambda player: (-points[player], player))
        if len(ranked) < 2:
            return [], None
        idle: list[int | None] = [None]
        if len(ranked) % 2:
            least = min(byes[player] for player in ranked)
            idle = [player for player in reversed(ranked) if byes[player] == least]
        most_met = 0  # how often two bots that are paired may have met
        while True:
            for bye in idle:
                paired = [player for player in ranked if player != bye]
                matching = Matching(
                    paired,
                    lambda one, other, most=most_met: self._ledger.met(one, other) <= most,  # type: ignore[misc]
                )
                if matching.complete():
                    return list(self._from_the_top(paired, points, matching)), bye
            most_met += 1

    def _from_the_top(
        self, ranked: Sequence[int], points: Counter[int], matching: Matching
    ) -> Iterator[tuple[int, int]]:
        """Pair the first, then the first of the others, and so on, so that those left can still be paired."""
        left = list(ranked)
        while left:
            first = left.pop(0)
            equals = sum(points[player] == points[first] for player in left)
            half = max(0, (equals + 1) // 2 - 1)
            others = [*left[half:equals], *reversed(left[:half]), *left[equals:]]
            others.sort(key=lambda player: self._ledger.met(first, player))  # stable
            opponent = next(player for player in others if matching.take(first, player))
            left.remove(opponent)
            yield first, opponent

    def placing(self) -> Placing:
        """Order by points with byes, then Buchholz (a bye is an opponent with the bot's own points), then meetings won.

        Equals share a place. Disqualified bots and those that are in no round are last, without a place. Opponents have
        met as soon as one of their games is over.
        """
        points, byes = self._scores()
        out = self._ledger.disqualified(self._disqualify)
        buchholz = Counter({player: count * points[player] for player, count in byes.items()})
        won = Counter[int]()
        for pair in (pair for pairs, _ in self._given for pair in pairs if pair.left < pair.given):
            one, other = pair.players
            buchholz[one] += points[other]
            buchholz[other] += points[one]
            won[one] += pair.half_points[0] > pair.half_points[1]
            won[other] += pair.half_points[1] > pair.half_points[0]

        def worth(player: int) -> tuple[int, int, int]:
            return points[player], buchholz[player], won[player]

        everybody = range(len(self._ledger.players))
        unplaced = {*everybody}.difference(*self._present.values()) | out.keys()
        ranked = sorted(everybody, key=lambda player: (player in unplaced, *(-value for value in worth(player))))
        places: list[SwissPlace] = []
        for number, player in enumerate(ranked, 1):
            is_equal = bool(places) and worth(ranked[number - 2]) == worth(player)
            shared = places[-1].place if is_equal else number
            places.append(
                SwissPlace(
                    place=None if player in unplaced else shared,
                    player=self._ledger.players[player],
                    points=points[player] / 2,
                    byes=byes[player],
                    buchholz=buchholz[player] / 2,
                    wins=won[player],
                )
            )
        rounds = tuple(self._rounds_given())
        stage = FormatStage(is_over=self._is_over, done=sum(one.is_over for one in rounds), of=self._rounds)
        return Placing(tuple(places), self._ledger.as_disqualified(out), stage=stage, rounds=rounds)

    def _rounds_given(self) -> Iterator[Round]:
        players = self._ledger.players
        for number, (pairs, idle) in enumerate(self._given, 1):
            meetings = [
                Meeting(
                    bots=(players[pair.players[0]], players[pair.players[1]]),
                    points=(pair.half_points[0] / 2, pair.half_points[1] / 2),
                    games=tuple(sorted(pair.numbers)),
                    is_over=not pair.left,
                )
                for pair in pairs
            ]
            if idle is not None:
                bye = (PAIR_HALF_POINTS / 2, 0.0)
                meetings.append(Meeting((players[idle], None), bye, (), is_over=True, is_bye=True))
            yield Round(number, tuple(meetings), games=sum(pair.given for pair in pairs))
