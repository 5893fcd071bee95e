"""The situations of a check, their script, and their outcomes."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from arena.game import Game
from arena.game.transcript import Speaker
from protocol.seats import Color, Reason


class Twist(enum.Enum):
    """A disturbance injected during a check."""

    NONE = "none"
    NO_GAME = "no-game"
    """The opponent does not start: `end` and `quit` come before any game."""
    NOISE = "noise"
    """Lines with unknown verbs, unknown rules, and extra fields."""
    PIECES = "pieces"
    """Lines are sent in pieces of a few bytes."""
    SLOW_FOE = "slow-foe"
    """The opponent takes its time, which reveals bots that speak out of turn."""
    BROKEN_OFF = "broken-off"
    """The game ends while the bot thinks."""
    INPUT_ENDS = "input-ends"
    """The bot's input ends, without `quit`."""
    SEVERAL = "several"
    OPENING = "opening"
    """The set-ups are given, and the first moves are forced."""
    RESUMED = "resumed"
    """The game is resumed in a new process."""


class SituationGroup(enum.Enum):
    READY = "whether it can be started"
    GAMES = "games under {rules}"
    CONVERSATION = "the conversation"
    OPTIONS = "what some leagues ask for"
    RULES = "{variants}"
    FILES = "its files"


@dataclass(frozen=True)
class Situation:
    """A game, or a few, in one new process.

    The opponent plays in a `manner` of the game (`Game.policy`), and gives up after `plies` (None: never), or `seconds`
    after its first move. `needed_by` names the leagues that a bot has to pass this for; without it, it is for all.
    """

    key: str
    title: str
    group: SituationGroup
    rules: str
    color: Color = Color.RED
    manner: str = ""
    plies: int | None = 60
    seconds: float = 2.0
    twist: Twist = Twist.NONE
    needed_by: str = ""


class Extent(enum.Enum):
    QUICK = "quick"
    USUAL = "usual"
    ALL = "all"


SECONDS = {Extent.QUICK: 1.0, Extent.USUAL: 1.5, Extent.ALL: 10.0}
SWEEP_SECONDS = {Extent.QUICK: 0.3, Extent.USUAL: 0.3, Extent.ALL: 10.0}
"""The time in one situation when rulesets are tried in sequence."""
SWEEP_PLIES = 40


def script(game: Game, rules: Sequence[str], extent: Extent = Extent.USUAL, usual: str = "") -> Iterator[Situation]:
    """Yield the situations in their order. `rules` are the variants that the bot is for; none: `usual` and all others.

    Raises `UsageError` for an unknown variant.
    """
    for name in rules:
        game.variant(name)
    main = rules[0] if rules else usual or game.variant().name
    yield from _main(game, main, SECONDS[extent])
    others = list(rules[1:])
    if not rules and extent is not Extent.QUICK:
        others = [name for name in game.tried_variants() if name != main]
    whole = extent is Extent.ALL
    for number, name in enumerate(others):
        for color in Color if whole else [Color(number % 2)]:
            yield Situation(
                f"rules-{name}-{color.word}",
                f"plays {color.word} under {name}",
                SituationGroup.RULES,
                name,
                color,
                game.trials()[0].manner if (number + color) % 2 == 0 else "",
                None if whole else SWEEP_PLIES,
                SWEEP_SECONDS[extent],
            )


def _main(game: Game, rules: str, seconds: float) -> Iterator[Situation]:
    red, blue = Color.RED, Color.BLUE
    usual = partial(Situation, rules=rules, seconds=seconds)
    play, talk = partial(usual, group=SituationGroup.GAMES), partial(usual, group=SituationGroup.CONVERSATION, plies=6)
    option = partial(usual, group=SituationGroup.OPTIONS)
    first, second = game.seat_names

    yield talk("start", "starts, and says what it is", twist=Twist.NO_GAME)
    yield play("red", f"plays {first}", color=red)
    yield play("blue", f"plays {second}, and waits for its turn", color=blue, plies=40, twist=Twist.SLOW_FOE)
    for trial in game.trials():
        yield play(trial.key, trial.title, color=trial.seat, manner=trial.manner, plies=None)
    yield talk("noise", "ignores verbs, rules and fields that it does not know", plies=60, twist=Twist.NOISE)
    yield talk("pieces", "reads lines that come in pieces", color=blue, plies=12, twist=Twist.PIECES)
    yield talk("broken-off", "ends when its game is broken off", twist=Twist.BROKEN_OFF)
    yield talk("input-ends", "ends when its input does", color=blue, twist=Twist.INPUT_ENDS)
    yield option("several", "plays three games in one process", plies=30, twist=Twist.SEVERAL, needed_by="--keep-bots")
    if game.has_setups:
        forced = "plays a set-up that is given (restore), with forced moves"
        yield option("opening", forced, plies=20, twist=Twist.OPENING, needed_by="--openings")
    resumed = f"resumes a game that was interrupted{' (restore)' if game.has_setups else ''}"
    yield option("resumed", resumed, color=blue, plies=40, twist=Twist.RESUMED, needed_by="arena resume")


FOR_ALL_RULES = frozenset({SituationGroup.READY, SituationGroup.CONVERSATION, SituationGroup.FILES})
"""Groups of situations that a bot has to pass under any rules."""


class Mark(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    PARTLY = "partly"
    """Failed, but only some leagues need it, or no game is lost by it."""
    NOT_APPLICABLE = "not applicable"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class ExchangedLine:
    """A line of the exchange, without its end and made printable; `ms` since the start of the process.

    `is_aside` marks a note of the check on how it found the mistake.
    """

    speaker: Speaker
    text: str
    ms: int
    is_aside: bool = False


@dataclass(frozen=True)
class Failure:
    """A failure of a bot: the ply (0: before the game), and the expected and the actual behaviour in words.

    `hint` is the probable cause with advice, `mistake` one word for it; both are empty if unknown. `exchange` are the
    last lines before it, `stderr` the end of the bot's standard error.
    """

    ply: int
    reason: Reason | None
    words: str
    mistake: str = ""
    hint: str = ""
    exchange: tuple[ExchangedLine, ...] = ()
    stderr: tuple[str, ...] = ()


@dataclass(frozen=True)
class SituationOutcome:
    """The outcome of one situation. `remark` says why it was not tried, or what else was observed."""

    situation: Situation
    mark: Mark
    remark: str = ""
    failure: Failure | None = None
    plies: int = 0


@dataclass(frozen=True)
class Spread:
    """The distribution of times in milliseconds: the count, the median, the 99th percentile (nearest rank), the worst.

    Times are None without any; `limit` is the time allowed.
    """

    count: int
    median: float | None
    p99: float | None
    worst: float | None
    limit: int | None


def spread(seconds: list[float], limit: int | None) -> Spread:
    """Return the distribution of these times."""
    ordered = sorted(second * 1000 for second in seconds)
    count = len(ordered)
    if not count:
        return Spread(0, None, None, None, limit)
    return Spread(count, ordered[(count - 1) // 2], ordered[-(-count * 99 // 100) - 1], ordered[-1], limit)


@dataclass(frozen=True)
class Checked:
    """A bot that was tried. `declared` and `author` are its declarations, `memory` its peak use in bytes,
    `memory_limit` the limit. `variant_words` are what people call a variant of the game, and several.
    """

    name: str
    path: str
    digest: str
    language: str
    declared: str
    author: str
    level: str
    outcomes: tuple[SituationOutcome, ...]
    start: Spread
    setup: Spread
    move: Spread
    memory: int
    memory_limit: int
    variant_words: tuple[str, str]

    def count(self, mark: Mark) -> int:
        return sum(outcome.mark is mark for outcome in self.outcomes)

    @property
    def is_accepted(self) -> bool:
        """Whether a league would accept it: it passes every situation that is for all leagues, and some rules."""
        return not (self.count(Mark.FAILED) or self.count(Mark.NOT_TRIED)) and bool(self.rules_with(Mark.PASSED))

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
