"""What a package index is told that depends on where the project lives: its links, and a README whose links lead there.

An index shows the README on its own: a link such as `docs/tutorial.md` leads nowhere from there. Links become absolute
below the address `home` in `[tool.hatch.metadata.hooks.custom]` of pyproject.toml, or of ARENA_HOME when a package is
built. Where neither says an address, they become plain text, and pictures are left out: better no link than a dead one.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "ARENA_HOME"
README = "README.md"
FILES, PICTURES = "blob/main", "raw/main"
"""Where forges have the pages of files, and the files themselves, below the address of a project."""
PICTURE = re.compile(r"^!\[[^\]]*\]\((?![a-z]+://)[^)]*\)\n+", re.MULTILINE)
"""A picture in a line of its own, with the empty lines after it."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+://|#)([^)\s]+)\)")


def on_its_own(text: str, home: str) -> str:
    """The README as an index is to show it; `home` is the project's address, or empty."""

    def told(link: re.Match[str]) -> str:
        if not home:
            return link[2]
        return f"{link[1]}[{link[2]}]({home}/{PICTURES if link[1] else FILES}/{link[3]})"

    return LINK.sub(told, text if home else PICTURE.sub("", text))


def urls(home: str) -> dict[str, str]:
    """The project's links by the names that indexes know."""
    if not home:
        return {}
    pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}
    own = {"Homepage": home, "Source": home, "Issues": f"{home}/issues"}
    return own | {name: f"{home}/{FILES}/{page}" for name, page in pages.items()}


class ArenaMetadataHook(MetadataHookInterface):
    """Called by hatchling for every package that it builds."""

    def update(self, metadata: dict[str, Any]) -> None:
        home = os.environ.get(VARIABLE, str(self.config.get("home", ""))).rstrip("/")
        if home and not re.fullmatch(r"https://[\w.-]+/\S+", home):
            raise ValueError(f"{VARIABLE}: expected an address such as https://host/owner/project, got {home!r}")
        text = (Path(self.root) / README).read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": on_its_own(text, home)}
        metadata["urls"] = urls(home)
