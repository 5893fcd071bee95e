"""The common parts of all pages: the templates, the menu, and the content security policy."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from arena.report.game_list import date_text, score_text
from arena.report.terminal import elo_text, interval_text, points_text
from arena.system.printable import isolated

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""A page on a disk loads files of its site only."""


class Site(msgspec.Struct, frozen=True):
    """The title, menu and footer of each page. Served pages have further `folders` of templates, and a `head`."""

    title: str
    menu: tuple[tuple[str, str], ...]
    footer: str
    folders: tuple[str, ...] = ()
    head: str = ""
    state: str = ""


class PageFrame:
    """Turns templates and values into pages. All values are escaped, as bots choose some of them."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._templates = _templates(site.folders)

    def compile(self) -> None:
        """Compile all templates now, so that no page waits for it."""
        for name in self._templates.list_templates():
            self._templates.get_template(name)

    def page(self, template: str, here: str, **values: Any) -> str:
        """Return a page; `here` is its path within the site."""
        root = "../" * here.count("/")
        return self._templates.get_template(template).render({"site": self.site, "here": here, "root": root, **values})


@cache
def _templates(folders: tuple[str, ...]) -> "Environment":
    """Return the templates of these folders, each of which is compiled once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # a process that only reads a store needs none

    environment = Environment(
        loader=FileSystemLoader([*folders, str(FOLDER / "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(policy=POLICY, interval=interval_text)
    environment.filters.update(
        date=date_text, elo=elo_text, isolated=isolated, points=points_text, score=score_text, svg=svg_address
    )
    return environment


def svg_address(svg: str) -> str:
    """Return the address of an image that is in it; as an image, SVG runs no script and loads nothing."""
    return f"data:image/svg+xml;charset=utf-8,{quote(svg)}"
