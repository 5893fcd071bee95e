"""Files of records, as `arena export` writes them: reading them line by line, and checking them as a whole.

A file may come from anywhere: each line is bounded, checked by itself (`arena.game.exported`), and played again.
That a whole line is missing cannot be told from a file that never had it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from arena.bots.names import expected_name, table_name_fault
from arena.errors import ArenaError, UsageError
from arena.game.exported import LONGEST_LINE, RecordEntry, SeatViewError, decode_line, encode_line
from arena.game.record import GameRecord, RecordError
from arena.game.spec import Player
from arena.league.settings import Settings, setting_fault
from arena.league.store import CALIBRATION, LIMITS_OF, TIME_OF
from arena.league.store.faults import STORE_START
from arena.league.verify import GameChecks, other_limits
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import RulesetError
from arena.system.printable import printable, shown
from arena.system.user_files import FileError, read_lines

MOST_NO_RECORDS = 100
"""Lines that are no records, after which the rest of a file is not looked at: it is another file, or is lost."""
LONGEST_FAULT = 500
"""Characters: what is wrong with a game may name what stands in it, which can be of any length."""

Progress = Callable[[int, int], None]


class LineFault(NamedTuple):
    """A fault in a line of a file."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


def read_entries(path: Path) -> Iterator[tuple[int, RecordEntry | RecordError]]:
    """The games of a file with the numbers of their lines, or what is wrong with the line.

    Raises `FileError`.
    """
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
    """The games of a file that `arena export` wrote, one after the other, as records.

    Raises `FileError` if the file cannot be read, `UsageError` with the number of the line that holds only what one
    side may know, and `ArenaError` with that of a line that is not as it was written.
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
    """Whether a setting is one bot's, and none of these is that: limits go by names, times by digests."""
    if setting.startswith(TIME_OF):
        return setting.rpartition("@")[2] not in {player.digest for player in players}
    return setting.startswith(LIMITS_OF) and setting not in {LIMITS_OF + player.name for player in players}


def shared_settings(settings: dict[str, str]) -> dict[str, str]:
    """Return the settings of a line but the limits of single bots, which the lines of other bots do not have."""
    return {name: value for name, value in settings.items() if not name.startswith(LIMITS_OF)}


def settings_fault(entry: RecordEntry) -> str | None:
    """Why a line's settings cannot be those of a league, in words; None if they can be."""
    record, settings = entry
    for player in record.players:
        fault = table_name_fault(player.name)
        if fault:
            return expected_name(player.name, fault)
    try:
        known = Settings(ruleset_from_lines(record.ruleset, record.rules), record.time).described(record.players)
    except RulesetError as error:
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
    """Give counted games as `GameChecks` takes them."""
    return (_Met(players, games) for players, games in meetings.items())


def verify_file(path: Path, progress: Progress) -> Iterator[LineFault]:
    """All that is wrong with a file of records, as it is found: a line that is not as it was written, two games of one
    id, and what `arena.league.verify` finds in a game. Games may be of several leagues. A copy of an earlier line is
    passed over and not counted, as `arena import` does.

    `progress` is told how many of how many games are done. Raises `FileError` if the file cannot be read, or was
    replaced meanwhile, and `UsageError` if a line holds only what one side may know.
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
