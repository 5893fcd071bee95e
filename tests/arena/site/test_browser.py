"""The pages in a real browser, from the disk: nothing fails, and the board shows what `arena show` prints."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from arena.game.record import GameRecord, NoteLine
from arena.league.store import Store
from arena.report.replay import Position
from arena.report.site.build import write_site
from arena.report.site.contents import SitePlan

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.arena.site.conftest import MakeStore

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"
)

RULES = [
    "isf",
    "vintage/lightning+silent-defence",
    "jumbo-81320/infiltrator+rescue",
    "vintage/barrage+exploding-bombs+mobile-flag",
]
NASTY = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
CELLS = """
(page) => {
  const found = [];
  const replay = document.querySelector("#replay").replay;
  for (let ply = 0; ply <= replay.last; ply++) {
    replay.go(ply);
    const squares = [...document.querySelectorAll("[data-board] [data-square]")];
    found.push(Object.fromEntries(squares.map((cell) => [cell.dataset.square, cell.dataset.cell])));
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What went wrong on pages: errors, messages on the console, requests that failed or left the folder."""
    return []


@pytest.fixture
def open_page(browser: "Browser", complaints: list[str]) -> Iterator[Any]:
    """`open_page(path, width, scheme)`: a page with the file loaded."""
    contexts = []

    def make(path: Path, width: int = 1280, scheme: Any = "light", fragment: str = "") -> "Page":
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        page.on("request", lambda request: _check_address(request.url, complaints))
        page.goto(f"file://{path}{fragment}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


def _check_address(address: str, complaints: list[str]) -> None:
    if not address.startswith(("file://", "data:")):
        complaints.append(f"another host: {address}")


def site_of(make_store: "MakeStore", folder: Path, **more: Any) -> list[GameRecord]:
    records = make_store(folder / "l.sqlite", **more)
    with Store(folder / "l.sqlite", create=False) as store:
        write_site(store, folder / "out", SitePlan(title="a league"))
    return records


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_all_kinds_of_pages_load_without_a_complaint_and_fit_the_width(
    make_store: "MakeStore", open_page: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    site_of(make_store, tmp_path, games=2)
    for name in ("index", "crosstable", "games", "rules", "bots/1", "games/1"):
        page = open_page(tmp_path / f"out/{name}.html", width, scheme)
        if name == "games/1":
            page.wait_for_selector("[data-square]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.title()


@pytest.mark.parametrize("rules", RULES)
def test_the_board_shows_at_each_ply_and_in_each_view_what_show_prints(
    make_store: "MakeStore", open_page: Any, tmp_path: Path, rules: str
) -> None:
    (record,) = site_of(make_store, tmp_path, rules=rules, games=1, plies=150)
    page = open_page(tmp_path / "out/games/1.html")
    page.wait_for_selector("[data-square]")
    for view in ("all", "red", "blue"):
        page.check(f"input[name=view][value={view}]")
        shown = page.evaluate(CELLS)
        position = Position(record, view)
        expected = [position.cells()]
        expected += [position.cells() for _ in position.replay.steps()]
        assert len(shown) == len(expected)
        for ply, cells in enumerate(expected):
            assert [shown[ply][f"{'abcdefghij'[n % 10]}{(n // 10 + 1) % 10}"] for n in range(100)] == list(cells), ply


def test_keys_the_slider_links_and_the_address_go_to_a_ply(
    make_store: "MakeStore", open_page: Any, tmp_path: Path
) -> None:
    (record,) = site_of(make_store, tmp_path, games=1)
    plies = len(record.actions)
    page = open_page(tmp_path / "out/games/1.html", fragment="#ply=4&view=red&from=blue")
    page.wait_for_selector("[data-square]")
    now = page.locator("[data-now]")

    def at() -> int:
        return int(page.locator("#ply").input_value())

    assert at() == 4
    assert page.is_checked("input[name=view][value=red]")
    assert page.locator("[data-board] [data-square]").first.get_attribute("data-square") == "j1"
    for key, ply in (("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 0), ("End", plies), ("ArrowLeft", plies - 1)):
        page.keyboard.press(key)
        assert at() == ply
    page.keyboard.press("f")
    assert page.locator("[data-board] [data-square]").first.get_attribute("data-square") == "a0"
    page.click("[data-moves] a >> nth=2")
    assert at() == 3
    assert record.actions[2] in now.inner_text()
    assert page.evaluate("location.hash").startswith("#ply=3")
    page.click("[data-go=play]")
    page.wait_for_function("() => document.querySelector('#ply').value > 4")
    page.click("[data-go=play]")
    stopped = at()
    page.click("[data-go=back]")
    assert at() == stopped - 1


def test_the_list_is_filtered_by_bots_reason_and_length(
    make_store: "MakeStore", open_page: Any, tmp_path: Path
) -> None:
    records = site_of(make_store, tmp_path, games=6)
    page = open_page(tmp_path / "out/games.html", fragment="#bot=ann&against=bob")
    both = [record for record in records if {player.name for player in record.players} == {"ann", "bob"}]
    page.wait_for_function(f"() => document.querySelectorAll('#games tbody tr').length == {len(both)}")
    page.select_option("select[name=against]", "")
    ann = [record for record in records if "ann" in {player.name for player in record.players}]
    page.wait_for_function(f"() => document.querySelectorAll('#games tbody tr').length == {len(ann)}")
    page.fill("input[name=from]", "100000")
    page.wait_for_function("() => document.querySelectorAll('#games tbody tr').length == 0")
    assert "0 games" in page.inner_text("#found")


def test_nothing_that_a_bot_says_runs_in_the_browser(make_store: "MakeStore", open_page: Any, tmp_path: Path) -> None:
    def say(record: GameRecord) -> GameRecord:
        notes = (NoteLine(1, "red", NASTY),)
        return msgspec.structs.replace(record, declared=(NASTY, NASTY), stderr=(NASTY, NASTY), notes=notes)

    site_of(make_store, tmp_path, games=2, names=(NASTY, "bob"), change=say)
    for name in ("index", "crosstable", "games", "bots/1", "games/1"):
        page = open_page(tmp_path / f"out/{name}.html", fragment="#ply=1")
        if name == "games/1":
            page.wait_for_selector("[data-square]")
            assert NASTY in page.inner_text("[data-now]")
        assert page.title() != "run"
