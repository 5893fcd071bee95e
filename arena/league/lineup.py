"""The line-up of a resumed league: new versions of bots in the places of old ones, and bots that are not paired.

Played games stay. A new version of a bot, of the same name, takes the place of the old one in all other games. A bot
that cannot be started is not paired until it can: in a Swiss from the next round on, in a ladder from the next batch
on; a knockout is drawn once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from arena.errors import ArenaError
from arena.game.game_spec import Player
from arena.league.game_specs import Games
from arena.league.league_options import PLACING, FormatName
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format
from arena.league.pairing.placing import Placed
from arena.league.settings import Settings
from arena.league.store import Store
from arena.league.stored_league import (
    GamesBetween,
    KeptFormat,
    format_in,
    games_between,
    stored_games,
    versions,
)


@dataclass(frozen=True)
class LineUp:
    """The participants: `format` with the bots that are not paired, and `former`, older versions of players by digest.

    `counted` are the numbers of the stored games that the league has counted so far, `late` the players that came after
    the draw of a knockout.
    """

    format: Format
    former: Mapping[str, tuple[Player, ...]] = field(default_factory=dict)
    counted: frozenset[int] = frozenset()
    late: tuple[Player, ...] = ()

    def everybody(self, players: Iterable[Player]) -> tuple[Player, ...]:
        """Return these players, followed by their older versions that have played."""
        return (*players, *(old for older in self.former.values() for old in older))


@dataclass(frozen=True)
class LeagueBefore:
    """The stored state of a league to resume.

    `names` are those of its players by digest, `counted` the numbers of its stored games, `rounds` the number of rounds
    begun.
    """

    kept: KeptFormat
    names: Mapping[str, str]
    counted: frozenset[int]
    rounds: int


def line_up(
    format_: Format,
    players: Sequence[Player],
    broken: Collection[str],
    played: Collection[str],
    before: LeagueBefore | None = None,
) -> LineUp:
    """Return the line-up of these players.

    `broken` has the digests of those that cannot be started, `played` of those with games in the store.
    """
    if not isinstance(format_, ChosenFormat):
        return LineUp(format_)
    present = {player.digest for player in players}
    seats, former = dict[str, str](), dict[str, tuple[str, ...]]()
    if before:
        kept = before.kept
        gone = {before.names.get(digest): digest for digest in kept.players if digest not in present}
        for player in players:
            digest = player.digest
            seat = digest if digest in kept.players else gone.get(player.name)
            if seat is not None:
                seats[digest] = seat
                older = (*kept.former.get(seat, ()), seat)
                former[digest] = tuple(one for one in dict.fromkeys(older) if one in played and one not in present)
    former = {digest: older for digest, older in former.items() if older}
    chosen, late = replace(format_, idle=frozenset(broken)), tuple[Player, ...]()
    match format_.options.name:
        case FormatName.SWISS:
            asked = format_.options.rounds or (before.kept.options.rounds if before else None)
            chosen = replace(chosen, options=replace(format_.options, rounds=asked))
            _, options = chosen.settled(players, 1)
            chosen = replace(chosen, away=_away(players, broken, options.rounds or 1, before, seats))
        case FormatName.KNOCKOUT if before and before.counted:
            late = tuple(player for player in players if player.digest not in seats)
            idle = {digest for digest, seat in seats.items() if seat in before.kept.idle}
            chosen = replace(chosen, idle=idle | {player.digest for player in late})
    return LineUp(chosen, versions(former, players), before.counted if before else frozenset(), late)


def _away(
    players: Sequence[Player],
    broken: Collection[str],
    rounds: int,
    before: LeagueBefore | None,
    seats: Mapping[str, str],
) -> dict[str, tuple[int, ...]]:
    """Return the rounds in which players are not paired: missed ones, and for a broken bot all that are to come."""
    begun = before.rounds if before else 0
    away: dict[str, tuple[int, ...]] = {}
    for player in players:
        seat = seats.get(player.digest)
        missed = before.kept.away.get(seat, ()) if before and seat else range(1, begun + 1)
        found = [
            number
            for number in range(1, rounds + 1)
            if (number in missed if number <= begun else player.digest in broken)
        ]
        if found:
            away[player.digest] = tuple(found)
    return away


def league_before(store: Store, format_: Format, settings: Settings) -> LeagueBefore | None:
    """Return the last league of a store, if it is of this format and the format places bots; None otherwise.

    Also None if its games cannot be worked out, as in a store that was changed by hand.
    """
    if not isinstance(format_, ChosenFormat) or format_.options.name not in PLACING:
        return None
    with suppress(ArenaError):
        of_store = store.kept()
        kept = format_in(of_store.format)
        if kept.options.name is format_.options.name:
            names = {player.digest: player.name for player in of_store.entrants}
            players = [Player(names.get(digest, ""), digest) for digest in kept.players]
            older = kept.versions(players)
            everybody = LineUp(format_, older).everybody(players)
            games = Games(settings, store, older)
            since = store.ladder_since(kept.players)
            pairing = kept.pairing(games, players, games_between(everybody, store.each_row()), since)
            counted = frozenset(row.number for row in stored_games(pairing, GamesBetween(store, everybody)))
            rounds = pairing.placing().rounds if isinstance(pairing, Placed) else ()
            return LeagueBefore(kept, names, counted, sum(bool(one.played) for one in rounds))
    return None
