"""What holds the bots may fail, and the arena be stopped: no bot is blamed for it, and the game is played again."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import trio
from sandboxes import in_bwrap
from schedules import schedule

from arena.bots.spec import BotSpec
from arena.game.record import GameRecord, History
from arena.game.time_control import TimeControl
from arena.league.settings import Settings
from arena.play import retry
from arena.play.game_options import MOST_TRIES, USUAL, GameOptions, Interrupt, VoidGameError, start_bot
from arena.play.retry import play_on_with_retries, play_with_retries
from arena.processes import process
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.launch import SandboxError
from arena.sandbox.levels import Level
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

MakeBot = Callable[..., BotSpec]
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
SETTINGS = Settings(variant_of(load_ruleset("duel")), PATIENT)
BRIEF = """
introduce()
set_up()
hear("turn")
say("move resign")
hear("quit")
"""
DOES_NOT_START = "os.write(2, b'{said}')\nsys.exit(1)\n"
STARTS_THE_SECOND_TIME = """
if not os.path.exists({mark!r}):
    open({mark!r}, "w").close()
    os.write(2, b"bwrap: Creating new namespace failed: No space left on device")
    sys.exit(1)
"""


def reasons(bots: Sequence[BotSpec], conditions: GameOptions) -> list[Reason]:
    by_player = {bot.player: bot for bot in bots}

    async def play_all() -> list[Reason]:
        found = []
        for game in schedule(SETTINGS, list(by_player), 1):
            red, blue = (by_player[player] for player in game.players)
            found.append((await play_with_retries(game, (red, blue), conditions, print)).verdict.reason)
        return found

    return trio.run(play_all)


class Trials:
    """Counts how often the sandbox is tried out, which finds that it is broken or not."""

    def __init__(self, works: bool) -> None:
        self.works, self.number = works, 0

    async def __call__(self) -> None:
        self.number += 1
        if not self.works:
            raise SandboxError("the sandbox is gone")


def test_where_the_sandbox_has_failed_that_is_raised_and_no_bot_has_lost(make_bot: MakeBot) -> None:
    bots = [make_bot(DOES_NOT_START.format(said="anything"), "ann"), make_bot(BRIEF, "bob")]
    with pytest.raises(SandboxError, match="the sandbox is gone"):
        reasons(bots, GameOptions(start_bot, True, Trials(works=False)))


def test_a_sandbox_that_failed_for_a_moment_costs_no_game(tmp_path: Path, make_bot: MakeBot) -> None:
    first = STARTS_THE_SECOND_TIME.format(mark=str(tmp_path / "mark"))
    bots = [make_bot(first + BRIEF, "ann"), make_bot(BRIEF, "bob")]
    conditions = GameOptions(start_bot, True, Trials(works=True))
    assert reasons(bots, conditions) == [Reason.RESIGN] * 2


# --- a stopped arena --------------------------------------------------------------------------------------------------

WHY = "the arena was stopped for 12.3 s, and red (ann) may have been late because of it"


def test_a_game_is_not_played_for_ever_if_the_arena_is_stopped_in_it_again_and_again(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")
    (game, _) = schedule(SETTINGS, [bot.player for bot in bots], 1)
    said: list[str] = []

    async def is_stopped(*_: object) -> GameRecord:
        raise VoidGameError(WHY, None)

    monkeypatch.setattr(retry, "play_game", is_stopped)
    with pytest.raises(VoidGameError, match=r"stopped for 12.3 s"):
        trio.run(play_with_retries, game, bots, USUAL, said.append)
    assert said == [f"game {game.id} ({game.names}) is played again: {WHY}"] * (MOST_TRIES - 1)


BEGUN = History(("x", ""), ("a", "b"), ("a4-a5",), (1234,), ())


def test_what_was_played_before_a_stop_of_the_arena_is_not_lost_to_an_interrupt(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt comes while the bots are started again, so that nothing more is played."""
    bots = make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")
    (game, _) = schedule(SETTINGS, [bot.player for bot in bots], 1)
    outcomes: list[History | None] = [BEGUN, None]
    said: list[str] = []

    async def play_on(*_: object) -> History | None:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise VoidGameError(WHY, outcome)
        return outcome

    async def play() -> object:
        return await play_on_with_retries(game, bots, None, Interrupt(), options=USUAL, say=said.append)

    monkeypatch.setattr(retry, "play_on", play_on)
    assert trio.run(play) == BEGUN
    assert said == [f"going on after 1 ply: {WHY}"]


KILLED = """
import signal
introduce()
set_up()
hear("turn")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("level", [Level.BASIC, pytest.param(Level.BWRAP, marks=in_bwrap)])
def test_who_is_killed_as_the_machine_has_no_memory_left_has_not_lost(
    level: Level, make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The OOM killer picks any process and the kernel counts it; here the count rises during the first game."""
    counts = iter([7, 7, 8])
    monkeypatch.setattr(process, "oom_kills", lambda: next(counts, 8))
    bots = make_bot(KILLED, "ann"), make_bot(BRIEF, "bob")
    (game, _) = schedule(SETTINGS, [bot.player for bot in bots], 1)
    said: list[str] = []

    async def play() -> GameRecord:
        return await play_with_retries(game, bots, GameOptions(held.start), said.append)

    with Sandbox(PlaySettings(bots, level)) as held:
        record = trio.run(play)
    why = "this machine ran out of memory, and red (ann) was killed when the kernel made room"
    assert said == [f"game {game.id} (ann - bob) is played again: {why}"]
    assert record.verdict.reason is Reason.CRASH
