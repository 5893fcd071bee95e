"""What the page of a seat is made of: what stays as it is for the whole game, and a state with the moves so far."""

import msgspec

from arena.game.seat_state import FightState, SeatState, Stage
from arena.report.replay import event_words
from arena.report.rules import army_entries, rule_lines
from arena.report.site.words import isolated
from arena.rules.ruleset import Defence
from arena.web.play.shown import shown_squares
from arena.web.play.table import Table
from arena.web.play.words import ENGLISH, PlayWords
from protocol import messages
from protocol.notation import Color


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


class Answer(msgspec.Struct, frozen=True):
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


def page_of(table: Table, color: Color, words: PlayWords = ENGLISH) -> Page:
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


def answer_of(table: Table, color: Color, since: int, words: PlayWords = ENGLISH) -> Answer:
    """What a page is given that has the first `since` moves."""
    state = table.session.state(color)
    since = min(since, state.plies)
    return Answer(
        state,
        since,
        _moves(table, color, since),
        _shown(table, color),
        _after(table, state, words),
        _setups(table),
    )


def earlier_of(table: Table, color: Color, plies: int) -> Earlier:
    """What the seat knew after so many plies, which is at most as many as there were."""
    return Earlier(table.session.state_after(color, plies), _shown(table, color, plies))


def _shown(table: Table, color: Color, plies: int | None = None) -> tuple[str, ...]:
    """As of now, or after so many plies."""
    silent = table.session.spec.ruleset.defence is Defence.SILENT
    return tuple(sorted(shown_squares(color, table.session.actions(color)[:plies], silent=silent)))


def _moves(table: Table, color: Color, since: int) -> tuple[MoveLine, ...]:
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


def _setups(table: Table) -> tuple[str, ...]:
    record = table.session.record
    return () if record is None else tuple(setup for setup in record.setups if setup is not None)


def _after(table: Table, state: SeatState, words: PlayWords) -> tuple[str, ...]:
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
