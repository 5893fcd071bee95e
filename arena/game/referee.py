"""A whole game as a value: what the bots send and when goes in, what they are to be sent and the verdict come out.

The referee reads no clock, starts no process and waits for nothing. Whoever carries the bytes (`arena.play.runner` does
for real processes, a test can for a script) does this, until it `is_over`:

    for each seat in `due()`: send it `take(seat)`, and say with `sent(seat, now)` when that was begun
    for each seat in `awaited()`: pass on what it sends with `receive(seat, data, came, read)`
    say `gone(seat, ...)` when a bot's output has ended, and `expire(now)` when `deadline` has passed
    say `stopped(stop, now)` when the clock of all these times has left out a time in which the arena did not run

Times are seconds on any clock. A bot's clock starts at `sent` and stops with the `receive` that completes its answer,
when it came, as far as `arena.game.clock` believes that; the referee's own work is charged to nobody.

A bot that had to answer while the arena was stopped may have taken more time than the clock has seen. If its answer can
have been late, the game cannot be judged: it is `void`, and nobody loses. Who is still silent when its time is over,
and some more time has passed since the stop, loses.

In the two phases in which both bots work at once, starting and setting up, a fault of one waits for the other's answer:
otherwise it would be chance which of two broken bots is noticed first. If both are at fault, both lose.
"""

from collections.abc import Mapping

from arena.game.clock import NEVER, Clock, Stop, counted
from arena.game.record import History, NoteLine
from arena.game.seat import ARENA_CODEC, Codec, Fault, Seat
from arena.game.spec import GameSpec
from arena.game.verdict import GameResult, Verdict
from arena.game.view import SeatView, enemy_squares, legal_actions, opening, tell
from arena.printable import printable
from arena.rules.events import Event, IllegalActionError
from arena.rules.game import Game
from arena.rules.setup import IllegalSetupError, check_setup
from protocol.codec import RemoteProtocolError, excerpt, legal_lines
from protocol.conversation import Phase, after
from protocol.messages import (
    PROTOCOL_VERSION,
    ArenaMessage,
    Author,
    Board,
    End,
    Enemy,
    Error,
    Hello,
    Move,
    Name,
    Note,
    Quit,
    Ready,
    Setup,
    Turn,
    Want,
    Wants,
)
from protocol.notation import Color, Reason, Result

MAX_LINES_A_TURN = 1000
"""A bot that sends more lines than this before it answers breaks the protocol: each costs the arena time."""

MAX_NOTE_BYTES = 64 * 1024
"""What a bot's notes in one game may take in its record; later ones are dropped."""

NOTE_BYTES = 64
"""What a note takes in a record beside its text: its ply, its side and the names of its fields."""

BEFORE = {Phase.INTRODUCING: Phase.STARTING, Phase.SETTING_UP: Phase.IDLE, Phase.THINKING: Phase.WAITING}
"""The phases in which the arena waits for a bot, and the phase that each is still in before the bot has been asked."""

SETTLE_SECONDS = 1.0
"""After a stop of the arena nobody loses on time before so long: the bots may have been stopped, too, and the arena has
other games to end and to begin again."""

MAX_FAULT = 500
"""Characters of a fault that are told: a bot's own words, its file names and its arguments may be in it."""


class Referee:
    """Judges one game. See the module's text for how it is driven."""

    def __init__(
        self,
        spec: GameSpec,
        codecs: tuple[Codec, Codec] = (ARENA_CODEC, ARENA_CODEC),
        past: History | None = None,
    ) -> None:
        """`past` is what has been played already of a game that was interrupted and now goes on."""
        self.spec = spec
        self._past = past
        self.verdict: Verdict | None = None
        self.void: str | None = None
        """Why the game cannot be judged, in words, if it cannot."""
        self.game: Game | None = None
        self.actions: list[str] = []
        self.times_us: list[int] = []
        self.interrupted = list(past.interrupted) if past else []
        self.forgiven_us: list[int] = []
        self.notes: list[NoteLine] = []
        self.seats = (Seat(Color.RED, codecs[0]), Seat(Color.BLUE, codecs[1]))
        self._clock = Clock(spec.time)
        self._ruleset = spec.ruleset
        self._stopped, self._settled = 0.0, 0.0
        """How long the arena was stopped the last time, and until when nobody loses on time after it."""
        self._meeting = Phase.IDLE
        """Before the game: the phase in which a seat that has answered waits for the other."""
        for seat in self.seats:
            self._say(seat, Hello(PROTOCOL_VERSION))
            seat.phase = Phase.INTRODUCING
            seat.due = True

    # --- for whoever carries the bytes ----------------------------------------------------------------------------

    @property
    def deadline(self) -> float:
        """When the next seat that is being waited for runs out of time."""
        return min(self.seats[0].deadline, self.seats[1].deadline)

    def due(self) -> list[Color]:
        """The seats that must be written to now."""
        return [seat.color for seat in self.seats if seat.due]

    def awaited(self) -> list[Color]:
        """The seats whose answer the game is waiting for."""
        return [seat.color for seat in self.seats if seat.phase.bot_must_answer and not seat.fault]

    @property
    def is_over(self) -> bool:
        """Whether there is a verdict, or there will be none."""
        return self.verdict is not None or self.void is not None

    def past(self, now: float | None = None) -> History | None:
        """What has been played so far, to go on from later; None before the set-ups are there.

        `now` is when the game was interrupted: what the side to move has used of its turn by then is remembered.
        """
        if self.game is None:
            return None
        red, blue = ("/".join(seat.rows or ()) for seat in self.seats)
        turn = self.seats[self.game.to_move]
        interrupted = list(self.interrupted)
        if now is not None and turn.phase is Phase.THINKING and not turn.due:
            used = min(now - turn.started, self._clock.budget(turn.color))
            interrupted.append((len(self.actions) + 1, max(0, round(used * 1_000_000))))
        return History(
            declared=(self.seats[0].declared, self.seats[1].declared),
            setups=(red, blue),
            actions=tuple(self.actions),
            times_us=tuple(self.times_us),
            forgiven_us=tuple(self.forgiven_us),
            notes=tuple(note for note in self.notes if note.ply <= len(self.actions)),
            interrupted=tuple(interrupted),
        )

    def take(self, color: Color) -> bytes:
        """All that has to be sent to a seat now, in one write."""
        seat = self.seats[color]
        data = b"".join(seat.out)
        seat.out.clear()
        seat.due = False
        return data

    def sent(self, color: Color, now: float) -> None:
        """At `now` the arena has begun to write the last bytes taken for this seat: its clock runs from then.

        A bot that does not read them at once does so in its own time.
        """
        seat = self.seats[color]
        seat.started = now
        seat.stopped = seat.unsure = 0.0
        seat.lines = 0
        if seat.phase is Phase.THINKING:
            seat.deadline = self._clock.start(color, now)
        elif seat.phase is Phase.INTRODUCING:
            seat.deadline = now + self.spec.time.start_ms / 1000
        elif seat.phase is Phase.SETTING_UP:
            seat.deadline = now + (self.spec.time.setup_ms + self.spec.time.margin_ms) / 1000
        seat.limit = seat.deadline
        if now < self._settled:
            seat.stopped = self._stopped
            seat.deadline = max(seat.deadline, self._settled)

    def receive(self, color: Color, data: bytes, came: float, read: float | None = None) -> None:
        """A seat has sent these bytes: they came at `came`, as far as is known, and were read at `read` (or then)."""
        seat = self.seats[color]
        if self.verdict or self.void or seat.fault:
            return
        read = came if read is None else read
        now = counted(came, read)
        if now > seat.deadline:
            self._late(seat, now)
            return
        forgiven = read - now + seat.unsure
        try:
            for line in seat.buffer.feed(data):
                self._line(seat, line, now, forgiven)
                if self.verdict or self.void or seat.fault:
                    return
        except RemoteProtocolError as error:
            self._fail(seat, Fault(Reason.PROTOCOL, str(error)))
            return
        if self.game is None:
            self._go_on_together()

    def gone(self, color: Color, how: str, exited: bool) -> None:
        """A seat's output has ended: `how` in words; `exited` tells a dead process from a closed output."""
        seat = self.seats[color]
        if self.is_over or seat.fault:
            return
        if seat.buffer.partial:
            how += f"; its last line was not ended: {excerpt(seat.buffer.partial)}"
        if seat.phase is Phase.INTRODUCING:
            self._fail(seat, Fault(Reason.NO_START, f"expected 'ready', but the bot {how}"))
        else:
            self._fail(seat, Fault(Reason.CRASH if exited else Reason.PROTOCOL, f"the bot {how}"))

    def no_start(self, color: Color, why: str) -> None:
        """A seat's program could not be started at all."""
        self._fail(self.seats[color], Fault(Reason.NO_START, why))

    def called_off(self, faults: Mapping[Color, str]) -> None:
        """These seats are known to be unable to start, and why. Nobody is started: the other side, if it is not one of
        them, wins."""
        for color, why in faults.items():
            self.seats[color].fault = _told(Fault(Reason.NO_START, why))
        self._forfeit()

    def stalled(self, color: Color) -> None:
        """A seat has not read what it was sent before its time was up."""
        reason = {Phase.INTRODUCING: Reason.NO_START, Phase.SETTING_UP: Reason.SETUP_TIMEOUT}
        seat = self.seats[color]
        if self.is_over or seat.fault:
            return
        self._fail(seat, Fault(reason.get(seat.phase, Reason.TIMEOUT), "the bot did not read what it was sent"))

    def over_limit(self, color: Color, how: str) -> None:
        """A seat has used more of the machine than it may: `how` in words."""
        seat = self.seats[color]
        if not (self.is_over or seat.fault):
            self._fail(seat, Fault(Reason.OVER_LIMIT, f"the bot {how}"))

    def expire(self, now: float) -> None:
        """Time has passed: whoever is over its deadline loses."""
        for seat in self.seats:
            if now >= seat.deadline and not seat.fault and not self.is_over:
                self._late(seat, now)

    def stopped(self, stop: Stop, now: float) -> None:
        """The arena did not run for a time; now it does. To be said before what it found out since is passed on."""
        for seat in self.seats:
            if seat.deadline < NEVER:
                seat.stopped += stop.seconds
                seat.unsure += stop.unsure
                seat.deadline = max(seat.deadline, now + SETTLE_SECONDS)
        self._stopped, self._settled = stop.seconds, now + SETTLE_SECONDS

    # --- judging --------------------------------------------------------------------------------------------------

    def _line(self, seat: Seat, line: bytes, now: float, forgiven: float) -> None:
        seat.lines += 1
        if seat.lines > MAX_LINES_A_TURN:
            raise RemoteProtocolError(f"more than {MAX_LINES_A_TURN} lines without an answer")
        message = seat.codec.decode(line)
        if message is None:
            return
        # What asks for an answer begins its phase only when it has been sent.
        seat.phase = after(BEFORE.get(seat.phase, seat.phase) if seat.due else seat.phase, message)
        if seat.stopped and not seat.phase.bot_must_answer and now + seat.unsure > seat.limit:
            self._annul(seat)
            return
        match message:
            case Move(action):
                self._moved(seat, action, now, forgiven)
            case Note(text):
                self._note(seat, text)
            case Setup(rows):
                self._set_up(seat, rows)
            case Ready():
                seat.deadline = NEVER
            case Wants(wants):
                seat.wants = wants
            case Name(text):
                seat.declared = text
            case Author():
                pass

    def _note(self, seat: Seat, text: str) -> None:
        seat.note_bytes += _note_bytes(text)
        if seat.note_bytes <= MAX_NOTE_BYTES:
            self.notes.append(NoteLine(len(self.actions) + 1, seat.color.word, text))

    def _set_up(self, seat: Seat, rows: tuple[str, ...]) -> None:
        seat.deadline = NEVER
        try:
            check_setup(self._ruleset, rows)
        except IllegalSetupError as error:
            self._fail(seat, Fault(Reason.ILLEGAL_SETUP, str(error)))
            return
        seat.rows = rows

    def _go_on_together(self) -> None:
        """Before the game: go on once both seats have answered or failed to."""
        if not all(seat.fault or seat.phase is self._meeting for seat in self.seats):
            return
        if any(seat.fault for seat in self.seats):
            if self._past is not None:  # what was played stays in the record of a game that could not go on
                self._recall(self._past)
            self._forfeit()
        elif self._past is not None:
            self._restore(self._past)
        elif self._meeting is Phase.IDLE:
            self._ask_for_setups()
        else:
            self._next_turn(self._begin())

    def _ask_for_setups(self) -> None:
        for seat, seed in zip(self.seats, self.spec.seeds, strict=True):
            for message in opening(self._ruleset, self.spec.time, seed, seat.color):
                self._say(seat, message)
            seat.phase = Phase.SETTING_UP
            seat.due = True
        self._meeting = Phase.WAITING

    def _restore(self, past: History) -> None:
        """Go on with an interrupted game: tell both what they knew, and charge the clocks with what was used."""
        for seat, seed, setup in zip(self.seats, self.spec.seeds, past.setups, strict=True):
            seat.rows = tuple(setup.split("/"))
            seat.phase = Phase.WAITING
            seat.note_bytes += sum(_note_bytes(note.text) for note in past.notes if note.color == seat.color.word)
            for message in opening(self._ruleset, self.spec.time, seed, seat.color, seat.rows):
                self._say(seat, message)
            seat.due = True
        game = self._begin()
        self.notes += past.notes
        forgiven_us = past.forgiven_us or (0,) * len(past.actions)
        for action, microseconds, forgiven in zip(past.actions, past.times_us, forgiven_us, strict=True):
            self._charge_interrupted(game)
            self._clock.charge(game.to_move, microseconds / 1_000_000)
            self._played(game, action, microseconds, forgiven)
        self._charge_interrupted(game)
        self._next_turn(game)

    def _charge_interrupted(self, game: Game) -> None:
        """Charge the side to move with what it had used of this turn when it was interrupted."""
        for ply, microseconds in self.interrupted:
            if ply == game.ply + 1:
                self._clock.spend(game.to_move, microseconds / 1_000_000)

    def _recall(self, past: History) -> None:
        """Take over what was played, without playing it."""
        for seat, setup in zip(self.seats, past.setups, strict=True):
            seat.rows = tuple(setup.split("/"))
        self.actions += past.actions
        self.times_us += past.times_us
        self.forgiven_us += past.forgiven_us or (0,) * len(past.actions)
        self.notes += past.notes

    def _begin(self) -> Game:
        red, blue = self.seats[0].rows, self.seats[1].rows
        assert red is not None
        assert blue is not None
        self.game = game = Game(self._ruleset, red, blue)
        for seat, rows in zip(self.seats, (red, blue), strict=True):
            if not self._ruleset.fills_rows:
                self._say(seat, Enemy(enemy_squares(game, seat.color)))
            if Want.BOARD in seat.wants:
                seat.view = SeatView(game, seat.color, rows)
        return game

    def _moved(self, seat: Seat, action: str, now: float, forgiven: float) -> None:
        game = self.game
        assert game is not None
        seat.deadline = NEVER
        taken = self._clock.stop(seat.color, now)
        try:
            self._played(game, action, round(taken * 1_000_000), round(forgiven * 1_000_000))
        except IllegalActionError as error:
            self._fail(seat, Fault(Reason.ILLEGAL_ACTION, f"ply {game.ply + 1}: {error}"))
            return
        self._next_turn(game)

    def _played(self, game: Game, action: str, microseconds: int, forgiven: int) -> None:
        """Play an action, keep it and tell both seats; raises `IllegalActionError`."""
        events = game.apply(action)
        self.actions.append(action)
        self.times_us.append(microseconds)
        self.forgiven_us.append(forgiven)
        for event in events:
            self._tell(event)

    def _tell(self, event: Event) -> None:
        red, blue = self.seats
        for_red, for_blue = tell(event)
        line = red.codec.encode(for_red)
        red.out.append(line)
        same = for_red is for_blue and red.codec is blue.codec
        blue.out.append(line if same else blue.codec.encode(for_blue))
        if red.view:
            red.view.see(for_red)
        if blue.view:
            blue.view.see(for_blue)

    def _next_turn(self, game: Game) -> None:
        if game.outcome:
            winner, reason = game.outcome
            loser = None if winner is None else winner.opponent
            self._end(GameResult.DRAW if winner is None else GameResult.win(winner), reason, self._words(loser, reason))
            return
        color = game.to_move
        seat = self.seats[color]
        if seat.wants:
            if seat.view:
                self._say(seat, Board(seat.view.cells()))
            if Want.LEGAL in seat.wants:
                for legal in legal_lines(legal_actions(game)):
                    self._say(seat, legal)
        self._say(seat, Turn(game.ply + 1, *self._clock.shown(color)))
        seat.phase = Phase.THINKING
        seat.due = True

    def _annul(self, seat: Seat) -> None:
        """A seat has answered, and may have been late, by its own fault or because of the stop."""
        name = self._name(seat.color)
        self.void = f"the arena was stopped for {seat.stopped:.1f} s, and {name} may have been late because of it"

    def _late(self, seat: Seat, now: float) -> None:
        milliseconds = round((now - seat.started) * 1000)
        time = self.spec.time
        if seat.phase is Phase.INTRODUCING:
            fault = Fault(
                Reason.NO_START, f"expected 'ready' within {time.start_ms} ms, none came in {milliseconds} ms"
            )
        elif seat.phase is Phase.SETTING_UP:
            allowed = f"{time.setup_ms} ms (and a margin of {time.margin_ms} ms)"
            fault = Fault(Reason.SETUP_TIMEOUT, f"expected a set-up within {allowed}, none came in {milliseconds} ms")
        else:
            allowed = f"{self._clock.budget_ms(seat.color)} ms (and a margin of {time.margin_ms} ms)"
            ply = len(self.actions) + 1
            fault = Fault(
                Reason.TIMEOUT, f"ply {ply}: expected a move within {allowed}, none came in {milliseconds} ms"
            )
        self._fail(seat, fault)

    def _fail(self, seat: Seat, fault: Fault) -> None:
        seat.fault = _told(fault)
        seat.due = False
        seat.deadline = NEVER
        if self.game is None:
            self._go_on_together()
        else:
            self._forfeit()

    def _forfeit(self) -> None:
        """End the game against the seats that have a fault: one or both."""
        guilty = [(seat.color, seat.fault) for seat in self.seats if seat.fault]
        first, reason = guilty[0][0], guilty[0][1].reason
        result = GameResult.NEITHER if len(guilty) == 2 else GameResult.win(first.opponent)
        detail = "; ".join(f"{self._words(color, fault.reason)}: {fault.text}" for color, fault in guilty)
        for color, fault in guilty:
            self._say(self.seats[color], Error("".join(c if " " <= c <= "~" else "?" for c in fault.text)))
        self._end(result, reason, detail)

    def _words(self, loser: Color | None, reason: Reason) -> str:
        if loser is None:
            return f"drawn: {reason.sentence}"
        return f"{self._name(loser)} {reason.sentence}"

    def _name(self, color: Color) -> str:
        return f"{color.word} ({self.spec.players[color].name})"

    def _end(self, result: GameResult, reason: Reason, detail: str) -> None:
        self.verdict = Verdict(result, reason, len(self.actions), detail)
        for seat in self.seats:
            if result is GameResult.DRAW:
                seen = Result.DRAW
            else:
                seen = Result.WIN if result.winner is seat.color else Result.LOSS
            self._say(seat, End(seen, seat.fault.reason if seat.fault else reason))
            self._say(seat, Quit())
            seat.phase = Phase.CLOSED
            seat.deadline = NEVER
            seat.due = True

    def _say(self, seat: Seat, message: ArenaMessage) -> None:
        seat.out.append(seat.codec.encode(message))


def _note_bytes(text: str) -> int:
    """What a note takes in a record, where quotation marks and backslashes are escaped."""
    return NOTE_BYTES + len(text) + text.count('"') + text.count("\\")


def _told(fault: Fault) -> Fault:
    """A fault as it goes into records and to terminals: whatever a bot has put into its words, printable and short."""
    return Fault(fault.reason, printable(fault.text, MAX_FAULT))
