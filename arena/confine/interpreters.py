"""What has to be visible for a bot's program to run where only the system and the bot's own files are.

A program is followed as the kernel would follow it: through the PATH, links and the `#!` lines of scripts, until it is
a file of the bot, of the system (`/usr` and what hangs on it), or an installation of its own, which then is shown as a
whole and nowhere else than where it is. A Python is asked itself where it is at home, for shims and virtual
environments mislead. What is asked runs outside any sandbox: so it is never a bot's own file, it gets nothing of the
bot's environment, and it is kept from importing anything that lies around.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import protocol
from arena.bots import BotSpec, base_environment
from arena.model import UsageError

SYSTEM = tuple(Path("/", name) for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"))
"""What every bot sees of the system, read-only."""
TAKEN = tuple(Path("/", name) for name in ("bot", "dev", "etc", "proc", "sys"))
"""Where nothing of the machine can be shown, because something else is there inside."""

PYTHON = re.compile(r"(python|pypy)[\d.]*(-\w+)?")
QUESTION = """
import json, os, site, sys
at_home = sys.prefix == sys.base_prefix and os.path.isdir(site.getusersitepackages())
print(json.dumps([
    sys.executable,
    [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
    [site.getuserbase(), site.getusersitepackages()] if at_home else None,
]))
"""
ANSWER_SECONDS = 60.0
SCRIPTS = 5
"""The kernel follows no longer chain of `#!` lines either."""
FIRST_LINE = 256
"""Bytes of a script that the kernel looks at."""
INSTALLATION_MARKS = ("pyvenv.cfg", "conda-meta")
"""What is only in folders that hold an installation and nothing else."""


@dataclass(frozen=True)
class Program:
    """What a bot's command comes to: words with the paths of this machine, the folders that have to be visible at their
    own places beside the system and the bot's own files, and what has to be set in the environment."""

    command: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def own_files(bot: BotSpec) -> Path:
    """The bot's folder; for a bot that is a single file that file only, for beside it are other bots."""
    return bot.path.resolve()


def is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    """Whether a path is one of the folders or lies in one."""
    return any(path.is_relative_to(folder) for folder in folders)


def find_program(bot: BotSpec) -> Program:
    """How to run a bot where little is visible. Raises `UsageError`."""
    own, command, folders = own_files(bot), list(bot.command), set[Path]()
    for _ in range(SCRIPTS):
        program = _look_up(command[0], bot)
        real = program.resolve()
        if program.is_relative_to(own) and not real.is_relative_to(own):
            if not (program.parent.parent / "pyvenv.cfg").is_file() or not PYTHON.fullmatch(real.name):
                raise UsageError(f"{program}: this link leads out of the bot's folder, to {real}: put a copy there")
            python = _home_of_python(real, bot)  # the environment is the bot's, the Python in it is not
            return Program((str(program), *command[1:]), python.folders, {})
        if not program.is_relative_to(own):
            if PYTHON.fullmatch(program.name):
                python = _home_of_python(program, bot)
                return Program((*python.command, *command[1:]), python.folders, python.environment)
            if program.parent.name == "shims":
                raise UsageError(
                    f"{bot.path}: {program} is only a version manager's stand-in: name the program itself in the bot's "
                    f"command or #! line ({program.parent.parent.name.lstrip('.')} which {program.name} tells it)"
                )
            if not is_within(real, SYSTEM):
                folders.add(_installation(real, bot))
                program = real
        command[0] = str(program)
        interpreter = _interpreter(program)
        if not interpreter:
            break
        command[:0] = interpreter
    return Program(tuple(command), tuple(sorted(folders)))


def _look_up(name: str, bot: BotSpec) -> Path:
    """Where a program is, with no link left in the path of its folder."""
    path = bot.environment.get("PATH", os.defpath)
    found = str(bot.folder / name) if "/" in name else shutil.which(name, path=path)
    if found is None:
        raise UsageError(f"{bot.path}: there is no program {name!r} on the PATH")
    program = Path(found).parent.resolve() / Path(found).name
    if not program.is_file():
        raise UsageError(f"{bot.path}: its command or #! line names {name}, and there is no such file")
    return program


def _interpreter(program: Path) -> list[str]:
    """The words that a script's `#!` line puts before its path; none for what is no script."""
    try:
        with program.open("rb") as file:
            line = file.read(FIRST_LINE).split(b"\n")[0]
    except OSError as error:
        raise UsageError(f"{program}: cannot be read: {error.strerror}") from None
    if not line.startswith(b"#!"):
        return []
    words = os.fsdecode(line[2:]).strip(" \t").split(maxsplit=1)
    if len(words) == 2 and Path(words[0]).name == "env":
        inner = shlex.split(words[1][2:]) if words[1].startswith("-S") else words[1:]
        if inner and not inner[0].startswith("-") and "=" not in inner[0]:
            return inner
    return words


def _home_of_python(program: Path, bot: BotSpec) -> Program:
    """The Python that is meant, the folders that it needs, and its user's packages."""
    with program.open("rb") as file:
        is_shim = file.read(2) == b"#!"
    executable, prefixes, users = _ask(program, bot.folder if is_shim else Path("/"))
    folders = {Path(prefix) for prefix in prefixes} | {_installation(Path(executable).resolve(), bot)}
    environment = {}
    if users:
        environment["PYTHONUSERBASE"] = users[0]
        folders.add(Path(users[1]))
    for folder in folders:
        _refuse_wide(folder, bot)
    kit = Path(protocol.__file__).parent  # where the arena is installed in place, in a checkout that is not shown
    seen = (*SYSTEM, *folders)
    if not is_within(kit, seen):
        folders.add(kit)
    return Program(
        (executable,), tuple(sorted(folder for folder in folders if not is_within(folder, SYSTEM))), environment
    )


@lru_cache
def _ask(program: Path, folder: Path) -> tuple[str, list[str], list[str] | None]:
    """What a Python says of itself: its path, its prefixes, and base and packages of its user if it looks there.

    `folder` is where it is asked: what a shim stands for may depend on that.
    """
    try:
        answer = subprocess.run(
            [program, "-I", "-c", QUESTION],  # -I: nothing of the folder, the environment or the user is imported
            check=True,
            cwd=folder,
            env=base_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_SECONDS,
        )
        executable, prefixes, users = json.loads(answer.stdout)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {error.returncode}"]
        raise UsageError(f"{program}: asked where this Python is installed, it failed: {said[0]}") from None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise UsageError(f"{program}: this Python does not tell where it is installed: {error}") from None
    return executable, prefixes, users


def _installation(program: Path, bot: BotSpec) -> Path:
    """The folder that a program outside the system needs: PREFIX of PREFIX/bin/program, else the one that it is in."""
    folder = program.parent.parent if program.parent.name in ("bin", "sbin") else program.parent
    if not is_within(program, SYSTEM):
        _refuse_wide(folder, bot)
    return folder


def _refuse_wide(folder: Path, bot: BotSpec) -> None:
    """Refuse to show a folder that is likely to hold more than an installation. Raises `UsageError`."""
    homes = {Path(os.path.expanduser("~")), Path("/root"), *Path("/home").glob("*")}
    marked = any((folder / mark).exists() for mark in INSTALLATION_MARKS)
    collection = len(folder.parts) <= 2 or (folder.parent in homes and folder.name.startswith("."))
    if any(home.is_relative_to(folder) for home in homes) or (collection and not marked and folder not in SYSTEM):
        raise UsageError(
            f"{bot.path}: its program belongs to {folder}, which holds too much to be shown to a bot: install the "
            "program in a folder of its own (such as /opt/NAME), or put it into the bot's folder"
        )
    if is_within(folder, TAKEN):
        raise UsageError(f"{bot.path}: its program belongs to {folder}, which cannot be shown to a bot: move it")
