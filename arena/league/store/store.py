"""An open store: one SQLite file for one league. A game is in it whole or not at all.

A game is a row of what tables are made from, and its record in a table of its own. The settings that all games of the
league share are kept beside them. Nothing that is read is believed unseen: what is not as it was stored is named and
never counts. `read` gives the games that are whole and names the others, `rows` refuses a store that has any of those.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.league.store.contents import Contents, Reading
from arena.league.store.database import Database
from arena.league.store.faults import Damage, DamagedError
from arena.league.store.game_row import LAST_NUMBER, GameRow, row_from
from arena.league.store.games import GamesTable, Stored
from arena.league.store.groups import Groups
from arena.league.store.kept_beside import KeptBeside
from arena.league.store.layout import Layout
from arena.league.store.rows import Rows
from arena.league.store.settings import SettingsTable, entrants_in
from arena.league.store.sums import Sums
from arena.league.store.tables import VERSION
from arena.league.store.upgrades import check_tables, is_fresh, make_tables, present_version, upgrade
from arena.printable import printable

LARGEST_CHARACTER = "\U0010ffff"


class Store(KeptBeside):
    """An open store. Use it in a `with` statement."""

    def __init__(self, path: Path, create: bool, *, is_doubtful: bool = False) -> None:
        """Open the store at `path`; make a new one there if `create` is set and there is nothing yet.

        One that `is_doubtful` is only read, and opened as long as anything of it can be: `read` names what is wrong.
        Raises `UsageError` if there is none, or what is there is not a store or is from a newer version, and
        `DamagedError` if it says of itself that it is older than what is in it.
        """
        self.path = path
        fresh = is_fresh(path, create)
        self._database = Database(path, write=create)
        try:
            self._prepare(fresh, create, is_doubtful)
        except BaseException:
            self._database.close()
            raise

    def _prepare(self, fresh: bool, create: bool, is_doubtful: bool) -> None:
        database = self._database
        damage = tuple(database.prepare_for_salvage()) if is_doubtful else ()
        database.prepare()
        if fresh:
            make_tables(database)
        self._whole_damage = damage + check_tables(database, is_doubtful=is_doubtful)
        if create:
            upgrade(database)
        self._is_doubtful = is_doubtful
        self._lay_out(present_version(database))
        database.is_store = not is_doubtful

    def _lay_out(self, version: int) -> None:
        """Read the file as one of this version."""
        database, self._layout = self._database, Layout(version)
        sums = Sums(database)
        own = sums if self._layout.has_sums else None
        self._settings = SettingsTable(database, own)
        self._games = GamesTable(database, own, self._layout)
        self._rows = Rows(database, self._games, sums, self._layout, is_doubtful=self._is_doubtful)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    # --- settings -------------------------------------------------------------------------------------------------

    def agree(self, settings: Mapping[str, str], players: Sequence[Player] = ()) -> None:
        """Keep these settings, or raise `UsageError` if the store already holds games under others.

        `players` are those who take part: it may hold none of their games under another clock than they have now.

        Whatever adds games begins with this. So here all records are compared with their checksums, too. Raises
        `DamagedError` if anything in the store is not as it was stored, or it holds games and not their settings.
        """
        self.refuse_damage()
        self._agree(settings, players)

    def agree_and_read(self, settings: Mapping[str, str], players: Sequence[Player]) -> list[GameRow]:
        """The same; returns all stored games, as `rows` does, which are compared and read in one pass."""
        contents = self.read()
        self._refuse((*contents.damage, *self._games.records_damage()))
        self._agree(settings, players)
        return contents.rows

    def _agree(self, settings: Mapping[str, str], players: Sequence[Player]) -> None:
        with self._database.transaction():  # another process may be about to do the same
            has_games = bool(self._database.query("SELECT 1 FROM games LIMIT 1"))
            self._settings.agree(
                settings,
                has_games=has_games,
                players=players,
                played=lambda: {player.digest for player in self.players()},
            )

    # --- adding games ---------------------------------------------------------------------------------------------

    def add(self, record: GameRecord, number: int | None = None) -> GameRow:
        """Store a game, durably and as a whole. A game that is there already is left alone; returns what is stored.

        It gets the next number, or `number`, which no other game may have.
        """
        return self._games.add_all([record], number)[0]

    def add_all(self, records: Sequence[GameRecord]) -> list[GameRow]:
        """Store several games in one transaction: all of them or, if anything fails, none.

        They get the next numbers, in the order given. As with `add`, a game that is there already is left alone;
        returns what is stored, a row for each of the `records`.
        """
        return self._games.add_all(records) if records else []

    # --- reading --------------------------------------------------------------------------------------------------

    def read(self, *, counted: bool = False) -> Contents[list[GameRow]]:
        """All that is as it was stored, and what is not. All rows are in memory then: see `count` and `each_row`.

        With `counted`, without the games that the last league does not count, here and there.
        """
        with self._reading() as reading:
            rows = list(map(row_from, reading.counted() if counted else reading.rows))
        return Contents(rows, entrants_in(reading.settings), reading.settings, reading.damage, reading.not_counted)

    def count(self, *, counted: bool = False) -> Contents[Groups]:
        """The same with the games counted together, in memory that does not grow with the games of the same players."""
        with self._reading(pairs=False) as reading:
            groups = Groups(reading.counted() if counted else reading.rows)
        return Contents(groups, entrants_in(reading.settings), reading.settings, reading.damage, reading.not_counted)

    @contextmanager
    def _reading(self, *, pairs: bool = True) -> Iterator[Reading]:
        """A pass over the rows of one moment of a store to which another process may be adding; see `Rows.whole`."""
        with self._database.transaction("BEGIN"):
            is_older = self._layout.version < VERSION
            if is_older and present_version(self._database) != self._layout.version:
                self._lay_out(present_version(self._database))  # another process has upgraded it
                is_older = False
            reading = Reading(*self._settings.read(), self._whole_damage)
            reading.rows = self._rows.whole(self._rows.moment(), reading.games_damage, pairs=pairs)
            if is_older:
                yield reading  # within the transaction, so that nobody can upgrade it meanwhile
        if not is_older:
            yield reading

    def rows(self) -> list[GameRow]:
        """All stored games, in the order in which they were stored.

        Raises `DamagedError` if anything in the store is not as it was stored.
        """
        contents = self.read()
        self._refuse(contents.damage)
        return contents.rows

    def each_row(self, players: Collection[Player] | None = None, *, counted: bool = False) -> Iterator[GameRow]:
        """The rows of the games that are whole, or of those in which one of these players took part, as they are read.

        Nothing is said of what is damaged: `count` names it.
        """
        if players is None:
            with self._reading() as reading:
                yield from map(row_from, reading.counted() if counted else reading.rows)
            return
        wanted = set(players)
        for columns in self._rows.of(sorted({player.digest for player in wanted})):
            row = row_from(columns)
            if not wanted.isdisjoint(row.players):
                yield row

    def row(self, game_id: str) -> GameRow | None:
        """The row of the game of this id, or None. Raises `DamagedError` if it is not as it was stored."""
        return self._games.row_of_id(game_id)

    def ids(self) -> set[str]:
        """The ids of all stored games. Raises `DamagedError` as `rows` does."""
        with self._reading(pairs=False) as reading:
            ids = {printable(row[1]) for row in reading.rows}
        self._refuse(reading.damage)
        return ids

    def refuse_damage(self) -> None:
        """Raise `DamagedError` if anything is not as it was stored, the records included, which `read` leaves alone."""
        with self._reading(pairs=False) as reading:
            deque(reading.rows, maxlen=0)
        self._refuse((*reading.damage, *self._games.records_damage()))

    def _refuse(self, damage: tuple[Damage, ...]) -> None:
        if damage:
            raise DamagedError(self.path, damage)

    def watch(self, known: set[str]) -> None:
        """Notice from now on, before games are added, if a game is gone that was there: `add` raises
        `StoreChangedError` then.

        `known` are the ids of games that are there. Those that are added are put into it.
        """
        self._games.watch(known)

    def refuse_changed(self) -> None:
        """Raise `StoreChangedError` if the file at `path` is no longer the one that is open, or games are gone from it
        since `watch` was called."""
        self._database.refuse_moved()
        self._games.refuse_loss()

    def file_damage(self) -> list[Damage]:
        """What SQLite finds wrong with the file itself."""
        return self._database.damage()

    def numbers(self) -> list[int]:
        """The numbers of all games that are there, whole or not."""
        return self._games.numbers()

    def stored(self, number: int) -> Stored:
        """A game as it lies there, checked in every way that needs nothing but itself."""
        return self._games.stored(number)

    def record(self, game: str) -> tuple[int, GameRecord]:
        """The number and the record of a game, given by its number or the start of its id.

        Raises `UsageError`, or `DamagedError` if it is not as it was stored.
        """
        query = self._database.query
        found = []
        if game.isdecimal() and len(game) <= len(str(LAST_NUMBER)):
            found = query("SELECT number FROM games WHERE number = ?", int(game))
        if not found:
            found = query("SELECT number FROM games WHERE id >= ? AND id < ?", game, game + LARGEST_CHARACTER)
        if len(found) == 1:
            stored = self.stored(found[0][0])
            if stored.record is None or stored.damage:
                raise DamagedError(self.path, stored.damage)
            return stored.number, stored.record
        if found:
            raise UsageError(f"{self.path}: {len(found)} games have an id that starts with {game!r}; give more of it")
        ((last,),) = query("SELECT max(number) FROM games")
        raise UsageError(
            f"{self.path}: there is no game {game!r}; expected a number from 1 to {last} or the start of an id"
            if last is not None
            else f"{self.path}: there is no game {game!r}; no game is stored here yet"
        )

    def players(self) -> list[Player]:
        """All who have played here, in the order of their last games."""
        rows = self._database.query(
            "SELECT name, digest FROM (SELECT red AS name, red_digest AS digest, number FROM games"
            " UNION ALL SELECT blue, blue_digest, number FROM games) GROUP BY name, digest ORDER BY max(number)"
        )
        return [Player(printable(str(name)), printable(str(digest))) for name, digest in rows]

    def players_as_now_called(self) -> list[Player]:
        """All who have played here, as `players` gives them, and then those of them who took part the last time: one
        who was renamed may have played no game since."""
        played = self.players()
        digests = {player.digest for player in played}
        with suppress(DamagedError):
            return [*played, *(player for player in self.entrants() if player.digest in digests)]
        return played

    def count_others(self, players: Sequence[Player]) -> int:
        """How many games there are with a bot that is none of these, nor another version of one: by digest and name."""
        pairs = self._database.query(
            "SELECT red, red_digest, blue, blue_digest, count(*) FROM games GROUP BY red, red_digest, blue, blue_digest"
        )
        names, digests = {player.name for player in players}, {player.digest for player in players}

        def is_known(name: object, digest: object) -> bool:
            return name in names or digest in digests

        return sum(count for *sides, count in pairs if not (is_known(*sides[:2]) and is_known(*sides[2:])))
