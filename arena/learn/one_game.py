"""One game from the first square of its set-ups to its end, for interfaces that play a single game."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from arena.errors import UsageError
from arena.learn.action_codes import CODE_COUNT
from arena.learn.kernel import Kernel
from arena.learn.kernel_tables import HOME_COUNT
from arena.learn.observation import ENTERED, FACT_COUNT, LATEST, PLANE_COUNT, PLY, Observation
from arena.learn.placement import CHOICES, Placement, Setups, random_setups, setup_numbers
from arena.stratego.rules.board import BLUE_BIT
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.setup import IllegalSetupError, check_setup
from protocol.notation import BOARD_SIZE, HOME_SQUARES, LAKE_SQUARES, Color, Rank, Reason
from protocol.view import CELL_EMPTY, CELL_LAKE

Observed = dict[str, NDArray[Any]]
"""What an interface gives a seat: `observation` (planes), `facts` unless they are left out, and `action_mask`."""
Rng = np.random.Generator


class Illegal(StrEnum):
    """The consequence of an action outside the mask."""

    ERROR = "error"
    LOSE = "lose"
    RANDOM = "random"
    """A random legal action is played instead."""


class SetupPhase(StrEnum):
    """The origin of set-ups."""

    PLACE = "place"
    """The seats fill the squares one by one, as part of the game."""
    RANDOM = "random"


def option_of(kind: type[StrEnum], name: str, value: str) -> Any:
    """Return the option of a word. Raises `UsageError`."""
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name}: expected one of {', '.join(kind)}, got {value!r}") from None


def observation_space(facts: bool) -> spaces.Dict:
    """Return the space of what one seat observes."""
    kept: dict[str, spaces.Space[Any]] = {
        "observation": spaces.Box(-1, 1, (PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), np.int8),
        "action_mask": spaces.Box(0, 1, (CODE_COUNT,), np.int8),
    }
    if facts:
        kept["facts"] = spaces.Box(-HOME_COUNT, 2**31 - 1, (FACT_COUNT,), np.int32)
    return spaces.Dict(kept)


def setups_of(ruleset: Ruleset, rows: Mapping[str, str | Sequence[str]]) -> Setups:
    """Return the set-ups of both seats, given as the rows of a `setup` line or as a text with `/` between rows.

    Raises `UsageError`, which names the seat.
    """
    if not isinstance(rows, Mapping) or set(rows) != {color.word for color in Color}:
        raise UsageError(f"setups: expected a dictionary with red and blue, got {rows!r:.60}")
    numbers = []
    for color in Color:
        given = rows[color.word]
        split = given.split("/") if isinstance(given, str) else given
        try:
            check_setup(ruleset, split)
        except IllegalSetupError as error:
            raise UsageError(f"setups: {color.word}: {error}") from None
        numbers.append(setup_numbers(split))
    return np.array([numbers], np.uint8)


def first_setups(ruleset: Ruleset, phase: SetupPhase, options: Mapping[str, Any] | None, rng: Rng) -> Setups | None:
    """Return the set-ups that a game begins with, of `options` if it has `setups`; None if the seats are to place."""
    if options and "setups" in options:
        return setups_of(ruleset, options["setups"])
    return random_setups(ruleset, 1, rng) if phase is SetupPhase.RANDOM else None


class OneGame:
    """A game of two seats: a set-up phase, unless set-ups are given, and the play.

    In the set-up phase a seat's codes are the choices of `Placement`. Both seats fill a square before it shows, so
    neither learns anything from the order in which they are asked.
    """

    def __init__(self, ruleset: Ruleset, setups: Setups | None = None) -> None:
        self.ruleset = ruleset
        self.kernel = Kernel(ruleset, 1, observes=False)
        self.placement: Placement | None = None
        self.ended_by: tuple[Color, Reason] | None = None
        """The seat that lost without a move, and why."""
        self.setups = setups
        """Both set-ups; None in the set-up phase."""
        self._choices: dict[Color, int] = {}
        if setups is None:
            self.placement = Placement(ruleset, 1)
        else:
            self.kernel.reset(setups)

    # --- the turn ---------------------------------------------------------------------------------------------------

    @property
    def acting(self) -> tuple[Color, ...]:
        """The seats that have to act: in the set-up phase all that have not filled the square yet."""
        if self.is_over:
            return ()
        if self.placement:
            return tuple(color for color in Color if color not in self._choices)
        return (Color(self.kernel.to_move[0]),)

    def mask(self, seat: Color) -> NDArray[np.int8]:
        """Return a new mask of a seat's legal codes: none if it has not to act."""
        mask = np.zeros(CODE_COUNT, np.int8)
        if seat in self.acting:
            if self.placement:
                mask[:CHOICES] = self.placement.mask[0, seat]
            else:
                mask[:] = self.kernel.mask[0]
        return mask

    def act(self, seat: Color, code: int) -> None:
        """Play a code of a seat that has to act. Raises `UsageError` unless it is legal."""
        if not self.is_legal(seat, code):
            raise UsageError(f"{seat.word}: expected a legal code (see action_mask), got {code!r:.40}")
        if self.placement is None:
            self.kernel.step(np.array([code]))
            return
        self._choices[seat] = int(code)
        if len(self._choices) == len(Color):
            self.placement.place(np.array([[self._choices[color] for color in Color]]))
            self._choices = {}
            if self.placement.is_over:
                self.setups, self.placement = self.placement.setups, None
                self.kernel.reset(self.setups)

    def is_legal(self, seat: Color, code: int) -> bool:
        number = isinstance(code, int | np.integer)
        return number and 0 <= code < CODE_COUNT and bool(self.mask(seat)[code])

    def act_anyhow(self, seat: Color, code: int, illegal: Illegal, rng: Rng) -> int:
        """Play a code, or do what is to be done about an illegal one; return the code that was played."""
        if illegal is not Illegal.ERROR and not self.is_legal(seat, code):
            if illegal is Illegal.LOSE:
                self.ended_by = seat, Reason.ILLEGAL_ACTION
                return code
            code = int(rng.choice(np.flatnonzero(self.mask(seat))))
        self.act(seat, code)
        return int(code)

    # --- the result -------------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        return self.ended_by is not None or (self.placement is None and bool(self.kernel.is_over[0]))

    def result(self) -> dict[str, str | None]:
        """Return the winner (None in a draw) and the reason of a game that is over; nothing before."""
        if self.ended_by is not None:
            return {"winner": self.ended_by[0].opponent.word, "reason": self.ended_by[1].value}
        outcome = None if self.placement else self.kernel.outcome(0)
        if outcome is None:
            return {}
        return {"winner": None if outcome.winner is None else outcome.winner.word, "reason": outcome.reason.value}

    def reward(self, seat: Color) -> float:
        """Return 1 for a win, -1 for a loss, 0 for a draw and during the game."""
        winner = self.result().get("winner")
        return 0.0 if winner is None else 1.0 if winner == seat.word else -1.0

    # --- what is seen -----------------------------------------------------------------------------------------------

    def observe(self, seat: Color) -> Observation:
        """Return new arrays of what a seat observes. In the set-up phase the next square is on the plane `latest-1`,
        and the fact `ply` is negative: the squares that are left.
        """
        if self.placement is None:
            planes, facts = self.kernel.observe([seat])
            return Observation(planes[0], facts[0])
        planes, facts = self.placement.observe()
        square = self.placement.square
        planes[0, seat, LATEST].flat[square] = ENTERED
        facts[0, seat, PLY] = square - HOME_COUNT
        return Observation(planes[0, seat], facts[0, seat])

    def observed(self, seat: Color, facts: bool = True) -> Observed:
        """Return what a seat observes as the dictionary of the interfaces."""
        seen = self.observe(seat)
        kept = {"observation": seen.planes, "action_mask": self.mask(seat)}
        return {**kept, "facts": seen.facts} if facts else kept

    def cells(self) -> tuple[str, ...]:
        """Return the 100 cells of the board with every rank shown: for people who watch, never for a seat."""
        pieces = self.kernel.games["piece"][0]
        if self.placement:
            pieces = np.zeros_like(pieces)
            for color in Color:
                ranks = self.placement.setups[0, color]
                pieces[list(HOME_SQUARES[color])] = ranks + BLUE_BIT * color * (ranks > 0)
        return tuple(_cell(square, int(piece)) for square, piece in enumerate(pieces))

    def __deepcopy__(self, memo: object) -> "OneGame":
        copied = OneGame(self.ruleset)
        copied.ended_by, copied.setups, copied._choices = self.ended_by, self.setups, dict(self._choices)
        copied.placement = deepcopy(self.placement)
        for name in ("games", "mask", "codes", "counts", "_history"):
            getattr(copied.kernel, name)[:] = getattr(self.kernel, name)
        return copied


def _cell(square: int, piece: int) -> str:
    if not piece:
        return CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY
    return ("b" if piece > BLUE_BIT else "r") + Rank(piece % BLUE_BIT).letter
