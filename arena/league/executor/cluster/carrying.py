"""The settings of a run as they travel, with what each worker has to be sent for it."""

import contextlib
import hashlib
import os
import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.bots import BotSpec
from arena.bots.build_checks import BuildLimits
from arena.bots.limits import MIB
from arena.errors import UsageError
from arena.league.executor.cluster.messages import CarriedBot, RunInfo
from arena.league.executor.cluster.packing import key_of, not_sent, pack_bot
from arena.league.executor.cluster.source import this_arena
from arena.league.executor.task import PlaySettings
from arena.league.executor.wire import WireBot, packed, unpacked
from arena.printable import printable

MOST_KEPT = 64 * MIB
"""Bytes of packs that are kept in memory; what is more is packed anew whenever a machine has to be sent it."""


class Packs(Mapping[str, bytes]):
    """The packs of bots, by their keys. To look one up may read the bot's files: it raises `UsageError` if they have
    changed."""

    def __init__(self) -> None:
        self._bots: dict[str, BotSpec] = {}
        self._kept: dict[str, bytes] = {}
        self._room = MOST_KEPT

    def add(self, bot: BotSpec) -> str:
        """Pack a bot; returns the key. Raises `UsageError` if it cannot be packed."""
        pack = pack_bot(bot)
        key = key_of(pack)
        if key not in self._bots and len(pack) <= self._room:
            self._kept[key] = pack
            self._room -= len(pack)
        self._bots[key] = bot
        return key

    def __getitem__(self, key: str) -> bytes:
        bot = self._bots[key]
        if key in self._kept:
            return self._kept[key]
        pack = pack_bot(bot)
        if key_of(pack) != key:  # what no digest covers: another folder, or what can be run
            raise UsageError(f"{printable(str(bot.path))}: its files have changed since they were looked at")
        return pack

    def __contains__(self, key: object) -> bool:
        return key in self._bots

    def __iter__(self) -> Iterator[str]:
        return iter(self._bots)

    def __len__(self) -> int:
        return len(self._bots)


@dataclass(frozen=True)
class Cargo:
    """A run on its way, and the packs of its bots by their keys. `unsent` are bots that could not be packed, and why,
    by name: they are none of the run's."""

    run: RunInfo
    packs: Mapping[str, bytes]
    unsent: Mapping[str, str] = field(default_factory=dict)


def store_name(store: Path) -> str:
    """What stands for a store on the workers: the same for one file on one machine as long as that runs; empty if that
    cannot be told."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    with contextlib.suppress(OSError):
        found = store.stat()
        told = (socket.gethostname(), boot.read_text(), str(store.absolute()), found.st_dev, found.st_ino)
        return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()
    return ""


def cargo_of(settings: PlaySettings, build: BuildLimits, jobs: int, store: Path | None = None) -> Cargo:
    """What is sent so that games can be played under these settings, and kept in this store. Reads the files of all
    bots."""
    packs = Packs()
    unsent: dict[str, str] = {}
    bots = []
    for bot in settings.bots:
        if bot.fault is not None:
            bots.append(carried(bot, ""))
            continue
        try:
            key, words = packs.add(bot), not_sent(bot)
        except UsageError as error:  # it has changed since it was looked at
            unsent[bot.name] = str(error)
            continue
        bots.append(carried(replace(bot, not_sent=words), key))
    run = RunInfo(
        id=secrets.token_hex(8),
        version=this_arena(),
        bots=tuple(bots),
        level=settings.level,
        usual=settings.usual,
        limits={packed(name): limits for name, limits in settings.limits.items()},
        interpreters=tuple(map(packed, settings.interpreters)),
        pondering=settings.pondering,
        is_pinned=settings.is_pinned,
        jobs=jobs,
        build=build,
        store=store_name(store) if store else "",
    )
    return Cargo(run, packs, unsent)


def carried(bot: BotSpec, key: str) -> CarriedBot:
    """A bot on its way, its files in the pack of this key."""
    file = ""
    if bot.look is not None:
        file = bot.look.covered.only or bot.look.covered.folder.name
    return CarriedBot(WireBot.of(bot), key, os.fsencode(file), tuple(map(packed, bot.arguments)), bot.is_made_to_speak)


def settings_of(run: RunInfo, bots: Sequence[BotSpec]) -> PlaySettings:
    """The settings of a run on the machine that has loaded these bots."""
    return PlaySettings(
        tuple(bots),
        run.level,
        run.usual,
        {unpacked(name): limits for name, limits in run.limits.items()},
        tuple(map(unpacked, run.interpreters)),
        run.pondering,
        run.is_pinned,
    )
