"""Checks whether a record, or a file of an interrupted game, is possible.

The engine replays all that follows from the rules. Other facts (a clock, a crash) are compared with what the referee
can have written: which side can lose by a reason, when, with which set-ups, and how long an action may have taken.
Invented games can pass: `docs/threat-model.md` lists what cannot be detected.
"""

import math
from collections.abc import Sequence

import msgspec

from arena.errors import IllegalAnswerError, UsageError
from arena.game import Game, State
from arena.game.exported import date_text
from arena.game.faults import MAX_FAULT, GameResult, Illegal, forfeit, illegal, tried, verdict_of
from arena.game.game_spec import GameSpec, Opening
from arena.game.record import MOST_SECONDS, GameRecord, History, NoteLine, RecordError, usual_turns
from arena.game.recorded import spec_of, started, turns_text
from arena.game.time_control import LEAST_PERCENT, MOST_PERCENT, GameClock, TimeControl
from protocol.lines import RemoteProtocolError
from protocol.seats import COLOR_BY_WORD, Color, Reason, ReasonKind

SETTING_UP = frozenset({Reason.ILLEGAL_SETUP, Reason.SETUP_TIMEOUT})
"""Reasons of losing during the set-up."""
ON_THE_MOVE = frozenset({Reason.TIMEOUT, Reason.ILLEGAL_ACTION})
"""Reasons of losing that only the side to move can have."""
AT_ANY_TIME = frozenset({Reason.NO_START, Reason.CRASH, Reason.PROTOCOL, Reason.OVER_LIMIT})
"""Reasons of either side, before the game and in it: a resumed game begins with a start."""

ROUNDING_US = 1.0
"""Rounding error of a ply, as times are kept in whole microseconds."""
MOST_MS = 10**14
"""Three thousand years: more than any option of the command line."""


def check_record(record: GameRecord) -> None:
    """Judge a recorded game again. Raises `RecordError` for another verdict, or an impossible record."""
    try:
        _check_record(record)
    except (RecordError, UsageError, IllegalAnswerError) as error:
        text = str(error)
        raise RecordError(text if text.startswith("game ") else f"game {record.id}: {text}") from None


def _check_record(record: GameRecord) -> None:
    _check_claims(record)
    variant = record.variant
    variant.kind.check_variant(variant)
    _check_clocks(record)
    if record.opening:
        _check_opening(record, record.opening)
    red, blue = record.setups
    if red is None or blue is None:
        _check_unplayed(record)
        _check_faults(record)
        return
    state, sides = check_course(spec_of(record), record, (red, blue))
    turns, usual = turns_text(sides), usual_turns(record.rules, len(sides))
    if (record.turns or usual) != turns or record.turns == usual:
        raise RecordError(f"its turns are {record.turns or usual!r:.80}, judged again as {turns!r:.80}")
    if state.outcome is None:
        judged: tuple[GameResult, Reason] | None = None
    else:
        winner = state.outcome.winner
        judged = (GameResult.DRAW if winner is None else GameResult.win(winner), state.outcome.reason)
    reason = record.verdict.reason
    expected = None if reason.is_forfeit else (record.verdict.result, reason)
    if judged != expected:
        raise RecordError(f"recorded as {_words(expected)}, judged again as {_words(judged)}")
    _check_faults(record)
    if judged is None:
        _check_forfeit(record, state)


def _check_claims(record: GameRecord) -> None:
    verdict, reason = record.verdict, record.verdict.reason
    if (record.game or "") != record.variant.title:
        raise RecordError(f"its game is {record.game!r}: expected its name and version, and nothing for Stratego")
    if verdict.plies != len(record.actions):
        raise RecordError(f"recorded as {verdict.plies} plies, but has {len(record.actions)} actions")
    if (verdict.result is GameResult.DRAW) != (reason.kind is ReasonKind.DRAWN):
        raise RecordError(f"recorded as {verdict.result.value} by {reason.value}, which cannot be")
    if verdict.result is GameResult.NEITHER:
        for lost in (reason, *(fault.reason for fault in verdict.fault_by_loser.values())):
            if lost not in SETTING_UP | AT_ANY_TIME:
                raise RecordError(f"recorded as lost by both by {lost.value}, but only one side can lose by that")
    used = [number for use in record.used or () for number in (use.cpu_us, use.memory)]
    if not all(number >= 0 and math.isfinite(number) for number in (record.started, record.seconds, *used)):
        raise RecordError("its start, length or use of the machine is negative")
    date_text(record.started)
    if record.seconds > MOST_SECONDS:
        raise RecordError(f"it took {record.seconds:.3g} s, where at most {MOST_SECONDS} were expected")


def _check_clocks(record: GameRecord) -> None:
    """Check the time controls, and their scale."""
    for time in record.nominal_times:
        check_time(time)
    percent = record.time_percent
    if percent is not msgspec.UNSET and not LEAST_PERCENT <= percent <= MOST_PERCENT:
        raise RecordError(
            f"its clocks were scaled to {percent}%, where {LEAST_PERCENT}% to {MOST_PERCENT}% were expected"
        )


def _check_faults(record: GameRecord) -> None:
    """Check that result, reason and words follow from the faults, if any."""
    verdict, players = record.verdict, record.players
    faults = verdict.fault_by_loser
    expected = verdict_of(players, verdict.result, verdict.reason, verdict.plies)
    if faults:
        expected = forfeit(players, list(faults.items()), verdict.plies)
    is_so = (verdict.result, verdict.reason) == (expected.result, expected.reason)
    if not is_so or verdict.reason.is_forfeit is not bool(faults):
        told = ", ".join(f"{color.word} {fault.reason.value}" for color, fault in faults.items()) or "none"
        raise RecordError(f"recorded as {verdict.result.value} by {verdict.reason.value}, but its faults are: {told}")
    if verdict.detail != expected.detail:
        raise RecordError(f"expected the words {expected.detail!r}, got {verdict.detail!r}")


def _words(judged: tuple[GameResult, Reason] | None) -> str:
    return f"{judged[0].value} by {judged[1].value}" if judged else "not over"


def _check_forfeit(record: GameRecord, state: State) -> None:
    reason = record.verdict.reason
    if reason in SETTING_UP:
        raise RecordError(f"{reason.value}, but both sides had set up")
    if reason in ON_THE_MOVE and record.verdict.result is not GameResult.win(state.to_move.opponent):
        raise RecordError(f"{reason.value}, but the side to move is recorded as the winner")
    if reason is Reason.ILLEGAL_ACTION:
        _check_illegal(record, state)


def _check_illegal(record: GameRecord, state: State) -> None:
    game, ply = record.variant.kind, len(record.actions) + 1
    fault = record.verdict.faults[state.to_move]
    if fault is None or not isinstance(fault.cause, Illegal):
        raise RecordError("lost by an illegal action, which its fault does not have")
    action = fault.cause.action
    if not fault.text.startswith(tried(ply, action)[:MAX_FAULT]):
        raise RecordError(f"expected the words {tried(ply, action)!r} and the broken rule, got {fault.text!r}")
    try:
        game.check_move_form(action)
        game.check(state, action)
    except RemoteProtocolError as error:
        raise RecordError(f"lost by the illegal action {action!r}, which is none: {error}") from None
    except IllegalAnswerError as error:
        if fault.cause != illegal(ply, action, error).cause:
            raise RecordError(f"lost by the illegal action {action}, for another rule than that of its fault") from None
        return
    raise RecordError(f"lost by the illegal action {action}, which is legal")


def _check_opening(record: GameRecord, opening: Opening) -> None:
    """Check that a game with an opening begins with it, or not at all, without a loss by setting up."""
    for color in Color:
        record.variant.kind.check_setup(record.variant, color, opening[color])
    if record.setups not in (opening, (None, None)):
        raise RecordError("its set-ups are not those of its opening")
    if record.verdict.reason in SETTING_UP:
        raise RecordError(f"{record.verdict.reason.value}, but its set-ups were given")


def _check_unplayed(record: GameRecord) -> None:
    reason, result, setups = record.verdict.reason, record.verdict.result, record.setups
    if reason not in SETTING_UP | AT_ANY_TIME:
        raise RecordError(f"{reason.value} without both set-ups")
    if reason in SETTING_UP and not record.variant.kind.has_setups:
        raise RecordError(f"{reason.value} in a game without set-ups")
    if record.actions or record.times_us or record.cpu_us or record.turns:
        raise RecordError("has actions or times without both set-ups")
    _check_notes(record.notes, 0)
    for color, setup in zip(Color, setups, strict=True):
        if setup is not None:
            record.variant.kind.check_setup(record.variant, color, setup)
    loser = Color.RED if result.winner is None else result.winner.opponent  # of two, the reason is Red's
    if reason in SETTING_UP and setups[loser] is not None:
        raise RecordError(f"{loser.word} lost by {reason.value}, but had set up")
    met = reason in SETTING_UP or setups != (None, None)
    if result.winner is not None and met and (setups[result.winner] is None or reason is Reason.NO_START):
        raise RecordError(f"{result.winner.word} won by {reason.value} which its set-ups contradict")


def check_course(
    spec: GameSpec, played: GameRecord | History, setups: tuple[str, str]
) -> tuple[State, Sequence[Color]]:
    """Replay a game with its set-ups; return the last state, and the side that had each turn.

    Raises `RecordError` if the rules or the clocks do not allow it.
    """
    plies = len(played.actions)
    if len(played.times_us) != plies:
        raise RecordError(f"{plies} actions, but {len(played.times_us)} times")
    for name, numbers in (("processor times", played.cpu_us), ("times forgiven", played.forgiven_us)):
        if len(numbers) not in (0, plies):
            raise RecordError(f"{plies} actions, but {len(numbers)} {name}")
    if min((*played.times_us, *played.cpu_us, *played.forgiven_us), default=0) < 0:
        raise RecordError("an action has a negative time")
    _check_notes(played.notes, plies)
    if not all(1 <= ply <= plies + 1 and taken >= 0 for ply, taken in played.interrupted):
        raise RecordError("an interruption at an impossible ply, or with a negative time")
    state = started(spec, setups)
    sides = _play(spec.kind, state, played.actions)
    _check_times(spec.times, (*sides, state.to_move), played)
    return state, sides


def _play(game: Game, state: State, actions: Sequence[str]) -> list[Color]:
    sides = []
    for action in actions:
        sides.append(state.to_move)
        try:
            game.play_text(state, action)
        except IllegalAnswerError as error:
            raise RecordError(f"ply {len(sides)}: {error}") from None
    return sides


def _check_times(times: tuple[TimeControl, TimeControl], sides: Sequence[Color], played: GameRecord | History) -> None:
    """Check that no side took longer than the clocks allow; `sides` are the movers, and the side to move."""
    clock = GameClock(times)
    interrupted = sorted(played.interrupted, reverse=True)
    for ply, side in enumerate(sides, start=1):
        while interrupted and interrupted[-1][0] == ply:
            _, used = interrupted.pop()
            _check_taken(used, clock.budget(side), ply)
            clock.spend(side, used / 1_000_000)
        if ply <= len(played.times_us):
            taken = played.times_us[ply - 1]
            _check_taken(taken, clock.allowed(side), ply)
            clock.charge(side, taken / 1_000_000)


def _check_taken(microseconds: int, allowed: float, ply: int) -> None:
    if microseconds > allowed * 1_000_000 + ROUNDING_US * ply:
        raise RecordError(f"ply {ply} took {microseconds // 1000} ms, where {allowed * 1000:g} ms were allowed")


def _check_notes(notes: Sequence[NoteLine], plies: int) -> None:
    for note in notes:
        if not 1 <= note.ply <= plies + 1 or note.color not in COLOR_BY_WORD:
            raise RecordError(f"has a note of {note.color!r} at ply {note.ply}, which does not exist")


def check_time(time: TimeControl) -> None:
    """Raise `RecordError` unless a game can have these limits."""
    limits = [limit for limit in (time.move_ms, time.bank_ms) if limit is not None]
    if not limits:
        raise RecordError("its time control bounds neither the moves nor the game")
    least_1, least_0 = (*limits, time.start_ms, time.setup_ms), (time.increment_ms, time.margin_ms)
    if min(least_1) < 1 or min(least_0) < 0 or max(*least_1, *least_0) > MOST_MS:
        raise RecordError(f"invalid time control: {time}")
