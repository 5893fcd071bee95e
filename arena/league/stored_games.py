"""Which games of a league are stored, found by asking its pairing anew: no list of all games is made for it.

The walk ends as soon as every stored game that may be one of the league's has been met. Games are given out in the
order of play, so that it is about as long as what has been played, whatever is still to come.
"""

from collections.abc import Iterable, Iterator, Sequence

from arena.game.spec import Player
from arena.league.pairing import Pairing
from arena.league.store import GameRow, Store


def tell_stored(pairing: Pairing, players: Iterable[Player], rows: Iterable[GameRow]) -> bool:
    """Tell a pairing, which nobody has asked before, all its games that are stored. Returns whether it has no
    others."""
    waiting = _those_of(players, rows)
    results: list[GameRow] = []
    found_all = True
    while batch := pairing.next(results):
        results = [waiting.pop(game.id) for game in batch if game.id in waiting]
        found_all = found_all and len(results) == len(batch)
        if not (waiting or results or found_all):
            return False
    return found_all and batch is None


def ladder_start(store: Store, players: Sequence[Player]) -> int:
    """The number of the last game that a ladder of these players, in this order, begins with: the last one of the store
    when they were first asked for in a row. So a ladder that is resumed begins with the same, and goes on in the same
    way."""
    since = store.ladder_since([player.digest for player in players])
    return since if since is not None else store.last_number()


def games_between(players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """The rows that are games between these players, of whatever league."""
    digests = {player.digest for player in players}
    return (row for row in rows if digests.issuperset(player.digest for player in row.players))


def _those_of(players: Iterable[Player], rows: Iterable[GameRow]) -> dict[str, GameRow]:
    """The games between these players, by their ids."""
    return {row.id: row for row in games_between(players, rows)}


def stored_games(pairing: Pairing, players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """The rows that are games of this pairing, which nobody has asked before, in the order in which it gives them."""
    waiting = _those_of(players, rows)
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
