"""A real browser for tests of pages, one for all of them, and what axe-core finds wrong on a page."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = "ARENA_AXE"
"""The variable that says where axe-core's `axe.min.js` is, which is fetched for the tests (see `.ci/run`)."""

Axe = Callable[["Page"], list[str]]


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


@pytest.fixture(scope="session")
def axe() -> Axe:
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
