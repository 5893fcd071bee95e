"""One store, read for all viewers at once: again when it has changed, and never so often that it is always being read.

A league adds games to it meanwhile, which is seen from its file. What is read is a value that pages are made from;
whoever looks at a page reads at most the one record that it shows. A store that is damaged, or gone, is a `problem`
until it can be read again.
"""

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import trio

from arena.errors import ArenaError
from arena.league.store import Store, damage_text
from arena.printable import printable
from arena.report.site.contents import NoGamesError, SiteContents, SitePlan, read_site
from arena.report.site.frame import Site
from arena.web.look import WEB_WORDS

LOOK_SECONDS = 0.5
"""How often the file is looked at."""
SHARE = 1 / 10
"""Of one CPU, that reading the store may take while it changes; games that end within a second are read together."""
LEAST_SECONDS = 1.0
MOST_GAMES_TOLD = 100
"""Games without a page that the host is told of: anybody can ask for them."""

Dress = Callable[[Site, str], Site]
"""Makes of a site that is read from a disk the one that is served, at a version."""


@dataclass(frozen=True)
class State:
    """What is known of a store at a moment. `version` is never that of anything else, not of another server either."""

    version: str
    contents: SiteContents | None
    problem: str = ""
    """Why there are no contents, for viewers."""

    @property
    def games(self) -> int:
        return self.contents.table.games if self.contents else 0

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The games that have pages."""
        return frozenset(self.contents.numbers) if self.contents else frozenset()

    @property
    def text(self) -> str:
        """How things stand, in a line."""
        if self.contents:
            return WEB_WORDS.live.format(self.games)
        return WEB_WORDS.waiting if self.problem == WEB_WORDS.not_read else WEB_WORDS.out_of_date


class StoreReader:
    """Reads a store while `run` runs. `complain` is told, in a line, what is wrong with it."""

    def __init__(self, path: Path, plan: SitePlan, dress: Dress, complain: Callable[[str], None]) -> None:
        self.path, self._plan, self._dress, self._complain = path, plan, dress, complain
        self._boot, self._count = secrets.token_hex(4), 0
        self.state = State(self._next_version(), None, WEB_WORDS.not_read)
        self.is_read = trio.Event()
        """Whether it has been read for the first time, or that has failed."""
        self._changed = trio.Event()
        self._seen: tuple[int, ...] | None = None
        self._told = ""
        self._games_told: set[int] = set()

    async def changed(self, since: State) -> State:
        """The state, as soon as it is another one."""
        while self.state is since:
            await self._changed.wait()
        return self.state

    def read_first(self) -> None:
        """Read it now, before anything is served. Raises `ArenaError`; that there is no game yet is no error."""
        self._seen = self._look()
        version = self._next_version()
        try:
            self.state = self._state_of(version)
        except NoGamesError:
            self.state = State(version, None, WEB_WORDS.not_read)
        self.is_read.set()

    async def run(self) -> None:
        """Read it when it has changed, until cancelled."""
        while True:
            pause = await self.refresh()
            await trio.sleep(pause)

    async def refresh(self) -> float:
        """Read the store if it has changed. Returns after how many seconds it is to be looked at again."""
        found = await trio.to_thread.run_sync(self._look)
        if self.is_read.is_set() and found == self._seen:
            return LOOK_SECONDS
        state, cost = await trio.to_thread.run_sync(self._read_timed, self._next_version(), abandon_on_cancel=True)
        self._seen = found  # what came while it was read is seen at the next look
        self.state = state
        self._changed.set()
        self._changed = trio.Event()
        self.is_read.set()
        return max(LEAST_SECONDS, cost * (1 / SHARE - 1))

    def _next_version(self) -> str:
        self._count += 1
        return f"{self._boot}-{self._count}"

    def _look(self) -> tuple[int, ...] | None:
        """What changes when the store does."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def _read_timed(self, version: str) -> tuple[State, float]:
        """The state, and the processor time that it took: who is kept waiting for the CPU is not to wait longer."""
        start = time.thread_time()
        return self._read(version), time.thread_time() - start

    def _read(self, version: str) -> State:
        try:
            return self._state_of(version)
        except NoGamesError:
            self._tell("")
            return State(version, None, WEB_WORDS.not_read)
        except ArenaError as error:
            self._tell(printable(str(error), lines=True))
        except Exception as error:  # whatever a stranger's file brings about, the other pages go on
            self._tell(printable(f"{self.path}: {type(error).__name__}: {error}"))
        return State(version, None, WEB_WORDS.unreadable)

    def _state_of(self, version: str) -> State:
        """Raises `ArenaError`."""
        with Store(self.path, create=False) as store:
            contents = read_site(store, self._plan)
        damage = f"{self.path}: what is damaged does not count:\n{damage_text(contents.damage)}"
        self._tell(damage if contents.damage else "")
        return State(version, replace(contents, site=self._dress(contents.site, version)))

    def tell_of_game(self, number: int, error: ArenaError) -> None:
        """Tell why a game has no page, once for each game, and for so many games."""
        if number not in self._games_told and len(self._games_told) < MOST_GAMES_TOLD:
            self._games_told.add(number)
            self._complain(printable(f"{self.path}: game {number} has no page: {error}"))

    def _tell(self, problem: str) -> None:
        """Tell of a problem, once until it is another one."""
        if problem and problem != self._told:
            self._complain(problem)
        self._told = problem
