"""The parts of a game that each reader may see, as data for the viewer of its page.

A seat sees what it was told. The public sees what both seats were told: no ranks that only one side knows, no set-ups,
seeds or words of bots. For each view the script gets the first board and the changes of each ply. The data is JSON,
deflated, in base 64, in a script file: a page on a disk can load nothing else.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from arena.game import Names
from arena.game.clock import GameClock
from arena.game.record import GameRecord, NoteLine, RecordError
from arena.game.replay import Replay
from arena.game.transcript import ActionTime, Remark, Speaker, SpokenLine, transcript
from arena.report.game_text import Taken
from arena.report.shown import SeenBy, shown_game
from protocol.seats import Color

SEED = "seed "


def notes_for(record: GameRecord, audience: SeenBy) -> list[NoteLine]:
    return [note for note in record.notes if any(audience.sees(color) for color in Color if color.word == note.color)]


class GameData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game for the viewer; lists have an entry for each ply.

    `views` has what each viewer saw (`arena.report.shown.Shown.see`), and `marks` what it marks by ply. `sides` has
    `r` or `b` for the mover; `taken` tenths of a millisecond, None if hidden. `banks` has the milliseconds left to Red
    and Blue. `notes` are ply, side and text. `labels` are the names of players and pieces and the verdict.
    `dialogue` has ply, side, speaker (`>` to the bot, `<` from it, `#` a remark) and text.
    """

    labels: dict[str, Any]
    views: dict[str, Any]
    sides: str
    actions: list[str]
    marks: dict[int, Mapping[str, str]]
    taken: list[int | None]
    banks: list[tuple[int | None, int | None]] | None
    notes: list[tuple[int, str, str]]
    dialogue: list[tuple[int, str, str, str]]


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
    viewers = [shown_game(replay, view, names) for view in audience.views]
    for viewer in viewers:
        viewer.see(None)
    colors: list[Color] = []
    actions: list[str] = []
    marks = dict[int, Mapping[str, str]]()
    for step in replay.steps():
        colors.append(step.color)
        actions.append(viewers[0].action(step))
        if (marked := viewers[0].marks()) is not None:
            marks[step.ply] = marked
        for viewer in viewers:
            viewer.see(step)
    times = zip(record.times_us, colors, strict=True)
    return GameData(
        labels=labels,
        views={viewer.view.value: viewer.data for viewer in viewers},
        sides="".join(color.word[0] for color in colors),
        actions=actions,
        marks=marks,
        taken=[round(taken / 100) if audience.sees(color) else None for taken, color in times],
        banks=_banks(record, colors, audience),
        notes=[(note.ply, note.color, note.text) for note in notes_for(record, audience)],
        dialogue=lines,
    )


def game_script(number: int, data: GameData) -> str:
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(data), 9)).decode("ascii")
    return f'arenaGame({number}, "{packed}");\n'


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
