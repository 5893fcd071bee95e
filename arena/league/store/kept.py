"""The settings document of a store: what all its games share, and what a league keeps next to its games.

What is kept (`Kept`) may change with each league. Some of it is a claim that no game proves, such as which games do not
count; a report that shows such a claim says so, or checks it against the games.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from arena.game.spec import Player
from arena.system.printable import printable

_Count = Annotated[int, Meta(ge=0, lt=2**53)]
_Number = Annotated[int, Meta(ge=1, lt=2**53)]
Runs = tuple[tuple[_Number, _Number], ...]
"""Numbers of games: the first and the last of each run of consecutive numbers, in order."""


class Disqualified(msgspec.Struct, frozen=True):
    """A bot that plays no more: how many faults it had, and how many games are left out, where that is known.

    With `is_so_far` there are games of the league to come, and more may be left out. `counted` is how many of its games
    the league counts: the store may hold others, of a league that was played before without disqualification.
    """

    player: Player
    faults: _Count
    left_out: _Count | None
    is_so_far: bool = False
    counted: _Count | None = None


class LadderStart(msgspec.Struct, frozen=True):
    """The games that a ladder began with: those up to number `since`, between players of these digests."""

    players: tuple[str, ...]
    since: int


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a league keeps in a store next to its games."""

    entrants: tuple[Player, ...] = ()
    """The players that took part when the store was last used."""
    planned: _Count | None = None
    """How many games these are to play; None where that is not known."""
    meets_all: bool | None = None
    """Whether these are all to meet equally often; None where no league was played, as after an import."""
    format: str = ""
    """The format of the last league, as `arena.league.kept_format` writes it."""
    ladder: LadderStart | None = None
    sandbox: str | None = None
    """The sandbox level of the last run."""
    disqualified: tuple[Disqualified, ...] = ()
    not_counted: Runs = ()
    """Games of the entrants that the last league does not count, such as those of a format played before."""
    files: dict[str, dict[str, str]] = {}
    """The fingerprints of the files of each version of a bot, by `files_key`."""
    places: dict[str, str] = {}
    """The path that each player last played from, by digest."""
    arguments: dict[str, tuple[str, ...]] = {}
    """The arguments of players that were started with some, by digest. `arena.league.trust` says when to use them: a
    store may come from anyone."""

    def files_of(self, player: Player) -> dict[str, str]:
        """Return the fingerprints of a player's files; empty if they were not kept."""
        return self.files.get(files_key(player), {})

    def planned_for(self, players: Iterable[Player]) -> tuple[int | None, bool | None]:
        """Return `planned` and `meets_all` for a table of these players; None twice unless these are the entrants."""
        if {player.digest for player in players} != {player.digest for player in self.entrants}:
            return None, None
        return self.planned, self.meets_all

    @property
    def numbers_not_counted(self) -> "GameNumbers":
        runs = self.not_counted
        is_in_order = all(first <= last for first, last in runs) and all(a[1] < b[0] for a, b in pairwise(runs))
        return GameNumbers(runs) if is_in_order else NO_GAMES


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of a store: those that all games share, in words by name, and what is kept next to the games."""

    games: dict[str, str] = {}
    kept: Kept = Kept()


class GameNumbers:
    """A set of game numbers, held as runs."""

    def __init__(self, runs: Runs = ()) -> None:
        self._runs = runs
        self._firsts = [first for first, _ in runs]

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number)
        return at > 0 and number <= self._runs[at - 1][1]

    def __bool__(self) -> bool:
        return bool(self._runs)


NO_GAMES = GameNumbers()


def runs_of(numbers: Iterable[int]) -> Runs:
    """Return these numbers of games as runs."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return tuple(runs)


def files_key(player: Player) -> str:
    return f"{player.name}@{player.digest}"


_decoder = msgspec.json.Decoder(Document)


def decode_document(data: object) -> Document | None:
    """Return the document with its names made printable, as a store may come from anyone; None if it is none."""
    try:
        document = _decoder.decode(data if isinstance(data, bytes) else b"")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    kept = document.kept
    return replace(
        document,
        kept=replace(
            kept,
            entrants=tuple(map(_readable, kept.entrants)),
            disqualified=tuple(replace(one, player=_readable(one.player)) for one in kept.disqualified),
            files={key: {printable(name): text for name, text in files.items()} for key, files in kept.files.items()},
            arguments={key: words for key, words in kept.arguments.items() if not any("\0" in word for word in words)},
        ),
    )


def encode_document(games: Mapping[str, str], kept: Kept) -> bytes:
    """Raises `UnicodeEncodeError` for text that is none."""
    return msgspec.json.encode(Document(dict(games), kept), order="sorted")


def _readable(player: Player) -> Player:
    return Player(printable(player.name), printable(player.digest))
