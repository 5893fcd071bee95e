"""Perfect matchings: pair all players, if possible, without any forbidden pair.

Edmonds's blossom algorithm (J. Edmonds, Canadian Journal of Mathematics 17 (1965) 449-467): from an unmatched player,
follow paths of alternately free and matched edges, and contract each odd cycle; a path to another one is flipped.
"""

from collections import deque
from collections.abc import Callable, Sequence

Allowed = Callable[[int, int], bool]


class Matching:
    """A matching of players that grows to a perfect one, if there is one, and stays perfect as pairs are taken out."""

    def __init__(self, players: Sequence[int], allowed: Allowed) -> None:
        self._players = dict.fromkeys(players)
        self._allowed = allowed
        self.partner: dict[int, int] = {}

    def complete(self) -> bool:
        """Match as many players as possible; return whether that is all."""
        # Berge: where no path leads on from a player, none ever will, and it is left over.
        return all(player in self.partner or self._augment(player) for player in self._players)

    def take(self, one: int, other: int) -> bool:
        """Take two out of a perfect matching, if all others can be matched without them; return whether that is so."""
        if not self._allowed(one, other):
            return False
        before, left = dict(self.partner), self.partner[one]
        for player in {one, left, other, self.partner[other]}:
            del self.partner[player]
        del self._players[one], self._players[other]
        if left == other or self._augment(left):
            return True
        self._players |= {one: None, other: None}
        self.partner = before
        return False

    def _augment(self, root: int) -> bool:
        """Match a player, by a path that ends at another unmatched player; return whether there is one."""
        for player in self._players:  # the shortest of all paths first
            if player != root and player not in self.partner and self._allowed(root, player):
                self.partner[root], self.partner[player] = player, root
                return True
        return _Search(self._players, self._allowed, self.partner).augment(root)


class _Search:
    """One search for an augmenting path: the blossom that each player is contracted into, and the player before it."""

    def __init__(self, players: dict[int, None], allowed: Allowed, partner: dict[int, int]) -> None:
        self._allowed = allowed
        self._partner = partner
        self._players = tuple(players)
        self._base = {player: player for player in players}
        self._before: dict[int, int] = {}
        self._even: set[int] = set()
        self._queue: deque[int] = deque()

    def augment(self, root: int) -> bool:
        self._even = {root}
        self._queue = deque([root])
        while self._queue:
            here = self._queue.popleft()
            for there in self._players:
                if there == here or self._base[here] == self._base[there] or self._partner.get(here) == there:
                    continue
                if not self._allowed(here, there):
                    continue
                if there in self._even:
                    self._contract(here, there)
                elif there not in self._before:
                    self._before[there] = here
                    if there not in self._partner:
                        self._turn_round(there)
                        return True
                    self._even.add(self._partner[there])
                    self._queue.append(self._partner[there])
        return False

    def _turn_round(self, end: int) -> None:
        player: int | None = end
        while player is not None:
            before = self._before[player]
            following = self._partner.get(before)
            self._partner[player], self._partner[before] = before, player
            player = following

    def _contract(self, one: int, other: int) -> None:
        base = self._common_base(one, other)
        inside: set[int] = set()
        self._mark(one, base, other, inside)
        self._mark(other, base, one, inside)
        for player in self._players:
            if self._base[player] in inside:
                self._base[player] = base
                if player not in self._even:
                    self._even.add(player)
                    self._queue.append(player)

    def _mark(self, player: int, base: int, child: int, inside: set[int]) -> None:
        while self._base[player] != base:
            matched = self._partner[player]
            inside |= {self._base[player], self._base[matched]}
            self._before[player] = child
            child = matched
            player = self._before[matched]

    def _common_base(self, one: int, other: int) -> int:
        seen: set[int] = set()
        here = one
        while True:
            here = self._base[here]
            seen.add(here)
            if here not in self._partner:
                break
            here = self._before[self._partner[here]]
        here = other
        while (here := self._base[here]) not in seen:
            here = self._before[self._partner[here]]
        return here
