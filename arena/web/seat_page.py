"""A session with a secret address for each seat, and the contents of a seat's page.

The page is given the state of its seat and nothing else: a browser never has what its seat was not told.
"""

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from arena.game.seat_state import ActionState, FightState, SeatState, Stage
from arena.play.session import Session
from arena.report.game_text import event_words
from arena.report.piece_names import DEFAULT_NAMES, Names
from arena.report.rules_text import army_entries, rule_lines
from arena.report.site.page_frame import isolated
from arena.rules.ruleset import Defence
from arena.web.address import Listening
from arena.web.seat_words import ENGLISH, PlayWords
from protocol import messages
from protocol.notation import Color, Rank, Survivor

BYTES = 24


@dataclass(frozen=True)
class Token:
    """The secret of one seat or session. Its text is fit for a path."""

    text: str

    @classmethod
    def new(cls) -> "Token":
        """One that nobody can guess: 192 random bits."""
        return cls(secrets.token_urlsafe(BYTES))

    def matches(self, given: str) -> bool:
        """Whether that is it, found out in the same time whatever was given."""
        return hmac.compare_digest(self.text.encode(), given.encode("utf-8", "surrogatepass"))

    def __repr__(self) -> str:
        return "Token(...)"  # a secret stands in no traceback


@dataclass(frozen=True)
class NextCommands:
    """What can be done with the game afterwards, as lines for a shell; a page leaves out those that are empty.

    `go_on` goes on with a game that was paused, `show` and `report` look at one that is stored under a number.
    """

    go_on: str = ""
    show: Callable[[int], str] = lambda number: ""
    report: str = ""


@dataclass(frozen=True)
class SeatTable:
    """A session that is shown. `names` says what the pieces are called; the session can be paused if `can_pause`."""

    session: Session
    commands: NextCommands = field(default_factory=NextCommands)
    names: Names = DEFAULT_NAMES
    can_pause: bool = True
    tokens: Mapping[Color, Token] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", {color: Token.new() for color in self.session.persons})

    def address(self, color: Color, listening: Listening) -> str:
        """Where a person plays: to be given to nobody else."""
        return f"{listening.url}{self.tokens[color].text}/"

    def seat_of(self, given: str) -> Color | None:
        """Whose address that is, if it is one. All are compared, so that the time tells nothing."""
        found = [color for color, token in self.tokens.items() if token.matches(given)]
        return found[0] if found else None


def shown_squares(color: Color, actions: Iterable[ActionState], *, silent: bool) -> frozenset[str]:
    """The squares of these pieces after the actions. `silent`: a defender that stays is named to scouts alone."""
    shown: set[str] = set()
    for action in actions:
        is_own = action.color == color.word
        if action.origin is None or action.target is None:
            continue
        if action.guess is None:
            _move(shown, action, is_own=is_own, silent=silent)
        elif action.guess.right:
            shown.discard(action.target)
        if is_own:
            shown.update(one.square for one in (action.revealed, action.rescued) if one is not None)
    return frozenset(shown)


def _move(shown: set[str], action: ActionState, *, is_own: bool, silent: bool) -> None:
    origin, target, fight = action.origin or "", action.target or "", action.fight
    was_shown = origin in shown
    shown.discard(origin)
    if fight is None:
        if was_shown:
            shown.add(target)
    elif fight.survivor != Survivor.DEFENDER.value:
        shown.discard(target)
        if is_own and fight.survivor == Survivor.ATTACKER.value:
            shown.add(target)
    elif not is_own and not (silent and fight.attacker != Rank.SCOUT.letter):
        shown.add(target)


class PieceWords(msgspec.Struct, frozen=True):
    """What a rank is called, what stands on its pieces, and how many a side has."""

    number: str
    name: str
    count: int


class PagePreset(msgspec.Struct, frozen=True):
    """A ready-made set-up: what it is called in the list, and its rows."""

    name: str
    rows: tuple[str, ...]


class PageData(msgspec.Struct, frozen=True):
    """What the script of a page is given with the page. `pieces` are by letter; `order` has the strongest first."""

    seat: str
    title: str
    words: dict[str, str]
    pieces: dict[str, PieceWords]
    order: tuple[str, ...]
    presets: tuple[PagePreset, ...]


class Page(msgspec.Struct, frozen=True):
    """What the template of a page is given; `data` is `PageData` as JSON."""

    title: str
    heading: str
    data: str
    presets: tuple[str, ...]
    can_pause: bool
    rules: tuple[str, ...]


class MoveLine(msgspec.Struct, frozen=True):
    """A line of the list of moves: the action, and what came of it in words, as far as this seat was told.

    `fight` is the fight in it, if there was one.
    """

    ply: int
    color: str
    action: str
    words: str
    fight: FightState | None


class SeatAnswer(msgspec.Struct, frozen=True):
    """All there is to show: the state, the moves after the first `since`, and what can be done now that it is over.

    `shown` are the squares of this seat's own pieces whose rank the enemy was told. `setups` are Red's and Blue's rows;
    empty until the game is over, or if a side never set up.
    """

    state: SeatState
    since: int
    moves: tuple[MoveLine, ...]
    shown: tuple[str, ...]
    after: tuple[str, ...]
    setups: tuple[str, ...] = ()


class Earlier(msgspec.Struct, frozen=True):
    """The board as this seat knew it after an earlier ply; `shown` as in `Answer`, as of then."""

    state: SeatState
    shown: tuple[str, ...]


def page_of(table: SeatTable, color: Color, words: PlayWords = ENGLISH) -> Page:
    """The page of a seat."""
    spec = table.session.spec
    red, blue = (isolated(player.name) for player in spec.players)
    presets = tuple(PagePreset(f"{one.name}: {one.text}", one.rows) for one in table.session.presets())
    heading = words.heading.format(red=red, blue=blue, rules=spec.ruleset.name)
    title = f"{words.heading_of.format(color=getattr(words, color.word))} - {heading}"
    entries = army_entries(spec.ruleset, table.names)
    data = PageData(
        seat=color.word,
        title=title,
        words={key: text for key, text in vars(words).items() if isinstance(text, str)},
        pieces={entry.letter: PieceWords(entry.number, entry.name, entry.count) for entry in entries},
        order=tuple(entry.letter for entry in entries),
        presets=presets,
    )
    return Page(
        title=title,
        heading=heading,
        data=msgspec.json.encode(data).decode(),
        presets=tuple(preset.name for preset in presets),
        can_pause=table.can_pause,
        rules=tuple(line.text for line in rule_lines(spec.ruleset, table.names)),
    )


def answer_of(table: SeatTable, color: Color, since: int, words: PlayWords = ENGLISH) -> SeatAnswer:
    """What a page is given that has the first `since` moves."""
    state = table.session.state(color)
    since = min(since, state.plies)
    return SeatAnswer(
        state,
        since,
        _moves(table, color, since),
        _shown(table, color),
        _after(table, state, words),
        _setups(table),
    )


def earlier_of(table: SeatTable, color: Color, plies: int) -> Earlier:
    """What the seat knew after so many plies, which is at most as many as there were."""
    return Earlier(table.session.state_after(color, plies), _shown(table, color, plies))


def _shown(table: SeatTable, color: Color, plies: int | None = None) -> tuple[str, ...]:
    """As of now, or after so many plies."""
    silent = table.session.spec.ruleset.defence is Defence.SILENT
    return tuple(sorted(shown_squares(color, table.session.actions(color)[:plies], silent=silent)))


def _moves(table: SeatTable, color: Color, since: int) -> tuple[MoveLine, ...]:
    said: list[list[str]] = []
    for message in table.session.told(color):
        if isinstance(message, messages.Moved):
            said.append([])
        elif said and (text := event_words(message, table.names)):
            said[-1].append(text)
    return tuple(
        MoveLine(action.ply, action.color, action.action, "; ".join(said[action.ply - 1]), action.fight)
        for action in table.session.actions(color, since + 1)
    )


def _setups(table: SeatTable) -> tuple[str, ...]:
    record = table.session.record
    return () if record is None else tuple(setup for setup in record.setups if setup is not None)


def _after(table: SeatTable, state: SeatState, words: PlayWords) -> tuple[str, ...]:
    """How to go on with a paused game, or how to look at one that is over."""
    commands = table.commands
    if state.stage is Stage.PAUSED:
        lines = [(words.go_on, commands.go_on)]
    elif state.end is None:
        return ()
    elif state.end.number is None:
        return (words.not_stored,)
    else:
        lines = [(words.replay, commands.show(state.end.number)), (words.pages, commands.report)]
    return tuple(text.format(command=command) for text, command in lines if command)
