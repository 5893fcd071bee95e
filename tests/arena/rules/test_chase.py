"""The chase rule of the International Stratego Federation: a chaser may not bring a position of its chase back.

Examples made by hand, and the engine's answer, which compares numbers that stand for positions, held against a second
one that keeps every board of the game and compares them whole, as the side to move can tell them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.rules.action_types import Action
from arena.rules.board import Move
from arena.rules.events import Event, Fought, IllegalActionError, Revealed, Rule
from arena.rules.game import Game
from arena.rules.loading import load_ruleset
from arena.rules.ruleset import Chase, Ruleset
from protocol.notation import RANK_BY_LETTER, Reason

Start = Callable[..., Game]
Play = Callable[[Game, str], tuple[Event, ...]]
Refusal = Callable[[Game, str], IllegalActionError]
Rows = Callable[[Ruleset, Random], list[str]]


# --- with whole boards ----------------------------------------------------------------------------------------------


def _beside(one: int, other: int) -> bool:
    return abs(one % 10 - other % 10) + abs(one // 10 - other // 10) == 1


def _touches(board: list[int], square: int, side: int) -> bool:
    """Whether an enemy of the side stands beside the square. Blue's pieces have codes above 16, Red's below."""
    around = [place for place in range(max(square - 10, 0), min(square + 11, 100)) if _beside(place, square)]
    return any(board[place] and (board[place] > 16) != bool(side) for place in around)


class Remembered:
    """Every board of a game as pieces on squares, which of them have been named, and how long each side's chase is."""

    def __init__(self, board: list[int]) -> None:
        self._codes = list(board)
        """Of each piece, a number from 0 on: its code."""
        self._boards: list[dict[int, int]] = [{square: square for square, code in enumerate(board) if code}]
        self._named: set[int] = set()
        self._last: list[tuple[int, int] | None] = [None, None]
        self._length = [0, 0]

    def _as_told(self, board: dict[int, int], side: int) -> dict[int, object]:
        """A board as the side can tell it: its own pieces and the named ones by rank, the others as themselves."""
        known = {piece for piece in board.values() if (self._codes[piece] > 16) == bool(side)} | self._named
        return {square: ("rank", self._codes[piece]) if piece in known else piece for square, piece in board.items()}

    def refuses(self, side: int, move: Move) -> bool:
        now = dict(self._boards[-1])
        if move.target in now or self._last[side] == (move.target, move.origin):
            return False
        now[move.target] = now.pop(move.origin)
        length = self._length[side]
        of_this_chase = [self._as_told(self._boards[-1 - back], side) for back in range(1, length)]
        codes = [self._codes[now[square]] if square in now else 0 for square in range(100)]
        return _touches(codes, move.target, side) and self._as_told(now, side) in of_this_chase

    def played(self, side: int, move: Move, board: list[int], events: tuple[Event, ...]) -> None:
        """`board` is the position after the move, `events` what came of it."""
        threat = self._last[1 - side]
        evaded = threat is not None and _beside(threat[1], move.origin)
        self._length[1 - side] = self._length[1 - side] + 1 if evaded else 0
        now = dict(self._boards[-1])
        defender = now.get(move.target)
        piece = now.pop(move.origin)
        if defender is not None:
            self._length = [0, 0]
            self._named |= {piece, defender}
        if any(isinstance(event, Revealed) for event in events):
            self._named.add(piece)
        left = board[move.target]
        if left and (left > 16) == bool(side):
            now[move.target] = piece
        elif not left:
            del now[move.target]
        assert {square: self._codes[who] for square, who in now.items()} == {
            square: code for square, code in enumerate(board) if code
        }
        self._length[side] = self._length[side] + 1 if _touches(board, move.target, side) else 0
        self._last[side] = (move.origin, move.target)
        self._boards.append(now)


def _sorted(actions: Sequence[Action]) -> list[Move]:
    """The actions, which must all be straight moves, in the order of their texts."""
    moves = [action for action in actions if isinstance(action, Move)]
    assert len(moves) == len(actions)
    return sorted(moves, key=lambda move: move.text)


def _choose(rng: Random, game: Game, moves: list[Move], played: list[Move]) -> Move:
    """Mostly a chase: Red's last moved piece steps beside an enemy again, Blue's steps away from it, both among squares
    that they have been on lately."""
    board, side = game.board, game.to_move
    quiet = [move for move in moves if not board[move.target]]
    if not quiet or rng.random() < 0.03:
        return rng.choice(moves)
    mine, yours = (played[-2:-1], played[-1:])
    threats = [move for move in quiet if _touches(board, move.target, side)]
    again = [move for move in threats if mine and move.origin == mine[0].target]
    evasions = [move for move in quiet if yours and _beside(yours[0].target, move.origin)]
    lately = {move.origin for move in played[-16:]}
    for wanted in (again, threats) if side == 0 else (evasions, again):
        known = [move for move in wanted if move.target in lately]
        if known and rng.random() < 0.6:
            return rng.choice(known)
        if wanted and rng.random() < 0.9:
            return rng.choice(wanted)
    return rng.choice(quiet)


ARMIES = ["F1 M1 91", "F1 M1 91 21", "F1 M1 22", "F1 M1 82 22"]


def _ruleset(army: str, two_squares: int | None) -> Ruleset:
    ranks = tuple((RANK_BY_LETTER[word[0]], int(word[1])) for word in army.split())
    return replace(load_ruleset("isf"), army=ranks, two_squares=two_squares, max_quiet_plies=None)


def _compare(ruleset: Ruleset, red: list[str], blue: list[str], rng: Random, plies: int) -> int:
    """Play a game under the rule beside one without it. Returns how many moves were refused.

    At every ply the legal moves must be those of the game without the rule, less those that whole boards refuse.
    """
    game, free = Game(ruleset, red, blue), Game(replace(ruleset, chase=Chase.FREE), red, blue)
    remembered = Remembered(game.board)
    played: list[Move] = []
    refused = 0
    for _ in range(plies):
        if free.outcome:
            assert game.outcome == free.outcome
            break
        side, allowed = free.to_move, []
        for move in _sorted(free.legal_moves()):
            if not remembered.refuses(side, move):
                allowed.append(move)
                continue
            refused += 1
            if not game.outcome:
                with pytest.raises(IllegalActionError) as caught:
                    game.check(move)
                assert caught.value.rule is Rule.CHASE
        assert _sorted(game.legal_moves()) == allowed
        if not allowed:
            assert game.outcome is not None
            assert game.outcome.reason is Reason.NO_MOVE
            break
        aside = game.copy()
        aside.play(rng.choice(allowed))  # what is played in a copy must make no difference here
        move = _choose(rng, game, allowed, played)
        events = game.apply(move.text)
        free.play(move)
        assert game.board == free.board
        remembered.played(side, move, game.board, events)
        played.append(move)
    return refused


def _face_to_face(ruleset: Ruleset, rng: Random) -> list[str]:
    """A small army on the row nearest the enemy, so that the sides meet soon."""
    letters = [rank.letter for rank, count in ruleset.army for _ in range(count)]
    letters += "." * (10 - len(letters))
    rng.shuffle(letters)
    return [".........."] * 3 + ["".join(letters)]


def _chases(army: str, two_squares: int | None, seed: int, plies: int) -> int:
    ruleset, rng = _ruleset(army, two_squares), Random(seed)
    return _compare(ruleset, _face_to_face(ruleset, rng), _face_to_face(ruleset, rng), rng, plies)


@settings(max_examples=25, deadline=None)
@given(army=st.sampled_from(ARMIES), two_squares=st.sampled_from([3, None]), seed=st.integers(0, 2**32 - 1))
def test_a_move_is_refused_exactly_if_comparing_whole_boards_refuses_it(
    army: str, two_squares: int | None, seed: int
) -> None:
    _chases(army, two_squares, seed, 120)


@settings(max_examples=15, deadline=None)
@given(name=st.sampled_from(["isf", "barrage", "duel"]), seed=st.integers(0, 2**32 - 1))
def test_the_same_holds_in_the_shipped_games(random_rows: Rows, name: str, seed: int) -> None:
    ruleset, rng = load_ruleset(name), Random(seed)
    _compare(ruleset, random_rows(ruleset, rng), random_rows(ruleset, rng), rng, 100)


@pytest.mark.parametrize("army", ARMIES)
def test_random_play_runs_into_the_rule(army: str) -> None:
    """So that the property above does not hold for want of cases."""
    assert sum(_chases(army, (3, None)[seed % 2], seed, 150) for seed in range(8)) > 2


# --- spelled out ----------------------------------------------------------------------------------------------------

# Round the western lake, from b6 on.
RING = ["b6", "b7", "c7", "d7", "e7", "e6", "e5", "e4", "d4", "c4", "b4", "b5"]


def _round_the_lake(start: Start, play: Play, **rules: object) -> Game:
    """Red's marshal has chased Blue's general once round the lake; it stands on b5, the general again on b7, and
    b5-b6 would bring back the position in which the chase began."""
    game = start("F:j1 M:b4 9:i1", "F:j10 9:b7 M:i10", **rules)
    play(game, "b4-b5 i10-i9 b5-b6")
    for step in range(1, 12):
        play(game, f"{RING[step]}-{RING[(step + 1) % 12]} {RING[step - 1]}-{RING[step]}")
    play(game, "b6-b7")
    return game


def test_a_chase_once_round_the_lake_may_not_begin_again(start: Start, play: Play, refusal: Refusal) -> None:
    game = _round_the_lake(start, play)
    error = refusal(game, "b5-b6")
    assert error.rule is Rule.CHASE
    assert "the marshal on b5 would threaten and bring back a position" in str(error)


def test_the_chaser_may_do_anything_else(start: Start, play: Play) -> None:
    """Stepping beside no enemy, stepping back, moving another piece."""
    texts = {move.text for move in _round_the_lake(start, play).legal_moves()}
    assert texts == {"b5-b4", "b5-a5", "i1-h1", "i1-i2"}


def test_a_chase_in_which_another_piece_has_moved_meanwhile_brings_nothing_back(start: Start, play: Play) -> None:
    """The position is another one when anything on the board stands elsewhere."""
    game = _round_the_lake(start, play)
    play(game, "i1-i2 i9-i8")
    play(game, "b5-b6")


def test_where_pieces_may_be_chased_for_ever_the_lake_is_gone_round_for_ever(start: Start, play: Play) -> None:
    game = _round_the_lake(start, play, chase=Chase.FREE)
    play(game, "b5-b6")
    for step in range(1, 12):
        play(game, f"{RING[step]}-{RING[(step + 1) % 12]} {RING[step - 1]}-{RING[step]}")
    play(game, "b6-b7 b5-b6")


# Red's marshal on file a follows Blue's general on file b: beside it at every turn.
UP_AND_DOWN = "a4-a5 i10-i9 a5-a6 i9-i10 a6-a7 b7-b6 a7-a6 b6-b5 a6-a5 b5-b6 a5-a6 b6-b7"


def test_a_chase_over_three_squares_and_back_may_not_return_to_its_beginning(
    start: Start, play: Play, refusal: Refusal
) -> None:
    game = start("F:j1 M:a4 9:i1", "F:j10 9:b7 M:i10")
    play(game, UP_AND_DOWN)
    assert refusal(game, "a6-a7").rule is Rule.CHASE
    game = start("F:j1 M:a4 9:i1", "F:j10 9:b7 M:i10", chase=Chase.FREE)
    play(game, UP_AND_DOWN + " a6-a7")


def test_the_evading_side_may_bring_positions_back(start: Start, play: Play) -> None:
    game = start("F:j1 M:a4 9:i1", "F:j10 9:a7 M:i10", two_squares=None)
    play(game, "i1-i2 a7-a6 a4-a5 a6-b6")
    board = game.board[:]
    play(game, "a5-b5 b6-a6 b5-a5 a6-b6")
    assert game.board == board


def test_a_step_straight_back_is_allowed_as_long_as_the_two_squares_rule_allows_it(
    start: Start, play: Play, refusal: Refusal
) -> None:
    """Over two squares the chase rule is silent: the side that began to go to and fro, here the evading one, stops."""
    game = start("F:j1 M:a4 9:i1", "F:j10 9:a7 M:i10")
    play(game, "i1-i2 a7-a6 a4-a5 a6-b6 a5-b5 b6-a6 b5-a5 a6-b6 a5-b5")
    assert refusal(game, "b6-a6").rule is Rule.TWO_SQUARES


def test_without_a_two_squares_rule_steps_straight_back_are_allowed_for_ever(start: Start, play: Play) -> None:
    game = start("F:j1 M:a4 9:i1", "F:j10 9:a7 M:i10", two_squares=None)
    play(game, "i1-i2 a7-a6 a4-a5" + " a6-b6 a5-b5 b6-a6 b5-a5" * 6)


# Red's scout goes from a6 by a5 and a4 back to a6, beside the bomb on a7, while Blue's marshal goes from b5 to b4 and
# back. What decides is whether the position at the beginning, scout on a6 and marshal on b5, belongs to the chase.
SCOUT = "F:j1 B:i1 2:a4 3:{miner} M:j2"
MARSHAL = "F:j10 B:a7 2:j9 3:i10 M:b7"
LOOP = "a6-a5 b5-b4 a5-a4 b4-b5"


def test_a_position_that_came_about_by_an_evasion_belongs_to_the_chase(
    start: Start, play: Play, refusal: Refusal
) -> None:
    game = start(SCOUT.format(miner="h1"), MARSHAL)
    assert not isinstance(play(game, "h1-h2 b7-b6 a4-a6 b6-b5")[-1], Fought)
    play(game, LOOP)
    assert refusal(game, "a4-a6").rule is Rule.CHASE


def test_an_attack_ends_a_chase(start: Start, play: Play) -> None:
    """The marshal evades to b5 by an attack: what stood on the board up to then is no longer held against the scout."""
    game = start(SCOUT.format(miner="b4"), MARSHAL)
    assert isinstance(play(game, "b4-b5 b7-b6 a4-a6 b6-b5")[-1], Fought)
    play(game, LOOP)
    play(game, "a4-a6")


def test_an_attack_may_begin_a_chase(start: Start, play: Play, refusal: Refusal) -> None:
    """The marshal takes the miner on a7, beside the general, and pursues it: it may not come back to that position."""
    game = start("F:j1 M:a4 9:i1 3:i2", "F:j10 9:b7 M:i10 3:a7")
    attack = play(game, "a4-a5 i10-i9 a5-a6 i9-i10 a6-a7")
    assert isinstance(attack[-1], Fought)
    play(game, "b7-b6 a7-a6 b6-b5 a6-a5 b5-b6 a5-a6 b6-b7")
    assert refusal(game, "a6-a7").rule is Rule.CHASE


def test_stepping_where_another_piece_has_just_come_from_is_no_step_back(
    start: Start, play: Play, refusal: Refusal
) -> None:
    """Two marshals change places while they chase a general and a scout, so that the board is the same in the end."""
    game = start("F:j1 M:a4 M:b4 2:i1 9:i2", "F:j10 9:a7 M:i10 M:h10 2:j7")
    play(game, "b4-b5 j7-j4 b5-b6 i10-i9 a4-a5 j4-b4 a5-a6")
    board = game.board[:]
    play(game, "a7-b7 b6-b5 b4-a4 b5-a5 a4-b4 a6-b6 b7-a7")
    assert refusal(game, "a5-a6").rule is Rule.CHASE
    game.play(game.parse("a5-a6"))
    assert game.board == board


def test_a_threat_that_is_not_evaded_ends_a_chase(start: Start, play: Play) -> None:
    """Blue moves another piece: the position in which it did may come back."""
    game = start(SCOUT.format(miner="h1"), MARSHAL)
    play(game, "h1-h2 b7-b6 j2-j3 b6-b5 a4-a6 j9-j8")
    play(game, LOOP)
    play(game, "a4-a6")


def test_a_move_beside_no_enemy_ends_a_chase(start: Start, play: Play) -> None:
    """The marshal goes up and down as above, but on the way it has once stepped to where it threatens nothing."""
    game = start("F:j1 M:a4 9:i1", "F:j10 9:b7 M:i10", two_squares=None)
    play(game, "a4-a5 i10-i9 a5-a6 i9-i10 a6-a7 b7-b6 a7-a6 b6-b5 a6-a7 b5-b6")
    play(game, "a7-a6 b6-b5 a6-a5 b5-b6 a5-a6 b6-b7 a6-a7")
    assert game.ply == 17
