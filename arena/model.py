"""The values that travel: what a game is to be, what came of it, and how time is kept.

Everything here is frozen and turns into JSON by msgspec as it stands, so a record read back from a store is the same
value that the referee made.
"""

import enum
import re

import msgspec

from arena.printable import shown
from arena.rules.ruleset import Ruleset
from protocol.notation import Color, Reason


class ArenaError(Exception):
    """Something that a user has to know and can act on. The text stands alone: what was expected, what came, where.

    The command line prints it without a traceback and exits with `exit_code`.
    """

    exit_code = 1


class UsageError(ArenaError):
    """What was asked for makes no sense: a wrong path, name or option."""

    exit_code = 2


class GameResult(enum.Enum):
    """Who won. `NEITHER` is a game that both sides lost by a fault of their own before it began."""

    RED = "red"
    BLUE = "blue"
    DRAW = "draw"
    NEITHER = "neither"

    @staticmethod
    def win(color: Color) -> "GameResult":
        return GameResult.BLUE if color else GameResult.RED

    @property
    def winner(self) -> Color | None:
        return {GameResult.RED: Color.RED, GameResult.BLUE: Color.BLUE}.get(self)


class Verdict(msgspec.Struct, frozen=True):
    """How a game ended: who won, why, after how many plies, and in words."""

    result: GameResult
    reason: Reason
    plies: int
    detail: str = ""


def _seconds(milliseconds: int) -> str:
    whole, rest = divmod(milliseconds, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


class TimeControl(msgspec.Struct, frozen=True):
    """How long a bot may take, in milliseconds.

    `move_ms` bounds every move, `bank_ms` the whole game (it grows by `increment_ms` after each move); at least one of
    the two is set. `start_ms` is for `ready`, `setup_ms` for the set-up. `margin_ms` is forgiven on top of every limit,
    for the jitter of the machine; it never adds to what a bank holds.
    """

    move_ms: int | None = 100
    bank_ms: int | None = None
    increment_ms: int = 0
    start_ms: int = 10_000
    setup_ms: int = 5_000
    margin_ms: int = 50

    @property
    def text(self) -> str:
        """The limits on moves as they are written on the command line."""
        parts = []
        if self.bank_ms is not None:
            parts.append(f"{_seconds(self.bank_ms)}+{_seconds(self.increment_ms)}")
        if self.move_ms is not None:
            parts.append(f"{self.move_ms}ms")
        return ",".join(parts)


_BANK = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\+(\d{1,9}(?:\.\d{1,9})?)")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m)")
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000}
LONGEST_MS = 7 * 24 * 3_600_000
"""A week: enough for any game, and bots may keep milliseconds in 32 bits."""


def parse_duration(text: str) -> int:
    """A time such as `100ms`, `1.5s` or `2m` in milliseconds. Raises `UsageError`."""
    match = _DURATION.fullmatch(text)
    milliseconds = round(float(match[1]) * _UNIT_MS[match[2]]) if match else 0
    if milliseconds < 1:
        raise UsageError(f"expected a time such as 100ms, 1.5s or 2m, got {shown(text)}")
    return _not_too_long(milliseconds, text)


def _not_too_long(milliseconds: int, text: str) -> int:
    if milliseconds > LONGEST_MS:
        raise UsageError(f"expected a time of at most {LONGEST_MS // 60_000}m, got {shown(text)}")
    return milliseconds


def parse_time(text: str) -> TimeControl:
    """A time control as written on the command line. Raises `UsageError`.

    `100ms` or `1s/move` is a limit per move; `60+0.6` is a bank of 60 seconds and an increment of 0.6 seconds a move;
    `60+0.6,1s/move` is both.
    """
    move_ms: int | None = None
    bank_ms: int | None = None
    increment_ms = 0
    for part in text.split(","):
        bank = _BANK.fullmatch(part)
        if bank and bank_ms is None and round(float(bank[1]) * 1000) > 0:
            bank_ms, increment_ms = (_not_too_long(round(float(part) * 1000), text) for part in bank.groups())
        elif _DURATION.fullmatch(part.removesuffix("/move")) and move_ms is None:
            move_ms = parse_duration(part.removesuffix("/move"))
        else:
            raise UsageError(
                "expected a time such as 100ms or 1s/move (for each move), 60+0.6 (a bank of 60 s and 0.6 s more for "
                f"each move), or both as 60+0.6,1s/move; got {shown(text)}"
            )
    return TimeControl(move_ms=move_ms, bank_ms=bank_ms, increment_ms=increment_ms)


class Player(msgspec.Struct, frozen=True):
    """A bot as it takes part: the name it has in tables and the fingerprint of its files."""

    name: str
    digest: str


class GameSpec(msgspec.Struct, frozen=True):
    """A game that is to be played: everything that its result may depend on, and its id.

    `players` is red, then blue. `seeds` are the numbers that the two are given, in the same order. `pair_seed` names
    the pair of games, colours swapped, that this one belongs to.
    """

    id: str
    ruleset: Ruleset
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int


class NoteLine(msgspec.Struct, frozen=True):
    """A remark that a bot sent before the ply of that number."""

    ply: int
    color: str
    text: str


class Past(msgspec.Struct, frozen=True):
    """What has been played of a game that was interrupted: enough to go on from there.

    `declared` is what the bots called themselves, `setups` are set-up lines. Of each action, in microseconds,
    `times_us` is what it took, `cpu_us` its processor time and `forgiven_us` what it took besides and was not charged.
    """

    declared: tuple[str, str]
    setups: tuple[str, str]
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    cpu_us: tuple[int, ...] = ()
    interrupted: tuple[tuple[int, int], ...] = ()
    """The turns that were interrupted: the ply, and the microseconds that the side to move had used of it. They are
    charged to its bank; the limit per move begins anew, as the bot has to think from the beginning again."""
    forgiven_us: tuple[int, ...] = ()


class Use(msgspec.Struct, frozen=True):
    """What a bot used of the machine in one game, from its start to its end, all its processes together.

    `cpu_us` is processor time in microseconds, `memory` the most bytes that were seen in use.
    """

    cpu_us: int = 0
    memory: int = 0


RECORD_FORMAT = 1


class GameRecord(msgspec.Struct, frozen=True):
    """A game that was played, whole: enough to show it, to re-adjudicate it and to see why it was lost.

    Pairs are red, then blue. `rules` are the lines of the ruleset, which the ruleset can be made from again. `setups`
    are set-up lines (None if a side sent none that was legal). `actions` are all actions in order, `times_us` what each
    took in microseconds. `stderr` is the last part of what each bot wrote there. `started` is in seconds since the
    epoch, `seconds` how long the game took as a whole. `cpu_us` is the processor time of each action in microseconds,
    `used` what the bots used in all, `confinement` how each was held; records of older versions have none of the three.
    `interrupted` is as in `Past`. `forgiven_us` is what passed of each action's turn, in microseconds, and was not
    charged: `times_us` and it together are the time from the first write of the turn until the answer was read (see
    `arena.clock`). Empty in older records. `pondered_us` is the processor time that each used in its opponent's turns
    although it might not (`--no-pondering`), in microseconds; None if it might.
    """

    id: str
    arena: str
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    declared: tuple[str, str]
    setups: tuple[str | None, str | None]
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    verdict: Verdict
    stderr: tuple[str, str]
    started: float
    seconds: float
    cpu_us: tuple[int, ...] = ()
    used: tuple[Use, Use] | None = None
    confinement: tuple[str, str] = ("", "")
    format: int = RECORD_FORMAT
    interrupted: tuple[tuple[int, int], ...] = ()
    forgiven_us: tuple[int, ...] = ()
    pondered_us: tuple[int, int] | None = None
