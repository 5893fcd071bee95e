"""What served pages look like: templates, texts, and the static files that pages load."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from arena.report.site.page_frame import ENGLISH, PageFrame, Served, Site, Words
from arena.report.site.page_frame import FOLDER as SITE

FOLDER = Path(__file__).parent
DEEPEST = 8
"""Folders of a request's path up to which the links of an error page are relative."""


@dataclass(frozen=True)
class WebWords:
    """The texts of served pages that are no part of a site."""

    not_found: str = "There is no such page here."
    wrong_host: str = "These pages are not served under that name."
    elsewhere: str = "Pages of elsewhere may not ask for this. Open the address itself."
    read_only: str = "These pages can only be read."
    too_large: str = "That was more than is taken here."
    too_slow: str = "That took too long to arrive."
    took_too_long: str = "This page takes too long to be made. Try again in a moment."
    too_many: str = "Too many people are looking at these pages. Try again in a moment."
    old_http: str = "Only HTTP/1.1 is spoken here."
    nothing_yet: str = "No games yet"
    not_read: str = "No game is over yet. This page shows the first as soon as it is."
    unreadable: str = "This store cannot be read now. Why has been told to whoever serves these pages."
    no_page: str = (
        "This game cannot be shown: it is not as it was stored, or cannot have been played so. Why has been told to "
        "whoever serves these pages."
    )
    live: str = "Live: {} games so far."
    waiting: str = "Live: no game is over yet."
    out_of_date: str = "This page is out of date: its store cannot be read now."
    lost: str = "Not connected: what is shown may be out of date."
    stores: str = "Stores"
    store: str = "store"
    failed: str = "Something has gone wrong here. What it is has been told to whoever runs these pages."


WEB_WORDS = WebWords()


def served(templates: Sequence[Path] = (), head: str = "", state: str = "") -> Served:
    """What makes the pages of a site such as are served."""
    return Served((*map(str, templates), str(FOLDER / "templates")), head, state)


class PageLook:
    """Makes pages of the same look. `head` is a template that stands in the head of each page, for its scripts."""

    def __init__(self, site: Site, *, templates: Sequence[Path] = (), head: str = "", words: Words = ENGLISH) -> None:
        self.frame = PageFrame(msgspec.structs.replace(site, served=served(templates, head)), words)

    def page(self, template: str, here: str, **values: Any) -> str:
        """A page; `here` is its path without the first slash."""
        return self.frame.page(template, here, **values)

    def error(self, status: int, text: str, path: str = "/", headers: Mapping[str, str] | None = None) -> Response:
        """The plain page that says why there is no other, or not yet. `path` is what was asked for, as it came."""
        here = path.partition("?")[0].removeprefix("/")
        if here.count("/") > DEEPEST:
            here = ""
        title = HTTPStatus(status).phrase if status >= 400 else WEB_WORDS.nothing_yet
        page = self.frame.page("error.html", "/" * here.count("/") + "?", status=status, heading=title, text=text)
        return HTMLResponse(page, status, headers={"Cache-Control": "no-store", **(headers or {})})


TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
FOLDERS = (SITE / "static", FOLDER / "static")


@dataclass(frozen=True)
class Asset:
    """A body with its type, and the mark by which a browser asks whether it has changed."""

    body: bytes
    media_type: str
    mark: str

    def answer(self, request: Request, cache: str = "no-cache") -> Response:
        """The body, or the word that the browser has it already. `cache` is what the browser may do with it."""
        headers = {"ETag": self.mark, "Cache-Control": cache}
        if self.mark in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


def asset(body: bytes, media_type: str) -> Asset:
    """A body, marked by its digest."""
    return Asset(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:24]}"')


def static_files(folders: Iterable[Path] = FOLDERS) -> dict[str, Asset]:
    """The files of these folders by name; of folders within them there are none."""
    found = {}
    for folder in folders:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.suffix in TYPES:
                found[path.name] = asset(path.read_bytes(), TYPES[path.suffix])
    return found


def static_route(files: dict[str, Asset], prefix: str = "/static") -> Route:
    """Where they are served. The name in a request is a key of `files` and nothing else."""

    async def answer(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return found.answer(request)

    return Route(f"{prefix}/{{name}}", answer)
