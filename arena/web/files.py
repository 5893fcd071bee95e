"""Files that pages load: read once from the package, and from then on looked up by name in memory."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.report.site.frame import FOLDER as SITE
from arena.web.look import FOLDER as WEB

TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
FOLDERS = (SITE / "static", WEB / "static")


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
