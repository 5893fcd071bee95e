"""Judging one action: legal, or refused with the rule, the piece and the square.

This judgement and the list of moves are written independently, and a property test compares them.
"""

from arena.stratego.rules.action_types import (
    Action,
    BrokenRule,
    IllegalActionError,
    Infiltration,
    Path,
    PieceMove,
    Rescue,
)
from arena.stratego.rules.board import BACK_ROWS, BLUE_BIT, EMPTY, HOMES, MOVES, RANKS, StraightMove
from arena.stratego.rules.position import EnginePosition
from arena.stratego.rules.tables import CANNOT_ATTACK, COLORS, ENTERABLE, SCOUTS, RuleTables
from protocol.notation import LAKE_SQUARES, SQUARES, Rank


def check(game: EnginePosition, action: Action) -> None:
    if game.outcome:
        raise IllegalActionError(BrokenRule.OVER, f"{action.text}: the game is over")
    if isinstance(action, StraightMove | Path):
        _check_piece_move(game, action)
        _check_repetition(game, action)
    elif isinstance(action, Rescue):
        _check_piece_move(game, action.move)
        _check_rescue(game, action)
        _check_repetition(game, action.move, action)
    else:
        _check_infiltration(game, action)


def _check_piece_move(game: EnginePosition, move: PieceMove) -> None:
    board, tables = game.board, game.tables
    side: int = game.to_move
    code = board[move.origin]
    name = SQUARES[move.origin]
    if code == EMPTY or (code > BLUE_BIT) != side:
        raise IllegalActionError(BrokenRule.OWN_PIECE, f"{move.text}: {COLORS[side].word} has no piece on {name}")
    loses = tables.fixed_loses and not tables.can_move[code]  # a move like any other, except for its effect
    if not tables.can_move[code] and not loses:
        raise IllegalActionError(BrokenRule.IMMOVABLE, f"{move.text}: the {piece(code)} on {name} cannot move")
    if move.between:
        _check_way(game, move, code)
    target = move.target
    if target in LAKE_SQUARES:
        raise IllegalActionError(BrokenRule.LAKE, f"{move.text}: {SQUARES[target]} is a lake")
    if not ENTERABLE[side][board[target]]:
        sentence = f"{move.text}: {COLORS[side].word}'s own piece is on {SQUARES[target]}"
        raise IllegalActionError(BrokenRule.TARGET, sentence)
    if not (tables.plain or loses) or move.text not in MOVES:
        _check_direction(tables, move, RANKS[code], bool(board[target]))


def _check_way(game: EnginePosition, move: PieceMove, code: int) -> None:
    name = SQUARES[move.origin]
    runs = game.tables.captains_take_two and RANKS[code] is Rank.CAPTAIN and len(move.between) == 1
    if isinstance(move, Path) and not runs:
        whom = "no piece turns" if not game.tables.captains_take_two else f"the {piece(code)} on {name} does not turn"
        raise IllegalActionError(BrokenRule.CAPTAIN, f"{move.text}: {whom} in its move under {game.ruleset.name}")
    if code != SCOUTS[game.to_move] and not runs:
        sentence = f"{move.text}: the {piece(code)} on {name} moves one square at a time"
        raise IllegalActionError(BrokenRule.STEP, sentence)
    for square in move.between:
        if square in LAKE_SQUARES:
            raise IllegalActionError(BrokenRule.LAKE, f"{move.text}: the lake on {SQUARES[square]} is in the way")
        if game.board[square]:
            raise IllegalActionError(BrokenRule.BLOCKED, f"{move.text}: the piece on {SQUARES[square]} is in the way")


def _check_direction(tables: RuleTables, move: PieceMove, rank: Rank, attack: bool) -> None:
    """Check rules that only some rulesets have: diagonals, sideways attacks, attacks by flag and bombs."""
    what = f"{move.text}: the {rank.name.lower()} on {SQUARES[move.origin]}"
    if (
        isinstance(move, StraightMove)
        and move.text not in MOVES
        and not (tables.spy_attacks_diagonally and rank is Rank.SPY and attack)
    ):
        allowed = "a spy may, and only to attack" if tables.spy_attacks_diagonally else "no piece may"
        raise IllegalActionError(BrokenRule.DIAGONAL, f"{what} cannot move diagonally; {allowed}")
    if not attack:
        return
    if rank in CANNOT_ATTACK:
        raise IllegalActionError(BrokenRule.NO_ATTACK, f"{what} may not attack")
    last_step = move.between[-1] if move.between else move.origin
    if tables.facing and abs(move.target - last_step) == 1:
        raise IllegalActionError(BrokenRule.FACING, f"{what} attacks along its file only")


def _check_repetition(game: EnginePosition, move: PieceMove, whole: Rescue | None = None) -> None:
    """Check the rules against repetition; `whole` is the action that contains the move, if any."""
    side: int = game.to_move
    if game.is_fresh_rescue(whole, side) if whole else game.is_fresh(move, side):
        return
    what = f"{(whole or move).text}: the {piece(game.board[move.origin])} on {SQUARES[move.origin]}"
    if game.runs[side].forbids(move):
        limit = game.ruleset.two_squares
        raise IllegalActionError(BrokenRule.TWO_SQUARES, f"{what} has made {limit} moves in a row over this border")
    raise IllegalActionError(
        BrokenRule.CHASE, f"{what} would threaten and bring back a position that has stood on the board before"
    )


def _check_rescue(game: EnginePosition, action: Rescue) -> None:
    side: int = game.to_move
    tables, move, text = game.tables, action.move, action.text

    def refuse(sentence: str) -> IllegalActionError:
        return IllegalActionError(BrokenRule.RESCUE, f"{text}: {sentence}")

    if not tables.rescues:
        raise refuse(f"{game.ruleset.name} has no rescue")
    if game.rescued[side] >= tables.rescues:
        raise refuse(f"{COLORS[side].word} has already rescued {tables.rescues} pieces, the most allowed")
    mover = f"the {piece(game.board[move.origin])} on {SQUARES[move.origin]}"
    if move.target not in BACK_ROWS[1 - side] or move.origin in BACK_ROWS[1 - side]:
        raise refuse(f"{mover} does not arrive on the opponent's back row")
    if game.board[move.origin] == SCOUTS[side]:
        raise refuse(f"{mover} is a scout, and scouts cannot rescue")
    if RANKS[game.board[move.origin]] is Rank.FLAG:
        raise refuse(f"{mover} wins by arriving, and nothing is rescued then")
    if move.origin in game.rescuers[side]:
        raise refuse(f"{mover} has already rescued a piece")
    if action.rank in CANNOT_ATTACK:
        raise refuse(f"a {action.rank.name.lower()} cannot be rescued")
    if not game.lost[side][action.rank]:
        raise refuse(f"{COLORS[side].word} has lost no {action.rank.name.lower()}")
    if action.square not in HOMES[side]:
        raise refuse(f"{SQUARES[action.square]} is not on {COLORS[side].word}'s own four rows")
    if game.board[action.square]:
        raise refuse(f"{SQUARES[action.square]} is not empty")


def _check_infiltration(game: EnginePosition, action: Infiltration) -> None:
    board, text = game.board, action.text
    side: int = game.to_move
    name, target_name = SQUARES[action.origin], SQUARES[action.target]

    def refuse(sentence: str) -> IllegalActionError:
        return IllegalActionError(BrokenRule.INFILTRATION, f"{text}: {sentence}")

    if not game.tables.infiltration:
        raise refuse(f"{game.ruleset.name} has no infiltration")
    code, target = board[action.origin], board[action.target]
    if code == EMPTY or (code > BLUE_BIT) != side:
        raise IllegalActionError(BrokenRule.OWN_PIECE, f"{text}: {COLORS[side].word} has no piece on {name}")
    if RANKS[code] is not Rank.INFILTRATOR:
        raise refuse(f"the {piece(code)} on {name} is no infiltrator")
    if action.origin not in HOMES[1 - side]:
        raise refuse(f"the infiltrator on {name} is not on the opponent's four rows")
    if target == EMPTY:
        raise refuse(f"there is no piece on {target_name}")
    if (target > BLUE_BIT) == side:
        raise refuse(f"the piece on {target_name} is {COLORS[side].word}'s own")
    line = MOVES.get(f"{name}-{target_name}")
    if line is None or len(line.between) > 1:
        raise refuse(f"{target_name} is not one or two squares from {name} in a straight line")
    for square in line.between:
        if board[square] or square in LAKE_SQUARES:
            raise refuse(f"{SQUARES[square]}, between {name} and {target_name}, is not empty")
    if action.rank not in dict(game.ruleset.army):
        raise refuse(f"the army of {game.ruleset.name} has no {action.rank.name.lower()}")


def piece(code: int) -> str:
    return RANKS[code].name.lower()
