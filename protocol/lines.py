"""Lines of the protocol as bytes: their length, how a stream is cut into them, and their errors.

Two errors, after the model of h11: `LocalProtocolError` is our own mistake, `RemoteProtocolError` is the other side's.
"""

import enum
from collections.abc import Iterable, Iterator

MAX_BOT_LINE = 4096
"""The longest line that either side may send, in bytes, its line end not counted."""


class ProtocolError(Exception):
    """Something that the protocol does not allow."""


class LocalProtocolError(ProtocolError):
    """Our own program tried to send a message that the protocol does not allow."""


class Slip(enum.Enum):
    """The kind of error in the other side's output."""

    TOO_LONG = "too long"
    TOO_MANY = "too many lines"
    NOT_ASCII = "not printable ASCII"
    UNKNOWN_VERB = "unknown verb"
    FIELDS = "wrong fields"
    UNASKED = "out of turn"
    OPPONENTS_TURN = "in the opponent's turn"


class RemoteProtocolError(ProtocolError):
    """A line from the peer that the protocol does not allow. The text has the expected and the actual input.

    `line` is the line itself, or the verb of one that came out of turn.
    """

    def __init__(self, text: str, slip: Slip = Slip.FIELDS, line: str = "") -> None:
        super().__init__(text)
        self.slip = slip
        self.line = line


def is_line(text: str) -> bool:
    """Whether a text can be sent as one line: printable ASCII, and not too long."""
    return text.isascii() and text.isprintable() and len(text) <= MAX_BOT_LINE


class LineBuffer:
    """Cuts a stream of bytes into lines and never holds more than one line's worth of an unfinished one.

    `feed` yields the complete lines without their line ends. A line over the limit raises `RemoteProtocolError` at
    once, finished or not, but after the lines before it: the result does not depend on how the stream was cut. The
    buffer is unusable after that.
    """

    __slots__ = ("_cap", "partial")

    def __init__(self, cap: int = MAX_BOT_LINE) -> None:
        self._cap = cap
        self.partial = b""
        """The beginning of a line that has not ended."""

    def feed(self, data: bytes) -> Iterable[bytes]:
        if self.partial:
            data = self.partial + data
        lines = data.split(b"\n")
        self.partial = lines.pop()
        return lines if len(data) <= self._cap else self._checked(lines)

    def _checked(self, lines: list[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._check(line)
            yield line
        self._check(self.partial)

    def _check(self, line: bytes) -> None:
        # One byte more than the cap is let through while it may still turn out to be the `\r` of a line end.
        if len(line) > self._cap and (len(line) > self._cap + 1 or not line.endswith(b"\r")):
            self.partial = b""
            raise RemoteProtocolError(
                f"a line of more than {self._cap} bytes, the longest allowed; it began with {excerpt(line)}",
                Slip.TOO_LONG,
            )


def excerpt(data: bytes, length: int = 60) -> str:
    """Return the first `length` bytes from a bot, quoted, with all but plain ASCII escaped."""
    text = data[:length].decode("latin-1").encode("unicode_escape").decode("ascii")
    return f"'{text}...'" if len(data) > length else f"'{text}'"


def cut(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "..."
