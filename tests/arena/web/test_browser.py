"""Served pages in a real browser: nothing fails or comes from elsewhere, and what is live changes by itself."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import pytest
from made_stores import make_store
from served import PATIENCE, Serve
from served_command import pages_address

from arena.game.record import GameRecord, NoteLine
from arena.league.store import Store
from arena.report.site.site_contents import SitePlan
from arena.web.address import Address, hosts_of
from arena.web.store_server import StoreServer

if TYPE_CHECKING:
    from browsing import Axe, OpenAddress
    from playwright.sync_api import Page

NASTY = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"


def server_of(path: Path) -> StoreServer:
    return StoreServer([path], SitePlan(), hosts_of([Address("127.0.0.1", 0)]), complain=lambda text: None)


def test_pages_load_without_a_complaint_and_nothing_that_a_bot_says_runs(
    serving: Serve, open_address: "OpenAddress", tmp_path: Path
) -> None:
    def say(record: GameRecord) -> GameRecord:
        notes = (NoteLine(1, "red", NASTY),)
        return msgspec.structs.replace(record, declared=(NASTY, NASTY), stderr=(NASTY, NASTY), notes=notes)

    make_store(tmp_path / "l.sqlite", games=2, names=(NASTY, "bob"), change=say)
    server = server_of(tmp_path / "l.sqlite")
    served = serving(server.application(), beside=server.run)
    for name in ("", "crosstable.html", "games.html", "rules.html", "bots/1.html", "games/1.html#ply=1"):
        page = open_address(f"http://{served.host}/{name}", width=360)
        page.wait_for_function("() => document.querySelector('.live').textContent.startsWith('Live')")
        if name.startswith("games/"):
            page.wait_for_selector("[data-square]")
            assert NASTY in page.inner_text("[data-now]")
        assert page.title() != "run"
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_standings_and_list_change_by_themselves_and_the_focus_stays(
    serving: Serve, open_address: "OpenAddress", tmp_path: Path
) -> None:
    records = make_store(tmp_path / "all.sqlite", games=4)
    make_store(tmp_path / "l.sqlite", games=3)
    server = server_of(tmp_path / "l.sqlite")
    served = serving(server.application(), beside=server.run)
    table, games = (open_address(f"http://{served.host}/{name}") for name in ("index.html", "games.html"))
    table.locator("main table a").first.focus()
    name = table.evaluate("document.activeElement.getAttribute('href')")
    assert games.locator("#games tbody tr").count() == 3
    with Store(tmp_path / "l.sqlite", create=True) as store:
        store.add(records[3])
    table.wait_for_function("() => document.querySelector('.lead').textContent.includes('4 games')")
    assert table.evaluate("document.activeElement.getAttribute('href')") == name
    games.wait_for_function("() => document.querySelectorAll('#games tbody tr').length == 4")


def test_a_script_that_failed_to_load_is_fetched_again(
    serving: Serve, open_address: "OpenAddress", complaints: list[str], tmp_path: Path
) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    server = server_of(tmp_path / "l.sqlite")
    served = serving(server.application(), beside=server.run)
    page = open_address(f"http://{served.host}/index.html")
    for script in ("**/board.js", "**/1.js"):
        page.route(script, lambda route: route.abort(), times=1)
        page.goto(f"http://{served.host}/games/1.html")
        page.wait_for_selector(".pieces > g")
    assert {text for text in complaints if "ERR_FAILED" not in text and "is not defined" not in text} == set()
    complaints.clear()


def assert_for_everybody(page: "Page", axe: "Axe") -> None:
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert axe(page) == []


def test_axe_finds_nothing_on_pages_that_are_served(
    serving: Serve, open_address: "OpenAddress", axe: "Axe", tmp_path: Path
) -> None:
    make_store(tmp_path / "l.sqlite", games=3)
    server = server_of(tmp_path / "l.sqlite")
    served = serving(server.application(), beside=server.run)
    for name in ("", "games/1.html#ply=1"):
        page = open_address(f"http://{served.host}/{name}", width=360)
        page.wait_for_function("() => document.querySelector('.live').textContent.startsWith('Live')")
        assert_for_everybody(page, axe)


BOT = """#!/usr/bin/env python3
import os
import time
from protocol.bot import Bot, run


class Told(Bot):
    made = 0

    def move(self, view):
        while os.stat({moves!r}).st_size <= self.made:
            if os.path.exists({enough!r}):
                return "resign"
            time.sleep(0.01)
        self.made += 1
        quiet = [action for action in view.legal if view.at(action.split("-")[1]) is None]
        return view.random.choice(quiet or view.legal)


run(Told)
"""
"""Makes as many moves as a file has bytes, attacks nobody if it need not, and waits for more or for a file that says
that it is enough: a game lasts until the test has seen it."""
PROGRAM = """
from arena.web import beside
patient = "from arena.web import live_process; live_process.LAST_SECONDS = 120\\n"
before, found, after = beside.PROGRAM.partition("main(int")
beside.PROGRAM, beside.END_SECONDS = before + patient + found + after, 120
from arena.cli.main import main
main()
"""
"""The arena, with as much time to tell viewers that a league is over as a busy machine may need."""
SCRIPT_NAME = "<b onclick=x>&amp;"


@pytest.fixture
def league(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A league of two bots, served, in whose games each bot makes as many moves as the file `moves` has bytes, and that
    end when there is a file `enough`."""
    moves, enough = tmp_path / "moves", tmp_path / "enough"
    moves.write_text("x")
    for name in (f"{SCRIPT_NAME}.py", "bob.py"):
        (tmp_path / name).write_text(f"{BOT.format(moves=str(moves), enough=str(enough))}# {name}\n")
        (tmp_path / name).chmod(0o755)
    words = ["league", f"{SCRIPT_NAME}.py", "bob.py", "--rules", "duel", "--time", "600s", "--start-time", "600s"]
    words += ["--rounds", "2", "--jobs", "1", "--serve", "127.0.0.1:0", "--store", "l.sqlite"]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        enough.touch()
        process.kill()


def test_a_league_is_watched_to_its_end_and_axe_finds_nothing(
    league: "subprocess.Popen[str]", open_address: "OpenAddress", axe: "Axe", complaints: list[str], tmp_path: Path
) -> None:
    address = pages_address(league)
    page = open_address(f"{address}now.html")
    page.wait_for_selector("#now tbody a")
    assert SCRIPT_NAME in page.inner_text("#now tbody")
    watched = open_address(page.evaluate("document.querySelector('#now tbody a').href"))
    watched.wait_for_selector("[data-square] .piece")
    assert "when the game is over" in watched.inner_text("main")
    standings = open_address(address)
    plies = "() => Number.parseInt(document.querySelector('[data-moves]').lastElementChild?.textContent ?? '0', 10)"
    watched.wait_for_function(f"() => ({plies})() == 2")
    (tmp_path / "moves").write_text("xx")
    watched.wait_for_function(f"() => ({plies})() == 4")
    assert SCRIPT_NAME in watched.inner_text("h1")
    known = watched.evaluate("[...document.querySelectorAll('.piece:not(.unknown)')].length")
    assert known < 16  # most ranks of this army are not known to both sides
    for viewer in (page, watched):
        viewer.set_viewport_size({"width": 360, "height": 640})
        assert_for_everybody(viewer, axe)
    assert complaints == []
    (tmp_path / "enough").touch()
    watched.wait_for_selector("#end a")
    page.wait_for_function("() => document.querySelector('#progress').textContent.includes('league is over')")
    assert "when the game is over" not in watched.inner_text("main")
    standings.wait_for_function("() => document.querySelector('.lead').textContent.includes(' 4 games')")
    league.communicate(timeout=PATIENCE * 3)
    assert league.returncode == 0
    assert standings.inner_text(".live").startswith("The league is over.")
    assert complaints == []  # no page looks for the server that is gone
