"""What a league or a match is asked to be, in the words that people write: the options and their defaults.

Quick to import: the command line needs the defaults before it needs anything else.
"""

import enum
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.bots.asked import AskedBot, OwnByName
    from arena.league.cluster import ClusterOptions
    from arena.rules.ruleset import Ruleset

SANDBOXES = ("basic", "bwrap", "cgroup", "auto")
OPPONENTS = ("hidden", "named")
LARGEST_SEED = 2**64 - 1
MOST_JOBS = 4096
"""Games at a time; each takes two processes and a dozen descriptors."""
USUAL_MATCH_GAMES = 2
USUAL_MOST_COMPARED = 20_000
"""Games of a sequential test at most, where nobody says how many."""
MOST_GAMES = 1_000_000
"""Games of a league, whose rows are in memory while it is played."""


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Kind(enum.Enum):
    """What is played, by the word for it, which default stores are named after."""

    LEAGUE = "league"
    MATCH = "match"
    COMPARE = "compare"
    PLAY = "play"


@dataclass(frozen=True)
class PlayOptions:
    """What was asked for. Times and sizes are strings with units (`100ms`, `512M`), read by `arena.league.settings`.

    `rules` are a ruleset, or the name of one. `limits` is a TOML file with other limits and times for some bots.
    `interpreters` are paths of programs that bots may be run by. `keep_bots` plays the two games of a pair in the same
    processes. `openings` is a file of set-ups that games begin with. `opponents`, one of `OPPONENTS`, is
    whether bots are told each other's names. `affinity` pins the bots of each game to a CPU;
    without it (None) that is done where there are at least as many games as usable CPUs.
    `asked` are the bots as they were named, where more is said of them than their paths. `own` is what single bots may
    use and take, by name; `limits` wins over it.
    With a `cluster` the games are played on other machines, or on this one by way of one.
    Without a `store` the games are kept in a file in the current folder that is named after the settings.
    """

    rules: "str | Ruleset" = "isf"
    time: str = "100ms"
    start_time: str = "10s"
    setup_time: str = "5s"
    margin: str = "50ms"
    seed: int = 1
    jobs: int = field(default_factory=usable_cpus)
    sandbox: str = "basic"
    memory: str = "512M"
    processes: int = 64
    tmp: str = "16M"
    limits: Path | None = None
    interpreters: tuple[str, ...] = ()
    build_time: str = "10m"
    build_memory: str = "2G"
    build_disk: str = "2G"
    build_network: bool = False
    pondering: bool = True
    keep_bots: bool = False
    openings: Path | None = None
    opponents: str = "hidden"
    affinity: bool | None = None
    store: Path | None = None
    asked: "tuple[AskedBot, ...]" = ()
    own: "OwnByName | None" = None
    cluster: "ClusterOptions | None" = None


USUAL = PlayOptions()
