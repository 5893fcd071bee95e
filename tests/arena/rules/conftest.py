"""What the tests of the rules share: games set up by hand, moves played by name, random set-ups."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import protocol.bot
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.events import Event, IllegalActionError
from arena.stratego.rules.ruleset import Chase, NoMove, Ruleset
from protocol.notation import EMPTY, RANK_BY_LETTER, Color, home_square

TOURNAMENT: dict[str, Any] = {"two_squares": 3, "chase": Chase.ISF, "no_move": NoMove.AT_ONCE}


def _rows(color: Color, placed: dict[str, str]) -> list[str]:
    """A set-up with the given letters on the given squares; a square outside the side's home rows is an error."""
    left = dict(placed)
    rows = []
    for row in range(4):
        names = [_name(home_square(color, row, file)) for file in range(10)]
        rows.append("".join(left.pop(name, EMPTY) for name in names))
    assert not left, f"not home squares of {color.word}: {left}"
    return rows


def _name(square: int) -> str:
    return "abcdefghij"[square % 10] + str(square // 10 + 1)


def _placed(text: str) -> dict[str, str]:
    """`F:a1 M:b4` as letters by square."""
    pairs = [word.split(":") for word in text.split()]
    return {square: letter for letter, square in pairs}


@pytest.fixture(scope="session")
def start() -> Callable[..., EngineGame]:
    """`start("F:a1 M:b4", "F:a10 M:b7", two_squares=5)`: a game between these two set-ups of one army.

    The army is what Red has placed (Blue must have placed the same). Keywords are rules; the ones not named are three
    moves over a border, chasing as the ISF has it, immobility checked after every ply, and no caps.
    """

    def build(red: str, blue: str, **rules: Any) -> EngineGame:
        on_red, on_blue = _placed(red), _placed(blue)
        army = tuple((RANK_BY_LETTER[letter], count) for letter, count in Counter(on_red.values()).items())
        chosen = {**TOURNAMENT, "max_plies": None, "max_quiet_plies": None, **rules}
        ruleset = Ruleset(name="by-hand", title="By hand", source="this test", army=army, **chosen)
        return EngineGame(ruleset, _rows(Color.RED, on_red), _rows(Color.BLUE, on_blue))

    return build


@pytest.fixture(scope="session")
def play() -> Callable[[EngineGame, str], tuple[Event, ...]]:
    """`play(game, "a4-a5 a7-a6")`: both sides' moves in turn, each of which must be legal; the last one's events."""

    def run(game: EngineGame, moves: str) -> tuple[Event, ...]:
        events: tuple[Event, ...] = ()
        for text in moves.split():
            events = game.apply(text)
        return events

    return run


@pytest.fixture(scope="session")
def refusal() -> Callable[[EngineGame, str], IllegalActionError]:
    """`refusal(game, "a4-b5")`: the error that the action meets; fails if it is played, or refused but half done."""

    def attempt(game: EngineGame, text: str) -> IllegalActionError:
        before = (game.board[:], game.to_move, game.ply, game.quiet, game.outcome, set(game.legal_moves()))
        with pytest.raises(IllegalActionError) as caught:
            game.apply(text)
        after = (game.board[:], game.to_move, game.ply, game.quiet, game.outcome, set(game.legal_moves()))
        assert after == before, f"{text} was refused but changed the game"
        return caught.value

    return attempt


@pytest.fixture(scope="session")
def random_rows() -> Callable[[Ruleset, Random], list[str]]:
    """A random set-up of the ruleset's army."""

    def draw(ruleset: Ruleset, rng: Random) -> list[str]:
        return list(protocol.bot.random_rows(dict(ruleset.army), rng))

    return draw
