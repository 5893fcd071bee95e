"""The settings document of a store: the settings that all its games share, and the data of its last league.

Every bot plays under the store's `time` but those with a setting of their own, `time of NAME@DIGEST`, in which the
digest identifies the bot.
"""

import enum
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from arena.game.game_spec import Player
from arena.system.printable import printable


class Setting(enum.StrEnum):
    """The settings of a store by their names, but for limits and times of single bots."""

    GAME = "game"
    RULESET = "ruleset"
    RULES = "rules"
    TIME = "time"
    OTHER_TIMES = "other times"
    SEED = "seed"
    PONDERING = "pondering"
    KEEP_BOTS = "keep-bots"
    OPENINGS = "openings"
    OPPONENTS = "opponents"
    CALIBRATION = "calibration"
    """How clocks are scaled to each machine; only in a store of games that were played so (`--calibrate`)."""


NO_OPENINGS = "none"
HIDDEN, NAMED = "hidden", "named"
"""The values of `OPPONENTS`: whether bots receive their opponents' names."""
LIMITS_OF = "limits of "
TIME_OF = "time of "
SEPARATOR = "; "

SETTINGS_OF_GAMES = (Setting.RULESET, Setting.RULES, Setting.TIME, Setting.OTHER_TIMES)
"""Settings in every store that holds games. Without them, games under any other rules could be added."""
NOT_CALIBRATED: dict[str, str] = {Setting.CALIBRATION: "no"}
"""The setting of games with unscaled clocks; it is not stored."""
DIGITS_SHOWN = 6
VALUE_SHOWN = 500


def time_key(player: Player) -> str:
    return f"{TIME_OF}{player.name}@{player.digest}"


def own_times_in(settings: Mapping[str, str]) -> dict[str, str]:
    return {_digest(name): printable(text) for name, text in settings.items() if name.startswith(TIME_OF)}


def without_known_times(asked: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    """Drop the times of bots whose time the store already has, under any name."""
    known = own_times_in(present)
    return {name: text for name, text in asked.items() if not name.startswith(TIME_OF) or _digest(name) not in known}


def differences(present: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    lines = []
    different = [name for name, value in asked.items() if present.get(name, value) != value]
    for name in different:
        if name == Setting.RULES and Setting.RULESET in different:
            continue
        there, new = present[name], asked[name]
        if name == Setting.RULES:
            old, now = there.split(SEPARATOR), new.split(SEPARATOR)
            there = SEPARATOR.join(rule for rule in old if rule not in now) or "none of these"
            new = SEPARATOR.join(rule for rule in now if rule not in old) or "none of these"
        there, new = printable(there, VALUE_SHOWN), printable(new, VALUE_SHOWN)
        lines.append(f"    {name}: {there} (in the store), {new} (asked for)")
    return lines


def time_differences(
    present: Mapping[str, str],
    asked: Mapping[str, str],
    players: Sequence[Player],
    played: Callable[[], Collection[str]],
) -> list[str]:
    """Return a line for each of these `players`, and of those in `asked`, with another clock than the store has for it.

    `played` returns the digests of players that have the store's usual time unless they have their own. A difference in
    the usual time is not repeated for each player.
    """
    had, wanted = own_times_in(present), own_times_in(asked)
    if Setting.TIME not in present or not (had or wanted):
        return []
    usual, asked_usual = present[Setting.TIME], asked.get(Setting.TIME, present[Setting.TIME])
    known = dict.fromkeys(played(), usual) | had
    own = [name.removeprefix(TIME_OF).rpartition("@") for name in asked if name.startswith(TIME_OF)]
    names = {digest: printable(name) for name, _, digest in own}
    names |= {player.digest: player.name for player in players}
    lines = []
    for digest, name in names.items():
        before, now = known.get(digest), wanted.get(digest, asked_usual)
        if before is None or before == now or (digest not in had and digest not in wanted):
            continue
        lines.append(f"    {TIME_OF}{name}@{digest[:DIGITS_SHOWN]}: {before} (in the store), {now} (asked for)")
    return lines


def _digest(setting: str) -> str:
    return setting.rpartition("@")[2]


_Count = Annotated[int, Meta(ge=0, lt=2**53)]
_Number = Annotated[int, Meta(ge=1, lt=2**53)]
Runs = tuple[tuple[_Number, _Number], ...]
"""Numbers of games: the first and the last of each run of consecutive numbers, in order."""


class Disqualified(msgspec.Struct, frozen=True):
    """A disqualified bot: how many of its games are left out (until now, if `is_so_far`), and how many count."""

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
    """The data that a league keeps in a store next to its games. Some of it is a claim that no game proves."""

    entrants: tuple[Player, ...] = ()
    """The players that took part when the store was last used."""
    planned: _Count | None = None
    meets_all: bool | None = None
    """Whether these are all to meet equally often; None without a league, as after an import."""
    format: str = ""
    ladder: LadderStart | None = None
    sandbox: str | None = None
    disqualified: tuple[Disqualified, ...] = ()
    not_counted: Runs = ()
    """Games of the entrants that the last league does not count, such as those of a format played before."""
    files: dict[str, dict[str, str]] = {}
    places: dict[str, str] = {}
    """The path that each player last played from, by digest."""
    arguments: dict[str, tuple[str, ...]] = {}

    def files_of(self, player: Player) -> dict[str, str]:
        return self.files.get(player.digest, {})

    def planned_for(self, players: Iterable[Player]) -> tuple[int | None, bool | None]:
        """Return `planned` and `meets_all` for a table of these players; None twice unless these are the entrants."""
        if {player.digest for player in players} != {player.digest for player in self.entrants}:
            return None, None
        return self.planned, self.meets_all

    def leaves_out(self, game: int) -> bool:
        """Return whether the last league does not count the game of this number."""
        at = bisect_right(self.not_counted, game, key=itemgetter(0))
        return at > 0 and game <= self.not_counted[at - 1][1]


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    games: dict[str, str] = {}
    kept: Kept = Kept()


def runs_of(numbers: Iterable[int]) -> Runs:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return tuple(runs)


_decoder = msgspec.json.Decoder(Document)


def decode_document(data: object) -> Document | None:
    """Decode a document with printable names, as a store may come from anyone; None if it is invalid."""
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
    return msgspec.json.encode(Document(dict(games), kept), order="sorted")


def _readable(player: Player) -> Player:
    return Player(printable(player.name), printable(player.digest))
