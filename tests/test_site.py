"""The site of documentation: it is built without a warning, has every page, and loads nothing from another host."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from reference import described, manual

import arena
from arena.cli import catalog

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md"))
ELSEWHERE = re.compile(
    r"""(?:
        \b(?:src|srcset|data|poster|background|xlink:href)\s*=
        | <(?:use|image|base)\b[^>]*\bhref=
        | <link\b(?![^>]*\brel="(?:canonical|next|prev|index|search|author)")[^>]*\bhref=
        | url\( | @import
        | \b(?:fetch|import|importScripts|open|sendBeacon|WebSocket)\s*\(
    )\s*['"`]?\s*((?:[a-z][a-z0-9+.-]*:)?//[^\s'"`)>]+)""",
    re.IGNORECASE | re.VERBOSE,
)
"""The address on another host that a browser fetches to show a page."""


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
    assert [(path.name, found) for path in files for found in ELSEWHERE.findall(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "text",
    [
        '<img src="https://x.org/a.png">',
        '<script src="//cdn.x.org/a.js"></script>',
        '<link rel="stylesheet" href="https://fonts.x.org/css">',
        '<script>fetch("https://x.org/count")</script>',
        "<svg><style>@font-face { src: url('https://x.org/a.woff') }</style></svg>",
        '@import "//x.org/a.css";',
    ],
)
def test_what_a_page_would_load_from_another_host_is_found(text: str) -> None:
    assert len(ELSEWHERE.findall(text)) == 1


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
