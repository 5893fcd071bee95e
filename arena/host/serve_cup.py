"""`arena host run`: one process with the pages, the submissions and the games of a competition, until a signal."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import trio

from arena.errors import UsageError
from arena.host.accounts import MACHINE, invite
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import Cup, load_cup, networks
from arena.host.cup_site import CupSite
from arena.host.feeds import Feeds
from arena.host.host_pages import host_routes
from arena.host.pipeline import clear_left
from arena.host.public_pages import public_routes
from arena.host.seasons import open_season
from arena.host.team_pages import submit_routes, team_routes
from arena.league.store import StoreInUseError, sole_use
from arena.sandbox.levels import Level, choose
from arena.sandbox.rlimits import use_all_descriptors
from arena.system.printable import printable
from arena.web.address import Address, Hosts, hosts_of, listen
from arena.web.guard import Complain, Guard
from arena.web.server import Application, Server
from arena.web.store_server import serve_until_signal

SWITCH_SECONDS = 0.0005
"""The longest that a thread which makes a page holds up the loop that answers at each system call; usually 5 ms."""


def make_host(folder: Path, cup: Cup) -> str:
    """Make the database of a new folder with its first season; return the path of the link that invites its host."""
    with closing(CupDatabase(folder / FILE, create=True)) as database:
        open_season(database, cup)
        return f"/join/{invite(database, MACHINE, is_host=True)}"


def host_level(cup: Cup) -> Level:
    """Return the level at which bots of strangers run. Raises `UsageError` for one that does not confine them."""
    level = choose(cup.play.sandbox)
    if level is Level.BASIC and not cup.trusted:
        raise UsageError(
            "bots of strangers need bwrap or cgroup, and here they would have neither: 'arena doctor' says what works; "
            "with trusted = true in cup.toml they run at the basic level, where they can do all that you can"
        )
    return level


class HostServer(CupSite):
    def application(self, hosts: Hosts) -> Application:
        routes = [
            *submit_routes(self),
            *team_routes(self),
            *host_routes(self),
            *Feeds(self).routes(),
            *public_routes(self),
        ]
        return Guard(routes, self.look, hosts, posts=True, uploads=self.doors.uploads, complain=self.complain)

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            for task in (self.pipeline, self.playing, self.deliveries, self.live):
                nursery.start_soon(task.run)
            nursery.start_soon(self.show)


@contextmanager
def sole_host(folder: Path) -> Iterator[None]:
    """Hold the lock of a competition's folder. Raises `UsageError` if another process of the host has it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(sole_use(folder / FILE))
        except StoreInUseError:
            where = printable(str(folder))
            words = f"{where}: 'arena host run' is running with this folder: expected it to be stopped"
            raise UsageError(words) from None
        yield


def serve_host(folder: Path, address: Address, *, ready: Callable[[str], None], complain: Complain) -> None:
    folder = folder.absolute()
    cup = load_cup(folder)
    level = host_level(cup)
    use_all_descriptors()
    sys.setswitchinterval(SWITCH_SECONDS)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # also of children: for small matrices its threads only wait
    with sole_host(folder), closing(CupDatabase(folder / FILE)) as database, closing(listen(address)) as listening:
        cup = msgspec.structs.replace(cup, address=cup.address or listening.url.rstrip("/"))
        known_as = [name] if (name := urlsplit(cup.address).hostname) else []
        host = HostServer(folder, cup, database, level, complain)
        application = host.application(hosts_of([listening.address], known_as))
        server = Server(application, proxies=networks(cup.proxies))

        async def main() -> None:
            await clear_left(folder)  # before there are uploads that it would remove
            await serve_until_signal(server, listening, host.run, begin)

        def begin(url: str) -> None:
            host.look.compile()
            gc.freeze()  # what is there now stays: to look through it for garbage would hold up pages
            ready(url)

        trio.run(main)
