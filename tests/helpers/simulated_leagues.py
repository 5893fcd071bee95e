"""Leagues without processes: results follow from a game's id, and games end in any order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from arena.game.faults import GameResult
from arena.game.game_spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games
from arena.league.pairing.pairing import Pairing
from arena.league.settings import Settings
from arena.league.store import GameRow, PlayerTime
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

SETTINGS = Settings(variant_of(load_ruleset("duel")), TimeControl())
NO_TIME = PlayerTime(0, 0, 0)
Judge = Callable[[GameSpec], tuple[GameResult, Reason]]


def row_of(game: GameSpec, result: GameResult, reason: Reason, number: int = 0) -> GameRow:
    return GameRow(number, game.id, game.players, result, reason, 1, "", (NO_TIME, NO_TIME), 0.0)


def by_chance(seed: int, crashing: Sequence[Player] = ()) -> Judge:
    """Results that follow from the ids of games: wins, draws, losses; who is `crashing` loses half of its games so."""

    def judge(game: GameSpec) -> tuple[GameResult, Reason]:
        rng = Random(f"{seed} {game.id}")
        losers = [side for side, player in enumerate(game.players) if player in crashing and rng.random() < 0.5]
        if len(losers) == 2:
            return GameResult.NEITHER, Reason.NO_START
        if losers:
            return (GameResult.BLUE, GameResult.RED)[losers[0]], Reason.CRASH
        result = rng.choice([GameResult.RED, GameResult.BLUE, GameResult.DRAW])
        return result, Reason.PLY_CAP if result is GameResult.DRAW else Reason.FLAG

    return judge


def by_place(game: GameSpec) -> tuple[GameResult, Reason]:
    """The bot whose digest comes first is the stronger one, and always wins."""
    red, blue = game.players
    return (GameResult.RED if red.digest < blue.digest else GameResult.BLUE), Reason.FLAG


@dataclass
class Played:
    """What came of a league: the games in the order in which they were given out, and the rows as they ended."""

    given: list[GameSpec] = field(default_factory=list)
    rows: dict[str, GameRow] = field(default_factory=dict)
    is_over: bool = False

    @property
    def ids(self) -> set[str]:
        return {game.id for game in self.given}

    @property
    def meetings(self) -> list[frozenset[Player]]:
        """Who met in each pair of games."""
        return [frozenset(game.players) for number, game in enumerate(self.given) if number % 2 == 0]


def play(
    pairing: Pairing,
    judge: Judge,
    *,
    order: int = 0,
    stored: Mapping[str, GameRow] | None = None,
    most: int | None = None,
) -> Played:
    """Play a league whose games end in an order that follows from `order`; `most`: it is killed when so many are over.

    Those that are `stored` are over as soon as they are given out, as in a league that is resumed.
    """
    rng, played, under_way, results = Random(order), Played(), list[GameSpec](), list[GameRow]()
    slots = rng.randint(1, 12)
    while True:
        if len(under_way) < slots or results:
            batch = pairing.next(results)
            results = []
            if batch is None and not under_way:
                played.is_over = True
                return played
            for game in batch or ():
                assert game.players[0] != game.players[1]
                assert game.id not in played.ids, "no game is given out twice"
                played.given.append(game)
                if stored and game.id in stored:
                    results.append(stored[game.id])
                    played.rows[game.id] = stored[game.id]
                else:
                    under_way.append(game)
            if results or (batch and rng.random() < 0.5):
                continue
        assert under_way, "it waits for results, and has those of all its games"
        if most is not None and len(played.rows) >= most:
            return played
        for _ in range(rng.randint(1, len(under_way))):
            game = under_way.pop(rng.randrange(len(under_way)))
            played.rows[game.id] = row_of(game, *judge(game), len(played.rows) + 1)
            results.append(played.rows[game.id])


class League:
    """So many players, and the parts of a simulated league as a test needs them."""

    play = staticmethod(play)
    by_chance = staticmethod(by_chance)
    by_place = staticmethod(by_place)
    row_of = staticmethod(row_of)

    def __init__(self, players: int) -> None:
        self.players = [Player(f"bot{place}", f"{place:04}") for place in range(players)]
        self.games = Games(SETTINGS)
