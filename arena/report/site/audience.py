"""Who a site is made for, and what of a game such a reader may see.

A seat sees what it was told. The public sees what both seats were told: a rank that only one of them knows is hidden,
and so is all that a rank could be read from (set-ups, seeds, what the bots wrote themselves).
"""

from enum import Enum

from arena.game.record import GameRecord, NoteLine
from arena.game.replay import Replay
from arena.game.view import true_cell
from arena.report.game_facts import ALL, PUBLIC
from protocol.notation import COLOR_BY_WORD, Color, Rank


class Audience(Enum):
    """Who reads the pages; the values are those of `--for`."""

    ALL = ALL
    RED = Color.RED.word
    BLUE = Color.BLUE.word
    PUBLIC = PUBLIC

    def __init__(self, value: str) -> None:
        self.seat = COLOR_BY_WORD.get(value)
        """The seat that reads, if it is one."""

    @property
    def views(self) -> tuple["Audience", ...]:
        """What such a reader may look at: everything, what Red knew and what Blue knew, or one view alone."""
        return (Audience.ALL, Audience.RED, Audience.BLUE) if self is Audience.ALL else (self,)

    def sees(self, color: Color) -> bool:
        """Whether it sees what is that side's alone: its set-up, seed, notes and standard error."""
        return self is Audience.ALL or self.seat is color


def cell_of(replay: Replay, square: int, audience: Audience) -> str:
    """A cell of the board as it is, as a seat knows it, or as both seats know it."""
    if audience is Audience.ALL:
        return true_cell(replay.game, square)
    if audience.seat is not None:
        return replay.views[audience.seat].cell(square)
    by_red, by_blue = (view.cell(square) for view in replay.views)
    return by_blue if by_blue[0] == Color.RED.word[0] else by_red


def lost_of(replay: Replay, color: Color, audience: Audience) -> list[Rank]:
    """The pieces that a side has lost, as far as the reader knows them."""
    if audience is Audience.ALL:
        return replay.views[color].captured(color)
    if audience.seat is not None:
        return replay.views[audience.seat].captured(color)
    return replay.views[color.opponent].captured(color)


def notes_for(record: GameRecord, audience: Audience) -> list[NoteLine]:
    """The notes that a reader may read: a note may say anything, ranks too."""
    return [note for note in record.notes if any(audience.sees(color) for color in Color if color.word == note.color)]
