"""What a watcher of a game is told: that it has started, each action with what came of it, and that it is over."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import trio
from scripted import game_spec

from arena.bots.spec import BotSpec
from arena.game.record import GameRecord, History
from arena.game.time_control import TimeControl
from arena.play.game_events import ActionPlayed, GameEvent, GameFinished, GameStarted
from arena.play.game_options import GameOptions, Interrupt
from arena.play.runner import play_on
from arena.stratego.rules.rulesets import load_ruleset

GOOD = "introduce()\nset_up()\nplay()"
GOES_ON = "introduce()\nplay()"
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
NEVER_SETS_UP = "introduce()\nhear('setup')"

Play = Callable[..., Awaitable[GameRecord]]
MakeBot = Callable[..., BotSpec]


def test_a_game_that_ends_before_both_have_set_up_is_only_finished(make_bot: MakeBot, play: Play) -> None:
    seen: list[GameEvent] = []
    good, bad = make_bot(GOOD, "red"), make_bot(NEVER_SETS_UP, "blue")
    options = GameOptions(watch=seen.append)
    assert [GameFinished(trio.run(lambda: play(good, bad, conditions=options)))] == seen
    seen.clear()
    broken = replace(bad, fault="has no program")
    assert [GameFinished(trio.run(lambda: play(good, broken, conditions=options)))] == seen


def test_a_game_that_goes_on_is_told_from_where_it_goes_on(make_bot: MakeBot) -> None:
    seen: list[GameEvent] = []
    options = GameOptions(watch=seen.append)
    game = game_spec(load_ruleset("duel"), PATIENT)
    bots = make_bot(GOOD, "red"), make_bot(GOOD, "blue")
    history = trio.run(play_on, game, bots, None, Interrupt(after=5), options)
    assert isinstance(history, History)
    assert [type(event) for event in seen] == [GameStarted, *[ActionPlayed] * 5], "it is not finished"
    seen.clear()
    bots = make_bot(GOES_ON, "red"), make_bot(GOES_ON, "blue")
    trio.run(play_on, game, bots, history, Interrupt(after=8), options)
    started, *actions = seen
    assert isinstance(started, GameStarted)
    assert started.history == history
    assert [action.ply for action in actions if isinstance(action, ActionPlayed)] == [6, 7, 8]
