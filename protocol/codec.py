"""The arena's side of the protocol, version 1: decoding the bots' messages and encoding the arena's.

Lines of printable ASCII, ended by a newline; fields separated by single spaces; the first field is the verb.
`docs/protocol.md` is the specification. There is no input or output here: bytes in, messages out, and the reverse.

`decode_from_bot` is strict and says what it expected: any bytes either parse or raise `RemoteProtocolError`. The bot's
side, `protocol.bot_codec`, is lenient.
"""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from protocol.lines import MAX_BOT_LINE, LocalProtocolError, RemoteProtocolError, Slip, cut, excerpt
from protocol.messages import (
    Ability,
    ArenaMessage,
    Author,
    Battle,
    Board,
    BotMessage,
    Cannot,
    Clock,
    End,
    Enemy,
    Error,
    Game,
    Guess,
    Hello,
    Legal,
    Move,
    Moved,
    Name,
    Note,
    Opponent,
    Quit,
    Ready,
    Rescued,
    Restore,
    Reveal,
    Rule,
    Seed,
    Setup,
    SetupRequest,
    Turn,
    Want,
    Wants,
)
from protocol.notation import BOARD_SIZE, EMPTY, RANK_LETTERS, RESIGN, SETUP_ROWS, SQUARE_PATTERN

_Word = TypeVar("_Word", Want, Ability)

HIDDEN = "?"
"""A hidden rank in a `battle` line."""


# --- reading what a bot sends -------------------------------------------------------------------------------------

_PRINTABLE = re.compile(rb"[ -~]*\Z")
_SQUARE, _RANK = SQUARE_PATTERN, f"[{RANK_LETTERS}]"
_ACTION = re.compile(rf"{RESIGN}|{_SQUARE}(?:-{_SQUARE}){{1,2}}(?:\+{_RANK}{_SQUARE})?|{_SQUARE}\?{_SQUARE}{_RANK}")
SETUP_ROW_PATTERN = re.compile(rf"[{EMPTY}{RANK_LETTERS}]{{{BOARD_SIZE}}}")


def is_action(text: str) -> bool:
    """Whether `text` has the form of an action, legal or not."""
    return _ACTION.fullmatch(text) is not None


def decode_from_bot(line: bytes) -> BotMessage | None:
    """Decode one line from a bot (without its newline); None for an empty line or a comment.

    Raises `RemoteProtocolError` for anything else that is not a well-formed message.
    """
    known = _PLAIN_MOVES.get(line)
    if known is not None:
        return known
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
    except RemoteProtocolError as error:
        error.line = text
        raise
    if isinstance(message, Move) and _PLAIN_MOVE.fullmatch(message.action):
        _PLAIN_MOVES[line] = message
        PLAIN_MOVE_LINES[line + b"\n"] = message.action
    return message


_PLAIN_MOVE = re.compile(rf"{_SQUARE}-{_SQUARE}")
_PLAIN_MOVES: dict[bytes, Move] = {}
"""Cache of plain moves by line: nearly all that a bot sends, limited by the pairs of squares."""

PLAIN_MOVE_LINES: dict[bytes, str] = {}
"""The actions of the cached moves, by their line with its newline, to look up all output of a bot."""


def _parse_wants(rest: str) -> Wants:
    return Wants(_words("want", Want, rest))


def _parse_cannot(rest: str) -> Cannot:
    return Cannot(_words("cannot", Ability, rest))


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


def _parse_ready(rest: str) -> Ready:
    if rest:
        raise RemoteProtocolError(f"expected 'ready' alone, got 'ready {cut(rest)}'")
    return Ready()


def _parse_setup(rest: str) -> Setup:
    rows = tuple(rest.split("/"))
    if len(rows) != SETUP_ROWS or not all(SETUP_ROW_PATTERN.fullmatch(row) for row in rows):
        raise RemoteProtocolError(
            "expected 'setup' and four rows of ten piece letters or dots, own back row first, separated by '/', "
            f"got 'setup {cut(rest)}'"
        )
    return Setup(rows)


def _parse_move(rest: str) -> Move:
    if not is_action(rest):
        raise RemoteProtocolError(f"expected 'move' and one action such as a4-a5, got 'move {cut(rest)}'")
    return Move(rest)


_FROM_BOT: dict[str, Callable[[str], BotMessage]] = {
    "name": Name,
    "author": Author,
    "want": _parse_wants,
    "cannot": _parse_cannot,
    "ready": _parse_ready,
    "setup": _parse_setup,
    "move": _parse_move,
    "note": Note,
}


# --- writing to a bot ---------------------------------------------------------------------------------------------


def legal_lines(actions: tuple[str, ...]) -> Iterator[Legal]:
    """Yield as few `legal` messages as possible that list these actions."""
    first = 0
    length = len("legal")
    for index, action in enumerate(actions):
        length += 1 + len(action)
        if length > MAX_BOT_LINE:
            yield Legal(actions[first:index])
            first, length = index, len("legal ") + len(action)
    yield Legal(actions[first:])


def encode_for_bot(message: ArenaMessage) -> bytes:
    """Encode a message to a bot as one line with its newline.

    Raises `LocalProtocolError` for text that is not allowed on a line or too long.
    """
    if isinstance(message, Moved):
        known = MOVED_LINES[message.color].get(message.action)
        if known is not None:
            return known
    line = _FOR_BOT[type(message)](message)
    if not (line.isascii() and line.isprintable()):
        raise LocalProtocolError(f"not printable ASCII: {line!r}")
    if len(line) > MAX_BOT_LINE:
        raise LocalProtocolError(f"a line of {len(line)} bytes, expected at most {MAX_BOT_LINE}: {cut(line)!r}")
    data = line.encode("ascii") + b"\n"
    if isinstance(message, Moved) and _PLAIN_MOVE.fullmatch(message.action):
        MOVED_LINES[message.color][message.action] = data
    return data


MOVED_LINES: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
"""Cache of encoded lines, by colour and action: each is sent to two bots and repeats often."""


def _write_clock(message: Clock) -> str:
    parts = [("setup", message.setup_ms), ("move", message.move_ms)]
    parts += [("bank", message.bank_ms), ("increment", message.increment_ms)]
    return "clock " + " ".join(f"{name} {value}" for name, value in parts if value is not None)


def _write_turn(message: Turn) -> str:
    line = f"turn {message.ply} {message.own_ms} {message.enemy_ms}"
    if message.own_bank_ms is None:
        return line
    return f"{line} {message.own_bank_ms} {message.enemy_bank_ms}"


def _write_battle(message: Battle) -> str:
    defender = HIDDEN if message.defender is None else message.defender.letter
    return f"battle {message.square} {message.attacker.letter} {defender} {message.survivor.value}"


_FOR_BOT: dict[type, Callable[..., str]] = {
    Hello: lambda m: f"hello {m.version}",
    Game: lambda m: f"game {m.color.word} {m.variant}",
    Rule: lambda m: f"rule {m.name} {m.value}",
    Clock: _write_clock,
    Seed: lambda m: f"seed {m.value}",
    Opponent: lambda m: f"opponent {m.name}",
    SetupRequest: lambda m: "setup",
    Restore: lambda m: "restore " + "/".join(m.rows),
    Enemy: lambda m: " ".join(("enemy", *m.squares)),
    Board: lambda m: " ".join(("board", *m.cells)),
    Legal: lambda m: " ".join(("legal", *m.actions)),
    Turn: _write_turn,
    Moved: lambda m: f"moved {m.color.word} {m.action}",
    Battle: _write_battle,
    Reveal: lambda m: f"reveal {m.square} {m.rank.letter}",
    Rescued: lambda m: f"rescued {m.color.word} {m.square} {m.rank.letter}",
    Guess: lambda m: f"guess {m.square} {m.rank.letter} {'right' if m.right else 'wrong'}",
    Error: lambda m: f"error {m.text}",
    End: lambda m: f"end {m.result.value} {m.reason.value}",
    Quit: lambda m: "quit",
}
