"""Webhooks: addresses that are told of events, by deliveries that are kept in the database until they have arrived.

A delivery is written in the transaction of the change that it tells, and sent again after growing pauses for a day.
"""

import enum
import hashlib
import hmac
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import trio

from arena.errors import ArenaError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup, Webhook
from arena.system.no_redirects import NoRedirects
from arena.system.printable import printable
from arena.version import __version__

SIGNATURE = "X-Arena-Signature"
SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 10.0, 3600.0
GIVEN_UP = 24 * 3600.0
KEPT = 14 * 24 * 3600.0
"""How long deliveries that are over stay in the database."""
AT_ONCE = 20
LONGEST_DISCORD = 1900
LONGEST_ERROR = 200
IDLE_SECONDS = 5.0


class WebhookEvent(enum.Enum):
    SUBMISSION = "submission"
    PARKED = "parked"
    SEASON = "season"
    LEADER = "leader"


class Delivery(msgspec.Struct, frozen=True):
    id: int
    hook: int
    body: str
    created: float
    attempts: int


def announce(database: CupDatabase, cup: Cup, event: WebhookEvent, text: str, **detail: Any) -> None:
    now = time.time()
    for number, hook in enumerate(cup.webhooks):
        content: dict[str, Any] = {"event": event.value, "text": text, "time": now, "cup": cup.title, **detail}
        if hook.form == "discord":  # nobody is called by a name such as @everyone
            content = {"content": f"{cup.title}: {text}"[:LONGEST_DISCORD], "allowed_mentions": {"parse": []}}
        body = msgspec.json.encode(content).decode()
        database.insert("delivery", hook=number, body=body, created=now, next=now)


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirects)


def send(hook: Webhook, body: bytes) -> str:
    """Send a body and return why it has not arrived; empty if it has."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"arena/{__version__}",
        SIGNATURE: f"sha256={hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()}",
    }
    try:
        request = urllib.request.Request(hook.url, body, headers, method="POST")
        with _opener.open(request, timeout=SECONDS):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return f"answered {error.code} {printable(str(error.reason), LONGEST_ERROR)}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        return printable(str(getattr(error, "reason", error)) or type(error).__name__, LONGEST_ERROR)


class Deliveries:
    """Sends what is to be sent, one delivery after another, in a thread."""

    def __init__(self, database: CupDatabase, cup: Cup, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._cup, self._clock = database, cup, clock
        self._news = trio.Event()

    def wake(self) -> None:
        self._news.set()

    async def run(self) -> None:
        while True:
            self._news, sent = trio.Event(), 0
            with suppress(ArenaError):  # the disk is full: they are sent again
                sent = await self.send_due()
            with trio.move_on_after(0 if sent else IDLE_SECONDS):
                await self._news.wait()

    async def send_due(self) -> int:
        sql = "select * from delivery where done is null and next <= ? order by id limit ?"
        due = self._database.rows(Delivery, sql, self._clock(), AT_ONCE)
        for delivery in due:
            error = "the settings have no such hook any more"
            is_over = delivery.hook >= len(self._cup.webhooks)
            if not is_over:
                hook, body = self._cup.webhooks[delivery.hook], delivery.body.encode()
                error = await trio.to_thread.run_sync(send, hook, body, abandon_on_cancel=True)
                is_over = not error or self._clock() - delivery.created > GIVEN_UP
            now, pause = self._clock(), min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(delivery.attempts, 20))
            with self._database.change():
                self._database.run(
                    "update delivery set attempts = ?, next = ?, done = ?, error = ? where id = ?",
                    *(delivery.attempts + 1, now + pause, now if is_over else None, error, delivery.id),
                )
                self._database.run("delete from delivery where done < ?", now - KEPT)
        return len(due)
