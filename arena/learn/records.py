"""Games of a league as training data: every position with what the seat to move observed, did, and got.

The games are played again in the kernel, many in lockstep. So neighbouring rows are of different games, and a chunk is
mixed; `games` and `plies` say what a row is of.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import UsageError
from arena.game import STRATEGO
from arena.game.record import GameRecord
from arena.league.exchange import numbered_records
from arena.learn.action_codes import STRAIGHT_COUNT, action_code, code_count
from arena.learn.kernel import Kernel
from arena.learn.kernel_tables import check_supported
from arena.learn.observation import FACT_COUNT, PLANE_COUNT
from arena.learn.placement import Setups, setup_numbers
from arena.stratego.game import ruleset_of
from arena.stratego.rules.ruleset import Ruleset
from arena.system.printable import printable
from protocol.notation import BOARD_SIZE, RESIGN
from protocol.seats import Color

BATCH = 512
"""Games in lockstep."""
CHUNK = 8192
"""Rows of a chunk: 56 MB."""
BLOCK = 16 * BATCH
"""Games whose moves are in memory at once."""

Source = Path | str | Iterable[GameRecord]
"""A store, a file of `arena export`, or records; records are numbered from 1."""


@dataclass(frozen=True)
class Positions:
    """Positions as arrays with a row each: all plies of both seats, before the move."""

    planes: NDArray[np.int8]
    """The planes that the seat to move observes (`arena.learn.observation.PLANES`), by row of its board and file."""
    facts: NDArray[np.int32]
    masks: NDArray[np.bool_]
    """The legal codes: 1,800 wide, or 2,600 under rules with captains that turn."""
    actions: NDArray[np.int16]
    """The code that was played."""
    results: NDArray[np.int8]
    """The end of the game for this seat: 1 won, 0 drawn or lost by both, -1 lost."""
    seats: NDArray[np.int8]
    """0 red, 1 blue."""
    plies: NDArray[np.int32]
    """Plies played before."""
    games: NDArray[np.int32]
    """The number of the game in its store or file."""

    def __len__(self) -> int:
        return len(self.actions)

    def rows(self, which: slice | NDArray[Any]) -> "Positions":
        """Return some rows, such as those of a mask: `positions.rows(positions.results == 1)`."""
        return Positions(*(getattr(self, name)[which] for name in ARRAYS))


ARRAYS = tuple(field.name for field in fields(Positions))


class _Game(NamedTuple):
    number: int
    ruleset: Ruleset
    setups: Setups
    codes: NDArray[np.int16]
    result: int
    """For Red."""


def positions(source: Source, *, chunk: int = CHUNK) -> Iterator[Positions]:
    """Yield all positions of the games of a source, in chunks of so many rows; the last has fewer.

    A chunk has masks of one width, so it also ends before a game whose rules have another number of codes.
    Games that ended before both sides had set up have none; neither has a resignation, which is no move. Raises
    `UnsupportedRuleError` for rules that the kernel has not, and `UsageError` for a record that breaks its rules.
    """
    if chunk < 1:
        raise UsageError(f"chunk: expected at least 1 row, got {chunk}")
    buffer, filled = _empty(chunk, STRAIGHT_COUNT), 0
    for rows in _played(source):
        done, codes = 0, rows.masks.shape[1]
        if codes != buffer.masks.shape[1]:
            if filled:
                yield buffer.rows(slice(filled))
            buffer, filled = _empty(chunk, codes), 0
        while done < len(rows):
            taken = min(len(rows) - done, chunk - filled)
            for name in ARRAYS:
                getattr(buffer, name)[filled : filled + taken] = getattr(rows, name)[done : done + taken]
            done, filled = done + taken, filled + taken
            if filled == chunk:
                yield buffer
                buffer, filled = _empty(chunk, codes), 0
    if filled:
        yield buffer.rows(slice(filled))


def _empty(rows: int, codes: int) -> Positions:
    return Positions(
        planes=np.empty((rows, PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), np.int8),
        facts=np.empty((rows, FACT_COUNT), np.int32),
        masks=np.empty((rows, codes), np.bool_),
        actions=np.empty(rows, np.int16),
        results=np.empty(rows, np.int8),
        seats=np.empty(rows, np.int8),
        plies=np.empty(rows, np.int32),
        games=np.empty(rows, np.int32),
    )


# --- reading games ----------------------------------------------------------------------------------------------------


def _game(number: int, record: GameRecord) -> _Game | None:
    """Return a game as numbers; None if it has no position."""
    if record.variant.game != STRATEGO:
        raise UsageError(f"game {number}: expected a game of {STRATEGO}, got {printable(record.variant.title)}")
    ruleset = ruleset_of(record.variant)
    check_supported(ruleset)
    actions = record.actions[:-1] if record.actions[-1:] == (RESIGN,) else record.actions
    if not actions:
        return None
    first = record.mover(1)
    try:
        codes = [action_code(text, Color(first ^ ply & 1)) for ply, text in enumerate(actions)]
        setups = np.stack([setup_numbers((rows or "").split("/")) for rows in record.setups])
    except (ValueError, KeyError) as error:
        raise UsageError(f"game {number}: {printable(str(error))}") from None
    if max(codes) >= code_count(ruleset):
        raise UsageError(f"game {number}: a captain's move with a turn, which {ruleset.name} does not have")
    winner = record.verdict.result.winner
    return _Game(number, ruleset, setups, np.array(codes, np.int16), 0 if winner is None else 1 - 2 * winner)


# --- playing them -----------------------------------------------------------------------------------------------------


def _played(source: Source) -> Iterator[Positions]:
    if not isinstance(source, str | Path | Iterable):
        raise UsageError(f"expected a store, a file of 'arena export' or a list of records, got {source!r:.60}")
    records = numbered_records(Path(source)) if isinstance(source, str | Path) else enumerate(source, start=1)
    games = filter(None, starmap(_game, records))
    while block := list(islice(games, BLOCK)):
        for ruleset in dict.fromkeys(game.ruleset for game in block):
            same = [game for game in block if game.ruleset == ruleset]
            yield from _in_lockstep(ruleset, sorted(same, key=lambda game: -len(game.codes)))


def _in_lockstep(ruleset: Ruleset, games: Sequence[_Game]) -> Iterator[Positions]:
    """Play games, the longest first; in the place of one that has ended the next begins. Yields arrays in use."""
    setups = np.stack([game.setups for game in games])
    lengths, numbers, results = np.array([(len(game.codes), game.number, game.result) for game in games]).T
    codes = np.zeros((len(games), lengths.max()), np.int16)
    for row, game in zip(codes, games, strict=True):
        row[: len(game.codes)] = game.codes
    begun = min(BATCH, len(games))
    kernel = Kernel(ruleset, begun)
    kernel.reset(setups[:begun])
    playing, is_playing = np.arange(begun), np.ones(begun, np.bool_)
    while is_playing.any():
        actions = codes[playing, np.where(is_playing, kernel.ply, 0)]
        legal = kernel.mask[np.arange(len(actions)), actions] | ~is_playing
        if not legal.all():
            wrong = int(np.argmin(legal))
            where = f"game {numbers[playing[wrong]]}: ply {kernel.ply[wrong] + 1}"
            raise UsageError(f"{where}: its move is illegal: see 'arena verify'")
        places: Any = slice(None) if is_playing.all() else np.flatnonzero(is_playing)
        seats = kernel.to_move
        yield Positions(
            *(array[places] for array in (kernel.planes, kernel.facts, kernel.mask, actions)),
            *(array[places] for array in (results[playing] * (1 - 2 * seats), seats, kernel.ply, numbers[playing])),
        )
        kernel.step(actions, ~is_playing)
        ended = np.flatnonzero(is_playing & (kernel.ply == lengths[playing]))
        again = ended[: len(games) - begun]
        if len(again):
            playing[again] = np.arange(begun, begun + len(again))
            begun += len(again)
            kernel.reset(setups[playing[again]], again)
        is_playing[ended[len(again) :]] = False
