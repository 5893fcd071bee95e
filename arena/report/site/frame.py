"""What all pages have in common: the templates, the texts, the menu, and what a page may load."""

from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from arena.report.site.words import ENGLISH, Words

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""What a page may load: its own files, and nothing else from anywhere."""


class Served(msgspec.Struct, frozen=True):
    """What pages need besides that are served: folders with more templates, and one of these for the head of each page,
    which is told a `state`. Such a page does not say what it may load: its server does, in the headers."""

    folders: tuple[str, ...] = ()
    head: str = ""
    state: str = ""


class Site(msgspec.Struct, frozen=True):
    """What stands on every page: a title, the menu (name and file), and the line at the bottom; `served` is None for
    pages that are read from a disk."""

    title: str
    menu: tuple[tuple[str, str], ...]
    footer: str
    served: Served | None = None


class Frame:
    """Turns templates and values into pages. All values are escaped: what a bot has said is text and never markup."""

    def __init__(self, site: Site, words: Words = ENGLISH) -> None:
        self.site, self.words = site, words
        more = site.served or Served()
        self._environment = Environment(
            loader=FileSystemLoader([*more.folders, str(FOLDER / "templates")]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(words=words, site=site, policy=POLICY, served=more)

    def page(self, template: str, here: str, **values: Any) -> str:
        """A page; `here` is its file, from the folder of the site."""
        root = "../" * here.count("/")
        return self._environment.get_template(template).render(here=here, root=root, **values)
