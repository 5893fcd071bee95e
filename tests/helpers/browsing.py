"""One real browser for all tests of pages: pages on which nothing goes wrong, and what axe-core finds on them."""

import asyncio
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest
from served import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
"""Programs that the tests can use. The first has no windows, and takes the least processor time."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
AXE = "ARENA_AXE"
"""The variable that says where axe-core's `axe.min.js` is, which is fetched for the tests (see `.ci/run`)."""

Axe = Callable[["Page"], list[str]]
OpenAddress = Callable[..., "Page"]
SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((360, "dark"), (1280, "light"))
"""Widths and colours of the screens on which axe looks at pages."""
WIDTHS = (360, 768, 1280)
"""Widths that each page has to fit."""


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The one browser of a run: playwright cannot be started a second time in a process."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; on Debian: apt-get install chromium-headless-shell")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def event_loop_of_the_browser_hidden(item: pytest.Item) -> Iterator[None]:
    """In a thread that has started a browser, playwright's event loop counts as running until the end: it rests in the
    middle of its work while tests go on. Tests without the browser must not find it, or those of asyncio fail wherever
    a browser happened to be started before."""
    assert isinstance(item, pytest.Function)
    loop = None if "browser" in item.fixturenames else asyncio._get_running_loop()
    if loop is None:
        yield
        return
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


@pytest.fixture
def complaints() -> list[str]:
    """What went wrong on pages: errors, messages on the console, requests that failed or went elsewhere."""
    return []


class Tab:
    """One page for one test after the other: to open another one takes five times as long as to load a page."""

    def __init__(self, browser: "Browser", more: dict[str, Any]) -> None:
        self._context = browser.new_context(**more)
        self._is_signed_in = "storage_state" in more
        self.page = self._context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self._complaints: list[str] = []
        self._own: tuple[str, ...] = ()
        self._is_file = False
        self.page.on("console", lambda message: self._complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self._complaints.append(f"error: {error}"))
        self.page.on("request", lambda request: self._note_request(request.url))
        self.page.on("response", lambda answer: self._note_answer(answer.status, answer.url))
        self.page.on("requestfailed", lambda request: self._note_failure(request.url))

    def open(self, address: str, width: int, scheme: Any, complaints: list[str]) -> None:
        parts = urlsplit(address)
        self._complaints, self._is_file = complaints, parts.scheme == "file"
        self._own = (f"{parts.scheme}://{parts.netloc}/", "data:")
        self.page.bring_to_front()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.goto(address)

    def leave(self) -> bool:
        """Make the page as good as new; return whether it can be used again."""
        self._complaints = []
        if self._is_signed_in or self.page.is_closed():
            return False
        for other in self._context.pages:
            if other != self.page:
                other.close()
        self.page.unroute_all()
        self._context.set_offline(False)
        self._context.clear_cookies()
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        return True

    def close(self) -> None:
        self._context.close()

    def _note_request(self, url: str) -> None:
        if not url.startswith(self._own):
            self._complaints.append(f"another host: {url}")

    def _note_answer(self, status: int, url: str) -> None:
        if status >= 400:
            self._complaints.append(f"{status}: {url}")

    def _note_failure(self, url: str) -> None:
        if self._is_file:  # what is served may be left while it is still coming
            self._complaints.append(f"failed: {url}")


@pytest.fixture(scope="session")
def spare_tabs() -> dict[str, list[Tab]]:
    """Tabs that no test uses now, by the options of their contexts."""
    return defaultdict(list)


@pytest.fixture
def open_address(browser: "Browser", spare_tabs: dict[str, list[Tab]], complaints: list[str]) -> Iterator[OpenAddress]:
    """`open_address(address, width, color_scheme, **more)`: a page in a context with `more` of playwright's options.

    Nothing may go wrong on it, and it may load nothing but from its own host, or for a file from the disk. It is asked
    for no motion, which would be drawn many times a second.
    """
    used: list[tuple[Tab, list[Tab]]] = []

    def start(address: str, width: int = 1280, color_scheme: Any = "light", **more: Any) -> "Page":
        spare = spare_tabs[repr(more)]
        tab = spare.pop() if spare else Tab(browser, more)
        used.append((tab, spare))
        tab.open(address, width, color_scheme, complaints)
        return tab.page

    yield start
    found = list(complaints)
    for tab, spare in used:
        if tab.leave():
            spare.append(tab)
        else:
            tab.close()
    assert not found


@pytest.fixture(scope="session")
def axe() -> Axe:
    """`axe(page)`: the faults that axe-core finds on a page, each with its rule and the first element.

    Only the first eight moves of a list and the first eight rows of a table are checked. The others have the same
    structure, and would take most of the time.
    """
    path = os.environ.get(AXE)
    if not path:
        pytest.skip(f"{AXE} does not say where axe.min.js of axe-core is: npm pack axe-core, as .ci/run does it")
    source = Path(path).read_text(encoding="utf-8")

    def find(page: "Page") -> list[str]:
        if page.evaluate("typeof axe") == "undefined":
            page.evaluate(source)
        found: list[str] = page.evaluate(
            """async () => {
              const rules = { "target-size": { enabled: true } };
              const options = { preload: false, resultTypes: ["violations"], rules };
              const exclude = ["[data-moves] li:nth-child(n + 9)", "tbody tr:nth-child(n + 9)"];
              const found = await axe.run({ exclude }, options);
              return found.violations.map((rule) => rule.id + ": " + rule.nodes[0].html + rule.nodes[0].failureSummary);
            }"""
        )
        return found

    return find


def look_at(page: "Page", axe: Axe, screens: Sequence[tuple[int, Literal["light", "dark"]]] = SCREENS) -> None:
    """Check that a page is not wider than any of the screens, and that axe finds nothing on these."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    for width, scheme in screens:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert axe(page) == [], page.url
