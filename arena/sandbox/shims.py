"""Find the programs behind the shims of toolchain managers, such as rustup and pyenv.

A manager is asked with `which`, in `/`, where no entrant's file can choose another version.
"""

import os
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from arena.bots.program_files import at_its_folder, is_program
from arena.bots.spec import base_environment

MANAGERS = ("pyenv", "nodenv", "goenv", "jenv", "rbenv", "asdf", "mise")
"""Managers with a folder `shims`, usually next to a folder `bin` with the manager itself."""
PROXIES = {"rustup": "rustup", "mise": "mise", "volta-shim": "volta"}
"""Programs that shims link to, and the manager next to each of them."""
SETTINGS = ("RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR")
"""Variables of the host that managers read, in addition to PYENV_ROOT and the like. PYENV_VERSION is excluded: a shim
that started the arena sets it from a file in the current folder, which may be a bot's.
"""
ANSWER_SECONDS = 60.0


def manager_of(program: Path, path: Sequence[Path]) -> Path | None:
    """Return the manager whose shim a program is; `path` are the folders of the host's PATH. None if it is no shim."""
    end, rustup = Path(os.path.realpath(program)), program.with_name("rustup")
    if os.path.isfile(rustup) and os.path.samefile(rustup, end):  # a link, or the same file under a second name
        end = rustup
    if end.name in PROXIES:
        return None if program.name == PROXIES[end.name] else end.with_name(PROXIES[end.name])
    if program.parent.name != "shims":
        return None
    root = program.parent.parent
    places = [*(root / "bin" / name for name in MANAGERS), *(folder / root.name.lstrip(".") for folder in path)]
    return next(filter(is_program, places), None)


@lru_cache
def program_behind(manager: Path, name: str, path: tuple[Path, ...]) -> Path | None:
    """Ask a manager which program its shim of this name runs; None if it knows none."""
    settings = (*SETTINGS, f"{manager.name.upper()}_ROOT")
    chosen = {name: os.environ[name] for name in settings if name in os.environ}
    environment = {
        **base_environment(),
        **chosen,
        "PATH": os.pathsep.join(map(str, path)),
        "RUSTUP_AUTO_INSTALL": "0",
    }
    try:
        done = subprocess.run(
            [manager, "which", name],
            check=True,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_SECONDS,
        )
        found = os.fsdecode(done.stdout).strip()
        return at_its_folder(Path(found)) if os.path.isabs(found) and os.path.isfile(found) else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
