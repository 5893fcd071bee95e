"""The last league of a store: its format, and which of the stored games are its.

The format is stored with all defaults filled in, as a later version may have other defaults, and with its players by
digest in the order of their seeds, so that a renamed bot keeps its seed. The games of a league are found by asking its
pairing again, until every stored game that may be one of the league's has been met.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player
from arena.league.game_specs import Games
from arena.league.league_options import FormatName, FormatOptions, check_format
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format, Pairing
from arena.league.store import GameRow, Store

WORDS = "a format with its options and players, as this version writes them"
MOST_BOTS = 5000
"""The most bots, as a store lists them even without games, and a Swiss pairs them before any game."""
MOST_PAIRS = 200_000
"""The most games that a knockout may give out before any is played: bots times the pairs of a match."""


class KeptFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A format with all that its games follow from; `players` are digests, from the first seed on.

    `former` are the older versions of players that have played in this league, the oldest first; `idle` and `away` are
    those of `ChosenFormat`.
    """

    options: FormatOptions
    players: tuple[str, ...]
    former: dict[str, tuple[str, ...]] = {}
    idle: tuple[str, ...] = ()
    away: dict[str, tuple[int, ...]] = {}

    def pairing(
        self, games: Games, players: Sequence[Player], rows: Iterable[GameRow], ladder_since: int | None
    ) -> Pairing:
        """Make a new pairing of the league for these players. Raises `ArenaError`.

        A ladder began with the games among `rows` up to number `ladder_since`.
        """
        count = len(players)
        if not 2 <= count <= MOST_BOTS:
            raise UsageError(f"expected from 2 to {MOST_BOTS} bots in a format, got {count}")
        if count * (self.options.best_of or 1) > MOST_PAIRS:
            raise UsageError(f"expected at most {MOST_PAIRS // count} pairs in a match of {count} bots")
        known: list[GameRow] = []
        if self.options.name is FormatName.LADDER:
            if ladder_since is None:
                raise UsageError("the games that the ladder began with are missing")
            known = [row for row in rows if row.number <= ladder_since]
        return ChosenFormat(self.options, known, self.idle, self.away)(games, players, 1, None)

    def versions(self, players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
        """Return the older versions of these players, by digest, under their present names."""
        return versions(self.former, players)


def versions(former: Mapping[str, Sequence[str]], players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
    """Return the `former` digests of these players as players of the same names."""
    return {
        player.digest: tuple(Player(player.name, digest) for digest in former[player.digest])
        for player in players
        if player.digest in former
    }


def format_text(format_: Format, players: Sequence[Player], rounds: int, former: Mapping[str, Sequence[Player]]) -> str:
    """Encode a format of these players for the store; empty for a pairing that is no format of leagues."""
    if not isinstance(format_, ChosenFormat):
        return ""
    seeded, options = format_.settled(players, rounds)
    kept = KeptFormat(
        replace(options, seeds=()),
        tuple(player.digest for player in seeded),
        {digest: tuple(old.digest for old in older) for digest, older in sorted(former.items())},
        tuple(sorted(format_.idle)),
        {digest: tuple(rounds) for digest, rounds in sorted(format_.away.items())},
    )
    return msgspec.json.encode(kept).decode()


def format_in(text: str) -> KeptFormat:
    """Decode a stored format. Raises `UsageError` if this version has not written it."""
    try:
        kept = msgspec.json.decode(text, type=KeptFormat)
        is_whole = msgspec.json.encode(kept).decode() == text  # unknown fields of another version are refused
        check_format(kept.options)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, UsageError):
        is_whole = False
    if not is_whole:
        raise UsageError(f"expected {WORDS}")
    return kept


class GamesBetween:
    """The stored games between some players, of any league, looked up by their ids."""

    def __init__(self, store: Store, players: Iterable[Player]) -> None:
        self._store = store
        self.left = store.count_between({player.digest for player in players})
        """The number of games not yet taken."""

    def take(self, games: Sequence[GameSpec]) -> list[GameRow]:
        """Return the rows of the stored ones of these games. A game is taken once."""
        rows = self._store.rows_of_ids([game.id for game in games]) if self.left else []
        self.left -= len(rows)
        return rows


def tell_stored(pairing: Pairing, stored: GamesBetween) -> bool:
    """Give a new pairing all its stored games. Returns whether it has no others."""
    results: list[GameRow] = []
    found_all = True
    while batch := pairing.next(results):
        results = stored.take(batch)
        found_all = found_all and len(results) == len(batch)
        if not (stored.left or results or found_all):
            return False
    return found_all and batch is None


def stored_games(pairing: Pairing, stored: GamesBetween) -> Iterator[GameRow]:
    """Yield the stored games of a new pairing in the order in which it gives them out."""
    results: list[GameRow] = []
    while batch := pairing.next(results):
        results = stored.take(batch)
        yield from results
        if not (stored.left or results):
            return


def ladder_start(store: Store, players: Sequence[Player]) -> int:
    """Return the number of the last game that a ladder of these players, in this order, begins with.

    That is the store's last game when such a ladder was first requested, so a resumed ladder continues in the same way.
    """
    since = store.ladder_since([player.digest for player in players])
    return since if since is not None else store.last_number()


def games_between(players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """Yield the rows that are games between these players, of any league."""
    digests = {player.digest for player in players}
    return (row for row in rows if digests.issuperset(player.digest for player in row.players))
