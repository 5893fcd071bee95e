"""What tests on all floors share.

For those with real processes: bots written on the spot, games between them, and a look at what is left. For those that
hold for any rules: random rules, and random play that is drawn towards what seldom happens.
"""

import atexit
import faulthandler
import importlib.util
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import commands
import psutil
import pytest
import trio
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from own_children import started_from_now

from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.league.league_options import usable_cpus
from arena.play.game_options import USUAL, GameOptions
from arena.play.runner import play_game
from arena.sandbox import procfs, reaper
from arena.stratego.game import variant_of
from arena.stratego.rules.action_types import Action
from arena.stratego.rules.board import MOVES, StraightMove
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import (
    Attacks,
    Bombs,
    Captains,
    Chase,
    Defence,
    EqualRanks,
    FixedPieces,
    Flag,
    NoMove,
    Ruleset,
    RulesetError,
    Scouts,
    Spy,
    Starts,
)
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names, switch_names
from protocol.bot import Bot, Conversation
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.notation import BOARD_SIZE, RANK_BY_LETTER, Color, Rank

MOST_PROCESSES = 8
"""Those in which the tests run at once. Each collects all tests first, so that more of them save less and less."""

# Where the tests are started by `nohup` or a script's `&` these are ignored, and the arena would leave them so.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

if sys.dont_write_bytecode:
    # Each program that a test starts would compile all that it imports, which is most of what such a test takes. They
    # keep the bytecode in a folder of this session, so that none is written beside the sources.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="arena-tests-bytecode-")
    Path(sys.pycache_prefix).chmod(0o755)  # some tests of the sandbox run as another user
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)

# How long an example takes says nothing on a busy machine; nor does how long it takes to find some.
settings.register_profile("arena", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("arena")

PREAMBLE = Path(__file__).parent / "hostile" / "preamble.py"
MARKER_VARIABLE = "ARENA_TEST_MARKER"
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
"""Limits that no game reaches, however busy the machine is."""
HANGS = 900
"""Seconds after which a test and its fixtures count as hanging; each wait inside has a shorter limit of its own."""
NEVER_ENDS = 120.0
"""Seconds after which a game counts as one that never ends."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """End the process of a test that hangs, with what all its threads do: better one lost test than a lost run."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """As many processes as CPUs that this one may use, where pytest-xdist is told to find out."""
    return min(usable_cpus(), MOST_PROCESSES)


@pytest.fixture(scope="session", autouse=True)
def commands_are_over() -> Iterator[None]:
    """End the process that runs commands for all tests."""
    yield
    commands.close()


@pytest.fixture
def marker() -> str:
    """A word that is in the environment of all processes of this test's bots, and nowhere else."""
    return secrets.token_hex(16)


@pytest.fixture
def make_bot(tmp_path: Path, marker: str) -> Callable[..., BotSpec]:
    """`make_bot(program, name)`: a bot that runs this Python text with the functions of `hostile/preamble.py`."""

    def make(program: str, name: str = "bot") -> BotSpec:
        path = tmp_path / f"{secrets.token_hex(4)}.py"
        path.write_text(f"{PREAMBLE.read_text()}\n\n{program}")
        return BotSpec(
            name=name,
            path=path,
            command=(sys.executable, "-I", "-S", str(path)),  # in half the time that Python takes otherwise
            folder=tmp_path,
            digest=name,
            environment={"PATH": os.defpath, MARKER_VARIABLE: marker},
        )

    return make


@pytest.fixture
def play() -> Callable[..., Awaitable[GameRecord]]:
    """`await play(red, blue, time=..., ruleset=..., seeds=..., conditions=..., blue_time=...)`: one game.

    It fails the test if it never ends.
    """

    async def play_one(
        red: BotSpec,
        blue: BotSpec,
        time: TimeControl = PATIENT,
        ruleset: str = "barrage",
        seeds: tuple[int, int] = (11, 22),
        *,
        conditions: GameOptions = USUAL,
        blue_time: TimeControl | None = None,
    ) -> GameRecord:
        game = GameSpec(
            id=secrets.token_hex(8),
            variant=variant_of(load_ruleset(ruleset)),
            time=time,
            players=(Player(red.name, red.digest), Player(blue.name, blue.digest)),
            seeds=seeds,
            pair_seed=33,
            blue_time=blue_time,
        )
        with trio.fail_after(NEVER_ENDS):
            return await play_game(game, red, blue, conditions)

    return play_one


@pytest.fixture
def as_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every orphan is a bot's, as in a worker process."""
    with monkeypatch.context() as patch:
        patch.setattr(reaper, "_bystanders", frozenset(procfs.children(os.getpid())))
        yield
    if not reaper.owners:
        reaper._stop_adopting()


@pytest.fixture
def left_behind(marker: str) -> Iterator[Callable[[], list[str]]]:
    """`left_behind()`: the processes of this test's bots that are still there, zombies included, in words.

    What there is at the end of a test that failed is cleared away, so that no other test is blamed for it.
    """
    started = started_from_now()

    def look() -> list[str]:
        found = [f"{child.pid} is {child.status()}" for child in started()]
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if marker.encode() in (folder / "environ").read_bytes():
                    found.append(f"{folder.name} runs {(folder / 'cmdline').read_bytes()!r}")
        return found

    yield look
    left = started()
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=NEVER_ENDS)


# --- bots made with the kit, without processes ------------------------------------------------------------------------


def _bot_class(path: Path) -> type[Bot]:
    """The bot that a file defines."""
    found = importlib.util.spec_from_file_location(f"sample_{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    (made,) = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Bot) and thing.__module__ == module.__name__
    ]
    return made


def _play_kit_bots(variant: str, red: type[Bot], blue: type[Bot], seed: int, plies: int = 400) -> Referee:
    """A whole game between two bots without processes; anything that a bot raises comes out of here."""
    ruleset = replace(load_ruleset(variant), max_plies=plies)
    referee = Referee(
        GameSpec(
            "0" * 16, variant_of(ruleset), TimeControl(), (Player("r", "1"), Player("b", "2")), (seed, seed + 1), 5
        )
    )
    conversations = (Conversation(red), Conversation(blue))
    while referee.verdict is None:
        for color in referee.due():
            lines = referee.take(color).splitlines(keepends=True)
            referee.sent(color, 0.0)
            for line in lines:
                message = decode_for_bot(line)
                assert message is not None
                for answer in conversations[color].receive(message):
                    referee.receive(color, encode_from_bot(answer), 0.0)
    return referee


@pytest.fixture(scope="session")
def bot_class() -> Callable[[Path], type[Bot]]:
    """`bot_class(path)`: the bot that a file defines."""
    return _bot_class


@pytest.fixture(scope="session")
def play_kit_bots() -> Callable[..., Referee]:
    """`play_kit_bots(variant, red, blue, seed, plies=400)`: the referee of a whole game that was cut off there."""
    return _play_kit_bots


# --- any rules ------------------------------------------------------------------------------------------------------


def _combined(name: str, switches: Sequence[str]) -> str:
    """The ruleset with those of the switches that it can be combined with."""
    for switch in switches:
        with suppress(RulesetError):
            load_ruleset(f"{name}+{switch}")
            name += f"+{switch}"
    return name


def _army(text: str) -> tuple[tuple[Rank, int], ...]:
    return tuple((RANK_BY_LETTER[word[0]], int(word[1:])) for word in text.split())


@st.composite
def _made_rules(draw: st.DrawFn) -> Ruleset:
    """A ruleset that no booklet has: every rule random, with a small army of all sorts of pieces."""
    spy = draw(st.sampled_from(Spy))
    return Ruleset(
        name="made",
        title="Made at random",
        source="these tests",
        army=draw(st.sampled_from([_army("F1 B2 S1 22 31 61 91 M1 I1"), _army("F1 B3 S2 22 32 41 63 M1 I2")])),
        starts=draw(st.sampled_from(Starts)),
        two_squares=draw(st.sampled_from([3, 1, 2, 5, None])),
        chase=draw(st.sampled_from(Chase)),
        no_move=draw(st.sampled_from(NoMove)),
        needs_attacker=draw(st.booleans()),
        equal_ranks=draw(st.sampled_from(EqualRanks)),
        bombs=draw(st.sampled_from(Bombs)),
        flag=draw(st.sampled_from(Flag)),
        fixed_pieces=draw(st.sampled_from(FixedPieces)),
        rescues=draw(st.integers(0, 3)),
        defence=draw(st.sampled_from(Defence)),
        scouts=draw(st.sampled_from(Scouts)),
        captains=draw(st.sampled_from(Captains)),
        infiltration=draw(st.booleans()),
        spy=spy,
        attacks=draw(st.sampled_from(Attacks)) if spy is Spy.STRAIGHT else Attacks.ALL_SIDES,
        max_plies=draw(st.sampled_from([400, 150])),
        max_quiet_plies=draw(st.sampled_from([80, 30, None])),
    )


@pytest.fixture(scope="session")
def any_rules() -> st.SearchStrategy[Ruleset]:
    """Any ruleset that comes with the arena, with up to four of the switches that it combines with, or a random one."""
    switches = st.lists(st.sampled_from(switch_names()), unique=True, max_size=4)
    return st.builds(_combined, st.sampled_from(ruleset_names()), switches).map(load_ruleset) | _made_rules()


def _towards_the_rare(game: EngineGame, rng: Random) -> Action:
    """A random legal action: often one that only some rulesets have, often a step towards the enemy."""
    actions = game.legal_moves()
    chance = rng.random()
    if chance < 0.4:
        special = [action for action in actions if action.text not in MOVES]
        if special:
            return rng.choice(special)
    if chance < 0.8:
        up = 1 if game.to_move is Color.RED else -1
        ahead = [
            action
            for action in actions
            if isinstance(action, StraightMove) and action.target // BOARD_SIZE * up > action.origin // BOARD_SIZE * up
        ]
        if ahead:
            return rng.choice(ahead)
    return rng.choice(actions)


@pytest.fixture(scope="session")
def lively() -> Callable[[EngineGame, Random], Action]:
    """`lively(game, rng)`: a random legal action, drawn towards what seldom happens."""
    return _towards_the_rare
