"""A running game with a person: the interface of a page or a terminal.

A `Session` plays one game between a person and a bot, or between two persons, with the usual referee and runner. For
each person it has the state of the seat (`SeatState`), a version that rises with each change, and a way for any number
of readers to wait for the next change. A person's actions are checked first: an illegal one is refused and never
reaches the referee, so it does not lose the game.

A session belongs to one trio loop: call it from there. Until the game is over, a seat's state holds only what that seat
was told.
"""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import trio

from arena.bots.spec import BotSpec
from arena.errors import ArenaError, IllegalAnswerError, UsageError
from arena.game import State, displayed
from arena.game.faults import GameResult
from arena.game.game_spec import GameSpec
from arena.game.person_seat import ClockState, EndState, PersonSeat, SeatStage, SeatState
from arena.game.record import GameRecord, History
from arena.game.time_control import GameClock
from arena.play.game_events import ActionPlayed, GameEvent, GameStarted
from arena.play.game_options import USUAL, GameOptions, Interrupt
from arena.play.participant import Participant, PersonParticipant
from arena.play.retry import play_on_with_retries
from protocol.lines import RemoteProtocolError, is_line
from protocol.seats import RESIGN, Color, SeatResult

Players = tuple[BotSpec, BotSpec]
LONGEST_ANSWER = 1000
"""Characters of a set-up or an action."""


class RefusedError(ArenaError):
    """An action of a person that is not possible; the text says why. The game continues.

    `rule` is the rule of the game that forbids it, if one does.
    """

    def __init__(self, text: str, rule: enum.Enum | None = None) -> None:
        super().__init__(text)
        self.rule = rule


class _Chair:
    """A person's place in a session. If the game is repeated it stays, with a new seat in it."""

    def __init__(self, seat: PersonSeat) -> None:
        self.seat = seat
        self.participant: PersonParticipant | None = None
        self.resigns = False
        self.version = 1
        self._changed = trio.Event()

    def change(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = trio.Event()

    async def wait(self) -> None:
        await self._changed.wait()


class Session:
    """One game with a person in it. `play` it once, and use the other methods meanwhile."""

    def __init__(
        self,
        spec: GameSpec,
        players: Players,
        options: GameOptions = USUAL,
        history: History | None = None,
    ) -> None:
        """`players` are Red and Blue: a bot, or a person (`arena.bots.spec.person_spec`).

        `history` is the earlier part of a resumed game. `options` are for starting the bot.
        """
        self.spec = spec
        self._players = players
        self._options = options
        self._history = history
        self._interrupt = Interrupt()  # a person who asks for a pause gets the reason against it
        self._new_seat: Callable[[Color], PersonSeat] = displayed(spec.kind.displays.seat, PersonSeat)
        self._chairs = {color: _Chair(self._new_seat(color)) for color in Color if players[color].is_person}
        self._start: GameStarted | None = None
        self._played: list[ActionPlayed] = []
        self._turn_began = 0.0
        self._remark = ""
        self._number: int | None = None
        self._result: GameRecord | None = None
        self._is_paused = False

    # --- playing ------------------------------------------------------------------------------------------------------

    async def play(self) -> GameRecord | History | None:
        """Play to the end, or until a person pauses.

        Returns the record; the history of a paused game; or None, if that was before both sides had set up. Raises
        `ArenaError` as `arena.play.retry.play_on_with_retries` does. When this returns or raises, the states are `OVER`
        or `PAUSED`.
        """
        options = replace(self._options, spawn=self._take_seat, watch=self._happened, told_at_once=tuple(self._chairs))
        played: GameRecord | History | None = None
        try:
            played = await play_on_with_retries(
                self.spec, self._players, self._history, self._interrupt, options=options, say=self.remark
            )
        finally:
            if isinstance(played, GameRecord):
                self._result = played
            else:
                self._is_paused = True
            self._change_all()
        return played

    def _take_seat(self, bot: BotSpec) -> Participant:
        if not bot.is_person:
            return self._options.spawn(bot)
        chair = next(self._chairs[color] for color in self._chairs if self._players[color].player == bot.player)
        chair.seat = self._new_seat(chair.seat.color)
        chair.participant = PersonParticipant(chair.seat, lambda: self._told(chair))
        return chair.participant

    def _told(self, chair: _Chair) -> None:
        if chair.resigns and chair.seat.stage is SeatStage.MOVING:
            self._say_move(chair, RESIGN)
        chair.change()

    def _happened(self, event: GameEvent) -> None:
        match event:
            case GameStarted():
                self._start, self._played = event, []
                for chair in self._chairs.values():
                    if chair.seat.stage in (SeatStage.STARTING, SeatStage.READY):
                        chair.seat.stage = SeatStage.WAITING
            case ActionPlayed():
                self._played.append(event)
            case _:
                return
        self._turn_began = trio.current_time()
        self._change_all()

    def _change_all(self) -> None:
        for chair in self._chairs.values():
            chair.change()

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def record(self) -> GameRecord | None:
        """The complete record, once the game is over."""
        return self._result

    @property
    def persons(self) -> tuple[Color, ...]:
        return tuple(self._chairs)

    @property
    def is_over(self) -> bool:
        return self._result is not None or self._is_paused

    def state(self, color: Color) -> SeatState:
        return self._chairs[color].seat.state(self.known(color), self.spec.variant)

    def known(self, color: Color, **otherwise: Any) -> SeatState:
        """Return what seats of all games show; `otherwise` are other values of its fields."""
        chair, position = self._chairs[color], self._position
        red, blue = self.spec.players
        fields: dict[str, Any] = {
            "version": chair.version,
            "color": color.word,
            "stage": self._stage(chair.seat),
            "players": (red.name, blue.name),
            "ruleset": self.spec.variant.name,
            "rules": self.spec.variant.rules,
            "setup": chair.seat.rows,
            "plies": position.ply if position else 0,
            "choices": () if self.is_over else chair.seat.choices,
            "clocks": (self._clock_of(Color.RED), self._clock_of(Color.BLUE)),
            "resigns": chair.resigns,
            "remark": self._remark,
            "end": self._end_for(color),
        }
        return SeatState(**fields | otherwise)

    def seat(self, color: Color) -> PersonSeat:
        return self._chairs[color].seat

    def text(self, color: Color) -> str:
        """Return the position as text, as a person's seat knows it; all of it when the game is over."""
        position = self._position
        return position.text(None if self._result else color) if position else ""

    @property
    def start(self) -> GameStarted | None:
        """The beginning of the game; another one if the game was begun again."""
        return self._start

    @property
    def played(self) -> Sequence[ActionPlayed]:
        """The actions since `start`, without those of an earlier part of a resumed game."""
        return self._played

    async def changed(self, color: Color, version: int = 0) -> SeatState:
        """Wait until a person's state has a version above this one, and return it."""
        chair = self._chairs[color]
        while chair.version <= version:
            await chair.wait()
        return self.state(color)

    def _stage(self, seat: PersonSeat) -> SeatStage:
        if self._is_paused:
            return SeatStage.PAUSED
        if self._result:
            return SeatStage.OVER
        # The verdict's words are still to come.
        return SeatStage.WAITING if seat.stage is SeatStage.OVER else seat.stage

    @property
    def _position(self) -> State | None:
        return self._interrupt.live.state if self._interrupt.live else None

    def _clock_of(self, color: Color) -> ClockState:
        live, state, time = self._interrupt.live, self._position, self.spec.times[color]
        runs = state is not None and not self.is_over and state.to_move is color and not state.outcome
        if time.is_unlimited:
            return ClockState(None, runs=runs)
        clock = live.clock if live else GameClock(self.spec.times)
        used = trio.current_time() - self._turn_began if runs else 0.0
        left_ms, bank_ms = max(0, math.floor((clock.budget(color) - used) * 1000)), clock.bank_ms(color)
        if bank_ms is not None:
            bank_ms = max(0, bank_ms - math.floor(used * 1000))
        return ClockState(left_ms, None if time.move_ms is None else bank_ms, runs)

    def _end_for(self, color: Color) -> EndState | None:
        if self._result is None:
            return None
        verdict = self._result.verdict
        if verdict.result is GameResult.DRAW:
            seen = SeatResult.DRAW
        else:
            seen = SeatResult.WIN if verdict.result.winner is color else SeatResult.LOSS
        position, seat = self._position, self._chairs[color].seat
        truth = seat.truth(position) if position else ()
        return EndState(seen.value, verdict.reason.value, verdict.detail, truth, self._number)

    # --- what a person does -------------------------------------------------------------------------------------------

    def set_up(self, color: Color, rows: Sequence[str]) -> None:
        """Set up for a person. Raises `RefusedError` if the set-up is illegal or not requested."""
        chair = self._chair_at(color, SeatStage.SETTING_UP, "a set-up is not asked for now")
        assert chair.participant is not None
        setup = "/".join(rows)
        if fault := chair.seat.setup_fault(self.spec.variant, setup):
            raise RefusedError(fault)
        _check_line(setup)
        chair.seat.set_up(tuple(setup.split("/")))
        chair.participant.say(f"setup {setup}")
        chair.change()

    def act(self, color: Color, action: str) -> None:
        """Act for a person in its turn. Raises `RefusedError` with the rule that forbids it."""
        if action == RESIGN:
            self.resign(color)
            return
        chair = self._chair_at(color, SeatStage.MOVING, "it is not your turn")
        is_listed = chair.seat.lists(action)
        if not is_listed:
            assert self._position is not None, "there is a turn, so there is a game"
            try:
                self.spec.kind.check(self._position, action)
                self.spec.kind.check_move_form(action)
            except IllegalAnswerError as error:
                raise RefusedError(str(error), error.rule) from None
            except RemoteProtocolError as error:
                raise RefusedError(str(error)) from None
            if is_listed is False:
                raise RefusedError(f"{action}: {chair.seat.unlisted}")
            _check_line(action)
        self._say_move(chair, action)

    def resign(self, color: Color) -> None:
        """Resign for a person: now, or as soon as it is to move. Raises `RefusedError` if no game is under way."""
        chair = self._chairs[color]
        stage = self._stage(chair.seat)
        if stage not in (SeatStage.MOVING, SeatStage.WAITING):
            raise RefusedError("there is nothing to resign" + (" yet" if not self.is_over else ": the game is over"))
        chair.resigns = True
        if stage is SeatStage.MOVING:
            self._say_move(chair, RESIGN)
        chair.change()

    def pause(self) -> None:
        """Interrupt the game for resuming later. Raises `RefusedError` if that would not be possible."""
        words = self.why_no_pause()
        if words:
            raise RefusedError(words)
        self.leave()

    def leave(self) -> None:
        self._interrupt.request()

    def why_no_pause(self) -> str:
        """Return why the game could not be resumed later; an empty string if it can."""
        if self.is_over:
            return "the game is paused" if self._is_paused else "the game is over"
        if self._position is None:
            return "before both sides have set up there is nothing to pause"
        return self.why_not_saved()

    def why_not_saved(self) -> str:
        return self._interrupt.why_not()

    def remark(self, text: str) -> None:
        self._remark = text
        self._change_all()

    def stored(self, number: int) -> None:
        self._number = number
        self._change_all()

    def random_setup(self, color: Color, seed: int) -> tuple[str, ...]:
        """Return a legal set-up. Raises `RefusedError` if the game makes none."""
        try:
            return tuple(self.spec.kind.random_setup(self.spec.variant, color, seed).split("/"))
        except UsageError as error:
            raise RefusedError(str(error)) from None

    # --- saying it ----------------------------------------------------------------------------------------------------

    def _chair_at(self, color: Color, stage: SeatStage, otherwise: str) -> _Chair:
        chair = self._chairs[color]
        if self._stage(chair.seat) is not stage:
            raise RefusedError(self._over_words() or otherwise)
        return chair

    def _over_words(self) -> str:
        return "the game is paused" if self._is_paused else "the game is over" if self._result else ""

    def _say_move(self, chair: _Chair, action: str) -> None:
        assert chair.participant is not None
        chair.seat.acted()
        chair.participant.say(f"move {action}")
        chair.change()


def _check_line(text: str) -> None:
    """Raise `RefusedError` for an answer that a game allows and a line of the protocol cannot carry."""
    if not is_line(text) or len(text) > LONGEST_ANSWER:
        raise RefusedError(f"expected at most {LONGEST_ANSWER} printable ASCII characters")
