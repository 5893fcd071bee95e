"""A whole game as a value: the bots' output and its times go in, the arena's output and the verdict come out.

The referee reads no clock, starts no process and never waits. The carrier of the bytes (`arena.play.driver` for real
processes, a test for a script) does this, until it `is_over`:

    for each seat in `due()`: send it `take(seat)`, and call `sent(seat, now)` with the time at which that began
    for each seat in `awaited()`: pass on its output with `receive(seat, data, came, read)`
    call `gone(seat, ...)` when a bot's output has ended, and `expire(now)` when `deadline` has passed
    call `stopped(stop, now)` after a suspension of the arena, which the clock of all these times has left out

Times are seconds on any clock. A bot's clock starts at `sent` and stops when its complete answer came, within the
limits of `arena.game.time_control`; the referee's own work is not charged.

A bot that had to answer during a suspension of the arena may have taken more time than the clock shows. If its answer
may have been late, the game is `void` and no side loses. A bot that is still silent when its time, and some more after
the suspension, has passed loses. A game is also void if the machine's kernel has killed a bot.

While both bots work at once, starting and setting up, a fault of one waits for the other's answer: otherwise chance
would decide which of two broken bots is noticed first. If both are at fault, both lose.
"""

from collections.abc import Callable, Mapping

from arena.errors import IllegalAnswerError
from arena.game import State, faults
from arena.game.faults import Excess, Fault, GameResult, Unstartable, Verdict, forfeit, named, verdict_of
from arena.game.game_spec import GameSpec
from arena.game.live import LiveGame
from arena.game.record import History
from arena.game.seat import SETTLE_SECONDS, Introduction, Seat
from arena.game.time_control import NEVER, Suspension, counted
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError, excerpt
from protocol.messages import (
    PROTOCOL_VERSION,
    Author,
    BotMessage,
    Cannot,
    End,
    Error,
    Hello,
    Move,
    Name,
    Note,
    Quit,
    Ready,
    Setup,
    Wants,
)
from protocol.seats import Color, Outcome, Reason, SeatResult


class Referee:
    """Judges one game; the module's docstring explains its use."""

    def __init__(
        self,
        spec: GameSpec,
        history: History | None = None,
        *,
        introduced: Mapping[Color, Introduction] | None = None,
        keeps: bool = False,
        can_pause: bool = False,
    ) -> None:
        """`history` is the earlier part of a resumed game.

        `introduced` are bots that have played another game in the same process; with `keeps` another game follows this
        one; a game that `can_pause` may be interrupted and resumed.
        """
        spec.kind.load()  # before a clock runs
        self.spec = spec
        self._history = history
        self.verdict: Verdict | None = None
        self.void: str | None = None
        """Why the game cannot be judged."""
        self.is_excused = False
        """Whether the game is void because the machine kept a bot from a CPU until it was late."""
        self.refused: str | None = None
        """Why the game is not played: a bot has declared that it lacks an ability that it needs."""
        self.seats = (Seat(Color.RED, spec.kind), Seat(Color.BLUE, spec.kind))
        self._keeps, self._can_pause = keeps, can_pause
        self.advise: Callable[[Seat, Fault], Fault] | None = None
        """Adds advice for the author to a fault when it is found."""
        self.excuse: Callable[[Color, float, float], str] | None = None
        """Called with a side that is late, the seconds that it took and its limit; returns why it is not to blame, or
        an empty string."""
        self.live = LiveGame(spec, self.seats)
        """The game's state. Its lists are also attributes here."""
        self.actions, self.times_us, self.forgiven_us = self.live.actions, self.live.times_us, self.live.forgiven_us
        self.interrupted, self.notes = self.live.interrupted, self.live.notes
        self.interrupted += history.interrupted if history else ()
        self._stopped, self._settled = 0.0, 0.0
        """Seconds of the last suspension of the arena, and the time before which no seat loses on time after it."""
        self._meeting = Phase.IDLE
        """Before the game: the phase in which a seat that has answered waits for the other."""
        for seat in self.seats:
            if introduced and seat.color in introduced:
                seat.introduced(introduced[seat.color])
            else:
                seat.say(Hello(PROTOCOL_VERSION))
                seat.due = True
        self._go_on_together()

    # --- for the carrier of the bytes -----------------------------------------------------------------------------

    @property
    def state(self) -> State | None:
        return self.live.state

    @property
    def deadline(self) -> float:
        """The next deadline of a seat that has to answer."""
        return min(self.seats[0].deadline, self.seats[1].deadline)

    def due(self) -> list[Color]:
        return [seat.color for seat in self.seats if seat.due]

    def awaited(self) -> list[Color]:
        """Return the seats that have to answer."""
        return [seat.color for seat in self.seats if seat.is_awaited]

    @property
    def is_over(self) -> bool:
        return self.verdict is not None or self.void is not None or self.refused is not None

    def history(self, now: float | None = None) -> History | None:
        return self.live.history(now)

    def unrestorable(self) -> str:
        unable = [named(self.spec.players, seat.color) for seat in self.seats if not seat.can_be_restored]
        return " and ".join(f"{name} says 'cannot restore'" for name in unable)

    def take(self, color: Color) -> bytes:
        """Return all pending output for a seat, for one write."""
        seat = self.seats[color]
        data = b"".join(seat.out)
        seat.out.clear()
        seat.due = False
        seat.connection.flushed()
        return data

    def sent(self, color: Color, now: float) -> None:
        """Start the seat's clock: the arena began at `now` to write the last bytes taken.

        A bot that does not read them at once does so in its own time.
        """
        seat = self.seats[color]
        phase, deadline = seat.connection.phase, seat.deadline
        if phase is Phase.THINKING:
            deadline = self.live.clock.start(color, now)
        elif phase is Phase.INTRODUCING:
            deadline = now + self.spec.times[color].start_ms / 1000
        elif phase is Phase.SETTING_UP:
            time = self.spec.times[seat.color]
            deadline = now + (time.setup_ms + time.margin_ms) / 1000
        seat.asked(now, deadline)
        if now < self._settled:
            seat.asked_after(self._stopped, self._settled)

    def receive(self, color: Color, data: bytes, came: float, read: float | None = None) -> None:
        """Handle bytes of a seat that came at about `came`, and were read at `read` (by default then)."""
        seat = self.seats[color]
        if self.verdict or self.void or seat.fault:
            return
        read = came if read is None else read
        now = counted(came, read)
        if now > seat.deadline:
            seat.is_late = _may_answer(data)
            self._late(seat, now)
            return
        forgiven = read - now + seat.unsure
        if not seat.stopped:  # the short way for nearly all that bots send; what follows here would do the same
            action = seat.connection.take_move(data)
            if action is not None:
                self._moved(seat, action, now, forgiven)
                return
        try:
            for message in seat.connection.receive(data):
                self._said(seat, message, now, forgiven)
                if self.verdict or self.void or seat.fault:
                    return
        except RemoteProtocolError as error:
            self._fail(seat, faults.malformed(error))
            return
        if self.live.state is None:
            self._go_on_together()

    def gone(self, color: Color, how: str, exited: bool) -> None:
        """Handle the end of a seat's output: `how` in words; `exited` distinguishes a dead process from a closed
        output.
        """
        seat = self.seats[color]
        seat.has_ended = True
        if seat.connection.unfinished:
            how += f"; its last line was not ended: {excerpt(seat.connection.unfinished)}"
        self._fail_unless_over(seat, faults.gone(seat.phase, how, exited=exited))

    def no_start(self, color: Color, why: str, errno: int | None = None) -> None:
        """Handle a failed start of a seat's program; `errno` is the system's error number."""
        self.seats[color].has_ended = True
        self._fail(self.seats[color], Fault(Reason.NO_START, why, Unstartable(errno)))

    def called_off(self, reasons: Mapping[Color, str]) -> None:
        """End the game without starting any bot, as these seats cannot start, for these reasons."""
        for color, why in reasons.items():
            self.seats[color].fault = Fault(Reason.NO_START, why).shown
        self._forfeit()

    def stalled(self, color: Color) -> None:
        """Handle a seat that has not read its input in time."""
        seat = self.seats[color]
        self._fail_unless_over(seat, faults.stalled(seat.phase))

    def at_fault(self, color: Color, fault: Fault) -> None:
        """Apply a fault from a record, with its recorded words."""
        self._lose(self.seats[color], fault)

    def over_limit(self, color: Color, excess: Excess) -> None:
        self._fail_unless_over(self.seats[color], faults.over_limit(excess))

    def killed_by_machine(self, color: Color) -> None:
        """Void the game, as the machine had no memory left and a seat's program was killed.

        Call this before `gone`.
        """
        if not (self.is_over or self.seats[color].fault):
            name = named(self.spec.players, color)
            self.void = f"this machine ran out of memory, and {name} was killed when the kernel made room"

    def expire(self, now: float) -> None:
        for seat in self.seats:
            if now >= seat.deadline and not seat.fault and not self.is_over:
                self._late(seat, now)

    def stopped(self, stop: Suspension, now: float) -> None:
        """Handle the end of a suspension of the arena. Call this before passing on anything found since."""
        for seat in self.seats:
            if seat.deadline < NEVER:
                seat.was_stopped(stop, now)
        self._stopped, self._settled = stop.seconds, now + SETTLE_SECONDS

    def can_go_on(self, color: Color) -> bool:
        """Whether the game is over and this seat's conversation allows another one."""
        seat = self.seats[color]
        return self.verdict is not None and seat.phase is Phase.IDLE and not seat.connection.unfinished

    # --- judging --------------------------------------------------------------------------------------------------

    def _said(self, seat: Seat, message: BotMessage, now: float, forgiven: float) -> None:
        if seat.stopped and not seat.phase.bot_must_answer and seat.may_be_late(now):
            self._annul(seat)
            return
        match message:
            case Move(action):
                self._moved(seat, action, now, forgiven)
            case Note(text):
                self.live.note(seat, text)
            case Setup(rows):
                self._set_up(seat, rows)
            case Ready():
                seat.deadline = NEVER
            case Wants(wants):
                seat.wants = wants
            case Cannot(abilities):
                seat.cannot = abilities
            case Name(text):
                seat.declared = text
            case Author(text):
                seat.author = text

    def _set_up(self, seat: Seat, rows: tuple[str, ...]) -> None:
        seat.deadline = NEVER
        try:
            self.spec.kind.check_setup(self.spec.variant, seat.color, "/".join(rows))
        except IllegalAnswerError as error:
            self._fail(seat, Fault(Reason.ILLEGAL_SETUP, str(error)))
            return
        seat.rows = rows

    def _go_on_together(self) -> None:
        """Continue before the game once both seats have answered or failed to."""
        if not all(seat.fault or seat.phase is self._meeting for seat in self.seats):
            return
        if any(seat.fault for seat in self.seats):
            if self._history is not None:  # what was played stays in the record of a game that could not go on
                self.live.recall(self._history)
            self._forfeit()
        elif self._meeting is Phase.IDLE and (why := self._refusal()):
            self.refused = why
        elif self._history is not None:
            self._go_on(self.live.restore(self._history).outcome)
        elif self.spec.opening is not None:
            self._go_on(self.live.impose(self.spec.opening).outcome)
        elif not self.spec.kind.has_setups:
            self._go_on(self.live.begin_at_once().outcome)
        elif self._meeting is Phase.IDLE:
            self.live.ask_for_setups()
            self._meeting = Phase.WAITING
        else:
            self._go_on(self.live.begin().outcome)

    def _moved(self, seat: Seat, action: str, now: float, forgiven: float) -> None:
        seat.deadline = NEVER
        try:
            outcome = self.live.move(seat.color, action, now, forgiven)
        except IllegalAnswerError as error:
            self._fail(seat, faults.illegal(len(self.actions) + 1, action, error))
            return
        self._go_on(outcome)

    def _go_on(self, outcome: Outcome | None) -> None:
        """Give the side to move its turn, unless the game has ended."""
        if outcome is None:
            self.live.ask()
            return
        winner, reason = outcome
        result = GameResult.DRAW if winner is None else GameResult.win(winner)
        self._end(verdict_of(self.spec.players, result, reason, len(self.actions)))

    def _annul(self, seat: Seat) -> None:
        """Void the game: a seat has answered, and may have been late, by its own fault or by the suspension."""
        name = named(self.spec.players, seat.color)
        self.void = f"the arena was stopped for {seat.stopped:.1f} s, and {name} may have been late because of it"

    def _late(self, seat: Seat, now: float) -> None:
        time, ply = self.spec.times[seat.color], len(self.actions) + 1
        budget_ms = self.live.clock.budget_ms(seat.color) if seat.phase is Phase.THINKING else 0
        limits_ms = {Phase.INTRODUCING: time.start_ms, Phase.SETTING_UP: time.setup_ms}
        limit = limits_ms.get(seat.phase, budget_ms) / 1000
        why = self.excuse(seat.color, now - seat.started, limit) if self.excuse else ""
        if why:
            self.void, self.is_excused = f"{named(self.spec.players, seat.color)} {why}", True
            return
        fault = faults.late(seat.phase, time, budget_ms, ply, now - seat.started)
        self._fail(seat, fault)

    def _fail_unless_over(self, seat: Seat, fault: Fault) -> None:
        if not (self.is_over or seat.fault):
            self._fail(seat, fault)

    def _fail(self, seat: Seat, fault: Fault) -> None:
        self._lose(seat, (self.advise(seat, fault) if self.advise else fault).shown)

    def _lose(self, seat: Seat, fault: Fault) -> None:
        seat.fault = fault
        seat.due = False
        seat.deadline = NEVER
        if self.live.state is None:
            self._go_on_together()
        else:
            self._forfeit()

    def _refusal(self) -> str | None:
        """Return why bots that have introduced themselves cannot play this game; None if they can."""
        said = self.unrestorable()
        if not said:
            return None
        if self._history is not None:
            return f"the paused game cannot be resumed: {said}: play it again with 'arena match'"
        if self.spec.opening is not None:
            return f"the game cannot begin with an opening: {said}: play without --openings, or without such bots"
        if self._can_pause:
            return f"the game could not go on once it was paused: {said}: play it without --pause"
        return None

    def _forfeit(self) -> None:
        guilty = [(seat.color, seat.fault) for seat in self.seats if seat.fault]
        for color, fault in guilty:
            self.seats[color].say(Error(fault.ascii))
        self._end(forfeit(self.spec.players, guilty, len(self.actions)))

    def _end(self, verdict: Verdict) -> None:
        self.verdict = verdict
        for seat in self.seats:
            if verdict.result is GameResult.DRAW:
                seen = SeatResult.DRAW
            else:
                seen = SeatResult.WIN if verdict.result.winner is seat.color else SeatResult.LOSS
            # What a bot was still to answer could be taken for an answer in the next game.
            is_last = not self._keeps or self.live.state is None or seat.fault or seat.phase.bot_must_answer
            seat.say(End(seen, seat.fault.reason if seat.fault else verdict.reason))
            if is_last:
                seat.say(Quit())
            seat.deadline = NEVER
            seat.due = True


def _may_answer(data: bytes) -> bool:
    """Whether late output may have an answer, not only notes and comments."""
    return any(line.strip() and not line.startswith((b"note ", b"#")) for line in data.split(b"\n"))
