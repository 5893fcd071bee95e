"""A person as a player: who takes part in a game without being a bot.

A person is a name. The digest that it takes part under follows from that name and is no bot's, so that stores, tables
and ids know a person again as they know a bot, and whoever reads a record can tell the two apart. It proves nothing:
anybody can sit down under any name.
"""

import hashlib

from arena.game.spec import Player
from arena.game.time_control import UNLIMITED_MS, TimeControl


def person_digest(name: str) -> str:
    """The digest of the person of this name. No bot has it: the lines that a bot's is made from end in a newline."""
    return hashlib.sha256(f"person {name}".encode()).hexdigest()


def person(name: str) -> Player:
    """The player that a person of this name is."""
    return Player(name, person_digest(name))


def is_person(player: Player) -> bool:
    """Whether a player is a person: one whose digest follows from its name."""
    return player == person(player.name)


def without_clock(time: TimeControl) -> TimeControl:
    """The time control of a person who may think as long as it likes, beside a bot of this one."""
    return TimeControl(move_ms=UNLIMITED_MS, start_ms=time.start_ms, setup_ms=UNLIMITED_MS, margin_ms=time.margin_ms)


def with_clock(time: TimeControl, moves: TimeControl) -> TimeControl:
    """The time control of a person with these limits on its moves, and none on its set-up."""
    return TimeControl(
        move_ms=moves.move_ms,
        bank_ms=moves.bank_ms,
        increment_ms=moves.increment_ms,
        start_ms=time.start_ms,
        setup_ms=UNLIMITED_MS,
        margin_ms=time.margin_ms,
    )
