"""How `import arena` stays quick: its names are looked up in `arena.api` when they are first used.

Two of them, `play` and `rules`, are also packages of the arena, and Python binds a package's name in the package above
as soon as it is imported. Such a package can therefore be called, and then is the function of the same name.
"""

import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package whose name is also that of a function of the API."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)

    @property
    def __wrapped__(self) -> Any:
        """The function; `inspect` and notebooks show its signature."""
        from arena import api

        return getattr(api, self.__name__.rpartition(".")[2])


FOR_PYTEST = "PYTEST_DONT_REWRITE"


class MarkedDoc(str):
    """A docstring with the mark for pytest in it, which is not shown to people.

    Pytest warns of packages of an installed plugin that a program has imported before it starts pytest, unless `in`
    finds this mark in their `__doc__`.
    """

    __slots__ = ()

    def __contains__(self, part: object, /) -> bool:
        return part == FOR_PYTEST or (isinstance(part, str) and super().__contains__(part))


def without_mark(doc: str | None) -> MarkedDoc | None:
    """A docstring without its last paragraph, which is the mark and why it is there; None under `python -OO`."""
    return None if doc is None else MarkedDoc(doc.partition(f"\n\n{FOR_PYTEST}")[0])


class ApiModule(ModuleType):
    """The module `arena`."""

    def __getattr__(self, name: str) -> Any:
        if name not in self.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        from arena import api

        value = getattr(api, name)
        return self.__dict__.setdefault(name, value)  # by now `play` is the package, which is as good

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__all__ and isinstance(value, ModuleType) and value is sys.modules.get(f"arena.{name}"):
            value.__class__ = CallablePackage
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})
