"""The rules of a ruleset as English sentences, in the order of an explanation.

Text after "Reading:" is the arena's own reading where all sources are silent; sources, and readings of single texts,
are in the notes of the rulesets.
"""

import enum
from collections.abc import Iterator

from arena.stratego.rules.ruleset import (
    HOME_SIZE,
    Attacks,
    Bombs,
    Captains,
    Chase,
    Defence,
    EqualRanks,
    FixedPieces,
    Flag,
    NoMove,
    Ruleset,
    Scouts,
    Spy,
    Starts,
)
from arena.stratego.rules.tables import CANNOT_ATTACK
from arena.stratego.shown.piece_names import Names
from arena.system.printable import counted
from protocol.notation import Rank

Sentences = Iterator[tuple[str | None, str]]
"""Sentences of one part, each with its key of `Ruleset` if it has one."""


def attacking(ruleset: Ruleset, names: Names) -> Sentences:
    army = {rank for rank, _ in ruleset.army}
    spy, marshal, flag = (names.name(rank) for rank in (Rank.SPY, Rank.MARSHAL, Rank.FLAG))
    match ruleset.attacks:
        case Attacks.ALL_SIDES:
            yield "attacks", "An attack goes forward, back or sideways. Attacking is never required."
        case Attacks.FACING:
            yield "attacks", "An attack goes straight ahead or back, never sideways. Attacking is never required."
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
        "Pieces that have left the board are visible to both sides. Reading: 81320, 09495 and Vintage say so; the "
        "others have no rule on it.",
    )
    if Rank.INFILTRATOR in army:
        yield "infiltration", _infiltration(ruleset, names)
    yield "rescues", _rescues(ruleset, names)


def _weakest_pairs(army: set[Rank], names: Names) -> str:
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


UNARMED_READING = " Reading: so it is if one of the two cannot move at all."


class RulesPart(enum.Enum):
    AIM = "Aim and set-up"
    MOVING = "Moving"
    ATTACKING = "Attacking"
    REPETITION = "Going back and forth"
    END = "The end"


def sentences(ruleset: Ruleset, names: Names) -> Iterator[tuple[RulesPart, str | None, str]]:
    for part, found in (
        (RulesPart.AIM, _aim(ruleset, names)),
        (RulesPart.MOVING, _moving(ruleset, names)),
        (RulesPart.ATTACKING, attacking(ruleset, names)),
        (RulesPart.REPETITION, _repetition(ruleset, names)),
        (RulesPart.END, _end(ruleset, names)),
    ):
        for key, text in found:
            yield part, key, text


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _aim(ruleset: Ruleset, names: Names) -> Sentences:
    size = ruleset.army_size
    yield (
        None,
        "The board has ten by ten squares, files a to j and ranks 1 to 10. Two lakes, c5 d5 c6 d6 and g5 h5 g6 h6, are "
        "closed: nothing moves onto them or over them.",
    )
    yield "army", f"Each side has an army of {size} pieces. Only their owner sees what they are."
    if ruleset.fills_rows:
        where = f"The army fills all {HOME_SIZE} squares, in any order."
    else:
        where = (
            f"They may stand on any of these {HOME_SIZE} squares; the opponent then sees which are occupied, and not "
            "by what."
        )
    yield (
        None,
        "Before the first move Red sets up on ranks 1 to 4 and Blue on ranks 7 to 10, one piece a square, neither "
        f"seeing the other's pieces. {where}",
    )
    match ruleset.starts:
        case Starts.RED:
            yield "starts", "Red moves first."
        case Starts.BLUE:
            yield "starts", "Blue moves first."
        case Starts.CHOSEN:
            yield "starts", "The players choose who moves first."
    yield None, "The sides take turns. In a turn a side makes one move, and it must make one."
    yield None, f"Who captures the enemy {names.name(Rank.FLAG)} wins."


def _moving(ruleset: Ruleset, names: Names) -> Sentences:
    army = {rank for rank, _ in ruleset.army}
    slants = f" (but see the {names.name(Rank.SPY)})" if ruleset.spy is Spy.DIAGONAL else ""
    yield (
        None,
        f"A piece moves one square forward, back or sideways, never diagonally{slants}, onto an empty square or onto "
        "an enemy piece, which is an attack. It may not move onto a piece of its own side or jump over anything.",
    )
    flag = names.name(Rank.FLAG)
    match ruleset.flag:
        case Flag.FIXED:
            yield "flag", f"The {flag} never moves."
        case Flag.MOBILE:
            yield "flag", f"The {flag} moves one square like any piece, but may not attack."
    if Rank.SCOUT in army:
        yield (
            None,
            f"{capitalised(names.one(Rank.SCOUT))} moves any number of empty squares in a straight line and may end "
            "its move in an attack.",
        )
    yield "scouts", _scouts(ruleset, names)
    match ruleset.captains:
        case Captains.ONE_STEP:
            yield "captains", "All other pieces move one square at a time."
        case Captains.TWO_STEPS:
            yield (
                "captains",
                f"{capitalised(names.one(Rank.CAPTAIN))} moves one or two squares and may turn after the first, which "
                "must be empty. It may not come back to where it began, and attacks only with the last step.",
            )
    match ruleset.fixed_pieces:
        case FixedPieces.ILLEGAL:
            yield "fixed_pieces", "To move a piece that never moves is illegal."
        case FixedPieces.LOSES:
            yield "fixed_pieces", "A side that moves a piece that never moves has lost the game at once."


def _scouts(ruleset: Ruleset, names: Names) -> str:
    scout = names.name(Rank.SCOUT)
    if Rank.SCOUT not in dict(ruleset.army) and ruleset.captains is Captains.ONE_STEP:
        return "No piece moves more than one square."
    match ruleset.scouts:
        case Scouts.ANNOUNCED:
            return f"Who moves {names.one(Rank.SCOUT)} more than one square must say that it is one."
        case Scouts.SEEN if ruleset.captains is Captains.TWO_STEPS:
            other = names.name(Rank.CAPTAIN)
            return (
                f"A move of more than two squares shows the {scout}, one with a turn the {other}; two squares straight "
                "on might be either's."
            )
        case Scouts.SEEN:
            return "A move of more than one square shows by itself what the piece is."


def _repetition(ruleset: Ruleset, names: Names) -> Sentences:
    limit = ruleset.two_squares
    if limit is None:
        yield "two_squares", "A piece may go back and forth between the same two squares without limit."
    else:
        scouts = (
            f"; {names.one(Rank.SCOUT)} crosses every border on its way" if dict(ruleset.army).get(Rank.SCOUT) else ""
        )
        if ruleset.captains is Captains.TWO_STEPS:
            scouts += f"; {names.one(Rank.CAPTAIN)} crosses both on its way"
        guesses = " or guesses," if ruleset.infiltration else ""
        yield (
            "two_squares",
            f"A piece may cross the same border at most {_times(limit)} in a row. A border is between two "
            f"neighbouring squares{scouts}. Attacks count, and what the opponent does does not matter. The count "
            f"starts again when the side moves another piece{guesses} or the piece turns off the line.",
        )
    match ruleset.chase:
        case Chase.FREE:
            yield "chase", "A piece may be chased without limit."
        case Chase.ISF:
            yield (
                "chase",
                "Who threatens, move after move, pieces that evade each time may not play another threatening move "
                "that brings back a position of this chase; stepping straight back is a matter of the rule above. To "
                f"threaten is to move next to an enemy piece. To attack is always allowed. {_chase_readings(ruleset)}",
            )
        case Chase.BOOKLET:
            yield (
                "chase",
                "Who threatens, move after move, pieces that evade each time over more than two squares may not play "
                "another threatening move that brings back a position which stood on the board before. To threaten is "
                f"to move next to an enemy piece. To attack is always allowed. {_chase_readings(ruleset)}",
            )


def _chase_readings(ruleset: Ruleset) -> str:
    walkers = ruleset.bombs is Bombs.MOBILE or ruleset.flag is Flag.MOBILE
    readings = [
        "positions are the same if the player to move cannot tell them apart; a hidden enemy piece counts as itself",
        "any piece can be threatened" + (", and one that may not attack threatens too" if walkers else ""),
    ]
    if ruleset.rescues:
        readings.append("what comes back with a move counts as on the board")
    if ruleset.infiltration:
        readings.append("a guess ends a chase")
    return f"Readings: {'; '.join(readings)}."


def _no_move_reading(ruleset: Ruleset) -> str:
    readings = []
    if ruleset.two_squares is not None or ruleset.chase is not Chase.FREE:
        readings.append("a move that the rules on going back and forth forbid is none, for the side to move")
    if ruleset.infiltration:
        readings.append("a guess counts as a move")
    return f" Readings: {'; '.join(readings)}." if readings else ""


def _end(ruleset: Ruleset, names: Names) -> Sentences:
    flag = names.name(Rank.FLAG)
    yield None, f"Who captures the enemy {flag} has won. A player may also give up."
    if ruleset.flag is Flag.MOBILE:
        yield "flag", f"A side that brings its own {flag} to the opponent's back row has won as well."
    match ruleset.no_move:
        case NoMove.AT_ONCE:
            yield (
                "no_move",
                "A side that cannot move has lost. Checked after every move for both sides; if neither "
                f"can move, the game is a draw.{_no_move_reading(ruleset)}",
            )
        case NoMove.ON_TURN:
            yield "no_move", f"A side that cannot move when it is its turn has lost.{_no_move_reading(ruleset)}"
    if ruleset.needs_attacker:
        can_move_unarmed = ruleset.movable_ranks & CANNOT_ATTACK
        yield (
            "needs_attacker",
            "A side that has no piece left to attack with has lost. Checked after every move for both "
            f"sides; if neither has one, the game is a draw.{UNARMED_READING if can_move_unarmed else ''}",
        )
    else:
        yield "needs_attacker", "A side that can still move plays on, even with nothing left to attack with."
    guesses = " Reading: a right guess counts as an attack, a wrong one does not." if ruleset.infiltration else ""
    for key, cap, where, guessing in (
        ("max_plies", ruleset.max_plies, "", ""),
        ("max_quiet_plies", ruleset.max_quiet_plies, " in a row without an attack", guesses),
    ):
        if cap is None:
            yield key, f"There is no limit to the number of moves{where}."
        else:
            yield key, f"After {cap:,} moves{where}, both sides' moves counted, the game is a draw.{guessing}"
