"""A session with a secret address for each seat, and the contents of a seat's page.

The page gets the state of its seat only: a browser never has what its seat was not told.
"""

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from arena.play.session import Session
from arena.report.game_text import event_words
from arena.report.piece_names import DEFAULT_NAMES, Names
from arena.report.rules_text import army_entries, rule_lines
from arena.report.site.page_frame import isolated
from arena.stratego.game import ruleset_of
from arena.stratego.person_seat import ActionState, FightState, SeatStage, SeatState
from arena.stratego.rules.ruleset import Defence
from arena.web.address import Listening
from protocol import messages
from protocol.notation import Color, Rank, Survivor

BYTES = 24


@dataclass(frozen=True)
class Token:
    """The secret of one seat, safe in a path."""

    text: str

    @classmethod
    def new(cls) -> "Token":
        return cls(secrets.token_urlsafe(BYTES))

    def matches(self, given: str) -> bool:
        return hmac.compare_digest(self.text.encode(), given.encode("utf-8", "surrogatepass"))

    def __repr__(self) -> str:
        return "Token(...)"  # secrets do not belong in tracebacks


@dataclass(frozen=True)
class NextCommands:
    """Shell commands for the time after the game; a page leaves out empty ones.

    `go_on` resumes a paused game, `show` and `report` display a stored one.
    """

    go_on: str = ""
    show: Callable[[int], str] = lambda number: ""
    report: str = ""


@dataclass(frozen=True)
class SeatTable:
    session: Session
    commands: NextCommands = field(default_factory=NextCommands)
    names: Names = DEFAULT_NAMES
    can_pause: bool = True
    tokens: Mapping[Color, Token] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", {color: Token.new() for color in self.session.persons})

    def address(self, color: Color, listening: Listening) -> str:
        return f"{listening.url}{self.tokens[color].text}/"

    def seat_of(self, given: str) -> Color | None:
        """Return the seat of a token, in constant time for all tokens."""
        found = [color for color, token in self.tokens.items() if token.matches(given)]
        return found[0] if found else None


def shown_squares(color: Color, actions: Iterable[ActionState], *, silent: bool) -> frozenset[str]:
    """Return the squares of a seat's own pieces whose rank the enemy knows, after these actions.

    With `silent` defence a defender that stays is named to scouts alone.
    """
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


class MoveLine(msgspec.Struct, frozen=True):
    """A line of the list of moves: the action, and its outcome in words, as this seat was told."""

    ply: int
    color: str
    action: str
    words: str
    fight: FightState | None


class SeatAnswer(msgspec.Struct, frozen=True):
    """The state of a seat and the moves after the first `since`.

    `shown` are the squares of `shown_squares`. When the game is over, `after` has the next possible commands, and
    `setups` Red's and Blue's rows, if both sides set up.
    """

    state: SeatState
    since: int
    moves: tuple[MoveLine, ...]
    shown: tuple[str, ...]
    after: tuple[str, ...]
    setups: tuple[str, ...] = ()


class Earlier(msgspec.Struct, frozen=True):
    state: SeatState
    shown: tuple[str, ...]


def page_of(table: SeatTable, color: Color) -> dict[str, object]:
    """Return the values of the page of a seat.

    Its `data` is for the script: pieces by letter, and the letters in `order` from the strongest.
    """
    spec = table.session.spec
    red, blue = (isolated(player.name) for player in spec.players)
    heading = f"{red} - {blue}: {spec.variant.name}"
    title = f"You play {color.word.capitalize()} - {heading}"
    presets = [{"name": f"{one.name}: {one.text}", "rows": one.rows} for one in table.session.presets()]
    entries = army_entries(ruleset_of(spec.variant), table.names)
    data = {
        "seat": color.word,
        "title": title,
        "pieces": {one.letter: {"number": one.number, "name": one.name, "count": one.count} for one in entries},
        "order": [one.letter for one in entries],
        "presets": presets,
    }
    return {
        "title": title,
        "heading": heading,
        "data": msgspec.json.encode(data).decode(),
        "presets": [preset["name"] for preset in presets],
        "can_pause": table.can_pause,
        "rules": [line.text for line in rule_lines(ruleset_of(spec.variant), table.names)],
    }


def answer_of(table: SeatTable, color: Color, since: int) -> SeatAnswer:
    """Return the answer to a page that has the first `since` moves."""
    state, record = table.session.state(color), table.session.record
    since = min(since, state.plies)
    setups = () if record is None else tuple(setup for setup in record.setups if setup is not None)
    return SeatAnswer(state, since, _moves(table, color, since), _shown(table, color), _after(table, state), setups)


def earlier_of(table: SeatTable, color: Color, plies: int) -> Earlier:
    return Earlier(table.session.state_after(color, plies), _shown(table, color, plies))


def _shown(table: SeatTable, color: Color, plies: int | None = None) -> tuple[str, ...]:
    silent = ruleset_of(table.session.spec.variant).defence is Defence.SILENT
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


def _after(table: SeatTable, state: SeatState) -> tuple[str, ...]:
    commands = table.commands
    if state.stage is SeatStage.PAUSED:
        lines = [("Resume it later", commands.go_on)]
    elif state.end is None:
        return ()
    elif state.end.number is None:
        return ("The game is not stored yet.",)
    else:
        lines = [("Replay it", commands.show(state.end.number)), ("As pages, with a board", commands.report)]
    return tuple(f"{label}: {command}" for label, command in lines if command)
