"""The settings of a run as they travel, with what each worker has to be sent for it."""

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arena.bots import BotSpec
from arena.bots.build_checks import BuildLimits
from arena.errors import UsageError
from arena.league.executor.cluster.messages import CarriedBot, RunInfo
from arena.league.executor.cluster.packing import key_of, not_sent, pack_bot
from arena.league.executor.cluster.source import this_arena
from arena.league.executor.task import PlaySettings
from arena.league.executor.wire import WireBot, packed, unpacked


@dataclass(frozen=True)
class Cargo:
    """A run on its way, and the packs of its bots by their keys. `unsent` are bots that could not be packed, and why,
    by name: they are none of the run's."""

    run: RunInfo
    packs: Mapping[str, bytes]
    unsent: Mapping[str, str] = field(default_factory=dict)


def cargo_of(settings: PlaySettings, build: BuildLimits, jobs: int) -> Cargo:
    """What is sent so that games can be played under these settings. Reads the files of all bots."""
    packs: dict[str, bytes] = {}
    unsent: dict[str, str] = {}
    bots = []
    for bot in settings.bots:
        if bot.fault is not None:
            bots.append(carried(bot, ""))
            continue
        try:
            pack, words = pack_bot(bot), not_sent(bot)
        except UsageError as error:  # it has changed since it was looked at
            unsent[bot.name] = str(error)
            continue
        key = key_of(pack)
        packs[key] = pack
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
