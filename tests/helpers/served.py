"""A server on a thread of its own for tests, and a client that sends what it is told."""

import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPConnection
from typing import Any

import pytest
import trio

from arena.web.address import Address, Listening, Network, listen
from arena.web.server import LIMITS, Application, Server, ServerLimits

PATIENCE = 120.0
"""Seconds after which a test gives up waiting for what has to come."""


@dataclass(frozen=True)
class Answer:
    """An answer, read whole."""

    status: int
    headers: Message
    text: str


@dataclass
class Served:
    """A server that runs in the loop of another thread, which `call` and `until` reach."""

    server: Server
    listening: Listening
    token: trio.lowlevel.TrioToken
    scope: trio.CancelScope
    thread: threading.Thread
    complaints: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.listening.address.port

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call that in the server's loop."""
        return trio.from_thread.run_sync(function, *arguments, trio_token=self.token)

    def stop(self) -> None:
        if self.thread.is_alive():
            self.call(self.scope.cancel)
            self.thread.join(PATIENCE)
        assert not self.thread.is_alive()

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until that holds; it is asked in the server's loop."""

        async def wait() -> None:
            with trio.fail_after(PATIENCE):
                while not condition():  # noqa: ASYNC110
                    await trio.sleep(0.01)

        trio.from_thread.run(wait, trio_token=self.token)

    def get(self, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str) -> "Answer":
        """Ask. Names of headers are given with `_` for `-`."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()

    def connect(self, said: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        """A bare connection on which something has been said."""
        client = socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0))
        client.sendall(said)
        return client


Serve = Callable[..., Served]


def start_serving(
    application: Application,
    limits: ServerLimits = LIMITS,
    beside: Callable[[], Awaitable[None]] | None = None,
    proxies: Sequence[Network] = (),
) -> Served:
    """A server at any free port, with `beside` run in the same loop; `stop` it."""
    listening = listen(Address("127.0.0.1", 0))
    ready, found = threading.Event(), []

    server = Server(application, limits, proxies)

    async def main() -> None:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(server.run, [listening])
                if beside is not None:
                    nursery.start_soon(beside)
                found.append((trio.lowlevel.current_trio_token(), scope))
                ready.set()

    thread = threading.Thread(target=trio.run, args=(main,), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    return Served(server, listening, *found[0], thread)


@pytest.fixture
def serving() -> Iterator[Serve]:
    """`serving(application, limits, ...)`: a server that is stopped at the end of the test."""
    running: list[Served] = []

    def start(application: Application, *arguments: Any, **named: Any) -> Served:
        running.append(start_serving(application, *arguments, **named))
        return running[-1]

    yield start
    for served in running:
        served.stop()


def read_all(client: socket.socket) -> bytes:
    """What comes until the other side has closed; empty if it has reset the connection."""
    found = b""
    try:
        while data := client.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return found
