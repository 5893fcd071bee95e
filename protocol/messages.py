"""The messages of the arena protocol, one frozen type each; `protocol.codec` has their form as bytes.

They are named tuples, because every bot in Python imports this module at the start of each game, and named tuples load
in a third of the time that dataclasses take. Two consequences: compare messages by `repr` where their type matters
(tuples of equal fields are equal), and test for `None` by name (a message without fields is falsy).

`ArenaMessage` is from the arena to a bot, `BotMessage` from a bot to the arena.
"""

import enum
from typing import NamedTuple

from protocol.notation import Color, Rank, Reason, SeatResult, Survivor

PROTOCOL_VERSION = 1


class Want(enum.Enum):
    """Extra lines that a bot may ask for before each of its turns."""

    BOARD = "board"
    LEGAL = "legal"


class Ability(enum.Enum):
    """An ability that a bot may declare to lack."""

    RESTORE = "restore"
    """Play on from a set-up that is given: that of an interrupted game, or an opening."""


# --- from the arena to a bot --------------------------------------------------------------------------------------


class Hello(NamedTuple):
    """Opens the conversation and names the protocol's version."""

    version: int


class GameLine(NamedTuple):
    """A new game begins: the bot's colour and the name of the variant."""

    color: Color
    variant: str


class Rule(NamedTuple):
    """One rule in force: its name and its value, free text after the first space."""

    name: str
    value: str


class Clock(NamedTuple):
    """The time control in milliseconds; a part that does not apply is None.

    `move_ms` bounds every single move; `bank_ms` is for the whole game and grows by `increment_ms` after each move.
    """

    setup_ms: int
    move_ms: int | None = None
    bank_ms: int | None = None
    increment_ms: int | None = None


class Seed(NamedTuple):
    """A seed for reproducible random numbers. The opponent gets another one."""

    value: int


class Opponent(NamedTuple):
    """The opponent's name in the tables, in printable ASCII; sent if the host names the opponents."""

    name: str


class SetupRequest(NamedTuple):
    """The bot must now send its `Setup`."""


class Restore(NamedTuple):
    """The bot's own set-up, which is given, in place of `SetupRequest`.

    An interrupted game is resumed, or the game begins with an opening. The earlier events follow; the bot does not
    answer before the next `Turn`.
    """

    rows: tuple[str, ...]


class Enemy(NamedTuple):
    """The squares of the opponent's pieces; sent if armies do not fill their rows."""

    squares: tuple[str, ...]


class BoardLine(NamedTuple):
    """100 cells of two characters, a1 b1 .. j1 a2 .. j10, as this seat knows the board (if wanted)."""

    cells: tuple[str, ...]


class Legal(NamedTuple):
    """Legal actions of the coming turn (if wanted): all of them, or as many as fit one line, and the rest follow."""

    actions: tuple[str, ...]


class Turn(NamedTuple):
    """The bot must now move: the number of the ply (from 1) and the milliseconds that it and its opponent have.

    `own_ms` is the time left in this turn. If a bank and a limit per move are both in force, the two banks follow.
    """

    ply: int
    own_ms: int
    enemy_ms: int
    own_bank_ms: int | None = None
    enemy_bank_ms: int | None = None


class Moved(NamedTuple):
    """A side has acted. Both players get every action."""

    color: Color
    action: str


class Battle(NamedTuple):
    """A fight on `square`: the attacker's and the defender's rank (None where hidden) and who is left."""

    square: str
    attacker: Rank
    defender: Rank | None
    survivor: Survivor


class Reveal(NamedTuple):
    """The rank of the piece on `square` has become public without a fight."""

    square: str
    rank: Rank


class Rescued(NamedTuple):
    """A lost piece of a side is back on the board (rulesets with rescues)."""

    color: Color
    square: str
    rank: Rank


class Guess(NamedTuple):
    """An infiltrator has guessed the rank of the piece on `square`; if it was right, that piece has left the board."""

    square: str
    rank: Rank
    right: bool


class Error(NamedTuple):
    """A fault of this bot, described for its author. Comes before the `End` of a game lost by it."""

    text: str


class End(NamedTuple):
    """The game is over: how it ended for this bot, and why."""

    result: SeatResult
    reason: Reason


class Quit(NamedTuple):
    """No more games: the bot should exit."""


ArenaMessage = (
    Hello
    | GameLine
    | Rule
    | Clock
    | Seed
    | Opponent
    | SetupRequest
    | Restore
    | Enemy
    | BoardLine
    | Legal
    | Turn
    | Moved
    | Battle
    | Reveal
    | Rescued
    | Guess
    | Error
    | End
    | Quit
)


# --- from a bot to the arena --------------------------------------------------------------------------------------


class Name(NamedTuple):
    text: str


class Author(NamedTuple):
    text: str


class Wants(NamedTuple):
    wants: tuple[Want, ...]


class Cannot(NamedTuple):
    abilities: tuple[Ability, ...]


class Ready(NamedTuple):
    """The bot has started and can play."""


class Setup(NamedTuple):
    """The bot's set-up: rows of ten characters, own back row first, files a to j, `.` for an empty square."""

    rows: tuple[str, ...]


class Move(NamedTuple):
    """The bot's action, well formed but not yet known to be legal."""

    action: str


class Note(NamedTuple):
    """A remark for the record (an evaluation, a plan)."""

    text: str


BotMessage = Name | Author | Wants | Cannot | Ready | Setup | Move | Note
