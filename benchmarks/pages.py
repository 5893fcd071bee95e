"""What a server of pages holds on to: descriptors, memory, and connections past its limit.

    python benchmarks/pages.py [--loads 10000] [--viewers 500] [--refused 1000]

Serves a store of two games by `arena serve`. Pages are loaded so many times, each on a connection of its own and every
tenth left before its answer has come; then so many viewers wait for events; then connections are opened past the limit.
Descriptors and memory are those of the server process, before and after. The aims: no descriptor more after 10,000
loads; some kilobytes a viewer; each connection past the limit closed, and pages there again when they have gone.

    python benchmarks/pages.py --watch URL --viewers 200

is so many viewers of a league that is played (`arena league --serve`): half of them follow its standings, the others
games under way. It says `ready` when all are there, and goes on until its standard input ends.
"""

import argparse
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

import arena

PAGES = ("/", "/crosstable.html", "/games.html", "/games.js", "/games/1.html", "/games/1.js", "/static/arena.css", "/x")
PATIENCE = 60.0
GAME = re.compile(rb"now/([0-9a-f]+)\.html|\[\\?\"([0-9a-f]{16})\\?\"")


def ask(where: tuple[str, int], path: str, keep: str = "close") -> socket.socket:
    """A connection on which a page has been asked for."""
    client = socket.create_connection(where, timeout=PATIENCE)
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: {where[0]}\r\nConnection: {keep}\r\n\r\n".encode())
    return client


def read(client: socket.socket) -> bytes:
    """All that comes on it."""
    found = b""
    while data := client.recv(65536):
        found += data
    return found


def rss(server: psutil.Process) -> int:
    return int(server.memory_info().rss)


def settled(server: psutil.Process, most: int) -> int:
    """The descriptors of the server, when they are no more than so many or do not get fewer any more."""
    for _ in range(100):
        count = server.num_fds()
        if count <= most:
            break
        select.select([], [], [], 0.1)
    return count


def fill(where: tuple[str, int]) -> list[socket.socket]:
    """Connections on which nothing is asked, opened until one of them is told that there are too many. Quickly: the
    server closes who has asked for nothing for some seconds. (`select` knows no descriptor above 1023.)"""
    held = []
    poll = select.poll()
    while not poll.poll(1):
        held.append(socket.create_connection(where, timeout=PATIENCE))
        poll.register(held[-1], select.POLLIN)
    return held


def measure(options: argparse.Namespace, where: tuple[str, int], server: psutil.Process) -> None:
    for page in PAGES:
        with ask(where, page) as client:
            read(client)
    descriptors, memory = settled(server, 0), rss(server)
    for number in range(options.loads):
        with ask(where, PAGES[number % len(PAGES)]) as client:
            if number % 10:
                read(client)
    left = settled(server, descriptors)
    print(f"{options.loads} page loads: {descriptors} descriptors before, {left} after;", end=" ")
    print(f"{memory / 1e6:.1f} MB before, {rss(server) / 1e6:.1f} MB after")

    memory = rss(server)
    viewers = [ask(where, "/events", "keep-alive") for _ in range(options.viewers)]
    there = sum(client.recv(65536).startswith(b"HTTP/1.1 200") for client in viewers)
    print(f"{there} viewers: {(rss(server) - memory) / 1024 / max(1, there):.1f} KB each")

    others = fill(where)
    refused = 0
    for _ in range(options.refused):
        try:
            with ask(where, "/") as client:
                refused += not read(client)
        except ConnectionError:
            refused += 1
    print(f"{len(viewers) + len(others)} connections held, {options.refused} more: {refused} closed at once")
    for client in [*viewers, *others]:
        client.close()
    left = settled(server, descriptors)
    with ask(where, "/") as client:
        answer = read(client).split(b"\r\n")[0].decode()
    print(f"when they have gone: {left} descriptors, {answer}")


def serve(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "league.sqlite"
        arena.match("drifter", "raider", games=2, rules="duel", time="2s", store=store)
        program = "import sys; sys.path[:] = sys.argv.pop(1).split(':'); from arena.cli.main import main; main()"
        line = [sys.executable, "-c", program, ":".join(sys.path), "serve", str(store), "--listen", "127.0.0.1:0"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stdout is not None
                match = re.match(r"http://(.*):(\d+)/", process.stdout.readline())
                assert match is not None
                measure(options, (match[1], int(match[2])), psutil.Process(process.pid))
            finally:
                process.terminate()


def watch(url: str, viewers: int) -> None:
    """Be so many viewers until the standard input ends."""
    match = re.match(r"http://(.*):(\d+)/", url)
    assert match is not None
    where = (match[1], int(match[2]))
    games: list[bytes] = []
    followed: dict[socket.socket, bool] = {}

    def follow(is_game: bool) -> None:
        path = f"/now/{games[len(followed) % len(games)].decode()}/events" if is_game and games else "/events"
        followed[ask(where, path, "keep-alive")] = is_game

    listed = ask(where, "/now/events", "keep-alive")
    for number in range(viewers):
        follow(is_game=bool(number % 2))
    for client in followed:
        client.recv(65536)
    print("ready", flush=True)
    while True:
        is_over, *_ = select.select([sys.stdin], [], [], 0)
        if is_over:
            return
        for client in select.select([listed, *followed], [], [], 1.0)[0]:
            try:
                data = client.recv(65536)
            except OSError:
                data = b""
            if client is listed:
                games[:] = [one or other for one, other in GAME.findall(data)] or games
            elif not data or (followed[client] and b'"href": "../' in data):
                is_game = followed.pop(client)
                client.close()
                follow(is_game)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--loads", type=int, default=10_000, help="pages that are loaded (default: 10000)")
    parser.add_argument("--viewers", type=int, default=500, help="who wait for events (default: 500)")
    parser.add_argument("--refused", type=int, default=1000, help="connections past the limit (default: 1000)")
    parser.add_argument("--watch", metavar="URL", help="be viewers of what is served there")
    options = parser.parse_args()
    if options.watch:
        os.nice(19)
        watch(options.watch, options.viewers)
    else:
        serve(options)


if __name__ == "__main__":
    main()
