"""Playing what is missing: what holds the bots may fail, and then no bot is blamed for it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import trio

from arena.bots import BotSpec
from arena.bots.sandbox.launch import SandboxError
from arena.game.time_control import TimeControl
from arena.league.run import play_missing
from arena.league.schedule import Settings, schedule
from arena.league.store import Store
from arena.league.versions import Versions
from arena.play.runner import GameOptions, start_bot
from arena.rules.loading import load_ruleset
from protocol.notation import Reason

MakeBot = Callable[..., BotSpec]
PATIENT = TimeControl(move_ms=60_000, setup_ms=60_000, start_ms=60_000)
SETTINGS = Settings(load_ruleset("duel"), PATIENT)
BRIEF = """
introduce()
set_up()
hear("turn")
say("move resign")
hear("quit")
"""
DOES_NOT_START = "os.write(2, b'{said}')\nsys.exit(1)\n"
STARTS_THE_SECOND_TIME = """
if not os.path.exists({mark!r}):
    open({mark!r}, "w").close()
    os.write(2, b"bwrap: Creating new namespace failed: No space left on device")
    sys.exit(1)
"""


def reasons(bots: Sequence[BotSpec], store: Path, conditions: GameOptions) -> list[Reason]:
    """How the games of these bots end, that is, of the one game with each colour."""
    games = schedule(SETTINGS, [bot.player for bot in bots], 1)

    async def play(stored: Store) -> None:
        by_player = {bot.player: bot for bot in bots}
        await play_missing(
            games, by_player, stored, [conditions], lambda row, record: None, versions=Versions(), say=print
        )

    with Store(store, create=True) as stored:
        try:
            trio.run(play, stored)
        finally:
            rows = list(stored.rows())
    return [row.reason for row in rows]


class Trials:
    """Counts how often the sandbox is tried out, which finds that it is broken or not."""

    def __init__(self, works: bool) -> None:
        self.works, self.bots = works, list[list[str]]()

    async def __call__(self, bots: Sequence[BotSpec]) -> None:
        self.bots.append([bot.name for bot in bots])
        if not self.works:
            raise SandboxError("the sandbox is gone")


def test_where_the_sandbox_has_failed_the_league_stops_and_nothing_is_stored(tmp_path: Path, make_bot: MakeBot) -> None:
    bots = [make_bot(DOES_NOT_START.format(said="anything"), "ann"), make_bot(BRIEF, "bob")]
    store = tmp_path / "league.sqlite"
    with pytest.raises(SandboxError, match="the sandbox is gone"):
        reasons(bots, store, GameOptions(start_bot, True, Trials(works=False)))
    with Store(store, create=False) as stored:
        assert list(stored.rows()) == []


def test_where_the_sandbox_works_a_bot_that_does_not_start_has_lost(tmp_path: Path, make_bot: MakeBot) -> None:
    bots = [make_bot(DOES_NOT_START.format(said="anything"), "ann"), make_bot(BRIEF, "bob")]
    trials = Trials(works=True)
    assert reasons(bots, tmp_path / "league.sqlite", GameOptions(start_bot, True, trials)) == [Reason.NO_START] * 2
    assert trials.bots == [["ann", "bob"], ["bob", "ann"]]


def test_bots_that_start_are_not_tried_out_again(tmp_path: Path, make_bot: MakeBot) -> None:
    bots, trials = [make_bot(BRIEF, "ann"), make_bot(BRIEF, "bob")], Trials(works=False)
    assert reasons(bots, tmp_path / "league.sqlite", GameOptions(start_bot, True, trials)) == [Reason.RESIGN] * 2
    assert trials.bots == []


def test_a_sandbox_that_failed_for_a_moment_costs_no_game(tmp_path: Path, make_bot: MakeBot) -> None:
    first = STARTS_THE_SECOND_TIME.format(mark=str(tmp_path / "mark"))
    bots = [make_bot(first + BRIEF, "ann"), make_bot(BRIEF, "bob")]
    conditions = GameOptions(start_bot, True, Trials(works=True))
    assert reasons(bots, tmp_path / "league.sqlite", conditions) == [Reason.RESIGN] * 2


def test_a_bot_that_says_it_was_the_sandbox_loses_all_the_same(tmp_path: Path, make_bot: MakeBot) -> None:
    bots = [make_bot(DOES_NOT_START.format(said="bwrap: it was me"), "ann"), make_bot(BRIEF, "bob")]
    trials = Trials(works=True)
    assert reasons(bots, tmp_path / "league.sqlite", GameOptions(start_bot, True, trials)) == [Reason.NO_START] * 2
    assert len(trials.bots) == 2
