"""The format of the last league of a store, kept beside its games, so that its places can be worked out again.

The options are kept with what nobody has asked for filled in, as a later version may fill in something else; the
players are kept by their digests, in the order of their seeds, so that a bot which is renamed stays where it was.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from arena.errors import UsageError
from arena.game.spec import Player
from arena.league.formats import FormatName, FormatOptions, check_format
from arena.league.pairing import ChosenFormat, Format

PLACING = (FormatName.SWISS, FormatName.KNOCKOUT, FormatName.LADDER)
"""The formats that place bots by rules of their own."""
WORDS = "a format with its options and players, as this version writes them"


class KeptFormat(msgspec.Struct, frozen=True):
    """A format with all that its games follow from; `players` are digests, from the first seed on."""

    options: FormatOptions
    players: tuple[str, ...]


def format_text(format_: Format, players: Sequence[Player], rounds: int) -> str:
    """What is kept of a format of these players; nothing for a pairing that is none of the formats of leagues."""
    if not isinstance(format_, ChosenFormat):
        return ""
    seeded, options = format_.settled(players, rounds)
    kept = KeptFormat(replace(options, seeds=()), tuple(player.digest for player in seeded))
    return msgspec.json.encode(kept).decode()


def format_in(text: str) -> KeptFormat:
    """The format that was kept. Raises `UsageError` for what this version has not written."""
    try:
        kept = msgspec.json.decode(text, type=KeptFormat)
        is_whole = msgspec.json.encode(kept).decode() == text  # what another version has beside it is passed over
        check_format(kept.options)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, UsageError):
        is_whole = False
    if not is_whole:
        raise UsageError(f"expected {WORDS}")
    return kept
