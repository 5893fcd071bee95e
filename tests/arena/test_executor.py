"""Games in worker processes: all are played once, whoever dies, and nothing is left of them."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import psutil
import pytest
import trio
import trio.testing
from sandboxes import in_bwrap
from schedules import schedule

from arena.bots.limits import Limits
from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.game.game_spec import GameSpec
from arena.game.time_control import TimeControl
from arena.league.executor import local
from arena.league.executor import worker as worker_program
from arena.league.executor.local import MOST_DEATHS, LocalExecutor, local_executor
from arena.league.executor.task import (
    Begun,
    GameTask,
    Lost,
    Notice,
    NotPlayed,
    Outcome,
    Paused,
    Played,
)
from arena.league.league_options import usable_cpus
from arena.league.settings import Settings
from arena.processes.process import BotProcess
from arena.processes.runnable import PlaySettings
from arena.sandbox.launch import Launch
from arena.sandbox.levels import Level
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
PATIENCE = 120.0
SETTINGS = Settings(variant_of(load_ruleset("duel")), PATIENT)
GOOD = "introduce()\nset_up()\nplay()"
BRIEF = "introduce()\nset_up()\nhear('turn')\nsay('move resign')\nhear('end')"
WAITS = """
import time
introduce()
set_up()
hear("turn")
open({mark!r} + "-" + str(os.getpid()), "w").close()
while not os.path.exists({go!r}):
    time.sleep(0.005)
say("move resign")
hear("end")
"""
"""In its first turn it waits until there is a file."""


MakeBot = Callable[..., BotSpec]
LeftBehind = Callable[[], list[str]]


def games_of(bots: Sequence[BotSpec], rounds: int = 1) -> list[GameSpec]:
    return schedule(SETTINGS, [bot.player for bot in bots], rounds)


async def tasks_of(games: Iterable[GameSpec]) -> AsyncIterator[GameTask]:
    for game in games:
        yield GameTask(game)


async def heard(executor: LocalExecutor, games: Iterable[GameSpec]) -> list[Outcome]:
    """All that comes of these games."""
    with trio.fail_after(PATIENCE):
        return [outcome async for outcome in executor.play(tasks_of(games))]


async def play_all(settings: PlaySettings, jobs: int, games: Iterable[GameSpec]) -> list[Outcome]:
    async with local_executor(settings, jobs) as executor:
        return await heard(executor, games)


def ids(outcomes: Iterable[Outcome], kind: type[Begun | Played | Lost | Paused | NotPlayed]) -> list[str]:
    return [outcome.id for outcome in outcomes if isinstance(outcome, kind)]


def workers() -> list[psutil.Process]:
    """The worker processes of this process that live."""
    return [child for child in psutil.Process().children() if worker_program.__name__ in command_of(child)]


def command_of(process: psutil.Process) -> str:
    """The words that a process was started with; none if it is dead."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


async def until(true: Callable[[], object]) -> None:
    """Wait for a condition on what other processes do."""
    with trio.fail_after(PATIENCE):
        while not true():  # noqa: ASYNC110  (nothing tells of it)
            await trio.sleep(0.005)


class Waiting:
    """A pair of bots whose games wait for each other: until `go_on`."""

    def __init__(self, folder: Path, make_bot: MakeBot) -> None:
        self._folder = folder
        program = WAITS.format(mark=str(folder / "waits"), go=str(folder / "go"))
        self.bots = make_bot(program, "ann"), make_bot(program, "bob")

    def pids(self) -> list[int]:
        """The bots that think, or did so when they were killed."""
        return [int(path.name.partition("-")[2]) for path in self._folder.glob("waits-*")]

    async def until(self, count: int) -> None:
        """Wait until so many games have been in their first turn."""
        await until(lambda: len(self.pids()) >= count)

    def go_on(self) -> None:
        (self._folder / "go").touch()


@pytest.fixture
def waiting(tmp_path: Path, make_bot: MakeBot) -> Waiting:
    return Waiting(tmp_path, make_bot)


# --- all is played ----------------------------------------------------------------------------------------------------


@in_bwrap
def test_one_worker_and_three_play_the_same_games(make_bot: MakeBot, left_behind: LeftBehind) -> None:
    level = Level.BWRAP
    bots = (make_bot(GOOD, "ann"), make_bot(BRIEF, "bob"), make_bot(GOOD, "cid"))
    games = games_of(bots)
    found = []
    for jobs in (1, 3):
        outcomes = trio.run(play_all, PlaySettings(bots, level), jobs, games)
        records = {outcome.id: outcome.record for outcome in outcomes if isinstance(outcome, Played)}
        assert sorted(ids(outcomes, Begun)) == sorted(ids(outcomes, Played)) == sorted(game.id for game in games)
        found.append({id: (one.seeds, one.setups, one.actions, one.verdict) for id, one in records.items()})
        assert all(one.confinement == (f"{level.value}: {Limits().text}",) * 2 for one in records.values())
    assert found[0] == found[1]
    assert left_behind() == []


def test_all_slots_have_a_game_and_one_is_asked_for_ahead_for_each_worker(waiting: Waiting) -> None:
    jobs = usable_cpus() + 1
    asked: list[GameSpec] = []

    def games() -> Iterator[GameSpec]:
        for game in games_of(waiting.bots, jobs):
            asked.append(game)
            yield game

    async def main() -> None:
        async with local_executor(PlaySettings(waiting.bots), jobs) as executor, trio.open_nursery() as nursery:
            nursery.start_soon(heard, executor, games())
            await waiting.until(jobs)
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert len(waiting.pids()) == jobs
            assert len(asked) == jobs + min(jobs, usable_cpus())
            waiting.go_on()

    trio.run(main)


@pytest.mark.skipif(usable_cpus() < 2, reason="this needs two workers")
def test_a_slow_game_holds_up_no_other(waiting: Waiting, make_bot: MakeBot) -> None:
    quick = make_bot(BRIEF, "cid"), make_bot(BRIEF, "dan")
    slow, _ = games_of(waiting.bots)
    brief = games_of(quick, 5)

    async def main() -> list[str]:
        over: list[str] = []
        async with local_executor(PlaySettings((*waiting.bots, *quick)), 2) as executor:
            with trio.fail_after(PATIENCE):
                async for outcome in executor.play(tasks_of([slow, *brief])):
                    if isinstance(outcome, Played):
                        over.append(outcome.id)
                    if len(over) == len(brief):
                        waiting.go_on()
        return over

    assert trio.run(main)[-1] == slow.id


# --- stops ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [Level.BASIC, pytest.param(Level.BWRAP, marks=in_bwrap)])
def test_once_stopped_no_process_is_left(level: Level, make_bot: MakeBot, left_behind: LeftBehind) -> None:
    """The bots have started others, in sessions of their own."""
    program = """
if os.fork() == 0:
    os.setsid()
    os.close(1)
    while True: signal.pause()
introduce()
set_up()
while True: signal.pause()
"""
    bots = make_bot(f"import signal\n{program}", "ann"), make_bot(f"import signal\n{program}", "bob")

    async def main() -> list[Outcome]:
        outcomes: list[Outcome] = []
        async with local_executor(PlaySettings(bots, level), 2) as executor:
            with trio.fail_after(PATIENCE):
                async for outcome in executor.play(tasks_of(games_of(bots, 5))):
                    outcomes.append(outcome)
                    if len(outcomes) == 2:
                        executor.stop()
            assert workers() == []
        return outcomes

    outcomes = trio.run(main)
    assert [type(outcome) for outcome in outcomes] == [Begun, Begun]
    assert left_behind() == []


def test_a_worker_that_somebody_stops_is_told_to_go_on_and_that_is_said(
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "LOOK_SECONDS", 0.01)

    async def main() -> list[Outcome]:
        async with local_executor(PlaySettings(waiting.bots), 1) as executor:
            outcomes = executor.play(tasks_of(games_of(waiting.bots)[:1]))
            await waiting.until(1)
            (worker,) = workers()
            worker.send_signal(signal.SIGSTOP)
            waiting.go_on()
            with trio.fail_after(PATIENCE):
                return [outcome async for outcome in outcomes]

    told = trio.run(main)
    words = "a worker process was stopped by a signal (SIGSTOP); it is continued (it plays ann - bob)"
    assert words in [outcome.line for outcome in told if isinstance(outcome, Notice)]
    assert len(ids(told, Played)) == 1


def test_deaths_between_games_that_are_played_do_not_add_up(make_bot: MakeBot) -> None:
    bots = make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")
    games = games_of(bots, MOST_DEATHS)[: MOST_DEATHS + 1]

    async def main() -> list[Outcome]:
        async with local_executor(PlaySettings(bots), 1) as executor:
            found: list[Outcome] = []
            for game in games:
                for worker in workers():
                    worker.kill()
                found += await heard(executor, [game])
            return found

    outcomes = trio.run(main)
    assert len(games) > MOST_DEATHS
    assert ids(outcomes, Played) == [game.id for game in games]


def test_a_game_under_way_and_one_that_waits_can_be_interrupted(waiting: Waiting) -> None:
    games = games_of(waiting.bots)

    async def main() -> list[Outcome]:
        async def pausable() -> AsyncIterator[GameTask]:
            for game in games:
                yield GameTask(game, can_pause=True)

        found: list[Outcome] = []
        async with local_executor(PlaySettings(waiting.bots), 1) as executor:

            async def interrupt() -> None:
                await waiting.until(1)
                await until(lambda: executor._waiting)
                for game in reversed(games):
                    executor.interrupt(game.id)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(interrupt)
                with trio.fail_after(PATIENCE):
                    found += [outcome async for outcome in executor.play(pausable())]
        return found

    outcomes = trio.run(main)
    assert ids(outcomes, Paused) == [games[1].id, games[0].id]
    waits, played = (outcome for outcome in outcomes if isinstance(outcome, Paused))
    assert waits.history is None
    assert played.history is not None
    assert played.history.actions == ()


# --- deaths -----------------------------------------------------------------------------------------------------------


def test_the_daemons_of_a_killed_workers_bots_are_killed(
    make_bot: MakeBot, tmp_path: Path, left_behind: LeftBehind
) -> None:
    """One process of each bot is a daemon in a session of its own."""
    leaves = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c",
            "import os, signal; open({mark!r} + '-' + str(os.getpid()), 'w').close(); signal.pause()"], os.environ)
    os._exit(0)
os.wait()
introduce()
set_up()
"""
    mark = tmp_path / "daemon"
    program = leaves.format(mark=str(mark)) + "import signal\nwhile True: signal.pause()"
    bots = make_bot(program, "ann"), make_bot(program, "bob")

    def daemons() -> list[int]:
        return [int(path.name.partition("-")[2]) for path in tmp_path.glob("daemon-*")]

    def are_left(count: int) -> bool:
        return len(daemons()) >= count

    async def main() -> None:
        async with local_executor(PlaySettings(bots), 1) as executor, trio.open_nursery() as nursery:
            nursery.start_soon(heard, executor, games_of(bots))
            for count in (2, 4):
                await until(partial(are_left, count))
                for worker in workers():
                    worker.kill()
            executor.stop()

    trio.run(main)
    assert [pid for pid in daemons() if is_running(pid)] == []
    assert left_behind() == []


def is_running(pid: int) -> bool:
    """Whether it is there and not dead. Whose child it became, init or another reaper, may not have reaped it yet."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_game_whose_worker_dies_again_and_again_stops_all_with_an_error(
    waiting: Waiting, left_behind: LeftBehind
) -> None:
    games = games_of(waiting.bots)

    async def main() -> None:
        async with local_executor(PlaySettings(waiting.bots), 1) as executor:
            with trio.fail_after(PATIENCE):
                async for outcome in executor.play(tasks_of(games)):
                    if isinstance(outcome, Begun):
                        for worker in workers():
                            worker.kill()

    names = " - ".join(player.name for player in games[0].players)
    words = (
        rf"game {games[0].id} \({names}\) was not played: {MOST_DEATHS} times its worker process was killed by signal 9"
    )
    with pytest.raises(ArenaError, match=words):
        trio.run(main)
    assert left_behind() == []


def test_workers_that_die_before_they_are_ready_are_not_started_for_ever(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dies = [sys.executable, "-c", "import sys\nsys.exit('there is no such module')"]
    monkeypatch.setattr(local, "own_python", lambda module, *numbers: dies)
    bots = make_bot(GOOD, "ann"), make_bot(GOOD, "bob")
    with pytest.raises(ArenaError, match="a worker process exited with code 1\n    there is no such module"):
        trio.run(play_all, PlaySettings(bots), 2, games_of(bots))


def test_bots_of_the_parent_and_of_its_workers_are_told_apart(make_bot: MakeBot) -> None:
    """A bot that the parent runs itself, beside the executor, is not taken for what a dead worker has left."""
    bots = make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")

    async def main() -> None:
        own = BotProcess.start(Launch(("sleep", "1000"), Path("/"), {"PATH": os.defpath}, Limits()))
        async with local_executor(PlaySettings(bots), 1) as executor:
            for worker in workers():
                worker.kill()
            await heard(executor, games_of(bots))
        assert not own.has_exited()
        await own.end(0)

    trio.run(main)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_many_games_leave_nothing_in_parent_and_workers(make_bot: MakeBot) -> None:
    bots = make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")
    games = games_of(bots, 10)

    def held() -> list[tuple[int, int]]:
        return [(process.num_fds(), len(process.children())) for process in (psutil.Process(), *workers())]

    async def play() -> None:
        async with local_executor(PlaySettings(bots), 2) as executor:
            assert len(ids(await heard(executor, games[:8]), Played)) == 8
            before = held()
            assert len(ids(await heard(executor, games[8:]), Played)) == len(games) - 8
            assert held() == before

    trio.run(play)
