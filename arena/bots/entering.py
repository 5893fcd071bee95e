"""Who the bots of a league take part as: a digest each, which their games follow from, and a name each, for tables.

A bot takes part as its content. Copies of one content are bots of their own, with a number: the first has the content's
digest, a further one a digest made from that and its number. A copy that has played is known again by the place that
it played from, so that whoever enters a copy of another's bot takes neither its name nor its games; one that was moved,
by its name. The names played under are kept, so that no table shows the games of one as those of another.

"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from itertools import count as count_from
from pathlib import Path
from types import MappingProxyType

from arena.bots.names import given_name
from arena.bots.spec import BotSpec
from arena.game.spec import Player
from arena.system.printable import printable

COPIES_TRIED = 64
"""Copies of one content among which a single bot is looked for (a league has as many as there are entrants)."""
PLACE_DIGITS = 32
"""Hexadecimal digits of a place: an author who picks a folder's name must not find one of another's place."""
_NOWHERE: Mapping[str, str] = MappingProxyType({})


def told_apart(
    bots: Sequence[BotSpec], played: Sequence[Player] = (), places: Mapping[str, str] = _NOWHERE
) -> list[BotSpec]:
    """The same bots with names and digests that differ. Nothing depends on the order of the bots.

    `played` are those who have played before, the last of them at the end. A bot among them takes part as what it was
    then, and of bots that would be called the same it keeps the name of its games: nobody takes it by coming later.
    `places` says for a player's digest from where it last played (`place_of`): among copies, the one there is that
    player, whatever the others are called.
    """
    paths = [_place_of(bot) for bot in bots]
    entered = _Entering(bots, paths, played, places).entered()
    return _named([as_player(bot, digest) for bot, digest in zip(bots, entered, strict=True)], paths, played)


def as_player(bot: BotSpec, digest: str) -> BotSpec:
    """The same bot, taking part under a digest."""
    entered_as = "" if digest == bot.digest else digest
    return bot if bot.entered_as == entered_as else replace(bot, entered_as=entered_as)


def may_be(bot: BotSpec, player: Player) -> bool:
    """Return whether a player is this bot, by its digest or as a copy of it."""
    return player.digest in (copy_digest(bot.digest, number) for number in range(1, COPIES_TRIED + 1))


def place_of(bot: BotSpec) -> str:
    """A fingerprint of where a bot is: of its real path, which is nobody's concern who reads a store."""
    return fingerprint(_place_of(bot))


def fingerprint(path: Path) -> str:
    """That of a real path."""
    return hashlib.sha256(b"place " + os.fsencode(path)).hexdigest()[:PLACE_DIGITS]


def broken_digest(digest: str) -> str:
    """The digest of a bot that cannot be started, made from that of its files."""
    return hashlib.sha256(f"broken {digest}".encode()).hexdigest()


def copy_digest(digest: str, number: int) -> str:
    """The digest of one of the copies of a content, counted from 1."""
    return digest if number == 1 else hashlib.sha256(f"copy {number} of {digest}".encode()).hexdigest()


def copies_of_one(bots: Iterable[BotSpec]) -> list[str]:
    """A line for each content that several bots have which can be started."""
    alike: dict[str, list[BotSpec]] = {}
    for bot in bots:
        if bot.fault is None:
            alike.setdefault(bot.digest, []).append(bot)
    return [
        f"{', '.join(bot.name for bot in copies)}: the same files {len(copies)} times, so they are copies of one bot; "
        "each takes part, and under the same clock and limits only chance decides between them"
        for copies in alike.values()
        if len(copies) > 1
    ]


class _Entering:
    """Finds for each bot the digest that it takes part under. Each is given once."""

    def __init__(
        self, bots: Sequence[BotSpec], paths: Sequence[Path], played: Sequence[Player], places: Mapping[str, str]
    ) -> None:
        """`paths` are where the bots are (`_place_of`)."""
        self._bots = bots
        self._places = places
        self._lies_at = list(map(fingerprint, paths))
        self._entered: dict[int, str] = {}
        self._taken: set[str] = set()
        self._shown = [bot.name for bot in _named(bots, paths, ())]
        keys = [(given_name(bot.name), os.fsencode(path), bot.arguments) for bot, path in zip(bots, paths, strict=True)]
        self._waiting = sorted(range(len(bots)), key=keys.__getitem__)
        self._last_first = list(reversed(played))
        self._digests = {player.digest for player in played}
        self._contents = Counter(bot.digest for bot in bots)

    def entered(self) -> list[str]:
        """The digests in the order of the bots."""
        called: dict[str, list[Player]] = {}
        namesakes: dict[str, list[Player]] = {}
        for player in self._last_first:
            called.setdefault(player.name, []).append(player)
            namesakes.setdefault(given_name(player.name), []).append(player)
        bots = self._bots
        self._enter(lambda place: self._stayed(place, self._known(bots[place], called.get(self._shown[place], ()))))
        self._enter(lambda place: self._stayed(place, self._stored_copies(bots[place].digest)))
        self._enter(lambda place: self._known(bots[place], called.get(self._shown[place], ())))
        self._enter(lambda place: self._known(bots[place], namesakes.get(given_name(bots[place].name), ())))
        self._enter(lambda place: self._stored_copies(bots[place].digest))
        self._enter(lambda place: self._copies(bots[place].digest))
        return [self._entered[place] for place in range(len(self._bots))]

    def _enter(self, digests_of: Callable[[int], Iterable[str]]) -> None:
        """Let each of the bots that are left take the first of these digests that nobody has."""
        for place in list(self._waiting):
            digest = next((digest for digest in digests_of(place) if digest not in self._taken), None)
            if digest is not None:
                self._entered[place] = digest
                self._taken.add(digest)
                self._waiting.remove(place)

    def _stayed(self, place: int, digests: Iterable[str]) -> Iterator[str]:
        """Those of a bot's digests that last played from where it is."""
        return (digest for digest in digests if self._places.get(digest) == self._lies_at[place])

    def _known(self, bot: BotSpec, namesakes: Iterable[Player]) -> Iterator[str]:
        """The digests of players of the bot's name that are this bot."""
        for player in namesakes:
            if player.digest in self._stored_copies(bot.digest):
                yield player.digest

    def _stored_copies(self, digest: str) -> list[str]:
        """The copies of a content that have played: those up to the first that has not, and is not asked for."""
        wanted = self._contents[digest]
        found = []
        for number, copy in enumerate(self._copies(digest), start=1):
            if copy in self._digests:
                found.append(copy)
            elif number > wanted:
                break
        return found

    def _copies(self, digest: str) -> Iterator[str]:
        return (copy_digest(digest, number) for number in count_from(1))


def _named(bots: Sequence[BotSpec], places: Sequence[Path], played: Sequence[Player]) -> list[BotSpec]:
    """The bots with names that differ: by the folder they are in where that is enough, else by a number.

    `places` are where they are (`_place_of`).

    None is called by the path of another (`b/fox` while another lies at b/fox): it has a number instead.
    """
    lies_at = list(map(_short_paths, places))
    paths = set().union(*lies_at)
    numbered: set[int] = set()
    given = [given_name(bot.name) for bot in bots]
    count = Counter(given)
    names = {place: name for place, name in enumerate(given) if count[name] == 1}
    taken = set(names.values())
    keys = [(os.fsencode(path), bot.arguments) for bot, path in zip(bots, places, strict=True)]
    waiting = sorted(set(range(len(bots))) - set(names), key=keys.__getitem__)
    for player in reversed(played):
        who = (given_name(player.name), player.digest)
        known = next((place for place in waiting if (given[place], bots[place].player.digest) == who), None)
        if known is not None and player.name in paths - lies_at[known]:
            numbered.add(known)
        elif known is not None and player.name not in taken:
            names[known] = player.name
            taken.add(player.name)
            waiting.remove(known)
    for place in waiting:
        longer = f"{printable(places[place].parent.name)}/{given[place]}"
        if place in numbered or longer in paths - lies_at[place]:
            names[place] = next(name for name in _numbers(given[place]) if name not in taken)
        else:
            names[place] = next(name for name in chain([longer], _numbers(longer)) if name not in taken)
        taken.add(names[place])
    return [bot if bot.name == names[place] else replace(bot, name=names[place]) for place, bot in enumerate(bots)]


def _numbers(name: str) -> Iterator[str]:
    return (f"{name}#{number}" for number in count_from(2))


def _short_paths(path: Path) -> set[str]:
    """A bot's path from its folder on, with and without the ending, as it can be taken from a name."""
    return {f"{printable(path.parent.name)}/{printable(name)}" for name in (path.name, path.stem)}


def _place_of(bot: BotSpec) -> Path:
    return Path(os.path.realpath(bot.path)) if bot.fault is None else place_of_link(bot.path)


def place_of_link(path: Path) -> Path:
    """Where a path is, whatever the last of its names may be a link to."""
    return Path(os.path.realpath(path.parent), path.name) if path.name not in ("", "..") else path.resolve()
