"""One real browser for all tests of pages: pages on which nothing goes wrong, and what axe-core finds on them."""

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from served import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = "ARENA_AXE"
"""The variable that says where axe-core's `axe.min.js` is, which is fetched for the tests (see `.ci/run`)."""

Axe = Callable[["Page"], list[str]]
OpenAddress = Callable[..., "Page"]


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The one browser of a run: playwright cannot be started a second time in a process."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; on Debian: apt-get install chromium")
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


@pytest.fixture
def open_address(browser: "Browser", complaints: list[str]) -> Iterator[OpenAddress]:
    """`open_address(address, width, **more)`: a page in a context of its own, which has `more` of playwright's options.

    Nothing may go wrong on it, and it may load nothing but from its own host, or for a file from the disk.
    """
    contexts: list[BrowserContext] = []

    def start(address: str, width: int = 1280, **more: Any) -> "Page":
        context = browser.new_context(viewport={"width": width, "height": 900}, **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        _listen(page, address, complaints)
        page.goto(address)
        return page

    yield start
    found = list(complaints)
    for context in contexts:
        context.close()
    assert not found


def _listen(page: "Page", address: str, complaints: list[str]) -> None:
    parts = urlsplit(address)
    own = (f"{parts.scheme}://{parts.netloc}/", "data:")

    def note(is_wrong: bool, text: str) -> None:
        if is_wrong:
            complaints.append(text)

    page.on("console", lambda message: complaints.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("request", lambda request: note(not request.url.startswith(own), f"another host: {request.url}"))
    page.on("response", lambda answer: note(answer.status >= 400, f"{answer.status}: {answer.url}"))
    if parts.scheme == "file":  # what is served may be left while it is still coming
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))


@pytest.fixture(scope="session")
def axe() -> Axe:
    """What axe-core finds wrong on a page: rule, and the first element."""
    path = os.environ.get(AXE)
    if not path:
        pytest.skip(f"{AXE} does not say where axe.min.js of axe-core is: npm pack axe-core, as .ci/run does it")
    source = Path(path).read_text(encoding="utf-8")

    def find(page: "Page") -> list[str]:
        if page.evaluate("typeof axe") == "undefined":
            page.evaluate(source)
        found: list[str] = page.evaluate(
            """async () => {
              const found = await axe.run(document, { preload: false, rules: { "target-size": { enabled: true } } });
              return found.violations.map((rule) => rule.id + ": " + rule.nodes[0].html + rule.nodes[0].failureSummary);
            }"""
        )
        return found

    return find
