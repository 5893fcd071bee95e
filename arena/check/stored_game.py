"""A recorded game replayed with a bot, to find different answers.

The arena's lines follow from the record, clocks included, and so do the opponent's: the referee uses the recorded
answers and the recorded times. The bot's own are only compared. A bot that sets up differently is started
again with the recorded set-up, by `restore`.
"""

from dataclasses import dataclass, replace

import msgspec

from arena.bots.entering import may_be
from arena.bots.spec import BotSpec
from arena.check.situations import Failure
from arena.check.talk import Manner, Times, talk_with
from arena.errors import ArenaError, IllegalAnswerError, UsageError
from arena.game.faults import Fault, Illegal
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord
from arena.game.recorded import BY_A_LINE, spec_of
from arena.game.referee import Referee
from arena.game.seat import Seat
from arena.game.time_control import MICROSECONDS
from arena.processes.starting import Sandbox
from arena.sandbox.launch import StartError
from arena.system.printable import printable
from protocol.conversation import Phase
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


PATIENCE = 10.0
"""The least time in seconds for an answer, as the author may be debugging."""
FAULT_FOLLOWS = 1.0
"""Seconds to wait for a recorded fault in the opponent's turn."""


async def replay(game: StoredGame, bot: BotSpec, held: Sandbox) -> Replayed:
    """Replay the game with the bot that has a side in it. Raises `ArenaError` if it cannot be started."""
    record, color = game.record, game.color
    assert color is not None
    spec = spec_of(record)
    first, failure = await _play(record, spec, bot, held, color)
    recorded, (red, blue) = record.setups[color], record.setups
    if first.setup in (None, recorded) or red is None or blue is None:
        setups = recorded, recorded if record.opening else first.setup
        return Replayed(game, color, setups, False, tuple(first.replies), failure)
    again, failure = await _play(record, msgspec.structs.replace(spec, opening=(red, blue)), bot, held, color)
    return Replayed(game, color, (recorded, first.setup), True, tuple(again.replies), failure)


async def _play(
    record: GameRecord, spec: GameSpec, bot: BotSpec, held: Sandbox, color: Color
) -> tuple["_RecordedGame", Failure | None]:
    try:
        process = held.start(bot)
    except StartError as error:
        raise ArenaError(f"{bot.name} cannot be started: {error}") from None
    game = _RecordedGame(record, spec, color)
    async with talk_with(process, bot, Times(), Manner()) as talk:
        await talk.play(game, color, game)
        fault = game.seats[color].fault
        if fault is None:
            return game, None
        game.note_fault(fault)
        return game, talk.failure_of(game, fault)


class _RecordedGame(Referee):
    """A referee that goes on as recorded, whatever the bot answers, and the bot's opponent."""

    def __init__(self, record: GameRecord, spec: GameSpec, color: Color) -> None:
        super().__init__(spec)
        self.setup: str | None = None
        self.replies: list[Reply] = []
        self._record, self._color = record, color
        self._is_done = False

    # --- the opponent -------------------------------------------------------------------------------------------------

    def seconds(self, _: Referee) -> float:
        is_last = self._answer_of_foe() is None and not self.seats[self._color].is_awaited
        return FAULT_FOLLOWS if is_last and self._record.verdict.faults[self._color] else 0.0

    def answer(self, _: Referee) -> bytes | None:
        said = self._answer_of_foe()
        if said is None and not self.seats[self._color].is_awaited:
            self._is_done = True
        return said

    def is_at_break(self, _: Referee) -> bool:
        return self._is_done

    def _answer_of_foe(self) -> bytes | None:
        foe, record, done = self._color.opponent, self._record, len(self.actions)
        if self.seats[foe].phase is Phase.INTRODUCING:
            return b"ready\n"
        if self.seats[foe].phase is Phase.SETTING_UP:
            return None if record.setups[foe] is None else f"setup {record.setups[foe]}\n".encode()
        return f"move {record.actions[done]}\n".encode("ascii", "replace") if done < len(record.actions) else None

    # --- the bot ------------------------------------------------------------------------------------------------------

    def sent(self, color: Color, now: float) -> None:
        super().sent(color, now)
        seat = self.seats[color]
        seat.deadline = max(seat.deadline, now + PATIENCE)

    def _set_up(self, seat: Seat, rows: tuple[str, ...]) -> None:
        recorded = self._record.setups[seat.color]
        if seat.color is self._color:
            self.setup = "/".join(rows)
            self._is_done = recorded != self.setup
        super()._set_up(seat, rows if recorded is None else tuple(recorded.split("/")))

    def _moved(self, seat: Seat, action: str, now: float, forgiven: float) -> None:
        if seat.color is self._color and not self._is_as_recorded(action, now - seat.started):
            self._is_done = True
            super()._moved(seat, action, now, forgiven)
            return
        done = len(self.actions)
        self.live.clock.start(seat.color, 0.0)
        super()._moved(seat, self._record.actions[done], self._record.times_us[done] / MICROSECONDS, 0.0)
        if seat.fault:
            raise ArenaError(f"game {self._record.id}: ply {done + 1}: {seat.fault.text}")

    def _is_as_recorded(self, action: str, seconds: float) -> bool:
        """Compare the bot's action; return whether the recorded game has one that was played here."""
        recorded, recorded_ms = self._recorded()
        is_played = recorded_ms is not None
        illegal = ""
        if not (is_played and action == recorded) and action != RESIGN:
            assert self.state is not None
            try:
                self.spec.kind.check(self.state, action)
            except IllegalAnswerError as error:
                illegal = printable(str(error))
        self.replies.append(Reply(len(self.actions) + 1, recorded, action, recorded_ms, seconds * 1000, illegal))
        return is_played

    def note_fault(self, fault: Fault) -> None:
        """Note that the bot has no answer, if it is its turn."""
        is_its_turn = self.state is not None and self.state.to_move is self._color
        if is_its_turn and fault.reason is not Reason.ILLEGAL_ACTION:  # which is an answer, and among them already
            recorded, recorded_ms = self._recorded()
            self.replies.append(Reply(len(self.actions) + 1, recorded, None, recorded_ms, None))

    def _recorded(self) -> tuple[str | None, float | None]:
        """Return the bot's action in the record at this ply, with its time if it was played; None if there is none."""
        record, done = self._record, len(self.actions)
        if done < len(record.actions):
            return record.actions[done], record.times_us[done] / 1000
        return illegal_then_of(record, self._color), None
