"""A person's seat in a game of Stratego.

Its values are made from the messages that a bot in that seat would receive, by the kit's own `View`, until the game is
over: then `truth` and `words` have what the host knows. Legal actions come from the arena's `legal` lines, which a
person's seat asks for as a bot can.
"""

from collections.abc import Sequence

import msgspec

from arena.game import State, Variant
from arena.game.person_seat import ClockState, PersonSeat, SeatStage, SeatState
from arena.play.session import Session
from arena.stratego.game import ruleset_of
from arena.stratego.rules.action_types import Event
from arena.stratego.shown.boards import SquareMark, marks_of, told_words
from arena.stratego.shown.piece_names import DEFAULT_NAMES
from arena.stratego.state import as_stratego
from protocol import messages
from protocol.actions import parts
from protocol.bot_codec import decode_for_bot
from protocol.messages import ArenaMessage
from protocol.notation import SQUARES, Color, Rank
from protocol.view import Piece, View

Square = str
Letter = str
"""A letter of `protocol.notation.RANK_LETTERS`."""
ColorWord = str


class PieceState(msgspec.Struct, frozen=True):
    """A piece on the board as this seat knows it.

    `rank` is None if unknown; `could_be` are then its possible ranks, strongest last.
    """

    square: Square
    color: ColorWord
    rank: Letter | None
    moved: bool
    could_be: tuple[Letter, ...] = ()


class ActionState(msgspec.Struct, frozen=True):
    """An action of a side, as this seat was told; `words` say what it was told besides the action.

    `marks` are its effects by square.
    """

    ply: int
    color: ColorWord
    action: str
    words: str = ""
    marks: dict[Square, SquareMark] = {}


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


class StrategoSeatState(SeatState, frozen=True, kw_only=True):
    """All that is drawn for a seat.

    `army` is how many pieces there are of each rank. `setup` are this seat's rows, own back row first. `lost` are the
    pieces that Red and Blue have lost, as this seat was told them, the first lost first, and `hidden` how many of each
    rank the enemy still has that are not known. `last` is the last action of all.
    """

    army: tuple[tuple[Letter, int], ...]
    pieces: tuple[PieceState, ...]
    lost: tuple[tuple[Letter, ...], tuple[Letter, ...]]
    hidden: tuple[tuple[Letter, int], ...]
    choices: tuple[ChoiceState, ...]
    last: ActionState | None


class StrategoSeat(PersonSeat):
    """One seat's knowledge of one game."""

    unlisted = "to move that piece loses the game at once; to give it up, resign"

    def __init__(self, color: Color) -> None:
        super().__init__(color)
        self.told: list[ArenaMessage] = []
        self.actions: list[ActionState] = []
        self._last: list[Event] = []
        self._view = View(color, "")
        self._choices: tuple[ChoiceState, ...] = ()

    # --- what goes in -------------------------------------------------------------------------------------------------

    def hear(self, line: bytes) -> None:
        message = decode_for_bot(line)
        if message is not None:
            self.tell(message)

    def tell(self, message: ArenaMessage) -> None:
        """Apply a message of the arena."""
        self.told.append(message)
        match message:
            case messages.GameLine(color, variant):
                self._view = View(color, variant)
            case messages.SetupRequest():
                self.stage = SeatStage.SETTING_UP
            case messages.Restore(rows):
                self.set_up(rows)
                self.stage = SeatStage.WAITING
            case messages.Turn():
                self.stage = SeatStage.MOVING
                self._legal = tuple(self._view.legal)
                self._choices = tuple(map(_choice, self._legal))
            case messages.End():
                self.stage = SeatStage.OVER
            case messages.Moved() | messages.Battle() | messages.Reveal() | messages.Rescued() | messages.Guess():
                self._happened(message)
            case _:
                pass
        self._view.apply(message)

    def set_up(self, rows: tuple[str, ...]) -> None:
        super().set_up(rows)
        self._view.place_own(rows)

    def after(self, plies: int) -> "StrategoSeat":
        """Return the seat after a number of plies, made again from its messages."""
        seat = StrategoSeat(self.color)
        for message in self.told:
            if isinstance(message, messages.Moved) and len(seat.actions) == plies:
                break
            seat.tell(message)
            if isinstance(message, messages.SetupRequest) and self.rows is not None:
                seat.set_up(self.rows)
        return seat

    def _happened(self, message: Event) -> None:
        """Record a message about an action: a `moved` begins it, the next ones belong to it."""
        if isinstance(message, messages.Moved):
            self._last = []
            if self.stage is SeatStage.READY:
                self.stage = SeatStage.WAITING
        else:
            del self.actions[-1]
        self._last.append(message)
        self.actions.append(_action(len(self.actions) + 1, self._last))

    # --- what is known ------------------------------------------------------------------------------------------------

    @property
    def choices(self) -> tuple[ChoiceState, ...]:
        return self._choices if self.stage is SeatStage.MOVING else ()

    def state(self, known: SeatState, variant: Variant) -> StrategoSeatState:
        fields = msgspec.structs.asdict(known) | {"plies": len(self.actions)}
        return StrategoSeatState(
            **fields,
            army=tuple((rank.letter, count) for rank, count in ruleset_of(variant).army),
            pieces=self.pieces(),
            lost=self.lost(),
            hidden=self.hidden() if self.rows else (),
            last=self.actions[-1] if self.actions else None,
        )

    def truth(self, position: State) -> tuple[str, ...]:
        return as_stratego(position).cells(None)

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


def _action(ply: int, told: Sequence[Event]) -> ActionState:
    """Return an action: a `moved` and what was told of it."""
    moved, *_ = told
    assert isinstance(moved, messages.Moved)
    marks = {SQUARES[square]: mark for square, mark in marks_of(told).items()}
    words = told_words(told, DEFAULT_NAMES)
    return ActionState(ply, moved.color.word, moved.action, words, marks)


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


def seat_of(session: Session, color: Color) -> StrategoSeat:
    """Return a person's seat in a session of Stratego."""
    seat = session.seat(color)
    assert isinstance(seat, StrategoSeat)
    return seat


def state_of(session: Session, color: Color) -> StrategoSeatState:
    """Return the state of a person's seat in a session of Stratego."""
    state = session.state(color)
    assert isinstance(state, StrategoSeatState)
    return state


def state_after(session: Session, color: Color, plies: int) -> StrategoSeatState:
    """Return what a person knew after this number of plies: the board, without clocks and choices."""
    none = ClockState(None)
    then = session.known(color, stage=SeatStage.WAITING, choices=(), clocks=(none, none), remark="", end=None)
    return seat_of(session, color).after(plies).state(then, session.spec.variant)
