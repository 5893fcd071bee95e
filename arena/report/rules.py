"""The rules in force in plain words, one sentence a rule, so that someone who has never seen the game can play by them.

`rule_lines` says everything once, as values; the page for a terminal and the JSON document are made from it. A sentence
that speaks for a key of `Ruleset` names the key, says whether the value differs from what the booklets have in common,
and carries the source and the reading that the ruleset's notes give for it. Sentences without a key are common to all
booklets.
"""

import enum
import re
import textwrap
from collections.abc import Iterable, Iterator

import msgspec

from arena.report.names import AMERICAN, DEFAULT_NAMES, Names
from arena.rules.loading import DEFAULT_RULESET, load_ruleset, ruleset_names, switch_names, switch_title
from arena.rules.ruleset import (
    HOME_SIZE,
    RULE_KEYS,
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
from protocol.notation import Rank

WIDTH = 80
"""Columns that the pages fit."""
COMMON_SOURCE = "common to the booklets"
NO_SOURCE = "no source given"

_READING = re.compile(r"\s*\bReadings?: ")
_BY_STRENGTH = (
    Rank.MARSHAL,
    Rank.GENERAL,
    Rank.COLONEL,
    Rank.MAJOR,
    Rank.CAPTAIN,
    Rank.LIEUTENANT,
    Rank.SERGEANT,
    Rank.MINER,
    Rank.SCOUT,
    Rank.SPY,
    Rank.INFILTRATOR,
    Rank.BOMB,
    Rank.FLAG,
)


class Part(enum.Enum):
    """The parts of a page of rules, in their order."""

    AIM = "Aim and set-up"
    MOVING = "Moving"
    ATTACKING = "Attacking"
    REPETITION = "Going back and forth"
    END = "The end"


class RuleLine(msgspec.Struct, frozen=True):
    """One rule in a sentence or a few.

    `rule` is the name of the rule as it stands in records, or None for what no ruleset changes; `differs` says whether
    it is other than what the booklets have in common; `reading` is how a text that is silent or unclear is understood.
    """

    part: Part
    rule: str | None
    text: str
    differs: bool = False
    source: str = COMMON_SOURCE
    reading: str = ""


class ArmyEntry(msgspec.Struct, frozen=True):
    """How many pieces of a rank a side has; `letter` is how it is written everywhere, `number` what it is shown as."""

    letter: str
    name: str
    number: str
    count: int


class RulesDocument(msgspec.Struct, frozen=True):
    """The rules in force, whole. `values` are the rules as they stand in records."""

    name: str
    title: str
    source: str
    army: tuple[ArmyEntry, ...]
    army_size: int
    rules: tuple[RuleLine, ...]
    values: dict[str, str]
    notes: dict[str, str]


class RulesetEntry(msgspec.Struct, frozen=True):
    """A ruleset in the list of all."""

    name: str
    title: str
    source: str
    army_size: int


class SwitchEntry(msgspec.Struct, frozen=True):
    """A switch in the list of all: what it does, with its source."""

    name: str
    title: str


class ListDocument(msgspec.Struct, frozen=True):
    """All rulesets that come with the arena and all switches."""

    default: str
    rulesets: tuple[RulesetEntry, ...]
    switches: tuple[SwitchEntry, ...]


# --- the rules as values ------------------------------------------------------------------------------------------


def common_rules() -> Ruleset:
    """What the booklets have in common: all defaults, with the original army."""
    army = load_ruleset(DEFAULT_RULESET).army
    return Ruleset(name="common", title="What the booklets have in common", source="", army=army)


def differing_keys(ruleset: Ruleset) -> tuple[str, ...]:
    """The keys of a ruleset whose values are not the common ones."""
    common = common_rules()
    return tuple(key for key in RULE_KEYS if getattr(ruleset, key) != getattr(common, key))


def army_entries(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> tuple[ArmyEntry, ...]:
    """The army, the strongest first, bombs and flag last."""
    counts = dict(ruleset.army)
    return tuple(
        ArmyEntry(rank.letter, names.name(rank), names.number(rank), counts[rank])
        for rank in _BY_STRENGTH
        if rank in counts
    )


def rule_lines(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> tuple[RuleLine, ...]:
    """Every rule in force as a sentence, in the order in which one would explain the game."""
    notes = dict(ruleset.notes)
    differing = differing_keys(ruleset)
    explained: set[str] = set()
    lines = []
    for part, key, sentence in _sentences(ruleset, names):
        text, reading = split_note(sentence)
        differs = key in differing
        source = NO_SOURCE if differs else COMMON_SOURCE
        if key in notes:
            noted_source, noted_reading = split_note(notes[key])
            source = noted_source or NO_SOURCE
            reading = reading if key in explained else noted_reading or reading
        line = RuleLine(part, key and key.replace("_", "-"), text, differs, source, reading)
        if key:
            explained.add(key)
        lines.append(line)
    return tuple(lines)


def split_note(note: str) -> tuple[str, str]:
    """A note as what comes before its reading (where it stands, say) and the reading; either may be empty."""
    before, *readings = _READING.split(note, maxsplit=1)
    return before, _upper(readings[0]).rstrip(".") + "." if readings else ""


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


_Sentence = tuple[Part, str | None, str]


def _sentences(ruleset: Ruleset, names: Names) -> Iterator[_Sentence]:
    for part, sentences in (
        (Part.AIM, _aim(ruleset, names)),
        (Part.MOVING, _moving(ruleset, names)),
        (Part.ATTACKING, _attacking(ruleset, names)),
        (Part.REPETITION, _repetition(ruleset, names)),
        (Part.END, _end(ruleset, names)),
    ):
        for key, text in sentences:
            yield part, key, text


_Sentences = Iterator[tuple[str | None, str]]
"""Sentences of one part, each with the key that it speaks for."""


def _aim(ruleset: Ruleset, names: Names) -> _Sentences:
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


def _moving(ruleset: Ruleset, names: Names) -> _Sentences:
    army = {rank for rank, _ in ruleset.army}
    yield (
        None,
        "A piece moves one square forward, back or sideways, never diagonally, onto an empty square or onto an enemy "
        "piece, which is an attack. It may not move onto a piece of its own side or jump over anything.",
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
            f"{_upper(names.one(Rank.SCOUT))} moves any number of empty squares in a straight line and may end its "
            "move in an attack.",
        )
    yield "scouts", _scouts(ruleset, names)
    match ruleset.captains:
        case Captains.ONE_STEP:
            yield "captains", "All other pieces move one square at a time."
        case Captains.TWO_STEPS:
            yield (
                "captains",
                f"{_upper(names.one(Rank.CAPTAIN))} moves one or two squares and may turn after the first, which must "
                "be empty. It may not come back to where it began, and attacks only with the last step.",
            )
    match ruleset.fixed_pieces:
        case FixedPieces.ILLEGAL:
            yield "fixed_pieces", "To move a piece that never moves is illegal."
        case FixedPieces.LOSES:
            yield "fixed_pieces", "A side that moves a piece that never moves has lost the game at once."


def _scouts(ruleset: Ruleset, names: Names) -> str:
    scout = names.name(Rank.SCOUT)
    match ruleset.scouts:
        case Scouts.ANNOUNCED:
            return f"Who moves {names.one(Rank.SCOUT)} more than one square must say that it is one."
        case Scouts.SEEN if ruleset.captains is Captains.TWO_STEPS:
            other = names.name(Rank.CAPTAIN)
            return f"A move of more than two squares shows the {scout}; over two squares it might be the {other}."
        case Scouts.SEEN:
            return "A move of more than one square shows by itself what the piece is."


def _attacking(ruleset: Ruleset, names: Names) -> _Sentences:
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
            pair = f" Reading: also {names.one(Rank.SPY)} against {names.one(Rank.SPY)}." if Rank.SPY in army else ""
            yield "equal_ranks", f"Of two equal ranks both leave the board.{pair}"
        case EqualRanks.ATTACKER:
            yield "equal_ranks", "Of two equal ranks the attacker wins and takes the square."
    yield "bombs", _bombs(ruleset, names)
    if {Rank.SPY, Rank.MARSHAL} <= army:
        yield (
            None,
            f"The {spy} wins when it attacks the {marshal}. In every other fight it is the weakest, also when the "
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
        "What has left the board lies in view of both.",
    )
    if Rank.INFILTRATOR in army:
        yield "infiltration", _infiltration(ruleset, names)
    yield "rescues", _rescues(ruleset, names)


def _infiltration(ruleset: Ruleset, names: Names) -> str:
    infiltrator = names.name(Rank.INFILTRATOR)
    weak = f"The {infiltrator} is as weak as the {names.name(Rank.SPY)}"
    if not ruleset.infiltration:
        return f"{weak} and has no power of its own."
    return (
        f"{weak}. Instead of moving, {names.one(Rank.INFILTRATOR)} on the opponent's four rows may point at an enemy "
        "piece one or two squares away in a straight line and guess its rank, be it "
        f"{names.one(Rank.BOMB)} or the {names.name(Rank.FLAG)}. If the guess is right that piece leaves the board. "
        f"Either way the {infiltrator} stays where it is and is known."
    )


def _rescues(ruleset: Ruleset, names: Names) -> str:
    if not ruleset.rescues:
        return "What has left the board does not come back."
    pieces = "1 piece" if ruleset.rescues == 1 else f"{ruleset.rescues} pieces"
    return (
        "A piece that reaches the opponent's back row may bring back one lost piece of its side onto an empty square "
        f"of the side's own four rows, in the same turn. A side may do so for {pieces}, a piece once; "
        f"{names.one(Rank.SCOUT)} may not. Neither {names.one(Rank.BOMB)} nor the {names.name(Rank.FLAG)} comes back."
    )


def _bombs(ruleset: Ruleset, names: Names) -> str:
    bomb, miner = names.name(Rank.BOMB), names.name(Rank.MINER)
    moves = {
        Bombs.FIXED: f"The {bomb} never moves",
        Bombs.EXPLODING: f"The {bomb} never moves",
        Bombs.MOBILE: f"The {bomb} moves one square like any piece but may not attack",
    }[ruleset.bombs]
    if ruleset.bombs is Bombs.FIXED:
        return (
            f"{moves}. It beats every piece that attacks it, and stays; only the {miner} removes it and takes its "
            "square."
        )
    return (
        f"{moves}. A piece that attacks it leaves the board with it; only the {miner} removes it, stays in play and "
        "takes its square."
    )


def _repetition(ruleset: Ruleset, names: Names) -> _Sentences:
    limit = ruleset.two_squares
    if limit is None:
        yield "two_squares", "A piece may go back and forth between the same two squares as long as it likes."
    else:
        scouts = (
            f"; {names.one(Rank.SCOUT)} crosses every border on its way" if dict(ruleset.army).get(Rank.SCOUT) else ""
        )
        yield (
            "two_squares",
            f"A piece may cross the same border at most {_times(limit)} in a row. A border lies between two "
            f"neighbouring squares{scouts}. Attacks count, and what the opponent does does not matter. The count "
            "begins anew when the side moves another piece or the piece turns off the line.",
        )
    match ruleset.chase:
        case Chase.FREE:
            yield "chase", "A piece may be chased as long as one likes."
        case Chase.ISF:
            yield (
                "chase",
                "Who threatens, move after move, pieces that evade each time may not play another threatening move "
                "that brings back a position of this chase; stepping straight back is a matter of the rule above. To "
                "threaten is to move beside an enemy piece.",
            )
        case Chase.BOOKLET:
            yield (
                "chase",
                "Who threatens, move after move, pieces that evade each time over more than two squares may not play "
                "another threatening move that brings back a position which stood on the board before. To threaten is "
                "to move beside an enemy piece.",
            )


def _end(ruleset: Ruleset, names: Names) -> _Sentences:
    flag = names.name(Rank.FLAG)
    yield None, f"Who captures the enemy {flag} has won. A player may also give up."
    if ruleset.flag is Flag.MOBILE:
        yield "flag", f"A side that brings its own {flag} to the opponent's back row has won as well."
    match ruleset.no_move:
        case NoMove.AT_ONCE:
            yield (
                "no_move",
                "A side that cannot move has lost. This is looked at after every move and for both sides; if neither "
                "can move, the game is a draw.",
            )
        case NoMove.ON_TURN:
            yield "no_move", "A side that cannot move when it is its turn has lost."
    if ruleset.needs_attacker:
        yield "needs_attacker", "A side that has no piece left to attack with has lost."
    else:
        yield "needs_attacker", "A side that can still move plays on, even with nothing left to attack with."
    for key, cap, where in (
        ("max_plies", ruleset.max_plies, ""),
        ("max_quiet_plies", ruleset.max_quiet_plies, " in a row without an attack"),
    ):
        if cap is None:
            yield key, f"There is no limit to the number of moves{where}."
        else:
            yield key, f"After {cap:,} moves{where}, both sides' moves counted, the game is a draw."


# --- documents ----------------------------------------------------------------------------------------------------


def rules_document(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> str:
    """The rules in force as one JSON document."""
    return _json(
        RulesDocument(
            name=ruleset.name,
            title=ruleset.title,
            source=ruleset.source,
            army=army_entries(ruleset, names),
            army_size=ruleset.army_size,
            rules=rule_lines(ruleset, names),
            values=dict(ruleset.lines()),
            notes={key.replace("_", "-"): text for key, text in ruleset.notes},
        )
    )


def list_document() -> str:
    """All rulesets and switches as one JSON document."""
    return _json(ListDocument(DEFAULT_RULESET, tuple(_rulesets()), tuple(_switches())))


def _rulesets() -> Iterator[RulesetEntry]:
    for name in ruleset_names():
        ruleset = load_ruleset(name)
        yield RulesetEntry(name, ruleset.title, ruleset.source, ruleset.army_size)


def _switches() -> Iterator[SwitchEntry]:
    for name in switch_names():
        yield SwitchEntry(name, switch_title(name))


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


# --- pages --------------------------------------------------------------------------------------------------------


def list_page() -> str:
    """All rulesets and switches, for people."""
    rulesets = list(_rulesets())
    width = max(len(entry.name) for entry in rulesets)
    lines = ["Rulesets, with the pieces a side has (arena rules NAME prints one):", ""]
    for entry in rulesets:
        default = " (default)" if entry.name == DEFAULT_RULESET else ""
        lead = f"  {entry.name:<{width}}  {entry.army_size:>2}  "
        lines += _wrap(entry.title + default, lead, " " * len(lead))
    lines += ["", "Switches, which combine with a ruleset (NAME+SWITCH+SWITCH):", ""]
    for switch in _switches():
        lines += [f"  {switch.name}", *_wrap(switch.title, " " * 6)]
    lines += ["", "A ruleset of your own is a TOML file: arena rules ./mine.toml", ""]
    return "\n".join(lines)


def rules_page(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> str:
    """The rules in force, for people."""
    lines = [*_wrap(ruleset.title), *_wrap(f"ruleset {ruleset.name}; source: {ruleset.source}"), ""]
    lines += _wrap("* differs from what the booklets have in common; the source stands below the rule.")
    lines += _wrap("Reading: how this arena understands a source that is silent or unclear.")
    rules = rule_lines(ruleset, names)
    for part in Part:
        lines += ["", part.value]
        for line in rules:
            if line.part is part:
                lines += _rule_text(line)
                if line.rule == "army":
                    lines += ["", *_army_text(ruleset, names), ""]
    return "\n".join(lines) + "\n"


def _rule_text(line: RuleLine) -> Iterable[str]:
    yield from _wrap(line.text, "  * " if line.differs else "  - ", " " * 4)
    if line.source and line.source != COMMON_SOURCE:
        yield from _wrap(f"[{line.source}]", " " * 6, " " * 7)
    if line.reading:
        yield from _wrap(f"[Reading: {line.reading}]", " " * 6, " " * 7)


def _army_text(ruleset: Ruleset, names: Names) -> Iterable[str]:
    entries = army_entries(ruleset, names)
    width = max(len(entry.name) for entry in entries)
    yield f"      {'piece':<{width}}  number  letter  pieces"
    for entry in entries:
        number = entry.number if entry.number.isdigit() else "-"
        yield f"      {entry.name:<{width}}  {number:>6}  {entry.letter:>6}  {entry.count:>6}"
    lower = names.numbering == AMERICAN
    yield f"      The strongest comes first; the {'lower' if lower else 'higher'} number is the stronger rank."


def _wrap(text: str, first: str = "", rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
