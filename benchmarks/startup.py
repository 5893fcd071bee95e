"""How long `arena` takes to say something, beside the shortest thing that Python can do.

    python benchmarks/startup.py [--rounds 40] [--most 5]

Runs `python -c pass`, `arena --help`, `arena --version`, the help of two commands and a completion, one after the other
and so all in each round, because a machine's speed drifts. Prints the median of each and its ratio to `python -c pass`,
and exits with 1 if that of `arena --help` is above `--most`. The modules are compiled before, as an installation has
them. `python -X importtime -c 'from arena.cli.entry import main; main()' league --help` says where the time goes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from arena.cli.catalog import COMPLETION_VARIABLE

ARENA = (sys.executable, "-c", "from arena.cli.entry import main; main()")
PASS = "python -c pass"
HELP = "arena --help"
LINES: dict[str, tuple[str, ...]] = {
    PASS: (sys.executable, "-c", "pass"),
    HELP: (*ARENA, "--help"),
    "arena --version": (*ARENA, "--version"),
    "arena standings --help": (*ARENA, "standings", "--help"),
    "arena league --help": (*ARENA, "league", "--help"),
    "completing --rules": ARENA,
}
COMPLETING = {COMPLETION_VARIABLE: "bash_complete", "COMP_WORDS": "arena league --rules vin", "COMP_CWORD": "3"}


def seconds(name: str, environment: dict[str, str]) -> float:
    """How long one run takes."""
    more = COMPLETING if name.startswith("completing") else {}
    start = time.perf_counter()
    done = subprocess.run(LINES[name], check=False, env={**environment, **more}, capture_output=True)
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
        for name in LINES:
            seconds(name, environment)
        for _ in range(rounds):
            for name, found in times.items():
                found.append(seconds(name, environment))
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--most", type=float, default=5.0, help="the ratio that 'arena --help' may have")
    options = parser.parse_args()
    medians = measure(options.rounds)
    for name, median in medians.items():
        print(f"{name:24} {1000 * median:7.1f} ms {median / medians[PASS]:6.2f}")
    ratio = medians[HELP] / medians[PASS]
    print(f"{HELP} takes {ratio:.2f} times as long as {PASS} (at most {options.most:g})")
    sys.exit(ratio > options.most)


if __name__ == "__main__":
    main()
