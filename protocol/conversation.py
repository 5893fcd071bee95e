"""What may be said when: the protocol's state machine, from one bot's point of view.

    STARTING --hello--> INTRODUCING --ready--> IDLE --setup?--> SETTING_UP --setup--> WAITING
    WAITING --turn--> THINKING --move--> WAITING            (until `end`, which leads back to IDLE)
    IDLE --quit--> CLOSED

The table below is the whole theory: for each phase, what a bot may send and the phase that follows. A message that is
not in its phase's row is a `RemoteProtocolError`. The arena's own messages move the phase in four places only, so they
need no table: `hello`, `setup`, `turn`, and `end`.
"""

import enum

from protocol.codec import RemoteProtocolError
from protocol.messages import Author, BotMessage, Move, Name, Note, Ready, Setup, Wants


class Phase(enum.Enum):
    """Where a conversation with one bot stands; `words` tell an author what the arena was waiting for."""

    STARTING = ("before hello", False)
    INTRODUCING = ("after hello, where name, author, want or ready may come", True)
    IDLE = ("between games", False)
    SETTING_UP = ("after setup, where a set-up must come", True)
    WAITING = ("during the opponent's turn", False)
    THINKING = ("after turn, where notes and one move may come", True)
    CLOSED = ("after quit", False)

    def __init__(self, words: str, bot_must_answer: bool) -> None:
        self.words = words
        self.bot_must_answer = bot_must_answer
        """Whether the arena is waiting for this bot."""


BOT_MAY_SEND: dict[Phase, dict[type, Phase]] = {
    Phase.STARTING: {},
    Phase.INTRODUCING: {
        Name: Phase.INTRODUCING,
        Author: Phase.INTRODUCING,
        Wants: Phase.INTRODUCING,
        Ready: Phase.IDLE,
    },
    Phase.IDLE: {},
    Phase.SETTING_UP: {Setup: Phase.WAITING, Note: Phase.SETTING_UP},
    Phase.WAITING: {},
    Phase.THINKING: {Move: Phase.WAITING, Note: Phase.THINKING},
    Phase.CLOSED: {},
}


def after(phase: Phase, message: BotMessage) -> Phase:
    """The phase that follows when a bot sends `message` in `phase`; raises `RemoteProtocolError` if it may not."""
    kind: type = type(message)
    following = BOT_MAY_SEND[phase].get(kind)
    if following is None:
        raise RemoteProtocolError(f"'{_verb(kind)}' came {phase.words}; {_allowed(phase)}")
    return following


def _verb(kind: type) -> str:
    return "want" if kind is Wants else kind.__name__.lower()


def _allowed(phase: Phase) -> str:
    verbs = [_verb(kind) for kind in BOT_MAY_SEND[phase]]
    return f"expected {' or '.join(verbs)}" if verbs else "a bot must send nothing then"
