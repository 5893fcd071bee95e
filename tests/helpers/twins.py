"""Make pairs of games that differ only in what a seat cannot see: the seat must be told the same in both."""

from collections.abc import Callable, Collection, Iterable, Sequence
from random import Random
from typing import Any

from random_play import lively

from arena.game.faults import Verdict
from arena.game.game_spec import Player
from arena.game.record import GameRecord, NoteLine, Use
from arena.game.time_control import TimeControl
from arena.stratego.rules.action_types import IllegalActionError
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset, Starts
from arena.stratego.seat_view import told_to
from protocol.messages import Want
from protocol.notation import EMPTY, FILES, Color

PLIES = 40
PLAYERS = (Player("ann", "1" * 64), Player("bob", "2" * 64))


def with_two_swapped(rows: Sequence[str], rng: Random) -> tuple[str, ...]:
    """A set-up in which two pieces of different ranks have changed places."""
    letters = list("".join(rows))
    places = [place for place, letter in enumerate(letters) if letter != EMPTY]
    pairs = [(one, other) for one in places for other in places if letters[one] != letters[other]]
    one, other = rng.choice(pairs)
    letters[one], letters[other] = letters[other], letters[one]
    width = len(FILES)
    return tuple("".join(letters[start : start + width]) for start in range(0, len(letters), width))


def are_alike(one: EngineGame, other: EngineGame, action: str, seats: Iterable[Color]) -> bool:
    """Play an action in two games; whether these seats are told the same of both, and neither is over."""
    events = [game.apply(action) for game in (one, other)]
    told = [[told_to(each, one.tables, seat) for seat in seats] for each in events]
    return told[0] == told[1] and one.outcome is None and other.outcome is None


def played_alike(games: tuple[EngineGame, EngineGame], seats: Iterable[Color], rng: Random) -> list[str]:
    """Actions that are legal in both of two games, of which these seats are told the same."""
    (one, other), seats = games, tuple(seats)
    actions: list[str] = []
    for _ in range(PLIES):
        action = lively(one, rng).text
        try:
            other.check(other.parse(action))
        except IllegalActionError:
            continue
        if not are_alike(one, other, action, seats):
            return actions
        actions.append(action)
    return actions


def record_of_twin(
    ruleset: Ruleset,
    setups: Sequence[Sequence[str]],
    actions: Sequence[str],
    verdict: Verdict,
    *,
    hidden: Collection[Color],
    rng: Random,
) -> GameRecord:
    """A game in which all that is the hidden sides' own differs with `rng`, and all that is the others' is the same."""
    first = Color.BLUE if ruleset.starts is Starts.BLUE else Color.RED

    def both(own: Any, hidden_one: Callable[[], Any]) -> tuple[Any, Any]:
        red, blue = (hidden_one() if color in hidden else own for color in Color)
        return red, blue

    def by_ply() -> tuple[int, ...]:
        return tuple(rng.randrange(90_000) if Color(ply % 2 ^ first) in hidden else 7 for ply in range(len(actions)))

    words = both("own\n", lambda: f"w{rng.random()}")
    return GameRecord(
        id="0" * 16,
        arena="0",
        ruleset=ruleset.name,
        rules=tuple(ruleset.lines()),
        time=TimeControl(move_ms=1000),
        players=PLAYERS,
        seeds=both(5, lambda: rng.randrange(2**32)),
        pair_seed=rng.randrange(2**40),
        declared=words,
        setups=("/".join(setups[0]), "/".join(setups[1])),
        actions=tuple(actions),
        times_us=by_ply(),
        notes=tuple(NoteLine(1, color.word, words[color]) for color in Color),
        verdict=verdict,
        stderr=words,
        started=1.5,
        seconds=2.25,
        cpu_us=by_ply(),
        used=both(Use(1, 2), lambda: Use(rng.randrange(9), 3)),
        forgiven_us=by_ply(),
        pondered_us=both(3, lambda: rng.randrange(9)),
        authors=words,
        wants=both((), lambda: (rng.choice(list(Want)),)),
    )
