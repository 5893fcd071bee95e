"""What the viewer of a page is given of a game: of each view the first board, and what changes with each ply.

The script of the page plays nothing: it puts cells on squares. All that is in them comes from the engine and from what
the seats were told, so that a page for one seat, or for the public, has no hidden rank in any form.

The whole is JSON, deflated and written in base 64, in a script of its own: that can be loaded from a disk, where a page
may not fetch anything else.
"""

import base64
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from arena.game.clock import Clock
from arena.game.dialogue import dialogue
from arena.game.dialogue_entries import Answer, Line, Remark, Speaker
from arena.game.record import GameRecord, RecordError
from arena.game.replay import Replay, Step
from arena.game.view import is_told_as_moved
from arena.report.boards import SquareMark, marks_of
from arena.report.game_text import Taken, event_words, told
from arena.report.piece_names import Names
from arena.report.site.audience import SeenBy, cell_of, lost_of, notes_for
from protocol.messages import Battle
from protocol.notation import SQUARES, Color

MARKS = {
    SquareMark.CAME_FROM: "from",
    SquareMark.WENT_TO: "to",
    SquareMark.LOST_FROM: "lost-from",
    SquareMark.LOST_AT: "lost",
}
"""What the squares of the last action are called in the page's style sheet."""


_SQUARE_NAMES = [name[0] + name[-1] for name in SQUARES]
SEED = "seed "
"""How a line begins that tells a bot its seed."""


PLAIN = (SquareMark.CAME_FROM, SquareMark.WENT_TO)
"""What an action does that goes from its first square to its last one."""


class ViewData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game as one viewer saw it.

    `start` has the 100 cells of the first board, two characters each; `changes` for each ply what then stands on the
    squares that changed, four characters each: the square (`a1` to `j0`, 0 for 10) and its cell. `words` says by ply
    what came of it; `fights` has by ply its square, the cell of the attacker, that of the defender, and who is left, in
    seven characters; `lost` has by ply, where that has changed, the letters of the pieces that Red and Blue have lost.
    """

    start: str
    changes: list[str]
    words: dict[int, str]
    lost: dict[int, tuple[str, str]]
    fights: dict[int, str]


class GameData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game for the viewer. Lists have an entry for each ply; `taken` is in tenths of a millisecond, None where it is
    not to be seen. `sides` has `r` or `b` of who moved, `marks` what the action of a ply did on which squares, where it
    did not just go from its first square to its last one. `banks` has what is left to Red and Blue after the ply, in
    milliseconds, where there are banks. `notes` are ply, side and text. `labels` are what players and pieces are
    called, and the verdict: see `arena.report.site.game_page.labels_of`. `dialogue` has ply, side, who spoke (`>` to
    the bot, `<` from it, `#` a remark or what the action took) and what.
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
    """Puts together what one viewer sees of a game that is played again."""

    def __init__(self, replay: Replay, audience: SeenBy, names: Names) -> None:
        self._replay, self._audience, self._names = replay, audience, names
        self._lost = ("", "")
        start = "".join(cell_of(replay, square, audience) for square in range(len(SQUARES)))
        self.data = ViewData(start, [], {}, {}, {})

    def see(self, step: Step, marks: Iterable[int]) -> None:
        """Note what a ply did on the squares that it marks: nothing else has changed."""
        cells = (f"{square_name(square)}{cell_of(self._replay, square, self._audience)}" for square in marks)
        self.data.changes.append("".join(cells))
        if is_told_as_moved(step.events):
            return  # nothing that the action does not say itself
        messages = [told(event, self._audience.value) for event in step.events]
        if words := "; ".join(text for text in (event_words(message, self._names) for message in messages) if text):
            self.data.words[step.ply] = words
        for message in messages:
            if isinstance(message, Battle):
                self.data.fights[step.ply] = _fight(message, step.color)
        if (lost := _lost(self._replay, self._audience)) != self._lost:
            self._lost = self.data.lost[step.ply] = lost


def game_data(
    record: GameRecord,
    audience: SeenBy,
    names: Names,
    *,
    labels: dict[str, Any],
    has_dialogue: bool = True,
    has_seeds: bool = True,
) -> GameData:
    """What a page for this audience is given of a game. Without `has_seeds` no bot is seen to be told its seed. Raises
    `RecordError` if it cannot have been played so."""
    lines = _dialogue(record, audience, has_seeds=has_seeds) if has_dialogue else []
    if None in record.setups:
        return GameData(labels, {}, "", [], {}, [], None, [], lines)
    replay = Replay(record)
    viewers = {view.value: _Viewer(replay, view, names) for view in audience.views}
    sides, marks = [], dict[int, dict[str, str]]()
    for step in replay.steps():
        sides.append(step.color.word[0])
        marked = marks_of(step.events)
        if tuple(marked.values()) != PLAIN:
            marks[step.ply] = {square_name(square): MARKS[mark] for square, mark in marked.items()}
        for viewer in viewers.values():
            viewer.see(step, marked)
    colors = [Color.RED if side == Color.RED.word[0] else Color.BLUE for side in sides]
    return GameData(
        labels=labels,
        views={name: viewer.data for name, viewer in viewers.items()},
        sides="".join(sides),
        actions=list(record.actions),
        marks=marks,
        taken=[
            round(taken / 100) if audience.sees(color) else None
            for taken, color in zip(record.times_us, colors, strict=True)
        ],
        banks=_banks(record, colors, audience),
        notes=[(note.ply, note.color, note.text) for note in notes_for(record, audience)],
        dialogue=lines,
    )


def game_script(number: int, data: GameData) -> str:
    """The script that gives the data to a page that has asked for it."""
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(data), 9)).decode("ascii")
    return f'arenaGame({number}, "{packed}");\n'


def read_game_script(script: str) -> GameData:
    """The same backwards, for who wants to check what a site says."""
    return msgspec.json.decode(zlib.decompress(base64.b64decode(script.split('"')[1])), type=GameData)


def _fight(battle: Battle, attacker: Color) -> str:
    """A fight in seven characters: `a7rMb7a` is Red's marshal on a7, that attacks a 7 and is left; of `a`, `d` and `n`,
    for neither. A rank that was not told is `?`."""
    ranks = (battle.attacker.letter, battle.defender.letter if battle.defender is not None else "?")
    sides = (attacker.word[0], attacker.opponent.word[0])
    cells = "".join(side + rank for side, rank in zip(sides, ranks, strict=True))
    return f"{battle.square[0]}{battle.square[-1]}{cells}{battle.survivor.value[0]}"


def square_name(square: int) -> str:
    """The square in two characters: its file and the last digit of its rank."""
    return _SQUARE_NAMES[square]


def _lost(replay: Replay, audience: SeenBy) -> tuple[str, str]:
    red, blue = ("".join(rank.letter for rank in lost_of(replay, color, audience)) for color in Color)
    return red, blue


def _banks(record: GameRecord, colors: Sequence[Color], audience: SeenBy) -> list[tuple[int | None, int | None]] | None:
    """What each side's bank had left after each ply; None if neither has one, or who looks sees no times."""
    if all(time.bank_ms is None for time in record.times) or audience is SeenBy.PUBLIC:
        return None
    clock = Clock(record.times)
    interrupted: dict[int, float] = {}
    for ply, used in record.interrupted:
        interrupted[ply] = interrupted.get(ply, 0) + used / 1e6
    banks = []
    for ply, (color, taken) in enumerate(zip(colors, record.times_us, strict=True), 1):
        if ply in interrupted:
            clock.spend(color, interrupted[ply])
        clock.charge(color, taken / 1e6)
        red, blue = (clock.bank_ms(side) if audience.sees(side) else None for side in Color)
        banks.append((red, blue))
    return banks


def _dialogue(record: GameRecord, audience: SeenBy, *, has_seeds: bool) -> list[tuple[int, str, str, str]]:
    """The lines that each seat exchanged, as far as the reader may see them. The public may see none."""
    if audience is SeenBy.PUBLIC:
        return []
    found: list[tuple[int, str, str, str]] = []
    try:
        for entry in dialogue(record):
            color = entry.color
            if color is not None and not audience.sees(color):
                continue
            side = "" if color is None else color.word[0]
            match entry:
                case Line(_, _, Speaker.ARENA, text) if text.startswith(SEED) and not has_seeds:
                    pass
                case Line(ply, _, speaker, text):
                    found.append((ply, side, ">" if speaker is Speaker.ARENA else "<", text))
                case Remark(ply, _, text):
                    found.append((ply, side, "#", text))
                case Answer():
                    found.append((entry.ply, side, "#", Taken.of(entry).text))
    except RecordError as error:
        found.append((0, "", "#", str(error)))
    return found
