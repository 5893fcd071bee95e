"""A bot that misbehaves loses: with its true reason, soon, and with nothing of it left behind.

The bots and the outcomes of their games are in `tests/hostile/*.toml`, for each level that is to stop them. A bot that
gets at something says so in a note, or the surroundings show that it has.
"""

import contextlib
import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from bot_games import play

from arena.bots.limits import Limits, parse_size
from arena.bots.spec import BotSpec
from arena.game.faults import MARK, GameResult
from arena.game.recheck import check_record
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.play.game_options import GameOptions
from arena.processes.pipes import STDERR_KEPT
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.bwrap_check import shares_by_session
from arena.sandbox.levels import Level
from protocol.notation import Color, Reason

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these bots know their way about on Linux only")

HOSTILE = Path(__file__).parent.parent / "hostile"
TABLES = [tomllib.loads(path.read_text()) for path in sorted(HOSTILE.glob("*.toml"))]
OPPONENTS: dict[str, str] = {name: program for table in TABLES for name, program in table.get("opponent", {}).items()}
UNHURRIED = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
HURRIED = {
    Reason.NO_START: msgspec.structs.replace(UNHURRIED, start_ms=2000),
    Reason.SETUP_TIMEOUT: msgspec.structs.replace(UNHURRIED, setup_ms=1500),
    Reason.TIMEOUT: msgspec.structs.replace(UNHURRIED, move_ms=1000),
}
"""The time of who loses a hurried game: little for what it is to be late with, and more than enough, however busy the
machine is, for all else."""
DROPPED_NOTE = 60
"""More characters than the line takes that says how much of the standard error was dropped."""
SECRET = b"where the flag stands"

MakeBot = Callable[..., BotSpec]


@dataclass(frozen=True)
class Row:
    """One bot that misbehaves, at one level; the columns are explained in `bots.toml`."""

    name: str
    program: str
    reason: str
    words: list[str]
    hint: str = ""
    stderr: tuple[str, ...] = ()
    opponent: str = "good"
    hurried: bool = False
    levels: tuple[str, ...] = tuple(level.value for level in Level)
    any_level: bool = False
    language: str = "python"
    limits: dict[str, Any] = field(default_factory=dict)
    pondering: bool = True
    needs: tuple[str, ...] = ()
    loser: str = "bad"
    told: tuple[str, ...] = ()
    not_told: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    used_ms: int = 0
    at: dict[str, Any] = field(default_factory=dict)

    @property
    def reasons(self) -> set[Reason]:
        """One reason, but where it is chance which of two faults is noticed first."""
        return {Reason(reason) for reason in self.reason.split(" or ")}

    @property
    def time(self) -> TimeControl:
        """The time of who is to lose."""
        return HURRIED.get(Reason(self.reason), UNHURRIED) if self.hurried else UNHURRIED

    @property
    def allowed(self) -> Limits:
        """What the bot may use."""
        sizes = {name: value if isinstance(value, int) else parse_size(value) for name, value in self.limits.items()}
        return Limits(**sizes)


@dataclass(frozen=True)
class Case:
    """A row as it is at one level, the level, and the side that the bot plays."""

    row: Row
    level: Level
    color: Color

    @classmethod
    def of(cls, row: Row, level: Level, color: Color) -> "Case":
        return cls(replace(row, **row.at.get(level.value, {})), level, color)


def cases() -> Iterator[object]:
    """Each row at each of its levels, as one side or the other: from row to row and level to level in turns."""
    for table in TABLES:
        for number, columns in enumerate(table["bot"]):
            row = Row(**columns)
            one_level = (Level.BASIC, Level.BWRAP)[number % 2] if row.any_level else None
            for place, level in enumerate(Level):
                if level.value not in row.levels or one_level not in (None, level):
                    continue
                color = Color((number // 2 + place) % 2)
                name = f"{row.name.replace(' ', '-')}-{level.value}-{color.word}"
                yield pytest.param(Case.of(row, level, color), id=name)


class Surroundings:
    """What a hostile bot finds around it, all of it this test's own, and what it has touched of that."""

    def __init__(self, folder: Path, opponent: BotSpec) -> None:
        self._secret = ctypes.create_string_buffer(SECRET)
        self.home = folder / "home"
        self.home.mkdir()
        self._store = folder / "league.sqlite"
        self._store.write_bytes(SECRET)
        self._held = os.open(self._store, os.O_RDONLY)
        self._files = {"store": self._store, "opponent's program": opponent.path}
        self._before: dict[str, bytes] = {}
        self._folder = folder
        self._names: set[str] = set()
        abstract = secrets.token_hex(8)
        self._listeners = {
            "tcp": self._listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": self._listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": self._listen(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket")),
            "abstract": self._listen(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}"),
        }
        self.given = {
            "arena": os.getpid(),
            "secret": SECRET,
            "secret_address": ctypes.addressof(self._secret),
            "store": str(self._store),
            "store_descriptor": self._held,
            "opponent": str(opponent.path),
            "home": str(self.home),
            "tcp": self._listeners["tcp"].getsockname(),
            "udp": self._listeners["udp"].getsockname(),
            "unix": str(folder / "socket"),
            "abstract": f"\0{abstract}",
        }

    @staticmethod
    def _listen(family: int, kind: int, address: str | tuple[str, int]) -> socket.socket:
        listener = socket.socket(family, kind)
        listener.bind(address)
        listener.setblocking(False)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        return listener

    def remember(self, program: Path) -> None:
        """All is in its place now: what is different later has been changed."""
        self._files["own program"] = program
        self._before = {name: path.read_bytes() for name, path in self._files.items()}
        self._names = set(os.listdir(self._folder))

    def touched(self) -> set[str]:
        """What has been written to, and which listeners somebody has come to."""
        found = {name for name, path in self._files.items() if path.read_bytes() != self._before[name]}
        if os.listdir(self.home):
            found.add("home")
        if set(os.listdir(self._folder)) != self._names:
            found.add("own folder")
        for name, listener in self._listeners.items():
            with contextlib.suppress(BlockingIOError):
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(100)
                found.add(name)
        return found

    def close(self) -> None:
        for listener in self._listeners.values():
            listener.close()
        os.close(self._held)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`compiled(program)`: a C program, ready to be run. The test is skipped where there is no compiler."""
    folder = tmp_path_factory.mktemp("compiled")
    made: dict[str, Path] = {}

    def compile_once(program: str) -> Path:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("this needs a C compiler (apt install gcc libc6-dev)")
        if program not in made:
            made[program] = folder / f"bot-{len(made)}"
            source = made[program].with_suffix(".c")
            source.write_text(program)
            subprocess.run([compiler, "-O1", "-w", "-o", made[program], source], check=True)
        return made[program]

    return compile_once


@pytest.fixture
def arm(
    tmp_path: Path, make_bot: MakeBot, compiled: Callable[[str], Path]
) -> Iterator[Callable[[Row, BotSpec], tuple[BotSpec, Surroundings]]]:
    """`arm(row, opponent)`: the row's bot, and what there is around it, which it knows."""
    with contextlib.ExitStack() as stack:

        def make(row: Row, opponent: BotSpec) -> tuple[BotSpec, Surroundings]:
            surroundings = Surroundings(tmp_path, opponent)
            stack.callback(surroundings.close)
            bot = make_bot(f"GIVEN.update({surroundings.given!r})\n{row.program}", "bad")
            if row.language == "c":
                program = compiled(row.program)
                bot = replace(bot, path=program, command=(str(program),))
            surroundings.remember(bot.path)
            return bot, surroundings

        yield make


@pytest.mark.usefixtures("as_in_a_worker")
@pytest.mark.parametrize("case", list(cases()))
def test_it_does_what_the_table_says_and_the_next_game_is_not_the_worse_for_it(
    case: Case,
    make_bot: MakeBot,
    arm: Callable[[Row, BotSpec], tuple[BotSpec, Surroundings]],
    left_behind: Callable[[], list[str]],
) -> None:
    row, level, color = case.row, case.level, case.color
    skip_without(level, row.needs)
    opponent, good, brief = (
        make_bot(OPPONENTS[program], name)
        for program, name in ((row.opponent, "opponent"), ("good", "good"), ("brief", "brief"))
    )
    bad, surroundings = arm(row, opponent)

    async def games(sandbox: Sandbox) -> None:
        conditions = GameOptions(sandbox.start, row.pondering)
        red, blue = (bad, opponent) if color is Color.RED else (opponent, bad)
        red_loses = (row.loser == "bad") is (color is Color.RED)
        red_time, blue_time = (row.time, UNHURRIED) if red_loses else (UNHURRIED, row.time)
        record = await play(red, blue, time=red_time, blue_time=blue_time, conditions=conditions)
        assert left_behind() == []
        judge(row, color, record)
        assert surroundings.touched() == set(row.touched)
        if row.any_level:
            return
        following = await play(good, brief, conditions=conditions)
        assert (following.verdict.reason, following.verdict.plies) == (Reason.RESIGN, 42), following.verdict
        check_record(following)

    with Sandbox(PlaySettings([bad, opponent, good, brief], level, limits={"bad": row.allowed})) as sandbox:
        trio.run(games, sandbox)
    assert left_behind() == []


def skip_without(level: Level, needs: tuple[str, ...]) -> None:
    """Skip the test, with the reason, where the level does not work or the machine lacks what the attack goes by."""
    reason = level.why_not()
    if reason is not None:
        pytest.skip(f"{level.value}: {reason}")
    for need in needs:
        if not MACHINE_HAS[need]():
            pytest.skip(f"this machine does not have {need}")


def _has_vsock() -> bool:
    with contextlib.suppress(OSError, AttributeError):
        socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
        return True
    return False


MACHINE_HAS: dict[str, Callable[[], bool]] = {
    "vsock": _has_vsock,
    "shares for sessions": shares_by_session,
}


def judge(row: Row, color: Color, record: GameRecord) -> None:
    """The record says what the row says, and nothing against the opponent that it has not."""
    verdict = record.verdict
    loser, name = (color, "bad") if row.loser == "bad" else (color.opponent, "opponent")
    assert (verdict.result, verdict.reason in row.reasons) == (GameResult.win(loser.opponent), True), verdict
    assert verdict.detail.startswith(f"{loser.word} ({name}) {verdict.reason.sentence}")
    assert [words for words in row.words if words not in verdict.detail] == [], verdict.detail
    hint = verdict.detail.partition(MARK)[2]
    needs_hint = verdict.reason.is_forfeit and "open files" not in verdict.detail  # the limit says it all
    assert bool(hint) is needs_hint, verdict.detail
    if not row.at or verdict.reason.is_forfeit:
        assert row.hint in hint, verdict.detail
    assert verdict.plies == len(record.actions) == len(record.times_us)
    assert record.stderr[color.opponent] == ""
    assert [words for words in row.stderr if words not in record.stderr[color]] == [], record.stderr[color]
    assert len(record.stderr[color]) <= STDERR_KEPT + DROPPED_NOTE
    notes = [note.text for note in record.notes if note.color == color.word]
    assert [words for words in row.told if not any(words in note for note in notes)] == [], notes
    assert [words for words in row.not_told if any(words in note for note in notes)] == [], notes
    assert record.used is not None
    assert record.used[color].cpu_us >= row.used_ms * 1000
    assert (record.pondered_us is None) is row.pondering
    check_record(record)
