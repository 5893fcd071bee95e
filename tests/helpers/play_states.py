"""The state of a run that nobody watches, or of which a test hears the games."""

from collections.abc import Callable

from unplayed import Quiet

from arena.game.record import GameRecord
from arena.league.play_missing import PlayState
from arena.league.store import GameRow


def state_of(finished: Callable[[GameRow, GameRecord], object] = lambda row, record: None) -> PlayState:
    class Hearing(Quiet):
        def finished(self, row: GameRow, record: GameRecord) -> None:
            finished(row, record)

    return PlayState(Hearing())
