"""Toolchains under a home folder: builds and runs see what the host's shims lead to, and nothing else of that folder.

The managers are scripts that answer `which` as the real ones do; real toolchains are in `test_new.py`.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import trio
from made_files import put
from sandboxes import in_bwrap

from arena.bots.build import build_all
from arena.bots.build_files import BuildLimits
from arena.bots.limits import Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.bots.starting import Sandbox
from arena.errors import UsageError
from arena.sandbox import bwrap
from arena.sandbox.launch import SandboxError
from arena.sandbox.levels import Level
from arena.sandbox.mounts import mounts_of
from arena.sandbox.programs import HostPrograms
from arena.sandbox.runtimes import find_program, find_tools

PATIENCE = 120.0
LAYOUTS = {
    "pyenv": (".pyenv/shims/tool", "", ".pyenv/bin/pyenv"),
    "asdf on the PATH": (".asdf/shims/tool", "", ".local/bin/asdf"),
    "rustup": (".cargo/bin/tool", "rustup", ".cargo/bin/rustup"),
    "volta": (".volta/bin/tool", "volta-shim", ".volta/bin/volta"),
    "mise": ("share/mise/shims/tool", "../../../.local/bin/mise", ".local/bin/mise"),
}
"""For each manager, where its shim is, what the shim is a link to (a script, if empty), and where the manager is."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder with a secret in each place where users have some."""
    with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        monkeypatch.setenv("HOME", str(path))
        for secret in (".ssh/id", ".cargo/credentials.toml", ".config/token", ".rustup/secret"):
            put(path / secret, "secret\n", 0o644)
        yield path


def toolchain(home: Path, name: str = "tool") -> Path:
    """A toolchain with a program that says where it is and what it sees of the home folder."""
    return put(
        home / f"versions/1.2/bin/{name}",
        f"#!/bin/sh\necho {name} of 1.2 \"$@\"; cat $0.data; find {home} -name secret -o -name id -o -name '*token*'\n",
        0o755,
    ).parent.parent


def manager(home: Path, layout: str, monkeypatch: pytest.MonkeyPatch, name: str = "tool") -> Path:
    """A manager laid out so, first on the PATH, whose shim runs the program of the toolchain; the shim."""
    shim, link, program = (home / part if part else None for part in LAYOUTS[layout])
    assert shim
    assert program
    shim = shim.with_name(name)
    put(toolchain(home, name) / "bin" / f"{name}.data", "data\n", 0o644)
    put(
        program,
        f'#!/bin/sh\n[ -e version ] && exec cat version\necho asked "$@" >>{home}/asked\n'
        f'[ "$1" = which ] && [ "$2" = {name} ] && echo {home}/versions/1.2/bin/{name}\n',
    )
    shim.parent.mkdir(parents=True, exist_ok=True)
    if link is None:
        put(shim, f'#!/bin/sh\nexec {program} exec {name} "$@"\n')
    else:
        shim.symlink_to(LAYOUTS[layout][1])
        if not link.exists() and not (shim.parent / LAYOUTS[layout][1]).exists():
            put(shim.parent / LAYOUTS[layout][1], "#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("PATH", os.pathsep.join([str(shim.parent), str(home / ".local/bin"), "/usr/bin", "/bin"]))
    return shim


def bot_folder(path: Path, command: str, build: str = "true") -> BotSpec:
    put(path / "bot.toml", f"command = {command}\nbuild = '''{build}'''\n", 0o644)
    return load_bot(path)


def built(bot: BotSpec, named: Sequence[Path] = ()) -> BotSpec:
    host = HostPrograms([str(path) for path in named], [bot])
    (made,) = build_all([bot], Level.BWRAP, BuildLimits(), host, lambda _: None)
    assert made.fault is None, made.fault
    return made


def output(bot: BotSpec, named: Sequence[Path] = ()) -> str:
    """What the bot prints in its sandbox, after the trial of what runs it."""
    names = [str(path) for path in named]
    trio.run(Sandbox(Level.BWRAP, [bot], Limits(), {}, names).try_out)
    line = bwrap.command(mounts_of(bot, host=HostPrograms(names, [bot])), Limits(), bwrap.spare_user())
    done = subprocess.run(bwrap.through_shell(line), capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout + done.stderr


@in_bwrap
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_bot_is_run_by_what_a_shim_leads_to(layout: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager(home, layout, monkeypatch)
    assert output(bot_folder(home / "bots/A", '["tool", "x"]')) == "tool of 1.2 x\ndata\n"


@in_bwrap
@pytest.mark.parametrize("layout", ["pyenv", "rustup"])
def test_a_build_uses_what_a_shim_leads_to(layout: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager(home, layout, monkeypatch)
    bot = bot_folder(home / "bots/A", '["/bin/sh", "-c", "cat made"]', "tool x >made")
    assert output(built(bot)) == "tool of 1.2 x\ndata\n"


@in_bwrap
def test_a_shim_that_the_host_names_works_for_builds_and_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = manager(home, "rustup", monkeypatch)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bot = bot_folder(home / "bots/A", '["tool"]', "tool >made")
    assert output(built(bot, [shim]), [shim]) == "tool of 1.2\ndata\n"
    assert (home / "bots/A/made").read_text() == "tool of 1.2\ndata\n"
    (trial,) = find_program(bot, HostPrograms([str(shim)], [bot])).trials
    assert trial.is_control, "the host has named it, and answers for it"


@pytest.mark.parametrize(
    ("on_path", "prefix"),
    [
        (".sdkman/candidates/java/current/bin", ".sdkman/candidates/java/21"),
        ("sdk/go1.22/bin", "sdk/go1.22"),
    ],
)
def test_of_a_manager_without_shims_the_prefix_on_the_path_is_shown(
    on_path: str, prefix: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / prefix / "bin/tool", "#!/bin/sh\n")
    if on_path != f"{prefix}/bin":
        (home / on_path).parent.symlink_to(Path(prefix).name)
    monkeypatch.setenv("PATH", f"{home / on_path}:/usr/bin:/bin")
    bot = bot_folder(home / "bots/A", '["tool"]', "tool")
    host = HostPrograms((), [bot])
    assert find_program(bot, host).folders == (home / prefix,)
    tools = find_tools(bot, host)
    assert home / prefix in tools.folders
    assert home / prefix / "bin" in tools.path


# --- what is not shown, and not run -----------------------------------------------------------------------------------


def test_a_manager_is_asked_where_no_bots_file_names_a_version(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager(home, "pyenv", monkeypatch)
    bot = bot_folder(home / "bots/A", '["tool"]')
    put(bot.folder / "version", str(put(bot.folder / "evil", "#!/bin/sh\n")))
    monkeypatch.chdir(bot.folder)
    assert find_program(bot, HostPrograms((), [bot])).command[-1] == str(home / "versions/1.2/bin/tool")


def test_a_manager_among_a_bots_files_is_not_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = manager(home, "pyenv", monkeypatch)
    program = home / ".pyenv/bin/pyenv"
    rival = bot_folder(home / "bots/B", '["./pyenv"]')
    program.rename(rival.folder / "pyenv")
    program.symlink_to(rival.folder / "pyenv")
    bot = bot_folder(home / "bots/A", '["tool"]', "tool")
    host = HostPrograms((), [bot, rival])
    with pytest.raises(UsageError, match=f"{shim} is a shim: {program} leads into the files of a bot, {rival.path}"):
        find_program(bot, host)
    assert home / "versions/1.2" not in find_tools(bot, host).folders
    assert not (home / "asked").exists()


def test_a_manager_that_has_no_such_program_breaks_the_bot_that_has_chosen_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = manager(home, "pyenv", monkeypatch)
    put(home / ".pyenv/bin/pyenv", "#!/bin/sh\necho tool: command not found >&2\nexit 127\n")
    bot = bot_folder(home / "bots/A", '["tool"]')
    with pytest.raises(UsageError, match="pyenv which tool: tool: command not found"):
        find_program(bot, HostPrograms((), [bot]))
    with pytest.raises(SandboxError, match=f"--interpreter {shim}: .*tool: command not found"):
        find_tools(bot, HostPrograms([str(shim)], [bot]))


def test_a_tool_of_the_path_is_not_shown_with_bots_or_a_home_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / "work/bin/tool", "#!/bin/sh\n")
    put(home / "bin/other", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{home}/work/bin:{home}/bin:/usr/bin:/bin")
    bot = bot_folder(home / "work/bots/A", '["./run"]', "tool; other")
    tools = find_tools(bot, HostPrograms((), [bot]))
    assert not {home, home / "work"} & {*tools.folders}
    assert not {home / "work/bin", home / "bin"} & {*tools.path}
