"""Load the bot at a path.

A bot is an executable file; a `.py` file that is not executable, which the arena's own interpreter runs; or a folder
with a `bot.toml` (`arena.bots.manifest`). Its digest covers the file itself, or all files of the folder but hidden
ones, build folders, those that `ignore` names and the program that a `build` makes; and the arguments that a host
gives.
"""

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from arena.bots.asked import AskedBot
from arena.bots.covered import Ignored
from arena.bots.identity import SHORT, Identity, digest_with, identify_file, identify_folder
from arena.bots.languages import language_of_source, needed
from arena.bots.manifest import MANIFEST, Protocol, read_manifest
from arena.bots.names import base_name, expected_name, name_fault, name_of_file
from arena.bots.program_files import FIRST_LINE, command_hint, is_meant_to_run, is_program
from arena.bots.samples import SAMPLES, meant_sample
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError, nearest
from arena.system.printable import printable
from arena.system.user_files import HOST_ERRORS, kind_of, read_start

NEIGHBOURS_LOOKED_AT = 1000
ARGUMENTS = "its arguments"
"""The key for a bot's arguments among its files, for comparison with earlier games."""


class NotThereError(UsageError):
    """No file exists at a path that was given: the command is mistyped."""


class MissingProgramError(UsageError):
    """The machine lacks a program that a bot's bot.toml needs. `needs` describes it."""

    def __init__(self, name: str, where: str, missing: Sequence[str]) -> None:
        self.name = name
        self.needs = f"needs {' and '.join(map(needed, missing))}"
        programs = ", ".join(printable(repr(program), 100) for program in missing)
        super().__init__(f"{where}: {name} {self.needs}: expected on the PATH: {programs}")


def load_bot(path: Path, asked: AskedBot | None = None) -> BotSpec:
    """Load the bot at a path, as it was `asked` for, without building it. Raises `UsageError`."""
    bot = _load(path, asked or AskedBot(str(path)))
    return replace(bot, name=asked.name or bot.name, asked=asked) if asked else bot


def _load(path: Path, asked: AskedBot) -> BotSpec:
    where = printable(str(path))
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL, as no path has
        if path.is_symlink():
            raise UsageError(f"{where}: this is a link that leads nowhere") from None
        raise NotThereError(
            f"{where}: there is no such file or folder{_near(path, is_bare=os.sep not in asked.path)}"
        ) from None
    except OSError as error:
        if error.errno in HOST_ERRORS:
            raise
        raise UsageError(f"{where}: cannot be examined: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        return _load_folder(path, asked)
    if not stat.S_ISREG(mode):
        raise UsageError(f"{where}: expected an executable file or a folder with {MANIFEST}, got {kind_of(mode)}")
    executable = os.access(path, os.X_OK)
    full = path.resolve()
    if path.name == MANIFEST:
        raise UsageError(f"{where}: a {MANIFEST} is no bot by itself: name its folder: {printable(str(path.parent))}")
    if not executable and path.suffix != ".py":
        expected = f"{where}: expected an executable file, a .py file or a folder with {MANIFEST}"
        cure = f"; this file is not executable (chmod +x {where})" if _begins_as_program(full) else _source_hint(path)
        raise UsageError(f"{expected}{cure}")
    name = name_of_file(base_name(path))
    fault = name_fault(name)
    if fault:
        raise UsageError(f"{where}: the name of a bot that is a file is the file's: {expected_name(name, fault)}")
    identity = identify_file(full)
    return BotSpec(
        name=name,
        path=path,
        command=(*([] if executable else [sys.executable]), str(full), *asked.arguments),
        folder=full.parent,
        environment=base_environment(),
        is_of_2012=bool(asked.prefix),
        **_known_by(identity, asked),
    )


def _known_by(identity: Identity, asked: AskedBot) -> dict[str, Any]:
    digest, files = digest_with(asked.identifying, identity.digest), identity.files
    if asked.identifying and files:
        files = {**files, ARGUMENTS: digest[:SHORT]}
    return {"digest": digest, "files": files, "look": identity.look}


def _begins_as_program(path: Path) -> bool:
    try:
        return is_meant_to_run(read_start(path, FIRST_LINE))
    except OSError:
        return False


def _source_hint(path: Path) -> str:
    language = language_of_source(path.suffix)
    if language is None:
        return ""
    if os.path.lexists(path.parent / MANIFEST):
        return f"; this is a source file: name its folder: {printable(str(path.parent))}"
    return (
        f"; a source file needs a folder with a {MANIFEST} that says how it is built and run: "
        f"see 'arena new NAME --language {language.name}'"
    )


def _near(path: Path, *, is_bare: bool) -> str:
    """Suggest a sample bot, or a similar name in the same folder."""
    sample = meant_sample(path)
    bare = f"; for the sample bot write {sample}" if sample else ""
    if not os.path.isdir(path.parent):
        return f" (nor the folder {printable(str(path.parent))}){bare}" if path.parent != Path() else bare
    if sample:
        return bare
    names = list(SAMPLES) if is_bare else []
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        names += [entry.name for entry in islice(entries, NEIGHBOURS_LOOKED_AT) if not entry.name.startswith(".")]
    near = nearest(path.name, names, cutoff=0.6)  # the ending of a file may have been left out
    if near:
        return f"; did you mean {printable(' or '.join(near))}?"
    return f", nor a sample bot of that name: they are {', '.join(SAMPLES)}" if is_bare and not path.suffix else ""


def _load_folder(folder: Path, asked: AskedBot) -> BotSpec:
    manifest = read_manifest(folder)
    where = f"{printable(str(folder))}/{MANIFEST}"
    full = folder.resolve()
    name = manifest.name or name_of_file(full.name)
    fault = name_fault(name)
    if fault:
        raise UsageError(f"{where}: it gives no name, so the folder's name is used: {expected_name(name, fault)}")
    environment = base_environment()
    missing = [program for program in manifest.needs if shutil.which(program, path=environment["PATH"]) is None]
    if missing:
        raise MissingProgramError(name, f"{where}: needs", missing)
    command = (*manifest.command, *asked.arguments)
    built = manifest.build is not None
    program = full / command[0] if "/" in command[0] else None
    if program is not None and not built and not is_program(program):
        inside = "" if os.path.isabs(command[0]) else f" in {printable(str(folder))}"
        if not os.path.exists(program):
            state, hint = "does not exist", command_hint(full, command[0], environment["PATH"])
        else:
            state, hint = "is not an executable file", f" (chmod +x {printable(str(folder / command[0]), 200)})"
            hint = hint if os.path.isfile(program) else ""
        raise UsageError(f"{where}: command: {printable(command[0], 200)} {state}{inside}{hint}")
    is_hosts = command[0] in manifest.interpreters  # then the host may have named it, which is known later
    if program is None and not (built or is_hosts) and shutil.which(command[0], path=environment["PATH"]) is None:
        hint = command_hint(full, command[0], environment["PATH"])
        raise UsageError(f"{where}: command: there is no program {printable(repr(command[0]), 200)} on the PATH{hint}")
    identity = identify_folder(
        full,
        Ignored.of(manifest.ignore),
        always=(full / MANIFEST, *([] if built else _run_directly(full, command))),
        never=program if built else None,
    )
    return BotSpec(
        name=name,
        path=folder,
        command=(str(program), *command[1:]) if program is not None else command,
        folder=full,
        environment={**environment, **manifest.env},
        interpreters=manifest.interpreters,
        build=manifest.build,
        is_of_2012=manifest.protocol is Protocol.UCC_2012 or bool(asked.prefix),
        **_known_by(identity, asked),
    )


def _run_directly(folder: Path, command: tuple[str, ...]) -> list[Path]:
    """Return the files of a link-free folder that the words of a command name: the program, a script, a jar.

    They are covered in any folder: one in `target` that is brought along, not built, is part of the bot.
    """
    paths = [folder / word for word in command]
    return [
        path
        for path in paths
        if path.is_relative_to(folder) and os.path.lexists(path) and os.path.realpath(path.parent) == str(path.parent)
    ]
