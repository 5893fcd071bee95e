"""A seat's connection: bytes on one side, messages on the other; and the short way of a ply, which changes nothing."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import lively, random_rows

import arena.game.live
import arena.game.seat
import arena.stratego.state
from arena.game import Told, to_both
from arena.game.game_spec import GameSpec, Player
from arena.game.referee import Referee
from arena.game.seat import LineConnection
from arena.game.time_control import NEVER, Suspension, TimeControl
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.state import as_stratego, line_of
from protocol.actions import STRATEGO_FORMS
from protocol.codec import encode_lines
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError
from protocol.messages import Move, Moved, Note, Turn
from protocol.notation import Color

RED, BLUE = Color.RED, Color.BLUE
CONTROLS = (
    TimeControl(),
    TimeControl(move_ms=None, bank_ms=400, increment_ms=3),
    TimeControl(move_ms=50, bank_ms=1000, margin_ms=0),
)


# --- one connection -------------------------------------------------------------------------------------------------


def asked() -> LineConnection:
    """A connection whose bot has been asked for a move."""
    connection = LineConnection(STRATEGO_FORMS)
    connection.send(Turn(1, 100, 100))
    connection.flushed()
    list(connection.receive(b"move a4-a5\n"))  # from now on this line is known
    connection.send(Turn(3, 100, 100))
    connection.flushed()
    return connection


def test_a_line_that_began_before_the_request_was_written_is_no_answer_to_it() -> None:
    """Python without a buffer writes the text that is printed and the end of its line separately."""
    connection = asked()
    assert list(connection.receive(b"move a4-a5\nmove b4-b5")) == [Move("a4-a5")]
    connection.turn(5, 100, 100, None, None)
    connection.flushed()
    assert connection.take_move(b"\n") is None
    with pytest.raises(RemoteProtocolError, match="'move' came during the opponent's turn"):
        list(connection.receive(b"\n"))


def test_a_comment_may_begin_before_the_request_is_written_and_end_after_it() -> None:
    connection = asked()
    assert list(connection.receive(b"move a4-a5\n# so")) == [Move("a4-a5")]
    connection.turn(5, 100, 100, None, None)
    connection.flushed()
    assert list(connection.receive(b" it is\nmove a5-a6\n")) == [Move("a5-a6")]


def test_an_answer_that_has_begun_is_one_whatever_the_bot_is_written_before_it_ends() -> None:
    connection = asked()
    assert list(connection.receive(b"move a4")) == []
    connection.send(Moved(Color.RED, "a1-a2"))
    connection.flushed()
    assert list(connection.receive(b"-a5\n")) == [Move("a4-a5")]


def test_a_plain_move_that_was_seen_before_is_taken_at_once_and_nothing_else_is() -> None:
    assert asked().take_move(b"move a4-a5\n") == "a4-a5"
    for other in (
        b"move a4-a5",
        b"move a4-a5\r\n",
        b"move a4-a5\nmove a4-a5\n",
        b" move a4-a5\n",
        b"note a4-a5\n",
        b"\n",
    ):
        connection = asked()
        assert connection.take_move(other) is None
        assert connection.phase is Phase.THINKING
    connection = asked()
    list(connection.receive(b"note "))
    assert connection.take_move(b"move a4-a5\n") is None
    assert list(connection.receive(b"move a4-a5\n")) == [Note("move a4-a5")]


# --- the short way and the long one, side by side -------------------------------------------------------------------


class LongWay(LineConnection):
    """A connection without short-cuts."""

    def take_move(self, data: bytes) -> str | None:
        return None

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        return self.send(Turn(ply, own_ms, enemy_ms, own_bank_ms, enemy_bank_ms))


NOTHING_KNOWN: tuple[dict[str, Told], dict[str, Told]] = ({}, {})
"""No line of a plain move is known from before."""


class Twins:
    """Two referees of the same game that are told the same; one goes the short way. They must do the same."""

    def __init__(self, spec: GameSpec, monkeypatch: pytest.MonkeyPatch) -> None:
        self.short = Referee(spec)
        with monkeypatch.context() as patch:
            patch.setattr(arena.game.seat, "LineConnection", LongWay)
            self.long = Referee(spec)
        self.patch = monkeypatch
        self.now = 1000.0

    def both(self) -> Iterator[Referee]:
        yield self.short
        with self.patch.context() as patch:
            patch.setattr(arena.game.live, "encode_lines", encode_lines.__wrapped__)
            patch.setattr(arena.stratego.state, "_MOVES", NOTHING_KNOWN)
            patch.setattr(arena.stratego.state, "_moves", lambda mover, action: to_both(line_of(Moved(mover, action))))
            yield self.long
        self.compare()

    def compare(self) -> None:
        first, second = (
            (
                referee.verdict,
                referee.void,
                referee.actions,
                referee.times_us,
                referee.forgiven_us,
                referee.notes,
                referee.deadline,
                referee.history(self.now),
                [(seat.out, seat.due, seat.fault, seat.phase, seat.deadline, seat.limit) for seat in referee.seats],
            )
            for referee in (self.short, self.long)
        )
        assert first == second

    def receive(self, color: Color, data: bytes, lag: float = 0.0) -> None:
        for referee in self.both():
            referee.receive(color, data, self.now, self.now + lag)
        self.now += lag

    def send(self) -> None:
        for color in self.short.due():
            sent = []
            for referee in self.both():
                sent.append(referee.take(color))
                referee.sent(color, self.now)
            assert sent[0] == sent[1]


MALFORMED = (
    b"move a4-a5 \n",
    b"move\n",
    b"mo\xffve a4-a5\n",
    b"move a1-z9\n",
    b"move e5-e6\n",
    b"move a1-b2\n",
    b"ready\n",
    b"\n" * 1001,
    b"move " + b"a" * 5000 + b"\n",
    b"move resign\n",
)


def play_and_compare(twins: Twins, rng: Random) -> None:
    """Play a game to its end, by random; most lines are plain moves, some are not."""
    for _ in range(600):
        twins.send()
        if twins.short.is_over:
            return
        state = twins.short.state
        assert state is not None
        game = as_stratego(state).board
        color = game.to_move
        line = f"move {lively(game, rng).text}\n".encode()
        chance = rng.random()
        twins.now += rng.choice((0.0001, 0.001, 0.004)) if chance < 0.99 else rng.choice((0.05, 0.3))
        lag = rng.choice((0.0, 0.0, 0.0005, 0.1))
        if chance < 0.8:
            twins.receive(color, line, lag)
        elif chance < 0.84:
            cut = rng.randrange(len(line))
            twins.receive(color, line[:cut])
            twins.receive(color, line[cut:], lag)
        elif chance < 0.88:
            twins.receive(color, rng.choice((b"note hm\n", b"\n", b"# no\n")) + line)
        elif chance < 0.92:
            twins.receive(color, line.replace(b"\n", b"\r\n"))
        elif chance < 0.96:
            seconds, unsure = rng.choice(((0.2, 0.2), (3.0, 0.0)))
            for referee in twins.both():
                referee.stopped(Suspension(seconds, unsure), twins.now)
            twins.receive(color, line)
        elif chance < 0.97:
            twins.receive(color.opponent, line)
        elif chance < 0.98:
            twins.receive(color, line + line)
        elif chance < 0.985:
            for referee in twins.both():
                referee.expire(twins.now)
            twins.receive(color, line)
        elif chance < 0.995:
            twins.receive(color, line)
            twins.receive(color.opponent, rng.choice((line, b"move a7-a6\n")))  # before it has been asked
        else:
            twins.receive(color, rng.choice(MALFORMED))


@pytest.mark.parametrize("name", ruleset_names())
@given(data=st.data())
@settings(max_examples=6)
def test_the_short_way_gives_the_same_bytes_verdict_and_record_under_all_rules(name: str, data: st.DataObject) -> None:
    ruleset = load_ruleset(name)
    rng = Random(data.draw(st.integers(0, 2**32)))
    time, blue_time = rng.choice(CONTROLS), rng.choice((None, *CONTROLS))
    spec = GameSpec("0" * 16, variant_of(ruleset), time, (Player("r", "1"), Player("b", "2")), (3, 4), 5, blue_time)
    with pytest.MonkeyPatch.context() as monkeypatch:
        twins = Twins(spec, monkeypatch)
        for ask in ("ready", "setup"):
            twins.send()
            for color in Color:
                wants = rng.choice(("", "", "want board\n", "want legal board\n"))
                setup = f"setup {'/'.join(random_rows(ruleset, rng))}\n"
                twins.receive(color, (f"{wants}ready\n" if ask == "ready" else setup).encode())
        play_and_compare(twins, rng)
    assert twins.short.is_over or len(twins.short.actions) > 500
    assert twins.short.is_over or twins.short.deadline < NEVER
