"""Nobody is told what it may not know.

Two games that differ only in hidden things are played side by side, and the bytes that a seat gets must be the same in
both until an event gives the difference away. Which actions give something away is worked out here from the rules. That
this check can fail is checked too, with leaks made on purpose.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from every_ruleset import EVERY_RULESET
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import any_rules, lively, random_rows
from scripted import Table, game_spec
from twins import with_two_swapped

from arena.game.time_control import TimeControl
from arena.stratego.rules.action_types import Action, Infiltration, Path, Rescue
from arena.stratego.rules.board import BLUE_BIT, MOVES, RANKS, StraightMove
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Defence, Ruleset, Scouts
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.tables import fight
from arena.stratego.seat_view import enemy_squares, told_to
from arena.stratego.state import StrategoState, as_stratego
from protocol.messages import Battle, Guess, Moved, Rescued, Reveal
from protocol.notation import (
    FILES,
    HOME_SQUARES,
    RANK_BY_LETTER,
    SQUARE_INDEX,
    Color,
    Rank,
    Survivor,
)
from protocol.view import Piece, View

if TYPE_CHECKING:
    MakeTwins = Callable[..., "Twins"]

SMALL = ["barrage", "vintage/duel+silent-defence", "vintage/lightning"]
ALL_SORTS = "F1 B2 S1 22 31 62 91 M1 I2"
GUARDED = "F1 B4 S1 32 42 92 M2"
PRYING = "F1 B3 S1 31 M1 I6"
RUNNING = "F1 23 63 31"
HARDY = "F1 B1 S1 32 42 52 72"
SECONDS = TimeControl(move_ms=1000)
LONGEST = 120
"""Plies after which a comparison ends, whether or not the difference has come out."""


def plain(action: Action) -> StraightMove | Path | Infiltration:
    """What is done with the piece on `origin`, a rescue left aside."""
    return action.move if isinstance(action, Rescue) else action


def apart(one: int, other: int) -> int:
    """How many steps lie between two squares."""
    (rank, file), (other_rank, other_file) = divmod(one, len(FILES)), divmod(other, len(FILES))
    return abs(rank - other_rank) + abs(file - other_file)


# --- two games side by side -----------------------------------------------------------------------------------------


def board_of(table: Table) -> EngineGame:
    state = table.referee.state
    assert state is not None
    return as_stratego(state).board


@dataclass
class Twins:
    """Two games whose hidden half differs; `seat` is the side that must not be able to tell them apart.

    `swapped` are the squares on which the two pieces now stand that have changed places in the second game.
    """

    tables: tuple[Table, Table]
    seat: Color
    swapped: set[int]
    plies: int = 0
    met: Counter[str] = field(default_factory=Counter)
    """What the swapped pieces have done and gone through."""

    @property
    def games(self) -> tuple[EngineGame, EngineGame]:
        one, other = (board_of(table) for table in self.tables)
        return one, other

    def reply(self, color: Color, number: int, *lines: str, after: float = 0.0) -> None:
        self.tables[number].reply(color, *lines, after=after)

    def assert_same(self) -> None:
        one, other = (table.writes[self.seat] for table in self.tables)
        assert one == other, f"{self.seat.word} can tell the games apart at ply {self.plies}"

    def tells(self, action: Action) -> bool:
        """Whether this action gives away, by the rules, what a swapped piece is."""
        one, other = self.games
        move = plain(action)
        if isinstance(move, Infiltration):
            guessed = {RANKS[game.board[move.target]] for game in (one, other)}
            return move.target in self.swapped and move.rank in guessed
        if one.board[move.target]:
            if move.origin in self.swapped:
                return True
            return move.target in self.swapped and not self.keeps_silent(move)
        announced = one.ruleset.scouts is Scouts.ANNOUNCED
        return announced and move.origin in self.swapped and isinstance(move, StraightMove) and bool(move.between)

    def keeps_silent(self, move: StraightMove | Path) -> bool:
        """Whether this attack ends the same way in both games without the defender being named."""
        rules = self.games[0].ruleset
        attacker = RANKS[self.games[0].board[move.origin]]
        if rules.defence is not Defence.SILENT or attacker is Rank.SCOUT:
            return False
        defenders = {RANKS[game.board[move.target]] for game in self.games}
        left = {fight(attacker, defender, rules.equal_ranks, rules.bombs) for defender in defenders}
        return left == {Survivor.DEFENDER}

    def choice(self, rng: Random) -> Action | None:
        """An action that is legal in both games and gives nothing away, mostly one that might; None if there is none.

        Those in question are moves of the swapped pieces, attacks on them, guesses at them, and what only some rulesets
        have.
        """
        one, other = self.games
        also = {action.text for action in other.legal_moves()}
        actions = [action for action in one.legal_moves() if action.text in also and not self.tells(action)]
        if not actions:
            return None
        targets = [action for action in actions if plain(action).target in self.swapped]
        near = targets + [action for action in actions if plain(action).origin in self.swapped]
        special = targets or [action for action in near or actions if action.text not in MOVES]
        far = [action for action in near if isinstance(action, StraightMove) and action.between]
        if one.to_move is self.seat:
            ahead = [action for action in actions if self.closes_in(plain(action))]
        else:
            up = len(FILES) * (1 - 2 * one.to_move)
            ahead = [action for action in near or actions if plain(action).target == plain(action).origin + up]
        for wanted in (special, far, ahead, near):
            if wanted and rng.random() < 0.5:
                return rng.choice(wanted)
        return rng.choice(actions)

    def closes_in(self, move: StraightMove | Path | Infiltration) -> bool:
        """Whether a piece comes nearer to one of the swapped pieces."""
        return any(apart(move.target, square) < apart(move.origin, square) < 5 for square in self.swapped)

    def play(self, rng: Random, plies: int = LONGEST) -> None:
        """Play until the difference has to come out, or for so many plies, comparing all the way."""
        self.assert_same()
        while self.plies < plies and all(table.referee.verdict is None for table in self.tables):
            action = self.choice(rng)
            if action is None:
                return
            color = self.games[0].to_move
            self.take_note(action)
            for number in range(2):
                notes = [] if color is self.seat else [f"note {rng.random()}"] * rng.randrange(3)
                after = 0.1 if color is self.seat else rng.random()
                self.reply(color, number, *notes, f"move {action.text}", after=after)
            ends = [
                (table.referee.verdict.result, table.referee.verdict.reason) if table.referee.verdict else None
                for table in self.tables
            ]
            if ends[0] != ends[1]:
                return  # which pieces can move at all, or which is the flag, has come out
            move = plain(action)
            if move.origin in self.swapped and not isinstance(move, Infiltration):
                self.swapped = self.swapped - {move.origin} | {move.target}
            self.plies += 1
            self.assert_same()

    def take_note(self, action: Action) -> None:
        """Count what a comparison is about."""
        move = plain(action)
        theirs, mine = move.target in self.swapped, move.origin in self.swapped
        self.met["moves"] += mine
        self.met["far"] += mine and isinstance(move, StraightMove) and bool(move.between)
        self.met["guesses"] += theirs and isinstance(move, Infiltration)
        self.met["silent"] += theirs and not isinstance(move, Infiltration)
        self.met["rescues"] += mine and isinstance(action, Rescue)


@pytest.fixture(scope="session")
def twins() -> "MakeTwins":
    """Two games up to their first turn. All that the seat's opponent says, is called and is given differs in them."""

    def make(rules: Ruleset, seat: Color, rng: Random, swap: bool = True) -> Twins:
        hidden = seat.opponent
        rows = {color: random_rows(rules, rng) for color in Color}
        swapped_rows = with_two_swapped(rows[hidden], rng)
        places = zip(HOME_SQUARES[hidden], "".join(rows[hidden]), "".join(swapped_rows), strict=True)
        squares = {square for square, one, other in places if one != other}
        both = []
        for number in range(2):
            name, seed = ("bob", "eve")[number], 2 + number
            names, seeds = (("ann", name), (1, seed)) if hidden is Color.BLUE else ((name, "ann"), (seed, 1))
            both.append(Table(game_spec(rules, SECONDS, names, seeds)))
        found = Twins((both[0], both[1]), seat, squares if swap else set())
        introductions = (["name bob"], ["name eve", "author mallory", "want board legal"])
        for number, table in enumerate(both):
            table.send()
            found.reply(hidden, number, *introductions[number], "ready", after=rng.random())
            found.reply(seat, number, "want board legal", "ready")
            chosen = swapped_rows if number and swap else rows[hidden]
            found.reply(hidden, number, *["note hm"] * number, "setup " + "/".join(chosen), after=rng.random())
            found.reply(seat, number, "setup " + "/".join(rows[seat]))
        return found

    return make


@given(ruleset=any_rules, seed=st.integers(0, 2**32), seat=st.sampled_from(Color))
@settings(deadline=None, max_examples=25)
def test_two_games_that_differ_in_hidden_things_look_the_same_until_an_event_tells_them_apart(
    twins: "MakeTwins", ruleset: Ruleset, seed: int, seat: Color
) -> None:
    rng = Random(seed)
    twins(ruleset, seat, rng).play(rng)


@pytest.mark.parametrize("name", EVERY_RULESET)
@pytest.mark.parametrize("seat", Color)
def test_the_same_holds_under_every_ruleset_and_every_switch(twins: "MakeTwins", name: str, seat: Color) -> None:
    rng = Random(name)
    twins(load_ruleset(name), seat, rng).play(rng, plies=60)


def with_army(name: str, army: str) -> Ruleset:
    counts = tuple((RANK_BY_LETTER[word[0]], int(word[1:])) for word in army.split())
    return replace(load_ruleset(name), army=counts)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seat", Color)
def test_the_comparison_is_not_an_empty_one(twins: "MakeTwins", name: str, seat: Color) -> None:
    """In these games there are many plies, moves of the swapped pieces and fights of others before the end."""
    plies = swapped_moves = fights = 0
    for seed in range(5):
        rng = Random(seed)
        pair = twins(load_ruleset(name), seat, rng)
        pair.play(rng)
        plies += pair.plies
        swapped_moves += pair.met["moves"]
        fights += b"".join(pair.tables[0].writes[seat]).count(b"\nbattle ")
    assert plies > 250
    assert swapped_moves > 20
    assert fights > 2


@pytest.mark.parametrize(
    ("name", "army", "what", "least"),
    [
        ("vintage/duel+silent-defence", GUARDED, "silent", 2),
        ("jumbo-81320/infiltrator", PRYING, "guesses", 20),
        ("isf+lightning-captains", RUNNING, "far", 20),
        ("vintage/duel+rescue", HARDY, "rescues", 1),
    ],
)
def test_swapped_pieces_are_attacked_guessed_at_and_run_without_being_told_apart(
    twins: "MakeTwins", name: str, army: str, what: str, least: int
) -> None:
    """So that the comparison does not hold for want of cases: what might tell them apart does happen to them."""
    met: Counter[str] = Counter()
    for seed in range(10):
        rng = Random(seed)
        pair = twins(with_army(name, army), Color(seed % 2), rng)
        pair.play(rng)
        met += pair.met
    assert met[what] >= least


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seat", Color)
def test_who_the_opponent_is_and_what_it_says_and_how_long_it_thinks_makes_no_difference_to_the_end(
    twins: "MakeTwins", name: str, seat: Color
) -> None:
    rng = Random(8)
    pair = twins(load_ruleset(name), seat, rng, swap=False)
    pair.play(rng, plies=15 if seat is Color.RED else 14)
    assert pair.games[0].to_move is seat.opponent
    wrong = ("move a1-b2", "move e5?e6M")
    for number in range(2):
        pair.reply(seat.opponent, number, wrong[number])
    pair.assert_same()
    assert pair.tables[0].writes[seat][-1].endswith(b"end win illegal-action\nquit\n")
    assert pair.tables[0].writes[seat.opponent] != pair.tables[1].writes[seat.opponent]


# --- the check can fail ---------------------------------------------------------------------------------------------


def all_seeing(state: StrategoState, color: Color) -> View:
    """A view of a seat with every rank on its board."""
    view = View(color, "")
    for square, code in enumerate(state.board.board):
        if code:
            view.board[square] = Piece(Color(code > BLUE_BIT), RANKS[code])
    return view


def by_rank(game: EngineGame, color: Color) -> tuple[str, ...]:
    """The right squares, in an order that gives ranks away."""
    return tuple(sorted(enemy_squares(game, color), key=lambda square: game.board[SQUARE_INDEX[square]]))


def without_vain_attacks(game: EngineGame) -> tuple[str, ...]:
    """A list of actions that leaves out attacks on bombs."""
    return tuple(action.text for action in game.legal_moves() if game.board[plain(action).target] not in (2, 18))


def is_caught(make: "MakeTwins", rules: Ruleset) -> bool:
    """Whether a seat can tell one of 20 pairs of games apart."""
    for seed in range(20):
        rng = Random(seed)
        pair = make(rules, Color(seed % 2), rng)
        try:
            pair.play(rng)
        except AssertionError as error:
            assert "can tell the games apart" in str(error)  # noqa: PT017  (most games are caught, but not all need be)
            return True
    return False


LEAKS: dict[str, Callable[..., object]] = {
    "StrategoState.view": all_seeing,
    "enemy_squares": by_rank,
    "legal_actions": without_vain_attacks,
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_caught(monkeypatch: pytest.MonkeyPatch, twins: "MakeTwins", leak: str) -> None:
    monkeypatch.setattr(f"arena.stratego.state.{leak}", LEAKS[leak])
    assert is_caught(twins, load_ruleset("barrage"))


def test_an_event_that_tells_too_much_is_caught(monkeypatch: pytest.MonkeyPatch, twins: "MakeTwins") -> None:
    monkeypatch.setattr("arena.stratego.state.told_to", lambda events, tables, seat: events)
    monkeypatch.setattr("arena.stratego.state._MOVES", ({}, {}))
    assert is_caught(twins, with_army("vintage/duel+silent-defence", GUARDED))


# --- what is told ---------------------------------------------------------------------------------------------------


def test_both_seats_are_told_the_same_of_every_event_but_a_silent_fight() -> None:
    rules = with_army("jumbo-81320/infiltrator+silent-defence+rescue+lightning-captains", ALL_SORTS)
    kinds: Counter[type] = Counter()
    silent = 0
    for seed in range(12):
        rng = Random(seed)
        game = EngineGame(rules, random_rows(rules, rng), random_rows(rules, rng))
        while not game.outcome:
            mover = game.to_move
            events = game.apply(lively(game, rng).text if game.ply < 150 else "resign")
            told = told_to(events, game.tables, mover)
            assert [*told_to(events, game.tables, mover.opponent)] == [*events]
            assert [*told_to(events, game.tables, None)] == [*told]
            for event, said in zip(events, told, strict=True):
                kinds[type(event)] += 1
                if isinstance(event, Battle) and game.tables.hides_defender(event):
                    silent += 1
                    assert said == event._replace(defender=None)
                else:
                    assert said is event
    assert set(kinds) == {Moved, Battle, Reveal, Rescued, Guess}
    assert 0 < silent < kinds[Battle]
