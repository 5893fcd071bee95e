"""What is read of a store at one moment: the rows of its games, its settings, and what is not as it was stored."""

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from arena.game.spec import Player
from arena.league.store.faults import Damage
from arena.league.store.game_row import Columns, GameRow
from arena.league.store.groups import Groups
from arena.league.store.kept import Document, Kept

Rows = TypeVar("Rows", bound=list[GameRow] | Groups)


class Contents(NamedTuple, Generic[Rows]):
    """The rows of the games that are whole, in the order in which they were stored, or these games counted together
    (`Groups`); the settings of the games, and what the league keeps next to them; and what is not as it was stored.

    `not_counted` of the games are not among the rows, where only those were asked for that the last league counts.
    """

    rows: Rows
    settings: dict[str, str]
    kept: Kept = Kept()
    damage: tuple[Damage, ...] = ()
    not_counted: int = 0

    @property
    def entrants(self) -> tuple[Player, ...]:
        return self.kept.entrants


class Reading:
    """One pass over all rows: `damage` is complete when `rows` has come to its end."""

    rows: Iterator[Columns]

    def __init__(self, document: Document, settings_damage: tuple[Damage, ...]) -> None:
        self.document = document
        self.games_damage: list[Damage] = []
        self.not_counted = 0
        """How many rows `counted` has passed over."""
        self._settings_damage = settings_damage

    def counted(self) -> Iterator[Columns]:
        """Give the `rows` that the last league counts."""
        not_counted = self.document.kept.numbers_not_counted
        for row in self.rows:
            if row[0] in not_counted:
                self.not_counted += 1
            else:
                yield row

    def contents(self, rows: Rows) -> Contents[Rows]:
        """Return what was read, once all `rows` have been."""
        return Contents(rows, self.document.games, self.document.kept, self.damage, self.not_counted)

    @property
    def damage(self) -> tuple[Damage, ...]:
        return (*self.games_damage, *self._settings_damage)
