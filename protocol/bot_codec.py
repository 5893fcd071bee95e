"""The bot's side of the protocol: encoding the bot's messages and decoding the arena's.

It is lenient where the arena (`protocol.codec`) is strict: unknown verbs and trailing fields are ignored, so that
version 1 can grow.
"""

from collections.abc import Callable

from protocol import messages
from protocol.actions import SETUP_ROW_PATTERN, STRATEGO_FORMS
from protocol.codec import HIDDEN, Forms, decode_from_bot
from protocol.lines import LocalProtocolError, RemoteProtocolError, excerpt
from protocol.messages import ArenaMessage, BotMessage
from protocol.notation import (
    COLOR_BY_WORD,
    RANK_BY_LETTER,
    SETUP_ROWS,
    SQUARE_INDEX,
    Rank,
    Reason,
    SeatResult,
    Survivor,
)


def encode_from_bot(message: BotMessage, forms: Forms = STRATEGO_FORMS) -> bytes:
    """Encode a message from a bot as one line with its newline. Raises `LocalProtocolError` for a message that would be
    refused.
    """
    match message:
        case messages.Name(text) | messages.Author(text) | messages.Note(text):
            line = f"{type(message).__name__.lower()} {text}"
        case messages.Wants(wants):
            line = " ".join(("want", *(want.value for want in wants)))
        case messages.Cannot(abilities):
            line = " ".join(("cannot", *(ability.value for ability in abilities)))
        case messages.Ready():
            line = "ready"
        case messages.Setup(rows):
            line = "setup " + "/".join(rows)
        case messages.Move(action):
            line = f"move {action}"
    data = line.encode("ascii", "backslashreplace")
    if (ended := data + b"\n") in forms.plain_moves:
        return ended
    try:
        if repr(decode_from_bot(data, forms)) != repr(message):
            raise LocalProtocolError(f"expected one line of printable ASCII, got {line!a:.200}")
    except RemoteProtocolError as error:
        raise LocalProtocolError(str(error)) from None
    return ended


def decode_for_bot(line: bytes) -> ArenaMessage | None:
    """Decode one line from the arena; None for an unknown verb, an empty line, or a comment.

    Unknown trailing fields are ignored. Raises `RemoteProtocolError` if a known verb's own fields are wrong.
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


def _read_clock(fields: list[str]) -> messages.Clock:
    values = dict(zip(fields[::2], fields[1::2], strict=False))
    parts = (values.get(name) for name in ("move", "bank", "increment"))
    return messages.Clock(_number(values["setup"]), *(None if part is None else _number(part) for part in parts))


def _read_turn(fields: list[str]) -> messages.Turn:
    ply, own, enemy = (_number(field) for field in fields[:3])
    banks = [_number(field) for field in fields[3:5] if field.isdecimal()]
    own_bank, enemy_bank = banks if len(banks) == 2 else (None, None)
    return messages.Turn(ply, own, enemy, own_bank, enemy_bank)


def _read_restore(fields: list[str]) -> messages.Restore:
    rows = tuple(fields[0].split("/"))
    if len(rows) != SETUP_ROWS or not all(SETUP_ROW_PATTERN.fullmatch(row) for row in rows):
        raise ValueError("not a set-up")
    return messages.Restore(rows)


def _read_board(fields: list[str]) -> messages.BoardLine:
    if len(fields) < len(SQUARE_INDEX):
        raise ValueError("too few cells")
    return messages.BoardLine(tuple(fields[: len(SQUARE_INDEX)]))


def _read_battle(fields: list[str]) -> messages.Battle:
    defender: Rank | None = None if fields[2] == HIDDEN else RANK_BY_LETTER[fields[2]]
    return messages.Battle(_squares(fields[:1])[0], RANK_BY_LETTER[fields[1]], defender, Survivor(fields[3]))


_FOR_BOT_PARSERS: dict[str, Callable[[list[str]], ArenaMessage]] = {
    "hello": lambda f: messages.Hello(_number(f[0])),
    "game": lambda f: messages.GameLine(COLOR_BY_WORD[f[0]], f[1]),
    "rule": lambda f: messages.Rule(f[0], " ".join(f[1:])),
    "clock": _read_clock,
    "seed": lambda f: messages.Seed(_number(f[0])),
    "opponent": lambda f: messages.Opponent(" ".join(f)),
    "setup": lambda f: messages.SetupRequest(),
    "restore": _read_restore,
    "enemy": lambda f: messages.Enemy(_squares(f)),
    "board": _read_board,
    "legal": lambda f: messages.Legal(tuple(f)),
    "turn": _read_turn,
    "moved": lambda f: messages.Moved(COLOR_BY_WORD[f[0]], f[1]),
    "battle": _read_battle,
    "reveal": lambda f: messages.Reveal(_squares(f[:1])[0], RANK_BY_LETTER[f[1]]),
    "rescued": lambda f: messages.Rescued(COLOR_BY_WORD[f[0]], _squares(f[1:2])[0], RANK_BY_LETTER[f[2]]),
    "guess": lambda f: messages.Guess(_squares(f[:1])[0], RANK_BY_LETTER[f[1]], {"right": True, "wrong": False}[f[2]]),
    "error": lambda f: messages.Error(" ".join(f)),
    "end": lambda f: messages.End(SeatResult(f[0]), Reason(f[1])),
    "quit": lambda f: messages.Quit(),
}
