"""The last league of a store: its format, which is kept next to the games, and which of the stored games are its.

The format is kept with all defaults filled in, as a later version may have other defaults, and with its players by
digest in the order of their seeds, so that a bot that is renamed keeps its seed. The games of a league are found by
asking its pairing again. That ends as soon as every stored game that may be one of the league's has been met.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from arena.errors import UsageError
from arena.game.spec import Player
from arena.league.game_specs import Games
from arena.league.league_options import FormatName, FormatOptions, check_format
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format, Pairing
from arena.league.store import GameRow, Store

WORDS = "a format with its options and players, as this version writes them"
MOST_BOTS = 5000
"""A store says how many bots there are whether they have played or not, and a Swiss pairs them before any game."""
MOST_PAIRS = 200_000
"""Of games that a knockout may give out before any is played: so many bots times the pairs of a match."""


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
        """Make the league's pairing of these players, which nobody has asked for games. Raises `ArenaError`.

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
                raise UsageError("there is nothing of the games that the ladder began with")
            known = [row for row in rows if row.number <= ladder_since]
        return ChosenFormat(self.options, known, self.idle, self.away)(games, players, 1, None)

    def versions(self, players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
        """Return the older versions of these players, by digest, under the names of now."""
        return versions(self.former, players)


def versions(former: Mapping[str, Sequence[str]], players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
    """Return the `former` digests of these players as players of the same names."""
    return {
        player.digest: tuple(Player(player.name, digest) for digest in former[player.digest])
        for player in players
        if player.digest in former
    }


def format_text(format_: Format, players: Sequence[Player], rounds: int, former: Mapping[str, Sequence[Player]]) -> str:
    """What is kept of a format of these players; nothing for a pairing that is none of the formats of leagues."""
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
    """The format that was kept. Raises `UsageError` for what this version has not written."""
    try:
        kept = msgspec.json.decode(text, type=KeptFormat)
        is_whole = msgspec.json.encode(kept).decode() == text  # what another version has beside it is passed over
        check_format(kept.options)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, UsageError):
        is_whole = False
    if not is_whole:
        raise UsageError(f"expected {WORDS}")
    return kept


def tell_stored(pairing: Pairing, players: Iterable[Player], rows: Iterable[GameRow]) -> bool:
    """Tell a pairing, which nobody has asked before, all its games that are stored. Returns whether it has no
    others."""
    waiting = _those_of(players, rows)
    results: list[GameRow] = []
    found_all = True
    while batch := pairing.next(results):
        results = [waiting.pop(game.id) for game in batch if game.id in waiting]
        found_all = found_all and len(results) == len(batch)
        if not (waiting or results or found_all):
            return False
    return found_all and batch is None


def ladder_start(store: Store, players: Sequence[Player]) -> int:
    """The number of the last game that a ladder of these players, in this order, begins with: the last one of the store
    when they were first asked for in a row. So a ladder that is resumed begins with the same, and goes on in the same
    way."""
    since = store.ladder_since([player.digest for player in players])
    return since if since is not None else store.last_number()


def games_between(players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """The rows that are games between these players, of whatever league."""
    digests = {player.digest for player in players}
    return (row for row in rows if digests.issuperset(player.digest for player in row.players))


def _those_of(players: Iterable[Player], rows: Iterable[GameRow]) -> dict[str, GameRow]:
    """The games between these players, by their ids."""
    return {row.id: row for row in games_between(players, rows)}


def stored_games(pairing: Pairing, players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """The rows that are games of this pairing, which nobody has asked before, in the order in which it gives them."""
    waiting = _those_of(players, rows)
    results: list[GameRow] = []
    while waiting:
        batch = pairing.next(results)
        if batch is None or not (batch or results):
            return  # the others are of other rounds or formats, or the pairing waits for what has not been played
        results = []
        for game in batch:
            row = waiting.pop(game.id, None)
            if row is not None:
                results.append(row)
                yield row
