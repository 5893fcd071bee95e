"""The public archive of a competition: the games as the public may have them, with settings, tables and seeds.

For each season it has the seed of its leagues or, until the season is finished, the SHA-256 of the seed.

A stranger who trusts nobody can check it: all whole games are replayed, seeds are compared with their hashes and the
settings, and the format of the final is asked again for its games. An archive from before shows that no game has been
changed or left out since.
"""

import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import UNSET

from arena.errors import ArenaError, UsageError
from arena.game.exported import RecordEntry, encode_line, redact
from arena.game.faults import Verdict, forfeit
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import Cup, load_cup
from arena.host.seasons import Season, SeasonLeague, SeasonState, is_whole, league_seed, seasons, seed_hash, store_file
from arena.league.exchange import import_games, read_entries, settings_of_game, verify_file
from arena.league.game_ids import Games, contents_of
from arena.league.league_options import FormatName
from arena.league.readers import HOST, Audience, Reader
from arena.league.settings import settings_in
from arena.league.store import Store
from arena.league.store.document import Setting
from arena.league.stored_league import GamesBetween, StoredWalk, format_in
from arena.report.placings import stored_table
from arena.system.printable import counted, printable, shown
from arena.system.user_files import written_whole

KIND, ARCHIVE_VERSION = "arena host archive", 1
INDEX = "cup.json"
PUBLIC = Reader(Audience.PUBLIC)
LEAGUES = (SeasonLeague.LADDER, SeasonLeague.FINAL)
LOGS: dict[str, Any] = {"stderr": ("", ""), "notes": (), "declared": ("", ""), "authors": UNSET}
"""What bots say besides their moves is for their authors alone."""


class PublicLeague(msgspec.Struct, frozen=True):
    """A league of a season: whole games, or what both sides were told of them. `players` are names by digests."""

    file: str
    sha256: str
    games: int
    is_whole: bool
    settings: dict[str, str]
    players: dict[str, str]
    format: str
    standings: Any


class PublicSeason(msgspec.Struct, frozen=True):
    number: int
    state: SeasonState
    seed_hash: str
    seed: str
    opened: float
    finished: float | None
    leagues: dict[SeasonLeague, PublicLeague]


class PublicArchive(msgspec.Struct, frozen=True):
    kind: str
    version: int
    title: str
    address: str
    play: dict[str, Any]
    seasons: tuple[PublicSeason, ...]


def export_public(folder: Path, target: Path, say: Callable[[str], None] = lambda text: None) -> PublicArchive:
    """Write the archive of a competition, which may be running. Raises `UsageError` if the target exists."""
    cup = load_cup(folder)
    if os.path.lexists(target):
        raise UsageError(f"{printable(str(target))}: expected a file that does not exist yet")
    with closing(CupDatabase(folder / FILE)) as database:
        found = seasons(database)
    with written_whole(target, replace=False) as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        index = PublicArchive(
            KIND,
            ARCHIVE_VERSION,
            cup.title,
            cup.address,
            msgspec.to_builtins(cup.play),
            tuple(_season(folder, cup, season, archive, say) for season in found),
        )
        text = msgspec.json.format(msgspec.json.encode(index), indent=1)
        _add(archive, INDEX, io.BytesIO(text), len(text))
    return index


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, 0o644, int(time.time())
    archive.addfile(info, content)


def _season(
    folder: Path, cup: Cup, season: Season, archive: tarfile.TarFile, say: Callable[[str], None]
) -> PublicSeason:
    how = {"is_whole": is_whole(cup, season), "has_seed": season.state is SeasonState.FINISHED}
    leagues = dict[SeasonLeague, PublicLeague]()
    for kind in LEAGUES:
        path = store_file(kind, folder, season.number)
        if path.is_file() and path.stat().st_size:
            file = f"season-{season.number}/{kind.value}.jsonl"
            leagues[kind] = _league(path, archive, file, say, **how)
    return PublicSeason(
        *(season.number, season.state, season.seed_hash, season.public_seed, season.opened, season.finished),
        leagues=leagues,
    )


def _league(
    path: Path, archive: tarfile.TarFile, file: str, say: Callable[[str], None], *, is_whole: bool, has_seed: bool
) -> PublicLeague:
    """Add the games of a store. The seed of a league is left out while other games of it are to come."""
    reader = HOST if is_whole else PUBLIC
    hashed, games = hashlib.sha256(), 0
    with Store(path, create=False) as store, tempfile.TemporaryFile() as written:
        settings = {name: value for name, value in store.settings().items() if has_seed or name != Setting.SEED}
        for number in store.numbers():
            record = store.stored(number).sound
            if record is None:
                say(f"{printable(path.name)}: game {number} is damaged, and is left out")
                continue
            record = msgspec.structs.replace(record, **LOGS, verdict=_without_hints(record))
            for line in reader.lines(record, settings_of_game(settings, record)):
                written.write(line + b"\n")
                hashed.update(line + b"\n")
            games += 1
        size = written.tell()
        written.seek(0)
        _add(archive, file, written, size)
        table, kept = stored_table(store), store.kept()
    return PublicLeague(
        *(file, hashed.hexdigest(), games, is_whole, settings),
        players={player.digest: player.name for player in kept.entrants},
        format=kept.format,
        standings={"table": msgspec.to_builtins(table.table.lines), "places": msgspec.to_builtins(table.placing)},
    )


def _without_hints(record: GameRecord) -> Verdict:
    """Return the verdict of a game without hints, which can quote the standard error of a bot."""
    verdict = record.verdict
    faults = [(color, msgspec.structs.replace(fault, hint=None)) for color, fault in verdict.fault_by_loser.items()]
    return forfeit(record.players, faults, verdict.plies) if faults else verdict


MEMBER = re.compile(r"season-[1-9][0-9]{0,5}/(ladder|final)\.jsonl|cup\.json")
MOST_BYTES = 64 << 30
MOST_FAULTS = 100
SHOWN_IDS = 3


class _Unpacked:
    """The files of an archive, in a folder of their own, with their digests."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Raises `ArenaError` for what is no such archive."""
        self.folder = folder
        self.digests: dict[str, str] = {}
        size = 0
        try:
            with tarfile.open(path, mode="r|gz") as archive:
                for info in archive:
                    size += info.size
                    if not info.isreg() or not MEMBER.fullmatch(info.name) or size > MOST_BYTES:
                        raise ValueError(f"its file {shown(info.name)}")  # noqa: TRY301
                    target, content = folder / info.name, archive.extractfile(info)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("w+b") as file:
                        shutil.copyfileobj(content or io.BytesIO(), file)
                        file.seek(0)
                        self.digests[info.name] = hashlib.file_digest(file, "sha256").hexdigest()
            self.index = msgspec.json.decode((folder / INDEX).read_bytes(), type=PublicArchive)
        except (tarfile.TarError, OSError, EOFError, msgspec.MsgspecError, ValueError, RecursionError) as error:
            where, words = printable(str(path)), printable(str(error), 200)
            raise ArenaError(f"{where}: expected an archive of 'arena host export', got another: {words}") from None
        if (self.index.kind, self.index.version) != (KIND, ARCHIVE_VERSION):
            raise ArenaError(f"{printable(str(path))}: expected version {ARCHIVE_VERSION}, got {self.index.version}")

    def game_digests(self, league: PublicLeague, *, is_whole: bool) -> dict[str, str]:
        """Return a digest of each game by its id: of the whole game, or of what the public was told of it.

        The seed in the settings of a whole game does not count: it is there only after the season.
        """
        found = dict[str, str]()
        if league.is_whole:
            for _, entry in read_entries(self.folder / league.file):
                if isinstance(entry, RecordEntry):
                    record, settings = entry
                    settings.pop(Setting.SEED, None)
                    line = encode_line(record, settings) if is_whole else redact(record, None)
                    found[record.id] = hashlib.sha256(line).hexdigest()
            return found
        with (self.folder / league.file).open("rb") as lines:
            return {msgspec.json.decode(line)["id"]: hashlib.sha256(line.rstrip(b"\n")).hexdigest() for line in lines}


def verify_public(path: Path, say: Callable[[str], None], earlier: Path | None = None) -> list[str]:
    """Return all that is wrong with an archive, or other than in an `earlier` one; `say` gets what was checked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = _Unpacked(path, folder / "now")
        faults = [fault for season in archive.index.seasons for fault in _season_faults(archive, season, say)]
        if earlier is not None:
            faults += _changes(_Unpacked(earlier, folder / "earlier"), archive, say)
        return faults[:MOST_FAULTS]


def _season_faults(archive: _Unpacked, season: PublicSeason, say: Callable[[str], None]) -> Iterator[str]:
    where = f"season {season.number}"
    if season.seed:
        if seed_hash(season.seed) != season.seed_hash:
            yield f"{where}: its seed {shown(season.seed)} does not have the SHA-256 that was published"
        else:
            say(f"{where}: the seed has the SHA-256 that was published")
    elif season.state is SeasonState.FINISHED:
        yield f"{where}: it is finished, and its seed is not revealed"
    for kind, league in season.leagues.items():
        at = f"{where}, {kind.value}"
        if archive.digests.get(league.file) != league.sha256:
            yield f"{at}: {league.file} is missing or has another SHA-256 than {INDEX} says"
            continue
        if season.seed and league.settings.get(Setting.SEED) != str(league_seed(season.seed, kind)):
            yield f"{at}: it was not played with the seed of the season"
        if not league.is_whole:
            say(f"{at}: {counted(league.games, 'game')}, of which the public has what both sides were told")
            continue
        faults = [str(fault) for fault in verify_file(archive.folder / league.file, lambda done, of: None)]
        yield from (f"{at}: {fault}" for fault in faults)
        if faults or not league.games:
            continue
        say(f"{at}: {counted(league.games, 'game')} replayed, each gives its result")
        if season.seed:
            yield from (f"{at}: {fault}" for fault in _order_faults(archive, season, kind, say))


def _order_faults(
    archive: _Unpacked, season: PublicSeason, kind: SeasonLeague, say: Callable[[str], None]
) -> Iterator[str]:
    name, league = kind.value, season.leagues[kind]
    target = archive.folder / f"{name}-{season.number}.sqlite"
    import_games(target, [archive.folder / league.file], lambda done: None)
    with Store(target, create=False) as store:
        settings = settings_in(store.settings())
        if settings.seed != league_seed(season.seed, kind):
            yield "its games were not played with the seed of the season"
            return
        if kind is SeasonLeague.LADDER:
            missing = _missing_rounds(store, Games(settings))
            gaps = f"{counted(missing, 'pair')} of games that came before later ones of the same bots are not there"
            say(f"season {season.number}, {name}: all seeds follow from that of the season; {gaps}")
            return
        try:
            kept = format_in(league.format)
            players = [Player(league.players.get(digest, ""), digest) for digest in kept.players]
            former = [old for older in kept.versions(players).values() for old in older]
            if kept.options.name is FormatName.LADDER:
                store.set_ladder_since(list(kept.players), 0)
            walk = StoredWalk(kept.pairing(settings, store, players), GamesBetween(store, [*players, *former]))
        except ArenaError as error:
            yield f"its format: {error}"
            return
        if not walk.is_complete:
            yield f"it is finished, and games that follow from its seed are missing: {len(walk.missing) or 'some'}"
        if others := league.games - len(walk.numbers):
            yield f"{counted(others, 'game')} of it do not follow from its seed and its format"
        if walk.is_complete and not others:
            say(f"season {season.number}, {name}: its games are those that follow from the seed and the format")


def _missing_rounds(store: Store, games: Games) -> int:
    """Count the pairs of games between two players that come before a later one of theirs, and are not there."""
    found: dict[frozenset[str], tuple[tuple[Player, Player], set[int]]] = {}
    for row in store.each_row():
        found.setdefault(contents_of(row.players), (row.players, set()))[1].add(row.pair_seed)
    missing = 0
    for players, seeds in found.values():
        for number in count():
            if not seeds:
                break
            pair_seed = games.game(*players, number).pair_seed
            missing += pair_seed not in seeds
            seeds.discard(pair_seed)
    return missing


def _changes(before: _Unpacked, now: _Unpacked, say: Callable[[str], None]) -> Iterator[str]:
    later = {season.number: season for season in now.index.seasons}
    for season in before.index.seasons:
        where = f"season {season.number}"
        found = later.get(season.number)
        if found is None or found.seed_hash != season.seed_hash:
            yield f"{where}: the earlier archive has it, with another SHA-256 of its seed"
            continue
        for kind, league in season.leagues.items():
            other = found.leagues.get(kind)
            is_whole = league.is_whole and (other is None or other.is_whole)
            known = before.game_digests(league, is_whole=is_whole)
            games = now.game_digests(other, is_whole=is_whole) if other else {}
            lost = [game for game, digest in known.items() if games.get(game) != digest]
            at, whole = f"{where}, {kind.value}", "" if is_whole else ", as far as both archives show them"
            if lost:
                ids = ", ".join(map(printable, lost[:SHOWN_IDS]))
                yield f"{at}: {len(lost)} games of the earlier archive are missing or not the same: {ids}"
            else:
                say(f"{at}: all {counted(len(known), 'game')} of the earlier archive are as they were{whole}")
