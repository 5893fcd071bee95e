"""Leave out the games of disqualified bots, in formats with games that do not depend on results.

Whether a game is left out depends on the earlier games of its two bots in the pairing's order, not on when they ended:
so a resumed league leaves out the same. A game waits only while that is open, because a bot that may reach its limit
has games under way; then the later games of the two wait with it.
"""

from collections import Counter
from collections.abc import Sequence

from arena.game.game_spec import GameSpec, Player
from arena.league.pairing.pairing import Pairing, faults
from arena.league.pairing.placing import Placing
from arena.league.store import Disqualified, GameRow

MOST_WAITING = 1000
"""The most waiting games before no more are requested."""


class WithoutDisqualified:
    """Another pairing without the games of bots that have had `limit` faults before."""

    def __init__(self, pairing: Pairing, limit: int) -> None:
        self._pairing = pairing
        self._limit = limit
        self._waiting: list[GameSpec] = []
        self._is_exhausted = False
        self._given: dict[str, GameSpec] = {}
        """The games that are not over."""
        self._open = Counter[str]()
        """The number of open games of a bot, by its digest."""
        self._faults = Counter[str]()
        self._left_out = Counter[str]()
        self._players: dict[str, Player] = {}

    @property
    def planned(self) -> None:
        return None

    @property
    def at_most(self) -> int | None:
        """The number of games without disqualifications."""
        return self._pairing.planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        for row in results:
            game = self._given.pop(row.id)
            for player, is_fault in zip(game.players, faults(row), strict=True):
                self._open[player.digest] -= 1
                self._faults[player.digest] += is_fault
        while True:
            batch = self._decided()
            if batch or (self._waiting and (self._is_exhausted or len(self._waiting) > MOST_WAITING)):
                return batch
            if self._is_exhausted:
                return None
            more = self._pairing.next(())
            self._is_exhausted = more is None
            self._waiting += more or ()

    def _decided(self) -> list[GameSpec]:
        batch: list[GameSpec] = []
        waiting: list[GameSpec] = []
        held: set[str] = set()
        for game in self._waiting:
            digests = [player.digest for player in game.players]
            out = [digest for digest in digests if self._faults[digest] >= self._limit]
            if not held.isdisjoint(digests) or (
                not out and any(self._faults[digest] + self._open[digest] >= self._limit for digest in digests)
            ):
                held.update(digests)
                waiting.append(game)
            elif out:
                self._left_out.update(out)
                self._players |= {player.digest: player for player in game.players}
            else:
                self._given[game.id] = game
                self._open.update(digests)
                self._players |= {player.digest: player for player in game.players}
                batch.append(game)
        self._waiting = waiting
        return batch

    def placing(self) -> Placing:
        """Return the disqualified bots, and how many games of each were left out so far."""
        is_so_far = bool(not self._is_exhausted or self._waiting or self._given)
        return Placing(
            disqualified=tuple(
                Disqualified(self._players[digest], count, self._left_out[digest], is_so_far)
                for digest, count in sorted(self._faults.items())
                if count >= self._limit
            )
        )
