"""Where the games of a league are to be played, and how that is said."""

import os
import shlex
from dataclasses import dataclass, field

from arena.bots.build_checks import BuildLimits
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.messages import Tls

PRELOAD = "arena.league.executor.cluster.preload"


@dataclass(frozen=True)
class ClusterPlan:
    """Where the games are to be played: at the scheduler of this address, or with `local` workers of our own.

    `jobs` is how many games each worker plays at a time (0: as many as it has CPUs), `build` what builds may use, and
    `patience` the seconds for which a scheduler may be out of reach, and a worker silent.
    """

    address: str
    local: int
    tls: Tls | None
    jobs: int
    build: BuildLimits
    patience: float
    time: TimeControl = field(default_factory=TimeControl)
    """What most bots have, before it is scaled."""
    is_calibrated: bool = False
    """Whether clocks are scaled to each machine."""
    reference_us: int | None = None
    """What they are scaled by (`arena.play.played_on.percent_of`); None until that is known, and where they are not."""

    @property
    def name(self) -> str:
        """The cluster in words."""
        return f"local:{self.local}" if self.local else self.address

    @property
    def worker_command(self) -> str:
        """The command that starts a worker of this cluster, as it can be given to a shell."""
        words = ["dask", "worker", self.address, "--nthreads", "1"]
        if self.tls:
            files = {"--tls-ca-file": self.tls.ca, "--tls-cert": self.tls.cert, "--tls-key": self.tls.key}
            words += [word for option, file in files.items() for word in (option, os.fsdecode(file))]
        return shlex.join([*words, "--preload", PRELOAD])


def seconds_text(seconds: float) -> str:
    """A time to wait for, in words: to the second, or `0.5 s` if it is less than ten."""
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f}".removesuffix(".0") + " s"
