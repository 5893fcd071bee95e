"""Requests to a competition: sessions, forms, tokens, uploads and their limits."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from hosted import HOST, Hosted, make_hosted
from served import Answer, Serve, Served
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from arena.errors import UsageError
from arena.host import guarded
from arena.host.accounts import (
    Account,
    Actor,
    ChangeRefusedError,
    make_token,
    remove_member,
    revoke_token,
    set_disabled,
)
from arena.host.cup_settings import Cup, Submissions, networks
from arena.host.guarded import (
    INCOMING,
    MOST_SESSIONS,
    SESSION_SECONDS,
    GuardedRoutes,
    Need,
    Rate,
    Rates,
    TokenBuckets,
    Upload,
    Visitor,
)
from arena.report.site.page_frame import Site
from arena.web import guard
from arena.web.address import Address, hosts_of
from arena.web.guard import Guard, PageLook

MANY = Rate(10_000, 10_000)
UNLIMITED = Rates(MANY, MANY, MANY, MANY)
FORM = "application/x-www-form-urlencoded"
BOUNDARY = "x" * 30


@dataclass
class ServedCup:
    """A served competition with a few routes."""

    hosted: Hosted
    doors: GuardedRoutes
    served: Served
    uploads: list[tuple[bytes, str, dict[str, str]]] = field(default_factory=list)

    def get(self, path: str, **headers: str) -> Answer:
        return self.served.get(path, "GET", None, **headers)

    def post(self, path: str, form: str = "", *, kind: str = FORM, method: str = "POST", **headers: str) -> Answer:
        headers.setdefault("Origin", f"http://{self.served.host}")
        sent = {name: value for name, value in headers.items() if value}
        return self.served.get(path, method, form.encode(), Content_Type=kind, **sent)

    def cookie(self, account: Account) -> str:
        """Sign in, and return the cookie as a browser would send it."""
        response = Response()
        self.served.call(self.doors.sign_in, response, account.id, "")
        return response.headers["set-cookie"].partition(";")[0]

    def csrf(self, cookie: str) -> str:
        return self.get("/who", Cookie=cookie).text.partition(" csrf=")[2]

    def begin_upload(self, headers: dict[str, str]) -> socket.socket:
        """Send 3 of 1000 bytes."""
        before = self.incoming
        head = f"POST /submit HTTP/1.1\r\nHost: {self.served.host}\r\nAuthorization: {headers['Authorization']}\r\n"
        client = self.served.connect(f"{head}Content-Length: 1000\r\n\r\nabc".encode())
        self.served.until(lambda: len(self.incoming) > len(before))
        return client

    @property
    def incoming(self) -> list[Path]:
        folder = self.hosted.folder / INCOMING
        return list(folder.iterdir()) if folder.is_dir() else []


MakeCup = Callable[..., ServedCup]
Later = Callable[[float], None]


@pytest.fixture
def make(serving: Serve, tmp_path: Path) -> MakeCup:
    """`make(rates, address, ...)`: a served competition."""

    def start(rates: Rates = UNLIMITED, address: str = "http://cup.example", **more: object) -> ServedCup:
        cup = Cup(title="A test", address=address, submissions=Submissions(most_mib=1), **more)  # type: ignore[arg-type]
        hosted = make_hosted(tmp_path / "cup", cup)
        doors = GuardedRoutes(hosted.folder, cup, hosted.database, rates=rates)
        uploads: list[tuple[bytes, str, dict[str, str]]] = []

        async def who(request: Request, visitor: Visitor) -> Response:
            name = visitor.account.name if visitor.account else "nobody"
            return PlainTextResponse(f"{name} at {visitor.address} csrf={visitor.csrf}")

        async def change(request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
            if "refuse" in form:
                raise ChangeRefusedError(f"expected something else than {form['refuse']}")
            return PlainTextResponse(" ".join(f"{name}={value}" for name, value in form.items()))

        async def leave(request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
            response = PlainTextResponse("bye")
            doors.sign_out(visitor, response)
            return response

        async def upload(request: Request, visitor: Visitor, sent: Upload) -> Response:
            uploads.append((sent.file.read_bytes(), sent.name, sent.fields))
            return PlainTextResponse(f"{len(uploads[-1][0])} bytes")

        routes = [
            doors.page("/who", who, Need.NOTHING),
            doors.page("/team", who, Need.TEAM),
            *(doors.change(path, change, need) for path, need in
              (("/register", Need.NOTHING), ("/change", Need.ACCOUNT), ("/rule", Need.HOST))),
            doors.change("/leave", leave),
            doors.change("/enrol", change, Need.NOTHING, is_rare=True),
            *doors.upload("/submit", upload),
        ]  # fmt: skip
        hosts = hosts_of([Address("127.0.0.1", 0)], ["cup.example"])
        look = PageLook(Site("a test", (), ""))
        application = Guard(routes, look, hosts, posts=True, uploads=doors.uploads)
        served = serving(application, proxies=networks(cup.proxies))
        return ServedCup(hosted, doors, served, uploads)

    return start


@pytest.fixture
def made(make: MakeCup) -> ServedCup:
    return make()


def bearer(word: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {word}", "Origin": ""}


def body(file: bytes = b"#!x", name: str = "bot.tar", fields: dict[str, str] | None = None, at: str = "file") -> str:
    parts = [f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}' for key, value in (fields or {}).items()]
    parts.append(f'Content-Disposition: form-data; name="{at}"; filename="{name}"\r\n\r\n{file.decode("latin-1")}')
    return "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts) + f"--{BOUNDARY}--\r\n"


MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def test_a_session_is_a_signed_cookie_that_scripts_cannot_read(made: ServedCup) -> None:
    ann = made.hosted.member("Ann", "Rooks")
    response = Response()
    made.served.call(made.doors.sign_in, response, ann.id, "")
    cookie = SimpleCookie(response.headers["set-cookie"])["arena"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (True, "lax", "/", "")
    assert int(cookie["max-age"]) == SESSION_SECONDS
    assert made.get("/who", Cookie=f"arena={cookie.value}").text.startswith("Ann at 127.0.0.1 ")
    (kept,) = made.hosted.database.column("select hash from session")
    assert cookie.value.partition(".")[0] not in kept


def test_behind_https_the_cookie_is_for_https_and_this_host_alone(make: MakeCup) -> None:
    made = make(address="https://cup.example")
    cookie = made.cookie(made.hosted.member("Ann", "Rooks"))
    response = Response()
    made.served.call(made.doors.sign_in, response, 1, "")
    assert cookie.startswith("__Host-arena=")
    assert "; Secure" in response.headers["set-cookie"]
    assert made.get("/who", Cookie=cookie).text.startswith("Ann ")


@pytest.mark.parametrize("forge", [lambda word, sign: f"{word}.", lambda word, sign: word,
                                   lambda word, sign: f"{word}.{sign[1:]}", lambda word, sign: f"{word}x.{sign}",
                                   lambda word, sign: f".{sign}", lambda word, sign: ""])  # fmt: skip
def test_a_forged_cookie_is_nobodys(made: ServedCup, forge: Callable[[str, str], str]) -> None:
    word, _, sign = made.cookie(made.hosted.member("Ann", "Rooks")).removeprefix("arena=").partition(".")
    assert made.get("/who", Cookie=f"arena={forge(word, sign)}").text.startswith("nobody ")


def test_a_session_ends_by_time_by_signing_out_and_by_disabling(made: ServedCup, later: Later) -> None:
    ann = made.hosted.member("Ann", "Rooks")
    first, second = made.cookie(ann), made.cookie(ann)
    answer = made.post("/leave", f"csrf={made.csrf(first)}", Cookie=first)
    assert 'arena=""' in answer.headers["set-cookie"]
    assert made.get("/who", Cookie=first).text.startswith("nobody ")
    assert made.get("/who", Cookie=second).text.startswith("Ann ")
    later(SESSION_SECONDS + 1)
    assert made.get("/who", Cookie=second).text.startswith("nobody ")
    third = made.cookie(ann)
    for is_disabled in (True, False):  # a session does not come back
        made.served.call(lambda to: set_disabled(made.hosted.database, HOST, ann.id, "", is_disabled=to), is_disabled)
        assert made.get("/who", Cookie=third).text.startswith("nobody ")


def test_a_session_ends_with_the_token_by_which_it_was_made(made: ServedCup) -> None:
    ann, database = made.hosted.member("Ann", "Rooks"), made.hosted.database
    make_token(database, Actor(ann.id), ann.id, "stolen")
    response = Response()
    made.served.call(made.doors.sign_in, response, ann.id, "", 1)
    stolen, own = response.headers["set-cookie"].partition(";")[0], made.cookie(ann)
    assert made.get("/who", Cookie=stolen).text.startswith("Ann ")
    made.served.call(revoke_token, database, Actor(ann.id), 1)
    assert made.get("/who", Cookie=stolen).text.startswith("nobody ")
    assert made.get("/who", Cookie=own).text.startswith("Ann ")


def test_an_account_keeps_its_last_sessions(made: ServedCup, later: Later) -> None:
    ann = made.hosted.member("Ann", "Rooks")
    cookies = []
    for number in range(MOST_SESSIONS + 1):
        later(number)
        cookies.append(made.cookie(ann))
    shown = [made.get("/who", Cookie=cookie).text.partition(" ")[0] for cookie in cookies]
    assert shown == ["nobody", *["Ann"] * MOST_SESSIONS]


def test_a_form_needs_the_csrf_of_its_session(made: ServedCup) -> None:
    ann, bob = made.hosted.member("Ann", "Rooks"), made.hosted.member("Bob", "Knights")
    cookie, other = made.cookie(ann), made.cookie(ann)
    csrf = made.csrf(cookie)
    assert made.post("/change", f"csrf={csrf}&a=1%C3%A9&b=", Cookie=cookie).text == "a=1é b="
    for wrong in ("", f"csrf={csrf[:-1]}", f"csrf={made.csrf(other)}", f"csrf={made.csrf(made.cookie(bob))}"):
        assert made.post("/change", wrong, Cookie=cookie).status == 403
    assert made.post("/register", "a=1", Cookie=cookie).status == 403
    assert made.post("/register", "a=1").status == 200


def test_a_browser_sends_the_origin_of_these_forms(made: ServedCup) -> None:
    """With no-referrer it would send `Origin: null`."""
    assert made.get("/who").headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("form", "kind", "status"),
    [("{}", "application/json", 415), ("a=1", "text/plain", 415), ("a=%ff", FORM, 400), ("é", FORM, 400),
     ("&".join(f"a{number}=" for number in range(60)), FORM, 400), ("a" * 70_000, FORM, 413), ("", "x", 403)],
)  # fmt: skip
def test_what_is_no_form_is_refused(made: ServedCup, form: str, kind: str, status: int) -> None:
    cookie = made.cookie(made.hosted.member("Ann", "Rooks"))
    assert made.post("/change", form, kind=kind, Cookie=cookie).status == status


def test_a_program_needs_a_token_and_nothing_else(made: ServedCup) -> None:
    ann = made.hosted.member("Ann", "Rooks")
    headers = bearer(made.hosted.token(ann))
    assert made.get("/team", Authorization=headers["Authorization"]).text == "Ann at 127.0.0.1 csrf="
    assert made.post("/change", "a=1", **headers).text == "a=1"
    refused = made.post("/change", "refuse=this", **headers)
    assert (refused.status, refused.text) == (409, '{"error":"expected something else than this"}')
    assert made.post("/rule", "", **headers).status == 403


def test_a_bad_token_is_refused_even_with_a_good_cookie(made: ServedCup) -> None:
    cookie = made.cookie(made.hosted.member("Ann", "Rooks"))
    for path in ("/who", "/team"):
        answer = made.get(path, Authorization="Bearer arena_guessed", Cookie=cookie)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "arena_guessed" not in answer.text
    assert made.post("/change", f"csrf={made.csrf(cookie)}", Cookie=cookie, **bearer("x")).status == 401


def test_a_form_uploads_a_file(made: ServedCup) -> None:
    cookie = made.cookie(made.hosted.member("Ann", "Rooks"))
    fields = {"csrf": made.csrf(cookie), "bot": "Rook é"}
    sent = body(b"#!\r\n--x\r\n", "mine.tar", fields)
    assert made.post("/submit", sent, kind=MULTIPART, Cookie=cookie).text == "9 bytes"
    assert made.uploads == [(b"#!\r\n--x\r\n", "mine.tar", {"bot": "Rook é"})]
    assert made.incoming == []
    for fields in ({}, {"csrf": "x"}):
        assert made.post("/submit", body(fields=fields), kind=MULTIPART, Cookie=cookie).status == 403
    assert len(made.uploads) == 1


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_program_uploads_a_body(made: ServedCup, method: str) -> None:
    headers = bearer(made.hosted.token(made.hosted.member("Ann", "Rooks")))
    assert made.post("/submit/mine.tar?bot=Rook", "data", kind="x/y", method=method, **headers).text == "4 bytes"
    assert made.post("/submit?bot=Rook&name=a.zip", "data", kind="x/y", method=method, **headers).text == "4 bytes"
    form = body(fields={"bot": "Rook"})
    assert method == "PUT" or made.post("/submit/", form, kind=MULTIPART, **headers).text == "3 bytes"
    assert made.uploads[:2] == [(b"data", "mine.tar", {"bot": "Rook"}), (b"data", "a.zip", {"bot": "Rook"})]


def test_an_upload_that_is_too_large_is_refused_and_not_kept(made: ServedCup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SILENT_SECONDS", 0.05)
    headers = bearer(made.hosted.token(made.hosted.member("Ann", "Rooks")))
    head = f"POST /submit HTTP/1.1\r\nHost: {made.served.host}\r\nAuthorization: {headers['Authorization']}\r\n"
    form = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=file; filename=x\r\n\r\n"
    piece = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    for more in (
        [f"Content-Length: {2 << 20}\r\n\r\n".encode()],
        [b"Transfer-Encoding: chunked\r\n\r\n", *[piece] * 18],
        [f"Content-Type: {MULTIPART}\r\nTransfer-Encoding: chunked\r\n\r\n{len(form):x}\r\n{form}\r\n".encode()]
        + [piece] * 18,
    ):
        with made.served.connect(head.encode()) as client:
            for data in more:
                client.sendall(data)
            assert client.recv(100).startswith(b"HTTP/1.1 413")
    made.served.until(lambda: made.incoming == [])
    assert made.uploads == []


def test_a_client_that_has_sent_too_much_reads_why(made: ServedCup) -> None:
    """A browser that is still sending when the connection ends shows an error of its own."""
    cookie = made.cookie(made.hosted.member("Ann", "Rooks"))
    headers = bearer(made.hosted.token(made.hosted.member("Bob", "Knights")))
    sent = body(bytes(5 << 19), fields={"csrf": made.csrf(cookie)})
    for _ in range(5):
        answer = made.post("/submit", sent, kind=MULTIPART, Cookie=cookie)
        assert answer.status == 413
        assert "expected at most 1 MiB" in answer.text
        assert made.post("/submit", sent, kind="x/y", **headers).status == 413
        assert made.post("/submit", sent, kind=MULTIPART).status == 413
        assert made.post("/submit", body(bytes(1 << 20)), kind=MULTIPART, **bearer("x")).status == 401


def test_an_upload_that_is_broken_off_is_not_kept(made: ServedCup) -> None:
    made.begin_upload(bearer(made.hosted.token(made.hosted.member("Ann", "Rooks")))).close()
    made.served.until(lambda: made.incoming == [])
    assert made.uploads == []


def test_a_team_and_an_address_have_few_uploads_at_once(made: ServedCup) -> None:
    ann, bob, cy = (bearer(made.hosted.token(made.hosted.member(name, f"Team of {name}"))) for name in ("A", "B", "C"))
    with ExitStack() as clients:
        for headers in (ann, ann, bob, bob):
            assert made.post("/submit", "x", kind="x/y", **headers).status == 200
            clients.enter_context(made.begin_upload(headers))
        assert made.post("/submit", "x", kind="x/y", **ann).status == 429, "two of the team"
        assert made.post("/submit", "x", kind="x/y", **cy).status == 429, "four of the address"
    made.served.until(lambda: made.incoming == [])
    assert made.post("/submit", "x", kind="x/y", **ann).status == 200


def test_an_upload_that_trickles_is_given_up(made: ServedCup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "FIRST_SECONDS", 0.5)
    with made.begin_upload(bearer(made.hosted.token(made.hosted.member("Ann", "Rooks")))) as client:
        for _ in range(3):
            client.sendall(b"x")
        assert client.recv(100).startswith(b"HTTP/1.1 408")
    assert (made.uploads, made.incoming) == ([], [])


def test_an_upload_of_a_team_that_a_member_leaves_meanwhile_is_refused(made: ServedCup) -> None:
    ann = made.hosted.member("Ann", "Rooks")
    with made.begin_upload(bearer(made.hosted.token(ann))) as client:
        made.served.call(remove_member, made.hosted.database, HOST, ann.id)
        client.sendall(bytes(997))
        assert client.recv(100).startswith(b"HTTP/1.1 403")
    assert made.uploads == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a part's file closes itself
@pytest.mark.parametrize(
    ("sent", "kind", "status"),
    [
        ("x", "multipart/form-data", 400),
        ("x", MULTIPART, 400),
        ("", MULTIPART, 400),
        (body()[:-10], MULTIPART, 400),
        (body(at="other"), MULTIPART, 400),
        (body().replace(f"--{BOUNDARY}--\r\n", "") + body(), MULTIPART, 400),
        (body(fields={"bot": "x" * 10_000}), MULTIPART, 400),
        (body(fields={f"f{number}": "x" for number in range(60)}), MULTIPART, 400),
        ("x", f"multipart/form-data; boundary={'x' * 5000}", 400),
        (f"--{BOUNDARY}\r\n" + "X: y\r\n" * 1000 + "\r\n", MULTIPART, 400),
        (f"--{BOUNDARY}\r\nX: {'y' * 60_000}\r\n\r\n", MULTIPART, 400),
    ],
)
def test_a_form_without_sense_is_refused(made: ServedCup, sent: str, kind: str, status: int) -> None:
    headers = bearer(made.hosted.token(made.hosted.member("Ann", "Rooks")))
    assert made.post("/submit", sent, kind=kind, **headers).status == status
    assert (made.uploads, made.incoming) == ([], [])


def test_strangers_and_accounts_without_a_team_upload_nothing(made: ServedCup) -> None:
    assert made.post("/submit", body(), kind=MULTIPART).status == 401
    host = made.hosted.host("Hanna")
    assert made.post("/submit", body(), kind=MULTIPART, **bearer(made.hosted.token(host))).status == 403
    assert made.post("/who", "x", method="PUT").status == 405


def test_an_address_and_an_account_have_limits(make: MakeCup) -> None:
    made = make(Rates(Rate(6, 0.01), MANY, MANY, Rate(2, 0.01)))
    headers = bearer(made.hosted.token(made.hosted.member("Ann", "Rooks")))
    assert [made.post("/change", "", **headers).status for _ in range(3)] == [200, 200, 429]
    assert [made.get("/who").status for _ in range(4)] == [200, 200, 200, 429]
    answer = made.get("/who")
    assert 1 <= int(answer.headers["retry-after"]) <= 100


def test_rare_changes_have_a_limit_of_their_own(make: MakeCup) -> None:
    made = make(Rates(MANY, MANY, Rate(2, 0.01), MANY))
    assert [made.post("/enrol", "").status for _ in range(3)] == [200, 200, 429]
    assert made.post("/register", "").status == 200


def test_only_named_proxies_tell_the_address(make: MakeCup) -> None:
    made = make(proxies=("127.0.0.1",))
    assert " at 203.0.113.7 " in made.get("/who", X_Forwarded_For="192.0.2.9, 203.0.113.7").text


def test_without_named_proxies_the_header_is_ignored(made: ServedCup) -> None:
    assert " at 127.0.0.1 " in made.get("/who", X_Forwarded_For="203.0.113.7").text


def test_proxies_are_addresses() -> None:
    with pytest.raises(UsageError, match="expected addresses such as"):
        networks(("proxy.example",))


def test_a_bucket_fills_with_time_and_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenBuckets, "MOST", 3)
    now = [0.0]
    buckets = TokenBuckets(Rate(2, 0.5), lambda: now[0])
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 2]
    now[0] += 2
    assert [buckets.take("a") for _ in range(2)] == [0, 2]
    now[0] += 1000
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 2]
    for key in "bcde":
        buckets.take(key)
    assert list(buckets._buckets) == ["c", "d", "e"]


def test_every_sign_in_and_out_is_in_the_audit_log(made: ServedCup) -> None:
    ann = made.hosted.member("Ann", "Rooks")
    cookie = made.cookie(ann)
    made.post("/leave", f"csrf={made.csrf(cookie)}", Cookie=cookie)
    assert made.hosted.database.column("select action from audit where account = ?", ann.id)[-2:] == [
        "signed in",
        "signed out",
    ]


def test_a_key_that_is_cut_is_refused(tmp_path: Path) -> None:
    hosted = make_hosted(tmp_path / "cup")
    (hosted.folder / "secret.key").write_bytes(b"short")
    with pytest.raises(UsageError, match="expected a key of 32 bytes, got 5"):
        GuardedRoutes(hosted.folder, hosted.cup, hosted.database)
