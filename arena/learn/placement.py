"""The set-up phase of a game, and random set-ups."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.learn.kernel_tables import HOME_COUNT
from arena.learn.observation import (
    ENTERED,
    FACT_COUNT,
    HIDDEN,
    LATEST,
    OWN,
    PLANE_COUNT,
    PLY,
    RANK_COUNT,
    Observation,
)
from arena.stratego.rules.ruleset import Ruleset
from protocol.notation import BOARD_SIZE, EMPTY, RANK_BY_LETTER, Color, Rank

CHOICES = RANK_COUNT + 1
"""The number of choices for a square of a set-up: 0 leaves it empty, others are the numbers of ranks."""
Setups = NDArray[np.uint8]
"""By game, side and square of a set-up (own back row first, files a to j): a choice."""


def random_setups(ruleset: Ruleset, games: int, rng: np.random.Generator) -> Setups:
    """Return random legal set-ups for both sides of some games, each as likely as the others."""
    return rng.permuted(np.tile(army_choices(ruleset), (games, 2, 1)), axis=2)


def army_choices(ruleset: Ruleset) -> Setups:
    """Return the choices of any set-up in the order of their numbers."""
    return np.repeat(np.arange(CHOICES, dtype=np.uint8), _counts(ruleset))


def setup_numbers(rows: Sequence[str]) -> NDArray[np.uint8]:
    """Return the rows of a `setup` line as the choices of one seat."""
    letters = "".join(rows)
    return np.array([0 if letter == EMPTY else RANK_BY_LETTER[letter] for letter in letters], np.uint8)


def setup_rows(choices: ArrayLike) -> tuple[str, ...]:
    """Return the choices of one seat as the rows of a `setup` line."""
    letters = "".join(EMPTY if choice == 0 else Rank(choice).letter for choice in np.asarray(choices).tolist())
    return tuple(letters[start : start + BOARD_SIZE] for start in range(0, len(letters), BOARD_SIZE))


def _counts(ruleset: Ruleset) -> NDArray[np.int64]:
    """Return how many squares of a set-up get each choice."""
    counts = np.zeros(CHOICES, np.int64)
    for rank, count in ruleset.army:
        counts[rank] = count
    counts[0] = HOME_COUNT - counts.sum()
    return counts


class Placement:
    """The set-up phase of a game: 40 steps, in each of which both seats fill the next square of their set-ups.

    The squares come in the order of a set-up: own back row first, files a to j. `mask` has the legal choices by seat
    and choice; `setups` what has been placed, as those of one game. Neither seat sees the other's.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self._left = np.tile(_counts(ruleset), (len(Color), 1))
        self.setups: Setups = np.zeros((1, len(Color), HOME_COUNT), np.uint8)
        self.square = 0
        """The square that the next step fills, 40 when the phase is over."""

    @property
    def is_over(self) -> bool:
        return self.square == HOME_COUNT

    @property
    def mask(self) -> NDArray[np.bool_]:
        return self._left > 0

    def place(self, choices: Sequence[int]) -> None:
        """Put a legal choice of each seat on the next square."""
        self._left[list(Color), choices] -= 1
        self.setups[0, :, self.square] = choices
        self.square += 1

    def observe(self, seat: Color) -> Observation:
        """Return what a seat observes: own pieces so far, and in the facts those still in hand.

        The next square is on the plane `latest-1`, and the fact `ply` is minus the number of squares left.
        """
        planes = np.zeros((PLANE_COUNT, BOARD_SIZE**2), np.int8)
        for rank in range(1, CHOICES):
            planes[OWN + rank - 1, :HOME_COUNT] = self.setups[0, seat] == rank
        if not self.is_over:
            planes[LATEST, self.square] = ENTERED
        facts = np.zeros(FACT_COUNT, np.int32)
        facts[PLY] = self.square - HOME_COUNT
        facts[HIDDEN : HIDDEN + RANK_COUNT] = self._left[seat, 1:]
        return Observation(planes.reshape(PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), facts)
