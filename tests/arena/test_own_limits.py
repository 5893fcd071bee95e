"""The limits of the arena's own processes: a bot that lowers them costs nobody else a game."""

import resource
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio

from arena.bots import BotSpec
from arena.bots.sandbox import own_limits
from arena.bots.sandbox.own_limits import LimitsChangedError, OwnLimits
from arena.errors import ArenaError
from arena.game.time_control import TimeControl
from arena.league.executor import Lost, Outcome, Played, PlaySettings, Said
from arena.league.executor.local import MOST_DEATHS, local_executor
from arena.league.games import Settings
from arena.league.schedule import schedule
from arena.league.store.database import Database
from arena.league.store.faults import StoreError
from arena.rules.loading import load_ruleset
from protocol.notation import Reason

from .test_executor import heard

PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
SETTINGS = Settings(load_ruleset("duel"), PATIENT)
BRIEF = "introduce()\nset_up()\nhear('turn')\nsay('move resign')\nhear('end')"
LOWERS = """
import resource
def lower(pid, number, value):
    resource.prlimit(pid, number, (value, resource.prlimit(pid, number)[1]))
"""
COMMAND = "int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])"

MakeBot = Callable[..., BotSpec]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets the limits of another process")


@pytest.fixture(autouse=True)
def same_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The limits are afterwards what they were. Of bytecode that finds no room Python would keep the first part."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = {number: resource.getrlimit(number) for number in own_limits._names()}
    yield
    for number, pair in before.items():
        resource.setrlimit(number, pair)


def play(bots: tuple[BotSpec, ...], rounds: int = 2) -> list[Outcome]:
    games = schedule(SETTINGS, [bot.player for bot in bots], rounds)

    async def main() -> list[Outcome]:
        async with local_executor(PlaySettings(bots), 1) as executor:
            return await heard(executor, games)

    return trio.run(main)


def lines(outcomes: list[Outcome]) -> list[str]:
    return [outcome.line for outcome in outcomes if isinstance(outcome, Said)]


def reasons(outcomes: list[Outcome]) -> set[Reason]:
    return {outcome.record.verdict.reason for outcome in outcomes if isinstance(outcome, Played)}


@pytest.mark.parametrize(("name", "value"), [("AS", 1 << 20), ("NOFILE", 4)])
def test_other_games_are_played_though_a_bot_lowers_the_limits_of_its_worker(
    name: str, value: int, make_bot: MakeBot
) -> None:
    """Every bot that is started afterwards would inherit them."""
    bad = f"{LOWERS}\nintroduce()\nset_up()\nhear('turn')\nlower(os.getppid(), resource.RLIMIT_{name}, {value})\n"
    bots = make_bot(bad + "say('move resign')\nhear('end')", "bad"), make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")
    outcomes = play(bots)
    assert reasons(outcomes) == {Reason.RESIGN}
    assert len([one for one in outcomes if isinstance(one, Played)]) == 12
    said = lines(outcomes)
    assert said
    for line in said:
        assert line.startswith(f"the limits of this worker process were changed (RLIMIT_{name} from ")
        assert "bad" in line.partition(", while ")[2]
        assert line.endswith(" played; they are as they were again")


def test_a_game_that_ends_as_no_start_under_changed_limits_is_not_stored_and_its_bots_are_named(
    make_bot: MakeBot, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    bad = f"""{LOWERS}
if not os.path.exists({str(mark)!r}):
    open({str(mark)!r}, "w").close()
    lower(os.getppid(), resource.RLIMIT_AS, 1 << 40)
    sys.exit()
"""
    bots = make_bot(BRIEF, "ann"), make_bot(bad + BRIEF, "bad")
    outcomes = play(bots, 1)
    (lost,) = [outcome.id for outcome in outcomes if isinstance(outcome, Lost)]
    assert reasons(outcomes) == {Reason.RESIGN}
    (line,) = lines(outcomes)
    assert line.startswith(f"game {lost} (")
    assert "is played again: its worker process exited with code 1: the limits of this worker process were" in line
    assert "changed (RLIMIT_AS from unlimited to 1099511627776 (hard unlimited)), while " in line
    assert line.endswith(("while ann - bad played", "while bad - ann played"))


def test_a_bot_that_does_it_each_time_stops_the_run_and_is_named(make_bot: MakeBot) -> None:
    bad = f"{LOWERS}\nlower(os.getppid(), resource.RLIMIT_AS, 1 << 40)\nsys.exit()"
    with pytest.raises(ArenaError, match=f" - .* was not played: {MOST_DEATHS} times .*RLIMIT_AS") as raised:
        play((make_bot(BRIEF, "ann"), make_bot(bad, "bad")), 1)
    assert "bad" in str(raised.value)


def test_what_a_bot_lowers_of_the_command_is_put_back_before_the_game_is_stored(make_bot: MakeBot) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    bad = f"{LOWERS}\nintroduce()\nset_up()\nhear('turn')\nlower({COMMAND}, resource.RLIMIT_FSIZE, 4096)\n"
    outcomes = play((make_bot(bad + "say('move resign')\nhear('end')", "bad"), make_bot(BRIEF, "ann")), 1)
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before
    first = lines(outcomes)[0]
    assert first.startswith("the limits of this process were changed (RLIMIT_FSIZE from unlimited to 4096")
    assert "bad" in first
    assert first.endswith("they are as they were again")


def test_limits_that_the_system_does_not_put_back_are_an_error_that_says_which(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = OwnLimits()
    assert own.mend() == ""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    set_limit = resource.setrlimit
    set_limit(resource.RLIMIT_NOFILE, (soft - 1, hard))

    def refuse(number: int, pair: tuple[int, int]) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    with pytest.raises(LimitsChangedError, match=f"^RLIMIT_NOFILE from {soft}"):
        own.mend()
    monkeypatch.undo()
    assert own.mend().startswith("RLIMIT_NOFILE")
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
    assert own.mend() == ""


def test_a_store_that_may_not_grow_says_that_it_is_a_limit_and_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    sqlite3.connect(path).close()
    database = Database(path, write=True)
    database.prepare()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        with pytest.raises(StoreError, match=r"cannot grow: .* 4096 bytes \(RLIMIT_FSIZE") as raised:
            database.query("CREATE TABLE many AS SELECT zeroblob(100000)")
        assert "damaged" not in str(raised.value)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)  # before pytest writes to what may be a larger file
        database.close()
