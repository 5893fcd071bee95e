"""A game as one seat may see it, as a line like those of `arena.game.record_lines`, with no hidden rank in any form.

What a seat has been told comes from `arena.game.view` alone. Of its opponent all is left out that a rank could be seen
in or be worked out from: the set-up and what gives it away (the seed, with which the bot could be run again; the seeds
of the pair and of the league, from which it follows), all that the bot itself has written, what it used and how long it
thought. The verdict keeps its words where the seat lost by a fault of its own, which it was told; else they are made
anew from who lost and why.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.game.faults import lost_by, named
from arena.game.record import GameRecord
from arena.game.record_lines import whole_line, with_checksum
from arena.game.replay import Replay
from arena.game.verdict import GameResult
from arena.game.view import enemy_squares, tell
from protocol.codec import encode_for_bot
from protocol.messages import ArenaMessage, Enemy
from protocol.notation import Color

HIDDEN_OF_OPPONENT = ("declared", "author", "wants", "seed", "setup", "used", "pondered_us", "stderr")
TIMES = ("times_us", "cpu_us", "forgiven_us")


def encode_seat_line(record: GameRecord, color: Color) -> bytes:
    """What the side of `color` may know of a game, without a line feed.

    Raises `RecordError` if the game cannot have been played so.
    """
    fields: dict[str, Any] = msgspec.to_builtins(whole_line(record, {}))
    fields["view"] = color.word
    fields["settings"] = fields["pair_seed"] = None
    for name in HIDDEN_OF_OPPONENT:
        fields[color.opponent.word][name] = None
    if record.opening:
        fields[color.opponent.word]["opening"] = None
    fields[color.opponent.word].pop("cannot", None)
    blue_starts = dict(record.rules).get("starts") == Color.BLUE.word
    first = color ^ blue_starts
    for name in TIMES:
        fields[name] = [number if ply % 2 == first else None for ply, number in enumerate(fields[name])]
    fields["interrupted"] = [turn for turn in record.interrupted if (turn[0] - 1) % 2 == first]
    fields["notes"] = [note for note in record.notes if note.color == color.word]
    fields["verdict"]["detail"] = verdict_words(record, color)
    fields["told"] = list(_told(record, color)) if None not in record.setups else []
    return with_checksum(fields)


def _told(record: GameRecord, color: Color) -> Iterator[list[str]]:
    """What the seat was told of the position once both had set up, and then of each action: lines of the protocol."""
    replay = Replay(record)
    yield [] if replay.game.ruleset.fills_rows else [_line(Enemy(enemy_squares(replay.game, color)))]
    for step in replay.steps():
        yield [_line(tell(event)[color]) for event in step.events]


def _line(message: ArenaMessage) -> str:
    return encode_for_bot(message).decode("ascii").rstrip("\n")


def verdict_words(record: GameRecord, color: Color) -> str:
    """How a game ended, in the words that the side of `color` may read: those on a fault can name a rank."""
    verdict, players = record.verdict, record.players
    if verdict.result is GameResult.NEITHER:
        return f"{named(players, Color.RED)} and {named(players, Color.BLUE)} both lost by a fault before the game"
    loser = verdict.result.winner.opponent if verdict.result.winner is not None else None
    if loser is color and verdict.reason.is_forfeit:
        return verdict.detail
    return lost_by(players, loser, verdict.reason)
