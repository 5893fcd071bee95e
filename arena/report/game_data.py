"""The data of a game for its page, whole or in parts, also under way: what a reader may see at each ply.

A seat sees what it was told. The public sees what both seats were told: no ranks that only one side knows, no set-ups,
seeds or words of bots. As a script of a page on a disk, which can load nothing else, it is JSON, deflated, in base 64.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from arena.errors import ArenaError
from arena.game import Game, Names, State, Variant
from arena.game.game_spec import GameSpec
from arena.game.person_seat import ClockState
from arena.game.record import GameRecord, History, RecordError
from arena.game.recorded import Replay, ReplayStep, started
from arena.game.time_control import MICROSECONDS, GameClock
from arena.game.transcript import ActionTime, Remark, Speaker, SpokenLine, transcript
from arena.play.game_events import ActionPlayed
from arena.report.game_text import GameFacts
from arena.report.shown import SeenBy, shown_class
from arena.system.printable import counted, isolated
from protocol.seats import Color

SEED = "seed "
DataT = TypeVar("DataT", bound=msgspec.Struct)

Banks = tuple[int | None, int | None]
"""The milliseconds left to Red and Blue; None if they are hidden or unlimited."""


class GameData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game for the viewer; lists have an entry for each ply.

    `views` has what each viewer saw (`arena.report.shown.Shown.see`), and `marks` by ply which parts of the position
    the action changed, and how (`Shown.marks`). `sides` has the movers; `taken` tenths of a millisecond,
    None if hidden. `banks` are the times left. `notes` are ply, side and text. `labels` are the names of players and
    pieces and the verdict.
    `dialogue` has ply, side, speaker (`>` to the bot, `<` from it, `#` a remark) and text.
    """

    labels: dict[str, Any]
    views: dict[str, Any]
    sides: list[str]
    actions: list[str]
    marks: dict[int, Mapping[str, str]]
    taken: list[int | None]
    banks: list[Banks] | None
    notes: list[tuple[int, str, str]]
    dialogue: list[tuple[int, str, str, str]]


class SeenPlies:
    """The plies of a game as a reader sees them, added one by one."""

    def __init__(
        self,
        spec: GameSpec,
        state: State,
        audience: SeenBy,
        names: Names,
        interrupted: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Begin with the state before the first action. `interrupted` is as in a record."""
        shown = shown_class(spec.kind)
        self.state, self._audience, self._interrupted = state, audience, interrupted
        self._viewers = [shown(spec.kind, state, view, names) for view in audience.views]
        for viewer in self._viewers:
            viewer.see(None)
        self.clock = GameClock(spec.times)
        has_banks = audience is not SeenBy.PUBLIC and any(time.bank_ms is not None for time in spec.times)
        self._data = GameData({}, {}, [], [], {}, [], [] if has_banks else None, [], [])

    def __len__(self) -> int:
        return len(self._data.actions)

    def add(self, step: ReplayStep) -> None:
        """Add a ply that the state has just played."""
        data = self._data
        data.sides.append(step.color.word)
        data.actions.append(self._viewers[0].action(step))
        if marked := self._viewers[0].marks():
            data.marks[step.ply] = marked
        for viewer in self._viewers:
            viewer.see(step)
        sees = self._audience.sees
        data.taken.append(round(step.microseconds / 100) if sees(step.color) else None)
        if interrupted := sum(used for at, used in self._interrupted if at == step.ply):
            self.clock.spend(step.color, interrupted / MICROSECONDS)
        self.clock.charge(step.color, step.microseconds / MICROSECONDS)
        if data.banks is not None:
            red, blue = (self.clock.bank_ms(side) if sees(side) else None for side in Color)
            data.banks.append((red, blue))

    def picture(self) -> Mapping[str, Any]:
        return self._viewers[0].picture()

    def data(self, since: int = 0, **others: Any) -> GameData:
        """Return the plies after the first `since`; only all of them have the position before the first ply too."""
        views = {viewer.view.value: _later(viewer.data, since, len(self)) for viewer in self._viewers}
        return replace(_later(self._data, since, len(self)), views=views, **others)


def _later(data: DataT, since: int, plies: int) -> DataT:
    """Return the part of a game's or a view's data after the first `since` of its plies.

    Its fields are lists with an entry for each ply, perhaps after one for the beginning, maps by ply, and texts for the
    beginning.
    """
    part = asdict(data)
    for name, value in part.items():
        if isinstance(value, list):
            part[name] = value[len(value) - plies + since if since else 0 :]
        elif isinstance(value, dict):
            part[name] = {ply: entry for ply, entry in value.items() if ply > since or not since}
        elif isinstance(value, str) and since:
            part[name] = ""
    return replace(data, **part)


def game_data(
    record: GameRecord,
    audience: SeenBy,
    names: Names,
    *,
    labels: dict[str, Any],
    has_dialogue: bool = True,
    has_seeds: bool = True,
) -> GameData:
    lines = _dialogue(record, audience, has_seeds=has_seeds) if has_dialogue else []
    seen = [color.word for color in Color if audience.sees(color)]
    notes = [(note.ply, note.color, note.text) for note in record.notes if note.color in seen]
    if None in record.setups:
        return GameData(labels, {}, [], [], {}, [], None, notes, lines)
    replay = Replay(record)
    plies = SeenPlies(replay.spec, replay.state, audience, names, record.interrupted)
    for step in replay.steps():
        plies.add(step)
    return plies.data(labels=labels, notes=notes, dialogue=lines)


def labels_of(facts: GameFacts, variant: Variant, names: Names) -> dict[str, Any]:
    verdict = f"after {counted(facts.plies, 'ply', 'plies')}: {facts.detail} ({facts.result}, {facts.reason})"
    return {**game_labels(variant, (facts.red.name, facts.blue.name), names), "verdict": verdict}


def game_labels(variant: Variant, players: tuple[str, str], names: Names) -> dict[str, Any]:
    """Return the names of the players, Red's and Blue's, and of pieces."""
    red, blue = map(isolated, players)
    return {"red": red, "blue": blue, **shown_class(variant.kind).labels(variant, names)}


def views_of(game: Game, players: tuple[str, str], audience: SeenBy) -> list[tuple[str, str]]:
    """Return the views of a reader with their names; `players` are Red's and Blue's names."""
    seats = [f"what {seat} ({isolated(name)}) knew" for seat, name in zip(game.seat_names, players, strict=True)]
    whole = shown_class(game).everything
    names = {SeenBy.ALL: whole, SeenBy.RED: seats[0], SeenBy.BLUE: seats[1], SeenBy.PUBLIC: "what both sides knew"}
    return [(view.value, names[view]) for view in audience.views]


def game_script(number: int, data: GameData) -> str:
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(data), 9)).decode("ascii")
    return f'arenaGame({number}, "{packed}");\n'


def _dialogue(record: GameRecord, audience: SeenBy, *, has_seeds: bool) -> list[tuple[int, str, str, str]]:
    if audience is SeenBy.PUBLIC:
        return []
    found: list[tuple[int, str, str, str]] = []
    try:
        for entry in transcript(record):
            color = entry.color
            if color is not None and not audience.sees(color):
                continue
            side = "" if color is None else color.word
            match entry:
                case SpokenLine(_, _, Speaker.ARENA, text) if text.startswith(SEED) and not has_seeds:
                    pass
                case SpokenLine(ply, _, speaker, text):
                    found.append((ply, side, ">" if speaker is Speaker.ARENA else "<", text))
                case Remark(ply, _, text):
                    found.append((ply, side, "#", text))
                case ActionTime():
                    found.append((entry.ply, side, "#", entry.text))
    except RecordError as error:
        found.append((0, "", "#", str(error)))
    return found


class FollowedGame:
    """A game under way as a reader sees it, for pages: its data ply by ply.

    It `is_broken` when an event was lost, or when it does not follow its own rules.
    """

    def __init__(
        self,
        spec: GameSpec,
        setups: tuple[str, str],
        audience: SeenBy,
        history: History | None = None,
    ) -> None:
        """`history` is the earlier part of a resumed game."""
        self.spec, self.audience = spec, audience
        self._setups, self._interrupted = setups, history.interrupted if history else ()
        self._waiting = [*zip(history.actions, history.times_us, strict=True)] if history else []
        self._plies: SeenPlies | None = None
        self.ply = len(self._waiting)
        self.is_broken = False

    def play(self, event: ActionPlayed) -> None:
        """Note an action; the position after it is made when somebody asks."""
        self.is_broken = self.is_broken or event.ply != self.ply + 1
        self.ply = event.ply
        if not self.is_broken:
            self._waiting.append((event.action, event.taken_us))

    def part(self, since: int = 0) -> GameData:
        """Return the plies after the first `since`, and with all of them the names. Raises `ArenaError` if broken."""
        return self._caught_up().data(since, labels={} if since else self.labels, notes=[], dialogue=[])

    @cached_property
    def labels(self) -> dict[str, Any]:
        """The names of players and pieces."""
        red, blue = self.spec.players
        return game_labels(self.spec.variant, (red.name, blue.name), {})

    def picture(self) -> Mapping[str, Any]:
        """Return the last position for a small drawing (`Shown.picture`). Raises `ArenaError` if broken."""
        return self._caught_up().picture()

    def clocks(self, since_ms: int = 0) -> list[ClockState]:
        """Return each side's clock, so many milliseconds after the last ply.

        Both seats learn them with their turns, so everybody may see them. Raises `ArenaError` if broken.
        """
        plies, found = self._caught_up(), list[ClockState]()
        to_move = None if plies.state.outcome else plies.state.to_move
        for color, time in zip(Color, self.spec.times, strict=True):
            runs = color is to_move
            left = max(0, plies.clock.budget_ms(color) - (since_ms if runs else 0))
            found.append(ClockState(None if time.is_unlimited else left, runs=runs))
        return found

    def _caught_up(self) -> SeenPlies:
        if self.is_broken:
            raise ArenaError(f"game {self.spec.id} cannot be followed: events were lost")
        try:
            if self._plies is None:
                state = started(self.spec, self._setups)
                self._plies = SeenPlies(self.spec, state, self.audience, {}, self._interrupted)
            plies = self._plies
            for action, taken in self._waiting:
                color = plies.state.to_move
                told = self.spec.kind.play_text(plies.state, action)
                plies.add(ReplayStep(len(plies) + 1, color, action, told, taken))
        except ArenaError:
            self.is_broken = True
            raise
        self._waiting = []
        return plies
