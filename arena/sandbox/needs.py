"""The parts of a machine that programs need to see in a sandbox: whole installations, and the links to them.

Installations are found by reading, and shown as a whole at their own place. The toolchain manager of a shim is asked
with `which`: only a manager of the host's is run, in `/`, where no entrant's file can choose another version.
"""

import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import protocol
from arena.bots.program_files import Link, at_its_folder, follow
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError
from arena.sandbox.launch import SandboxError
from arena.sandbox.programs import (
    SYSTEM,
    HostPrograms,
    installation,
    is_environment,
    is_program,
    is_within,
    own_files,
)
from arena.system.printable import printable
from arena.system.user_files import read_start

MANAGERS = ("pyenv", "nodenv", "goenv", "jenv", "rbenv", "asdf", "mise")
"""Managers with a folder `shims`, usually next to a folder `bin` with the manager itself."""
PROXIES = {"rustup": "rustup", "mise": "mise", "volta-shim": "volta"}
"""Programs that shims link to, and the manager next to each of them."""
SETTINGS = ("HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR")
"""Variables of the host's that managers read, as well as PYENV_ROOT and the like. PYENV_VERSION is excluded: a shim
that started the arena sets it from a file in the current folder, which may be a bot's.
"""
ANSWER_SECONDS = 60.0


def behind_shim(program: Path, host: HostPrograms) -> Path:
    """Return the program behind one of the host's shims; any other program is returned as it is.

    Raises `UsageError` if the manager is not found or names no program.
    """
    manager = _manager(program, host)
    if manager is None:
        return program
    try:
        reason = host.why_not(at_its_folder(manager), for_host=True)
        if reason is not None:
            raise UsageError(f"{program} is a shim: {manager} {reason}")
        found = at_its_folder(_which(manager, program.name, os.pathsep.join(map(str, host.path))))
    except (OSError, ValueError) as error:
        raise UsageError(printable(f"{program} is a shim: {manager} which {program.name}: {error}")) from None
    reason = host.why_not(found, for_host=True)
    if reason is not None:
        raise UsageError(f"{program} is a shim: it runs {found}, which {reason}")
    return found


def _manager(program: Path, host: HostPrograms) -> Path | None:
    end, rustup = Path(os.path.realpath(program)), program.with_name("rustup")
    if os.path.isfile(rustup) and os.path.samefile(rustup, end):  # a link, or the same file under a second name
        end = rustup
    if end.name in PROXIES:
        return None if program.name == PROXIES[end.name] else end.with_name(PROXIES[end.name])
    if program.parent.name != "shims":
        return None
    root = program.parent.parent
    places = [*(root / "bin" / name for name in MANAGERS), *(folder / root.name.lstrip(".") for folder in host.path)]
    if found := next(filter(is_program, places), None):
        return found
    raise UsageError(f"{program} is a shim, and its manager is not found: name with --interpreter what the shim runs")


@lru_cache
def _which(manager: Path, name: str, path: str) -> Path:
    """Ask a manager which program its shim runs; `path` is its PATH."""
    settings = (*SETTINGS, f"{manager.name.upper()}_ROOT")
    chosen = {name: os.environ[name] for name in settings if name in os.environ}
    done = subprocess.run(
        [manager, "which", name],
        check=False,
        cwd="/",
        env={**base_environment(), **chosen, "PATH": path, "RUSTUP_AUTO_INSTALL": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=ANSWER_SECONDS,
    )
    found = os.fsdecode(done.stdout).strip()
    if done.returncode == 0 and os.path.isabs(found) and os.path.isfile(found):
        return Path(found)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
    raise ValueError(said[0])


TAKEN = tuple(Path("/", name) for name in ("bot", "dev", "etc", "proc", "sys"))
"""Places that hold something else inside the sandbox."""
PYTHON = re.compile(r"(python|pypy)[\d.]*")
"""Names of Pythons; with a suffix (python3-config) it is another program."""
VERSION = re.compile(r"((?:python|pypy)\d+\.\d+)")
"""The name of a Python, and of the folder of its packages."""
HOME_LINE = re.compile(r"^home[ \t]*=[ \t]*(/.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
"""The line of a pyvenv.cfg with the folder of the base Python."""
SETTINGS_SIZE = 65536
"""More bytes than a pyvenv.cfg has."""
INSTALLATION_MARKS = ("pyvenv.cfg", "conda-meta")
"""Marks of folders that hold an installation only."""
FOR_BOTS = (Path(protocol.__file__).parent, Path(__file__).parents[1])
"""The packages that bots in Python may import: the kit, and the arena for its library of search."""


class Needs:
    """Folders and links that a bot's programs need, in addition to the system and its own files."""

    def __init__(self, bot: BotSpec, host: HostPrograms) -> None:
        self._who, self._is_hosts = f"{bot.path}: its program", False
        self._host, self._own = host, own_files(bot)
        self._folders = set[Path]()
        self._links = dict[Path, Link]()
        self.environment = dict[str, str]()

    @property
    def shown(self) -> tuple[tuple[Path, ...], tuple[Link, ...]]:
        return tuple(sorted(self._folders)), tuple(self._links[place] for place in sorted(self._links))

    def add_named(self, path: Path) -> tuple[Path, ...]:
        """Add a program or an installation that the host has named; return the folders of its programs.

        Raises `SandboxError`.
        """
        self._who, self._is_hosts = f"--interpreter {path}: it", True
        end = Path(os.path.realpath(path))
        if end.is_dir():
            self._show_folder(end)
            return end / "bin", end
        try:
            program = behind_shim(path, self._host)
        except UsageError as error:
            raise SandboxError(f"--interpreter {path}: {error}") from None
        self.add(program)
        return (program.parent,)

    def add_all(self, other: "Needs") -> None:
        self._folders |= other._folders
        self._links |= other._links

    def add(self, program: Path, started_as: Path | None = None) -> None:
        """Add what a program of the host's needs; `started_as` is the bot's own link to it, if any."""
        self._show(program)
        started = started_as or program
        if not PYTHON.fullmatch(started.name):
            return
        environment = next((place for place in (started.parent.parent, started.parent) if is_environment(place)), None)
        if environment is None:
            self._show_users_packages(Path(os.path.realpath(program)))
        else:
            if not environment.is_relative_to(self._own):
                self._show_folder(environment)
            self._need_base(environment, started.name)
        for package in FOR_BOTS:  # where the arena is installed in place, in a checkout that is not shown
            if not is_within(package, (*SYSTEM, *self._folders)):
                self._folders.add(package)

    def _need_base(self, environment: Path, name: str) -> None:
        try:
            text = read_start(environment / "pyvenv.cfg", SETTINGS_SIZE).decode("utf-8", "replace")
            home = HOME_LINE.search(text)
            base = at_its_folder(Path(home[1], name)) if home else None
        except (OSError, ValueError):
            return
        is_own = environment.is_relative_to(self._own)  # then it is the bot that has named it
        if base and os.path.exists(base) and self._host.why_not(base, for_host=not is_own) is None:
            self._show(base)

    def _show(self, program: Path) -> None:
        trail = follow(program)
        self._links |= {link.place: link for link in trail.links if not is_within(link.place, SYSTEM)}
        self._show_folder(installation(trail.end))

    def _show_folder(self, folder: Path) -> None:
        if not is_within(folder, SYSTEM):
            _refuse_wide(folder, self._who, is_hosts=self._is_hosts)
            self._folders.add(folder)

    def _show_users_packages(self, python: Path) -> None:
        version = VERSION.match(python.name)
        base = Path(os.path.expanduser("~"), ".local")
        packages = base / "lib" / version[1] / "site-packages" if version else None
        if packages is not None and packages.is_dir() and str(packages) == os.path.realpath(packages):
            self._show_folder(packages)
            self.environment["PYTHONUSERBASE"] = str(base)


_OF_THE_ARENA = frozenset(Path(os.path.realpath(prefix)) for prefix in (sys.prefix, sys.base_prefix))


def _refuse_wide(folder: Path, who: str, *, is_hosts: bool) -> None:
    """Refuse to show a folder that is likely to hold more than an installation; `who` needs it.

    Raises `UsageError`, or `SandboxError` if the host has chosen the folder, or it holds the arena's own Python.
    """
    owner = printable(f"{who} belongs to {folder}")
    refusal = SandboxError if is_hosts or folder in _OF_THE_ARENA else UsageError
    homes = {Path(os.path.expanduser("~")), Path("/root"), *Path("/home").glob("*")}
    marked = any(os.path.exists(folder / mark) for mark in INSTALLATION_MARKS)
    collection = len(folder.parts) <= 2 or (folder.parent in homes and folder.name.startswith("."))
    if any(home.is_relative_to(folder) for home in homes) or (collection and not marked):
        raise refusal(
            f"{owner}, which holds too much to be shown to a bot: install the program in a folder of its own (such as "
            "/opt/NAME), or put it into the bot's folder"
        )
    if is_within(folder, TAKEN):
        raise refusal(f"{owner}, which cannot be shown to a bot: move it")
