"""Records of random games, played in the kernel: many in little time."""

from collections.abc import Iterator

import msgspec
import numpy as np
from scripted import game_spec, record_without_referee

from arena.game.faults import GameResult, Verdict, verdict_of
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.learn.action_codes import action_text
from arena.learn.kernel import Kernel
from arena.learn.placement import random_setups, setup_rows
from arena.stratego.rules.ruleset import Ruleset
from protocol.seats import Color, Outcome

BATCH = 500


def random_records(ruleset: Ruleset, games: int, players: tuple[Player, Player], seed: int) -> Iterator[GameRecord]:
    """Yield random games with the ids 0, 1, ... in hexadecimal digits."""
    rng = np.random.default_rng(seed)
    spec = msgspec.structs.replace(game_spec(ruleset, TimeControl(move_ms=1000)), players=players)
    for first in range(0, games, BATCH):
        size = min(BATCH, games - first)
        kernel = Kernel(ruleset, size, observes=False)
        setups = random_setups(ruleset, size, rng)
        kernel.reset(setups)
        actions: list[list[str]] = [[] for _ in range(size)]
        while not kernel.is_over.all():
            codes = kernel.sample(rng)
            for game in np.flatnonzero(~kernel.is_over):
                actions[game].append(action_text(int(codes[game]), Color(kernel.to_move[game])))
            kernel.step(codes)
        for number in range(size):
            red, blue = ("/".join(setup_rows(setups[number, seat])) for seat in (0, 1))
            played = msgspec.structs.replace(spec, id=f"{first + number:016x}")
            verdict = _verdict(kernel.outcome(number), players, len(actions[number]))
            yield record_without_referee(played, verdict, (red, blue), actions[number])


def _verdict(outcome: Outcome | None, players: tuple[Player, Player], plies: int) -> Verdict:
    assert outcome is not None
    result = GameResult.DRAW if outcome.winner is None else GameResult.win(outcome.winner)
    return verdict_of(players, result, outcome.reason, plies)
