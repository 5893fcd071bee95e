"""What can be seen of a bot at the moment its fault is found, for `arena.game.hints`."""

from arena.bots import BotSpec
from arena.bots.language import language_of
from arena.bots.links import links_out
from arena.game.faults import Fault
from arena.game.hints import Activity, Seen, TurnUse
from arena.game.live import LiveGame
from arena.game.seat import Seat
from arena.play.peer import Peer
from protocol.conversation import Phase
from protocol.messages import Want
from protocol.notation import Reason

LOOKED_AT = frozenset({Reason.NO_START, Reason.TIMEOUT, Reason.SETUP_TIMEOUT})
"""Reasons for which it matters what the bot was doing."""
BY_ITS_FILES = frozenset({Reason.NO_START, Reason.CRASH})
"""Reasons for which it matters whether all of its files are there."""


def seen_of(
    seat: Seat,
    fault: Fault,
    live: LiveGame,
    process: Peer | None,
    bot: BotSpec,
    *,
    turn: TurnUse | None = None,
) -> Seen:
    """Return what was seen of a side's bot; `process` is None if it could not be started.

    Takes well under a millisecond, or a few for a bot that has crashed and has many files. `turn` is what it has used
    of its turn.
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
    is_confined = bool(process and process.is_confined)
    has_links = is_confined and seat.has_ended and fault.reason in BY_ITS_FILES
    return Seen(
        phase=seat.phase,
        fault=fault,
        language=language_of(bot),
        stderr=process.stderr_tail if process else "",
        status=process.exit_status() if process and seat.has_ended else None,
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
        is_confined=is_confined,
        not_sent=bot.not_sent,
        links_out={str(link.place): link.target for link in links_out(bot.folder, bot.files)} if has_links else {},
        turn=turn,
    )
