"""Writes docs/arena.1, the manual page, from the commands: python docs/manual.py"""

import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    sys.path.insert(0, str(HERE / "_ext"))
    from reference import manual

    (HERE / "arena.1").write_text(manual(), encoding="utf-8")
