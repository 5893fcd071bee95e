"""What the tests of the pages share: stores that nobody has played, and a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import OpenAddress

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def open_page(open_address: OpenAddress) -> "OpenPage":
    """`open_page(path, width, scheme, fragment)`: a page with the file loaded, the board of a game included; one page a
    test for each width and look."""
    pages: dict[str, Page] = {}

    def make(path: Path, width: int = 1280, scheme: Any = "light", fragment: str = "", **more: Any) -> "Page":
        address, look = f"file://{path}{fragment}", repr((width, scheme, more))
        if look in pages:
            pages[look].goto(address)
        else:
            pages[look] = open_address(address, width, color_scheme=scheme, **more)
        page = pages[look]
        if page.locator("#replay").count():
            page.wait_for_selector("[data-square]")
        return page

    return make


OpenPage = Callable[..., "Page"]
