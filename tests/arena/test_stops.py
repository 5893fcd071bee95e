"""Time that the arena loses, and time that a bot tries to win: an arena that is late, one that is stopped, full pipes.

Where a game's time has to be known exactly the bots are real and the clock is not: it moves only when the test says so.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import trio
import trio.testing
from bot_games import play
from commands import ARENA, run_program, unhurried
from waiting import PATIENCE, until

import arena.processes.arrivals
from arena.bots.spec import BotSpec
from arena.game.hints import Activity
from arena.game.recheck import check_record
from arena.game.record import GameRecord
from arena.game.time_control import MOST_FORGIVEN, TimeControl
from arena.league.store import Store
from arena.play.game_options import GameOptions, VoidGameError, start_bot
from arena.processes.arrivals import Arrivals
from arena.processes.process import BotProcess
from arena.sandbox import killing
from protocol.notation import Color, Reason

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing tells what the arena did")

PREAMBLE = Path(__file__).parent.parent / "hostile" / "preamble.py"

GOOD = "introduce()\nset_up()\nplay()"
WAITS = "introduce()\nset_up()\nhear('turn')\nopen({fifo!r}).read()\nsay('move ' + heard['legal'][0])\n"
WAITS += "hear('turn')\nsay('move resign')\nhear('end')"
"""Answers its first turn when it is told to, and gives up at the next."""

MOVE = TimeControl(move_ms=100, margin_ms=50)
BANK = TimeControl(move_ms=None, bank_ms=60_000)
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
DEADLINE = 0.15
LONG = 12.3

MakeBot = Callable[..., BotSpec]


ALL_IS_READ = 2.0
"""Real seconds after which the arena has read all that came at once, and this clock goes on."""


class Script(trio.abc.Instrument):
    """What happens to the game between what trio has found out and what it does about it.

    Once Red is thinking, `until_answer` seconds pass. Then it answers, and before the arena has noticed, the clock
    jumps by `jump` seconds. In that time the arena `works`, or it is stopped.
    """

    def __init__(self, fifo: Path, until_answer: float, jump: float, *, works: bool) -> None:
        self.clock = trio.testing.MockClock()
        self.red: BotProcess | None = None
        self._fifo = fifo
        self._until_answer = until_answer
        self._jump = jump
        self._works = works
        self._stopped = 0.0
        self._told: int | None = None
        self._is_done = False
        self._goes_on = 0.0
        os.mkfifo(fifo)

    def spawn(self, bot: BotSpec) -> BotProcess:
        process = start_bot(bot)
        self.red = self.red or process
        return process

    def worked(self) -> float:
        """Seconds for which the arena has had a CPU, as the system tells it."""
        return self.clock.current_time() - self._stopped

    def after_io_wait(self, timeout: float) -> None:
        del timeout
        if self._is_done:
            if time.monotonic() > self._goes_on:  # the arena sleeps until a bot has had a CPU
                self.clock.jump(0.05)
            return
        if self._told is None:
            with contextlib.suppress(OSError):  # nobody reads there before it is Red's turn
                self._told = os.open(self._fifo, os.O_WRONLY | os.O_NONBLOCK)
                self.clock.jump(self._until_answer)
            return
        self._is_done = True
        self._answer()
        self._goes_on = time.monotonic() + ALL_IS_READ
        self.clock.jump(self._jump)
        self._stopped = 0 if self._works else self._jump

    def _answer(self) -> None:
        assert self._told is not None
        assert self.red is not None
        os.close(self._told)
        answered = select.poll()
        answered.register(self.red.stdout, select.POLLIN)
        assert answered.poll(PATIENCE * 1000)
        red = self.red
        until(lambda: red.activity() is not Activity.RUNS, "Red waits again, so the arena need not wait for its run")


@pytest.fixture
def play_to_script(tmp_path: Path, make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch) -> Callable[..., GameRecord]:
    """`play_to_script(until_answer, jump, time, works=...)`: a game in which that happens."""

    def play_one(until_answer: float, jump: float, time: TimeControl, *, works: bool) -> GameRecord:
        fifo = tmp_path / "fifo"
        script = Script(fifo, until_answer, jump, works=works)
        monkeypatch.setattr(arena.processes.arrivals, "_worked", script.worked)
        monkeypatch.setattr(killing, "DYING_SECONDS", 0)  # this clock goes on only by jumps
        red, blue = make_bot(WAITS.format(fifo=str(fifo)), "red"), make_bot(GOOD, "blue")

        async def poke() -> None:  # the clock stands still: without this, trio would wait for a bot without end
            while True:
                await trio.to_thread.run_sync(lambda: None)

        async def main() -> GameRecord | VoidGameError:
            Arrivals.of_this_run()  # it looks first, then comes the script
            trio.lowlevel.add_instrument(script)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(poke)
                try:
                    return await play(red, blue, time=time, conditions=GameOptions(script.spawn))
                except VoidGameError as error:
                    return error
                finally:
                    nursery.cancel_scope.cancel()

        result = trio.run(main, clock=script.clock)
        if isinstance(result, VoidGameError):
            raise result
        return result

    return play_one


# --- an arena that is late --------------------------------------------------------------------------------------------


def test_at_the_deadline_there_is_a_last_look_for_an_answer_that_came_before_it(
    play_to_script: Callable[..., GameRecord],
) -> None:
    """The answer comes just before the deadline, and the arena notices the deadline first."""
    record = play_to_script(DEADLINE - 0.01, 0.015, MOVE, works=True)
    assert record.verdict.reason is Reason.RESIGN, record.verdict
    assert DEADLINE - 0.01 <= record.times_us[0] / 1e6 < DEADLINE
    assert 0 < record.forgiven_us[0] / 1e6 <= MOST_FORGIVEN


def test_who_makes_the_arena_late_gains_no_more_than_what_is_forgiven(
    play_to_script: Callable[..., GameRecord],
) -> None:
    record = play_to_script(DEADLINE - 0.1, 0.15, MOVE, works=True)
    assert record.verdict.reason is Reason.TIMEOUT


def test_what_is_charged_and_what_is_forgiven_are_together_the_whole_turn(
    play_to_script: Callable[..., GameRecord],
) -> None:
    record = play_to_script(1.0, 3.0, BANK, works=True)
    assert record.forgiven_us[0] == pytest.approx(MOST_FORGIVEN * 1e6)
    assert record.times_us[0] + record.forgiven_us[0] == pytest.approx(4e6, abs=1)


def test_a_game_in_which_an_answer_came_in_a_long_stop_is_not_judged(
    play_to_script: Callable[..., GameRecord], left_behind: Callable[[], list[str]]
) -> None:
    with pytest.raises(
        VoidGameError, match=r"the arena was stopped for 12.3 s, and red may have been late because of it"
    ) as e:
        play_to_script(0.01, LONG, MOVE, works=False)
    assert e.value.history is not None
    assert e.value.history.actions == ()
    assert left_behind() == []


def test_a_stop_is_charged_to_nobody_where_there_was_time_for_all_of_it(
    play_to_script: Callable[..., GameRecord],
) -> None:
    record = play_to_script(1.0, LONG, BANK, works=False)
    assert record.verdict.reason is Reason.RESIGN
    assert record.times_us[0] == pytest.approx(1e6, abs=1)
    assert record.forgiven_us[0] == pytest.approx(LONG * 1e6, abs=1)


THINKS_ONCE = """
import time

def asked():
    while True:
        verb, *fields = sys.stdin.readline().split()
        heard["army" if fields[:1] == ["army"] else verb] = fields
        if verb in ("setup", "restore"):
            return verb

introduce()
if asked() == "setup":
    say("setup " + rows())
if not is_red():
    play()
play(1)
hear("turn")
if not os.path.exists("thinking"):
    open("thinking", "w").close()
    while not os.path.exists("answer"):
        time.sleep(0.001)
    say("move " + heard["legal"][0])
    open("answered", "w").close()
else:
    say("move " + heard["legal"][0])
hear("turn")
say("move resign")
hear("end")
"""
"""In the first game, in its second turn, Red thinks until it is told to answer. It can go on with a game, too."""
LIMIT = 3.0


@contextlib.contextmanager
def playing(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """A league in which Red is thinking. It goes on until it is told to answer."""
    for name in ("ann", "bob"):
        (folder / f"{name}.py").write_text(f"{PREAMBLE.read_text()}\n\n{THINKS_ONCE}")
    line = [*ARENA, "league", "--rounds", "1", "ann.py", "bob.py", "--rules", "duel"]
    line += ["--time", f"{LIMIT:g}s", "-j", "1", "--store", "l.sqlite"]
    line += ["--start-time", "2m", "--setup-time", "2m"]
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as league:
        until((folder / "thinking").exists)
        yield league


def stop_and_go_on(process: psutil.Process, folder: Path) -> None:
    """Stop a process, let Red answer, and let the process go on once Red's time has long been over."""
    process.send_signal(signal.SIGSTOP)
    until(lambda: process.status() == psutil.STATUS_STOPPED)
    stopped = time.monotonic()
    (folder / "answer").touch()
    until((folder / "answered").exists)
    until(lambda: time.monotonic() > stopped + LIMIT + 0.2)
    process.send_signal(signal.SIGCONT)


def all_resigned(folder: Path) -> None:
    """Nobody has lost by what happened to the arena."""
    with Store(folder / "l.sqlite", create=False) as store:
        rows = list(store.rows())
        assert [row.reason for row in rows] == [Reason.RESIGN] * 2
        for row in rows:
            check_record(store.record(str(row.number))[1])


def test_a_game_in_which_its_worker_was_stopped_is_played_again_and_nobody_loses_by_it(tmp_path: Path) -> None:
    with playing(tmp_path) as league:
        (worker,) = psutil.Process(league.pid).children()
        stop_and_go_on(worker, tmp_path)
        _, said = league.communicate(timeout=PATIENCE)
    assert league.returncode == 0, said
    assert "(ann - bob) is played again: the arena was stopped for " in said or "(bob - ann) is played again" in said
    all_resigned(tmp_path)


def test_an_arena_that_is_stopped_while_its_worker_runs_costs_no_game(tmp_path: Path) -> None:
    with playing(tmp_path) as league:
        stop_and_go_on(psutil.Process(league.pid), tmp_path)
        _, said = league.communicate(timeout=PATIENCE)
    assert league.returncode == 0, said
    assert "was stopped" not in said
    all_resigned(tmp_path)


# --- full pipes -------------------------------------------------------------------------------------------------------

FILLS_ITS_PIPE = """
import time
stdin = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)

def fill():
    try:
        while True:
            os.write(stdin, b"# filler\\n" * 455)
    except BlockingIOError:
        pass

introduce()
hear("setup")
fill()
say("setup " + rows())
for _ in range({turns}):
    time.sleep({seconds})
    hear("turn")
    fill()
    say("move " + heard["legal"][0])
hear("turn")
say("move resign")
hear("end")
"""
"""Leaves no room in the pipe that the arena writes to, and thinks before it makes some."""


def test_who_does_not_read_does_so_in_its_own_time_and_still_gets_every_line(make_bot: MakeBot) -> None:
    """The alarm for the deadline of Red's first turn goes off while its second is being written."""
    seconds, control = 1.5, TimeControl(move_ms=2800, setup_ms=600_000, start_ms=600_000)
    red, blue = make_bot(FILLS_ITS_PIPE.format(turns=2, seconds=seconds)), make_bot(GOOD)
    record = trio.run(lambda: play(red, blue, time=control, blue_time=PATIENT))
    assert (record.verdict.reason, record.verdict.plies) == (Reason.RESIGN, 5), record.verdict
    assert min(record.times_us[:4:2]) > seconds / 2 * 1e6
    assert min(record.times_us[1:4:2]) < seconds / 2 * 1e6, "what Red takes is not Blue's"


def test_who_fills_its_own_pipe_and_thinks_loses_at_its_deadline(make_bot: MakeBot) -> None:
    bank = TimeControl(move_ms=None, bank_ms=1000, increment_ms=1000, setup_ms=600_000, start_ms=600_000)
    full, good = make_bot(FILLS_ITS_PIPE.format(turns=1, seconds=1000), "full"), make_bot(GOOD)
    record = trio.run(lambda: play(good, full, time=PATIENT, blue_time=bank))
    assert (record.verdict.reason, record.verdict.result.winner) == (Reason.TIMEOUT, Color.RED)
    assert "the bot did not read what it was sent" in record.verdict.detail


KILLS = """
introduce()
set_up()
hear("turn")
import signal
with open({starts!r}, "a") as file:
    file.write("x")
if os.path.getsize({starts!r}) % 2:
    os.kill(os.getppid(), signal.SIGKILL)
say("move resign")
hear("end")
"""
"""It kills its worker process in every second game that it has to move in."""


def test_a_bot_that_alone_was_in_all_games_played_again_is_named_at_the_end(tmp_path: Path) -> None:
    plain = "introduce()\nset_up()\nhear('turn')\nsay('move resign')\nhear('end')"
    for name, program in {"ann": plain, "bob": plain, "eve": KILLS.format(starts=str(tmp_path / "starts"))}.items():
        (tmp_path / f"{name}.py").write_text(f"{PREAMBLE.read_text()}\n\n{program}")
    bots = ("ann.py", "bob.py", "eve.py")
    words = unhurried(["league", *bots, "--rounds", "3", "--rules", "duel", "-j", "1", "--store", "l.sqlite"])
    done = run_program([*ARENA, *words], tmp_path)
    assert done.returncode == 0, done.stderr
    again = [line for line in done.stderr.splitlines() if "is played again: its worker process was killed" in line]
    assert len(again) >= 3
    assert all("eve" in line.partition(")")[0] for line in again)
    assert f"eve took part in each of the {len(again)} games that were played again" in done.stderr
