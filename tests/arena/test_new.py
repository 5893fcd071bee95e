"""`arena new`: what it writes is a bot that plays, in every language, and nothing of anybody's is lost to it."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from commands import invoke, run_program
from talking import play, talking

from arena.bots.languages import LANGUAGES, TEST_SCRIPT, Language, find_language
from arena.bots.limits import BuildLimits, Limits
from arena.bots.loading import load_bot
from arena.bots.new import write_bot
from arena.bots.samples import SAMPLES
from arena.bots.spec import BotSpec
from arena.cli import exit_codes
from arena.errors import ArenaError, UsageError
from arena.processes.build import build_all
from arena.sandbox import bwrap
from arena.sandbox.levels import Level
from arena.sandbox.mounts import mounts_of
from arena.sandbox.programs import HostPrograms
from arena.stratego.game import GAME

ROOT = Path(__file__).parent.parent.parent
TEMPLATES = ROOT / "arena" / "templates"
PATIENCE = 120.0
PLIES, MORE_PLIES = 24, 150
RICH = ("vintage/lightning+mobile-bombs+mobile-flag+rescue", "jumbo-81320/infiltrator+rescue")
"""Under these rules a bot meets actions of every form and lists of several lines; that takes some plies."""
languages = pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
C = find_language("c")
Build = Callable[[Language], tuple[BotSpec, HostPrograms]]
AUTHOR = "Jane O'Doe (100% {ASCII} <~>)"


def skip_without_tools(language: Language) -> None:
    for tool in language.tools:
        if tool.is_missing:
            pytest.skip(f"needs {tool.program} (Debian: {tool.packages})")


# --- what is written plays --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built() -> Iterator[Build]:
    """`built(language)`: a new bot, built as the arena builds it, and the programs of the host's.

    It is built once for all tests, which leave it as it is, and in a sandbox where there is one.
    """
    level = Level.BASIC if Level.BWRAP.why_not() else Level.BWRAP
    with tempfile.TemporaryDirectory(prefix="new-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)  # another user builds and plays in the sandbox

        @cache
        def build(language: Language) -> tuple[BotSpec, HostPrograms]:
            folder = Path(name).resolve() / language.folder / "hunter"
            folder.parent.mkdir()
            write_bot(folder, language, AUTHOR)
            bot = load_bot(folder)
            host = HostPrograms((), [bot])
            (made,) = build_all([bot], level, BuildLimits(), host, lambda _: None)
            assert made.fault is None
            assert made.digest == bot.digest  # what is built is no part of what it is
            return made, host

        yield build


@pytest.mark.parametrize("level", [Level.BASIC, Level.BWRAP], ids=lambda level: level.value)
@languages
def test_a_new_bot_plays_legally_under_every_ruleset_and_switch(language: Language, level: Level, built: Build) -> None:
    """Both colours, all games in the same two processes: so none of them may carry anything over to the next."""
    skip_without_tools(language)
    if reason := level.why_not():
        pytest.skip(reason)
    bot, host = built(language)
    if level is Level.BASIC:
        command, environment = [*bot.command], dict(bot.environment)
    else:
        line = bwrap.command(mounts_of(bot, host=host), Limits(), bwrap.spare_user())
        command, environment = [*bwrap.through_shell(line)], {}
    with talking(command, bot.folder, environment) as red, talking(command, bot.folder, environment) as blue:
        short = GAME.tried_variants() if level is Level.BASIC else ("duel",)
        rich = RICH if level is Level.BASIC else ()
        for name, plies in [*((name, PLIES) for name in short), *((name, MORE_PLIES) for name in rich)]:
            referee = play(name, plies, (red, blue))
            assert referee.verdict
            assert not referee.verdict.reason.is_forfeit, (name, referee.verdict)
            assert referee.actions
    for talk in (red, blue):
        assert talk.introduction
        assert (talk.introduction.declared, talk.introduction.author) == ("hunter", AUTHOR)


ROWS = "/".join(["F........."] + [".........."] * 3)
SPECIAL = ("e7?e9B", "d2-d3-e3", "a9-a10+8c2", "a9-b9-b10+Mj1")


@languages
def test_an_action_of_any_form_is_sent_as_it_was_listed(language: Language, folder: Path, built: Build) -> None:
    skip_without_tools(language)
    bot, _ = built(language)
    (folder / "e7xe9B").touch()  # a file that a careless shell takes one of them for
    program = [str(bot.folder / word) if (bot.folder / word).exists() else word for word in bot.command]
    game = ["hello 1 later", "", "# a remark", "game red made later", "verb unknown", "seed 4294967295 later"]
    turns = [line for ply, action in enumerate(SPECIAL) for line in (f"legal {action}", f"turn {ply} 1 1 1 1 later")]
    done = subprocess.run(
        program,
        cwd=folder,
        env=dict(bot.environment),
        input="".join(f"{line}\n" for line in [*game, f"restore {ROWS}", *turns]),  # and then no quit
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.partition("ready\n")[2].splitlines() == [f"move {action}" for action in SPECIAL]


def run_line(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """What an author types there."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return run_program(["sh", "-c", line], folder, PATH=path, PYTHONPATH=str(ROOT))


@languages
def test_the_test_that_a_new_bot_comes_with_passes(language: Language, folder: Path) -> None:
    skip_without_tools(language)
    bot = write_bot(folder / "hunter", language)
    done = run_line(language.test, folder / "hunter")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout + done.stderr  # of compilers
    made = language.makes.strip("/")
    for path in (folder / "hunter").rglob("*"):  # what is new is not for git
        assert path.is_dir() or str(path.relative_to(folder / "hunter")) in bot.files or made in path.parts


def test_what_its_readme_says_to_type_works_where_it_says(folder: Path) -> None:
    skip_without_tools(C)
    write_bot(folder / "hunter", C)
    above, here = re.findall(r"^```sh\n(.*?)^```$", (folder / "hunter/README.md").read_text(), re.MULTILINE | re.DOTALL)
    for block, place in ((above, folder), (here, folder / "hunter")):
        for line in block.splitlines():
            quick = line.replace("match hunter warden", "match hunter warden --rules duel")
            program, *words = shlex.split(quick.replace("check hunter", "check hunter --quick"), comments=True)
            done = invoke(place, *words) if program == "arena" else run_line(line, place)
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["python", "python-plain", "shell"])
def test_it_fails_where_the_bot_is_broken(name: str, folder: Path) -> None:
    """Tried for each test that needs no compiler; the last of them is shared by several languages."""
    language = find_language(name)
    skip_without_tools(language)
    write_bot(folder / "hunter", language)
    source = folder / "hunter" / language.source
    text = source.read_text()
    wrong = re.sub(r"\breturn random_setup\(", "return '2' + random_setup(", text) if name == "python" else ""
    source.write_text(wrong or re.sub(r"\bsetup (?=[{$\"])", "setup 2", text, count=1))
    assert source.read_text() != text
    done = run_line(language.test, folder / "hunter")
    assert done.returncode != 0, done.stdout + done.stderr


@languages
def test_the_files_are_those_of_the_template_with_every_mark_filled_in(language: Language, folder: Path) -> None:
    bot = write_bot(folder / "hunter", language, AUTHOR)
    written = {str(path.relative_to(folder / "hunter")) for path in (folder / "hunter").rglob("*") if path.is_file()}
    assert written == set(bot.files)
    assert {"bot.toml", "README.md", language.source} <= written
    assert (".gitignore" in written) is bool(language.makes)
    for name in written:
        text = (folder / "hunter" / name).read_text()
        assert "{{" not in text.replace("{{}}", "")
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert name == "README.md" or max(map(len, text.splitlines())) <= 120
    assert "hunter" in (folder / "hunter" / "README.md").read_text()
    assert "our bot's thinking goes" in (folder / "hunter" / language.source).read_text()
    assert load_bot(folder / "hunter").name == "hunter"


def test_every_template_belongs_to_a_language_and_what_the_languages_say_is_so() -> None:
    folders = {entry.name for entry in TEMPLATES.iterdir()}
    assert folders == {language.folder for language in LANGUAGES} | {"common", "game"}
    words = [word for language in LANGUAGES for word in (language.name, *language.aliases)]
    assert len(words) == len(set(words))
    for language in LANGUAGES:
        assert find_language(language.name.upper()) is language
        for tool in language.tools:
            assert tool.packages in language.needs
        assert (language.test == TEST_SCRIPT) != any(
            "test" in path.read_text() for path in (TEMPLATES / language.folder).rglob("*") if path.is_file()
        )


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["folder", "link"])
def test_nothing_is_overwritten(there: str, folder: Path) -> None:
    taken = folder / "hunter"
    taken.mkdir() if there == "folder" else taken.symlink_to("nowhere")
    before = [taken.lstat(), list(folder.rglob("*"))]
    with pytest.raises(UsageError, match="hunter: expected a free name"):
        write_bot(taken, C)
    assert [taken.lstat(), list(folder.rglob("*"))] == before


@pytest.mark.parametrize("name", ["été", "x" * 41, ".."])
def test_what_cannot_be_a_name_is_refused_with_what_can(name: str, folder: Path) -> None:
    with pytest.raises(UsageError, match="expected a name for the bot of 1 to 40 ASCII letters") as refusal:
        write_bot(Path(name), C)
    assert str(refusal.value).isprintable()
    assert not list(folder.iterdir())


def test_a_sample_bots_name_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="sample bot"):
        write_bot(folder / SAMPLES[0], C)


@pytest.mark.parametrize("author", ['say "x"', "$HOME", "a\nb"])
def test_an_author_that_could_not_stand_in_a_program_is_refused(author: str, folder: Path) -> None:
    with pytest.raises(UsageError, match="--author: expected at most 100 printable ASCII characters"):
        write_bot(folder / "hunter", C, author)
    assert not list(folder.iterdir())


def test_a_language_without_a_template_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="did you mean python"):
        find_language("pyhton")
    with pytest.raises(UsageError) as refusal:
        find_language("cobol")
    assert all(language.name in str(refusal.value) for language in LANGUAGES)


def test_a_bot_that_cannot_be_written_whole_is_not_left_in_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_text

    def full(path: Path, text: str, **options: str) -> int:
        if path.name == "README.md":
            raise OSError(28, "No space left on device")
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ArenaError, match="hunter: cannot be written: No space left on device"):
        write_bot(folder / "hunter", find_language("rust"))
    assert not list(folder.iterdir())


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_says_what_to_type_next(folder: Path) -> None:
    (folder / "my bots").mkdir()
    done = invoke(folder, "new", "my bots/hunter", "--language", "shell")
    assert (done.returncode, done.stderr) == (exit_codes.DONE, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "arena match 'my bots/hunter' warden" in lines
    assert "arena check 'my bots/hunter'" in lines
    assert "cd 'my bots/hunter' && sh test.sh" in lines
    assert "my bots/hunter/bot.sh" in lines
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_without_a_language_it_is_python_with_the_kit(folder: Path) -> None:
    written = json.loads(invoke(folder, "new", "hunter", "--json").stdout)
    assert (written["language"], written["source"], written["build"]) == ("python", "bot.py", None)
    assert "bot.toml" in written["files"]


def test_a_missing_toolchain_is_said_with_its_package_and_the_files_are_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    done = invoke(folder, "new", "hunter", "--language", "golang", "--json")
    assert done.returncode == exit_codes.DONE
    assert "needs the program go, which is not on the PATH here; on Debian: apt install golang-go" in done.stderr
    assert json.loads(done.stdout)["missing"] == {"go": "golang-go"}
    assert (folder / "hunter" / "bot.go").is_file()
