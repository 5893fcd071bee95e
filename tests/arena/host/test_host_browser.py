"""A competition in a real browser: from an invitation to one's bot at the top of the ladder, and pages for everybody's
eyes and keyboard."""

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
from browsing import SCREENS, look_at
from made_bots import MOVES, QUICK
from made_cups import add_bot, make_account, make_cup, opened
from served import Serve

from arena.host.accounts import MACHINE, invite
from arena.host.cup_database import FILE, CupDatabase
from arena.host.serve_cup import HostServer
from arena.sandbox.levels import Level
from arena.web.address import Address, hosts_of

if TYPE_CHECKING:
    from browsing import Axe, OpenAddress

PUBLIC = ("", "bots", "seasons", "rules", "submit", "now.html", "season-1/index.html")
OF_TEAM = ("team", "team/submissions/2", "team/games", "team/compare", "team/challenges", "account")
OF_HOST = (
    "host",
    "host/season",
    "host/accounts",
    "host/accounts/1",
    "host/links",
    "host/bots",
    "host/audit",
    "host/pairs",
)

IN_BOTH = {"", "team", "host"}
"""The pages with the most elements for a visitor, a team and a host: axe looks at them on each screen."""


def test_from_an_invitation_to_a_bot_that_leads_the_ladder(
    serving: Serve, open_address: "OpenAddress", tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "cup"
    cup = make_cup(folder)
    with opened(folder) as written:
        add_bot(written, folder, make_account(written, cup, "eve"), "eve", QUICK.format(first=""))
        guest, host = invite(written, MACHINE), invite(written, MACHINE, is_host=True)
    database, said = CupDatabase(folder / FILE), list[str]()
    server = HostServer(folder, cup, database, Level.BASIC, said.append)
    playing = trio.CancelScope()

    async def play() -> None:
        with playing:
            await server.run()

    served = serving(server.application(hosts_of([Address("127.0.0.1", 0)])), beside=play)
    at = f"http://{served.host}"
    (tmp_path / "mine.sh").write_text(MOVES)
    page = open_address(f"{at}/join/{guest}")
    page.get_by_label("Your name").fill("ann")
    page.get_by_label("Name of your team").fill("The team of ann")
    page.get_by_role("button", name="Join").click()
    assert page.inner_text("h1") == "The team of ann"
    page.get_by_label("File:").set_input_files(tmp_path / "mine.sh")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/team/submissions/2")
    on_its_way = open_address(page.url, storage_state=page.context.storage_state())
    assert on_its_way.get_by_role("link", name="Look again").count()
    served.until(lambda: database.value("select games from submission where id = 2") >= 4)
    page.get_by_role("link", name="Look again").click()
    page.wait_for_selector("text=Look again", state="detached")
    assert "probation" in page.inner_text(".lead") or "ladder" in page.inner_text(".lead")
    page.goto(at)
    page.wait_for_function("() => document.querySelector('.standings tbody tr th')?.innerText == 'mine'")
    assert "The team of ann" in page.inner_text(".standings tbody tr")
    page.get_by_role("link", name="The whole ladder").click()
    page.wait_for_selector("figure, .standings")
    page.goto(f"{at}/team/games?only=won")
    page.locator("tbody a").first.click()
    page.wait_for_selector("[data-square]")
    assert "beat" in page.inner_text("h1")
    signed_in = page.context.storage_state()
    host_page = open_address(f"{at}/join/{host}")
    host_page.get_by_label("Your name").fill("host")
    host_page.get_by_role("button", name="Join").click()
    host_page.wait_for_url("**/host")
    served.call(playing.cancel)  # games would take the processor from the browser, and nothing below needs more of them
    axe: Axe = request.getfixturevalue("axe")
    look_at_all(open_address, at, signed_in, host_page.context.storage_state(), axe)
    assert not axe(on_its_way)
    assert not said


def look_at_all(open_address: "OpenAddress", at: str, team: object, host: object, axe: "Axe") -> None:
    """Look at all pages, with axe on a narrow dark and a wide light screen by turns: they share one stylesheet."""
    screens = cycle(SCREENS)
    for names, state in ((PUBLIC, None), (OF_TEAM, team), (OF_HOST, host)):
        page = open_address(f"{at}/sign-in", storage_state=state)
        for name in names:
            page.goto(f"{at}/{name}")
            look_at(page, axe, SCREENS if name in IN_BOTH else [next(screens)])
