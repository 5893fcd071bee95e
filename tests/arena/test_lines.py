"""No line to a bot is longer than the protocol promises, under any rules, and no action is lost in keeping to it."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest
from random_play import lively, random_rows
from scripted import Table, game_spec

from arena.game.live import introduction
from arena.game.time_control import TimeControl
from arena.stratego.game import variant_of
from arena.stratego.rules.board import BLUE_BIT, EMPTY, code_of
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names, switch_names
from arena.stratego.seat_view import legal_actions
from arena.stratego.state import as_stratego
from protocol.bot_codec import decode_for_bot
from protocol.codec import encode_for_bot
from protocol.lines import MAX_BOT_LINE
from protocol.messages import Legal
from protocol.notation import RANK_BY_LETTER, SQUARE_INDEX, Color, Rank
from protocol.view import View

RED, BLUE = Color.RED, Color.BLUE
SECONDS = TimeControl(move_ms=1000)
SWITCHES = [(), *combinations(switch_names(), 1), *combinations(switch_names(), 2)]


def combined(bases: list[str]) -> Iterator[Ruleset]:
    """Each of these rulesets alone, with each switch and with each pair of switches that go with it."""
    for base in bases:
        for switches in SWITCHES:
            try:
                yield load_ruleset("+".join((base, *switches)))
            except RulesetError:
                continue


@pytest.mark.parametrize("base", ruleset_names())
def test_a_game_is_announced_in_lines_that_are_short_enough_under_all_rules(base: str) -> None:
    rows = ("M" * 10,) * 4
    for ruleset in combined([base]):
        for message in introduction(variant_of(ruleset), TimeControl(10**9, 10**9, 10**9), 2**32 - 1, RED, rows):
            assert len(encode_for_bot(message)) <= MAX_BOT_LINE + 1


def lists_in(write: bytes) -> list[list[str]]:
    """The `legal` lines of a write; they must come right before `turn`, which is the last line."""
    lines = write.splitlines()
    assert max(map(len, lines)) <= MAX_BOT_LINE
    messages = [decode_for_bot(line) for line in lines]
    lists = [list(message.actions) for message in messages if isinstance(message, Legal)]
    assert [type(message).__name__ for message in messages[-1 - len(lists) :]] == ["Legal"] * len(lists) + ["Turn"]
    return lists


def board(table: Table) -> EngineGame:
    state = table.referee.state
    assert state is not None
    return as_stratego(state).board


def play(table: Table, rng: Random) -> None:
    """Play, and look at all that is written."""
    game = board(table)
    for _ in range(30):
        if table.referee.verdict:
            break
        lists = lists_in(table.writes[game.to_move][-1])
        assert [action for actions in lists for action in actions] == list(legal_actions(game))
        assert all(lists)
        table.reply(game.to_move, f"move {lively(game, rng).text}")
    for written in table.writes:
        assert max(len(line) for write in written for line in write.splitlines()) <= MAX_BOT_LINE


def seated(ruleset: Ruleset, rng: Random) -> Table:
    table = Table(game_spec(ruleset, SECONDS))
    table.begin(random_rows(ruleset, rng), random_rows(ruleset, rng), ["want board legal"], ["want legal board"])
    return table


@pytest.mark.parametrize("base", ["isf", "jumbo-81320/infiltrator", "vintage/lightning"])
def test_all_lines_of_a_game_are_short_enough_with_each_pair_of_switches(base: str) -> None:
    for number, ruleset in enumerate(combined([base])):
        rng = Random(number)
        play(seated(ruleset, rng), rng)


def crowded(game: EngineGame) -> None:
    """Make a position of a game in which Red has next to nothing but rescues: ten pieces one step from the back row,
    among them captains that get there by five ways, one lost of each rank, and the home rows empty."""
    game.board[:] = [EMPTY] * 100
    for side in Color:
        game.movers[side].clear()
    for file, letter in zip("abcdefghij", "6364636747", strict=True):
        game.board[SQUARE_INDEX[f"{file}9"]] = code_of(RED, RANK_BY_LETTER[letter])
    game.board[SQUARE_INDEX["j7"]] = code_of(BLUE, Rank.MARSHAL)
    for square, code in enumerate(game.board):
        if code:
            game.movers[code > BLUE_BIT].add(square)
    game.lost[RED].update(Counter(rank for rank, _ in game.ruleset.army if rank not in (Rank.FLAG, Rank.BOMB)))


def test_the_longest_list_is_sent_in_lines_and_joined_again_by_the_kit() -> None:
    ruleset = load_ruleset("jumbo-81320/infiltrator+rescue+lightning-captains")
    table = seated(ruleset, Random(1))
    game = board(table)
    table.play(legal_actions(game)[0])
    crowded(game)
    table.play("j7-j6")
    actions = legal_actions(game)
    assert sum(len(action) + 1 for action in actions) > 79_547
    lists = lists_in(table.writes[RED][-1])
    assert [action for found in lists for action in found] == list(actions)
    assert len(lists) > 20
    view = View(RED, "test")
    for line in table.writes[RED][-1].splitlines():
        message = decode_for_bot(line)
        assert message is not None
        view.apply(message)
    assert view.legal == actions
