"""The dialects that a bot can speak with the arena, as values: what each is called, and what cannot be done in it.

How one is spoken is the business of its connection (`arena.game.connection`, `arena.game.ucc_connection`).
"""

import enum

from arena.errors import UsageError
from arena.rules.ruleset import Captains, Defence, Ruleset, Spy
from protocol.notation import Rank

ORIGINAL_ARMY: tuple[tuple[Rank, int], ...] = (
    *((Rank.FLAG, 1), (Rank.BOMB, 6), (Rank.SPY, 1), (Rank.SCOUT, 8), (Rank.MINER, 5), (Rank.SERGEANT, 4)),
    *((Rank.LIEUTENANT, 4), (Rank.CAPTAIN, 4), (Rank.MAJOR, 3), (Rank.COLONEL, 2), (Rank.GENERAL, 1)),
    (Rank.MARSHAL, 1),
)
"""The forty pieces that the manager of 2012 knows."""


class Dialect(enum.Enum):
    """What a bot speaks. The value is the word for it in a bot.toml and in records."""

    ARENA_1 = "arena-1"
    """The arena's own protocol, version 1: `docs/protocol.md`."""
    UCC_2012 = "ucc-2012"
    """That of the manager of the UCC Programming Competition 2012: `docs/ucc-2012.md`."""

    @property
    def can_be_restored(self) -> bool:
        """Whether a game can begin with an opening, or go on in a new process."""
        return self is Dialect.ARENA_1

    @property
    def is_greeted(self) -> bool:
        """Whether a bot says that it is ready before it is asked for a set-up."""
        return self is Dialect.ARENA_1

    @property
    def plays_on(self) -> bool:
        """Whether a process can play several games."""
        return self is Dialect.ARENA_1


USUAL_DIALECTS = (Dialect.ARENA_1, Dialect.ARENA_1)


def check_dialect(dialect: Dialect, ruleset: Ruleset) -> None:
    """Raise `UsageError` if the dialect has no words for what can happen under these rules."""
    if dialect is not Dialect.UCC_2012:
        return
    if dict(ruleset.army) != dict(ORIGINAL_ARMY):
        raise UsageError(
            f"{dialect.value} knows the original army of 40 pieces alone, and that of {ruleset.name} is another"
        )
    for is_so, what in (
        (ruleset.rescues > 0, "pieces that come back (rescues)"),
        (ruleset.defence is Defence.SILENT, "a defender that is not named (defence silent)"),
        (ruleset.captains is Captains.TWO_STEPS, "moves with a turn (captains two-steps)"),
        (ruleset.spy is Spy.DIAGONAL, "diagonal moves (spy diagonal)"),
        (ruleset.infiltration, "guesses (infiltration)"),
    ):
        if is_so:
            raise UsageError(f"{dialect.value} has no words for {what}, which the rules of {ruleset.name} have")
