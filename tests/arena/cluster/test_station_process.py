"""The process that plays beside a dask worker, when somebody stops it."""

import signal
from collections.abc import Iterator

import pytest
from waiting import PATIENCE

from arena.league.executor import stopped
from arena.league.executor.cluster import station_process
from arena.league.executor.cluster.messages import Close, Refused
from arena.league.executor.cluster.station_process import StationGoneError, StationProcess


@pytest.fixture
def station(monkeypatch: pytest.MonkeyPatch) -> Iterator[StationProcess]:
    monkeypatch.setattr(station_process, "LOOK_SECONDS", 0.01)
    process = StationProcess("run")
    yield process
    process.end()


def test_one_that_is_stopped_is_told_to_go_on_and_that_is_said(
    station: StationProcess, caplog: pytest.LogCaptureFixture
) -> None:
    station._popen.send_signal(signal.SIGSTOP)
    assert station.ask(Close("run")).answer.result(PATIENCE) == Refused("it is not ready to play")
    assert "the process that plays was stopped by a signal (SIGSTOP); it is told to go on" in caplog.messages


def test_one_that_is_stopped_again_and_again_is_given_up_with_the_reason(
    station: StationProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopped, "MOST_WOKEN", 0)
    station._popen.send_signal(signal.SIGSTOP)
    with pytest.raises(StationGoneError, match=r"^it was killed: it was stopped by signals \(SIGSTOP\) 1 time$"):
        station.ask(Close("run")).answer.result(PATIENCE)
    assert station.is_gone
