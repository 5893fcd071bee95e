"""A seat's connection: bytes of one bot on one side, messages on the other, after the model of h11 and wsproto.

Its state is the unfinished line, the phase of the conversation, and the number of lines. The referee interprets the
messages. `take_move` and `turn` are fast paths for most plies, with the effect of `receive` and `send`.
"""

from collections.abc import Iterator
from functools import lru_cache

from protocol.codec import Forms, decode_from_bot, encode_for_bot
from protocol.conversation import ARENA_MOVES_TO, UNASKED, Phase, after
from protocol.lines import LineBuffer, RemoteProtocolError, Slip
from protocol.messages import ArenaMessage, BotMessage, Rule

MAX_LINES_A_TURN = 1000
"""The most lines that a bot may send before it answers: each costs the arena time."""


_encode_rule = lru_cache(maxsize=256)(encode_for_bot)
"""Cached, as most messages before the set-up are rules, which are the same in every game."""


class LineConnection:
    """Version 1 of the arena's protocol: `docs/protocol.md`.

    A request counts only once it has been written: an earlier answer does not count, nor does one in a line that began
    before.
    """

    __slots__ = ("_buffer", "_forms", "_is_early", "_is_unwritten", "_lines", "_plain_moves", "phase")

    def __init__(self, forms: Forms) -> None:
        """`forms` tells what an action and a set-up look like in the game."""
        self.phase = Phase.STARTING
        """The phase of the conversation, with all results of `send` counted as sent."""
        self._forms = forms
        self._plain_moves = forms.plain_moves
        self._buffer = LineBuffer()
        self._is_unwritten = False
        """Whether the bot's present request has been encoded, and not written yet."""
        self._is_early = False
        """Whether the unfinished line began before the request."""
        self._lines = 0

    @property
    def unfinished(self) -> bytes:
        return self._buffer.partial

    def send(self, message: ArenaMessage) -> bytes:
        """Encode a message. Raises `LocalProtocolError` for one that cannot be sent."""
        following = ARENA_MOVES_TO.get(type(message))
        if following is not None:
            self.phase = following
            self._is_unwritten = True
        return _encode_rule(message) if isinstance(message, Rule) else encode_for_bot(message)

    def flushed(self) -> None:
        """Note that all results of `send` are being written now."""
        if self._is_unwritten:
            self._is_unwritten, self._is_early = False, bool(self._buffer.partial)
        self._lines = 0

    def receive(self, data: bytes) -> Iterator[BotMessage]:
        """Yield the messages that are complete with these bytes, each after it was checked.

        Raises `RemoteProtocolError` at the first invalid one; the connection is unusable after that.
        """
        for line in self._buffer.feed(data):
            self._lines += 1
            phase = UNASKED.get(self.phase, self.phase) if self._is_unwritten or self._is_early else self.phase
            self._is_early = False
            if self._lines > MAX_LINES_A_TURN:
                raise RemoteProtocolError(f"more than {MAX_LINES_A_TURN} lines without an answer", Slip.TOO_MANY)
            message = decode_from_bot(line, self._forms)
            if message is not None:
                self.phase = after(phase, message)
                yield message

    def take_move(self, data: bytes) -> str | None:
        """Return the action if these bytes are exactly one plain move that is allowed now, else None.

        None leaves the state unchanged: the bytes are for `receive`.
        """
        action = self._plain_moves.get(data)
        if action is None or self.phase is not Phase.THINKING or self._is_unwritten:
            return None
        if self._lines >= MAX_LINES_A_TURN or self._buffer.partial:
            return None
        self._lines += 1
        self.phase = Phase.WAITING
        return action

    def began(self) -> None:
        """Note that the game has begun without a set-up: the bot has to wait for its turn."""
        if self.phase is Phase.IDLE:
            self.phase = Phase.WAITING

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        self.phase = Phase.THINKING
        self._is_unwritten = True
        if own_bank_ms is None or enemy_bank_ms is None:
            return b"turn %d %d %d\n" % (ply, own_ms, enemy_ms)
        return b"turn %d %d %d %d %d\n" % (ply, own_ms, enemy_ms, own_bank_ms, enemy_bank_ms)
