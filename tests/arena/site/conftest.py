"""What the tests of the pages share: stores that nobody has played, and a real browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from made_stores import MakeStore, make_store, play_game

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["MakeStore", "make_store", "play_game"]

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
