"""Lists of legal actions.

Plain rulesets have a fast path; the general one adds what variants allow: captains' paths, diagonal attacks, guesses,
rescues.
"""

from collections.abc import Iterable, Iterator

from arena.stratego.rules.action_types import Action, PieceMove, Rescue, infiltration, path_through, rescue
from arena.stratego.rules.board import BACK_ROWS, BLUE_BIT, DIAGONALS, EMPTY, HOMES, RANKS, RAYS, STEPS, StraightMove
from arena.stratego.rules.position import EnginePosition, Pieces
from arena.stratego.rules.tables import CANNOT_ATTACK, COLORS, ENTERABLE, SCOUTS
from protocol.notation import HOME_SQUARES, Rank

INFILTRATION_RANGE = 2


def legal_actions(game: EnginePosition) -> Iterable[Action]:
    """Return every legal action of the side to move, cheap ones first; none when the game is over."""
    if game.outcome:
        return ()
    side = game.to_move
    if not game.tables.plain:
        return _all_actions(game, side)
    return plain_actions(game, side)


def _all_actions(game: EnginePosition, side: int) -> Iterator[Action]:
    arriving = []
    for move in piece_moves(game, side):
        if game.is_fresh(move, side):
            yield move
        if game.tables.rescues and may_rescue(game, side, move):
            arriving.append(move)  # a move that repetition forbids may be legal with a piece that comes back
    if game.tables.infiltration:
        yield from infiltrations(game, side)
    if arriving:
        repeats = game.runs[side].closed or (game.chase and game.chase.length[side] > 1)
        found = rescues(game, side, arriving)
        yield from (action for action in found if game.is_fresh_rescue(action, side)) if repeats else found


def is_mobile(game: EnginePosition, side: int) -> bool:
    """Whether a side has a move, without the rules against repetition."""
    if not game.tables.plain:
        return any(True for _ in piece_moves(game, side)) or (
            game.tables.infiltration and any(True for _ in infiltrations(game, side))
        )
    board, enterable, movers = game.board, ENTERABLE[side], game.movers[side]
    last = game.mobile[side]
    if last in movers:  # most often true: what could move before still can
        for target, _ in STEPS[last]:
            if enterable[board[target]]:
                return True
    for origin in movers:
        for target, _ in STEPS[origin]:
            if enterable[board[target]]:
                game.mobile[side] = origin
                return True
    return False


def plain_actions(game: EnginePosition, side: int) -> list[StraightMove]:
    board, enterable, scout = game.board, ENTERABLE[side], SCOUTS[side]
    moves: list[StraightMove] = []
    add = moves.append
    for origin in game.movers[side]:
        if board[origin] == scout:
            for ray in RAYS[origin]:
                for target, move in ray:
                    code = board[target]
                    if code:
                        if enterable[code]:
                            add(move)
                        break
                    add(move)
        else:
            for target, move in STEPS[origin]:
                if enterable[board[target]]:
                    add(move)
    if game.runs[side].closed or (game.chase and game.chase.length[side] > 1):
        return [move for move in moves if game.is_fresh(move, side)]
    return moves


def piece_moves(game: Pieces, side: int) -> Iterator[PieceMove]:
    """Yield every move of a side's pieces under any ruleset: no guesses, no rescues, no rules against repetition."""
    board, enterable, tables = game.board, ENTERABLE[side], game.tables
    for origin in game.movers[side]:
        rank = RANKS[board[origin]]
        attacks = rank not in CANNOT_ATTACK
        for ray in RAYS[origin] if rank is Rank.SCOUT else (step_rays(origin)):
            for target, move in ray:
                code = board[target]
                if code == EMPTY:
                    yield move
                    continue
                if attacks and enterable[code] and not (tables.facing and move.sideways):
                    yield move
                break
        if rank is Rank.CAPTAIN and tables.captains_take_two:
            yield from _paths(game, side, origin)
        if rank is Rank.SPY and tables.spy_attacks_diagonally:
            yield from (move for target, move in DIAGONALS[origin] if board[target] and enterable[board[target]])


def step_rays(origin: int) -> Iterator[tuple[tuple[int, StraightMove]]]:
    return ((step,) for step in STEPS[origin])


def _paths(game: Pieces, side: int, origin: int) -> Iterator[PieceMove]:
    """Yield a captain's moves of two squares, straight or with a turn; the first square is empty."""
    board, enterable, tables = game.board, ENTERABLE[side], game.tables
    for ray in RAYS[origin]:
        corner, first = ray[0]
        if board[corner] != EMPTY:
            continue
        for target, second in STEPS[corner]:
            if target == origin or not enterable[board[target]]:
                continue
            if board[target] != EMPTY and tables.facing and second.sideways:
                continue
            if len(ray) > 1 and target == ray[1][0]:
                yield ray[1][1]
            else:
                yield path_through(first, second)


def infiltrations(game: Pieces, side: int) -> Iterator[Action]:
    board = game.board
    ranks = [rank for rank, _ in game.ruleset.army]
    for origin in game.movers[side]:
        if RANKS[board[origin]] is not Rank.INFILTRATOR or origin not in HOMES[1 - side]:
            continue
        for ray in RAYS[origin]:
            for target, _ in ray[:INFILTRATION_RANGE]:
                code = board[target]
                if code == EMPTY:
                    continue
                if (code > BLUE_BIT) != side:
                    yield from (infiltration(origin, target, rank) for rank in ranks)
                break


def rescues(game: Pieces, side: int, arriving: list[PieceMove]) -> Iterator[Rescue]:
    """Yield the moves that `may_rescue`, with every possible piece and square; no rules against repetition."""
    ranks = game.rescuable(side)
    if not ranks:
        return
    free = [square for square in HOME_SQUARES[COLORS[side]] if game.board[square] == EMPTY]
    for move in arriving:
        yield from (rescue(move, rank, square) for rank in ranks for square in free)


def may_rescue(game: Pieces, side: int, move: PieceMove) -> bool:
    """Whether this move's piece would earn a rescue by arriving: no scout, from elsewhere, and for the first time.

    A flag that arrives ends the game.
    """
    goal, code = BACK_ROWS[1 - side], game.board[move.origin]
    return (
        move.target in goal
        and move.origin not in goal
        and code != SCOUTS[side]
        and RANKS[code] is not Rank.FLAG
        and move.origin not in game.rescuers[side]
    )
