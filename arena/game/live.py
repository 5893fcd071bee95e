"""The running game: its state, both clocks, the history, and the output for both seats.

Which messages are allowed is decided by `arena.game.seat`, the verdict by `arena.game.referee`.
"""

from collections.abc import Iterator

import arena.game
from arena.errors import IllegalAnswerError
from arena.game import State, Told, Variant
from arena.game.game_mistakes import GameMistakeError
from arena.game.game_spec import GameSpec, Opening
from arena.game.record import History, NoteLine
from arena.game.seat import Seat
from arena.game.time_control import MICROSECONDS, GameClock, TimeControl
from protocol.codec import encode_line, encode_lines, legal_lines
from protocol.conversation import Phase
from protocol.messages import ArenaMessage, Clock, GameLine, Opponent, Restore, Rule, Seed, SetupRequest, Want
from protocol.seats import Color, Outcome, Reason

MAX_NOTE_BYTES = 64 * 1024
"""The limit of a bot's notes in the record of one game; later ones are dropped."""

NOTE_BYTES = 64
"""The size of a note in a record without its text: its ply, its side and the names of its fields."""


NO_SETUP = ("",)
"""The rows of a seat in a game without set-ups: one empty row, as records have it."""


class LiveGame:
    """A game from the set-up request to its last action. `state` is None before both have set up."""

    def __init__(self, spec: GameSpec, seats: tuple[Seat, Seat]) -> None:
        self._spec = spec
        self._seats = seats
        self.clock = GameClock(spec.times)
        self.state: State | None = None
        self.actions: list[str] = []
        self.times_us: list[int] = []
        self.forgiven_us: list[int] = []
        self.interrupted: list[tuple[int, int]] = []
        self.notes: list[NoteLine] = []
        self.movers: list[Color] = []
        self.told: Told = ((), ())
        """The lines about the last action."""

    @property
    def kind(self) -> arena.game.Game:
        return self._spec.kind

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
        for seat in self._seats:
            if setups:
                seat.rows = tuple(setups[seat.color].split("/"))
            spec, color = self._spec, seat.color
            opponent = spec.players[color.opponent].name if spec.names_told else None
            for message in introduction(
                spec.variant, spec.times[color], spec.seeds[color], color, seat.rows, opponent=opponent
            ):
                seat.say(message)
            seat.due = True

    def begin(self) -> State:
        spec = self._spec
        if not spec.kind.has_setups:
            for seat in self._seats:
                seat.rows = seat.rows or NO_SETUP
                seat.connection.began()
        red, blue = ("/".join(seat.rows or ()) for seat in self._seats)
        self.state = state = spec.kind.start(spec.variant, spec.chance_seed, (red, blue))
        for seat in self._seats:
            seat.out += map(encode_line, state.first_lines(seat.color))
        return state

    def begin_at_once(self) -> State:
        """Begin a game that has no set-ups."""
        self._open(None)
        return self.begin()

    def impose(self, opening: Opening) -> State:
        """Begin with given set-ups, which the bots receive by `restore`."""
        self._open(opening)
        return self.begin()

    def restore(self, history: History) -> State:
        """Resume an interrupted game: send both what they knew, and charge the clocks with the time used."""
        self._open(history.setups)
        for seat in self._seats:
            seat.note_bytes += sum(_note_bytes(note.text) for note in history.notes if note.color == seat.color.word)
        state = self.begin()
        self.notes += history.notes
        forgiven_us = history.forgiven_us or (0,) * len(history.actions)
        for action, microseconds, forgiven in zip(history.actions, history.times_us, forgiven_us, strict=True):
            self._charge_interrupted(state)
            self.clock.charge(state.to_move, microseconds / MICROSECONDS)
            self._play(state, state.to_move, action, microseconds, forgiven)
        self._charge_interrupted(state)
        return state

    def _charge_interrupted(self, state: State) -> None:
        for ply, microseconds in self.interrupted:
            if ply == state.ply + 1:
                self.clock.spend(state.to_move, microseconds / MICROSECONDS)

    def recall(self, history: History) -> None:
        """Set what was played, without sending it or charging the clocks."""
        for seat, setup in zip(self._seats, history.setups, strict=True):
            seat.rows = tuple(setup.split("/"))
        self.actions += history.actions
        self.times_us += history.times_us
        self.forgiven_us += history.forgiven_us or (0,) * len(history.actions)
        self.notes += history.notes
        state = self.kind.start(self._spec.variant, self._spec.chance_seed, history.setups)
        for action in history.actions:
            self.movers.append(state.to_move)
            state.play(action)

    # --- its course -----------------------------------------------------------------------------------------------

    def move(self, color: Color, action: str, now: float, forgiven: float) -> Outcome | None:
        """Play an action of the side to move and stop its clock; return the outcome, if the game has ended.

        `forgiven` is the part of its turn in seconds that it is not charged with. Raises `IllegalAnswerError`.
        """
        state = self.state
        assert state is not None
        taken = self.clock.stop(color, now)
        try:
            self._play(state, color, action, round(taken * MICROSECONDS), round(forgiven * MICROSECONDS))
        except IllegalAnswerError as error:
            legal = state.legal_actions()
            if legal is not None and (action in legal or not legal):
                listed = action if legal else "none"
                raise GameMistakeError(
                    f"ply {state.ply + 1}: legal_actions lists {listed}, but act refused {action}: {error!s:.200}"
                ) from None
            raise
        return state.outcome

    def _play(self, state: State, mover: Color, action: str, microseconds: int, forgiven: int) -> None:
        """Play and record an action, and send it to both seats."""
        self.told = told = state.play(action)
        if state.outcome and state.outcome.reason not in (*Reason, *map(Reason, self.kind.endings)):
            raise GameMistakeError(
                f"the outcome of ply {state.ply} has the reason {state.outcome.reason.value!r}, which is not in endings"
            )
        self.actions.append(action)
        self.movers.append(mover)
        self.times_us.append(microseconds)
        self.forgiven_us.append(forgiven)
        red, blue = self._seats
        to_red, to_blue = told
        data = encode_lines(to_red)
        red.out.append(data)
        blue.out.append(data if to_blue is to_red else encode_lines(to_blue))

    def ask(self) -> None:
        """Send the side to move its wanted lines and its turn."""
        state = self.state
        assert state is not None
        color = state.to_move
        seat = self._seats[color]
        if seat.wants:
            if Want.BOARD in seat.wants and (board := state.board_line(color)) is not None:
                seat.out.append(encode_line(board))
            if Want.LEGAL in seat.wants and (actions := state.legal_actions()) is not None:
                if not actions:
                    raise GameMistakeError(f"ply {state.ply + 1}: legal_actions lists none, but there is no outcome")
                for legal in legal_lines(tuple(actions)):
                    seat.say(legal)
        seat.out.append(seat.connection.turn(len(self.actions) + 1, *self.clock.shown(color)))
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
        if self.state is None:
            return None
        red, blue = self._seats
        turn = self._seats[self.state.to_move]
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


def introduction(
    variant: Variant,
    time: TimeControl,
    seed: int,
    color: Color,
    restored: tuple[str, ...] | None = None,
    *,
    opponent: str | None = None,
) -> Iterator[ArenaMessage]:
    """Yield the messages before a seat sets up; `restored` is its set-up in a resumed game.

    `opponent` is the name of the other side, if it is disclosed.
    """
    yield GameLine(color, variant.name)
    for name, value in variant.rules:
        yield Rule(name, value)
    yield Clock(time.setup_ms, time.move_ms, time.bank_ms, None if time.bank_ms is None else time.increment_ms)
    yield Seed(seed)
    if opponent is not None:
        yield Opponent(_in_ascii(opponent))
    if variant.kind.has_setups:
        yield Restore(restored) if restored else SetupRequest()


def _in_ascii(name: str) -> str:
    """Return a name in ASCII, with escapes such as `\\xe4`."""
    return name.encode("ascii", "backslashreplace").decode("ascii")


def _note_bytes(text: str) -> int:
    return NOTE_BYTES + len(text) + text.count('"') + text.count("\\")
