"""The formats of a league by name, what each can be asked for, and whether it was asked for what it takes.

Quick to import: the command line needs the names before it needs anything else. `arena.league.pairing.chosen.format_of`
makes the format that was asked for.
"""

import enum
from dataclasses import dataclass, fields

from arena.errors import UsageError
from arena.league.options import MOST_GAMES

USUAL_ROUNDS = 1
USUAL_CONFIDENCE = 0.95
USUAL_EXTRA_PAIRS = 2
GAMES_A_BOT = 500
"""What a ladder may spend if nobody says how much. A bot plays 1,000 then on average, which tells 40 Elo with certainty
and 25 mostly; bots that are closer may not be worth more."""
MOST_PAIRS = 1000
"""In a match of a knockout, and as many extra ones."""
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.9999


class FormatName(enum.Enum):
    """Who meets whom, by the word for it. What each can be asked for besides `--disqualify` stands beside it."""

    ROUND_ROBIN = "round-robin"
    SINGLE = "single-round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    LADDER = "ladder"

    @property
    def takes(self) -> tuple[str, ...]:
        """The fields of `FormatOptions` that say something to this format alone."""
        return _TAKES[self]


_TAKES: dict[FormatName, tuple[str, ...]] = {
    FormatName.ROUND_ROBIN: ("rounds",),
    FormatName.SINGLE: ("rounds",),
    FormatName.GAUNTLET: ("rounds", "challengers"),
    FormatName.SWISS: ("rounds", "seeds"),
    FormatName.KNOCKOUT: ("seeds", "best_of", "extra_pairs"),
    FormatName.LADDER: ("confidence", "games"),
}


@dataclass(frozen=True)
class FormatOptions:
    """What was asked for; None is what nobody has asked for. See docs/formats.md.

    `rounds` are those of a round robin, a gauntlet or a Swiss; the first `challengers` bots meet all others in a
    gauntlet; `seeds` are names of bots from the first seed on (the others follow in their order); a match of a knockout
    is the best of so many pairs of games, and of at most `extra_pairs` more where it is level; a ladder ends at a
    `confidence` of its order or after so many `games` (usually `GAMES_A_BOT` for each bot). A bot with `disqualify`
    faults plays no more, in all formats.
    """

    name: FormatName = FormatName.ROUND_ROBIN
    rounds: int | None = None
    challengers: int | None = None
    seeds: tuple[str, ...] = ()
    best_of: int | None = None
    extra_pairs: int | None = None
    confidence: float | None = None
    games: int | None = None
    disqualify: int | None = None


def check_format(options: FormatOptions) -> None:
    """Raise `UsageError` for an option that the format does not take, or needs and has not got."""
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in ("name", "disqualify") or value is None or value == ():
            continue
        if field.name not in options.name.takes:
            *takers, last = (name.value for name in FormatName if field.name in name.takes)
            words = f"{', '.join(takers)} and {last}" if takers else last
            raise UsageError(
                f"{option_name(field.name)} is for --format {words}: expected no such option with --format "
                f"{options.name.value}, got {_shown(value)}"
            )
        if isinstance(value, int) and value < (0 if field.name == "extra_pairs" else 1):
            raise UsageError(f"{option_name(field.name)}: expected a whole number from 1, got {value}")
        if field.name in ("best_of", "extra_pairs") and value > MOST_PAIRS:
            raise UsageError(f"{option_name(field.name)}: expected at most {MOST_PAIRS} pairs of games, got {value}")
    if options.name is FormatName.GAUNTLET and options.challengers is None:
        raise UsageError(
            "--format gauntlet: expected --challengers N (the first N bots named meet all others), got no challengers"
        )
    confidence = options.confidence
    if confidence is not None and not LEAST_CONFIDENCE < confidence <= MOST_CONFIDENCE:
        raise UsageError(
            f"--confidence: expected a likelihood above {LEAST_CONFIDENCE} and up to {MOST_CONFIDENCE}, such as 0.95, "
            f"got {confidence:g}"
        )
    if options.disqualify is not None and not 1 <= options.disqualify <= MOST_GAMES:
        raise UsageError(f"--disqualify: expected a number of faults from 1 to {MOST_GAMES}, got {options.disqualify}")


def option_name(field: str) -> str:
    """A field as the command line spells it."""
    return f"--{field.replace('_', '-')}"


def _shown(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)
