"""The site of documentation: it is built without a warning, has every page, and loads nothing from another host."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from reference import described, manual

import arena
from arena.cli import catalog

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md"))
ONLY_NAMED = {"canonical", "next", "prev", "index", "search", "author"}
"""Kinds of `<link>` that a browser does not fetch."""
FETCHED = {"src", "srcset", "data", "poster", "background", "xlink:href"}
ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
FROM_STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
FROM_SCRIPTS = re.compile(r"(?:fetch|import|importScripts|open|sendBeacon|WebSocket)\s*\(\s*['\"`]([^'\"`]+)")


class _Loads(HTMLParser):
    """Collects what a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.found += [value for name, value in values.items() if name in FETCHED]
        self.found += _in_styles(values.get("style", ""))
        if (tag == "link" and not set(values.get("rel", "").split()) <= ONLY_NAMED) or tag in ("use", "image", "base"):
            self.found.append(values.get("href", ""))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.found += _in_styles(data)
        if self._inside == "script":
            self.found += FROM_SCRIPTS.findall(data)


def _in_styles(text: str) -> list[str]:
    return [first or second for first, second in FROM_STYLES.findall(text)]


def loaded(path: Path) -> Iterator[str]:
    """The addresses on other hosts that a file of the site has a browser load."""
    text = path.read_text(encoding="utf-8")
    found = []
    if path.suffix in (".html", ".svg"):
        parser = _Loads()
        parser.feed(text)
        found = parser.found
    elif path.suffix == ".css":
        found = _in_styles(text)
    elif path.suffix == ".js":
        found = FROM_SCRIPTS.findall(text)
    return (address for address in found if ELSEWHERE.match(address))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (find_spec("sphinx") and find_spec("furo") and find_spec("myst_parser")):
        pytest.skip("needs the extra 'docs' (pip install -e '.[docs]')")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", str(DOCS), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_built_without_a_warning(site: Path) -> None:
    assert [str(page) for page in PAGES if not (site / page).with_suffix(".html").exists()] == []


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".js", ".svg")]
    assert len(files) > len(PAGES)
    assert {path.name: list(loaded(path)) for path in files if any(True for _ in loaded(path))} == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<img src="https://x.org/a.png">'),
        ("a.html", '<script src="//cdn.x.org/a.js"></script>'),
        ("a.html", '<link rel="stylesheet" href="https://fonts.x.org/css">'),
        ("a.html", '<script>fetch("https://x.org/count")</script>'),
        ("a.svg", "<svg><style>@font-face { src: url('https://x.org/a.woff') }</style></svg>"),
        ("a.css", '@import "//x.org/a.css";'),
    ],
)
def test_what_a_page_would_load_from_another_host_is_found(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert len(list(loaded(tmp_path / name))) == 1


def test_all_commands_with_all_options_are_on_one_page(site: Path) -> None:
    page = re.sub(r"<[^>]*>", "", (site / "commands.html").read_text(encoding="utf-8"))
    for command in described():
        assert f"arena {command.name}" in page
        for _, records in command.sections:
            for names, _ in records:
                assert names.split()[0].strip(",") in page


def test_every_name_of_the_library_is_on_the_page_on_it() -> None:
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    names = re.findall(r"auto\w+:: arena\.(?:api\.|stratego\.library\.)?(\w+)", page)
    assert sorted(names) == sorted(set(arena.__all__) - {"__version__"})


def test_every_page_is_in_the_list_of_pages() -> None:
    listed = re.findall(r"^[\w/-]+$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(str(page) for page in PAGES if str(page) != "index")


def test_the_manual_page_is_that_of_the_commands() -> None:
    written = (DOCS / "arena.1").read_text(encoding="utf-8")
    assert written == manual(), "python docs/manual.py writes it"
    for name in catalog.NAMES:
        assert '.SS "arena ' + name.replace("-", "\\-") in written


def test_the_manual_page_is_well_formed() -> None:
    if shutil.which("groff") is None:
        pytest.skip("needs groff (Debian: groff)")
    words = ["groff", "-man", "-ww", "-Tutf8", str(DOCS / "arena.1")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "arena league" in re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout)
