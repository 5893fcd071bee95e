"""Games that nobody plays, for tests of what gives games out, has them played and stores them."""

from collections.abc import Iterable, Mapping, Sequence

from scripted import record_without_referee

from arena.bots.spec import BotSpec
from arena.game.faults import GameResult, Verdict
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.league.pairing.pairing import Pairing
from arena.league.play_missing import LeagueRun, Watcher
from arena.league.store import GameRow, Store
from arena.league.stored_league import GamesBetween, StoredWalk
from protocol.notation import Reason


class Listed(Pairing):
    """A pairing that gives out a list of games, as one batch."""

    def __init__(self, games: Iterable[GameSpec]) -> None:
        self._games = list(games)
        self._batches = iter([self._games])

    @property
    def planned(self) -> int:
        return len(self._games)

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        return next(self._batches, None)


class Quiet:
    """A watcher of a league that says nothing, and keeps the games that it is told of."""

    def __init__(self) -> None:
        self.rows: list[GameRow] = []

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self.rows.append(row)

    def remark(self, text: str) -> None:
        pass

    def closing(self, under_way: int) -> None:
        pass


def run_of(pairing: Pairing, bots: Mapping[Player, BotSpec], store: Store, watcher: Watcher | None = None) -> LeagueRun:
    """A run of a league, silent without a watcher."""
    return LeagueRun(StoredWalk(pairing, GamesBetween(store, bots)), bots, store, watcher or Quiet())


def record_of(game: GameSpec, result: GameResult | None = None) -> GameRecord:
    """The record of a game that ended at once. Without a result the player whose name comes last has won."""
    red, blue = game.players
    if result is None:
        result = GameResult.RED if red.name > blue.name else GameResult.BLUE
    return record_without_referee(game, Verdict(result, Reason.NO_START, 0))
