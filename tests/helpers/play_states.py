"""The state of a league's run without output, which may pass each finished game to a test."""

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
