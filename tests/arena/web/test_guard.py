"""What every request and every answer goes through."""

import pytest
import trio
from served import Serve, Served
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from arena.report.site.page_frame import FOLDER as SITE
from arena.report.site.page_frame import Site
from arena.web.address import Address, hosts_of
from arena.web.guard import FOLDER, Guard, PageLook
from arena.web.server import LIMITS, ServerLimits

NASTY = "<script>alert(1)</script>"
MOST_BYTES = 55 * 1024
"""The most bytes of all scripts and styles together, without the style of competitions."""


async def hello(request: Request) -> Response:
    return PlainTextResponse("hello")


async def broken(request: Request) -> Response:
    raise ValueError(f"what is {NASTY}\x1b[2J?")


async def slow(request: Request) -> Response:
    await trio.sleep_forever()
    raise AssertionError


async def refuse(request: Request) -> Response:
    raise HTTPException(404, f"no {NASTY}")


async def echo(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
def serve(serving: Serve) -> Serve:
    """A server of a few pages: `serve(posts, limits)`."""

    def start(*, posts: bool = False, limits: ServerLimits = LIMITS) -> Served:
        complaints: list[str] = []
        paths = {"/": hello, "/embed.html": hello, "/broken": broken, "/slow": slow, "/refuse": refuse}
        routes = [Route(path, page) for path, page in paths.items()] + [Route("/echo", echo, methods=["POST"])]
        hosts = hosts_of([Address("127.0.0.1", 0)])
        made = Guard(
            routes, PageLook(Site("a test", (), "")), hosts, posts=posts, limits=limits, complain=complaints.append
        )
        served = serving(made, limits)
        served.complaints = complaints
        return served

    return start


def test_every_answer_has_the_headers_that_keep_a_browser_safe(serve: Serve) -> None:
    served = serve()
    for path in ("/", "/nothing", "/broken", "/refuse", "/static/arena.css"):
        answer = served.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert all(f"{name} 'none'" in policy for name in ("default-src", "frame-ancestors", "form-action"))
        assert not any(word in policy for word in ("unsafe", "*"))
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] in ("no-store", "no-cache")
        assert not any(name in answer.headers for name in ("Server", "Access-Control-Allow-Origin"))


def test_a_name_of_elsewhere_is_not_answered(serve: Serve) -> None:
    served = serve()
    for host in ("evil.example", "127.0.0.1.evil.example:80", "192.0.2.1", "localhost@evil.example"):
        assert served.get(Host=host).status == 421
        assert served.get("/static/arena.css", Host=host).status == 421


def test_pages_of_elsewhere_can_link_to_a_page_but_not_load_it(serve: Serve) -> None:
    served = serve()
    for site in ("cross-site", "same-site"):
        for mode, dest, status in (
            ("no-cors", "script", 403),
            ("navigate", "document", 200),
            ("navigate", "iframe", 403),
        ):
            asked = served.get(Sec_Fetch_Site=site, Sec_Fetch_Mode=mode, Sec_Fetch_Dest=dest)
            assert asked.status == status


def test_only_the_page_that_is_to_be_embedded_may_be_shown_in_a_frame_of_elsewhere(serve: Serve) -> None:
    served = serve()
    for path, status, frames in (("/embed.html", 200, False), ("/", 403, True), ("/embed.html/x", 403, True)):
        answer = served.get(path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe")
        assert answer.status == status
        assert ("frame-ancestors" in answer.headers["Content-Security-Policy"]) is frames
        assert ("X-Frame-Options" in answer.headers) is frames
    assert served.get("/embed.html", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status == 403


def test_a_server_that_is_only_read_takes_nothing_but_reading(serve: Serve) -> None:
    served = serve()
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"):
        answer = served.get("/" if method != "CONNECT" else "localhost:1", method)
        assert answer.status == 405
        assert answer.headers["Allow"] == "GET, HEAD"
    assert served.get("/", "HEAD").status == 200


def test_what_changes_something_has_to_come_from_a_page_of_the_same_origin(serve: Serve) -> None:
    served = serve(posts=True)
    own = f"http://{served.host}"
    assert served.get("/echo", "POST", b"abc", Origin=own).text == "3"
    assert served.get("/echo", "POST", b"abc", Origin=own, Sec_Fetch_Site="same-origin").status == 200
    for origin in ("null", "http://evil.example", "http://localhost:1", f"{own}.evil.example", f"ftp://{served.host}"):
        assert served.get("/echo", "POST", b"abc", Origin=origin).status == 403
    assert served.get("/echo", "POST", b"abc").status == 403
    assert served.get("/echo", "POST", b"abc", Origin=own, Sec_Fetch_Site="cross-site").status == 403
    assert "form-action 'self'" in served.get().headers["Content-Security-Policy"]


def test_more_than_is_taken_is_refused_however_it_is_sent(serve: Serve) -> None:
    served = serve(posts=True, limits=ServerLimits(body_bytes=10))
    origin = b"Origin: http://localhost\r\nHost: localhost\r\n"
    assert served.get("/echo", "POST", b"x" * 10, Origin=f"http://{served.host}").status == 200
    with served.connect(
        b"POST /echo HTTP/1.1\r\n" + origin + b"Content-Length: 99999999999999999999\r\n\r\n"
    ) as client:
        assert client.recv(12) == b"HTTP/1.1 413"
    chunked = b"POST /echo HTTP/1.1\r\n" + origin + b"Transfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n"
    with served.connect(chunked) as client:
        assert client.recv(12) == b"HTTP/1.1 413"
    with served.connect(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n") as client:
        assert client.recv(12) == b"HTTP/1.1 413"


def test_a_body_that_never_comes_is_given_up(serve: Serve) -> None:
    served = serve(posts=True, limits=ServerLimits(answer_seconds=0.1))
    head = b"POST /echo HTTP/1.1\r\nOrigin: http://localhost\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab"
    with served.connect(head) as client:
        assert client.recv(12) == b"HTTP/1.1 503"


def test_a_page_that_takes_too_long_is_given_up_with_a_word(serve: Serve) -> None:
    served = serve(limits=ServerLimits(answer_seconds=0.1))
    answer = served.get("/slow")
    assert answer.status == 503
    assert answer.headers["Retry-After"] == "5"


def test_what_fails_within_is_told_to_the_host_in_a_line_and_not_to_the_browser(serve: Serve) -> None:
    served = serve()
    answer = served.get("/broken")
    assert answer.status == 500
    assert "what is" not in answer.text
    (complaint,) = served.complaints
    assert complaint.startswith("GET /broken: ValueError: what is")
    assert complaint.isprintable()


def test_no_path_of_a_request_reaches_the_file_system(serve: Serve) -> None:
    served = serve()
    for path in (
        *("/static/../pages.py", "/static/..%2Fpages.py", "/static/%2e%2e/pages.py", "/static//etc/passwd", "/static/"),
        *("/../../etc/passwd", "/static/arena.css%00.py", "/static/..\\pages.py", "/static/templates/base.html"),
    ):
        answer = served.get(path)
        assert (answer.status, "root:" in answer.text) == (404, False), path


def test_scripts_and_styles_are_small() -> None:
    files = [path for folder in (SITE, FOLDER) for path in (folder / "static").iterdir() if path.name != "cup.css"]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
