"""The program that a shim of a toolchain manager runs. The manager is asked with `which`.

Only a manager of the host's is run, in `/`, where no file of an entrant's can choose another version.
"""

import os
import subprocess
from functools import lru_cache
from pathlib import Path

from arena.bots.links import at_its_folder
from arena.bots.sandbox.programs import HostPrograms, is_program
from arena.bots.spec import base_environment
from arena.errors import UsageError
from arena.system.printable import printable

MANAGERS = ("pyenv", "nodenv", "goenv", "jenv", "rbenv", "asdf", "mise")
"""Managers that keep their shims in a folder `shims`, usually beside a folder `bin` with the manager itself."""
PROXIES = {"rustup": "rustup", "mise": "mise", "volta-shim": "volta"}
"""Programs that shims are links to, and the manager beside each of them."""
SETTINGS = ("HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR")
"""Variables of the host's that managers read, with PYENV_ROOT and the like. PYENV_VERSION is none of them: a shim that
started the arena sets it from a file in the current folder, which may be a bot's.
"""
ANSWER_SECONDS = 60.0


def behind_shim(program: Path, host: HostPrograms) -> Path:
    """Return what one of the host's programs runs: the program itself if it is no shim.

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
    """Return the toolchain manager that a program is a shim of; None for an ordinary program."""
    end, rustup = Path(os.path.realpath(program)), program.with_name("rustup")
    if rustup.is_file() and os.path.samefile(rustup, end):  # a link, or the same file under a second name
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
    """Ask a manager which program its shim runs; `path` is where the manager finds programs."""
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
