"""The promises of a game (`arena.game.promises`): Stratego and the examples keep them, and others are found out."""

import re
from collections.abc import Callable, Sequence
from random import Random

import pytest
from example_games import FOLDER, example
from small_games import Guesses, Guessing

from arena.errors import IllegalAnswerError
from arena.game import Game, State, Told, Variant, to_both
from arena.game.game_mistakes import CONVERSATION, GameMistakeError
from arena.game.promises import (
    check_actions,
    check_records,
    check_same_seed,
    check_secrets,
    check_variants,
)
from arena.stratego.game import GAME
from arena.stratego.state import as_stratego
from protocol.geometry import action_squares
from protocol.seats import Color, Outcome, Reason

CHECKS = (check_same_seed, check_actions, check_records)
connect4, dice = example("connect4"), example("liars-dice")


@pytest.mark.parametrize("game", [connect4.GAME(), dice.GAME(), GAME], ids=lambda game: game.name)
def test_every_variant_can_be_named_stored_and_read(game: Game) -> None:
    check_variants(game)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("game", [connect4.GAME(), dice.GAME()], ids=lambda game: game.name)
def test_the_examples_keep_the_promises_of_a_game(check: Callable[[Game], None], game: Game) -> None:
    check(game)


@pytest.mark.parametrize("check", CHECKS)
def test_stratego_keeps_the_promises_of_a_game(check: Callable[..., None]) -> None:
    check(GAME, seeds=(3,), variants=("duel",))


def test_liars_dice_hides_the_dice_until_they_are_shown() -> None:
    check_secrets(dice.GAME(), lambda state, action: action == dice.LIAR, seeds=range(20))


def test_stratego_hides_the_ranks_until_an_attack() -> None:
    def attacks(state: State, action: str) -> bool:
        squares = action_squares(action)
        assert squares is not None
        return as_stratego(state).cells(None)[squares[1]] != "."

    check_secrets(GAME, attacks, seeds=range(2), variants=("isf",))


def test_nothing_is_hidden_in_connect_four() -> None:
    with pytest.raises(AssertionError, match="is anything hidden"):
        check_secrets(connect4.GAME())


# --- the pages of the examples ----------------------------------------------------------------------------------------


class Rolls(Random):
    """Dice that fall as they are told."""

    def __init__(self, *rolls: int) -> None:
        super().__init__(0)
        self.rolls = list(rolls)

    def randint(self, a: int, b: int) -> int:
        return self.rolls.pop(0)


@pytest.mark.parametrize(
    ("name", "state"),
    [("connect4", connect4.Position(5, 4)), ("liars-dice", dice.Table(Rolls(3, 3, 1, 5, 2, 6, 5), 2, False))],
)
def test_the_game_on_the_page_of_an_example_is_one(name: str, state: State) -> None:
    page = (FOLDER / name / "README.md").read_text()
    shown = re.findall(r"^arena\| (.*)$", page, re.MULTILINE)
    own = [line for line in shown if line.split()[0] not in CONVERSATION]
    lines = list(state.first_lines(Color.RED))
    for line in own:
        if line.startswith("moved "):
            lines += state.play(line.split()[2])[Color.RED]
    assert lines == own
    assert state.outcome == (Color.RED, Reason(shown[-2].split()[2]))
    sent = re.findall(r"^bot  \| move (.*)$", page, re.MULTILINE)
    assert sent == [line.split()[2] for line in own if line.startswith("moved red ")]


@pytest.mark.parametrize("actions", ["1213141", "1122334", "4123423344", "1222141133"])
def test_four_in_a_row_a_column_or_a_diagonal_win(actions: str) -> None:
    state = connect4.Position(7, 6)
    for action in actions:
        assert state.outcome is None
        state.play(action)
    assert state.outcome is not None
    assert state.outcome.reason.value == "four"


@pytest.mark.parametrize(
    ("is_wild", "bid", "loser"),
    [(False, "3x3", "blue"), (False, "4x3", "red"), (True, "4x3", "blue"), (True, "2x6", "red")],
)
def test_a_called_bid_is_counted_and_ones_only_where_they_are_wild(is_wild: bool, bid: str, loser: str) -> None:
    state = dice.Table(Rolls(3, 3, 1, 3, *[6] * 3), 2, is_wild)
    state.play(bid)
    red, _ = state.play("liar")
    assert f"lost {loser}" in red
    assert red[-1] == ("dice 6" if loser == "red" else "dice 6 6")
    assert state.to_move.word == loser


# --- games that break a promise ---------------------------------------------------------------------------------------

Table = dice.Table


def broken(table: type[State]) -> Game:
    """Liar's Dice with another state, and so with a fault."""

    class Broken(dice.LiarsDice):  # type: ignore[misc, name-defined]
        name = "broken"

        def variant_names(self) -> Sequence[str]:
            return ("short",)

        def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> State:
            return table(Random(seed), 2, False)  # type: ignore[call-arg]

    return Broken()


class Unrepeatable(Table):  # type: ignore[misc, valid-type]
    def __init__(self, random: Random, *rules: object) -> None:
        super().__init__(Random(), *rules)


class NoCopy(Table):  # type: ignore[misc, valid-type]
    def copy(self) -> State:
        return self


class SaysTurn(Table):  # type: ignore[misc, valid-type]
    def act(self, action: str) -> Told:
        red, blue = super().act(action)
        return ("turn 1", *red), blue


class EndsUnexplained(Table):  # type: ignore[misc, valid-type]
    def act(self, action: str) -> Told:
        self.outcome = Outcome(Color.RED, Reason("because"))
        return to_both("over")


class Lenient(Table):  # type: ignore[misc, valid-type]
    def act(self, action: str) -> Told:
        told: Told = super().act(action if action in self.legal_actions() else self.legal_actions()[0])
        return told


class Strict(Table):  # type: ignore[misc, valid-type]
    def act(self, action: str) -> Told:
        if action == "2x6":
            raise IllegalAnswerError("2x6: no")
        told: Told = super().act(action)
        return told


class ChangedByRefusals(Table):  # type: ignore[misc, valid-type]
    def act(self, action: str) -> Told:
        self._random.random()
        told: Told = super().act(action)
        return told


class Telling(Table):  # type: ignore[misc, valid-type]
    def act(self, action: str) -> Told:
        red, blue = super().act(action)
        return (*red, f"hint {self._dice[Color.BLUE][0]}"), blue


class Showing(Table):  # type: ignore[misc, valid-type]
    def text(self, seat: Color | None) -> str:
        text: str = super().text(None)
        return text


class Allowing(Table):  # type: ignore[misc, valid-type]
    def legal_actions(self) -> Sequence[str]:
        shown = self._dice[self.to_move.opponent][-1]
        return [action for action in super().legal_actions() if not action.endswith(f"x{shown}")]


class TellingAtOnce(Table):  # type: ignore[misc, valid-type]
    def first_lines(self, seat: Color | None) -> Sequence[str]:
        lines: Sequence[str] = super().first_lines(seat)
        return lines if seat is not Color.BLUE else (*lines, f"red {self._dice[Color.RED]}")


class Hands(State):
    """Both show a hand at the same time."""

    first = ""

    def __init__(self, *of_the_dice: object) -> None:
        """Ignore the random numbers and rules of Liar's Dice."""

    def legal_actions(self) -> Sequence[str]:
        return ["stone", "paper"]

    def act(self, action: str) -> Told:
        self.to_move = self.to_move.opponent
        if not self.first:
            self.first = action
            return (), ()
        self.outcome = Outcome(Color.RED, Reason.FLAG)
        return to_both(f"moved red {self.first}", f"moved blue {action}")


class HandsShown(Hands):
    def text(self, seat: Color | None) -> str:
        return self.first


def test_an_action_that_is_told_later_is_hidden_until_then() -> None:
    hands, shown = broken(Hands), broken(HandsShown)
    hands.hides_actions = shown.hides_actions = True
    check_secrets(hands, lambda state, action: state.to_move is Color.BLUE, seats=(Color.BLUE,))
    with pytest.raises(AssertionError, match="no two games that red cannot tell apart: is anything hidden from it"):
        check_secrets(hands, lambda state, action: state.to_move is Color.BLUE)
    with pytest.raises(AssertionError, match="text tells blue"):
        check_secrets(shown, seats=(Color.BLUE,))


class Misfiring(Guesses):
    def __init__(self, seed: int, setups: tuple[str, str]) -> None:
        super().__init__(setups)
        self._random = Random(seed)

    def legal_actions(self) -> Sequence[str]:
        return [str(number) for number in range(1, 100)]

    def act(self, action: str) -> Told:
        red, _ = super().act(action)
        return to_both(*red, f"fired {self._random.randint(1, 6)}")


class MisfiringGuessing(Guessing):
    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Misfiring:
        return Misfiring(seed, setups)


def test_twins_that_differ_in_a_set_up_have_the_same_luck() -> None:
    check_secrets(MisfiringGuessing(), lambda state, action: action in state.setups)  # type: ignore[attr-defined]


def until_a_call(game: Game) -> None:
    check_secrets(game, lambda state, action: action == dice.LIAR)


@pytest.mark.parametrize(
    ("check", "table", "words"),
    [
        (check_same_seed, Unrepeatable, "the same seed gave another game"),
        (check_same_seed, NoCopy, "playing a copy has changed the game"),
        (check_same_seed, SaysTurn, "none of them one of the arena's own"),
        (check_same_seed, EndsUnexplained, "the reason because is not in endings"),
        (check_actions, Lenient, "is not legal, but was accepted"),
        (check_actions, Strict, "2x6 is legal, but was refused"),
        (check_actions, ChangedByRefusals, "an action that was refused has changed the game"),
        (check_records, Unrepeatable, "the record gave another game"),
        (until_a_call, Telling, "red is told what is hidden"),
        (until_a_call, TellingAtOnce, "no two games that blue cannot tell apart"),
        (until_a_call, Showing, "text tells red what is hidden"),
        (until_a_call, Allowing, "the legal actions tell (red|blue) what is hidden"),
    ],
)
def test_a_broken_promise_is_found(check: Callable[[Game], None], table: type[State], words: str) -> None:
    with pytest.raises((AssertionError, GameMistakeError), match=words):
        check(broken(table))
