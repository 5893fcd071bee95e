"""A person's seat as frozen values, which are its JSON.

They are made from the messages that a bot in that seat would receive, by the kit's own `View`, until the game is over:
then `truth` and `words` have what the host knows. Legal actions come from the arena's `legal` lines, which a person's
seat asks for as a bot can.
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
"""A letter of `protocol.notation.RANK_LETTERS`."""
ColorWord = str


class SeatStage(enum.Enum):
    """The stage of the game for a seat."""

    STARTING = "starting"
    SETTING_UP = "setting-up"
    READY = "ready"
    MOVING = "moving"
    WAITING = "waiting"
    OVER = "over"
    PAUSED = "paused"
    """The game was interrupted, and can be resumed."""


class PieceState(msgspec.Struct, frozen=True):
    """A piece on the board as this seat knows it.

    `rank` is None if unknown; `could_be` are then its possible ranks, strongest last.
    """

    square: Square
    color: ColorWord
    rank: Letter | None
    moved: bool
    could_be: tuple[Letter, ...] = ()


class FightState(msgspec.Struct, frozen=True):
    """A fight. `defender` is None if hidden from this seat; `survivor` is `attacker`, `defender` or `neither`."""

    square: Square
    attacker: Letter
    defender: Letter | None
    survivor: str


class ShownState(msgspec.Struct, frozen=True):
    square: Square
    rank: Letter


class GuessState(msgspec.Struct, frozen=True):
    square: Square
    rank: Letter
    right: bool


class ActionState(msgspec.Struct, frozen=True):
    """An action of a side, as this seat was told.

    `origin` and `target` are the first and the last square of the action; None for resigning. In a rescue `target` is
    where the piece went, in a guess the square of the guessed piece.
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

    `over` is the corner of a captain's path, `rescued` and `rescue_square` are the returning piece and its square,
    `guessed` is the rank that the piece on `origin` guesses for the one on `target`.
    """

    action: str
    origin: Square
    target: Square
    over: Square | None = None
    rescued: Letter | None = None
    rescue_square: Square | None = None
    guessed: Letter | None = None


class ClockState(msgspec.Struct, frozen=True):
    """A side's clock in milliseconds; `left_ms` is its time for the turn, None without a clock.

    `bank_ms` is shown if a bank and a limit per move are both in force. `runs` tells that it runs now, and `left_ms` is
    as of the creation of this value.
    """

    left_ms: int | None
    bank_ms: int | None = None
    runs: bool = False


class EndState(msgspec.Struct, frozen=True):
    """The end of the game for this seat: `win`, `loss` or `draw`, the reason, and words, with a bot's fault.

    `truth` are the 100 cells of the board with all ranks shown; empty if the game did not begin. `number` is the game's
    in the store, None while it is not stored.
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
    """One seat's knowledge of one game, updated by `tell`."""

    def __init__(self, color: Color) -> None:
        self.color = color
        self.stage = SeatStage.STARTING
        self.told: list[ArenaMessage] = []
        self.actions: list[ActionState] = []
        self.rows: tuple[str, ...] | None = None
        self.end: messages.End | None = None
        self.error = ""
        """The fault by which this seat has lost, in words."""
        self._view = View(color, "")
        self._choices: tuple[ChoiceState, ...] = ()

    # --- what goes in -------------------------------------------------------------------------------------------------

    def tell(self, message: ArenaMessage) -> None:
        """Apply a message of the arena."""
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
        self.rows = rows
        self._view.place_own(rows)
        self.stage = SeatStage.READY

    def acted(self) -> None:
        self.stage = SeatStage.WAITING

    def after(self, plies: int) -> "PersonSeat":
        """Return the seat after a number of plies, made again from its messages."""
        seat = PersonSeat(self.color)
        for message in self.told:
            if isinstance(message, messages.Moved) and len(seat.actions) == plies:
                break
            seat.tell(message)
            if isinstance(message, messages.SetupRequest) and self.rows is not None:
                seat.set_up(self.rows)
        return seat

    def _happened(self, message: ArenaMessage) -> None:
        """Record a message about an action: a `moved` begins it, the next ones belong to it."""
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
        return self._view.variant

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._view.rules.items())

    @property
    def army(self) -> tuple[tuple[str, int], ...]:
        return tuple((rank.letter, count) for rank, count in self._view.army.items())

    @property
    def choices(self) -> tuple[ChoiceState, ...]:
        return self._choices if self.stage is SeatStage.MOVING else ()

    @property
    def turn(self) -> tuple[int, int, int | None, int | None]:
        view = self._view
        return view.own_ms, view.enemy_ms, view.own_bank_ms, view.enemy_bank_ms

    def pieces(self) -> tuple[PieceState, ...]:
        view = self._view
        view.close_action()
        return tuple(self._piece(square, piece) for square, piece in enumerate(view.board) if piece)

    def _piece(self, square: int, piece: Piece) -> PieceState:
        could_be = () if piece.rank else tuple(rank.letter for rank in sorted(self._view.possible_ranks(piece)))
        rank = piece.rank.letter if piece.rank else None
        return PieceState(SQUARES[square], piece.color.word, rank, piece.moved, could_be)

    def cells(self) -> tuple[str, ...]:
        self._view.close_action()
        return self._view.cells()

    def lost(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pieces that Red and Blue have lost and this seat knows."""
        red, blue = (tuple(rank.letter for rank in ranks) for ranks in self._view.captured)
        return red, blue

    def hidden(self) -> tuple[tuple[str, int], ...]:
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
