"""The options of `arena league` that say who meets whom: the formats, and what each of them takes."""

from collections.abc import Callable
from typing import Any

import click

from arena.cli.numbers import Decimal, Whole
from arena.cli.shared import with_options
from arena.league.formats import USUAL_CONFIDENCE, USUAL_EXTRA_PAIRS, USUAL_ROUNDS, FormatName, FormatOptions
from arena.league.options import MOST_GAMES

FORMAT_GROUP = (
    *("format", "rounds", "challengers", "seeds", "best-of", "extra-pairs", "confidence", "games", "disqualify"),
)
"""The options of the formats, by the names that they have on the command line."""


def format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the formats to a command."""
    return with_options(function, _OPTIONS)


_OPTIONS = (
    click.option(
        "--format",
        default=FormatName.ROUND_ROBIN.value,
        show_default=True,
        type=click.Choice([name.value for name in FormatName]),
        metavar="NAME",
        help="Who meets whom.",
    ),
    click.option(
        "--rounds",
        show_default=f"{USUAL_ROUNDS}; swiss: log2 of the bots",
        type=Whole(min=1),
        help="Rounds; in each, every pair meets twice (single-round-robin: once; swiss: each bot meets one other).",
    ),
    click.option(
        "--challengers",
        type=Whole(min=1),
        metavar="N",
        help="How many bots, the first that are named, each meet all others in a gauntlet.",
    ),
    click.option(
        "--seeds",
        metavar="NAME,...",
        help="The bots from the first seed on, for swiss and knockout; the others follow in the order of the command.",
    ),
    click.option(
        "--best-of",
        type=Whole(min=1),
        metavar="N",
        show_default="1",
        help="Pairs of games of a match, in a knockout.",
    ),
    click.option(
        "--extra-pairs",
        type=Whole(min=0),
        metavar="N",
        show_default=str(USUAL_EXTRA_PAIRS),
        help="Further pairs of a match that is level, in a knockout; after them the better seed goes on.",
    ),
    click.option(
        "--confidence",
        type=Decimal(),
        metavar="P",
        show_default=f"{USUAL_CONFIDENCE}, without --games",
        help="End a ladder when each bot is stronger than the next one with this likelihood.",
    ),
    click.option(
        "--games",
        type=Whole(1, MOST_GAMES),
        metavar="N",
        help="End a ladder after so many games (default: 500 for each bot).",
    ),
    click.option(
        "--disqualify",
        type=Whole(1, MOST_GAMES),
        metavar="N",
        help="A bot that has lost N games by its own fault plays no more.",
    ),
)


def collect_format(values: dict[str, Any]) -> FormatOptions:
    """The options of the formats out of a command's arguments, which are taken out of these."""
    seeds = values.pop("seeds")
    names = tuple(name.strip() for name in seeds.split(",")) if seeds else ()
    others = ("rounds", "challengers", "best_of", "extra_pairs", "confidence", "games", "disqualify")
    asked = {name: values.pop(name) for name in others}
    return FormatOptions(FormatName(values.pop("format")), seeds=names, **asked)
