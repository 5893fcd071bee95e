"""The specification of a game: everything that its result may depend on."""

import msgspec

from arena.game.time_control import TimeControl
from arena.rules.ruleset import Ruleset


class Player(msgspec.Struct, frozen=True):
    """A bot as a player: its name in tables and the fingerprint of its files."""

    name: str
    digest: str


Opening = tuple[str, str]
"""The two set-ups that a game begins with, Red's and Blue's, each as the ROWS of the protocol's `setup` line."""


class GameSpec(msgspec.Struct, frozen=True):
    """A game that is to be played: everything that its result may depend on, and its id.

    `players` is red, then blue. `seeds` are the numbers that the two are given, in the same order. `pair_seed` names
    the pair of games, colours swapped, that this one belongs to. `time` is both sides' time control, or Red's alone if
    Blue has another, `blue_time` (a handicap). `opening` is what it begins with if the bots are not to choose their
    set-ups. With `names_told` each side is told the name of the other. `time_percent` is by how much the clocks are
    scaled to the machine that is to play it (`TimeControl.scaled`); None where they are as they stand here.
    """

    id: str
    ruleset: Ruleset
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    blue_time: TimeControl | None = None
    opening: Opening | None = None
    names_told: bool = False
    time_percent: int | None = None

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
