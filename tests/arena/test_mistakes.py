"""Each mistake that authors make gets a hint of its own from `arena check`, in words of their language.

The bots are in `tests/mistakes/mistakes.toml`. A toolchain that is not there is a skip that says so.
"""

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from faq import is_quoted

from arena.bots.sandbox.levels import Level
from arena.check.service import CheckOptions, check_bot
from arena.check.situations import Extent
from arena.errors import UsageError
from arena.league.options import PlayOptions

TABLE = tomllib.loads((Path(__file__).parent.parent / "mistakes" / "mistakes.toml").read_text())
UNHURRIED: dict[str, Any] = {"start_time": "30s", "setup_time": "20s", "time": "20s"}
STARTS_WITHIN = {"python": "1500ms", "java": "4s", "node": "3s"}
"""What a bot in a language may take to start where it is to overrun that; others have a second. A busy machine must not
make it late: it would be told that it is slow."""
COMPILED = {
    "c": ("gcc", "bot.c", "gcc -g -o bot bot.c"),
    "cpp": ("g++", "bot.cpp", "g++ -o bot bot.cpp"),
    "rust": ("rustc", "bot.rs", "rustc -g -o bot bot.rs"),
    "go": ("go", "bot.go", "go build -o bot bot.go"),
    "java": ("javac", "Bot.java", "javac Bot.java"),
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


@pytest.mark.parametrize("row", TABLE["bot"], ids=lambda row: row["name"].replace(" ", "-"))
def test_a_mistake_gets_its_own_hint(row: dict[str, Any], tmp_path: Path) -> None:
    level = row.get("level", "default")
    if why := Level(level).why_not():
        pytest.skip(why)
    path = made(row, tmp_path)
    times = dict(UNHURRIED)
    if row.get("hurried") and row["situation"] == "start":
        times["start_time"] = STARTS_WITHIN.get(row.get("language", "python"), "1s")
    elif row.get("hurried"):
        times["time"] = "400ms"
    options = PlayOptions(sandbox=level, memory=row.get("memory", "1G"), **times)
    only = frozenset({"start", row.get("situation", "start")} - {"files"})
    asked = CheckOptions(options, ("isf",), Extent.QUICK, only)
    if "refused" in row:
        with pytest.raises(UsageError, match=row["refused"]) as refused:
            check_bot(str(path), asked, lambda _: None, lambda *_: None)
        assert is_quoted(row["name"], str(refused.value)), f"docs/faq.md quotes other words than: {refused.value}"
        return
    checked = check_bot(str(path), asked, lambda _: None, lambda *_: None)
    wrong = next(outcome for outcome in checked.outcomes if outcome.failure is not None)
    assert wrong.failure is not None
    told = f"{wrong.situation.key}: {wrong.failure.mistake}: {wrong.failure.words}: {wrong.failure.hint}"
    assert (wrong.situation.key, wrong.failure.mistake) == (row["situation"], row["mistake"]), told
    assert row["words"] in wrong.failure.hint, told
    assert is_quoted(row["name"], wrong.failure.words, f"hint: {wrong.failure.hint}"), f"not as in docs/faq.md: {told}"
