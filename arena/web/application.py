"""Routes put together with what all applications have: files, error pages, the guard."""

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from arena.web.files import static_files, static_route
from arena.web.guard import Guard
from arena.web.hosts import Hosts
from arena.web.limits import LIMITS, Limits
from arena.web.look import WEB_WORDS, Look
from arena.web.server import Application


def application(
    routes: Sequence[BaseRoute],
    look: Look,
    hosts: Hosts,
    *,
    posts: bool = False,
    limits: Limits = LIMITS,
    complain: Callable[[str], None] = lambda text: None,
) -> Application:
    """An application that can be served. `posts`: whether requests may change anything; `complain` is given a line
    about what went wrong within. Pages are made by async functions; what takes long goes to a thread."""
    inner = Starlette(routes=[*routes, static_route(static_files())], exception_handlers={HTTPException: _Errors(look)})
    inner.router.redirect_slashes = False
    return Guard(inner, look, hosts, posts=posts, limits=limits, complain=complain)


class _Errors:
    """What a page says that was not to be."""

    def __init__(self, look: Look) -> None:
        self._look = look

    async def __call__(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = WEB_WORDS.not_found if error.status_code == 404 and error.detail == "Not Found" else error.detail
        path = request.scope["raw_path"].decode("ascii", "replace")
        return self._look.error(error.status_code, text, path, error.headers)
