"""Real games between real processes: whole records, just clocks, and nothing left of a game that is broken off."""

import errno
import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trio
from bot_games import play

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.game.faults import GameResult
from arena.game.recheck import check_record
from arena.game.record import GameRecord, decode_record, encode_record
from arena.game.time_control import TimeControl
from arena.play.game_options import GameOptions
from arena.play.machine import this_machine
from arena.processes.arrivals import Arrivals
from arena.processes.usage import Delay
from arena.sandbox import freezer
from arena.sandbox.launch import HostError, known_fault
from protocol.notation import Color, Reason

DRIFTER = Path(__file__).parent.parent.parent / "bots" / "drifter.py"
BANK = TimeControl(move_ms=None, bank_ms=2000, start_ms=600_000, setup_ms=600_000)
AMPLE = TimeControl(move_ms=None, bank_ms=600_000, start_ms=600_000, setup_ms=600_000)
"""So much that a game in which somebody waits for it counts as one that never ends."""

GOOD = "introduce()\nset_up()\nplay()"
AT_SECOND_TURN = "import time\nintroduce()\nset_up()\nanswer()\nhear('turn')\n"

MakeBot = Callable[..., BotSpec]
LeftBehind = Callable[[], list[str]]


@pytest.fixture
def drifter(marker: str) -> BotSpec:
    """The bot that comes with the arena."""
    bot = load_bot(DRIFTER)
    return replace(bot, environment={**bot.environment, "MARKER": marker})


# --- records ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", ["duel", "barrage"])
def test_a_record_holds_the_whole_game_and_stands_up_to_the_rules(ruleset: str, drifter: BotSpec) -> None:
    record = trio.run(lambda: play(drifter, drifter, ruleset=ruleset))
    assert not record.verdict.reason.is_forfeit
    assert record.ruleset == ruleset
    assert record.declared == ("drifter 1.0", "drifter 1.0")
    assert record.machine == this_machine()
    assert None not in record.setups
    assert record.verdict.plies == len(record.actions) == len(record.times_us) > 0
    assert min(record.times_us) > 0
    assert sum(record.times_us) <= record.seconds * 1_000_000, "a clock ran while it was nobody's turn"
    assert record.stderr == ("", "")
    check_record(record)
    assert decode_record(encode_record(record)) == record


# --- breaking off -------------------------------------------------------------------------------------------------


# --- starting -----------------------------------------------------------------------------------------------------


# --- clocks -------------------------------------------------------------------------------------------------------


def processor_time_told(record: GameRecord) -> int:
    """The milliseconds that the loser on time had of a processor in that turn, as its record says."""
    match = re.search(r"none came in \d+ ms, with (\d+) ms of processor time; hint: ", record.verdict.detail)
    assert match is not None, record.verdict.detail
    return int(match[1])


def test_who_loses_on_time_is_told_what_processor_time_it_had_in_that_turn(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who slept has had none, who has used up 300 ms of it has had those, whatever else the machine did."""
    monkeypatch.setattr(Delay, "excuses", lambda *_, **__: False)  # a busy machine keeps bots waiting for a CPU
    asleep = make_bot(f"{AT_SECOND_TURN}time.sleep(1000)")
    works = "begun = time.process_time()\nwhile time.process_time() < begun + 0.3: pass\nhear('never')"
    busy = make_bot(AT_SECOND_TURN + works)
    told = [
        processor_time_told(trio.run(partial(play, red, make_bot(GOOD), time=BANK, blue_time=AMPLE)))
        for red in (asleep, busy)
    ]
    assert told[0] < 100
    assert told[1] >= 299


# --- the end of a game --------------------------------------------------------------------------------------------


def test_who_cannot_be_stopped_in_the_opponents_turns_loses_by_what_it_uses_there(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No signal reaches it here, as if it knew a way round them all; the one that only waits is not blamed."""
    monkeypatch.setattr(freezer, "signal_group", lambda group, number: None)
    monkeypatch.setattr(freezer.Freezer, "found", lambda self, processes: False)
    monkeypatch.setattr(freezer, "ALLOWED_PART", 0.0)  # a busy machine may not give it that part of the time at all
    spinner = """
import select
introduce()
set_up()
while True:
    answer()
    while not select.select([0], [], [], 0)[0]: pass
"""
    slow = "import time\nintroduce()\nset_up()\nwhile True:\n    time.sleep(0.3)\n    answer()"
    conditions = GameOptions(pondering=False)
    record = trio.run(partial(play, make_bot(spinner), make_bot(slow), conditions=conditions))
    assert (record.verdict.result, record.verdict.reason) == (GameResult.BLUE, Reason.OVER_LIMIT)
    assert "ms of processor time in the opponent's turns" in record.verdict.detail
    assert record.pondered_us is not None
    assert record.pondered_us[Color.RED] > freezer.ALLOWED_US
    assert record.pondered_us[Color.BLUE] < freezer.ALLOWED_US


def test_bots_that_the_machine_cannot_watch_are_ended_and_it_is_said_why(
    drifter: BotSpec, monkeypatch: pytest.MonkeyPatch, left_behind: LeftBehind
) -> None:
    def watch(arrivals: Arrivals, output: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Arrivals, "watch", watch)
    with pytest.raises(OSError, match="No space left") as caught:
        trio.run(play, drifter, drifter)
    assert isinstance(known_fault(caught.value), HostError)
    assert left_behind() == []
