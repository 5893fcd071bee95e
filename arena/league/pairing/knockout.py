"""A knockout: the loser of a match is out, and the winners meet until one is left.

Seeds 1 and 2 can meet in the final at the earliest, 1 to 4 in the semi-finals, and so on. A match ends as soon as the
other side cannot draw level. Where it is level, single further pairs decide, up to a limit; then the better seed wins.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games
from arena.league.pairing.pairing import (
    PAIR_HALF_POINTS,
    FormatStage,
    KnockoutPlace,
    Ledger,
    Meeting,
    Pair,
    Pairing,
    Placing,
    Round,
)
from arena.league.store import GameRow

BY_SEED = "by seed"
BY_EXTRA_PAIRS = "in extra pairs"
BY_DISQUALIFICATION = "by disqualification"
NOT_DRAWN = "not in the draw"


class _Match:
    """A match of two places of the bracket: each is a player, empty, or the winner of a match."""

    def __init__(self, sides: "tuple[_Side, _Side]", left: int) -> None:
        self.sides = sides
        self.left = left
        """The number of places in this round, a power of two: 2 in the final."""
        self.pairs: list[Pair] = []
        self.players: tuple[int | None, int | None] | None = None
        self.winner: int | None = None
        self.is_over = False
        self.decided_by = ""

    @property
    def half_points(self) -> tuple[int, int]:
        first, second = (sum(pair.half_points[side] for pair in self.pairs) for side in (0, 1))
        return first, second

    @property
    def losers(self) -> list[int]:
        return [player for player in self.players or () if self.is_over and player not in (None, self.winner)]


_Side = _Match | int | None


class Knockout(Pairing):
    """Gives out the games of each match with known players, as many as the match needs in any case.

    A bot with `disqualify` faults plays no further pair, and its opponent wins; if both have them, neither does. Bots
    with digests in `idle` are not in the draw.
    """

    def __init__(
        self,
        games: Games,
        players: Sequence[Player],
        best_of: int = 1,
        extra_pairs: int = 2,
        *,
        disqualify: int | None = None,
        idle: Collection[str] = (),
    ) -> None:
        self._idle = [player for player in players if player.digest in idle]
        players = [player for player in players if player.digest not in idle]
        if len(players) < 2:
            raise UsageError(f"--format knockout: expected two bots or more, got {len(players)}")
        self._ledger = Ledger(games, players)
        self._best_of = best_of
        self._extra_pairs = extra_pairs
        self._disqualify = disqualify
        self._matches: list[_Match] = []
        sides: list[_Side] = [seed if seed < len(players) else None for seed in bracket(len(players))]
        while len(sides) > 1:
            round_ = [_Match((one, other), len(sides)) for one, other in zip(sides[::2], sides[1::2], strict=True)]
            self._matches += round_
            sides = list(round_)

    @property
    def planned(self) -> None:
        return None

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        self._ledger.tell(results)
        batch = [game for match in self._matches if not match.is_over for game in self._next_of(match)]
        return None if self._matches[-1].is_over else batch

    def _next_of(self, match: _Match) -> Iterator[GameSpec]:
        """Yield the games of a match that are to be played now, and record its winner."""
        if match.players is None:
            if any(isinstance(side, _Match) and not side.is_over for side in match.sides):
                return
            one, other = (side.winner if isinstance(side, _Match) else side for side in match.sides)
            if one is None or (other is not None and other < one):
                one, other = other, one
            match.players = one, other
        if any(pair.left for pair in match.pairs):
            return
        if self._judge(match):
            match.is_over = True
            return
        one, other = match.players
        assert one is not None
        assert other is not None
        for _ in range(self._needed(match)):
            pair, games = self._ledger.give(one, other)
            match.pairs.append(pair)
            yield from games

    def _needed(self, match: _Match) -> int:
        left = self._best_of - len(match.pairs)
        if left <= 0:
            return 1
        first, second = match.half_points
        lead = abs(first - second)
        return next(
            more for more in range(1, left + 1) if lead + more * PAIR_HALF_POINTS > (left - more) * PAIR_HALF_POINTS
        )

    def _judge(self, match: _Match) -> bool:
        """Return whether a match without open games is decided; record the winner."""
        assert match.players is not None
        one, other = match.players
        if other is None:
            match.winner = one  # None if both places are empty
            return True
        assert one is not None
        out = [player in self._ledger.disqualified(self._disqualify) for player in (one, other)]
        if any(out):
            match.winner = None if all(out) else other if out[0] else one
            match.decided_by = BY_DISQUALIFICATION
            return True
        first, second = match.half_points
        left = self._best_of - len(match.pairs)
        if not match.pairs or abs(first - second) <= max(0, left) * PAIR_HALF_POINTS:
            if left > 0 or first != second or -left < self._extra_pairs:
                return False
            match.decided_by = BY_SEED
        elif left < 0:
            match.decided_by = BY_EXTRA_PAIRS
        match.winner = one if first >= second else other
        return True

    def placing(self) -> Placing:
        """Order by the round in which a bot lost; the disqualified and those not in the draw are last."""
        lost = {player: match for match in self._matches for player in match.losers}
        out = self._ledger.disqualified(self._disqualify)
        ranked = sorted(
            range(len(self._ledger.players)),
            key=lambda player: (player in out, lost[player].left if player in lost else 1, player),
        )
        places: list[KnockoutPlace] = []
        for number, player in enumerate(ranked, 1):
            match_lost = lost.get(player)
            lost_in = match_lost.left if match_lost else None
            is_equal = bool(places) and places[-1].lost_in == lost_in
            shared = places[-1].place if is_equal else number
            points, opponent, decided_by = (0, 0), None, ""
            if match_lost and match_lost.players:
                is_second = match_lost.players[1] == player
                points = match_lost.half_points[::-1] if is_second else match_lost.half_points
                opponent = match_lost.players[0 if is_second else 1]
                decided_by = match_lost.decided_by
            places.append(
                KnockoutPlace(
                    place=None if player in out else shared,
                    player=self._ledger.players[player],
                    lost_in=lost_in,
                    lost_to=None if opponent is None else self._ledger.players[opponent],
                    points=points[0] / 2,
                    opponent_points=points[1] / 2,
                    decided_by=decided_by,
                )
            )
        places += [KnockoutPlace(None, player, None, None, 0, 0, NOT_DRAWN) for player in self._idle]
        rounds = tuple(self._rounds())
        matches = [meeting for round_ in rounds for meeting in round_.meetings if not meeting.is_bye]
        done = sum(match.is_over for match in matches)
        stage = FormatStage(is_over=self._matches[-1].is_over, done=done, of=len(matches))
        return Placing(tuple(places), self._ledger.as_disqualified(out), stage=stage, rounds=rounds)

    def _rounds(self) -> Iterator[Round]:
        for number, (left, matches) in enumerate(groupby(self._matches, lambda match: match.left), 1):
            found = list(matches)
            given = sum(pair.given for match in found for pair in match.pairs)
            yield Round(number, tuple(map(self._meeting, found)), games=given, left=left)

    def _meeting(self, match: _Match) -> Meeting[Player]:
        one, other = match.players or [side.winner if isinstance(side, _Match) else side for side in match.sides]
        first, second = match.half_points
        players = self._ledger.players
        return Meeting(
            bots=(None if one is None else players[one], None if other is None else players[other]),
            points=(first / 2, second / 2),
            games=tuple(sorted(number for pair in match.pairs for number in pair.numbers)),
            is_over=match.is_over,
            is_bye=match.players is not None and None in match.players,
            winner=None if match.winner is None else players[match.winner],
            decided_by=match.decided_by,
        )


def bracket(players: int) -> list[int]:
    """Return seeds from 0 in the order of the places of the first round, to the next power of two."""
    places = [0]
    while len(places) < players:
        size = 2 * len(places)
        places = [seed for place in places for seed in (place, size - 1 - place)]
    return places
