"""How a cluster is spoken of."""

import pytest
from fake_gate import plan

from arena.league.executor.cluster.messages import Tls
from arena.league.executor.cluster.plan import seconds_text


def test_the_command_for_a_worker_is_one_that_a_shell_takes() -> None:
    assert plan().worker_command == (
        "dask worker tcp://10.0.0.1:8786 --nthreads 1 --preload arena.league.executor.cluster.preload"
    )


def test_the_command_for_a_worker_has_the_files_of_tls() -> None:
    made = plan(address="tls://10.0.0.1:8786", tls=Tls(b"/keys/ca.pem", b"/my keys/cert.pem", b"/keys/key.pem"))
    assert made.worker_command == (
        "dask worker tls://10.0.0.1:8786 --nthreads 1 --tls-ca-file /keys/ca.pem --tls-cert '/my keys/cert.pem' "
        "--tls-key /keys/key.pem --preload arena.league.executor.cluster.preload"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(60.0, "60 s"), (58.6, "59 s"), (9.96, "10 s"), (2.0, "2 s"), (0.5, "0.5 s"), (3600.0, "3600 s")],
)
def test_times_to_wait_for_are_short(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
