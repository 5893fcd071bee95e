"""What the gate says of schedulers that cannot be used."""

import asyncio
from typing import Any

import distributed
import pytest

from arena.league.executor.cluster.gate import Gate, Pipes
from arena.league.executor.cluster.messages import Connect

CONNECT = Connect("tcp://10.0.0.1:8786", 0, None, 5.0, b"")


class OtherClient:
    """Stands for dask's client, connected to a scheduler with these packages."""

    def __init__(self, packages: dict[str, str]) -> None:
        self._packages = packages

    async def get_versions(self, *, check: bool) -> dict[str, Any]:
        assert not check
        return {"scheduler": {"packages": self._packages}}


async def refusal(packages: dict[str, str]) -> str:
    gate = Gate(Pipes(-1), CONNECT)
    gate._client = OtherClient(packages)
    return await gate._other_version()


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
