"""The bots of a run made ready to be played on one machine: copied for this worker, loaded, and built where they have
to be.

A bot is what it was sent as: its digest is that of the files that were sent. What a build makes of them here is part
of no digest, as the program is at home; it is trusted on this machine and nowhere else. A bot that cannot be loaded or
built here is told of by its name, and no reason not to play the others.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from arena.bots import BotSpec, load_bot
from arena.bots.asked import AskedBot
from arena.bots.build import build_all
from arena.bots.loading import made_to_speak
from arena.bots.run import Run
from arena.bots.sandbox.files import FilesError
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.programs import HostPrograms
from arena.errors import UsageError
from arena.league.executor.cluster.cache import Cache, SpoiltError
from arena.league.executor.cluster.copies import Copies, WatchedCopy
from arena.league.executor.cluster.messages import CarriedBot, Missing, RunInfo, Unable
from arena.league.executor.cluster.packing import MOST_BYTES
from arena.league.executor.cluster.trees import tree_digest
from arena.league.executor.task import sendable
from arena.league.executor.wire import packed, unpacked
from arena.printable import printable


@dataclass(frozen=True)
class ReadyBots:
    """The bots of a run as they are played on this machine, those of them that are watched, by name, and remarks."""

    bots: tuple[BotSpec, ...]
    watched: dict[str, WatchedCopy]
    remarks: tuple[str, ...]


class Preparation:
    """Makes the bots of one run ready, in the folder of `copies`."""

    def __init__(self, cache: Cache, copies: Copies, info: RunInfo, *, say: Callable[[str], None], run: Run) -> None:
        self._cache = cache
        self._copies = copies
        self._info = info
        self._say = say
        self._run = run
        self._problems: dict[str, str] = {}
        self._remarks: list[str] = []
        self._gone: list[str] = []
        """Keys of packs that were not as they had been sent."""

    def prepare(self) -> ReadyBots | Missing | Unable:
        """What becomes of the bots. Raises `ArenaError` for what is the machine's fault."""
        carried = self._info.bots
        if missing := self._cache.missing(carried):
            return Missing(missing)
        arrived = [(bot, self._unpacked(bot)) for bot in carried]
        ready = None if self._gone else self._all_ready(arrived)
        if self._gone:
            return Missing(tuple(dict.fromkeys(self._gone)), tuple(self._remarks))
        return Unable(self._problems) if ready is None else ready

    def _all_ready(self, arrived: list[tuple[CarriedBot, Path]]) -> ReadyBots | None:
        sent: list[tuple[CarriedBot, Path, BotSpec]] = []
        for bot, place in arrived:
            try:
                sent.append((bot, place, _loaded(bot, place)))
            except UsageError as error:
                self._note(bot, str(error))
        host = HostPrograms(tuple(map(unpacked, self._info.interpreters)), [spec for _, _, spec in sent])
        bots, watched = [], {}
        for bot, place, spec in sent:
            try:
                made = self._built(bot, spec, place, host) if spec.build and bot.key else spec
                if bot.key:
                    watched[made.name] = WatchedCopy(made)
                bots.append(_as_meant(made, bot))
            except SpoiltError as error:
                self._note_gone(bot, error)
            except UsageError as error:
                self._note(bot, str(error))
        return None if self._problems else ReadyBots(tuple(bots), watched, tuple(self._remarks))

    def _note(self, bot: CarriedBot, why: str) -> None:
        self._problems[unpacked(bot.bot.name)] = sendable(why)

    def _note_gone(self, bot: CarriedBot, error: SpoiltError) -> None:
        self._gone.append(bot.key)
        self._remarks.append(f"{_name(bot)}: {error}; it is sent again")

    def _unpacked(self, bot: CarriedBot) -> Path:
        """A bot's files, in a place of their own; if its pack is spoilt, that is noted."""
        if not bot.key:
            return Path()
        place = self._copies.new_place(bot.key)
        try:
            self._cache.unpack(bot.key, place)
        except SpoiltError as error:
            self._note_gone(bot, error)
        return place

    def _built(self, bot: CarriedBot, sent: BotSpec, place: Path, host: HostPrograms) -> BotSpec:
        """A bot that is to be built, from the files in its place; what was built before is used again. Raises
        `UsageError` if it cannot be built, `SpoiltError` and `ArenaError`."""
        level, limits, way = self._info.level, self._info.build, self._way(place)
        with self._cache.locked(bot.key):
            if self._cache.has_built(bot.key, way):
                try:
                    return self._taken(bot, place)
                except SpoiltError as error:
                    self._remarks.append(f"{_name(bot)}: {error}; it is built again")
                    self._copies.clear(place)
                    self._cache.unpack(bot.key, place)
            (done,) = build_all([sent], level, limits, host, self._say, run=self._run)
            if done.fault is not None:
                raise UsageError(done.fault)
            self._cache.keep_built(bot.key, way, place, self._most)
            return done

    @property
    def _most(self) -> int:
        """Bytes that a folder may have that was built: what was sent, and what was made."""
        return MOST_BYTES + self._info.build.disk

    def _way(self, place: Path) -> str:
        """How what is built here is told from the same built otherwise. In a sandbox a bot's folder always has one
        path; else what is built may have its own in it, and is of use at this place alone."""
        level = self._info.level
        return f"{level.value}-{self._copies.where(place)}" if level is Level.DEFAULT else level.value

    def _taken(self, bot: CarriedBot, place: Path) -> BotSpec:
        """What was built before. Raises `SpoiltError` if it is not as it was then."""
        way = self._way(place)
        self._copies.clear(place)
        digest = self._cache.take_built(bot.key, way, place, self._most)
        try:
            found = _load(place, bot)
            if tree_digest(place) == digest:  # after the look at it: what changes later shows
                return found
            why = "its files had been changed"
        except (UsageError, FilesError, OSError) as error:
            why = str(error)
        self._cache.discard_built(bot.key, way)
        raise SpoiltError(f"what had been built of it cannot be used: {why}")


def _name(bot: CarriedBot) -> str:
    return sendable(unpacked(bot.bot.name))


def _loaded(bot: CarriedBot, place: Path) -> BotSpec:
    """A bot as it was sent. Raises `UsageError` if it cannot be run here."""
    if not bot.key:
        return bot.bot.bot()
    found = _load(place, bot)
    if packed(found.digest) != bot.bot.digest:
        raise UsageError(
            f"{_name(bot)}: expected the digest {unpacked(bot.bot.digest)[:16]}, got {found.digest[:16]} in "
            f"{printable(str(found.path))}"
        )
    return found


def _load(place: Path, bot: CarriedBot) -> BotSpec:
    """The bot whose files are in a place, under the name that it takes part with."""
    path = place / os.fsdecode(bot.file)
    arguments = tuple(map(unpacked, bot.arguments))
    found = load_bot(path, AskedBot(str(path), arguments=arguments) if arguments else None)
    if bot.is_made_to_speak:
        found = made_to_speak(found, bot.bot.dialect)
    return replace(found, name=unpacked(bot.bot.name))


def _as_meant(bot: BotSpec, carried: CarriedBot) -> BotSpec:
    """The bot as the player that it takes part as, whatever its build has made of it."""
    if not carried.key:
        return bot
    meant = carried.bot.bot()
    return replace(
        bot, digest=meant.digest, entered_as=meant.entered_as, language=meant.language, not_sent=meant.not_sent
    )
