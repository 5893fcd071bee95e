"""Stored games as lines or JSON entries, filters for them, and the names of their players."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from arena.errors import UsageError, suggest
from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.league.store import GameRow, Groups, Kept
from arena.system.printable import counted
from protocol.seats import Color, Reason

ShownNames = Mapping[Player, str]
"""The names to show for players; other players are shown under their own names."""
NAMES_ALONE: ShownNames = {}
DIGEST_DIGITS = 12
SCORES = {GameResult.RED: "1-0", GameResult.BLUE: "0-1", GameResult.DRAW: "½-½", GameResult.NEITHER: "0-0"}


def shown_name(player: Player, names: ShownNames) -> str:
    return names.get(player, player.name)


def shown_names(players: Iterable[Player], names: ShownNames) -> list[str]:
    return [shown_name(player, names) for player in players]


class HasPlayers(Protocol):
    @property
    def players(self) -> tuple[Player, Player]: ...


class Roster:
    """The players of a table and their names.

    `players` has each player once, under its last name. `names` maps any name in the rows to the name to show, which
    has the start of the digest if the table has several versions of a bot.
    """

    def __init__(self, players: Iterable[Player], rows: Collection[HasPlayers] | Groups = ()) -> None:
        last = {player.digest: player for player in players}
        self.players = tuple(last.values())
        counts = Counter(player.name for player in self.players)
        shown = {
            digest: player.name if counts[player.name] == 1 else f"{player.name}@{digest[:6]}"
            for digest, player in last.items()
        }
        everybody = dict.fromkeys([*self.players, *_everybody_in(rows)])
        self.names: ShownNames = {player: shown[player.digest] for player in everybody if player.digest in shown}

    @property
    def digests(self) -> dict[str, str]:
        """Digests by shown name, in the order of `players`."""
        return {self.names[player]: player.digest for player in self.players}

    def called(self, name: str) -> set[Player]:
        """Return the players of a name, or of NAME@DIGEST. Former names count if no player has the name now."""
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
    """Return the players of these games in the order of their last games, present entrants last."""
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


def date_text(seconds: float) -> str:
    """Return a time in seconds since the epoch as ISO 8601 in UTC, or an empty string out of range."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def score_text(result: GameResult) -> str:
    return SCORES[result]


def game_line(row: GameRow, names: ShownNames = NAMES_ALONE) -> str:
    red, blue = shown_names(row.players, names)
    ending = f"{row.reason.value}, {counted(row.plies, 'ply', 'plies')}, {row.seconds:.1f} s"
    return f"game {row.number}: {red} - {blue}  {score_text(row.result)}  {ending}"


def long_line(row: GameRow) -> str:
    red, blue = (player.digest[:DIGEST_DIGITS] for player in row.players)
    known = filter(None, (row.id, date_text(row.started), f"pair {row.pair_seed}"))
    return f"{', '.join(known)}, digests {red} - {blue}"


class GameEntry(msgspec.Struct, frozen=True, tag_field="kind", tag="game"):
    """A game in a list. `started` is in UTC, as in ISO 8601; `pair` is the same number in both games of a pair."""

    number: int
    id: str
    red: str
    blue: str
    result: GameResult
    reason: Reason
    plies: int
    seconds: float
    detail: str
    red_digest: str
    blue_digest: str
    started: str | None
    pair: int | None
    counted: bool = True


def game_entry(row: GameRow, names: ShownNames = NAMES_ALONE, kept: Kept | None = None) -> GameEntry:
    red, blue = row.players
    return GameEntry(
        number=row.number,
        id=row.id,
        red=shown_name(red, names),
        blue=shown_name(blue, names),
        result=row.result,
        reason=row.reason,
        plies=row.plies,
        seconds=round(row.seconds, 3),
        detail=row.detail,
        red_digest=red.digest,
        blue_digest=blue.digest,
        started=date_text(row.started) or None,
        pair=row.pair_seed,
        counted=not (kept and kept.leaves_out(row.number)),
    )


class PausedJson(msgspec.Struct, frozen=True, tag_field="kind", tag="paused"):
    file: str
    plies: int


@dataclass(frozen=True)
class GameFilter:
    """Conditions that listed games have to meet; None for any. `forfeits` adds all faults of bots to the `reasons`."""

    bot: str | None = None
    against: str | None = None
    lost_by: str | None = None
    result: GameResult | None = None
    reasons: frozenset[Reason] = frozenset()
    forfeits: bool = False

    def select(self, rows: Iterable[GameRow], roster: Roster) -> Iterator[GameRow]:
        reasons = self.reasons | {reason for reason in Reason if self.forfeits and reason.is_forfeit}
        if self.against is not None and self.bot is None:
            raise UsageError("--against NAME goes with --bot NAME: the games of the one against the other")
        bots, others, losers = (
            None if name is None else roster.called(name) for name in (self.bot, self.against, self.lost_by)
        )

        def fits(row: GameRow) -> bool:
            sides = (row.players, row.players[::-1])
            lost = (row.players[color] for color in Color if color is not row.result.winner)
            return (
                (bots is None or any(one in bots and (others is None or other in others) for one, other in sides))
                and (losers is None or (row.result is not GameResult.DRAW and not losers.isdisjoint(lost)))
                and self.result in (None, row.result)
                and (not reasons or row.reason in reasons)
            )

        return filter(fits, rows)
