"""Who was disqualified when the store was last used, as the league that did it says: a setting beside the games.

Which games are left out for it follows from the pairing, which has to be asked for all its games to know it; so the
league keeps what came of it. It is a claim, and whoever shows it holds it to the games
(`arena.report.placings.borne_out`). In formats with places of their own it is worked out with them
(`arena.league.places`).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from arena.game.spec import Player
from arena.printable import printable

DISQUALIFIED = "disqualified"
"""The name of the setting."""
_Count = Annotated[int, Meta(ge=0, lt=2**53)]


class Disqualified(msgspec.Struct, frozen=True):
    """A bot that plays no more: how many faults it had, and how many games are left out, where that is known.

    With `is_so_far` there are games of the league to come, and more may be left out. `counted` is how many of its games
    the league counts: the store may hold others, of a league that was played before without disqualification. It is
    None where that is not known, as in stores of earlier versions.
    """

    player: Player
    faults: _Count
    left_out: _Count | None
    is_so_far: bool = False
    counted: _Count | None = None


def disqualified_in(settings: Mapping[str, str]) -> tuple[Disqualified, ...]:
    """Who was disqualified when the store was last used; nobody, if that was not kept or cannot be read."""
    try:
        found = msgspec.json.decode(settings.get(DISQUALIFIED) or "[]", type=tuple[Disqualified, ...])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return ()
    players = (Player(printable(one.player.name), printable(one.player.digest)) for one in found)
    return tuple(msgspec.structs.replace(one, player=player) for one, player in zip(found, players, strict=True))


def encode_disqualified(disqualified: Sequence[Disqualified]) -> str:
    """The same as the value of a setting."""
    return msgspec.json.encode(tuple(disqualified)).decode() if disqualified else ""
