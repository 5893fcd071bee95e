"""The protocol's state machine from one bot's point of view: which message may come when.

    STARTING --hello--> INTRODUCING --ready--> IDLE --setup?--> SETTING_UP --setup--> WAITING
    IDLE --the beginning of a game without set-ups--> WAITING
    WAITING --turn--> THINKING --move--> WAITING            (until `end`, which leads back to IDLE)
    IDLE --quit--> CLOSED

Two tables define it: for each phase, the messages that a bot may send and the phase that follows (any other message
is a `RemoteProtocolError`); and the phase that follows each of the arena's messages.
"""

import enum

from protocol import messages
from protocol.lines import RemoteProtocolError, Slip
from protocol.messages import BotMessage


class Phase(enum.Enum):
    """The state of a conversation with one bot; `words` tell an author what the arena was waiting for."""

    STARTING = ("before hello", False)
    INTRODUCING = ("after hello, where name, author, want, cannot or ready may come", True)
    IDLE = ("between games", False)
    SETTING_UP = ("after setup, where a set-up must come", True)
    WAITING = ("during the opponent's turn", False)
    THINKING = ("after turn, where notes and one move may come", True)
    CLOSED = ("after quit", False)

    def __init__(self, words: str, bot_must_answer: bool) -> None:
        self.words = words
        self.bot_must_answer = bot_must_answer


BOT_MAY_SEND: dict[Phase, dict[type, Phase]] = {
    Phase.STARTING: {},
    Phase.INTRODUCING: {
        messages.Name: Phase.INTRODUCING,
        messages.Author: Phase.INTRODUCING,
        messages.Wants: Phase.INTRODUCING,
        messages.Cannot: Phase.INTRODUCING,
        messages.Ready: Phase.IDLE,
    },
    Phase.IDLE: {},
    Phase.SETTING_UP: {messages.Setup: Phase.WAITING, messages.Note: Phase.SETTING_UP},
    Phase.WAITING: {},
    Phase.THINKING: {messages.Move: Phase.WAITING, messages.Note: Phase.THINKING},
    Phase.CLOSED: {},
}

ARENA_MOVES_TO: dict[type, Phase] = {
    messages.Hello: Phase.INTRODUCING,
    messages.SetupRequest: Phase.SETTING_UP,
    messages.Restore: Phase.WAITING,
    messages.Turn: Phase.THINKING,
    messages.End: Phase.IDLE,
    messages.Quit: Phase.CLOSED,
}
"""The phase after one of the arena's messages; other messages do not change the phase."""

UNASKED: dict[Phase, Phase] = {
    Phase.INTRODUCING: Phase.STARTING,
    Phase.SETTING_UP: Phase.IDLE,
    Phase.THINKING: Phase.WAITING,
}
"""The phases in which the arena waits for a bot, and the phase before the bot has been asked."""


def after(phase: Phase, message: BotMessage) -> Phase:
    """Return the phase after a bot sends `message` in `phase`; raises `RemoteProtocolError` if it may not."""
    kind: type = type(message)
    following = BOT_MAY_SEND[phase].get(kind)
    if following is None:
        slip = Slip.OPPONENTS_TURN if phase is Phase.WAITING else Slip.UNASKED
        raise RemoteProtocolError(f"'{_verb(kind)}' came {phase.words}; {_allowed(phase)}", slip, _verb(kind))
    return following


def _verb(kind: type) -> str:
    return "want" if kind is messages.Wants else kind.__name__.lower()


def _allowed(phase: Phase) -> str:
    verbs = [_verb(kind) for kind in BOT_MAY_SEND[phase]]
    return f"expected {' or '.join(verbs)}" if verbs else "a bot must send nothing then"
