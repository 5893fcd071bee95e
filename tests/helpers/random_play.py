"""Random rules, random set-ups, and random play that is drawn towards what seldom happens."""

from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

from hypothesis import strategies as st
from random_rules import VALUES, made_ruleset

import protocol.bot
from arena.search import Position
from arena.stratego.rules.action_types import Action
from arena.stratego.rules.board import MOVES, StraightMove
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Attacks, Ruleset, RulesetError, Spy
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names, switch_names
from protocol.notation import BOARD_SIZE, Color


def random_rows(ruleset: Ruleset, rng: Random) -> tuple[str, ...]:
    return protocol.bot.random_rows(dict(ruleset.army), rng)


def _combined(name: str, switches: Sequence[str]) -> str:
    for switch in switches:
        with suppress(RulesetError):
            load_ruleset(f"{name}+{switch}")
            name += f"+{switch}"
    return name


def _made(army: str, rules: dict[str, Any]) -> Ruleset:
    if rules["spy"] is Spy.DIAGONAL:
        rules = {**rules, "attacks": Attacks.ALL_SIDES}  # the others would contradict it
    return made_ruleset(army, rules)


MADE = st.builds(
    _made,
    st.sampled_from(["F1 B2 S1 22 31 61 91 M1 I1", "F1 B3 S2 22 32 41 63 M1 I2"]),
    st.fixed_dictionaries(
        {
            rule: st.sampled_from(list(values))
            for rule, values in {**VALUES, "max_plies": (400, 150), "max_quiet_plies": (80, 30, None)}.items()
        }
    ),
)
"""A ruleset that no booklet has: every rule random, with a small army of all sorts of pieces."""


any_rules: st.SearchStrategy[Ruleset] = (
    st.builds(
        _combined,
        st.sampled_from(ruleset_names()),
        st.lists(st.sampled_from(switch_names()), unique=True, max_size=4),
    ).map(load_ruleset)
    | MADE
)
"""Any ruleset that comes with the arena, with up to four of the switches that it combines with, or a random one."""


def lively(game: EngineGame | Position, rng: Random) -> Action:
    """Return a random legal action: often one that only some rulesets have, often a step towards the enemy."""
    actions = game.legal_moves()
    chance = rng.random()
    if chance < 0.4:
        special = [action for action in actions if action.text not in MOVES]
        if special:
            return rng.choice(special)
    if chance < 0.8:
        up = 1 if game.to_move is Color.RED else -1
        ahead = [
            action
            for action in actions
            if isinstance(action, StraightMove) and action.target // BOARD_SIZE * up > action.origin // BOARD_SIZE * up
        ]
        if ahead:
            return rng.choice(ahead)
    return rng.choice(actions)
