"""An open store: one SQLite file for one league, in which each game is stored completely or not at all."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import msgspec
from msgspec.structs import replace

from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.game.record import STRATEGO_1, GameRecord
from arena.league.store.database import Damage, DamagedError, Database, StoreError
from arena.league.store.document import (
    LIMITS_OF,
    NOT_CALIBRATED,
    SETTINGS_OF_GAMES,
    TIME_OF,
    VALUE_SHOWN,
    Document,
    Kept,
    LadderStart,
    Setting,
    decode_document,
    differences,
    encode_document,
    time_differences,
    without_known_times,
)
from arena.league.store.game_row import FEWEST_DIGITS, LAST_NUMBER, Columns, GameRow, digest_of, row_from
from arena.league.store.game_table import GameTable
from arena.league.store.groups import Groups
from arena.league.store.store_file import check_tables, is_fresh, make_tables
from arena.system.printable import printable

if TYPE_CHECKING:
    from arena.bots.limits import Limits

SETTINGS_CHANGED = "the settings were changed after they were stored"
SETTINGS_UNREADABLE = "the settings cannot be read any more"
NO_SETTINGS = (SETTINGS_CHANGED, SETTINGS_UNREADABLE)
DIFFERENCES_SHOWN = 6
LARGEST_CHARACTER = "\U0010ffff"
MOST_OF_A_BOT = 64 * 1024

Rows = TypeVar("Rows", bound=list[GameRow] | Groups)


class Contents(NamedTuple, Generic[Rows]):
    """The undamaged games, as rows in the order in which they were stored or counted; the settings, and the damage.

    `not_counted` games are missing in the rows if only games of the last league were requested.
    """

    rows: Rows
    settings: dict[str, str]
    kept: Kept = Kept()
    damage: tuple[Damage, ...] = ()
    not_counted: int = 0

    @property
    def entrants(self) -> tuple[Player, ...]:
        return self.kept.entrants


class BotNote(NamedTuple):
    """The place of a bot, its arguments, and the fingerprints of its files."""

    place: str
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = {}


class Store(GameTable):
    """An open store. Use it in a `with` statement."""

    def __init__(self, path: Path, create: bool, *, is_doubtful: bool = False) -> None:
        """Open the store at `path`, or with `create` make a new one; a doubtful one is only read."""
        fresh = is_fresh(path, create)
        super().__init__(Database(path, write=create), is_doubtful=is_doubtful)
        try:
            if is_doubtful:
                self._database.prepare_for_salvage()
            self._database.prepare()
            if fresh:
                make_tables(self._database)
            check_tables(self._database)
        except BaseException:
            self._database.close()
            raise

    @property
    def path(self) -> Path:
        return self._database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def transaction(self) -> AbstractContextManager[None]:
        return self._database.transaction()

    # --- settings -----------------------------------------------------------------------------------------------------

    def read_document(self) -> tuple[Document, tuple[Damage, ...]]:
        try:
            found = self._database.query("SELECT document, digest FROM settings")
        except StoreError:
            return Document(), (Damage(None, SETTINGS_UNREADABLE),)
        if len(found) == 1 and isinstance(data := found[0][0], bytes) and digest_of(data) == found[0][1]:
            document = decode_document(data)
            if document is not None:
                return document, ()
        return Document(), (Damage(None, SETTINGS_CHANGED),)

    def _document(self) -> Document:
        document, damage = self.read_document()
        self._refuse(damage)
        return document

    def settings(self) -> dict[str, str]:
        """Return the settings that all games of this store share. Raises `DamagedError`."""
        return self._document().games

    def kept(self) -> Kept:
        """Return the last league's data. Raises `DamagedError`."""
        return self._document().kept

    def claims(self) -> Kept:
        """Return the last league's data; empty if it is damaged."""
        return self.read_document()[0].kept

    def unchecked_settings(self) -> Document | None:
        """Return the settings even if they were changed; None if they cannot be read."""
        with suppress(StoreError):
            for (data,) in self._database.query("SELECT document FROM settings"):
                return decode_document(data)
        return None

    def limits(self) -> "dict[str, Limits]":
        """Return the limits of bots in the settings, by their names; empty if the settings are damaged."""
        from arena.bots.limits import read_limits  # not loaded where tables are made

        said = {name: text for name, text in self.read_document()[0].games.items() if name.startswith(LIMITS_OF)}
        read = {name.removeprefix(LIMITS_OF): read_limits(text) for name, text in said.items()}
        return {name: limits for name, limits in read.items() if limits}

    def agree(self, settings: Mapping[str, str], players: Sequence[Player] = ()) -> None:
        """Store these settings, or raise `UsageError` if the store has games under others.

        Every program that adds games calls this first. Raises `DamagedError` if anything in the store is damaged.
        """
        self.refuse_damage()
        with self._database.transaction():  # another process may be about to do the same
            self.keep_agreed(
                settings,
                has_games=self.last_number() > 0,
                players=players,
                played=lambda: {player.digest for player in self.players()},
            )

    def keep_agreed(
        self,
        asked: Mapping[str, str],
        *,
        has_games: bool,
        players: Sequence[Player],
        played: Callable[[], Collection[str]],
    ) -> None:
        """Store these settings of games, inside a transaction; `played` returns the digests of players with games."""
        document = self._document()
        present = {**NOT_CALIBRATED, **document.games} if has_games else document.games
        lost = [name for name in SETTINGS_OF_GAMES if name in asked and name not in present]
        if lost and has_games:
            words = f"it holds games, and not what they were played under ({', '.join(lost)})"
            raise DamagedError(self.path, (Damage(None, words),))
        games = [
            printable(each.get(Setting.GAME, STRATEGO_1), VALUE_SHOWN)
            for each in (present, asked)
            if Setting.RULESET in each
        ]
        if len(set(games)) > 1:
            raise UsageError(
                f"{self.path}: this store holds games of {games[0]}, and {games[1]} was asked for: a store is for one "
                "game and version; name the game with --game, or another store"
            )
        of_all = {name: value for name, value in asked.items() if not name.startswith(TIME_OF)}
        different = differences(present, {**NOT_CALIBRATED, **of_all} if of_all else {})
        different += time_differences(
            present, asked, players, lambda: {*played(), *(player.digest for player in document.kept.entrants)}
        )
        if different:
            if len(different) > DIFFERENCES_SHOWN:
                different[DIFFERENCES_SHOWN:] = [f"    and {len(different) - DIFFERENCES_SHOWN} more"]
            lines = "\n".join(different)
            raise UsageError(
                f"{self.path}: this store holds games under other settings:\n{lines}\n"
                "use another store, so that the two do not get into one table"
            )
        new = {name: value for name, value in without_known_times(asked, present).items() if name not in present}
        if new:
            self._write({**document.games, **new}, document.kept)

    def keep(self, **fields: Any) -> None:
        self._change_kept(lambda _: fields)

    def _change_kept(self, changes: Callable[[Kept], Mapping[str, Any]]) -> None:
        with self._database.transaction():
            document = self._document()
            kept = replace(document.kept, **changes(document.kept))
            if kept != document.kept:
                self._write(document.games, kept)

    def _write(self, games: Mapping[str, str], kept: Kept) -> None:
        try:
            data = encode_document(games, kept)
        except UnicodeEncodeError:
            raise StoreError(f"{self.path}: expected text that can be stored as UTF-8") from None
        self._database.query("UPDATE settings SET document = ?, digest = ?", data, digest_of(data))

    def note_bots(self, notes: Mapping[str, BotNote], played: Collection[str]) -> None:
        """Store notes on players, by digest. Those on other players stay if these have `played`.

        Files and arguments that are too many, or not UTF-8, are not stored.
        """
        files = {digest: dict(note.files) for digest, note in notes.items() if note.files and _fits(note.files)}
        words = {digest: note.arguments for digest, note in notes.items() if note.arguments and _fits(note.arguments)}
        self._change_kept(
            lambda kept: {
                "files": {**_only(kept.files, played), **files},
                "arguments": {**_only(kept.arguments, played), **words},
                "places": {**_only(kept.places, played), **{digest: note.place for digest, note in notes.items()}},
            }
        )

    def set_places(self, places: Mapping[str, str]) -> None:
        self._change_kept(lambda kept: {"places": {**kept.places, **places}})

    def ladder_since(self, digests: Sequence[str]) -> int | None:
        """Return the last game that a ladder of exactly these players began with; None if there is none."""
        start = self.kept().ladder
        return start.since if start and start.players == tuple(digests) else None

    def set_ladder_since(self, digests: Sequence[str], number: int) -> None:
        self.keep(ladder=LadderStart(tuple(digests), number))

    # --- games --------------------------------------------------------------------------------------------------------

    def read(self, *, counted: bool = False) -> Contents[list[GameRow]]:
        """Return all undamaged data and the damage, with all rows (or only `counted` ones) in memory."""
        return self._read_with(lambda rows: list(map(row_from, rows)), counted=counted)

    def count(self, *, counted: bool = False) -> Contents[Groups]:
        """Do as `read`, with the games counted, in memory that does not grow with the games of the same players."""
        return self._read_with(Groups, counted=counted)

    def _read_with(self, collect: Callable[[Iterator[Columns]], Rows], *, counted: bool = False) -> Contents[Rows]:
        with self._database.transaction("BEGIN"):
            document, settings_damage = self.read_document()
            last = self.last_number()
        kept = document.kept if counted else Kept()
        damage: list[Damage] = []
        passed_over = 0

        def wanted() -> Iterator[Columns]:
            nonlocal passed_over
            for columns in self.whole(last, damage):
                if kept.leaves_out(columns[0]):
                    passed_over += 1
                else:
                    yield columns

        rows = collect(wanted())
        return Contents(rows, document.games, document.kept, (*damage, *settings_damage), passed_over)

    def each_row(self, players: Collection[Player] | None = None, *, counted: bool = False) -> Iterator[GameRow]:
        """Yield the undamaged rows, or those of games of these players, without reporting damage as `count` does."""
        if players is None:
            kept = self.claims() if counted else Kept()
            yield from (row_from(one) for one in self.whole(self.last_number(), []) if not kept.leaves_out(one[0]))
            return
        wanted = set(players)
        rows = self.rows_of_players(sorted({player.digest for player in wanted}))
        yield from (row for row in rows if not wanted.isdisjoint(row.players))

    def rows(self) -> list[GameRow]:
        """Return all stored games, in order. Raises `DamagedError` if anything in the store is damaged."""
        contents = self.read()
        self._refuse(contents.damage)
        return contents.rows

    def refuse_damage(self) -> None:
        """Raise `DamagedError` if anything is damaged, the records included, which `read` does not check."""
        self._refuse((*self.count().damage, *self.records_damage()))

    def _refuse(self, damage: tuple[Damage, ...]) -> None:
        if damage:
            raise DamagedError(self.path, damage)

    def refuse_changed(self) -> None:
        """Raise `StoreChangedError` if the file at `path` is no longer the open one."""
        self._database.refuse_moved()

    def file_damage(self) -> list[Damage]:
        return self._database.damage()

    def __contains__(self, game_id: object) -> bool:
        return bool(self._database.query("SELECT 1 FROM games WHERE id = ?", game_id))

    def record(self, game: str | int) -> tuple[int, GameRecord]:
        """Return the number and the record of a game, by its number or the start of its id. Raises `ArenaError`."""
        query = self._database.query
        found = []
        if isinstance(game, int) or (game.isdecimal() and len(game) <= len(str(LAST_NUMBER))):
            found = query("SELECT number FROM games WHERE number = ?", int(game))
        may_be_id = isinstance(game, str) and not (game.isdecimal() and len(game) < FEWEST_DIGITS)
        if not found and may_be_id:
            found = query(
                "SELECT number FROM games WHERE id >= ? AND id < ? LIMIT 2", game, f"{game}{LARGEST_CHARACTER}"
            )
        if len(found) == 1:
            stored = self.stored(found[0][0])
            if stored.record is None or stored.damage:
                raise DamagedError(self.path, stored.damage)
            return stored.number, stored.record
        if found:
            raise UsageError(f"{self.path}: several games have an id that starts with {game!r}; give more characters")
        last = self.last_number()
        expected = f"expected a number from 1 to {last}" if last else "no game is stored here yet"
        or_id = " or the start of an id" if last and may_be_id else ""
        raise UsageError(f"{self.path}: there is no game {game!r}; {expected}{or_id}")

    def players_as_now_called(self) -> list[Player]:
        """Return all players, as `players` does, and then the last participants among them, who may have new names."""
        played = self.players()
        digests = {player.digest for player in played}
        return [*played, *(player for player in self.claims().entrants if player.digest in digests)]

    def count_others(self, players: Sequence[Player]) -> int:
        """Count the games with a bot that is none of these, nor another version of one: by digest and name."""
        names, digests = {player.name for player in players}, {player.digest for player in players}
        found = self._database.query("SELECT number, name, digest FROM players")
        known = ", ".join(str(number) for number, name, digest in found if name in names or digest in digests)
        ((count,),) = self._database.query(
            f"SELECT count(*) FROM games WHERE red NOT IN ({known}) OR blue NOT IN ({known})"
        )
        return int(count)


def _only(values: Mapping[str, Any], digests: Collection[str]) -> dict[str, Any]:
    return {digest: value for digest, value in values.items() if digest in digests}


def _fits(value: object) -> bool:
    with suppress(UnicodeEncodeError):
        return len(msgspec.json.encode(value)) <= MOST_OF_A_BOT
    return False
