"""Writes docs/arena.1, the manual page, from the commands: python docs/manual.py"""

from pathlib import Path

from arena.cli.reference import manual

PAGE = Path(__file__).parent / "arena.1"

if __name__ == "__main__":
    PAGE.write_text(manual(), encoding="utf-8")
