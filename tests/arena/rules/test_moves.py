"""Moves: what may be played is exactly what the rules allow, and a refusal names the rule, the piece and the square.

The list of legal moves is held against two others, in positions reached by random play: what the check of a single move
lets through of all 100 x 100 pairs of squares, and what a second program allows that is written here from the rules'
text alone. It keeps its own board, square names to letters, plays the fights itself and shares no table with the
engine.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.rules.action_types import Action
from arena.rules.board import BLUE_BIT, RANKS, Move
from arena.rules.events import Event, IllegalActionError, Revealed, Rule
from arena.rules.game import Game
from arena.rules.loading import load_ruleset
from arena.rules.ruleset import Chase, Ruleset, Starts
from protocol.notation import SQUARE_INDEX, SQUARES, Color, Rank

Start = Callable[..., Game]
Play = Callable[[Game, str], tuple[Event, ...]]
Refusal = Callable[[Game, str], IllegalActionError]
Rows = Callable[[Ruleset, Random], list[str]]

RULESETS = ["isf", "barrage", "duel"]
PAIRS = [(origin, target, f"{origin}-{target}") for origin in SQUARES for target in SQUARES]
seeds = st.integers(0, 2**32 - 1)


# --- a second program -----------------------------------------------------------------------------------------------


class Mailbox:
    """The board and the moves as the rules tell them, without the rules against repetition."""

    LAKES = ("c5", "c6", "d5", "d6", "g5", "g6", "h5", "h6")
    ORDER = "S23456789M"

    def __init__(self, red: list[str], blue: list[str]) -> None:
        self.pieces: dict[str, str] = {}
        for number in range(4):
            for file, mine, theirs in zip("abcdefghij", red[number], blue[number], strict=True):
                self.pieces[f"{file}{1 + number}"] = "r" + mine
                self.pieces[f"{file}{10 - number}"] = "b" + theirs
        self.pieces = {square: piece for square, piece in self.pieces.items() if piece[1] != "."}

    def walk(self, square: str, east: int, north: int) -> Iterator[str]:
        """The squares in one direction, up to the first that is off the board or a lake."""
        file, rank = ord(square[0]) + east, int(square[1:]) + north
        while chr(file) in "abcdefghij" and 1 <= rank <= 10 and f"{chr(file)}{rank}" not in self.LAKES:
            yield f"{chr(file)}{rank}"
            file, rank = file + east, rank + north

    def moves(self, side: str) -> set[str]:
        found = set()
        for origin, piece in self.pieces.items():
            if piece[0] != side or piece[1] in "FB":
                continue
            for east, north in ((0, 1), (0, -1), (1, 0), (-1, 0)):
                for steps, target in enumerate(self.walk(origin, east, north), start=1):
                    if steps > 1 and piece[1] != "2":
                        break
                    there = self.pieces.get(target)
                    if there is None or there[0] != side:
                        found.add(f"{origin}-{target}")
                    if there is not None:
                        break
        return found

    def play(self, text: str) -> None:
        origin, target = text.split("-")
        piece, there = self.pieces.pop(origin), self.pieces.get(target)
        if there is None or self.wins(piece[1], there[1]):
            self.pieces[target] = piece
        elif piece[1] == there[1]:
            del self.pieces[target]

    def wins(self, attacker: str, defender: str) -> bool:
        if defender == "F" or (attacker, defender) in (("3", "B"), ("S", "M")):
            return True
        return defender != "B" and self.ORDER.index(attacker) > self.ORDER.index(defender)


def _pieces(game: Game) -> dict[str, str]:
    """The engine's board in the second program's words."""
    return {
        SQUARES[square]: ("b" if code & BLUE_BIT else "r") + RANKS[code].letter
        for square, code in enumerate(game.board)
        if code
    }


def _choose(rng: Random, moves: list[Move], restless: Move | None) -> Move:
    """A random move; mostly of the piece that made the last one, if there was one, to run into the repetition rules."""
    again = [move for move in moves if restless and move.origin == restless.target]
    return rng.choice(again if again and rng.random() < 0.8 else moves)


def _reach(ruleset: Ruleset, rows: Rows, seed: int, plies: int, stubborn: bool) -> tuple[Game, Mailbox]:
    """A position after so many random plies (or the last one before the game's end)."""
    rng = Random(seed)
    red, blue = rows(ruleset, rng), rows(ruleset, rng)
    game, mailbox = Game(ruleset, red, blue), Mailbox(red, blue)
    last: list[Move | None] = [None, None]
    for _ in range(plies):
        side = game.to_move
        move = _choose(rng, _sorted(game.legal_moves()), last[side] if stubborn else None)
        ahead = game.copy()
        ahead.play(move)
        if ahead.outcome:
            break
        game, last[side] = ahead, move
        mailbox.play(move.text)
    return game, mailbox


def _sorted(actions: Sequence[Action]) -> list[Move]:
    """The actions, which must all be straight moves, in the order of their texts."""
    moves = [action for action in actions if isinstance(action, Move)]
    assert len(moves) == len(actions)
    return sorted(moves, key=lambda move: move.text)


def _texts(game: Game) -> list[str]:
    return sorted(move.text for move in game.legal_moves())


positions = {
    "name": st.sampled_from(RULESETS),
    "seed": seeds,
    "plies": st.integers(0, 250),
    "stubborn": st.booleans(),
}


@settings(max_examples=20, deadline=None)
@given(**positions)
def test_the_legal_moves_are_those_of_all_pairs_of_squares_that_pass_the_check(
    random_rows: Rows, name: str, seed: int, plies: int, stubborn: bool
) -> None:
    """No pair that is neither straight nor a step over a corner is a move at all, and no refusal leaves a trace."""
    game, _ = _reach(load_ruleset(name), random_rows, seed, plies, stubborn)
    untouched = game.copy()
    passed = []
    for origin, target, text in PAIRS:
        straight = origin != target and (origin[0] == target[0] or origin[1:] == target[1:])
        try:
            move = game.parse(text)
        except IllegalActionError as error:
            assert error.rule is Rule.FORM  # noqa: PT017  (most pairs are refused, but not all need be)
            assert not straight
            continue
        assert isinstance(move, Move)
        assert straight or _touch_at_a_corner(origin, target)
        assert (SQUARES[move.origin], SQUARES[move.target]) == (origin, target)
        try:
            game.check(move)
        except IllegalActionError:
            continue
        passed.append(text)
    assert _texts(game) == sorted(passed)
    _assert_same_game(game, untouched, Random(seed))


def _touch_at_a_corner(one: str, other: str) -> bool:
    return abs(ord(one[0]) - ord(other[0])) == abs(int(one[1:]) - int(other[1:])) == 1


@settings(max_examples=60, deadline=None)
@given(**positions)
def test_the_legal_moves_are_those_that_the_rules_text_gives(
    random_rows: Rows, name: str, seed: int, plies: int, stubborn: bool
) -> None:
    ruleset = replace(load_ruleset(name), two_squares=None, chase=Chase.FREE)
    game, mailbox = _reach(ruleset, random_rows, seed, plies, stubborn)
    assert _pieces(game) == mailbox.pieces
    assert _texts(game) == sorted(mailbox.moves("rb"[game.to_move]))


@settings(max_examples=40, deadline=None)
@given(**positions)
def test_all_that_the_rules_against_repetition_do_is_to_refuse_some_of_those_moves(
    random_rows: Rows, name: str, seed: int, plies: int, stubborn: bool
) -> None:
    game, mailbox = _reach(load_ruleset(name), random_rows, seed, plies, stubborn)
    assert _pieces(game) == mailbox.pieces
    legal, otherwise = set(_texts(game)), mailbox.moves("rb"[game.to_move])
    assert legal <= otherwise
    for text in otherwise - legal:
        with pytest.raises(IllegalActionError) as caught:
            game.apply(text)
        assert caught.value.rule in (Rule.TWO_SQUARES, Rule.CHASE)


@settings(max_examples=7, deadline=None)
@given(**positions)
def test_no_refused_action_leaves_a_trace(random_rows: Rows, name: str, seed: int, plies: int, stubborn: bool) -> None:
    """After trying every illegal pair of squares, the game is still the one it was and goes on as it would have."""
    game, _ = _reach(load_ruleset(name), random_rows, seed, plies, stubborn)
    untouched = game.copy()
    legal = set(_texts(game))
    for _, _, text in PAIRS:
        if text not in legal:
            with pytest.raises(IllegalActionError):
                game.apply(text)
    _assert_same_game(game, untouched, Random(seed))


def _assert_same_game(game: Game, other: Game, rng: Random) -> None:
    """The two are at the same point, and stay so over some plies of play, the rules against repetition included."""
    last: list[Move | None] = [None, None]
    for _ in range(12):
        assert game.board == other.board
        assert (game.to_move, game.ply, game.quiet, game.outcome) == (
            other.to_move,
            other.ply,
            other.quiet,
            other.outcome,
        )
        assert _texts(game) == _texts(other)
        if game.outcome:
            break
        side = game.to_move
        move = last[side] = _choose(rng, _sorted(game.legal_moves()), last[side])
        game.play(move)
        other.apply(move.text)


def test_random_play_meets_every_sort_of_refusal(random_rows: Rows) -> None:
    """So that the properties above do not hold for want of cases."""
    met: set[Rule] = set()
    for seed in range(24):
        game, _ = _reach(load_ruleset(RULESETS[seed % 3]), random_rows, seed, 50 + 5 * seed, stubborn=seed % 2 == 0)
        for _, _, text in PAIRS[seed % 7 :: 7]:
            try:
                game.check(game.parse(text))
            except IllegalActionError as error:
                met.add(error.rule)
    assert met >= {
        Rule.FORM,
        Rule.OWN_PIECE,
        Rule.IMMOVABLE,
        Rule.STEP,
        Rule.LAKE,
        Rule.BLOCKED,
        Rule.TARGET,
        Rule.DIAGONAL,
        Rule.TWO_SQUARES,
    }


# --- the first moves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("starts", "first", "origin"),
    [(Starts.RED, Color.RED, "a4"), (Starts.BLUE, Color.BLUE, "a7"), (Starts.CHOSEN, Color.RED, "a4")],
)
def test_the_side_that_the_ruleset_names_begins_and_red_where_nobody_has_chosen(
    start: Start, starts: Starts, first: Color, origin: str
) -> None:
    game = start("F:a1 M:a4", "F:a10 M:a7", starts=starts)
    assert game.to_move is first
    assert {text[:2] for text in _texts(game)} == {origin}


def test_a_piece_moves_one_square_along_its_file_or_rank(start: Start) -> None:
    assert _texts(start("F:a1 M:f3", "F:a10 M:a7")) == ["f3-e3", "f3-f2", "f3-f4", "f3-g3"]


def test_a_piece_at_the_edge_and_beside_a_lake_has_only_the_squares_there_are(start: Start) -> None:
    assert _texts(start("F:a1 M:j4", "F:a10 M:a7")) == ["j4-i4", "j4-j3", "j4-j5"]
    assert _texts(start("F:a1 M:c4", "F:a10 M:a7")) == ["c4-b4", "c4-c3", "c4-d4"]


def test_a_scout_moves_any_distance_up_to_a_lake_an_own_piece_or_onto_an_enemy(start: Start) -> None:
    game = start("F:a1 2:e3 4:h3", "F:a10 2:e7 4:h7")
    scouts = [text for text in _texts(game) if text.startswith("e3")]
    along_the_rank = ["e3-d3", "e3-c3", "e3-b3", "e3-a3", "e3-f3", "e3-g3"]
    along_the_file = ["e3-e2", "e3-e1", "e3-e4", "e3-e5", "e3-e6", "e3-e7"]
    assert scouts == sorted(along_the_rank + along_the_file)
    game = start("F:a1 2:c3 4:h3", "F:a10 2:e7 4:h7")
    assert [text for text in _texts(game) if text.startswith("c3-c")] == ["c3-c1", "c3-c2", "c3-c4"]


def test_a_scouts_longer_move_shows_what_it_is_and_a_step_does_not(start: Start, play: Play) -> None:
    game = start("F:a1 2:e3", "F:a10 2:i7")
    assert play(game, "e3-e4")[1:] == ()
    assert play(game, "i7-i5")[1:] == (Revealed(SQUARE_INDEX["i5"], Rank.SCOUT),)


# --- refusals -------------------------------------------------------------------------------------------------------

RED = "F:a1 B:b1 2:e4 4:e3 M:c4 S:a4 3:c3"
BLUE = "F:a10 B:b10 2:e9 4:f7 M:c7 S:e7 3:j10"


@pytest.mark.parametrize(
    ("action", "rule", "words"),
    [
        ("f4-f5", Rule.OWN_PIECE, ["red", "f4"]),
        ("c5-c6", Rule.OWN_PIECE, ["red", "c5"]),
        ("f7-f6", Rule.OWN_PIECE, ["red", "f7"]),
        ("a10-a9", Rule.OWN_PIECE, ["red", "a10"]),
        ("b1-b2", Rule.IMMOVABLE, ["bomb", "b1"]),
        ("a1-a2", Rule.IMMOVABLE, ["flag", "a1"]),
        ("a1-b1", Rule.IMMOVABLE, ["flag", "a1"]),
        ("a4-a6", Rule.STEP, ["spy", "a4"]),
        ("c4-c7", Rule.STEP, ["marshal", "c4"]),
        ("e3-h3", Rule.STEP, ["sergeant", "e3"]),
        ("c4-c5", Rule.LAKE, ["c5"]),
        ("c4-c3", Rule.TARGET, ["red's", "c3"]),
        ("e4-c4", Rule.TARGET, ["red's", "c4"]),
        ("e4-a4", Rule.BLOCKED, ["c4"]),
        ("e4-e8", Rule.BLOCKED, ["e7"]),
        ("e4-e9", Rule.BLOCKED, ["e7"]),
        ("e4-e3", Rule.TARGET, ["red's", "e3"]),
        ("e4-e1", Rule.BLOCKED, ["e3"]),
    ],
)
def test_a_refusal_names_the_rule_and_what_is_where(
    start: Start, refusal: Refusal, action: str, rule: Rule, words: list[str]
) -> None:
    error = refusal(start(RED, BLUE), action)
    assert error.rule is rule
    text = str(error)
    assert text.startswith(f"{action}: ")
    assert text.endswith(f"(rule: {rule.value})")
    sentence = text.removeprefix(f"{action}: ").split()
    assert all(word in sentence for word in words), text


@pytest.mark.parametrize(("action", "lake"), [("d4-d7", "d5"), ("d4-d5", "d5"), ("d4-d6", "d5"), ("d4-d10", "d5")])
def test_a_scout_neither_enters_nor_crosses_a_lake(start: Start, refusal: Refusal, action: str, lake: str) -> None:
    error = refusal(start("F:a1 2:d4", "F:a10 2:d7"), action)
    assert error.rule is Rule.LAKE
    assert lake in str(error).removeprefix(f"{action}: ")


def test_a_scout_that_meets_a_lake_sideways_is_refused(start: Start, play: Play, refusal: Refusal) -> None:
    game = start("F:a1 2:a4", "F:a10 2:j7")
    play(game, "a4-a6 j7-j6")
    for action, lake in (("a6-c6", "c6"), ("a6-e6", "c6")):
        error = refusal(game, action)
        assert error.rule is Rule.LAKE
        assert lake in str(error).removeprefix(f"{action}: ")


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("e4-d6", "along its file or rank"),
        ("a4-a4", "to another square"),
        ("a4-a11", "along its file or rank"),
        ("a0-a1", "along its file or rank"),
        ("A4-A5", "along its file or rank"),
        ("a4-a5 ", "along its file or rank"),
        ("a4", "to another square"),
        ("", "to another square"),
        ("pass", "to another square"),
        ("Resign", "to another square"),
        ("a4-a5-a6-a7", "to another square"),
        ("c4-b4-a4", "a path has a turn in it; two squares straight on is c4-a4"),
        ("c4-b4-c4", "a path has a turn in it"),
        ("c4-a4-a3", "two steps of one square each"),
        ("c4-b5-b4", "two steps of one square each"),
        ("a4-a4-b4", "two steps of one square each"),
        ("a4-b6+8c2", "along its file or rank"),
        ("+8c2", "to another square"),
    ],
)
def test_what_is_not_a_move_or_a_path_is_refused_for_its_form(
    start: Start, refusal: Refusal, action: str, why: str
) -> None:
    error = refusal(start(RED, BLUE), action)
    assert error.rule is Rule.FORM
    assert why in str(error)
    assert str(error).startswith(f"{action}: ")


@pytest.mark.parametrize(
    "action",
    [
        "?",
        "a4?",
        "?a4B",
        "e7?e9",
        "e7?e9X",
        "e7?e11B",
        "e7?e9?B",
        "e7?e9B+8c2",
        "\x00?",
        "+",
        "a4-a5+",
        "a4-a5+8",
        "a4-a5+c2",
        "a4-a5+Xc2",
        "a4-a5+8c11",
        "a4-a5+8c2+8c3",
        "-",
        "--",
        "a4--a5",
    ],
)
def test_no_text_at_all_does_worse_than_to_be_refused_for_its_form(start: Start, refusal: Refusal, action: str) -> None:
    """A record may hold anything."""
    assert refusal(start(RED, BLUE), action).rule is Rule.FORM


@pytest.mark.parametrize(
    ("action", "rule", "words"),
    [
        ("a4-b5", Rule.DIAGONAL, "the spy on a4 cannot move diagonally; no piece may"),
        ("e4-d3", Rule.DIAGONAL, "the scout on e4 cannot move diagonally; no piece may"),
        ("c4-b4-b5", Rule.CAPTAIN, "no piece turns in its move under by-hand"),
        ("e7?e9B", Rule.INFILTRATION, "by-hand has no infiltration"),
        ("c4-b4+8c2", Rule.RESCUE, "by-hand has no rescue"),
    ],
)
def test_an_action_that_only_other_rulesets_have_is_refused_by_its_own_rule(
    start: Start, refusal: Refusal, action: str, rule: Rule, words: str
) -> None:
    error = refusal(start(RED, BLUE), action)
    assert error.rule is rule
    assert words in str(error)


def test_blue_is_refused_in_its_own_colours_name(start: Start, play: Play, refusal: Refusal) -> None:
    game = start(RED, BLUE)
    play(game, "a4-a5")
    assert "blue has no piece on a5" in str(refusal(game, "a5-a6"))
    assert "the bomb on b10 cannot move" in str(refusal(game, "b10-b9"))
    assert "blue's own piece is on f7" in str(refusal(game, "e7-f7"))


@pytest.mark.parametrize("last", ["a6-a7", "resign"])
def test_after_the_end_nothing_is_played_any_more(start: Start, play: Play, refusal: Refusal, last: str) -> None:
    game = start("F:a1 M:a4", "F:a7 M:j7")
    play(game, f"a4-a5 j7-j6 a5-a6 j6-j5 {last}")
    assert game.legal_moves() == []
    for action in ("j5-j4", "a1-a2", "f5-f6", "resign"):
        error = refusal(game, action)
        assert error.rule is Rule.OVER
        assert "the game is over" in str(error)
