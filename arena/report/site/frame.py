"""What all pages have in common: the templates, the texts, the menu, and what a page may load."""

from dataclasses import dataclass
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


class Site(msgspec.Struct, frozen=True):
    """What stands on every page: a title, the menu (name and file), and the line at the bottom."""

    title: str
    menu: tuple[tuple[str, str], ...]
    footer: str


@dataclass(frozen=True)
class Served:
    """What pages need besides that are served: more folders of templates, and one of them for the head of each page.

    Such a page does not say itself what it may load: its server does, in the headers."""

    folders: tuple[Path, ...] = ()
    head: str | None = None


class Frame:
    """Turns templates and values into pages. All values are escaped: what a bot has said is text and never markup."""

    def __init__(self, site: Site, words: Words = ENGLISH, *, served: Served | None = None) -> None:
        self.site, self.words = site, words
        policy, more = (POLICY, Served()) if served is None else ("", served)
        self._environment = Environment(
            loader=FileSystemLoader([*more.folders, FOLDER / "templates"]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(words=words, site=site, policy=policy, head=more.head)

    def page(self, template: str, here: str, **values: Any) -> str:
        """A page; `here` is its file, from the folder of the site."""
        root = "../" * here.count("/")
        return self._environment.get_template(template).render(here=here, root=root, **values)
