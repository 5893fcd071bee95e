"""One game as a JSON document: `arena show --json`."""

import msgspec

from arena.game.record import GameRecord
from arena.game.record_lines import ALL
from arena.game.replay import Step
from arena.report.game_facts import GameFacts, facts_of
from arena.report.json import to_json
from arena.report.replay import Look, Position, Taken, told
from protocol.codec import encode_for_bot
from protocol.notation import Color


class PlyJson(msgspec.Struct, frozen=True):
    """One ply. `side` and `action` are null for ply 0, the position after the set-ups.

    `events` are lines of the protocol, as they were told to who looks. `board` has the 100 cells of the position after
    it, as in a `board` line; `lost` are the letters of the pieces that are off the board. Times are in microseconds.
    """

    ply: int
    side: str | None
    action: str | None
    events: tuple[str, ...]
    board: str
    lost_by_red: str
    lost_by_blue: str
    taken_us: int | None
    forgiven_us: int | None
    cpu_us: int | None


class NoteJson(msgspec.Struct, frozen=True):
    """What a bot noted before a ply."""

    ply: int
    side: str
    text: str


class ShowJson(msgspec.Struct, frozen=True):
    """A game: its facts, what the bots noted, and its plies."""

    game: GameFacts
    view: str
    notes: tuple[NoteJson, ...]
    plies: tuple[PlyJson, ...]


def show_json(number: int, record: GameRecord, look: Look) -> str:
    """The game as one document. Raises `UsageError` if it has no such ply."""
    look.plies.check(number, len(record.actions))
    notes = tuple(
        NoteJson(note.ply, note.color, note.text)
        for note in record.notes
        if look.view in (ALL, note.color) and look.plies.has(note.ply)
    )
    plies = tuple(_plies(record, look)) if None not in record.setups else ()
    return to_json(ShowJson(facts_of(number, record, look.view, look.players), look.view, notes, plies))


def _plies(record: GameRecord, look: Look) -> list[PlyJson]:
    position = Position(record, look.view)
    found = [_ply(position, None, look.view, None)] if look.plies.has(0) else []
    for step in position.replay.steps():
        if look.plies.has(step.ply):
            found.append(_ply(position, step, look.view, Taken.at(record, step.ply)))
        if look.plies.are_over(step.ply):
            break
    return found


def _ply(position: Position, step: Step | None, view: str, taken: Taken | None) -> PlyJson:
    red, blue = ("".join(rank.letter for rank in position.lost(color)) for color in Color)
    events = step.events if step else ()
    return PlyJson(
        ply=step.ply if step else 0,
        side=step.color.word if step else None,
        action=step.action if step else None,
        events=tuple(encode_for_bot(told(event, view)).decode("ascii").rstrip("\n") for event in events),
        board=" ".join(position.cells()),
        lost_by_red=red,
        lost_by_blue=blue,
        taken_us=taken and taken.taken_us,
        forgiven_us=taken and taken.forgiven_us,
        cpu_us=taken and taken.cpu_us,
    )
