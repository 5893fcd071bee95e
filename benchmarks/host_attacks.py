"""A competition under attack: hostile submissions of every kind while its server is killed again and again.

    python benchmarks/host_attacks.py [--kills 50] [--programs 24] [--seed 1] [--sandbox auto]

Runs `arena host run` in a new folder. Two teams submit a good bot each. A third team sends archives that are to do harm
when they are unpacked, builds that attack the machine, the programs of `tests/hostile` as bots, names and tokens that
are none, and many at once. All the while the server is killed with SIGKILL at random moments and started again. In the
end each promise stands with whether it was kept: every submission came to an end, once; the good bots play; no game
that a page has reported is lost; `arena verify` finds every game sound; files beside the competition are as before; no
secret of it is in what a page or a log says; and no process is left. Exits with 1 if one was not kept.
"""

import argparse
import gzip
import http.client
import io
import json
import random
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from host import ARENA

from arena.host.accounts import MACHINE, Actor, invite, join, make_token
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import KEY, SETTINGS, load_cup, write_cup
from arena.host.seasons import SeasonLeague, open_season, store_file
from arena.host.submissions import IS_PLAYING

TOP = Path(__file__).parent.parent
PIPELINE = ("received", "unpacked", "built", "checked")
ENDS = 1800.0
"""Seconds after which a submission that is still on its way counts as stuck."""
Payload = tuple[str, str, bytes]
"""Name of the bot, name of the file, contents."""


# --- what is sent -----------------------------------------------------------------------------------------------------


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def member(name: str, content: bytes = b"#!/bin/sh\n", kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o6777
    return packed((info, content))


def zipped(*names: str, content: bytes = b"x") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return out.getvalue()


def archives(canary: Path) -> dict[str, bytes]:
    """Return archives that do harm to whoever unpacks them carelessly."""
    link = tarfile.TarInfo("out")
    link.type, link.linkname = tarfile.SYMTYPE, str(canary.parent)
    through = tarfile.TarInfo(f"out/{canary.name}")
    huge = tarfile.TarInfo("huge")
    huge.size = 1 << 40
    good = member("run")
    return {
        "up.tar": member(f"../../{canary.name}"),
        "root.tar": member(str(canary)),
        "link.tar": packed((link, b""), (through, b"changed")),
        "hard.tar": member("hard", b"", tarfile.LNKTYPE, str(canary)),
        "device.tar": member("null", b"", tarfile.CHRTYPE),
        "fifo.tar": member("fifo", b"", tarfile.FIFOTYPE),
        "bytes.tar": member("\udcff\udcfe\n\x1b[2J"),
        "long.tar": member("d/" * 3000 + "x"),
        "many.tar": packed(*((tarfile.TarInfo(f"f{n}"), b"") for n in range(20_000))),
        "bomb.tar.gz": gzip.compress(tarfile.TarInfo("zeros").tobuf() + huge.tobuf() + bytes(1 << 28)),
        "bomb.zip": zipped("zeros", content=bytes(1 << 28)),
        "up.zip": zipped(f"../../{canary.name}"),
        "many.zip": zipped(*(f"f{n}" for n in range(20_000))),
        "cut.tar.gz": good[: len(good) // 2],
        "cut.zip": zipped("run")[:-30],
        "empty.tar.gz": packed(),
        "noise.tar.gz": secrets.token_bytes(4096),
        "nothing": b"",
    }


def builds(canary: Path, cup: Path) -> dict[str, str]:
    """Return commands that attack the machine that builds them."""
    return {
        "forks": "sh -c ':(){ :|:& };:'",
        "fills": "dd if=/dev/zero of=big bs=1M count=100000",
        "fills-tmp": "dd if=/dev/zero of=/tmp/big bs=1M count=100000",
        "sleeps": "sleep 100000",
        "leaves": "sh -c 'setsid sleep 100000 & exit 0'",
        "writes": f"sh -c 'echo changed > {canary}'",
        "reads": f"sh -c 'cat {cup / KEY} | od -An -tx1 ; cat {cup}/*.sqlite {canary}'",
        "kills": "sh -c 'kill -9 -1'",
        "floods": "sh -c 'yes $(printf \"\\\\033[2J\") | head -c 2000000000'",
        "locks-out": "chmod -R 000 .",
        "grows": "python3 -c 'x = [bytes(1 << 20) for _ in range(1 << 20)]; len(x)'",
        "links-out": f"ln -s {canary.parent} out",
    }


def programs(count: int, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield some of the programs that the tests play at each level of the sandbox."""
    hostile = TOP / "tests" / "hostile"
    preamble = (hostile / "preamble.py").read_text()
    rows = [
        row
        for table in ("bots", "use", "attacks")
        for row in tomllib.loads((hostile / f"{table}.toml").read_text())["bot"]
    ]
    rows = [row for row in rows if row.get("language", "python") == "python"]
    for number, row in enumerate(chance.sample(rows, min(count, len(rows)))):
        yield f"program-{number}", f"#!/usr/bin/env python3\n{preamble}\n{row['program']}".encode()


def payloads(canary: Path, cup: Path, count: int, chance: random.Random) -> list[Payload]:
    sent: list[Payload] = [(f"archive-{n}", name, data) for n, (name, data) in enumerate(archives(canary).items())]
    for name, line in builds(canary, cup).items():
        manifest = f"command = ['./run']\nbuild = {json.dumps(line)}\n".encode()
        files = ((tarfile.TarInfo("bot.toml"), manifest), (tarfile.TarInfo("run"), b"#!/bin/sh\nexec cat\n"))
        sent.append((f"build-{name}", "bot.tar.gz", packed(*files)))
    sent += [(name, f"{name}.py", data) for name, data in programs(count, chance)]
    chance.shuffle(sent)
    return sent


BAD_NAMES = (
    "../x",
    "a/b",
    "<script>alert(1)</script>",
    "x" * 5000,
    "\0",
    "a\r\nX: y",
    "--help",
    "\u202eevil",
    "r\u0430ider",
    ".",
    "con\x1b[2J",
)


# --- the server and those who ask it ----------------------------------------------------------------------------------


class Server:
    """`arena host run`, which is killed and started again."""

    def __init__(self, cup: Path) -> None:
        self.cup, self.port, self.starts = cup, 0, 0
        self.errors = (cup.parent / "stderr").open("wb")
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        line = [*ARENA, "host", "run", str(self.cup), "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        assert self.process.stdout is not None
        found = re.match(r"http://.*:(\d+)", self.process.stdout.readline())
        if found is None:
            sys.exit(f"the server did not start:\n{(self.cup.parent / 'stderr').read_text()}")
        self.port, self.starts = int(found[1]), self.starts + 1

    def stop(self, number: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait()

    def ask(self, method: str, path: str, token: str = "", body: bytes = b"") -> tuple[int, bytes]:
        """Return the status and the answer; 0 if the server was killed meanwhile."""
        headers = {"Host": f"127.0.0.1:{self.port}"} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
                connection.request(method, path, body or None, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""

    def submit(self, token: str, payload: Payload) -> tuple[int, bytes]:
        """Send a submission until the server is up to answer, and not too busy."""
        bot, name, data = payload
        while True:
            status, answer = self.ask("POST", f"/api/submissions?bot={quote(bot)}&name={quote(name)}", token, data)
            if status not in (0, 429, 503):
                return status, answer
            time.sleep(0.2)


def make_cup(at: Path, sandbox: str) -> tuple[Path, dict[str, str]]:
    """Make a competition with three teams; return its folder and a token of each."""
    cup = at / "cup"
    write_cup(cup, title="Cup", address="http://127.0.0.1:8000", rules="duel", time="100ms", sandbox=sandbox, jobs=1)
    settings = cup / SETTINGS
    text = settings.read_text().replace("a_day = 10", "a_day = 1000").replace("active = 2 ", "active = 500 ")
    settings.write_text(text.replace("games_at_once", 'start_time = "5s"\nstint = "5s"\ngames_at_once'))
    read = load_cup(cup)
    with closing(CupDatabase(cup / FILE, create=True)) as database:
        open_season(database, read)
        tokens = {}
        for name in ("ann", "ben", "mallory"):
            account = join(database, read, invite(database, MACHINE), name, f"Team {name}")
            tokens[name] = make_token(database, Actor(account.id), account.id, "attack")
    return cup, tokens


def rows(cup: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{cup / FILE}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def on_their_way(cup: Path) -> int:
    return len(rows(cup, f"select id from submission where state in {PIPELINE}"))


def arena(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ARENA, *words], check=False, capture_output=True, text=True)


# --- the attack -------------------------------------------------------------------------------------------------------


def kill_again_and_again(
    server: Server, kills: int, chance: random.Random, is_over: threading.Event, reported: list[int]
) -> None:
    """Kill the server at random moments; keep the largest number of games that it has reported before."""
    while server.starts <= kills and not is_over.wait(chance.uniform(0.3, 15)):
        status, answer = server.ask("GET", "/api/games")
        if status == 200:
            reported.append(max((game[0] for game in json.loads(answer).get("games", ())), default=0))
        server.stop(signal.SIGKILL)
        server.start()


def attack(at: Path, options: argparse.Namespace) -> list[tuple[str, bool]]:
    chance = random.Random(options.seed)
    canary = at / "canary"
    canary.write_text(secret := secrets.token_hex(16))
    cup, tokens = make_cup(at, options.sandbox)
    key = (cup / KEY).read_bytes()
    server = Server(cup)
    server.start()
    answers: list[tuple[int, bytes]] = []
    for name in ("ann", "ben"):
        data = (TOP / "bots" / {"ann": "drifter.py", "ben": "forager.py"}[name]).read_bytes()
        answers.append(server.submit(tokens[name], (f"good-{name}", "bot.py", data)))
    is_over, reported = threading.Event(), [0]
    killer = threading.Thread(target=kill_again_and_again, args=(server, options.kills, chance, is_over, reported))
    killer.start()
    hostile = payloads(canary, cup, options.programs, chance)
    answers += [server.submit(tokens["mallory"], payload) for payload in hostile]
    named = [server.submit(tokens["mallory"], (name, "bot.py", b"#!/bin/sh\n"))[0] for name in BAD_NAMES]
    strangers = [server.submit(word, ("mine", "bot.py", b"x"))[0] for word in ("x", "arena_" + "0" * 40, "a" * 9000)]
    looks = [server.ask("GET", f"/api/submissions/{number}", tokens["mallory"])[0] for number in (1, 2)]
    crowd = [
        threading.Thread(target=server.submit, args=(tokens["mallory"], ("crowd", "bot.py", b"#!/bin/sh\n")))
        for _ in range(20)
    ]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    until(lambda: not on_their_way(cup) and not killer.is_alive(), ENDS)
    is_over.set()
    killer.join()
    said = b"".join(answer for _, answer in answers)
    for path in ("/", "/bots", "/api/games", "/api/news", "/feed.atom", "/season-1/index.html"):
        said += server.ask("GET", path)[1]
    is_healthy = server.ask("GET", "/health")[0] == 200
    server.stop()
    states = dict(rows(cup, "select state, count(*) from submission group by state"))
    good = rows(cup, f"select games from submission where bot like 'good-%' and {IS_PLAYING}")
    twice = rows(cup, "select submission, name, count(*) from stage group by 1, 2 having count(*) > 1")
    logs = "".join(f"{text}{log}" for text, log in rows(cup, "select text, log from stage"))
    print(f"{sum(states.values())} submissions, {server.starts - 1} kills; ended as {states}")
    print(f"games reported before a kill: up to {max(reported)}; good bots played {[games for (games,) in good]}")
    store = str(store_file(SeasonLeague.LADDER, cup, 1))
    verify = arena("verify", store)
    print((verify.stdout or verify.stderr).strip().splitlines()[-1])
    found = [json.loads(line)["number"] for line in arena("games", store, "--last", "1", "--jsonl").stdout.splitlines()]
    left = [process for process in psutil.process_iter(["environ"]) if str(cup) in str(process.info["environ"])]
    secrets_told = [
        word
        for word in (secret, key.hex(), *tokens.values())
        if word.encode() in said or word in logs.replace(" ", "").replace("\n", "")
    ]
    return [
        ("every submission came to an end", not set(states) & {"received", "unpacked", "built", "checked"}),
        ("no stage of a submission was kept twice", not twice),
        ("both good bots play", len(good) == 2 and all(games for (games,) in good)),
        ("names that are none were refused", all(400 <= status < 500 for status in named)),
        ("strangers got nothing", all(status in (400, 401, 403, 431) for status in strangers)),
        ("submissions of other teams cannot be seen", all(status == 404 for status in looks)),
        ("no reported game is lost", max(found, default=0) >= max(reported)),
        ("arena verify finds every game sound", verify.returncode == 0),
        ("files beside the competition are as before", canary.read_text() == secret),
        ("no secret is in a page, an answer or a log", not secrets_told),
        ("the server is healthy to the end", is_healthy),
        ("no process is left", not left),
    ]


def until(is_so: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=50, help="times that the server is killed (default: 50)")
    parser.add_argument("--programs", type=int, default=24, help="programs of tests/hostile (default: 24)")
    parser.add_argument("--seed", type=int, default=1, help="of what is sent and when it is killed (default: 1)")
    parser.add_argument("--sandbox", default="auto", choices=("auto", "bwrap", "cgroup"), help="of all bots")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        promises = attack(Path(folder), options)
    for promise, is_kept in promises:
        print(f"{promise}: {'kept' if is_kept else 'NOT kept'}")
    sys.exit(not all(is_kept for _, is_kept in promises))


if __name__ == "__main__":
    main()
