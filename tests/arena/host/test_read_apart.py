"""A store that is read in a process of its own."""

from pathlib import Path

import pytest
from made_stores import make_store

from arena.errors import ArenaError
from arena.host.read_apart import read_apart
from arena.league.store import Store
from arena.report.site.pages import PlayedGames
from arena.report.site.site_contents import NoGamesError, SitePlan, read_path


def test_a_process_of_its_own_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    make_store(path)
    apart, here = read_apart(path, SitePlan()), read_path(path, SitePlan())
    for page in ("index.html", "games.html", "crosstable.html"):
        assert apart.text(page, PlayedGames()) == here.text(page, PlayedGames())


def test_a_store_that_cannot_be_read_says_so_as_here(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path, create=True):
        pass
    with pytest.raises(NoGamesError):
        read_apart(path, SitePlan())
    path.write_bytes(b"no store")
    with pytest.raises(ArenaError, match="store"):
        read_apart(path, SitePlan())
