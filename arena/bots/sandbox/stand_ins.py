"""A version manager's stand-in for Python, which alone knows for which one it stands, and so is asked."""

import json
import subprocess
from functools import lru_cache
from pathlib import Path

from arena.bots import base_environment
from arena.errors import UsageError
from arena.printable import printable

QUESTION = "import json, sys; print(json.dumps(sys.executable))"
ANSWER_SECONDS = 60.0


@lru_cache
def python_behind(stand_in: Path, path: str) -> Path:
    """Which Python a stand-in of the host's stands for, asked where no bot's file can tell it another.

    `path` is where it may look for programs.
    """
    try:
        answer = subprocess.run(
            [stand_in, "-E", "-s", "-c", QUESTION],  # nothing of the environment or the user is imported, nor of /
            check=True,
            cwd="/",
            env={**base_environment(), "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_SECONDS,
        )
        return Path(json.loads(answer.stdout))
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {error.returncode}"]
        raise UsageError(printable(f"{stand_in}: asked which Python it stands for, it failed: {said[0]}")) from None
    except (OSError, subprocess.TimeoutExpired, ValueError, TypeError) as error:
        raise UsageError(printable(f"{stand_in}: it does not tell which Python it stands for: {error}")) from None
