"""Each mistake that authors make gets a hint of its own from `arena check`, in words of their language.

The bots are in `tests/mistakes/mistakes.toml`. A toolchain that is not there is a skip that says so.

Whose time is to be up has as much of it as all others, for no short time would be enough on every machine to come to
where it goes wrong. Its time is declared to be up once it has: when it does nothing any more, or has worked for long.
"""

import math
import shutil
import subprocess
import tomllib
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
import trio
from faq import is_quoted

from arena.check.service import CheckOptions, check_bot
from arena.check.situations import Extent
from arena.check.talk import Talk
from arena.game.hints import Activity
from arena.game.referee import Referee
from arena.league.league_options import PlayOptions
from arena.sandbox.levels import Level
from protocol.notation import Color

TABLE = tomllib.loads((Path(__file__).parent.parent / "mistakes" / "mistakes.toml").read_text())
UNHURRIED: dict[str, Any] = {"start_time": "10m", "setup_time": "10m", "time": "10m"}
LOOK_SECONDS = 0.01
STILL_LOOKS = 10
"""Looks in a row that must find a bot without anything to do."""
LONG_US = {"python": 500_000, "java": 1_000_000}
"""Microseconds of processor time after which a bot has worked for long, in the languages of those that do: more than it
takes to start."""
LISTEN = Talk._listen
COMPILED = {
    "c": ("gcc", "bot.c", "gcc -g -o bot bot.c"),
    "rust": ("rustc", "bot.rs", "rustc -g -o bot bot.rs"),
    "go": ("go", "bot.go", "go build -o bot bot.go"),
    "java": ("javac", "Bot.java", "javac -J-XX:TieredStopAtLevel=1 Bot.java"),
}


def made(row: dict[str, Any], folder: Path) -> Path:
    """The bot of a row, ready to be run; skips if its toolchain is not here."""
    language = row.get("language", "python")
    folder = folder / "mistaken"
    folder.mkdir()
    text = row["program"].removeprefix("\n").replace("PLAY", TABLE["play"])
    if language in COMPILED:
        tool, name, command = COMPILED[language]
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} here")
        (folder / name).write_text(text)
        subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
        start = '["java", "-Xshare:auto", "-cp", ".", "Bot"]' if language == "java" else '["./bot"]'
    elif language == "python":
        (folder / "bot.py").write_text(text)
        start = '["python3", "bot.py"]'
    elif language == "node":
        if shutil.which("node") is None:
            pytest.skip("there is no node here")
        (folder / "bot.js").write_text(text)
        start = '["node", "bot.js"]'
    else:
        program = folder / "bot.sh"
        program.write_bytes(text.encode())
        program.chmod(0o755)
        start = '["./bot.sh"]'
    (folder / "bot.toml").write_text(f"command = {start}\n")
    return folder


async def listen_until_it_stands_still(
    talk: Talk, referee: Referee, color: Color, until: float, *, long_us: float
) -> None:
    """What `Talk._listen` does, which it takes the place of; but the bot's time is up when it has gone wrong."""
    before = talk.process.cpu_us()

    async def declare(scope: trio.CancelScope) -> None:
        still = 0
        while still < STILL_LOOKS and talk.process.cpu_us() - before < long_us:
            still = 0 if talk.process.has_unread() or talk.process.activity() is Activity.RUNS else still + 1
            await trio.sleep(LOOK_SECONDS)
        referee.seats[color].deadline = trio.current_time()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(declare, nursery.cancel_scope)
        await LISTEN(talk, referee, color, until)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("row", TABLE["bot"], ids=lambda row: row["name"].replace(" ", "-"))
def test_a_mistake_gets_its_own_hint(row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    level = row.get("level", "basic")
    if why := Level(level).why_not():
        pytest.skip(why)
    path = made(row, tmp_path)
    if row.get("hurried"):
        long_us = LONG_US.get(row.get("language", "python"), math.inf)
        monkeypatch.setattr(Talk, "_listen", partialmethod(listen_until_it_stands_still, long_us=long_us))
    times = UNHURRIED | ({"start_time": row["start"]} if "start" in row else {})
    options = PlayOptions(sandbox=level, memory=row.get("memory", "1G"), **times)
    only = frozenset({"start", row.get("situation", "start")} - {"files"})
    asked = CheckOptions(options, ("isf",), Extent.QUICK, only)
    if "refused" in row:
        failure = check_bot(str(path), asked, lambda _: None, lambda *_: None).outcomes[0].failure
        assert failure is not None
        assert row["refused"] in failure.words
        assert is_quoted(row["name"], failure.words), f"docs/faq.md quotes other words than: {failure.words}"
        return
    checked = check_bot(str(path), asked, lambda _: None, lambda *_: None)
    wrong = next(outcome for outcome in checked.outcomes if outcome.failure is not None)
    assert wrong.failure is not None
    told = f"{wrong.situation.key}: {wrong.failure.mistake}: {wrong.failure.words}: {wrong.failure.hint}"
    assert (wrong.situation.key, wrong.failure.mistake) == (row["situation"], row["mistake"]), told
    assert row["words"] in wrong.failure.hint, told
    assert is_quoted(row["name"], wrong.failure.words, f"hint: {wrong.failure.hint}"), f"not as in docs/faq.md: {told}"
