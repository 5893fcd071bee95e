"""Two games in the same two processes: who is kept for the second one, and that nothing of the first gets into it."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import trio
from sandboxes import in_bwrap
from schedules import schedule
from scripted import game_spec

from arena.bots.limits import MIB, Limits
from arena.bots.spec import BotSpec
from arena.game.faults import Cause, Excess
from arena.game.game_spec import GameSpec, Player
from arena.game.recheck import check_record
from arena.game.record import GameRecord, decode_record, encode_record
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.league.executor.local import LocalExecutor, local_executor
from arena.league.executor.task import Begun, GameTask, Lost, Notice, Outcome, Played, Watched
from arena.league.settings import Settings
from arena.play.game_options import USUAL, GameOptions, Keeper
from arena.play.retry import play_with_retries
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.levels import Level
from arena.stratego.game import ruleset_of, variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.bot import random_rows
from protocol.notation import Color, Reason

NEVER_ENDS = 120.0
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)

MANY_GAMES = """
introduce()
game = 0
while True:
    fields = sys.stdin.readline().split()
    if not fields or fields[0] == "quit":
        sys.exit()
    verb = "army" if fields[:2] == ["rule", "army"] else fields[0]
    heard[verb] = fields[1:]
    if verb == "setup":
        game += 1
        say(f"note pid {{os.getpid()}} seed {{heard['seed'][0]}}")
        {setup}
        say("setup " + rows())
    elif verb == "turn":
        {turn}
        say("move resign" if is_red() and fields[1] == "3" else "move " + heard["legal"][0])
    elif verb == "end":
        {end}
"""
"""Plays games until it is told to quit; Red resigns on its second move."""

MakeBot = Callable[..., BotSpec]
LeftBehind = Callable[[], list[str]]
Both = tuple[GameRecord, GameRecord]

at_both_levels = pytest.mark.parametrize("level", [Level.BASIC, pytest.param(Level.BWRAP, marks=in_bwrap)])


def plays(setup: str = "pass", turn: str = "pass", end: str = "pass") -> str:
    """The program of a bot that plays many games, and does this besides in each."""
    return MANY_GAMES.format(setup=setup, turn=turn, end=end)


def pair_of(ann: BotSpec, bob: BotSpec, time: TimeControl = PATIENT) -> tuple[GameSpec, GameSpec]:
    settings = Settings(variant_of(load_ruleset("duel")), time, keep_bots=True)
    first, second = schedule(settings, [ann.player, bob.player], 1)
    return first, second


class Pairs:
    """Plays pairs of games. `said` are the lines for people."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def play(self, ann: BotSpec, bob: BotSpec, options: GameOptions = USUAL, time: TimeControl = PATIENT) -> Both:
        first, second = pair_of(ann, bob, time)
        bots = {bot.player: bot for bot in (ann, bob)}
        keeper = Keeper()
        options = replace(options, keeper=keeper)
        with trio.fail_after(NEVER_ENDS):
            try:
                records = [await self._play(first, bots, options)]
                keeper.expects_another = False
                records.append(await self._play(second, bots, options))
            finally:
                await keeper.end()
        for record in records:
            check_record(record)
            assert decode_record(encode_record(record)) == record
        return records[0], records[1]

    async def _play(self, game: GameSpec, bots: dict[Player, BotSpec], options: GameOptions) -> GameRecord:
        red, blue = (bots[player] for player in game.players)
        return await play_with_retries(game, (red, blue), options, self.said.append)


@pytest.fixture
def pairs() -> Pairs:
    return Pairs()


def told(record: GameRecord, name: str) -> tuple[int, int]:
    """The process in which a bot played, and the seed that it was given, as it has noted them."""
    color = next(color for color in Color if record.players[color].name == name)
    (note,) = (note.text for note in record.notes if note.color == color.word)
    _, pid, _, seed = note.split()
    return int(pid), int(seed)


def side(record: GameRecord, name: str) -> int:
    return [player.name for player in record.players].index(name)


def was_kept(record: GameRecord, name: str) -> bool:
    return bool(record.kept and record.kept[side(record, name)])


@contextmanager
def held(level: Level, *bots: BotSpec, pondering: bool = True, memory: int = 512 * MIB) -> Iterator[GameOptions]:
    with Sandbox(PlaySettings(bots, level, Limits(memory=memory), {})) as sandbox:
        yield GameOptions(sandbox.start, pondering)


@pytest.mark.parametrize(
    ("level", "pondering"), [(Level.BASIC, True), pytest.param(Level.BWRAP, False, marks=in_bwrap)]
)
def test_both_games_are_played_in_the_same_processes_each_with_its_own_seed(
    level: Level, pondering: bool, pairs: Pairs, make_bot: MakeBot, left_behind: LeftBehind
) -> None:
    ann, bob = make_bot(plays(), "ann"), make_bot(plays(), "bob")
    with held(level, ann, bob, pondering=pondering) as options:
        first, second = trio.run(pairs.play, ann, bob, options)
    for name in ("ann", "bob"):
        (one, seed), (other, next_seed) = told(first, name), told(second, name)
        assert one == other
        assert (seed, next_seed) == (first.seeds[side(first, name)], second.seeds[side(second, name)])
    assert (first.verdict.reason, second.verdict.reason) == (Reason.RESIGN, Reason.RESIGN)
    assert (first.kept or None, second.kept) == (None, (True, True))
    assert (first.pondered_us is None, second.pondered_us is None) == (pondering, pondering)
    assert pairs.said == []
    assert left_behind() == []


def test_what_a_bot_has_declared_and_wanted_holds_in_the_second_game(pairs: Pairs, make_bot: MakeBot) -> None:
    said = "hear('hello')\nsay('name kept 1')\nsay('author Ann')\nsay('want legal')\nsay('ready')"
    named = plays().replace("introduce()", said)
    first, second = trio.run(pairs.play, make_bot(named, "ann"), make_bot(plays(), "bob"))
    assert (first.declared, second.declared) == (("kept 1", ""), ("", "kept 1"))
    assert (first.authors, second.authors) == (("Ann", ""), ("", "Ann"))


FRESH = {
    "it exits when the game is over": "os._exit(0)",
    "it crashes": "raise SystemError",
    "it writes what nobody asked for": 'say("move a1-a2")',
    "it closes its output": "os.close(1)",
    "it is busy with other things": "import signal; signal.pause() if game == 1 else None",
}


@pytest.mark.parametrize(
    ("level", "deed"),
    [
        *((Level.BASIC, deed) for deed in FRESH),
        pytest.param(Level.BWRAP, "it crashes", marks=in_bwrap),
        pytest.param(Level.BWRAP, "it is busy with other things", marks=in_bwrap),
    ],
)
def test_who_cannot_go_on_plays_the_second_game_in_a_new_process_and_loses_nothing(
    level: Level, deed: str, pairs: Pairs, make_bot: MakeBot, left_behind: LeftBehind
) -> None:
    """A bot that waits for something else has read all and looks idle: it is found out as it does not set up."""
    hurried, deed = replace_time(PATIENT, setup_ms=1500), FRESH[deed]
    ann, bob = make_bot(plays(end=deed), "ann"), make_bot(plays(), "bob")
    with held(level, ann, bob) as options:
        first, second = trio.run(pairs.play, ann, bob, options, hurried if "pause" in deed else PATIENT)
    assert (first.verdict.reason, second.verdict.reason) == (Reason.RESIGN, Reason.RESIGN), second.verdict
    assert not was_kept(second, "ann")
    assert level is Level.BWRAP or told(first, "ann")[0] != told(second, "ann")[0]
    assert was_kept(second, "bob") == ("pause" not in deed)
    assert len(pairs.said) == ("pause" in deed)
    assert left_behind() == []


def replace_time(time: TimeControl, setup_ms: int) -> TimeControl:
    return TimeControl(move_ms=time.move_ms, setup_ms=setup_ms, start_ms=time.start_ms)


def test_whose_answer_may_be_under_way_when_the_game_ends_is_told_to_quit_and_the_other_is_not() -> None:
    """What it still answers could be taken for an answer in the second game."""
    referee = begun(Referee(game_spec(), keeps=True))
    red, blue = Color
    assert referee.awaited() == [red]
    referee.over_limit(blue, Excess(Cause.MEMORY, "was killed by the test"))
    lasts = [referee.take(color).splitlines()[-2:] for color in Color]
    assert lasts == [[b"end win over-limit", b"quit"], [b"end loss over-limit", b"quit"]]
    referee = begun(Referee(game_spec(), keeps=True))
    referee.receive(red, b"move resign\n", 1.0)
    assert [referee.take(color).splitlines()[-1] for color in Color] == [b"end loss resign", b"end win resign"]
    assert [referee.can_go_on(color) for color in Color] == [True, True]


def begun(referee: Referee) -> Referee:
    """Both have set up, and Red is asked for its first move."""
    rows = "/".join(random_rows(dict(ruleset_of(referee.spec.variant).army), Random(1))).encode()
    for answer in (b"ready\n", b"setup " + rows + b"\n"):
        for color in Color:
            referee.take(color)
            referee.sent(color, 1.0)
        for color in Color:
            referee.receive(color, answer, 1.0)
    referee.take(Color.RED)
    referee.sent(Color.RED, 1.0)
    return referee


# --- nothing of the first game is in the second -----------------------------------------------------------------------


def test_standard_error_is_that_of_each_game_what_is_written_at_its_end_included(
    pairs: Pairs, make_bot: MakeBot
) -> None:
    program = plays(
        setup='os.write(2, b"begins %d\\n" % game)', turn='os.write(2, b"t")', end='os.write(2, b"ends %d\\n" % game)'
    )
    first, second = trio.run(pairs.play, make_bot(program, "ann"), make_bot(plays(), "bob"))
    assert first.stderr == ("begins 1\nttends 1\n", "")
    assert second.stderr == ("", "begins 2\ntends 2\n")


@at_both_levels
def test_processor_time_is_that_of_each_game(level: Level, pairs: Pairs, make_bot: MakeBot) -> None:
    """The first game costs a lot, in the bot itself and in a program that it runs and waits for."""
    burn = "import time\n{0}while time.process_time() < 0.1: pass\n{0}"
    works = burn.format("            ") + "if os.fork() == 0:\n                while time.process_time() < 0.1: pass\n"
    works += "                os._exit(0)\n            os.wait()"
    program = plays(turn=f"if game == 1 and is_red():\n            {works}")
    ann, bob = make_bot(program, "ann"), make_bot(plays(), "bob")
    with held(level, ann, bob) as options:
        first, second = trio.run(pairs.play, ann, bob, options)
    assert first.used is not None
    assert second.used is not None
    assert first.used[side(first, "ann")].cpu_us >= 190_000
    assert second.used[side(second, "ann")].cpu_us <= 100_000
    assert sum(second.cpu_us) <= 100_000


def test_a_kept_bot_is_watched_in_the_second_game_too(pairs: Pairs, make_bot: MakeBot) -> None:
    """It takes more than it may in its second game, and waits until that is found."""
    greedy = "block = bytearray(200_000_000) if game == 2 else b''\n        if game == 2: hear('quit')"
    ann, bob = make_bot(plays(turn=greedy), "ann"), make_bot(plays(), "bob")
    with held(Level.BASIC, ann, bob, memory=100 * MIB) as options:
        first, second = trio.run(pairs.play, ann, bob, options)
    assert first.verdict.reason is Reason.RESIGN
    assert second.verdict.reason is Reason.OVER_LIMIT
    assert "(ann)" in second.verdict.detail
    assert was_kept(second, "ann")


def test_cancelled_between_the_two_games_no_process_is_left(make_bot: MakeBot, left_behind: LeftBehind) -> None:
    ann, bob = make_bot(plays(), "ann"), make_bot(plays(), "bob")
    first, _ = pair_of(ann, bob)

    async def main() -> None:
        keeper = Keeper()
        with trio.CancelScope() as scope:
            try:
                await play_with_retries(first, (ann, bob), replace(USUAL, keeper=keeper), lambda line: None)
                assert len(left_behind()) >= 2, "the bots were to be kept"
                scope.cancel()
                await trio.lowlevel.checkpoint()
            finally:
                await keeper.end()
        assert scope.cancelled_caught

    trio.run(main)
    assert left_behind() == []


# --- pairs in worker processes ----------------------------------------------------------------------------------------


async def pair_task(ann: BotSpec, bob: BotSpec) -> AsyncIterator[GameTask]:
    first, second = pair_of(ann, bob)
    yield GameTask(first, then=second)


Heard = Callable[[LocalExecutor, Outcome], None]


def outcomes_of(ann: BotSpec, bob: BotSpec, heard: Heard, level: Level = Level.BASIC) -> list[Outcome]:
    """All that comes of a pair in a worker; `heard` is told of each outcome."""

    async def main() -> list[Outcome]:
        found: list[Outcome] = []
        async with local_executor(PlaySettings((ann, bob), level), 1) as executor:
            with trio.fail_after(NEVER_ENDS):
                async for outcome in executor.play(pair_task(ann, bob)):
                    found.append(outcome)
                    heard(executor, outcome)
        return found

    return trio.run(main)


def told_of(outcomes: Iterable[Outcome]) -> list[tuple[type[Outcome], str | None]]:
    return [(type(outcome), outcome.id) for outcome in outcomes if not isinstance(outcome, Notice | Watched)]


WAITS = """
while not os.path.exists({go!r}):
            time.sleep(0.005)
"""


def test_closed_in_the_first_game_the_second_one_is_not_begun(
    tmp_path: Path, make_bot: MakeBot, left_behind: LeftBehind
) -> None:
    go = tmp_path / "go"
    program = "import time\n" + plays(turn=WAITS.format(go=str(go)))
    ann, bob = make_bot(program, "ann"), make_bot(program, "bob")
    first, _ = pair_of(ann, bob)

    def close(executor: LocalExecutor, outcome: Outcome) -> None:
        if isinstance(outcome, Begun):
            executor.close()
            (state,) = executor._workers
            assert state.process is not None
            state.process.connection.flush()
            go.touch()

    assert told_of(outcomes_of(ann, bob, close)) == [(Begun, first.id), (Played, first.id)]
    assert left_behind() == []


@pytest.mark.parametrize("number", [0, 1], ids=["in the first game", "in the second game"])
def test_a_worker_that_dies_costs_only_what_was_not_told(
    number: int, tmp_path: Path, make_bot: MakeBot, left_behind: LeftBehind
) -> None:
    """The pair is played again, or the second game alone, in new processes. Ann waits in that game until its worker has
    been killed."""
    go = tmp_path / "go"
    program = "import time\n" + plays(
        turn=f"while game == {number + 1} and not os.path.exists({str(go)!r}):\n            time.sleep(0.005)"
    )
    ann, bob = make_bot(program, "ann"), make_bot(plays(), "bob")
    games = pair_of(ann, bob)
    deaths: list[str] = []

    def kill(executor: LocalExecutor, outcome: Outcome) -> None:
        if isinstance(outcome, Begun) and outcome.id == games[number].id and not deaths:
            deaths.append(outcome.id)
            (state,) = executor._workers
            assert state.process is not None
            os.kill(state.process.pid, signal.SIGKILL)
            go.touch()

    outcomes = outcomes_of(ann, bob, kill)
    whole = [(Begun, games[0].id), (Played, games[0].id), (Begun, games[1].id), (Played, games[1].id)]
    if number == 0:
        assert told_of(outcomes) == [(Begun, games[0].id), (Lost, games[0].id), *whole]
    else:
        assert told_of(outcomes) == [*whole[:3], (Lost, games[1].id), *whole[2:]]
    *_, last = (outcome.record for outcome in outcomes if isinstance(outcome, Played))
    assert (last.kept or None) == ((True, True) if number == 0 else None)
    assert left_behind() == []
