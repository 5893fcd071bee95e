"""What the tutorials show of a command's output is what the command prints: the same words and results, times aside."""

import os
import re
import sys
from pathlib import Path

import pytest
from commands import UNHURRIED, run_program

DOCS = Path(__file__).parent.parent / "docs"
FIRST, SECOND = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text(encoding="utf-8"), re.DOTALL)
SHOWN = re.compile(r"```sh\n((?:[^`\n]*\n)*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
"""The commands of a block, and the output that is shown of them, if any."""
VARIES = re.compile(r"\[[\d.]+ ms, [^\]]*CPU [\d.]+\]|\d{4}-\d\d-\d\dT[\d:]+Z|\d+\.\d+")
"""Times, and what else has a decimal point. Whole numbers have to be those of the page."""
ARENA = """#!{python}
import sys
from arena.cli.entry import main
if sys.argv[1] == "check":
    sys.argv += {unhurried}
if __name__ == "__main__":  # the processes that write pages import this file
    main()
"""
"""What a match is played with is part of its seed: there the time of the page, which is five seconds, has to do."""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the first bot of the tutorial, and `arena`."""
    bot = tmp_path / "mine.py"
    bot.write_text(FIRST, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    arena = tmp_path / "bin" / "arena"
    arena.write_text(ARENA.format(python=sys.executable, unhurried=UNHURRIED))
    arena.chmod(0o755)
    return tmp_path


def comparable(text: str) -> list[str]:
    """The lines of an output with what varies left out, and with single spaces, as columns depend on that."""
    return [" ".join(VARIES.sub("...", line).split()) for line in text.splitlines()]


@pytest.mark.parametrize("page", ["tutorial.md", "first-league.md"])
def test_every_output_of_a_tutorial_is_that_of_its_command(page: str, desk: Path) -> None:
    """Commands of the longer tutorial whose output is not shown are run by tests/test_documentation.py."""
    path = os.pathsep.join([str(desk / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    commands = SHOWN.findall((DOCS / page).read_text(encoding="utf-8"))
    assert len([shown for _, shown in commands if shown]) >= 3
    for command, shown in commands:
        if page == "tutorial.md" and not shown:
            continue
        if command.startswith("arena compare"):
            (desk / "mine.py").write_text(SECOND, encoding="utf-8")
            assert "mine is better than drifter" in shown
        done = run_program(["/bin/sh", "-e", "-c", command], desk, PATH=path, COLUMNS="80")
        assert done.returncode == 0, done.stderr
        assert not shown or comparable(done.stdout) == comparable(shown), command
