"""Stratego as a game of the arena: its variants are the rulesets, its set-ups and actions those of the booklets."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec

from arena.errors import UsageError
from arena.game import STRATEGO, Displays, Game, Names, State, Told, Trial, Variant
from arena.stratego.rules.ruleset import Ruleset, RulesetError, Starts, ruleset_from_lines
from arena.stratego.rules.rulesets import (
    DEFAULT_RULESET,
    as_ruleset,
    load_ruleset,
    ruleset_names,
    switch_names,
    switch_title,
)
from protocol.actions import STRATEGO_FORMS
from protocol.codec import HIDDEN
from protocol.notation import RESIGN, Color


@lru_cache(maxsize=64)
def ruleset_of(variant: Variant) -> Ruleset:
    """Return the engine's rules of a variant. Raises `RulesetError`."""
    return ruleset_from_lines(variant.name, variant.rules)


@lru_cache(maxsize=64)
def variant_of(ruleset: Ruleset) -> Variant:
    return Variant(STRATEGO, Stratego.version, ruleset.name, tuple(ruleset.lines()))


class Stratego(Game):
    """See `docs/rules.md`."""

    name = STRATEGO
    has_setups = True
    variant_words = ("ruleset", "rulesets and switches")
    open_verbs = frozenset({"moved", "battle", "reveal", "rescued", "guess"})
    modules = ("arena.stratego.rules.setup", "arena.stratego.state")
    displays = Displays(
        seat="arena.stratego.seat_state:StrategoSeat",
        terminal="arena.stratego.board_terminal:StrategoTerminal",
        page="arena.stratego.board_page:BoardPage",
        shown="arena.stratego.shown.shown_board:ShownBoard",
        rules="arena.stratego.shown.rules_text:page_values",
        position="arena.stratego.library:position",
        opened="arena.stratego.library.open_stratego:StrategoOpenBot",
        archive="arena.stratego.library.gravon_archive:archived_games",
        openings="arena.stratego.library.opening_counts:count_openings",
    )

    def __init__(self) -> None:
        self.plain_moves = STRATEGO_FORMS.plain_moves

    def variant_names(self) -> Sequence[str]:
        return ruleset_names()

    def variant(self, text: object = "") -> Variant:
        """Return the variant of a ruleset, or of the name of one. Raises `RulesetError`."""
        return variant_of(as_ruleset(DEFAULT_RULESET if text == "" else text))

    def check_variant(self, variant: Variant) -> None:
        """Raise `UsageError` unless these are rules, written in canonical order; newer rules may be missing."""
        self.check_version(variant)
        try:
            ruleset = ruleset_of(variant)
        except RulesetError as error:
            raise UsageError(str(error)) from None
        there = {name for name, _ in variant.rules}
        written = [name for name, _ in variant.rules]
        expected = [name for name, _ in ruleset.lines() if name in there]
        if written != expected:
            raise UsageError(f"its rules are in the order {', '.join(written)}: expected {', '.join(expected)}")

    def digest(self, variant: Variant) -> str:
        return ruleset_of(variant).digest()

    def lasting_rules(self, variant: Variant) -> Sequence[tuple[str, str]]:
        return ruleset_of(variant).lasting_lines()

    def settled(self, variant: Variant, pair_seed: int) -> Variant:
        """Draw who begins, where the rules leave it to the players: each bot of a pair begins one game."""
        if dict(variant.rules).get("starts") != Starts.CHOSEN.value:
            return variant
        return _starting(variant, Starts.BLUE if pair_seed & 1 else Starts.RED)

    def unsettled(self, variant: Variant, pair_seed: int) -> Sequence[Variant]:
        other = _starting(variant, Starts.CHOSEN)
        return (variant, other) if self.settled(other, pair_seed) == variant else (variant,)

    def completed(self, variant: Variant) -> Variant:
        self.check_version(variant)
        return variant_of(ruleset_of(variant))

    def first_seat(self, variant: Variant) -> Color:
        return Color.BLUE if dict(variant.rules).get("starts") == Starts.BLUE.value else Color.RED

    def check_move_form(self, text: str) -> None:
        STRATEGO_FORMS.check_move_form(text)

    def check_setup_form(self, text: str) -> None:
        STRATEGO_FORMS.check_setup_form(text)

    def check_setup(self, variant: Variant, color: Color, setup: str) -> None:
        from arena.stratego.rules.setup import check_setup  # only processes that play games load it

        check_setup(ruleset_of(variant), setup.split("/"))

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> State:
        from arena.stratego.state import StrategoState  # the engine: see `check_setup`

        red, blue = (setup.split("/") for setup in setups)
        return StrategoState(ruleset_of(variant), (red, blue))

    def play_text(self, state: State, action: str) -> Told:
        return state.play(action)  # which knows other forms itself, and says more about them

    def public_lines(self, told: Told) -> Sequence[str]:
        """Return what both seats know; a silent defender is named to its own side alone."""
        hidden = f" {HIDDEN} "
        return [blue if hidden in blue else red for red, blue in zip(*told, strict=True)]

    def rules_page(self, text: str, names: Names, width: int) -> str:
        from arena.stratego.shown import rules_text  # the words of all rules, which games do not need
        from arena.stratego.shown.piece_names import names_of

        width = min(width, rules_text.WIDTH)
        if not text:
            return rules_text.list_page(width)
        return rules_text.rules_page(load_ruleset(text), names_of(names), width)

    def rules_values(self, text: str, names: Names) -> Any:
        from arena.stratego.shown import rules_text
        from arena.stratego.shown.piece_names import names_of

        return rules_text.rules_values(load_ruleset(text), names_of(names)) if text else rules_text.list_values()

    def offered_variants(self, begun: str) -> Sequence[tuple[str, str]]:
        """Return rulesets, and after a plus the remaining switches."""
        before, plus, last = begun.rpartition("+")
        if not plus:
            return super().offered_variants(begun)
        switches = [name for name in switch_names() if name.startswith(last) and name not in before.split("+")]
        return [(f"{before}+{name}", switch_title(name)) for name in switches]

    def random_setup(self, variant: Variant, color: Color, seed: int) -> str:
        from arena.stratego.setups import random_rows

        return "/".join(random_rows(ruleset_of(variant), seed))

    def check(self, state: State, action: str) -> None:
        from arena.stratego.state import as_stratego

        board = as_stratego(state).board
        if action != RESIGN:
            board.check(board.parse(action))

    def policy(self, state: State, seed: int, manner: str = "") -> str:
        from arena.stratego.opponents import Foe, action  # only checks load it
        from arena.stratego.state import as_stratego

        return action(as_stratego(state).board, seed, Foe(manner))

    def trials(self) -> Sequence[Trial]:
        from arena.stratego.opponents import TRIALS

        return TRIALS

    def tried_variants(self) -> Sequence[str]:
        """Return all rulesets, and each switch with one that it goes with, of a small army if possible."""
        return [*ruleset_names(), *map(_switched, switch_names())]

    def tight_setup(self, variant: Variant, color: Color, seed: int) -> str:
        from arena.stratego.opponents import narrow_rows

        return "/".join(narrow_rows(ruleset_of(variant), seed))

    def why_not_of_2012(self, variant: Variant) -> str:
        from protocol.ucc2012 import unspeakable  # the adapter of a bot that few leagues have

        lacking = unspeakable(dict(variant.rules))
        return f"ucc-2012 has no words for {lacking}, which the rules of {variant.name} have" if lacking else ""

    def check_names(self, names: Names) -> None:
        """Accept all options: they are Stratego's own, and the command has checked their values."""

    def hint(self, seen: Any) -> Any:
        from arena.stratego.hints import hint  # games without faults do not load it

        return hint(seen)


def _starting(variant: Variant, starts: Starts) -> Variant:
    rules = tuple((name, starts.value if name == "starts" else value) for name, value in variant.rules)
    return msgspec.structs.replace(variant, rules=rules)


def _switched(switch: str) -> str:
    for name in ("duel", "isf", *ruleset_names()):
        with suppress(RulesetError):
            load_ruleset(f"{name}+{switch}")
            return f"{name}+{switch}"
    raise RulesetError(f"no ruleset goes with {switch}")


GAME = Stratego()
