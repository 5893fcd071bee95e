"""The example games of docs/examples, for tests: their modules, and copies of their folders to build bots in."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
FILES = {"connect4": "connect4.py", "liars-dice": "liars_dice.py"}
BOTS = {"connect4": ("bots/looker.py", "bots/diver"), "liars-dice": ("bots/doubter.py", "bots/teller")}
"""The sample bots: in Python and in C."""


def example(name: str) -> ModuleType:
    path = FOLDER / name / FILES[name]
    if path.stem not in sys.modules:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[path.stem]


def copied(name: str, folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", *(f"{Path(bot).name}/{Path(bot).name}" for bot in BOTS[name]))
    return Path(shutil.copytree(FOLDER / name, folder / name, ignore=ignored))
