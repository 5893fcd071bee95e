"""For `dask worker --preload`: a worker that plays nothing, and says of each game that it went as one did before.

So a scheduler and an arena have 100,000 games to carry and to judge without a processor for the bots. The game is a
record in the file that `ARENA_CANNED` names; players, seeds and ids are those that were asked for, so that each one
passes for true.
"""

import os
from pathlib import Path

import msgspec

from arena.game.faults import lost_by
from arena.game.record import GameRecord, decode_record, encode_record
from arena.game.spec import GameSpec
from arena.league.executor.cluster import service
from arena.league.executor.cluster.messages import Batch, BatchPlayed, decode_request, encode

GAME = decode_record(Path(os.environ["ARENA_CANNED"]).read_bytes())
SECONDS = 0.05
"""How long each is said to have taken: by that the arena makes its batches."""


def _as_asked(spec: GameSpec) -> GameRecord:
    winner = GAME.verdict.result.winner
    detail = lost_by(spec.players, None if winner is None else winner.opponent, GAME.verdict.reason)
    return msgspec.structs.replace(
        GAME,
        id=spec.id,
        players=spec.players,
        seeds=spec.seeds,
        pair_seed=spec.pair_seed,
        verdict=msgspec.structs.replace(GAME.verdict, detail=detail),
    )


def play(data: bytes) -> bytes:
    """A batch, answered at once."""
    batch = decode_request(data)
    assert isinstance(batch, Batch)
    records = tuple(encode_record(_as_asked(spec)) for task in batch.tasks for spec in task.games)
    return encode(BatchPlayed(records, (), (), SECONDS * len(records), 0.0))


service.play = play
