"""What has become of bots is asked in a thread, and seldom: no change is missed by that."""

from collections.abc import Callable
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.league import versions
from arena.league.versions import RECENT_SECONDS, Versions

LookedAt = list[list[str]]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> LookedAt:
    """The names of the bots of each call of the thread."""
    calls: LookedAt = []
    compare_all = versions._compare_all

    def noted(bots: list[tuple[BotSpec, object]]) -> object:
        calls.append([bot.name for bot, _ in bots])
        return compare_all(bots)  # type: ignore[arg-type]

    monkeypatch.setattr(versions, "_compare_all", noted)
    return calls


def bots_in(folder: Path, *names: str) -> list[BotSpec]:
    for name in names:
        (folder / f"{name}.py").write_text(f"print({name!r})\n")
    return [load_bot(folder / f"{name}.py") for name in names]


def run(ask: Callable[[Versions], object]) -> None:
    trio.run(ask, Versions(), clock=trio.testing.MockClock(autojump_threshold=0))  # type: ignore[arg-type]


def test_all_bots_of_a_batch_are_looked_at_in_one_call(tmp_path: Path, looked_at: LookedAt) -> None:
    bots = bots_in(tmp_path, "ann", "bob", "eve")

    async def ask(versions: Versions) -> None:
        assert await versions.changed_of([*bots, *bots]) == set()

    run(ask)
    assert looked_at == [["ann", "bob", "eve"]]


def test_before_a_game_a_look_of_a_moment_ago_will_do(tmp_path: Path, looked_at: LookedAt) -> None:
    ann, bob = bots_in(tmp_path, "ann", "bob")

    async def ask(versions: Versions) -> None:
        assert await versions.were_unchanged([ann])
        assert await versions.were_unchanged([ann, bob])
        await trio.sleep(2 * RECENT_SECONDS)
        assert await versions.were_unchanged([ann])

    run(ask)
    assert looked_at == [["ann"], ["bob"], ["ann"]]


def test_a_change_that_no_look_before_the_game_showed_is_seen_by_the_one_after_it(tmp_path: Path) -> None:
    ann, bob = bots_in(tmp_path, "ann", "bob")

    async def ask(versions: Versions) -> None:
        assert await versions.were_unchanged([ann, bob])
        ann.path.write_text("print('another')\n")
        assert await versions.were_unchanged([ann, bob])
        assert await versions.changed_of([ann, bob]) == {ann.player}
        assert not await versions.were_unchanged([ann, bob])
        assert await versions.were_unchanged([bob])

    run(ask)


def test_what_has_changed_once_stays_so(tmp_path: Path) -> None:
    (ann,) = bots_in(tmp_path, "ann")
    code = ann.path.read_text()

    async def ask(versions: Versions) -> None:
        ann.path.write_text("print('another')\n")
        assert not await versions.are_unchanged([ann])
        ann.path.write_text(code)
        assert not await versions.are_unchanged([ann])

    run(ask)
