"""A recorded game replayed with a bot, to find different answers.

The arena's lines follow from the record, clocks included, and so do the opponent's: the referee is given the recorded
answers with the recorded times. The bot's own are only compared. A bot that sets up differently is started again with
the recorded set-up, by `restore`.
"""

from collections import deque
from dataclasses import dataclass, replace

import msgspec
import trio

from arena.bots.entering import may_be
from arena.bots.process import QUIT_GRACE
from arena.bots.spec import BotSpec
from arena.bots.starting import Sandbox
from arena.check.situations import Failure
from arena.check.talk import Manner, Talk, Times
from arena.errors import ArenaError, IllegalAnswerError, UsageError
from arena.game import faults
from arena.game.faults import Fault, Illegal
from arena.game.game_spec import GameSpec
from arena.game.hints.answers import AWAITED
from arena.game.record import GameRecord
from arena.game.recorded import BY_A_LINE, spec_of, with_slack
from arena.game.referee import Referee
from arena.game.time_control import MICROSECONDS
from arena.play.driver import EXIT_FOLLOWS
from arena.sandbox.launch import StartError
from arena.system.concurrency import background, readable
from arena.system.printable import printable
from protocol.codec import decode_from_bot
from protocol.conversation import Phase, after
from protocol.lines import LineBuffer, RemoteProtocolError
from protocol.messages import BotMessage, Move, Ready, Setup
from protocol.seats import RESIGN, Color, Reason


@dataclass(frozen=True)
class Reply:
    """One answer, recorded and now (None: none), with both times in milliseconds.

    An illegal action that lost the recorded game is included. `illegal` says why the present answer is not allowed;
    empty if it is.
    """

    ply: int
    recorded: str | None
    now: str | None
    recorded_ms: float | None
    now_ms: float | None
    illegal: str = ""

    @property
    def is_same(self) -> bool:
        return self.recorded == self.now


@dataclass(frozen=True)
class StoredGame:
    """A game of a store, and a bot's side in it, None if unknown. `remarks` say how it was found."""

    number: int
    record: GameRecord
    color: Color | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replayed:
    """A recorded game with the present answers of the bot on the side of `color`.

    `setups` are the bot's, recorded and now, or None. `is_restored` tells that it was given the recorded one because
    its own differed.
    """

    game: StoredGame
    color: Color
    setups: tuple[str | None, str | None]
    is_restored: bool
    replies: tuple[Reply, ...]
    failure: Failure | None

    @property
    def differing(self) -> tuple[Reply, ...]:
        return tuple(reply for reply in self.replies if not reply.is_same)

    @property
    def fault_then(self) -> Fault | None:
        """The fault by which the bot lost the recorded game; None if it did not lose by one."""
        return self.game.record.verdict.faults[self.color]

    @property
    def has_same_fault(self) -> bool:
        """Whether it fails at the same ply with the recorded fault.

        Faults of one reason are the same, as times and exit codes vary; those by a line are if the line is.
        """
        then, failure, record = self.fault_then, self.failure, self.game.record
        if then is None or failure is None or failure.reason is not then.reason:
            return False
        ply = 0 if None in record.setups else len(record.actions) + 1
        return failure.ply == ply and (then.reason not in BY_A_LINE or failure.words == then.text)

    @property
    def is_same(self) -> bool:
        """Whether all its answers, and its fault if any, are as recorded."""
        if self.is_restored or self.differing:
            return False
        return self.has_same_fault or (self.failure is None and self.fault_then is None)


def illegal_then_of(record: GameRecord, color: Color) -> str | None:
    fault = record.verdict.faults[color]
    return fault.cause.action if fault and isinstance(fault.cause, Illegal) else None


def seated(game: StoredGame, bot: BotSpec) -> StoredGame:
    """Return the game with the side of a bot, by its content or its name, unless already set.

    Raises `UsageError` if it had no part in it.
    """
    if game.color is not None:
        return game
    players = game.record.players
    same = [color for color in Color if may_be(bot, players[color])]
    if same:
        both = ("it played both sides; this is Red's (--side blue for the other)",) if len(same) == 2 else ()
        return replace(game, color=same[0], remarks=both)
    namesakes = [color for color in Color if players[color].name == bot.name]
    if len(namesakes) == 1:
        return replace(game, color=namesakes[0], remarks=("its files have changed since this game",))
    red, blue = players
    raise UsageError(
        f"{printable(str(bot.path))}: expected a bot that played in game {game.number}, which was {red.name} - "
        f"{blue.name}; if it is a later version of one of them, say which with --side red or --side blue"
    )


now = trio.current_time

PATIENCE = 10.0
"""The least time in seconds for an answer, as the author may be debugging."""
FAULT_FOLLOWS = 1.0
"""Seconds to wait for a recorded fault in the opponent's turn."""


class _WrongError(Exception):
    """The bot has made a `fault` that would lose the game."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


async def replay(game: StoredGame, bot: BotSpec, held: Sandbox) -> Replayed:
    """Replay the game with the bot that has a side in it. Raises `ArenaError` if it cannot be started."""
    record, color = game.record, game.color
    assert color is not None
    spec = with_slack(spec_of(record))
    first = await _sit(record, spec, bot, held, color)
    recorded, (red, blue) = record.setups[color], record.setups
    if first.setup in (None, recorded) or red is None or blue is None:
        setups = recorded, recorded if record.opening else first.setup
        return Replayed(game, color, setups, False, tuple(first.replies), first.failure)
    again = await _sit(record, msgspec.structs.replace(spec, opening=(red, blue)), bot, held, color)
    return Replayed(game, color, (recorded, first.setup), True, tuple(again.replies), again.failure)


async def _sit(record: GameRecord, spec: GameSpec, bot: BotSpec, held: Sandbox, color: Color) -> "_Sitting":
    try:
        process = held.start(bot)
    except StartError as error:
        raise ArenaError(f"{bot.name} cannot be started: {error}") from None
    talk = Talk(process, bot, Times(), Manner())
    sitting = _Sitting(record, Referee(spec), color, talk)
    try:
        async with background(process.drain_stderr, talk.watch_use):
            await sitting.run()
    finally:
        talk.leave()
        await process.end(0 if sitting.failure else QUIT_GRACE)
    return sitting


class _Sitting:
    def __init__(self, record: GameRecord, referee: Referee, color: Color, talk: Talk) -> None:
        self.setup: str | None = None
        self.replies: list[Reply] = []
        self.failure: Failure | None = None
        self._record, self._referee, self._color, self._talk = record, referee, color, talk
        self._buffer = LineBuffer()
        self._heard: deque[bytes] = deque()
        self._raw = b""

    async def run(self) -> None:
        """Replay the game to its end, or to a fault of the bot."""
        try:
            while await self._step():
                pass
            if self._referee.awaited() == [self._color.opponent] and self._record.verdict.faults[self._color]:
                with trio.move_on_after(FAULT_FOLLOWS):
                    while True:
                        await self._hear(Phase.WAITING, PATIENCE)
            await self._tell(b"quit\n")
        except _WrongError as wrong:
            self._fail(wrong.fault)

    async def _tell(self, data: bytes) -> None:
        with trio.move_on_after(PATIENCE):
            await self._talk.tell(data)
            return
        raise _WrongError(faults.stalled(self._referee.seats[self._color].phase))

    async def _step(self) -> bool:
        """Write the pending lines and let both answer. Returns whether the game continues."""
        referee, color = self._referee, self._color
        for seat in referee.due():
            data = referee.take(seat)
            referee.sent(seat, 0.0)
            if seat is color:
                self._refuse_unasked()
                await self._tell(data)
        if referee.is_over:
            return False
        foe = color.opponent
        if color in referee.awaited() and not await self._answer():
            return False
        return not (foe in referee.awaited() and not referee.seats[foe].due and not self._answer_of_foe(foe))

    def _answer_of_foe(self, foe: Color) -> bool:
        referee, record = self._referee, self._record
        phase, done = referee.seats[foe].phase, len(referee.actions)
        if phase is Phase.INTRODUCING:
            referee.receive(foe, b"ready\n", 0.0)
        elif phase is Phase.SETTING_UP:
            if record.setups[foe] is None:
                return False
            referee.receive(foe, f"setup {record.setups[foe]}\n".encode(), 0.0)
        elif done < len(record.actions):
            self._act(foe)
        else:
            return False
        return True

    def _act(self, color: Color) -> None:
        done = len(self._referee.actions)
        taken = self._record.times_us[done] / MICROSECONDS
        self._referee.receive(color, f"move {self._record.actions[done]}\n".encode("ascii", "replace"), taken)
        if fault := self._referee.seats[color].fault:
            raise ArenaError(f"game {self._record.id}: ply {done + 1}: {fault.text}")

    async def _answer(self) -> bool:
        """Compare the bot's answer, and use the recorded one."""
        referee, color = self._referee, self._color
        phase = referee.seats[color].phase
        begun = now()
        message = await self._hear(phase, max(PATIENCE, self._limit(phase)))
        taken = (now() - begun) * 1000
        if isinstance(message, Ready):
            referee.receive(color, self._raw, 0.0)
        elif isinstance(message, Setup):
            self.setup = "/".join(message.rows)
            recorded = self._record.setups[color]
            if recorded is None:
                self._check_setup(message.rows)
            if recorded != self.setup or recorded is None:
                return False
            referee.receive(color, f"setup {recorded}\n".encode(), 0.0)
        elif isinstance(message, Move):
            return self._moved(message.action, taken)
        self._raw = b""
        return True

    def _check_setup(self, rows: tuple[str, ...]) -> None:
        try:
            spec = self._referee.spec
            spec.kind.check_setup(spec.variant, self._color, "/".join(rows))
        except IllegalAnswerError as error:
            raise _WrongError(Fault(Reason.ILLEGAL_SETUP, str(error)).shown) from None

    def _limit(self, phase: Phase) -> float:
        time = self._referee.spec.times[self._color]
        if phase is Phase.THINKING:
            return self._referee.live.clock.budget_ms(self._color) / 1000
        return (time.start_ms if phase is Phase.INTRODUCING else time.setup_ms) / 1000

    def _moved(self, action: str, taken: float) -> bool:
        referee = self._referee
        done, state = len(referee.actions), referee.state
        assert state is not None
        recorded, recorded_ms = self._recorded()
        is_played = recorded_ms is not None
        error: IllegalAnswerError | None = None
        if not (is_played and action == recorded) and action != RESIGN:
            try:
                referee.spec.kind.check(state, action)
            except IllegalAnswerError as found:
                error = found
        self.replies.append(Reply(done + 1, recorded, action, recorded_ms, taken, printable(str(error or ""))))
        self._raw = b""
        if not is_played:
            if error:
                raise _WrongError(faults.illegal(done + 1, action, error).shown)
            return False
        self._act(self._color)
        return True

    # --- what it says -------------------------------------------------------------------------------------------------

    async def _hear(self, phase: Phase, seconds: float) -> BotMessage:
        """Return the bot's answer; earlier messages are kept in `_raw`. Raises `_WrongError`."""
        end = now() + seconds
        while True:
            while self._heard:
                line = self._heard.popleft()
                message, phase = self._decoded(line, phase)
                self._raw += line + b"\n"
                if isinstance(message, Ready | Setup | Move):
                    return message
            await self._read(phase, end, seconds)

    def _decoded(self, line: bytes, phase: Phase) -> tuple[BotMessage | None, Phase]:
        try:
            message = decode_from_bot(line, self._referee.spec.kind)
            return message, phase if message is None else after(phase, message)
        except RemoteProtocolError as error:
            raise _WrongError(faults.malformed(error).shown) from None

    def _refuse_unasked(self) -> None:
        """Read the bot's output since its last answer. Raises `_WrongError` if that is more than comments."""
        if self._talk.process.has_output() and (data := self._talk.hear_now()):
            self._feed(data)
        for line in self._heard:
            self._decoded(line, Phase.WAITING if self._referee.state else Phase.IDLE)
        self._heard.clear()

    def _feed(self, data: bytes) -> None:
        try:
            self._heard.extend(self._buffer.feed(data))
        except RemoteProtocolError as error:
            raise _WrongError(faults.malformed(error).shown) from None

    async def _read(self, phase: Phase, end: float, seconds: float) -> None:
        seat = self._referee.seats[self._color]
        with trio.move_on_at(end):
            await readable(self._talk.process.stdout)
        if now() >= end and not self._talk.process.has_output():
            await self._talk.ask_more(seat)
            words = f"expected '{AWAITED[phase]}', none came in {round(seconds * 1000)} ms"
            raise _WrongError(Fault(faults.OVERRUN.get(phase, Reason.TIMEOUT), words))
        data = self._talk.hear_now()
        if data == b"":
            with trio.move_on_after(EXIT_FOLLOWS):
                await self._talk.process.wait_exit()
            if over := self._talk.over or self._talk.process.out_of_memory():
                raise _WrongError(faults.over_limit(over))
            seat.has_ended = True
            has_exited = self._talk.process.has_exited()
            how = self._talk.process.exit_words() if has_exited else "closed its standard output"
            raise _WrongError(faults.gone(phase, how, exited=has_exited))
        self._feed(data or b"")

    def _fail(self, fault: Fault) -> None:
        referee, talk = self._referee, self._talk
        talk.advised(referee, referee.seats[self._color], fault)
        ply = len(referee.actions) + 1 if referee.state is not None else 0
        self.failure = talk.failure(ply, fault.reason, fault.text)
        is_its_turn = referee.state is not None and referee.state.to_move is self._color
        if is_its_turn and fault.reason is not Reason.ILLEGAL_ACTION:  # which is an answer, and among them already
            recorded, recorded_ms = self._recorded()
            self.replies.append(Reply(ply, recorded, None, recorded_ms, None))

    def _recorded(self) -> tuple[str | None, float | None]:
        """Return the bot's action in the record at this ply, with its time if it was played; None if there is none."""
        record, done = self._record, len(self._referee.actions)
        if done < len(record.actions):
            return record.actions[done], record.times_us[done] / 1000
        return illegal_then_of(record, self._color), None
