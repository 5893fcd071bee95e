"""The adapter for bots of the UCC Programming Competition 2012: version 1 on one side, their dialect on the other.

    arena-ucc2012 ./old_bot ARGUMENT...

The adapter is a bot of the kit. It starts the old bot as a child process, a new one for each game, translates the game
into the lines of docs/ucc-2012.md, and passes its set-up and moves on. For output outside of the dialect it prints an
error and exits.

On the board of 2012 Red is at the top: x counts files from a and y counts ranks from 1, so that (x, y) is square number
10 * y + x. Red always begins there. If Blue begins, the old bot sees the colours exchanged and the board turned.
"""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence

from protocol.bot import Bot, run
from protocol.geometry import action_squares
from protocol.lines import LineBuffer, ProtocolError, RemoteProtocolError, excerpt
from protocol.messages import ArenaMessage, Battle, End, Moved
from protocol.notation import (
    BOARD_SIZE,
    COLOR_BY_WORD,
    EMPTY,
    LAKE_SQUARES,
    RESIGN,
    SETUP_ROWS,
    SQUARES,
    Color,
    Rank,
    Reason,
    ReasonKind,
    SeatResult,
    Survivor,
)
from protocol.view import View

LETTERS: dict[Rank, str] = {
    Rank.FLAG: "F",
    Rank.BOMB: "B",
    Rank.SPY: "s",
    **{Rank(Rank.MARSHAL - number): str(1 + number) for number in range(9)},
}
"""The character of each rank: 1 is the marshal, 9 the scout."""
ENEMY, LAKE = "#", "+"
START, SURRENDER, QUIT = "START", "SURRENDER", "QUIT"
STEPS: dict[str, tuple[int, int]] = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
"""The change of x and y by one step."""
OUTCOMES = {Survivor.ATTACKER: "KILLS", Survivor.DEFENDER: "DIES", Survivor.NEITHER: "BOTHDIE"}
TOLD_AT_THE_END = frozenset({Reason.PLY_CAP, Reason.QUIET_CAP, Reason.NO_MOVE})
"""Ends on the board after which the last move is still sent: the manager found them a turn later."""
PLAIN_RULES = (
    ("army", "F:1 B:6 S:1 2:8 3:5 4:4 5:4 6:4 7:3 8:2 9:1 M:1", "an army other than the original one of 40 pieces"),
    ("rescues", "0", "pieces that come back (rescues)"),
    ("defence", "named", "a defender that is not named (defence silent)"),
    ("captains", "one-step", "moves with a turn (captains two-steps)"),
    ("spy", "straight", "diagonal moves (spy diagonal)"),
    ("infiltration", "no", "guesses (infiltration)"),
)
"""The rules that the dialect depends on: the value that a rule must have, and the effect of any other value."""
GRACE_SECONDS = 0.4
"""The time that an old bot has to exit after QUIT; the arena gives the adapter half a second."""
ERROR_PREFIX = "ucc-2012: "

_WAYS = {y * BOARD_SIZE + x: way for way, (x, y) in STEPS.items()}
_TO_ARENA = str.maketrans({letter: rank.letter for rank, letter in LETTERS.items()})
_ROW = re.compile(rf"[{''.join(LETTERS.values())}{re.escape(EMPTY)}]{{{BOARD_SIZE}}}")
_MOVE = re.compile(r"\s*(\d{1,3})\s+(\d{1,3})\s+([A-Z]+)(?:\s+(\d{1,3}))?\s*", re.ASCII)
_RANK = re.compile(r"\d+", re.ASCII)
_VERSION_1 = re.compile(r"(?:name|author|want|cannot|setup|move|note) |ready\s*\Z", re.ASCII)


def unspeakable(rules: Mapping[str, str]) -> str:
    """Return what the dialect cannot express under these rules, or an empty string."""
    return next((what for name, value, what in PLAIN_RULES if rules.get(name, value) != value), "")


# --- lines ------------------------------------------------------------------------------------------------------------


def turned(action: str) -> str:
    """Return an action on the board turned upside down: a4-a5 becomes a7-a6."""
    return _RANK.sub(lambda rank: str(BOARD_SIZE + 1 - int(rank[0])), action)


def read_row(line: bytes, number: int) -> str:
    """Return a row of a set-up, counted from 1, in the arena's letters. Raises `RemoteProtocolError`."""
    text = _text_of(line)
    if not _ROW.fullmatch(text):
        raise RemoteProtocolError(
            f"expected row {number} of {SETUP_ROWS} of a set-up, ten of {''.join(LETTERS.values())}, got "
            f"{excerpt(line)}{_hint(text)}"
        )
    return text.translate(_TO_ARENA)


def read_action(line: bytes) -> str:
    """Parse the action in an answer to a turn. Raises `RemoteProtocolError` for anything else."""
    text = _text_of(line)
    if text == SURRENDER:
        return RESIGN
    match = _MOVE.fullmatch(text)
    step = STEPS.get(match[3]) if match else None
    if match is None or step is None:
        raise RemoteProtocolError(
            f"expected X Y and one of {', '.join(STEPS)} (a scout's number of squares after it), or {SURRENDER}, got "
            f"{excerpt(line)}{_hint(text)}"
        )
    x, y, squares = int(match[1]), int(match[2]), int(match[4] or 1)
    last_x, last_y = x + squares * step[0], y + squares * step[1]
    if squares < 1 or not all(0 <= number < BOARD_SIZE for number in (x, y, last_x, last_y)):
        raise RemoteProtocolError(f"expected a move of 1 or more squares on the board, 0 to 9, got {excerpt(line)}")
    return f"{SQUARES[y * BOARD_SIZE + x]}-{SQUARES[last_y * BOARD_SIZE + last_x]}"


def result_line(action: str, battle: Battle | None) -> str:
    squares = action_squares(action)
    assert squares is not None
    origin, target = squares
    y, x = divmod(origin, BOARD_SIZE)
    away = target - origin
    size = 1 if abs(away) < BOARD_SIZE else BOARD_SIZE
    count = abs(away) // size
    line = f"{x} {y} {_WAYS[size if away > 0 else -size]}{f' {count}' if count > 1 else ''}"
    if battle is None:
        return f"{line} OK"
    assert battle.defender is not None, "a silent defence is refused"
    return f"{line} {OUTCOMES[battle.survivor]} {LETTERS[battle.attacker]} {LETTERS[battle.defender]}"


def board_lines(view: View, *, is_turned: bool) -> list[str]:
    """Return the ten rows of the board as the old bot sees it, from the top."""

    def cell(square: int) -> str:
        piece = view.board[square]
        if piece is None:
            return LAKE if square in LAKE_SQUARES else EMPTY
        return LETTERS[piece.rank] if piece.color is view.color and piece.rank else ENEMY

    text = "".join(map(cell, range(BOARD_SIZE * BOARD_SIZE)))
    rows = [text[start : start + BOARD_SIZE] for start in range(0, len(text), BOARD_SIZE)]
    return rows[::-1] if is_turned else rows


def _text_of(line: bytes) -> str:
    text = line.rstrip(b" \t\r").decode("latin-1")
    if not (text.isascii() and text.replace("\t", " ").isprintable()):
        raise RemoteProtocolError(f"expected printable ASCII characters, got {excerpt(line)}")
    return text


def _hint(text: str) -> str:
    is_version_1 = _VERSION_1.match(text) is not None
    return "; this is version 1 of the protocol, and needs no adapter" if is_version_1 else ""


# --- the old bot ------------------------------------------------------------------------------------------------------


class OldProgram:
    """The process of an old bot, and the lines that it writes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program. Raises `ProtocolError` if it cannot be run."""
        self.quit()
        self._buffer, self._lines = LineBuffer(), deque[bytes]()
        try:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        except (OSError, ValueError) as error:
            raise ProtocolError(f"cannot run {' '.join(self._command)}: {error}") from None

    def ask(self, lines: Sequence[str]) -> None:
        """Write a request. Raises `RemoteProtocolError` if the program has written unrequested output."""
        while not self._lines and select.select([self._output], [], [], 0)[0]:
            self._read()
            if self._buffer.partial:
                break
        if self._lines or self._buffer.partial:
            unasked = self._lines[0] if self._lines else self._buffer.partial
            raise RemoteProtocolError(
                f"expected nothing during the opponent's turn, got {excerpt(unasked)}: one answer to each request"
            )
        self._write(lines)

    def answer(self) -> bytes:
        while not self._lines:
            self._read()
        return self._lines.popleft()

    def quit(self, lines: Sequence[str] = ()) -> None:
        """Write the last lines, and let the program exit."""
        if self._process is None:
            return
        self._write(lines)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        self.kill()

    def kill(self) -> None:
        if self._process is not None:
            with self._process:
                self._process.kill()
        self._process = None

    @property
    def _output(self) -> int:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _write(self, lines: Sequence[str]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # what it wrote before it ended may still count
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode("ascii"))

    def _read(self) -> None:
        data = os.read(self._output, 65536)
        if not data:
            self._exit_like_it()
        self._lines.extend(self._buffer.feed(data))

    def _exit_like_it(self) -> None:
        """Exit with the program's exit status, so that the arena reports it as the program's."""
        assert self._process is not None
        try:
            code = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            raise RemoteProtocolError("the bot has closed its standard output") from None
        if code < 0:
            with contextlib.suppress(OSError):  # SIGKILL has no handler
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        sys.exit(code)


class OldBot(Bot):
    wants = ()
    can_restore = False

    def __init__(self, program: OldProgram) -> None:
        super().__init__()
        self._program = program
        self._is_turned = False
        self._has_begun = False
        """Whether either side has moved or been asked to."""
        self._moved: Moved | None = None
        """The last move, until its line is complete."""
        self._battle: Battle | None = None
        self._results: list[str] = []
        """The lines of moves that have not been sent."""

    def setup(self, view: View) -> str:
        if lacking := unspeakable(view.rules):
            raise ProtocolError(f"the dialect has no words for {lacking}, which {view.variant} has")
        self._is_turned = COLOR_BY_WORD.get(view.rules.get("starts", "")) is Color.BLUE
        color = view.color.opponent if self._is_turned else view.color
        opponent = view.opponent.replace(" ", "_") or "opponent"
        self._program.start()
        self._program.ask([f"{color.name} {opponent} {BOARD_SIZE} {BOARD_SIZE}"])
        rows = [read_row(self._program.answer(), number) for number in range(1, SETUP_ROWS + 1)]
        return "/".join(rows if color is Color.RED else rows[::-1])

    def event(self, view: View, message: ArenaMessage) -> None:
        match message:
            case Moved():
                self._close()
                self._has_begun, self._moved = True, message
            case Battle():
                self._battle = message

    def move(self, view: View) -> str:
        self._close()
        first = [] if self._has_begun else [START]
        self._has_begun = True
        self._program.ask([*first, *self._results, *board_lines(view, is_turned=self._is_turned)])
        self._results.clear()
        action = read_action(self._program.answer())
        return turned(action) if self._is_turned else action

    def end(self, view: View, end: End) -> None:
        if not self._is_last_told(view, end):
            self._moved = None
        self._close()
        self._program.quit([*self._results, QUIT])

    def _close(self) -> None:
        if self._moved is not None and action_squares(self._moved.action) is not None:
            action = turned(self._moved.action) if self._is_turned else self._moved.action
            self._results.append(result_line(action, self._battle))
        self._moved = self._battle = None

    def _is_last_told(self, view: View, end: End) -> bool:
        """Whether the line of the last move comes before QUIT: not if that move has decided the game."""
        if self._moved is None or end.reason.kind is ReasonKind.FORFEIT or end.reason in TOLD_AT_THE_END:
            return True
        has_mover_won = (end.result is SeatResult.WIN) == (self._moved.color is view.color)
        return end.result is not SeatResult.DRAW and not has_mover_won


def main() -> None:
    """Run the adapter: speak version 1 on standard input and output for the command in the arguments."""
    command = sys.argv[1:]
    if not command or command[0].startswith("-"):
        sys.exit("usage: arena-ucc2012 COMMAND...: run a bot of 2012 as a bot of version 1 (docs/ucc-2012.md)")
    program = OldProgram(command)
    try:
        run(lambda: OldBot(program), sys.stdin.buffer, sys.stdout.buffer)
        program.quit()
    except ProtocolError as error:
        program.kill()
        sys.exit(f"{ERROR_PREFIX}{error}")


if __name__ == "__main__":
    main()
