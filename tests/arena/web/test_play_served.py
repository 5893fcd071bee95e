"""`arena play` in the browser as a command: the addresses that it prints, and the game that is stored afterwards."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commands import UNHURRIED
from waiting import PATIENCE, until

from arena.game.recheck import check_record
from arena.league.store import Store
from arena.play.saved_game import load_saved
from protocol.notation import Reason

if TYPE_CHECKING:
    from browsing import OpenAddress

ROWS = ["FBB.......", ".S3.3.....", "2..9M....2", ".........."]


class Playing:
    """`arena play` that runs, and the addresses that it has printed."""

    def __init__(self, folder: Path, count: int, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", "play", *words, "--rules", "duel"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(count)]
        self.places = [re.findall(r"http://(127\.0\.0\.1:\d+)(/[\w-]{30,}/)$", line)[0] for line in lines]

    def ask(self, seat: int, name: str, body: object = None) -> Any:
        """What a page would ask or send."""
        host, path = self.places[seat]
        connection = HTTPConnection(host, timeout=PATIENCE)
        try:
            headers = {"Origin": f"http://{host}", "Content-Type": "application/json"}
            if body is None:
                connection.request("GET", path + name)
            else:
                connection.request("POST", path + name, json.dumps(body), headers)
            answer = connection.getresponse()
            assert answer.status == 200
            return json.loads(answer.read())
        finally:
            connection.close()

    def until(self, seat: int, stage: str) -> Any:
        """Wait until the seat is there; return its state."""
        until(lambda: self.ask(seat, "state")["state"]["stage"] == stage)
        return self.ask(seat, "state")["state"]

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C: the exit code, and what was said."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Any]:
    """`play(count, *words)`: the command, which prints so many addresses."""
    running: list[Playing] = []

    def start(count: int, *words: str) -> Playing:
        running.append(Playing(tmp_path, count, *words))
        return running[-1]

    yield start
    for playing in running:
        playing.process.kill()
        playing.process.communicate()


def test_a_game_against_a_bot_is_stored_and_its_page_says_how_to_replay_it(play: Any, tmp_path: Path) -> None:
    playing = play(1, "drifter", "--side", "red", "--name", "Ada", "--store", "s.sqlite", *UNHURRIED)
    playing.until(0, "setting-up")
    assert playing.ask(0, "setup", {"rows": ROWS}) == {}
    for ply in (1, 3, 5):
        state = playing.until(0, "moving")
        assert "no piece on a10" in playing.ask(0, "act", {"action": "a10-a9", "ply": ply})["refused"]
        assert playing.ask(0, "act", {"action": state["choices"][0]["action"], "ply": ply}) == {}
    playing.until(0, "moving")
    assert playing.ask(0, "resign", {}) == {}
    playing.until(0, "over")
    while (answer := playing.ask(0, "state"))["state"]["end"]["number"] is None:
        pass
    assert re.search(r"arena show \S*s\.sqlite 1$", answer["after"][0])
    assert list(answer["part"]["views"]) == ["all", "red", "blue"]
    code, said = playing.interrupt()
    assert (code, "Traceback" in said) == (0, False), said
    assert "the game is over" in said
    with Store(tmp_path / "s.sqlite", create=False) as store:
        record = store.stored(1).record
    assert record is not None
    check_record(record)
    assert (record.setups[0], record.verdict.reason, len(record.actions)) == ("/".join(ROWS), Reason.RESIGN, 7)


def test_a_page_becomes_that_of_the_next_game_with_colours_changed_or_not(
    play: Any, open_address: "OpenAddress", tmp_path: Path
) -> None:
    playing = play(1, "drifter", "--side", "red", "--name", "Ada", "--store", "s.sqlite", *UNHURRIED)
    page = open_address("http://" + "".join(playing.places[0]))
    for color, goal in (("red", "Rematch"), ("blue", "New game"), ("blue", "")):
        page.wait_for_selector("#play[data-stage=setting-up]")
        assert f"You play {color.title()}" in page.inner_text("h1")
        page.select_option("[data-presets]", label="Random 1")
        page.click("[data-do=ready]")
        page.wait_for_selector("#play[data-stage=moving]")
        assert "when this one is over" in playing.ask(0, "again", {"swap": True})["refused"]
        page.click("[data-opens=resign-asked]")
        page.click("[data-resign-asked] button[value=yes]")
        page.wait_for_selector("#play[data-stage=over]")
        if goal:
            page.get_by_role("button", name=goal).click()
    code, said = playing.interrupt()
    assert (code, "Traceback" in said) == (0, False), said
    with Store(tmp_path / "s.sqlite", create=False) as store:
        assert store.last_number() == 3


def test_two_people_have_an_address_each_and_ctrl_c_saves_their_game(play: Any, tmp_path: Path) -> None:
    playing = play(2, "--two", "--name", "Ada", "--name", "Bea", "--save", "game.json")
    assert playing.places[0] != playing.places[1]
    colors = [playing.until(seat, "setting-up")["color"] for seat in (0, 1)]
    assert colors == ["red", "blue"]
    for seat in (0, 1):
        assert playing.ask(seat, "setup", {"rows": ROWS}) == {}
    action = playing.until(0, "moving")["choices"][0]["action"]
    assert playing.ask(0, "act", {"action": action, "ply": 1}) == {}
    playing.until(1, "moving")
    code, said = playing.interrupt()
    assert (code, "Traceback" in said) == (130, False), said
    assert "play --resume game.json" in said
    saved = load_saved(tmp_path / "game.json")
    assert saved.history.actions == (action,)
