"""Archives of Gravon's games for `arena import` and `arena openings`: zips, and single files of a game.

An archive's games are records of two persons who are called after it, without clocks and numbered by their place in it:
so an archive that is imported again gives the same games. Its players' own names are in the records' `declared`.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import UsageError
from arena.game.exported import RecordEntry
from arena.game.faults import Fault, GameResult, Verdict, forfeit, verdict_of
from arena.game.game_spec import Player, person, without_clock
from arena.game.recorded import unrefereed
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games
from arena.league.settings import Settings
from arena.stratego import gravon
from arena.stratego.game import variant_of
from arena.stratego.gravon import GravonError, GravonGame, UnplayableError
from arena.stratego.rules.engine import EngineGame
from arena.system.printable import printable, shown
from arena.system.user_files import FileError, file_errors, open_regular, read_file, read_start
from protocol.notation import RESIGN
from protocol.seats import Reason

STARTS = (b"PK", b"\xef\xbb\xbf#X38FA11", b"#X38FA11", b"\xef\xbb\xbf<", b"<")
ENDINGS = (".xml", ".gsn")
USUAL = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_FILES = 200_000
MOST_MEMBERS_BYTES = 1 << 32
LONGEST_STEM = 30
MADE_BY = "Gravon"
TIMED_OUT = (11, 12, 13)
Actions = tuple[str, ...]
WHAT = "a zip of Gravon's archive, or a game of it (.xml, .gsn)"


def archived_games(path: Path, kind: str = "") -> Iterator[tuple[str, RecordEntry | str]] | None:
    """Yield where each game of an archive, or of a kind in it, is, and its record or why it has none.

    Returns None for any other file. Raises `UsageError` for an archive that cannot be read, or a kind that is none.
    """
    if kind and kind not in gravon.KINDS:
        raise UsageError(f"--kind: expected one of {', '.join(gravon.KINDS)}, got {shown(kind)}")
    return _entries(path, kind) if is_archive(path) else None


def is_archive(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return read_start(path, 16, follow=True).startswith(STARTS) or path.suffix.lower() in ENDINGS
    return False


def read_archive(path: Path) -> Iterator[tuple[str, str, GravonGame | str]]:
    """Yield where each game is, the name of its file, and the game, or why it is none. Raises `FileError`."""
    where = printable(str(path))
    for name, data in _files(path, where):
        place = where if name == path.name else f"{where}: {printable(name)}"
        try:
            yield place, name, gravon.parse_game(data)
        except GravonError as error:
            yield place, name, str(error)


def _files(path: Path, where: str) -> Iterator[tuple[str, bytes]]:
    if not read_start(path, 4, follow=True).startswith(STARTS[0]):
        yield path.name, read_file(path, where, gravon.MOST_BYTES, WHAT)
        return
    try:
        with (
            file_errors(where, WHAT),
            open(open_regular(path, follow=True), "rb") as file,
            zipfile.ZipFile(file) as archive,
        ):
            members = [
                member
                for member in archive.infolist()
                if member.filename.lower().endswith(ENDINGS) and member.compress_type in USUAL
            ]
            size = sum(member.file_size for member in members)
            if not members or len(members) > MOST_FILES or size > MOST_MEMBERS_BYTES:
                raise FileError(
                    f"{where}: expected a zip with 1 to {MOST_FILES} files of games ({', '.join(ENDINGS)}), deflated "
                    f"or stored, {MOST_MEMBERS_BYTES >> 30} GiB at most, got {len(members)} of {size >> 20} MiB"
                )
            for member in sorted(members, key=lambda each: each.filename):
                with archive.open(member) as content:
                    yield member.filename, content.read(gravon.MOST_BYTES + 1)  # a bomb is cut off here
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise FileError(f"{where}: expected {WHAT}, got a damaged or encrypted zip: {printable(str(error))}") from None


def _entries(path: Path, kind: str) -> Iterator[tuple[str, RecordEntry | str]]:
    stem = re.sub(r"[^\w.-]+", "-", path.stem, flags=re.ASCII)[:LONGEST_STEM].strip("-") or "gravon"
    players = person(f"{stem} red"), person(f"{stem} blue")
    counts: dict[str, int] = {}
    for where, name, game in read_archive(path):
        if isinstance(game, str):
            yield where, game
            continue
        if kind not in ("", game.kind):
            continue
        number = counts.get(game.kind, 0)
        try:
            entry = _entry(game, players, number, _date(name))
        except UnplayableError as error:
            yield where, f"{game.kind}: {error}"
            continue
        counts[game.kind] = number + 1
        yield where, entry


def _date(name: str) -> float:
    """Return the first day of the month in a file's name, in seconds since the epoch; 0 if there is none."""
    found = re.search(r"[.-](20\d\d)\.(\d{1,2})[.-]", name)
    year, month = (int(found[1]), int(found[2])) if found else (1970, 1)
    return datetime(year, min(max(month, 1), 12), 1, tzinfo=UTC).timestamp()


def _entry(game: GravonGame, players: tuple[Player, Player], number: int, started: float) -> RecordEntry:
    engine, actions = gravon.replay_game(game)
    red, blue = gravon.setups_of(game)
    settings = Settings(variant_of(gravon.rules_of(game.kind)), without_clock(TimeControl()))
    spec = Games(settings).game(*players, number)
    actions, verdict = _ended(game, engine, actions, players)
    record = unrefereed(
        spec,
        verdict,
        ("/".join(red), "/".join(blue)),
        actions,
        (0,) * len(actions),
        arena=MADE_BY,
        declared=game.names,
        started=started,
    )
    return RecordEntry(record, settings.described(players))


def _ended(
    game: GravonGame, engine: EngineGame, actions: Actions, players: tuple[Player, Player]
) -> tuple[Actions, Verdict]:
    """Return the actions and the verdict of a replayed game. Raises `UnplayableError` for an end that is none here."""
    outcome, winner = engine.outcome, game.winner
    if outcome is not None:
        result = GameResult.DRAW if outcome.winner is None else GameResult.win(outcome.winner)
        return actions, verdict_of(players, result, outcome.reason, len(actions))
    words = gravon.ENDINGS[game.ending]
    if winner is None:
        raise UnplayableError(len(actions) + 1, f"legal up to here, but the arena has no such end: {words}")
    is_on_move = winner != engine.to_move
    if is_on_move and game.ending == 3:
        actions = (*actions, RESIGN)
        return actions, verdict_of(players, GameResult.win(winner), Reason.RESIGN, len(actions))
    reason = Reason.TIMEOUT if is_on_move and game.ending in TIMED_OUT else Reason.CRASH
    fault = Fault(reason, f"Gravon's result {game.ending}: {words}")
    return actions, forfeit(players, [(winner.opponent, fault)], len(actions))
