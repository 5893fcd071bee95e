"""Check a whole store: whether every game is what the store says, and can have been played so.

Each record is replayed and must give the stored verdict; each row must match its record; every id must follow from the
settings, the players and a round; digests and SQLite's own structures must be sound. A consistently forged store cannot
be distinguished from a true one.
"""

import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from arena.bots.limits import Limits, read_limits
from arena.errors import ArenaError, UsageError
from arena.game import Variant
from arena.game.game_spec import is_person
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError
from arena.league.game_ids import (
    common_of,
    contents_of,
    misfit,
    pair_seed_of,
    rounds_tried,
)
from arena.league.league_options import usable_cpus
from arena.league.settings import (
    NEEDED,
    OF_BOTS,
    Settings,
    is_seed,
    other_times,
    rules_fault,
    rules_text,
    setting_fault,
)
from arena.league.store import NO_SETTINGS, Damage, GameRow, Kept, PairCount, Store
from arena.league.store.document import HIDDEN, LIMITS_OF, NAMED, NO_OPENINGS, Setting, own_times_in
from arena.league.stored_league import format_in
from arena.play.machine import calibration_of, percent_of, read_reference
from arena.sandbox.levels import Level
from arena.system.printable import shown

OF_EACH_SIDE = (Setting.TIME, Setting.OTHER_TIMES)
LEVELS = tuple(level.value for level in Level)
NOT_IN_RECORDS = (Setting.PONDERING, Setting.KEEP_BOTS, Setting.OPENINGS, Setting.OPPONENTS)

ALONE_SECONDS = 0.5
AT_ONCE = 32

Progress = Callable[[int, int], None]


def verify(store: Store, progress: Progress) -> Iterator[Damage]:
    """Yield all faults of a store. `progress` receives the number of games done and of all."""
    of_file = store.file_damage()
    contents = store.count()
    of_store = [damage for damage in contents.damage if damage.game is None]
    yield from dict.fromkeys([*of_file, *of_store])  # where a file is cut off, both see it
    numbers = store.numbers()
    if not any(damage.text in NO_SETTINGS for damage in of_store):
        for fault in store_faults(contents.settings, contents.kept, has_games=bool(numbers)):
            yield Damage(None, f"its settings: {fault}")
    league = GameChecks(contents.settings, contents.rows)
    seen: dict[str, int] = {}
    for done, game in enumerate(_checked(store, league, numbers), start=1):
        yield from (Damage(game.number, words) for words in game.faults)
        if game.id in seen:
            yield Damage(game.number, f"it has the id of game {seen[game.id]}")
        if game.id is not None:
            seen[game.id] = game.number
        progress(done, len(numbers))


class _Checked(NamedTuple):
    number: int
    id: str | None
    faults: list[str]


def _check(store: Store, league: "GameChecks", number: int) -> _Checked:
    stored = store.stored(number)
    faults = [damage.text for damage in stored.damage]
    if stored.record is None:
        return _Checked(number, None, faults)
    return _Checked(number, stored.record.id, faults + league.faults(stored.record))


def _checked(store: Store, league: "GameChecks", numbers: Iterable[int]) -> Iterator[_Checked]:
    left = deque(numbers)
    end = monotonic() + ALONE_SECONDS
    while left and (monotonic() < end or usable_cpus() == 1):
        yield _check(store, league, left.popleft())
    if not left:
        return
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # for a large store alone
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(usable_cpus(), get_context("spawn"), _begin_checking, (store.path,))
    try:
        yield from pool.map(_check_here, left, chunksize=AT_ONCE)
    except BrokenProcessPool:
        raise ArenaError("a process that checks games ended before its games were checked") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


_here: list[tuple[Store, "GameChecks"]] = []


def _begin_checking(path: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    store = Store(path, create=False, is_doubtful=True)
    contents = store.count()
    _here.append((store, GameChecks(contents.settings, contents.rows)))


def _check_here(number: int) -> _Checked:
    return _check(*_here[0], number)


def store_faults(settings: Mapping[str, str], kept: Kept, *, has_games: bool) -> Iterator[str]:
    """Yield the reasons why these cannot be the settings of a store, in words."""
    missing = [name for name in NEEDED if name not in settings] if has_games else []
    if missing:
        there = "there are no settings" if not settings else f"there is no {', no '.join(missing)}"
        yield f"{there}, and every arena that stores games says under which {', '.join(NEEDED)} they were played"
    for name in sorted(settings):
        if name not in frozenset(Setting) and not name.startswith(OF_BOTS):
            yield f"{shown(name)} is none that this version knows"
        elif name != Setting.OPENINGS:  # openings are checked for each game: a salvaged store may not know them
            fault = setting_fault(name, settings[name])
            if fault:
                yield fault
    if fault := rules_fault(settings):
        yield fault
    try:
        if kept.format:
            format_in(kept.format)
    except UsageError as error:
        yield f"format: {error}, got {shown(kept.format)}"
    if kept.sandbox not in (None, *LEVELS):
        yield f"sandbox: expected {' or '.join(LEVELS)}, got {shown(str(kept.sandbox))}"


def other_limits(record: GameRecord, settings: Mapping[str, str]) -> list[str]:
    """Return a fault for each side with limits that differ from the settings, or cannot be read."""
    faults = []
    for player, held in zip(record.players, record.confinement, strict=True):
        level, _, words = held.partition(": ")
        limits = read_limits(words)
        if not held:
            continue  # it was not started
        if limits is None or limits.text != words or level not in LEVELS:
            usual = f"{Level.BASIC.value}: {Limits().text}"
            faults.append(f"expected the isolation of {player.name}, such as {usual!r}, got {held!r}")
        elif words != (expected := settings.get(f"{LIMITS_OF}{player.name}", words)):
            faults.append(f"{player.name} had the limits {words!r}, and the store is for {expected!r}")
    return faults


class GameChecks:
    """Checks games against the settings of their store and against each other."""

    def __init__(self, settings: dict[str, str], rows: Iterable[PairCount | GameRow]) -> None:
        self._settings = settings
        self._own_times = own_times_in(settings)
        self._meetings = Counter[frozenset[str]]()
        for row in rows:
            self._meetings[contents_of(row.players)] += row.games
        self._seeds: dict[tuple[str, object], frozenset[int]] = {}
        self._rules: dict[Variant, str] = {}

    def faults(self, record: GameRecord) -> list[str]:
        faults = []
        try:
            check_record(record)
        except RecordError as error:
            faults.append(str(error).removeprefix(f"game {record.id}: "))
        words = misfit(record)
        if words:
            faults.append(words)
        try:
            if faults:
                record.variant.kind.check_variant(record.variant)
        except UsageError:
            return faults  # which the first check has named
        return faults + self._strange(record)

    def _strange(self, record: GameRecord) -> list[str]:
        if not self._settings:
            return []  # the games were stored without a league
        possible = record.variant.kind.unsettled(record.variant, record.pair_seed)
        of_store = [variant for variant in possible if rules_text(variant) == self._settings.get(Setting.RULES)]
        variant = of_store[0] if of_store else record.variant
        faults = [
            f"it was played under {name} {value!r}, and the store is for {self._settings[name]!r}"
            for name, value in Settings(variant, record.time).described().items()
            if name not in (*NOT_IN_RECORDS, *OF_EACH_SIDE, Setting.SEED) and self._settings.get(name, value) != value
        ]
        faults += self._other_clocks(record) + self._other_scale(record)
        faults += self._other_choices(record) + other_limits(record, self._settings)
        digits = self._settings.get(Setting.SEED, "")
        if faults or Setting.RULES not in self._settings or not is_seed(digits):
            return faults  # that there is no seed is a fault of the store, and not of each game
        return self._out_of_place(record, variant, int(digits))

    def _other_clocks(self, record: GameRecord) -> list[str]:
        is_handicap = any(player.digest in self._own_times for player in record.players) or record.blue_time
        faults = []
        for player, time in zip(record.players, record.nominal_times, strict=True):
            usual = self._settings.get(Setting.TIME, time.text)
            expected = {
                Setting.TIME: self._own_times.get(player.digest, usual),
                Setting.OTHER_TIMES: self._settings.get(Setting.OTHER_TIMES, other_times(time)),
            }
            if is_person(player):  # without a limit on the set-up
                expected[Setting.OTHER_TIMES] = other_times(time)
            for name, value in ((Setting.TIME, time.text), (Setting.OTHER_TIMES, other_times(time))):
                if expected[name] != value:
                    who = f" by {player.name}" if is_handicap else ""
                    faults.append(f"it was played under {name} {value!r}{who}, and the store is for {expected[name]!r}")
        return list(dict.fromkeys(faults))

    def _other_scale(self, record: GameRecord) -> list[str]:
        """Return where the clocks were scaled by a factor that does not follow from machine and store."""
        percent, setting = record.time_percent or None, self._settings.get(Setting.CALIBRATION)
        reference, work = read_reference(setting or ""), calibration_of(record.machine or "")
        expected = percent_of(work, reference) if work and reference else None
        if percent == expected and (expected or setting is None):
            return []
        how = f"scaled to {percent}%" if percent else "not scaled"
        follow = f"{expected}% follow" if expected else "nothing follows"
        return [
            f"its clocks were {how}, and {follow} from the store's calibration ({setting or 'none'}) and the machine's"
        ]

    def _other_choices(self, record: GameRecord) -> list[str]:
        faults = []
        if self._settings.get(Setting.PONDERING) == "no" and record.pondered_us is None:
            faults.append("what was used in the opponent's turns is not there, and the store is for no pondering")
        if record.kept and any(record.kept) and self._settings.get(Setting.KEEP_BOTS, "no") == "no":
            faults.append("a bot was kept from another game, and the store is for new processes")
        if bool(record.names_told) is not (self._settings.get(Setting.OPPONENTS, HIDDEN) == NAMED):
            told = "told" if record.names_told else "not told"
            faults.append(f"the bots were {told} each other's names, which the store says otherwise")
        openings = self._settings.get(Setting.OPENINGS, NO_OPENINGS)
        if bool(record.opening) is not (openings != NO_OPENINGS):
            way = "with" if record.opening else "without"
            faults.append(f"it was played {way} an opening, and the store is for {openings}")
        return faults

    def _out_of_place(self, record: GameRecord, variant: Variant, seed: int) -> list[str]:
        if variant not in self._rules:
            self._rules[variant] = variant.kind.digest(variant)
        common = common_of(self._rules[variant], seed, record.players, record.nominal_times)
        who = contents_of(record.players)
        seeds = (
            pair_seed_of(common, record.players, number, opening=record.opening or None)
            for number in rounds_tried(self._meetings[who])
        )
        if record.opening:  # few pairs have the same, so no table of their seeds is made
            is_known = record.pair_seed in seeds
        else:
            if (common, who) not in self._seeds:
                self._seeds[common, who] = frozenset(seeds)
            is_known = record.pair_seed in self._seeds[common, who]
        return [] if is_known else ["its pair's seed follows from no round of this league"]


def salvage(store: Store, new: Store) -> int:
    """Copy each game with a readable record that gives its result when replayed; return their number.

    Of two with one id, the undamaged one is copied. Raises `UsageError` if the settings cannot be read at all.
    """
    document = store.unchecked_settings()
    if document is None:
        raise UsageError(
            f"{store.path}: the settings of its games are lost, and without them it is unknown which league the games "
            "are of: no game was copied"
        )
    contents = store.count()
    league = GameChecks(document.games, contents.rows)
    new.agree(document.games)
    new.keep(entrants=document.kept.entrants)
    copied = 0
    for number in sorted(store.numbers(), key=lambda number: store.stored(number).sound is None):
        record = store.stored(number).record
        if record is not None and record.id not in new and not league.faults(record):
            new.add(record)
            copied += 1
    return copied
