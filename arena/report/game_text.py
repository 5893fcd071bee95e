"""A recorded game as text and as JSON: its facts, chosen plies, boards, and its end.

A side sees no more than it knew: its own seed, set-up and standard error, and no words on a fault of the other. Names
that bots declare may encode a set-up, so only readers of the bot's other words see them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from arena.errors import UsageError
from arena.game import Names
from arena.game.exported import verdict_words
from arena.game.game_spec import is_person
from arena.game.record import GameRecord, NoteLine
from arena.game.recorded import Replay, ReplayStep
from arena.game.transcript import ActionTime
from arena.report.game_list import DIGEST_DIGITS, ShownNames, date_text, score_text, shown_name
from arena.report.shown import SeenBy, Shown, shown_class, shown_game
from arena.system.printable import counted, printable, shown
from arena.system.terminal_text import Paint, plain, to_json
from protocol.seats import Color

A_PERSON = "a person"


class SideFacts(msgspec.Struct, frozen=True):
    """One side of a game. Unknown and hidden values are empty or None."""

    name: str
    digest: str
    declared: str
    author: str
    time: str
    seed: int | None
    sandbox: str
    stderr: str | None
    setup: str | None


class GameFacts(msgspec.Struct, frozen=True):
    """A game without its moves. With `has_opening` both sides were given their set-ups."""

    number: int
    id: str
    started: str
    arena: str
    ruleset: str
    pair_seed: int | None
    has_opening: bool
    time_percent: int | None
    red: SideFacts
    blue: SideFacts
    result: str
    reason: str
    plies: int
    detail: str
    seconds: float


def facts_of(number: int, record: GameRecord, view: SeenBy, names: ShownNames) -> GameFacts:
    red, blue = (_side(record, color, view, names) for color in Color)
    verdict = record.verdict
    return GameFacts(
        number=number,
        id=record.id,
        started=date_text(record.started),
        arena=record.arena,
        ruleset=record.ruleset,
        pair_seed=record.pair_seed if view is SeenBy.ALL else None,
        has_opening=bool(record.opening),
        time_percent=record.time_percent or None,
        red=red,
        blue=blue,
        result=verdict.result.value,
        reason=verdict.reason.value,
        plies=verdict.plies,
        detail=_detail_for(record, view),
        seconds=round(record.seconds, 3),
    )


def _side(record: GameRecord, color: Color, view: SeenBy, names: ShownNames) -> SideFacts:
    player = record.players[color]
    is_seen = view.sees(color)
    return SideFacts(
        name=shown_name(player, names),
        digest=player.digest,
        declared=record.declared[color] if is_seen else "",
        author=record.authors[color] if is_seen and record.authors else "",
        time=record.nominal_times[color].text,
        seed=record.seeds[color] if is_seen else None,
        sandbox=A_PERSON if is_person(player) else record.confinement[color],
        stderr=record.stderr[color] if is_seen else None,
        setup=record.setups[color] if is_seen else None,
    )


def _detail_for(record: GameRecord, view: SeenBy) -> str:
    """Return how the game ended without what this view may not know: words on a fault can name a rank."""
    return record.verdict.detail if view is SeenBy.ALL else verdict_words(record, view.seat)


_PART = re.compile(r"(\d{1,9})(?:(-)(\d{1,9})?)?|-(\d{1,9})", re.ASCII)
LAST = 10**9


@dataclass(frozen=True)
class Plies:
    """Ranges of plies, both ends included; 0 is the position after the set-ups, an empty tuple the whole game."""

    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def are_all(self) -> bool:
        return not self.ranges

    def has(self, ply: int) -> bool:
        return self.are_all or any(first <= ply <= last for first, last in self.ranges)

    def are_over(self, ply: int) -> bool:
        return not self.are_all and ply >= max(last for _, last in self.ranges)

    def check(self, game: int, plies: int) -> None:
        for first, last in self.ranges:
            wrong = next((ply for ply in (first, last) if ply > plies and ply != LAST), None)
            if wrong is not None:
                ended = (
                    f"; the game ended after ply {plies}, and a lost turn has no action" if wrong == plies + 1 else ""
                )
                raise UsageError(f"--ply: expected a ply of game {game}, from 0 to {plies}, got {wrong}{ended}")


ALL_PLIES = Plies()


def parse_plies(text: str) -> Plies:
    ranges = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--ply: expected plies such as 12, 30-60, 90- or 0,5,30-60; got {shown(text)}")
        first = int(match[1] or 0)
        last = int(match[4] or match[3] or (LAST if match[2] else first))
        if first > last:
            raise UsageError(f"--ply: expected a range with its smaller end first, got {shown(part)}")
        ranges.append((first, last))
    return Plies(tuple(ranges))


SHOWN_CHARACTERS = 500
"""Longest note or line of standard error as text; `--json` has all."""
LONGEST_WORD = 60


@dataclass(frozen=True)
class GameStyle:
    """The options of `arena show`. Without `times` its text is the same for the same game."""

    view: SeenBy = SeenBy.ALL
    plies: Plies = ALL_PLIES
    boards: bool = True
    times: bool = True
    names: Names = field(default_factory=dict)
    players: ShownNames = field(default_factory=dict)
    paint: Paint = plain


def _time_of(record: GameRecord, step: ReplayStep, view: SeenBy) -> ActionTime | None:
    """Return the time of a step's action; None for the other side, as times can depend on what is hidden."""
    if not view.sees(step.color):
        return None
    taken, forgiven, cpu = (
        times[step.ply - 1] if step.ply <= len(times) else None
        for times in (record.times_us, record.forgiven_us, record.cpu_us)
    )
    return ActionTime(step.ply, step.color, taken or 0, forgiven, cpu)


def _shows(view: SeenBy, note: NoteLine) -> bool:
    """Whether a note is of this view. A record that was not checked may name any colour."""
    return view is SeenBy.ALL or note.color == view.value


def game_text(number: int, record: GameRecord, look: GameStyle) -> Iterator[str]:
    """Yield a game as text, a ply at a time: its players, its plies and its end."""
    look.plies.check(number, len(record.actions))
    record.variant.kind.check_names(look.names)
    yield _heading(number, record, look)
    if None not in record.setups:
        yield from _plies(record, look)
    if look.plies.are_all:
        yield _ending(record, look)


def _heading(number: int, record: GameRecord, look: GameStyle) -> str:
    facts, variant = facts_of(number, record, look.view, look.players), record.variant
    red, blue = facts.red, facts.blue
    made = shown_class(variant.kind)
    shown = made.all_shown if look.view is SeenBy.ALL else f"as {look.view.value} knows it"
    time = red.time if red.time == blue.time else f"handicap: red {red.time}, blue {blue.time}"
    scaled = f" at {record.time_percent}%" if record.time_percent else ""
    names = f"red {red.name} - blue {blue.name}  {score_text(record.verdict.result)}"
    lines = [
        look.paint(f"game {number} ({record.id}): {names}", "bold"),
        f"{variant.title and variant.title + ', '}{record.ruleset}, {time}{scaled}; {shown}",
    ]
    for color, side in zip(Color, (red, blue), strict=True):
        said = f", calls itself {printable(side.declared, SHOWN_CHARACTERS)}" if side.declared else ""
        said += f", by {printable(side.author, SHOWN_CHARACTERS)}" if side.author else ""
        lines.append(f"{color.word + ':':<6}{side.name}, digest {side.digest[:DIGEST_DIGITS]}{said}")
    seeds = [f"{color.word} {record.seeds[color]}" for color in Color if look.view.sees(color)]
    of_pair = f" (of the pair: {record.pair_seed})" if look.view is SeenBy.ALL else ""
    lines.append(f"seed{'s' if len(seeds) > 1 else ''}: {', '.join(seeds)}{of_pair}")
    if facts.has_opening:
        lines.append("set-ups: both were given, as an opening")
    if red.sandbox != blue.sandbox:
        lines += [f"sandbox of {word}: {one.sandbox or 'not known'}" for word, one in (("red", red), ("blue", blue))]
    elif red.sandbox:
        lines.append(f"sandbox: {red.sandbox}")
    if look.times:
        lines.append(f"played {facts.started or 'at no known date'} by arena {printable(facts.arena, LONGEST_WORD)}")
    return "\n".join([*lines, *filter(None, (facts.detail, made.remark(look.names)))]) + "\n"


def _plies(record: GameRecord, look: GameStyle) -> Iterator[str]:
    replay = Replay(record)
    seen = shown_game(replay, look.view, look.names)
    notes = defaultdict(list)
    for note in record.notes:
        notes[note.ply].append(note)
    if look.plies.has(0) and (look.boards or not look.plies.are_all):
        yield "\n" + seen.position(None, look.paint)
    for step in replay.steps():
        if look.plies.has(step.ply):
            yield _step(record, step, seen, notes[step.ply], look)
            if look.boards:
                yield seen.position(step, look.paint)
        if look.plies.are_over(step.ply):
            return


def _step(record: GameRecord, step: ReplayStep, seen: Shown, notes: list[NoteLine], look: GameStyle) -> str:
    said = "".join(f"{_note(note)}\n" for note in notes if _shows(look.view, note))
    words = f"; {text}" if (text := seen.words(step)) else ""
    taken = _time_of(record, step, look.view) if look.times else None
    cuts = (f", interrupted after {used / 1000:.1f} ms" for at, used in record.interrupted if at == step.ply)
    time = look.paint(f"  [{taken.text}{''.join(cuts)}]", "dim") if taken else ""
    return f"\n{said}{look.paint(f'ply {step.ply}: {step.color.word} {seen.action(step)}', 'bold')}{words}{time}\n"


def _note(note: NoteLine) -> str:
    return f"note of {printable(note.color, LONGEST_WORD)}: {printable(note.text, SHOWN_CHARACTERS)}"


def _ending(record: GameRecord, look: GameStyle) -> str:
    last, verdict = len(record.actions) + 1, record.verdict
    lines = [_note(note) for note in record.notes if note.ply == last and _shows(look.view, note)]
    plies = counted(verdict.plies, "ply", "plies")
    if None not in record.setups:  # else these words stand just above
        lines += ["", f"after {plies}: {_detail_for(record, look.view)}"]
    lines.append(f"verdict: {verdict.result.value}, {verdict.reason.value}, after {plies}")
    for color in Color:
        is_told = look.times and look.view.sees(color)
        lines += _used(record, color) if is_told else _kept(record, color)
    for color in Color:
        stderr = record.stderr[color].rstrip()
        if stderr.strip() and look.view.sees(color):
            lines.append(f"stderr of {color.word} ({record.players[color].name}):")
            lines += [f"    {printable(line, SHOWN_CHARACTERS, lines=True)}" for line in stderr.splitlines()]
    return "\n".join(lines) + "\n"


def _kept(record: GameRecord, color: Color) -> list[str]:
    name = record.players[color].name
    had = record.kept and record.kept[color]
    return [f"{color.word} ({name}) had played the other game of the pair before in the same process"] if had else []


def _used(record: GameRecord, color: Color) -> list[str]:
    lines = []
    used, name, level = record.used and record.used[color], record.players[color].name, record.confinement[color]
    if used and level:  # else it was not started
        cpu, memory = f"{used.cpu_us / 1e6:.2f} s of CPU", f"{used.memory / 1e6:.0f} MB"
        lines.append(f"{color.word} ({name}) used {cpu}, {memory}; {level}")
    lines += _kept(record, color)
    if record.pondered_us is not None:
        milliseconds = record.pondered_us[color] / 1000
        lines.append(f"{color.word} ({name}) used {milliseconds:.1f} ms of CPU in its opponent's turns")
    return lines


def show_json(number: int, record: GameRecord, look: GameStyle) -> str:
    look.plies.check(number, len(record.actions))
    notes = [
        {"ply": note.ply, "side": note.color, "text": note.text}
        for note in record.notes
        if _shows(look.view, note) and look.plies.has(note.ply)
    ]
    plies = _ply_entries(record, look) if None not in record.setups else []
    facts = facts_of(number, record, look.view, look.players)
    return to_json({"game": facts, "view": look.view.value, "notes": notes, "plies": plies})


def _ply_entries(record: GameRecord, look: GameStyle) -> list[dict[str, object]]:
    replay = Replay(record)
    seen = shown_game(replay, look.view, look.names)
    found = [_ply(seen, None, None)] if look.plies.has(0) else []
    for step in replay.steps():
        if look.plies.has(step.ply):
            found.append(_ply(seen, step, _time_of(record, step, look.view)))
        if look.plies.are_over(step.ply):
            break
    return found


def _ply(seen: Shown, step: ReplayStep | None, taken: ActionTime | None) -> dict[str, object]:
    return {
        "ply": step.ply if step else 0,
        "side": step.color.word if step else None,
        "action": seen.action(step) if step else None,
        **seen.values(step),
        "taken_us": taken and taken.taken_us,
        "forgiven_us": taken and taken.forgiven_us,
        "cpu_us": taken and taken.cpu_us,
    }
