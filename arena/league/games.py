"""The games of a league: what they all share (`Settings`), in words too, and each of them as a specification (`Games`).

Which ids and seeds a game has follows from what it is (`arena.league.game_ids`), and from nothing else. So to resume a
league, to add a bot or a round, or to rename one is the same thing: play the ids that are missing. A new version of a
bot can take its place: then games that an older version has played stay.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from arena.bots.limits import Limits
from arena.game.persons import is_person
from arena.game.spec import GameSpec, Opening, Player
from arena.game.time_control import TimeControl
from arena.league.game_ids import (
    OPENINGS_DIGITS,
    Players,
    Times,
    common_of,
    common_of_equals,
    game_id,
    opening_of,
    openings_digest,
    pair_seed_of,
    seeds_of,
    starter,
)
from arena.league.store import (
    CALIBRATION,
    HIDDEN,
    KEEP_BOTS,
    LIMITS_OF,
    NAMED,
    NO_OPENINGS,
    OPENINGS,
    OPPONENTS,
    OTHER_TIMES,
    PONDERING,
    RULES,
    RULESET,
    SEED,
    SEPARATOR,
    TIME,
    time_key,
)
from arena.play.machine import reference_text
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import Ruleset, Starts

OPENINGS_TEXT = re.compile(rf"([1-9][0-9]{{0,6}}) of digest [0-9a-f]{{{OPENINGS_DIGITS}}}", re.ASCII)
"""The setting of a store of games with openings."""
OTHER_TIMES_TEXT = re.compile(r"start (\d{1,15})ms, set-up (\d{1,15})ms, margin (\d{1,15})ms", re.ASCII)
"""The setting of the limits on what is not a move, as `other_times` writes it."""


class Settings(msgspec.Struct, frozen=True):
    """What all games of a league share; `time` is for all bots but those that have their own."""

    ruleset: Ruleset
    time: TimeControl
    seed: int = 1
    limits: Limits = Limits()
    bot_limits: tuple[tuple[str, Limits], ...] = ()
    """The limits of bots that have their own, by name."""
    pondering: bool = True
    keep_bots: bool = False
    """Whether the two games of a pair are played in the same processes."""
    bot_times: tuple[tuple[str, TimeControl], ...] = ()
    """The time controls of bots that have their own, by digest. They differ from `time` in the limits on moves."""
    openings: tuple[Opening, ...] = ()
    """The set-ups that games begin with; none if the bots choose their own."""
    names_told: bool = False
    """Whether each bot is told what its opponent is called."""
    reference_us: int | None = None
    """What clocks are scaled by to each machine (`arena.play.machine.percent_of`); None: they are not. The
    ids of games are those of the clocks that are not scaled."""

    def described(self, players: Sequence[Player] = ()) -> dict[str, str]:
        """The settings in words, by name, with limits and own times of these bots; leagues that agree in all may share
        a store."""
        own = dict(self.bot_limits)
        bots = [player for player in players if not is_person(player)]
        return {
            RULESET: self.ruleset.name,
            RULES: rules_text(self.ruleset),
            TIME: self.time.text,
            OTHER_TIMES: other_times(self.time),
            SEED: str(self.seed),
            PONDERING: "yes" if self.pondering else "no",
            KEEP_BOTS: "yes" if self.keep_bots else "no",
            OPENINGS: openings_text(self.openings),
            OPPONENTS: NAMED if self.names_told else HIDDEN,
            **({} if self.reference_us is None else {CALIBRATION: reference_text(self.reference_us)}),
            **{f"{LIMITS_OF}{player.name}": own.get(player.name, self.limits).text for player in bots},
            **self.own_times(players),
        }

    def own_times(self, players: Sequence[Player]) -> dict[str, str]:
        """The time controls of those of these bots that have their own, in words, by the names of the settings."""
        own = dict(self.bot_times)
        return {time_key(player): own[player.digest].text for player in players if player.digest in own}

    def times(self, players: Players) -> Times:
        """How long each of two players may take."""
        own = dict(self.bot_times)
        first, second = (own.get(player.digest, self.time) for player in players)
        return first, second

    def digest(self, players: Players | None = None) -> str:
        """A fingerprint of the settings that games are named by: those of two players, or of any two without times of
        their own. What a bot may use is not among them."""
        rules = self.ruleset.digest()
        if players is None:
            return common_of_equals(rules, self.seed, self.time)
        return common_of(rules, self.seed, players, self.times(players))


def rules_text(ruleset: Ruleset) -> str:
    """The lines of a ruleset, as a setting."""
    return SEPARATOR.join(f"{name} {value}" for name, value in ruleset.lasting_lines())


def rules_in(name: str, text: str) -> Ruleset:
    """The ruleset of a setting. Raises `RulesetError`."""
    parts = (line.partition(" ") for line in text.split(SEPARATOR))
    return ruleset_from_lines(name, ((key, value) for key, _, value in parts))


class OtherTimes(NamedTuple):
    """A time control's limits on what is not a move."""

    start_ms: int
    setup_ms: int
    margin_ms: int


def other_times(time: TimeControl) -> str:
    """A time control's limits on what is not a move, in words."""
    return f"start {time.start_ms}ms, set-up {time.setup_ms}ms, margin {time.margin_ms}ms"


def other_times_in(text: str) -> OtherTimes | None:
    """The limits that a setting speaks of; None for what is no such setting."""
    match = OTHER_TIMES_TEXT.fullmatch(text)
    return OtherTimes(*map(int, match.groups())) if match else None


def openings_text(openings: Sequence[Opening]) -> str:
    """The openings of a league in words, as a setting: how many, and a fingerprint of them and their order."""
    if not openings:
        return NO_OPENINGS
    return f"{len(openings)} of digest {openings_digest(openings)}"


def openings_in(text: str) -> int:
    """How many openings a setting speaks of; 0 for none, and for what is no such setting."""
    match = OPENINGS_TEXT.fullmatch(text)
    return int(match[1]) if match else 0


class Games:
    """Makes the games of a league: who meets whom in which round is for others to say.

    `former` are older versions of players, by digest, the oldest first. A game that one of these has played, so that
    its id is among those `stored`, is given as it was played.
    """

    def __init__(
        self,
        settings: Settings,
        stored: Collection[str] = frozenset(),
        former: Mapping[str, Sequence[Player]] = MappingProxyType({}),
    ) -> None:
        self._settings = settings
        self._rules = settings.ruleset.digest()
        self._own_times = dict(settings.bot_times)
        self._usual = common_of_equals(self._rules, settings.seed, settings.time)
        self._stored = stored
        self._former = former

    @property
    def are_in_pairs(self) -> bool:
        """Whether the return game has to follow its game at once, as both are played in the same processes."""
        return self._settings.keep_bots

    def versions(self, player: Player) -> tuple[Player, ...]:
        """Return a player with its older versions, the oldest first."""
        return (*self._former.get(player.digest, ()), player)

    def game(self, red: Player, blue: Player, number: int) -> GameSpec:
        """The game of these two in a round in which the first of them has Red."""
        for one, other in product(self.versions(red), self.versions(blue)) if self._former else ():
            game = self._made(one, other, number)
            if game.id in self._stored:
                return game
        return self._made(red, blue, number)

    def _made(self, red: Player, blue: Player, number: int) -> GameSpec:
        settings, players = self._settings, (red, blue)
        times, common = (settings.time, settings.time), self._usual
        if self._own_times:
            times = self._time_of(red), self._time_of(blue)
            common = common_of(self._rules, settings.seed, players, times)
        opening = opening_of(common, players, number, settings.openings)
        pair_seed = pair_seed_of(common, players, number, opening)
        ruleset = settings.ruleset
        if ruleset.starts is Starts.CHOSEN:  # the same for both games of a pair: each bot begins one of them
            ruleset = replace(ruleset, starts=starter(pair_seed))
        return GameSpec(
            id=game_id(pair_seed, players),
            ruleset=ruleset,
            time=times[0],
            players=players,
            seeds=seeds_of(pair_seed, players),
            pair_seed=pair_seed,
            blue_time=times[1] if times[1] != times[0] else None,
            opening=opening,
            names_told=settings.names_told,
        )

    def _time_of(self, player: Player) -> TimeControl:
        return self._own_times.get(player.digest, self._settings.time)
