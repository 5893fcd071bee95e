"""Requests to a competition: who makes them, and what each may do.

- A person has a session: a random word in a signed cookie, with a row in the database until it ends.
- A program has a token in `Authorization: Bearer`, and no session: a cookie next to it is ignored.
- A form of a session has a field `csrf`, which is made from the session's word. Forms for visitors without a session
  (to sign in, to register) have none: the origin of each POST is checked before (`arena.web.guard`).
- An address, and an account, has so many requests, and more with time.
"""

import enum
import hashlib
import hmac
import ipaddress
import math
import os
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from arena.errors import ArenaError, UsageError
from arena.host.accounts import (
    DAY,
    Account,
    Actor,
    ChangeRefusedError,
    Team,
    account_of_token,
    get_account,
    secret_hash,
    team_of,
)
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import KEY, KEY_BYTES, Cup, networks
from arena.host.upload_body import BodyError, FilePart
from arena.system.printable import printable
from arena.web.guard import RequestRefused, Uploads, has_token

INCOMING = "incoming"
"""The folder of files that are being uploaded."""
SESSION_SECONDS = 30 * DAY
MOST_SESSIONS = 20
WORD_BYTES = 24
FIELDS = 50
SIGN_IN = "/sign-in"
FORM_BYTES = 64 * 1024
"""What a body of an upload may have beyond its file."""
UPLOAD_SECONDS = 600.0
UPLOADS_AT_ONCE, UPLOADS_OF_ACCOUNT = 16, 2


class Rate(msgspec.Struct, frozen=True):
    """So many requests at once, and so many further ones a second."""

    burst: float
    per_second: float


class Rates(msgspec.Struct, frozen=True):
    """The limits of one address and of one account. Changes count as reads, too, and rare ones as changes."""

    reads: Rate = Rate(500, 100)
    changes: Rate = Rate(40, 0.5)
    rare: Rate = Rate(10, 1 / 300)
    changes_of_account: Rate = Rate(40, 0.5)


class TokenBuckets:
    """A bucket of requests for each key; the keys that were used last are kept."""

    MOST = 10_000

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def take(self, key: object) -> float:
        """Take a request; return 0, or the seconds until there is one."""
        now = self._clock()
        left, since = self._buckets.pop(key, (self._rate.burst, now))
        left = min(self._rate.burst, left + (now - since) * self._rate.per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate.per_second
        self._buckets[key] = (left if wait else left - 1, now)
        while len(self._buckets) > self.MOST:
            self._buckets.popitem(last=False)
        return wait

    def __len__(self) -> int:
        return len(self._buckets)


class Need(enum.IntEnum):
    """The right that a page asks for; a host needs no team."""

    NOTHING = 0
    ACCOUNT = 1
    TEAM = 2
    HOST = 3


class Visitor(msgspec.Struct, frozen=True):
    """The person or program that makes a request. `csrf` is for the forms of a session, and empty without one."""

    address: str
    account: Account | None = None
    team: Team | None = None
    session: str = ""
    csrf: str = ""
    is_program: bool = False

    @property
    def actor(self) -> Actor:
        return Actor(self.account.id if self.account else None, self.address)

    @property
    def is_host(self) -> bool:
        return self.account is not None and self.account.is_host

    @property
    def own_team(self) -> Team:
        """The team of a visitor that `Need.TEAM` has admitted."""
        assert self.team is not None
        return self.team


class Upload(NamedTuple):
    """A file that has been sent. It is removed after the request unless it is moved away."""

    file: Path
    name: str
    size: int
    fields: dict[str, str]


PageFunction = Callable[[Request, Visitor], Awaitable[Response]]
ChangeFunction = Callable[[Request, Visitor, dict[str, str]], Awaitable[Response]]
UploadFunction = Callable[[Request, Visitor, Upload], Awaitable[Response]]


class Proxies:
    """The addresses of proxies that may name the address of a client."""

    def __init__(self, words: Sequence[str]) -> None:
        self._networks = networks(words)

    def client(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the address of a client. Only what named proxies have added to X-Forwarded-For counts."""
        address = peer
        for word in reversed([part.strip() for header in forwarded for part in header.split(",")]):
            if not self._has(address):
                break
            try:
                address = str(ipaddress.ip_address(word))
            except ValueError:
                break
        return address

    def _has(self, address: str) -> bool:
        try:
            number = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(number, "ipv4_mapped", None) or number
        return any(mapped in network for network in self._networks)


def address_key(address: str) -> str:
    """Return the key of an address for limits: of version 6 the first 64 bits, which a single customer has."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(number) if number.version == 4 else str(ipaddress.ip_network((number, 64), strict=False))


class GuardedRoutes:
    """Makes routes for pages, changes and uploads, which know their visitor. Give `uploads` to the `Guard`."""

    def __init__(
        self,
        folder: Path,
        cup: Cup,
        database: CupDatabase,
        *,
        rates: Rates = Rates(),  # noqa: B008  (frozen)
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder, self._cup, self._database, self._clock = folder, cup, database, clock
        self._key = (folder / KEY).read_bytes()
        if len(self._key) < KEY_BYTES:
            raise UsageError(f"{folder / KEY}: expected a key of {KEY_BYTES} bytes, got {len(self._key)}")
        self._is_secure = cup.address.startswith("https://")
        self.cookie = "__Host-arena" if self._is_secure else "arena"
        self._proxies = Proxies(cup.proxies)
        self._reads = TokenBuckets(rates.reads)
        self._changes = TokenBuckets(rates.changes)
        self._rare = TokenBuckets(rates.rare)
        self._of_accounts = TokenBuckets(rates.changes_of_account)
        self._most = cup.submissions.most_mib << 20
        self._uploading: Counter[int] = Counter()
        self._paths: set[str] = set()

    @property
    def uploads(self) -> Uploads:
        """The paths of the uploads that were made so far, for the guard."""
        return Uploads(frozenset(self._paths), self._most + FORM_BYTES, UPLOAD_SECONDS)

    def page(self, path: str, function: PageFunction, need: Need = Need.NOTHING) -> Route:
        async def answer(request: Request) -> Response:
            visitor = self.visitor(request)
            self._limit(self._reads, address_key(visitor.address))
            if need and visitor.account is None and not visitor.is_program:
                return RedirectResponse(f"{SIGN_IN}?next={quote(request.url.path)}", 303)
            self._admit(visitor, need)
            return await function(request, visitor)

        return Route(path, self._in_words(answer), methods=["GET"])

    def change(self, path: str, function: ChangeFunction, need: Need = Need.ACCOUNT, *, is_rare: bool = False) -> Route:
        """Return the route of a form. One that `is_rare`, such as registering, has a limit of its own."""

        async def answer(request: Request) -> Response:
            visitor = self._changing(request, need)
            if is_rare:
                self._limit(self._rare, address_key(visitor.address))
            form = await _form(request, is_program=visitor.is_program)
            self._check_csrf(visitor, form)
            return await function(request, visitor, form)

        return Route(path, self._in_words(answer), methods=["POST"])

    def upload(self, path: str, function: UploadFunction, need: Need = Need.TEAM) -> list[BaseRoute]:
        """Return routes that take a file: as the field `file` of a form, or as the body, with fields in the query.

        The name of the file in a body is the query's `name`, or the rest of the path.
        """
        self._paths.add(path)

        async def answer(request: Request) -> Response:
            visitor = self._changing(request, need)
            with self._one_upload(visitor), self._incoming() as file:
                upload = await self._received(request, file)
                self._check_csrf(visitor, upload.fields)
                return await function(request, visitor, upload)

        methods = ["POST", "PUT"]
        routes = [Route(f"{path}{rest}", self._in_words(answer), methods=methods) for rest in ("", "/", "/{name}")]
        return list[BaseRoute](routes)

    def sign_in(self, response: Response, account: Account, address: str) -> None:
        """Begin a session, whose cookie goes with this response."""
        word, now = secrets.token_urlsafe(WORD_BYTES), self._clock()
        with self._database.change():
            self._database.run("delete from session where expires < ?", now)
            sql = "delete from session where hash in (select hash from session where account = ? order by created desc "
            self._database.run(f"{sql} limit -1 offset ?)", account.id, MOST_SESSIONS - 1)
            self._database.insert(
                "session", hash=secret_hash(word), account=account.id, created=now, expires=now + SESSION_SECONDS
            )
            self._database.note("signed in", {}, account.id, address)
        response.set_cookie(
            self.cookie,
            f"{word}.{self._signature('session', word)}",
            max_age=int(SESSION_SECONDS),
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )

    def sign_out(self, visitor: Visitor, response: Response) -> None:
        with self._database.change():
            self._database.run("delete from session where hash = ?", visitor.session)
            self._database.note("signed out", {}, visitor.actor.account, visitor.address)
        response.delete_cookie(self.cookie, secure=self._is_secure, httponly=True, samesite="lax")

    def visitor(self, request: Request) -> Visitor:
        """Return who makes a request. Raises `RequestRefused` for a token that is not good."""
        peer = request.client.host if request.client else ""
        address = self._proxies.client(peer, request.headers.getlist("x-forwarded-for"))
        if has_token(request.headers):
            account = account_of_token(self._database, request.headers["authorization"].partition(" ")[2].strip())
            if account is None:
                raise RequestRefused(401, "This token is not good: make another.", {"WWW-Authenticate": "Bearer"})
            return Visitor(address, account, team_of(self._database, account.id), is_program=True)
        word, _, given = request.cookies.get(self.cookie, "").partition(".")
        if not word or not _same(given, self._signature("session", word)):
            return Visitor(address)
        session = secret_hash(word)
        sql = "select account from session where hash = ? and expires > ?"
        number = self._database.value(sql, session, self._clock())
        if number is None or (account := get_account(self._database, number)).is_disabled:
            return Visitor(address)
        csrf = self._signature("csrf", word)
        return Visitor(address, account, team_of(self._database, account.id), session, csrf)

    def _signature(self, use: str, word: str) -> str:
        text = f"{use} {word}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()

    def _changing(self, request: Request, need: Need) -> Visitor:
        visitor = self.visitor(request)
        for buckets in (self._reads, self._changes):
            self._limit(buckets, address_key(visitor.address))
        if visitor.account is not None:
            self._limit(self._of_accounts, visitor.account.id)
        self._admit(visitor, need)
        return visitor

    def _limit(self, buckets: TokenBuckets, key: object) -> None:
        if wait := buckets.take(key):
            seconds = str(math.ceil(wait))
            raise RequestRefused(429, f"Too many requests: try again in {seconds} s.", {"Retry-After": seconds})

    def _admit(self, visitor: Visitor, need: Need) -> None:
        if need and visitor.account is None:
            raise RequestRefused(401, "Sign in first.")
        if need is Need.HOST and not visitor.is_host:
            raise RequestRefused(403, "Only a host of this competition may do this.")
        if need is Need.TEAM and visitor.team is None:
            raise RequestRefused(403, "You are in no team: make one, or ask for an invitation to one.")

    def _check_csrf(self, visitor: Visitor, form: dict[str, str]) -> None:
        given = form.pop("csrf", "")
        if visitor.session and not _same(given, visitor.csrf):
            raise RequestRefused(403, "This form is too old, or of another session: load its page again.")

    def _in_words(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint whose refusals are a page for people, and JSON for programs."""

        async def answer_in_words(request: Request) -> Response:
            try:
                return await answer(request)
            except ChangeRefusedError as error:
                refused: HTTPException = RequestRefused(409, printable(str(error), lines=True))
            except BodyError as error:
                refused = RequestRefused(error.status, str(error))
            except HTTPException as error:
                refused = error
            if not has_token(request.headers):
                raise refused
            return JSONResponse({"error": refused.detail}, refused.status_code, refused.headers)

        return answer_in_words

    @contextmanager
    def _one_upload(self, visitor: Visitor) -> Iterator[None]:
        assert visitor.account is not None
        number = visitor.account.id
        if self._uploading[number] >= UPLOADS_OF_ACCOUNT or self._uploading.total() >= UPLOADS_AT_ONCE:
            raise RequestRefused(429, "Other uploads are under way: try again in a moment.", {"Retry-After": "10"})
        self._uploading[number] += 1
        try:
            yield
        finally:
            self._uploading[number] -= 1
            self._uploading += Counter()  # keeps those above zero

    @contextmanager
    def _incoming(self) -> Iterator[Path]:
        folder = self._folder / INCOMING
        folder.mkdir(mode=0o700, exist_ok=True)
        file = folder / secrets.token_hex(16)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    async def _received(self, request: Request, file: Path) -> Upload:
        """Write the file of a request to the disk, piece by piece."""
        kind = request.headers.get("content-type", "")
        is_form = kind.partition(";")[0].strip().lower() == "multipart/form-data"
        if not is_form and not has_token(request.headers):
            raise RequestRefused(415, "Expected the form of the page, or a program with a token.")
        try:
            with file.open("xb") as written:
                part = FilePart(written, self._most, kind if is_form else None)
                async with aclosing(request.stream()) as pieces:
                    async for piece in pieces:
                        part.feed(piece)
                part.finish()
                written.flush()
                await trio.to_thread.run_sync(os.fsync, written.fileno())
        except ClientDisconnect:
            raise RequestRefused(400, "The request has ended before its body.") from None
        except OSError as error:
            raise ArenaError(f"an upload cannot be written: {error.strerror}") from error
        fields = part.fields if is_form else dict(request.query_params)
        name = part.name if is_form else fields.pop("name", "") or request.path_params.get("name", "")
        return Upload(file, printable(name, 200), part.size, fields)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


async def _form(request: Request, *, is_program: bool) -> dict[str, str]:
    """Return the fields of a form; of a program also JSON with texts."""
    kind, body = request.headers.get("content-type", "").partition(";")[0].strip().lower(), await request.body()
    try:
        if is_program and kind == "application/json":
            return msgspec.json.decode(body, type=dict[str, str])
        if body and kind != "application/x-www-form-urlencoded":
            raise RequestRefused(415, "Expected the form of the page.")
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS))
    except (ValueError, msgspec.DecodeError):
        raise RequestRefused(400, "Expected the fields of a form.") from None
