"""A command that needs a package which is not installed says which, and how to get it."""

import importlib.util

import pytest

from arena.cli.installation import SERVING, needs
from arena.errors import UsageError


def test_all_that_is_missing_to_serve_pages_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    lacking = ("starlette", "hypercorn")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in lacking else found(name))
    with pytest.raises(UsageError, match=r"arena serve needs .*: python -m pip install starlette hypercorn"):
        needs(SERVING, "web", "arena serve")
