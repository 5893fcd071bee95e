"""Which hint a fault gets."""

from arena.game.faults import Cause, Hint, Malformed, Mistake
from arena.game.hints import ProgramLanguage, Seen
from protocol.seats import Reason


def diagnose(seen: Seen) -> Hint | None:
    """Return the hint for a fault, or None if there is no advice beyond the fault's own words."""
    from arena.game.hints.answers import silent, wrong_line
    from arena.game.hints.ended import ended  # a league without faults does not load these

    fault = seen.fault
    of_game: Hint | None = seen.kind.hint(seen) if seen.kind is not None else None
    if of_game is not None:
        return of_game
    match fault.cause:
        case Malformed(slip, line):
            return wrong_line(seen, slip, line)
        case Cause.MEMORY | Cause.PROCESSES | Cause.PONDERING as cause:
            return _over_limit(seen, cause)
    if fault.reason in (Reason.OVER_LIMIT, Reason.ILLEGAL_ACTION, Reason.ILLEGAL_SETUP):
        return None
    return ended(seen) if seen.has_ended else silent(seen)


def _over_limit(seen: Seen, cause: Cause) -> Hint:
    if cause is Cause.MEMORY:
        by_language = {
            ProgramLanguage.JAVA: "give the JVM a limit below the host's, such as java -Xmx256m",
            ProgramLanguage.JAVASCRIPT: "node --max-old-space-size=256 keeps its heap below the host's limit",
        }
        words = by_language.get(seen.language, "make tables and caches smaller; all its processes count together")
        return Hint(Mistake.TOO_MUCH_MEMORY, f"{words} (--memory is the limit)")
    if cause is Cause.PROCESSES:
        words = "thread pools often have a thread for each CPU: set their size yourself (--processes is the limit)"
        return Hint(Mistake.TOO_MANY_PROCESSES, words)
    return Hint(Mistake.PONDERED, "pondering is off: it may not run between its move and its next turn")
