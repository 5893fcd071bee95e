"""How long `arena` takes to say something, beside the shortest thing that Python can do.

    python benchmarks/startup.py [--rounds 40] [--most 5] [--most-standings 8]

Runs `python -c pass`, `arena --help`, `arena --version`, the help of two commands, a completion and the standings of a
store of 20 games, one after the other and so all in each round, because a machine's speed drifts. Prints the median of
each and its ratio to `python -c pass`. At the end stand the aims for `arena --help` and `arena standings`, and whether
they are met; exits with 1 if that of `arena --help` is not. The modules are compiled before, as an installation has
them. `python -X importtime -c 'from arena.cli.entry import main; main()' league --help` says where the time goes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scale import generate, players_of

from arena.cli.catalog import COMPLETION_VARIABLE

ARENA = (sys.executable, "-c", "from arena.cli.entry import main; main()")
PASS = "python -c pass"
HELP = "arena --help"
STANDINGS = "arena standings STORE"
LINES: dict[str, tuple[str, ...]] = {
    PASS: (sys.executable, "-c", "pass"),
    HELP: (*ARENA, "--help"),
    "arena --version": (*ARENA, "--version"),
    "arena standings --help": (*ARENA, "standings", "--help"),
    "arena league --help": (*ARENA, "league", "--help"),
    "completing --rules": ARENA,
    STANDINGS: (*ARENA, "standings", "league.sqlite"),
}
COMPLETING = {COMPLETION_VARIABLE: "bash_complete", "COMP_WORDS": "arena league --rules vin", "COMP_CWORD": "3"}


def seconds(name: str, environment: dict[str, str], folder: str) -> float:
    """How long one run takes."""
    more = COMPLETING if name.startswith("completing") else {}
    start = time.perf_counter()
    done = subprocess.run(LINES[name], check=False, env={**environment, **more}, cwd=folder, capture_output=True)
    taken = time.perf_counter() - start
    if done.returncode or (name != PASS and not done.stdout):
        sys.exit(f"{name}: exit code {done.returncode}\n{done.stderr.decode()}")
    return taken


def measure(rounds: int) -> dict[str, float]:
    """The median of each, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in LINES}
    with tempfile.TemporaryDirectory() as folder:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder
        generate(Path(folder, "league.sqlite"), players_of(5), 20, 40)
        for name in LINES:
            seconds(name, environment, folder)
        for _ in range(rounds):
            for name, found in times.items():
                found.append(seconds(name, environment, folder))
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--most", type=float, default=5.0, help="the ratio that 'arena --help' may have")
    parser.add_argument("--most-standings", type=float, default=8.0, help="the ratio that 'arena standings' may have")
    options = parser.parse_args()
    medians = measure(options.rounds)
    for name, median in medians.items():
        print(f"{name:24} {1000 * median:7.1f} ms {median / medians[PASS]:6.2f}")
    for name, most in ((HELP, options.most), (STANDINGS, options.most_standings)):
        ratio = medians[name] / medians[PASS]
        is_met = "met" if ratio <= most else "NOT met"
        print(f"aim: {name} beside {PASS}: at most {most:g} times, found {ratio:.1f}: {is_met}")
    sys.exit(medians[HELP] > options.most * medians[PASS])


if __name__ == "__main__":
    main()
