"""Reads the store of a ladder in a process of its own: what it computes for hundreds of bots delays no page."""

import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from arena.errors import ArenaError
from arena.report.site.pages import SiteContents
from arena.report.site.site_contents import NoGamesError, SitePlan, read_path


def read_apart(path: Path, plan: SitePlan) -> SiteContents:
    """Read what pages show of a store. Raises `ArenaError`, and `NoGamesError` for a store without games."""
    from arena.league.executor.child_process import own_python  # which the process itself does without

    asked, line = pickle.dumps((path, plan)), own_python("arena.host.read_apart")
    done = subprocess.run(line, input=asked, stdout=subprocess.PIPE, check=False, cwd="/", start_new_session=True)
    if done.returncode:
        raise ArenaError(f"{path}: the process that was to read it ended with exit code {done.returncode}")
    answer: SiteContents | str = pickle.loads(done.stdout)
    if isinstance(answer, SiteContents):
        return answer
    raise ArenaError(answer) if answer else NoGamesError(f"{path}: expected a store with games")


def main() -> None:
    path, plan = pickle.loads(sys.stdin.buffer.read())
    answer: SiteContents | str
    try:
        answer = read_path(path, plan)
    except ArenaError as error:
        answer = "" if isinstance(error, NoGamesError) else str(error)
    with suppress(BrokenPipeError), open(1, "wb", closefd=False) as out:  # the server may have ended meanwhile
        out.write(pickle.dumps(answer))
