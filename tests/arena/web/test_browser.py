"""Served pages in a real browser: nothing fails or comes from elsewhere, and what is live changes by itself."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from browsing import SCREENS, look_at
from made_stores import make_store, play_game
from served import PATIENCE, Serve, Served
from served_command import pages_address

from arena.game.record import GameRecord, NoteLine
from arena.game.recorded import Replay, spec_of
from arena.league.executor.task import Watched
from arena.league.store import Store
from arena.play.game_events import ActionPlayed, GameStarted
from arena.report.shown import SeenBy
from arena.report.site.site_contents import SitePlan
from arena.stratego.rules.rulesets import load_ruleset
from arena.web.address import Address, hosts_of
from arena.web.beside import GameStored
from arena.web.live_games import AGAIN, BROKEN
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
    names = ("index.html", "games.html", "games.html#shown=shortest")
    table, games, shortest = (open_address(f"http://{served.host}/{name}") for name in names)
    table.locator("main table a").first.focus()
    name = table.evaluate("document.activeElement.getAttribute('href')")
    assert games.locator("#games tbody tr").count() == 3
    with Store(tmp_path / "l.sqlite", create=True) as store:
        store.add(records[3])
    table.wait_for_function("() => document.querySelector('.lead').textContent.includes('4 games')")
    assert table.evaluate("document.activeElement.getAttribute('href')") == name
    for page in (games, shortest):
        page.wait_for_function("() => document.querySelectorAll('#games tbody tr').length == 4")
    assert "the shortest first" in shortest.inner_text("#found")
    assert shortest.locator("#games thead button").count() > 0


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
start, patience = beside.own_python, "from arena.web import live_process; live_process.LAST_SECONDS = 120\\nmain("
beside.own_python = lambda *words: [part.replace("\\nmain(", f"\\n{patience}") for part in start(*words)]
beside.END_SECONDS = 120
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


MOVES = "() => document.querySelectorAll('[data-moves] li').length"
SHOWN = "() => document.querySelector('[data-moves] [aria-current]')?.dataset.ply ?? '0'"
IS_LIVE = "() => document.querySelector('#live').getAttribute('aria-pressed') === 'true'"


def until_plies(page: "Page", plies: int, shown: int | None = None) -> None:
    page.wait_for_function(f"() => ({MOVES})() === {plies} && ({SHOWN})() === '{plies if shown is None else shown}'")


def test_a_league_is_watched_to_its_end_and_axe_finds_nothing(
    league: "subprocess.Popen[str]", open_address: "OpenAddress", axe: "Axe", complaints: list[str], tmp_path: Path
) -> None:
    address = pages_address(league)
    page = open_address(f"{address}now.html")
    page.wait_for_selector("#now .board use")
    assert SCRIPT_NAME in page.inner_text("#now")
    watched = open_address(page.evaluate("document.querySelector('#now a').href"))
    watched.wait_for_selector("[data-square]")
    assert "when the game is over" in watched.inner_text("main")
    standings = open_address(address)
    until_plies(watched, 2)
    (tmp_path / "moves").write_text("xx")
    until_plies(watched, 4)
    page.wait_for_function("() => document.querySelector('#now li').textContent.includes('ply 4')")
    assert SCRIPT_NAME in watched.inner_text("h1")
    known = watched.evaluate(
        "[...document.querySelectorAll('[data-square]')].filter((one) => /^[rb][^?!]/.test(one.dataset.cell)).length"
    )
    assert known < 16  # most ranks of this army are not known to both sides
    for viewer, screen in zip((page, watched), SCREENS, strict=True):
        look_at(viewer, axe, [screen])
    assert complaints == []
    (tmp_path / "enough").touch()
    watched.wait_for_url("**/games/*.html*")
    watched.wait_for_selector("[data-square]")
    page.wait_for_selector("main tbody a[href^='bots/']")
    standings.wait_for_function("() => document.querySelector('.lead').textContent.includes(' 4 games')")
    standings.wait_for_function(
        "() => document.querySelector('.live').textContent.startsWith('The league is over: 4 games.')"
    )
    league.communicate(timeout=PATIENCE * 3)
    assert league.returncode == 0
    assert page.inner_text(".live").startswith("The league is over: 4 games.")
    assert standings.inner_text(".live").startswith("The league is over: 4 games.")
    assert complaints == []  # no page looks for the server that is gone


@pytest.fixture
def running(serving: Serve, tmp_path: Path) -> tuple[Served, StoreServer, GameRecord]:
    """A server of a store with one game while another one is played, and this other one."""
    (record,) = make_store(tmp_path / "l.sqlite", games=1)
    record = msgspec.structs.replace(
        play_game(load_ruleset("duel"), seed=5, plies=20), id="00aa", players=record.players
    )
    hosts = hosts_of([Address("127.0.0.1", 0)])
    server = StoreServer([tmp_path / "l.sqlite"], SitePlan(), hosts, complain=lambda text: None, running=SeenBy.PUBLIC)
    return serving(server.application(), beside=server.run), server, record


def events_of(record: GameRecord) -> list[Watched]:
    red, blue = record.setups
    assert red is not None
    assert blue is not None
    steps = Replay(record).steps()
    played = [ActionPlayed(record.id, s.ply, s.color, s.action, s.told, s.microseconds, 0) for s in steps]
    begun = Watched((GameStarted(spec_of(record), (red, blue), None),), 0)
    return [begun, *(Watched((event,), 0) for event in played)]


def test_a_viewer_looks_back_while_a_game_goes_on_and_at_its_end_sees_the_replay_there(
    running: tuple[Served, StoreServer, GameRecord], open_address: "OpenAddress", complaints: list[str], tmp_path: Path
) -> None:
    served, server, record = running
    assert server.live is not None
    tell, events = server.live.tell, events_of(record)
    for event in events[:5]:
        served.call(tell, event)
    page = open_address(f"http://{served.host}/now/{record.id}.html")
    until_plies(page, 4)
    page.wait_for_function(IS_LIVE)
    assert page.inner_text(".clock.runs")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("f")
    until_plies(page, 4, 3)
    assert page.inner_text(".field .clock >> nth=0") == page.inner_text(".field .clock >> nth=1") == ""
    for event in events[5:7]:
        served.call(tell, event)
    until_plies(page, 6, 3)
    assert not page.evaluate(IS_LIVE)
    page.context.set_offline(True)
    served.call(server.live.feeds[record.id].close)
    page.wait_for_function("() => document.querySelector('#note').textContent.startsWith('Not connected')")
    for event in events[7:9]:
        served.call(tell, event)
    page.context.set_offline(False)
    until_plies(page, 8, 3)
    page.wait_for_function("() => document.querySelector('#note').textContent === ''")
    assert {text for text in complaints if "ERR_INTERNET_DISCONNECTED" not in text} == set()
    complaints.clear()
    page.click("#live")
    for event in events[9:]:
        served.call(tell, event)
    until_plies(page, len(events) - 1)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    with Store(tmp_path / "l.sqlite", create=True) as store:
        store.add(record)
    served.call(tell, GameStored(record.id, 2, "over"))
    page.wait_for_url("**/games/2.html#ply=1*from=blue")
    until_plies(page, len(events) - 1, 1)


def test_a_game_that_was_dropped_or_is_played_again_says_so(
    running: tuple[Served, StoreServer, GameRecord], open_address: "OpenAddress"
) -> None:
    served, server, record = running
    assert server.live is not None
    events = events_of(record)
    for event in events[:4]:
        served.call(server.live.tell, event)
    page = open_address(f"http://{served.host}/now/{record.id}.html")
    until_plies(page, 3)
    for event in events[:2]:
        served.call(server.live.tell, event)
    until_plies(page, 1)
    assert page.inner_text("#note") == AGAIN
    served.call(server.live.tell, events[5])
    page.wait_for_function("text => document.querySelector('#note').textContent === text", arg=BROKEN)
    assert page.is_hidden("#live")
