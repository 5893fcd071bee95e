"""The draft of a set-up in the terminal: what is typed changes it, and what is wrong is said and changes nothing."""

import pytest
from play_table import seated

from arena.stratego.board_terminal import SetupEditor, read_typed
from arena.system.terminal_text import plain
from protocol.notation import Color


def editor_of(color: Color = Color.RED, rules: str = "isf") -> SetupEditor:
    return SetupEditor(seated(rules), color, plain)


def typed(editor: SetupEditor, line: str) -> str | None:
    return editor.change(read_typed(line))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("preset nothing", "nothing: expected a preset: "),
        ("swap a1 a5", "a5: expected a square of your own four rows"),
        ("setup FMS", "expected 'setup' and four rows of ten piece letters or dots"),
        ("e4-e5", "e4-e5: expected 'ready', or a change of the set-up; see 'help'"),
        ("swap a1", "swap a1: expected 'ready', or a change of the set-up; see 'help'"),
        ("\x1b[2J", "\\x1b[2J: expected 'ready', or a change of the set-up; see 'help'"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(line: str, words: str) -> None:
    editor = editor_of()
    before = editor.rows
    answer = typed(editor, line)
    assert answer is not None
    assert answer.startswith(words)
    assert editor.rows == before


def test_each_preset_can_be_taken_by_its_name_and_help_names_them_all() -> None:
    editor = editor_of()
    words = typed(editor, "help")
    assert words is not None
    for name in editor.screen(("Ada", "Bea")).rpartition("presets: ")[2].split(", "):
        assert name in words
        assert typed(editor, f"preset {name}") is None
    assert "/".join(editor.rows) in (typed(editor, "help") or "")
