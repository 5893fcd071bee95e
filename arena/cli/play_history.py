"""Looking back in a terminal game: the board as the person knew it after an earlier ply, and what was done so far."""

from arena.play.session import RefusedError, Session
from arena.report.paint import Paint
from arena.report.seat import actions_text, screen_text
from arena.report.seat_commands import Typed, Verb
from protocol.notation import Color


class EarlierPlies:
    """Which ply one person looks at, and the answers to what is typed about earlier ones."""

    def __init__(self, session: Session, color: Color, paint: Paint) -> None:
        self._session, self._color, self._paint = session, color, paint
        self._shown = 0

    def forget(self, plies: int) -> None:
        """The board of now is shown, after so many plies: `back` and `next` go on from there."""
        self._shown = plies

    def history(self) -> str:
        """All actions so far."""
        return actions_text(self._session.actions(self._color), self._color.word) or "nothing has been done so far"

    def board(self, typed: Typed, width: int) -> str:
        """The board that `ply 12`, `back` or `next` asks for. Raises `RefusedError` where there is none."""
        plies = self._session.state(self._color).plies
        ply = self._asked_for(typed)
        if ply is None or not 0 <= ply <= plies:
            raise RefusedError(
                f"expected a ply from 0 to {plies}, as in 'ply {plies}'; this is after ply {self._shown}"
            )
        self._shown = ply
        then = self._session.state_after(self._color, ply)
        screen = screen_text(then, (then.last,) if then.last else (), self._paint, width=width, plies=plies)
        return f"{screen}\n('board' shows it as it is now)"

    def _asked_for(self, typed: Typed) -> int | None:
        match typed:
            case Typed(Verb.BACK, ()):
                return self._shown - 1
            case Typed(Verb.NEXT, ()):
                return self._shown + 1
            case Typed(Verb.PLY, (number,)) if number.isascii() and number.isdecimal():
                return int(number[:10])
            case _:
                return None
