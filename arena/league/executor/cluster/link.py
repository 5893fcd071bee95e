"""What is known of the connection to the scheduler, and what the user is told of it."""

from arena.league.executor.cluster.messages import Connected, Disconnected, Mute, Speaks
from arena.league.executor.cluster.plan import seconds_text
from arena.printable import printable


class Link:
    """The connection to the scheduler of this name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._was_connected = False
        self.is_connected = False
        self._is_mute = False
        """Whether the scheduler does not answer just now."""

    @property
    def is_reachable(self) -> bool:
        """Whether workers can be heard of."""
        return self.is_connected and not self._is_mute

    def note(self, message: Connected | Mute | Speaks | Disconnected) -> str:
        """The gate has told something of it; returns what the user is to be told, if anything."""
        scheduler = f"the scheduler at {self._name}"
        match message:
            case Connected():
                line = f"{scheduler} is there again" if self._was_connected else ""
                self.is_connected = self._was_connected = True
                self._is_mute = False
                return line
            case Mute(seconds, why):
                self._is_mute = True
                cause = f" ({printable(why, 300)})" if why else ""
                return f"{scheduler} does not answer{cause}: it is waited for, at most {seconds_text(seconds)}"
            case Speaks():
                self._is_mute = False
                return f"{scheduler} answers again"
            case Disconnected(seconds):
                self.is_connected = False
                return f"{scheduler} is lost: for {seconds_text(seconds)} it is tried to reach it again"
