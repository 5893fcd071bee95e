"""The page of a seat in a game of Stratego: a board with pieces, and the moves in words."""

from collections.abc import Iterable
from typing import Any

import msgspec

from arena.stratego.game import ruleset_of
from arena.stratego.rules.ruleset import Defence
from arena.stratego.seat_state import ActionState, FightState, StrategoSeatState, seat_of, state_after, state_of
from arena.stratego.setups import presets
from arena.stratego.shown.event_words import event_words
from arena.stratego.shown.piece_names import DEFAULT_NAMES
from arena.stratego.shown.rules_text import army_entries, rule_lines
from arena.web.seat_server import SeatPage, SeatTable, commands_after
from protocol import messages
from protocol.notation import Color, Rank, Survivor


def shown_squares(color: Color, actions: Iterable[ActionState], *, silent: bool) -> frozenset[str]:
    """Return the squares of a seat's own pieces whose rank the enemy knows, after these actions.

    With `silent` defence a defender that stays is named to scouts alone.
    """
    shown: set[str] = set()
    for action in actions:
        is_own = action.color == color.word
        if action.origin is None or action.target is None:
            continue
        if action.guess is None:
            _move(shown, action, is_own=is_own, silent=silent)
        elif action.guess.right:
            shown.discard(action.target)
        if is_own:
            shown.update(one.square for one in (action.revealed, action.rescued) if one is not None)
    return frozenset(shown)


def _move(shown: set[str], action: ActionState, *, is_own: bool, silent: bool) -> None:
    origin, target, fight = action.origin or "", action.target or "", action.fight
    was_shown = origin in shown
    shown.discard(origin)
    if fight is None:
        if was_shown:
            shown.add(target)
    elif fight.survivor != Survivor.DEFENDER.value:
        shown.discard(target)
        if is_own and fight.survivor == Survivor.ATTACKER.value:
            shown.add(target)
    elif not is_own and not (silent and fight.attacker != Rank.SCOUT.letter):
        shown.add(target)


class MoveLine(msgspec.Struct, frozen=True):
    """A line of the list of moves: the action, and its outcome in words, as this seat was told."""

    ply: int
    color: str
    action: str
    words: str
    fight: FightState | None


class SeatAnswer(msgspec.Struct, frozen=True):
    """The state of a seat and the moves after the first `since`.

    `shown` are the squares of `shown_squares`. When the game is over, `after` has the next possible commands, and
    `setups` Red's and Blue's rows, if both sides set up.
    """

    state: StrategoSeatState
    since: int
    moves: tuple[MoveLine, ...]
    shown: tuple[str, ...]
    after: tuple[str, ...]
    setups: tuple[str, ...] = ()


class Earlier(msgspec.Struct, frozen=True):
    state: StrategoSeatState
    shown: tuple[str, ...]


class BoardPage(SeatPage):
    template = "play.html"

    def page(self, table: SeatTable, color: Color) -> dict[str, Any]:
        """Return the values for the template. In `data` are pieces by letter, and the letters from the strongest."""
        page = super().page(table, color)
        ruleset = ruleset_of(table.session.spec.variant)
        ready = [{"name": f"{one.name}: {one.text}", "rows": one.rows} for one in presets(ruleset)]
        entries = army_entries(ruleset, DEFAULT_NAMES)
        data = {
            "seat": color.word,
            "title": page["title"],
            "pieces": {one.letter: {"number": one.number, "name": one.name, "count": one.count} for one in entries},
            "order": [one.letter for one in entries],
            "presets": ready,
        }
        return page | {
            "data": msgspec.json.encode(data).decode(),
            "presets": [preset["name"] for preset in ready],
            "rules": [line.text for line in rule_lines(ruleset, DEFAULT_NAMES)],
        }

    def answer(self, table: SeatTable, color: Color, since: int) -> SeatAnswer:
        state, record = state_of(table.session, color), table.session.record
        since = min(since, state.plies)
        setups = () if record is None else tuple(setup for setup in record.setups if setup is not None)
        moves, shown = _moves(table, color, since), _shown(table, color)
        return SeatAnswer(state, since, moves, shown, commands_after(table, state), setups)

    def earlier(self, table: SeatTable, color: Color, plies: int) -> Earlier:
        return Earlier(state_after(table.session, color, plies), _shown(table, color, plies))


def _shown(table: SeatTable, color: Color, plies: int | None = None) -> tuple[str, ...]:
    silent = ruleset_of(table.session.spec.variant).defence is Defence.SILENT
    return tuple(sorted(shown_squares(color, seat_of(table.session, color).actions[:plies], silent=silent)))


def _moves(table: SeatTable, color: Color, since: int) -> tuple[MoveLine, ...]:
    said: list[list[str]] = []
    for message in seat_of(table.session, color).told:
        if isinstance(message, messages.Moved):
            said.append([])
        elif said and (text := event_words(message, DEFAULT_NAMES)):
            said[-1].append(text)
    return tuple(
        MoveLine(action.ply, action.color, action.action, "; ".join(said[action.ply - 1]), action.fight)
        for action in seat_of(table.session, color).actions[since:]
    )
