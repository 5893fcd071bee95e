"""The state of a run that nobody watches, or of which a test hears the games."""

from collections.abc import Callable

from arena.game.record import GameRecord
from arena.league.play_missing import PlayState, Watcher
from arena.league.store import GameRow


class _Hearing(Watcher):
    def __init__(self, finished: Callable[[GameRow, GameRecord], object]) -> None:
        self._finished = finished

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._finished(row, record)


def state_of(finished: Callable[[GameRow, GameRecord], object] = lambda row, record: None) -> PlayState:
    return PlayState(_Hearing(finished))
