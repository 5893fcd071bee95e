"""A station is made ready as far as the machine allows: where its disk is full, what is not needed makes room."""

import os
from pathlib import Path

import pytest
from fake_gate import RUN

from arena.league.executor.cluster import station_main as module
from arena.league.executor.cluster.cache import Cache, FullError
from arena.league.executor.cluster.messages import Refused, Unable
from arena.league.executor.cluster.packing import key_of
from arena.league.executor.cluster.station_main import Program


@pytest.mark.parametrize("is_enough", [True, False])
def test_where_the_disk_is_full_room_is_made_once_for_what_is_unpacked_and_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_enough: bool
) -> None:
    cache = Cache(tmp_path)
    old = tmp_path / key_of(b"old")
    old.write_bytes(b"old")
    os.utime(old, (0, 0))
    prepared = Unable({"ann": "it is too old"})

    class Preparation:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def prepare(self) -> Unable:
            if old.exists() or not is_enough:
                raise FullError("bots cannot be unpacked: No space left on device")
            return prepared

    monkeypatch.setattr(module, "Preparation", Preparation)
    pipe = os.pipe()
    try:
        answer = Program(*pipe, os.getppid())._prepare_and_serve(cache, RUN, 1)
    finally:
        for descriptor in pipe:
            os.close(descriptor)
    assert answer == (prepared if is_enough else Refused("bots cannot be unpacked: No space left on device"))
    assert not old.exists()
