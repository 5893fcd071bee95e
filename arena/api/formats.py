"""Who meets whom, as keywords of `League.run`: those of `arena league --format`, checked as the command's are."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, get_type_hints

from arena.api.settings import refuse_unknown
from arena.errors import UsageError, suggest
from arena.league.formats import FormatName, FormatOptions
from arena.league.pairing.chosen import ChosenFormat, format_of


class FormatKeywords(TypedDict, total=False):
    """What a league's format can be asked for; each format takes some of it. None is what nobody has asked for.

    `format` is `round-robin` (the usual one), `single-round-robin`, `gauntlet`, `swiss`, `knockout` or `ladder`.
    `seeds` are names of bots, from the first seed on. `games` are those of a ladder. See docs/formats.md for all.
    """

    format: str
    challengers: int | None
    seeds: Sequence[str]
    best_of: int | None
    extra_pairs: int | None
    confidence: float | None
    games: int | None
    disqualify: int | None


def chosen_format(rounds: int | None, options: Mapping[str, Any], named: Sequence[str]) -> ChosenFormat:
    """The format that was asked for; `named` are keywords of the same call that are none of its options.

    Raises `UsageError` for an unknown keyword, for a value of another type, and for what the format does not take.
    """
    refuse_unknown(options, [*get_type_hints(FormatKeywords), *named])
    asked = dict(options)
    name = _name(asked.pop("format", FormatName.ROUND_ROBIN.value))
    seeds = asked.pop("seeds", ())
    if isinstance(seeds, str) or not isinstance(seeds, Sequence) or not all(isinstance(one, str) for one in seeds):
        raise UsageError(f"seeds: expected a list of names of bots, got {seeds!r}")
    for field, value in {"rounds": rounds, **asked}.items():
        if field == "confidence" and type(value) not in (int, float, type(None)):
            raise UsageError(f"{field}: expected a likelihood such as 0.95, got {value!r}")
        if field != "confidence" and type(value) not in (int, type(None)):
            raise UsageError(f"{field}: expected a whole number, got {value!r}")
    return format_of(FormatOptions(name, rounds, seeds=tuple(seeds), **asked))


def _name(word: object) -> FormatName:
    known = [name.value for name in FormatName]
    if word not in known:
        hint = suggest(word, known) if isinstance(word, str) else f"known are {', '.join(known)}"
        raise UsageError(f"format: there is no format {word!r}; {hint}")
    return FormatName(word)
