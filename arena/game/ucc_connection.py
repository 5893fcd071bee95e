"""The seat connection for bots that were written for the manager of the UCC Programming Competition 2012.

What `docs/ucc-2012.md` says, with the state of one side: the rows of its set-up that have come, the board as it may see
it, and the result of the last move, which goes out with its next turn. There is no greeting, no clock and no second
game, and a game cannot be taken up again. Nothing here reads or writes a file.

The trap: the line of the last move of a game is only sent if that move did not win it; `QUIT` stands in its place then.

Everything that is kept here is as the bot is told it: where Blue begins, with colours changed and the board turned.
"""

from collections.abc import Iterator

from arena.game.asking import Asking
from arena.game.dialects import Dialect
from arena.game.ucc_lines import (
    ENEMY,
    LAKE,
    LETTERS,
    QUIT,
    START,
    own_rows,
    rank_of,
    read_action,
    read_row,
    result_line,
    turned,
)
from protocol.conversation import Phase
from protocol.geometry import action_squares
from protocol.lines import LineBuffer, LocalProtocolError, RemoteProtocolError, excerpt
from protocol.messages import (
    ArenaMessage,
    Battle,
    BotMessage,
    Clock,
    End,
    Error,
    Game,
    Hello,
    Move,
    Moved,
    Opponent,
    Quit,
    Reveal,
    Rule,
    Seed,
    Setup,
    SetupRequest,
    Turn,
)
from protocol.notation import (
    BOARD_SIZE,
    EMPTY,
    HOME_SQUARES,
    LAKE_SQUARES,
    SETUP_ROWS,
    Color,
    Reason,
    ReasonKind,
    Result,
    Survivor,
)

OPPONENT = "opponent"
"""The word for whom a bot plays, unless the host names the opponents."""
NOT_ASKED = {
    Phase.IDLE: "before its colour was told, with which it is asked for its set-up",
    Phase.WAITING: "during the opponent's turn",
    Phase.CLOSED: "after QUIT",
}
NOT_TOLD = (Rule, Clock, Seed, Error, Reveal)
"""What there are no words for: all but the first two of these follow from the moves, or are for the record."""
TOLD_AT_THE_END = frozenset({Reason.PLY_CAP, Reason.QUIET_CAP, Reason.NO_MOVE})
"""The ends before which the last move had been told like any other, as the manager found them when it went on."""


class UccConnection:
    """The dialect of 2012, as a `Connection`."""

    __slots__ = (
        "_asking",
        "_battle",
        "_board",
        "_buffer",
        "_color",
        "_has_turned",
        "_is_turned",
        "_moved",
        "_opponent",
        "_results",
        "_rows",
        "phase",
    )

    dialect = Dialect.UCC_2012

    def __init__(self) -> None:
        self.phase = Phase.STARTING
        self._buffer = LineBuffer()
        self._asking = Asking()
        self._color = Color.RED
        """Its colour as it is told it."""
        self._is_turned = False
        """Whether colours are changed and the board is turned, as the arena's Blue begins."""
        self._opponent = OPPONENT
        self._rows: list[str] = []
        """The rows of its set-up that have come, from the top of the board."""
        self._board = [LAKE if square in LAKE_SQUARES else EMPTY for square in range(BOARD_SIZE * BOARD_SIZE)]
        """What it may see on each square, as it is printed."""
        self._moved: Moved | None = None
        """The last move, and the fight that came of it: its result is not complete before something else is said."""
        self._battle: Battle | None = None
        self._results: list[str] = []
        """The lines of moves that it has not been sent."""
        self._has_turned = False
        """Whether either side has moved or been asked to."""

    @property
    def unfinished(self) -> bytes:
        return self._buffer.partial

    # --- to the bot -----------------------------------------------------------------------------------------------

    def send(self, message: ArenaMessage) -> bytes:
        match message:
            case Moved(color, action):
                return self.moved(color, action)
            case Battle():
                self._fought(message)
            case Turn():
                return self.turn(message.ply, message.own_ms, message.enemy_ms, None, None)
            case Hello():
                self.phase = Phase.IDLE  # there is no greeting: it has nothing to answer
            case Game(color):
                self._color = color
            case Opponent(name):
                self._opponent = name.replace(" ", "_")  # it is one word of a line
            case Rule("starts", Color.BLUE.word):
                self._color, self._is_turned = self._color.opponent, True
            case SetupRequest():
                self._asks(Phase.SETTING_UP)
                return f"{self._color.name} {self._opponent} {BOARD_SIZE} {BOARD_SIZE}\n".encode()
            case End():
                return self._ended(message)
            case Quit():
                was_told, self.phase = self.phase is Phase.CLOSED, Phase.CLOSED
                return b"" if was_told else _lines([QUIT])
            case _ if not isinstance(message, NOT_TOLD):
                raise LocalProtocolError(f"{self.dialect.value} has no words for {message!r}")
        return b""

    def flushed(self) -> None:
        self._asking.put(self._buffer.partial)

    def moved(self, color: Color, action: str) -> bytes:
        self._close()
        if self._is_turned:
            color, action = color.opponent, turned(action)
        self._moved = Moved(color, action)
        squares = action_squares(action)
        if squares is not None:
            origin, target = squares
            if self._board[target] == EMPTY:
                self._board[target], self._board[origin] = self._board[origin], EMPTY
        self._has_turned = True
        return b""

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        self._close()
        if not self._has_turned:
            self._results.append(START)
            self._has_turned = True
        self._asks(Phase.THINKING)
        board = "".join(self._board)
        rows = [board[start : start + BOARD_SIZE] for start in range(0, len(board), BOARD_SIZE)]
        return self._take_results(rows)

    def _asks(self, phase: Phase) -> None:
        self.phase = phase
        self._asking.made()

    def _fought(self, battle: Battle) -> None:
        self._battle = battle
        squares = action_squares(self._moved.action) if self._moved else None
        if squares is None:
            raise LocalProtocolError(f"a fight without an attack: {battle!r}")
        origin, target = squares
        if battle.survivor is Survivor.ATTACKER:
            self._board[target] = self._board[origin]
        elif battle.survivor is Survivor.NEITHER:
            self._board[target] = EMPTY
        self._board[origin] = EMPTY

    def _close(self) -> None:
        """No more will be told of the last move: its line is complete. There is none for a side that gives up."""
        if self._moved is not None and action_squares(self._moved.action) is not None:
            self._results.append(result_line(self._moved.action, self._battle))
        self._moved = self._battle = None

    def _ended(self, end: End) -> bytes:
        self.phase = Phase.CLOSED
        if not self._is_last_told(end):
            self._moved = None
        self._close()
        return self._take_results([QUIT])

    def _is_last_told(self, end: End) -> bool:
        """Whether the line of the last move comes before `QUIT`: not if that move has decided the game."""
        if self._moved is None or end.reason.kind is ReasonKind.FORFEIT or end.reason in TOLD_AT_THE_END:
            return True
        has_mover_won = (end.result is Result.WIN) == (self._moved.color is self._color)
        return end.result is not Result.DRAW and not has_mover_won

    def _take_results(self, lines: list[str]) -> bytes:
        """The lines of the moves that have not been sent, and these."""
        told, self._results = self._results, []
        return _lines([*told, *lines])

    # --- from the bot ---------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> Iterator[BotMessage]:
        for line in self._buffer.feed(data):
            phase = self._asking.phase_of_line(self.phase)
            if phase is Phase.THINKING:
                action = read_action(line)
                self.phase = Phase.WAITING
                yield Move(turned(action) if self._is_turned else action)
            elif phase is Phase.SETTING_UP:
                self._rows.append(read_row(line, len(self._rows) + 1))
                if len(self._rows) == SETUP_ROWS:
                    self.phase = Phase.WAITING
                    yield self._set_up()
            else:
                raise RemoteProtocolError(
                    f"the line {excerpt(line)} came {NOT_ASKED.get(phase, phase.words)}; a bot must send nothing then"
                )

    def take_move(self, data: bytes) -> str | None:
        return None

    def _set_up(self) -> Setup:
        rows = own_rows(self._color, tuple(self._rows))
        for square, letter in zip(HOME_SQUARES[self._color], "".join(rows), strict=True):
            self._board[square] = EMPTY if letter == EMPTY else LETTERS[rank_of(letter)]
        for square in HOME_SQUARES[self._color.opponent]:
            self._board[square] = ENEMY
        return Setup(rows)


def _lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("ascii")
