"""The rules of moves and fights as compiled code, for one game and for a batch.

A game is a record of `GAME`, its rules one of `RULES`. All compiled functions are in this module: numba notices a
change in the file of a function, and not in the files of functions and constants that it uses: after a change of
those, delete `__pycache__`. `arena.learn.kernel` is the way in.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from arena.learn import kernel_tables as tables
from arena.learn import observation as at
from arena.learn.action_codes import NOWHERE, STRAIGHT_COUNT
from arena.learn.kernel_tables import HALF
from arena.learn.observation import RANK_COUNT, RECENT
from arena.stratego.rules import board
from protocol.notation import Rank

DRAWN = 2
"""The winner of a game that neither side has won, or that is not over."""
SQUARES, FILES, WAYS = 100, 10, 4
BORDERS = 9
TURN_BORDER = 1 << BORDERS
"""The bit of `closed` for the border between the squares of `turned`."""
SCOUT, FLAG, CAPTAIN = int(Rank.SCOUT), int(Rank.FLAG), int(Rank.CAPTAIN)
UNSEEN, BLUE_BIT = board.HIDDEN, board.BLUE_BIT
ONE, ROW, BEFORE_LAST_ROW, TOP_BITS = np.uint64(1), np.uint64(FILES), np.uint64(HALF - FILES), np.uint64(58)
FIRST_FILE = np.uint64(sum(1 << square for square in range(0, HALF, FILES)))
LAST_FILE = FIRST_FILE << np.uint64(FILES - 1)
FINDER = np.uint64(tables.BIT_FINDER)
RANK_BITS = 2 ** (RANK_COUNT + 1) - 2
HAS_MOVED = 1
TOLD = 1 << (RANK_COUNT + 1)

GAME = np.dtype(
    [
        ("piece", np.uint8, SQUARES),  # the engine's code: rank, and 16 more for Blue
        ("shown", np.uint16, SQUARES),  # what the opponent was told: HAS_MOVED, a bit for each possible rank, TOLD
        ("occupied", np.uint64, (2, 2)),  # by side and half of the board: a bit for each piece
        ("movable", np.uint64, (2, 2)),  # ... for each piece that can move
        ("scouts", np.uint64, (2, 2)),  # ... for each scout
        ("lost", np.uint8, (2, RANK_COUNT + 1)),
        ("hidden", np.uint8, (2, RANK_COUNT + 1)),  # pieces on the board that may have more than one rank
        ("run_square", np.uint8, 2),  # two squares: where the piece of the side's last move is
        ("run_line", np.uint8, 2),  # ... the row, or 10 and the file, that it moved along
        ("crossed", np.uint8, (2, BORDERS)),  # ... its last moves in a row over each border of the line
        ("closed", np.uint16, 2),  # ... the borders that it may not cross now
        ("turned", np.uint8, (2, 2)),  # by side: corner and origin of its last move, NOWHERE for a straight one
        ("turned_count", np.uint8, 2),  # ... the piece's last moves in a row over the border between these
        ("chase", np.int32, 2),  # the plies of the side's chase, as the engine counts them
        ("last", np.uint8, (2, 2)),  # by side: origin and target of its last move
        ("fled", np.uint8, (2, 3)),  # by pursuer: squares that evading pieces have been on, at most three
        ("fled_count", np.uint8, 2),
        ("recent", np.uint8, (RECENT, 2)),  # origins and targets of the last plies, by ply modulo RECENT
        ("ply", np.int32),
        ("quiet", np.int32),
        ("to_move", np.int8),
        ("winner", np.int8),
        ("reason", np.uint8),
    ],
    align=True,
)
"""A game under way."""

Bits = Any
"""A number of a fixed size, such as a set of squares: numba would make a fraction of it together with a plain `int`."""
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function that Python calls, when it is first called, and keep the code in a file."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def inner(function: Function) -> Function:
    """Compile a function that only compiled code calls: it needs no wrapper for others, and takes a third less time."""
    # The types of numba do not know the last two options.
    decorate = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
    return cast(Function, decorate(function))


# --- what the opponent knows --------------------------------------------------------------------------------------


@inner
def _narrow(game: Any, square: int, ranks: int) -> None:
    """Restrict what the opponent may think that a piece is."""
    before = game.shown[square] & RANK_BITS
    after = before & ranks
    if after == before:
        return
    game.shown[square] = game.shown[square] & ~RANK_BITS | after
    if after & (after - 1) == 0:
        code = game.piece[square]
        game.hidden[code >> 4, code & 15] -= 1


@inner
def _tell(game: Any, square: int) -> None:
    _narrow(game, square, 1 << (game.piece[square] & 15))
    game.shown[square] |= TOLD


# --- repetition ---------------------------------------------------------------------------------------------------


@inner
def _touches_enemy(rules: Any, game: Any, square: int, side: int) -> bool:
    for way in range(WAYS):
        neighbour = rules.next[way, square]
        if neighbour != NOWHERE:
            code = game.piece[neighbour]
            if code != 0 and code >> 4 != side:
                return True
    return False


@inner
def _are_neighbours(rules: Any, square: int, other: int) -> bool:
    for way in range(WAYS):  # noqa: SIM110  (numba compiles no generators)
        if rules.next[way, square] == other:
            return True
    return False


@inner
def _line_of(origin: int, target: int) -> tuple[int, int, int]:
    """Return the line of a move, and the first and last border that it crosses."""
    row, file = divmod(origin, FILES)
    other_row, other_file = divmod(target, FILES)
    if row == other_row:
        return row, min(file, other_file), max(file, other_file) - 1
    return FILES + file, min(row, other_row), max(row, other_row) - 1


# A move with a turn crosses borders of two lines. Of the piece's next moves, only the one that goes back all the way
# crosses the border of the first step again. So the last step counts as a straight move does, and `turned` keeps the
# first one apart.


@inner
def _goes_back(rules: Any, game: Any, side: int, code: int) -> bool:
    """Whether a move with a turn is the reverse of the side's last move."""
    return bool(game.turned[side, 0] == rules.corner[side, code] and game.turned[side, 1] == rules.target[side, code])


@inner
def _count_turn(rules: Any, game: Any, side: int, code: int) -> None:
    limit = rules.two_squares
    origin, corner, target = rules.origin[side, code], rules.corner[side, code], rules.target[side, code]
    first_line, first, _ = _line_of(origin, corner)
    line, last, _ = _line_of(corner, target)
    goes_on = origin == game.run_square[side]
    first_count = game.crossed[side, first] if goes_on and first_line == game.run_line[side] else 0
    last_count = game.turned_count[side] if goes_on and _goes_back(rules, game, side, code) else 0
    first_count, last_count = min(first_count + 1, limit), min(last_count + 1, limit)
    game.crossed[side] = 0
    game.crossed[side, last] = last_count
    game.turned[side, 0], game.turned[side, 1] = corner, origin
    game.turned_count[side] = first_count
    game.closed[side] = (1 << last if last_count >= limit else 0) | (TURN_BORDER if first_count >= limit else 0)
    game.run_line[side] = line
    game.run_square[side] = target


@inner
def _count_run(rules: Any, game: Any, side: int, code: int) -> None:
    """Count a move for the rule of two squares."""
    limit = rules.two_squares
    if limit == 0:
        return
    if code >= STRAIGHT_COUNT:
        _count_turn(rules, game, side, code)
        return
    origin, target = rules.origin[side, code], rules.target[side, code]
    line, low, high = _line_of(origin, target)
    goes_on = origin == game.run_square[side] and line == game.run_line[side]
    closed = 0
    for border in range(BORDERS):
        count = game.crossed[side, border] if goes_on else 0
        count = min(count + 1, limit) if low <= border <= high else 0
        game.crossed[side, border] = count
        if count >= limit:
            closed |= 1 << border
    game.closed[side] = closed
    game.turned[side, 0] = NOWHERE
    game.run_line[side] = line
    game.run_square[side] = target


@inner
def _crosses_closed(rules: Any, game: Any, side: int, code: int) -> bool:
    origin, target = rules.origin[side, code], rules.target[side, code]
    if game.closed[side] == 0 or origin != game.run_square[side]:
        return False
    if code >= STRAIGHT_COUNT:
        if game.closed[side] & TURN_BORDER != 0 and _goes_back(rules, game, side, code):
            return True
        target = rules.corner[side, code]
    line, low, high = _line_of(origin, target)
    crossed = (2 << high) - (1 << low)
    return bool(line == game.run_line[side] and game.closed[side] & crossed != 0)


@inner
def _chase_moved(rules: Any, game: Any, side: int, origin: int, target: int) -> None:
    """Count a move to an empty square for both sides' chases."""
    other = 1 - side
    threat = game.last[other, 1]
    evaded = threat != NOWHERE and _are_neighbours(rules, threat, origin)
    game.chase[other] = game.chase[other] + 1 if evaded else 0
    game.chase[side] = game.chase[side] + 1 if _touches_enemy(rules, game, target, side) else 0
    if rules.chase == tables.CHASE_BOOKLET:
        if evaded:
            _flee(game, other, origin)
            _flee(game, other, target)
        else:
            game.fled_count[other] = 0
        if game.chase[side] == 0:
            game.fled_count[side] = 0
    game.last[side, 0], game.last[side, 1] = origin, target


@inner
def _flee(game: Any, pursuer: int, square: int) -> None:
    count = game.fled_count[pursuer]
    for place in range(count):
        if game.fled[pursuer, place] == square:
            return
    if count < 3:
        game.fled[pursuer, count] = square
        game.fled_count[pursuer] = count + 1


@inner
def _chase_attacked(rules: Any, game: Any, side: int, origin: int, target: int) -> None:
    """End both chases with an attack, after which one may begin where it was."""
    game.chase[1 - side] = 0
    game.chase[side] = 1 if _touches_enemy(rules, game, target, side) else 0
    game.fled_count[0] = game.fled_count[1] = 0
    game.last[side, 0], game.last[side, 1] = origin, target


@inner
def _ways_back(rules: Any, game: Any, past: Any, side: int) -> int:
    """List the changes that would bring an earlier position back, as the side sees it; return their number."""
    history, found = past
    labels = np.empty(SQUARES, np.uint8)
    for square in range(SQUARES):
        code = game.piece[square]
        is_unseen = code != 0 and code >> 4 != side and game.shown[square] & TOLD == 0
        labels[square] = UNSEEN + square if is_unseen else code
    count = int(game.quiet if rules.chase == tables.CHASE_BOOKLET else min(game.quiet, game.chase[side] - 1))
    way = np.uint64(0)
    for back in range(count):
        origin, target = history[game.quiet - 1 - back]
        label = labels[target]
        way ^= rules.keys[label, origin] ^ rules.keys[label, target]
        labels[origin], labels[target] = label, 0
        found[back] = way
    return count


@inner
def _chase_looks_at(rules: Any, game: Any, side: int, origin: int, target: int) -> bool:
    """Whether the rule on chases is about this move, and may forbid it."""
    if game.piece[target] != 0 or not _touches_enemy(rules, game, target, side):
        return False
    if rules.chase == tables.CHASE_BOOKLET:
        return bool(game.fled_count[side] > 2)
    return bool(game.last[side, 0] != target or game.last[side, 1] != origin)


@inner
def _keep_fresh(rules: Any, game: Any, past: Any, codes: Any, count: int) -> int:
    """Drop the codes that repetition forbids; return the number of those that are left."""
    side = game.to_move
    chases = game.chase[side] > 1 and rules.chase != tables.CHASE_FREE
    ways, kept = -1, 0
    for place in range(count):
        code = codes[place]
        origin, target = rules.origin[side, code], rules.target[side, code]
        if _crosses_closed(rules, game, side, code):
            continue
        if chases and _chase_looks_at(rules, game, side, origin, target):
            if ways < 0:
                ways = _ways_back(rules, game, past, side)
            piece = game.piece[origin]
            if _contains(past[1], ways, rules.keys[piece, origin] ^ rules.keys[piece, target]):
                continue
        codes[kept] = code
        kept += 1
    return kept


@inner
def _contains(found: Any, count: int, wanted: int) -> bool:
    for place in range(count):  # noqa: SIM110  (numba compiles no generators)
        if found[place] == wanted:
            return True
    return False


# --- moves --------------------------------------------------------------------------------------------------------


@inner
def _shifted(rules: Any, low: Bits, high: Bits, way: int) -> tuple[Bits, Bits]:
    """Return the squares next to those of a set in one direction; both sets by half of the board."""
    if way == 0:
        low, high = low << ROW, high << ROW | low >> BEFORE_LAST_ROW
    elif way == 1:
        low, high = low >> ROW | high << BEFORE_LAST_ROW, high >> ROW
    elif way == 2:
        low, high = (low & ~LAST_FILE) << ONE, (high & ~LAST_FILE) << ONE
    else:
        low, high = (low & ~FIRST_FILE) >> ONE, (high & ~FIRST_FILE) >> ONE
    return low & rules.land[0], high & rules.land[1]


@inner
def _lowest(rules: Any, bits: Bits) -> int:
    """Return the index of the lowest bit that is set: that bit times De Bruijn's number is the number shifted."""
    return int(rules.bit_index[(bits & (~bits + ONE)) * FINDER >> TOP_BITS])


@inner
def _list_codes(rules: Any, game: Any, past: Any, codes: Any) -> int:
    """List the codes of the legal moves of the side to move; return their number.

    In each direction all pieces take a step at once, and then the scouts that are still on empty squares go on.
    """
    side, count = game.to_move, 0
    own, enemy = game.occupied[side], game.occupied[1 - side]
    for way in range(WAYS):
        low, high, further = game.movable[side, 0], game.movable[side, 1], 0
        scouts_low, scouts_high = game.scouts[side, 0], game.scouts[side, 1]
        while low | high:
            low, high = _shifted(rules, low, high, way)
            low, high = low & ~own[0], high & ~own[1]
            for half in range(2):
                bits = high if half else low
                while bits:
                    target = _lowest(rules, bits) + half * HALF
                    bits &= bits - ONE
                    codes[count] = rules.arriving[side, way, target] + further
                    count += 1
            scouts_low, scouts_high = _shifted(rules, scouts_low, scouts_high, way)
            scouts_low, scouts_high = scouts_low & ~own[0] & ~enemy[0], scouts_high & ~own[1] & ~enemy[1]
            low, high = scouts_low, scouts_high
            further += rules.further[side, way]
    if rules.captains:
        count += _list_runs(rules, game, codes[count:])
    if game.closed[side] != 0 or game.chase[side] > 1:
        return _keep_fresh(rules, game, past, codes, count)
    return count


@inner
def _list_runs(rules: Any, game: Any, codes: Any) -> int:
    """List the codes of captains' moves of two squares; return their number."""
    side, count = game.to_move, 0
    captain = CAPTAIN + BLUE_BIT * side
    for origin in range(SQUARES):
        if game.piece[origin] != captain:
            continue
        for first in range(WAYS):
            corner = rules.next[first, origin]
            if corner == NOWHERE or game.piece[corner] != 0:
                continue
            for second in range(WAYS):
                target = rules.next[second, corner]
                if target in (NOWHERE, origin):
                    continue
                if game.piece[target] != 0 and game.piece[target] >> 4 == side:
                    continue
                if second == first:
                    codes[count] = rules.arriving[side, first, target] + rules.further[side, first]
                else:
                    codes[count] = rules.turning[side, first, second, origin]
                count += 1
    return count


@inner
def _is_mobile(rules: Any, game: Any, side: int) -> bool:
    for way in range(WAYS):
        low, high = _shifted(rules, game.movable[side, 0], game.movable[side, 1], way)
        if (low & ~game.occupied[side, 0]) | (high & ~game.occupied[side, 1]):
            return True
    return False


@inner
def _can_move(game: Any, side: int) -> bool:
    """Whether a side has a piece that moves, blocked or not."""
    return bool(game.movable[side, 0] | game.movable[side, 1])


@inner
def _play(rules: Any, game: Any, history: Any, code: int) -> None:
    """Play a legal move."""
    side = game.to_move
    origin, target = rules.origin[side, code], rules.target[side, code]
    recent = game.ply % RECENT
    game.recent[recent, 0], game.recent[recent, 1] = origin, target
    if game.shown[origin] & HAS_MOVED == 0:
        _narrow(game, origin, rules.mobile_mask)
        game.shown[origin] |= HAS_MOVED
    if game.piece[target] == 0:
        _go(rules, game, history, code)
    else:
        _fight(rules, game, code)
    game.ply += 1
    game.to_move = 1 - side


@inner
def _go(rules: Any, game: Any, history: Any, code: int) -> None:
    side = game.to_move
    origin, target = rules.origin[side, code], rules.target[side, code]
    _relocate(game, side, origin, target)
    if not _are_neighbours(rules, origin, target):
        if rules.captains:
            _show_run(rules, game, side, code)
        else:
            _tell(game, target)
    _count_run(rules, game, side, code)
    if rules.chase != tables.CHASE_FREE:
        _chase_moved(rules, game, side, origin, target)
        history[game.quiet, 0], history[game.quiet, 1] = origin, target
    game.quiet += 1


@inner
def _show_run(rules: Any, game: Any, side: int, code: int) -> None:
    """Note what a move of several squares shows: a turn a captain, two squares a scout or a captain, more a scout."""
    origin, target = rules.origin[side, code], rules.target[side, code]
    _, low, high = _line_of(origin, target)
    is_captain = game.piece[target] & 15 == CAPTAIN
    if code >= STRAIGHT_COUNT or (is_captain and rules.announced):
        _narrow(game, target, 1 << CAPTAIN)
    elif high == low + 1 and not rules.announced:
        _narrow(game, target, 1 << CAPTAIN | 1 << SCOUT)
    else:
        _tell(game, target)


@inner
def _fight(rules: Any, game: Any, code: int) -> None:
    side = game.to_move
    origin, target = rules.origin[side, code], rules.target[side, code]
    attacker, defender = game.piece[origin] & 15, game.piece[target] & 15
    survivor = rules.fights[attacker, defender]
    _tell(game, origin)
    if survivor == tables.DEFENDER_STAYS and rules.silent and attacker != SCOUT:
        _narrow(game, target, rules.stayers[attacker])
    else:
        _tell(game, target)
    if survivor != tables.DEFENDER_STAYS:
        _remove(game, 1 - side, target)
    if survivor == tables.ATTACKER_STAYS:
        _relocate(game, side, origin, target)
    else:
        _remove(game, side, origin)
    _count_run(rules, game, side, code)
    if rules.chase != tables.CHASE_FREE:
        _chase_attacked(rules, game, side, origin, target)
    game.quiet = 0
    if defender == FLAG:
        game.winner, game.reason = side, tables.FLAG_TAKEN


@inner
def _relocate(game: Any, side: int, origin: int, target: int) -> None:
    """Move a movable piece to a square that is empty."""
    game.piece[target], game.piece[origin] = game.piece[origin], 0
    game.shown[target], game.shown[origin] = game.shown[origin], 0
    is_scout = game.piece[target] & 15 == SCOUT
    for square in (origin, target):
        half, bit = square // HALF, ONE << np.uint64(square % HALF)
        game.occupied[side, half] ^= bit
        game.movable[side, half] ^= bit
        if is_scout:
            game.scouts[side, half] ^= bit


@inner
def _remove(game: Any, side: int, square: int) -> None:
    """Take a piece off the board; its rank has been told."""
    game.lost[side, game.piece[square] & 15] += 1
    game.piece[square] = 0
    game.shown[square] = 0
    half, bit = square // HALF, ONE << np.uint64(square % HALF)
    game.occupied[side, half] &= ~bit
    game.movable[side, half] &= ~bit
    game.scouts[side, half] &= ~bit


# --- the end ------------------------------------------------------------------------------------------------------


@inner
def _look_for_end(rules: Any, game: Any, stuck: bool) -> None:
    """End the game if a side cannot move or a cap is reached; `stuck` is the side to move."""
    side = game.to_move
    other_stuck = rules.at_once and game.quiet == 0 and not _is_mobile(rules, game, 1 - side)
    unarmed = rules.needs_attacker and not _can_move(game, side)  # what can move can attack
    other_unarmed = rules.needs_attacker and not _can_move(game, 1 - side)
    if stuck or other_stuck:
        both = unarmed and other_unarmed
        _end(game, stuck or both, other_stuck or both, tables.NO_MOVE)
    elif unarmed or other_unarmed:
        _end(game, unarmed, other_unarmed, tables.NO_ATTACKER)
    elif game.ply >= rules.max_plies:
        game.reason = tables.PLY_CAP
    elif game.quiet >= rules.max_quiet:
        game.reason = tables.QUIET_CAP


@inner
def _end(game: Any, side_lost: bool, other_lost: bool, reason: int) -> None:
    if side_lost and other_lost:
        game.reason = tables.BOTH_IMMOBILE
    else:
        game.winner = 1 - game.to_move if side_lost else game.to_move
        game.reason = reason


# --- observations -------------------------------------------------------------------------------------------------


# Loops over all squares are small functions of their own, with arrays as arguments: so the compiler sees that they may
# handle many squares at once, which takes a third of the time.


@inner
def _copy_rows(squares: Any, seat: int, seen: Any) -> None:
    """Copy squares of the board in the order in which a seat counts them."""
    if seat == 0:
        for square in range(SQUARES):
            seen[square] = squares[square]
    else:
        for row in range(FILES):
            here, there = row * FILES, SQUARES - FILES - row * FILES
            for file in range(FILES):
                seen[here + file] = squares[there + file]


@inner
def _split(pieces: Any, shown: Any, own_bit: Bits, own: Any, enemy: Any) -> None:
    """Write what is shown of own pieces and of enemy pieces."""
    for square in range(SQUARES):
        is_own = pieces[square] & np.uint8(BLUE_BIT) == own_bit
        own[square] = shown[square] if is_own else np.uint16(0)
        enemy[square] = np.uint16(0) if is_own else shown[square]


@inner
def _write_pieces(pieces: Any, code: Bits, plane: Any) -> None:
    for square in range(SQUARES):
        plane[square] = pieces[square] == code


@inner
def _write_shown(shown: Any, bit: Bits, plane: Any) -> None:
    for square in range(SQUARES):
        plane[square] = shown[square] & bit != 0


@inner
def _write_planes(rules: Any, game: Any, seat: int, planes: Any, space: Any) -> None:
    """Write the planes of a seat; see `arena.learn.observation.PLANES`. Those of ranks not in the army stay 0."""
    pieces, shown, own, enemy = space
    _copy_rows(game.piece, seat, pieces)
    _copy_rows(game.shown, seat, shown)
    own_bit = np.uint8(BLUE_BIT * seat)
    _split(pieces, shown, own_bit, own, enemy)
    for index in range(rules.rank_count):
        rank = rules.ranks[index]
        bit = np.uint16(1 << rank)
        _write_pieces(pieces, np.uint8(rank + own_bit), planes[at.OWN + rank - 1])
        _write_shown(own, bit, planes[at.SHOWN + rank - 1])
        _write_shown(enemy, bit, planes[at.ENEMY + rank - 1])
    _write_shown(shown, np.uint16(HAS_MOVED), planes[at.MOVED])
    _write_latest(game, seat, planes)


@inner
def _write_latest(game: Any, seat: int, planes: Any) -> None:
    planes[at.LATEST :] = 0
    for age in range(min(RECENT, game.ply)):
        recent = (game.ply - 1 - age) % RECENT
        for end, value in ((0, at.LEFT), (1, at.ENTERED)):
            square = game.recent[recent, end]
            place = square if seat == 0 else SQUARES - FILES - square + 2 * (square % FILES)
            planes[at.LATEST + age, place] = value


@inner
def _write_facts(rules: Any, game: Any, seat: int, facts: Any) -> None:
    facts[at.PLY], facts[at.QUIET] = game.ply, game.quiet
    for index in range(rules.rank_count):
        rank = rules.ranks[index]
        facts[at.LOST + rank - 1] = game.lost[seat, rank]
        facts[at.ENEMY_LOST + rank - 1] = game.lost[1 - seat, rank]
        facts[at.ENEMY_HIDDEN + rank - 1] = game.hidden[1 - seat, rank]
        facts[at.HIDDEN + rank - 1] = game.hidden[seat, rank]


# --- a batch ------------------------------------------------------------------------------------------------------
# Arrays with a row for each game go together: `batch` is rules, games, the moves since their last attacks and space for
# `_ways_back`; `legal` is lists of codes, their lengths and masks; `seen` is planes, facts and arrays to make them in.


@inner
def _refresh(batch: Any, legal: Any, number: int) -> None:
    """Replace the legal codes of a game by those of the side to move, and look for the end of the game."""
    rules, games, history, found = batch
    codes, mask = legal[0][number], legal[2][number]
    game = games[number]
    for place in range(legal[1][number]):
        mask[codes[place]] = False
    count = 0
    if game.reason == tables.GOING_ON:
        count = _list_codes(rules[0], game, (history[number], found), codes)
        _look_for_end(rules[0], game, count == 0)
    if game.reason != tables.GOING_ON:
        count = 0
    for place in range(count):
        mask[codes[place]] = True
    legal[1][number] = count


@compiled
def start_games(batch: Any, legal: Any, which: Any, setups: Any) -> None:
    """Begin the games of these numbers with set-ups (by game, side and square of a set-up)."""
    rules, games, _, _ = batch
    for place in range(len(which)):
        _place(rules[0], games[which[place]], setups[place])
        _refresh(batch, legal, which[place])


@inner
def _place(rules: Any, game: Any, setup: Any) -> None:
    game.piece[:] = 0
    game.shown[:] = 0
    game.lost[:] = 0
    game.closed[:] = 0
    game.chase[:] = 0
    game.fled_count[:] = 0
    game.occupied[:] = 0
    game.movable[:] = 0
    game.scouts[:] = 0
    game.run_square[:] = NOWHERE
    game.last[:] = NOWHERE
    game.turned[:] = NOWHERE
    game.ply, game.quiet, game.reason, game.winner, game.to_move = 0, 0, tables.GOING_ON, DRAWN, rules.starts
    is_open = rules.army_mask & (rules.army_mask - 1) == 0  # an army of one rank
    for side in range(2):
        for rank in range(RANK_COUNT + 1):
            game.hidden[side, rank] = 0 if is_open else rules.army[rank]
        for place in range(setup.shape[1]):
            rank = setup[side, place]
            if rank == 0:
                continue
            square = rules.home[side, place]
            game.piece[square] = rank + 16 * side
            game.shown[square] = rules.army_mask
            half, bit = square // HALF, ONE << np.uint64(square % HALF)
            game.occupied[side, half] |= bit
            if rules.mobile_mask >> rank & 1:
                game.movable[side, half] |= bit
            if rank == SCOUT:
                game.scouts[side, half] |= bit


@compiled
def play_all(batch: Any, legal: Any, actions: Any) -> int:
    """Play an action in each game under way; return -1, or the first game with an illegal one, before any is played."""
    rules, games, history, _ = batch
    mask = legal[2]
    for number in range(len(games)):
        action = actions[number]
        if games[number].reason == tables.GOING_ON and not (0 <= action < mask.shape[1] and mask[number, action]):
            return number
    for number in range(len(games)):
        if games[number].reason == tables.GOING_ON:
            _play(rules[0], games[number], history[number], actions[number])
            _refresh(batch, legal, number)
    return -1


@compiled
def observe_games(batch: Any, seen: Any, which: Any, seats: Any, rows: Any) -> None:
    """Write what seats observe of the games of these numbers, into these rows."""
    rules, games, _, _ = batch
    planes, facts, space = seen
    for place in range(len(which)):
        game, row = games[which[place]], rows[place]
        _write_planes(rules[0], game, seats[place], planes[row], space)
        _write_facts(rules[0], game, seats[place], facts[row])
