"""Stores that are served: the pages of a report, which change as games are added, and a word where there are none."""

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_stores import make_store
from served import Serve, Served

from arena.league.store import Store
from arena.report.site.site_contents import SitePlan
from arena.report.site.write_site import write_site
from arena.web.address import Address, hosts_of
from arena.web.store_pages import NOT_READ
from arena.web.store_server import StoreServer

if TYPE_CHECKING:
    ServeStores = Callable[..., "Running"]


class Running:
    """Stores that are served, with what was complained of."""

    def __init__(self, served: Served, server: StoreServer, complaints: list[str]) -> None:
        self.served, self.server, self.complaints = served, server, complaints
        self.get = served.get

    def until_read(self, games: int | None, store: int = 0) -> None:
        """Wait until so many games have been read; None: until it is found that it cannot be read."""
        reader = self.server.stores[store].reader
        self.served.until(
            lambda: (
                reader.is_read.is_set()
                and (reader.state.contents is None if games is None else reader.state.games == games)
            )
        )


@pytest.fixture
def serve_stores(serving: Serve) -> "ServeStores":
    """`serve_stores(paths, plan)`: a server of these stores."""

    def start(*paths: Path, plan: SitePlan | None = None) -> Running:
        complaints: list[str] = []
        server = StoreServer(paths, plan or SitePlan(), hosts_of([Address("127.0.0.1", 0)]), complain=complaints.append)
        return Running(serving(server.application(), beside=server.run), server, complaints)

    return start


@pytest.fixture
def serve_games(serve_stores: "ServeStores", tmp_path: Path) -> Callable[[int], Running]:
    """`serve_games(count)`: a server of the store `l.sqlite`, which has so many games."""

    def start(count: int) -> Running:
        make_store(tmp_path / "l.sqlite", games=count)
        return serve_stores(tmp_path / "l.sqlite")

    return start


def pages_in(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".html", ".js") and path.parent.name != "static"
    }


def without_what_differs(page: str) -> str:
    """A page without what only those have that are served, or that are not."""
    page = re.sub(r"<meta (http-equiv=\"Content-Security-Policy\"|name=\"(arena-live|referrer)\").*\n", "", page)
    page = re.sub(r"<script src=\"[./]*static/(live.js\" defer|again.js\")></script>\n?", "", page)
    page = page.replace('<p class="live note"></p>', "")
    page = re.sub(r"<p>(Made|Served) by arena .*</p>", "", page)
    return re.sub(r"(?s)<section[^>]*>\s*<h2>Times of its moves.*?</section>", "", page)


def test_the_pages_are_those_of_a_report(serve_games: Callable[[int], Running], tmp_path: Path) -> None:
    running = serve_games(6)
    with Store(tmp_path / "l.sqlite", create=False) as store:
        write_site(store, tmp_path / "out", SitePlan(dialogues=True))
    written = pages_in(tmp_path / "out")
    assert {"index.html", "games.js", "bots/1.html", "games/6.html", "games/6.js"} <= set(written)
    for name, text in written.items():
        answer = running.get(f"/{name}")
        assert answer.status == 200, name
        assert without_what_differs(answer.text).split() == without_what_differs(text).split(), name
    assert running.get("/").text == running.get("/index.html").text


def test_what_is_not_there_is_said_not_to_be_there(serve_games: Callable[[int], Running]) -> None:
    running = serve_games(2)
    for path in ("/games/3.html", "/games/0.html", "/games/01.html", "/games/1.txt", "/bots/9.html", "/games-2.html"):
        assert running.get(path).status == 404, path
    for path in ("/l.sqlite", "/../l.sqlite", "/games/../../l.sqlite", "/games/%2e%2e/l.sqlite", "/games/%D9%A1.html"):
        assert running.get(path).status == 404, path


def test_a_game_that_is_added_is_on_the_pages_and_viewers_are_told(
    serve_games: Callable[[int], Running], tmp_path: Path
) -> None:
    records = make_store(tmp_path / "all.sqlite", games=3)
    running = serve_games(2)
    running.until_read(2)
    before = running.get("/games.html")
    with running.served.connect(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n") as viewer:
        found = b""
        while b"2 games" not in found:
            found += viewer.recv(4096)
        with Store(tmp_path / "l.sqlite", create=True) as store:
            store.add(records[2])
        while b"3 games" not in found:
            found += viewer.recv(4096)
    told = [json.loads(line) for line in re.findall(rb"data: (.*)", found)]
    assert len({state["version"] for state in told}) == len(told)
    after = running.get("/games.html", If_None_Match=before.headers["ETag"])
    assert after.status == 200
    assert "games/3.html" in after.text
    assert "games/3.html" not in before.text
    assert running.get("/games.html", If_None_Match=after.headers["ETag"]).status == 304


def test_a_store_without_games_says_so_and_shows_the_first_when_it_comes(
    serve_games: Callable[[int], Running], tmp_path: Path
) -> None:
    running = serve_games(0)
    running.until_read(0)
    answer = running.get("/")
    assert answer.status == 200
    assert NOT_READ in answer.text
    assert running.get("/games.js").status == 503
    records = make_store(tmp_path / "other.sqlite", games=1)
    with Store(tmp_path / "l.sqlite", create=True) as store:
        store.add_all(records)
    running.until_read(1)
    assert running.get("/").status == 200
    assert not running.complaints


def test_a_store_that_goes_away_is_said_to_be_gone_and_served_again_when_it_is_back(
    serve_games: Callable[[int], Running], tmp_path: Path
) -> None:
    path, kept = tmp_path / "l.sqlite", tmp_path / "kept"
    running = serve_games(2)
    running.until_read(2)
    os.rename(path, kept)
    path.write_bytes(b"nonsense" * 1000)
    running.until_read(None)
    for page in ("/", "/games/1.html", "/crosstable.html"):
        answer = running.get(page)
        assert answer.status == 503
        assert "cannot be read" in answer.text
        assert str(tmp_path) not in answer.text
    (complaint,) = running.complaints
    assert str(path) in complaint
    os.replace(kept, path)
    running.until_read(2)
    assert running.get("/").status == 200


def test_a_game_that_was_changed_in_the_store_does_not_count_and_the_host_is_told(
    serve_stores: "ServeStores", tmp_path: Path
) -> None:
    make_store(tmp_path / "l.sqlite", games=3)
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as connection:
        connection.execute("UPDATE games SET plies = plies + 1 WHERE number = 2")
        connection.commit()
    running = serve_stores(tmp_path / "l.sqlite")
    running.until_read(2)
    assert running.get("/games/2.html").status == 404
    assert running.get("/games/3.html").status == 200
    (complaint,) = running.complaints
    assert "game 2" in complaint


def test_several_stores_have_their_pages_below_their_names_and_a_list(
    serve_stores: "ServeStores", tmp_path: Path
) -> None:
    paths = [tmp_path / "one" / "league.sqlite", tmp_path / "two" / "league.sqlite", tmp_path / "<b>&x.sqlite"]
    for count, path in enumerate(paths, 1):
        path.parent.mkdir(exist_ok=True)
        make_store(path, games=count)
    running = serve_stores(*paths)
    for store, _ in enumerate(paths):
        running.until_read(store + 1, store)
    index = running.get("/").text
    for name in ("league", "league-2", "b-x"):
        assert f'href="{name}/index.html"' in index
        page = running.get(f"/{name}/index.html")
        assert page.status == 200
        assert 'href="../index.html"' in page.text
        assert running.get(f"/{name}/static/arena.css").status == 200
        assert running.get(f"/{name}/games/1.js").status == 200
        assert json.loads(running.get(f"/{name}/games/1.json").text)["view"] == "all"
    assert running.get("/league/games/2.html").status == 404
    assert running.get("/league-2/games/2.html").status == 200
    assert running.get("/nothing/index.html").status == 404
