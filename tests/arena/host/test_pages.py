"""The pages of a competition: who may see and do what, and nothing that a stranger chose runs or is shown too early."""

import html
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import msgspec
import pytest
from made_cups import add_bot, make_account, make_cup, opened
from made_stores import make_store, read_game_script
from served import Answer, Serve, Served

from arena.game.exported import SeatViewError, decode_line
from arena.game.faults import GameResult
from arena.game.record import GameRecord, NoteLine
from arena.host import cup_site
from arena.host.accounts import MACHINE, Account, Actor, Team, invite, join, make_token
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.host_pages import unlikely_pairs
from arena.host.seasons import SeasonLeague, current, finish, store_file
from arena.host.serve_cup import HostServer
from arena.host.submissions import received_file, record_game
from arena.report.site.site_contents import read_path
from arena.sandbox.levels import Level
from arena.web.address import Address, hosts_of

NASTY = "<script>document.title='run'</script><img src=x onerror=alert(1)>"
LOG = "the log of the author, a secret"
WHO = ("nobody", "ann", "bob", "host")


@dataclass
class CupServed:
    """A served competition: `ann` and `bob` have a bot each in a ladder with games; eve has the third bot."""

    folder: Path
    cup: Cup
    database: CupDatabase
    host: HostServer
    served: Served
    accounts: dict[str, Account]
    teams: dict[str, Team]
    bots: dict[str, int]
    cookies: dict[str, str]
    records: list[GameRecord]

    def get(self, path: str, who: str = "nobody", **headers: str) -> Answer:
        cookies = {"Cookie": self.cookies[who]} if who in self.cookies else {}
        return self.served.get(path, "GET", None, **cookies, **headers)

    def post(self, path: str, who: str = "nobody", csrf: str | None = None, **fields: object) -> Answer:
        if csrf is None:
            csrf = self.csrf(who)
        body = urlencode({"csrf": csrf, **fields}).encode()
        headers = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.served.host}"}
        if who in self.cookies:
            headers["Cookie"] = self.cookies[who]
        return self.served.get(path, "POST", body, **headers)

    def csrf(self, who: str) -> str:
        found = re.search(r'name="csrf" value="(\w+)"', self.get("/account", who).text) if who in self.cookies else None
        return found[1] if found else ""

    def sign_in(self, name: str) -> None:
        token = make_token(self.database, Actor(self.accounts[name].id), self.accounts[name].id, "a test")
        answer = self.post("/sign-in", token=token)
        assert answer.status == 303
        self.cookies[name] = answer.headers["Set-Cookie"].partition(";")[0]


MakeCup = Callable[..., CupServed]


@pytest.fixture
def make(serving: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeCup]:
    """`make(shows)`: a served competition that shows whole games then. It reads its stores in this process."""
    monkeypatch.setattr(cup_site, "read_apart", read_path)
    databases: list[CupDatabase] = []

    def start(
        shows: Literal["after-game", "after-season", "never"] = "after-game",
        games: int = 6,
        plies: int = 60,
        change: Callable[[GameRecord], GameRecord] = lambda record: record,
    ) -> CupServed:
        folder = tmp_path / "cup"
        cup = msgspec.structs.replace(make_cup(folder), shows=shows)
        with opened(folder) as written:
            found = {name: make_account(written, cup, name) for name in ("ann", "bob", "eve")}
            host = join(written, cup, invite(written, MACHINE, is_host=True), "host")
            bots = {}
            for number, (name, (account, team)) in enumerate(found.items(), 1):
                bots[name] = add_bot(
                    written, folder, (account, team), name, player=f"{number:064x}", digest=f"{number:064x}"
                )

        def say(record: GameRecord) -> GameRecord:
            told = tuple(f"stderr of {player.name}" for player in record.players)
            return change(msgspec.structs.replace(record, stderr=told, notes=(NoteLine(1, "red", "a note"),)))

        records = make_store(store_file(SeasonLeague.LADDER, folder, 1), games=games, plies=plies, change=say)
        database = CupDatabase(folder / "host.sqlite")
        databases.append(database)
        server = HostServer(folder, cup, database, Level.BASIC, lambda text: None)
        served = serving(server.application(hosts_of([Address("127.0.0.1", 0)])), beside=server.show)
        made = CupServed(
            *(folder, cup, database, server, served),
            {"host": host, **{name: account for name, (account, _) in found.items()}},
            {name: team for name, (_, team) in found.items()},
            *(bots, {}, records),
        )
        for name in ("ann", "bob", "host"):
            made.sign_in(name)
        served.until(lambda: server.contents("season-1") is not None)
        return made

    yield start
    for database in databases:
        database.close()


def note_log(cup: CupServed, name: str, log: str = LOG) -> int:
    """Note a stage that has failed with a log, of a further submission."""
    database, account, team = cup.database, cup.accounts[name], cup.teams[name]
    with database.change():
        row = {"bytes": 1, "sent_as": f"{NASTY}.py", "received": time.time(), "changed": time.time(), "state": "failed"}
        number = database.insert("submission", team=team.id, account=account.id, bot=name, reason=log, **row)
        database.insert(
            "stage",
            submission=number,
            name="build",
            state="failed",
            attempts=1,
            seconds=1.0,
            begun=1.0,
            ended=2.0,
            text=log,
            log=log,
        )
    received_file(cup.folder, number).parent.mkdir(exist_ok=True)
    received_file(cup.folder, number).write_bytes(b"the files of ann")
    return number


def test_who_may_read_which_page(make: MakeCup) -> None:
    cup = make()
    number = note_log(cup, "ann")
    own = next(n for n, record in enumerate(cup.records, 1) if "ann" in [player.name for player in record.players])
    everybody, public = (200, 200, 200, 200), ("/", "/bots", "/seasons", "/rules", "/submit", "/sign-in", "/now.html")
    expected = {
        **dict.fromkeys(
            (*public, "/season-1/index.html", "/season-1/games/1.html", "/season-1/games/1.json"), everybody
        ),
        **dict.fromkeys(("/feed.atom", "/health", "/metrics", "/api/ladder", "/api/bots", "/api/games"), everybody),
        **dict.fromkeys(("/api/cup", "/api/seasons", "/api/news", "/season-1/static/arena.css"), everybody),
        "/ladder": (303, 303, 303, 303),
        **dict.fromkeys(("/team", "/account"), (303, 200, 200, 200)),
        **dict.fromkeys(("/team/games", "/team/compare", "/team/challenges"), (303, 200, 200, 403)),
        **dict.fromkeys((f"/team/submissions/{number}", f"/team/submissions/{number}/file"), (303, 200, 404, 200)),
        f"/api/submissions/{number}": (303, 200, 404, 200),
        "/team/submissions/9999": (303, 404, 404, 404),
        f"/team/submissions/{'9' * 5000}": (303, 404, 404, 404),
        f"/own/season-1/games/{own}.html": (303, 200, 200, 403),
        **dict.fromkeys(
            (
                f"/host{part}"
                for part in ("", "/season", "/accounts", "/accounts/1", "/links", "/bots", "/audit", "/pairs")
            ),
            (303, 403, 403, 200),
        ),
        **dict.fromkeys(
            ("/season-2/index.html", "/challenges-1/index.html", "/host.sqlite", "/season-1.sqlite"), (404,) * 4
        ),
    }
    answers = {path: [cup.get(path, who) for who in WHO] for path in expected}
    found = {path: tuple(answer.status for answer in of_path) for path, of_path in answers.items()}
    if "bob" not in [player.name for player in cup.records[own - 1].players]:
        expected[f"/own/season-1/games/{own}.html"] = (303, 200, 404, 403)
    assert found == expected
    assert answers["/team"][0].headers["Location"] == "/sign-in?next=/team"
    for path in (f"/team/submissions/{number}", "/team", "/bots", "/api/bots", "/feed.atom", "/", "/metrics"):
        for who in ("nobody", "bob"):
            assert LOG not in cup.get(path, who).text, (path, who)
    assert LOG in cup.get(f"/team/submissions/{number}", "ann").text
    assert cup.get(f"/team/submissions/{number}/file", "ann").text == "the files of ann"
    season = current(cup.database)
    assert [path for path, of_path in answers.items() if any(season.seed in one.text for one in of_path)] == []
    assert season.seed_hash in answers["/"][0].text
    text = answers["/season-1/games/1.json"][0].text
    line = json.loads(text)
    assert "seed" not in line["settings"]
    assert (line["pair_seed"], line["red"]["seed"], line["blue"]["seed"]) == (None, None, None)
    with pytest.raises(SeatViewError, match="expected a whole game, got a view of one for 'page'"):
        decode_line(text.encode().removesuffix(b"\n"))


def test_changes_need_a_session_and_its_word(make: MakeCup) -> None:
    cup = make()
    number = cup.bots["ann"]
    changes: dict[str, dict[str, Any]] = {
        f"/team/submissions/{number}": {"do": "withdraw"},
        "/team/challenges": {"submission": number, "against": "bob", "games": 1},
        "/team": {"do": "invite"},
        "/account": {"do": "token", "name": "further"},
        "/host": {"do": "announce", "text": "no"},
        "/host/links": {"do": "invite"},
        "/host/season": {"do": "freeze"},
        f"/host/accounts/{cup.accounts['ann'].id}": {"do": "disable", "reason": "none"},
    }
    tables = ("submission", "challenge", "invitation", "token", "announcement", "season", "account", "audit")

    def all_rows() -> list[list[object]]:
        return [list(map(tuple, cup.database._connection.execute(f"select * from {name}"))) for name in tables]

    before = all_rows()
    for path, fields in changes.items():
        assert cup.post(path, **fields).status == 401
        assert cup.post(path, "host" if path.startswith("/host") else "ann", "0" * 64, **fields).status == 403
        if path.startswith("/host"):
            assert cup.post(path, "ann", **fields).status == 403
    assert cup.post(f"/team/submissions/{number}", "bob", do="withdraw").status == 404
    assert cup.post(f"/team/submissions/{number}", "ann", do="disqualify", reason="me").status == 409
    assert all_rows() == before
    assert cup.post("/team/challenges", "ann", **changes["/team/challenges"]).status == 303
    assert 'of">/1<' in cup.get("/team/challenges", "ann").text
    assert cup.post(f"/team/submissions/{number}", "ann", do="withdraw").status == 303
    assert "withdrawn" in cup.get("/bots").text


@pytest.mark.parametrize("shows", ["after-season", "never"])
def test_hidden_ranks_and_logs_are_in_no_byte_before_their_time(
    make: MakeCup, shows: Literal["after-season", "never"]
) -> None:
    cup = make(shows, plies=20)
    paths = [f"/season-1/games/{number}.{kind}" for number in (1, 2, 3) for kind in ("html", "js", "json")]
    paths += ["/season-1/index.html", "/season-1/games.js", "/season-1/bots/1.html", "/", "/api/games", "/api/ladder"]
    seed = str(current(cup.database).seed)

    def texts(who: str) -> str:
        return "\n".join(cup.get(path, who).text for path in paths)

    for who in ("nobody", "eve", "host"):
        public = texts(who)
        for record in cup.records[:3]:
            assert not any(setup.replace("/", "") in public.replace("/", "") for setup in record.setups if setup)
        assert "stderr of" not in public
        assert seed not in public
        assert list(read_game_script(cup.get("/season-1/games/1.js", who).text).views) == ["public"]
    own = cup.get("/own/season-1/games/1.json", "ann").text
    line, record = json.loads(own), cup.records[0]
    color = "red" if record.players[0].name == "ann" else "blue"
    other = "blue" if color == "red" else "red"
    assert (line["view"], line[other]["setup"], line[other]["stderr"]) == (color, None, None)
    assert line[color]["stderr"] == "stderr of ann"
    json_before = cup.get("/season-1/games/1.json").text
    with cup.database.change():
        cup.database.run("update season set state = 'finished', finished = 1")
    if shows == "never":
        assert cup.get("/season-1/games/1.json").text == json_before
        return
    cup.served.until(lambda: bool((one := cup.host.contents("season-1")) and one.game_pages.reader.text == "all"))
    whole = json.loads(cup.get("/season-1/games/1.json").text)
    assert whole["red"]["setup"] == record.setups[0]
    assert "stderr of" not in texts("nobody")
    assert "a note" not in texts("nobody")
    assert seed in cup.get("/seasons").text


def test_names_and_texts_are_escaped(make: MakeCup) -> None:
    cup = make()
    number = note_log(cup, "ann", NASTY)
    with cup.database.change():
        cup.database.run("update account set name = ? where id = ?", NASTY, cup.accounts["ann"].id)
        cup.database.run("update team set name = ? where id = ?", f"{NASTY}2", cup.teams["ann"].id)
    assert cup.post("/host", "host", do="announce", text=NASTY).status == 303
    assert cup.post("/account", "ann", do="token", name="further").status == 200
    pages = ["/", "/bots", "/team", "/account", f"/team/submissions/{number}", "/team/games", "/team/challenges"]
    pages += [
        "/host",
        "/host/accounts",
        f"/host/accounts/{cup.accounts['ann'].id}",
        "/host/links",
        "/host/bots",
        "/host/audit",
        "/host/pairs",
        f"/join/{quote(NASTY)}",
    ]
    for path in pages:
        text = cup.get(path, "host" if path.startswith("/host") else "ann").text
        assert "<script>document" not in text
        assert "<img" not in text
        assert not re.search(r"(src|href)=\"(https?:)?//", text), path
    entries = ElementTree.fromstring(cup.get("/feed.atom").text).findall("{*}entry/{*}content")
    assert NASTY in [entry.text for entry in entries]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_commands_on_the_page_work_as_they_stand(make: MakeCup) -> None:
    cup = make()
    page = html.unescape(cup.get("/submit").text).replace(cup.cup.address, f"http://{cup.served.host}")
    (cup.folder / "mybot").mkdir()
    (cup.folder / "mybot" / "mybot.py").write_text("print()")
    commands = re.findall(r"<pre[^>]*>(tar .*?)</pre>", page, re.DOTALL)
    assert len(commands) == 1
    account = cup.accounts["ann"].id
    token = make_token(cup.database, Actor(account), account, "curl")
    told = subprocess.run(
        ["bash", "-ec", commands[0]],
        cwd=cup.folder,
        env={**os.environ, "ARENA_TOKEN": token},
        capture_output=True,
        check=True,
        timeout=60,
    )
    sent = json.loads(told.stdout)
    assert (sent["bot"], sent["state"]) == ("mybot", "received")
    page = cup.get(f"/team/submissions/{sent['id']}", "ann").text
    assert ("Stage 1 of 4" in page, page.count("Look again")) == (True, 1)
    assert "Look again" not in cup.get(f"/team/submissions/{cup.bots['ann']}", "ann").text


def test_a_refused_form_is_not_in_the_way_of_the_next_request(make: MakeCup) -> None:
    cup = make()
    client = HTTPConnection("127.0.0.1", cup.served.port, timeout=60)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for origin, status in (("null", 403), (f"http://{cup.served.host}", 409), ("null", 403)):
        client.request("POST", "/sign-in", b"token=x", {**headers, "Origin": origin})
        answer = client.getresponse()
        assert (answer.status, bool(answer.read())) == (status, True)
        client.request("GET", "/static/arena.css")
        assert client.getresponse().read()
    client.close()


def test_a_season_goes_from_state_to_state_with_a_final(make: MakeCup) -> None:
    cup = make()
    assert cup.post("/host/season", "host", do="final", format="swiss").status == 409  # it is open
    assert cup.post("/host/season", "host", do="freeze").status == 303
    assert cup.post("/host/season", "host", do="final", format="round-robin").status == 303
    assert current(cup.database).state.value == "final"
    assert cup.post("/host/season", "host", do="open").status == 409
    assert "Winner of the final" not in cup.get("/").text
    make_store(store_file(SeasonLeague.FINAL, cup.folder, 1), games=6)
    finish(cup.database, cup.cup)
    cup.served.until(lambda: cup.host.contents("final-1") is not None)
    final = cup.host.contents("final-1")
    assert final is not None
    first = {line.name for line in final.table.lines if line.place == 1}
    page = cup.get("/").text.partition("Winner of the final")[2].partition("</p>")[0]
    assert {name for name in ("ann", "bob", "eve") if f"<bdi>{name}</bdi></b> of <bdi>Team of {name}" in page} == first
    assert cup.post("/host/season", "host", do="open").status == 303
    assert "final of season 1" in cup.get("/").text
    titles = [entry.text for entry in ElementTree.fromstring(cup.get("/feed.atom").text).findall("{*}entry/{*}title")]
    assert {"season opened (season 1)", "season frozen (season 1)", "season final (season 1)"} <= set(titles)


def test_games_are_filtered_and_versions_are_compared(make: MakeCup) -> None:
    cup = make(games=9)

    def rows_of(query: str) -> int:
        return cup.get(f"/team/games?{query}", "ann").text.count("record<")

    rows, parts = rows_of(""), [rows_of(f"only={word}") for word in ("won", "lost", "drawn")]
    assert rows == sum(parts) == sum("ann" in [player.name for player in record.players] for record in cup.records)
    assert 0 < rows_of("against=bob") < rows
    assert rows_of("before=4") < rows
    with cup.database.change():
        older = cup.database.insert(
            "submission", team=cup.teams["ann"].id, account=1, bot="bob", player=f"{2:064x}", state="replaced", bytes=1,
            sent_as="", received=1.0, changed=1.0,
        )  # fmt: skip
    page = cup.get(f"/team/compare?new={cup.bots['ann']}&old={older}", "ann").text
    games = [record for record in cup.records if "eve" in [player.name for player in record.players]]
    both = [sum(name in [player.name for player in record.players] for record in games) for name in ("ann", "bob")]
    assert [int(number) for number in re.findall(r"of\">/(\d+)<", page)] == 2 * both


def test_json_has_etags_and_metrics_count(make: MakeCup) -> None:
    cup = make()
    first = cup.get("/api/ladder")
    assert [line["team"] for line in json.loads(first.text)["lines"]].count("Team of ann") == 1
    again = cup.get("/api/ladder", If_None_Match=first.headers["ETag"])
    assert (again.status, again.text) == (304, "")
    met = json.loads(cup.get("/api/matchups").text)["bots"]
    assert met["ann"]["bob"][1] == met["bob"]["ann"][1] == 2
    assert 'arena_submissions{state="probation"} 3' in cup.get("/metrics").text


def test_pages_are_kept_for_visitors_without_an_account_until_what_they_show_changes(make: MakeCup) -> None:
    cup = make()

    def forfeit() -> None:
        with cup.database.change(waits=False):
            for number in range(cup.cup.play.park_after):
                record_game(cup.database, cup.cup, cup.bots["ann"], f"game {number} of season 1")

    queries: list[str] = []
    cup.database._connection.set_trace_callback(queries.append)
    before, count = cup.get("/bots"), len(queries)
    assert cup.get("/bots", If_None_Match=before.headers["ETag"]).status == 304
    assert len(queries) - count < count
    assert "Team" in cup.get("/bots", "ann").text.partition("</nav>")[0]
    for change, word in (
        (lambda: cup.post(f"/team/submissions/{cup.bots['bob']}", "bob", do="withdraw"), "withdrawn"),
        (forfeit, "parked"),
    ):
        assert word not in cup.get("/bots").text
        change()
        assert word in cup.get("/bots").text
    assert cup.post("/host", "host", do="announce", text="It rains").status == 303
    assert "It rains" in cup.get("/").text


def in_a_circle(record: GameRecord) -> GameRecord:
    """Have each bot beat the next one, with either colour."""
    if int(record.id, 16) // 3 % 2:
        result, players = GameResult.BLUE, record.players[::-1]
    else:
        result, players = GameResult.RED, record.players
    verdict = msgspec.structs.replace(record.verdict, result=result)
    return msgspec.structs.replace(record, players=players, verdict=verdict)


@pytest.mark.parametrize(("change", "is_unlikely"), [(lambda record: record, False), (in_a_circle, True)])
def test_results_that_the_ratings_do_not_predict_are_unlikely(
    make: MakeCup, change: Callable[[GameRecord], GameRecord], is_unlikely: bool
) -> None:
    cup = make(games=60, plies=2, change=change)
    contents = cup.host.contents("season-1")
    assert contents is not None
    pairs = unlikely_pairs(contents, {f"{1:064x}": "Team of ann"})
    assert len(pairs) == 3
    for pair in pairs:
        assert pair.games == 20
        assert (pair.by_chance < 0.001) == is_unlikely
        assert ("Team of ann" in pair.teams) == ("ann" in pair.bots)
    assert "Team of ann" in cup.get("/host/pairs", "host").text


def test_a_refused_form_is_shown_again_with_the_reason_at_its_field(make: MakeCup) -> None:
    cup = make()
    answer = cup.post("/account", "ann", do="token", name="a\tb")
    assert answer.status == 409
    (told,) = re.findall(r'<label>Name of the token.*?</label>\s*<p class="alert"[^>]*>(.*?)</p>', answer.text)
    assert told.startswith("name: expected")
    answer = cup.post(f"/join/{invite(cup.database, MACHINE)}", csrf="", do="join", name="dan", team="Team of ann")
    (told,) = re.findall(r'<label>Name of your team.*?</label>\s*<p class="alert"[^>]*>(.*?)</p>', answer.text)
    assert told.startswith("team: expected one that is free")
    assert 'aria-invalid="true"' in answer.text
    answer = cup.post("/team/challenges", "ann", submission=cup.bots["ann"], against="nobody", games=1, do="challenge")
    assert (answer.status, "against: expected the name of a bot" in answer.text) == (409, True)
    assert 'value="nobody"' in answer.text


def test_links_are_listed_and_revoked(make: MakeCup) -> None:
    cup = make()
    word = invite(cup.database, MACHINE)
    assert cup.get(f"/join/{word}").status == 200
    number = cup.database.value("select max(id) from invitation")
    assert f'value="{number}"' in cup.get("/host/links", "host").text
    assert cup.post("/team", "ann", do="revoke", id=number).status == 409
    assert cup.post("/host/links", "host", do="revoke", id=number).status == 303
    assert cup.get(f"/join/{word}").status == 409
    assert cup.post("/team", "ann", do="invite").status == 200
    assert ["invitation" in cup.get("/team", name).text.split("Members")[1] for name in ("ann", "bob")] == [True, False]


def test_lists_have_pages_of_a_hundred_rows_and_few_queries(make: MakeCup) -> None:
    cup = make()
    many, ann, now = range(1000, 1250), cup.teams["ann"].id, time.time()
    with cup.database.change():
        for n in many:
            cup.database.insert("team", id=n, name=f"Team {n}", created=now)
            cup.database.insert("account", id=n, name=f"account {n}", created=now)
            cup.database.insert("member", account=n, team=n)
            sent = {"account": n, "bytes": 1, "sent_as": "x", "received": now, "changed": now, "reason": "because"}
            for team, state in ((n, "received"), (n, "parked"), (ann, "failed")):
                cup.database.insert("submission", team=team, bot=f"bot-{n}", state=state, player=f"{n:x}", **sent)
            cup.database.note("counted", {}, n)
    queries: list[str] = []
    cup.database._connection.set_trace_callback(queries.append)
    for path, who in (
        ("/bots", "ann"),
        ("/team", "ann"),
        *((f"/host{one}", "host") for one in ("", "/accounts", "/bots", "/audit")),
    ):
        queries.clear()
        answer = cup.get(path, who)
        rows = max(
            answer.text.count('<tr><th scope="row"'), answer.text.count("<li><span>") // (2 if path == "/host" else 1)
        )
        assert (path, answer.status, rows) == (path, 200, 100)
        assert len(queries) < 20, path
    before = re.findall(r'find=&amp;before=(\d+)"', cup.get("/host/accounts", "host").text)[0]
    older = cup.get(f"/host/accounts?before={before}", "host").text
    assert "account 1149" in older
    assert "account 1150<" not in older
    assert cup.get("/host/accounts?find=team+1007", "host").text.count('<tr><th scope="row"') == 1
