"""Bots of 2012 as processes: played, kept, shown, checked and played again like any other, and refused in words where
that cannot be done."""

import json
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trio
from commands import arena

from arena import open_bot
from arena.bots import BotSpec, load_bot
from arena.errors import UsageError
from arena.game.dialects import Dialect
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.game.verdict import GameResult
from protocol.notation import Reason

HELPERS = Path(__file__).parent.parent / "helpers"
OLD = HELPERS / "ucc_random.py"
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
Play = Callable[..., Awaitable[GameRecord]]


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A ruleset for short games."""
    path = tmp_path_factory.mktemp("rules") / "short.toml"
    path.write_text('extends = "ucc-2012"\nmax_plies = 80\n')
    return str(path)


def answer(folder: Path, *arguments: str) -> str:
    done = arena(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_match_with_a_bot_of_2012_is_stored_and_can_be_looked_at_like_any_other(tmp_path: Path, short: str) -> None:
    answer(tmp_path, "match", f"ucc:{OLD}", "drifter", "--rules", short, "--time", "60s/move", "--store", "s.sqlite")
    assert "2 games, all sound" in answer(tmp_path, "verify", "s.sqlite")
    logged = [json.loads(line) for line in answer(tmp_path, "log", "s.sqlite", "1", "--json").splitlines()]
    (asked,) = (entry for entry in logged if entry.get("line", "").endswith(" opponent 10 10"))
    side = asked["side"]
    assert asked["line"] == f"{side.upper()} opponent 10 10"
    assert answer(tmp_path, "show", "s.sqlite", "1").count(", speaks ucc-2012\n") == 1
    line = json.loads(answer(tmp_path, "export", "s.sqlite", "--game", "1"))
    assert {name: line[name].get("protocol") for name in ("red", "blue") if name == side} == {side: "ucc-2012"}
    assert sum("protocol" in line[name] for name in ("red", "blue")) == 1
    again = answer(tmp_path, "rerun", "s.sqlite", "1", "--bot", f"{side}={OLD}")
    assert "same to the end" in again


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--pause", "game.json"), "--pause: it speaks ucc-2012, in which a bot cannot be told a game that has begun"),
        (("--rules", "duel"), "ucc-2012 knows the original army of 40 pieces alone, and that of duel is another"),
        (("--keep-bots",), "it speaks ucc-2012, in which a process plays one game: expected no --keep-bots"),
    ],
)
def test_what_the_dialect_cannot_do_is_refused_before_anything_is_started(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    done = arena(tmp_path, "match", f"ucc:{OLD}", "drifter", "--store", "s.sqlite", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert str(OLD) in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_speaks_the_arenas_own_protocol_alone_refuses_such_a_bot(tmp_path: Path) -> None:
    async def open_it() -> None:
        async with open_bot(f"ucc:{OLD}"):
            pass

    with pytest.raises(UsageError, match="speaks the arena's own protocol, and this bot ucc-2012"):
        trio.run(open_it)


@pytest.mark.parametrize("is_red", [True, False])
def test_a_program_in_c_that_reads_line_by_line_plays_a_bot_of_the_arenas_own_protocol(
    tmp_path: Path, make_bot: Callable[..., BotSpec], play: Play, short: str, *, is_red: bool
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler (Debian: gcc)")
    folder = tmp_path / "first"
    folder.mkdir()
    subprocess.run([compiler, "-O1", "-o", folder / "first", HELPERS / "ucc_first.c"], check=True)
    (folder / "bot.toml").write_text('command = ["./first"]\nprotocol = "ucc-2012"\n')
    old = load_bot(folder)
    new = load_bot(HELPERS.parent.parent / "bots" / "drifter.py")
    record = trio.run(partial(play, *((old, new) if is_red else (new, old)), time=PATIENT, ruleset=short))
    assert not record.verdict.reason.is_forfeit, record.verdict.detail
    assert record.dialects[not is_red] is Dialect.UCC_2012


def test_two_bots_of_2012_play_each_other_and_are_told_when_it_is_over(
    make_bot: Callable[..., BotSpec], play: Play, short: str
) -> None:
    """Each keeps a board of its own by the lines of moves, and would exit with 3 if another was sent."""
    old = load_bot(OLD)
    red, blue = (
        replace(old, name=name, digest=name, command=(*old.command, name), dialect=Dialect.UCC_2012)
        for name in ("17", "18")
    )
    record = trio.run(partial(play, red, blue, time=PATIENT, ruleset=short))
    assert not record.verdict.reason.is_forfeit, record.verdict.detail


def test_a_bot_of_the_arenas_protocol_that_is_spoken_to_in_the_dialect_is_told_so(
    make_bot: Callable[..., BotSpec], play: Play, short: str
) -> None:
    red = replace(make_bot("for line in sys.stdin:\n    print('ready', flush=True)\n"), dialect=Dialect.UCC_2012)
    record = trio.run(partial(play, red, replace(load_bot(OLD), dialect=Dialect.UCC_2012), time=PATIENT, ruleset=short))
    assert (record.verdict.result, record.verdict.reason) == (GameResult.BLUE, Reason.PROTOCOL)
    assert "this is version 1 of the arena's protocol, and the bot was started as one that speaks ucc-2012" in (
        record.verdict.detail
    )


def test_a_bot_of_2012_that_is_greeted_is_told_what_to_write(
    make_bot: Callable[..., BotSpec], play: Play, short: str
) -> None:
    red = make_bot("input()\nprint('8BFB8s8BB8', flush=True)\nfor line in sys.stdin:\n    pass\n")
    record = trio.run(
        partial(play, red, make_bot("for line in sys.stdin:\n    print('ready', flush=True)\n"), time=PATIENT)
    )
    assert record.verdict.reason is Reason.PROTOCOL
    assert "or is named ucc:PATH" in record.verdict.detail
