"""No bot loses on time because this machine kept it from a CPU, and no bot gains by starving itself."""

import itertools
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import trio
from schedules import schedule

from arena.bots.spec import BotSpec
from arena.game.hints import Activity
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.settings import Settings
from arena.play import retry
from arena.play.driver import Driver
from arena.play.game_options import MOST_EXCUSED, GameOptions, start_bot
from arena.play.retry import play_with_retries
from arena.processes.process import BotProcess
from arena.processes.usage import Delay, delay_between
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

MakeBot = Callable[..., BotSpec]

MAIN, OTHER = 100, 101


@pytest.mark.parametrize(
    ("ran", "waited", "used", "delay"),
    [
        pytest.param((9, 0), (800, 0), 9, 800, id="one thread, kept waiting by other programs"),
        pytest.param((400, 400), (400, 400), 800, 0, id="two threads that share one CPU wait for each other"),
        pytest.param((100, 0), (700, 0), 700, 100, id="helpers used most of what the thread waited for"),
        pytest.param((0, 20), (0, 500), 20, 500, id="the first thread is idle and another one is kept waiting"),
        pytest.param((0, 0), (3, 0), 0, 3, id="asleep"),
        pytest.param((50, 0), (300, 0), 1_600, 0, id="helpers on other CPUs used more than the thread waited"),
    ],
)
def test_what_the_bots_own_threads_used_is_no_delay_by_the_machine(
    ran: tuple[int, int], waited: tuple[int, int], used: int, delay: int
) -> None:
    before = {MAIN: (1_000, 50), OTHER: (70, 7_000)}
    after = {
        thread: (before[thread][0] + ran[number], before[thread][1] + waited[number])
        for number, thread in enumerate(before)
    }
    assert delay_between(before, after, used) == Delay(used, delay)


@pytest.mark.parametrize(
    ("delay", "is_excused"),
    [
        pytest.param(Delay(9, 800), True, id="it waited longer than it was late"),
        pytest.param(Delay(9, 700), False, id="it was late without its wait"),
        pytest.param(Delay(120, 800), False, id="it used more than its limit"),
        pytest.param(Delay(0, 3), False, id="it slept"),
    ],
)
def test_a_bot_is_excused_if_it_waited_longer_than_it_was_late_and_used_less_than_its_limit(
    delay: Delay, is_excused: bool
) -> None:
    assert delay.excuses(taken_us=827, limit_us=100) is is_excused


# --- with real processes ----------------------------------------------------------------------------------------------

# Until this process reads an answer, its time counts as the bot's: the limit has room for that.
TIME = TimeControl(move_ms=400, setup_ms=60_000, start_ms=60_000)
THINKS = """
import time
introduce()
set_up()
hear("turn")
{before}
while {thinking}:
    pass
say("move resign")
hear("quit")
"""
needs_schedstat = pytest.mark.skipif(
    not os.path.exists("/proc/self/schedstat"), reason="this system does not tell how long a thread waits"
)


@contextmanager
def busy(cpu: int, programs: int) -> Iterator[None]:
    line = [sys.executable, "-I", "-S", "-c", f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)"]
    line[-1] += "\nwhile True: pass"
    spinning = [subprocess.Popen(line, start_new_session=True, stdout=subprocess.PIPE) for _ in range(programs)]
    try:
        for program in spinning:
            assert program.stdout is not None
            program.stdout.readline()
        yield
    finally:
        for program in spinning:
            program.kill()
            program.communicate()


def play_on_one_cpu(red: BotSpec, blue: BotSpec) -> tuple[GameRecord, list[str]]:
    """Play a game whose bots share one CPU with four programs that spin; return what was said of delays, too.

    On a busy machine this process may not run for so long that it counts as suspended: that game is played again, too.
    """
    cpu = max(os.sched_getaffinity(0))
    (game, _) = schedule(Settings(variant_of(load_ruleset("duel")), TIME), [red.player, blue.player], 1)
    said: list[str] = []
    options = GameOptions(spawn=partial(start_bot, cpus=frozenset({cpu})))
    with busy(cpu, 4):
        record = trio.run(play_with_retries, game, (red, blue), options, said.append)
    return record, [line for line in said if "other programs had" in line]


@needs_schedstat
def test_a_bot_that_a_busy_machine_keeps_waiting_plays_again_three_times_before_it_loses(make_bot: MakeBot) -> None:
    thinks = make_bot(THINKS.format(before="", thinking=True), "ann")
    record, said = play_on_one_cpu(thinks, make_bot(THINKS.format(before="", thinking=False), "bob"))
    assert record.verdict.reason is Reason.TIMEOUT
    assert len(said) == MOST_EXCUSED
    for count, line in enumerate(said, start=1):
        assert "is played again: red (ann) had 400 ms and took" in line
        assert line.endswith(f"for one that other programs had ({count} of at most {MOST_EXCUSED} times)")


@needs_schedstat
def test_a_bot_that_answers_while_it_is_examined_is_excused(make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def after_its_answer(process: BotProcess) -> Activity:
        select.select([process.stdout], [], [])
        return activity(process)

    activity = BotProcess.activity
    monkeypatch.setattr(BotProcess, "activity", after_its_answer)
    monkeypatch.setattr(Driver, "_final_read", lambda *_: None)
    monkeypatch.setattr(retry, "MOST_EXCUSED", 1)
    thinks = make_bot(
        THINKS.format(before="end = time.thread_time() + 0.15", thinking="time.thread_time() < end"), "ann"
    )
    record, said = play_on_one_cpu(thinks, make_bot(THINKS.format(before="", thinking=False), "bob"))
    assert record.verdict.reason is Reason.TIMEOUT
    assert len(said) == 1


def test_a_bot_that_is_ready_and_gets_no_cpu_is_excused_though_the_kernel_counts_no_wait(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens on a virtual machine to which its host gives no CPU."""
    looks = itertools.count()
    monkeypatch.setattr(BotProcess, "activity", lambda _: Activity.RUNS)
    monkeypatch.setattr(BotProcess, "worked_us", lambda _: next(looks) // 100)  # for some 100 ms it has not worked
    monkeypatch.setattr(retry, "MOST_EXCUSED", 1)
    sleeps = make_bot(THINKS.format(before="time.sleep(60)", thinking=False), "ann")
    record, said = play_on_one_cpu(sleeps, make_bot(THINKS.format(before="", thinking=False), "bob"))
    assert record.verdict.reason is Reason.TIMEOUT
    assert len(said) == 1


def test_a_bot_that_sleeps_loses_at_once_on_a_busy_machine_too(make_bot: MakeBot) -> None:
    sleeps = make_bot(THINKS.format(before="time.sleep(60)", thinking=False), "ann")
    record, said = play_on_one_cpu(sleeps, make_bot(THINKS.format(before="", thinking=False), "bob"))
    assert record.verdict.reason is Reason.TIMEOUT
    assert said == []
