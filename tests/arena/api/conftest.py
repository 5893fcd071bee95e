"""Bots for the tests of the API: small shell programs that start in a moment."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from played_here import games_played_here

ANSWERS = """#!/bin/sh
while read -r word rest; do
    case $word in
    hello) printf 'name Quick 1\\nauthor Nobody\\nready\\n' ;;
    setup) echo 'setup FBBS2339M./........../........../2.........' ;;
    turn) {turn} ;;
    quit) exit ;;
    esac
done
"""
STEPS = """#!/bin/sh
files=abcdefghij
while read -r word rest; do
    case $word in
    hello) echo ready ;;
    game) if [ "${rest%% *}" = red ]; then row=4; else row=7; fi ;;
    setup) echo 'setup FBBS2339M./........../........../2.........' ;;
    turn) next=${files#?}
        if [ -z "$next" ]; then echo 'move resign'; fi
        echo "move ${files%"$next"}$row-${next%"${next#?}"}$row"; files=$next ;;
    quit) exit ;;
    esac
done
"""


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`bots(name, turn)`: the path of a bot under the rules of `duel` that does this, in shell, in its turn.

    Without anything to do its scout steps along its row, nine times. The current folder is one of the test's own.
    """
    monkeypatch.chdir(tmp_path)

    def make(name: str, turn: str | None = None) -> str:
        path = tmp_path / name
        path.write_text(STEPS if turn is None else ANSWERS.format(turn=turn))
        path.chmod(0o755)
        return name

    return make


@pytest.fixture
def played_here() -> Iterator[None]:
    """Play the games in this process, which is quicker than to start workers."""
    with games_played_here():
        yield
