"""The list of games and the standings in a real browser: their order, their filters, and what is in sight."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from made_stores import make_store

from arena.game.faults import GameResult
from arena.game.record import GameRecord
from arena.game.recorded import Replay
from arena.league.store import Store
from arena.report.site.site_contents import SitePlan
from arena.report.site.write_site import COMEBACK, write_site
from arena.stratego.state import as_stratego
from protocol.notation import Color, Reason

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.arena.site.conftest import OpenPage

ROW = "#games tbody tr"


class League:
    """A site of random games: their records, and the Elo of each bot."""

    def __init__(self, folder: Path) -> None:
        def date(record: GameRecord) -> GameRecord:
            number = int(record.id, 16)
            started = 1e9 - 1000 * (number % 7)
            if number % 8:
                return msgspec.structs.replace(record, started=started)
            verdict = msgspec.structs.replace(record.verdict, result=GameResult.BLUE, reason=Reason.CRASH)
            return msgspec.structs.replace(record, started=started, verdict=verdict)

        names = ("\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}", "b+b", "eve", "dan")
        records = make_store(folder / "l.sqlite", "barrage", names, games=24, plies=300, change=date)
        self.records = dict(enumerate(records, 1))
        with Store(folder / "l.sqlite", create=False) as store:
            _, contents = write_site(store, folder / "out", SitePlan())
        self.elos = {line.name: line.elo or 0.0 for line in contents.table.lines}
        self.list = folder / "out/games.html"
        self.front = folder / "out/index.html"

    def gap(self, number: int) -> float:
        """How far the winner's Elo is below the loser's."""
        record = self.records[number]
        winner = record.verdict.result.winner
        if winner is None:
            return 0.0
        won, lost = (round(self.elos[record.players[color].name]) for color in (winner, winner.opponent))
        return lost - won

    def behind(self, number: int) -> int:
        """The most pieces that the winner had less than the loser; 0 for a forfeit."""
        verdict, replay = self.records[number].verdict, Replay(self.records[number])
        if verdict.result.winner is None or verdict.reason.is_forfeit:
            return 0
        state, most = as_stratego(replay.state), 0
        for _ in replay.steps():
            lost = [len(state.view(color).captured[color]) for color in Color]
            most = max(most, lost[verdict.result.winner] - lost[verdict.result.winner.opponent])
        return most


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> League:
    return League(tmp_path_factory.mktemp("list"))


def listed(page: "Page") -> list[int]:
    return [int(text) for text in page.locator(f"{ROW} th").all_inner_texts()]


def wait_for_order(page: "Page", key: str, order: str) -> None:
    page.wait_for_function(f"() => document.querySelector('[data-sort={key}]').ariaSort === '{order}'")


def test_the_list_is_sorted_by_a_click_and_by_the_keyboard_and_says_so(open_page: "OpenPage", league: League) -> None:
    page, plies = open_page(league.list), {number: len(one.actions) for number, one in league.records.items()}
    assert listed(page) == sorted(league.records, reverse=True)
    page.click("[data-sort=plies] button")
    wait_for_order(page, "plies", "ascending")
    assert [plies[number] for number in listed(page)] == sorted(plies.values())
    page.keyboard.press("Enter")  # the focus has stayed
    wait_for_order(page, "plies", "descending")
    assert [plies[number] for number in listed(page)] == sorted(plies.values(), reverse=True)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    wait_for_order(page, "started", "ascending")
    assert page.locator("[aria-sort=ascending], [aria-sort=descending]").count() == 1
    assert [league.records[number].started for number in listed(page)] == sorted(
        one.started for one in league.records.values()
    )
    first, last = page.locator(f"{ROW} td:last-child").first, page.locator(f"{ROW} td:last-child").last
    assert (first.inner_text(), last.inner_text()) == ("2001-09-09 00:06", "2001-09-09 01:46")
    page.reload()
    wait_for_order(page, "started", "ascending")  # it stands in the address
    page.evaluate("location.hash = '#length=2&bot=nobody&%zz'")
    wait_for_order(page, "started", "none")
    assert listed(page) == sorted(league.records, reverse=True)


def test_rows_made_by_the_script_are_as_those_of_the_page(open_page: "OpenPage", league: League) -> None:
    page = open_page(league.list)
    made = """() => [...document.querySelectorAll("#games tbody tr")].map((row) =>
      [...row.cells].map((cell) => [cell.className, cell.innerText]))"""
    before = page.evaluate(made)
    for order in ("ascending", "descending"):
        page.click("[data-sort=number] button")
        wait_for_order(page, "number", order)
    assert page.evaluate(made) == before
    assert page.locator(f"{ROW} bdi").count() == 2 * len(league.records)


def test_the_whole_row_is_a_link_to_its_game(open_page: "OpenPage", league: League) -> None:
    page = open_page(league.list, fragment="#bot=eve")
    page.wait_for_selector("#found:not(:empty)")
    number, box = listed(page)[0], page.locator(ROW).first.locator("td").nth(1).bounding_box()
    assert box
    place = (box["x"] + 5, box["y"] + 5)
    with page.context.expect_page() as other:
        page.mouse.click(*place, button="middle")  # as on any link
    other.value.wait_for_url(f"**/games/{number}.html")
    assert page.url.endswith("games.html#bot=eve")
    page.mouse.click(*place)
    page.wait_for_url(f"**/games/{number}.html")
    page.go_back()
    page.wait_for_selector("#found:not(:empty)")
    assert page.input_value("select[name=bot]") == "eve"
    page.focus(f"{ROW} a")
    assert page.url.endswith("games.html#bot=eve")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/games/{number}.html")


def test_upsets_lengths_forfeits_and_comebacks_can_be_chosen(open_page: "OpenPage", league: League) -> None:
    page = open_page(league.list)

    def choose(shown: str) -> list[int]:
        page.select_option("select[name=shown]", shown)
        page.wait_for_function(
            f"() => location.hash.includes('shown={shown}') && document.querySelector('#found').textContent"
        )
        return listed(page)

    numbers, plies = league.records.keys(), {number: len(one.actions) for number, one in league.records.items()}
    upsets = [league.gap(number) for number in choose("upsets")]
    assert upsets == sorted((league.gap(number) for number in numbers if league.gap(number) > 0), reverse=True) != []
    assert "won by the bot with the lower Elo" in page.inner_text("#found")
    assert [plies[number] for number in choose("shortest")] == sorted(plies.values())
    assert [plies[number] for number in choose("longest")] == sorted(plies.values(), reverse=True)
    assert set(choose("forfeits")) == {number for number in numbers if (number - 1) % 8 == 0}
    behind = [league.behind(number) for number in choose("comebacks")]
    assert behind == sorted((n for n in map(league.behind, numbers) if n >= COMEBACK), reverse=True) != []
    page.select_option("select[name=bot]", "b+b")
    page.wait_for_function(f"() => document.querySelectorAll('{ROW}').length < {len(behind)}")
    assert all("b+b" in {player.name for player in league.records[number].players} for number in listed(page))


def test_elo_and_its_interval_are_in_sight_on_a_phone_and_a_wide_page_is_used_to_its_end(
    open_page: "OpenPage", league: League
) -> None:
    page = open_page(league.front, 360)
    for cell in page.locator(".standings .elo, .standings .interval").all():
        box = cell.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 360
    page = open_page(league.front, 1280)
    chart, endings = (page.locator(".columns section").nth(number).bounding_box() for number in (0, 1))
    assert chart
    assert endings
    assert chart["y"] == endings["y"]
    assert endings["x"] > chart["x"] + chart["width"]
    assert endings["x"] + endings["width"] > 1200


def test_the_band_of_a_bot_is_seen_when_its_line_is_pointed_at(open_page: "OpenPage", league: League) -> None:
    page = open_page(league.front)
    band = page.locator("g > .band").first
    assert band.evaluate("(band) => getComputedStyle(band).opacity") == "0"
    page.locator("figure g > text").first.hover()
    assert band.evaluate("(band) => getComputedStyle(band).opacity") == "0.2"
    assert page.locator("g .range").count() == len(league.elos)
