"""What is said of schedulers that cannot be used."""

import asyncio
from typing import Any

import distributed
import pytest

from arena.league.executor.cluster.messages import Connect, FromGate
from arena.league.executor.cluster.scheduler import Scheduler

CONNECT = Connect("tcp://10.0.0.1:8786", 0, None, 5.0, b"")


class OtherClient:
    """Stands for dask's client, connected to a scheduler with these packages."""

    def __init__(self, packages: dict[str, str]) -> None:
        self._packages = packages

    async def get_versions(self, *, check: bool) -> dict[str, Any]:
        assert not check
        return {"scheduler": {"packages": self._packages}}


async def nobody_hears(message: FromGate) -> None:
    pass


async def refusal(packages: dict[str, str]) -> str:
    scheduler = Scheduler(nobody_hears, CONNECT)
    scheduler._client = OtherClient(packages)
    return await scheduler._other_version()


def test_a_scheduler_of_another_version_is_refused_with_both_versions() -> None:
    said = asyncio.run(refusal({"distributed": "2020.1.0"}))
    ours = distributed.__version__  # type: ignore[attr-defined]
    assert said == (
        f"the scheduler at tcp://10.0.0.1:8786 runs distributed 2020.1.0, and this arena {ours}: "
        "expected the same on all machines (python -m pip install distributed==2020.1.0)"
    )


@pytest.mark.parametrize("packages", [{}, {"distributed": ""}])
def test_a_scheduler_that_does_not_say_its_version_is_refused(packages: dict[str, str]) -> None:
    assert "expected the same on all machines" in asyncio.run(refusal(packages))


def test_a_scheduler_of_this_version_is_taken() -> None:
    assert asyncio.run(refusal({"distributed": distributed.__version__})) == ""  # type: ignore[attr-defined]
