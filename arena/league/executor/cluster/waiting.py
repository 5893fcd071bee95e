"""How long nobody is waited for: what the user is told while no worker plays, and when that has been too long."""

from collections.abc import Collection, Mapping

from arena.errors import ArenaError
from arena.league.executor.cluster.plan import ClusterPlan, seconds_text
from arena.league.executor.cluster.seat import Seat, Standing

TOLD_SECONDS = 0.5
"""After this time without a worker it is told that one is waited for."""
PREPARING_SECONDS = 3.0
"""After this time in which workers are being prepared, and none plays, that is told."""


class Waiting:
    """What is waited for, and since when. Ask it again and again: `look`, and then `is_over`."""

    def __init__(self, plan: ClusterPlan) -> None:
        self._plan = plan
        self._since: float | None = None
        """When the last worker went that games may come from; None: there is one, or the scheduler is away."""
        self._coming_since: float | None = None
        """Since when workers are being prepared and none is ready."""
        self._is_told = self._is_coming_told = False
        self._waited = 0.0

    def look(self, seats: Collection[Seat], now: float, *, is_reachable: bool) -> str:
        """What there is to say now, as the workers are; mostly nothing."""
        hopeful = [seat for seat in seats if seat.is_hopeful]
        coming = [seat for seat in hopeful if seat.standing is Standing.COMING and not seat.is_busy]
        if hopeful or not is_reachable:
            self._since, self._is_told = None, False
        elif self._since is None:
            self._since = now
        if not is_reachable or not coming or any(seat.standing is Standing.READY for seat in hopeful):
            self._coming_since, self._is_coming_told = None, False
        elif self._coming_since is None:
            self._coming_since = now
        self._waited = 0.0 if self._since is None else now - self._since
        if self._waited > TOLD_SECONDS and not self._is_told:
            self._is_told = True
            return self._waiting_text()
        if self._coming_since is not None and now - self._coming_since > PREPARING_SECONDS and not self._is_coming_told:
            self._is_coming_told = True
            return f"{_named(coming)} being made ready: bots are sent there, and built if they are to be built"
        return ""

    def is_over(self, refusals: Collection[str]) -> bool:
        """Whether it has been too long; of workers of our own no others will come than those that were refused."""
        return self._waited > self._plan.patience or 0 < self._plan.local == len(refusals)

    def _waiting_text(self) -> str:
        patience = seconds_text(self._plan.patience)
        if self._plan.local:
            return f"cluster {self._plan.name}: no worker is there; one is waited for, at most {patience}"
        return (
            f"cluster {self._plan.name}: no worker can play; one is waited for, at most {patience}. To start one:\n"
            f"    {self._plan.worker_command}"
        )

    def error(self, seats: Collection[Seat], refusals: Mapping[str, str]) -> ArenaError:
        """Why no game is played; `refusals` says why workers are not used."""
        silent = {seat.name: "it has not been heard of for long" for seat in seats if seat.is_silent}
        reasons = "".join(f"\n    {name}: {why}" for name, why in {**silent, **refusals}.items())
        cluster, patience = self._plan.name, seconds_text(self._plan.patience)
        if reasons:
            return ArenaError(f"cluster {cluster}: no worker can play:{reasons}")
        if self._plan.local:
            return ArenaError(f"cluster {cluster}: no worker came within {patience}")
        return ArenaError(
            f"cluster {cluster}: no worker came within {patience}; to start one:\n    {self._plan.worker_command}"
        )


def _named(seats: Collection[Seat]) -> str:
    names = ", ".join(seat.name for seat in seats)
    return f"worker {names} is" if len(seats) == 1 else f"workers {names} are"
