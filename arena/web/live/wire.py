"""What the league's process tells the one that serves pages (over `arena.league.executor.pipes`)."""

import msgspec

from arena.league.executor.event_stream import Happened

LONGEST = 2**24
"""Bytes of a message; a batch of events has some kilobytes."""


class LiveSetup(msgspec.Struct, frozen=True, tag=True):
    """What is to be served, said first. `listening` is the descriptor of a socket that listens at `host`.

    `reader` is who the pages of finished games are for, `shows_all` whether running games are shown with all ranks;
    what happens in them is shown `delay` seconds later.
    """

    store: bytes
    listening: int
    host: str
    reader: str
    shows_all: bool
    delay: float
    known_as: tuple[str, ...]
    language: str
    numbering: str


class Stored(msgspec.Struct, frozen=True, tag=True):
    """A game is over and in the store under this number; `text` says in a line what came of it."""

    game: str
    number: int
    text: str


class Progress(msgspec.Struct, frozen=True, tag=True):
    """How many games are over, of how many if that is known, and the seconds that the others will take, about."""

    done: int
    planned: int | None
    seconds_left: float | None


class Over(msgspec.Struct, frozen=True, tag=True):
    """The league has ended: there is no more to be told."""


Told = LiveSetup | Happened | Stored | Progress | Over
to_server = msgspec.msgpack.Decoder(Told)
