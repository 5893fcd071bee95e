"""Mistakes in the program of a game: they are found where its methods are called, and no bot loses by them."""

import functools
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import cast

from arena.errors import ArenaError
from protocol.lines import MAX_BOT_LINE, RemoteProtocolError, is_line
from protocol.seats import Color, Outcome, Reason


class GameMistakeError(ArenaError):
    """A mistake in the program of a game, which is its author's and no bot's. `text` says where it happened."""

    def __init__(self, text: str) -> None:
        super().__init__(f"a mistake in the game: {text}")


def mistake_at(place: traceback.FrameSummary, function: str, error: BaseException) -> GameMistakeError:
    """Return the error for an exception that a function of a game raised at this place."""
    words = f"{type(error).__name__}: {error}"
    return GameMistakeError(f"{function} raised {words:.300} ({place.filename}, line {place.lineno})")


CONVERSATION = frozenset(
    ["hello", "game", "rule", "clock", "seed", "opponent", "setup", "restore", "legal", "turn", "error", "end", "quit"]
)
"""Verbs that a game's own lines may not have: bots know their meaning."""


def is_game_line(line: object) -> bool:
    """Whether a game may send this line: printable ASCII, not too long, and no line of the arena's own."""
    return isinstance(line, str) and is_line(line) and line.partition(" ")[0] not in CONVERSATION


def _is_list(found: object) -> bool:
    return isinstance(found, Sequence) and not isinstance(found, str)


def _are_lines(found: object) -> bool:
    return _is_list(found) and all(map(is_game_line, cast("Sequence[object]", found)))


def is_outcome(found: object) -> bool:
    return (
        isinstance(found, Outcome)
        and isinstance(found.reason, Reason)
        and (found.winner is None or isinstance(found.winner, Color))
    )


LONGEST_ACTION = MAX_BOT_LINE - len("legal ")


def _are_actions(found: object) -> bool:
    if not _is_list(found):
        return found is None
    actions = cast("Sequence[str]", found)
    try:
        text = " ".join(actions)
    except TypeError:
        return False
    are_short = len(text) <= LONGEST_ACTION or max(map(len, actions)) <= LONGEST_ACTION
    return are_short and text.isascii() and text.isprintable() and text.split() == list(actions)


def _are_rules(found: object) -> bool:
    return _is_list(found) and all(
        isinstance(rule, tuple) and len(rule) == 2 and all(isinstance(text, str) for text in rule)
        for rule in cast("Sequence[object]", found)
    )


def _is_told(found: object) -> bool:
    return isinstance(found, tuple) and len(found) == 2 and all(map(_are_lines, found))


def _is_text(found: object) -> bool:
    return isinstance(found, str)


RESULTS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "act": (_is_told, "lists of printable lines for Red and for Blue, none of them one of the arena's own"),
    "first_lines": (_are_lines, "printable lines, none of them one of the arena's own"),
    "legal_actions": (_are_actions, f"actions, each one printable word of up to {LONGEST_ACTION:,} bytes, or None"),
    "board_line": (lambda found: found is None or is_game_line(found), "a printable line, or None"),
    "text": (_is_text, "a text"),
    "svg": (lambda found: found is None or isinstance(found, str), "a text, or None"),
    "copy": (lambda found: hasattr(found, "act"), "a State"),
    "start": (lambda found: hasattr(found, "act"), "a State"),
    "variant_names": (
        lambda found: _is_list(found) and bool(found) and all(map(_is_text, cast("Sequence[object]", found))),
        "a list or tuple of names",
    ),
    "rules_of": (_are_rules, "pairs of a name and a value, both of them texts"),
    "first_seat": (lambda found: isinstance(found, Color), "a Color"),
    "rules_in_words": (_is_text, "a text"),
    "random_setup": (_is_text, "a text"),
    "policy": (_is_text, "a text"),
}
"""By method of a game's program: a test of its result, and the expected result in words."""


def guard(cls: type, seam: type) -> None:
    """Let the methods of a game's program that the arena calls, those of `seam`, raise `GameMistakeError`.

    Games that come with the arena are left as they are: a mistake in one of them is a fault of the arena.
    """
    if cls.__module__.startswith("arena."):
        return
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and isinstance(method, FunctionType) and hasattr(seam, name):
            setattr(cls, name, _guarded(name, method))


def _guarded(name: str, method: FunctionType) -> Callable[..., object]:
    """Wrap a method of a game's program.

    It raises `GameMistakeError` for a result of a wrong type, and for an exception that is no answer of its own, with
    the line that raised it.
    """
    is_right, expected = RESULTS.get(name, (None, ""))
    answers = (GameMistakeError, RemoteProtocolError if name.endswith("_form") else ArenaError)
    code = method.__code__

    @functools.wraps(method)
    def guarded(*arguments: object, **named: object) -> object:
        try:
            found = method(*arguments, **named)
        except answers:
            raise
        except (Exception, SystemExit) as error:
            raise mistake_at(traceback.extract_tb(error.__traceback__)[-1], name, error) from error
        if is_right and not is_right(found):
            raise GameMistakeError(
                f"{name} ({code.co_filename}, line {code.co_firstlineno}) returned {found!r:.200}: expected {expected}"
            )
        return found

    return guarded
