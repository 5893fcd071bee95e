"""Which of a side's own pieces the enemy has seen the rank of, by what this side was told itself.

What the enemy can only conclude is not among it.
"""

from collections.abc import Iterable

from arena.game.seat_state import ActionState
from protocol.notation import Color, Rank, Survivor


def shown_squares(color: Color, actions: Iterable[ActionState], *, silent: bool) -> frozenset[str]:
    """The squares of these pieces after the actions. `silent`: a defender that stays is named to scouts alone."""
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
