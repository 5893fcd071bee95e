"""An open store: one SQLite file for one league, in which each game is stored completely or not at all.

A game is a row for tables, and its record in a table of its own. The settings that all games share are next to them.
Damaged data is reported and never counts: `read` returns the undamaged games and lists the damage, `rows` refuses a
damaged store.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import msgspec

from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.store.database import Damage, DamagedError, Database
from arena.league.store.document import LIMITS_OF, NO_GAMES, Kept, LadderStart, files_key
from arena.league.store.game_row import LAST_NUMBER, Columns, GameRow, row_from
from arena.league.store.game_table import GameTable
from arena.league.store.groups import Groups
from arena.league.store.store_tables import SettingsTable, check_tables, is_fresh, make_tables

if TYPE_CHECKING:
    from arena.bots.limits import Limits


Rows = TypeVar("Rows", bound=list[GameRow] | Groups)


class Contents(NamedTuple, Generic[Rows]):
    """The undamaged rows, in the order in which they were stored, or these games counted (`Groups`); the settings of
    the games, the league's data, and the damage.

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


LARGEST_CHARACTER = "\U0010ffff"
MOST_OF_FILES = MOST_OF_ARGUMENTS = 64 * 1024
"""The most bytes of the fingerprints of one bot's files, and of all arguments."""


class KeptFiles(NamedTuple):
    """The fingerprints of a player's files. Those of other players of its name stay if they are `versions`."""

    player: Player
    files: Mapping[str, str]
    versions: Sequence[Player] = ()


class Store(GameTable, SettingsTable):
    """An open store. Use it in a `with` statement."""

    def __init__(self, path: Path, create: bool, *, is_doubtful: bool = False) -> None:
        """Open the store at `path`, or with `create` make a new one there.

        One that `is_doubtful` is only read, even if it is damaged. Raises `UsageError` if there is no store, or one of
        another version.
        """
        fresh = is_fresh(path, create)
        super().__init__(Database(path, write=create), is_doubtful=is_doubtful)
        database = self._database
        try:
            if is_doubtful:
                database.prepare_for_salvage()
            database.prepare()
            if fresh:
                make_tables(database)
            check_tables(database)
        except BaseException:
            database.close()
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

    def agree(self, settings: Mapping[str, str], players: Sequence[Player] = ()) -> None:
        """Store these settings, or raise `UsageError` if the store already holds games under others.

        The store may hold no games of the participating `players` under another clock. Every program that adds games
        calls this first, so all records are compared with their digests, too. Raises `DamagedError` if anything in the
        store is damaged, or it holds games without settings.
        """
        self.refuse_damage()
        with self._database.transaction():  # another process may be about to do the same
            self.keep_agreed(
                settings,
                has_games=self.last_number() > 0,
                players=players,
                played=lambda: {player.digest for player in self.players()},
            )

    def transaction(self) -> AbstractContextManager[None]:
        """A transaction for several changes: all of them are stored or, after an exception, none."""
        return self._database.transaction()

    def set_files(self, kept: Iterable[KeptFiles]) -> None:
        """Store the fingerprints of the files of players with distinct names."""
        new = {one.player.name: one for one in kept}

        def files(present: Kept) -> dict[str, Any]:
            stay = {files_key(player) for one in new.values() for player in (one.player, *one.versions)}
            found = {key: files for key, files in present.files.items() if _name(key) not in new or key in stay}
            for one in new.values():
                if one.files and len(msgspec.json.encode(one.files)) <= MOST_OF_FILES:
                    found[files_key(one.player)] = dict(one.files)
            return {"files": found}

        self._change_kept(files)

    def set_places(self, places: Mapping[str, str], played: Collection[str]) -> None:
        """Store the places of players, by their digests. Those of others stay if they have `played`."""
        self._change_kept(lambda kept: {"places": {**_only(kept.places, played), **places}})

    def set_arguments(self, arguments: Mapping[str, Sequence[str]], played: Collection[str]) -> None:
        """Store the arguments of players, by their digests. Those of others stay if they have `played`.

        Arguments that are too many, or not UTF-8, are not stored.
        """

        def encoded(kept: Kept) -> dict[str, Any]:
            some = {digest: tuple(words) for digest, words in arguments.items() if words}
            found = {**_only(kept.arguments, played), **some}
            try:
                is_kept = len(msgspec.json.encode(found)) <= MOST_OF_ARGUMENTS
            except UnicodeEncodeError:
                is_kept = False
            return {"arguments": found} if is_kept else {}

        self._change_kept(encoded)

    def ladder_since(self, digests: Sequence[str]) -> int | None:
        """Return the last game that a ladder of exactly these players began with; None if the last ladder had
        others.
        """
        start = self.kept().ladder
        return start.since if start and start.players == tuple(digests) else None

    def set_ladder_since(self, digests: Sequence[str], number: int) -> None:
        self.keep(ladder=LadderStart(tuple(digests), number))

    def limits(self) -> "dict[str, Limits]":
        """Return the limits of bots in the settings, by their names; empty if the settings are damaged."""
        from arena.bots.limits import read_limits  # not loaded where tables are made

        with suppress(DamagedError):
            said = {name: text for name, text in self.settings().items() if name.startswith(LIMITS_OF)}
            read = {name.removeprefix(LIMITS_OF): read_limits(text) for name, text in said.items()}
            return {name: limits for name, limits in read.items() if limits}
        return {}

    def glance(self) -> tuple[Kept, tuple[Damage, ...]]:
        """Return the last league's data, or an empty value and the damage of the settings."""
        document, damage = self.read_document()
        return document.kept, damage

    def read(self, *, counted: bool = False) -> Contents[list[GameRow]]:
        """Return all undamaged data and the damage, with all rows in memory: see `count` and `each_row`.

        With `counted`, games that the last league does not count are left out.
        """
        return self._read_with(lambda rows: list(map(row_from, rows)), counted=counted)

    def count(self, *, counted: bool = False) -> Contents[Groups]:
        """Do as `read`, with the games counted, in memory that does not grow with the games of the same players."""
        return self._read_with(Groups, counted=counted)

    def _read_with(self, collect: Callable[[Iterator[Columns]], Rows], *, counted: bool = False) -> Contents[Rows]:
        with self._database.transaction("BEGIN"):
            document, settings_damage = self.read_document()
            last = self.last_number()
        not_counted = document.kept.numbers_not_counted if counted else NO_GAMES
        damage: list[Damage] = []
        passed_over = 0

        def wanted() -> Iterator[Columns]:
            nonlocal passed_over
            for columns in self.whole(last, damage):
                if columns[0] in not_counted:
                    passed_over += 1
                else:
                    yield columns

        rows = collect(wanted())
        return Contents(rows, document.games, document.kept, (*damage, *settings_damage), passed_over)

    def each_row(self, players: Collection[Player] | None = None, *, counted: bool = False) -> Iterator[GameRow]:
        """Yield the undamaged rows, or those of games of these players, without reporting damage as `count` does."""
        if players is None:
            not_counted = self.claims().numbers_not_counted if counted else NO_GAMES
            yield from (row_from(one) for one in self.whole(self.last_number(), []) if one[0] not in not_counted)
            return
        wanted = set(players)
        rows = self.rows_of_players(sorted({player.digest for player in wanted}))
        yield from (row for row in rows if not wanted.isdisjoint(row.players))

    def refuse_damage(self) -> None:
        """Raise `DamagedError` if anything is damaged, the records included, which `read` does not check."""
        self._refuse((*self.count().damage, *self.records_damage()))

    def refuse_changed(self) -> None:
        """Raise `StoreChangedError` if the file at `path` is no longer the open one."""
        self._database.refuse_moved()

    def file_damage(self) -> list[Damage]:
        return self._database.damage()

    def rows(self) -> list[GameRow]:
        """Return all stored games, in order. Raises `DamagedError` if anything in the store is damaged."""
        contents = self.read()
        self._refuse(contents.damage)
        return contents.rows

    def __contains__(self, game_id: object) -> bool:
        return bool(self._database.query("SELECT 1 FROM games WHERE id = ?", game_id))

    def _refuse(self, damage: tuple[Damage, ...]) -> None:
        if damage:
            raise DamagedError(self.path, damage)

    def record(self, game: str | int) -> tuple[int, GameRecord]:
        """Return the number and the record of a game, by its number, or by this or the start of its id as text.

        Raises `UsageError`, or `DamagedError`.
        """
        query = self._database.query
        found = []
        if isinstance(game, int) or (game.isdecimal() and len(game) <= len(str(LAST_NUMBER))):
            found = query("SELECT number FROM games WHERE number = ?", int(game))
        if not found and isinstance(game, str):
            found = query("SELECT number FROM games WHERE id >= ? AND id < ? LIMIT 2", game, game + LARGEST_CHARACTER)
        if len(found) == 1:
            stored = self.stored(found[0][0])
            if stored.record is None or stored.damage:
                raise DamagedError(self.path, stored.damage)
            return stored.number, stored.record
        if found:
            raise UsageError(f"{self.path}: several games have an id that starts with {game!r}; give more characters")
        last = self.last_number()
        expected = f"expected a number from 1 to {last}" if last else "no game is stored here yet"
        or_id = " or the start of an id" if last and isinstance(game, str) else ""
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
        known = [str(number) for number, name, digest in found if name in names or digest in digests]
        among = ", ".join(known)
        ((count,),) = self._database.query(
            f"SELECT count(*) FROM games WHERE red NOT IN ({among}) OR blue NOT IN ({among})"
        )
        return int(count)


def _name(key: str) -> str:
    return key.rpartition("@")[0]


def _only(values: Mapping[str, Any], digests: Collection[str]) -> dict[str, Any]:
    return {digest: value for digest, value in values.items() if digest in digests}
