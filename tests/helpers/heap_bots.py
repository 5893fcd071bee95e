"""The game of `heap.py` and bots for it."""

from pathlib import Path

GAME_FILE = Path(__file__).parent / "heap.py"
BOT = """
from protocol.game_bot import GameBot, run

class Taker(GameBot):
    name = "taker 1"

    def setup(self):
        return "7"

    def move(self):
        return PICK

run(Taker)
"""


def heap_bot(path: Path, pick: str = "self.legal[-1]") -> Path:
    """Write a bot that takes what the expression says."""
    path.write_text(BOT.replace("PICK", pick))
    return path
