"""What the tests of the pages share: random games, stores of them that nobody has played, and a real browser."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from twins import Lively

from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.store import Store
from arena.rules.loading import load_ruleset
from arena.rules.ruleset import Ruleset

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.arena.conftest import Table

    TableFor = Callable[[GameSpec], Table]
    SpecFor = Callable[..., GameSpec]
    RandomRows = Callable[[Ruleset, Random], tuple[str, ...]]
    RecordFrom = Callable[[Table], GameRecord]
    PlayGame = Callable[..., GameRecord]


@pytest.fixture(scope="session")
def play_game(
    table_for: "TableFor", spec: "SpecFor", random_rows: "RandomRows", lively: Lively, record_from: "RecordFrom"
) -> "PlayGame":
    """A random game: `play_game(ruleset, seed, plies, time)`; who is to move after so many plies resigns."""

    def play(ruleset: Ruleset, seed: int, plies: int = 200, time: TimeControl | None = None) -> GameRecord:
        rng = Random(seed)
        table = table_for(spec(ruleset, time or TimeControl(move_ms=1000)))
        table.begin(random_rows(ruleset, rng), random_rows(ruleset, rng))
        game = table.referee.game
        assert game is not None
        while table.referee.verdict is None and game.ply < plies:
            table.play(lively(game, rng).text, after=rng.random())
        if table.referee.verdict is None:
            table.reply(game.to_move, "move resign")
        return record_from(table)

    return play


@pytest.fixture(scope="session")
def make_store(play_game: "PlayGame") -> "MakeStore":
    """A store of random games: `make_store(path, rules, names, games, change)`; `change` gets each record."""

    def make(
        path: Path,
        rules: str = "duel",
        names: Sequence[str] = ("ann", "bob", "eve"),
        games: int = 6,
        *,
        plies: int = 60,
        change: Callable[[GameRecord], GameRecord] = lambda record: record,
    ) -> list[GameRecord]:
        players = [Player(name, f"{number:064x}") for number, name in enumerate(names, 1)]
        ruleset = load_ruleset(rules)
        records = []
        for number in range(games):
            pair = (players[number % len(players)], players[(number + 1) % len(players)])
            record = play_game(ruleset, seed=number, plies=plies)
            records.append(change(msgspec.structs.replace(record, id=f"{number:016x}", players=pair)))
        with Store(path, create=True) as store:
            store.agree({"ruleset": rules, "time": "1s/move"}, players)
            store.set_entrants(tuple(players))
            store.add_all(records)
        return records

    return make


MakeStore = Callable[..., list[GameRecord]]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = "ARENA_AXE"
"""The variable that says where axe-core's `axe.min.js` is, which is fetched for the tests (see `.ci/run`)."""


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; on Debian: apt-get install chromium")
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
def open_page(browser: "Browser", complaints: list[str]) -> Iterator["OpenPage"]:
    """`open_page(path, width, scheme, fragment)`: a page with the file loaded, the board of a game included."""
    contexts = []

    def make(path: Path, width: int = 1280, scheme: Any = "light", fragment: str = "", **more: Any) -> "Page":
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        page.on("request", lambda request: _check_address(request.url, complaints))
        page.goto(f"file://{path}{fragment}")
        if page.locator("#replay").count():
            page.wait_for_selector("[data-square]")
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


def _check_address(address: str, complaints: list[str]) -> None:
    if not address.startswith(("file://", "data:")):
        complaints.append(f"another host: {address}")


@pytest.fixture(scope="session")
def axe() -> "Axe":
    """What axe-core finds wrong on a page: rule, and the first element."""
    path = os.environ.get(AXE)
    if not path:
        pytest.skip(f"{AXE} does not say where axe.min.js of axe-core is: npm pack axe-core, as .ci/run does it")
    source = Path(path).read_text(encoding="utf-8")

    def find(page: "Page") -> list[str]:
        page.evaluate(source)
        found: list[str] = page.evaluate(
            """async () => {
              const found = await axe.run(document, { preload: false, rules: { "target-size": { enabled: true } } });
              return found.violations.map((rule) => rule.id + ": " + rule.nodes[0].html + rule.nodes[0].failureSummary);
            }"""
        )
        return found

    return find


OpenPage = Callable[..., "Page"]
Axe = Callable[["Page"], list[str]]
