"""Export games of a store as lines, and import them from files and other stores.

An import goes through the games twice, in one transaction of the store: first it checks that all belong together, then
it replays each new game and stores it. So an import is complete or changes nothing, and no game is held in memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.bots.limits import Limits
from arena.errors import ArenaError, UsageError
from arena.game.exported import RecordEntry, SeatViewError
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
    SETTINGS_OF_GAMES,
    Damage,
    Store,
    is_record_file,
    refuse_other_files,
    sole_use,
)
from arena.league.verify import GameChecks
from arena.stratego.rules.ruleset import RulesetError
from arena.system.printable import counted, printable, shown

FAULTS_SHOWN = 10
NOTHING_IMPORTED = "no game was imported"

Progress = Callable[[int], None]
"""Receives how many games are done."""


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
        if next(_coming(sources), None) is None:
            return Imported(0, 0)
        is_new = not target.exists()
        try:
            with Store(target, create=True) as store, store.transaction():
                store.refuse_damage()
                league = _league_of(store, sources)
                return _stored(store, sources, league, progress)
        except BaseException:
            if is_new:
                target.unlink(missing_ok=True)
            raise


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


def _league_of(store: Store, sources: Sequence[Path]) -> GameChecks:
    """Check that these games are of the store's league, which a new store gets from them; return checks of games."""
    before = store.settings()
    usual = {value for name, value in before.items() if name.startswith(LIMITS_OF)} or {Limits().text}
    meetings = Counter({pair.players: pair.games for pair in store.count().rows})
    agreed: set[frozenset[tuple[str, str]]] = set()
    played = {player.digest for player in store.players()}
    for coming in _coming(sources):
        meetings[coming.record.players] += 1
        settings = coming.entry.settings
        if (key := frozenset(settings.items())) in agreed:
            continue
        agreed.add(key)
        if fault := settings_fault(coming.entry):
            raise UsageError(f"{coming.where}: {fault}; {NOTHING_IMPORTED}")
        try:
            store.keep_agreed(settings, has_games=bool(before), players=coming.record.players, played=lambda: played)
        except UsageError as error:
            raise UsageError(f"{coming.where}: {error}; {NOTHING_IMPORTED}") from None
        for name, value in settings.items():
            if before and name.startswith(LIMITS_OF) and name not in before and value not in usual:
                raise UsageError(
                    f"{coming.where}: {shown(name)}: expected limits that bots of {store.path} have "
                    f"({'; '.join(sorted(usual))}), got {printable(value, LONGEST_FAULT)}; {NOTHING_IMPORTED}: "
                    "import it into a new store"
                )
    missing = [name for name in SETTINGS_OF_GAMES if name not in store.settings()]
    if missing:
        raise UsageError(
            f"{printable(str(sources[0]))}: expected games with the settings of their league; missing: "
            f"{', '.join(missing)}; {NOTHING_IMPORTED}"
        )
    return GameChecks(store.settings(), met(meetings))


def _stored(store: Store, sources: Sequence[Path], league: GameChecks, progress: Progress) -> Imported:
    """Replay and store every new game. Raises `ArenaError` for those that give another result."""
    faults: list[str] = []
    new: dict[str, str] = {}
    present = 0
    for coming in _coming(sources):
        row = store.row(coming.record.id)
        if row is not None:
            _, known = store.record(row.number)
            if known != coming.record:
                where = new.get(row.id, f"{printable(str(store.path))}: game {row.number}")
                raise ArenaError(_conflict(coming, _Coming(where, RecordEntry(known, {}))))
            present += 1
            continue
        words = league.faults(coming.record)
        faults += (f"    {coming.where}: {printable(each, LONGEST_FAULT)}" for each in words)
        if len(faults) > FAULTS_SHOWN:
            faults[FAULTS_SHOWN:] = ["    and perhaps others"]
            break
        if not words:
            store.add(coming.record)
            new[coming.record.id] = coming.where
            progress(len(new))
    if faults:
        raise ArenaError("\n".join([f"not every game gives its result; {NOTHING_IMPORTED}:", *faults]))
    return Imported(len(new), present)


def _conflict(coming: _Coming, other: _Coming) -> str:
    red, blue = (player.name for player in coming.record.players)
    endings = [_ending(each.record.verdict) for each in (coming, other)]
    what = "with another result" if endings[0] != endings[1] else "with other actions, times or words"
    return (
        f"game {coming.record.id} ({red} - {blue}) is there {what}; {NOTHING_IMPORTED}:\n"
        f"    {coming.where}: {endings[0]}\n    {other.where}: {endings[1]}"
    )


def _ending(verdict: Verdict) -> str:
    return f"{verdict.result.value} by {verdict.reason.value} after {counted(verdict.plies, 'ply', 'plies')}"
