"""A league's games by their identity: which ids and seeds a game has follows from what it is, and from nothing else.

A game is two contents, a round and who has Red, under the league's settings. What the bots are called, in which order
they were named and when they play is no part of it. So to resume a league, to add a bot or a round, or to rename one is
the same thing: play the ids that are missing.

How long each of the two may take is part of what it is: where both have the same time control, the game is that of any
league of that time; where one has a handicap, it is another game, and so under every other pair of clocks.

A game that begins with an opening of a file is another than one in which the bots choose their set-ups. Which one a
pair of games has follows from its two contents, the number of the pair and the seed (`opening_of`); the return game
has the same, so that each bot plays either side of it.

Earlier versions made ids and seeds from the bots' names as well (`Scheme.NAMES`). Such games keep them, and count.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import Enum
from itertools import product
from typing import NamedTuple, Protocol

import msgspec

from arena.bots.limits import Limits
from arena.game.persons import is_person
from arena.game.spec import GameSpec, Opening, Player
from arena.game.time_control import TimeControl
from arena.league.store import CALIBRATION, LIMITS_OF, time_key
from arena.play.played_on import reference_text
from arena.rules.ruleset import Ruleset, Starts

Players = tuple[Player, Player]
Times = tuple[TimeControl, TimeControl]
"""Those of two players, in their order."""
KEEP_BOTS = "keep-bots"
"""The name of the setting. A store of a version that had none holds games of new processes."""
OPENINGS = "openings"
"""The name of the setting. A store of a version that had none holds games without openings."""
NO_OPENINGS = "none"
OPPONENTS = "opponents"
"""The name of the setting. In games of a store of a version that had none nobody was told a name."""
HIDDEN, NAMED = "hidden", "named"
OPENINGS_DIGITS = 16
OPENINGS_TEXT = re.compile(rf"([1-9][0-9]{{0,6}}) of digest [0-9a-f]{{{OPENINGS_DIGITS}}}", re.ASCII)
"""The setting of a store of games with openings."""
ID_LENGTH = 16
"""Hexadecimal digits of a game's id: two of a million games share one with a chance of one in 37 million."""


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
    """What clocks are scaled by to each machine (`arena.play.played_on.percent_of`); None: they are not. The
    ids of games are those of the clocks that are not scaled."""

    def described(self, players: Sequence[Player] = ()) -> dict[str, str]:
        """The settings in words, by name, with limits and own times of these bots; leagues that agree in all may share
        a store."""
        own = dict(self.bot_limits)
        bots = [player for player in players if not is_person(player)]
        return {
            "ruleset": self.ruleset.name,
            "rules": "; ".join(f"{name} {value}" for name, value in self.ruleset.lasting_lines()),
            "time": self.time.text,
            "other times": other_times(self.time),
            "seed": str(self.seed),
            "pondering": "yes" if self.pondering else "no",
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
            return _common_of_equals(rules, self.seed, self.time)
        return common_of(rules, self.seed, players, self.times(players))


def other_times(time: TimeControl) -> str:
    """A time control's limits on what is not a move, in words."""
    return f"start {time.start_ms}ms, set-up {time.setup_ms}ms, margin {time.margin_ms}ms"


def common_of(rules: str, seed: int, players: Players, times: Times) -> str:
    """A fingerprint of what all games of two players in a league share: the rules, by digest, its seed, their clocks.

    Where both have the same clock, that is all that counts of the two; where not, each clock counts as its player's,
    whoever of them has Red.
    """
    first, second = times
    if first == second:
        return _common_of_equals(rules, seed, first)
    clocks = sorted((player.digest, repr(_clock(time))) for player, time in zip(players, times, strict=True))
    return _hash("settings with a handicap", rules, clocks, seed)


def _common_of_equals(rules: str, seed: int, time: TimeControl) -> str:
    return _hash("settings", rules, _clock(time), seed)


def _clock(time: TimeControl) -> tuple[int | None, ...]:
    return time.move_ms, time.bank_ms, time.increment_ms, time.start_ms, time.setup_ms, time.margin_ms


class Named(Protocol):
    """What a game's identity is made of, in specifications, records and saved games alike."""

    @property
    def id(self) -> str: ...
    @property
    def players(self) -> Players: ...
    @property
    def seeds(self) -> tuple[int, int]: ...
    @property
    def pair_seed(self) -> int: ...


def _hash(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


class Scheme(Enum):
    """What the ids and seeds of a game are made from. The values are hashed: they never change."""

    CONTENT = "content"
    """The digests of its two players."""
    NAMES = "names"
    """Their names as well: the scheme of earlier versions, in which nothing new is played."""

    def __init__(self, value: str) -> None:
        self._ending = f" by {value}" if value == "content" else ""
        """Behind what a hash is of, so that the two schemes never hash the same."""

    def who(self, player: Player) -> tuple[str, ...]:
        """What stands for a player."""
        return (player.digest,) if self is Scheme.CONTENT else (player.name, player.digest)

    def kind(self, word: str) -> str:
        """What a hash is of."""
        return word + self._ending


def pair_seed_of(
    common: str, players: Players, number: int, scheme: Scheme = Scheme.CONTENT, opening: Opening | None = None
) -> int:
    """What names the pair of games of two players in a round; `common` is their digest of the settings, `opening` the
    one that both games begin with, if there is one."""
    red, blue = players
    who = sorted((scheme.who(red), scheme.who(blue)))
    given = () if opening is None else (tuple(opening),)
    return int(_hash(scheme.kind("pair"), common, who, number, *given)[:12], 16)


def opening_of(common: str, players: Players, number: int, openings: Sequence[Opening]) -> Opening | None:
    """What the pair of games of two players in a round begins with; None if there are no openings.

    Where in the file two players begin is random, by a hash of what they are and the seed; from there each further
    pair takes the next one, and the first follows the last. So where bots meet but once, as in a Swiss, the games of a
    league do not all begin alike.
    """
    return openings[place_of_opening(common, players, number, len(openings))] if openings else None


def place_of_opening(common: str, players: Players, number: int, count: int) -> int:
    """Where in a file of so many openings that one stands, from 0."""
    start = int(_hash("first opening", common, sorted(player.digest for player in players))[:12], 16)
    return (start + number) % count


def openings_text(openings: Sequence[Opening]) -> str:
    """The openings of a league in words, as a setting: how many, and a fingerprint of them and their order."""
    if not openings:
        return NO_OPENINGS
    return f"{len(openings)} of digest {openings_digest(openings)}"


def openings_in(text: str) -> int:
    """How many openings a setting speaks of; 0 for none, and for what is no such setting."""
    match = OPENINGS_TEXT.fullmatch(text)
    return int(match[1]) if match else 0


def openings_digest(openings: Sequence[Opening]) -> str:
    """A fingerprint of openings in their order."""
    return _hash("openings", *map(tuple, openings))[:OPENINGS_DIGITS]


def starter(pair_seed: int) -> Starts:
    """Who begins, where the rules have the players choose."""
    return Starts.BLUE if pair_seed & 1 else Starts.RED


def seeds_of(pair_seed: int, players: Players, scheme: Scheme = Scheme.CONTENT) -> tuple[int, int]:
    """The numbers that the two bots are given."""
    kind = scheme.kind("bot")
    red, blue = players
    return int(_hash(kind, pair_seed, *scheme.who(red))[:8], 16), int(_hash(kind, pair_seed, *scheme.who(blue))[:8], 16)


def game_id(pair_seed: int, players: Players, scheme: Scheme = Scheme.CONTENT) -> str:
    """The id of the game in which the first of the players has Red."""
    red, blue = players
    return _hash(scheme.kind("game"), pair_seed, *scheme.who(red), *scheme.who(blue))[:ID_LENGTH]


def scheme_of(game: Named) -> Scheme | None:
    """The scheme that a game's id was made by; None if it is an id that its players and its pair do not give."""
    return next((scheme for scheme in Scheme if game.id == game_id(game.pair_seed, game.players, scheme)), None)


def misfit(game: Named) -> str | None:
    """Why a game is not what its own id and seeds say, in words; None if it is."""
    scheme = scheme_of(game)
    red, blue = game.players
    if (scheme or Scheme.CONTENT).who(red) == (scheme or Scheme.CONTENT).who(blue):
        return "both sides are the same player"
    if scheme is None:
        expected = game_id(game.pair_seed, game.players)
        return f"its id does not follow from its players and its pair, which give {expected}"
    if game.seeds != seeds_of(game.pair_seed, game.players, scheme):
        return "its seeds do not follow from its players and its pair"
    return None


class Stored(NamedTuple):
    """What a store holds, as far as games are known again by it: the ids, and who has played under which names."""

    ids: Collection[str] = frozenset()
    players: Sequence[Player] = ()
    """In the order of their last games."""


NOTHING_STORED = Stored()


class Games:
    """Makes the games of a league: who meets whom in which round is for others to say.

    A game that is `stored` under an id of an earlier version is given with that id and the names of then.
    """

    def __init__(self, settings: Settings, stored: Stored = NOTHING_STORED) -> None:
        self._settings = settings
        self._rules = settings.ruleset.digest()
        self._own_times = dict(settings.bot_times)
        self._usual = _common_of_equals(self._rules, settings.seed, settings.time)
        self._ids = stored.ids
        self._names: dict[str, list[Player]] = {}
        for player in stored.players:
            self._names.setdefault(player.digest, []).append(player)

    @property
    def are_in_pairs(self) -> bool:
        """Whether the return game has to follow its game at once, as both are played in the same processes."""
        return self._settings.keep_bots

    def game(self, red: Player, blue: Player, number: int) -> GameSpec:
        """The game of these two in a round in which the first of them has Red."""
        game = self._made(red, blue, number, Scheme.CONTENT)
        if not self._ids or game.id in self._ids or game.opening:  # the first versions had no openings
            return game
        for old_red, old_blue in product(self._names.get(red.digest, ()), self._names.get(blue.digest, ())):
            old = self._made(old_red, old_blue, number, Scheme.NAMES)
            if old.id in self._ids:
                return old
            # Where the return game was played, this one belongs to it, with the same seeds. It is played under the
            # names of now, so these have to be those of then.
            if (old_red, old_blue) == (red, blue) and game_id(old.pair_seed, (blue, red), Scheme.NAMES) in self._ids:
                game = old
        return game

    def _made(self, red: Player, blue: Player, number: int, scheme: Scheme) -> GameSpec:
        settings, players = self._settings, (red, blue)
        times, common = (settings.time, settings.time), self._usual
        if self._own_times:
            times = self._time_of(red), self._time_of(blue)
            common = common_of(self._rules, settings.seed, players, times)
        opening = opening_of(common, players, number, settings.openings)
        pair_seed = pair_seed_of(common, players, number, scheme, opening)
        ruleset = settings.ruleset
        if ruleset.starts is Starts.CHOSEN:  # the same for both games of a pair: each bot begins one of them
            ruleset = replace(ruleset, starts=starter(pair_seed))
        return GameSpec(
            id=game_id(pair_seed, players, scheme),
            ruleset=ruleset,
            time=times[0],
            players=players,
            seeds=seeds_of(pair_seed, players, scheme),
            pair_seed=pair_seed,
            blue_time=times[1] if times[1] != times[0] else None,
            opening=opening,
            names_told=settings.names_told,
        )

    def _time_of(self, player: Player) -> TimeControl:
        return self._own_times.get(player.digest, self._settings.time)
