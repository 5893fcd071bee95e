"""What stands for a store on workers is one file's on one machine."""

from pathlib import Path

import pytest

from arena.league.executor.cluster.carrying import store_name


def test_a_store_has_one_name_and_no_other_store_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first.sqlite", tmp_path / "sec\udcffond.sqlite"
    first.touch()
    second.touch()
    monkeypatch.chdir(tmp_path)
    assert store_name(first) == store_name(Path("first.sqlite")) != ""
    assert store_name(second) not in ("", store_name(first))
    first.rename(tmp_path / "moved.sqlite")
    first.write_text("another file")
    assert store_name(first) != store_name(tmp_path / "moved.sqlite")


def test_a_store_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert store_name(tmp_path / "none.sqlite") == ""
