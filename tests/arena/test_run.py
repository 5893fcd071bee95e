"""Playing what is missing: what is stored when a league is stopped."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest
import trio
import trio.testing
from executors import executor_here
from scripted import game_spec
from unplayed import Listed, Quiet, record_of, run_of

from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.league.executor.task import GameTask
from arena.league.store import GameRow, Store
from arena.play.game_options import VoidGameError
from arena.sandbox.launch import SandboxError

FOREVER = 120.0


def specs(count: int) -> list[GameSpec]:
    """Games that differ in their ids."""
    one = game_spec()
    return [
        GameSpec(secrets.token_hex(8), one.variant, one.time, one.players, one.seeds, one.pair_seed)
        for _ in range(count)
    ]


def bots_of(games: list[GameSpec], folder: Path) -> dict[Player, BotSpec]:
    return {player: BotSpec(player.name, folder, (), folder, player.digest) for player in games[0].players}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "l.sqlite", create=True)


def test_a_game_that_ends_in_the_moment_of_a_ctrl_c_is_stored(store: Store, tmp_path: Path) -> None:
    games = specs(1)
    watcher = Quiet()

    async def main() -> None:
        with trio.CancelScope() as playing:

            async def play(task: GameTask) -> GameRecord:
                playing.cancel()
                return record_of(task.spec)

            async with executor_here(play) as executor:
                await run_of(Listed(games), bots_of(games, tmp_path), store, watcher).play(executor)

    with store:
        trio.run(main)
        assert {row.id for row in store.rows()} == {games[0].id}
    assert [row.id for row in watcher.rows] == [games[0].id]


def test_games_that_wait_to_be_stored_are_stored_after_a_ctrl_c(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three games are over at once; the first is just being written, the others wait for their turn."""
    games = specs(3)
    writing, go_on = Event(), Event()
    add_all = store.add_all

    def slow_add_all(records: Sequence[GameRecord]) -> list[GameRow]:
        writing.set()
        assert go_on.wait(FOREVER)
        return add_all(records)

    async def play(task: GameTask) -> GameRecord:
        if task.spec != games[0]:
            await trio.to_thread.run_sync(writing.wait, FOREVER)
        return record_of(task.spec)

    async def main() -> None:
        async with executor_here(play, 3) as executor, trio.open_nursery() as nursery:
            nursery.start_soon(run_of(Listed(games), bots_of(games, tmp_path), store).play, executor)
            await trio.to_thread.run_sync(writing.wait, FOREVER)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
            go_on.set()

    monkeypatch.setattr(store, "add_all", slow_add_all)
    with store:
        trio.run(main)
        assert {row.id for row in store.rows()} == {game.id for game in games}


def test_a_closed_session_finishes_the_games_under_way_and_begins_no_other(store: Store, tmp_path: Path) -> None:
    games = specs(6)
    run = run_of(Listed(games), bots_of(games, tmp_path), store)
    begun: list[str] = []

    async def play(task: GameTask) -> GameRecord:
        begun.append(task.id)
        await trio.testing.wait_all_tasks_blocked()
        if len(begun) == 2:
            assert run.under_way == 2
            run.close()
        return record_of(task.spec)

    async def main() -> None:
        async with executor_here(play, 2) as executor:
            await run.play(executor)

    with store:
        trio.run(main)
        assert {row.id for row in store.rows()} == set(begun)
    assert len(begun) == 2
    assert (run.under_way, run.dropped) == (0, 0)


def test_an_error_in_a_game_stops_the_league_with_that_error_and_keeps_what_is_stored(
    store: Store, tmp_path: Path
) -> None:
    games = specs(4)
    run = run_of(Listed(games), bots_of(games, tmp_path), store)

    async def play(task: GameTask) -> GameRecord:
        if task.spec == games[2]:
            raise SandboxError("the sandbox is gone")
        return record_of(task.spec)

    async def main() -> None:
        async with executor_here(play) as executor:
            await run.play(executor)

    with store:
        with pytest.raises(SandboxError, match="the sandbox is gone"):
            trio.run(main)
        assert (
            {game.id for game in games[:2]}
            <= {row.id for row in store.rows()}
            <= {game.id for game in games} - {games[2].id}
        )
    assert run.dropped >= 1
    assert run.is_closing


def test_a_game_that_cannot_be_judged_is_left_out_and_named_at_the_end(store: Store, tmp_path: Path) -> None:
    games = specs(3)

    async def play(task: GameTask) -> GameRecord:
        if task.spec == games[0]:
            raise VoidGameError("the arena was stopped for 12.3 s", None)
        return record_of(task.spec)

    async def main() -> None:
        async with executor_here(play) as executor:
            await run_of(Listed(games), bots_of(games, tmp_path), store).play(executor)

    with store:
        with pytest.raises(ArenaError, match=f"game {games[0].id} was not played: .*stopped for 12.3 s"):
            trio.run(main)
        assert {row.id for row in store.rows()} == {game.id for game in games[1:]}
