"""What the tests of the pages share: stores that nobody has played, and a real browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import Axe
from made_stores import MakeStore, make_store, play_game

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["Axe", "MakeStore", "make_store", "play_game"]


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


OpenPage = Callable[..., "Page"]
