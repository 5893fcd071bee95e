"""`arena league --serve`: the pages that a separate process serves while a league is played."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from arena.cli.installation import SERVING, arena_line, needs
from arena.cli.shared_options import PORT
from arena.cli.stores import warn_of_seed
from arena.cli.streams import remark
from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.game.time_control import parse_duration
from arena.league.league import OpenLeague
from arena.league.option_values import option_value
from arena.league.play_missing import Watch
from arena.league.readers import reader_named
from arena.league.store import GameRow
from arena.report.game_list import game_line
from arena.report.progress import GameCount, Progress
from arena.sandbox.levels import Level
from arena.web.address import Listening, exposure_text, listen, parse_address, parse_host
from arena.web.beside import GameStored, LeagueProgress, LiveSetup, ServerBeside


class PagesServed:
    """A listening socket for the pages of a league, and their options; close it at the end."""

    def __init__(self, where: str, delay: str | None, show: str, reader: str, known_as: str) -> None:
        needs(SERVING, "web", "arena league --serve")
        self._reader = option_value("--serve-for", reader_named, reader)
        self._delay = 0.0 if delay is None else option_value("--serve-delay", parse_duration, delay) / 1000
        self._shows_all = show == "all"
        names = (name.strip() for name in known_as.split(","))
        self._known_as = tuple(option_value("--serve-as", parse_host, name) for name in names if name)
        self._listening = option_value("--serve", _listen, where)

    def close(self) -> None:
        self._listening.close()

    def refuse_to_give_away(self, level: Level) -> None:
        """Raise `UsageError` if a bot could read its opponent's pieces from the pages."""
        if self._shows_all and level is not Level.BWRAP:
            raise UsageError(
                f"--serve-show all: expected --sandbox bwrap, got {level.value}: bots have the network there, and "
                "could read their opponent's pieces from the pages"
            )

    @contextmanager
    def beside(self, league: OpenLeague, progress: Progress) -> Iterator[tuple[Progress, Watch]]:
        """Serve the pages while the body plays the league; yield the progress to report to, and a watcher of games."""
        plan, address = league.plan, self._listening.address
        warn_of_seed(plan.path, league.store.settings(), self._reader, progress.remark)
        if exposure_text(address):
            progress.remark(exposure_text(address))
        setup = LiveSetup(
            store=os.fsencode(os.path.abspath(plan.path)),
            listening=self._listening.socket.fileno(),
            host=str(address),
            reader=self._reader.text,
            shows_all=self._shows_all,
            delay=self._delay,
            known_as=self._known_as,
        )
        server = ServerBeside(setup, self._listening, progress.remark)
        progress.remark(f"pages: {self._listening.url}")
        try:
            yield _ServedProgress(progress, server, GameCount(league.known, league.planned)), server.watch
        finally:
            server.end()
            line = arena_line("serve", str(plan.path), game=plan.settings.variant.game)
            remark(f"the pages end with the league; serve them again: {line}")


def _listen(where: str) -> Listening:
    try:
        return listen(parse_address(where, PORT))
    except UsageError as error:
        if ":" in where:
            raise
        raise UsageError(f"{error}; write --serve behind all bots, as it takes the next word as its address") from None


class _ServedProgress(Progress):
    def __init__(self, progress: Progress, server: ServerBeside, count: GameCount) -> None:
        self._progress, self._server, self._count = progress, server, count
        self._send()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._count.add()
        self._server.tell(GameStored(row.id, row.number, game_line(row)))
        self._send()
        self._progress.finished(row, record)

    def _send(self) -> None:
        self._server.tell(LeagueProgress(self._count.done, self._count.total, self._count.seconds_left))

    def remark(self, text: str) -> None:
        self._progress.remark(text)

    def finish(self) -> None:
        self._progress.finish()
