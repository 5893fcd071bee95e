"""Bots for the tests of the API: small shell programs that start in a moment."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_bots import STEPS, answers
from played_here import games_played_here


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`bots(name, turn)`: the path of a bot under the rules of `duel` that does this, in shell, in its turn.

    Without anything to do its scout steps along its row, nine times. The current folder is one of the test's own.
    """
    monkeypatch.chdir(tmp_path)

    def make(name: str, turn: str = STEPS) -> str:
        path = tmp_path / name
        path.write_text(answers(turn))
        path.chmod(0o755)
        return name

    return make


@pytest.fixture
def played_here() -> Iterator[None]:
    """Play the games in this process, which is quicker than to start workers."""
    with games_played_here():
        yield
