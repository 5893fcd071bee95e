"""The events of an action in words, as a reader knows them."""

from collections.abc import Sequence

from arena.stratego.rules.events import Event
from arena.stratego.shown.piece_names import Names
from protocol import messages
from protocol.messages import ArenaMessage
from protocol.notation import Survivor

_SURVIVORS = {
    Survivor.ATTACKER: "the attacker wins",
    Survivor.DEFENDER: "the defender wins",
    Survivor.NEITHER: "both leave",
}


def told_words(events: Sequence[Event], names: Names) -> str:
    return "; ".join(text for event in events if (text := event_words(event, names)))


def event_words(message: ArenaMessage, names: Names) -> str:
    """Return the text of a message, without its action."""
    match message:
        case messages.Battle(square, attacker, defender, survivor):
            met = names.name(defender) if defender is not None else "an unknown piece"
            return f"{names.name(attacker)} attacks {met} on {square}, {_SURVIVORS[survivor]}"
        case messages.Reveal(square, rank):
            return f"shows itself as {names.one(rank)} on {square}"
        case messages.Rescued(_, square, rank):
            return f"{names.one(rank)} comes back on {square}"
        case messages.Guess(square, rank, True):
            return f"guesses {names.one(rank)} on {square}, which is right: it leaves the board"
        case messages.Guess(square, rank, _):
            return f"guesses {names.one(rank)} on {square}, which is wrong"
        case _:
            return ""
