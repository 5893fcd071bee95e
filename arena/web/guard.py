"""The checks of every request and answer, and the look of served pages.

- Only the server's own host names are answered (`hosts`), against DNS rebinding.

- A request that changes something must come from a page of the same origin by Origin and, if sent, Sec-Fetch-Site.
With `uploads` it may instead have a token, which no foreign page can send. Other requests may come from a link
anywhere, but not from a foreign page that loads them.

- All answers have the same headers: a page can run and load only files of the server, and only `embed.html` can be
framed by other sites.

- Errors are reported to the host in a line; the browser learns only that there was one.
"""

import hashlib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import trio
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route, Router

from arena.report.site.page_frame import FOLDER as SITE
from arena.report.site.page_frame import PageFrame, Site
from arena.system.printable import printable
from arena.web.address import Hosts
from arena.web.server import LIMITS, ServerLimits

READS = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action {forms}; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FRAMED = "/embed.html"
"""The end of the path of pages that other sites may show in a frame: they have the game alone, and take no requests."""
FOLDER = Path(__file__).parent
TEMPLATES = (str(FOLDER / "templates"),)
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
DEEPEST = 8
"""Depth of a request's path up to which the links of an error page are relative."""
NOTHING_YET = "No games yet"
NOT_FOUND = "There is no such page here."
ELSEWHERE = "Pages of other sites may not ask for this. Open the address itself."
TOO_LARGE = "The request is too large."
Complain = Callable[[str], None]


class RequestRefused(HTTPException):
    """A refused request: the error page shows `text`."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, text, headers)


def too_large(most: int) -> RequestRefused:
    """Return the refusal of an upload of more than so many bytes."""
    return RequestRefused(413, f"The upload is too large: expected at most {most >> 20} MiB.")


class PageLook(PageFrame):
    """Makes served pages of the same look."""

    def __init__(self, site: Site) -> None:
        super().__init__(msgspec.structs.replace(site, folders=(*site.folders, *TEMPLATES)))

    def error(self, status: int, text: str, path: str = "/", headers: Mapping[str, str] | None = None) -> Response:
        here = path.partition("?")[0].removeprefix("/")
        if here.count("/") > DEEPEST:
            here = ""
        title = HTTPStatus(status).phrase if status >= 400 else NOTHING_YET
        page = self.page("error.html", "/" * here.count("/") + "?", status=status, heading=title, text=text)
        return HTMLResponse(page, status, headers={"Cache-Control": "no-store", **(headers or {})})


@dataclass(frozen=True)
class Asset:
    """A body with its type and its ETag."""

    body: bytes
    media_type: str
    mark: str

    @classmethod
    def of(cls, body: bytes, media_type: str) -> "Asset":
        return cls(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:24]}"')

    def answer(self, request: Request) -> Response:
        headers = {"ETag": self.mark, "Cache-Control": "no-cache"}
        if self.mark in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


def static_route(prefix: str = "") -> Route:
    """Return the route of the static files. The name in a request is a key of a dict and never a path."""
    files = {
        path.name: Asset.of(path.read_bytes(), TYPES[path.suffix])
        for folder in (SITE / "static", FOLDER / "static")
        for path in sorted(folder.iterdir())
        if path.suffix in TYPES
    }

    async def answer(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return found.answer(request)

    return Route(f"{prefix}/static/{{name}}", answer)


@dataclass(frozen=True)
class Uploads:
    """The paths, with all below each, that take bodies of up to `bytes`, also in pieces, within `seconds`."""

    paths: frozenset[str]
    bytes: int
    seconds: float

    def has(self, path: str) -> bool:
        return any(path == one or path.startswith(f"{one}/") for one in self.paths)


DRAIN_SECONDS, SILENT_SECONDS = 20.0, 1.0
"""The time for the rest of a refused body in all, and without any of it."""


class _Body:
    """The body of a request, as it is received. Without its rest, a client would send on and not read the answer."""

    def __init__(self, receive: Any) -> None:
        self._receive = receive
        self._is_over = False

    async def receive(self) -> Any:
        message = await self._receive()
        self._is_over = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def drain(self, most: int) -> None:
        """Receive the rest and drop it, up to `most` bytes."""
        with trio.move_on_after(DRAIN_SECONDS):
            while not self._is_over and most > 0:
                with trio.move_on_after(SILENT_SECONDS) as silent:
                    most -= len((await self.receive()).get("body", b""))
                if silent.cancelled_caught:
                    return


class Guard:
    """An application within limits. With `posts` requests may change something; else it is read-only.

    With `uploads` it serves forms and programs as well: some paths take large bodies, by PUT too, and a request with
    `Authorization: Bearer` needs no Origin. The routes have to check the token.

    To show an error page, a route raises `RequestRefused` or starlette's `HTTPException`. This is starlette's router
    without its application, which would answer errors before the guard has reported them.
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        look: PageLook,
        hosts: Hosts,
        *,
        posts: bool = False,
        uploads: Uploads | None = None,
        limits: ServerLimits = LIMITS,
        complain: Complain = lambda text: None,
    ) -> None:
        self._uploads = uploads
        # Without a referrer a browser would send the forms of these pages with `Origin: null`.
        self._headers = HEADERS if uploads is None else {**HEADERS, "Referrer-Policy": "same-origin"}
        self._router = Router([static_route(), *routes], redirect_slashes=False)
        self._look, self._hosts = look, hosts
        self._posts, self._limits, self._complain = posts, limits, complain
        self._policy = POLICY.format(forms="'self'" if posts else "'none'")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        is_started, body = False, _Body(receive)
        uploads = self._uploads if self._uploads is not None and self._uploads.has(scope["path"]) else None

        async def send_checked(message: MutableMapping[str, Any]) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started, time.deadline = True, inf
                if uploads is not None and message["status"] >= 400 and "expect" not in Headers(scope=scope):
                    await body.drain(uploads.bytes)
                headers = MutableHeaders(raw=message["headers"])
                headers.update(self._headers)
                headers["Content-Security-Policy"] = self._policy
                if scope["path"].endswith(FRAMED):
                    del headers["X-Frame-Options"]
                    headers["Content-Security-Policy"] = self._policy.replace("; frame-ancestors 'none'", "")
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            seconds = self._limits.answer_seconds if uploads is None else uploads.seconds
            with trio.CancelScope(deadline=trio.current_time() + seconds) as time:
                self._check(scope)
                scope["app"] = self._router  # with this, the router raises what it does not find
                await self._router(scope, body.receive, send_checked)
            if not time.cancelled_caught:
                return
            text = "This page takes too long to be made. Try again in a moment."
            refusal: HTTPException = RequestRefused(503, text, {"Retry-After": str(self._limits.retry_seconds)})
        except HTTPException as error:
            refusal = error
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            return  # the connection is at its end
        except Exception as error:
            what = f"{scope['method']} {printable(scope['path'], 200)}"
            self._complain(f"{what}: {type(error).__name__}: {printable(str(error), 500)}")
            refusal = RequestRefused(500, "Something went wrong. The host has been told what.")
        if is_started:
            raise ConnectionAbortedError  # half a page has been sent: the connection ends with it
        is_missing = refusal.status_code == 404 and refusal.detail == HTTPStatus.NOT_FOUND.phrase
        path = scope["raw_path"].decode("ascii", "replace")
        text = NOT_FOUND if is_missing else refusal.detail
        headers = dict(refusal.headers or {})
        if scope["method"] not in READS:
            headers["Connection"] = "close"  # a body that nobody has read would be in the way of the next request
        await self._look.error(refusal.status_code, text, path, headers)(scope, receive, send_checked)

    def _check(self, scope: Any) -> None:
        headers = Headers(scope=scope)
        if scope["http_version"] not in ("1.0", "1.1"):
            raise RequestRefused(505, "Only HTTP/1.1 is spoken here.")
        if len(headers.getlist("host")) != 1 or not self._hosts.allow(headers["host"]):
            raise RequestRefused(421, "These pages are not served under that name.")
        site = headers.get("sec-fetch-site", "none")
        if scope["method"] in READS:
            places = ("document", "iframe") if scope["path"].endswith(FRAMED) else ("document",)
            is_opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") in places
            if site not in ("same-origin", "none") and not is_opened:
                raise RequestRefused(403, ELSEWHERE)
            if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
                raise RequestRefused(413, TOO_LARGE)
            return
        most, methods = self._limits.body_bytes, ["POST"]
        takes_pieces = self._uploads is not None and self._uploads.has(scope["path"])
        if self._uploads is not None and takes_pieces:
            most, methods = self._uploads.bytes, ["POST", "PUT"]
        if not self._posts or scope["method"] not in methods:
            allowed = ", ".join(["GET", "HEAD", *(methods if self._posts else ())])
            raise RequestRefused(405, "These pages can only be read.", {"Allow": allowed})
        origin = headers.get("origin", "").partition("://")
        is_ours = origin[0] in ("http", "https") and origin[2].lower() == headers["host"].lower()
        is_program = self._uploads is not None and has_token(headers)
        if not is_program and not (is_ours and site in ("same-origin", "none")):
            raise RequestRefused(403, ELSEWHERE)
        length = headers.get("content-length", "0")
        is_plain = length.isascii() and length.isdecimal() and (takes_pieces or "transfer-encoding" not in headers)
        if not is_plain or int(length) > most:
            raise too_large(most) if takes_pieces else RequestRefused(413, TOO_LARGE)


def has_token(headers: Headers) -> bool:
    return headers.get("authorization", "").lower().startswith("bearer ")
