"""`import arena` is quick and gives a short list of names; what a command needs and is not installed is named."""

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

import arena
import arena.api
import arena.stratego.library
from arena.cli.installation import SERVING, needs

SLOW = ("trio", "msgspec", "rich", "psutil", "sqlite3", "arena.api", "arena.stratego.rules", "arena.play")


def printed(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_imports_nothing_that_is_slow_and_names_for_all_games_no_stratego() -> None:
    script = f"import sys, arena\nprint([name for name in {SLOW} if name in sys.modules])"
    assert printed(f"{script}\narena.League\nprint('arena.stratego' in sys.modules)").split("\n") == ["[]", "False"]


@pytest.mark.parametrize("name", [name for name in arena.__all__ if name != "__version__"])
def test_each_name_is_that_of_the_api(name: str) -> None:
    value = getattr(arena, name)
    of_api = getattr(arena.api if name in arena.api.__all__ else arena.stratego.library, name)
    assert of_api is (value.__wrapped__ if isinstance(value, ModuleType) else value)
    assert name in dir(arena)


@pytest.mark.parametrize(
    "before",
    ["", "import arena.play.runner", "from arena import play"],
)
def test_a_function_that_is_a_package_as_well_can_be_called_whatever_was_imported_before(before: str) -> None:
    script = f"{before}\nimport arena\ntry: arena.play('none', 'none')\nexcept arena.UsageError as error: print(error)"
    assert printed(script).startswith("none: there is no such file")


def test_it_is_still_a_package() -> None:
    script = """
import arena, pkgutil
arena.play
import arena.play.runner as runner
assert pkgutil.resolve_name("arena.play.runner") is runner
print(arena.play.__name__)
"""
    assert printed(script) == "arena.play"


def test_all_that_is_missing_to_serve_pages_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    lacking = ("starlette", "hypercorn")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in lacking else found(name))
    with pytest.raises(arena.UsageError, match=r"arena serve needs .*: python -m pip install starlette hypercorn"):
        needs(SERVING, "web", "arena serve")
