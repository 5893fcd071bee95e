"""The rules against going round for ever: two squares, and chasing in two forms.

Two squares (ISF Game Rules 10.1; every booklet but Milton Bradley's has a form of it). Two neighbouring squares have a
border between them. No border may be crossed in more than `limit` consecutive own moves by the same piece; a scout
crosses every border on its way, a captain both borders of its path. A move's borders are a set of bits, so what all of
the last `limit` moves have in common is the `&` of theirs, and the next move is refused if it crosses any of that. The
run ends when another piece of the side moves, when an infiltrator guesses, or when the piece dies; turning off the line
leaves nothing in common. Attacks count; what the opponent does does not matter.

Chasing (ISF Game Rules 11.1-11.3). Each side has a length: the number of plies, in a row, in which it threatened (ended
beside an enemy piece) and the opponent evaded (moved a piece that stood beside the place just moved to). A threatening
move to an empty square may not bring back a position that has stood on the board during this chase, unless it steps
straight back to where the piece came from on the side's previous move (there the two-squares rule decides).

Chasing as the booklets have it (81320 p. 5, 09495, Travel, Vintage p. 17, read together): once the evading pieces have
stood on more than two squares in this chase, the pursuer may not make a threatening move to an empty square that gives
any position which stood on the board before. Over only two squares the two-squares rule alone decides.
"""

from arena.rules.actions import Travel
from arena.rules.board import EMPTY, ENEMIES, NEIGHBOURS, SQUARE_KEYS
from arena.rules.ruleset import Chase

NOWHERE = -1


class TwoSquares:
    """One side's run of consecutive moves by one piece."""

    __slots__ = ("_limit", "_run", "closed", "square")

    def __init__(self, limit: int | None) -> None:
        self._limit = limit or 0
        self._run: list[int] = []
        self.square = NOWHERE
        """Where the piece of the run stands."""
        self.closed = 0
        """The borders that this piece may not cross with its next move."""

    def copy(self) -> "TwoSquares":
        other = TwoSquares(self._limit)
        other._run, other.square, other.closed = self._run[:], self.square, self.closed
        return other

    def forbids(self, move: Travel) -> bool:
        """Whether the rule refuses this move of the side."""
        return self.closed & move.borders != 0 and move.origin == self.square

    def played(self, move: Travel, survived: bool) -> None:
        """Take note of the side's move; `survived` is whether the piece that moved is still on the board."""
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
        self.square = move.target if survived else NOWHERE

    def broken(self) -> None:
        """The side has done something else than move a piece."""
        self.square = NOWHERE
        self.closed = 0


def touches_enemy(board: list[int], square: int, side: int) -> bool:
    """Whether a piece of `side` on `square` stands beside an enemy piece."""
    enemies = ENEMIES[side]
    for neighbour in NEIGHBOURS[square]:  # noqa: SIM110  (called once a ply: any() takes three times as long)
        if enemies[board[neighbour]]:
            return True
    return False


class ChaseLog:
    """Both sides' chases, and the positions that they can be held against."""

    __slots__ = ("_booklet", "_fled", "_key", "_keys", "_last", "_seen", "length")

    def __init__(self, board: list[int], form: Chase) -> None:
        key = 0
        for square, code in enumerate(board):
            key ^= SQUARE_KEYS[code][square]
        self._booklet = form is Chase.BOOKLET
        self._key = key
        self._keys = [key]
        self._seen: set[int] = set()
        """The earlier positions, the present one left aside; kept where the booklets' form of the rule needs them."""
        self._last: list[Travel | None] = [None, None]
        self._fled: tuple[set[int], set[int]] = (set(), set())
        """Per pursuer, the squares that evading pieces have stood on in its present chase."""
        self.length = [0, 0]
        """Per side, how many plies its present chase has lasted: its threats and the opponent's evasions."""

    def copy(self) -> "ChaseLog":
        other = ChaseLog([], Chase.BOOKLET if self._booklet else Chase.ISF)
        other._key, other._keys, other._last = self._key, self._keys[:], self._last[:]
        other._seen, other.length = self._seen.copy(), self.length[:]
        other._fled = (self._fled[0].copy(), self._fled[1].copy())
        return other

    def forbids(self, board: list[int], side: int, move: Travel) -> bool:
        """Whether the rule refuses this move of `side` from the position on `board`."""
        length = self.length[side]
        if length < 2 or board[move.target]:
            return False
        keys = SQUARE_KEYS[board[move.origin]]
        key = self._key ^ keys[move.origin] ^ keys[move.target]
        if self._booklet:
            known = len(self._fled[side]) > 2 and key in self._seen
        else:
            last = self._last[side]
            steps_back = last is not None and last.target == move.origin and last.origin == move.target
            known = not steps_back and key in self._keys[-length:-1]
        return known and touches_enemy(board, move.target, side)

    def moved(self, board: list[int], side: int, move: Travel, code: int) -> None:
        """Take note of a move to an empty square by the piece `code`; `board` is the position after it."""
        length, threat = self.length, self._last[1 - side]
        evaded = threat is not None and move.origin in NEIGHBOURS[threat.target]
        length[1 - side] = length[1 - side] + 1 if evaded else 0
        length[side] = length[side] + 1 if touches_enemy(board, move.target, side) else 0
        if self._booklet:
            self._remember(side, move)
        self._last[side] = move
        keys = SQUARE_KEYS[code]
        self._key ^= keys[move.origin] ^ keys[move.target]
        self._keys.append(self._key)

    def _remember(self, side: int, move: Travel) -> None:
        """What the booklets' form of the rule needs: the position left, and where the evading pieces have stood."""
        self._seen.add(self._key)
        if self.length[1 - side]:
            self._fled[1 - side].update((move.origin, move.target))
        else:
            self._fled[1 - side].clear()
        if not self.length[side]:
            self._fled[side].clear()

    def attacked(self, board: list[int], side: int, move: Travel, before: tuple[int, int]) -> None:
        """Take note of an attack: the codes on the move's two squares `before` it; `board` is the position after it.

        It ends both chases. If the square fought over lies beside another enemy piece, a new one begins there.
        """
        self._ended(0)
        self._ended(1)
        self.length[side] = 1 if touches_enemy(board, move.target, side) else 0
        self._last[side] = move
        attacker, defender = before
        change = SQUARE_KEYS[attacker][move.origin] ^ SQUARE_KEYS[defender][move.target]
        self._stands(change ^ SQUARE_KEYS[board[move.target]][move.target])

    def placed(self, square: int, code: int) -> None:
        """Take note of a piece that came to a square (or left it) otherwise than by moving, within the same turn."""
        self._key ^= SQUARE_KEYS[code][square]
        self._keys[-1] = self._key

    def guessed(self, side: int, square: int, code: int) -> None:
        """Take note of an infiltration; `code` is the piece that left `square` by it, or EMPTY. It ends both chases."""
        self._ended(0)
        self._ended(1)
        self._last[side] = None
        self._stands(SQUARE_KEYS[code][square] if code != EMPTY else 0)

    def _ended(self, side: int) -> None:
        self.length[side] = 0
        self._fled[side].clear()

    def _stands(self, change: int) -> None:
        if self._booklet:
            self._seen.add(self._key)
        self._key ^= change
        self._keys.append(self._key)
