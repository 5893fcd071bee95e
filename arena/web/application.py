"""Routes put together with what all applications have: files, error pages, the guard."""

from collections.abc import Callable, Sequence
from typing import Any

from starlette.routing import BaseRoute, Router

from arena.web.files import static_files, static_route
from arena.web.guard import Guard
from arena.web.hosts import Hosts
from arena.web.limits import LIMITS, Limits
from arena.web.look import Look
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
    about what went wrong within. Pages are made by async functions; what takes long goes to a thread.

    An error page is made by raising `Refused` or starlette's `HTTPException`, anywhere. This is starlette's router
    without its application, which would answer errors before the guard has told anybody.
    """
    router = Router([static_route(static_files()), *routes], redirect_slashes=False)

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        scope["app"] = router  # with this, the router raises what it does not find
        await router(scope, receive, send)

    return Guard(inner, look, hosts, posts=posts, limits=limits, complain=complain)
