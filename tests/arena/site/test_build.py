"""A folder of pages: what is in it, what it may take the place of, and which games a reader gets."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_stores import make_store, read_game_script

from arena.errors import UsageError
from arena.league.readers import reader_named
from arena.league.store import Store
from arena.report.site.page_frame import POLICY
from arena.report.site.site_contents import SitePlan
from arena.report.site.write_site import MARK, Written, write_site


class Links(HTMLParser):
    """What a page leads to, loads, and has that could run."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()
        self.policies: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.handlers |= {name for name in given if name.startswith("on") or name == "style"}
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policies.add(given["content"])
        if tag == "a" and "href" in given:
            self.links.add(given["href"] or "")
        elif "src" in given or "href" in given:
            self.loads.add(given.get("src") or given.get("href") or "")


def read(page: Path) -> Links:
    found = Links()
    found.feed(page.read_text())
    return found


def written(store: Path, out: Path, **plan: object) -> Written:
    with Store(store, create=False) as opened:
        return write_site(opened, out, SitePlan(**plan))[0]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    make_store(folder / "l.sqlite")
    written(folder / "l.sqlite", folder / "out")
    return folder / "out"


def test_every_link_leads_to_a_file_of_the_folder(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) == 5 + 3 + 6
    for page in pages:
        found = read(page)
        for link in found.links | found.loads:
            if not link.startswith(("#", "data:")):
                assert (page.parent / link.partition("#")[0]).resolve().is_file(), (page, link)


def test_a_page_loads_its_own_files_alone_and_has_nothing_in_it_that_runs(site: Path) -> None:
    for page in site.rglob("*.html"):
        found = read(page)
        assert not found.handlers
        assert found.policies == {POLICY}
        assert not any(re.match(r"[a-z]+://|//", load) for load in found.loads)
        assert not re.search(r"<script[^>]*>[^<]", page.read_text())


def test_games_of_which_one_shows_what_another_hides_are_refused(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite", games=3)
    with pytest.raises(UsageError, match=r"has Red in game 1 and Blue in game 3.*'bot:ann' for the author"):
        written(tmp_path / "l.sqlite", tmp_path / "out", reader=reader_named("red"))
    assert not (tmp_path / "out").exists()
    assert written(tmp_path / "l.sqlite", tmp_path / "out", reader=reader_named("red"), newest=1).pages == 1


def test_the_author_of_a_bot_sees_its_games_as_it_did_and_the_others_as_everybody(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite", games=3)
    written(tmp_path / "l.sqlite", tmp_path / "out", reader=reader_named("bot:ann"))
    views = [read_game_script((tmp_path / f"out/games/{number}.js").read_text()).views for number in (1, 2, 3)]
    assert [list(found) for found in views] == [["red"], ["public"], ["blue"]]
    with pytest.raises(UsageError, match="no games of a bot 'nobody'"):
        written(tmp_path / "l.sqlite", tmp_path / "out", reader=reader_named("bot:nobody"))


def test_a_site_is_replaced_as_a_whole_and_anything_else_is_left_alone(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite", games=2)
    out = tmp_path / "out"
    out.mkdir()
    written(tmp_path / "l.sqlite", out)
    (out / "index.html").write_text("old")
    (out / "games/77.html").write_text("old")
    written(tmp_path / "l.sqlite", out)
    assert "old" not in (out / "index.html").read_text()
    assert not (out / "games/77.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.sqlite", "out"]
    for mine in ("league.sqlite", "games/notes.txt"):
        (out / mine).write_text("mine")
        with pytest.raises(UsageError, match=f"expected only a site, .*{mine} is no page"):
            written(tmp_path / "l.sqlite", out)
        assert (out / mine).read_text() == "mine"
        (out / mine).unlink()
    (out / MARK).unlink()
    with pytest.raises(UsageError, match="expected an empty folder, or one with a site"):
        written(tmp_path / "l.sqlite", out)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="expected a folder"):
        written(tmp_path / "l.sqlite", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_several_processes_write_the_same_pages_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_store(tmp_path / "l.sqlite", games=6)
    written(tmp_path / "l.sqlite", tmp_path / "one", title="t")
    monkeypatch.setattr("arena.report.site.write_site.WORTH_A_PROCESS", 2)
    monkeypatch.setattr("arena.report.site.write_site.usable_cpus", lambda: 3)
    written(tmp_path / "l.sqlite", tmp_path / "three", title="t")
    names = sorted(str(path.relative_to(tmp_path / "one")) for path in (tmp_path / "one").rglob("*.*"))
    assert names == sorted(str(path.relative_to(tmp_path / "three")) for path in (tmp_path / "three").rglob("*.*"))
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "three" / name).read_bytes()


def test_a_folder_that_cannot_be_made_is_one_clear_error_and_the_current_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    for where in ("l.sqlite", "mistyped"):
        with pytest.raises(UsageError, match=f"there is no folder .*{where}"):
            written(tmp_path / "l.sqlite", tmp_path / where / "out")
    with pytest.raises(UsageError, match="the pages cannot be written: "):
        written(tmp_path / "l.sqlite", tmp_path / ("x" * 1000))
    assert [path.name for path in tmp_path.iterdir()] == ["l.sqlite"]
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UsageError, match="another folder than the current one"):
        written(tmp_path / "l.sqlite", Path())
