"""Stores that somebody has forged as a whole, checksums included: every page is there, or says that it is not, and
shows nobody more than he may know."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urljoin

import msgspec
import pytest
from forged_games import forge_game
from made_stores import read_game_script
from served import Serve

from arena.game.record import GameRecord
from arena.league.readers import reader_named
from arena.league.store import Store
from arena.report.site.site_contents import SitePlan
from arena.web.address import Address, hosts_of
from arena.web.store_server import StoreServer

STORES = Path(__file__).parent.parent.parent / "golden" / "stores"
NUMBER = 12
ODD: dict[type, list[Any]] = {
    int: [-1, 0, 2**31, 2**53, 2**63 - 1, -(2**63)],
    float: [-1.0, 1e300, 1e15, 5e-324],
    str: [
        "",
        "x" * 3000,
        "<script>alert(1)</script>",
        "\x1b[31m",
        "\u202eabc",
        "../../etc/passwd",
        "red",
        "\u0663",
        "{}%s",
    ],
}
TRIES = 4


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part of a value of JSON; of a list to its first ones."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else list(enumerate(value))[:6] if isinstance(value, list) else ()
    for key, part in items:
        yield from places_in(part, (*path, key))


def forged(record: GameRecord, rng: Random) -> GameRecord:
    """The record with something else in one place, which may be no game at all."""
    while True:
        value = json.loads(msgspec.json.encode(record))
        *way, key = rng.choice(list(places_in(value)))
        place = value
        for step in way:
            place = place[step]
        old = place[key]
        choices = [[], old[:-1], old * 2, old[::-1]] if isinstance(old, list) else ODD.get(type(old), [])
        if choices:
            place[key] = rng.choice(choices)
            try:
                found = msgspec.convert(value, GameRecord)
            except msgspec.ValidationError:
                continue
            if found != record:
                return found


def crawl(serving: Serve, path: Path, audience: str) -> tuple[dict[str, tuple[int, str]], list[str]]:
    """Every page and script that can be reached by links, and what the host was told."""
    complaints: list[str] = []
    hosts = hosts_of([Address("127.0.0.1", 0)])
    server = StoreServer([path], SitePlan(reader_named(audience)), hosts, complain=complaints.append)
    served, found = serving(server.application(), beside=server.run), dict[str, tuple[int, str]]()
    waiting = ["/", f"/games/{NUMBER}.html", f"/games/{NUMBER}.js"]
    while waiting:
        at = waiting.pop()
        if at not in found and not at.endswith("/events"):
            answer = served.get(at)
            found[at] = answer.status, answer.text
            links = re.findall(r'(?:href|src)="([^"#?:]+)', answer.text) if not at.endswith(".js") else []
            waiting += (urljoin(at, link) for link in links)
    served.stop()
    return found, complaints


def text_of(path: str, body: str) -> str:
    """A page as it is; of the script of a game what is packed in it."""
    if re.fullmatch(r"/games/\d+\.js", path) and body.startswith("arenaGame"):
        return msgspec.json.encode(read_game_script(body)).decode()
    return body


@pytest.mark.parametrize("name", ["duel", "own"])
def test_every_page_of_a_forged_store_is_there_or_says_that_it_is_not(
    serving: Serve, tmp_path: Path, name: str
) -> None:
    rng = Random(name)
    path = tmp_path / "l.sqlite"
    for _ in range(TRIES):
        shutil.copy(STORES / f"{name}.sqlite", path)
        with Store(path, create=False) as store:
            record = store.record(str(NUMBER))[1]
        odd = forged(record, rng)
        try:
            forge_game(path, NUMBER, odd)
        except (OverflowError, TypeError):  # no row can hold it
            continue
        for audience in ("all", "public"):
            pages, complaints = crawl(serving, path, audience)
            assert {status for status, _ in pages.values()} <= {200, 404, 503}
            assert not [said for said in complaints if re.search(r"\b(?!RecordError)[A-Z]\w+(Error|Exception): ", said)]
            assert not [at for at, (_, body) in pages.items() if "Traceback" in body or str(tmp_path) in body]
            assert not [at for at, (_, body) in pages.items() if "<script>alert" in body or "\x1b" in body]
            if audience == "public":
                secret = [str(seed) for seed in (*record.seeds, record.pair_seed)]
                secret += [line for text in record.stderr for line in text.splitlines() if len(line) > 5]
                told = [text_of(at, body) for at, (_, body) in pages.items()]
                assert not [word for word in secret if any(word in text for text in told)]
