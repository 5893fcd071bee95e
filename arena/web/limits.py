"""How much a server takes from strangers: connections, bytes and seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one server. Times are in seconds, sizes in bytes.

    `connections` are open at once, of which `viewers` may wait for events; one more is told to come back later.
    `head_seconds` is how long a request may take to arrive up to its blank line, and how long a connection may be idle;
    `body_seconds` and `body_bytes` are for what follows it. An answer that makes no way for `stall_seconds`, which is
    to say that the other side has not taken `piece_bytes` in that time, is given up, and the connection with it.
    `answer_seconds` is how long a page may take to be made. `queue_bytes` are kept for a viewer who does not keep up,
    `send_buffer` by the kernel for each connection.
    """

    connections: int = 600
    viewers: int = 500
    head_seconds: float = 10.0
    head_bytes: int = 16 * 1024
    body_seconds: float = 10.0
    body_bytes: int = 64 * 1024
    answer_seconds: float = 60.0
    stall_seconds: float = 20.0
    piece_bytes: int = 64 * 1024
    queue_bytes: int = 64 * 1024
    send_buffer: int = 128 * 1024
    keep_alive_seconds: float = 15.0
    retry_seconds: int = 5


LIMITS = Limits()
