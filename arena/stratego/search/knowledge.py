"""The knowledge of a seat, derived from its `View`: each enemy piece with the ranks that it can have.

The messages of one ply are read together, as one `Happening`: the action and its results. So no conclusion is drawn
from an action before its `battle` or `reveal` has been read.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache

from arena.errors import UsageError
from arena.stratego.rules.action_types import Action, Infiltration, PieceMove, Rescue, parse_action
from arena.stratego.rules.board import code_of
from arena.stratego.rules.ruleset import RULE_KEYS, Ruleset, ruleset_from_lines
from arena.stratego.rules.setup import place
from arena.stratego.rules.tables import tables_of
from arena.stratego.search.armies import Armies, Army
from arena.stratego.search.conditions import Differs, SomeCanMove, some_can_move, unlike_earlier
from arena.stratego.search.listing import UNKNOWN
from arena.stratego.search.pieces import EnemyPiece
from arena.stratego.search.seat_position import Position
from protocol.messages import ArenaMessage, Battle, Enemy, Guess, Moved, Rescued, Reveal
from protocol.notation import BOARD_SIZE, EMPTY, HOME_SQUARES, RESIGN, SQUARE_INDEX, Color, Rank
from protocol.view import View

GONE = -1
RULE_NAMES = frozenset(key.replace("_", "-") for key in RULE_KEYS)
"""Rules of other names are ignored, as the protocol asks of bots."""


class Happening:
    """The action and the results of one ply, as messages."""

    __slots__ = ("action", "battle", "color", "guess", "rescued", "reveal")

    def __init__(self, color: Color, action: Action) -> None:
        self.color = color
        self.action = action
        self.battle: Battle | None = None
        self.reveal: Reveal | None = None
        self.rescued: Rescued | None = None
        self.guess: Guess | None = None


def happening_at(messages: Sequence[ArenaMessage], start: int) -> tuple[Happening | None, int]:
    """Return the ply that begins with the `Moved` at this index (None if a side resigned), and the next index."""
    moved = messages[start]
    assert isinstance(moved, Moved)
    found = None if moved.action == RESIGN else Happening(moved.color, parse_action(moved.action))
    end = start + 1
    while end < len(messages) and not isinstance(message := messages[end], Moved):
        match message:
            case _ if found is None:
                pass
            case Battle():
                found.battle = message
            case Reveal():
                found.reveal = message
            case Rescued():
                found.rescued = message
            case Guess():
                found.guess = message
        end += 1
    return found, end


class Knowledge:
    """The knowledge of a seat, as of the current turn of its view. `update` reads the turns played since.

    `color` is the own side, `ruleset` the rules, `pieces` all the enemy's pieces on the board by their squares. Rules
    with unknown names are ignored. Raises `UsageError` for a view without a set-up, `RulesetError` for one without
    rules, or with an unknown value.
    """

    def __init__(self, view: View) -> None:
        if not view.setup:
            raise UsageError("expected the view of a game that has begun, got one without a set-up")
        self.view = view
        self.color = view.color
        self.enemy = view.color.opponent
        known = [(name, value) for name, value in view.rules.items() if name in RULE_NAMES]
        self.ruleset: Ruleset = ruleset_from_lines(view.variant, known)
        self.tables = tables_of(self.ruleset)
        self.ply = 0
        self.pieces: dict[int, EnemyPiece] = {}
        self.left = Counter(dict(self.ruleset.army))
        """The number of pieces of each rank that the enemy has on the board."""
        self._read = 0
        self._position = self._place()
        """The known position; unknown pieces are given a rank as it becomes known."""
        self._first = tuple(self.pieces.values())
        self._open: list[SomeCanMove | Differs] = []
        """Conditions on several hidden pieces together that are not settled yet."""
        self._goes_on()
        self.update()

    def _place(self) -> Position:
        """Return the position before the first action, in which all enemy pieces are unknown."""
        board = [0] * (BOARD_SIZE * BOARD_SIZE)
        place(board, self.color, self.view.setup)
        squares: Sequence[int] = HOME_SQUARES[self.enemy]
        if not self.ruleset.fills_rows:
            told = next((message for message in self.view.told if isinstance(message, Enemy)), None)
            if told is None:
                raise UsageError("expected the view of a game that has begun, got one without the enemy's squares")
            squares = [SQUARE_INDEX[name] for name in told.squares]
        army = frozenset(self.left)
        for square in squares:
            self.pieces[square] = EnemyPiece(square, army, square)
            board[square] = UNKNOWN[self.enemy]
        return Position.of_board(self.ruleset, board)

    # --- reading --------------------------------------------------------------------------------------------------

    def update(self) -> None:
        """Read the new messages of the view, up to its present turn."""
        messages, at = self.view.told, self._read
        if at == 0 and messages and isinstance(messages[0], Enemy):
            at = 1
        while self.ply + 1 < self.view.ply and at < len(messages):  # of the ply of the present turn more may be told
            happening, at = happening_at(messages, at)
            if happening:
                self._take(happening)
            self.ply += 1
        self._read = at
        self._open = [condition for condition in self._open if not condition.is_settled]
        for piece in self.pieces.values():
            self._show(piece)
        self.__dict__.pop("hidden", None)
        self.__dict__.pop("armies", None)

    def _take(self, happening: Happening) -> None:
        """Read one ply: first its information on pieces, then their moves and losses."""
        action, position = happening.action, self._position
        move = action.move if isinstance(action, Rescue) else action
        mover, other = self.pieces.get(move.origin), self.pieces.get(move.target)
        if mover:
            self._learn_of_mover(mover, happening)
        elif other:
            self._learn_of_target(other, happening)
        if mover and not isinstance(move, Infiltration) and not happening.battle:
            back = (SQUARE_INDEX[happening.rescued.square], happening.rescued.rank) if happening.rescued else None
            self._open += unlike_earlier(position, self.pieces, self.enemy, move, back)
        stays = bool(other) and position.board[move.target] == UNKNOWN[self.enemy]
        if stays and other:
            position.board[move.target] = code_of(self.enemy, next(iter(other.ranks)))  # any of them stays
        position.play(action)
        if stays:
            position.board[move.target] = UNKNOWN[self.enemy]
        if happening.reveal:
            position.told.add(SQUARE_INDEX[happening.reveal.square])
        self._follow(happening)
        position.forget()
        is_quiet = isinstance(action, PieceMove) and not happening.battle
        if happening.color is self.enemy and not is_quiet:
            self._goes_on()

    def _goes_on(self) -> None:
        """Note that the enemy can move, since under `no-move at-once` the game would be over otherwise."""
        if self.tables.at_once:
            condition = some_can_move(self._position, self.pieces.values(), self.enemy)
            self._open += [condition] if condition else []

    def _learn_of_mover(self, piece: EnemyPiece, happening: Happening) -> None:
        action, battle = happening.action, happening.battle
        if isinstance(action, Infiltration):
            piece.named(Rank.INFILTRATOR)
        else:
            move = action.move if isinstance(action, Rescue) else action
            piece.has_moved(self.tables, move, happening.reveal is not None, battle is not None)
            if isinstance(action, Rescue):
                piece.rescues()
            if happening.reveal:
                piece.named(happening.reveal.rank)
            if battle:
                piece.named(battle.attacker)
            else:
                piece.did_not_win_by_arriving(self.tables, move.target, self.enemy)
            self._position.movers[self.enemy].add(move.origin)
        self._show(piece)

    def _learn_of_target(self, piece: EnemyPiece, happening: Happening) -> None:
        battle, guess = happening.battle, happening.guess
        if battle and battle.defender is not None:
            piece.named(battle.defender)
        elif battle:
            piece.stayed(self.tables, battle.attacker)
        elif guess and guess.right:
            piece.named(guess.rank)
        elif guess:
            piece.is_not(guess.rank)
        self._show(piece)

    def _show(self, piece: EnemyPiece) -> None:
        if piece.rank is not None and self._position.board[piece.square] == UNKNOWN[self.enemy]:
            self._position.identify(piece.square, piece.rank)

    def _follow(self, happening: Happening) -> None:
        action = happening.action
        move = action.move if isinstance(action, Rescue) else action
        target = self.pieces.get(move.target)
        if target and not self._stands(move.target):
            self._lose(target)
        if happening.color is self.enemy and not isinstance(action, Infiltration):
            piece = self.pieces.pop(move.origin)
            piece.square = move.target
            if self._stands(move.target):
                self.pieces[move.target] = piece
            else:
                self._lose(piece)
        rescued = happening.rescued
        if rescued and rescued.color is self.enemy:
            square = SQUARE_INDEX[rescued.square]
            self.pieces[square] = EnemyPiece(square, frozenset({rescued.rank}))
            self.left[rescued.rank] += 1

    def _stands(self, square: int) -> bool:
        return self._position.color_at(square) is self.enemy

    def _lose(self, piece: EnemyPiece) -> None:
        self.pieces.pop(piece.square, None)
        piece.square = GONE
        assert piece.rank is not None
        self.left[piece.rank] -= 1

    # --- what can be asked ----------------------------------------------------------------------------------------

    @cached_property
    def hidden(self) -> tuple[EnemyPiece, ...]:
        """The enemy's pieces of unknown rank, in the order of their squares."""
        return tuple(self.pieces[square] for square in sorted(self.pieces) if self.pieces[square].rank is None)

    def possible(self) -> dict[int, frozenset[Rank]]:
        """Return the ranks that each hidden piece can have, by its square, without regard to the conditions."""
        left = self._left_hidden()
        sets = {piece.square: piece.ranks.intersection(left) for piece in self.hidden}
        possible = _possible(tuple(Counter(sets.values()).items()), tuple(left.items()))
        return {square: possible[ranks] for square, ranks in sets.items()}

    def _left_hidden(self) -> Counter[Rank]:
        """Count the hidden pieces of each rank."""
        known = Counter(piece.rank for piece in self.pieces.values() if piece.rank is not None)
        return +(self.left - known)

    @cached_property
    def armies(self) -> Armies:
        """All possible ranks of the hidden pieces; an army is in the order of `hidden`."""
        left = self._left_hidden()
        places = {piece: place for place, piece in enumerate(self.hidden)}
        return Armies([piece.ranks for piece in self.hidden], left, [condition.of(places) for condition in self._open])

    def position(self, army: Army) -> Position:
        """Return the position of the present turn, if the hidden pieces are this army."""
        self._check(army)
        return self._position.filled([piece.square for piece in self.hidden], army)

    def ranks_of(self, army: Army) -> dict[int, Rank]:
        """Return the rank of every enemy piece on the board by its square, if the hidden ones are this army."""
        self._check(army)
        ranks = {piece.square: rank for piece, rank in zip(self.hidden, army, strict=True)}
        for square, piece in self.pieces.items():
            if piece.rank is not None:
                ranks[square] = piece.rank
        return ranks

    def rows_of(self, army: Army) -> tuple[str, ...]:
        """Return the enemy's original set-up, if the hidden pieces are this army; in the form of `View.setup`."""
        self._check(army)
        of_hidden = dict(zip(self.hidden, army, strict=True))
        letters = dict.fromkeys(HOME_SQUARES[self.enemy], EMPTY)
        for piece in self._first:
            rank = of_hidden[piece] if piece.rank is None else piece.rank
            assert piece.home is not None
            letters[piece.home] = rank.letter
        text = "".join(letters.values())
        return tuple(text[start : start + BOARD_SIZE] for start in range(0, len(text), BOARD_SIZE))

    def _check(self, army: Army) -> None:
        if len(army) != len(self.hidden):
            raise UsageError(
                f"expected an army of {len(self.hidden)} ranks, one for each piece in `hidden`, got {len(army)}"
            )


@lru_cache(maxsize=4096)
def _possible(
    groups: tuple[tuple[frozenset[Rank], int], ...], left: tuple[tuple[Rank, int], ...]
) -> dict[frozenset[Rank], frozenset[Rank]]:
    """Return the ranks that the pieces of each group can have; groups have a set of ranks and a number of pieces.

    One army is found first. A group can have another rank if the group that has it there can take a further one, and
    so on, until one comes back to the first group: a cycle of a bipartite matching.
    """
    spare, has = dict(left), {ranks: Counter[Rank]() for ranks, _ in groups}

    def give(ranks: frozenset[Rank], tried: set[Rank]) -> bool:
        """Give a piece of this group a rank; another piece may have to take another one for it."""
        for rank in ranks - tried:
            tried.add(rank)
            if spare[rank]:
                spare[rank] -= 1
                has[ranks][rank] += 1
                return True
            for others, given in has.items():
                if given[rank] and give(others, tried):
                    given[rank] -= 1
                    has[ranks][rank] += 1
                    return True
        return False

    for ranks, pieces in groups:
        for _ in range(pieces):
            give(ranks, set())
    possible = {ranks: {rank for rank in ranks if has[ranks][rank]} for ranks in has}
    for first in spare:
        reached, waiting = set[frozenset[Rank]](), [first]
        while waiting:
            rank = waiting.pop()
            for ranks in has.keys() - reached:
                if has[ranks][rank]:
                    reached.add(ranks)
                    waiting.extend(ranks)
        for ranks in reached:
            possible[ranks] |= {first} & ranks
    return {ranks: frozenset(found) for ranks, found in possible.items()}
