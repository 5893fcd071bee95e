"""Which processes still live in a folder: a test must leave none behind."""

from pathlib import Path

import psutil

UNTOLD = (psutil.Error, OSError)
"""What asking for a process's folder may raise. Psutil's own errors are not all: a hostile bot of another test, which
runs at the same time, may be in a folder whose path is too long to be told."""


def processes_in(folder: Path) -> list[psutil.Process]:
    """Live processes that run in the folder, as bots at its files do."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(folder):
                found.append(process)
        except UNTOLD:
            continue
    return found
