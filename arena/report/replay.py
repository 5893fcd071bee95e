"""A recorded game as text: its heading, each ply with what came of it, boards, and how it ended."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from arena.errors import UsageError
from arena.game.record import GameRecord, NoteLine
from arena.game.replay import Replay, Step
from arena.game.spec import Player
from arena.game.view import tell, true_cells
from arena.report.names import DEFAULT_NAMES, Names, Numbering
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
        f"{record.ruleset}, {_clocks(record)}; {shown}",
        _seeds(record, view),
        record.verdict.detail,
    ]
    if names.numbering is Numbering.AMERICAN:
        lines.append("ranks on the boards as in America: 1 is the marshal, 9 the scout")
    return "\n".join(lines) + "\n"


def _clocks(record: GameRecord) -> str:
    """How long the sides might take; each by itself in a game with a handicap."""
    red, blue = record.times
    return red.text if red == blue else f"handicap: red {red.text}, blue {blue.text}"


def _seeds(record: GameRecord, view: str) -> str:
    """The seeds that the bots were given; a side knows only its own, from which the other's does not follow."""
    given = [f"{color.word} {record.seeds[color]}" for color in Color if view in ("all", color.word)]
    of_pair = f" (of the pair: {record.pair_seed})" if view == "all" else ""
    return f"seed{'s' if len(given) > 1 else ''}: {', '.join(given)}{of_pair}"


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
            yield _step(step, _time_text(record, step), notes[step.ply], view, names)
            if boards:
                yield board()


def _time_text(record: GameRecord, step: Step) -> str:
    """What an action took, in milliseconds: on the clock, besides that and not charged, and of processor time."""
    index = step.ply - 1
    parts = [f"{step.microseconds / 1000:.1f} ms"]
    if record.forgiven_us and (not_charged := f"{record.forgiven_us[index] / 1000:.1f}") != "0.0":
        parts.append(f"{not_charged} not charged")
    if record.cpu_us:
        parts.append(f"CPU {record.cpu_us[index] / 1000:.1f}")
    before = [f"interrupted after {used / 1000:.1f} ms" for ply, used in record.interrupted if ply == step.ply]
    return f"[{', '.join((*parts, *before))}]"


def _step(step: Step, taken: str, notes: list[NoteLine], view: str, names: Names) -> str:
    said = [f"note of {note.color}: {note.text}\n" for note in notes if view in ("all", note.color)]
    texts = (_words(_told(event, view), names) for event in step.events)
    words = "".join(f"; {text}" for text in texts if text)
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
    for color in Color:
        used, name = record.used and record.used[color], record.players[color].name
        if used:
            megabytes = f"{used.memory / 1e6:.0f} MB"
            lines.append(
                f"{color.word} ({name}) used {used.cpu_us / 1e6:.2f} s of CPU, {megabytes}; {record.confinement[color]}"
            )
        if record.kept and record.kept[color]:
            lines.append(f"{color.word} ({name}) had played the other game of the pair before in the same process")
        if record.pondered_us is not None:
            lines.append(
                f"{color.word} ({name}) used {record.pondered_us[color] / 1000:.1f} ms of CPU in its opponent's turns"
            )
    for color in Color:
        stderr = record.stderr[color].rstrip()
        if stderr.strip() and view in ("all", color.word):
            lines += [f"stderr of {color.word} ({record.players[color].name}):"]
            lines += [f"    {line}" for line in stderr.splitlines()]
    return "\n".join(lines) + "\n"
