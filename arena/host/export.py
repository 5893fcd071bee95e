"""The public archive of a competition: the games as the public may have them, with settings, tables and seeds.

For each season it has the seed of its leagues or, until the season is finished, the SHA-256 of the seed.
"""

import hashlib
import io
import os
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
from msgspec import UNSET

from arena.errors import UsageError
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import Cup, load_cup
from arena.host.seasons import Season, SeasonState, is_whole, seasons, store_file
from arena.league.exchange import settings_of_game
from arena.league.readers import HOST, Audience, Reader
from arena.league.store import Store
from arena.league.store.document import Setting
from arena.report.placings import stored_table
from arena.system.printable import printable
from arena.system.user_files import written_whole

KIND, ARCHIVE_VERSION = "arena host archive", 1
INDEX = "cup.json"
PUBLIC = Reader(Audience.PUBLIC)
League = Literal["ladder", "final"]
LEAGUES: dict[League, str] = {"ladder": "season", "final": "final"}
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
    leagues: dict[League, PublicLeague]


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
    leagues = dict[League, PublicLeague]()
    for name, kind in LEAGUES.items():
        path = store_file(kind, folder, season.number)
        if path.is_file() and path.stat().st_size:
            file = f"season-{season.number}/{name}.jsonl"
            leagues[name] = _league(path, archive, file, say, **how)
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
            record = msgspec.structs.replace(record, **LOGS)
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
