"""What can be seen of a bot at the moment its fault is found, for `arena.game.hints`."""

from arena.game.faults import Fault
from arena.game.hints import Activity, Language, Seen, Turn
from arena.game.live import LiveGame
from arena.game.seat import Seat
from arena.play.peer import Peer
from protocol.conversation import Phase
from protocol.messages import Want
from protocol.notation import Reason

LOOKED_AT = frozenset({Reason.NO_START, Reason.TIMEOUT, Reason.SETUP_TIMEOUT})
"""Reasons for which it matters what the bot was doing."""


def seen_of(
    seat: Seat,
    fault: Fault,
    live: LiveGame,
    process: Peer | None,
    language: Language,
    *,
    not_sent: str = "",
    turn: Turn | None = None,
) -> Seen:
    """What was seen of a side's bot; `process` is None if it could not be started. Takes well under a millisecond.

    `not_sent` is that of its `BotSpec`, `turn` what it has used of its turn.
    """
    game = live.game
    is_silent = fault.reason in LOOKED_AT and not seat.has_ended and process is not None
    if process is not None:
        process.read_stderr_now()
    if seat.phase is Phase.INTRODUCING:
        answered = bool(seat.declared or seat.author or seat.wants)
    else:
        last = live.notes[-1] if live.notes else None
        answered = last is not None and last.color == seat.color.word and last.ply == len(live.actions) + 1
    return Seen(
        phase=seat.phase,
        fault=fault,
        language=language,
        stderr=process.stderr_tail if process else "",
        activity=process.activity() if process and is_silent else Activity.UNKNOWN,
        has_unread=bool(process and is_silent and process.has_unread()),
        has_closed_input=bool(process and is_silent and process.has_closed_input()),
        has_ended=seat.has_ended,
        answered=answered,
        is_late=seat.is_late,
        unfinished=seat.connection.unfinished,
        game=game,
        rows=seat.rows or (),
        setups=live.setups,
        actions=tuple(live.actions) if fault.reason is Reason.ILLEGAL_ACTION else (),
        gets_legal=Want.LEGAL in seat.wants,
        is_confined=bool(process and process.is_confined),
        not_sent=not_sent,
        turn=turn,
    )
