"""What every request goes through, and every answer: who may ask, how much, and what a browser may do with it.

- Only names of the server's own are answered (`hosts`), so that no page of elsewhere can have its name lead here.
- What changes something has to come from a page of the same origin, by the browser's own word: Origin and, where there
  is one, Sec-Fetch-Site. What only reads may be opened by a link from anywhere, but not be loaded into a page of
  elsewhere: data that travels as a script could be read there.
- All answers have the same headers. Nothing that a page shows can run or load anything but files of the server.
- Whatever goes wrong is told to whoever runs the server, in a line; the browser is told that it has.
"""

from collections.abc import Callable, MutableMapping, Sequence
from http import HTTPStatus
from math import inf
from typing import Any

import trio
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Router

from arena.system.printable import printable
from arena.web.address import Hosts
from arena.web.page_look import WEB_WORDS, PageLook, static_files, static_route
from arena.web.server import LIMITS, Application, ServerLimits

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
Message = dict[str, Any]


class RequestRefused(HTTPException):
    """A request that is not answered: the page says `text`."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, text, headers)


class Guard:
    """An application within limits. `posts`: whether anything in it can be changed; else it is read-only."""

    def __init__(
        self,
        application: Application,
        look: PageLook,
        hosts: Hosts,
        *,
        posts: bool = False,
        limits: ServerLimits = LIMITS,
        complain: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._application, self._look, self._hosts = application, look, hosts
        self._posts, self._limits, self._complain = posts, limits, complain
        self._headers = HEADERS | {"Content-Security-Policy": POLICY.format(forms="'self'" if posts else "'none'")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Answer(send, self._headers)
        try:
            self._check(scope)
            await self._within_time(scope, receive, answer)
        except HTTPException as error:
            refusal = error
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            return  # the connection is at its end
        except Exception as error:
            what = f"{scope['method']} {printable(scope['path'], 200)}"
            self._complain(f"{what}: {type(error).__name__}: {printable(str(error), 500)}")
            refusal = RequestRefused(500, WEB_WORDS.failed)
        else:
            return
        if answer.is_started:
            raise ConnectionAbortedError  # half a page has been sent: the connection ends with it
        is_missing = refusal.status_code == 404 and refusal.detail == HTTPStatus.NOT_FOUND.phrase
        text = WEB_WORDS.not_found if is_missing else refusal.detail
        path = scope["raw_path"].decode("ascii", "replace")
        await self._look.error(refusal.status_code, text, path, refusal.headers)(scope, receive, answer.send)

    async def _within_time(self, scope: Any, receive: Any, answer: "_Answer") -> None:
        with trio.CancelScope(deadline=trio.current_time() + self._limits.answer_seconds) as time:
            answer.time = time
            await self._application(scope, _Body(receive, self._limits).receive, answer.send)
        if time.cancelled_caught:
            raise RequestRefused(503, WEB_WORDS.took_too_long, {"Retry-After": str(self._limits.retry_seconds)})

    def _check(self, scope: Any) -> None:
        """Raises `Refused` for a request that is not to be answered."""
        headers = Headers(scope=scope)
        if scope["http_version"] not in ("1.0", "1.1"):
            raise RequestRefused(505, WEB_WORDS.old_http)
        if len(headers.getlist("host")) != 1 or not self._hosts.allow(headers["host"]):
            raise RequestRefused(421, WEB_WORDS.wrong_host)
        site = headers.get("sec-fetch-site", "none")
        if scope["method"] in READS:
            is_opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
            if site not in ("same-origin", "none") and not is_opened:
                raise RequestRefused(403, WEB_WORDS.elsewhere)
            if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
                raise RequestRefused(413, WEB_WORDS.too_large)
            return
        if not self._posts or scope["method"] != "POST":
            raise RequestRefused(405, WEB_WORDS.read_only, {"Allow": "GET, HEAD, POST" if self._posts else "GET, HEAD"})
        origin = headers.get("origin", "").partition("://")
        is_ours = origin[0] in ("http", "https") and origin[2].lower() == headers["host"].lower()
        if not is_ours or site not in ("same-origin", "none"):
            raise RequestRefused(403, WEB_WORDS.elsewhere)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()) or int(length) > self._limits.body_bytes:
            raise RequestRefused(413, WEB_WORDS.too_large)


class _Body:
    """What follows the head of a request, within its limits."""

    def __init__(self, receive: Any, limits: ServerLimits) -> None:
        self._receive, self._limits = receive, limits
        self._size, self._is_whole = 0, False
        self._until = trio.current_time() + limits.body_seconds

    async def receive(self) -> Message:
        with trio.CancelScope(deadline=inf if self._is_whole else self._until) as time:
            message: Message = await self._receive()
            if message["type"] != "http.request":
                return message
            self._size += len(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)
            if self._size > self._limits.body_bytes:
                raise RequestRefused(413, WEB_WORDS.too_large)
            return message
        assert time.cancelled_caught
        raise RequestRefused(408, WEB_WORDS.too_slow)


class _Answer:
    """An answer on its way: it gets the headers that all have, and may then take its time."""

    def __init__(self, send: Any, headers: dict[str, str]) -> None:
        self._send, self._headers = send, headers
        self.is_started = False
        self.time: trio.CancelScope | None = None

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.is_started = True
            if self.time is not None:
                self.time.deadline = inf
            headers = MutableHeaders(raw=message["headers"])
            headers.update(self._headers)
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)


def application(
    routes: Sequence[BaseRoute],
    look: PageLook,
    hosts: Hosts,
    *,
    posts: bool = False,
    limits: ServerLimits = LIMITS,
    complain: Callable[[str], None] = lambda text: None,
) -> Application:
    """An application that can be served. `posts`: whether requests may change anything; `complain` is given a line
    about what went wrong within. Pages are made by async functions; what takes long goes to a thread.

    An error page is made by raising `Refused` or starlette's `HTTPException`, anywhere. This is starlette's router
    without its application, which would answer errors before the guard has told anybody.
    """
    router = Router([static_route(static_files()), *routes], redirect_slashes=False)

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        scope["app"] = router  # with this, the router raises what it does not find
        await router(scope, receive, send)

    return Guard(inner, look, hosts, posts=posts, limits=limits, complain=complain)
