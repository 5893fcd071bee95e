"""Rulesets that no booklet has: every rule at random, with a small army."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from random import Random
from typing import Any, get_type_hints

from arena.stratego.rules.ruleset import Ruleset, RulesetError
from protocol.notation import RANK_BY_LETTER, Rank

VALUES: dict[str, Sequence[Any]] = {
    **{rule: list(kind) for rule, kind in get_type_hints(Ruleset).items() if isinstance(kind, type(Enum))},
    **dict.fromkeys(("needs_attacker", "infiltration"), (False, True)),
    "two_squares": (3, None, 1, 2, 5),
    "rescues": (0, 1, 2),
    "max_plies": (None, 70, 2000),
    "max_quiet_plies": (None, 20, 200),
}
"""What each rule may be, the simplest first."""


def army_of(text: str) -> tuple[tuple[Rank, int], ...]:
    """Read `F1 M1 23`: a flag, a marshal and three scouts."""
    return tuple((RANK_BY_LETTER[word[0]], int(word[1:])) for word in text.split())


def made_ruleset(army: str, rules: Mapping[str, Any]) -> Ruleset:
    return Ruleset(name="made", title="Made at random", source="these tests", army=army_of(army), **rules)


def random_ruleset(rng: Random, armies: Sequence[str], **values: Sequence[Any]) -> Ruleset:
    while True:
        with suppress(RulesetError):  # such as captains that run, and none in the army
            return made_ruleset(
                rng.choice(armies), {rule: rng.choice(known) for rule, known in {**VALUES, **values}.items()}
            )
