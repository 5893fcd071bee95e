"""A bot that is an opponent ends with the interpreter, however that ends."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

NEVER_ENDS = """
import threading
from protocol.bot import Bot, run
threading.Thread(target=threading.Event().wait).start()
run(Bot)
"""
TRAINER = """
import os, psutil, signal, sys
from arena.learn.gym_env import BotOpponent
from arena.stratego.rules.rulesets import load_ruleset
bot = BotOpponent("bot.py", load_ruleset("barrage"), sandbox="basic")
print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
if len(sys.argv) > 1:
    os.kill(os.getpid(), int(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [[], ["15"], ["9"]], ids=["exit", "SIGTERM", "SIGKILL"])
def test_no_process_of_the_bot_is_left(tmp_path: Path, number: list[str]) -> None:
    (tmp_path / "bot.py").write_text(NEVER_ENDS)
    trainer = subprocess.run(
        [sys.executable, "-c", TRAINER, *number], check=False, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    left = [psutil.Process(int(pid)) for pid in trainer.stdout.split() if psutil.pid_exists(int(pid))]
    assert len(trainer.stdout.split()) == 2
    psutil.wait_procs(left, timeout=10)
    assert not [process for process in left if process.is_running() and process.status() != "zombie"]
