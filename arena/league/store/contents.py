"""What is read of a store at one moment: the rows of its games, its settings, and what is not as it was stored."""

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from arena.game.spec import Player
from arena.league.store.disqualified import Disqualified, disqualified_in
from arena.league.store.faults import Damage
from arena.league.store.game_row import Columns, GameRow
from arena.league.store.groups import Groups
from arena.league.store.not_counted import GameNumbers, not_counted_in
from arena.league.store.settings import FORMAT, meets_all_in, planned_in

Rows = TypeVar("Rows", bound=list[GameRow] | Groups)


class Contents(NamedTuple, Generic[Rows]):
    """What a store holds: the rows of the games that are whole, in the order in which they were stored, who took part
    when it was last used, the settings, and what is not as it was stored, a sentence each.

    In place of rows there may be the same games counted together (`Groups`). `not_counted` of the games are not among
    the rows, where only those were asked for that the last league counts.
    """

    rows: Rows
    entrants: tuple[Player, ...]
    settings: dict[str, str]
    damage: tuple[Damage, ...]
    not_counted: int = 0

    @property
    def planned(self) -> int | None:
        """How many games were to be played when the store was last used; None where that was not kept."""
        return planned_in(self.settings)

    @property
    def meets_all(self) -> bool | None:
        """Whether all bots were to meet equally often when the store was last used; None if no league was played."""
        return meets_all_in(self.settings)

    def planned_for(self, players: Iterable[Player]) -> tuple[int | None, bool | None]:
        """`planned` and `meets_all` of a table of these players: what the last league had planned is known of its own
        players, and of no others."""
        if {player.digest for player in players} != {player.digest for player in self.entrants}:
            return None, None
        return self.planned, self.meets_all

    @property
    def format_text(self) -> str:
        """The format of the last league, as it was kept; empty for none. `arena.league.kept_format` reads it."""
        return self.settings.get(FORMAT, "")

    @property
    def numbers_not_counted(self) -> GameNumbers:
        """Which games the last league did not count: see `arena.league.store.not_counted`."""
        return not_counted_in(self.settings)

    @property
    def disqualified(self) -> tuple[Disqualified, ...]:
        """Who was disqualified when the store was last used, as it says: see `arena.league.store.disqualified`."""
        return disqualified_in(self.settings)


class Reading:
    """One pass over all rows: `damage` is complete when `rows` has come to its end."""

    rows: Iterator[Columns]

    def __init__(
        self, settings: dict[str, str], settings_damage: tuple[Damage, ...], whole_damage: tuple[Damage, ...]
    ) -> None:
        self.settings = settings
        self.games_damage: list[Damage] = []
        self.not_counted = 0
        """How many rows `counted` has passed over."""
        self._settings_damage = settings_damage
        self._whole_damage = whole_damage

    def counted(self) -> Iterator[Columns]:
        """Those of the `rows` that the last league counts."""
        not_counted = not_counted_in(self.settings)
        for row in self.rows:
            if row[0] in not_counted:
                self.not_counted += 1
            else:
                yield row

    @property
    def damage(self) -> tuple[Damage, ...]:
        return (*self._whole_damage, *self.games_damage, *self._settings_damage)
