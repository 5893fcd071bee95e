"""A recorded game as text: its heading, each ply with what came of it, boards, and how it ended."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from arena.errors import UsageError
from arena.game.record import GameRecord, NoteLine
from arena.game.replay import Replay, Step
from arena.game.spec import Player
from arena.game.view import tell, true_cells
from arena.report.names import AMERICAN, DEFAULT_NAMES, Names
from arena.report.standings import NAMES_ALONE
from arena.report.terminal import board_text, score_text
from arena.rules.events import Event, Fought
from protocol import messages
from protocol.messages import ArenaMessage
from protocol.notation import COLOR_BY_WORD, Color, Survivor

_SURVIVORS = {
    Survivor.ATTACKER: "the attacker wins",
    Survivor.DEFENDER: "the defender wins",
    Survivor.NEITHER: "both leave",
}


def game_pages(
    number: int,
    record: GameRecord,
    view: str,
    only_ply: int | None,
    boards: bool,
    *,
    names: Names = DEFAULT_NAMES,
    players: Mapping[Player, str] = NAMES_ALONE,
) -> Iterator[str]:
    """The game in pieces of text. `view` is `all`, `red` or `blue`; `only_ply` asks for one position alone.

    `names` says what the pieces are called and numbered; actions stay as the bots sent them. `players` are the names of
    the players to show, if not their own. Raises
    `UsageError` if the game has no such ply.
    """
    yield _heading(number, record, view, names, players)
    if None not in record.setups:
        yield from _plies(record, view, only_ply, boards, names)
    if only_ply is None:
        yield _ending(record, view)


def _heading(number: int, record: GameRecord, view: str, names: Names, players: Mapping[Player, str]) -> str:
    red, blue = (players.get(player, player.name) for player in record.players)
    shown = "all ranks shown" if view == "all" else f"as {view} knows it"
    lines = [
        f"game {number} ({record.id}): red {red} - blue {blue}  {score_text(record.verdict.result)}",
        f"{record.ruleset}, {record.time.text}; {shown}",
        record.verdict.detail,
    ]
    if names.numbering == AMERICAN:
        lines.append("ranks on the boards as in America: 1 is the marshal, 9 the scout")
    return "\n".join(lines) + "\n"


def _plies(record: GameRecord, view: str, only_ply: int | None, boards: bool, names: Names) -> Iterator[str]:
    if only_ply is not None and only_ply > len(record.actions):
        raise UsageError(f"expected a ply from 0 to {len(record.actions)}, got {only_ply}")
    replay = Replay(record)
    notes = defaultdict(list)
    for note in record.notes:
        notes[note.ply].append(note)

    def board() -> str:
        cells = true_cells(replay.game) if view == "all" else replay.views[COLOR_BY_WORD[view]].cells()
        return board_text(tuple(map(names.cell, cells))) + "\n"

    if only_ply == 0 or (only_ply is None and boards):
        yield "\nset-ups\n" + board()
    for step in replay.steps():
        if only_ply is None or step.ply == only_ply:
            cpu_us = record.cpu_us[step.ply - 1] if record.cpu_us else None
            yield _step(step, cpu_us, notes[step.ply], view, names)
            if boards:
                yield board()


def _step(step: Step, cpu_us: int | None, notes: list[NoteLine], view: str, names: Names) -> str:
    said = [f"note of {note.color}: {note.text}\n" for note in notes if view in ("all", note.color)]
    texts = (_words(_told(event, view), names) for event in step.events)
    words = "".join(f"; {text}" for text in texts if text)
    cpu = "" if cpu_us is None else f", CPU {cpu_us / 1000:.1f}"
    taken = f"[{step.microseconds / 1000:.1f} ms{cpu}]"
    return f"\n{''.join(said)}ply {step.ply}: {step.color.word} {step.action}{words}  {taken}\n"


def _told(event: Event, view: str) -> ArenaMessage:
    """What the viewer is told of an event: what that seat was told, or for `all` everything."""
    told = tell(event)
    if view != "all":
        return told[COLOR_BY_WORD[view]]
    return told[event.color.opponent if isinstance(event, Fought) else Color.RED]  # a defender knows its own rank


def _words(message: ArenaMessage, names: Names) -> str:
    match message:
        case messages.Battle(square, attacker, defender, survivor):
            met = names.name(defender) if defender is not None else "an unknown piece"
            return f"{names.name(attacker)} attacks {met} on {square}, {_SURVIVORS[survivor]}"
        case messages.Reveal(square, rank):
            return f"shows itself as {names.one(rank)} on {square}"
        case messages.Rescued(_, square, rank):
            return f"{names.one(rank)} comes back on {square}"
        case messages.Guess(square, rank, True):
            return f"guesses {names.one(rank)} on {square}, which is right: it leaves the board"
        case messages.Guess(square, rank, _):
            return f"guesses {names.one(rank)} on {square}, which is wrong"
        case _:
            return ""


def _ending(record: GameRecord, view: str) -> str:
    last = len(record.actions) + 1
    lines = [
        f"note of {note.color}: {note.text}"
        for note in record.notes
        if note.ply == last and view in ("all", note.color)
    ]
    plies = "1 ply" if record.verdict.plies == 1 else f"{record.verdict.plies} plies"
    lines += ["", f"after {plies}: {record.verdict.detail}"]
    for color, player, held, used in zip(
        ("red", "blue"), record.players, record.confinement, record.used or (None, None), strict=True
    ):
        if used:
            lines += [
                f"{color} ({player.name}) used {used.cpu_us / 1e6:.2f} s of CPU, {used.memory / 1e6:.0f} MB; {held}"
            ]
    for color, player, stderr in zip(("red", "blue"), record.players, record.stderr, strict=True):
        if stderr.strip() and view in ("all", color):
            lines += [f"stderr of {color} ({player.name}):", *(f"    {line}" for line in stderr.rstrip().splitlines())]
    return "\n".join(lines) + "\n"
