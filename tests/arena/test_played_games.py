"""People play games that are not Stratego: in a session, in a terminal, and on a page."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import trio
import trio.lowlevel
from commands import run_program
from play_table import PlayTable, serve_session
from small_games import FOUR, GUESSING, HERE

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec, person_spec
from arena.game import Game
from arena.game.game_spec import GameSpec, person, without_clock
from arena.game.person_seat import SeatStage
from arena.game.recheck import check_record
from arena.game.record import GameRecord, History
from arena.game.time_control import TimeControl
from arena.play.session import RefusedError, Session
from arena.system.concurrency import background
from protocol.seats import Color, Reason

if TYPE_CHECKING:
    from browsing import OpenAddress
    from playwright.sync_api import Page

NEVER_ENDS = 60.0
FIRST = """#!/usr/bin/env python3
import sys
legal = []
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello":
        print("name first\\nwant legal\\nready", flush=True)
    elif words[0] == "legal":
        legal = words[1:]
    elif words[0] == "turn":
        print("move", legal[0], flush=True)
"""


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A bot that plays the first of the legal actions."""
    path = tmp_path / "first.py"
    path.write_text(FIRST)
    path.chmod(0o755)
    return path


def spec_of(game: Game, blue: BotSpec | None = None, time: TimeControl | None = None) -> GameSpec:
    return GameSpec(
        id="0123456789abcdef",
        variant=game.variant(),
        time=time or without_clock(TimeControl()),
        players=(person("Ada"), blue.player if blue else person("Bea")),
        seeds=(11, 22),
        pair_seed=33,
    )


def session_of(game: Game, blue: BotSpec | None = None, history: History | None = None, **more: Any) -> Session:
    players = (person_spec("Ada"), blue or person_spec("Bea"))
    return Session(spec_of(game, blue, **more), players, history=history)


async def until(session: Session, color: Color, stage: SeatStage, plies: int = 0) -> None:
    state = await session.changed(color)
    while state.stage is not stage or state.plies < plies:
        state = await session.changed(color, state.version)


def played(session: Session, play: Callable[[Session], Any]) -> GameRecord | History | None:
    async def run() -> GameRecord | History | None:
        with trio.fail_after(NEVER_ENDS):
            async with background(lambda: play(session)):
                return await session.play()

    return trio.run(run)


def test_a_person_acts_from_the_list_and_what_the_game_forbids_is_refused() -> None:
    async def play(session: Session) -> None:
        for ply in range(7):
            color = Color(ply % 2)
            await until(session, color, SeatStage.MOVING, ply)
            assert session.state(color).choices == tuple("1234567")
            with pytest.raises(RefusedError, match="expected one of the columns"):
                session.act(color, "8")
            with pytest.raises(RefusedError, match="not your turn"):
                session.act(color.opponent, "1")
            session.act(color, str(1 + ply % 2))

    session = session_of(FOUR)
    record = played(session, play)
    assert isinstance(record, GameRecord)
    check_record(record)
    assert (record.verdict.reason, record.actions) == (Reason("four-discs"), tuple("1212121"))
    assert session.seat(Color.BLUE).lines[:2] == ["moved red 1", "moved blue 2"]
    end = session.state(Color.BLUE).end
    assert end is not None
    assert (end.result, end.truth[-1]) == ("loss", "1 2 3 4 5 6 7")


def test_a_seat_holds_only_its_own_secrets_until_the_game_is_over_and_shows_them_all_then() -> None:
    seen: list[tuple[str, str]] = []

    async def play(session: Session) -> None:
        for color, number in zip(Color, ("17", "42"), strict=True):
            await until(session, color, SeatStage.SETTING_UP)
            with pytest.raises(RefusedError, match="expected a number from 1 to 99, got 200"):
                session.set_up(color, ["200"])
            with pytest.raises(RefusedError, match="printable ASCII"):
                session.set_up(color, ["1\uff17"])
            session.set_up(color, [number])
        for ply, number in enumerate(("5", "6", "42")):
            color = Color(ply % 2)
            await until(session, color, SeatStage.MOVING, ply)
            with pytest.raises(RefusedError, match="expected a number, got x"):
                session.act(color, "x")
            for each in Color:
                state = msgspec.json.encode(session.state(each)).decode()
                seen.append((str(each), f"{state} {session.text(each)} {session.seat(each).lines}"))
            session.act(color, number)

    session = session_of(GUESSING)
    record = played(session, play)
    assert isinstance(record, GameRecord)
    assert record.verdict.reason is Reason("guessed")
    assert len(seen) == 6
    for seat, text in seen:
        assert ("17" in text, "42" in text) == ((True, False) if seat == str(Color.RED) else (False, True))
    assert session.text(Color.RED) == session.text(Color.BLUE) == "red has 17\nblue has 42"


# --- in a terminal ----------------------------------------------------------------------------------------------------


def test_a_person_plays_in_a_terminal_saves_the_game_and_wins_it_on_another_day(first: Path) -> None:
    play = (sys.executable, "-m", "arena", "play")
    words = ("first.py", "--terminal", "--game", str(HERE), "--side", "red", "--name", "Ada", "--time", "5s")
    typed = "help\n9\nrules\nmoves\nhistory\n7\nmove 7\n"
    done = run_program([*play, *words], first.parent, typed, PYTHONPATH=str(HERE.parent))
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("\n> ")
    assert "Ada (cross, red) - first (circle, blue), four, ply 0: your move" in said[0]
    assert "1  2  3  4  5  6  7" in said[0]
    assert "resign         give the game up" in said[1]
    assert "expected one of the columns" in said[2]
    assert said[5].endswith("nothing so far")
    assert "moved red 7\nmoved blue 1\nAda (cross, red)" in said[6]
    assert "O . . . . . X" in said[7]
    assert max(map(len, done.stdout.splitlines())) <= 80
    (line,) = re.findall(r"resume with: .* play (.*)", done.stderr)
    again = run_program([*play, *line.split()], first.parent, "7\n7\n", PYTHONPATH=str(HERE.parent))
    assert again.returncode == 0, again.stderr
    assert "You have won: blue (first) let four in a line happen." in again.stdout
    assert "stored as game 1" in again.stderr


# --- on a page --------------------------------------------------------------------------------------------------------


@pytest.fixture
def table(first: Path) -> Any:
    """Serves sessions of games, with the bot as Blue or two persons."""
    tables: list[PlayTable] = []

    def serve(game: Game, *, is_alone: bool = False) -> PlayTable:
        tables.append(serve_session(session_of(game, load_bot(first) if is_alone else None)))
        return tables[-1]

    yield serve
    for each in tables:
        each.served.stop()
        assert not each.served.complaints


def at(page: "Page", stage: str, plies: int) -> None:
    page.wait_for_selector(f"#play[data-stage={stage}][data-plies='{plies}']")


def test_a_person_wins_against_a_bot_in_a_browser_by_keyboard(table: Any, open_address: "OpenAddress") -> None:
    served = table(FOUR, is_alone=True)
    page = open_address(served.address(Color.RED))
    at(page, "moving", 0)
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-refused]:not(:empty)")
    assert "Expected one of the columns" in page.inner_text("[data-refused]")
    for ply in range(0, 8, 2):
        at(page, "moving", ply)
        page.wait_for_selector(f"#play[data-ply='{ply}']")
        seen = page.get_attribute("[data-position] img", "alt") or ""
        assert seen.count("X") + seen.count("O") == ply  # however often the beginning was sent
        page.keyboard.type("7")
        page.keyboard.press("Enter")
    at(page, "over", 7)
    assert "You have won: blue (first) let four in a line happen." in page.inner_text("[data-status]")
    assert page.locator("[data-moves] .action").all_inner_texts()[:2] == ["7", "1"]
    assert page.evaluate("document.querySelector('[data-position] img').naturalWidth") > 0
    assert "X" in (page.get_attribute("[data-position] img", "alt") or "")
    for goal, ply in (("first", 0), ("next", 1), ("next", 2), ("back", 1)):
        page.click(f"[data-go={goal}]")
        page.wait_for_selector(f"#play[data-earlier][data-ply='{ply}']")
        shown = page.get_attribute("[data-position] img", "alt") or ""
        assert (shown.count("X"), shown.count("O")) == ((ply + 1) // 2, ply // 2)
    assert "ply 1 of 7" in page.inner_text("[data-now]")
    page.keyboard.press("End")
    page.wait_for_selector("#play:not([data-earlier])")
    assert (page.get_attribute("[data-position] img", "alt") or "").count("X") == 4
    assert isinstance(served.end(), GameRecord)


def test_two_people_set_up_and_play_by_mouse_and_neither_page_has_the_others_number(
    table: Any, open_address: "OpenAddress"
) -> None:
    served = table(GUESSING)
    red, blue = (open_address(served.address(color), 360) for color in Color)
    at(red, "setting-up", 0)
    loads: list[str] = []
    red.on("load", lambda page: loads.append(page.url))
    red.fill("[data-rows] input", "777")
    red.click("[data-rows] button >> nth=0")
    red.wait_for_selector("[data-refused]:not(:empty)")
    red.fill("[data-rows] input", "77")
    red.click("[data-rows] button >> nth=0")
    at(blue, "setting-up", 0)
    blue.click("[data-do=random]")
    at(red, "moving", 0)
    assert red.inner_text("[data-position]") == "red has 77\nblue has ?"
    assert "77" not in served.served.get(served.path(Color.BLUE, "state")).text
    red.fill("[data-typed] input", "0")
    red.click("[data-typed] button")
    at(blue, "moving", 1)
    blue.click("[data-opens=resign-asked]")
    blue.click("[data-resign-asked] [value=yes]")
    at(red, "over", 2)
    assert not loads
    assert red.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "red has 77\nblue has" in blue.inner_text("[data-position]")
    blue.check("input[value=blue]")
    assert "red has ?" in blue.inner_text("[data-position]")
