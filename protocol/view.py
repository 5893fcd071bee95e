"""The view of one seat, updated only from the messages that it receives.

A bot feeds its `View` the messages that it receives and plays from it. The arena keeps the same object for a seat that
asked for `board` lines, and feeds it the same messages, so a board never shows hidden ranks.

Known ranks are kept. A piece is followed by its square: it moves with its side's `moved` line, and leaves the board
with a `battle` line.
"""

import random
from collections import Counter

from protocol.geometry import action_squares
from protocol.messages import (
    ArenaMessage,
    Battle,
    Clock,
    Enemy,
    Guess,
    Legal,
    Moved,
    Opponent,
    Rescued,
    Reveal,
    Rule,
    Seed,
    Turn,
)
from protocol.notation import (
    ARMY_RULE,
    BOARD_SIZE,
    EMPTY,
    HOME_SQUARES,
    LAKE_SQUARES,
    RANK_BY_LETTER,
    SQUARE_INDEX,
    Color,
    Rank,
    Survivor,
    read_army,
)

SEED_STRIDE = 1 << 32
"""Seeds are smaller than this, so no two turns of any two seeds have the same random numbers."""

CELL_EMPTY, CELL_LAKE = "..", "~~"

OF_PIECES = (Moved, Battle, Reveal, Rescued, Guess, Enemy)
"""The messages about pieces on the board."""


RESCUERS = frozenset(Rank) - {Rank.SCOUT, Rank.FLAG}
"""The ranks that may bring a lost piece back."""


class Piece:
    """A piece on the board as a seat knows it.

    `rank` is None while it is not known. `could_be` is None, or the ranks that its actions allow: never less than what
    is possible. `moved` tells whether it has moved.
    """

    __slots__ = ("color", "could_be", "moved", "rank")

    def __init__(self, color: Color, rank: Rank | None, moved: bool = False) -> None:
        self.color = color
        self.rank = rank
        self.could_be: frozenset[Rank] | None = None
        self.moved = moved

    def narrow(self, ranks: frozenset[Rank]) -> None:
        """Restrict the piece to these ranks; if one is left, that is its rank."""
        if self.rank is None:
            self.could_be = ranks if self.could_be is None else self.could_be & ranks
            if len(self.could_be) == 1:
                (self.rank,) = self.could_be

    @property
    def cell(self) -> str:
        """The two characters of a `board` line: colour, then rank, `?` (unknown, never moved) or `!` (has moved)."""
        return self.color.word[0] + (self.rank.letter if self.rank else "!" if self.moved else "?")


def stayers(attacker: Rank, bombs_stay: bool) -> frozenset[Rank]:
    """Return the ranks that stay when this one attacks them: those above it, and bombs that do not explode."""
    lowest = Rank.SPY if attacker is Rank.INFILTRATOR else attacker
    stayers = {rank for rank in Rank if lowest < rank < Rank.INFILTRATOR}
    if attacker is Rank.SPY:
        stayers.remove(Rank.MARSHAL)
    if bombs_stay and attacker is not Rank.MINER:
        stayers.add(Rank.BOMB)
    return frozenset(stayers)


class View:
    """A game as one seat knows it.

    `board` has 100 squares (see `protocol.notation`), each None or a `Piece`. `captured[color]` lists the ranks that
    this side has lost so far. `own_ms` and `enemy_ms` are milliseconds, as of the last `turn`; `own_bank_ms` is set if
    a bank and a limit per move are both in force. `legal` is the list of the coming turn's legal actions if the bot
    asked for it. `actions` is every action so far, oldest first. `setup` has the rows of the own set-up, and `told`
    every message about the pieces so far, oldest first: `enemy`, `moved`, `battle`, `reveal`, `rescued` and `guess`.
    The view's knowledge of the board follows from these two. `ply` is that of the last `turn`, 0 before the first.
    `opponent` is the opponent's name in the tables, or empty if the host does not name opponents. `random` is seeded
    again for each turn, from the game's `seed` line and the number of the ply.
    """

    def __init__(self, color: Color, variant: str) -> None:
        self.color = color
        self.variant = variant
        self.rules: dict[str, str] = {}
        self.army: dict[Rank, int] = {}
        self.clock: Clock | None = None
        self.seed = 0
        self.opponent = ""
        self.random = random.Random(0)
        self.board: list[Piece | None] = [None] * (BOARD_SIZE * BOARD_SIZE)
        self.captured: tuple[list[Rank], list[Rank]] = ([], [])
        self.actions: list[tuple[Color, str]] = []
        self.setup: tuple[str, ...] = ()
        self.told: list[ArenaMessage] = []
        self.legal: tuple[str, ...] = ()
        self._legal_is_whole = True
        self.ply = 0
        self.own_ms = self.enemy_ms = 0
        self.own_bank_ms: int | None = None
        self.enemy_bank_ms: int | None = None
        self._attack: tuple[int, int] | None = None
        self._runner: Piece | None = None
        """The piece that has just gone two squares straight, where a scout must now be announced."""

    @property
    def enemy(self) -> Color:
        return self.color.opponent

    def at(self, square: str) -> Piece | None:
        """Return the piece on a square given by its name. Raises `KeyError` for an unknown square."""
        try:
            return self.board[SQUARE_INDEX[square]]
        except KeyError:
            raise KeyError(f"expected a square from a1 to j10, got {square!r:.40}") from None

    def pieces(self, color: Color) -> list[tuple[int, Piece]]:
        """Return a side's pieces on the board with their squares, in the order of the squares.

        Raises `TypeError` for a value that is no `Color`.
        """
        if not isinstance(color, Color):
            raise TypeError(f"expected a Color, such as view.color or view.enemy, got {color!r:.40}")
        return [(index, piece) for index, piece in enumerate(self.board) if piece and piece.color is color]

    def hidden_ranks(self) -> dict[Rank, int]:
        """Return the number of hidden enemy pieces on the board by rank: the army less the seen and the lost."""
        left = Counter(self.army)
        left.subtract(self.captured[self.enemy])
        left.subtract(piece.rank for _, piece in self.pieces(self.enemy) if piece.rank)
        return {rank: count for rank, count in left.items() if count > 0}

    def possible_ranks(self, piece: Piece) -> frozenset[Rank]:
        """Return the ranks that a piece can certainly have: its own if it is known."""
        if piece.rank is not None:
            return frozenset({piece.rank})
        ranks = frozenset(self.hidden_ranks())
        if piece.moved:
            ranks -= self._fixed_ranks()
        return ranks if piece.could_be is None else ranks & piece.could_be

    def _fixed_ranks(self) -> frozenset[Rank]:
        fixed = {Rank.BOMB} if self.rules.get("bombs") != "mobile" else set()
        fixed |= {Rank.FLAG} if self.rules.get("flag") != "mobile" else set()
        return frozenset(fixed)

    def cells(self) -> tuple[str, ...]:
        return tuple(self.cell(index) for index in range(len(self.board)))

    def cell(self, square: int) -> str:
        piece = self.board[square]
        return CELL_LAKE if square in LAKE_SQUARES else piece.cell if piece else CELL_EMPTY

    def place_own(self, rows: tuple[str, ...]) -> None:
        """Put this side's set-up on the board.

        If it fills its rows, so does the opponent's, and the opponent's squares are known without an `enemy` line.
        """
        letters = "".join(rows)
        if len(letters) != len(HOME_SQUARES[self.color]):
            raise ValueError(
                f"expected a set-up of {len(HOME_SQUARES[self.color])} letters, four rows of ten, got {len(letters)}"
            )
        self.setup = tuple(rows)
        for square, letter in zip(HOME_SQUARES[self.color], letters, strict=True):
            if letter != EMPTY:
                self.board[square] = Piece(self.color, RANK_BY_LETTER[letter])
        if EMPTY not in letters:
            self._place_enemy(HOME_SQUARES[self.enemy])

    def _place_enemy(self, squares: tuple[int, ...]) -> None:
        for square in squares:
            self.board[square] = Piece(self.enemy, None)

    def apply(self, message: ArenaMessage) -> None:
        """Apply one message of the arena; messages that are not about the game are ignored."""
        if not isinstance(message, Reveal):
            self.close_action()
        if isinstance(message, OF_PIECES):
            self.told.append(message)
        match message:
            case Moved(color, action):
                self._moved(color, action)
            case Battle():
                self._battle(message)
            case Reveal(square, rank):
                self._known(SQUARE_INDEX[square], rank)
            case Rescued(color, square, rank):
                self.board[SQUARE_INDEX[square]] = Piece(color, rank)
                self.captured[color].remove(rank)
            case Guess(square, rank, right):
                self._guessed(SQUARE_INDEX[square], rank, right)
            case Legal(actions):
                self.legal = actions if self._legal_is_whole else self.legal + actions
                self._legal_is_whole = False
            case Turn():
                self._legal_is_whole = True
                self.ply = message.ply
                self.roll(message.ply)
                self.own_ms, self.enemy_ms = message.own_ms, message.enemy_ms
                self.own_bank_ms, self.enemy_bank_ms = message.own_bank_ms, message.enemy_bank_ms
            case Rule(name, value):
                self.rules[name] = value
                if name == ARMY_RULE:
                    self.army = dict(read_army(value))
            case Clock():
                self.clock = message
            case Seed(value):
                self.seed = value
                self.roll(0)
            case Opponent(name):
                self.opponent = name
            case Enemy(squares):
                self._place_enemy(tuple(SQUARE_INDEX[square] for square in squares))
            case _:
                pass

    def close_action(self) -> None:
        """Conclude that no message on the last action is missing: a runner not announced as a scout is a captain.

        Every message but `reveal` implies this.
        """
        if self._runner:
            self._runner.narrow(frozenset({Rank.CAPTAIN}))
            self._runner = None

    def roll(self, ply: int) -> None:
        """Seed `random` for a turn: the numbers follow from seed and ply alone, so an interrupted game can be
        resumed.
        """
        self.random.seed(self.seed + SEED_STRIDE * ply)

    def _known(self, square: int, rank: Rank) -> None:
        self._runner = None
        piece = self.board[square]
        if piece:
            piece.rank = rank

    def _guessed(self, square: int, rank: Rank, right: bool) -> None:
        piece = self.board[square]
        if piece is None:
            return
        if right:
            piece.rank = rank
            self._capture(piece)
            self.board[square] = None
        else:
            piece.narrow(frozenset(Rank) - {rank})

    def _moved(self, color: Color, action: str) -> None:
        self.actions.append((color, action))
        squares = action_squares(action)
        if squares is None or "?" in action:
            return  # a resignation or a guess: no piece goes anywhere
        origin, target = squares
        piece = self.board[origin]
        if piece is None:
            return
        piece.moved = True
        if "+" in action:
            piece.narrow(RESCUERS)
        if self.rules.get("captains") == "two-steps":
            self._ran(piece, origin, target, turned=action.count("-") > 1)
        if self.board[target] is None:
            self.board[target], self.board[origin] = piece, None
        else:
            self._attack = (origin, target)  # the `battle` line that follows has the survivor

    def _ran(self, piece: Piece, origin: int, target: int, turned: bool) -> None:
        if turned:
            piece.narrow(frozenset({Rank.CAPTAIN}))
        elif abs(origin - target) in (2, 2 * BOARD_SIZE):
            piece.narrow(frozenset({Rank.CAPTAIN, Rank.SCOUT}))
            if self.board[target] is None and self.rules.get("scouts") == "announced":
                self._runner = piece

    def _battle(self, battle: Battle) -> None:
        if self._attack is None:
            return
        origin, target = self._attack
        self._attack = None
        attacker, defender = self.board[origin], self.board[target]
        if attacker is None or defender is None:
            return
        attacker.rank = battle.attacker
        if battle.defender is not None:
            defender.rank = battle.defender
        elif battle.survivor is Survivor.DEFENDER:
            defender.narrow(stayers(battle.attacker, self.rules.get("bombs", "fixed") == "fixed"))
        self.board[origin] = None
        if battle.survivor is not Survivor.DEFENDER:
            self.board[target] = attacker if battle.survivor is Survivor.ATTACKER else None
            self._capture(defender)
        if battle.survivor is not Survivor.ATTACKER:
            self._capture(attacker)

    def _capture(self, piece: Piece) -> None:
        if piece.rank is not None:
            self.captured[piece.color].append(piece.rank)
