"""What is shown to a person in a seat: one frozen value, which is JSON by msgspec as it stands.

All of it comes from the messages that this seat was told, by way of the kit's own view of them, until the game is over:
then `truth` and `words` say what the host knows.
"""

import enum

import msgspec

Square = str
Letter = str
"""The one character of a rank, as everywhere (`protocol.notation.RANK_LETTERS`)."""
ColorWord = str
"""`red` or `blue`."""


class SeatStage(enum.Enum):
    """Where the game stands for a seat."""

    STARTING = "starting"
    """The other side is starting."""
    SETTING_UP = "setting-up"
    """This seat has to set up."""
    READY = "ready"
    """It has set up, and the other side has not."""
    MOVING = "moving"
    """It is to move."""
    WAITING = "waiting"
    """The other side is to move."""
    OVER = "over"
    PAUSED = "paused"
    """The game was interrupted, and will go on another day."""


class PieceState(msgspec.Struct, frozen=True):
    """A piece on the board as this seat knows it.

    `rank` is None while it is not known; `could_be` are then the ranks that it can have for certain, strongest last.
    """

    square: Square
    color: ColorWord
    rank: Letter | None
    moved: bool
    could_be: tuple[Letter, ...] = ()


class FightState(msgspec.Struct, frozen=True):
    """A fight. `defender` is None where this seat is not told it; `survivor` is `attacker`, `defender` or `neither`."""

    square: Square
    attacker: Letter
    defender: Letter | None
    survivor: str


class ShownState(msgspec.Struct, frozen=True):
    """A rank on a square: one that has become public, or of a piece that came back."""

    square: Square
    rank: Letter


class GuessState(msgspec.Struct, frozen=True):
    """A guess of an infiltrator."""

    square: Square
    rank: Letter
    right: bool


class ActionState(msgspec.Struct, frozen=True):
    """What a side has done, and what this seat was told of it.

    `origin` and `target` are the squares that the action names first and last; None for resigning. Of a rescue `target`
    is where the piece went, of a guess whom it asked.
    """

    ply: int
    color: ColorWord
    action: str
    origin: Square | None = None
    target: Square | None = None
    fight: FightState | None = None
    revealed: ShownState | None = None
    rescued: ShownState | None = None
    guess: GuessState | None = None


class ChoiceState(msgspec.Struct, frozen=True):
    """A legal action of this turn, in its parts: see `protocol.actions.Parts`.

    `over` is the corner of a captain's path, `rescued` and `rescue_square` are what comes back where, `guessed` is the
    rank that the piece on `origin` says that the one on `target` has.
    """

    action: str
    origin: Square
    target: Square
    over: Square | None = None
    rescued: Letter | None = None
    rescue_square: Square | None = None
    guessed: Letter | None = None


class ClockState(msgspec.Struct, frozen=True):
    """A side's clock in milliseconds; `left_ms` is what it has for its turn, None without a clock.

    `bank_ms` is shown where a bank and a limit per move are both in force. `runs` says that it runs now, and `left_ms`
    is as of the moment when this value was made.
    """

    left_ms: int | None
    bank_ms: int | None = None
    runs: bool = False


class EndState(msgspec.Struct, frozen=True):
    """How the game ended for this seat: `win`, `loss` or `draw`, the reason, and in words, with what a bot did wrong.

    `truth` are the 100 cells of the board with all ranks shown; empty if no game came about. `number` is the game's in
    the store, None while it is not stored.
    """

    result: str
    reason: str
    words: str
    truth: tuple[str, ...] = ()
    number: int | None = None


class SeatState(msgspec.Struct, frozen=True):
    """All that is drawn for a seat. `version` rises with each change.

    `players` are the names of Red and Blue. `army` is how many pieces there are of each rank. `setup` are this seat's
    rows, own back row first, once it has set up. `lost` are the pieces that Red and Blue have lost, as this seat was
    told them, the first lost first, and `hidden` how many of each rank the enemy still has that are not known.
    `choices` are the legal actions of this turn, and none in another's. `last` is the last action of all, `plies` how
    many there were. `clocks` are Red's and Blue's. `resigns`: this seat has resigned, which counts as soon as it is to
    move. `remark` is a line for people, such as that the bot was started again.
    """

    version: int
    color: ColorWord
    stage: SeatStage
    players: tuple[str, str]
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    army: tuple[tuple[Letter, int], ...]
    setup: tuple[str, ...] | None
    plies: int
    pieces: tuple[PieceState, ...]
    lost: tuple[tuple[Letter, ...], tuple[Letter, ...]]
    hidden: tuple[tuple[Letter, int], ...]
    choices: tuple[ChoiceState, ...]
    last: ActionState | None
    clocks: tuple[ClockState, ClockState]
    resigns: bool = False
    remark: str = ""
    end: EndState | None = None
