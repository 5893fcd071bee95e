"""The arena's side of the protocol, version 1: decoding the bots' messages and encoding the arena's.

Lines of printable ASCII, ended by a newline; fields separated by single spaces; the first field is the verb.
`docs/protocol.md` is the specification. There is no input or output here: bytes in, messages out, and the reverse. What
an action and a set-up look like is known by each game: its `Forms`.

`decode_from_bot` is strict and says what it expected: any bytes either parse or raise `RemoteProtocolError`. The bot's
side, `protocol.bot_codec`, is lenient.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Protocol, TypeVar

from protocol import messages
from protocol.lines import MAX_BOT_LINE, LocalProtocolError, RemoteProtocolError, Slip, cut, excerpt
from protocol.messages import Ability, ArenaMessage, BotMessage, Want
from protocol.seats import RESIGN

_Word = TypeVar("_Word", Want, Ability)

HIDDEN = "?"
"""A hidden rank in a `battle` line."""


# --- reading what a bot sends -------------------------------------------------------------------------------------


class Forms(Protocol):
    """The form of the answers of one game: what a set-up and an action look like, whether the rules allow them or not.

    Each method raises `RemoteProtocolError` for a text of another form.
    """

    plain_moves: dict[bytes, str]
    """Actions whose form was checked, by their whole line with its newline. Only a bounded number of actions may be
    kept here: those that nearly all lines have."""

    def check_setup_form(self, text: str) -> None: ...
    def check_move_form(self, text: str) -> None: ...


_PRINTABLE = re.compile(rb"[ -~]*\Z")


def decode_from_bot(line: bytes, forms: Forms) -> BotMessage | None:
    """Decode one line from a bot (without its newline); None for an empty line or a comment.

    Raises `RemoteProtocolError` for anything else that is not a well-formed message of this game.
    """
    if line.endswith(b"\r"):
        line = line[:-1]
    if len(line) > MAX_BOT_LINE:
        raise RemoteProtocolError(f"a line of {len(line)} bytes, expected at most {MAX_BOT_LINE}", Slip.TOO_LONG)
    if not _PRINTABLE.match(line):
        raise RemoteProtocolError(f"expected printable ASCII characters, got {excerpt(line)}", Slip.NOT_ASCII)
    if not line or line.startswith(b"#"):
        return None
    text = line.decode("ascii")
    verb, _, rest = text.partition(" ")
    parse = _FROM_BOT.get(verb)
    if parse is None:
        expected = f"expected one of {', '.join(_FROM_BOT)}, got {excerpt(line)}"
        raise RemoteProtocolError(expected, Slip.UNKNOWN_VERB, text)
    if line == b"ready ":  # for the others, a space at the end belongs to a field, and is refused or kept with it
        raise RemoteProtocolError("expected 'ready' alone, got 'ready '", Slip.FIELDS, text)
    try:
        message = parse(rest)
        if isinstance(message, messages.Move) and rest != RESIGN:
            forms.check_move_form(rest)
        elif isinstance(message, messages.Setup):
            forms.check_setup_form(rest)
    except RemoteProtocolError as error:
        error.line = text
        raise
    return message


def _words(verb: str, kind: type[_Word], rest: str) -> tuple[_Word, ...]:
    words = []
    for field in rest.split(" "):
        try:
            words.append(kind(field))
        except ValueError:
            known = ", ".join(word.value for word in kind)
            got = repr(cut(field)) + (
                "" if field else f" in {cut(f'{verb} {rest}')!r}"
            )  # a space too many is hard to see
            raise RemoteProtocolError(f"expected '{verb}' and one or more of {known}, got {got}") from None
    return tuple(words)


def _parse_ready(rest: str) -> messages.Ready:
    if rest:
        raise RemoteProtocolError(f"expected 'ready' alone, got 'ready {cut(rest)}'")
    return messages.Ready()


_FROM_BOT: dict[str, Callable[[str], BotMessage]] = {
    "name": messages.Name,
    "author": messages.Author,
    "want": lambda rest: messages.Wants(_words("want", Want, rest)),
    "cannot": lambda rest: messages.Cannot(_words("cannot", Ability, rest)),
    "ready": _parse_ready,
    "setup": lambda rest: messages.Setup(tuple(rest.split("/"))),
    "move": messages.Move,
    "note": messages.Note,
}


# --- writing to a bot ---------------------------------------------------------------------------------------------


def legal_lines(actions: tuple[str, ...]) -> Iterator[messages.Legal]:
    """Yield as few `legal` messages as possible that list these actions."""
    first = 0
    length = len("legal")
    for index, action in enumerate(actions):
        length += 1 + len(action)
        if length > MAX_BOT_LINE:
            yield messages.Legal(actions[first:index])
            first, length = index, len("legal ") + len(action)
    yield messages.Legal(actions[first:])


def encode_for_bot(message: ArenaMessage) -> bytes:
    """Encode a message to a bot as one line with its newline.

    Raises `LocalProtocolError` for text that is not allowed on a line or too long.
    """
    return encode_line(_FOR_BOT[type(message)](message))


def encode_line(line: str) -> bytes:
    """Encode a line to a bot. Raises `LocalProtocolError` for text that is not allowed on a line or too long."""
    if not (line.isascii() and line.isprintable()):
        raise LocalProtocolError(f"not printable ASCII: {line!r}")
    if len(line) > MAX_BOT_LINE:
        raise LocalProtocolError(f"a line of {len(line)} bytes, expected at most {MAX_BOT_LINE}: {cut(line)!r}")
    return line.encode("ascii") + b"\n"


@lru_cache(maxsize=16384)
def encode_lines(lines: tuple[str, ...]) -> bytes:
    """Encode lines of a game to a bot. Cached, as most are sent to two bots and repeat often."""
    return b"".join(map(encode_line, lines))


def _write_clock(message: messages.Clock) -> str:
    parts = [("setup", message.setup_ms), ("move", message.move_ms)]
    parts += [("bank", message.bank_ms), ("increment", message.increment_ms)]
    return "clock " + " ".join(f"{name} {value}" for name, value in parts if value is not None)


def _write_turn(message: messages.Turn) -> str:
    line = f"turn {message.ply} {message.own_ms} {message.enemy_ms}"
    if message.own_bank_ms is None:
        return line
    return f"{line} {message.own_bank_ms} {message.enemy_bank_ms}"


def _write_battle(message: messages.Battle) -> str:
    defender = HIDDEN if message.defender is None else message.defender.letter
    return f"battle {message.square} {message.attacker.letter} {defender} {message.survivor.value}"


_FOR_BOT: dict[type, Callable[..., str]] = {
    messages.Hello: lambda m: f"hello {m.version}",
    messages.GameLine: lambda m: f"game {m.color.word} {m.variant}",
    messages.Rule: lambda m: f"rule {m.name} {m.value}",
    messages.Clock: _write_clock,
    messages.Seed: lambda m: f"seed {m.value}",
    messages.Opponent: lambda m: f"opponent {m.name}",
    messages.SetupRequest: lambda m: "setup",
    messages.Restore: lambda m: "restore " + "/".join(m.rows),
    messages.Enemy: lambda m: " ".join(("enemy", *m.squares)),
    messages.BoardLine: lambda m: " ".join(("board", *m.cells)),
    messages.Legal: lambda m: " ".join(("legal", *m.actions)),
    messages.Turn: _write_turn,
    messages.Moved: lambda m: f"moved {m.color.word} {m.action}",
    messages.Battle: _write_battle,
    messages.Reveal: lambda m: f"reveal {m.square} {m.rank.letter}",
    messages.Rescued: lambda m: f"rescued {m.color.word} {m.square} {m.rank.letter}",
    messages.Guess: lambda m: f"guess {m.square} {m.rank.letter} {'right' if m.right else 'wrong'}",
    messages.Error: lambda m: f"error {m.text}",
    messages.End: lambda m: f"end {m.result.value} {m.reason.value}",
    messages.Quit: lambda m: "quit",
}
