"""Hand-written tables as typed values, or one error that says what is wrong.

The types are msgspec structs that forbid unknown keys, with `Meta` for bounds and patterns. `msgspec.convert` checks
them. A refused table is then searched for the key, the expected value and the actual one. A type can have its own
words: `Meta(extra=expected("..."))`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, inspect

from arena.errors import suggest
from arena.system.printable import SHOWN, printable, shown
from arena.system.user_files import FileError

T = TypeVar("T")

EXPECTED = "expected"


def expected(words: str) -> dict[str, str]:
    """Return an `extra` for a type's `Meta`: the words of errors for the expected value."""
    return {EXPECTED: words}


Text = Annotated[str, Meta(min_length=1)]


def structured(table: object, kind: type[T], where: str) -> T:
    """Validate a table as a value of the type. No types are converted: "3" is no number, and 3.0 no integer.

    `where` is the file, and the table in it: `mine.toml: [rules]`. Raises `FileError` with the key, the expected and
    the actual value; for an unknown key with suggestions.
    """
    try:
        return msgspec.convert(table, kind, strict=True)
    except msgspec.ValidationError:
        raise FileError(_fault(table, kind, where)) from None


def _fault(value: object, kind: Any, where: str) -> str:
    """Describe the first fault of a value, as deep in its tables as possible. A list is shown as a whole."""
    if isinstance(value, Mapping) and _is_table(kind):
        bare = _bare(kind)
        fields = _fields(bare)
        for key, part in value.items():
            if fields and key not in fields:
                return f"{where}: unknown key {shown(key)}; {suggest(key, fields)}"
            inner = fields[key] if fields else get_args(bare)[1]
            if not _fits(part, inner):
                name = printable(key, SHOWN)
                is_inner_table = isinstance(part, Mapping) and _is_table(inner)
                return _fault(part, inner, f"{where}: {f'[{name}]' if is_inner_table else name}")
        if fields:
            missing = next(key for key in _required(bare) if key not in value)
            return f"{where}: the key {missing!r} is missing; expected {_words(fields[missing])}"
    return f"{where}: expected {_words(kind)}, got {shown(value)}"


def _fits(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        return False
    return True


def _is_table(kind: Any) -> bool:
    kind = _bare(kind)
    return bool(_fields(kind)) or get_origin(kind) is dict


def _fields(kind: Any) -> dict[str, Any]:
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return {}
    types = get_type_hints(kind, include_extras=True)
    return {field.encode_name: types[field.name] for field in msgspec.structs.fields(kind)}


def _required(kind: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(kind) if field.required]


def _without_none(kind: Any) -> Any:
    kinds = [inner for inner in get_args(kind) if inner is not type(None)]
    return kinds[0] if type(None) in get_args(kind) and len(kinds) == 1 else kind


def _bare(kind: Any) -> Any:
    kind = _without_none(kind)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _words(kind: Any) -> str:
    return ", or ".join(_type_words(inspect.type_info(kind)))


def _type_words(kind: inspect.Type) -> Iterator[str]:
    match kind:
        case inspect.Metadata(extra=extra) if extra and EXPECTED in extra:
            yield extra[EXPECTED]
        case inspect.Metadata(type=inner):
            yield from _type_words(inner)
        case inspect.UnionType(types=kinds):
            for inner in kinds:
                yield from _type_words(inner)
        case inspect.NoneType():
            pass
        case inspect.EnumType(cls=choices):
            yield _one_of([choice.value for choice in choices])
        case inspect.LiteralType(values=values):
            yield _one_of(values)
        case inspect.BoolType():
            yield "true or false"
        case inspect.IntType(ge=least, le=most):
            bounds = f" from {least}" if least is not None else ""
            yield f"a whole number{bounds}{f' to {most}' if most is not None else ' up' if bounds else ''}"
        case inspect.FloatType():
            yield "a number"
        case inspect.StrType(min_length=least):
            yield "a string that is not empty" if least else "a string"
        case inspect.StructType() | inspect.DictType():
            yield "a table"
        case _:
            yield "a list"


def _one_of(values: Any) -> str:
    quoted = [f'"{value}"' for value in values]
    return f"one of {', '.join(quoted)}" if len(quoted) > 1 else quoted[0]
