"""Pickle without its teeth, for the process that speaks with dask.

Dask unpickles what a scheduler or a worker sends, and what is unpickled can run any program. In that process the names
in a pickle lead nowhere: all but the type `bytes`, which dask writes before the bytes that a worker returns, become
`Unknown`, an exception that does nothing. It is the whole process's pickle, and no other's.
"""

import io
import pickle
from typing import Any

KNOWN = {("builtins", "bytes"): bytes}


class Unknown(Exception):  # noqa: N818  (it stands for anything, and dask wants to raise it)
    """Stands for what a pickle names: how it was made, and nothing of what it would do."""

    name = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> "Unknown":
        return super().__new__(cls, *args)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args)

    def __setstate__(self, state: Any) -> None:
        pass

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def append(self, item: Any) -> None:
        pass

    def extend(self, items: Any) -> None:
        pass

    def add(self, item: Any) -> None:
        pass

    def __str__(self) -> str:
        words = ", ".join(str(part) for part in self.args)
        return f"{self.name}: {words}" if words else self.name


class _Traceback:
    """Stands for a traceback, which nobody reads here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


def _error(kind: Any = Unknown, told: Any = (), *_: Any, **__: Any) -> Any:
    """An error as tblib takes it apart: its class, and its arguments alone or among its attributes."""
    arguments = told.get("args", ()) if isinstance(told, dict) else told
    made = kind if isinstance(kind, type) and issubclass(kind, Unknown) else Unknown
    return made(*arguments) if isinstance(arguments, tuple) else made()


_OF_TBLIB = {"unpickle_traceback": _Traceback, "unpickle_exception": _error, "unpickle_exception_with_attrs": _error}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Any:
        known = _OF_TBLIB.get(name) if module == "tblib.pickling_support" else KNOWN.get((module, name))
        return known or type("Unknown", (Unknown,), {"name": name.rpartition(".")[2], "__module__": __name__})


def loads(data: Any, /, *, buffers: Any = None, **_: Any) -> Any:
    """What a pickle holds, with nothing in it that could do anything; what is no pickle is `Unknown`.

    Raises `TypeError` for a traceback: so dask goes on without one.
    """
    try:
        found = _Reader(io.BytesIO(data), buffers=buffers).load()
    except Exception as error:  # whatever bytes a stranger sends: dask would stop listening
        found = Unknown(f"what is no pickle: {error}")
    if isinstance(found, _Traceback):
        raise TypeError("tracebacks are not made here")
    return found


def load(file: Any, /, *, buffers: Any = None, **_: Any) -> Any:
    """`loads` of all that a file holds."""
    return loads(file.read(), buffers=buffers)


def guard_pickle() -> None:
    """Have this process unpickle nothing else from here on. To be called before dask is imported."""
    pickle.loads = loads
    pickle.load = load  # type: ignore[assignment]
    pickle.Unpickler = _Reader  # type: ignore[misc]
