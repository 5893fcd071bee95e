"""Toolchains in a home folder: builds and runs see what the host's shims and links lead to, and nothing else there.

The managers are scripts that answer `which` as the real ones do; real toolchains are in `test_new.py`.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import trio
from made_files import put
from sandboxes import in_bwrap

from arena.bots.limits import BuildLimits, Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.processes.build import build_all
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox import bwrap
from arena.sandbox.levels import Level
from arena.sandbox.mounts import mounts_of
from arena.sandbox.programs import HostPrograms, find_program

PATIENCE = 120.0
LAYOUTS = {
    "pyenv": (".pyenv/shims/tool", "", ".pyenv/bin/pyenv"),
    "asdf on the PATH": (".asdf/shims/tool", "", ".local/bin/asdf"),
    "rustup": (".cargo/bin/tool", "rustup", ".cargo/bin/rustup"),
    "volta": (".volta/bin/tool", "volta-shim", ".volta/bin/volta"),
    "mise": ("share/mise/shims/tool", "../../../.local/bin/mise", ".local/bin/mise"),
}
"""For each manager, where its shim is, what the shim is a link to (a script, if empty), and where the manager is."""
SAID = "tool of 1.2 x\ndata\n"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder with a secret in each place where users have some."""
    with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        monkeypatch.setenv("HOME", str(path))
        for folder in (".ssh", ".cargo", ".config", ".rustup", ".pyenv", ".asdf", ".volta", ".local", "share/mise"):
            put(path / folder / "secret", "secret\n", 0o644)
        yield path


def toolchain(home: Path, prefix: str = "versions/1.2") -> Path:
    """Install a program that prints where it is and which secrets it can see."""
    put(home / prefix / "bin/tool.data", "data\n", 0o644)
    script = f'#!/bin/sh\necho tool of 1.2 "$@"; cat {home / prefix}/bin/tool.data; find {home} -name secret\n'
    return put(home / prefix / "bin/tool", script)


def manager(home: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a manager, first on the PATH, with a shim for the toolchain's program. Return the shim."""
    place, link, program = LAYOUTS[layout]
    shim, found = home / place, toolchain(home)
    put(
        home / program,
        f'#!/bin/sh\n[ -e version ] && exec cat version\necho asked "$@" >>{home}/asked\n'
        f'[ "$1" = which ] && [ "$2" = tool ] && echo {found}\n',
    )
    if link:
        shim.parent.mkdir(parents=True, exist_ok=True)
        shim.symlink_to(link)
        if not shim.exists():
            put(shim.parent / link, "#!/bin/sh\nexit 1\n")
    else:
        put(shim, f'#!/bin/sh\nexec {home / program} exec tool "$@"\n')
    monkeypatch.setenv("PATH", os.pathsep.join([str(shim.parent), str(home / ".local/bin"), "/usr/bin", "/bin"]))
    return shim


def bot_folder(path: Path, command: str, build: str = "true", **files: str) -> BotSpec:
    put(path / "bot.toml", f"command = {command}\nbuild = '''{build}'''\n", 0o644)
    for name, text in files.items():
        put(path / name, text)
    return load_bot(path)


def built(bot: BotSpec, named: Sequence[Path] = ()) -> BotSpec:
    host = HostPrograms([str(path) for path in named], [bot])
    (made,) = build_all([bot], Level.BWRAP, BuildLimits(), host, lambda _: None)
    assert made.fault is None, made.fault
    return made


def output(bot: BotSpec, named: Sequence[Path] = ()) -> str:
    """Return what the bot prints in its sandbox, after the trial of the host's programs."""
    names = [str(path) for path in named]
    trio.run(Sandbox(PlaySettings([bot], Level.BWRAP, interpreters=names)).try_out)
    line = bwrap.command(mounts_of(bot, host=HostPrograms(names, [bot])), Limits(), bwrap.spare_user())
    done = subprocess.run(bwrap.through_shell(line), capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout + done.stderr


@in_bwrap
@pytest.mark.parametrize("layout", LAYOUTS)
def test_runs_and_builds_use_what_a_shim_leads_to(layout: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = manager(home, layout, monkeypatch)
    bot = built(bot_folder(home / "bots/A", '["tool", "x"]', "tool x >made"))
    assert (home / "bots/A/made").read_text() == output(bot) == SAID
    for line in ("/usr/bin/env tool", shim):
        assert output(bot_folder(home / "bots/B", '["./run"]', run=f"#!{line}\n")) == SAID.replace("x", "/bot/run")


@in_bwrap
def test_a_shim_that_the_host_names_works_for_builds_and_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = manager(home, "rustup", monkeypatch)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bot = bot_folder(home / "bots/A", '["tool", "x"]', "tool x >made")
    with pytest.raises(UsageError, match="there is no program 'tool' on the PATH"):
        find_program(bot, HostPrograms((), [bot]))
    assert output(built(bot, [shim]), [shim]) == (home / "bots/A/made").read_text() == SAID


@in_bwrap
@pytest.mark.parametrize(
    ("prefix", "on_path", "mark"),
    [
        (".nvm/versions/node/v20", ".nvm/versions/node/v20/bin", ""),
        (".sdkman/candidates/java/21", ".sdkman/candidates/java/current/bin", ""),
        ("sdk/go1.22", "sdk/go1.22/bin", ""),
        ("go", "go/bin", "pkg/tool/x"),
        ("jdk-21", "jdk-21/bin", "jmods/x"),
        ("miniconda3", "miniconda3/bin", "conda-meta/x"),
        ("miniconda3/envs/e", "miniconda3/envs/e/bin", ""),
        (".local/share/uv/python/3.12", ".local/bin", ""),
        (".opam/default", ".local/bin", ""),
    ],
)
def test_without_shims_the_installation_on_the_path_is_shown(
    prefix: str, on_path: str, mark: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain(home, prefix)
    if mark:
        put(home / prefix / mark)
    if on_path == ".local/bin":
        (home / on_path).mkdir()
        (home / on_path / "tool").symlink_to(f"../../{prefix}/bin/tool")
    elif on_path != f"{prefix}/bin":
        (home / on_path).parent.symlink_to(Path(prefix).name)
    monkeypatch.setenv("PATH", f"{home / on_path}:/usr/bin:/bin")
    bot = built(bot_folder(home / "bots/A", '["tool", "x"]', "tool x >made"))
    assert (home / "bots/A/made").read_text() == output(bot) == SAID


def test_java_home_names_the_folder_that_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = home / ".sdkman/candidates/java"
    put(java / "21/bin/java")
    (java / "current").symlink_to("21")
    monkeypatch.setenv("PATH", f"{java}/current/bin:/usr/bin:/bin")
    monkeypatch.setenv("JAVA_HOME", f"{java}/current")
    assert mounts_of(bot_folder(home / "bots/A", '["java"]')).environment["JAVA_HOME"] == str(java / "21")


# --- what is not shown, and not run -----------------------------------------------------------------------------------


def test_a_manager_is_asked_where_no_bots_file_names_a_version(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager(home, "pyenv", monkeypatch)
    bot = bot_folder(home / "bots/A", '["tool"]')
    put(bot.folder / "version", str(put(bot.folder / "evil")))
    monkeypatch.chdir(bot.folder)
    assert find_program(bot, HostPrograms((), [bot])).command[0] == str(home / "versions/1.2/bin/tool")


def test_managers_and_programs_among_the_files_of_bots_are_not_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager(home, "pyenv", monkeypatch)
    bot = bot_folder(home / "bots/A", '["tool"]', "tool")
    rival = bot_folder(home / "versions", '["./1.2/bin/tool"]')
    with pytest.raises(UsageError, match="there is no program 'tool' on the PATH"):
        find_program(bot, HostPrograms((), [bot, rival]))
    (home / "asked").unlink()
    rival = bot_folder(home / "bots/B", '["./pyenv"]')
    (home / ".pyenv/bin/pyenv").rename(rival.folder / "pyenv")
    (home / ".pyenv/bin/pyenv").symlink_to(rival.folder / "pyenv")
    host = HostPrograms((), [bot, rival])
    with pytest.raises(UsageError, match="there is no program 'tool' on the PATH"):
        find_program(bot, host)
    assert home / "versions/1.2" not in host.shown.folders
    assert not (home / "asked").exists()


def test_a_shim_that_a_bot_brings_along_is_not_asked_about(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = manager(home, "pyenv", monkeypatch)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for place in (home / "bots/A/.pyenv", home / "bots/.pyenv"):
        shutil.copytree(home / ".pyenv", place)
    for command in ("../.pyenv/shims/tool", str(shim), "./.pyenv/shims/tool"):
        bot = bot_folder(home / "bots/A", f'["{command}"]', "tool")
        host = HostPrograms((), [bot])
        if command.startswith("./"):
            find_program(bot, host)
        else:
            with pytest.raises(UsageError, match="is neither among the bot's own files"):
                find_program(bot, host)
        assert home / "versions/1.2" not in host.shown.folders
    assert not (home / "asked").exists()


def test_a_shim_without_an_answer_leads_to_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = manager(home, "pyenv", monkeypatch)
    put(home / ".pyenv/bin/pyenv", "#!/bin/sh\nexit 127\n")
    bot = bot_folder(home / "bots/A", '["tool"]')
    with pytest.raises(UsageError, match="there is no program 'tool' on the PATH"):
        find_program(bot, HostPrograms((), [bot]))
    with pytest.raises(UsageError, match=f"--interpreter {shim}: .*this is a shim, and .*bin/pyenv names no program"):
        HostPrograms([str(shim)], [bot])


@pytest.mark.parametrize("on_path", ["bin", ".local/bin", "work/bin", "links"])
def test_a_folder_of_the_path_shows_no_home_folder_nor_one_in_it(
    on_path: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder in a home folder may hold other things, such as projects."""
    put(home / "project/tool")
    (home / "links").mkdir()
    (home / "links/tool").symlink_to("../project/tool")
    if on_path != "links":
        put(home / on_path / "tool")
    monkeypatch.setenv("PATH", f"{home / on_path}:/usr/bin:/bin")
    bot = bot_folder(home / "bots/A", '["tool"]', "tool")
    host = HostPrograms((), [bot])
    assert not any(folder.is_relative_to(home) for folder in host.shown.folders)
    with pytest.raises(UsageError, match="there is no program 'tool' on the PATH"):
        find_program(bot, host)
