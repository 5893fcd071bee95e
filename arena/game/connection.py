"""A seat's connection: bytes of one bot on one side, messages on the other, after the model of h11 and wsproto.

It has the state of its own side alone: the line that has not ended yet, where the conversation stands, how many lines
came. What a message means for the game is the referee's business. Nothing here reads or writes a file.

`take_move`, `moved` and `turn` are short-cuts for what nearly every ply consists of. They give the same as `receive`
and `send` do with message objects, and change the state in the same way.
"""

from collections.abc import Iterator
from functools import lru_cache

from protocol.codec import MOVED_LINES, PLAIN_MOVE_LINES, decode_from_bot, encode_for_bot
from protocol.conversation import ARENA_MOVES_TO, UNASKED, Phase, after
from protocol.lines import LineBuffer, RemoteProtocolError, Slip
from protocol.messages import ArenaMessage, BotMessage, Moved, Rule
from protocol.notation import Color

MAX_LINES_A_TURN = 1000
"""A bot that sends more lines than this before it answers breaks the protocol: each costs the arena time."""


_encode_rule = lru_cache(maxsize=256)(encode_for_bot)
"""Most of what a bot is told before it sets up are rules, in every game the same."""


class _Asking:
    """The requests of one connection: each `made` when it is put into words, `put` when it is written.

    A request counts as put to the bot only once it has been written: an answer that comes before is none, nor is one
    whose line has begun before. Without that it would be chance whether a second answer, which a program may write in
    two parts, is taken for that to the next turn.
    """

    __slots__ = ("_is_early", "is_pending")

    def __init__(self) -> None:
        self.is_pending = False
        """Whether the bot has not been written yet what it is asked in this phase."""
        self._is_early = False
        """Whether the line that has not ended yet began before the bot was asked."""

    def made(self) -> None:
        """Note a request that has not been written."""
        self.is_pending = True

    def put(self, unfinished: bytes) -> None:
        """Note that the request is written now; `unfinished` has come of a line that has not ended."""
        if self.is_pending:
            self.is_pending, self._is_early = False, bool(unfinished)

    def phase_of_line(self, phase: Phase) -> Phase:
        """Return the phase that the next complete line is judged in; `phase` is that of the conversation."""
        is_early, self._is_early = self._is_early, False
        return UNASKED.get(phase, phase) if self.is_pending or is_early else phase


class LineConnection:
    """The arena's own protocol, version 1: `docs/protocol.md`."""

    __slots__ = ("_asking", "_buffer", "_lines", "phase")

    def __init__(self) -> None:
        self.phase = Phase.STARTING
        """The phase of the conversation, with all that `send` has given counted as said."""
        self._buffer = LineBuffer()
        self._asking = _Asking()
        self._lines = 0
        """Lines since the last `flushed`."""

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line that has not ended yet."""
        return self._buffer.partial

    def send(self, message: ArenaMessage) -> bytes:
        """Return the bytes of a message. Raises `LocalProtocolError` for one that cannot be sent."""
        following = ARENA_MOVES_TO.get(type(message))
        if following is not None:
            self.phase = following
            self._asking.made()
        return _encode_rule(message) if isinstance(message, Rule) else encode_for_bot(message)

    def flushed(self) -> None:
        """Note that all that `send` has given is being written now."""
        self._asking.put(self._buffer.partial)
        self._lines = 0

    def receive(self, data: bytes) -> Iterator[BotMessage]:
        """Yield the messages that are complete with these bytes, each once it is known to be allowed.

        Raises `RemoteProtocolError` at the first that is not; the connection is of no more use after that.
        """
        for line in self._buffer.feed(data):
            self._lines += 1
            phase = self._asking.phase_of_line(self.phase)
            if self._lines > MAX_LINES_A_TURN:
                raise RemoteProtocolError(f"more than {MAX_LINES_A_TURN} lines without an answer", Slip.TOO_MANY)
            message = decode_from_bot(line)
            if message is not None:
                self.phase = after(phase, message)
                yield message

    def take_move(self, data: bytes) -> str | None:
        """Return the action if these bytes are one plain move that may come now, and nothing else. If not, return None:
        nothing has been taken, and the bytes are for `receive`."""
        action = PLAIN_MOVE_LINES.get(data)
        if action is None or self.phase is not Phase.THINKING or self._asking.is_pending:
            return None
        if self._lines >= MAX_LINES_A_TURN or self._buffer.partial:
            return None
        self._lines += 1
        self.phase = Phase.WAITING
        return action

    def moved(self, color: Color, action: str) -> bytes:
        """Do what `send(Moved(...))` does."""
        return MOVED_LINES[color].get(action) or encode_for_bot(Moved(color, action))

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        """Do what `send(Turn(...))` does."""
        self.phase = Phase.THINKING
        self._asking.made()
        if own_bank_ms is None or enemy_bank_ms is None:
            return b"turn %d %d %d\n" % (ply, own_ms, enemy_ms)
        return b"turn %d %d %d %d %d\n" % (ply, own_ms, enemy_ms, own_bank_ms, enemy_bank_ms)
