"""Whether a line of a bot answers what it was asked last, or began before it was asked.

A request counts as put to the bot only once it has been written: an answer that comes
before is none, nor is one whose line has begun before. Without that it would be chance whether a second answer, which a
program may write in two parts, is taken for that to the next turn.
"""

from protocol.conversation import UNASKED, Phase


class Asking:
    """The requests of one connection: each `made` when it is put into words, `put` when it is written."""

    __slots__ = ("_is_early", "is_pending")

    def __init__(self) -> None:
        self.is_pending = False
        """Whether the bot has not been written yet what it is asked in this phase."""
        self._is_early = False
        """Whether the line that has not ended yet began before the bot was asked."""

    def made(self) -> None:
        """There is a request that has not been written."""
        self.is_pending = True

    def put(self, unfinished: bytes) -> None:
        """It is being written now; `unfinished` is what has come of a line that has not ended."""
        if self.is_pending:
            self.is_pending, self._is_early = False, bool(unfinished)

    def phase_of_line(self, phase: Phase) -> Phase:
        """The phase that the next line to end counts as of, in a conversation that has come to `phase`."""
        is_early, self._is_early = self._is_early, False
        return UNASKED.get(phase, phase) if self.is_pending or is_early else phase
