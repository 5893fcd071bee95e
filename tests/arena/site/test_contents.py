"""The pages of a site as text, with no folder: each by its name, the same that a folder holds."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena.errors import ArenaError
from arena.league.store import Store
from arena.report.site.build import write_site
from arena.report.site.contents import Played, SitePlan, read_site

if TYPE_CHECKING:
    from tests.arena.site.conftest import MakeStore


def test_pages_can_be_had_as_text_and_a_folder_holds_the_same(make_store: "MakeStore", tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite")
    with Store(tmp_path / "l.sqlite", create=False) as store:
        write_site(store, tmp_path / "out", SitePlan())
        contents = read_site(store, SitePlan())
        for name in contents.names():
            if not name.startswith("bots/"):  # those have times, which are counted while pages of games are made
                assert contents.text(name, Played()) == (tmp_path / "out" / name).read_text()
        for number in contents.numbers:
            text = contents.game_texts.of(number, store.stored(number).record)
            assert text.page == (tmp_path / f"out/games/{number}.html").read_text()
            assert text.script == (tmp_path / f"out/games/{number}.js").read_text()


@pytest.mark.parametrize("name", ["", "games/1.html", "games-2.html", "bots/99.html", "../index.html", "static/x"])
def test_there_is_no_text_under_another_name(make_store: "MakeStore", tmp_path: Path, name: str) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    with Store(tmp_path / "l.sqlite", create=False) as store:
        contents = read_site(store, SitePlan())
        assert contents.text(name, Played()) is None
        with pytest.raises(ArenaError, match="cannot be read"):
            contents.game_texts.of(2, store.stored(2).record)
