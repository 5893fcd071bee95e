"""Pairs of games that differ in what a seat cannot see, for tests that it, or who knows less, is not told of it."""

from collections.abc import Callable, Iterable, Sequence
from random import Random

from arena.stratego.rules.action_types import Action
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.events import IllegalActionError
from arena.stratego.seat_view import told_to
from protocol.notation import EMPTY, FILES, Color

Lively = Callable[[EngineGame, Random], Action]
PLIES = 40


def with_two_swapped(rows: Sequence[str], rng: Random) -> tuple[str, ...]:
    """A set-up in which two pieces of different ranks have changed places."""
    letters = list("".join(rows))
    places = [place for place, letter in enumerate(letters) if letter != EMPTY]
    pairs = [(one, other) for one in places for other in places if letters[one] != letters[other]]
    one, other = rng.choice(pairs)
    letters[one], letters[other] = letters[other], letters[one]
    width = len(FILES)
    return tuple("".join(letters[start : start + width]) for start in range(0, len(letters), width))


def are_alike(one: EngineGame, other: EngineGame, action: str, seats: Iterable[Color]) -> bool:
    """Play an action in two games; whether these seats are told the same of both, and neither is over."""
    events = [game.apply(action) for game in (one, other)]
    told = [[told_to(each, one.tables, seat) for seat in seats] for each in events]
    return told[0] == told[1] and one.outcome is None and other.outcome is None


def played_alike(
    games: tuple[EngineGame, EngineGame], seats: Iterable[Color], rng: Random, lively: Lively
) -> list[str]:
    """Actions that are legal in both of two games, of which these seats are told the same."""
    (one, other), seats = games, tuple(seats)
    actions: list[str] = []
    for _ in range(PLIES):
        action = lively(one, rng).text
        try:
            other.check(other.parse(action))
        except IllegalActionError:
            continue
        if not are_alike(one, other, action, seats):
            return actions
        actions.append(action)
    return actions
