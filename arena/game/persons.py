"""Persons as players: a name, and a digest that follows from the name and is no bot's.

Stores, tables and ids treat a person like a bot, and records distinguish the two. Names are not verified.
"""

import hashlib

import msgspec

from arena.game.game_spec import Player
from arena.game.time_control import UNLIMITED_MS, TimeControl


def person_digest(name: str) -> str:
    """Return the digest of a person. No bot has it: the lines of a bot's digest end in a newline."""
    return hashlib.sha256(f"person {name}".encode()).hexdigest()


def person(name: str) -> Player:
    return Player(name, person_digest(name))


def is_person(player: Player) -> bool:
    return player == person(player.name)


def without_clock(time: TimeControl) -> TimeControl:
    """Return the time control of a person without limits, next to a bot with this one."""
    return with_clock(time, TimeControl(move_ms=UNLIMITED_MS))


def with_clock(time: TimeControl, moves: TimeControl) -> TimeControl:
    """Return the time control of a person with these limits on its moves, and none on its set-up."""
    return msgspec.structs.replace(moves, start_ms=time.start_ms, setup_ms=UNLIMITED_MS, margin_ms=time.margin_ms)
