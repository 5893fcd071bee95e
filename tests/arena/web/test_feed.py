"""Events for many viewers: who keeps up gets them all, who does not is dropped, and nobody is waited for."""

import socket

import pytest
from served import Serve, read_all
from starlette.requests import Request
from starlette.routing import Route

from arena.report.site.page_frame import Site
from arena.web.address import Address, hosts_of
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import Guard, PageLook, RequestRefused
from arena.web.server import Application, ServerLimits

ASK = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def events_application(feed: Feed, limits: ServerLimits) -> Application:
    async def events(request: Request) -> Feed:
        return feed

    look = PageLook(Site("a test", (), ""))
    return Guard([Route("/events", events)], look, hosts_of([Address("127.0.0.1", 0)]), limits=limits)


def read_until(client: socket.socket, end: bytes, found: bytes = b"") -> bytes:
    while end not in found:
        data = client.recv(65536)
        assert data, found
        found += data
    return found


def test_an_event_is_written_as_the_standard_says() -> None:
    assert Event("one\ntwo\r\nthree", "told").encoded() == (b"event: told\ndata: one\ndata: two\ndata: three\n\n")
    assert Event("x").encoded() == b"data: x\n\n"


def test_there_are_so_many_viewers_and_no_more_of_all_feeds_together() -> None:
    audience = Viewers(ServerLimits(viewers=1))
    one, other = Feed(audience), Feed(audience)
    with one.viewer():
        with pytest.raises(RequestRefused) as refused, other.viewer():
            pass
        assert refused.value.status_code == 503
        assert refused.value.headers == {"Retry-After": "5"}
    with other.viewer():
        pass


def test_an_address_with_the_most_viewers_loses_one_to_another_when_there_are_too_many(serving: Serve) -> None:
    audience = Viewers(ServerLimits(viewers=2))
    served = serving(events_application(Feed(audience), audience.limits))
    with served.connect(ASK) as first, served.connect(ASK) as second, served.connect(b"", "127.0.0.2") as other:
        for client in (first, second):
            read_until(client, b"retry:")
        other.sendall(ASK)
        read_until(other, b"retry:")
        assert read_all(second).endswith(b"0\r\n\r\n"), "its events end"
        with served.connect(ASK, "127.0.0.2") as refused:
            assert refused.recv(4096).startswith(b"HTTP/1.1 503")
        assert served.call(lambda: sorted(audience.held.values())) == ["127.0.0.1", "127.0.0.2"]


def test_a_silent_connection_is_kept_alive_by_comments(serving: Serve) -> None:
    limits = ServerLimits(keep_alive_seconds=0.01)
    served = serving(events_application(Feed(Viewers(limits)), limits), limits)
    with served.connect(ASK) as client:
        read_until(client, b": still here")


def test_a_viewer_that_leaves_is_forgotten(serving: Serve) -> None:
    limits = ServerLimits()
    feed = Feed(Viewers(limits))
    served = serving(events_application(feed, limits), limits)
    with served.connect(ASK) as client:
        read_until(client, b"retry:")
        assert served.call(len, feed) == 1
    served.until(lambda: len(feed) == 0)


def test_a_viewer_that_reads_nothing_holds_nobody_up_and_is_dropped(serving: Serve) -> None:
    limits = ServerLimits(stall_seconds=0.2, send_buffer=4096, queue_events=4)
    feed = Feed(Viewers(limits))
    served = serving(events_application(feed, limits), limits)
    with served.connect(ASK) as slow, served.connect(ASK) as quick:
        read_until(slow, b"retry:")
        found = read_until(quick, b"retry:")
        number = 0
        while served.call(len, feed) == 2:
            number += 1
            served.call(feed.publish, Event(f"{number} " + "x" * 5000))
            found = read_until(quick, f"data: {number} ".encode(), found)[-20_000:]
        assert number > 1
        served.until(lambda: served.server.connections == 1)
