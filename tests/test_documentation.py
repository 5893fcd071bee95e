"""What the documentation shows works: its programs play, its commands run, its options are those of the commands.

Shell blocks are run as they stand, page by page and in the order of the text, in a folder with what a reader would have
by then: the bots, a bot of their own, the stores that earlier commands made. A command that stands on several pages is
run once. Only the numbers of games, of a check's situations and of a cluster's workers are cut, the bots in the folder
`bots` resign after some turns, and a margin forgives whatever a busy machine does to a bot: what a game comes to must
not depend on it. `docs/protocol.md` and the pages on rules have tests of their own.
"""

import glob
import os
import re
import runpy
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import commands
import pytest
import trio
from bot_games import play
from click.testing import CliRunner
from commands import PLAYS, UNHURRIED
from compiled_kernel import compile_kernel
from kit_bots import bot_class, play_kit_bots
from made_bots import SHORT_GAMES
from played_here import games_played_here
from served_command import visit

import arena
from arena import pytest_plugin
from arena.api.self_play import options_parser
from arena.bots.languages import LANGUAGES, find_language
from arena.bots.limits_file import load_own
from arena.bots.loading import load_bot
from arena.bots.manifest import Manifest
from arena.bots.new import write_bot
from arena.cli.main import cli
from arena.stratego.rules.rulesets import load_ruleset
from protocol.game_bot import PLAY_ITSELF

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN_TESTS = {
    "docs/protocol.md": "tests/protocol/test_docs.py",
    "docs/configuration.md": "tests/arena/test_config.py",
    "docs/faq.md": "tests/test_faq.py",
    "docs/first-league.md": "tests/test_tutorial.py",
    "docs/learning.md": "tests/arena/learn/test_train_example.py",
    "docs/learning-reference.md": "tests/arena/learn/test_learning_reference.py",
    "docs/pytest.md": "tests/arena/test_pytest_plugin.py",
}
"""Pages whose blocks are of kinds of their own, and where they are tested."""
SETS_UP = "-m venv"
"""What is in the commands that set up an environment: they are run by `.ci/run`, which has the network for it."""
BENCHMARK = "python benchmarks/"
"""What begins the commands that benchmarks/test_benchmarks.py runs with smaller numbers."""
WITH_OUTPUT = re.compile(r"^```sh\n(.*)\n```\n\n```text$", re.MULTILINE)
"""A command and the output that a page shows of it: tests/test_tutorial.py runs those of the tutorial."""
NEEDS_SHELL = re.compile(r"[|&;<>$`]|--cluster")
BY_SHELL = ("play", "doctor", "completion")
"""Commands that need a terminal, signals or the shell; others run in this process."""
MOST_GAMES = {"--rounds": 1, "--games": 2}
BOTS = ("drifter", "raider", "warden")
PLIES = 120
VARIANTS = (
    "isf+diagonal-spy",
    "vintage/lightning+mobile-bombs+mobile-flag+rescue+silent-defence",
    "jumbo-81320/infiltrator+rescue+exploding-bombs",
)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page: what kind it says it is, and its text."""

    page: str
    kind: str
    body: str


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for kind, body in re.findall(r"^```(.*)\n((?:.*\n)*?)^```$", text, re.MULTILINE):
        yield Block(name, kind, body)


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def blocks(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind and block.page not in OWN_TESTS]


def test_every_block_is_of_a_kind_that_is_run_somewhere() -> None:
    kinds = {block.kind for block in BLOCKS if block.page not in OWN_TESTS}
    of_the_site = {kind for kind in kinds if kind.startswith("{")}  # tests/test_site.py
    assert kinds - of_the_site <= {"sh", "python", "perl", "toml", "text", "yaml"}
    for test in OWN_TESTS.values():
        assert (ROOT / test).exists()


# --- programs ---------------------------------------------------------------------------------------------------------

USES_THE_KIT = "from protocol.bot import"
PYTHON_BLOCKS = [block for block in blocks("python") if USES_THE_KIT in block.body]


@pytest.mark.parametrize("number", range(len(PYTHON_BLOCKS)))
@pytest.mark.parametrize("variant", VARIANTS)
def test_each_bot_in_python_plays_legally_under_every_kind_of_rules(number: int, variant: str, tmp_path: Path) -> None:
    path = tmp_path / "shown.py"
    path.write_text(PYTHON_BLOCKS[number].body.replace("\nrun(Mine)\n", "\n"), encoding="utf-8")
    shown, drifter = bot_class(path), bot_class(ROOT / "bots" / "drifter.py")
    for seed, sides in enumerate(((shown, drifter), (drifter, shown))):
        referee = play_kit_bots(variant, *sides, seed=seed, plies=PLIES)
        assert referee.verdict
        assert not referee.verdict.reason.is_forfeit, referee.verdict


@pytest.mark.skipif(shutil.which("perl") is None, reason="needs perl (Debian: perl)")
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_bot_in_perl_plays_legally_under_every_kind_of_rules(variant: str, tmp_path: Path) -> None:
    (block,) = blocks("perl")
    path = tmp_path / "hunter.pl"
    path.write_text(block.body, encoding="utf-8")
    path.chmod(0o755)
    drifter = load_bot(ROOT / "bots" / "drifter.py")
    record = trio.run(partial(play, load_bot(path), drifter, ruleset=variant))
    assert not record.verdict.reason.is_forfeit, record.verdict


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: f"{block.page}: {block.body.splitlines()[0][:30]}")
def test_each_example_of_a_file_is_one(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(block.body, encoding="utf-8")
    content = tomllib.loads(block.body)
    if "command" in content:
        assert set(content) <= set(Manifest.__struct_fields__)
    elif "extends" in content:
        load_ruleset(str(path))
    elif "bots" in content:
        (tmp_path / "entries" / "ann").mkdir(parents=True)
        shown = CliRunner().invoke(cli, ["league", "--config", str(path), "--show-config"])
        assert shown.exit_code == 0, shown.output
    else:
        assert load_own(path, list(content))


# --- commands ---------------------------------------------------------------------------------------------------------


def commands_of(page: str) -> list[str]:
    """The commands that a page shows, without their comments."""
    lines = [line for block in blocks("sh") if block.page == page for line in block.body.splitlines()]
    lines = [re.sub(r"\s+#.*", "", line).strip() for line in lines]
    return [line for line in lines if line and not line.startswith("#")]


def run_here(page: str) -> list[str]:
    elsewhere = WITH_OUTPUT.findall((ROOT / page).read_text(encoding="utf-8")) if page == "docs/tutorial.md" else []
    return [
        command
        for command in commands_of(page)
        if command not in elsewhere and SETS_UP not in command and not command.startswith(BENCHMARK)
    ]


COMMAND_PAGES = sorted(page for page in {block.page for block in blocks("sh")} if run_here(page))

ARENA = """#!{python}
import sys
from arena.cli.main import main
most = {most}
for at, option in enumerate(sys.argv[:-1]):
    if option in most:
        sys.argv[at + 1] = str(min(int(sys.argv[at + 1]), most[option]))
if "--cluster" in sys.argv:
    sys.argv = ["local:1" if word.startswith("local:") else word for word in sys.argv] + ["-j", "1"]
if sys.argv[1] in {plays}:
    sys.argv += {unhurried}
if sys.argv[1:2] == ["serve"]:
    sys.argv += ["--listen", "127.0.0.1:0"]  # other tests may be at the usual port
if __name__ == "__main__":  # processes of a cluster import this file
    main()
"""


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a reader of the documentation has after the README's first command."""
    folder = tmp_path_factory.mktemp("desk")
    folder.chmod(0o755)
    for name in ("bots", "bin", "docs"):
        (folder / name).mkdir(parents=True)
    for name in BOTS:
        (folder / "bots" / f"{name}.py").write_text(f"{SHORT_GAMES}# {name}\n", encoding="utf-8")
        (folder / "bots" / f"{name}.py").chmod(0o755)
    first = PYTHON_BLOCKS[0].body
    for name in ("mine.py", "mine-old.py", "mybot"):
        (folder / name).write_text(first, encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in ("tables.py", "bots.md"):  # the one writes into the other
        shutil.copy(ROOT / "docs" / name, folder / "docs")
    for block in blocks("toml"):
        if "extends" in block.body:
            (folder / "village.toml").write_text(block.body, encoding="utf-8")
    arena = folder / "bin" / "arena"
    arena.write_text(ARENA.format(python=sys.executable, most=MOST_GAMES, plays=PLAYS, unhurried=UNHURRIED))
    arena.chmod(0o755)
    main = commands_of("README.md")[0]
    assert SETS_UP in main
    first = main.rpartition(" && ")[2].replace(".venv/bin/", "")
    done = commands.invoke(folder, *arguments_of(first, folder), "--rounds", "3")  # a page shows game 17
    assert done.returncode == 0, done.stderr
    return folder


def path_of(desk: Path) -> str:
    return os.pathsep.join([str(desk / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


have_run: set[str] = set()
"""The commands that were run on the desk of this session."""


def assert_runs(command: str, desk: Path) -> None:
    """Run a command as a reader would type it, unless it was run before."""
    if command in have_run:
        return
    have_run.add(command)
    path = path_of(desk)
    if command.startswith("arena serve "):
        code, said = visit(command, desk, {**os.environ, "PATH": path, "COLUMNS": "80"})
        assert code == 0, f"{command}\n{said}"
        return
    if command.startswith("arena ") and not NEEDS_SHELL.search(command) and command.split()[1] not in BY_SHELL:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", path)
            patch.setenv("COLUMNS", "80")
            done = commands.invoke(desk, *arguments_of(command, desk))
    else:
        done = commands.run_program(["/bin/sh", "-c", command], desk, PATH=path, COLUMNS="80")
    answers = {0, 1} if command.startswith("arena compare ") else {0}  # which of two bots is better
    assert done.returncode in answers, f"{command}\n{done.stdout}\n{done.stderr}"


def arguments_of(command: str, desk: Path) -> list[str]:
    """The words after `arena` as a shell would give them, with fewer games and fewer situations of a check."""
    words = [found for word in shlex.split(command)[1:] for found in sorted(glob.glob(word, root_dir=desk)) or [word]]
    for at, option in enumerate(words[:-1]):
        if option in MOST_GAMES:
            words[at + 1] = str(min(int(words[at + 1]), MOST_GAMES[option]))
    if words[0] == "check" and not {"--quick", "--replay"} & set(words):
        words.append("--quick")
    return words


@pytest.mark.parametrize("page", COMMAND_PAGES)
def test_each_command_runs_as_it_stands(page: str, desk: Path) -> None:
    for command in run_here(page):
        if "hunter" in command and shutil.which("cargo") is None:
            continue
        assert_runs(command, desk)


def test_what_a_workflow_runs_of_the_arena_is_run_on_its_page_too() -> None:
    (workflow,) = blocks("yaml")
    runs = re.findall(r"- run: (arena .*)", workflow.body)
    assert runs
    assert set(runs) <= set(commands_of(workflow.page))


PROGRAMS = {
    page: "\n".join(block.body for block in blocks("python") if block.page == page and block not in PYTHON_BLOCKS)
    for page in dict.fromkeys(block.page for block in blocks("python") if block not in PYTHON_BLOCKS)
}


@pytest.mark.parametrize("page", PROGRAMS)
def test_what_a_page_shows_of_the_library_runs_as_one_program(
    page: str, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "arena.learn" in PROGRAMS[page]:
        pytest.importorskip("numba", reason="needs numba (pip install '.[learn]')")
        compile_kernel()
    (desk / "shown.py").write_text(PROGRAMS[page], encoding="utf-8")
    monkeypatch.setenv("PATH", path_of(desk))
    monkeypatch.chdir(desk)
    with open(os.devnull) as nothing, games_played_here():
        monkeypatch.setattr(sys, "stdin", nothing)  # a bot hears no arena, and ends
        runpy.run_path("shown.py")


def test_the_manifest_that_the_tutorial_shows_is_the_one_that_it_has_written(tmp_path: Path) -> None:
    write_bot(tmp_path / "hunter", find_language("rust"))
    manifest = (tmp_path / "hunter" / "bot.toml").read_text(encoding="utf-8")
    assert manifest in [block.body for block in blocks("toml") if block.page == "docs/tutorial.md"]


def test_the_page_on_the_command_line_has_every_language_with_what_it_needs() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `([\w+-]+)`[^|]*\| `(\S+)` \| (.*?) \| `(.*)` \|$", text, re.MULTILINE)
    rows = {row[0]: row for row in found}
    for language in LANGUAGES:
        _, source, needs, test = rows[language.name]
        assert (source, test) == (language.source, language.test)
        assert all(tool.packages in needs for tool in language.tools)


def test_every_name_of_the_library_is_in_the_page_on_it() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert set(arena.__all__) - {"__version__"} <= set(re.findall(r"\barena\.(\w+)", text))


def test_what_sets_up_an_environment_is_run_by_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    marks = re.findall(r"<!-- ([\w-]+-command) -->\n```sh\n(.*)\n```", text)
    assert [SETS_UP in command for _, command in marks] == [True, True]
    for mark, _ in marks:
        assert mark in script
    assert "`uv venv[^`]*`" in script
    assert len(re.findall(r"`uv venv[^`]*`", text)) == 2


PYTEST_OPTIONS = {f"--arena-{name}" for name in pytest_plugin.OPTIONS}

# --- tests and benchmarks that pages name ----------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_test_and_benchmark_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"\b(?:tests|benchmarks)/[\w/.]*\w", page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


# --- options ----------------------------------------------------------------------------------------------------------

OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


def options_of(command: click.Command) -> set[str]:
    """Every way to write every option of a command."""
    return {
        word
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for word in (*parameter.opts, *parameter.secondary_opts)
    }


KIT_OPTIONS = {PLAY_ITSELF, *(word for action in options_parser()._actions for word in action.option_strings)}
"""Those of a bot that is written with the kit."""


def all_options() -> set[str]:
    helps = {"-h", "--help", "--help-all"}
    found = list(cli.all_commands().values())
    found += [each for command in found if isinstance(command, click.Group) for each in command.commands.values()]
    return set().union(options_of(cli), *(options_of(command) for command in found), helps)


@pytest.mark.parametrize("name", sorted(cli.all_commands()))
def test_every_command_has_a_section_with_an_example(name: str) -> None:
    """Options are on the page that is made from the commands: see tests/test_site.py."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = re.search(rf"^## arena {name}\b.*\n((?:(?!## ).*\n)*)", text, re.MULTILINE)
    assert section
    assert f"arena {name}" in section[1]


def test_the_cheat_sheet_has_every_command() -> None:
    text = (ROOT / "docs" / "cheatsheet.md").read_text(encoding="utf-8")
    assert set(cli.all_commands()) <= set(re.findall(r"\barena ([\w-]+)", text))


def test_the_options_of_the_command_itself_are_there_too() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert {*options_of(cli), "--help"} <= set(OPTION.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_names_an_option_that_is_not_there(page: Path) -> None:
    spans = re.findall(r"`((?:arena |--)[^`\n]*)`", page.read_text(encoding="utf-8"))
    spans += [command for command in commands_of(page.relative_to(ROOT).as_posix()) if command.startswith("arena ")]
    spans = [re.sub(r"\$\([^)]*\)", "", span) for span in spans]  # what is asked of another program
    assert {option for span in spans for option in OPTION.findall(span)} <= all_options() | PYTEST_OPTIONS | KIT_OPTIONS
