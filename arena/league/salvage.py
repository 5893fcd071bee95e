"""The games of a damaged store that are whole, in a new store in which their league can go on.

A game is copied by its record, if that is as it was stored and can have been played so. Settings that are damaged are
made anew from the games: rules and times stand in every record, and a seed is believed only if the games' own seeds
follow from it. So are the time that all bots have and those that single ones have: every game says how long its own two
had. What no record says is left out.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from msgspec.structs import replace as changed

from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.game.spec import Opening, Player
from arena.game.time_control import TimeControl, parse_time
from arena.league.game_ids import Scheme, Times, pair_seed_of, starter
from arena.league.games import Settings, openings_in, other_times
from arena.league.settings import with_moves_of
from arena.league.store import (
    CALIBRATION,
    ENTRANTS,
    KEEP_BOTS,
    NAMED,
    OPENINGS,
    OPPONENTS,
    Store,
    is_number,
    own_times_in,
)
from arena.league.verify import League
from arena.play.played_on import TENTH_US, calibration_of, percent_of, read_reference, reference_text
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import Ruleset, RulesetError, Starts

SEEDS_TRIED = 10_000
ROUNDS_TRIED = 4
OPENINGS_TRIED = 8
OPENINGS_UNKNOWN = "not known"
"""The setting of a store whose games have openings, of what file nobody knows."""
LONGEST_SEED = 20
NOT_IN_RECORDS = ("pondering", "what single bots may use")


class Salvaged(NamedTuple):
    """What was copied: how many games, how many of them by their record although their row was changed, and what was
    not known of settings that had to be made anew (None if they were whole)."""

    games: int
    by_record: int
    unknown: tuple[str, ...] | None


def salvage(store: Store, new: Store) -> Salvaged:
    """Copy all games of a store that are sound to a new one, with their numbers (a new one, where it has a number that
    no game gets). What is wrong with the others, and
    whether they could be read at all, does not matter: they are left out."""
    contents = store.read()
    settings = contents.settings
    rebuilt = None if "rules" in settings else _rebuilt(store)
    league = League(rebuilt or settings, contents.rows)
    new.agree(rebuilt if rebuilt is not None else {name: text for name, text in settings.items() if name != ENTRANTS})
    if contents.entrants:
        new.set_entrants(contents.entrants)
    whole = {row.number for row in contents.rows}
    numbers = store.numbers()
    copied: set[str] = set()
    by_record = 0
    # Those first whose rows are whole: of two with one id, it is the one that was stored.
    for number in sorted(numbers, key=lambda number: (not is_number(number), number not in whole, number)):
        record = store.stored(number).record
        if record is not None and record.id not in copied and not league.faults(record):
            new.add(record, number if is_number(number) else None)
            copied.add(record.id)
            by_record += number not in whole
    unknown = None
    if rebuilt is not None and copied:
        unknown = tuple(name for name in ("rules", "time", "seed", NOT_IN_RECORDS[0]) if name not in rebuilt)
        unknown += NOT_IN_RECORDS[1:]
        if rebuilt.get(OPENINGS) == OPENINGS_UNKNOWN:
            unknown += (OPENINGS,)
    return Salvaged(len(copied), by_record, unknown)


class _Game(NamedTuple):
    """What a game says of its league."""

    starts: Starts
    pair_seed: int
    players: tuple[Player, Player]
    times: Times
    opening: Opening | None


def _game(ruleset: Ruleset, record: GameRecord) -> _Game:
    return _Game(ruleset.starts, record.pair_seed, record.players, record.nominal_times, record.opening or None)


class _Said:
    """What the records of a store say together of the settings that they were made under."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[Ruleset, str], list[_Game]] = {}
        """By the rules, whoever begins, and the time for what is no move."""
        self.scales: set[tuple[int, int]] = set()
        """How fast machines were, in microseconds, and by how many per cent clocks were scaled there."""
        self.is_pondering_barred = self.has_kept = self.are_told = False

    def add(self, record: GameRecord) -> None:
        """One more game; one whose rules cannot be read says nothing."""
        try:
            ruleset = ruleset_from_lines(record.ruleset, record.rules)
        except RulesetError:
            return
        kind = replace(ruleset, starts=Starts.CHOSEN), other_times(record.time)
        self.kinds.setdefault(kind, []).append(_game(ruleset, record))
        self.is_pondering_barred = self.is_pondering_barred or record.pondered_us is not None
        self.has_kept = self.has_kept or bool(record.kept)
        self.are_told = self.are_told or bool(record.names_told)
        percent, work = record.time_percent or 0, calibration_of(record.machine or "")
        if percent > 0 and work:
            self.scales.add((work, percent))


def _rebuilt(store: Store) -> dict[str, str]:
    """The settings that most of the games were played under, as far as the games say."""
    said_by_games = _Said()
    for number in store.numbers():
        if (record := store.stored(number).record) is not None:
            said_by_games.add(record)
    if not said_by_games.kinds:
        return {}
    (ruleset, _), games = max(said_by_games.kinds.items(), key=lambda kind: len(kind[1]))
    doubtful = store.doubtful_settings()
    settings = _with_times(ruleset, games, doubtful)
    described = _with_seed(settings, games, doubtful.get("seed", ""))
    described |= settings.own_times(list({player.digest: player for game in games for player in game.players}.values()))
    for name in (KEEP_BOTS, OPPONENTS, OPENINGS):  # where nothing is said of these, it is what older versions did
        del described[name]
    if said_by_games.has_kept:
        described[KEEP_BOTS] = "yes"
    if said_by_games.are_told:
        described[OPPONENTS] = NAMED
    if 2 * sum(game.opening is not None for game in games) > len(games):
        said = doubtful.get(OPENINGS, "")
        described[OPENINGS] = said if openings_in(said) else OPENINGS_UNKNOWN
    scales = said_by_games.scales
    if scales and (reference := _reference(scales, doubtful.get(CALIBRATION, ""))):
        described[CALIBRATION] = reference_text(reference)
    if said_by_games.is_pondering_barred:
        return {**described, "pondering": "no"}
    return {name: text for name, text in described.items() if name != "pondering"}


def _reference(scales: Collection[tuple[int, int]], doubtful: str) -> int | None:
    """What clocks were scaled by, in microseconds, so that these percents follow from how fast the machines were; what
    the store says of it, if that is so. None if there is no such reference."""
    said = read_reference(doubtful)
    if said is not None and all(percent_of(work, said) == percent for work, percent in scales):
        return said
    tenths = [(work // TENTH_US, percent) for work, percent in scales]
    least = max(200 * work // (2 * percent + 1) for work, percent in tenths) + 1
    most = min(200 * work // (2 * percent - 1) for work, percent in tenths)
    return least * TENTH_US if least <= most else None


def _with_times(ruleset: Ruleset, games: list[_Game], doubtful: Mapping[str, str]) -> Settings:
    """Settings with the time that most bots have, or what the store says of it if that is true of all; and the bots
    that have another."""
    had: dict[str, Counter[TimeControl]] = {}
    for game in games:
        for player, time in zip(game.players, game.times, strict=True):
            had.setdefault(player.digest, Counter())[time] += 1
    clocks = {digest: counts.most_common(1)[0][0] for digest, counts in had.items()}
    usual = Counter(clocks.values()).most_common(1)[0][0]
    said, of_all = own_times_in(doubtful), doubtful.get("time", "")
    if all(said.get(digest, of_all) == time.text for digest, time in clocks.items()):
        with suppress(UsageError):
            usual = with_moves_of(usual, parse_time(of_all))
    own = tuple((digest, time) for digest, time in clocks.items() if time != usual)
    return Settings(ruleset, usual, bot_times=own)


def _with_seed(unseeded: Settings, games: list[_Game], doubtful: str) -> dict[str, str]:
    """The settings in words: who begins, and the seed, if it is one from which the games' own seeds follow."""
    starts = [Counter(game.starts for game in games).most_common(1)[0][0]]
    if all(game.starts is starter(game.pair_seed) for game in games):
        starts.insert(0, Starts.CHOSEN)
    met = Counter(frozenset(game.players) for game in games)
    players = next(game.players for game in games if frozenset(game.players) == met.most_common(1)[0][0])
    between = [game for game in games if frozenset(game.players) == frozenset(players)]
    seeds = {game.pair_seed for game in between}
    openings = list(dict.fromkeys(game.opening for game in between))[:OPENINGS_TRIED]
    for seed in (
        *([int(doubtful)] if doubtful.isdecimal() and len(doubtful) < LONGEST_SEED else ()),
        *range(SEEDS_TRIED),
    ):
        for start in starts:
            settings = changed(unseeded, ruleset=replace(unseeded.ruleset, starts=start), seed=seed)
            common = settings.digest(players)
            rounds = product(range(ROUNDS_TRIED), Scheme, openings)
            if any(pair_seed_of(common, players, *each) in seeds for each in rounds):
                return settings.described()
    described = changed(unseeded, ruleset=replace(unseeded.ruleset, starts=starts[0])).described()
    return {name: text for name, text in described.items() if name != "seed"}
