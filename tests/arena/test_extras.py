"""A command that needs a package which is not installed says which, and how to get it."""

import importlib.util
from importlib.machinery import ModuleSpec

import pytest

from arena.cli.installation import SERVING, needs
from arena.errors import UsageError


def test_a_package_that_is_there_is_all_that_is_needed() -> None:
    needs(["json"], "web", "arena report")


def test_one_that_is_not_there_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    with pytest.raises(UsageError, match=r"arena report needs the extra 'web'.*pip install jinja2"):
        needs(["jinja2"], "web", "arena report")


def test_all_that_is_missing_to_serve_pages_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    lacking = ("starlette", "hypercorn")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in lacking else found(name))
    with pytest.raises(UsageError, match=r"arena serve needs .*: python -m pip install starlette hypercorn"):
        needs(SERVING, "web", "arena serve")
