"""`arena log`: the transcript of a game as text and as JSON. Added lines begin with `#`."""

from collections.abc import Iterable, Iterator

from arena.game.record import GameRecord
from arena.game.transcript import ActionTime, Remark, Speaker, SpokenLine, TranscriptEntry, transcript
from arena.report.game_list import ShownNames, shown_names
from arena.system.terminal_text import to_line
from protocol.seats import Color

PREFIX = 10
STDERR_HAS_NO_TIME = "the end of standard error, which has no times"
HANDSHAKE = (
    "not in the record: in which order a bot introduced itself, and what the",
    "protocol passes over (empty lines, comments)",
)
KEPT = (
    "not in the record: whether the bots went on to the other game of the pair",
    "(--keep-bots); the one that does not is told to quit",
)


def log_text(
    number: int,
    record: GameRecord,
    side: Color | None,
    *,
    names: ShownNames,
    times: bool,
    is_followed: bool,
) -> Iterator[str]:
    """Yield the transcript, line by line. Raises `RecordError` for an impossible record."""
    red, blue = shown_names(record.players, names)
    yield f"# game {number} ({record.id}): red {red} - blue {blue}"
    yield from (f"# {line}" for line in (*HANDSHAKE, *(KEPT if is_followed else ())))
    ply = 0
    for entry in _of_side(transcript(record, is_followed=is_followed), side):
        if entry.ply != ply:
            ply = entry.ply
            yield f"# ply {ply}"
        match entry:
            case SpokenLine(_, color, Speaker.ARENA, text):
                yield f"{'to ' + color.word:<{PREFIX}}{text}"
            case SpokenLine(_, color, _, text):
                yield f"{'from ' + color.word:<{PREFIX}}{text}"
            case Remark(_, color, text):
                yield f"# {color.word + ': ' if color is not None else ''}{text}"
            case ActionTime() if times:
                yield f"# {entry.color.word}: {entry.text}"
    for color in Color if side is None else (side,):
        stderr = record.stderr[color].rstrip()
        if stderr.strip():
            yield f"# {color.word}: {STDERR_HAS_NO_TIME}"
            yield from (f"{'err ' + color.word:<{PREFIX}}{line}" for line in stderr.splitlines())


def log_json(record: GameRecord, side: Color | None, *, is_followed: bool) -> Iterator[str]:
    """Yield the transcript as JSON, one object a line; times are in microseconds."""
    for entry in _of_side(transcript(record, is_followed=is_followed), side):
        where = {"ply": entry.ply, "side": None if entry.color is None else entry.color.word}
        match entry:
            case SpokenLine(_, _, speaker, text):
                yield to_line({"kind": "line", **where, "said_by": speaker, "line": text})
            case ActionTime(_, _, taken, forgiven, cpu):
                times = {"taken_us": taken, "forgiven_us": forgiven, "cpu_us": cpu}
                yield to_line({"kind": "answer", **where, **times})
            case Remark(_, _, text):
                yield to_line({"kind": "remark", **where, "text": text})
    for color in Color if side is None else (side,):
        if record.stderr[color]:
            yield to_line({"kind": "stderr", "side": color.word, "text": record.stderr[color]})


def _of_side(entries: Iterable[TranscriptEntry], side: Color | None) -> Iterator[TranscriptEntry]:
    return (entry for entry in entries if side is None or entry.color is None or entry.color is side)
