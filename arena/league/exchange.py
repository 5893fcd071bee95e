"""Export games of a store as lines, and import them from files and other stores.

An import goes through the games twice: first it checks whether all, with those of the store, belong together; then it
replays each new game and stores it, in one transaction. So an import is complete or changes nothing, and no game is
held in memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from arena.bots.limits import Limits
from arena.errors import ArenaError, UsageError
from arena.game.exported import RecordEntry, SeatViewError, encode_line
from arena.game.game_spec import Player
from arena.game.record import GameRecord, RecordError
from arena.game.verdict import Verdict
from arena.league.readers import Reader
from arena.league.record_file import (
    LONGEST_FAULT,
    met,
    read_entries,
    settings_fault,
    settings_of_game,
)
from arena.league.store import (
    LIMITS_OF,
    NOT_CALIBRATED,
    SEPARATOR,
    SETTINGS_OF_GAMES,
    Damage,
    Store,
    is_empty_file,
    is_record_file,
    refuse_other_files,
    sole_use,
)
from arena.league.verify import GameChecks
from arena.stratego.rules.ruleset import RulesetError
from arena.system.printable import counted, printable, shown
from arena.system.user_files import FileError

FAULTS_SHOWN = 10
NOTHING_IMPORTED = "no game was imported"

Progress = Callable[[int, int], None]
"""Receives how many of how many games are done."""


def export_lines(
    store: Store, numbers: Iterable[int], reader: Reader, damaged: Callable[[Damage], None]
) -> Iterator[bytes]:
    """Yield games of a store as lines, whole or as the reader may see them.

    Damaged games are left out, and passed to `damaged`. Raises `DamagedError` if the settings are damaged.
    """
    settings = store.settings()
    for number in numbers:
        stored = store.stored(number)
        if stored.record is None or stored.damage:
            for damage in stored.damage:
                damaged(damage)
            continue
        try:
            lines = list(reader.lines(stored.record, settings_of_game(settings, stored.record)))
        except (RecordError, RulesetError) as error:
            damaged(Damage(number, str(error)))
            continue
        for line in lines:
            yield line + b"\n"


class _Coming(NamedTuple):
    """A game that may be imported, and its place in a source, for errors."""

    where: str
    entry: RecordEntry

    @property
    def record(self) -> GameRecord:
        return self.entry.record


class _Known(NamedTuple):
    sum: bytes
    where: str


class Imported(NamedTuple):
    new: int
    present: int


def import_games(target: Path, sources: Sequence[Path], progress: Progress) -> Imported:
    """Import all games of these record files and stores into a store, which may be new.

    Raises `UsageError` for sources that cannot be imported or belong to another league, and `ArenaError` for a game
    with another result than the stored or replayed one; then no game is imported. Games that are there already are
    skipped.
    """
    with sole_use(target):
        survey = _look_at(sources, target)
        missing = [name for name in SETTINGS_OF_GAMES if name not in survey.settings]
        if survey.new and missing:
            raise UsageError(
                f"{survey.first}: expected a game with the settings of its league; missing: "
                f"{', '.join(missing)}; {NOTHING_IMPORTED}"
            )
        if survey.new:
            is_new = not target.exists()
            try:
                with Store(target, create=True) as store, store.transaction():
                    _store_new(store, sources, survey, progress)
            except BaseException:
                if is_new:
                    target.unlink(missing_ok=True)
                raise
    return Imported(len(survey.new), survey.present)


def _coming(sources: Iterable[Path]) -> Iterator[_Coming]:
    for path in sources:
        where = printable(str(path))
        refuse_other_files(path)
        yield from _of_file(path, where) if is_record_file(path) else _of_store(path, where)


def _of_file(path: Path, where: str) -> Iterator[_Coming]:
    for number, entry in read_entries(path):
        if isinstance(entry, SeatViewError):
            raise UsageError(f"{where}: line {number}: {entry}; {NOTHING_IMPORTED}")
        if isinstance(entry, RecordError):
            raise ArenaError(f"{where}: line {number}: {entry}; {NOTHING_IMPORTED}")
        yield _Coming(f"{where}: line {number}", entry)


def _of_store(path: Path, where: str) -> Iterator[_Coming]:
    with Store(path, create=False) as store:
        store.refuse_damage()
        settings = store.settings()
        for row in store.each_row():
            _, record = store.record(row.number)
            yield _Coming(f"{where}: game {row.number}", RecordEntry(record, settings_of_game(settings, record)))


def _sum(record: GameRecord) -> bytes:
    return sha256(encode_line(record, {})).digest()


def _ending(verdict: Verdict) -> str:
    return f"{verdict.result.value} by {verdict.reason.value} after {counted(verdict.plies, 'ply', 'plies')}"


class _Survey:
    """The result of the first pass: the new games, the number of others, and the settings of all."""

    def __init__(self, target: Path, store: Store | None) -> None:
        self.settings = store.settings() if store else {}
        self.limits = {value for name, value in self.settings.items() if name.startswith(LIMITS_OF)}
        """The own limits of bots in the target."""
        self.is_target_new = not self.settings
        self.meetings = Counter[tuple[Player, Player]]()
        for pair in store.count().rows if store else ():
            self.meetings[pair.players] += pair.games
        self.new: dict[str, _Known] = {}
        self.present = 0
        self.first = printable(str(target))
        """The origin of the settings, for errors."""

    def is_new(self, coming: _Coming) -> bool:
        """Return whether a game is new, and this is the line or row to import it from."""
        known = self.new.get(coming.record.id)
        return known is not None and known.where == coming.where


@contextmanager
def _opened(target: Path) -> Iterator[Store | None]:
    try:
        is_there = target.exists() and not is_empty_file(target)
    except (OSError, ValueError):
        raise UsageError(f"{printable(str(target))}: expected the path of a store") from None
    if not is_there:
        yield None
        return
    with Store(target, create=False) as store:
        store.refuse_damage()
        yield store


def _look_at(sources: Sequence[Path], target: Path) -> _Survey:
    with _opened(target) as store:
        survey = _Survey(target, store)
        for coming in _coming(sources):
            fault = settings_fault(coming.entry)
            if fault:
                raise UsageError(f"{coming.where}: {fault}; {NOTHING_IMPORTED}")
            _agree(survey, coming)
            game, own = coming.record.id, _sum(coming.record)
            known = survey.new.get(game)
            row = store.row(game) if store and known is None else None
            if known is None and (store is None or row is None):
                survey.new[game] = _Known(own, coming.where)
                survey.meetings[coming.record.players] += 1
                continue
            if known:
                is_same = own == known.sum
                other = coming if is_same else next(one for one in _coming(sources) if one.record.id == game)
            else:
                assert store
                assert row
                _, record = store.record(row.number)
                is_same = own == _sum(record)
                other = _Coming(f"{printable(str(target))}: game {row.number}", RecordEntry(record, {}))
            if not is_same:
                raise ArenaError(_conflict(coming, other))
            survey.present += 1
    return survey


def _conflict(coming: _Coming, other: _Coming) -> str:
    red, blue = (player.name for player in coming.record.players)
    endings = [_ending(each.record.verdict) for each in (coming, other)]
    what = "with another result" if endings[0] != endings[1] else "with other actions, times or words"
    return (
        f"game {coming.record.id} ({red} - {blue}) is there {what}; {NOTHING_IMPORTED}:\n"
        f"    {coming.where}: {endings[0]}\n    {other.where}: {endings[1]}"
    )


def _agree(survey: _Survey, coming: _Coming) -> None:
    settings = survey.settings
    unsaid = NOT_CALIBRATED if settings else {}
    if not settings:
        survey.first = coming.where
    different = []
    for name, value in coming.entry.settings.items():
        have = settings.get(name, unsaid.get(name, value))
        if name not in settings and name.startswith(LIMITS_OF) and not survey.is_target_new:
            usual = survey.limits or {Limits().text}
            if value not in usual:
                raise UsageError(
                    f"{coming.where}: {shown(name)}: expected limits that bots of {survey.first} have "
                    f"({'; '.join(sorted(usual))}), got {printable(value, LONGEST_FAULT)}; {NOTHING_IMPORTED}: "
                    "import it into a new store"
                )
        if have != value:
            different.append(f"    {name}: expected {_others(have, value)}, got {_others(value, have)}")
        settings.setdefault(name, value)
    if different:
        raise UsageError(
            f"{survey.first}: expected games of one league, and those of {coming.where} were played under other "
            f"settings; {NOTHING_IMPORTED}:\n" + "\n".join(different)
        )


def _others(value: str, than: str) -> str:
    parts = [part for part in value.split(SEPARATOR) if part not in than.split(SEPARATOR)]
    return printable(SEPARATOR.join(parts) if parts and SEPARATOR in value else value, LONGEST_FAULT)


def _store_new(store: Store, sources: Sequence[Path], survey: _Survey, progress: Progress) -> None:
    """Replay and store every new game. Raises `ArenaError` for those that give another result."""
    store.agree(survey.settings)
    league = GameChecks(survey.settings, met(survey.meetings))
    faults: list[str] = []
    done = 0
    for coming in _coming(sources):
        if survey.is_new(coming):
            words = league.faults(coming.record)
            faults += (f"    {coming.where}: {printable(each, LONGEST_FAULT)}" for each in words)
            if len(faults) > FAULTS_SHOWN:
                faults[FAULTS_SHOWN:] = ["    and perhaps others"]
                break
            if not faults:
                store.add(coming.record)
            done += 1
            progress(done, len(survey.new))
    if faults:
        raise ArenaError("\n".join([f"not every game gives its result; {NOTHING_IMPORTED}:", *faults]))
    if done != len(survey.new):
        raise FileError(f"the files changed while they were read; {NOTHING_IMPORTED}")
