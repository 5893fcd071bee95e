"""Files of records, as `arena export` writes them: export, check, and import into a store, also from other stores.

A file may come from anyone. An import goes through the games twice, in one transaction: first it checks that all belong
together, then it replays each new game and stores it. So it is complete or changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from arena.bots.limits import Limits
from arena.bots.names import expected_name, table_name_fault
from arena.errors import ArenaError, UsageError
from arena.game.exported import LONGEST_LINE, RecordEntry, SeatViewError, decode_line, encode_line
from arena.game.game_spec import Player
from arena.game.record import GameRecord, RecordError
from arena.league.readers import Reader
from arena.league.settings import Settings, check_game, rules_fault, setting_fault
from arena.league.store import Damage, PairCount, Store, is_record_file, refuse_other_files, sole_use
from arena.league.store.database import STORE_START
from arena.league.store.document import LIMITS_OF, SETTINGS_OF_GAMES, TIME_OF, Setting
from arena.league.verify import GameChecks, other_limits
from arena.system.printable import counted, printable, shown
from arena.system.user_files import FileError, read_lines

MOST_NO_RECORDS = 100
LONGEST_FAULT = 500
"""Characters of a fault, which may quote text of any length from a game."""

Progress = Callable[[int, int], None]


class LineFault(NamedTuple):
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


def read_entries(path: Path) -> Iterator[tuple[int, RecordEntry | RecordError]]:
    """Yield the games of a file, or the fault of a line, with the numbers of their lines. Raises `FileError`."""
    bad = 0
    for number, line in enumerate(read_lines(path, LONGEST_LINE, "a file of game records"), start=1):
        if number == 1 and line.startswith(STORE_START):
            raise FileError(
                f"{printable(str(path))}: expected a file of game records, got a store: 'arena export' writes its "
                "games into such a file; in Python, arena.League(STORE).games() and .record(NUMBER) read it as it is"
            )
        if len(line) > LONGEST_LINE:
            yield number, RecordError(f"expected at most {LONGEST_LINE} bytes, got a longer line")
            return
        content = line.removesuffix(b"\n")
        try:
            yield number, decode_line(content, is_ended=content != line)
        except RecordError as error:
            bad += 1
            if bad > MOST_NO_RECORDS:
                words = f"it is no game record, like {MOST_NO_RECORDS} before it: the rest is not looked at"
                yield number, RecordError(words)
                return
            yield number, error


def read_records(path: Path) -> Iterator[GameRecord]:
    """Yield the games of a file that `arena export` wrote, as records. Raises `ArenaError`."""
    for number, entry in read_entries(path):
        if isinstance(entry, RecordError):
            kind = UsageError if isinstance(entry, SeatViewError) else ArenaError
            raise kind(f"{printable(str(path))}: line {number}: {entry}")
        yield entry.record


def numbered_records(path: Path) -> Iterator[tuple[int, GameRecord]]:
    """Yield the games of a store, or of a file that `arena export` wrote, with their numbers in it."""
    if is_record_file(path):
        yield from enumerate(read_records(path), start=1)
        return
    with Store(path, create=False) as store:
        for number in store.numbers():
            yield store.record(number)


def settings_of_game(settings: dict[str, str], record: GameRecord) -> dict[str, str]:
    """Return the league's settings without those of bots that are not in this game."""
    return {name: value for name, value in settings.items() if not _is_of_another(name, record.players)}


def _is_of_another(setting: str, players: tuple[Player, Player]) -> bool:
    if setting.startswith(TIME_OF):  # times have digests, limits names
        return setting.rpartition("@")[2] not in {player.digest for player in players}
    return setting.startswith(LIMITS_OF) and setting not in {LIMITS_OF + player.name for player in players}


def settings_fault(entry: RecordEntry) -> str | None:
    """Return why a line's settings cannot be those of a league; None if they can be."""
    record, settings = entry
    for player in record.players:
        fault = table_name_fault(player.name)
        if fault:
            return expected_name(player.name, fault)
    try:
        record.variant.kind.check_variant(record.variant)
        known = Settings(record.variant, record.time).described(record.players)
    except UsageError as error:
        return str(error)
    times = {name for name in settings if name.startswith(TIME_OF) and not _is_of_another(name, record.players)}
    unknown = sorted(settings.keys() - known.keys() - times - {Setting.CALIBRATION})
    if unknown:
        return f"settings: expected {', '.join(known)}; got {', '.join(map(shown, unknown[:3]))}"
    faults = (*(setting_fault(name, value) for name, value in settings.items()), rules_fault(settings))
    return next((f"settings: {fault}" for fault in faults if fault), None)


def verify_file(path: Path, progress: Progress) -> Iterator[LineFault]:
    """Yield all faults of a file of records, of one or several leagues; a copy of an earlier line is skipped.

    Raises `FileError` if the file cannot be read or was replaced meanwhile, and `UsageError` for the view of one side.
    """
    meetings: Counter[tuple[Player, Player]] = Counter()
    lines = 0
    for lines, entry in read_entries(path):
        if isinstance(entry, SeatViewError):
            raise UsageError(
                f"{printable(str(path))}: line {lines}: expected whole games, got a redacted export, which cannot be "
                "verified: verify the store, an export without --view, or the archive of a competition"
            )
        if lines == 1 and isinstance(entry, RecordEntry):
            check_game(entry.settings, printable(str(path)))
        if isinstance(entry, RecordEntry):
            meetings[entry.record.players] += 1
    leagues: dict[frozenset[tuple[str, str]], GameChecks] = {}
    seen: dict[str, tuple[int, bytes]] = {}
    number = copies = 0
    for number, entry in read_entries(path):
        if isinstance(entry, RecordError):
            yield LineFault(number, str(entry))
        else:
            own = sha256(encode_line(*entry)).digest()
            first, of_first = seen.setdefault(entry.record.id, (number, own))
            if first != number and own == of_first:
                copies += 1
                progress(number - copies, lines - copies)
                continue
            if first != number:
                yield LineFault(number, f"it has the id of the game in line {first}, and is not the same")
            # other lines have no limits of this line's bots
            settings = {name: value for name, value in entry.settings.items() if not name.startswith(LIMITS_OF)}
            key = frozenset(settings.items())
            if key not in leagues:
                leagues[key] = GameChecks(settings, starmap(PairCount, meetings.items()))
            faults = [*leagues[key].faults(entry.record), *other_limits(entry.record, entry.settings)]
            faults += filter(None, [settings_fault(entry)])
            yield from (LineFault(number, printable(words, LONGEST_FAULT)) for words in dict.fromkeys(faults))
        progress(number - copies, lines - copies)
    if number != lines:
        raise FileError(f"{printable(str(path))}: it changed while it was read")


FAULTS_SHOWN = 10
NOTHING_IMPORTED = "no game was imported"


def export_lines(
    store: Store, numbers: Iterable[int], reader: Reader, damaged: Callable[[Damage], None]
) -> Iterator[bytes]:
    """Yield games of a store as lines, whole or as the reader may see them; damaged games are passed to `damaged`."""
    settings = store.settings()
    for number in numbers:
        stored = store.stored(number)
        if stored.record is None or stored.damage:
            for damage in stored.damage:
                damaged(damage)
            continue
        try:
            lines = list(reader.lines(stored.record, settings_of_game(settings, stored.record)))
        except (RecordError, UsageError) as error:
            damaged(Damage(number, str(error)))
            continue
        for line in lines:
            yield line + b"\n"


class _Coming(NamedTuple):
    where: str
    entry: RecordEntry

    @property
    def record(self) -> GameRecord:
        return self.entry.record


class Imported(NamedTuple):
    new: int
    present: int
    left_out: tuple[str, ...] = ()
    """Where the games of archives are that have no record here, and why."""


Archive = Callable[[Path, str], Iterator[tuple[str, RecordEntry | str]] | None]
"""Reads an archive of another program, or its games of a kind: yields where each is, and it or why it is left out.

Returns None for other files.
"""


def import_games(
    target: Path,
    sources: Sequence[Path],
    progress: Callable[[int], None],
    archive: Archive | None = None,
    kind: str = "",
) -> Imported:
    """Import the games of these record files, stores and archives that a store, perhaps a new one, lacks.

    Games of an archive that cannot be replayed are left out. Raises `UsageError` for sources that cannot be imported or
    belong to another league, and `ArenaError` for a game with another result than the stored or replayed one; then no
    game is imported.
    """
    left_out: list[str] = []
    opened = [_opened(path, archive and archive(path, kind), left_out) for path in sources]
    with sole_use(target):
        if next(_coming(opened), None) is None:
            return Imported(0, 0, tuple(left_out))
        is_new = not target.exists()
        try:
            with Store(target, create=True) as store, store.transaction():
                store.refuse_damage()
                league = _league_of(store, opened)
                return _stored(store, opened, league, progress)._replace(left_out=tuple(left_out))
        except BaseException:
            if is_new:
                target.unlink(missing_ok=True)
            raise


Source = Path | tuple[_Coming, ...]
"""A file to read, or the games of an archive, which are replayed only once."""


def _opened(path: Path, games: Iterator[tuple[str, RecordEntry | str]] | None, left_out: list[str]) -> Source:
    if games is None:
        return path
    found = list(games)
    left_out += (f"{where}: {why}" for where, why in found if isinstance(why, str))
    return tuple(_Coming(where, entry) for where, entry in found if not isinstance(entry, str))


def _coming(sources: Iterable[Source]) -> Iterator[_Coming]:
    for path in sources:
        if isinstance(path, tuple):
            yield from path
            continue
        where = printable(str(path))
        refuse_other_files(path)
        yield from _of_file(path, where) if is_record_file(path) else _of_store(path, where)


def _of_file(path: Path, where: str) -> Iterator[_Coming]:
    for number, entry in read_entries(path):
        if isinstance(entry, SeatViewError):
            raise UsageError(f"{where}: line {number}: {entry}; {NOTHING_IMPORTED}")
        if isinstance(entry, RecordError):
            raise ArenaError(f"{where}: line {number}: {entry}; {NOTHING_IMPORTED}")
        check_game(entry.settings, where)
        yield _Coming(f"{where}: line {number}", entry)


def _of_store(path: Path, where: str) -> Iterator[_Coming]:
    with Store(path, create=False) as store:
        store.refuse_damage()
        settings = store.settings()
        check_game(settings, where)
        for row in store.each_row():
            _, record = store.record(row.number)
            yield _Coming(f"{where}: game {row.number}", RecordEntry(record, settings_of_game(settings, record)))


def _league_of(store: Store, sources: Sequence[Source]) -> GameChecks:
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
            f"{next(_coming(sources)).where}: expected games with the settings of their league; missing: "
            f"{', '.join(missing)}; {NOTHING_IMPORTED}"
        )
    return GameChecks(store.settings(), starmap(PairCount, meetings.items()))


def _stored(store: Store, sources: Sequence[Source], league: GameChecks, progress: Callable[[int], None]) -> Imported:
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
    verdicts = [each.record.verdict for each in (coming, other)]
    endings = [f"{v.result.value} by {v.reason.value} after {counted(v.plies, 'ply', 'plies')}" for v in verdicts]
    what = "with another result" if endings[0] != endings[1] else "with other actions, times or words"
    return (
        f"game {coming.record.id} ({red} - {blue}) is there {what}; {NOTHING_IMPORTED}:\n"
        f"    {coming.where}: {endings[0]}\n    {other.where}: {endings[1]}"
    )
