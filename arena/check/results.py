"""What came of trying a bot, as frozen values: of each situation, and of all of them together."""

import enum
from dataclasses import dataclass

from arena.check.situations import Situation
from arena.game.dialogue_entries import Speaker
from protocol.notation import Reason


class Mark(enum.Enum):
    """What came of a situation."""

    PASSED = "passed"
    FAILED = "failed"
    PARTLY = "partly"
    """Failed, but only some leagues need it, or nobody loses by it."""
    NOT_APPLICABLE = "not applicable"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Said:
    """A line that was said, without its end and made printable; `ms` since the start of the process.

    `is_aside` is what was no line of a game: how a check found out what was wrong.
    """

    speaker: Speaker
    text: str
    ms: int
    is_aside: bool = False


@dataclass(frozen=True)
class Failure:
    """What was wrong: the ply that was being played (0: before the game), what was expected and what came, in words.

    `hint` is what probably lies behind it and what to do, `mistake` that in one word; both empty where nothing is known
    beyond `words`. `exchange` are the last lines before it, `stderr` the last of what the bot wrote there.
    """

    ply: int
    reason: Reason | None
    words: str
    mistake: str = ""
    hint: str = ""
    exchange: tuple[Said, ...] = ()
    stderr: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What came of one situation. `remark` says why it was not tried, or what was seen besides."""

    situation: Situation
    mark: Mark
    remark: str = ""
    failure: Failure | None = None
    plies: int = 0


@dataclass(frozen=True)
class Spread:
    """How long something took, in milliseconds: so many times, the median, the 99th percentile (nearest rank), the
    worst; None where it never happened. `limit` is what there is of it."""

    count: int
    median: float | None
    p99: float | None
    worst: float | None
    limit: int | None


def spread(seconds: list[float], limit: int | None) -> Spread:
    """The spread of these times."""
    ordered = sorted(second * 1000 for second in seconds)
    count = len(ordered)
    if not count:
        return Spread(0, None, None, None, limit)
    return Spread(count, ordered[(count - 1) // 2], ordered[-(-count * 99 // 100) - 1], ordered[-1], limit)


@dataclass(frozen=True)
class Checked:
    """A bot that was tried. `declared` and `author` are what it said of itself, `memory` the most bytes that were seen
    in use, `memory_limit` what it may use."""

    name: str
    path: str
    digest: str
    language: str
    declared: str
    author: str
    level: str
    outcomes: tuple[Outcome, ...]
    start: Spread
    setup: Spread
    move: Spread
    memory: int
    memory_limit: int

    def count(self, mark: Mark) -> int:
        """How many situations came to this."""
        return sum(outcome.mark is mark for outcome in self.outcomes)

    @property
    def is_accepted(self) -> bool:
        """Whether a league would accept it: every situation that is for all leagues has been passed."""
        return not (self.count(Mark.FAILED) or self.count(Mark.NOT_TRIED))
