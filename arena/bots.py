"""From a path to a bot: what may stand there, and how it is run.

A bot is an executable file; a `.py` file that is not executable, which the arena's own interpreter runs; or a folder
with a `bot.toml`:

    command = ["./target/release/hunter"]     # required: the program and its arguments
    build = "cargo build --release"           # optional: run by the shell in the folder, before the first game
    name = "hunter"                           # optional: the name in tables, else the folder's
    env = { RUST_BACKTRACE = "1" }            # optional: added to the bot's environment

A bot's digest covers its own files, so that a changed bot is a new one to a league: the file itself, or all files of
the folder but hidden ones, the usual build folders and, where there is a `build`, the program that it makes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.model import Player, UsageError
from arena.rules.loading import suggest

MANIFEST = "bot.toml"
MANIFEST_KEYS = ("command", "build", "name", "env")
BUILD_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules", "target", "venv"})
INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TMPDIR", "TZ", "USER", "JAVA_HOME", "LD_LIBRARY_PATH")
"""The variables of the arena's environment that a bot gets to see, beside PATH."""
BUILD_LINES_SHOWN = 20


@dataclass(frozen=True)
class BotSpec:
    """A bot that can be started: its name, its program, the folder it runs in and the fingerprint of its files."""

    name: str
    path: Path
    command: tuple[str, ...]
    folder: Path
    digest: str
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def player(self) -> Player:
        return Player(self.name, self.digest)


def base_environment() -> dict[str, str]:
    """The environment that every bot gets: little, and the arena's own interpreter first on the PATH."""
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    path = os.environ.get("PATH", os.defpath)
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    environment["PYTHONUNBUFFERED"] = "1"
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return environment


def find_bots(paths: Sequence[str]) -> list[BotSpec]:
    """The bots at these paths, with names told apart, builds done. Raises `UsageError` naming everything that is wrong.

    `__pycache__` is passed over, so that a shell's `bots/*` just works. That leaves out hidden files by itself: whoever
    names one means it.
    """
    bots: list[BotSpec] = []
    problems: list[str] = []
    for path in (Path(text) for text in paths):
        if path.name == "__pycache__":
            continue
        try:
            bots.append(load_bot(path))
        except UsageError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("\n".join(problems))
    return _told_apart(bots)


def load_bot(path: Path) -> BotSpec:
    """The bot at one path. Builds it if its folder says how. Raises `UsageError`."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder{_near(path)}")
    if path.is_dir():
        return _load_folder(path)
    executable = os.access(path, os.X_OK)
    if not executable and path.suffix != ".py":
        raise UsageError(
            f"{path}: expected an executable file, a .py file or a folder with {MANIFEST}; "
            f"this file is not executable (chmod +x {path})"
        )
    full = path.resolve()
    return BotSpec(
        name=path.stem if path.suffix in (".py", ".sh", ".exe") else path.name,
        path=path,
        command=(str(full),) if executable else (sys.executable, str(full)),
        folder=full.parent,
        digest=_digest([full], full.parent),
        environment=base_environment(),
    )


def _near(path: Path) -> str:
    """What to add to "there is no such file" where the folder holds something of nearly that name."""
    if not path.parent.is_dir():
        return f" (nor the folder {path.parent})" if path.parent != Path() else ""
    names = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    hint = suggest(path.name, names)
    return f"; {hint}" if hint.startswith("did you mean") else ""


def _load_folder(folder: Path) -> BotSpec:
    manifest_path = folder / MANIFEST
    if not manifest_path.is_file():
        raise UsageError(f'{folder}: expected a {MANIFEST} in this folder, with at least command = ["./program"]')
    manifest = _read_manifest(manifest_path)
    full = folder.resolve()
    command = manifest["command"]
    if "build" in manifest:
        _build(folder, manifest["build"])
    program = full / command[0] if "/" in command[0] else None
    if program is not None and not (program.is_file() and os.access(program, os.X_OK)):
        state = "is not an executable file" if program.exists() else "does not exist"
        raise UsageError(f"{manifest_path}: command: {command[0]} {state} in {folder}")
    if program is None and shutil.which(command[0], path=base_environment()["PATH"]) is None:
        raise UsageError(f"{manifest_path}: command: there is no program {command[0]!r} on the PATH")
    made = {program} if program is not None and "build" in manifest else set()
    return BotSpec(
        name=manifest.get("name", full.name),
        path=folder,
        command=(str(program), *command[1:]) if program is not None else tuple(command),
        folder=full,
        digest=_digest((file for file in _files(full) if file not in made), full),
        environment={**base_environment(), **manifest.get("env", {})},
    )


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    for key in manifest:
        if key not in MANIFEST_KEYS:
            raise UsageError(f"{path}: unknown key {key!r}; {suggest(key, MANIFEST_KEYS)}")
    command, env = manifest.get("command"), manifest.get("env", {})
    if not (isinstance(command, list) and command and all(isinstance(part, str) and part for part in command)):
        raise UsageError(f'{path}: command: expected a list such as ["./program", "argument"], got {command!r}')
    if not (isinstance(env, dict) and all(isinstance(value, str) for value in env.values())):
        raise UsageError(f"{path}: env: expected a table of texts, got {env!r}")
    for key in ("build", "name"):
        if key in manifest and not (isinstance(manifest[key], str) and manifest[key].strip()):
            raise UsageError(f"{path}: {key}: expected a text, got {manifest[key]!r}")
    return manifest


def _build(folder: Path, command: str) -> None:
    done = subprocess.run(  # the author's own command, in the author's own folder: a shell is what they expect
        command,
        check=False,
        shell=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        shown = "\n".join(f"    {line}" for line in lines[-BUILD_LINES_SHOWN:]) or "    (it printed nothing)"
        raise UsageError(f"{folder}: the build failed with exit code {done.returncode}: {command}\n{shown}")


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in BUILD_FOLDERS]
        for name in names:
            file = Path(root, name)
            if not name.startswith(".") and file.is_file():  # a pipe or a socket has no content to tell versions by
                yield file


def _digest(files: Iterable[Path], folder: Path) -> str:
    """A hexadecimal fingerprint of files by their names and contents. Raises `UsageError` if one cannot be read."""
    whole = hashlib.sha256()
    for file in sorted(files):
        try:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
        whole.update(f"{file.relative_to(folder).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def _told_apart(bots: list[BotSpec]) -> list[BotSpec]:
    """The same bots with names that differ: by the folder they are in where that is enough, else by a number."""
    clashing = {name for name, count in Counter(bot.name for bot in bots).items() if count > 1}
    longer = [f"{bot.path.resolve().parent.name}/{bot.name}" if bot.name in clashing else bot.name for bot in bots]
    seen: Counter[str] = Counter()
    told = []
    for bot, name in zip(bots, longer, strict=True):
        seen[name] += 1
        told.append(replace(bot, name=name if seen[name] == 1 else f"{name}#{seen[name]}"))
    return told
