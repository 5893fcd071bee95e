"""Seasons: open, frozen (challenges only), final, finished. The next one begins in a new store.

When a season opens, 128 random bits are drawn, and their SHA-256 is published. The seeds of its leagues follow from
them, so they were fixed before the bots of the final were known. The bits are revealed with the results.
"""

import enum
import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from arena.errors import ArenaError
from arena.host.accounts import MACHINE, Actor, require_host
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.submissions import IS_PLAYING, PLAYING, SubmissionState, in_states
from arena.host.webhooks import WebhookEvent, announce
from arena.league.league_options import FormatName, FormatOptions, check_format

SEED_BYTES = 16
SEEDED = (FormatName.SWISS, FormatName.KNOCKOUT)
LEAST_BOTS = 2


class SeasonLeague(enum.Enum):
    """A league of a season, which has a store and a seed of its own."""

    LADDER = "ladder"
    FINAL = "final"
    CHALLENGES = "challenges"


class SeasonState(enum.Enum):
    OPEN = "open"
    FROZEN = "frozen"
    FINAL = "final"
    FINISHED = "finished"


class FinalPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    options: FormatOptions
    submissions: tuple[int, ...]


class Season(msgspec.Struct, frozen=True):
    """A season as it is in the database. Its `seed` is a secret until it is finished."""

    number: int
    state: SeasonState
    seed_hash: str
    seed: str
    opened: float
    frozen: float | None
    final: str | None
    finished: float | None
    counted: int
    leader: int | None

    @property
    def public_seed(self) -> str:
        return self.seed if self.state is SeasonState.FINISHED else ""

    @property
    def final_plan(self) -> FinalPlan | None:
        return msgspec.json.decode(self.final, type=FinalPlan) if self.final else None


def seed_hash(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()


def league_seed(seed: str, league: SeasonLeague) -> int:
    """Return the seed of a league of a season, which does not tell those of the others."""
    return int(hashlib.sha256(f"{league.value} {seed}".encode()).hexdigest()[:16], 16)


def store_file(league: SeasonLeague, folder: Path, number: int) -> Path:
    name = "season" if league is SeasonLeague.LADDER else league.value
    return folder / f"{name}-{number}.sqlite"


def store_files(folder: Path, number: int) -> list[Path]:
    """Return the stores that a season has."""
    paths = (store_file(league, folder, number) for league in SeasonLeague)
    return [path for path in paths if path.is_file()]


def is_whole(cup: Cup, season: Season) -> bool:
    return cup.shows == "after-game" or (cup.shows == "after-season" and season.state is SeasonState.FINISHED)


def seasons(database: CupDatabase) -> list[Season]:
    return database.rows(Season, "select * from season order by number")


def current(database: CupDatabase) -> Season:
    season = database.row(Season, "select * from season order by number desc limit 1")
    if season is None:
        raise ArenaError("no season has been opened")
    return season


def open_season(database: CupDatabase, cup: Cup, actor: Actor = MACHINE) -> Season:
    """Open the first season, or the next one after a finished one; bots in the ladder begin it anew."""
    with database.change():
        require_host(database, actor)
        last = database.row(Season, "select * from season order by number desc limit 1")
        if last and last.state is SeasonState.OPEN:
            return last
        if last and last.state is not SeasonState.FINISHED:
            words = f"season {last.number} is {last.state.value}: only a finished season is followed by the next one"
            raise ArenaError(words)
        number, seed = (last.number if last else 0) + 1, secrets.token_hex(SEED_BYTES)
        public = {"state": SeasonState.OPEN.value, "seed_hash": seed_hash(seed)}
        database.insert("season", number=number, seed=seed, opened=time.time(), **public)
        begun = "games = 0, forfeits = 0, state = ?"
        database.run(f"update submission set {begun} where {IS_PLAYING}", SubmissionState.PROBATION.value)
        database.run("update challenge set season = ?, played = 0 where state = 'waiting'", number)
        database.note("season opened", {"season": number, **public}, actor.account, actor.address)
        announce(database, cup, WebhookEvent.SEASON, f"Season {number} is open.", season=number, **public)
    return current(database)


def freeze(database: CupDatabase, cup: Cup, actor: Actor = MACHINE) -> Season:
    return _change(database, cup, actor, (SeasonState.OPEN, SeasonState.FROZEN), "is frozen", frozen=time.time())


def thaw(database: CupDatabase, cup: Cup, actor: Actor = MACHINE) -> Season:
    return _change(database, cup, actor, (SeasonState.FROZEN, SeasonState.OPEN), "is open again", frozen=None)


def begin_final(
    database: CupDatabase, cup: Cup, options: FormatOptions, order: Sequence[str] = (), actor: Actor = MACHINE
) -> Season:
    """Begin the final of a frozen season. `order` are digests, the best first: they seed a swiss and a knockout."""
    check_format(options)
    if options.name is FormatName.GAUNTLET:
        raise ArenaError("a gauntlet is no format of a final: expected round-robin, swiss, knockout or ladder")

    def plan() -> dict[str, Any]:
        frozen = current(database).frozen
        found = [one for one in in_states(database, PLAYING) if frozen is None or one.received < frozen]
        if len(found) < LEAST_BOTS:
            raise ArenaError(f"a final needs two bots that were sent before the freeze, and there are {len(found)}")
        places = {digest: place for place, digest in enumerate(order)}
        found.sort(key=lambda one: places.get(one.player, len(places)))
        is_seeded = options.name in SEEDED and not options.seeds
        seeded = replace(options, seeds=tuple(one.bot for one in found)) if is_seeded else options
        return {"final": msgspec.json.encode(FinalPlan(seeded, tuple(one.id for one in found))).decode()}

    words = f"is in its final, a {options.name.value}"
    return _change(database, cup, actor, (SeasonState.FROZEN, SeasonState.FINAL), words, plan=plan)


def finish(database: CupDatabase, cup: Cup) -> Season:
    change = SeasonState.FINAL, SeasonState.FINISHED
    return _change(database, cup, MACHINE, change, "is finished, and its seed is revealed", finished=time.time())


def _change(
    database: CupDatabase,
    cup: Cup,
    actor: Actor,
    change: tuple[SeasonState, SeasonState],
    words: str,
    *,
    plan: Callable[[], dict[str, Any]] = dict,
    **values: Any,
) -> Season:
    """Change the state in one transaction; a season that has it already stays as it is. Raises `ArenaError`."""
    before, after = change
    with database.change():
        require_host(database, actor)
        season = current(database)
        if season.state is after:
            return season
        if season.state is not before:
            raise ArenaError(f"season {season.number} is {season.state.value}: expected one that is {before.value}")
        values |= {"state": after.value, **plan()}
        names = ", ".join(f"{name} = ?" for name in values)
        database.run(f"update season set {names} where number = ?", *values.values(), season.number)
        database.note(f"season {after.value}", {"season": season.number}, actor.account, actor.address)
        text = f"Season {season.number} {words}."
        announce(database, cup, WebhookEvent.SEASON, text, season=season.number, state=after.value)
    return current(database)
