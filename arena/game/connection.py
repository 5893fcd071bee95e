"""A seat's connection: bytes of one bot on one side, messages on the other, after the model of h11 and wsproto.

It has the state of its own side alone: the line that has not ended yet, where the conversation stands, how many lines
came. What a message means for the game is the referee's business. Nothing here reads or writes a file.

`take_move`, `moved` and `turn` are short-cuts for what nearly every ply consists of. They give the same as `receive`
and `send` do with message objects, and change the state in the same way.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

from arena.game.asking import Asking
from arena.game.dialects import Dialect
from arena.game.ucc_connection import UccConnection
from arena.game.ucc_lines import HINT_2012, is_row
from protocol.codec import MOVED_LINES, PLAIN_MOVE_LINES, decode_from_bot, encode_for_bot
from protocol.conversation import ARENA_MOVES_TO, Phase, after
from protocol.lines import LineBuffer, RemoteProtocolError
from protocol.messages import ArenaMessage, BotMessage, Moved, Rule
from protocol.notation import Color

MAX_LINES_A_TURN = 1000
"""A bot that sends more lines than this before it answers breaks the protocol: each costs the arena time."""


class Connection(Protocol):
    """What the referee needs of a dialect. One that has no short-cuts answers None in `take_move`."""

    @property
    def dialect(self) -> Dialect:
        """What is spoken."""

    @property
    def phase(self) -> Phase:
        """Where the conversation stands, with all that `send` has given counted as said."""

    @property
    def unfinished(self) -> bytes:
        """What has come of a message that is not complete yet."""

    def send(self, message: ArenaMessage) -> bytes:
        """The message's bytes. Raises `LocalProtocolError` for what cannot be sent."""

    def flushed(self) -> None:
        """All that `send` has given is being written now."""

    def receive(self, data: bytes) -> Iterator[BotMessage]:
        """The messages that are complete with these bytes, one after another, each once it is known to be allowed.

        Raises `RemoteProtocolError` at the first that is not; the connection is of no more use after that.
        """

    def take_move(self, data: bytes) -> str | None:
        """The action, if these bytes are one plain move that may come now, and nothing else. If not, None: nothing has
        been taken, and they are for `receive`."""

    def moved(self, color: Color, action: str) -> bytes:
        """`send(Moved(...))`."""

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        """`send(Turn(...))`."""


_encode_rule = lru_cache(maxsize=256)(encode_for_bot)
"""Most of what a bot is told before it sets up are rules, in every game the same."""


class LineConnection:
    """The arena's own protocol, version 1: `docs/protocol.md`."""

    __slots__ = ("_asking", "_buffer", "_lines", "phase")

    dialect = Dialect.ARENA_1

    def __init__(self) -> None:
        self.phase = Phase.STARTING
        self._buffer = LineBuffer()
        self._asking = Asking()
        self._lines = 0
        """Lines since the last `flushed`."""

    @property
    def unfinished(self) -> bytes:
        return self._buffer.partial

    def send(self, message: ArenaMessage) -> bytes:
        following = ARENA_MOVES_TO.get(type(message))
        if following is not None:
            self.phase = following
            self._asking.made()
        return _encode_rule(message) if isinstance(message, Rule) else encode_for_bot(message)

    def flushed(self) -> None:
        self._asking.put(self._buffer.partial)
        self._lines = 0

    def receive(self, data: bytes) -> Iterator[BotMessage]:
        for line in self._buffer.feed(data):
            self._lines += 1
            phase = self._asking.phase_of_line(self.phase)
            if self._lines > MAX_LINES_A_TURN:
                raise RemoteProtocolError(f"more than {MAX_LINES_A_TURN} lines without an answer")
            try:
                message = decode_from_bot(line)
            except RemoteProtocolError as error:
                if self.phase is Phase.INTRODUCING and is_row(line.decode("latin-1").rstrip()):
                    raise RemoteProtocolError(f"{error}{HINT_2012}") from None
                raise
            if message is not None:
                self.phase = after(phase, message)
                yield message

    def take_move(self, data: bytes) -> str | None:
        action = PLAIN_MOVE_LINES.get(data)
        if action is None or self.phase is not Phase.THINKING or self._asking.is_pending:
            return None
        if self._lines >= MAX_LINES_A_TURN or self._buffer.partial:
            return None
        self._lines += 1
        self.phase = Phase.WAITING
        return action

    def moved(self, color: Color, action: str) -> bytes:
        return MOVED_LINES[color].get(action) or encode_for_bot(Moved(color, action))

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        self.phase = Phase.THINKING
        self._asking.made()
        if own_bank_ms is None or enemy_bank_ms is None:
            return b"turn %d %d %d\n" % (ply, own_ms, enemy_ms)
        return b"turn %d %d %d %d %d\n" % (ply, own_ms, enemy_ms, own_bank_ms, enemy_bank_ms)


def connect(dialect: Dialect) -> Connection:
    """A new connection to a bot that speaks this."""
    return UccConnection() if dialect is Dialect.UCC_2012 else LineConnection()
