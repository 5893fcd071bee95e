"""A game of Stratego in the terminal: the board, and the person's moves and set-up as typed.

A screen is 80 columns by 20 lines, so that a prompt and an answer fit below it in 24. A set-up is a draft until
'ready': it may be incomplete or illegal.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence

from arena.cli.play_terminal import TerminalGame, columns, seed_of
from arena.game.person_seat import SeatStage, SeatState
from arena.play.session import RefusedError, Session
from arena.report.shown import WIDTH, clock_lines, end_words, title, wrapped
from arena.stratego.game import ruleset_of
from arena.stratego.seat_state import (
    ActionState,
    ChoiceState,
    PieceState,
    StrategoSeatState,
    seat_of,
    state_after,
    state_of,
)
from arena.stratego.setups import Preset, Rows, presets, random_rows
from arena.stratego.shown.boards import board_text
from arena.stratego.shown.piece_names import DEFAULT_NAMES, STRONGEST_FIRST
from arena.system.printable import printable
from arena.system.terminal_text import Paint, plain, unpainted
from protocol.actions import STRATEGO_FORMS
from protocol.lines import RemoteProtocolError
from protocol.notation import (
    COLOR_BY_WORD,
    EMPTY,
    HOME_SQUARES,
    LAKE_SQUARES,
    RANK_BY_LETTER,
    SQUARE_INDEX,
    SQUARE_PATTERN,
    SQUARES,
    Color,
)
from protocol.view import CELL_EMPTY, CELL_LAKE

BOARD_COLUMNS = 36
PANEL_COLUMNS = WIDTH - BOARD_COLUMNS
EMPTY_BOARD = [CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY for square in range(len(SQUARES))]


def screen_text(
    state: StrategoSeatState,
    recent: Sequence[ActionState] = (),
    paint: Paint = plain,
    *,
    width: int = WIDTH,
    plies: int | None = None,
) -> str:
    """Return the screen without the prompt; in less than 80 columns the panel is below the board.

    `recent` are the last actions, the oldest first. For an earlier state `plies` is the present number of plies.
    """
    side = COLOR_BY_WORD[state.color]
    truth = state.end.truth if state.end else ()
    marks = {SQUARE_INDEX[name]: mark for name, mark in state.last.marks.items()} if state.last else {}
    board = board_text(truth or cells_of(state), marks, paint, side).split("\n")
    panel = _panel(state)
    columns = min(width, WIDTH)
    lines = [paint(line, "bold") for line in wrapped(title(state, plies), columns)]
    if width < WIDTH:
        lines += [*board, *panel]
        board = panel = []
    for number in range(max(len(board), len(panel))):
        left = board[number] if number < len(board) else ""
        right = panel[number] if number < len(panel) else ""
        lines.append(f"{left}{' ' * (BOARD_COLUMNS - len(unpainted(left)))}{right}".rstrip())
    if recent:
        lines.append(actions_text(recent, state.color, columns))
    if state.end:
        lines += wrapped(end_words(state), columns)
    if state.remark:
        lines += wrapped(state.remark, columns)
    return "\n".join(lines)


def cells_of(state: StrategoSeatState) -> tuple[str, ...]:
    cells = EMPTY_BOARD.copy()
    for piece in state.pieces:
        rank = piece.rank or ("!" if piece.moved else "?")
        cells[SQUARE_INDEX[piece.square]] = f"{piece.color[0]}{rank}"
    return tuple(cells)


def setup_cells(rows: Sequence[str], color: Color) -> tuple[str, ...]:
    cells = EMPTY_BOARD.copy()
    for square, letter in zip(HOME_SQUARES[color], "".join(rows), strict=True):
        if letter != EMPTY:
            cells[square] = f"{color.word[0]}{letter}"
    return tuple(cells)


def presets_text(presets: Iterable[Preset], columns: int = WIDTH) -> str:
    return "\n".join(
        textwrap.fill(f"  {preset.name}: {preset.text}", columns - 1, subsequent_indent="    ") for preset in presets
    )


def _panel(state: StrategoSeatState) -> list[str]:
    own = COLOR_BY_WORD[state.color]
    clocks = clock_lines(state, own, "enemy")
    lines = [*clocks, ""] if clocks else []
    lines += _paragraph("you lost: ", _counted(state.lost[own]))
    lines += _paragraph("enemy lost: ", _counted(state.lost[own.opponent]))
    if state.stage is not SeatStage.OVER:  # when it is over the board shows all
        hidden = [letter for letter, count in state.hidden for _ in range(count)]
        lines += _paragraph("enemy pieces not known: ", _counted(hidden))
    if state.stage is SeatStage.MOVING:
        lines += ["", "e4-e5 moves, e4 shows where it can go,", "known e7 tells of a piece, help of all else"]
    return lines


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(label + (text or "none"), PANEL_COLUMNS - 1, subsequent_indent="  ")


def _counted(letters: Iterable[str]) -> str:
    listed = list(letters)
    counts = ((rank.letter, listed.count(rank.letter)) for rank in STRONGEST_FIRST)
    return " ".join(letter if count == 1 else f"{letter}x{count}" for letter, count in counts if count)


def action_words(action: ActionState, viewer: str) -> str:
    """Return an action and its outcome as text, as the viewer knows them."""
    words = f"{'you' if action.color == viewer else 'the enemy'} {action.action}"
    return f"{words}: {action.words}" if action.words else words


def actions_text(actions: Iterable[ActionState], viewer: str, columns: int = WIDTH) -> str:
    return "\n".join(
        line for action in actions for line in wrapped(f"{action.ply}. {action_words(action, viewer)}", columns)
    )


def piece_words(piece: PieceState, viewer: str) -> str:
    if piece.rank:
        whose, name = "your" if piece.color == viewer else "the enemy", DEFAULT_NAMES.name(RANK_BY_LETTER[piece.rank])
        still = "" if piece.moved or piece.color == viewer else ", which has not moved"
        return f"{piece.square}: {whose} {name}{still}"
    moved = "has moved" if piece.moved else "has not moved"
    could_be = ", ".join(DEFAULT_NAMES.name(RANK_BY_LETTER[letter]) for letter in reversed(piece.could_be))
    return f"{piece.square}: an enemy piece that {moved}; it can be: {could_be}"


def choices_text(choices: Sequence[ChoiceState], columns: int = WIDTH) -> str:
    return "\n".join(wrapped("  ".join(choice.action for choice in choices), columns))


_SQUARE = rf"({SQUARE_PATTERN})"
_TWO = re.compile(rf"{_SQUARE}[\s,:x>-]*{_SQUARE}")
_ONE = re.compile(_SQUARE)
_ACTION = re.compile(r"[a-j][0-9a-jFBSMI?+-]+", re.ASCII)


VERBS = (
    *("known", "help", "moves", "board", "ply", "back", "next", "history", "rules", "resign", "pause"),
    *("preset", "random", "swap", "setup", "ready"),
)
_SHORT = {"h": "help", "?": "help", "quit": "pause", "exit": "pause", "k": "known", "m": "moves"}
_SHORT |= {"b": "board", "go": "ready"}

Typed = tuple[str, ...]
"""A typed line: its command and its words. A line without a word of `VERBS` is to `act`, asks for the `targets` of a
piece, or is `unknown`."""


def read_typed(line: str) -> Typed:
    """Parse a line; of an empty one the command is empty."""
    text = line.strip()
    word, *rest = text.split() or [""]
    verb = _SHORT.get(word.lower(), word.lower())
    if verb in VERBS or not verb:
        return verb, *rest
    low = text.lower()
    if one := _ONE.fullmatch(low):
        return "targets", one[1]
    if two := _TWO.fullmatch(low):
        return "act", f"{two[1]}-{two[2]}"
    return "act" if _ACTION.fullmatch(text) else "unknown", text


def typed_text(typed: Typed) -> str:
    """Return a line with short words spelled out and single spaces; not made printable."""
    return " ".join(typed if typed[0] in VERBS else typed[1:])


LAST_PLIES = 2
"""Last actions below a screen: a bot answers before the person can read the own action."""
MOST_WAYS = 8
HELP = """\
e4-e5          move; also 'e4 e5' and 'e4e5'
e4             show where that piece can go
moves          show all that you may do
known e7       tell what is known of a piece
board          show the board again
back, next     show it as you knew it a ply before, a ply after; ply 12: after ply 12
history        list what was done so far
rules          show the rules in force
resign         give the game up
pause          save the game, to go on another day (so does Ctrl-C)
In some rulesets: d2-d3-e3 (a captain turns), a9-a10+8c2 (the colonel comes back
on c2), e7?e9B (guess that the piece on e9 is a bomb)."""


class StrategoTerminal(TerminalGame):
    def __init__(self, session: Session, color: Color) -> None:
        super().__init__(session, color)
        self._plies_told = 0
        self._confirm = ""
        """A move that was held back once, as it could do more."""
        self._earlier_ply = 0
        """The ply of the board shown last: `back` and `next` start there."""
        self._setup = SetupEditor(session, color, self.paint)

    def changed(self, state: SeatState, *, is_first: bool) -> None:
        if is_first:
            self._plies_told = max(0, state.plies - LAST_PLIES)
        self._earlier_ply = state.plies

    def news(self) -> list[str]:
        actions = seat_of(self.session, self.color).actions[self._plies_told :]
        self._plies_told += len(actions)
        return [f"{action.ply}. {action_words(action, self.color.word)}" for action in actions]

    def screen(self, state: SeatState) -> str:
        recent = seat_of(self.session, self.color).actions[-LAST_PLIES:] if self.redraws else ()
        return screen_text(state_of(self.session, self.color), recent, self.paint, width=columns())

    def setup_screen(self, state: SeatState) -> str:
        return self._setup.screen(state.players)

    def answer(self, line: str, state: SeatState) -> str:
        return self._answer(read_typed(line), state_of(self.session, self.color))

    def _answer(self, typed: Typed, state: StrategoSeatState) -> str:
        if state.stage is SeatStage.SETTING_UP and typed[0] not in ("pause", "resign", "rules"):
            answer = self._setup.change(typed)
            return self.replacing(self._setup.screen(state.players)) if answer is None else answer
        match typed:
            case ("act", action):
                return self._act(action, state)
            case ("targets", square):
                return self._targets(square, state)
            case ("known", square):
                return _known(square, state)
            case ("known", *_):
                return "expected a square: known e7"
            case ("moves", *_):
                return choices_text(state.choices, columns()) or "it is not your turn"
            case ("board", *_):
                self._earlier_ply = state.plies
                return self.replacing(self.screen(state))
            case ("back",):
                return self._earlier_board(self._earlier_ply - 1, state.plies)
            case ("next",):
                return self._earlier_board(self._earlier_ply + 1, state.plies)
            case ("ply", number) if number.isascii() and number.isdecimal():
                return self._earlier_board(int(number[:10]), state.plies)
            case ("ply" | "back" | "next", *_):
                return self._earlier_board(-1, state.plies)
            case ("history", *_):
                return actions_text(seat_of(self.session, self.color).actions, self.color.word) or "no actions so far"
            case ("rules", *_):
                return "\n".join(f"{name} {value}" for name, value in state.rules)
            case ("resign", *_):
                self.session.resign(self.color)
                return ""
            case ("pause", *_):
                self.pause(state)
                return ""
            case ("help", *_):
                return HELP
            case ("",):
                return ""
            case _:
                return f"{printable(typed_text(typed))}: expected a move such as e4-e5, or 'help'"

    def _earlier_board(self, ply: int, plies: int) -> str:
        if not 0 <= ply <= plies:
            raise RefusedError(
                f"expected a ply from 0 to {plies}, as in 'ply {plies}'; this is after ply {self._earlier_ply}"
            )
        self._earlier_ply = ply
        then = state_after(self.session, self.color, ply)
        screen = screen_text(then, (then.last,) if then.last else (), self.paint, width=columns(), plies=plies)
        return self.replacing(f"{screen}\n('board' shows it as it is now)")

    def _act(self, action: str, state: StrategoSeatState) -> str:
        choices = state.choices
        more = [choice.action for choice in choices if choice.action.startswith(f"{action}+")]
        if more and self._confirm != action:
            self._confirm = action
            rest = [f"and {len(more) - MOST_WAYS} more: see 'moves'"] if len(more) > MOST_WAYS else []
            words = f"this move can bring a lost piece back: type one of these, or {action} again to move without:"
            return "\n".join([words, *more[:MOST_WAYS], *rest])
        if not any(choice.action == action for choice in choices):
            by_ends = [c.action for c in choices if f"{c.origin}-{c.target}" == action and not c.guessed]
            if len(by_ends) > 1:
                return f"{action}: there is more than one way: {', '.join(by_ends[:MOST_WAYS])}"
            action = by_ends[0] if by_ends else action
        self.session.act(self.color, action)
        self._confirm = ""
        return ""

    def _targets(self, square: str, state: StrategoSeatState) -> str:
        if state.stage is not SeatStage.MOVING:
            return "it is not your turn"
        choices = [choice for choice in state.choices if choice.origin == square]
        if choices:
            return choices_text(choices, columns())
        is_own = any(piece.square == square and piece.color == state.color for piece in state.pieces)
        return f"{_known(square, state)}{'; it cannot move' if is_own else ''}"


def _known(square: str, state: StrategoSeatState) -> str:
    name = square.lower()
    if name not in SQUARE_INDEX:
        return f"{printable(square)}: expected a square, a1 to j10"
    piece = next((piece for piece in state.pieces if piece.square == name), None)
    return piece_words(piece, state.color) if piece else f"{name}: empty"


SETUP_HELP = """\
preset NAME    begin with one of these:
{presets}
random [SEED]  a random set-up
{swap:<15}exchange two squares
setup ROWS     four rows separated by /, your back row first, . for empty:
               {rows}
board          show the set-up again
ready          play with it
pause          leave; there is nothing to save yet"""


class SetupEditor:
    def __init__(self, session: Session, color: Color, paint: Paint) -> None:
        self._session, self._color, self._paint = session, color, paint
        self._ruleset = ruleset_of(session.spec.variant)
        ready = presets(self._ruleset)
        self.rows: Rows = ready[0].rows if ready else random_rows(self._ruleset, 0)

    def screen(self, players: tuple[str, str]) -> str:
        """Return the draft as a board, and the commands for it. `players` are the names of Red and Blue."""
        color = self._color
        board = board_text(setup_cells(self.rows, color), paint=self._paint, side=color)
        names = ", ".join(preset.name for preset in presets(self._ruleset))
        words = "your set-up: type 'ready' to play with it, 'help' to change it"
        return f"{players[color]} has {color.word}\n{board}\n{words}\npresets: {names}"

    def change(self, typed: Typed) -> str | None:
        """Execute the typed command, and return the answer; None to show the draft.

        Raises `RefusedError` for a set-up that is ready and illegal.
        """
        known = {preset.name: preset for preset in presets(self._ruleset)}
        match typed:
            case ("ready", *_):
                self._session.set_up(self._color, self.rows)
                return ""
            case ("preset", name):
                if name not in known:
                    return f"{printable(name)}: expected a preset: {', '.join(known)}"
                self.rows = known[name].rows
                return None
            case ("random", *words):
                self.rows = random_rows(self._ruleset, seed_of(" ".join(words)))
                return None
            case ("swap", first, second):
                return self._swap(first.lower(), second.lower())
            case ("setup", first, *more):
                setup = "/".join([first, *more])
                try:
                    STRATEGO_FORMS.check_setup_form(setup)
                except RemoteProtocolError as error:
                    return printable(str(error))
                self.rows = tuple(setup.split("/"))
                return None
            case ("board", *_):
                return None
            case ("help", *_):
                swap = "swap a10 b9" if self._color is Color.BLUE else "swap a1 b2"
                return SETUP_HELP.format(
                    presets=presets_text(presets(self._ruleset)), rows="/".join(self.rows), swap=swap
                )
            case ("",):
                return ""
            case _:
                return f"{printable(typed_text(typed))}: expected 'ready', or a change of the set-up; see 'help'"

    def _swap(self, first: str, second: str) -> str | None:
        home = HOME_SQUARES[self._color]
        for name in (first, second):
            if SQUARE_INDEX.get(name) not in home:
                return f"{printable(name)}: expected a square of your own four rows"
        letters = list("".join(self.rows))
        one, other = (home.index(SQUARE_INDEX[name]) for name in (first, second))
        letters[one], letters[other] = letters[other], letters[one]
        self.rows = tuple("".join(letters[start : start + 10]) for start in range(0, len(letters), 10))
        return f"{first} and {second} are both empty" if letters[one] == letters[other] == EMPTY else None
