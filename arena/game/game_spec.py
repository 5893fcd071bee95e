"""The specification of a game: everything that its result may depend on, and persons as its players.

Stores, tables and ids treat a person like a bot, and records distinguish the two. Names are not verified.
"""

import hashlib
from typing import Any

import msgspec
from msgspec import UNSET

from arena.game import Game, Variant
from arena.game.time_control import UNLIMITED_MS, TimeControl


class Player(msgspec.Struct, frozen=True):
    """A bot as a player: its name in tables and the fingerprint of its files."""

    name: str
    digest: str


Opening = tuple[str, str]
"""The two set-ups that a game begins with, Red's and Blue's, each as the ROWS of the protocol's `setup` line."""


class GameSpec(msgspec.Struct, frozen=True):
    """A game to play: everything that its result may depend on, and its id.

    `players` is red, then blue, and so are the `seeds` that they receive. `pair_seed` names the pair of games, colours
    swapped, that this one belongs to. `time` is both sides' time control, or Red's alone if Blue has another,
    `blue_time` (a handicap). `opening` has the set-ups that the game begins with, if the bots do not choose them. With
    `names_told` each side receives the name of the other. `time_percent` scales the clocks to the machine
    (`TimeControl.scaled`); None for unscaled ones.
    """

    id: str
    variant: Variant
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    blue_time: TimeControl | None = None
    opening: Opening | None = None
    names_told: bool = False
    time_percent: int | None = None

    @property
    def kind(self) -> Game:
        return self.variant.kind

    @property
    def chance_seed(self) -> int:
        """The seed of all that a game leaves to chance: the same in both games of a pair, and told to nobody."""
        return int(hashlib.sha256(f"chance {self.pair_seed}".encode()).hexdigest()[:16], 16)

    @property
    def nominal_times(self) -> tuple[TimeControl, TimeControl]:
        return self.time, self.blue_time or self.time

    @property
    def times(self) -> tuple[TimeControl, TimeControl]:
        """Red's and Blue's time control as scaled, announced and enforced."""
        red, blue = self.nominal_times
        return red.scaled(self.time_percent), blue.scaled(self.time_percent)

    @property
    def names(self) -> str:
        red, blue = self.players
        return f"{red.name} - {blue.name}"


_COMMON = ("id", "time", "players", "seeds", "pair_seed", "blue_time", "opening", "names_told", "time_percent")


def common_fields(game: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a specification or a record that the other has, too, without those that have no value."""
    found = {name: getattr(game, name) for name in _COMMON}
    return {name: value for name, value in found.items() if not any(value is none for none in (None, UNSET, False))}


def person_digest(name: str) -> str:
    """Return the digest of a person. No bot has it: the lines of a bot's digest end in a newline."""
    return hashlib.sha256(f"person {name}".encode()).hexdigest()


def person(name: str) -> Player:
    return Player(name, person_digest(name))


def is_person(player: Player) -> bool:
    return player == person(player.name)


def without_clock(time: TimeControl) -> TimeControl:
    """Return the time control of a person without limits, next to a bot with this one."""
    return with_clock(time, TimeControl(move_ms=UNLIMITED_MS))


def with_clock(time: TimeControl, moves: TimeControl) -> TimeControl:
    """Return the time control of a person with these limits on its moves, and none on its set-up."""
    return msgspec.structs.replace(moves, start_ms=time.start_ms, setup_ms=UNLIMITED_MS, margin_ms=time.margin_ms)
