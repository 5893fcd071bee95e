"""Building bots: the `build` of a bot.toml, run before the first game, and held as the bots are.

A build is an entrant's own code. At the default level it runs as whoever started the arena, in the bot's folder, and
that is said. At the others it runs in a sandbox of its own, with the system and what the host has named, and writes to
nothing but a copy of the bot's folder, on which it works as a user that owns nothing else. When all its processes are
dead, what it has made is put back into the folder: so nothing that it leaves running can change it, nothing is followed
that it has made, and a build that fails leaves nothing.

A digest is of what a build works on, not of the program that it makes. So the program is out of the way when a build
begins, and a build that does not make it has failed: else a bot could bring along a program that no digest covers. And
what bot.toml says is what it said before the build.
"""

import contextlib
import os
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import msgspec
import trio

from arena.bots import BotSpec, Manifest, broken, load_bot, read_manifest
from arena.bots.limits import GIB, Limits, size_text
from arena.bots.links import follow
from arena.bots.run import Ended, Run, run_to_end
from arena.bots.sandbox import bwrap, files
from arena.bots.sandbox.cgroup import Hierarchy
from arena.bots.sandbox.launch import Launch, SandboxError, StartError
from arena.bots.sandbox.levels import Level, joined
from arena.bots.sandbox.mounts import HOME, refuse_rivals
from arena.bots.sandbox.programs import HostPrograms, own_files
from arena.bots.sandbox.rlimits import process_limits
from arena.bots.sandbox.runtimes import find_tools
from arena.errors import UsageError
from arena.printable import printable

PROCESSES = 512
"""Processes and threads of a build: compilers start one for each CPU, and some more."""
OPEN_FILES = 4096
NOT_FOUND = 127
"""What a shell exits with that has not found a program."""
LINES_SHOWN = 20
LINE_LENGTH = 1000
LOOK_SECONDS = 0.1
"""How often the disk is looked at, if a look takes no more than a part of that."""
LOOK_SHARE = 4
FREE_SPACE_SHARE = 2
"""Files that have no name any more are seen only by the disk's becoming full: so many times what is allowed is too
much, for others write to it as well."""


class BuildLimits(msgspec.Struct, frozen=True):
    """What a build may use in a sandbox: bytes of memory, bytes of files in the bot's folder and as many again in
    /tmp; the network or not. `seconds` hold at every level."""

    seconds: float = 600.0
    memory: int = 2 * GIB
    disk: int = 2 * GIB
    network: bool = False


def build_all(
    bots: Sequence[BotSpec],
    level: Level,
    limits: BuildLimits,
    host: HostPrograms,
    say: Callable[[str], None],
    *,
    run: Run = trio.run,
) -> list[BotSpec]:
    """The same bots, those that have a build built and looked at anew. `say` is told what is being done, line by line.

    `run` runs what is to be waited for. Those that cannot be built are broken. Raises `HostError`.
    """
    built = list(bots)
    if level is Level.DEFAULT and any(bot.build and not bot.fault for bot in bots):
        say("builds run unconfined at --sandbox default: as you, with your files and your network")
    for place, bot in enumerate(bots):
        if bot.build is None or bot.fault is not None:
            continue
        say(f"building {printable(bot.name)}: {printable(bot.build, LINE_LENGTH)}")
        try:
            if level is Level.DEFAULT:
                _build_here(bot, bot.build, limits, run)
            else:
                _build_in_sandbox(bot, bot.build, level, limits, host=host, bots=bots, run=run)
            built[place] = replace(load_bot(bot.path), name=bot.name)
            _check_made(built[place])
        except SandboxError:
            raise
        except UsageError as error:
            built[place] = broken(bot, str(error))
        except (files.FilesError, StartError) as error:
            built[place] = broken(bot, printable(f"{bot.path}: it cannot be built: {error}"))
    return built


def _build_here(bot: BotSpec, build: str, limits: BuildLimits, run: Run) -> None:
    line = ("/bin/sh", "-c", 'exec /bin/sh -c "$0" </dev/null >&2', build)
    launch = Launch(line, bot.folder, dict(os.environ))
    manifest = _manifest(bot.folder)
    with _put_aside(bot):
        _judge(bot, build, Level.DEFAULT, run(run_to_end, launch, limits.seconds))
        _refuse_if_nothing_is_made(bot, bot.folder)
        _refuse_other_manifest(bot, manifest, bot.folder)


def _program_in(bot: BotSpec, folder: Path) -> Path | None:
    """The program that a build is to make, in the bot's folder or a copy of it; None if the command names another.

    One that is not in the folder itself, or behind a link, is none: a digest leaves out no file on its account.
    """
    if not Path(bot.command[0]).is_relative_to(bot.folder):
        return None
    program = folder / Path(bot.command[0]).relative_to(bot.folder)
    inside = program != folder and os.path.realpath(program.parent) == str(program.parent)
    return program if inside else None


@contextlib.contextmanager
def _put_aside(bot: BotSpec) -> Iterator[None]:
    """Have the program that is to be made out of the way, and put it back if what is done meanwhile fails."""
    program = _program_in(bot, bot.folder)
    if program is None or not os.path.lexists(program) or (program.is_dir() and not program.is_symlink()):
        yield
        return
    aside = program.with_name(f".built-before-{secrets.token_hex(8)}")
    try:
        program.rename(aside)
    except OSError as error:
        raise UsageError(f"{program}: cannot be put aside to be built anew: {error.strerror}") from None
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # it has made a folder there, or removed its own: then that stays
            aside.replace(program)
        raise
    with contextlib.suppress(FileNotFoundError):
        aside.unlink()


def _refuse_if_nothing_is_made(bot: BotSpec, folder: Path) -> None:
    program = _program_in(bot, folder)
    if program is not None and not os.path.lexists(program):
        name = printable(str(program.relative_to(folder)), LINE_LENGTH)
        raise UsageError(
            f"{bot.path}: the build succeeded but did not make ./{name}, which command names; "
            f'a script that is brought along is an argument, as in command = ["sh", "{name}"]'
        )


def _manifest(folder: Path) -> Manifest | str:
    """What the bot.toml of a folder says, or what is wrong with it."""
    try:
        return read_manifest(folder)
    except UsageError as error:
        return str(error)


def _refuse_other_manifest(bot: BotSpec, before: Manifest | str, folder: Path) -> None:
    if _manifest(folder) != before:
        raise UsageError(f"{bot.path}: its build changes bot.toml: expected a build that leaves it as it was submitted")


def _build_in_sandbox(
    bot: BotSpec,
    build: str,
    level: Level,
    limits: BuildLimits,
    *,
    host: HostPrograms,
    bots: Sequence[BotSpec],
    run: Run,
) -> None:
    tools = find_tools(bot, host)
    refuse_rivals(bot, own_files(bot), tools.folders, bots)
    user = bwrap.spare_user()
    held = Limits(limits.memory, PROCESSES, limits.disk)
    with _scratch() as scratch, _group(level, limits) as make_group:
        copy = scratch / "bot"
        copy.mkdir(0o755)
        if user is not None:
            os.chown(copy, user, user)
        try:
            files.copy_folder(bot.folder, copy, limits.disk, user)
        except OSError as error:
            raise UsageError(printable(f"{bot.path}: cannot be copied to be built: {error}")) from None
        program = _program_in(bot, copy)
        if program is not None and (program.is_symlink() or program.is_file()):
            program.unlink()
        before, manifest = files.stamps(copy), _manifest(copy)
        path = (*dict.fromkeys(str(folder) for folder in tools.path), "/usr/local/bin", "/usr/bin", "/bin")
        workshop = bwrap.Workshop(
            copy=copy,
            folders=tools.folders,
            links=tools.links,
            path=os.pathsep.join(path),
            process_limits={**process_limits(held), "nofile": OPEN_FILES},
            processes=PROCESSES,
            disk=limits.disk,
            network=limits.network,
        )
        launch = Launch(bwrap.build_line(build, workshop, user), Path("/"), {}, held, helpers=bwrap.PROCESSES)
        launch = make_group(launch)
        ended = run(run_to_end, launch, limits.seconds, _DiskWatch(copy, limits.disk).watch)
        _judge(bot, build, level, ended)
        _open_up(copy)
        _refuse_if_nothing_is_made(bot, copy)
        _refuse_other_manifest(bot, manifest, copy)
        try:
            files.put_back(copy, bot.folder, before, limits.disk, _LinkTargets(bot, host).inside)
        except OSError as error:
            raise UsageError(printable(f"{bot.path}: what its build made cannot be put there: {error}")) from None


def _judge(bot: BotSpec, build: str, level: Level, ended: Ended) -> None:
    """Raise `UsageError`, with the end of what it printed, if a build has not ended well."""
    if ended.code == 0:
        return
    how = f"failed with exit code {ended.code}" if ended.code is not None else ended.how
    lines = [printable(line, LINE_LENGTH, lines=True) for line in ended.said.splitlines()[-LINES_SHOWN:]]
    shown = "\n".join(f"    {line}" for line in lines) or "    (it printed nothing)"
    if ended.code == NOT_FOUND and level is not Level.DEFAULT:
        shown += "\n    programs outside the system have to be named by the host: --interpreter PATH"
    raise UsageError(f"{printable(str(bot.path))}: the build {how}: {printable(build, LINE_LENGTH)}\n{shown}")


def _check_made(bot: BotSpec) -> None:
    """Raise `UsageError` if a build that has ended well has not made the program that `command` names."""
    program = Path(bot.command[0])
    if not program.is_relative_to(bot.folder):
        return
    shown = printable(f"./{program.relative_to(bot.folder)}", LINE_LENGTH)
    if not os.path.exists(program):
        raise UsageError(f"{bot.path}: the build succeeded but did not make {shown}, which command names")
    if not (os.path.isfile(program) and os.access(program, os.X_OK)):
        raise UsageError(f"{bot.path}: the build succeeded, but {shown}, which command names, is no executable file")


class _DiskWatch:
    """Looks at what a build writes to the disk."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._free = self._free_now()

    def _free_now(self) -> int:
        system = os.statvfs(self._folder)
        return system.f_bfree * system.f_frsize

    async def watch(self) -> str:
        """Return, in words, when it is more than is allowed."""
        while True:
            begun = trio.current_time()
            words = self._look()
            if words:
                return words
            await trio.sleep(max(LOOK_SECONDS, LOOK_SHARE * (trio.current_time() - begun)))

    def _look(self) -> str:
        try:
            used = files.size_on_disk(self._folder)
        except files.FilesError as error:
            return f"made too many files: {error}"
        if used > self._most or self._free - self._free_now() > FREE_SPACE_SHARE * self._most:
            return f"wrote more than the {size_text(self._most)} of files that are allowed (--build-disk)"
        return ""


class _LinkTargets:
    """What the links that a build has made may lead to: its own files, the system, and what the host has named."""

    def __init__(self, bot: BotSpec, host: HostPrograms) -> None:
        self._bot, self._host = bot, host

    def inside(self, path: str, target: str) -> str:
        """The text for a link at this path. Links to the bot's own files become relative: outside, they are elsewhere.

        Raises `UsageError` for a link that leads out.
        """
        parts = PurePosixPath(target).parts
        climbs = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
        is_within = os.path.isabs(target) or climbs <= len(PurePosixPath(path).parent.parts)
        if is_within and ".." not in parts[climbs:]:  # which may mean another place if a link comes before it
            folder = Path(HOME, path).parent
            leads_to = Path(os.path.normpath(folder / target))
            if leads_to.is_relative_to(HOME):
                return os.path.relpath(leads_to, folder) if os.path.isabs(target) else target
            if os.path.isabs(target) and self._is_of_the_host(leads_to):
                return target
        raise UsageError(
            f"{printable(str(self._bot.path))}: its build makes a link that leads out of its folder: "
            f"{printable(path, LINE_LENGTH)} leads to {printable(target, LINE_LENGTH)}: expected links "
            "to its own files or to programs of the system"
        )

    def _is_of_the_host(self, path: Path) -> bool:
        try:
            return self._host.why_not(path, follow(path)) is None
        except OSError:
            return False


# --- the surroundings of a build --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that only the arena's user can get at, and that is gone afterwards whatever has become of it."""
    folder = Path(tempfile.mkdtemp(prefix="arena-build-")).resolve()
    try:
        yield folder
    finally:
        _open_up(folder)
        subprocess.run(["rm", "-rf", "--", folder], check=False, capture_output=True, env={"PATH": bwrap.TOOL_PATH})


def _open_up(folder: Path) -> None:
    """Make what a build has closed such that it can be read; neither this nor rm follows a link."""
    folders = ("-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";")
    closed = ("-type", "f", "!", "-perm", "-400", "-exec", "chmod", "u+r", "{}", "+")
    line = ["find", str(folder), "(", *folders, ")", "-o", "(", *closed, ")"]
    subprocess.run(line, check=False, capture_output=True, env={"PATH": bwrap.TOOL_PATH})


@contextlib.contextmanager
def _group(level: Level, limits: BuildLimits) -> Iterator[Callable[[Launch], Launch]]:
    """Puts a launch into a control group, at the level that has them."""
    if level is not Level.CGROUP:
        yield lambda launch: launch
        return
    hierarchy = Hierarchy.find()

    def join(launch: Launch) -> Launch:
        # What lies in /tmp is memory to the kernel; and of memory itself the watch looks at the limit.
        group = hierarchy.make("build", Limits(limits.memory + limits.disk, PROCESSES), bwrap.PROCESSES)
        return replace(launch, command=joined(launch.command, group), group=group)

    try:
        yield join
    finally:
        hierarchy.close()
