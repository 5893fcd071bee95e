"""What the process that speaks with dask unpickles does nothing."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from arena.league.executor.cluster.guarded import Unknown, loads


class Runs:
    """Runs a call as it is unpickled."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


def test_a_pickle_that_runs_a_program_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    data = pickle.dumps(Runs(os.system, f"touch {mark}"))
    assert isinstance(loads(data), Unknown)
    assert not mark.exists()
    pickle.loads(data)
    assert mark.exists()  # so it would have


@pytest.mark.parametrize("value", [b"x", bytes, {"a": [1, 2.5, None, "text"]}, (True, b"y" * 70000)])
def test_plain_values_are_what_they_were(value: object) -> None:
    assert loads(pickle.dumps(value)) == value


def test_an_error_of_a_worker_can_be_read_though_not_made(tmp_path: Path) -> None:
    found = loads(pickle.dumps(ModuleNotFoundError("No module named 'arena'")))
    assert isinstance(found, Exception)
    assert str(found) == "ModuleNotFoundError: No module named 'arena'"


def test_an_error_and_its_traceback_as_dask_sends_them_can_be_read() -> None:
    from distributed.core import clean_exception, error_message
    from distributed.protocol import pickle as dask_pickle

    def fail(depth: int) -> None:
        if depth:
            fail(depth - 1)
        raise ValueError("so it went")

    try:
        fail(3)
    except ValueError as raised:
        sent: Any = error_message(raised)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_pickle, "loads", loads)
        kind, error, traceback = clean_exception(sent["exception"].data, sent["traceback"].data)
    assert issubclass(kind, Unknown)
    assert str(error) == "ValueError: so it went"
    assert traceback is None


@pytest.mark.parametrize("data", [b"", b"\x80", b"c\nos\n", b"garbage", pickle.dumps(Runs(os.getpid))[:-3]])
def test_what_is_no_pickle_raises_nothing(data: bytes) -> None:
    assert isinstance(loads(data), Unknown)


def test_objects_with_a_state_lead_nowhere() -> None:
    assert isinstance(loads(pickle.dumps(Path("x"))), Unknown)
    assert isinstance(loads(pickle.dumps(pytest.mark.skip)), Unknown)
