"""What of a game a reader of the pages may see.

A seat sees what it was told. The public sees what both seats were told: a rank that only one of them knows is hidden,
and so is all that a rank could be read from (set-ups, seeds, what the bots wrote themselves). Who reads a whole site,
and which games may stand in it together, is for `arena.league.readers` to say; here that becomes one audience a game.
"""

from enum import Enum

from arena.game.exported import ALL, PUBLIC
from arena.game.record import GameRecord, NoteLine
from arena.game.replay import SeenGame
from arena.game.spec import Player
from arena.game.view import true_cell
from arena.league.readers import Audience as Reading
from arena.league.readers import Reader
from protocol.notation import COLOR_BY_WORD, Color, Rank


class SeenBy(Enum):
    """Who reads the page of a game."""

    ALL = ALL
    RED = Color.RED.word
    BLUE = Color.BLUE.word
    PUBLIC = PUBLIC

    def __init__(self, value: str) -> None:
        self.seat = COLOR_BY_WORD.get(value)
        """The seat that reads, if it is one."""

    @property
    def views(self) -> tuple["SeenBy", ...]:
        """What such a reader may look at: everything, what Red knew and what Blue knew, or one view alone."""
        return (SeenBy.ALL, SeenBy.RED, SeenBy.BLUE) if self is SeenBy.ALL else (self,)

    def sees(self, color: Color) -> bool:
        """Whether it sees what is that side's alone: its set-up, seed, notes and standard error."""
        return self is SeenBy.ALL or self.seat is color


def audience_of(reader: Reader, players: tuple[Player, Player]) -> SeenBy:
    """As what this reader sees a game of these players: both seats as everything, none of them as the public."""
    seats = reader.seats(players)
    if len(seats) == len(Color):
        return SeenBy.ALL
    return SeenBy(seats[0].word) if seats else SeenBy.PUBLIC


def has_seeds(reader: Reader) -> bool:
    """Whether this reader sees the seeds of its seats: they are for the host, and for the author of a bot."""
    return reader.audience in (Reading.ALL, Reading.BOT)


def sees_bot(reader: Reader, player: Player) -> bool:
    """Whether a bot's own words and the times of its moves are for this reader, in whichever game they stand."""
    return reader.audience is Reading.ALL or player in reader.bots


def cell_of(replay: SeenGame, square: int, audience: SeenBy) -> str:
    """A cell of the board as it is, as a seat knows it, or as both seats know it."""
    if audience is SeenBy.ALL:
        return true_cell(replay.game, square)
    if audience.seat is not None:
        return replay.views[audience.seat].cell(square)
    by_red, by_blue = (view.cell(square) for view in replay.views)
    return by_blue if by_blue[0] == Color.RED.word[0] else by_red


def lost_of(replay: SeenGame, color: Color, audience: SeenBy) -> list[Rank]:
    """The pieces that a side has lost, as far as the reader knows them."""
    if audience is SeenBy.ALL:
        return replay.views[color].captured(color)
    if audience.seat is not None:
        return replay.views[audience.seat].captured(color)
    return replay.views[color.opponent].captured(color)


def notes_for(record: GameRecord, audience: SeenBy) -> list[NoteLine]:
    """The notes that a reader may read: a note may say anything, ranks too."""
    return [note for note in record.notes if any(audience.sees(color) for color in Color if color.word == note.color)]
