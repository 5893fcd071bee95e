"""The settings of an open store: what all its games share, and what a league keeps beside them.

What is kept beside them (`KEPT_BESIDE`) may change with each league: who takes part, from where and with what, how many
games are to be played, and what came of it that no game says.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from arena.bots.limits import Limits
from arena.game.spec import Player
from arena.league.store.arguments import ARGUMENTS, arguments_in, encode_arguments
from arena.league.store.database import Database
from arena.league.store.disqualified import DISQUALIFIED, Disqualified, encode_disqualified
from arena.league.store.faults import DamagedError, StoreError
from arena.league.store.not_counted import NOT_COUNTED, encode_not_counted
from arena.league.store.settings import (
    ENTRANTS,
    FORMAT,
    LADDER,
    MEETS_ALL,
    PLANNED,
    SANDBOX,
    KeptFiles,
    LadderStart,
    SettingsTable,
    encode_entrants,
    encode_ladder_start,
    entrants_in,
    files_in,
    ladder_start_in,
    limits_in,
    places_in,
)


class KeptBeside:
    """A store as far as its settings go."""

    _database: Database
    _settings: SettingsTable

    def settings(self) -> dict[str, str]:
        """What all games of this store share. Raises `DamagedError` if that is not what was stored."""
        return self._settings.checked()

    def doubtful_settings(self) -> dict[str, str]:
        """The settings as they lie there, whether they were changed or not; empty if they cannot be read."""
        try:
            found = self._settings.raw().items()
            return {name: value for name, value in found if isinstance(name, str) and isinstance(value, str)}
        except StoreError:
            return {}

    def set_entrants(self, players: tuple[Player, ...]) -> None:
        """Keep who takes part now: `entrants` without more words means these."""
        with self._database.transaction():
            self._settings.set(ENTRANTS, encode_entrants(players))

    def entrants(self) -> tuple[Player, ...]:
        """Who took part when the store was last used."""
        return entrants_in(self.settings())

    def set_planned(self, games: int | None) -> None:
        """Keep how many games those who take part now are to play, so that a table can say what is missing.

        None where that is not known yet.
        """
        with self._database.transaction():
            self._settings.set(PLANNED, "" if games is None else str(games))

    def set_format(self, text: str) -> None:
        """Keep the format of the league that is played now, as whoever reads it has written it."""
        if self._settings.checked().get(FORMAT, "") != text:
            with self._database.transaction():
                self._settings.set(FORMAT, text)

    def set_meets_all(self, meets_all: bool) -> None:
        """Keep whether those who take part now are all to meet equally often: a table says what is missing by it."""
        with self._database.transaction():
            self._settings.set(MEETS_ALL, "yes" if meets_all else "no")

    def set_disqualified(self, disqualified: Sequence[Disqualified]) -> None:
        """Keep who is disqualified now, of those who take part."""
        value = encode_disqualified(disqualified)
        if self._settings.checked().get(DISQUALIFIED, "") != value:
            with self._database.transaction():
                self._settings.set(DISQUALIFIED, value)

    def set_not_counted(self, numbers: Iterable[int]) -> None:
        """Keep which games between those who take part now do not count in the table of their league."""
        value = encode_not_counted(numbers)
        if self._settings.checked().get(NOT_COUNTED, "") != value:
            with self._database.transaction():
                self._settings.set(NOT_COUNTED, value)

    def set_sandbox(self, level: str) -> None:
        """Keep at which level bots are held now: a game is not played again at a weaker one unless somebody says so."""
        with self._database.transaction():
            self._settings.set(SANDBOX, level)

    def sandbox(self) -> str | None:
        """The level at which bots were held when the store was last played with; None if it does not say it."""
        return self.settings().get(SANDBOX)

    def ladder_since(self, digests: Sequence[str]) -> int | None:
        """The number of the last game that a ladder of just these players began with; None if the last one was not of
        these."""
        start = ladder_start_in(self.settings())
        return start.since if start and start.players == tuple(digests) else None

    def set_ladder_since(self, digests: Sequence[str], number: int) -> None:
        """Keep that a ladder of just these players begins with the games up to this number."""
        with self._database.transaction():
            self._settings.set(LADDER, encode_ladder_start(LadderStart(tuple(digests), number)))

    def set_files(self, kept: Iterable[KeptFiles]) -> None:
        """Keep the fingerprints of the files of players, no two of which have one name."""
        with self._database.transaction():
            self._settings.set_files(kept)

    def files_of(self, player: Player) -> dict[str, str]:
        """The fingerprints of a player's files as they were kept; empty if they were not."""
        return files_in(self.settings(), player)

    def set_places(self, places: Mapping[str, str], played: Collection[str]) -> None:
        """Keep from where players take part now, by their digests. Those of others stay if they have `played`."""
        with self._database.transaction():
            self._settings.set_places(places, played)

    def places(self) -> dict[str, str]:
        """For each player, by its digest, from where it last played; empty if that is not known for sure."""
        with suppress(DamagedError):
            return places_in(self.settings())
        return {}

    def set_arguments(self, arguments: Mapping[str, Sequence[str]], played: Collection[str]) -> None:
        """Keep with which arguments players are started, by their digests. Those of others stay if they have `played`.

        More than there is room for are not kept.
        """
        with self._database.transaction():
            settings = self._settings.checked()
            value = encode_arguments(arguments_in(settings), arguments, played)
            if value is not None and settings.get(ARGUMENTS, "{}") != value:
                self._settings.set(ARGUMENTS, value)

    def arguments(self) -> dict[str, tuple[str, ...]]:
        """With which arguments players were started that have some, by digest; empty if that is not known for sure."""
        with suppress(DamagedError):
            return arguments_in(self.settings())
        return {}

    def limits(self) -> dict[str, Limits]:
        """What the settings say that bots may use, by their names; empty if they are not as they were stored."""
        with suppress(DamagedError):
            return limits_in(self.settings())
        return {}
