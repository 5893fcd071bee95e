"""A game as one seat may see it, or everybody: a line like those of `arena.game.record_lines`, with no hidden rank.

What a seat has been told comes from `arena.game.view` alone. Of a side that is not the reader's, all is left out that a
rank could be seen in or be worked out from: the set-up and what gives it away (the seed, with which the bot could be
run again; the seeds of the pair and of the league, from which it follows), all that the bot itself has written, what it
used and how long it thought. The verdict keeps its words where the seat lost by a fault of its own, which it was told;
else they are made anew from who lost and why.

That holds for one game. Which games may be read together is for `arena.league.readers` to say.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.game.faults import lost_by, named
from arena.game.record import GameRecord
from arena.game.record_lines import with_checksum
from arena.game.replay import Replay
from arena.game.verdict import GameResult
from arena.game.view import enemy_squares, tell
from arena.game.whole_line import whole_line
from arena.rules.events import Event, Fought
from protocol.codec import encode_for_bot
from protocol.messages import ArenaMessage, Enemy
from protocol.notation import Color

HIDDEN = ("declared", "author", "wants", "seed", "setup", "used", "pondered_us", "stderr")
"""What is not told of a side that the reader is not."""
PUBLIC = "public"
"""The `view` of a line with what both sides were told."""
TIMES = ("times_us", "cpu_us", "forgiven_us")


def encode_seat_line(record: GameRecord, color: Color, *, has_seed: bool = True) -> bytes:
    """What the side of `color` may know of a game, without a line feed.

    Without `has_seed` the side's own seed is left out, too: it is for its author alone.
    Raises `RecordError` if the game cannot have been played so.
    """
    fields = _line_for(record, color, color.word, verdict_words(record, color))
    if not has_seed:
        fields[color.word]["seed"] = None
    return with_checksum(fields)


def encode_public_line(record: GameRecord) -> bytes:
    """What both sides were told of a game, without a line feed. Raises `RecordError` as `encode_seat_line` does."""
    return with_checksum(_line_for(record, None, PUBLIC, public_words(record)))


def _line_for(record: GameRecord, seat: Color | None, view: str, words: str) -> dict[str, Any]:
    """The fields of a line with what is this seat's own, or no seat's."""
    fields: dict[str, Any] = msgspec.to_builtins(whole_line(record, {}))
    fields["view"] = view
    fields["settings"] = fields["pair_seed"] = None
    for color in Color:
        if color is not seat:
            _hide(fields[color.word], has_opening=bool(record.opening))
    movers = _movers(record)
    for name in TIMES:
        fields[name] = [number if movers[ply % 2] is seat else None for ply, number in enumerate(fields[name])]
    fields["interrupted"] = [turn for turn in record.interrupted if movers[(turn[0] - 1) % 2] is seat]
    fields["notes"] = [note for note in record.notes if seat is not None and note.color == seat.word]
    fields["verdict"]["detail"] = words
    fields["told"] = list(_told(record, seat)) if None not in record.setups else []
    return fields


def _hide(side: dict[str, Any], *, has_opening: bool) -> None:
    for name in HIDDEN:
        side[name] = None
    if has_opening:
        side["opening"] = None
    side.pop("cannot", None)


def _movers(record: GameRecord) -> tuple[Color, Color]:
    """Who has the first action and every second one from there, and who has the others."""
    first = Color.BLUE if dict(record.rules).get("starts") == Color.BLUE.word else Color.RED
    return first, first.opponent


def _told(record: GameRecord, seat: Color | None) -> Iterator[list[str]]:
    """What was told of the position once both had set up, and then of each action: lines of the protocol.

    A seat has what it was told; without one it is what both were told, with both `enemy` lines, Red's first.
    """
    replay = Replay(record)
    readers = tuple(Color) if seat is None else (seat,)
    is_full = replay.game.ruleset.fills_rows
    yield [] if is_full else [_line(Enemy(enemy_squares(replay.game, color))) for color in readers]
    for step in replay.steps():
        yield [_line(told_to(event, seat)) for event in step.events]


def told_to(event: Event, seat: Color | None) -> ArenaMessage:
    """What a seat was told of an event, or, of no seat, what both were told."""
    told = tell(event)
    if seat is not None:
        return told[seat]
    # A silent defender is named to its own side alone, so that what the attacker was told both know.
    return told[event.color] if isinstance(event, Fought) else told[Color.RED]


def _line(message: ArenaMessage) -> str:
    return encode_for_bot(message).decode("ascii").rstrip("\n")


def verdict_words(record: GameRecord, color: Color) -> str:
    """How a game ended, in the words that the side of `color` may read: those on a fault can name a rank."""
    verdict = record.verdict
    if verdict.result.winner is color.opponent and verdict.reason.is_forfeit:
        return verdict.detail
    return public_words(record)


def public_words(record: GameRecord) -> str:
    """How a game ended, in words that anybody may read."""
    verdict, players = record.verdict, record.players
    if verdict.result is GameResult.NEITHER:
        return f"{named(players, Color.RED)} and {named(players, Color.BLUE)} both lost by a fault before the game"
    loser = verdict.result.winner.opponent if verdict.result.winner is not None else None
    return lost_by(players, loser, verdict.reason)
