"""Who is who in a table: a player is its content, whatever it was called, and goes by the name that it had last."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from arena.errors import UsageError, suggest
from arena.game.spec import Player
from arena.league.store import Groups

ShownNames = Mapping[Player, str]
"""What to show for players; who is not among them goes by the own name."""
NAMES_ALONE: ShownNames = {}
"""For players who are shown by their names, with no version."""


def shown_name(player: Player, names: ShownNames) -> str:
    """What a player goes by."""
    return names.get(player, player.name)


def shown_names(players: Iterable[Player], names: ShownNames) -> list[str]:
    """What each of the players goes by."""
    return [shown_name(player, names) for player in players]


class HasPlayers(Protocol):
    """A game, as far as it says who played it."""

    @property
    def players(self) -> tuple[Player, Player]: ...


class Roster:
    """Who is who among players: a player is its content, whatever it was called, and goes by the name it had last.

    One content under two names that have met each other is two players all the same: stores of earlier versions have
    copies of a bot so. `players` has each of the players once, under the last name. `names` has what to show for each,
    by any of the names that it has in the rows: with the start of its digest where versions of one bot stand side by
    side.
    """

    def __init__(self, players: Iterable[Player], rows: Collection[HasPlayers] | Groups = ()) -> None:
        """Of players who are the same, the last one gives the name. Who plays in the rows alone is not among them."""
        self._copies = _copies_in(rows)
        last = {self._key(player): player for player in players}
        self.players = tuple(last.values())
        counts = Counter(player.name for player in self.players)
        shown = {
            key: player.name if counts[player.name] == 1 else f"{player.name}@{player.digest[:6]}"
            for key, player in last.items()
        }
        everybody = dict.fromkeys([*self.players, *_everybody_in(rows)])
        self.names: ShownNames = {
            player: shown[self._key(player)] for player in everybody if self._key(player) in shown
        }

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each of the players by the name to show, in the order in which they were named."""
        return {self.names[player]: player.digest for player in self.players}

    def _key(self, player: Player) -> Player | str:
        return player if player in self._copies else player.digest

    def called(self, name: str) -> set[Player]:
        """The players of a name, as they stand in rows: all versions, or with `@` and the start of a digest behind it
        the one of that digest. Where nobody has the name now, those who had it.

        Raises `UsageError` if there is none, or if the start is that of several.
        """
        found = {self.names[player] for player in self.players if player.name == name}
        base, at, digest = name.rpartition("@")
        if not found and at and digest:
            versions = [player for player in self.names if player.digest.startswith(digest.lower())]
            found = {self.names[player] for player in versions if player.name == base}
            if len(found) > 1:
                raise UsageError(
                    f"{len(found)} versions of {base!r} have a digest that starts so; give more of it: {name!r}"
                )
        found = found or {self.names[player] for player in self.names if player.name == name}
        if not found:
            known = sorted({player.name for player in self.names} | set(self.names.values()))
            raise UsageError(f"no games of a bot {name!r}; {suggest(name, known) if known else 'it is empty'}")
        return {player for player, shown in self.names.items() if shown in found}


def players_of(rows: Collection[HasPlayers] | Groups, entrants: Collection[Player] = ()) -> list[Player]:
    """All who play in these games, in the order of their last games; those who take part now come last."""
    seen = _everybody_in(rows)
    digests = {player.digest for player in seen}
    return [*seen, *(player for player in entrants if player.digest in digests)]


def _everybody_in(rows: Collection[HasPlayers] | Groups) -> list[Player]:
    if isinstance(rows, Groups):
        return rows.players
    seen: dict[Player, None] = {}
    for row in rows:
        for player in row.players:
            seen.pop(player, None)
            seen[player] = None
    return list(seen)


def _copies_in(rows: Collection[HasPlayers] | Groups) -> set[Player]:
    if isinstance(rows, Groups):
        return rows.copies
    met = (row.players for row in rows)
    return {player for red, blue in met if red.digest == blue.digest and red != blue for player in (red, blue)}
