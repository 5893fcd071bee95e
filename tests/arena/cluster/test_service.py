"""What runs in a dask worker: it answers each request, whatever becomes of the process that plays."""

import errno
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from fake_gate import FIT, RUN

from arena.league.executor.cluster import service as module
from arena.league.executor.cluster.cache import Cache
from arena.league.executor.cluster.messages import (
    Answer,
    Batch,
    BatchPlayed,
    Busy,
    Close,
    Collect,
    Done,
    End,
    Prepare,
    Prepared,
    PutBot,
    Refused,
    Unprepared,
    decode_answer,
    encode,
)
from arena.league.executor.cluster.packing import key_of
from arena.league.executor.cluster.service import KEPT_SECONDS, Service, play
from arena.league.executor.cluster.source import this_arena
from arena.league.executor.cluster.station_process import StationGoneError, Wish

OURS = msgspec.structs.replace(RUN, version=this_arena())
OTHER = msgspec.structs.replace(OURS, id="another run")
READY = Prepared(1, "Linux", FIT)
BATCH = Batch(OURS.id, ())
PLAYED = BatchPlayed((), (), (), 0.0, 0.0)


class FakeStation:
    """Stands for the process that plays. `answers` are what it says to a kind of request; without one it is silent."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.is_gone = self.has_ended_well = False
        self.wishes: list[Wish] = []
        self.asked = queue.SimpleQueue[Wish]()
        """What has no answer."""
        self.answers: dict[type, Answer] = {Prepare: READY, Close: Done(), Collect: PLAYED, Batch: PLAYED}

    def ask(self, request: Prepare | Close | Batch | Collect) -> Wish:
        wish = Wish()
        self.wishes.append(wish)
        if type(request) not in self.answers:
            self.asked.put(wish)
        if self.is_gone:
            wish.fail(StationGoneError("it has ended"))
        elif answer := self.answers.get(type(request)):
            wish.end(answer)
        return wish

    def end(self) -> None:
        self.is_gone = True


@pytest.fixture
def stations(monkeypatch: pytest.MonkeyPatch) -> list[FakeStation]:
    """The stations that have been started."""
    started: list[FakeStation] = []

    def start(run: str) -> FakeStation:
        started.append(FakeStation(run))
        return started[-1]

    monkeypatch.setattr(module, "StationProcess", start)
    return started


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(stations: list[FakeStation], clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    made = Service(clock)
    monkeypatch.setattr(module, "SERVICE", made)
    yield made
    made.close()


def test_a_run_has_one_station(service: Service, stations: list[FakeStation]) -> None:
    assert service.handle(Prepare(OURS)) == READY
    assert service.handle(Prepare(OURS)) == READY
    assert [station.run for station in stations] == [OURS.id]


def test_a_worker_that_is_about_to_end_begins_no_station(service: Service, stations: list[FakeStation]) -> None:
    service.handle(Prepare(OURS))
    service.close()
    assert [station.is_gone for station in stations] == [True]
    assert service.handle(Prepare(OURS)) == Busy()
    assert len(stations) == 1


def test_another_run_gets_the_worker_when_its_own_has_not_been_heard_of_for_a_while(
    service: Service, stations: list[FakeStation], clock: Clock
) -> None:
    service.handle(Prepare(OURS))
    clock.now += KEPT_SECONDS
    assert service.handle(Prepare(OTHER)) == READY
    assert [(station.run, station.is_gone) for station in stations] == [(OURS.id, True), (OTHER.id, False)]
    assert service.begin(BATCH) is None
    assert service.handle(Prepare(OURS)) == Busy()


@pytest.mark.parametrize("spoken", [Prepare(OURS), Collect(OURS.id), Close(OURS.id), BATCH])
def test_no_other_run_gets_a_worker_whose_own_run_speaks_to_it(
    service: Service, stations: list[FakeStation], clock: Clock, spoken: Prepare | Collect | Close | Batch
) -> None:
    service.handle(Prepare(OURS))
    for _ in range(3):
        clock.now += KEPT_SECONDS - 1
        if isinstance(spoken, Batch):
            service.begin(spoken)
        else:
            service.handle(spoken)
    clock.now += KEPT_SECONDS - 1
    assert service.handle(Prepare(OTHER)) == Busy()
    assert [(station.run, station.is_gone) for station in stations] == [(OURS.id, False)]
    assert service.begin(BATCH) is not None


def test_who_asks_for_a_worker_that_is_busy_does_not_keep_it_busy(service: Service, clock: Clock) -> None:
    service.handle(Prepare(OURS))
    clock.now += KEPT_SECONDS - 1
    assert service.handle(Prepare(OTHER)) == Busy()
    clock.now += 1
    assert service.handle(Prepare(OTHER)) == READY


def test_bots_that_take_long_to_be_built_keep_the_worker_for_their_run(
    service: Service, stations: list[FakeStation], clock: Clock
) -> None:
    service.handle(Prepare(OURS))
    del stations[0].answers[Prepare]
    building = threading.Thread(target=service.handle, args=(Prepare(OURS),))
    building.start()
    wish = stations[0].asked.get()
    clock.now += 10 * KEPT_SECONDS
    assert service.handle(Prepare(OTHER)) == Busy()
    wish.end(READY)
    building.join()
    assert service.handle(Prepare(OTHER)) == Busy()
    clock.now += KEPT_SECONDS
    assert service.handle(Prepare(OTHER)) == READY


def test_a_league_that_goes_on_gets_the_workers_of_its_run_before_at_once(
    service: Service, stations: list[FakeStation]
) -> None:
    """One arena at a time has a store: that of the run before is gone, even if nobody could say so."""
    first, second, third = (
        msgspec.structs.replace(OURS, id=f"run {number}", store=store) for number, store in enumerate(("x", "x", "y"))
    )
    assert service.handle(Prepare(first)) == READY
    assert service.handle(Prepare(second)) == READY
    assert service.handle(Prepare(third)) == Busy()
    assert [(station.run, station.is_gone) for station in stations] == [(first.id, True), (second.id, False)]


def test_a_run_that_has_ended_keeps_no_worker(service: Service) -> None:
    service.handle(Prepare(OURS))
    service.handle(End(OURS.id))
    assert service.handle(Prepare(OTHER)) == READY


def test_a_station_that_has_died_is_started_again_when_it_is_asked_to_prepare(
    service: Service, stations: list[FakeStation]
) -> None:
    service.handle(Prepare(OURS))
    stations[0].is_gone = True
    assert service.begin(BATCH) is None
    assert service.handle(Prepare(OURS)) == READY
    assert len(stations) == 2


@pytest.mark.parametrize("request_", [Close(OURS.id), Collect(OURS.id), End(OURS.id)])
def test_who_knows_nothing_of_a_run_says_so(service: Service, request_: Close | Collect | End) -> None:
    assert service.handle(request_) == Unprepared()
    service.handle(Prepare(OTHER))
    assert service.handle(request_) == Unprepared()


def test_a_run_that_is_ended_plays_no_more(service: Service, stations: list[FakeStation]) -> None:
    service.handle(Prepare(OURS))
    assert service.handle(Collect(OURS.id)) == PLAYED
    assert service.handle(End(OURS.id)) == Done()
    assert stations[0].is_gone


def asked_of_a_dying_station(service: Service, stations: list[FakeStation], request: Prepare | Collect) -> Answer:
    """What is answered to a request during which the station of this run dies."""
    service.handle(Prepare(OURS))
    stations[0].answers.clear()
    dying = threading.Thread(target=lambda: stations[0].asked.get().fail(StationGoneError("it exited with code -9")))
    dying.start()
    answer = service.handle(request)
    dying.join()
    return answer


def test_a_station_that_dies_while_it_is_asked_is_a_refusal_and_no_traceback(
    service: Service, stations: list[FakeStation]
) -> None:
    answer = asked_of_a_dying_station(service, stations, Prepare(OURS))
    assert answer == Refused(
        "the process that plays has failed (it exited with code -9); the worker's own output says why"
    )


def test_a_station_that_dies_while_it_is_asked_what_is_over_can_be_prepared_again(
    service: Service, stations: list[FakeStation]
) -> None:
    answer = asked_of_a_dying_station(service, stations, Collect(OURS.id))
    assert answer == Unprepared()


def test_a_station_that_was_just_ending_as_it_was_asked_is_replaced(
    service: Service, stations: list[FakeStation]
) -> None:
    service.handle(Prepare(OURS))
    old = stations[0]
    old.answers.clear()

    def end() -> None:
        wish = old.asked.get()
        old.is_gone = old.has_ended_well = True
        wish.fail(StationGoneError("it exited with code 0"))

    ending = threading.Thread(target=end)
    ending.start()
    assert service.handle(Prepare(OURS)) == READY
    ending.join()
    assert len(stations) == 2


def test_another_arena_is_refused_with_both_versions(service: Service, stations: list[FakeStation]) -> None:
    answer = service.handle(Prepare(msgspec.structs.replace(OURS, version="9.9.9 abc")))
    assert answer == Refused(f"it runs stratego-arena {this_arena()}, and this is 9.9.9 abc")
    assert not stations


def test_what_is_no_request_is_answered(service: Service) -> None:
    answer = decode_answer(module._handled(b"\xc1"))
    assert isinstance(answer, Refused)
    assert "to which this arena is a stranger" in answer.why


def test_a_bot_that_did_not_arrive_whole_is_not_kept(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CLUSTER_CACHE", str(tmp_path))
    assert service.handle(PutBot(key_of(b"whole"), b"half", 0, 4)) == Refused(
        "a bot's files did not arrive as they were sent"
    )
    assert list(tmp_path.iterdir()) == []


def test_where_the_disk_is_full_room_is_made_for_a_bot_and_else_it_is_told(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CLUSTER_CACHE", str(tmp_path))
    old, new = tmp_path / key_of(b"old"), tmp_path / key_of(b"new")
    old.write_bytes(b"old")
    os.utime(old, (0, 0))

    def need_room(cache: Cache, size: int) -> None:
        if old.exists() or new.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Cache, "_need_room", need_room)
    assert service.handle(PutBot(new.name, b"new", 0, 3)) == Done()
    assert service.handle(PutBot(key_of(b"third"), b"third", 0, 5)) == Refused(
        f"a bot's files cannot be kept in {tmp_path}: No space left on device"
    )
    assert list(tmp_path.iterdir()) == [new]


def test_a_batch_is_played_if_its_run_is_known_and_else_the_arena_prepares_again(service: Service) -> None:
    assert decode_answer(play(encode(BATCH))) == Unprepared()
    service.handle(Prepare(OURS))
    assert decode_answer(play(encode(BATCH))) == PLAYED


def test_a_batch_gives_its_thread_back_when_no_game_of_it_is_left_to_begin(
    service: Service, stations: list[FakeStation], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dask:
        @staticmethod
        def secede() -> None:
            stations[0].wishes[-1].end(PLAYED)  # the last game ends only now

    monkeypatch.setattr(module, "distributed", lambda: Dask)
    service.handle(Prepare(OURS))
    del stations[0].answers[Batch]

    class Begun(Wish):
        def __init__(self) -> None:
            super().__init__()
            self.is_begun.set()

    monkeypatch.setattr(f"{__name__}.Wish", Begun)
    assert decode_answer(play(encode(BATCH))) == PLAYED
