"""The sentences on attacking: who wins a fight, what is shown of it, and what becomes of the pieces that are lost."""

from collections.abc import Iterator

from arena.counted import counted
from arena.report.names import Names
from arena.rules.ruleset import Attacks, Bombs, Defence, EqualRanks, Flag, Ruleset, Spy
from protocol.notation import Rank

Sentences = Iterator[tuple[str | None, str]]
"""Sentences of one part, each with the key of `Ruleset` that it speaks for, if it does for one."""


def attacking(ruleset: Ruleset, names: Names) -> Sentences:
    """All of them, in order."""
    army = {rank for rank, _ in ruleset.army}
    spy, marshal, flag = (names.name(rank) for rank in (Rank.SPY, Rank.MARSHAL, Rank.FLAG))
    match ruleset.attacks:
        case Attacks.ALL_SIDES:
            yield "attacks", "An attack goes forward, back or sideways. Nobody has to attack."
        case Attacks.FACING:
            yield "attacks", "An attack goes straight ahead or back, never sideways. Nobody has to attack."
    yield (
        None,
        "The stronger piece stays and the weaker leaves the board, in the order of the army above. An attacker that "
        "wins moves onto the square; a defender that wins stays where it is.",
    )
    match ruleset.equal_ranks:
        case EqualRanks.BOTH_LEAVE:
            yield "equal_ranks", f"Of two equal ranks both leave the board.{_weakest_pairs(army, names)}"
        case EqualRanks.ATTACKER:
            yield "equal_ranks", "Of two equal ranks the attacker wins and takes the square."
    yield "bombs", _bombs(ruleset, names)
    if {Rank.SPY, Rank.MARSHAL} <= army:
        yield (
            None,
            f"The {spy} wins when it attacks the {marshal}. In every other fight it has the lowest rank, also when the "
            f"{marshal} attacks it.",
        )
    if Rank.SPY in army:
        match ruleset.spy:
            case Spy.STRAIGHT:
                yield "spy", f"The {spy} attacks straight like the others, never diagonally."
            case Spy.DIAGONAL:
                yield (
                    "spy",
                    f"The {spy} may also attack an enemy that touches its square at a corner; it never moves to an "
                    "empty square diagonally.",
                )
    yield None, f"Every piece that may attack may capture the {flag}."
    match ruleset.defence:
        case Defence.NAMED:
            yield "defence", "In an attack both ranks are named, the attacker's first."
        case Defence.SILENT:
            yield (
                "defence",
                "Only the attacker names its rank; the defender stays silent"
                + (f", unless it is {names.one(Rank.SCOUT)} that attacks." if Rank.SCOUT in army else "."),
            )
    yield (
        None,
        "After a fight the rank of the piece that is left is hidden again, and remembering it is up to the players. "
        "What has left the board lies in view of both. Reading: 81320, 09495 and Vintage say so; the others have no "
        "rule on it.",
    )
    if Rank.INFILTRATOR in army:
        yield "infiltration", _infiltration(ruleset, names)
    yield "rescues", _rescues(ruleset, names)


def _weakest_pairs(army: set[Rank], names: Names) -> str:
    """The reading on the pairs of the lowest rank, of which some booklets say that who attacks wins."""
    spy, infiltrator = names.one(Rank.SPY), names.one(Rank.INFILTRATOR)
    pairs = {
        f"{spy} against {spy}": {Rank.SPY},
        f"{infiltrator} against {infiltrator}": {Rank.INFILTRATOR},
        f"{spy} against {infiltrator}": {Rank.SPY, Rank.INFILTRATOR},
    }
    there_are = [pair for pair, ranks in pairs.items() if ranks <= army]
    return f" Reading: also {', '.join(there_are)}." if there_are else ""


def _infiltration(ruleset: Ruleset, names: Names) -> str:
    infiltrator, flag = names.name(Rank.INFILTRATOR), names.name(Rank.FLAG)
    weak = f"The {infiltrator} is as weak as the {names.name(Rank.SPY)}"
    if not ruleset.infiltration:
        return f"{weak} and has no power of its own."
    return (
        f"{weak}. Instead of moving, {names.one(Rank.INFILTRATOR)} on the opponent's four rows may point at an enemy "
        "piece one or two squares away in a straight line and guess its rank, be it "
        f"{names.one(Rank.BOMB)} or the {flag}. If the guess is right that piece leaves the board, and the game is won "
        f"if it was the {flag}. Either way the {infiltrator} stays where it is and is known."
    )


def _rescues(ruleset: Ruleset, names: Names) -> str:
    if not ruleset.rescues:
        return "What has left the board does not come back."
    pieces = counted(ruleset.rescues, "piece")
    flag = names.name(Rank.FLAG)
    walks = "" if ruleset.flag is Flag.FIXED else f" The {flag} wins by arriving and brings nothing back."
    return (
        "A piece that reaches the opponent's back row may bring back one lost piece of its side onto an empty square "
        f"of the side's own four rows, in the same turn. A side may do so for {pieces}, a piece once; "
        f"{names.one(Rank.SCOUT)} may not. Neither {names.one(Rank.BOMB)} nor the {flag} comes back. Both sides see "
        f"what does.{walks}"
    )


def _bombs(ruleset: Ruleset, names: Names) -> str:
    army = dict(ruleset.army)
    bomb, miner = names.name(Rank.BOMB), names.name(Rank.MINER)
    if Rank.BOMB not in army:
        return f"There is no {bomb} in this army."
    moves = {
        Bombs.FIXED: f"The {bomb} never moves",
        Bombs.EXPLODING: f"The {bomb} never moves",
        Bombs.MOBILE: f"The {bomb} moves one square like any piece but may not attack",
    }[ruleset.bombs]
    if ruleset.bombs is Bombs.FIXED:
        beats, removed = "It beats every piece that attacks it, and stays", "removes it and takes its square"
    else:
        beats = "A piece that attacks it leaves the board with it"
        removed = "removes it, stays in play and takes its square"
    return f"{moves}. {beats}" + (f"; only the {miner} {removed}." if Rank.MINER in army else ".")
