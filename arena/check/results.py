"""What came of trying a bot, as frozen values: of each situation, and of all of them together."""

import enum
from dataclasses import dataclass

from arena.check.situations import Group, Situation
from arena.game.transcript import Speaker
from protocol.notation import Reason

FOR_ALL_RULES = frozenset({Group.READY, Group.CONVERSATION, Group.FILES})
"""Groups of situations that a bot has to pass whatever the rules are."""


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

    def rules_with(self, mark: Mark) -> list[str]:
        """Return the rulesets that the bot is ready for (`PASSED`), is not ready for, or was not tried with."""
        names = dict.fromkeys(outcome.situation.rules for outcome in self.outcomes)
        return [name for name in names if name and self._mark_of(name) is mark]

    def _mark_of(self, rules: str) -> Mark:
        found = {one.mark for one in self.outcomes if one.situation.rules == rules}
        for_all = {one.mark for one in self.outcomes if one.situation.group in FOR_ALL_RULES}
        if found <= {Mark.NOT_APPLICABLE}:
            return Mark.NOT_APPLICABLE
        return next((mark for mark in (Mark.FAILED, Mark.NOT_TRIED) if mark in found | for_all), Mark.PASSED)
