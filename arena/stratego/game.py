"""Stratego as a game of the arena: its variants are the rulesets, its set-ups and actions those of the booklets."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from arena.errors import UsageError
from arena.game import STRATEGO, Game, State, Told, Variant, to_both
from arena.stratego import setups
from arena.stratego.rules import game as engine
from arena.stratego.rules.events import Event, Moved
from arena.stratego.rules.rule_lines import ruleset_from_lines
from arena.stratego.rules.ruleset import Ruleset, RulesetError, Starts
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.setup import check_setup
from arena.stratego.seat_view import SeatView, enemy_squares, legal_actions, tell, true_cells
from protocol.codec import HIDDEN, encode_for_bot
from protocol.forms import STRATEGO_FORMS
from protocol.messages import ArenaMessage, Board, Enemy
from protocol.notation import RESIGN, Color
from protocol.seats import Outcome


class StrategoState(State):
    """One game of Stratego: the engine's game, and what each seat has been told of it."""

    def __init__(self, ruleset: Ruleset, rows: tuple[Sequence[str], Sequence[str]]) -> None:
        self.board = engine.Game(ruleset, *rows)
        self.rows = rows
        self.events: tuple[Event, ...] = ()
        """The public events of the last action."""
        self._played: list[tuple[Event, ...]] = []
        self._views: list[SeatView | None] = [None, None]
        self._seen = [0, 0]
        """The actions that each view has been told of."""

    @property
    def to_move(self) -> Color:  # type: ignore[override]
        return self.board.to_move

    @property
    def ply(self) -> int:  # type: ignore[override]
        return self.board.ply

    @property
    def outcome(self) -> Outcome | None:  # type: ignore[override]
        return self.board.outcome

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        if self.board.ruleset.fills_rows:
            return ()
        readers = tuple(Color) if seat is None else (seat,)
        return tuple(line_of(Enemy(enemy_squares(self.board, reader))) for reader in readers)

    def play(self, action: str) -> Told:
        self.events = events = self.board.apply(action)
        self._played.append(events)
        if len(events) == 1 and type(events[0]) is Moved:
            mover = events[0].color
            return _MOVES[mover].get(action) or _moves(mover, action, events)
        return told_of(events)

    def act(self, action: str) -> Told:
        return self.play(action)

    def legal_actions(self) -> Sequence[str]:
        return legal_actions(self.board)

    def board_line(self, color: Color) -> str:
        return line_of(Board(self.view(color).cells()))

    def view(self, color: Color) -> SeatView:
        """Return a seat's knowledge of the position."""
        view = self._views[color]
        if view is None:
            first = enemy_squares(self.board, color) if not self._played else self._first_enemy(color)
            view = self._views[color] = SeatView(self.board.ruleset, color, self.rows[color], first)
        for events in self._played[self._seen[color] :]:
            for event in events:
                view.see(tell(event)[color])
        self._seen[color] = len(self._played)
        return view

    def _first_enemy(self, color: Color) -> tuple[str, ...]:
        return enemy_squares(engine.Game(self.board.ruleset, *self.rows), color)

    def cells(self, seat: Color | None) -> tuple[str, ...]:
        """Return the 100 cells of the board as a seat knows them, or with every rank shown (None)."""
        return true_cells(self.board) if seat is None else self.view(seat).cells()


def as_stratego(state: State) -> StrategoState:
    """Return a state as one of Stratego. Raises `UsageError` for another game."""
    if not isinstance(state, StrategoState):
        raise UsageError("expected a game of Stratego, got one of another game")
    return state


_MOVES: tuple[dict[str, Told], dict[str, Told]] = ({}, {})
"""What is told of plain moves, by colour and action: limited by the pairs of squares."""


def _moves(mover: Color, action: str, events: Sequence[Event]) -> Told:
    return _MOVES[mover].setdefault(action, told_of(events))


def told_of(events: Sequence[Event]) -> Told:
    """Return the lines for both seats about the events of an action."""
    if len(events) == 1:
        message, other = tell(events[0])
        if message is other:
            return to_both(line_of(message))
    both = [tell(event) for event in events]
    return tuple(line_of(red) for red, _ in both), tuple(line_of(blue) for _, blue in both)


def line_of(message: ArenaMessage) -> str:
    return encode_for_bot(message)[:-1].decode("ascii")


@lru_cache(maxsize=64)
def ruleset_of(variant: Variant) -> Ruleset:
    """Return the engine's rules of a variant. Raises `RulesetError`."""
    return ruleset_from_lines(variant.name, variant.rules)


@lru_cache(maxsize=64)
def variant_of(ruleset: Ruleset) -> Variant:
    return Variant(STRATEGO, Stratego.version, ruleset.name, tuple(ruleset.lines()))


USUAL = "isf"


class Stratego(Game):
    """See `docs/rules.md`."""

    name = STRATEGO
    has_setups = True

    def __init__(self) -> None:
        self.plain_moves = STRATEGO_FORMS.plain_moves

    def variant_names(self) -> Sequence[str]:
        return ruleset_names()

    def variant(self, text: object = "") -> Variant:
        """Return the variant of a ruleset, or of the name of one. Raises `RulesetError`."""
        return variant_of(text if isinstance(text, Ruleset) else load_ruleset(str(text) or USUAL))

    def check_variant(self, variant: Variant) -> None:
        """Raise `UsageError` unless these are rules, written in canonical order; newer rules may be missing."""
        try:
            ruleset = ruleset_of(variant)
        except RulesetError as error:
            raise UsageError(str(error)) from None
        there = {name for name, _ in variant.rules}
        written = [name for name, _ in variant.rules]
        expected = [name for name, _ in ruleset.lines() if name in there]
        if written != expected:
            raise UsageError(f"its rules stand in the order {', '.join(written)}: expected {', '.join(expected)}")

    def digest(self, variant: Variant) -> str:
        return ruleset_of(variant).digest()

    def lasting_rules(self, variant: Variant) -> Sequence[tuple[str, str]]:
        return ruleset_of(variant).lasting_lines()

    def settled(self, variant: Variant, pair_seed: int) -> Variant:
        """Draw who begins, where the rules leave it to the players: each bot of a pair begins one game."""
        if dict(variant.rules).get("starts") != Starts.CHOSEN.value:
            return variant
        starts = Starts.BLUE if pair_seed & 1 else Starts.RED
        rules = tuple((name, starts.value if name == "starts" else value) for name, value in variant.rules)
        return Variant(variant.game, variant.version, variant.name, rules)

    def unsettled(self, variant: Variant, pair_seed: int) -> Sequence[Variant]:
        chosen = tuple((name, Starts.CHOSEN.value if name == "starts" else value) for name, value in variant.rules)
        other = Variant(variant.game, variant.version, variant.name, chosen)
        return (variant, other) if self.settled(other, pair_seed) == variant else (variant,)

    def completed(self, variant: Variant) -> Variant:
        return variant_of(ruleset_of(variant))

    def first_seat(self, variant: Variant) -> Color:
        return Color.BLUE if dict(variant.rules).get("starts") == Starts.BLUE.value else Color.RED

    def check_move_form(self, text: str) -> None:
        STRATEGO_FORMS.check_move_form(text)

    def check_setup_form(self, text: str) -> None:
        STRATEGO_FORMS.check_setup_form(text)

    def check_setup(self, variant: Variant, color: Color, setup: str) -> None:
        check_setup(ruleset_of(variant), setup.split("/"))

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> StrategoState:
        red, blue = (setup.split("/") for setup in setups)
        return StrategoState(ruleset_of(variant), (red, blue))

    def public_lines(self, told: Told) -> Sequence[str]:
        """Return what both seats know; a silent defender is named to its own side alone."""
        hidden = f" {HIDDEN} "
        return [blue if hidden in blue else red for red, blue in zip(*told, strict=True)]

    def random_setup(self, variant: Variant, color: Color, seed: int) -> str:
        return "/".join(setups.random_rows(ruleset_of(variant), seed))

    def check(self, state: State, action: str) -> None:
        assert isinstance(state, StrategoState)
        if action != RESIGN:
            state.board.check(state.board.parse(action))

    def hint(self, seen: Any) -> Any:
        from arena.stratego.hints import hint  # only for a lost game

        return hint(seen)


GAME = Stratego()
