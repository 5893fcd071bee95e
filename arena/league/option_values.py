"""Convert options to the settings of a league, the limits of its bots and the path of its store."""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec

from arena.bots.asked import NOTHING_OWN, Own
from arena.bots.limits import BuildLimits, Limits, check_processes, parse_memory, parse_size
from arena.bots.spec import BotSpec
from arena.errors import UsageError, suggest
from arena.game.game_spec import Opening
from arena.game.time_control import TimeControl, parse_duration, parse_time
from arena.league.league_options import (
    LARGEST_SEED,
    MOST_GAMES,
    MOST_JOBS,
    OPPONENTS,
    SANDBOXES,
    USUAL,
    Kind,
    PlayOptions,
    variant_of,
)
from arena.league.settings import Settings, openings_digest
from arena.league.store.document import NAMED
from arena.system.printable import printable

LONGEST_NAME = 255 - len("-journal")
OPENINGS_DIGITS = 6
NO_MARGIN = ("0", "0ms")

S = TypeVar("S")
T = TypeVar("T")


def option_value(name: str, parse: Callable[[S], T], value: S) -> T:
    try:
        return parse(value)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def check_options(options: PlayOptions) -> None:
    """Raise `UsageError` for values that are out of range, exclude each other, or are impossible on this system."""
    for name, value, least, most in (("seed", options.seed, 0, LARGEST_SEED), ("jobs", options.jobs, 1, MOST_JOBS)):
        if not least <= value <= most:
            raise UsageError(f"--{name}: expected a whole number from {least} to {most}, got {value}")
    if options.sandbox not in SANDBOXES:
        raise UsageError(f"--sandbox: expected a level, got {options.sandbox!r}: {suggest(options.sandbox, SANDBOXES)}")
    if options.opponents not in OPPONENTS:
        raise UsageError(
            f"--opponents: expected {' or '.join(OPPONENTS)}, got {options.opponents!r}: "
            f"{suggest(options.opponents, OPPONENTS)}"
        )
    if options.affinity and not hasattr(os, "sched_setaffinity"):
        raise UsageError("--affinity: this system cannot pin programs to a CPU")
    if options.openings is not None and options.keep_bots:
        raise UsageError(
            "--openings and --keep-bots cannot be used together: in the return game a bot that remembers the first "
            "game would know its opponent's set-up"
        )


def check_values(options: PlayOptions) -> None:
    """Raise `UsageError` or `RulesetError` for a value that is invalid for any bots."""
    check_options(options)
    time_control(options)
    usual_limits(options)
    build_limits(options)
    game = variant_of(options).kind
    if options.keep_bots and game.has_chance:
        raise UsageError(
            f"--keep-bots: expected a game without chance, got {game.name}: chance repeats in the return "
            "game, so a bot that remembers the first game would know what is hidden"
        )
    if options.openings is not None and not game.has_setups:
        raise UsageError(f"--openings: expected a game with set-ups, got {game.name}, which has none to begin with")


def check_number(bots: int, rounds: int, planned: int | None) -> None:
    """Raise `UsageError` if there are more games planned in these rounds than a league may have."""
    if planned is not None and planned > MOST_GAMES:
        raise UsageError(
            f"--rounds: expected at most {MOST_GAMES * rounds // planned} with {bots} bots (a league has at most "
            f"{MOST_GAMES} games), got {rounds}"
        )


def time_control(options: PlayOptions) -> TimeControl:
    return msgspec.structs.replace(
        option_value("--time", parse_time, options.time),
        start_ms=option_value("--start-time", parse_duration, options.start_time),
        setup_ms=option_value("--setup-time", parse_duration, options.setup_time),
        margin_ms=0 if options.margin in NO_MARGIN else option_value("--margin", parse_duration, options.margin),
    )


def usual_limits(options: PlayOptions) -> Limits:
    return Limits(
        option_value("--memory", parse_memory, options.memory),
        option_value("--processes", check_processes, options.processes),
        option_value("--tmp", parse_size, options.tmp),
    )


def build_limits(options: PlayOptions) -> BuildLimits:
    return BuildLimits(
        seconds=option_value("--build-time", parse_duration, options.build_time) / 1000,
        memory=option_value("--build-memory", parse_memory, options.build_memory),
        disk=option_value("--build-disk", parse_size, options.build_disk),
        network=options.build_network,
    )


def settings_of(options: PlayOptions, bots: Sequence[BotSpec]) -> Settings:
    """Return the settings of the options. Raises `UsageError` or `RulesetError`."""
    usual = usual_limits(options)
    own = _own_of(options, bots)
    time = time_control(options)
    own_times = {bot.player.digest: said.time for bot in bots if (said := own.get(bot.name)) and said.time}
    variant = variant_of(options)
    openings: tuple[Opening, ...] = ()
    if options.openings is not None:
        from arena.league.openings import load_openings

        openings = load_openings(options.openings, variant)
    theirs = {
        digest: msgspec.structs.replace(time, move_ms=own.move_ms, bank_ms=own.bank_ms, increment_ms=own.increment_ms)
        for digest, own in own_times.items()
    }
    return Settings(
        variant,
        time,
        options.seed,
        usual,
        tuple(sorted((name, said.limits(usual)) for name, said in own.items())),
        options.pondering,
        options.keep_bots,
        tuple((digest, their) for digest, their in theirs.items() if their != time),
        openings=openings,
        names_told=options.opponents == NAMED,
    )


def _own_of(options: PlayOptions, bots: Sequence[BotSpec]) -> dict[str, Own]:
    """Return the options of single bots, by name. Raises `UsageError` for a table of no bot, or of several."""
    names = [bot.name for bot in bots]
    own: dict[str, Own] = {}
    if options.own:
        from arena.bots.limits_file import by_bot

        own = by_bot(options.own, names, bots)
    for bot in bots:
        if bot.asked and bot.asked.own != NOTHING_OWN:
            own[bot.name] = bot.asked.own.over(own.get(bot.name, NOTHING_OWN))
    if options.limits:
        from arena.bots.limits_file import load_own

        for name, said in load_own(options.limits, names, bots).items():
            own[name] = said.over(own.get(name, NOTHING_OWN))
    return own


def store_of(options: PlayOptions, kind: Kind, bots: Sequence[BotSpec]) -> Path:
    if options.store is not None:
        return options.store
    return Path(default_store(kind, bots, settings_of(replace(options, limits=None, own=None), bots)))


def default_store(kind: Kind, bots: Sequence[BotSpec], settings: Settings, *more: str) -> str:
    """Return the default file name of a store, made from the settings and `more`, and cut if it is too long."""
    who = [bot.name for bot in bots] if kind in (Kind.MATCH, Kind.COMPARE) else []
    seed = [f"seed{settings.seed}"] if settings.seed != USUAL.seed else []
    given = [f"openings{openings_digest(settings.openings)[:OPENINGS_DIGITS]}"] if settings.openings else []
    parts = [kind.value, *who, settings.variant.full_name.replace(" ", "-"), settings.time.text, *more, *seed, *given]
    name = re.sub(r"[^\w.+-]", "_", "-".join(parts))
    suffix = ".sqlite"
    if len(os.fsencode(name + suffix)) > LONGEST_NAME:
        suffix = f"-{hashlib.sha256(name.encode()).hexdigest()[:16]}{suffix}"
        name = os.fsencode(name)[: LONGEST_NAME - len(suffix)].decode(errors="ignore")
    return name + suffix


def apart_from_bots(store: Path, bots: Sequence[BotSpec]) -> Path:
    """Return the path of the store. Raises `UsageError` if it is in a bot's folder."""
    full = Path(os.path.realpath(store))
    for bot in bots:
        if bot.fault is None and bot.path.is_dir() and full.is_relative_to(bot.folder):
            raise UsageError(
                f"{printable(str(store))}: the store would lie in the folder of {bot.name}, and each game would make "
                "that another version: name another place with --store"
            )
    return store
