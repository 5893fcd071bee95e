"""Pages of a league whose format places the bots: the first has the places, another who met whom, for everybody."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import SCREENS, look_at
from ended_leagues import Made, Run, made_in

from arena.api.leagues import League
from arena.league.league_options import FormatName, FormatOptions
from arena.league.readers import reader_named
from arena.league.store import Store
from arena.report.placings import PlacingEntry
from arena.report.site.pages import PlayedGames
from arena.report.site.site_contents import SitePlan, read_site
from arena.report.site.write_site import write_site

if TYPE_CHECKING:
    from browsing import Axe

    from tests.arena.site.conftest import OpenPage

SWISS = FormatOptions(FormatName.SWISS, rounds=3)
KNOCKOUT = FormatOptions(FormatName.KNOCKOUT, best_of=2)


@pytest.fixture
def played(tmp_path: Path) -> Callable[..., Made]:
    """A store of such a league, or of one that was killed after so many `games`."""

    def play(options: FormatOptions, games: int | None = None) -> Made:
        with made_in(tmp_path, 7) as made:
            if games is None:
                made.play(Run(options))
            else:
                made.killed(Run(options), games)
            return made

    return play


def page_of(made: Made, name: str, **plan: Any) -> str:
    with Store(made.path, create=False) as store:
        contents = read_site(store, SitePlan(**plan))
        text = contents.text(name, PlayedGames())
    assert text is not None
    assert name in contents.names()
    return text


def placing_of(made: Made) -> PlacingEntry:
    placing = League(made.path).standings().placing
    assert placing is not None
    return placing


def rows_in(page: str, table: str) -> list[list[str]]:
    """The cells of a table's rows, as they are read."""
    body = page.partition(f'class="{table}"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in body.split("</tr>")
        if "<t" in row
    ]


def test_the_first_page_has_the_places_of_a_swiss_above_the_table(played: Callable[..., Made]) -> None:
    made = played(SWISS)
    page = page_of(made, "index.html")
    expected = [
        [str(one.place), one.name, f"{one.points:g}", f"{one.buchholz:g}", str(one.won), str(one.byes)]
        for one in placing_of(made).places
    ]
    assert rows_in(page, "places") == expected
    assert "<h2>Swiss, after 3 rounds: points with byes</h2>" in page
    assert page.index('class="places"') < page.index('class="standings"')


@pytest.mark.parametrize("options", [SWISS, KNOCKOUT], ids=lambda options: options.name.value)
def test_the_rounds_lead_to_each_game_and_each_bot(played: Callable[..., Made], options: FormatOptions) -> None:
    made = played(options)
    page = page_of(made, "rounds.html").partition("<main")[2]
    numbers = [number for one in placing_of(made).rounds for each in one.meetings for number in each.games]
    assert re.findall(r'<a href="games/(\d+)\.html">\1</a>', page) == list(map(str, numbers))
    assert set(re.findall(r'<a href="bots/\d+\.html"><bdi>(\w+)</bdi></a>', page)) == {
        f"bot{number}" for number in range(1, 6)
    }


def test_a_game_without_a_page_is_named_and_leads_nowhere(played: Callable[..., Made]) -> None:
    page = page_of(played(KNOCKOUT), "rounds.html", newest=0, numbers=(2,))
    assert re.findall(r'href="games/(\d+)\.html"', page) == ["2"]
    assert re.search(r"games: 1 ", page)


def test_readers_who_see_less_see_the_same_places(played: Callable[..., Made]) -> None:
    made = played(KNOCKOUT)
    for name in ("index.html", "rounds.html"):
        assert page_of(made, name, reader=reader_named("public")) == page_of(made, name)


@pytest.mark.parametrize("options", [KNOCKOUT], ids=lambda options: options.name.value)
def test_they_fit_the_width_and_axe_finds_nothing(
    played: Callable[..., Made], open_page: "OpenPage", axe: "Axe", tmp_path: Path, options: FormatOptions
) -> None:
    with Store(played(options).path, create=False) as store:
        write_site(store, tmp_path / "out", SitePlan())
    for name, screens in (("index", SCREENS[:1]), ("rounds", SCREENS)):
        look_at(open_page(tmp_path / "out" / f"{name}.html"), axe, screens)
