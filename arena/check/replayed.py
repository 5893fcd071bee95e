"""A recorded game and what a bot answers in it now, as values: what is the same, and the fault that it was lost by."""

from dataclasses import dataclass, replace

from arena.bots.entering import may_be
from arena.bots.spec import BotSpec
from arena.check.results import Failure
from arena.errors import UsageError
from arena.game.faults import Fault
from arena.game.hints import MARK
from arena.game.record import GameRecord
from arena.game.recorded import BY_A_LINE, faults_of
from arena.system.printable import printable
from protocol.codec import is_action
from protocol.notation import Color, Reason


@dataclass(frozen=True)
class Reply:
    """One answer: the ply, what the record has and what the bot does now (None: nothing), and how long both took, in
    milliseconds. The record has an illegal action, too, that the game was lost by. `illegal` says why what it does now
    is not allowed; empty if it is."""

    ply: int
    recorded: str | None
    now: str | None
    recorded_ms: float | None
    now_ms: float | None
    illegal: str = ""

    @property
    def is_same(self) -> bool:
        return self.recorded == self.now


@dataclass(frozen=True)
class StoredGame:
    """A game of a store, and a bot's side in it: None while it is to be found out. `remarks` say how it was found."""

    number: int
    record: GameRecord
    color: Color | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replayed:
    """A recorded game as a bot answers it now, on the side of `color`.

    `setups` are the bot's, recorded and now; None where there was none. `is_restored`: it was given the recorded one,
    as its own was another.
    """

    game: StoredGame
    color: Color
    setups: tuple[str | None, str | None]
    is_restored: bool
    replies: tuple[Reply, ...]
    failure: Failure | None

    @property
    def differing(self) -> tuple[Reply, ...]:
        """The answers that are not the same."""
        return tuple(reply for reply in self.replies if not reply.is_same)

    @property
    def fault_then(self) -> Fault | None:
        """What it lost the recorded game by, without its hint; None if that was no fault of its own."""
        return fault_then_of(self.game.record, self.color)

    @property
    def has_same_fault(self) -> bool:
        """Whether it fails now by what it lost the recorded game by, at the same ply.

        Faults of one reason are the same, as times and exit codes vary; those by a line are if the line is.
        """
        then, failure, record = self.fault_then, self.failure, self.game.record
        if then is None or failure is None or failure.reason is not then.reason:
            return False
        ply = 0 if None in record.setups else len(record.actions) + 1
        return failure.ply == ply and (then.reason not in BY_A_LINE or failure.words == then.text)

    @property
    def is_same(self) -> bool:
        """Whether it answers all the game as it did then, and loses it by the same fault if it did by one."""
        if self.is_restored or self.differing:
            return False
        return self.has_same_fault or (self.failure is None and self.fault_then is None)


def fault_then_of(record: GameRecord, color: Color) -> Fault | None:
    """What a side lost a recorded game by, if by a fault of its own; its words without the hint."""
    found = faults_of(record)
    if color not in found:
        return None
    fault = found[color] or Fault(record.verdict.reason, "")
    return Fault(fault.reason, fault.text.partition(MARK)[0])


def illegal_then_of(record: GameRecord, color: Color) -> str | None:
    """The illegal action that a side lost a recorded game by; None if it did not lose by one."""
    fault = fault_then_of(record, color)
    if fault is None or fault.reason is not Reason.ILLEGAL_ACTION:
        return None
    action = fault.text.removeprefix(f"ply {len(record.actions) + 1}: ").partition(": ")[0]
    return action if is_action(action) else None


def seated(game: StoredGame, bot: BotSpec) -> StoredGame:
    """The game with the side that a bot had in it, by its content or its name, unless that is said already.

    Raises `UsageError` if it had no part in it.
    """
    if game.color is not None:
        return game
    players = game.record.players
    same = [color for color in Color if may_be(bot, players[color])]
    if same:
        both = ("it played both sides; this is Red's (--side blue for the other)",) if len(same) == 2 else ()
        return replace(game, color=same[0], remarks=both)
    namesakes = [color for color in Color if players[color].name == bot.name]
    if len(namesakes) == 1:
        return replace(game, color=namesakes[0], remarks=("its files have changed since this game",))
    red, blue = players
    raise UsageError(
        f"{printable(str(bot.path))}: expected a bot that played in game {game.number}, which was {red.name} - "
        f"{blue.name}; if it is a later version of one of them, say which with --side red or --side blue"
    )
