"""How fast `arena.search` is, beside what a bot could do without it, in one run that takes turns.

    python benchmarks/search.py [--ruleset isf] [--plies 400] [--samples 3000] [--rounds 7]

All rates are a second of processor time. Nodes of a tree of two plies from positions of random games: by copying the
engine's game, and by playing and undoing; a node is an action played and the list of what may follow. Copies. Plies of
random play. Armies, and positions with one, that agree with what a seat was told in so many plies: the one by replaying
the game with a set-up that is known to agree, the other by `Knowledge`. Prints the median of the rounds, and of their
ratios: the machine's noise is in both alike.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from functools import partial

from arena.search import Knowledge, Position, WeightedArmies
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_view import enemy_squares, told_to
from protocol.bot import random_rows
from protocol.messages import Enemy, Rule, Turn
from protocol.notation import Color
from protocol.view import View

ROUNDS = 7
"""Unless told otherwise."""


def copying(game: EngineGame, depth: int) -> int:
    """How many nodes there are, by copies."""
    nodes = 0
    for action in game.legal_moves():
        copy = game.copy()
        copy.play(action)
        nodes += 1
        if depth > 1:
            nodes += copying(copy, depth - 1)
        else:
            copy.legal_moves()
    return nodes


def undoing(position: Position, depth: int) -> int:
    """How many nodes there are, by undoing."""
    nodes = 0
    for action in position.legal_moves():
        position.play(action)
        nodes += 1
        if depth > 1:
            nodes += undoing(position, depth - 1)
        else:
            position.legal_moves()
        position.undo()
    return nodes


def random_play(game: EngineGame | Position, numbers: random.Random) -> int:
    """Play at random for at most 200 plies; returns how many."""
    plies = 0
    while game.outcome is None and plies < 200:
        actions = game.legal_moves()
        game.play(actions[int(numbers.random() * len(actions))])
        plies += 1
    return plies


class Played:
    """A random game of so many plies, as the engine and a position have it, with the view of the side to move."""

    def __init__(self, ruleset: Ruleset, plies: int, seed: int) -> None:
        numbers = random.Random(seed)
        army = dict(ruleset.army)
        while True:
            self.rows = (random_rows(army, numbers), random_rows(army, numbers))
            self.game, self.position = EngineGame(ruleset, *self.rows), Position(ruleset, *self.rows)
            self.views = [self._view(ruleset, color) for color in Color]
            self.actions: list[str] = []
            while self.game.outcome is None and self.game.ply < plies:
                action = numbers.choice(self.game.legal_moves())
                self._play(action.text)
            if self.game.outcome is None:
                break
        self.position.forget()
        self.view = self.views[self.game.to_move]
        self.view.apply(Turn(self.game.ply + 1, 0, 0))

    def _view(self, ruleset: Ruleset, color: Color) -> View:
        view = View(color, ruleset.name)
        for name, value in ruleset.lines():
            view.apply(Rule(name, value))
        view.place_own(self.rows[color])
        if not ruleset.fills_rows:
            view.apply(Enemy(enemy_squares(self.game, color)))
        return view

    def _play(self, text: str) -> None:
        self.actions.append(text)
        self.position.play(self.position.action(text))
        events = self.game.apply(text)
        for view in self.views:
            for event in told_to(events, self.game.tables, view.color):
                view.apply(event)

    def replayed(self, army: tuple[str, ...]) -> EngineGame:
        """The game with another set-up of the enemy, played again."""
        own = self.rows[self.game.to_move]
        game = EngineGame(self.game.ruleset, *((own, army) if self.game.to_move is Color.RED else (army, own)))
        for text in self.actions:
            game.play(game.parse(text))
        return game


def rate(work: Callable[[], int]) -> float:
    """How much a second of processor time."""
    start = time.process_time()
    done = work()
    return done / (time.process_time() - start)


def compare(rounds: int, what: str, usual: Callable[[], int], ours: Callable[[], int]) -> None:
    """Print the rates of two ways to do the same, measured in turns."""
    pairs = [(rate(usual), rate(ours)) for _ in range(rounds)]
    first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{what:30} {first:11,.0f} {second:11,.0f} {ratio:8.1f}x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ruleset", default="isf", metavar="NAME[+SWITCH...]", help="(default: isf)")
    parser.add_argument("--plies", type=int, default=400, help="plies before armies are drawn (default: 400)")
    parser.add_argument("--samples", type=int, default=3000, help="armies in a round (default: 3000)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"(default: {ROUNDS})")
    options = parser.parse_args()
    rounds: int = options.rounds
    for name, least in (("plies", 20), ("samples", 1), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name}: expected at least {least}, got {getattr(options, name)}")
    try:
        ruleset = load_ruleset(options.ruleset)
    except RulesetError as error:
        parser.error(str(error))
    plies = (options.plies // 20, options.plies // 4, options.plies // 2, options.plies)
    games = [Played(ruleset, ply, seed) for seed, ply in enumerate(plies)]
    late, numbers = games[-1], random.Random(1)
    print(f"{ruleset.name}, a second{'':14} {'engine':>11} {'search':>11}    ratio")
    for game in games:
        compare(
            rounds, f"nodes at ply {game.game.ply}", partial(copying, game.game, 2), partial(undoing, game.position, 2)
        )
    compare(rounds, "copies", partial(copies, late.game), partial(copies, late.position))
    compare(
        rounds,
        "plies of random play",
        lambda: sum(random_play(game.game.copy(), numbers) for game in games),
        lambda: sum(random_play(game.position.copy(), numbers) for game in games),
    )
    knowledge = Knowledge(late.view)
    armies = knowledge.armies
    army = knowledge.rows_of(armies.sample(numbers))
    many: int = options.samples
    few = max(1, many // 100)

    def replay() -> int:
        for _ in range(few):
            late.replayed(army)
        return few

    def drawn(sample: Callable[[random.Random], object]) -> Callable[[], int]:
        def draw() -> int:
            for _ in range(many):
                sample(numbers)
            return many

        return draw

    weights = [{rank: 1.0 + number % 3 for number, rank in enumerate(piece.ranks)} for piece in knowledge.hidden]
    compare(rounds, f"armies, {len(knowledge.hidden)} hidden", replay, drawn(armies.sample))
    compare(rounds, "positions of armies", replay, drawn(lambda random: knowledge.position(armies.sample(random))))
    compare(rounds, "armies by weights", replay, drawn(WeightedArmies(armies, weights).sample))
    print(f"knowledge read from {late.game.ply} plies in {1000 / rate(lambda: bool(Knowledge(late.view))):.1f} ms")


def copies(game: EngineGame | Position) -> int:
    """Copy it a thousand times."""
    for _ in range(1000):
        game.copy()
    return 1000


if __name__ == "__main__":
    main()
