"""Webhooks: signed, kept until they have arrived, to a server that refuses, redirects, hangs or is not there."""

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from made_cups import make_cup, opened, when

import arena.host.webhooks
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Webhook, load_cup
from arena.host.seasons import freeze
from arena.host.webhooks import GIVEN_UP, SIGNATURE, Deliveries, WebhookEvent, announce, send


class Receiver:
    """A server that keeps what it receives, and answers with these codes, the last one for ever."""

    def __init__(self) -> None:
        self.codes = [204]
        self.received: list[tuple[str, dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append((self.path, dict(self.headers), body))
                code = receiver.codes.pop(0) if len(receiver.codes) > 1 else receiver.codes[0]
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST  # noqa: N815

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path, receiver: Receiver) -> Path:
    folder = tmp_path / "cup"
    make_cup(folder)
    with (folder / "cup.toml").open("a") as file:
        for form in ("json", "discord"):
            file.write(f'\n[[webhooks]]\nurl = "{receiver.url}/{form}"\nsecret = "s3cret"\nform = "{form}"\n')
    return folder


def sent(database: CupDatabase, folder: Path, clock: Clock) -> int:
    return trio.run(Deliveries(database, load_cup(folder), clock=clock).send_due)


def now(database: CupDatabase) -> float:
    return float(database.value("select max(next) from delivery"))


def test_an_event_is_told_to_each_hook_in_its_form_and_signed(folder: Path, receiver: Receiver) -> None:
    clock = Clock()
    with opened(folder) as database:
        freeze(database, load_cup(folder))
        clock.now = now(database)
        assert sent(database, folder, clock) == 2
        assert sent(database, folder, clock) == 0
        assert database.column("select count(*) from delivery where done is null") == [0]
    of_path = {path: (headers, body) for path, headers, body in receiver.received}
    headers, body = of_path["/hook/json"]
    assert headers[SIGNATURE] == f"sha256={hmac.new(b's3cret', body, hashlib.sha256).hexdigest()}"
    told = json.loads(body)
    assert (told["event"], told["text"], told["state"]) == ("season", "Season 1 is frozen.", "frozen")
    discord = json.loads(of_path["/hook/discord"][1])
    assert discord == {"content": "Cup: Season 1 is frozen.", "allowed_mentions": {"parse": []}}


def test_what_does_not_arrive_is_sent_again_after_growing_pauses_until_it_does(
    folder: Path, receiver: Receiver
) -> None:
    receiver.codes = [500, 302, 204]
    clock, cup = Clock(), load_cup(folder)
    with opened(folder) as database:
        with database.change():
            announce(database, cup, WebhookEvent.LEADER, "a leader")
            database.run("delete from delivery where hook = 1")
        waits = []
        for _ in range(3):
            before, clock.now = clock.now, now(database)
            waits.append(clock.now - before)
            assert sent(database, folder, clock) == 1
        assert waits[2] > waits[1] > 0
        assert database.value("select attempts from delivery") == 3
        assert database.value("select error from delivery") == ""
    assert {path for path, *_ in receiver.received} == {"/hook/json"}, "no redirect is followed"
    assert len(receiver.received) == 3


def test_deliveries_are_given_up_after_a_day_and_those_of_hooks_that_are_gone_at_once(
    folder: Path, receiver: Receiver
) -> None:
    receiver.codes = [410]
    clock, cup = Clock(), load_cup(folder)
    with opened(folder) as database:
        with database.change():
            announce(database, cup, WebhookEvent.LEADER, "a leader")
            database.run("update delivery set hook = 7 where hook = 1")
        clock.now = now(database)
        sent(database, folder, clock)
        assert database.column("select hook from delivery where done is not null") == [7]
        clock.now += GIVEN_UP + 1
        sent(database, folder, clock)
        assert database.value("select count(*) from delivery where done is null") == 0
        assert "410" in database.value("select error from delivery where hook = 0")


def test_the_reason_is_told_for_an_address_where_nobody_listens_or_answers(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "refused" in send(Webhook("http://127.0.0.1:1/", "x"), b"{}")
    assert send(Webhook("http://[bad/", "x"), b"{}")
    monkeypatch.setattr(arena.host.webhooks, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "timed out" in send(Webhook(f"http://127.0.0.1:{silent.getsockname()[1]}/", "x"), b"{}")
    assert send(Webhook(receiver.url, "x"), b"{}") == ""


def test_the_task_sends_what_is_announced_while_it_runs(folder: Path, receiver: Receiver) -> None:
    async def main() -> None:
        with opened(folder) as database:
            deliveries = Deliveries(database, load_cup(folder))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(deliveries.run)
                await trio.testing.wait_all_tasks_blocked(0.05)
                freeze(database, load_cup(folder))
                deliveries.wake()
                with trio.fail_after(30):
                    await when(lambda: len(receiver.received) == 2)
                nursery.cancel_scope.cancel()

    trio.run(main)
