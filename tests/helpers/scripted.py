"""A referee with two scripted bots instead of processes."""

from collections.abc import Sequence
from random import Random

from arena.game.faults import Verdict
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.recorded import judged, unrefereed
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.stratego.game import variant_of
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.state import as_stratego
from protocol.notation import Color


def game_spec(
    ruleset: Ruleset | None = None,
    time: TimeControl | None = None,
    names: tuple[str, str] = ("ann", "bob"),
    seeds: tuple[int, int] = (11, 22),
) -> GameSpec:
    """A game that is to be played; a duel with 100 ms for each move unless told otherwise."""
    return GameSpec(
        id="0123456789abcdef",
        variant=variant_of(ruleset or load_ruleset("duel")),
        time=time or TimeControl(),
        players=(Player(names[0], "digest-of-red"), Player(names[1], "digest-of-blue")),
        seeds=seeds,
        pair_seed=33,
    )


class Table:
    """A referee and two scripted bots: the test says what they send and when, and sees each write that they get.

    `now` is the time of day, which only the test moves. `lag` is how many seconds the arena takes from the moment when
    it has read something until it has written what comes of it.
    """

    def __init__(self, spec: GameSpec, lag: float = 0.0) -> None:
        self.referee = Referee(spec)
        self.now = 1000.0
        self.lag = lag
        self.writes: tuple[list[bytes], list[bytes]] = ([], [])
        self._seen = [0, 0]

    # --- carrying bytes ---------------------------------------------------------------------------------------------

    def send(self) -> None:
        """Write what is due: one write for each seat that has to answer, or whose game is over."""
        for color in self.referee.due():
            self.writes[color].append(self.referee.take(color))
            self.referee.sent(color, self.now)

    def pass_on(self, color: Color, data: bytes) -> None:
        """A seat's bytes are read; nothing is written yet."""
        self.referee.receive(color, data, self.now)

    def reply(self, color: Color, *lines: str, after: float = 0.0) -> None:
        """A seat sends whole lines, `after` so many seconds, and the arena writes what comes of them."""
        self.now += after
        self.pass_on(color, "".join(line + "\n" for line in lines).encode("latin-1"))
        self.now += self.lag
        self.send()

    def gone(self, color: Color, how: str = "exited with code 1", exited: bool = True) -> None:
        self.referee.gone(color, how, exited)
        self.send()

    def expire(self) -> None:
        """Time passes until the next deadline."""
        self.now = self.referee.deadline
        self.referee.expire(self.now)
        self.send()

    # --- what a seat gets -------------------------------------------------------------------------------------------

    def next_write(self, color: Color) -> list[str]:
        """The lines of the seat's next write that the test has not looked at."""
        assert self._seen[color] < len(self.writes[color]), f"nothing more was written to {color.word}"
        data = self.writes[color][self._seen[color]]
        self._seen[color] += 1
        assert data.endswith(b"\n")
        return data.decode("ascii").split("\n")[:-1]

    def expect(self, color: Color, *lines: str) -> None:
        """The seat's next write consists of exactly these lines."""
        assert self.next_write(color) == list(lines)

    def expect_nothing(self, color: Color) -> None:
        """The seat has got nothing more."""
        assert self.writes[color][self._seen[color] :] == []

    def skip(self) -> None:
        """Do not look at what has been written so far."""
        self._seen = [len(writes) for writes in self.writes]

    # --- shortcuts to the part of a game that a test is about -------------------------------------------------------

    def introduce(self, red: Sequence[str] = (), blue: Sequence[str] = ()) -> None:
        """Both bots are ready, after the lines given."""
        self.send()
        self.reply(Color.RED, *red, "ready")
        self.reply(Color.BLUE, *blue, "ready")

    def begin(
        self,
        red_rows: Sequence[str],
        blue_rows: Sequence[str],
        red: Sequence[str] = (),
        blue: Sequence[str] = (),
    ) -> None:
        """Both bots have introduced themselves and set up; it is the first turn. What was written counts as seen,
        but for the last write of all."""
        self.introduce(red, blue)
        self.reply(Color.RED, "setup " + "/".join(red_rows))
        self.skip()
        self.reply(Color.BLUE, "setup " + "/".join(blue_rows))

    def play(self, actions: str, after: float = 0.0) -> None:
        """The side to move plays each of these actions, `after` so many seconds each."""
        for action in actions.split():
            game = self.referee.state
            assert game is not None
            self.reply(game.to_move, f"move {action}", after=after)

    def play_random(self, rng: Random, plies: int = 10_000, after: float = 0.0) -> None:
        """Up to so many random legal actions."""
        game = self.referee.state
        assert game is not None
        for _ in range(plies):
            if self.referee.verdict:
                return
            self.play(rng.choice(as_stratego(game).legal_actions()), after)


def seat_bots(ruleset: Ruleset | None = None, time: TimeControl | None = None, lag: float = 0.0) -> Table:
    """Seat two scripted bots for a game; each argument may be left out."""
    return Table(game_spec(ruleset, time), lag)


def record_from(table: Table) -> GameRecord:
    """Return the record of a finished game, put together as `arena.play.runner` does it."""
    return judged(table.referee, arena="0", started=1.5, seconds=2.25, stderr=("", ""))


def record_without_referee(
    spec: GameSpec,
    verdict: Verdict,
    setups: tuple[str | None, str | None] = (None, None),
    actions: Sequence[str] = (),
    times_us: Sequence[int] | None = None,
) -> GameRecord:
    """Return the record of a game without a referee; each move has taken 1 ms unless told otherwise."""
    taken = (1000,) * len(actions) if times_us is None else tuple(times_us)
    return unrefereed(spec, verdict, setups, tuple(actions), taken, arena="0")
