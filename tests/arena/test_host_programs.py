"""What bots are run by: their own programs and the host's, and never what another entrant has put somewhere.

The attacks are real files. Each accomplice's program leaves a mark in the host's folder when it is run where that can
be written, which is anywhere but in a sandbox; nothing may ever leave one.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import trio
from made_files import put
from sandboxes import at_every_level, in_bwrap

from arena.bots.limits import Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.processes.runnable import PlaySettings, RefusedBotsError, runnable
from arena.processes.starting import Sandbox
from arena.sandbox import bwrap
from arena.sandbox.launch import SandboxError
from arena.sandbox.levels import Level
from arena.sandbox.mounts import mounts_of
from arena.sandbox.programs import HostPrograms, find_program

PATIENCE = 120.0


@pytest.fixture(autouse=True)
def nothing_waits_for_ever() -> Iterator[None]:
    """A FIFO or a device that is opened would hold up the tests as it would the arena."""
    signal.alarm(int(PATIENCE))
    yield
    signal.alarm(0)


def accomplice(folder: Path, path: str) -> Path:
    """A program that says that it has been run, and is then a Python like any other."""
    return put(folder / path, f'#!/bin/sh\necho {path} >> {folder}/ran\nexec {sys.executable} "$@"\n')


def bot_folder(path: Path, command: str, env: str = "", **files: str) -> BotSpec:
    put(path / "bot.toml", f"command = {command}\nbuild = 'true'\n{env}", 0o644)
    for name, text in files.items():
        put(path / name.replace("__", "."), text)
    return load_bot(path)


def problem(level: Level, bots: Sequence[BotSpec], named: Sequence[Path] = ()) -> str:
    """What is said of the first bot, alone, by an arena that has them all."""
    with pytest.raises(RefusedBotsError) as caught:
        Sandbox(PlaySettings(bots, level, interpreters=[str(path) for path in named]))
    assert str(bots[0].path) in str(caught.value)
    return str(caught.value)


def ran(folder: Path) -> str:
    """Which programs of accomplices have been run outside a sandbox."""
    mark = folder / "ran"
    return mark.read_text() if mark.exists() else ""


# --- attacks ----------------------------------------------------------------------------------------------------------


@at_every_level
@pytest.mark.parametrize(
    "command", ['["../B/python3", "x.py"]', '["{folder}/B/python3", "x.py"]', '["./mine", "x.py"]']
)
def test_an_accomplices_python_is_not_run_to_ask_where_it_is_at_home(level: Level, command: str, folder: Path) -> None:
    accomplice(folder, "B/python3")
    (folder / "A").mkdir()
    (folder / "A/mine").symlink_to("../B/python3")
    attacker = bot_folder(folder / "A", command.replace("{folder}", str(folder)))
    other = bot_folder(folder / "B", '["./python3"]')
    said = problem(level, [attacker, other])
    assert f"leads into the files of a bot, {folder}/B" in said
    assert ran(folder) == ""


@at_every_level
@pytest.mark.parametrize("path", ["../B", "./way-out:/usr/bin"])
def test_the_path_that_a_bot_sets_leads_to_no_other_bot(level: Level, path: str, folder: Path) -> None:
    accomplice(folder, "B/python3")
    (folder / "A").mkdir()
    (folder / "A/way-out").symlink_to("../B")
    path = path.replace("{folder}", str(folder))
    attacker = bot_folder(folder / "A", '["python3", "x.py"]', f'env = {{ PATH = "{path}" }}')
    other = bot_folder(folder / "B", '["./python3"]')
    host = HostPrograms((), [attacker, other])
    with suppress(UsageError):
        assert find_program(attacker, host, is_shown=level is not Level.BASIC).command[0].startswith("/usr/bin/")
    assert ran(folder) == ""


@at_every_level
@pytest.mark.parametrize("entry", ["", "bots", "{folder}/link"])
def test_a_folder_of_the_hosts_path_in_which_bots_lie_is_passed_over(
    level: Level, entry: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "link").symlink_to("bots")
    monkeypatch.chdir(folder if entry == "bots" else put(folder / "bots/x", "").parent)
    monkeypatch.setenv("PATH", f"{entry.replace('{folder}', str(folder))}:{os.environ['PATH']}")
    accomplice(folder, "bots/sh")
    accomplice(folder, "bots/python3")
    honest = load_bot(put(folder / "bots/honest", "#!/usr/bin/env sh\n"))
    host = HostPrograms((), [honest])
    assert folder / "bots" not in host.path
    assert folder / "bots" not in find_program(honest, host, is_shown=False).path
    with Sandbox(PlaySettings([honest], level)) as held:
        trio.run(held.try_out)
    assert ran(folder) == ""


@at_every_level
@pytest.mark.parametrize("kind", ["FIFO", "endless", "folder"])
def test_what_is_no_file_is_never_opened(level: Level, kind: str, folder: Path) -> None:
    place = folder / "A/python3"
    place.parent.mkdir()
    if kind == "FIFO":
        os.mkfifo(place, 0o755)
    elif kind == "endless":
        place.symlink_to("/dev/zero")
    else:
        place.mkdir()
    said = problem(level, [bot_folder(folder / "A", '["./python3"]')])
    assert "its command names" in said
    assert "expected a program, a file that can be run" in said
    script = put(folder / "bot", f"#!{place}\n")
    said = problem(level, [load_bot(script)])
    assert "expected a program, a file that can be run" in said


@at_every_level
@pytest.mark.parametrize("named", ["opt/py", "link"])
def test_what_the_host_names_may_run_bots_with_all_of_its_installation(level: Level, named: str, folder: Path) -> None:
    for name in ("tool", "other"):
        put(folder / "opt/py/bin" / name, "#!/bin/sh\n")
    (folder / "link").symlink_to("opt/py/bin/tool")
    for line in ("#!{0}/opt/py/bin/tool", "#!{0}/opt/py/bin/other"):
        bot = load_bot(put(folder / "bots/bot", line.format(folder) + "\n"))
        assert "--interpreter" in problem(level, [bot])
        Sandbox(PlaySettings([bot], level, interpreters=[str(folder / named)]))


def test_what_the_host_names_must_not_lead_into_a_bots_files(folder: Path) -> None:
    accomplice(folder, "B/python3")
    bot = bot_folder(folder / "B", '["./python3"]')
    (folder / "opt").mkdir()
    (folder / "opt/python3").symlink_to("../B/python3")
    for named in ("B/python3", "B", "opt/python3"):
        with pytest.raises(UsageError, match=f"--interpreter .*leads into the files of {folder}/B"):
            HostPrograms([str(folder / named)], [bot])
    assert ran(folder) == ""


# --- chains of links, and what a sandbox cannot do --------------------------------------------------------------------


def try_out(bots: Sequence[BotSpec], named: Sequence[Path] = ()) -> Sandbox:
    names = [str(path) for path in named]
    assert [bot.fault for bot in runnable(Level.BWRAP, bots, HostPrograms(names, bots))] == [None] * len(bots)
    held = Sandbox(PlaySettings(bots, Level.BWRAP, interpreters=names))
    trio.run(held.try_out)
    return held


def output(held: Sandbox, bot: BotSpec) -> str:
    line = bwrap.through_shell(bwrap.command(held._mounts[bot.name], Limits(), bwrap.spare_user()))
    done = subprocess.run(line, check=False, capture_output=True, timeout=PATIENCE, input=b"")
    return done.stdout.decode() + done.stderr.decode()


@in_bwrap
def test_the_whole_chain_of_links_to_an_environments_python_is_shown(folder: Path) -> None:
    """As version managers make them: links to links, and links to folders."""
    real = Path(os.path.realpath(sys.executable))
    for name in ("odd", "newer", "environments"):
        (folder / name).mkdir()
    (folder / "newer/current").symlink_to(real.parent)
    (folder / "odd/python3").symlink_to("../newer/current/" + real.name)
    subprocess.run([folder / "odd/python3", "-m", "venv", "--without-pip", folder / "environments/e"], check=True)
    python = folder / "environments/e/bin/python3"
    python.unlink()
    python.symlink_to(folder / "odd/python3")
    for program in ("import sys; print(sys.prefix)", "import json; print('json')"):
        bot = load_bot(put(folder / "bots/bot.py", f"#!{python}\n{program}\n"))
        said = output(try_out([bot], [python]), bot)
        assert said in (f"{folder}/environments/e\n", "json\n")


@in_bwrap
def test_links_to_a_bots_own_files_that_hold_whole_paths_run(folder: Path) -> None:
    (folder / "A").mkdir()
    (folder / "A/run").symlink_to(folder / "A/real")
    bot = bot_folder(folder / "A", '["./run"]', real="#!/bin/sh\necho ran\n")
    assert output(try_out([bot]), bot) == "ran\n"


@in_bwrap
def test_a_python_whose_library_is_missing_is_found_out_before_any_game(folder: Path) -> None:
    program = put(folder / "opt/py/bin/python3", "#!/bin/sh\necho no module named encodings >&2\nexit 1\n")
    bot = load_bot(put(folder / "bots/bot", f"#!{program}\n"))
    with pytest.raises(SandboxError, match="no module named encodings"):
        try_out([bot], [program])


@in_bwrap
def test_a_trial_runs_nothing_of_a_bots(folder: Path) -> None:
    bot = bot_folder(folder / "A", '["./run"]', "env = { LD_PRELOAD = '/bot/evil.so' }", run="#!/bin/sh\nexit 1\n")
    try_out([bot])
    broken = bot_folder(folder / "B", '["./run"]', run="\x7fELF, and no program")
    try_out([broken])  # which is the bot's affair


# --- programs that a bot runs besides ---------------------------------------------------------------------------------


def besides(folder: Path, names: str, command: str = '["./run"]') -> BotSpec:
    """A bot whose bot.toml lists these interpreters."""
    return bot_folder(folder / "A", command, f"interpreters = {names}", run="#!/bin/sh\n")


def lang(folder: Path, path: str = "opt/lang/bin/lang7") -> Path:
    return put(folder / path, "#!/bin/sh\n")


def test_a_program_that_the_host_has_named_is_found_by_its_bare_name(folder: Path) -> None:
    program = lang(folder)
    bot = besides(folder, '["lang7"]', '["lang7", "main.x"]')
    host = HostPrograms((str(program),), [bot])
    assert find_program(bot, host).command[-2:] == (str(program), "main.x")
    assert program.parent.parent in host.shown.folders
    assert find_program(bot, host, is_shown=False).command == (str(program), "main.x")


@at_every_level
def test_a_program_that_nobody_has_named_is_refused_with_the_reason(level: Level, folder: Path) -> None:
    program = lang(folder)
    said = problem(level, [besides(folder, '["lang7"]', '["lang7", "main.x"]')])
    assert "there is no program 'lang7' on the PATH, nor has the host named one with --interpreter" in said
    said = problem(level, [besides(folder, f'["{program}"]')])
    assert f"interpreters: {program} leads out of its own files: {program} is neither" in said
    assert said.endswith("have the host name it with --interpreter")


@at_every_level
def test_what_a_bot_runs_besides_is_no_other_bots_file(level: Level, folder: Path) -> None:
    accomplice(folder, "B/python3")
    other = bot_folder(folder / "B", '["./python3"]')
    for word in ("../B/python3", f"{folder}/B/python3"):
        assert f"leads into the files of a bot, {folder}/B" in problem(level, [besides(folder, f'["{word}"]'), other])
    assert ran(folder) == ""


def test_a_second_program_is_shown_with_its_installation_and_is_on_the_path(folder: Path) -> None:
    program = lang(folder)
    bot = besides(folder, '["lang7"]')
    host = HostPrograms((str(program),), [bot])
    found = mounts_of(bot, host)
    assert folder / "opt/lang" in found.folders
    assert str(program.parent) in found.environment["PATH"].split(os.pathsep)
    assert (str(program), "--version") in host.shown.trials
