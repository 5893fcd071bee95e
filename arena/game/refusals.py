"""Why bots are not to play a game at all, in words: they cannot be told one that has begun without them."""

from collections.abc import Sequence

from arena.game.faults import named
from arena.game.record import History
from arena.game.seat import Seat
from arena.game.spec import GameSpec, Player


def unrestorable(seats: Sequence[Seat], players: Sequence[Player]) -> str:
    """Who could not go on with a game after a pause, and why, in words; empty if all can."""
    unable = [named(players, seat.color) for seat in seats if not seat.can_be_restored]
    return " and ".join(f"{name} says 'cannot restore'" for name in unable)


def refusal(seats: Sequence[Seat], spec: GameSpec, history: History | None, *, can_pause: bool) -> str | None:
    """Why bots that have introduced themselves are not to play this game, in words; None if they can."""
    said = unrestorable(seats, spec.players)
    if not said:
        return None
    if history is not None:
        return f"the paused game cannot go on: {said}: play it anew with 'arena match'"
    if spec.opening is not None:
        return f"the game cannot begin with an opening: {said}: play without --openings, or without such bots"
    return f"the game could not go on once it was paused: {said}: play it without --pause" if can_pause else None
