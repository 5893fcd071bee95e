"""Which games of a league are stored, found by asking its pairing anew: no list of all games is made for it.

The walk ends as soon as every stored game that may be one of the league's has been met. Games are given out in the
order of play, so that it is about as long as what has been played, whatever is still to come.
"""

from collections.abc import Iterable, Iterator

from arena.game.spec import Player
from arena.league.pairing import Pairing
from arena.league.store import GameRow


def stored_games(pairing: Pairing, players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """The rows that are games of this pairing, which nobody has asked before, in the order in which it gives them.

    A row of an earlier version may call players by older names: they are told by their digests.
    """
    digests = {player.digest for player in players}
    waiting = {row.id: row for row in rows if digests.issuperset(player.digest for player in row.players)}
    results: list[GameRow] = []
    while waiting:
        batch = pairing.next(results)
        if batch is None or not (batch or results):
            return  # the others are of other rounds or formats, or the pairing waits for what has not been played
        results = []
        for game in batch:
            row = waiting.pop(game.id, None)
            if row is not None:
                results.append(row)
                yield row
