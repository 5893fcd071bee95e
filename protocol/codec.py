"""The arena protocol, version 1, as bytes.

Lines of printable ASCII, ended by a newline; fields split by single spaces; the first field is the verb. `docs/
protocol.md` is the normative text. Nothing here reads or writes a file: bytes in, messages out, and the other way.

The two directions differ on purpose. A bot must ignore verbs and trailing fields that it does not know (that is how
version 1 can grow), so `decode_for_bot` is lenient. The arena ignores nothing that it does not understand, so
`decode_from_bot` is strict and says what it expected.

Two errors, after the model of h11: `LocalProtocolError` is our own mistake, `RemoteProtocolError` is the other side's.
The invariant that the fuzz tests hold on to: any bytes either parse or raise `RemoteProtocolError`, nothing else.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from protocol.messages import (
    ArenaMessage,
    Author,
    Battle,
    Board,
    BotMessage,
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
from protocol.notation import (
    BOARD_SIZE,
    COLOR_BY_WORD,
    EMPTY,
    RANK_BY_LETTER,
    RANK_LETTERS,
    SETUP_ROWS,
    SQUARE_INDEX,
    SQUARE_PATTERN,
    Rank,
    Reason,
    Result,
    Survivor,
)

MAX_BOT_LINE = 4096
"""The longest line that either side may send, in bytes, its line end not counted."""

HIDDEN = "?"
"""Stands for a rank that stays hidden in a `battle` line."""


class ProtocolError(Exception):
    """Something that the protocol does not allow."""


class LocalProtocolError(ProtocolError):
    """This side tried to send what cannot be sent: a mistake in our own program."""


class RemoteProtocolError(ProtocolError):
    """The other side sent what the protocol does not allow. The text says what was expected and what came."""


class LineBuffer:
    """Cuts a stream of bytes into lines and never holds more than one line's worth of an unfinished one.

    `feed` gives the lines that are now complete, one after another, without their line ends. A line that grows over the
    cap raises `RemoteProtocolError` as soon as it does, finished or not, but after the lines before it: what comes out
    does not depend on how the stream was cut. The buffer is of no more use after that.
    """

    __slots__ = ("_cap", "_partial")

    def __init__(self, cap: int = MAX_BOT_LINE) -> None:
        self._cap = cap
        self._partial = b""

    @property
    def partial(self) -> bytes:
        """The bytes of the line that has not ended yet."""
        return self._partial

    def feed(self, data: bytes) -> Iterable[bytes]:
        if self._partial:
            data = self._partial + data
        lines = data.split(b"\n")
        self._partial = lines.pop()
        return lines if len(data) <= self._cap else self._checked(lines)

    def _checked(self, lines: list[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._check(line)
            yield line
        self._check(self._partial)

    def _check(self, line: bytes) -> None:
        # One byte more than the cap is let through while it may still turn out to be the `\r` of a line end.
        if len(line) > self._cap and (len(line) > self._cap + 1 or not line.endswith(b"\r")):
            self._partial = b""
            raise RemoteProtocolError(
                f"a line of more than {self._cap} bytes, the longest allowed; it began with {excerpt(line)}"
            )


def excerpt(data: bytes, length: int = 60) -> str:
    """Bytes that came from a bot, made fit to print: the first `length`, quoted, with all but plain ASCII escaped."""
    text = data[:length].decode("latin-1").encode("unicode_escape").decode("ascii")
    return f"'{text}...'" if len(data) > length else f"'{text}'"


# --- reading what a bot sends -------------------------------------------------------------------------------------

_PRINTABLE = re.compile(rb"[ -~]*\Z")
_SQUARE, _RANK = SQUARE_PATTERN, f"[{RANK_LETTERS}]"
_ACTION = re.compile(rf"resign|{_SQUARE}(?:-{_SQUARE}){{1,2}}(?:\+{_RANK}{_SQUARE})?|{_SQUARE}\?{_SQUARE}{_RANK}")
_SETUP_ROW = re.compile(rf"[{EMPTY}{RANK_LETTERS}]{{{BOARD_SIZE}}}")


def is_action(text: str) -> bool:
    """Whether `text` has the form of an action, legal or not."""
    return _ACTION.fullmatch(text) is not None


def decode_from_bot(line: bytes) -> BotMessage | None:
    """One line from a bot (without its newline) as a message; None for an empty line or a comment.

    Raises `RemoteProtocolError` for everything else that is not a well-formed message.
    """
    known = _PLAIN_MOVES.get(line)
    if known is not None:
        return known
    if line.endswith(b"\r"):
        line = line[:-1]
    if len(line) > MAX_BOT_LINE:
        raise RemoteProtocolError(f"a line of {len(line)} bytes, expected at most {MAX_BOT_LINE}")
    if not _PRINTABLE.match(line):
        raise RemoteProtocolError(f"expected printable ASCII characters, got {excerpt(line)}")
    if not line or line.startswith(b"#"):
        return None
    verb, _, rest = line.decode("ascii").partition(" ")
    parse = _FROM_BOT.get(verb)
    if parse is None:
        raise RemoteProtocolError(f"expected one of {', '.join(_FROM_BOT)}, got {excerpt(line)}")
    if line == b"ready ":  # for the others, a space at the end belongs to a field, and is refused or kept with it
        raise RemoteProtocolError("expected 'ready' alone, got 'ready '")
    message = parse(rest)
    if isinstance(message, Move) and _PLAIN_MOVE.fullmatch(message.action):
        _PLAIN_MOVES[line] = message
        PLAIN_MOVE_LINES[line + b"\n"] = message.action
    return message


_PLAIN_MOVE = re.compile(rf"{_SQUARE}-{_SQUARE}")
_PLAIN_MOVES: dict[bytes, Move] = {}
"""Plain moves seen before, by their line: nearly all that a bot sends, and no more than there are pairs of squares."""

PLAIN_MOVE_LINES: dict[bytes, str] = {}
"""The actions of the same moves, by their line with its newline: for a look-up of all that a bot has sent."""


def _parse_wants(rest: str) -> Wants:
    wants = []
    for field in rest.split(" "):
        try:
            wants.append(Want(field))
        except ValueError:
            known = ", ".join(want.value for want in Want)
            raise RemoteProtocolError(f"expected 'want' and one or more of {known}, got {_cut(field)!r}") from None
    return Wants(tuple(wants))


def _parse_ready(rest: str) -> Ready:
    if rest:
        raise RemoteProtocolError(f"expected 'ready' alone, got 'ready {_cut(rest)}'")
    return Ready()


def _parse_setup(rest: str) -> Setup:
    rows = tuple(rest.split("/"))
    if len(rows) != SETUP_ROWS or not all(_SETUP_ROW.fullmatch(row) for row in rows):
        raise RemoteProtocolError(
            "expected 'setup' and four rows of ten piece letters or dots, own back row first, separated by '/', "
            f"got 'setup {_cut(rest)}'"
        )
    return Setup(rows)


def _parse_move(rest: str) -> Move:
    if not is_action(rest):
        raise RemoteProtocolError(f"expected 'move' and one action such as a4-a5, got 'move {_cut(rest)}'")
    return Move(rest)


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "..."


_FROM_BOT: dict[str, Callable[[str], BotMessage]] = {
    "name": Name,
    "author": Author,
    "want": _parse_wants,
    "ready": _parse_ready,
    "setup": _parse_setup,
    "move": _parse_move,
    "note": Note,
}


# --- writing to a bot ---------------------------------------------------------------------------------------------


def legal_lines(actions: tuple[str, ...]) -> Iterator[Legal]:
    """The `legal` messages that list these actions together, as few as there can be if each is to fit a line."""
    first = 0
    length = len("legal")
    for index, action in enumerate(actions):
        length += 1 + len(action)
        if length > MAX_BOT_LINE:
            yield Legal(actions[first:index])
            first, length = index, len("legal ") + len(action)
    yield Legal(actions[first:])


def encode_for_bot(message: ArenaMessage) -> bytes:
    """A message to a bot as one line, newline included.

    Raises `LocalProtocolError` for text that has no place on a line, and for more of it than a line may have.
    """
    if isinstance(message, Moved):
        known = MOVED_LINES[message.color].get(message.action)
        if known is not None:
            return known
    line = _FOR_BOT[type(message)](message)
    if not (line.isascii() and line.isprintable()):
        raise LocalProtocolError(f"not printable ASCII: {line!r}")
    if len(line) > MAX_BOT_LINE:
        raise LocalProtocolError(f"a line of {len(line)} bytes, expected at most {MAX_BOT_LINE}: {_cut(line)!r}")
    data = line.encode("ascii") + b"\n"
    if isinstance(message, Moved) and _PLAIN_MOVE.fullmatch(message.action):
        MOVED_LINES[message.color][message.action] = data
    return data


MOVED_LINES: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
"""Lines written before, by colour and action: each is sent to two bots and comes again and again."""


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


# --- the bot's side -----------------------------------------------------------------------------------------------


def encode_from_bot(message: BotMessage) -> bytes:
    """A message from a bot as one line, newline included. Raises `LocalProtocolError` where it would be refused."""
    match message:
        case Name(text) | Author(text) | Note(text):
            line = f"{type(message).__name__.lower()} {text}"
        case Wants(wants):
            line = " ".join(("want", *(want.value for want in wants)))
        case Ready():
            line = "ready"
        case Setup(rows):
            line = "setup " + "/".join(rows)
        case Move(action):
            line = f"move {action}"
    data = line.encode("ascii", "backslashreplace")
    try:
        if repr(decode_from_bot(data)) != repr(message):
            raise LocalProtocolError(f"cannot be sent in one line: {line!r}")
    except RemoteProtocolError as error:
        raise LocalProtocolError(str(error)) from None
    return data + b"\n"


def decode_for_bot(line: bytes) -> ArenaMessage | None:
    """One line from the arena as a message; None for a verb that this version does not know, an empty line, a comment.

    Trailing fields that are not known are ignored. Raises `RemoteProtocolError` if a known verb's own fields are wrong.
    """
    fields = line.decode("ascii", "replace").rstrip("\r\n").split(" ")
    parse = _FOR_BOT_PARSERS.get(fields[0])
    if parse is None:
        return None
    try:
        return parse(fields[1:])
    except (KeyError, ValueError, IndexError):
        raise RemoteProtocolError(f"cannot make sense of the line {excerpt(line)}") from None


def _squares(fields: list[str]) -> tuple[str, ...]:
    for field in fields:
        SQUARE_INDEX[field]
    return tuple(fields)


def _number(field: str) -> int:
    if not field.isdecimal():  # `int` takes signs, spaces and underscores too
        raise ValueError("not a number")
    return int(field)


def _read_clock(fields: list[str]) -> Clock:
    values = dict(zip(fields[::2], fields[1::2], strict=False))
    parts = (values.get(name) for name in ("move", "bank", "increment"))
    return Clock(_number(values["setup"]), *(None if part is None else _number(part) for part in parts))


def _read_turn(fields: list[str]) -> Turn:
    ply, own, enemy = (_number(field) for field in fields[:3])
    banks = [_number(field) for field in fields[3:5] if field.isdecimal()]
    own_bank, enemy_bank = banks if len(banks) == 2 else (None, None)
    return Turn(ply, own, enemy, own_bank, enemy_bank)


def _read_restore(fields: list[str]) -> Restore:
    rows = tuple(fields[0].split("/"))
    if len(rows) != SETUP_ROWS or not all(_SETUP_ROW.fullmatch(row) for row in rows):
        raise ValueError("not a set-up")
    return Restore(rows)


def _read_board(fields: list[str]) -> Board:
    if len(fields) < len(SQUARE_INDEX):
        raise ValueError("too few cells")
    return Board(tuple(fields[: len(SQUARE_INDEX)]))


def _read_battle(fields: list[str]) -> Battle:
    defender: Rank | None = None if fields[2] == HIDDEN else RANK_BY_LETTER[fields[2]]
    return Battle(_squares(fields[:1])[0], RANK_BY_LETTER[fields[1]], defender, Survivor(fields[3]))


_FOR_BOT_PARSERS: dict[str, Callable[[list[str]], ArenaMessage]] = {
    "hello": lambda f: Hello(_number(f[0])),
    "game": lambda f: Game(COLOR_BY_WORD[f[0]], f[1]),
    "rule": lambda f: Rule(f[0], " ".join(f[1:])),
    "clock": _read_clock,
    "seed": lambda f: Seed(_number(f[0])),
    "setup": lambda f: SetupRequest(),
    "restore": _read_restore,
    "enemy": lambda f: Enemy(_squares(f)),
    "board": _read_board,
    "legal": lambda f: Legal(tuple(f)),
    "turn": _read_turn,
    "moved": lambda f: Moved(COLOR_BY_WORD[f[0]], f[1]),
    "battle": _read_battle,
    "reveal": lambda f: Reveal(_squares(f[:1])[0], RANK_BY_LETTER[f[1]]),
    "rescued": lambda f: Rescued(COLOR_BY_WORD[f[0]], _squares(f[1:2])[0], RANK_BY_LETTER[f[2]]),
    "guess": lambda f: Guess(_squares(f[:1])[0], RANK_BY_LETTER[f[1]], {"right": True, "wrong": False}[f[2]]),
    "error": lambda f: Error(" ".join(f)),
    "end": lambda f: End(Result(f[0]), Reason(f[1])),
    "quit": lambda f: Quit(),
}
