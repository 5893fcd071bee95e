"""`arena.open_bot`: one bot to talk to, of which nothing is left."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio

import arena
from arena.sandbox.levels import Level
from protocol.messages import Moved, Want

Bots = Callable[..., str]
LeftBehind = Callable[[], list[str]]
ROOT = Path(__file__).parent.parent.parent.parent
WARDEN = ROOT / "bots" / "warden.py"
FOUR_FOLDER = ROOT / "docs" / "examples" / "connect4"
SOON = 0.2
BLUE = ("FBBS2339M.", "..........", "..........", "2.........")


def test_a_bot_introduces_itself_sets_up_and_moves(left_behind: LeftBehind) -> None:
    async def main() -> None:
        async with arena.open_bot(WARDEN, rules="duel") as bot:
            said = await bot.hello()
            assert (said.name, said.wants) == ("warden 1.1", (Want.LEGAL,))
            game = arena.Game(bot.ruleset, await bot.set_up("red", seed=3), BLUE)
            await bot.start(game)
            for _ in range(3):
                events = game.apply(await bot.turn())
                assert isinstance(events[0], Moved)
                await bot.tell(events)
                await bot.tell(game.apply(game.legal_moves()[0].text))

    trio.run(main)
    assert not left_behind()


def test_each_turn_has_the_ply_of_the_game(bots: Bots) -> None:
    async def main() -> None:
        async with arena.open_bot(bots("bot", 'echo "note $rest"; echo "move a4-a5"'), rules="duel") as bot:
            await bot.hello()
            game = arena.Game(bot.ruleset, await bot.set_up("blue"), BLUE)
            await bot.start(game)
            await bot.turn()
            for action in ("a4-b4", "a7-b7"):
                await bot.tell(game.apply(action))
                await bot.turn()
            assert bot.notes == ["1 100 100", "2 100 100", "3 100 100"]

    trio.run(main)


def test_a_bot_of_another_game_is_told_what_its_seat_may_know(left_behind: LeftBehind) -> None:
    async def main() -> None:
        async with arena.open_bot(FOUR_FOLDER / "bots" / "looker.py", game=FOUR_FOLDER / "connect4.py") as bot:
            assert (await bot.hello()).wants == (Want.LEGAL,)
            assert await bot.set_up("blue") == ()
            state = bot.game.start(bot.variant, 1, ("", ""))
            await bot.start(state)
            for _ in range(3):
                await bot.tell(state.play("1"))
                answer = await bot.turn()
                assert answer in state.legal_actions()
                await bot.tell(state.play(answer))
            with pytest.raises(arena.UsageError, match="expected the lines for both sides"):
                await bot.tell(["moved red 1"])
            with pytest.raises(arena.UsageError, match="expected a state of connect4"):
                await bot.start("game")

    trio.run(main)
    assert not left_behind()


FAULTS = {
    "late": ("sleep 1000", "sent no message within 0.2 s"),
    "garbage": ("echo nonsense", "sent an invalid message: expected one of"),
    "other": ("echo ready", "was to send move, and sent Ready()"),
    "exit": ("echo oh >&2; exit 3", "exited with code 3\n    bot stderr: oh"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_what_a_bot_does_wrong_is_an_error_in_plain_words(kind: str, bots: Bots, left_behind: LeftBehind) -> None:
    turn, words = FAULTS[kind]

    async def main() -> None:
        async with arena.open_bot(bots("bot", turn), rules="duel") as bot:
            await bot.hello()
            await bot.set_up()
            await bot.turn(within=SOON if kind == "late" else 60.0)

    with pytest.raises(arena.ArenaError) as error:
        trio.run(main)
    assert words in str(error.value)
    assert "--" not in str(error.value), "a caller has given keywords, and no options of the command"
    assert not left_behind()


def test_a_bot_that_uses_too_much_is_stopped(bots: Bots, left_behind: LeftBehind) -> None:
    many = "i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i+1)); done; wait"

    async def main() -> None:
        async with arena.open_bot(bots("bot", many), rules="duel", processes=8) as bot:
            await bot.hello()
            await bot.set_up()
            await bot.turn(within=60.0)

    with pytest.raises(arena.ArenaError, match="processes"):
        trio.run(main)
    assert not left_behind()


def test_what_is_raised_within_comes_out_as_it_is_and_nothing_is_left(bots: Bots, left_behind: LeftBehind) -> None:
    async def main() -> None:
        async with arena.open_bot(bots("bot", "sleep 1000 & sleep 1000"), rules="duel"):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trio.run(main)
    assert not left_behind()


def test_cancelling_leaves_nothing(bots: Bots, left_behind: LeftBehind) -> None:
    async def main() -> None:
        with trio.move_on_after(SOON) as scope:
            async with arena.open_bot(bots("bot", "sleep 1000"), rules="duel") as bot:
                await bot.hello()
                await bot.set_up()
                await bot.turn(within=1000.0)
        assert scope.cancelled_caught

    trio.run(main)
    assert not left_behind()


@pytest.mark.usefixtures("played_here")
def test_the_program_goes_on_beside_it(bots: Bots) -> None:
    """Two bots at a time, and other tasks; a plain call as well."""

    async def talk(name: str) -> None:
        async with arena.open_bot(name, rules="duel") as bot:
            await bot.hello()
            await bot.set_up()
            assert await bot.turn() == "a4-b4"

    async def main() -> str:
        async with trio.open_nursery() as nursery:
            for name in ("one", "two"):
                nursery.start_soon(talk, bots(name, "echo move a4-b4"))
        async with arena.open_bot("one", rules="duel") as bot:
            await bot.hello()
            return arena.play("one", "two", rules="duel", time="60s").verdict.detail

    assert trio.run(main)


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("missing", {}, "there is no such file"),
        ("bot", {"memory": "lots"}, "memory: "),
        ("bot", {"time": "1s"}, "time: unknown option"),
        ("bot", {"rules": "isff"}, "did you mean isf"),
    ],
)
def test_what_was_asked_for_wrongly_is_an_error(path: str, options: dict[str, str], words: str, bots: Bots) -> None:
    bots("bot", "echo move resign")

    async def main() -> None:
        async with arena.open_bot(path, **options):  # type: ignore[arg-type]
            pytest.fail("it cannot have been started")

    with pytest.raises(arena.UsageError) as error:
        trio.run(main)
    assert words in str(error.value)
    assert "--" not in str(error.value), "a caller has given keywords, and no options of the command"


@pytest.mark.parametrize("level", list(Level), ids=lambda level: level.value)
def test_a_bot_is_held_as_in_a_game(level: Level, tmp_path: Path, left_behind: LeftBehind) -> None:
    reason = level.why_not()
    if reason is not None:
        pytest.skip(f"{level.value}: {reason}")
    tmp_path.chmod(0o755)
    for name in ("mine.py", "other.py"):
        shutil.copy(WARDEN, tmp_path / name)

    async def main() -> None:
        async with arena.open_bot(tmp_path / "mine.py", rules="duel", sandbox=level.value) as bot:
            assert (await bot.hello()).name == "warden 1.1"
            assert await bot.set_up()

    trio.run(main)
    record = arena.play(tmp_path / "mine.py", tmp_path / "other.py", rules="duel", time="60s", sandbox=level.value)
    assert not record.verdict.reason.is_forfeit
    assert record.confinement[0].startswith(f"{level.value}: ")
    # A dead orphan that cannot be told to be the bot's is left for the host to reap: it might be a child's of its own.
    assert not [words for words in left_behind() if not words.endswith("zombie")]


def test_another_event_loop_than_trios_is_named_as_the_mistake(bots: Bots) -> None:
    async def main() -> None:
        async with arena.open_bot(WARDEN, rules="duel"):
            pass

    with pytest.raises(arena.UsageError, match="expected to be used under trio"):
        asyncio.run(main())


MISTAKES: list[tuple[str, Callable[..., Awaitable[object]]]] = [
    ("time: expected a string", lambda bot, game: bot.set_up("red", time=100)),
    ("seed: expected a whole number from 0, got -1", lambda bot, game: bot.set_up("red", seed=-1)),
    ("own_ms: expected a whole number from 0, got -5", lambda bot, game: bot.turn(own_ms=-5)),
    ("within: expected a number of seconds above 0, got -1", lambda bot, game: bot.hello(within=-1)),
    ("within: expected a number of seconds above 0, got 'x'", lambda bot, game: bot.receive("x")),
    ("expected red or blue", lambda bot, game: bot.set_up(["red"])),
    ("expected a game", lambda bot, game: bot.start("game")),
    ("expected events", lambda bot, game: bot.tell(game.apply("a4-a5")[0])),
]


def test_a_wrong_argument_is_named_in_one_line() -> None:
    async def main() -> None:
        async with arena.open_bot(WARDEN, rules="duel") as bot:
            await bot.hello()
            game = arena.Game(bot.ruleset, await bot.set_up(), BLUE)
            await bot.start(game)
            for words, mistake in MISTAKES:
                with pytest.raises(arena.UsageError, match=f"^{words}.*$"):
                    await mistake(bot, arena.Game(bot.ruleset, BLUE, BLUE))

    trio.run(main)
