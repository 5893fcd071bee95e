"""How many games it takes until the order of the bots is right, by format.

    python benchmarks/formats.py [--bots 20 100] [--leagues 20] [--seed 1] [--spread 350] [--tau 0.95] [--most 200000]

Leagues between bots of known strength: normal around their mean with a standard deviation of `--spread` Elo; results
are drawn from Davidson's model (1970), under which a third of the games between equals are drawn. No process is
started. After every few games the bots are ordered by the strengths that are fitted to all games so far, whatever the
format, and Kendall's tau between that order and the true one is taken. Printed is how many games it took until tau was
`--tau` for the first time and, as that may be luck, from when on it stayed there for as many games again (the median
and the quartiles of the leagues); `more` is how often that was not reached within `--most` games.

A round robin is played round by round in match days; a ladder has no stop. A Swiss of n rounds has a pair of games for
half the bots in each; it ends when nobody is left to be met, and begins anew with the order it has reached.

With `--stop` it prints instead how far a ladder that stops by itself is right: games and tau at the stop, and the
share of neighbours in its final order that stand the right way round, which `--confidence` promises for each.

Source: R. R. Davidson, Journal of the American Statistical Association 65 (1970) 317-328.
"""

import argparse
import math
import random
import statistics
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from arena.game.faults import GameResult
from arena.game.game_spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games
from arena.league.league_options import MOST_GAMES
from arena.league.pairing.ladder import Estimate, Ladder
from arena.league.pairing.pairing import Pairing, half_points
from arena.league.pairing.round_robin import RoundRobin
from arena.league.pairing.swiss import Swiss, usual_rounds
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.settings import Settings
from arena.league.store import GameRow, PlayerTime
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

DRAWS = 1.0
"""Davidson's nu: equals win, draw and lose a third of their games each."""
LOOKS = 1.03
"""The order is looked at each time that there are so many times the games of the last time."""
NO_TIME = PlayerTime(0, 0, 0)

Strengths = dict[str, float]


def players_of(number: int) -> list[Player]:
    return [Player(f"bot{place}", f"{place:08}") for place in range(number)]


def result_of(game: GameSpec, strengths: Strengths, rng: random.Random) -> GameRow:
    """A game as it ends by chance."""
    red, blue = (strengths[player.digest] for player in game.players)
    win, loss = math.exp((red - blue) / 2), math.exp((blue - red) / 2)
    point = rng.random() * (win + loss + DRAWS)
    result = GameResult.RED if point < win else GameResult.BLUE if point < win + loss else GameResult.DRAW
    reason = Reason.PLY_CAP if result is GameResult.DRAW else Reason.FLAG
    return GameRow(0, game.id, game.players, result, reason, 1, "", (NO_TIME, NO_TIME), 0.0)


def played(pairing: Pairing, strengths: Strengths, rng: random.Random) -> Iterator[GameRow]:
    """The games of a pairing, batch by batch, with their results."""
    results: list[GameRow] = []
    while (batch := pairing.next(results)) is not None:
        results = [result_of(game, strengths, rng) for game in batch]
        yield from results


def swisses(games: Games, players: Sequence[Player], strengths: Strengths, rng: random.Random) -> Iterator[GameRow]:
    """One Swiss after the other, each with the order of the last one as its seeds. Ids may occur again."""
    seeds = list(players)
    while True:
        swiss = Swiss(games, seeds, usual_rounds(len(seeds)))
        yield from played(swiss, strengths, rng)
        seeds = [place.player for place in swiss.placing().places]


def tau(order: Sequence[int], truth: Sequence[float]) -> float:
    """Kendall's tau between an order, best first, and true strengths."""
    wrong, seen = 0, list[float]()
    for player in order:
        place = bisect_right(seen, -truth[player])
        wrong += len(seen) - place
        seen.insert(place, -truth[player])
    return 1 - 4 * wrong / (len(order) * (len(order) - 1))


def games_needed(rows: Iterator[GameRow], truth: Sequence[float], wanted: float, most: int) -> tuple[float, float]:
    """After how many games tau was as wanted for the first time, and from when on it was for as many games again."""
    estimate, count, look = Estimate(len(truth)), 0, float(len(truth))
    first = since = math.inf
    for row in rows:
        one, other = (int(player.digest) for player in row.players)
        estimate.add(one, other, half_points(row), 1)
        count += 1
        if count < look:
            continue
        look = count * LOOKS
        estimate.settle()
        if tau(estimate.order(range(len(truth))), truth) >= wanted:
            first, since = min(first, count), min(since, count)
        else:
            since = math.inf
        if count > most or count >= 2 * since:
            break
    return first, since


def quartiles(values: Sequence[float]) -> str:
    found = sorted(values)
    low, middle, high = (found[min(len(found) - 1, len(found) * part // 4)] for part in (1, 2, 3))
    return f"{middle:>9g} ({low:g}..{high:g})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bots", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--leagues", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spread", type=float, default=350.0)
    parser.add_argument("--tau", type=float, default=0.95)
    parser.add_argument("--most", type=int, default=200_000)
    parser.add_argument("--formats", nargs="+", default=["ladder", "round-robin", "swiss"])
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--confidence", type=float, default=0.95)
    asked = parser.parse_args()
    games = Games(Settings(variant_of(load_ruleset("duel")), TimeControl()))
    if asked.stop:
        stops(games, asked)
        return
    print(f"{'bots':>5} {'format':12} {'first at tau':>12} {asked.tau:g}        stays there            more")
    for number in asked.bots:
        players = players_of(number)
        for name in asked.formats:
            found = []
            for league in range(asked.leagues):
                rng = random.Random(f"{asked.seed} {number} {league}")
                truth = [rng.gauss(0, asked.spread / ELO_PER_LOGIT) for _ in players]
                strengths = {player.digest: strength for player, strength in zip(players, truth, strict=True)}
                match name:
                    case "ladder":
                        rows = played(Ladder(games, players, confidence=None, most=MOST_GAMES), strengths, rng)
                    case "swiss":
                        rows = swisses(games, players, strengths, rng)
                    case _:
                        rows = played(RoundRobin(games, players, 10**6), strengths, rng)
                found.append(games_needed(rows, truth, asked.tau, asked.most))
            first, since = zip(*found, strict=True)
            more = sum(math.isinf(value) for value in since)
            print(f"{number:>5} {name:12} {quartiles(first):30} {quartiles(since):30} {more}/{len(found)}", flush=True)


def stops(games: Games, asked: argparse.Namespace) -> None:
    print(f"{'bots':>5} {'games at the stop':30} {'tau':22} neighbours right")
    for number in asked.bots:
        players, counts, taus, right = players_of(number), [], [], []
        for league in range(asked.leagues):
            rng = random.Random(f"{asked.seed} {number} {league}")
            truth = [rng.gauss(0, asked.spread / ELO_PER_LOGIT) for _ in players]
            strengths = {player.digest: strength for player, strength in zip(players, truth, strict=True)}
            ladder = Ladder(games, players, confidence=asked.confidence, most=asked.most)
            counts.append(sum(1 for _ in played(ladder, strengths, rng)))
            order = [int(place.player.digest) for place in ladder.placing().places]
            taus.append(tau(order, truth))
            right.append(statistics.fmean(truth[one] > truth[other] for one, other in pairwise(order)))
        print(f"{number:>5} {quartiles(counts):30} {quartiles(taus):22} {statistics.fmean(right):.3f}", flush=True)


if __name__ == "__main__":
    main()
