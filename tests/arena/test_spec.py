"""A bot as a value: what is said of one that cannot be started, on one line and in full."""

from pathlib import Path

import trio
from scripted import game_spec

from arena.bots.entering import broken
from arena.bots.spec import BotSpec
from arena.play.runner import play_game
from arena.report.game_text import GameStyle, game_text

OUTPUT = "    cc main.c\n    main.c:3: error: \\x1b[31mno such thing\n    make: *** [hunter] Error 1"
FAULT = f"hunter: the build failed with exit code 2: make\n{OUTPUT}"


def bot(name: str, fault: str | None = None) -> BotSpec:
    spec = BotSpec(name, Path(name), ("/nowhere",), Path(), digest=name)
    return spec if fault is None else broken(spec, fault)


def test_a_fault_of_more_lines_is_the_first_and_the_last_of_them_on_one() -> None:
    hunter = bot("hunter", FAULT)
    assert hunter.fault_line == f"{FAULT.splitlines()[0]} (... make: *** [hunter] Error 1)"
    assert hunter.fault_output.splitlines() == [line.strip() for line in OUTPUT.splitlines()]


def test_a_failed_build_reads_well_in_the_verdict_and_in_full_in_the_game() -> None:
    record = trio.run(play_game, game_spec(), bot("hunter", FAULT), bot("fox", "fox: no such file"))
    line = record.verdict.detail
    assert "make (... make: *** [hunter] Error 1); blue" in line
    assert "\\n" not in line
    assert line.isprintable()
    shown = "".join(game_text(1, record, GameStyle()))
    assert "\n    cc main.c\n    main.c:3: error: \\x1b[31mno such thing\n" in shown
    assert "stderr of blue" not in shown
    assert "MB" not in shown, "neither was started, so neither has used anything"
