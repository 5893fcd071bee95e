"""The check of a public archive by a stranger who trusts nobody.

It replays all whole games, compares seeds with their hashes and the settings, and asks the format of the final again
for its games. An archive from before shows that no game has been changed or left out since.
"""

import hashlib
import io
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import msgspec

from arena.errors import ArenaError
from arena.game.exported import RecordEntry, redact
from arena.game.game_spec import Player
from arena.host.export import ARCHIVE_VERSION, INDEX, KIND, League, PublicArchive, PublicLeague, PublicSeason
from arena.host.seasons import SeasonState, league_seed, seed_hash
from arena.league.exchange import import_games, read_entries, verify_file
from arena.league.game_ids import Games, contents_of
from arena.league.league_options import FormatName
from arena.league.settings import settings_in
from arena.league.store import Store
from arena.league.store.document import Setting
from arena.league.stored_league import GamesBetween, StoredWalk, format_in
from arena.system.printable import counted, printable, shown

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

    def public_lines(self, league: PublicLeague) -> dict[str, str]:
        """Return the digest of what the public was told of each game, by the ids of the games."""
        if league.is_whole:
            entries = (entry for _, entry in read_entries(self.folder / league.file))
            records = (entry.record for entry in entries if isinstance(entry, RecordEntry))
            return {record.id: hashlib.sha256(redact(record, None)).hexdigest() for record in records}
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
    for name, league in season.leagues.items():
        at = f"{where}, {name}"
        if archive.digests.get(league.file) != league.sha256:
            yield f"{at}: {league.file} is missing or has another SHA-256 than {INDEX} says"
            continue
        if season.seed and league.settings.get(Setting.SEED) != str(league_seed(season.seed, name)):
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
            yield from (f"{at}: {fault}" for fault in _order_faults(archive, season, name, say))


def _order_faults(archive: _Unpacked, season: PublicSeason, name: League, say: Callable[[str], None]) -> Iterator[str]:
    league = season.leagues[name]
    target = archive.folder / f"{name}-{season.number}.sqlite"
    import_games(target, [archive.folder / league.file], lambda done: None)
    with Store(target, create=False) as store:
        settings = settings_in(store.settings())
        if settings.seed != league_seed(season.seed, name):
            yield "its games were not played with the seed of the season"
            return
        if name == "ladder":
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
        for name, league in season.leagues.items():
            known = before.public_lines(league)
            games = now.public_lines(found.leagues[name]) if name in found.leagues else {}
            lost = [game for game, line in known.items() if games.get(game) != line]
            if lost:
                ids = ", ".join(map(printable, lost[:SHOWN_IDS]))
                yield f"{where}, {name}: {len(lost)} games of the earlier archive are missing or not the same: {ids}"
            else:
                say(f"{where}, {name}: all {counted(len(known), 'game')} of the earlier archive are as they were")
