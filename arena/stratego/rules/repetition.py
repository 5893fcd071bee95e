"""The rules against endless repetition: two squares, and chasing in two forms.

Two squares (ISF Game Rules 10.1; every booklet but Milton Bradley's has a form of it). Two neighbouring squares have a
border between them. No border may be crossed in more than `limit` consecutive own moves by the same piece; a scout
crosses every border on its way, a captain both borders of its path. A move's borders are a set of bits, so the `&` of
the last `limit` moves has their common borders, and the next move is refused if it crosses any of them. The run ends
when another piece of the side moves, when an infiltrator guesses, or when the piece dies; turning off the line leaves
no common border. Attacks count; the opponent's moves do not matter.

Chasing (ISF Game Rules 11.1-11.3). Each side has a length: the number of plies, in a row, in which it threatened (ended
next to an enemy piece) and the opponent evaded (moved a piece that was next to the square just moved to). A threatening
move to an empty square may not repeat a position of this chase, unless it steps straight back to where the piece came
from on the side's previous move (there the two-squares rule decides).

Chasing as the booklets have it (81320 p. 5, 09495, Travel, Vintage p. 17, read together): once the evading pieces have
been on more than two squares in this chase, the pursuer may not make a threatening move to an empty square that repeats
any earlier position. Over only two squares the two-squares rule alone decides.

The same position, in both forms, is what the side to move can distinguish. Its own pieces and those with a rank known
to it count as their ranks, any other enemy piece counts as itself. So the legality of a move follows from what its side
has been told, and the list of legal moves reveals no rank.
"""

from collections.abc import Iterable

from arena.stratego.rules.action_types import Path, PieceMove
from arena.stratego.rules.board import EMPTY, ENEMIES, HIDDEN, SQUARE_KEYS, StraightMove
from arena.stratego.rules.ruleset import Chase
from protocol.geometry import NEIGHBOURS

NOWHERE = -1

Change = PieceMove | int | tuple[tuple[int, int], ...]
"""One change on the board: a move to an empty square; or the squares and their codes before an attack or a guess; or
the square on which a lost piece came back, after one of the others in the same turn."""


class TwoSquares:
    """One side's run of consecutive moves by one piece."""

    __slots__ = ("_limit", "_run", "closed", "square")

    def __init__(self, limit: int | None) -> None:
        self._limit = limit or 0
        self._run: list[int] = []
        self.square = NOWHERE
        """The square that the piece of the run has moved to."""
        self.closed = 0
        """The borders that this piece may not cross with its next move."""

    def copy(self) -> "TwoSquares":
        other = TwoSquares(self._limit)
        other._run, other.square, other.closed = self._run[:], self.square, self.closed
        return other

    def forbids(self, move: PieceMove) -> bool:
        """Whether the rule forbids this move of the side."""
        return self.closed & move.borders != 0 and move.origin == self.square

    def played(self, move: PieceMove) -> None:
        """Add the side's move.

        If it was an attack that the piece did not survive, no piece of the side can be on its square in the next turn.
        """
        limit = self._limit
        if not limit:
            return
        if move.origin == self.square:
            run = self._run
            run.append(move.borders)
            if len(run) > limit:
                del run[0]
        else:
            self._run = run = [move.borders]
        closed = 0
        if len(run) == limit:
            closed = run[0]
            for borders in run:
                closed &= borders
        self.closed = closed
        self.square = move.target

    def broken(self) -> None:
        """End the run: the side has done something other than move a piece."""
        self.square = NOWHERE
        self.closed = 0


def touches_enemy(board: list[int], square: int, side: int) -> bool:
    """Whether a piece of `side` on `square` is next to an enemy piece."""
    enemies = ENEMIES[side]
    for neighbour in NEIGHBOURS[square]:  # noqa: SIM110  (called once a ply: any() takes three times as long)
        if enemies[board[neighbour]]:
            return True
    return False


def ways_back(
    board: list[int], told: set[int], side: int, changes: Iterable[Change], wanted: int | None = None
) -> frozenset[int]:
    """Return the changes by which a move would repeat an earlier position, as `side` sees it: xors of SQUARE_KEYS.

    `changes` are those on the board, the latest first; `wanted` is how many plies of them count, None for all. The
    side's own pieces and those with a rank known to it count as their ranks, the other enemy pieces as themselves.
    """
    enemies = ENEMIES[side]
    labels = [HIDDEN + square if enemies[code] and square not in told else code for square, code in enumerate(board)]
    found: set[int] = set()
    way, left = 0, -1 if wanted is None else wanted
    for change in changes:
        if type(change) is StraightMove or type(change) is Path:
            origin, target = change.origin, change.target
            label = labels[target]
            keys = SQUARE_KEYS[label]
            way ^= keys[origin] ^ keys[target]
            labels[origin], labels[target] = label, EMPTY
        elif isinstance(change, int):  # the piece on this square came back in the turn that is walked back next
            way ^= SQUARE_KEYS[labels[change]][change]
            labels[change] = EMPTY
            continue
        elif isinstance(change, tuple):
            for square, code in change:
                way ^= SQUARE_KEYS[labels[square]][square] ^ SQUARE_KEYS[code][square]
                labels[square] = code
        found.add(way)
        left -= 1
        if not left:
            break
    return frozenset(found)


class ChaseLog:
    """Both sides' chases, and the way back to the positions that may not be repeated.

    No position is stored: the changes are, and a move is judged by going back over them, which is rare. On the way back
    a piece keeps its label: what the viewer knows of it now counts for all positions.
    """

    __slots__ = ("_booklet", "_changes", "_fled", "_last", "_refused", "_returns", "length")

    def __init__(self, form: Chase, pieces_return: bool) -> None:
        """`pieces_return` is whether lost pieces can come back. If not, no position returns once a piece is lost."""
        self._booklet = form is Chase.BOOKLET
        self._returns = pieces_return and self._booklet
        self._changes: list[Change] = []
        """Changes on the board, the latest last, as far back as a position may be repeated."""
        self._refused: frozenset[int] | None = None
        """The cached result of `ways_back` for the side to move in the present position."""
        self._last: list[PieceMove | None] = [None, None]
        self._fled: tuple[set[int], set[int]] = (set(), set())
        """By pursuer: the squares that evading pieces have been on in its present chase."""
        self.length = [0, 0]
        """By side: the plies of its present chase, its threats and the opponent's evasions."""

    def copy(self) -> "ChaseLog":
        other = object.__new__(ChaseLog)
        other._booklet, other._returns, other._refused = self._booklet, self._returns, None
        other._changes, other._last, other.length = self._changes[:], self._last[:], self.length[:]
        other._fled = (self._fled[0].copy(), self._fled[1].copy())
        return other

    def forbids(
        self, board: list[int], told: set[int], side: int, move: PieceMove, placed: tuple[int, int] | None = None
    ) -> bool:
        """Whether the rule forbids this move of the side to move.

        `board` and `told` (the squares of the pieces with ranks known to the opponent) are the position before it;
        `placed` is the square and the code of a piece that comes back with the move.
        """
        if self.length[side] < 2 or board[move.target] or not touches_enemy(board, move.target, side):
            return False
        if self._booklet:
            if len(self._fled[side]) <= 2:
                return False
        else:
            last = self._last[side]
            if last is not None and last.target == move.origin and last.origin == move.target:
                return False
        if self._refused is None:
            wanted = None if self._booklet else self.length[side] - 1
            self._refused = ways_back(board, told, side, reversed(self._changes), wanted)
        keys = SQUARE_KEYS[board[move.origin]]
        change = keys[move.origin] ^ keys[move.target]
        if placed:
            square, code = placed
            change ^= SQUARE_KEYS[code][square]
        return change in self._refused

    def moved(self, board: list[int], side: int, move: PieceMove) -> None:
        """Add a move to an empty square; `board` is the position after it."""
        length, threat = self.length, self._last[1 - side]
        evaded = threat is not None and move.origin in NEIGHBOURS[threat.target]
        length[1 - side] = length[1 - side] + 1 if evaded else 0
        length[side] = length[side] + 1 if touches_enemy(board, move.target, side) else 0
        if self._booklet:
            self._flee(side, move)
        self._last[side] = move
        self._changes.append(move)
        self._refused = None

    def _flee(self, side: int, move: PieceMove) -> None:
        if self.length[1 - side]:
            self._fled[1 - side].update((move.origin, move.target))
        else:
            self._fled[1 - side].clear()
        if not self.length[side]:
            self._fled[side].clear()

    def attacked(self, board: list[int], side: int, move: PieceMove, before: tuple[int, int]) -> None:
        """Add an attack: the codes on the move's two squares `before` it; `board` is the position after it.

        It ends both chases. If the square of the fight is next to another enemy piece, a new one begins there.
        """
        self._ended()
        self.length[side] = 1 if touches_enemy(board, move.target, side) else 0
        self._last[side] = move
        attacker, defender = before
        was = [(move.origin, attacker), (move.target, defender)]
        self._lost(was if board[move.target] != defender else was[:1])

    def placed(self, square: int) -> None:
        """Add a piece that has come back on a square, within the same turn as the move before."""
        self._changes.append(square)
        self._refused = None

    def guessed(self, side: int, square: int, code: int) -> None:
        """Add an infiltration; `code` is the piece that left `square` by it, or EMPTY. It ends both chases."""
        self._ended()
        self._last[side] = None
        if code != EMPTY:
            self._lost([(square, code)])
        else:  # an unchanged board: earlier positions can come back
            self._changes.append(())
            self._refused = None

    def _ended(self) -> None:
        for side in (0, 1):
            self.length[side] = 0
            self._fled[side].clear()

    def _lost(self, was: list[tuple[int, int]]) -> None:
        """Add pieces that have left the board: squares with the codes on them before.

        Their ranks are known to both. A piece that has won its attack is known too, so that a code is its label.
        """
        if self._returns:
            self._changes.append(tuple(was))
        else:
            self._changes.clear()
        self._refused = None
