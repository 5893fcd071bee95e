"""The arguments that bots were started with: a setting beside the games, as a digest covers them and cannot be undone.

Whoever starts a program with them has to ask who says so: a store may be anybody's (`arena.league.trust`).
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

ARGUMENTS = "arguments"
"""The name of the setting."""
MOST = 64 * 1024
"""Bytes of all arguments that are kept."""


def arguments_in(settings: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The arguments of players that have some, by digest; none if they were not kept or cannot be read."""
    try:
        found = msgspec.json.decode(settings.get(ARGUMENTS) or "{}", type=dict[str, tuple[str, ...]])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return {}
    return {digest: words for digest, words in found.items() if not any("\0" in word for word in words)}


def encode_arguments(
    present: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]], played: Collection[str]
) -> str | None:
    """The arguments of those who take part `now`, and of those of the `present` ones who have `played`, as the value of
    a setting; None if they are too many, or cannot stand there."""
    kept = {digest: words for digest, words in present.items() if digest in played}
    some = {digest: words for digest, words in now.items() if words}
    try:
        value = msgspec.json.encode({**kept, **some}, order="sorted")
    except UnicodeEncodeError:
        return None
    return value.decode() if len(value) <= MOST else None
