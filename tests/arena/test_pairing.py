"""A league asks its pairing for games: with results, without more games than there is room for, again after a stop."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import trio
from executors import executor_here
from play_states import state_of
from unplayed import record_of

from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.executor.task import GameTask
from arena.league.game_ids import Games
from arena.league.pairing.pairing import Pairing
from arena.league.play_missing import PlayState, play_missing
from arena.league.settings import Settings
from arena.league.store import GameRow, Store
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

SETTINGS = Settings(variant_of(load_ruleset("duel")), TimeControl())
PLAYERS = tuple(Player(name, f"digest-of-{name}") for name in ("ann", "bob", "cid", "dan"))
ANN, BOB, CID, DAN = PLAYERS


class Knockout(Pairing):
    """Winners of the last batch meet in the next, one game each; the first of a pair has Red. `asked` are
    with how many results it was asked, `waited` with how many it had to wait for more."""

    def __init__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None) -> None:
        del rounds, most
        self._games = games
        self._left = [player.digest for player in players]
        self._players = {player.digest: player for player in players}
        self._due: list[str] = []
        self._over: dict[str, GameRow] = {}
        self.asked: list[int] = []
        self.waited: list[int] = []

    @property
    def planned(self) -> int | None:
        return None

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        assert self._over.keys().isdisjoint(row.id for row in results), "a result is told once"
        self._over |= {row.id: row for row in results}
        over = self._over
        self.asked.append(len(over))
        if not over.keys() >= set(self._due):
            self.waited.append(len(over))
            return []
        for row in (over[game] for game in self._due):
            assert row.result.winner is not None
            self._left.remove(row.players[not row.result.winner].digest)
        if len(self._left) == 1:
            return None
        pairs = zip(self._left[::2], self._left[1::2], strict=True)
        batch = [self._games.game(self._players[red], self._players[blue], 0) for red, blue in pairs]
        self._due = [game.id for game in batch]
        return batch


def knockout() -> Knockout:
    return Knockout(Games(SETTINGS), PLAYERS, 1, None)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "l.sqlite", create=True) as store:
        yield store


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Callable[..., list[tuple[str, ...]]]:
    """`run(pairing, slots=1, play=None, session=None)`: plays what is missing; returns who met whom, as reported."""

    def run_one(
        pairing: Pairing,
        slots: int = 1,
        play: Callable[[GameTask], GameRecord] = lambda task: record_of(task.spec),
        session: PlayState | None = None,
    ) -> list[tuple[str, ...]]:
        bots = {player: BotSpec(player.name, tmp_path, (), tmp_path, player.digest) for player in PLAYERS}

        async def played(task: GameTask) -> GameRecord:
            return play(task)

        async def main() -> None:
            async with executor_here(played, slots) as executor:
                await play_missing(pairing, bots, store, executor, session or state_of())

        before = len(store.rows())
        trio.run(main)
        return [tuple(player.name for player in row.players) for row in store.rows()[before:]]

    return run_one


Run = Callable[..., list[tuple[str, ...]]]


@pytest.mark.parametrize("slots", [1, 2, 8])
def test_the_next_games_follow_from_the_results(run: Run, slots: int) -> None:
    session, pairing = state_of(), knockout()
    played = run(pairing, slots, session=session)
    assert sorted(played[:2]) == [("ann", "bob"), ("cid", "dan")]
    assert played[2:] == [("bob", "dan")]
    assert session.is_complete
    assert pairing.asked[0] == 0
    assert pairing.asked[-1] == 3


def test_a_league_that_is_resumed_gives_the_results_that_are_stored(run: Run, store: Store) -> None:
    semifinals = knockout().next(())
    assert semifinals is not None
    store.add(record_of(semifinals[1]))
    assert run(knockout()) == [("ann", "bob"), ("bob", "dan")]
    session, pairing = state_of(), knockout()
    assert run(pairing, session=session) == [], "nothing is played twice"
    assert session.is_complete
    assert pairing.asked == [0, 2, 3]


def test_a_league_that_is_closed_while_its_pairing_waits_ends_and_goes_on_later(run: Run, store: Store) -> None:
    session = state_of()

    def play(task: GameTask) -> GameRecord:
        session.close()
        return record_of(task.spec)

    assert run(knockout(), play=play, session=session) == [("ann", "bob")]
    assert not session.is_complete
    assert run(knockout()) == [("cid", "dan"), ("bob", "dan")]
