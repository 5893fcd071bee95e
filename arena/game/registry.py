"""Where games are found: entry points of installed packages, and Python files that `--game` names.

A file stays known to the processes that this one starts: workers, pages and checks play the same games.
"""

import importlib.util
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import UsageError, suggest
from arena.game import STRATEGO, Game, add_game, game_named
from arena.game.game_mistakes import GameMistakeError
from protocol.lines import cut

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "arena.games"
FILES = "ARENA_GAME_FILES"
"""The environment variable with the files of games that were loaded here."""

_WORD = re.compile(r"[A-Za-z0-9.-]{1,40}")
_TEXT = re.compile(r"[ -:<-~]+")
"""A value of a rule: it fits on a line to a bot and, without ';', in the settings of a store."""


class NoSuchGameError(UsageError):
    """There is no game of this name here."""


def find(name: str) -> Game:
    """Return a game by its name, from a file that an arena has loaded or from an installed package.

    Raises `NoSuchGameError`, or `UsageError` for a game that cannot be loaded.
    """
    for file in game_files():
        game = _from_file(Path(file))
        if game.name == name:
            return game
    points = _points()
    if name not in points:
        raise NoSuchGameError(
            f"there is no game {cut(name)!r} here: {suggest(name, installed_games())}; one that is not installed is "
            "named by its file, such as --game ./connect4.py"
        )
    where = f"the entry point {name} of {ENTRY_POINTS}"
    try:
        game = _checked(points[name].load(), where)
    except Exception as error:
        raise _unloadable(where, error) from error
    if game.name != name:
        raise UsageError(f"{where}: expected a game of this name, got {game.name}")
    return game


def installed_games() -> list[str]:
    return [STRATEGO, *_points()]


def _points() -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points  # slow to import; games of Stratego do not need it

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def load_game(text: str) -> Game:
    """Return the game that `--game` names: an installed one, or the path of a Python file that defines `GAME`.

    An empty text is Stratego. Of two games of a name, the last one named is played. Raises `UsageError`.
    """
    if not text:
        return game_named(STRATEGO)
    if not is_file(text):
        if file_of(text) and text in _points():
            _set_files(file for file in game_files() if _from_file(Path(file)).name != text)
            return add_game(find(text))
        return game_named(text)
    path = Path(text).resolve()
    if not path.is_file():
        raise UsageError(
            f"--game: expected the name of a game, or a Python file that defines one: {cut(text)!r} is none"
        )
    game = add_game(_from_file(path))
    _set_files([str(path), *(file for file in game_files() if file != str(path))])  # the first one of a name is found
    return game


def is_file(text: str) -> bool:
    """Whether `--game` names a file by this text, not an installed game."""
    return "/" in text or text.endswith(".py")


def game_files() -> list[str]:
    return [file for file in os.environ.get(FILES, "").split(os.pathsep) if file]


def _set_files(files: Iterable[str]) -> None:
    os.environ[FILES] = os.pathsep.join(files)


def file_of(game: str) -> str:
    """Return the file that a game was loaded from, which is unknown to other machines; empty for another game."""
    return next((file for file in game_files() if game != STRATEGO and _from_file(Path(file)).name == game), "")


_changed: dict[Path, int | None] = {}
"""When the files of games that were loaded here had been changed."""


def _from_file(path: Path) -> Game:
    """Load the game of a file, again if the file has changed."""
    name = f"arena_game_{path}".replace(".", "_")
    changed = path.stat().st_mtime_ns if path.is_file() else None
    if name in sys.modules and changed in (None, _changed[path]):
        return _checked(sys.modules[name].__dict__.get("GAME"), str(path))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--game: expected a Python file, got {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name], _changed[path] = module, changed
    try:
        spec.loader.exec_module(module)
        return _checked(getattr(module, "GAME", None), str(path))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _unloadable(str(path), error) from error


def _unloadable(where: str, error: BaseException) -> UsageError:
    if isinstance(error, UsageError):
        return error
    kind = "" if isinstance(error, GameMistakeError) else f"{type(error).__name__}: "
    return UsageError(f"{where}: the game cannot be loaded: {kind}{' '.join(str(error).split())}")


def _checked(value: object, where: str) -> Game:
    if isinstance(value, type) and issubclass(value, Game):
        value = value()
    if not isinstance(value, Game):
        raise UsageError(f"{where}: expected GAME to be a game (arena.game.Game), got {value!r:.80}")
    for what, word in (("name", getattr(value, "name", None)), ("version", value.version)):
        if not (isinstance(word, str) and _WORD.fullmatch(word)):
            raise UsageError(f"{where}: expected a {what} of letters, digits, '-' and '.', got {word!r:.80}")
    if not hasattr(value, "plain_moves"):
        raise UsageError(f"{where}: its __init__ has to call super().__init__()")
    if not (isinstance(value.seat_names, tuple) and len(value.seat_names) == 2):
        raise UsageError(f"{where}: expected two names in seat_names, got {value.seat_names!r:.80}")
    if value.name == STRATEGO:
        raise UsageError(f"{where}: expected a game with a name of its own: {STRATEGO} comes with the arena")
    for variant in map(value.variant, value.variant_names()):
        words = [variant.name, *(rule for rule, _ in variant.rules)]
        texts = [*words, *(text for _, text in variant.rules)]
        if " " in "".join(map(str, words)) or not all(
            isinstance(text, str) and _TEXT.fullmatch(text) for text in texts
        ):
            raise UsageError(
                f"{where}: expected names of variants and rules without spaces, and values of printable ASCII without "
                f"';', got {variant.name!r:.80} with {variant.rules!r:.200}"
            )
    return value
