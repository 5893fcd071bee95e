"""The transcript of a game: every line between the arena and both bots, recomputed from the record.

The recorded answers and times are given to a new referee through the same connection and codec as in the game, and its
output is the arena's. Data that a record lacks is marked as unknown (`Remark`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import msgspec

from arena.game.faults import Illegal
from arena.game.game_spec import GameSpec
from arena.game.live import MAX_NOTE_BYTES, NOTE_BYTES
from arena.game.record import GameRecord, History, NoteLine, RecordError, Use
from arena.game.recorded import BY_A_LINE, spec_of
from arena.game.referee import Referee
from arena.game.seat import Introduction, LineConnection
from arena.game.time_control import MICROSECONDS, TimeControl
from protocol.conversation import Phase
from protocol.lines import MAX_BOT_LINE, LocalProtocolError
from protocol.messages import PROTOCOL_VERSION, Hello, Want
from protocol.seats import Color, Reason

UNKNOWN_ANSWER = "the line that it lost the game by is not in the record; what follows says what was wrong"
ENDED = "what follows it can hardly have read: its process had ended, or was ended at once"
SLACK_MS = 1000
"""Added to the margin of both clocks, hidden from the bots: times in records are rounded."""
AT_SETTING_UP = frozenset({Reason.ILLEGAL_SETUP, Reason.SETUP_TIMEOUT, Reason.CRASH})


class Speaker(Enum):
    ARENA = "arena"
    BOT = "bot"


class SpokenLine(NamedTuple):
    """A line of the protocol, without its end, in the conversation with the bot of `color`.

    `ply` is the one being played, 0 before the first turn.
    """

    ply: int
    color: Color
    speaker: Speaker
    text: str


class ActionTime(NamedTuple):
    """The times of an action, in microseconds: on the clock, lag that was not charged, and processor time.

    The last two are None in records that do not have them.
    """

    ply: int
    color: Color
    taken_us: int
    forgiven_us: int | None
    cpu_us: int | None

    @property
    def text(self) -> str:
        parts = [f"{self.taken_us / 1000:.1f} ms"]
        if self.forgiven_us is not None and (forgiven := f"{self.forgiven_us / 1000:.1f}") != "0.0":
            parts.append(f"{forgiven} not charged")
        if self.cpu_us is not None:
            parts.append(f"CPU {self.cpu_us / 1000:.1f}")
        return ", ".join(parts)


class Remark(NamedTuple):
    """A note on an event, or on data that the record lacks; `color` is None for both sides."""

    ply: int
    color: Color | None
    text: str


TranscriptEntry = SpokenLine | ActionTime | Remark


def transcript(record: GameRecord, *, is_followed: bool = False) -> Iterator[TranscriptEntry]:
    """Yield the lines of a game in the order in which they were written; of simultaneous ones, Red's first.

    `is_followed` tells that another game followed in the same processes. Raises `RecordError` for an impossible record.
    """
    try:
        yield from _Transcript(record, is_followed).entries()
    except LocalProtocolError as error:  # a name, say, that no game was ever played under
        raise RecordError(f"game {record.id}: {error}") from None


@dataclass(frozen=True)
class _Sitting:
    """One start of both bots: the history to resume, and the interrupted ply, if any."""

    history: History | None
    until: int | None
    interrupted_us: int = 0


class _Transcript:
    def __init__(self, record: GameRecord, is_followed: bool) -> None:
        self._record = record
        self._spec = _with_slack(spec_of(record))
        self._faults = record.verdict.fault_by_loser
        self._is_followed = is_followed
        self._is_played = None not in record.setups
        self._kept = record.kept or (False, False)
        self._asks_for_setups = self._spec.kind.has_setups and not record.opening
        self._ply = 0
        if len(record.actions) != len(record.times_us):
            raise RecordError(f"game {record.id}: {len(record.actions)} actions, but {len(record.times_us)} times")

    def entries(self) -> Iterator[TranscriptEntry]:
        started = [self._was_started(color) for color in Color]
        if not any(started):
            yield Remark(0, None, "neither bot was started, so no line was sent")
            return
        for sitting in self._sittings():
            yield from self._sit(sitting, started)

    def _was_started(self, color: Color) -> bool:
        record = self._record
        if record.used is None or record.setups[color] is not None or record.declared[color]:
            return True
        return bool(record.confinement[color]) or record.used[color] != Use()

    def _sittings(self) -> Iterator[_Sitting]:
        record, history = self._record, None
        for number, (ply, taken) in enumerate(record.interrupted):
            if not 1 <= ply <= len(record.actions) + 1 or not self._is_played:
                raise RecordError(f"game {record.id}: interrupted at ply {ply}, which does not exist")
            yield _Sitting(history, ply, taken)
            history = self._history(ply - 1, number + 1)
        if history is None and self._is_played and self._failed_to_start():
            history = self._history(len(record.actions), 0)  # it was interrupted between two turns
        yield _Sitting(history, None)

    def _failed_to_start(self) -> bool:
        return Reason.NO_START in self._reasons()

    def _reasons(self) -> set[Reason]:
        return {fault.reason for fault in self._faults.values()}

    def _history(self, plies: int, interruptions: int) -> History:
        record = self._record
        red, blue = record.setups
        return History(
            declared=record.declared,
            setups=(red or "", blue or ""),
            actions=record.actions[:plies],
            times_us=record.times_us[:plies],
            notes=tuple(note for note in record.notes if note.ply <= plies),
            interrupted=record.interrupted[:interruptions],
        )

    # --- one sitting --------------------------------------------------------------------------------------------------

    def _sit(self, sitting: _Sitting, started: list[bool]) -> Iterator[TranscriptEntry]:
        kept = {color: self._introduction(color) for color in Color if self._kept[color] and sitting.history is None}
        referee = Referee(
            self._spec,
            history=sitting.history,
            introduced=kept,
            keeps=self._is_followed and not any(self._kept),
        )
        for color in kept:
            yield Remark(0, color, "it had played the other game of the pair before, in the same process")
        self._ply = len(sitting.history.actions) if sitting.history else 0
        silent = [color for color in Color if not started[color]]
        for color in silent:
            yield Remark(0, color, "its program could not be started, so no line was sent to it")
        yield from self._before_the_game(referee, sitting, silent)
        if referee.state is not None:
            yield from self._play(referee, sitting)
        if sitting.until is not None:
            assert referee.state is not None
            for color in Color:
                after = f" after {sitting.interrupted_us / 1000:.1f} ms of this turn"
                words = f"interrupted here{after if color is referee.state.to_move else ''}; both bots were ended"
                yield Remark(self._ply, color, words)
            return
        yield from self._end(referee, silent)

    def _introduction(self, color: Color) -> Introduction:
        connection = LineConnection(self._spec.kind)
        connection.send(Hello(PROTOCOL_VERSION))
        connection.flushed()
        list(connection.receive(b"ready\n"))
        return Introduction(connection, self._record.declared[color], self._wants(color))

    def _wants(self, color: Color) -> tuple[Want, ...]:
        return self._record.wants[color] if self._record.wants else ()

    def _before_the_game(
        self, referee: Referee, sitting: _Sitting, silent: Iterable[Color]
    ) -> Iterator[TranscriptEntry]:
        yield from self._write(referee, silent)
        fails = {color for color in self._faults if sitting.until is None}
        at_start = fails and (self._failed_to_start() if self._is_played else not self._failed_at_setup())
        for color in referee.awaited():
            if color in silent or referee.seats[color].phase is not Phase.INTRODUCING:
                continue
            failed = bool(at_start) and color in fails
            yield from self._introduced(referee, color, failed=failed)
        if at_start:
            self._fail(referee)
            return
        if sitting.history is None and self._asks_for_setups:
            yield from self._write(referee, ())
            yield from self._set_up(referee, fails if not self._is_played else set())

    def _failed_at_setup(self) -> bool:
        """Whether a game without a first turn was lost during the set-up, and not before."""
        if not self._asks_for_setups:
            return False
        return self._record.setups != (None, None) or bool(self._reasons() & AT_SETTING_UP)

    def _introduced(self, referee: Referee, color: Color, *, failed: bool) -> Iterator[TranscriptEntry]:
        record = self._record
        lines = [f"name {record.declared[color]}"] if record.declared[color] else []
        wants = self._wants(color)
        if record.authors and record.authors[color]:
            lines.append(f"author {record.authors[color]}")
        if wants:
            lines.append(" ".join(("want", *(want.value for want in wants))))
        cannot = record.cannot[color] if record.cannot else ()
        if cannot:
            lines.append(" ".join(("cannot", *(ability.value for ability in cannot))))
        for text in lines:
            yield SpokenLine(self._ply, color, Speaker.BOT, text)
        if failed:
            return
        lines.append("ready")
        yield SpokenLine(self._ply, color, Speaker.BOT, "ready")
        self._receive(referee, color, lines)

    def _set_up(self, referee: Referee, fails: set[Color]) -> Iterator[TranscriptEntry]:
        for color in Color:
            notes = self._setup_notes(color)
            setup = self._record.setups[color]
            rows = [f"setup {setup}"] if setup is not None and color not in fails else []
            lines = [*notes, *rows]
            for text in lines:
                yield SpokenLine(0, color, Speaker.BOT, text)
            if lines:
                self._receive(referee, color, lines)
        if not self._is_played:
            self._fail(referee)

    def _setup_notes(self, color: Color) -> list[str]:
        """Return the notes that a side certainly made with its set-up, as it had no turn at ply 1."""
        if self._is_played and color is self._spec.kind.first_seat(self._spec.variant):
            return []
        return [f"note {note.text}" for note in self._record.notes if note.ply == 1 and note.color == color.word]

    def _play(self, referee: Referee, sitting: _Sitting) -> Iterator[TranscriptEntry]:
        record = self._record
        notes = defaultdict(list)
        for note in record.notes:
            notes[note.ply, note.color].append(note)
        last = len(record.actions) if sitting.until is None else sitting.until - 1
        while not referee.is_over:
            assert referee.state is not None
            color, self._ply = referee.state.to_move, len(referee.actions) + 1
            yield from self._write(referee, ())
            if self._ply == sitting.until:
                return
            yield from self._noted(color, notes[self._ply, color.word], sitting)
            if self._ply > last:
                return
            yield from self._acted(referee, color)
        if len(referee.actions) < len(record.actions):
            words = referee.verdict.detail if referee.verdict else referee.void
            raise RecordError(f"game {record.id}: ply {len(referee.actions) + 1}: {words}")

    def _noted(self, color: Color, notes: list[NoteLine], sitting: _Sitting) -> Iterator[TranscriptEntry]:
        if notes and self._ply == 1 and sitting.history is None and self._asks_for_setups:
            yield Remark(1, color, "the record does not say which of these notes it made with its set-up already")
        for note in notes:
            yield SpokenLine(self._ply, color, Speaker.BOT, f"note {note.text}")

    def _acted(self, referee: Referee, color: Color) -> Iterator[TranscriptEntry]:
        record, index = self._record, self._ply - 1
        text = f"move {record.actions[index]}"
        yield SpokenLine(self._ply, color, Speaker.BOT, text)
        yield ActionTime(
            self._ply,
            color,
            record.times_us[index],
            record.forgiven_us[index] if index < len(record.forgiven_us) else None,
            record.cpu_us[index] if index < len(record.cpu_us) else None,
        )
        self._receive(referee, color, [text], record.times_us[index] / MICROSECONDS)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _end(self, referee: Referee, silent: Iterable[Color]) -> Iterator[TranscriptEntry]:
        if not referee.is_over and referee.state is not None:
            yield from self._lost(referee)
            self._fail(referee)
        verdict, recorded = referee.verdict, self._record.verdict
        if verdict is None or (verdict.result, verdict.reason) != (recorded.result, recorded.reason):
            words = f"{verdict.result.value} by {verdict.reason.value}" if verdict else "not over"
            raise RecordError(
                f"game {self._record.id}: recorded as {recorded.result.value} by {recorded.reason.value}, judged again "
                f"as {words}"
            )
        for color, fault in self._faults.items():
            if isinstance(fault.cause, Illegal):
                yield SpokenLine(self._ply, color, Speaker.BOT, f"move {fault.cause.action}")
            elif color not in silent:
                yield Remark(self._ply, color, UNKNOWN_ANSWER if fault.reason in BY_A_LINE else ENDED)
        for color in Color:
            kept = sum(NOTE_BYTES + len(note.text) for note in self._record.notes if note.color == color.word)
            if kept + NOTE_BYTES + 2 * MAX_BOT_LINE > MAX_NOTE_BYTES:
                words = f"notes beyond {MAX_NOTE_BYTES // 1024} KiB of a side are not in the record"
                yield Remark(self._ply, color, words)
        yield from self._write(referee, silent)

    def _lost(self, referee: Referee) -> Iterator[TranscriptEntry]:
        assert referee.state is not None
        for color in self._faults:
            if color is not referee.state.to_move:
                words = "whether the turn before this had been written when its fault was found is not in the record"
                yield Remark(self._ply, color.opponent, words)

    def _fail(self, referee: Referee) -> None:
        for color, fault in self._faults.items():
            referee.at_fault(color, fault)

    # --- bytes --------------------------------------------------------------------------------------------------------

    def _write(self, referee: Referee, silent: Iterable[Color]) -> Iterator[TranscriptEntry]:
        for color in referee.due():
            data = referee.take(color)
            referee.sent(color, 0.0)
            if color in silent:
                continue
            for text in data.decode("ascii").split("\n")[:-1]:
                yield SpokenLine(self._ply, color, Speaker.ARENA, text)

    def _receive(self, referee: Referee, color: Color, lines: list[str], seconds: float = 0.0) -> None:
        before = referee.seats[color].fault
        referee.receive(color, "".join(f"{line}\n" for line in lines).encode("latin-1", "replace"), seconds)
        fault = referee.seats[color].fault
        if fault is not None and before is None:
            raise RecordError(f"game {self._record.id}: ply {self._ply}: {fault.text}")


def _with_slack(spec: GameSpec) -> GameSpec:
    """Return a game with more time beyond the limits."""

    def more(time: TimeControl) -> TimeControl:
        return msgspec.structs.replace(time, margin_ms=time.margin_ms + SLACK_MS)

    red, blue = spec.times
    return msgspec.structs.replace(spec, time=more(red), blue_time=more(blue), time_percent=None)
