"""`arena league --serve`: the options, and the pages that are served beside a league by a process of their own."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.installation import shell_line, this_command
from arena.cli.streams import remark
from arena.errors import UsageError

if TYPE_CHECKING:
    from arena.game.record import GameRecord
    from arena.league.league import OpenLeague
    from arena.league.plan import Plan
    from arena.league.play_missing import Watch
    from arena.league.store import GameRow
    from arena.report.progress import Progress
    from arena.web.address import Listening
    from arena.web.beside import ServerBeside

PORT = 8000
SERVE_GROUP = ("serve", "serve-delay", "serve-show", "serve-for", "serve-as")
PUBLIC, ALL = "public", "all"


@dataclass(frozen=True)
class ServeOptions:
    """What was asked for: where, and what viewers see, and when."""

    where: str
    delay: str | None
    show: str
    reader: str
    known_as: tuple[str, ...]


@dataclass(frozen=True)
class ServedAt:
    """The same with a socket that listens, and the delay in seconds."""

    options: ServeOptions
    listening: "Listening"
    delay: float


SERVE_OPTIONS = (
    click.option(
        "--serve",
        is_flag=False,
        flag_value=f"127.0.0.1:{PORT}",
        default=None,
        metavar="[HOST:PORT]",
        help=f"Serve the league as web pages while it is played.  [default: 127.0.0.1:{PORT}]",
    ),
    click.option(
        "--serve-delay",
        default=None,
        metavar="TIME",
        help="Moves of running games are shown that much later.  [default: at once]",
    ),
    click.option(
        "--serve-show",
        type=click.Choice([PUBLIC, ALL]),
        default=PUBLIC,
        show_default=True,
        help="What is shown of running games: what both sides know, or all ranks.",
    ),
    click.option(
        "--serve-for",
        default="all",
        show_default=True,
        metavar="all|public|...",
        help="Who the pages of finished games are for, as with arena report --for.",
    ),
    click.option(
        "--serve-as", default="", metavar="NAME,...", help="Further names that the pages answer to, such as a proxy's."
    ),
)


def collect_serve(options: dict[str, Any]) -> ServeOptions | None:
    """Take what is said of pages out of the options; None if none are to be served."""
    where, *rest = (options.pop(name.replace("-", "_")) for name in SERVE_GROUP)
    delay, show, reader, known_as = rest
    if where is None:
        if (delay, show, reader, known_as) != (None, PUBLIC, ALL, ""):
            raise UsageError("--serve-delay, --serve-show, --serve-for and --serve-as need --serve")
        return None
    names = tuple(name.strip() for name in known_as.split(",") if name.strip())
    return ServeOptions(where, delay, show, reader, names)


@contextmanager
def listening_for(options: ServeOptions | None) -> "Iterator[ServedAt | None]":
    """Listen there, before anything else is done: a port in use is told at once. Raises `UsageError`."""
    if options is None:
        yield None
        return
    from arena.cli.installation import SERVING, needs
    from arena.game.time_control import parse_duration
    from arena.league.option_values import option_value
    from arena.league.readers import reader_named
    from arena.web.address import parse_host

    needs(SERVING, "web", "arena league --serve")
    option_value("--serve-for", reader_named, options.reader)
    delay = 0.0 if options.delay is None else option_value("--serve-delay", parse_duration, options.delay) / 1000
    for name in options.known_as:
        option_value("--serve-as", parse_host, name)
    listening = option_value("--serve", _listen, options.where)
    try:
        yield ServedAt(options, listening, delay)
    finally:
        listening.close()


def _listen(where: str) -> "Listening":
    """Raises `UsageError`; what was meant for a bot comes with how that is written."""
    from arena.web.address import listen, parse_address

    try:
        return listen(parse_address(where, PORT))
    except UsageError as error:
        if ":" in where:
            raise
        hint = "--serve takes the word behind it: where that is a bot, write --serve behind all bots"
        raise UsageError(f"{error}; {hint}") from None


def refuse_to_give_away(plan: "Plan", at: ServedAt | None) -> None:
    """Raises `UsageError` if a bot could read its opponent's pieces from the pages."""
    from arena.bots.sandbox.levels import Level

    if at and at.options.show == ALL and plan.level is not Level.BWRAP:
        raise UsageError(
            f"--serve-show all: expected --sandbox bwrap, got {plan.level.value}: there a bot has the network, and "
            "could read its opponent's pieces from these pages"
        )


class _ToldBeside:
    """Progress that tells the process that serves pages, too."""

    def __init__(self, progress: "Progress", server: "ServerBeside", stored: int, planned: int | None) -> None:
        self._progress, self._server = progress, server
        self._before, self._played, self._planned = stored, 0, planned
        self._begun = time.monotonic()
        self._tell()

    def finished(self, row: "GameRow", record: "GameRecord") -> None:
        from arena.report.game_list import game_line

        self._played += 1
        self._server.stored(row.id, row.number, game_line(row))
        self._tell()
        self._progress.finished(row, record)

    def _tell(self) -> None:
        done = self._before + self._played
        left = None
        if self._planned is not None and self._played:
            left = (time.monotonic() - self._begun) / self._played * max(0, self._planned - done)
        self._server.progress(done, self._planned, left)

    def remark(self, text: str) -> None:
        self._progress.remark(text)

    def finish(self) -> None:
        self._progress.finish()


@contextmanager
def pages_beside(
    league: "OpenLeague", progress: "Progress", at: ServedAt | None
) -> "Iterator[tuple[Progress, Watch | None]]":
    """Serve the pages of a league while the body plays it, if that is asked for: gives what is to be told of games that
    are over, and what is to be told of those under way."""
    if at is None:
        yield progress, None
        return
    from arena.cli.stores import warn_of_seed
    from arena.league.readers import reader_named
    from arena.web.address import exposure_text
    from arena.web.beside import ServerBeside

    warn_of_seed(league.plan.path, league.store.settings(), reader_named(at.options.reader), progress.remark)
    url, address = at.listening.url, at.listening.address
    if exposure_text(address):
        progress.remark(exposure_text(address))
    server = ServerBeside.start(_setup(at, league.plan.path), at.listening, progress.remark)
    progress.remark(f"pages: {url}")
    try:
        yield _ToldBeside(progress, server, league.known, league.planned), server.watch
    finally:
        server.end()
        store = shell_line(*this_command(), "serve", str(league.plan.path))
        remark(f"the pages were served while the league was played; serve them on with: {store}")


def _setup(at: ServedAt, store: Path) -> Any:
    import os

    from arena.report.piece_names import DEFAULT_NAMES
    from arena.web.beside import LiveSetup

    options = at.options
    return LiveSetup(
        store=os.fsencode(os.path.abspath(store)),
        listening=at.listening.socket.fileno(),
        host=str(at.listening.address),
        reader=options.reader,
        shows_all=options.show == ALL,
        delay=at.delay,
        known_as=options.known_as,
        language=DEFAULT_NAMES.language.value,
        numbering=DEFAULT_NAMES.numbering.value,
    )
