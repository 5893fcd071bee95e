"""The running game: the engine's game, both clocks, the history, and the output for both seats.

`arena.game.referee` decides which messages are allowed, and the verdict.
"""

from collections.abc import Sequence

from arena.game.clock import MICROSECONDS, GameClock
from arena.game.game_spec import GameSpec, Opening
from arena.game.record import History, NoteLine
from arena.game.seat import Seat
from arena.game.seat_view import SeatView, enemy_squares, is_told_as_moved, legal_actions, opening, tell
from arena.stratego.rules.events import Event, Outcome
from arena.stratego.rules.game import Game
from protocol.codec import legal_lines
from protocol.conversation import Phase
from protocol.messages import Board, Enemy, Want
from protocol.notation import Color

MAX_NOTE_BYTES = 64 * 1024
"""The limit of a bot's notes in the record of one game; later ones are dropped."""

NOTE_BYTES = 64
"""The size of a note in a record without its text: its ply, its side and the names of its fields."""


class LiveGame:
    """A game from the set-up request to its last action. `game` is None before both have set up."""

    def __init__(self, spec: GameSpec, seats: tuple[Seat, Seat]) -> None:
        self._spec = spec
        self._seats = seats
        self.clock = GameClock(spec.times)
        self.game: Game | None = None
        self.actions: list[str] = []
        self.times_us: list[int] = []
        self.forgiven_us: list[int] = []
        self.interrupted: list[tuple[int, int]] = []
        self.notes: list[NoteLine] = []
        self.events: Sequence[Event] = ()

    @property
    def setups(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The rows of Red and of Blue, or empty tuples."""
        red, blue = (seat.rows or () for seat in self._seats)
        return red, blue

    # --- how it begins --------------------------------------------------------------------------------------------

    def ask_for_setups(self) -> None:
        self._open(None)

    def _open(self, setups: tuple[str, str] | None) -> None:
        """Send both the game's rules and times; they have to set up, or have done so in a resumed game."""
        spec = self._spec
        for seat in self._seats:
            if setups:
                seat.rows = tuple(setups[seat.color].split("/"))
            color = seat.color
            opponent = spec.players[color.opponent].name if spec.names_told else None
            told = opening(spec.ruleset, spec.times[color], spec.seeds[color], color, seat.rows, opponent=opponent)
            for message in told:
                seat.say(message)
            seat.due = True

    def begin(self) -> Game:
        ruleset = self._spec.ruleset
        red, blue = (seat.rows or () for seat in self._seats)
        self.game = game = Game(ruleset, red, blue)
        for seat in self._seats:
            if not ruleset.fills_rows:
                seat.say(Enemy(enemy_squares(game, seat.color)))
            if Want.BOARD in seat.wants:
                seat.view = SeatView(game, seat.color, seat.rows or ())
        return game

    def impose(self, opening: Opening) -> Game:
        """Begin with these set-ups, with the messages of a game that was interrupted before its first action."""
        self._open(opening)
        return self.begin()

    def restore(self, history: History) -> Game:
        """Resume an interrupted game: send both what they knew, and charge the clocks with the time used."""
        self._open(history.setups)
        for seat in self._seats:
            seat.note_bytes += sum(_note_bytes(note.text) for note in history.notes if note.color == seat.color.word)
        game = self.begin()
        self.notes += history.notes
        forgiven_us = history.forgiven_us or (0,) * len(history.actions)
        for action, microseconds, forgiven in zip(history.actions, history.times_us, forgiven_us, strict=True):
            self._charge_interrupted(game)
            self.clock.charge(game.to_move, microseconds / MICROSECONDS)
            self._play(game, action, microseconds, forgiven)
        self._charge_interrupted(game)
        return game

    def _charge_interrupted(self, game: Game) -> None:
        for ply, microseconds in self.interrupted:
            if ply == game.ply + 1:
                self.clock.spend(game.to_move, microseconds / MICROSECONDS)

    def recall(self, history: History) -> None:
        """Set what was played, without playing it."""
        for seat, setup in zip(self._seats, history.setups, strict=True):
            seat.rows = tuple(setup.split("/"))
        self.actions += history.actions
        self.times_us += history.times_us
        self.forgiven_us += history.forgiven_us or (0,) * len(history.actions)
        self.notes += history.notes

    # --- its course -----------------------------------------------------------------------------------------------

    def move(self, color: Color, action: str, now: float, forgiven: float) -> Outcome | None:
        """Play an action of the side to move and stop its clock; return the outcome, if the game has ended.

        `forgiven` is the part of its turn in seconds that it is not charged with. Raises `IllegalActionError`.
        """
        game = self.game
        assert game is not None
        taken = self.clock.stop(color, now)
        self._play(game, action, round(taken * MICROSECONDS), round(forgiven * MICROSECONDS))
        return game.outcome

    def _play(self, game: Game, action: str, microseconds: int, forgiven: int) -> None:
        """Play and record an action, and send it to both seats."""
        self.events = events = game.apply(action)
        self.actions.append(action)
        self.times_us.append(microseconds)
        self.forgiven_us.append(forgiven)
        red, blue = self._seats
        if is_told_as_moved(events) and not (red.view or blue.view):
            mover = events[0].color  # type: ignore[union-attr]
            red.out.append(red.connection.moved(mover, action))
            blue.out.append(blue.connection.moved(mover, action))
            return
        for event in events:
            for seat, message in zip(self._seats, tell(event), strict=True):
                seat.say(message)
                if seat.view:
                    seat.view.see(message)

    def ask(self) -> None:
        """Send the side to move its wanted lines and its turn."""
        game = self.game
        assert game is not None
        color = game.to_move
        seat = self._seats[color]
        if seat.view:
            seat.say(Board(seat.view.cells()))
        if seat.wants and Want.LEGAL in seat.wants:
            for legal in legal_lines(legal_actions(game)):
                seat.say(legal)
        seat.out.append(seat.connection.turn(game.ply + 1, *self.clock.shown(color)))
        seat.due = True

    def note(self, seat: Seat, text: str) -> None:
        """Record a remark, unless the seat has made too many."""
        seat.note_bytes += _note_bytes(text)
        if seat.note_bytes <= MAX_NOTE_BYTES:
            self.notes.append(NoteLine(len(self.actions) + 1, seat.color.word, text))

    # --- how it is interrupted ------------------------------------------------------------------------------------

    def history(self, now: float | None) -> History | None:
        """Return the moves so far, for resuming; None before the set-ups.

        `now` is the time of the interruption: the side to move is charged with its turn until then.
        """
        if self.game is None:
            return None
        red, blue = self._seats
        turn = self._seats[self.game.to_move]
        interrupted = list(self.interrupted)
        if now is not None and turn.phase is Phase.THINKING and not turn.due:
            used = min(now - turn.started, self.clock.budget(turn.color))
            interrupted.append((len(self.actions) + 1, max(0, round(used * MICROSECONDS))))
        return History(
            declared=(red.declared, blue.declared),
            setups=("/".join(red.rows or ()), "/".join(blue.rows or ())),
            actions=tuple(self.actions),
            times_us=tuple(self.times_us),
            forgiven_us=tuple(self.forgiven_us),
            notes=tuple(note for note in self.notes if note.ply <= len(self.actions)),
            interrupted=tuple(interrupted),
        )


def _note_bytes(text: str) -> int:
    return NOTE_BYTES + len(text) + text.count('"') + text.count("\\")
