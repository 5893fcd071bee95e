"""Read and check files of records, as `arena export` writes them.

A file may come from anyone: each line is bounded, checked by itself (`arena.game.exported`), and replayed. A missing
whole line cannot be noticed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from arena.bots.names import expected_name, table_name_fault
from arena.errors import ArenaError, UsageError
from arena.game.exported import LONGEST_LINE, RecordEntry, SeatViewError, decode_line, encode_line
from arena.game.game_spec import Player
from arena.game.record import GameRecord, RecordError
from arena.league.settings import Settings, setting_fault
from arena.league.store import CALIBRATION, LIMITS_OF, TIME_OF
from arena.league.store.damage import STORE_START
from arena.league.verify import GameChecks, other_limits
from arena.system.printable import printable, shown
from arena.system.user_files import FileError, read_lines

MOST_NO_RECORDS = 100
"""Lines without a record after which reading stops."""
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
            yield number, error


def read_records(path: Path) -> Iterator[GameRecord]:
    """Yield the games of a file that `arena export` wrote, as records.

    Raises `FileError` if the file cannot be read, `UsageError` with the number of a line that holds only the view of
    one side, and `ArenaError` with that of a damaged line.
    """
    for number, entry in read_entries(path):
        if isinstance(entry, RecordError):
            kind = UsageError if isinstance(entry, SeatViewError) else ArenaError
            raise kind(f"{printable(str(path))}: line {number}: {entry}")
        yield entry.record


def settings_of_game(settings: dict[str, str], record: GameRecord) -> dict[str, str]:
    """Return the league's settings for the line of one of its games: without those of other bots."""
    return {name: value for name, value in settings.items() if not _is_of_another(name, record.players)}


def _is_of_another(setting: str, players: tuple[Player, Player]) -> bool:
    """Return whether a setting is that of a bot other than these: limits have names, times digests."""
    if setting.startswith(TIME_OF):
        return setting.rpartition("@")[2] not in {player.digest for player in players}
    return setting.startswith(LIMITS_OF) and setting not in {LIMITS_OF + player.name for player in players}


def shared_settings(settings: dict[str, str]) -> dict[str, str]:
    """Return the settings of a line without the limits of single bots, which other lines do not have."""
    return {name: value for name, value in settings.items() if not name.startswith(LIMITS_OF)}


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
    unknown = sorted(settings.keys() - known.keys() - times - {CALIBRATION})
    if unknown:
        return f"settings: expected {', '.join(known)}; got {', '.join(map(shown, unknown[:3]))}"
    faults = (setting_fault(name, value) for name, value in settings.items())
    return next((f"settings: {fault}" for fault in faults if fault), None)


class _Met(NamedTuple):
    players: tuple[Player, Player]
    games: int


def met(meetings: Counter[tuple[Player, Player]]) -> Iterable[_Met]:
    return (_Met(players, games) for players, games in meetings.items())


def verify_file(path: Path, progress: Progress) -> Iterator[LineFault]:
    """Yield all faults of a file of records: damaged lines, games with the same id, and what `arena.league.verify`
    finds in a game.

    Games may be of several leagues. A copy of an earlier line is skipped and not counted. `progress` receives how many
    of how many games are done. Raises `FileError` if the file cannot be read or was replaced meanwhile, and
    `UsageError` if a line holds only the view of one side.
    """
    meetings: Counter[tuple[Player, Player]] = Counter()
    lines = 0
    bad = 0
    for lines, entry in read_entries(path):
        if isinstance(entry, SeatViewError):
            raise UsageError(
                f"{printable(str(path))}: line {lines}: expected whole games, got a redacted export, which cannot be "
                "verified: verify the store, or an export without --view"
            )
        bad += isinstance(entry, RecordError)
        if bad > MOST_NO_RECORDS:
            break
        if not isinstance(entry, RecordError):
            meetings[entry.record.players] += 1
    leagues: dict[frozenset[tuple[str, str]], GameChecks] = {}
    seen: dict[str, tuple[int, bytes]] = {}
    number = bad = copies = 0
    for number, entry in read_entries(path):
        if isinstance(entry, RecordError):
            bad += 1
            if bad > MOST_NO_RECORDS:
                yield LineFault(
                    number, f"it is no game record, like {MOST_NO_RECORDS} before it: the rest is not looked at"
                )
                break
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
            settings = shared_settings(entry.settings)
            key = frozenset(settings.items())
            if key not in leagues:
                leagues[key] = GameChecks(settings, met(meetings))
            faults = [*leagues[key].faults(entry.record), *other_limits(entry.record, entry.settings)]
            faults += filter(None, [settings_fault(entry)])
            yield from (LineFault(number, printable(words, LONGEST_FAULT)) for words in dict.fromkeys(faults))
        progress(number - copies, lines - copies)
    if number != lines:
        raise FileError(f"{printable(str(path))}: it changed while it was read")
