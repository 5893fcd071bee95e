"""Where the games of a league are played, if not on this machine."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from arena.bots.build_checks import BuildLimits
from arena.game.time_control import TimeControl

PRELOAD = "arena.league.executor.cluster.preload"
"""What a dask worker loads (`--preload`)."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM: the authority that signs certificates, the certificate of this side, and its key."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class ClusterPlan:
    """Where games are played: by the workers of the scheduler at `address`, or by `local` workers on this machine.

    `jobs` is how many games each worker plays at a time at most (0: as many as it has threads), `build` the limits of
    builds, `patience` the seconds for which a scheduler may be out of reach and a worker silent. `time` is the usual
    time control, unscaled.
    """

    address: str
    local: int
    tls: Tls | None
    jobs: int
    build: BuildLimits
    patience: float
    time: TimeControl = field(default_factory=TimeControl)
    is_calibrated: bool = False
    """Whether clocks are scaled to each machine."""
    reference_us: int | None = None
    """The calibration that clocks are scaled by; None until it is known, and where clocks are not scaled."""

    @property
    def name(self) -> str:
        return f"local:{self.local}" if self.local else self.address

    @property
    def worker_command(self) -> str:
        """The shell command that starts a worker of this cluster."""
        words = ["dask", "worker", self.address]
        if self.tls:
            files = {"--tls-ca-file": self.tls.ca, "--tls-cert": self.tls.cert, "--tls-key": self.tls.key}
            words += [word for option, file in files.items() for word in (option, str(file))]
        return shlex.join([*words, "--preload", PRELOAD])
