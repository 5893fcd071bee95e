"""What a bot is written in is told by its command, its build and its files, and nothing is run for it."""

from pathlib import Path

import pytest

from arena.bots.languages import language_of
from arena.bots.loading import load_bot
from arena.game.hints import ProgramLanguage


def folder(path: Path, manifest: str, *files: str) -> Path:
    for name in files:
        (path / name).write_text("text\n")
        (path / name).chmod(0o755)
    (path / "bot.toml").write_text(manifest)
    return path


FOLDERS: list[tuple[ProgramLanguage, str, tuple[str, ...]]] = [
    (ProgramLanguage.PYTHON, 'command = ["python3", "bot.py"]', ("bot.py",)),
    (ProgramLanguage.PYTHON, 'command = ["sh", "run.sh"]', ("run.sh", "mine.py", "more.py")),
    (ProgramLanguage.SHELL, 'command = ["sh", "run.sh"]', ("run.sh",)),
    (ProgramLanguage.C, 'command = ["./bot"]\nbuild = "gcc -O2 -o bot bot.c"', ("bot.c",)),
    (ProgramLanguage.C, 'command = ["./bot"]\nbuild = "make"', ("bot.c", "Makefile")),
    (ProgramLanguage.CPP, 'command = ["./bot"]\nbuild = "g++ -o bot *.cpp"', ("bot.cpp",)),
    (ProgramLanguage.RUST, 'command = ["./bot"]\nbuild = "cargo build && cp target/bot ."', ("main.rs",)),
    (ProgramLanguage.GO, 'command = ["./bot"]\nbuild = "go build -o bot"', ("main.go",)),
    (ProgramLanguage.JAVA, 'command = ["./run"]\nbuild = "javac Bot.java"', ("Bot.java", "run")),
    (ProgramLanguage.JAVASCRIPT, 'command = ["./bot.mjs"]', ("bot.mjs",)),
    (ProgramLanguage.UNKNOWN, 'command = ["./bot"]', ("bot",)),
]


@pytest.mark.parametrize(("language", "manifest", "files"), FOLDERS)
def test_a_folder_is_known_by_its_command_its_build_or_its_files(
    language: ProgramLanguage, manifest: str, files: tuple[str, ...], tmp_path: Path
) -> None:
    assert language_of(load_bot(folder(tmp_path, manifest, *files))) is language


@pytest.mark.parametrize(
    ("language", "first"),
    [
        (ProgramLanguage.PYTHON, "#!/usr/bin/env python3"),
        (ProgramLanguage.PYTHON, "#!/usr/bin/python3.11 -u"),
        (ProgramLanguage.SHELL, "#!/bin/sh"),
        (ProgramLanguage.JAVASCRIPT, "#!/usr/bin/env node"),
        (ProgramLanguage.UNKNOWN, "#!/usr/bin/env brainfuck"),
    ],
)
def test_a_script_is_known_by_its_first_line(language: ProgramLanguage, first: str, tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_text(f"{first}\n")
    program.chmod(0o755)
    assert language_of(load_bot(program)) is language
