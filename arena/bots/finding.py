"""From a path to a bot: what may stand there, and how it is run.

A bot is an executable file; a `.py` file that is not executable, which the arena's own interpreter runs; or a folder
with a `bot.toml` (`arena.bots.manifest`). A sample bot's bare name stands for its file (`arena.bots.samples`).

A bot's digest covers its own files, so that a changed bot is a new one to a league: the file itself, or all files of
the folder but hidden ones, the usual build folders, what `ignore` names and, where there is a `build`, the program that
it makes.

A path that is no bot is an error to who asks for it alone. In a league it is an entrant that is broken: it takes part,
and forfeits its games, so that one entrant's mistake never stops the others. So is a path that is a symbolic link: what
it leads to is a rival's, or the host's, as far as anybody can see, and is not looked at.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from arena.bots.entering import broken_digest, copies_of_one, place_of_link, told_apart
from arena.bots.identity import Identity, identify_file, identify_folder
from arena.bots.ignore import Ignored
from arena.bots.manifest import MANIFEST, read_manifest
from arena.bots.names import PROGRAM_ENDINGS, alike, expected_name, made_name, name_fault, name_of_file
from arena.bots.samples import SAMPLES, bot_path, meant_sample, name_clashes
from arena.bots.scripts import FIRST_LINE, command_hint, is_meant_to_run
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError, suggest
from arena.hostfile import HOST_ERRORS, kind_of, read_start
from arena.printable import printable

DOCUMENT_ENDINGS = (".md", ".txt", ".rst")
DOCUMENTS = ("README", "LICENSE", "LICENCE", "COPYING", "NOTICE", "CHANGELOG", "AUTHORS", "CONTRIBUTING")
NEIGHBOURS_LOOKED_AT = 1000


class NotThereError(UsageError):
    """There is nothing at a path that was given: nobody's bot is broken, but the command is mistyped."""


@dataclass(frozen=True)
class Found:
    """The bots at some paths, broken ones included, with names told apart; and remarks on other paths and on names."""

    bots: tuple[BotSpec, ...]
    remarks: tuple[str, ...] = ()

    def sound(self) -> list[BotSpec]:
        """The bots, if all of them can be started. Raises `UsageError` naming everything that is wrong."""
        faults = [bot.fault for bot in self.bots if bot.fault is not None]
        if faults:
            raise UsageError("\n".join(faults))
        return list(self.bots)


def find_bots(paths: Sequence[str]) -> list[BotSpec]:
    """The bots at these paths, with names told apart. Raises `UsageError` naming everything that is wrong.

    Hidden files that are no bots and `__pycache__` are passed over.
    """
    return _find([path for path in map(bot_path, paths) if not _is_hidden(path)], ()).sound()


def find_entrants(paths: Sequence[str], *, follow_links: bool = False) -> Found:
    """The bots at these paths, broken ones included: what a folder of submissions comes to.

    A sample bot's bare name that names nothing here stands for that bot.
    A path that is itself a symbolic link is broken, unless links are to be followed; links on the way are followed.
    Hidden files that are no bots and `__pycache__` are passed over, so that a shell's `bots/*` just works; and so are
    documents, which is said. Raises `UsageError` for paths at which there is nothing.
    """
    seen = [path for path in map(bot_path, paths) if not _is_hidden(path)]
    documents = [path for path in seen if _is_document(path)]
    remarks = [f"{printable(str(path))}: passed over, as a document and no bot" for path in documents]
    remarks += name_clashes(paths)
    return _find([path for path in seen if path not in documents], tuple(remarks), follow_links=follow_links)


def _find(paths: Sequence[Path], remarks: tuple[str, ...], *, follow_links: bool = True) -> Found:
    bots: list[BotSpec] = []
    missing: list[str] = []
    for path in paths:
        try:
            if not follow_links and _is_link(path):
                bots.append(_refused_link(path))
                continue
            bots.append(load_bot(path))
        except NotThereError as error:
            missing.append(str(error))
        except UsageError as error:
            bots.append(_broken_at(path, str(error)))
    if missing:
        raise UsageError("\n".join(missing + [bot.fault for bot in bots if bot.fault is not None]))
    told = tuple(told_apart(bots))
    pairs = alike(bot.name for bot in told)
    look_alike = (f"{one} and {other}: two bots, of names that look alike" for one, other in pairs)
    return Found(told, (*remarks, *look_alike, *copies_of_one(told)))


def _is_hidden(path: Path) -> bool:
    """Whether a path is passed over: a shell's `*` may bring it, and it is no bot. A hidden bot that is named plays."""
    if path.name == "__pycache__":
        return True
    has_dot = path.name.startswith(".") and path.name not in (".", "..")
    return has_dot and os.path.lexists(path) and not _may_be_bot(path)


def _may_be_bot(path: Path) -> bool:
    if os.path.isdir(path):
        return os.path.lexists(path / MANIFEST)
    return path.suffix in PROGRAM_ENDINGS or os.access(path, os.X_OK)


def _is_document(path: Path) -> bool:
    """Whether a path is a file that is plainly no bot. Its mode says nothing: on some file systems all can be run."""
    return (path.suffix.lower() in DOCUMENT_ENDINGS or path.name in DOCUMENTS) and os.path.isfile(path)


# --- bots that cannot be started ------------------------------------------------------------------------------------


def broken(bot: BotSpec, fault: str) -> BotSpec:
    """The same bot, known to be unable to start: `fault` says why, and is made printable here.

    It is a player of its own, so that the games it forfeits are not those of the bot that it is when it is mended, be
    it by a change of its mode or of this machine.
    """
    return replace(bot, digest=broken_digest(bot.digest), fault=printable(fault, lines=True))


def _broken_at(path: Path, fault: str) -> BotSpec:
    """What stands at a path that is no bot as a broken one."""
    full = Path(os.path.realpath(path))
    name = name_of_file(full.name if os.path.isdir(full) else _stem(path))
    identity = Identity("")
    try:
        if os.path.isdir(full):
            name = read_manifest(path).name or name
            identity = identify_folder(full)
        elif os.path.isfile(full):
            identity = identify_file(full)
    except (UsageError, OSError) as error:
        if isinstance(error, OSError) and error.errno in HOST_ERRORS:
            raise
        # else what can be told of it is enough
    return broken(BotSpec(made_name(name), path, (), full, identity.digest, former=identity.former), fault)


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except (OSError, ValueError):  # ValueError: a NUL, as no path has
        return False


def _refused_link(path: Path) -> BotSpec:
    """A link as a broken bot. Nothing of what it leads to is looked at."""
    try:
        target = os.readlink(path)
    except OSError as error:
        raise UsageError(f"{printable(str(path))}: cannot be looked at: {error.strerror}") from None
    fault = (
        f"{printable(str(path))}: expected the bot itself, got a link to {printable(target, 200)}; name what it leads "
        "to, or pass --follow-links if the links in this folder are yours"
    )
    digest = hashlib.sha256(b"link " + os.fsencode(target)).hexdigest()
    return broken(BotSpec(made_name(name_of_file(_stem(path))), path, (), place_of_link(path), digest), fault)


# --- one bot --------------------------------------------------------------------------------------------------------


def load_bot(path: Path) -> BotSpec:
    """The bot at one path; what it is to be built from, where its folder says how. Raises `UsageError`."""
    where = printable(str(path))
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL, as no path has
        if path.is_symlink():
            raise UsageError(f"{where}: this is a link that leads nowhere") from None
        raise NotThereError(f"{where}: there is no such file or folder{_near(path)}") from None
    except OSError as error:
        if error.errno in HOST_ERRORS:
            raise
        raise UsageError(f"{where}: cannot be looked at: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        return _load_folder(path)
    if not stat.S_ISREG(mode):
        raise UsageError(f"{where}: expected an executable file or a folder with {MANIFEST}, got {kind_of(mode)}")
    executable = os.access(path, os.X_OK)
    full = path.resolve()
    if path.name == MANIFEST:
        raise UsageError(f"{where}: a {MANIFEST} is no bot by itself: name its folder: {printable(str(path.parent))}")
    if not executable and path.suffix != ".py":
        expected = f"{where}: expected an executable file, a .py file or a folder with {MANIFEST}"
        cure = f"; this file is not executable (chmod +x {where})" if _is_program(full) else ""
        raise UsageError(f"{expected}{cure}")
    name = name_of_file(_stem(path))
    fault = name_fault(name)
    if fault:
        raise UsageError(f"{where}: the name of a bot that is a file is the file's: {expected_name(name, fault)}")
    identity = identify_file(full)
    return BotSpec(
        name=name,
        path=path,
        command=(str(full),) if executable else (sys.executable, str(full)),
        folder=full.parent,
        digest=identity.digest,
        environment=base_environment(),
        files=identity.files,
        look=identity.look,
        former=identity.former,
    )


def _is_program(path: Path) -> bool:
    """Whether a file, at a path without links, begins as programs do."""
    try:
        return is_meant_to_run(read_start(path, FIRST_LINE))
    except OSError:
        return False


def _stem(path: Path) -> str:
    return path.stem if path.suffix in PROGRAM_ENDINGS else path.name


def _near(path: Path) -> str:
    """What to add to "there is no such file": a sample bot, or what the folder holds of nearly that name."""
    sample = meant_sample(path)
    bare = f"; for the sample bot write {sample}" if sample else ""
    if not os.path.isdir(path.parent):
        return f" (nor the folder {printable(str(path.parent))}){bare}" if path.parent != Path() else bare
    if sample:
        return bare
    is_bare = path.parent == Path()
    names = list(SAMPLES) if is_bare else []
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        names += [entry.name for entry in islice(entries, NEIGHBOURS_LOOKED_AT) if not entry.name.startswith(".")]
    hint = suggest(path.name, names)
    if hint.startswith("did you mean"):
        return f"; {printable(hint)}"
    return f", nor a sample bot of that name: they are {', '.join(SAMPLES)}" if is_bare and not path.suffix else ""


def _load_folder(folder: Path) -> BotSpec:
    manifest = read_manifest(folder)
    where = f"{printable(str(folder))}/{MANIFEST}"
    full = folder.resolve()
    name = manifest.name or name_of_file(full.name)
    fault = name_fault(name)
    if fault:
        raise UsageError(f"{where}: without a name in it the folder's is taken: {expected_name(name, fault)}")
    command = manifest.command
    built = manifest.build is not None
    program = full / command[0] if "/" in command[0] else None
    environment = base_environment()
    if program is not None and not built and not (os.path.isfile(program) and os.access(program, os.X_OK)):
        state = "is not an executable file" if os.path.exists(program) else "does not exist"
        hint = command_hint(full, command[0], environment["PATH"]) if not os.path.exists(program) else ""
        raise UsageError(f"{where}: command: {printable(command[0], 200)} {state} in {printable(str(folder))}{hint}")
    if program is None and not built and shutil.which(command[0], path=environment["PATH"]) is None:
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
        digest=identity.digest,
        environment={**environment, **manifest.env},
        files=identity.files,
        build=manifest.build,
        look=identity.look,
        former=identity.former,
    )


def _run_directly(folder: Path, command: tuple[str, ...]) -> list[Path]:
    """The files of a folder, at a path without links, that the words of a command name: the program, a script, a jar.

    They count wherever they lie: one in `target` that is brought along, not built, is what the bot is.
    """
    paths = [folder / word for word in command]
    return [
        path
        for path in paths
        if path.is_relative_to(folder) and os.path.lexists(path) and os.path.realpath(path.parent) == str(path.parent)
    ]
