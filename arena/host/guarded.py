"""Requests to a competition: who makes them, and what each may do.

- A person has a session: a random word in a signed cookie, with a row in the database until it ends.
- A program has a token in `Authorization: Bearer`, and no session: a cookie next to it is ignored.
- A form of a session has a field `csrf`, made from its word; of forms without one the origin is checked (`Guard`).
- An address, and an account, has so many requests, and more with time.
"""

import enum
import hashlib
import hmac
import math
import os
import secrets
import shutil
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

import msgspec
import trio
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

import arena.host.accounts as who
from arena.errors import ArenaError, UsageError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import KEY, KEY_BYTES, Cup
from arena.system.printable import printable
from arena.web.address import address_key
from arena.web.guard import RequestRefused, Uploads, has_token, too_large

INCOMING = "incoming"
SESSION_SECONDS = 30 * who.DAY
MOST_SESSIONS = 20
WORD_BYTES = 24
FIELDS, LONGEST_FIELD = 50, 8192
SIGN_IN = "/sign-in"
FORM_BYTES = 64 * 1024
"""What a body of an upload may have beyond its file."""
UPLOAD_SECONDS = 600.0
UPLOADS_AT_ONCE, UPLOADS_OF_ADDRESS, UPLOADS_OF_TEAM = 32, 4, 2
FIRST_SECONDS, LEAST_SPEED = 20.0, 20_000
"""After its first seconds, an upload has to have so many bytes a second, on average."""


class Rate(msgspec.Struct, frozen=True):
    burst: float
    per_second: float


class Rates(msgspec.Struct, frozen=True):
    """The limits of one address and of one account. Changes count as reads, too, and rare ones as changes."""

    reads: Rate = Rate(500, 100)
    changes: Rate = Rate(40, 0.5)
    rare: Rate = Rate(30, 1 / 300)
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


class Need(enum.IntEnum):
    NOTHING = 0
    ACCOUNT = 1
    TEAM = 2
    HOST = 3


class Visitor(msgspec.Struct, frozen=True):
    """The person or program that makes a request. `csrf` is for the forms of a session, and empty without one."""

    address: str
    account: who.Account | None = None
    team: who.Team | None = None
    session: str = ""
    csrf: str = ""
    token: int | None = None
    is_program: bool = False

    @property
    def actor(self) -> who.Actor:
        return who.Actor(self.account.id if self.account else None, self.address, token=self.token)

    @property
    def is_host(self) -> bool:
        return self.account is not None and self.account.is_host

    @property
    def own_team(self) -> who.Team:
        """The team of a visitor that `Need.TEAM` has admitted."""
        assert self.team is not None
        return self.team


class Upload(NamedTuple):
    """A file that has been sent. It is removed after the request unless it is moved away."""

    file: Path
    name: str
    fields: dict[str, str]


Form = dict[str, str]
PageFunction = Callable[[Request, Visitor], Awaitable[Response]]
ChangeFunction = Callable[[Request, Visitor, Form], Awaitable[Response]]
UploadFunction = Callable[[Request, Visitor, Upload], Awaitable[Response]]


class GuardedRoutes:
    """Makes routes for pages, changes and uploads, which know their visitor. Give `uploads` to the `Guard`."""

    def __init__(self, folder: Path, cup: Cup, database: CupDatabase, rates: Rates | None = None) -> None:
        rates = rates or Rates()
        self._database, self._incoming = database, folder / INCOMING
        self._key = (folder / KEY).read_bytes()
        if len(self._key) < KEY_BYTES:
            raise UsageError(f"{folder / KEY}: expected a key of {KEY_BYTES} bytes, got {len(self._key)}")
        is_secure = cup.address.startswith("https://")
        self.cookie = "__Host-arena" if is_secure else "arena"
        self._only_here: dict[str, Any] = {"secure": is_secure, "httponly": True, "samesite": "lax"}
        self._reads = TokenBuckets(rates.reads)
        self._changes = TokenBuckets(rates.changes)
        self._rare = TokenBuckets(rates.rare)
        self._of_accounts = TokenBuckets(rates.changes_of_account)
        self._most = cup.submissions.most_mib << 20
        self._uploading: Counter[object] = Counter()
        self._paths: set[str] = set()

    @property
    def uploads(self) -> Uploads:
        return Uploads(frozenset(self._paths), self._most + FORM_BYTES, UPLOAD_SECONDS)

    def page(self, path: str, function: PageFunction, need: Need = Need.NOTHING) -> Route:
        async def answer(request: Request) -> Response:
            self._limit(request, self._reads)
            visitor = self.visitor(request)
            if need and visitor.account is None:
                return RedirectResponse(f"{SIGN_IN}?next={quote(request.url.path)}", 303)
            self._admit(visitor, need)
            return await function(request, visitor)

        return Route(path, self._in_words(answer), methods=["GET"])

    def change(
        self,
        path: str,
        function: ChangeFunction,
        need: Need = Need.ACCOUNT,
        *,
        again: PageFunction | None = None,
        is_rare: bool = False,
    ) -> Route:
        """Return the route of a form. One that `is_rare`, such as registering, has a limit of its own.

        If it is refused, `again` answers with the page of the form; the request's state has `refused` and `fields`.
        """

        async def answer(request: Request) -> Response:
            self._limit(request, self._reads, self._changes, *([self._rare] if is_rare else ()))
            form = await _form(request)
            visitor = self._changing(request, need)
            self._check_csrf(visitor, form)
            request.state.fields = form
            return await function(request, visitor, form)

        return Route(path, self._in_words(answer, again), methods=["POST"])

    def upload(self, path: str, function: UploadFunction, again: PageFunction | None = None) -> list[BaseRoute]:
        """Return routes that take a file of a team: the field `file` of a form, or a body with fields in the query.

        The name of the file in a body is the query's `name`, or the rest of the path.
        """
        self._paths.add(path)

        async def answer(request: Request) -> Response:
            self._limit(request, self._reads, self._changes)
            team = self._changing(request, Need.TEAM).own_team
            with self._one_upload(address_key(_address(request)), team) as file:
                upload = await self._received(request, file)
                visitor = self._changing(request, Need.TEAM)  # once more: much may have changed since
                self._check_csrf(visitor, upload.fields)
                request.state.fields = upload.fields
                return await function(request, visitor, upload)

        methods, answered = ["POST", "PUT"], self._in_words(answer, again)
        routes = [Route(f"{path}{rest}", answered, methods=methods) for rest in ("", "/", "/{name}")]
        return list[BaseRoute](routes)

    def sign_in(self, response: Response, account: int, address: str, token: int | None = None) -> None:
        """Begin a session, whose cookie goes with this response. It ends with the token by which it was made."""
        word, now = secrets.token_urlsafe(WORD_BYTES), time.time()
        row = {"account": account, "token": token, "created": now, "expires": now + SESSION_SECONDS}
        last = "select hash from session where account = ? order by created desc limit ?"
        with self._database.change():
            self._database.insert("session", hash=who.secret_hash(word), **row)
            old = f"delete from session where expires < ? or (account = ? and hash not in ({last}))"
            self._database.run(old, now, account, account, MOST_SESSIONS)
            self._database.note("signed in", {"token": token}, account, address)
        value = f"{word}.{self._signature('session', word)}"
        response.set_cookie(self.cookie, value, int(SESSION_SECONDS), **self._only_here)

    def sign_out(self, visitor: Visitor, response: Response) -> None:
        with self._database.change():
            self._database.run("delete from session where hash = ?", visitor.session)
            self._database.note("signed out", {}, visitor.actor.account, visitor.address)
        response.delete_cookie(self.cookie, **self._only_here)

    def visitor(self, request: Request) -> Visitor:
        """Return who makes a request. Raises `RequestRefused` for a token that is not good."""
        address = _address(request)
        if has_token(request.headers):
            token = who.find_token(self._database, request.headers["authorization"].partition(" ")[2].strip())
            if token is None:
                raise RequestRefused(401, "This token is not good: make another.", {"WWW-Authenticate": "Bearer"})
            return Visitor(address, *self._known(token.account), token=token.id, is_program=True)
        word, _, given = request.cookies.get(self.cookie, "").partition(".")
        if not _same(given, self._signature("session", word)):
            return Visitor(address)
        hash, sql = who.secret_hash(word), "select account, token from session where hash = ? and expires > ?"
        session = self._database.row(dict[str, Any], sql, hash, time.time())
        if session is None:
            return Visitor(address)
        csrf = self._signature("csrf", word)
        return Visitor(address, *self._known(session["account"]), hash, csrf, session["token"])

    def _known(self, account: int) -> tuple[who.Account, who.Team | None]:
        return who.get_account(self._database, account), who.team_of(self._database, account)

    def _signature(self, use: str, word: str) -> str:
        text = f"{use} {word}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()

    def _changing(self, request: Request, need: Need) -> Visitor:
        visitor = self.visitor(request)
        if visitor.account is not None and (wait := self._of_accounts.take(visitor.account.id)):
            raise _too_many(wait)
        self._admit(visitor, need)
        return visitor

    def _limit(self, request: Request, *kinds: TokenBuckets) -> None:
        for buckets in kinds:
            if wait := buckets.take(address_key(_address(request))):
                raise _too_many(wait)

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

    def _in_words(
        self, answer: Callable[[Request], Awaitable[Response]], again: PageFunction | None = None
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint whose refusals are a page for people, and JSON for programs."""

        async def answer_in_words(request: Request) -> Response:
            try:
                return await answer(request)
            except who.ChangeRefusedError as error:
                refused: HTTPException = RequestRefused(409, printable(str(error), lines=True))
                if again is not None and not has_token(request.headers):
                    request.state.refused = refused.detail
                    return await again(request, self.visitor(request))
            except MultiPartException as error:
                refused = RequestRefused(400, f"Expected a form with a file: {error.message}")
            except HTTPException as error:
                refused = error
            if not has_token(request.headers):
                raise refused
            return JSONResponse({"error": refused.detail}, refused.status_code, refused.headers)

        return answer_in_words

    @contextmanager
    def _one_upload(self, address: str, team: who.Team) -> Iterator[Path]:
        most = {"all": UPLOADS_AT_ONCE, address: UPLOADS_OF_ADDRESS, team.id: UPLOADS_OF_TEAM}
        if any(self._uploading[key] >= number for key, number in most.items()):
            raise RequestRefused(429, "Other uploads are under way: try again in a moment.", {"Retry-After": "10"})
        self._uploading.update(list(most))
        try:
            self._incoming.mkdir(mode=0o700, exist_ok=True)
            with TemporaryDirectory(dir=self._incoming) as folder:
                yield Path(folder, "file")
        finally:
            self._uploading.subtract(list(most))
            self._uploading += Counter()  # keeps those above zero

    async def _received(self, request: Request, file: Path) -> Upload:
        is_form = _kind(request) == "multipart/form-data"
        if not is_form and not has_token(request.headers):
            raise RequestRefused(415, "Expected the form of the page, or a program with a token.")
        start = trio.current_time()
        scope = trio.CancelScope(deadline=start + FIRST_SECONDS)

        async def pieces() -> AsyncGenerator[bytes, None]:
            size = 0
            async with aclosing(request.stream()) as body:
                async for piece in body:
                    size += len(piece)
                    scope.deadline = start + FIRST_SECONDS + size / LEAST_SPEED
                    if size > self.uploads.bytes:
                        raise too_large(self._most)
                    yield piece

        fields = dict(request.query_params)
        try:
            with scope, file.open("xb") as written:
                async with aclosing(pieces()) as body:
                    if is_form:
                        limits = {"max_files": 1, "max_fields": FIELDS, "max_part_size": LONGEST_FIELD}
                        form = await MultiPartParser(request.headers, body, **limits).parse()
                        if not isinstance(sent := form.get("file"), UploadFile):
                            raise MultiPartException("the field 'file' has none")
                        with sent.file:
                            await trio.to_thread.run_sync(shutil.copyfileobj, sent.file, written)
                        fields = {name: value for name, value in form.items() if isinstance(value, str)}
                        fields["name"] = sent.filename or ""
                    else:
                        async for piece in body:
                            written.write(piece)
                written.flush()
                await trio.to_thread.run_sync(os.fsync, written.fileno())
                size = written.tell()
        except ClientDisconnect:
            raise RequestRefused(400, "The request has ended before its body.") from None
        except OSError as error:
            raise ArenaError(f"an upload cannot be written: {error.strerror}") from error
        if scope.cancelled_caught:
            raise RequestRefused(408, f"Too slow: expected at least {LEAST_SPEED} bytes a second.")
        if size > self._most:
            raise too_large(self._most)
        name = fields.pop("name", "") or request.path_params.get("name", "")
        return Upload(file, printable(name, 200), fields)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _too_many(wait: float) -> RequestRefused:
    seconds = str(math.ceil(wait))
    return RequestRefused(429, f"Too many requests: try again in {seconds} s.", {"Retry-After": seconds})


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


async def _form(request: Request) -> dict[str, str]:
    kind, body = _kind(request), await request.body()
    try:
        if body and kind != "application/x-www-form-urlencoded":
            raise RequestRefused(415, "Expected the form of the page.")
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS))
    except ValueError:
        raise RequestRefused(400, "Expected the fields of a form.") from None
