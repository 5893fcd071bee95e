"""A server's connections: how many, how long, and that they end."""

import os
import socket
from contextlib import ExitStack, suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from served import Serve, read_all

from arena.web.server import ServerLimits

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """Says hello, or as many bytes as the path says; `/wait` has no answer."""
    size = scope["path"].strip("/")
    if size == "wait":
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    body = b"x" * int(size) if size else b"hello"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def test_what_is_asked_is_answered_and_the_connection_kept_for_the_next(serving: Serve) -> None:
    served = serving(hello)
    with served.connect() as client:
        for _ in range(3):
            client.sendall(GET)
            said = b""
            while not said.endswith(b"hello"):
                said += client.recv(4096)
            assert said.startswith(b"HTTP/1.1 200")


def test_connections_beyond_the_limit_are_closed_and_harm_nobody(serving: Serve) -> None:
    served = serving(hello, ServerLimits(connections=1))
    with served.connect(GET.replace(b"/", b"/wait", 1)):
        served.until(lambda: [one.is_idle for one in served.server._streams] == [False])
        for _ in range(200):
            with served.connect() as client, suppress(ConnectionResetError):
                assert client.recv(1) == b""
        assert served.server.connections == 1
    served.until(lambda: served.server.connections == 0)
    assert served.get().status == 200


def test_an_address_that_has_taken_all_connections_loses_them_to_others(serving: Serve) -> None:
    served = serving(hello, ServerLimits(connections=4))
    with ExitStack() as stack:
        greedy = [stack.enter_context(served.connect()) for _ in range(4)]
        served.until(lambda: served.server.connections == 4)
        for _ in range(2):
            other = stack.enter_context(served.connect(GET, "127.0.0.2"))
            assert other.recv(4096).startswith(b"HTTP/1.1 200")
        for client in greedy[2:]:
            assert read_all(client) == b""
        assert stack.enter_context(served.connect(GET)).recv(4096).startswith(b"HTTP/1.1 200")
        assert read_all(greedy[0]) == b"", "each has two now, and this one is idle"


def test_a_connection_of_a_named_proxy_counts_as_its_clients(serving: Serve) -> None:
    served = serving(hello, ServerLimits(connections=3), proxies=[ip_network("127.0.0.1")])
    with ExitStack() as stack:
        for client in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"):
            ask = GET.replace(b"\r\n\r\n", f"\r\nX-Forwarded-For: {client}\r\n\r\n".encode())
            assert stack.enter_context(served.connect(ask)).recv(4096).startswith(b"HTTP/1.1 200")
        held = served.call(lambda: sorted(served.server._streams.values()))
    assert held == ["192.0.2.1", "192.0.2.2", "192.0.2.3"]


def test_a_request_that_never_ends_is_given_up(serving: Serve) -> None:
    served = serving(hello, ServerLimits(head_seconds=0.2))
    with served.connect(b"GET / HTTP/1.1\r\nHost: loc") as client:
        assert read_all(client) == b""
    served.until(lambda: served.server.connections == 0)


def test_a_head_that_is_too_large_is_refused(serving: Serve) -> None:
    served = serving(hello, ServerLimits(head_bytes=2000))
    with served.connect(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 3000) as client:
        assert read_all(client)[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400")
    served.until(lambda: served.server.connections == 0)


def test_who_does_not_read_a_large_answer_is_dropped(serving: Serve) -> None:
    served = serving(hello, ServerLimits(stall_seconds=0.2, send_buffer=4096))
    with served.connect(b"GET /50000000 HTTP/1.1\r\nHost: localhost\r\n\r\n") as client:
        assert client.recv(4).startswith(b"HTTP")
        served.until(lambda: served.server.connections == 0)
    assert served.get().status == 200


def test_who_reads_a_large_answer_slowly_but_surely_gets_it_whole(serving: Serve) -> None:
    served = serving(hello, ServerLimits(stall_seconds=5, send_buffer=4096, piece_bytes=4096))
    with served.connect(b"GET /200000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        assert len(read_all(client).partition(b"\r\n\r\n")[2]) == 200_000


def test_what_is_no_http_is_answered_as_such_and_the_server_goes_on(serving: Serve) -> None:
    served = serving(hello)
    for said in (
        b"\x16\x03\x01\x00\xa5\x01",
        b"EHLO x\r\n\r\n",
        b"\x00" * 100,
        b"GET\r\n\r\n",
    ):
        with served.connect(said) as client:
            client.shutdown(socket.SHUT_WR)
            assert read_all(client)[:12] in (b"HTTP/1.1 400", b"")
    assert served.get().status == 200


def test_to_stop_ends_every_connection_at_once(serving: Serve) -> None:
    served = serving(hello, ServerLimits(send_buffer=4096))
    idle = served.connect()
    blocked = served.connect(b"GET /50000000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert blocked.recv(4).startswith(b"HTTP")
    served.stop()
    assert read_all(idle) == b""
    read_all(blocked)
    idle.close()
    blocked.close()


def test_descriptors_do_not_grow_with_page_loads(serving: Serve) -> None:
    served = serving(hello)
    served.get()
    served.until(lambda: served.server.connections == 0)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(100):
        served.get()
    served.until(lambda: served.server.connections == 0)
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    assert after <= before
