"""Playing what is missing: what is stored when a league is stopped."""

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

import pytest
import trio
import trio.testing

from arena.bots import BotSpec
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.game.verdict import GameResult, Verdict
from arena.league import run
from arena.league.run import Session, play_missing
from arena.league.store import GameRow, Store
from arena.league.versions import Versions
from arena.play.runner import USUAL, GameOptions
from protocol.notation import Reason

FOREVER = 60.0


def specs(spec: Callable[..., GameSpec], count: int) -> list[GameSpec]:
    """Games that differ in their ids."""
    one = spec()
    return [
        GameSpec(secrets.token_hex(8), one.ruleset, one.time, one.players, one.seeds, one.pair_seed)
        for _ in range(count)
    ]


def record_of(game: GameSpec) -> GameRecord:
    """The game as Red won it at once."""
    return GameRecord(
        id=game.id,
        arena="0",
        ruleset=game.ruleset.name,
        rules=tuple(game.ruleset.lines()),
        time=game.time,
        players=game.players,
        seeds=game.seeds,
        pair_seed=game.pair_seed,
        declared=("", ""),
        setups=(None, None),
        actions=(),
        times_us=(),
        notes=(),
        verdict=Verdict(GameResult.RED, Reason.NO_START, 0),
        stderr=("", ""),
        started=0.0,
        seconds=0.0,
    )


def bots_of(games: list[GameSpec], folder: Path) -> dict[Player, BotSpec]:
    return {player: BotSpec(player.name, folder, (), folder, player.digest) for player in games[0].players}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "l.sqlite", create=True)


def test_a_game_that_ends_in_the_moment_of_a_ctrl_c_is_stored(
    spec: Callable[..., GameSpec], store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = specs(spec, 1)
    told: list[GameRow] = []

    async def main() -> None:
        with trio.CancelScope() as playing:

            async def play(game: GameSpec, *_: object) -> GameRecord:
                playing.cancel()
                return record_of(game)

            monkeypatch.setattr(run, "play_game", play)
            bots = bots_of(games, tmp_path)
            await play_missing(games, bots, store, [USUAL], lambda row, _: told.append(row), versions=Versions())

    with store:
        trio.run(main)
        assert store.ids() == {games[0].id}
    assert [row.id for row in told] == [games[0].id]


def test_games_that_wait_to_be_stored_are_stored_after_a_ctrl_c(
    spec: Callable[..., GameSpec], store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three games are over at once; the first is just being written, the others wait for their turn."""
    games = specs(spec, 3)
    writing, go_on = Event(), Event()
    add = store.add

    def slow_add(record: GameRecord) -> GameRow:
        writing.set()
        assert go_on.wait(FOREVER)
        return add(record)

    async def play(game: GameSpec, *_: object) -> GameRecord:
        return record_of(game)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            bots = bots_of(games, tmp_path)
            playing = partial(play_missing, versions=Versions())
            nursery.start_soon(playing, games, bots, store, [USUAL] * 3, lambda *_: None)
            await trio.to_thread.run_sync(writing.wait, FOREVER)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
            go_on.set()

    monkeypatch.setattr(run, "play_game", play)
    monkeypatch.setattr(store, "add", slow_add)
    with store:
        trio.run(main)
        assert store.ids() == {game.id for game in games}


def test_a_closed_session_finishes_the_games_under_way_and_begins_no_other(
    spec: Callable[..., GameSpec], store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = specs(spec, 6)
    session = Session()
    begun: list[str] = []

    async def play(game: GameSpec, *_: object) -> GameRecord:
        begun.append(game.id)
        await trio.testing.wait_all_tasks_blocked()
        if len(begun) == 2:
            assert session.under_way == 2
            session.close()
        return record_of(game)

    monkeypatch.setattr(run, "play_game", play)

    async def main() -> None:
        bots = bots_of(games, tmp_path)
        await play_missing(games, bots, store, [USUAL] * 2, lambda *_: None, versions=Versions(), session=session)

    with store:
        trio.run(main)
        assert store.ids() == set(begun)
    assert len(begun) == 2
    assert session.under_way == 0


def test_there_are_no_more_players_than_games(
    spec: Callable[..., GameSpec], store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-j 4096` for two games costs no more than `-j 2`."""
    games = specs(spec, 2)
    most = 0

    async def play(game: GameSpec, *_: object) -> GameRecord:
        nonlocal most
        most = max(most, trio.lowlevel.current_statistics().tasks_living)
        return record_of(game)

    monkeypatch.setattr(run, "play_game", play)

    async def main() -> None:
        places = [GameOptions() for _ in range(4096)]
        bots = bots_of(games, tmp_path)
        await play_missing(games, bots, store, places, lambda *_: None, versions=Versions())

    with store:
        trio.run(main)
    assert most < 20
