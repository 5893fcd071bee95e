"""Games under made rules, set up by hand, with moves played by name."""

from collections import Counter
from typing import Any

import pytest

from arena.stratego.rules.action_types import Event, IllegalActionError
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Chase, NoMove, Ruleset
from protocol.notation import EMPTY, FILES, RANK_BY_LETTER, Color, Rank

TOURNAMENT: dict[str, Any] = {"two_squares": 3, "chase": Chase.ISF, "no_move": NoMove.AT_ONCE}


def rows_of(placed: str, color: Color) -> list[str]:
    """The rows of a set-up such as `F:a1 M:b4`; a square outside the side's home rows is an error."""
    letters = {square: letter for letter, square in (word.split(":") for word in placed.split())}
    ranks = (1, 2, 3, 4) if color is Color.RED else (10, 9, 8, 7)
    rows = ["".join(letters.pop(f"{file}{rank}", EMPTY) for file in FILES) for rank in ranks]
    assert not letters, f"not home squares of {color.word}: {letters}"
    return rows


def army_of(red: str, blue: str) -> tuple[tuple[Rank, int], ...]:
    """The army that both sides have placed."""
    army = Counter(word[0] for word in red.split())
    assert army == Counter(word[0] for word in blue.split()), "both sides have the same army"
    return tuple((RANK_BY_LETTER[letter], count) for letter, count in army.items())


def start(red: str, blue: str, **rules: Any) -> EngineGame:
    """`start("F:a1 M:b4", "F:a10 M:b7", two_squares=5)`: a game between these two set-ups of one army.

    Keywords are rules; the ones not named are three moves over a border, chasing as the ISF has it, immobility checked
    after every ply, and no caps.
    """
    chosen = {**TOURNAMENT, "max_plies": None, "max_quiet_plies": None, **rules}
    ruleset = Ruleset(name="by-hand", title="By hand", source="this test", army=army_of(red, blue), **chosen)
    return EngineGame(ruleset, rows_of(red, Color.RED), rows_of(blue, Color.BLUE))


def play(game: EngineGame, moves: str) -> tuple[Event, ...]:
    """Play both sides' moves in turn, each of which must be legal; return the last one's events."""
    events: tuple[Event, ...] = ()
    for text in moves.split():
        events = game.apply(text)
    return events


def refusal(game: EngineGame, text: str) -> IllegalActionError:
    """Return the error that an action meets; fail if it is played, or refused but half done."""
    before = (game.board[:], game.to_move, game.ply, game.quiet, game.outcome, set(game.legal_moves()))
    with pytest.raises(IllegalActionError) as caught:
        game.apply(text)
    after = (game.board[:], game.to_move, game.ply, game.quiet, game.outcome, set(game.legal_moves()))
    assert after == before, f"{text} was refused but changed the game"
    return caught.value
