"""A bot arena for Stratego and other two-player games, as a library: see docs/api.md.

Names are looked up in `arena.api` and `arena.stratego.library` at their first use, so that `import arena` is quick. One
of them, `play`, is also a package, and Python binds a package's name in the package above as soon as it is imported. So
this package can be called, and then is the function of the same name.

PYTEST_DONT_REWRITE: pytest, started by a program that has imported the arena, need not warn that it comes too late.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from arena.version import __version__

if TYPE_CHECKING:
    from arena.api import *  # noqa: F403
    from arena.stratego.library import *  # noqa: F403

__all__ = [  # noqa: F405
    "ActionPlayed",
    "ArenaError",
    "Board",
    "CompareResult",
    "EventsDropped",
    "Game",
    "GameFinished",
    "GameRecord",
    "GameStarted",
    "IllegalActionError",
    "IllegalSetupError",
    "League",
    "MatchResult",
    "OpenBot",
    "Result",
    "Ruleset",
    "Standings",
    "Step",
    "UsageError",
    "__version__",
    "compare",
    "match",
    "open_bot",
    "play",
    "read_records",
    "replay",
    "rules",
]


class _CallablePackage(ModuleType):
    """A package that has the name of a function of the API."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)

    @property
    def __wrapped__(self) -> Any:
        """The function, whose signature `inspect` and notebooks show."""
        from arena import api

        return getattr(api, self.__name__.rpartition(".")[2])


class _ApiModule(ModuleType):
    """The module `arena`."""

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        from arena import api

        home: ModuleType = api
        if name not in api.__all__:
            from arena.stratego import library

            home = library
        value = getattr(home, name)
        return self.__dict__.setdefault(name, value)  # by now `play` may be the package, which is as good

    def __setattr__(self, name: str, value: object) -> None:
        if name in __all__ and isinstance(value, ModuleType) and value is sys.modules.get(f"arena.{name}"):
            value.__class__ = _CallablePackage
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _ApiModule
