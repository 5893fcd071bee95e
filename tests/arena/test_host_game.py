"""A game as its host sees it: what is refused, and clocks that go on from a history."""

from arena.game import to_both
from arena.game.game_spec import GameSpec, person
from arena.game.record import History
from arena.game.time_control import TimeControl
from arena.play.game_events import ActionPlayed, GameStarted
from arena.play.host_game import HostGame
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color

RED = "FB......../B........./.S3.3...../2..9M....2"
BANK = TimeControl(move_ms=5_000, bank_ms=60_000, increment_ms=1_000)


def spec() -> GameSpec:
    return GameSpec(
        "0123456789abcdef", variant_of(load_ruleset("duel")), BANK, (person("Ada"), person("Bea")), (1, 2), 3
    )


def started(history: History | None = None) -> HostGame:
    host = HostGame(spec())
    host.started(GameStarted(spec(), (RED, RED), history), 100.0)
    return host


def test_a_running_clock_shows_what_is_left_of_the_turn_and_of_the_bank() -> None:
    clock = started().clock(Color.RED, lambda: 102.0, is_stopped=False)
    assert (clock.left_ms, clock.bank_ms, clock.runs) == (3_000, 58_000, True)
    other = started().clock(Color.BLUE, lambda: 102.0, is_stopped=False)
    assert (other.left_ms, other.bank_ms, other.runs) == (5_000, 60_000, False)


def test_an_action_is_charged_and_the_other_clock_runs() -> None:
    host = started()
    host.played(
        ActionPlayed("0123456789abcdef", 1, Color.RED, "a4-a5", to_both("moved red a4-a5"), 3_000_000, 0), 103.0
    )
    assert host.clock(Color.RED, lambda: 103.0, is_stopped=False).bank_ms == 58_000
    assert host.clock(Color.BLUE, lambda: 104.0, is_stopped=False).left_ms == 4_000
    assert not host.clock(Color.BLUE, lambda: 104.0, is_stopped=True).runs


def test_a_game_that_goes_on_has_the_clocks_that_it_had() -> None:
    history = History(("", ""), (RED, RED), ("a4-a5",), (3_000_000,), (), interrupted=((1, 2_000_000), (2, 4_000_000)))
    host = started(history)
    assert host.clock(Color.RED, lambda: 100.0, is_stopped=False).bank_ms == 56_000
    assert host.clock(Color.BLUE, lambda: 100.0, is_stopped=False).bank_ms == 56_000
