"""Compare a league on a cluster of one worker with the same league on one machine: `python benchmarks/cluster.py`.

The leagues take turns. Both play `--jobs` games at a time; the cluster has a scheduler and a dask worker besides.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOTS = ("drifter", "raider", "warden")
AIM = 0.10


def seconds(games: int, jobs: int, *options: str) -> float:
    """Play a league, and return the seconds that it takes."""
    rounds = str(max(1, games // 6))
    with tempfile.TemporaryDirectory() as folder:
        line = [
            sys.executable,
            "-m",
            "arena",
            "league",
            *BOTS,
            "--rules",
            "duel",
            "--time",
            "60s/move",
            "-j",
            str(jobs),
        ]
        line += ["--rounds", rounds, "--store", str(Path(folder, "l.sqlite")), *options]
        begun = time.perf_counter()
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=240, help="games of the longer league (240)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="games at a time (the number of CPUs)")
    parser.add_argument("--times", type=int, default=3, help="how often each league is played (3)")
    options = parser.parse_args()
    short = 6
    if options.games <= short:
        parser.error(f"--games: expected more than {short}, got {options.games}")
    costs: dict[str, list[float]] = {"one machine": [], "local:1": []}
    for _ in range(options.times):
        for name, words in (("one machine", ()), ("local:1", ("--cluster", "local:1"))):
            long, start = (seconds(games, options.jobs, *words) for games in (options.games, short))
            costs[name].append((long - start) / (options.games - short))
    for name, found in costs.items():
        print(f"{name:12} {1000 * statistics.median(found):6.1f} ms a game by the clock, beside the start")
    ratio = statistics.median(b / a for a, b in zip(*costs.values(), strict=True))
    met = "met" if ratio <= 1 + AIM else "not met"
    print(f"ratio        {ratio:6.2f} (aim: at most {1 + AIM:.2f}, {met})")


if __name__ == "__main__":
    main()
