"""The two rules against going round for ever: two squares, and chasing.

Two squares (ISF Game Rules 10.1; every booklet but Milton Bradley's has a form of it). Two neighbouring squares have a
border between them. No border may be crossed in more than `limit` consecutive own moves by the same piece; a scout
crosses every border on its way. As the moves of a run stay on one line, each is an interval of borders, and the next
one is refused if it overlaps what all of the last `limit` moves have in common. The run ends when another piece of the
side moves, when the piece turns off the line, or when it dies. Attacks count; what the opponent does does not matter.

Chasing (ISF Game Rules 11.1-11.3). Each side has a length: the number of plies, in a row, in which it threatened (ended
beside an enemy piece) and the opponent evaded (moved a piece that stood beside the place just moved to). A threatening
move to an empty square may not bring back a position that has stood on the board during this chase, unless it steps
straight back to where the piece came from on the side's previous move (there the two-squares rule decides).
"""

from arena.rules.board import BLUE_BIT, NEIGHBOURS, SQUARE_KEYS, Move

NOWHERE = -1


class TwoSquares:
    """One side's run of consecutive moves by one piece along one line."""

    __slots__ = ("_axis", "_limit", "_run", "high", "low", "square")

    def __init__(self, limit: int | None) -> None:
        self._limit = limit or 0
        self._run: list[Move] = []
        self._axis = 0
        self.square = NOWHERE
        """Where the piece of the run stands."""
        self.low = self.high = 0
        """The borders numbered `low` to `high - 1` are closed to that piece along its line; none if they are equal."""

    def copy(self) -> "TwoSquares":
        other = TwoSquares(self._limit)
        other._run, other._axis, other.square = self._run[:], self._axis, self.square
        other.low, other.high = self.low, self.high
        return other

    def forbids(self, move: Move) -> bool:
        """Whether the rule refuses this move of the side."""
        return (
            self.low < self.high
            and move.origin == self.square
            and move.axis == self._axis
            and move.low < self.high
            and move.high > self.low
        )

    def played(self, move: Move, survived: bool) -> None:
        """Take note of the side's move; `survived` is whether the piece that moved is still on the board."""
        limit = self._limit
        if not limit:
            return
        if move.origin == self.square and move.axis == self._axis:
            run = self._run
            run.append(move)
            if len(run) > limit:
                del run[0]
            if len(run) == limit:
                self.low = max([move.low for move in run])
                self.high = min([move.high for move in run])
        else:
            self._run = [move]
            self._axis = move.axis
            self.low, self.high = (move.low, move.high) if limit == 1 else (0, 0)
        self.square = move.target if survived else NOWHERE


def touches_enemy(board: list[int], square: int, side: int) -> bool:
    """Whether a piece of `side` on `square` stands beside an enemy piece."""
    for neighbour in NEIGHBOURS[square]:
        code = board[neighbour]
        if code and (code < BLUE_BIT) == side:
            return True
    return False


class ChaseLog:
    """Both sides' chases, and the positions that they can be held against."""

    __slots__ = ("_key", "_keys", "_last", "length")

    def __init__(self, board: list[int]) -> None:
        key = 0
        for square, code in enumerate(board):
            key ^= SQUARE_KEYS[code][square]
        self._key = key
        self._keys = [key]
        self._last: list[Move | None] = [None, None]
        self.length = [0, 0]
        """Per side, how many plies its present chase has lasted: its threats and the opponent's evasions."""

    def copy(self) -> "ChaseLog":
        other = ChaseLog([])
        other._key, other._keys, other._last = self._key, self._keys[:], self._last[:]
        other.length = self.length[:]
        return other

    def forbids(self, board: list[int], side: int, move: Move) -> bool:
        """Whether the rule refuses this move of `side` from the position on `board`."""
        length = self.length[side]
        if length < 2 or board[move.target]:
            return False
        last = self._last[side]
        if last is not None and last.target == move.origin and last.origin == move.target:
            return False
        keys = SQUARE_KEYS[board[move.origin]]
        key = self._key ^ keys[move.origin] ^ keys[move.target]
        return key in self._keys[-length:-1] and touches_enemy(board, move.target, side)

    def moved(self, board: list[int], side: int, move: Move, code: int) -> None:
        """Take note of a move to an empty square by the piece `code`; `board` is the position after it."""
        length, last = self.length, self._last
        threat = last[1 - side]
        length[1 - side] = length[1 - side] + 1 if threat and move.origin in NEIGHBOURS[threat.target] else 0
        length[side] = length[side] + 1 if touches_enemy(board, move.target, side) else 0
        last[side] = move
        keys = SQUARE_KEYS[code]
        self._key ^= keys[move.origin] ^ keys[move.target]
        self._keys.append(self._key)

    def attacked(self, board: list[int], side: int, move: Move, before: tuple[int, int]) -> None:
        """Take note of an attack: the codes on the move's two squares `before` it; `board` is the position after it.

        It ends both chases. If the square fought over lies beside another enemy piece, a new one begins there.
        """
        after = board[move.target]
        self.length = [0, 0]
        self.length[side] = 1 if touches_enemy(board, move.target, side) else 0
        self._last[side] = move
        attacker, defender = before
        self._key ^= SQUARE_KEYS[attacker][move.origin] ^ SQUARE_KEYS[defender][move.target]
        self._key ^= SQUARE_KEYS[after][move.target]
        self._keys.append(self._key)
