"""A game of Stratego in the terminal: the board, and the person's moves and set-up as typed.

A set-up is a draft until 'ready': it may be incomplete or illegal.
"""

from arena.cli.play_terminal import TerminalGame, columns, seed_of
from arena.game.person_seat import SeatStage, SeatState
from arena.play.session import RefusedError, Session
from arena.report.layout import Paint
from arena.stratego.game import ruleset_of
from arena.stratego.seat_state import StrategoSeatState, seat_of, state_after, state_of
from arena.stratego.setups import Rows, presets, random_rows
from arena.stratego.shown.boards import board_text
from arena.stratego.shown.seat_text import (
    Typed,
    action_words,
    actions_text,
    choices_text,
    piece_words,
    presets_text,
    read_typed,
    screen_text,
    setup_cells,
    typed_text,
)
from arena.system.printable import printable
from protocol.actions import STRATEGO_FORMS
from protocol.lines import RemoteProtocolError
from protocol.notation import EMPTY, HOME_SQUARES, SQUARE_INDEX, Color

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
