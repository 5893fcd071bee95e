"""What a person in a seat knows, and what is drawn of it: frozen values, which are JSON as they stand.

All of it comes from the messages that a bot in that seat would be sent, by way of the kit's own `View`, until the game
is over: then `truth` and `words` say what the host knows. Nothing is judged here: what is legal comes from the arena's
`legal` lines, which a person's seat asks for as a bot can.
"""

import enum

import msgspec

from protocol import messages
from protocol.actions import parts
from protocol.messages import ArenaMessage
from protocol.notation import SQUARES, Color, Rank
from protocol.piece import Piece
from protocol.view import View

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
    """This seat has set up, and the other side has not."""
    MOVING = "moving"
    """This seat is to move."""
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
    """A rank that was revealed on a square, or the rank of a rescued piece."""

    square: Square
    rank: Letter


class GuessState(msgspec.Struct, frozen=True):
    """A guess of an infiltrator."""

    square: Square
    rank: Letter
    right: bool


class ActionState(msgspec.Struct, frozen=True):
    """An action of a side, and what this seat was told of it.

    `origin` and `target` are the squares that the action names first and last; None for resigning. Of a rescue `target`
    is where the piece went, of a guess the square of the piece.
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


class PersonSeat:
    """One seat's knowledge of one game. `tell` it each message; the rest is read."""

    def __init__(self, color: Color) -> None:
        self.color = color
        self.stage = SeatStage.STARTING
        self.told: list[ArenaMessage] = []
        """Every message so far, oldest first."""
        self.actions: list[ActionState] = []
        self.rows: tuple[str, ...] | None = None
        self.end: messages.End | None = None
        self.error = ""
        """The fault by which this seat has lost, in words."""
        self._view = View(color, "")
        self._choices: tuple[ChoiceState, ...] = ()

    # --- what goes in -------------------------------------------------------------------------------------------------

    def tell(self, message: ArenaMessage) -> None:
        """Take in a message of the arena."""
        self.told.append(message)
        match message:
            case messages.Game(color, variant):
                self._view = View(color, variant)
            case messages.SetupRequest():
                self.stage = SeatStage.SETTING_UP
            case messages.Restore(rows):
                self.set_up(rows)
                self.stage = SeatStage.WAITING
            case messages.Turn():
                self.stage = SeatStage.MOVING
                self._choices = tuple(_choice(action) for action in self._view.legal)
            case messages.Error(text):
                self.error = text
            case messages.End():
                self.end = message
                self.stage = SeatStage.OVER
            case messages.Moved() | messages.Battle() | messages.Reveal() | messages.Rescued() | messages.Guess():
                self._happened(message)
            case _:
                pass
        self._view.apply(message)

    def set_up(self, rows: tuple[str, ...]) -> None:
        """Note the set-up of this seat."""
        self.rows = rows
        self._view.place_own(rows)
        self.stage = SeatStage.READY

    def acted(self) -> None:
        """Note that this seat has answered its turn."""
        self.stage = SeatStage.WAITING

    def after(self, plies: int) -> "PersonSeat":
        """The seat as it was after so many plies, made again from what it had been told by then."""
        seat = PersonSeat(self.color)
        for message in self.told:
            if isinstance(message, messages.Moved) and len(seat.actions) == plies:
                break
            seat.tell(message)
            if isinstance(message, messages.SetupRequest) and self.rows is not None:
                seat.set_up(self.rows)
        return seat

    def _happened(self, message: ArenaMessage) -> None:
        """Keep what was told of an action: a `moved` begins it, what follows belongs to it."""
        if isinstance(message, messages.Moved):
            self.actions.append(_action(len(self.actions) + 1, message))
            if self.stage is SeatStage.READY:
                self.stage = SeatStage.WAITING
            return
        last = self.actions[-1]
        fight, revealed, rescued, guess = last.fight, last.revealed, last.rescued, last.guess
        match message:
            case messages.Battle(square, attacker, defender, survivor):
                fight = FightState(square, attacker.letter, defender.letter if defender else None, survivor.value)
            case messages.Reveal(square, rank):
                revealed = ShownState(square, rank.letter)
            case messages.Rescued(_, square, rank):
                rescued = ShownState(square, rank.letter)
            case messages.Guess(square, rank, right):
                guess = GuessState(square, rank.letter, right)
            case _:
                pass
        self.actions[-1] = ActionState(
            last.ply, last.color, last.action, last.origin, last.target, fight, revealed, rescued, guess
        )

    # --- what is known ------------------------------------------------------------------------------------------------

    @property
    def variant(self) -> str:
        """The name of the ruleset."""
        return self._view.variant

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        """The rules in force, as they were told."""
        return tuple(self._view.rules.items())

    @property
    def army(self) -> tuple[tuple[str, int], ...]:
        """The number of pieces of each rank that a side has."""
        return tuple((rank.letter, count) for rank, count in self._view.army.items())

    @property
    def choices(self) -> tuple[ChoiceState, ...]:
        """The legal actions of this seat's turn; none in another's."""
        return self._choices if self.stage is SeatStage.MOVING else ()

    @property
    def turn(self) -> tuple[int, int, int | None, int | None]:
        """Milliseconds of this seat and of the enemy, and their banks, as of the last turn of this seat."""
        view = self._view
        return view.own_ms, view.enemy_ms, view.own_bank_ms, view.enemy_bank_ms

    def pieces(self) -> tuple[PieceState, ...]:
        """The pieces on the board, by square."""
        view = self._view
        view.close_action()
        return tuple(self._piece(square, piece) for square, piece in enumerate(view.board) if piece)

    def _piece(self, square: int, piece: Piece) -> PieceState:
        could_be = () if piece.rank else tuple(rank.letter for rank in sorted(self._view.possible_ranks(piece)))
        rank = piece.rank.letter if piece.rank else None
        return PieceState(SQUARES[square], piece.color.word, rank, piece.moved, could_be)

    def cells(self) -> tuple[str, ...]:
        """The board as the 100 cells of a `board` line."""
        self._view.close_action()
        return self._view.cells()

    def lost(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pieces that Red and Blue have lost, as far as this seat was told."""
        red, blue = (tuple(rank.letter for rank in ranks) for ranks in self._view.captured)
        return red, blue

    def hidden(self) -> tuple[tuple[str, int], ...]:
        """Return the number of unknown enemy pieces of each rank."""
        hidden = self._view.hidden_ranks()
        return tuple((rank.letter, hidden[rank]) for rank in Rank if rank in hidden)


def _action(ply: int, moved: messages.Moved) -> ActionState:
    action = parts(moved.action)
    origin, target = (None if square is None else SQUARES[square] for square in (action.start, action.end))
    return ActionState(ply, moved.color.word, moved.action, origin, target)


def _choice(text: str) -> ChoiceState:
    action = parts(text)
    assert action.start is not None, "a legal action names two squares"
    assert action.end is not None
    return ChoiceState(
        text,
        SQUARES[action.start],
        SQUARES[action.end],
        None if action.over is None else SQUARES[action.over],
        None if action.rescued is None else action.rescued.letter,
        None if action.rescue_square is None else SQUARES[action.rescue_square],
        None if action.guessed is None else action.guessed.letter,
    )
