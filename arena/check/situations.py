"""What a bot is tried with, as frozen values, and the script of all of it."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from arena.rules.loading import load_ruleset, ruleset_names, switch_names
from arena.rules.ruleset import RulesetError
from protocol.notation import Color


class Foe(enum.Enum):
    """How the opponent plays."""

    RANDOM = "random"
    HUNTER = "hunter"
    """Knows all pieces, and takes what it can."""
    SHY = "shy"
    """Attacks only if it must, so that games become long."""


class Twist(enum.Enum):
    """What is done to a bot beside playing with it."""

    NONE = "none"
    NO_GAME = "no-game"
    """The opponent does not start: `end` and `quit` come before any game."""
    NOISE = "noise"
    """Lines with unknown verbs, unknown rules, and fields after those that are known."""
    PIECES = "pieces"
    """Lines come in pieces of a few bytes."""
    SLOW_FOE = "slow-foe"
    """The opponent takes its time, so that it shows if a bot speaks out of turn."""
    BROKEN_OFF = "broken-off"
    """The game ends while the bot thinks."""
    INPUT_ENDS = "input-ends"
    """Its input ends, without `quit`."""
    SEVERAL = "several"
    """Several games in one process."""
    OPENING = "opening"
    """The set-ups are given, and the first moves are forced."""
    RESUMED = "resumed"
    """The game goes on in a new process."""


class Group(enum.Enum):
    """Where a situation stands in the checklist."""

    READY = "whether it can be started"
    GAMES = "games under {rules}"
    CONVERSATION = "the conversation"
    OPTIONS = "what some leagues ask for"
    RULES = "rulesets and switches"
    FILES = "its files"


@dataclass(frozen=True)
class Situation:
    """One thing that is tried: a game, or a few, of one new process.

    The opponent gives up after `plies` (None: never), or `seconds` after its first move. `needed_by` names the leagues
    that a bot has to pass this for; without it, it is for all.
    """

    key: str
    title: str
    group: Group
    rules: str
    color: Color = Color.RED
    foe: Foe = Foe.RANDOM
    plies: int | None = 60
    seconds: float = 2.0
    twist: Twist = Twist.NONE
    needed_by: str = ""


class Extent(enum.Enum):
    """How much is tried."""

    QUICK = "quick"
    USUAL = "usual"
    ALL = "all"


SECONDS = {Extent.QUICK: 1.0, Extent.USUAL: 1.5, Extent.ALL: 10.0}
"""How long the opponent plays in one situation at the most,"""
SWEEP_SECONDS = {Extent.QUICK: 0.3, Extent.USUAL: 0.3, Extent.ALL: 10.0}
"""and where rulesets are tried one after the other."""
SWEEP_PLIES = 40


def script(rules: Sequence[str], extent: Extent = Extent.USUAL, usual: str = "isf") -> Iterator[Situation]:
    """What is tried, in this order. `rules` are the rulesets that the bot is for; none: `usual` and all others.

    Raises `RulesetError` for a ruleset that there is not.
    """
    for name in rules:
        load_ruleset(name)
    main = rules[0] if rules else usual
    yield from _main(main, SECONDS[extent])
    others = list(rules[1:]) if rules else [] if extent is Extent.QUICK else [*_others(main), *_switched()]
    whole = extent is Extent.ALL
    for number, name in enumerate(others):
        for color in Color if whole else [Color(number % 2)]:
            foe = Foe.HUNTER if (number + color) % 2 == 0 else Foe.RANDOM
            yield Situation(
                f"rules-{name}-{color.word}",
                f"plays {color.word} under {name}",
                Group.RULES,
                name,
                color,
                foe,
                None if whole else SWEEP_PLIES,
                SWEEP_SECONDS[extent],
            )


def _others(main: str) -> list[str]:
    return [name for name in ruleset_names() if name != main]


def _switched() -> list[str]:
    """Each switch, on the first ruleset that it goes with; the small armies first, for the games are short."""
    found = []
    for switch in switch_names():
        for name in ("duel", "isf", "jumbo-81320/infiltrator", "vintage/original", "milton-bradley"):
            try:
                load_ruleset(f"{name}+{switch}")
            except RulesetError:
                continue
            found.append(f"{name}+{switch}")
            break
    return found


def _main(rules: str, seconds: float) -> Iterator[Situation]:
    """What is tried under the first ruleset."""
    red, blue = Color.RED, Color.BLUE
    usual = partial(Situation, rules=rules, seconds=seconds)
    game, talk = partial(usual, group=Group.GAMES), partial(usual, group=Group.CONVERSATION, plies=6)
    option = partial(usual, group=Group.OPTIONS)

    yield talk("start", "starts, and says what it is", twist=Twist.NO_GAME)
    yield game("red", "plays Red", color=red)
    yield game("blue", "plays Blue, and waits for its turn", color=blue, plies=40, twist=Twist.SLOW_FOE)
    hunter = partial(game, foe=Foe.HUNTER, plies=None)
    yield hunter("losing-red", "loses as Red to one that sees everything", color=red)
    yield hunter("losing-blue", "loses as Blue to one that sees everything", color=blue)
    yield game("long", "plays a long game", color=blue, foe=Foe.SHY, plies=None)
    yield talk("noise", "ignores verbs, rules and fields that it does not know", plies=60, twist=Twist.NOISE)
    yield talk("pieces", "reads lines that come in pieces", color=blue, plies=12, twist=Twist.PIECES)
    yield talk("broken-off", "ends when its game is broken off", twist=Twist.BROKEN_OFF)
    yield talk("input-ends", "ends when its input does", color=blue, twist=Twist.INPUT_ENDS)
    yield option("several", "plays three games in one process", plies=30, twist=Twist.SEVERAL, needed_by="--keep-bots")
    forced = "plays a set-up that is given (restore), with forced moves"
    yield option("opening", forced, plies=20, twist=Twist.OPENING, needed_by="--openings")
    resumed = "goes on with a game that was interrupted (restore)"
    yield option("resumed", resumed, color=blue, plies=40, twist=Twist.RESUMED, needed_by="arena resume")
