"""A game of Stratego as a reader sees it: boards, fights, lost pieces."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from arena.game import Game, Names, State, Variant
from arena.game.recorded import ReplayStep
from arena.report.shown import SeenBy, Shown
from arena.stratego.game import ruleset_of
from arena.stratego.rules.action_types import Event
from arena.stratego.seat_view import told_to, true_cell
from arena.stratego.shown.boards import NO_MARKS, board_text, marks_of, told_words
from arena.stratego.shown.piece_names import STRONGEST_FIRST, Numbering, names_of
from arena.stratego.state import as_stratego, line_of
from arena.system.terminal_text import Paint
from protocol.messages import Battle, Moved
from protocol.notation import SQUARES, Color, Rank, Survivor

if TYPE_CHECKING:
    from arena.stratego.search.knowledge import Knowledge


class Fight(msgspec.Struct, frozen=True):
    """The cells of both pieces in a fight on a square, and of those that were lost."""

    square: str
    attacker: str
    defender: str
    lost: list[str]


class ViewData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game as one viewer saw it.

    `start` has the 100 cells of the first board, two characters each; `changes` for each ply the new cells by square,
    with a `+` if the reader knows that the other side knows the rank. By ply, `words` describes the action, `fights`
    has the cells of a fight, `lost`, if it has changed, the letters of the pieces that Red and Blue have lost, and
    `could` the letters of the possible ranks of the enemy's unknown pieces, by square, where they have changed.
    """

    start: str
    changes: list[dict[str, str]]
    words: dict[int, str]
    lost: dict[int, tuple[str, str]]
    fights: dict[int, "Fight"]
    could: dict[int, dict[str, str]]

    @property
    def last(self) -> list[str]:
        """The 100 cells after the last ply, for a page without scripts."""
        cells = {square: self.start[2 * at : 2 * at + 2] for at, square in enumerate(SQUARES)}
        for change in self.changes:
            cells |= change
        return list(cells.values())


class ShownBoard(Shown):
    all_shown = "all ranks shown"
    everything = "all pieces"
    setup_note = "As records have them, seen by their owner: the front row is on top; M is the marshal, S the spy."

    def __init__(self, game: Game, state: State, view: SeenBy, names: Names) -> None:
        super().__init__(game, state, view, names)
        self._state, self._names = as_stratego(state), names_of(names)
        self._lost = ("", "")
        self._knowledge: Knowledge | None = None
        self._could: dict[int, frozenset[Rank]] = {}

    @classmethod
    def remark(cls, names: Names) -> str:
        is_american = names_of(names).numbering is Numbering.AMERICAN
        return "ranks on the boards as in America: 1 is the marshal, 9 the scout" if is_american else ""

    @classmethod
    def labels(cls, variant: Variant, names: Names) -> Mapping[str, Any]:
        """Return what stands on a piece and what it is called, by letter, and the letters from the strongest."""
        from arena.stratego.shown.rules_text import army_entries  # the sentences of all rules, which only pages need

        army = army_entries(ruleset_of(variant), names_of(names))
        return {
            "pieces": {entry.letter: [entry.number, entry.name] for entry in army},
            "strength": "".join(rank.letter for rank in STRONGEST_FIRST),
        }

    @classmethod
    def setup_text(cls, setup: str) -> str:
        return "\n".join(" ".join(row) for row in reversed(setup.split("/")))

    def cell(self, square: int) -> str:
        """Return a cell of the board as the reader knows it."""
        if self.view is SeenBy.ALL:
            return true_cell(square, self._state.board.board[square])
        if self.view.seat is not None:
            return self._state.view(self.view.seat).cell(square)
        by_red, by_blue = (self._state.view(color).cell(square) for color in Color)
        return by_blue if by_blue[0] == Color.RED.word[0] else by_red

    def _cell_and_eye(self, square: int) -> str:
        """Return a cell, with a `+` if the rank is the reader's own to know and the other side knows it."""
        cell = self.cell(square)
        side = {"r": Color.RED, "b": Color.BLUE}.get(cell[0])
        if side is None or not self.view.sees(side):
            return cell
        return f"{cell}+" if self._state.view(side.opponent).cell(square)[1] not in "?!" else cell

    def cells(self) -> tuple[str, ...]:
        return tuple(map(self.cell, range(len(SQUARES))))

    def picture(self) -> Mapping[str, Any]:
        return {"cells": self.cells()}

    def lost(self, color: Color) -> list[Rank]:
        if self.view is SeenBy.ALL:
            return self._state.view(color).captured[color]
        viewer = color.opponent if self.view.seat is None else self.view.seat
        return self._state.view(viewer).captured[color]

    def lost_letters(self) -> tuple[str, str]:
        red, blue = ("".join(rank.letter for rank in self.lost(color)) for color in Color)
        return red, blue

    def told(self, step: ReplayStep | None) -> list[str]:
        return [*map(line_of, self._told())] if step else []

    def _told(self) -> Sequence[Event]:
        """Return the events of the last action as the reader was told them."""
        events, tables = self._state.events, self._state.board.tables
        return events if self.view is SeenBy.ALL else told_to(events, tables, self.view.seat)

    def words(self, step: ReplayStep | None) -> str:
        return told_words(self._told(), self._names) if step else ""

    def position(self, step: ReplayStep | None, paint: Paint) -> str:
        marks = marks_of(self._state.events) if step else NO_MARKS
        board = board_text(tuple(map(self._names.cell, self.cells())), marks, paint)
        lost = [f"{color.word} {self._counted(ranks)}" for color in Color if (ranks := self.lost(color))]
        above = "" if step else "set-ups\n"
        return f"{above}{board}\nlost: {' - '.join(lost)}\n" if lost else f"{above}{board}\n"

    def _counted(self, ranks: list[Rank]) -> str:
        counts = Counter(ranks)
        shown = ((self._names.cell(f"r{rank.letter}")[1:], counts[rank]) for rank in STRONGEST_FIRST if counts[rank])
        return " ".join(text if count == 1 else f"{text}x{count}" for text, count in shown)

    def values(self, step: ReplayStep | None) -> dict[str, object]:
        """Return the visible events, the 100 cells, and the letters of lost pieces."""
        red, blue = self.lost_letters()
        return {"events": self.told(step), "board": " ".join(self.cells()), "lost_by_red": red, "lost_by_blue": blue}

    def see(self, step: ReplayStep | None) -> None:
        events = self._state.events
        if step is None:
            self.data = ViewData("".join(self.cells()), [], {}, {}, {}, {})
            self._see_possible(0)
            return
        self._see_possible(step.ply)
        marked = marks_of(events)  # only these squares have changed
        self.data.changes.append({SQUARES[square]: self._cell_and_eye(square) for square in marked})
        if len(events) == 1 and type(events[0]) is Moved:
            return
        if words := self.words(step):
            self.data.words[step.ply] = words
        for event in self._told():
            if isinstance(event, Battle):
                self.data.fights[step.ply] = fight_of(event, step.color)
        if (lost := self.lost_letters()) != self._lost:
            self._lost = self.data.lost[step.ply] = lost

    def _see_possible(self, ply: int) -> None:
        """Add the possible ranks of the enemy's unknown pieces, where they have changed."""
        if self.view.seat is None:
            return
        if self._knowledge is None:
            from arena.stratego.search.knowledge import Knowledge  # only pages need it

            self._knowledge = Knowledge(self._state.view(self.view.seat))
        self._knowledge.view.ply = ply + 1  # all of this ply has been told
        self._knowledge.update()
        could = self._knowledge.possible()
        changed = {
            SQUARES[square]: "".join(rank.letter for rank in sorted(ranks))
            for square, ranks in could.items()
            if self._could.get(square) != ranks
        }
        self._could = could
        if changed:
            self.data.could[ply] = changed

    def marks(self) -> Mapping[str, str]:
        return {SQUARES[square]: mark.value for square, mark in marks_of(self._state.events).items()}


def fight_of(battle: Battle, side: Color) -> Fight:
    attacker = f"{side.word[0]}{battle.attacker.letter}"
    defender = f"{side.opponent.word[0]}{battle.defender.letter if battle.defender is not None else '?'}"
    lost = {Survivor.ATTACKER: [defender], Survivor.DEFENDER: [attacker]}.get(battle.survivor, [attacker, defender])
    return Fight(battle.square, attacker, defender, lost)
