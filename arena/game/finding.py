"""Where games are found: entry points of installed packages, and Python files that `--game` names.

A file stays known to the processes that this one starts: workers, pages and checks play the same games.
"""

import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from arena.errors import UsageError, suggest
from arena.game import STRATEGO, Game, add_game, game_named
from protocol.lines import cut

ENTRY_POINTS = "arena.games"
FILES = "ARENA_GAME_FILES"
"""The environment variable with the files of games that were loaded here."""


class NoSuchGameError(UsageError):
    """There is no game of this name here."""


def find(name: str) -> Game:
    """Return a game by its name, from a file that an arena has loaded or from an installed package.

    Raises `NoSuchGameError`, or `UsageError` for a game that cannot be loaded.
    """
    for file in _files():
        game = _from_file(Path(file))
        if game.name == name:
            return game
    point = next((point for point in entry_points(group=ENTRY_POINTS) if point.name == name), None)
    if point is None:
        raise NoSuchGameError(
            f"there is no game {cut(name)!r} here: {suggest(name, installed())}; one that is not installed is named by "
            "its file, such as --game ./connect4.py"
        )
    return _checked(point.load, f"the installed package of {name}")


def installed() -> list[str]:
    """Return the names of the games that come with the arena or are installed."""
    return [STRATEGO, *sorted(point.name for point in entry_points(group=ENTRY_POINTS))]


def load_game(text: str) -> Game:
    """Return the game that `--game` names: an installed one, or the path of a Python file that defines `GAME`.

    An empty text is Stratego. Raises `UsageError`.
    """
    if not text:
        return game_named(STRATEGO)
    if "/" not in text and not text.endswith(".py"):
        return game_named(text)
    path = Path(text).resolve()
    if not path.is_file():
        raise UsageError(
            f"--game: expected the name of a game, or a Python file that defines one: {cut(text)!r} is none"
        )
    game = add_game(_from_file(path))
    if str(path) not in _files():
        os.environ[FILES] = os.pathsep.join([str(path), *_files()])  # of two games of a name, the last one named
    return game


def _files() -> list[str]:
    return [file for file in os.environ.get(FILES, "").split(os.pathsep) if file]


def file_of(game: str) -> str:
    """Return the file that a game was loaded from, which is unknown to other machines; empty for another game."""
    return next((file for file in _files() if game != STRATEGO and _from_file(Path(file)).name == game), "")


def _from_file(path: Path) -> Game:
    return _checked(lambda: _defined_in(path), str(path))


def _defined_in(path: Path) -> object:
    name = f"arena_game_{path.stem}"
    module = sys.modules.get(name)
    if module is None or module.__file__ != str(path):
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise UsageError(f"--game: expected a Python file, got {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    if not hasattr(module, "GAME"):
        raise UsageError(f"{path}: expected a class of a game named GAME (below arena.game.Game), got none")
    return module.GAME


def _checked(load: Callable[[], object], where: str) -> Game:
    """Return the game that `load` finds, a class or an object. Raises `UsageError`."""
    try:
        value = load()
        if isinstance(value, type) and issubclass(value, Game):
            value = value()
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        what = " ".join(str(error).split())
        raise UsageError(f"{where}: the game cannot be loaded: {type(error).__name__}: {what}") from error
    if not isinstance(value, Game):
        raise UsageError(f"{where}: expected GAME to be a game (arena.game.Game), got {value!r:.80}")
    for what, word in (("name", getattr(value, "name", None)), ("version", value.version)):
        if not (
            isinstance(word, str) and word and len(word) <= 40 and word.replace("-", "").replace(".", "").isalnum()
        ):
            raise UsageError(f"{where}: expected a {what} of letters, digits, '-' and '.', got {word!r:.80}")
    if type(value).start is Game.start:
        raise UsageError(f"{where}: expected a game with a method 'start', got none")
    if value.name == STRATEGO:
        raise UsageError(f"{where}: expected a game with a name of its own: {STRATEGO} comes with the arena")
    return value
