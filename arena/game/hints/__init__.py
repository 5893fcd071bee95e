"""What a bot's author probably did wrong, and what to do about it: a hint for each fault. Pure.

The referee says what came and what it had expected (`arena.game.faults`). A hint goes further and may be wrong, so
it is marked as one: it is worked out from what could be seen of the bot (`Seen`) when its fault was found. `diagnose`
is the only way in; `arena.play.runner` asks it for the verdicts of leagues, `arena.check` for its checklist.
"""

from typing import TYPE_CHECKING

from arena.game.hints.values import Activity, Hint, Language, Mistake, Probe, Seen, Turn
from arena.game.hints.words import DEBUG, FLUSH
from protocol.notation import Reason

if TYPE_CHECKING:
    from arena.game.faults import Fault

__all__ = ["DEBUG", "FLUSH", "Activity", "Hint", "Language", "Mistake", "Probe", "Seen", "Turn", "diagnose", "hinted"]

MARK = "; hint: "
"""What stands between a fault and its hint where both are told in one line."""
LONGEST_HINT = 300
"""Characters of a hint in a record."""

_BY_SILENCE = frozenset({Reason.TIMEOUT, Reason.SETUP_TIMEOUT})


def diagnose(seen: Seen) -> Hint | None:
    """What probably lies behind a fault; None where there is nothing to say beyond the fault's own words."""
    from arena.game.hints.actions import illegal_action  # these need the engine, which a league without faults does not
    from arena.game.hints.crashes import ended
    from arena.game.hints.lines import wrong_line
    from arena.game.hints.silence import silent

    reason = seen.fault.reason
    if reason is Reason.OVER_LIMIT:
        return _over_limit(seen)
    if reason is Reason.ILLEGAL_ACTION:
        return illegal_action(seen)
    if reason is Reason.ILLEGAL_SETUP or (reason is Reason.PROTOCOL and not seen.has_ended):
        return wrong_line(seen)
    if reason in _BY_SILENCE or (reason is Reason.NO_START and not seen.has_ended):
        return silent(seen)
    return ended(seen)


def hinted(fault: "Fault", hint: Hint | None) -> "Fault":
    """The fault with its hint, as it goes into records and to the bot; both are printable by then, and short."""
    return fault._replace(text=fault.text + MARK + hint.text[:LONGEST_HINT]) if hint else fault


def _over_limit(seen: Seen) -> Hint:
    text = seen.fault.text
    if "memory" in text:
        by_language = {
            Language.JAVA: "give the JVM a limit below the host's, such as java -Xmx256m",
            Language.JAVASCRIPT: "node --max-old-space-size=256 keeps its heap below the host's limit",
        }
        words = by_language.get(seen.language, "make tables and caches smaller; all its processes count together")
        return Hint(Mistake.TOO_MUCH_MEMORY, f"{words} (--memory is the limit)")
    if "processes" in text:
        words = "thread pools often have a thread for each CPU: set their size yourself (--processes is the limit)"
        return Hint(Mistake.TOO_MANY_PROCESSES, words)
    return Hint(Mistake.PONDERED, "pondering is off: nothing of it may run between its move and its next turn")
