"""`arena league --serve`: the pages that a separate process serves while a league is played."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.cli.installation import arena_line
from arena.cli.streams import remark
from arena.errors import UsageError
from arena.report.game_list import game_line
from arena.report.progress import GameCount, Progress

if TYPE_CHECKING:
    from arena.game.record import GameRecord
    from arena.league.league import OpenLeague
    from arena.league.plan import Plan
    from arena.league.play_missing import Watch
    from arena.league.store import GameRow
    from arena.web.address import Listening
    from arena.web.beside import ServerBeside

PORT = 8000


@dataclass(frozen=True)
class PagesServed:
    """A listening socket and the options for its pages, which show running games `delay` seconds later."""

    listening: "Listening"
    delay: float
    shows_all: bool
    reader: str
    known_as: tuple[str, ...]


@contextmanager
def listening_for(options: dict[str, Any]) -> "Iterator[PagesServed | None]":
    """Take the options for pages out of a command's arguments, and listen before any other work."""
    where = options.pop("serve")
    delay, show, reader, known_as = (options.pop(f"serve_{name}") for name in ("delay", "show", "for", "as"))
    if where is None:
        if (delay, show, reader, known_as) != (None, "public", "all", ""):
            raise UsageError("--serve-delay, --serve-show, --serve-for and --serve-as need --serve")
        yield None
        return
    from arena.cli.installation import SERVING, needs
    from arena.game.time_control import parse_duration
    from arena.league.option_values import option_value
    from arena.league.readers import reader_named
    from arena.web.address import parse_host

    needs(SERVING, "web", "arena league --serve")
    option_value("--serve-for", reader_named, reader)
    seconds = 0.0 if delay is None else option_value("--serve-delay", parse_duration, delay) / 1000
    names = tuple(option_value("--serve-as", parse_host, name.strip()) for name in known_as.split(",") if name.strip())
    listening = option_value("--serve", _listen, where)
    try:
        yield PagesServed(listening, seconds, show == "all", reader, names)
    finally:
        listening.close()


def _listen(where: str) -> "Listening":
    from arena.web.address import listen, parse_address

    try:
        return listen(parse_address(where, PORT))
    except UsageError as error:
        if ":" in where:
            raise
        raise UsageError(f"{error}; write --serve behind all bots, as it takes the next word as its address") from None


def refuse_to_give_away(plan: "Plan", at: PagesServed | None) -> None:
    """Raise `UsageError` if a bot could read its opponent's pieces from the pages."""
    from arena.sandbox.levels import Level

    if at and at.shows_all and plan.level is not Level.BWRAP:
        raise UsageError(
            f"--serve-show all: expected --sandbox bwrap, got {plan.level.value}: bots have the network there, and "
            "could read their opponent's pieces from the pages"
        )


@contextmanager
def serving_pages(
    league: "OpenLeague", progress: Progress, at: PagesServed | None
) -> "Iterator[tuple[Progress, Watch | None]]":
    """Serve the pages of a league while the body plays it; yield the progress to report to, and a watcher of games."""
    if at is None:
        yield progress, None
        return
    from arena.cli.stores import warn_of_seed
    from arena.league.readers import reader_named
    from arena.web.address import exposure_text
    from arena.web.beside import LiveSetup, ServerBeside

    store = league.plan.path
    warn_of_seed(store, league.store.settings(), reader_named(at.reader), progress.remark)
    if exposure_text(at.listening.address):
        progress.remark(exposure_text(at.listening.address))
    setup = LiveSetup(
        store=os.fsencode(os.path.abspath(store)),
        listening=at.listening.socket.fileno(),
        host=str(at.listening.address),
        reader=at.reader,
        shows_all=at.shows_all,
        delay=at.delay,
        known_as=at.known_as,
    )
    server = ServerBeside.start(setup, at.listening, progress.remark)
    progress.remark(f"pages: {at.listening.url}")
    try:
        yield _ServedProgress(progress, server, GameCount(league.known, league.planned)), server.watch
    finally:
        server.end()
        line = arena_line("serve", str(store), game=league.plan.settings.variant.game)
        remark(f"the pages end with the league; serve them again: {line}")


class _ServedProgress(Progress):
    def __init__(self, progress: Progress, server: "ServerBeside", count: GameCount) -> None:
        self._progress, self._server, self._count = progress, server, count
        self._send()

    def finished(self, row: "GameRow", record: "GameRecord") -> None:
        self._count.add()
        self._server.stored(row.id, row.number, game_line(row))
        self._send()
        self._progress.finished(row, record)

    def _send(self) -> None:
        self._server.progress(self._count.done, self._count.total, self._count.seconds_left)

    def remark(self, text: str) -> None:
        self._progress.remark(text)

    def finish(self) -> None:
        self._progress.finish()
