"""The parts of a game that each reader may see, as data for the viewer of its page.

A seat sees what it was told. The public sees what both seats were told: no ranks that only one side knows, no set-ups,
seeds or words of bots. For each view the script gets the first board and the changes of each ply. The data is JSON,
deflated, in base 64, in a script file: a page on a disk can load nothing else.
"""

import base64
import zlib
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import msgspec

from arena.game.clock import GameClock
from arena.game.exported import ALL, PUBLIC
from arena.game.record import GameRecord, NoteLine, RecordError
from arena.game.replay import Replay, ReplayStep
from arena.game.transcript import ActionTime, Remark, Speaker, SpokenLine, transcript
from arena.report.game_text import Taken
from arena.stratego.rules.events import Moved
from arena.stratego.seat_view import true_cell
from arena.stratego.shown.boards import SquareMark, marks_of
from arena.stratego.shown.event_words import told, told_words
from arena.stratego.shown.piece_names import Names
from arena.stratego.state import StrategoState, as_stratego
from protocol.messages import Battle
from protocol.notation import COLOR_BY_WORD, SQUARES, Color, Rank

MARKS = {
    SquareMark.CAME_FROM: "from",
    SquareMark.WENT_TO: "to",
    SquareMark.LOST_FROM: "lost-from",
    SquareMark.LOST_AT: "lost",
}
PLAIN = (SquareMark.CAME_FROM, SquareMark.WENT_TO)
"""The marks of an action from its first square to its last one."""
SEED = "seed "


class SeenBy(Enum):
    """The reader of the page of a game."""

    ALL = ALL
    RED = Color.RED.word
    BLUE = Color.BLUE.word
    PUBLIC = PUBLIC

    def __init__(self, value: str) -> None:
        self.seat = COLOR_BY_WORD.get(value)

    @property
    def views(self) -> tuple["SeenBy", ...]:
        return (SeenBy.ALL, SeenBy.RED, SeenBy.BLUE) if self is SeenBy.ALL else (self,)

    def sees(self, color: Color) -> bool:
        """Whether the reader sees private data of a side: its set-up, seed, notes and standard error."""
        return self is SeenBy.ALL or self.seat is color


def cell_of(state: StrategoState, square: int, audience: SeenBy) -> str:
    """Return a cell of the board as the reader knows it."""
    if audience is SeenBy.ALL:
        return true_cell(state.board, square)
    if audience.seat is not None:
        return state.view(audience.seat).cell(square)
    by_red, by_blue = (state.view(color).cell(square) for color in Color)
    return by_blue if by_blue[0] == Color.RED.word[0] else by_red


def lost_of(state: StrategoState, color: Color, audience: SeenBy) -> list[Rank]:
    if audience is SeenBy.ALL:
        return state.view(color).captured(color)
    viewer = color.opponent if audience.seat is None else audience.seat
    return state.view(viewer).captured(color)


def notes_for(record: GameRecord, audience: SeenBy) -> list[NoteLine]:
    return [note for note in record.notes if any(audience.sees(color) for color in Color if color.word == note.color)]


def square_name(square: int) -> str:
    name = SQUARES[square]
    return name[0] + name[-1]


class ViewData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game as one viewer saw it.

    `start` has the 100 cells of the first board, two characters each; `changes` for each ply the squares that changed
    (`a1` to `j0`, 0 for 10) with their new cells, four characters each. By ply, `words` describes the action, `fights`
    has the square, the cells of attacker and defender and the survivor in seven characters, and `lost`, if it has
    changed, the letters of the pieces that Red and Blue have lost.
    """

    start: str
    changes: list[str]
    words: dict[int, str]
    lost: dict[int, tuple[str, str]]
    fights: dict[int, str]


class GameData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game for the viewer; lists have an entry for each ply.

    `sides` has `r` or `b` for the mover; `taken` tenths of a millisecond, None if hidden. `marks` has the marked
    squares of each ply, unless it is a move from its first square to its last one. `banks` has the milliseconds left to
    Red and Blue. `notes` are ply, side and text. `labels` are the names of players and pieces and the verdict.
    `dialogue` has ply, side, speaker (`>` to the bot, `<` from it, `#` a remark) and text.
    """

    labels: dict[str, Any]
    views: dict[str, ViewData]
    sides: str
    actions: list[str]
    marks: dict[int, dict[str, str]]
    taken: list[int | None]
    banks: list[tuple[int | None, int | None]] | None
    notes: list[tuple[int, str, str]]
    dialogue: list[tuple[int, str, str, str]]


class _Viewer:
    def __init__(self, state: StrategoState, audience: SeenBy, names: Names) -> None:
        self._state, self._audience, self._names = state, audience, names
        self._lost = ("", "")
        start = "".join(cell_of(state, square, audience) for square in range(len(SQUARES)))
        self.data = ViewData(start, [], {}, {}, {})

    def see(self, step: ReplayStep, marks: Iterable[int]) -> None:
        """Add a ply; only the marked squares have changed."""
        cells = (f"{square_name(square)}{cell_of(self._state, square, self._audience)}" for square in marks)
        self.data.changes.append("".join(cells))
        events = self._state.events
        if len(events) == 1 and type(events[0]) is Moved:
            return
        view = self._audience.value
        if words := told_words(events, view, self._names):
            self.data.words[step.ply] = words
        for message in (told(event, view) for event in events):
            if isinstance(message, Battle):
                self.data.fights[step.ply] = _fight(message, step.color)
        red, blue = ("".join(r.letter for r in lost_of(self._state, color, self._audience)) for color in Color)
        if (red, blue) != self._lost:
            self._lost = self.data.lost[step.ply] = red, blue


def game_data(
    record: GameRecord,
    audience: SeenBy,
    names: Names,
    *,
    labels: dict[str, Any],
    has_dialogue: bool = True,
    has_seeds: bool = True,
) -> GameData:
    """Return the data of a game for an audience. Raises `RecordError` for an impossible record."""
    lines = _dialogue(record, audience, has_seeds=has_seeds) if has_dialogue else []
    if None in record.setups:
        return GameData(labels, {}, "", [], {}, [], None, [], lines)
    replay = Replay(record)
    state = as_stratego(replay.state)
    viewers = {view.value: _Viewer(state, view, names) for view in audience.views}
    colors: list[Color] = []
    marks = dict[int, dict[str, str]]()
    for step in replay.steps():
        colors.append(step.color)
        marked = marks_of(state.events)
        if tuple(marked.values()) != PLAIN:
            marks[step.ply] = {square_name(square): MARKS[mark] for square, mark in marked.items()}
        for viewer in viewers.values():
            viewer.see(step, marked)
    times = zip(record.times_us, colors, strict=True)
    return GameData(
        labels=labels,
        views={name: viewer.data for name, viewer in viewers.items()},
        sides="".join(color.word[0] for color in colors),
        actions=list(record.actions),
        marks=marks,
        taken=[round(taken / 100) if audience.sees(color) else None for taken, color in times],
        banks=_banks(record, colors, audience),
        notes=[(note.ply, note.color, note.text) for note in notes_for(record, audience)],
        dialogue=lines,
    )


def game_script(number: int, data: GameData) -> str:
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(data), 9)).decode("ascii")
    return f'arenaGame({number}, "{packed}");\n'


def _fight(battle: Battle, attacker: Color) -> str:
    """Encode a fight: in `a7rMb7a` Red's marshal attacks a 7 on a7, and the attacker is left (`a`, `d`, or `n` for
    neither).
    """
    defender = battle.defender.letter if battle.defender is not None else "?"
    cells = f"{attacker.word[0]}{battle.attacker.letter}{attacker.opponent.word[0]}{defender}"
    return f"{battle.square[0]}{battle.square[-1]}{cells}{battle.survivor.value[0]}"


def _banks(record: GameRecord, colors: Sequence[Color], audience: SeenBy) -> list[tuple[int | None, int | None]] | None:
    if all(time.bank_ms is None for time in record.times) or audience is SeenBy.PUBLIC:
        return None
    clock = GameClock(record.times)
    banks = []
    for ply, (color, taken) in enumerate(zip(colors, record.times_us, strict=True), 1):
        if interrupted := sum(used for at, used in record.interrupted if at == ply):
            clock.spend(color, interrupted / 1e6)
        clock.charge(color, taken / 1e6)
        red, blue = (clock.bank_ms(side) if audience.sees(side) else None for side in Color)
        banks.append((red, blue))
    return banks


def _dialogue(record: GameRecord, audience: SeenBy, *, has_seeds: bool) -> list[tuple[int, str, str, str]]:
    if audience is SeenBy.PUBLIC:
        return []
    found: list[tuple[int, str, str, str]] = []
    try:
        for entry in transcript(record):
            color = entry.color
            if color is not None and not audience.sees(color):
                continue
            side = "" if color is None else color.word[0]
            match entry:
                case SpokenLine(_, _, Speaker.ARENA, text) if text.startswith(SEED) and not has_seeds:
                    pass
                case SpokenLine(ply, _, speaker, text):
                    found.append((ply, side, ">" if speaker is Speaker.ARENA else "<", text))
                case Remark(ply, _, text):
                    found.append((ply, side, "#", text))
                case ActionTime():
                    found.append((entry.ply, side, "#", Taken.of(entry).text))
    except RecordError as error:
        found.append((0, "", "#", str(error)))
    return found
