"""One game from the first square of its set-ups to its end, for interfaces that play and draw a single game."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from arena.errors import UsageError
from arena.learn.action_codes import MOST_CODES, code_count
from arena.learn.kernel import Kernel
from arena.learn.kernel_tables import HOME_COUNT, check_supported
from arena.learn.observation import FACT_COUNT, PLANE_COUNT, Observation
from arena.learn.placement import CHOICES, Placement, Setups, random_setups, setup_numbers
from arena.stratego.rules.board import BLUE_BIT
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import as_ruleset
from arena.stratego.rules.setup import IllegalSetupError, check_setup
from arena.stratego.seat_view import true_cell
from arena.stratego.shown.boards import board_text
from protocol.notation import BOARD_SIZE, HOME_SQUARES, LAKE_SQUARES, Color, Reason
from protocol.seats import Outcome

Image = NDArray[np.uint8]

RENDER_MODES = ["human", "ansi", "rgb_array"]
SQUARE_PIXELS = 32
DOT_PIXELS = 3
"""The size of a dot of a letter."""
BORDER_PIXELS = 3
LAND, OTHER_LAND, WATER, WHITE = (222, 211, 178), (211, 198, 160), (124, 164, 196), (255, 255, 255)
PIECES = {"r": (178, 43, 43), "b": (38, 70, 140)}
LETTERS = {
    "F": "### #.. ##. #.. #..",
    "B": "##. #.# ##. #.# ##.",
    "S": ".## #.. .#. ..# ##.",
    "2": "##. ..# .#. #.. ###",
    "3": "##. ..# .#. ..# ##.",
    "4": "#.# #.# ### ..# ..#",
    "5": "### #.. ##. ..# ##.",
    "6": ".## #.. ### #.# ###",
    "7": "### ..# .#. .#. .#.",
    "8": "### #.# ### #.# ###",
    "9": "### #.# ### ..# ##.",
    "M": "#.# ### ### #.# #.#",
    "I": "### .#. .#. .#. ###",
}
"""Five rows of three dots for the letter of each rank."""


def board_image(cells: Sequence[str]) -> Image:
    """Return an image (height, width, 3) of a board's cells as Red sees them, rank 10 at the top."""
    image = np.zeros((BOARD_SIZE, SQUARE_PIXELS, BOARD_SIZE, SQUARE_PIXELS, 3), np.uint8)
    for square, cell in enumerate(cells):
        row, file = divmod(square, BOARD_SIZE)
        image[BOARD_SIZE - 1 - row, :, file] = _square_image(square, cell)
    return image.reshape(BOARD_SIZE * SQUARE_PIXELS, BOARD_SIZE * SQUARE_PIXELS, 3)


def _square_image(square: int, cell: str) -> Image:
    picture = np.empty((SQUARE_PIXELS, SQUARE_PIXELS, 3), np.uint8)
    row, file = divmod(square, BOARD_SIZE)
    picture[:] = WATER if square in LAKE_SQUARES else (LAND, OTHER_LAND)[(row + file) % 2]
    if cell[0] in PIECES:
        picture[BORDER_PIXELS:-BORDER_PIXELS, BORDER_PIXELS:-BORDER_PIXELS] = PIECES[cell[0]]
        letter = np.array([[dot == "#" for dot in row] for row in LETTERS[cell[1]].split()])
        dots = letter.repeat(DOT_PIXELS, 0).repeat(DOT_PIXELS, 1)
        top, left = ((SQUARE_PIXELS - size) // 2 for size in dots.shape)
        picture[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = WHITE
    return picture


def rendered(mode: str | None, cells: Sequence[str], acting: Sequence[Color]) -> Image | str | None:
    """Render a board as Gymnasium and PettingZoo name the modes: `human` prints the text of `ansi`."""
    if mode == "rgb_array":
        return board_image(cells)
    turn = " and ".join(color.word for color in acting)
    text = "\n".join((board_text(cells), f"to act: {turn}" if turn else "the game is over"))
    if mode == "human":
        print(text)
    return text if mode == "ansi" else None


Observed = dict[str, NDArray[Any]]
"""An observation in an interface: `observation` (planes), `facts` unless they are left out, and `action_mask`."""
Rng = np.random.Generator
ACTIONS = spaces.Discrete(MOST_CODES)
MOST_TRIES = 100
"""Games in a row that may end before the agent's first turn."""


class OnIllegal(StrEnum):
    """The answers to an action outside the mask: `UsageError`, a lost game, or a random legal action in its place."""

    ERROR = "error"
    LOSE = "lose"
    RANDOM = "random"


class SetupPhase(StrEnum):
    """Whether the seats place their pieces as part of the game, or it begins with random set-ups."""

    PLACE = "place"
    RANDOM = "random"


def check_option(name: str, value: object, among: Iterable[object]) -> None:
    """Raise `UsageError` unless an option has one of these values."""
    if value not in (words := list(among)):
        raise UsageError(f"{name}: expected one of {', '.join(map(str, words))}, got {value!r}")


def check_count(name: str, value: int) -> None:
    if not isinstance(value, int | np.integer) or value < 1:
        raise UsageError(f"{name}: expected a whole number from 1, got {value!r}")


def check_reset_options(options: Mapping[str, Any] | None, known: str) -> None:
    """Raise `UsageError` unless the options of a `reset` are a dictionary with at most this key."""
    if options is not None and not (isinstance(options, Mapping) and set(options) <= {known}):
        raise UsageError(f"options: expected None or a dictionary with {known}, got {options!r:.60}")


def observation_space(ruleset: Ruleset, facts: bool) -> spaces.Dict:
    """Return the space of what one seat observes."""
    kept: dict[str, spaces.Space[Any]] = {
        "observation": spaces.Box(-1, 1, (PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), np.int8),
        "action_mask": spaces.Box(0, 1, (code_count(ruleset),), np.int8),
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


class OneGame:
    """A game of two seats: a set-up phase, unless set-ups are given, and the play.

    In the set-up phase a seat's codes are the choices of `Placement`. Both seats fill a square before it shows, so
    neither learns anything from the order in which they are asked.
    """

    def __init__(self, ruleset: Ruleset, setups: Setups | None = None) -> None:
        self.kernel = Kernel(ruleset, 1, observes=False)
        self.placement = Placement(ruleset) if setups is None else None
        self.outcome: Outcome | None = None
        self.setups = setups
        """Both set-ups; None in the set-up phase."""
        self._choices: dict[Color, int] = {}
        if setups is not None:
            self._start(setups)

    def _start(self, setups: Setups) -> None:
        self.setups, self.placement = setups, None
        self.kernel.reset(setups)
        self.outcome = self.kernel.outcome(0)

    # --- the turn ---------------------------------------------------------------------------------------------------

    @property
    def acting(self) -> tuple[Color, ...]:
        """The seats that have to act: in the set-up phase all that have not filled the square yet."""
        if self.outcome:
            return ()
        if self.placement:
            return tuple(color for color in Color if color not in self._choices)
        return (Color(self.kernel.to_move[0]),)

    def mask(self, seat: Color) -> NDArray[np.int8]:
        """Return a new mask of a seat's legal codes: none if it has not to act."""
        mask = np.zeros_like(self.kernel.mask[0], np.int8)
        if seat in self.acting:
            if self.placement:
                mask[:CHOICES] = self.placement.mask[seat]
            else:
                mask[:] = self.kernel.mask[0]
        return mask

    def is_legal(self, seat: Color, code: int) -> bool:
        mask = self.mask(seat)
        return bool(ACTIONS.contains(code) and int(code) < len(mask) and mask[int(code)])

    def act(self, seat: Color, code: int) -> None:
        """Play a code of a seat that has to act. Raises `UsageError` unless it is legal."""
        if not self.is_legal(seat, code):
            raise UsageError(f"{seat.word}: expected a legal code (see action_mask), got {code!r:.40}")
        if self.placement is None:
            self.kernel.step(np.array([code]))
            self.outcome = self.kernel.outcome(0)
            return
        self._choices[seat] = int(code)
        if len(self._choices) == len(Color):
            self.placement.place([self._choices[color] for color in Color])
            self._choices = {}
            if self.placement.is_over:
                self._start(self.placement.setups)

    def act_anyhow(self, seat: Color, code: int, illegal: str, rng: Rng) -> int:
        """Play a code, or do what is to be done about an illegal one; return the code that was played, -1 for none."""
        if illegal != OnIllegal.ERROR and not self.is_legal(seat, code):
            if illegal == OnIllegal.LOSE:
                self.lose(seat, Reason.ILLEGAL_ACTION)
                return -1
            code = int(rng.choice(np.flatnonzero(self.mask(seat))))
        self.act(seat, code)
        return int(code)

    # --- the result -------------------------------------------------------------------------------------------------

    def lose(self, seat: Color, reason: Reason) -> None:
        """End the game without a move."""
        self.outcome = Outcome(seat.opponent, reason)

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    def result(self) -> dict[str, str | None]:
        """Return the winner (None in a draw) and the reason of a game that is over; nothing before."""
        if self.outcome is None:
            return {}
        winner, reason = self.outcome
        return {"winner": None if winner is None else winner.word, "reason": reason.value}

    def reward(self, seat: Color) -> float:
        """Return 1 for a win, -1 for a loss, 0 for a draw and during the game."""
        winner = self.outcome.winner if self.outcome else None
        return 0.0 if winner is None else 1.0 if winner is seat else -1.0

    # --- what is seen -----------------------------------------------------------------------------------------------

    def observe(self, seat: Color) -> Observation:
        """Return new arrays of what a seat observes."""
        if self.placement is None:
            planes, facts = self.kernel.observe([seat])
            return Observation(planes[0], facts[0])
        return self.placement.observe(seat)

    def cells(self) -> tuple[str, ...]:
        """Return the 100 cells of the board with every rank shown: for people who watch, never for a seat."""
        pieces = self.kernel.games["piece"][0]
        if self.placement:
            pieces = np.zeros_like(pieces)
            for color in Color:
                ranks = self.placement.setups[0, color]
                pieces[list(HOME_SQUARES[color])] = ranks + BLUE_BIT * color * (ranks > 0)
        return tuple(true_cell(square, code) for square, code in enumerate(pieces.tolist()))


class OneGameEnv:
    """The part that environments of one game share: their options (`SetupPhase`, `OnIllegal`), and the game."""

    _game: OneGame | None = None

    def __init__(
        self,
        ruleset: Ruleset | str = "isf",
        *,
        setup: str = SetupPhase.PLACE,
        facts: bool = True,
        illegal: str = OnIllegal.ERROR,
        render_mode: str | None = None,
    ) -> None:
        check_option("setup", setup, SetupPhase)
        check_option("illegal", illegal, OnIllegal)
        check_option("facts", facts, [True, False])
        check_option("render_mode", render_mode, [None, *RENDER_MODES])
        self.ruleset = as_ruleset(ruleset)
        check_supported(self.ruleset)
        self.setup, self.facts, self.illegal, self.render_mode = setup, facts, illegal, render_mode

    @property
    def game(self) -> OneGame:
        if self._game is None:
            raise UsageError("no game has begun. Call reset first.")
        return self._game

    def render(self) -> Any:
        """Render the board with every rank shown."""
        return rendered(self.render_mode, self.game.cells(), self.game.acting)

    def _first_setups(self, options: Mapping[str, Any] | None, rng: Rng) -> Setups | None:
        """Return the set-ups that a game begins with, of `options` if it has `setups`; None if the seats place."""
        if options and "setups" in options:
            return setups_of(self.ruleset, options["setups"])
        return random_setups(self.ruleset, 1, rng) if self.setup == SetupPhase.RANDOM else None

    def _observed(self, seat: Color) -> Observed:
        """Return what a seat observes as the dictionary of the interfaces."""
        seen = self.game.observe(seat)
        kept = {"observation": seen.planes, "action_mask": self.game.mask(seat)}
        return {**kept, "facts": seen.facts} if self.facts else kept
