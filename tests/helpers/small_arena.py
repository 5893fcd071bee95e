"""A small arena without bots, clocks or processes, and transcripts of a conversation as text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.stratego.rules.action_types import Event
from arena.stratego.rules.board import BLUE_BIT, RANKS
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Defence, Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from protocol.codec import legal_lines
from protocol.messages import (
    ArenaMessage,
    Battle,
    BoardLine,
    Clock,
    End,
    Enemy,
    GameLine,
    Rule,
    Seed,
    SetupRequest,
    Turn,
    Want,
)
from protocol.notation import SQUARES, Color, Rank, SeatResult, Survivor
from protocol.view import View

CLOCK = Clock(5000, 1000)


class SmallArena:
    """One game under the real rules, and what the protocol has the arena say of it to each seat.

    There are no bots, clocks or processes in here: a test carries the messages to whatever it tests.
    """

    def __init__(self, ruleset: str | Ruleset) -> None:
        self.ruleset = load_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
        self._rows: dict[Color, tuple[str, ...]] = {}
        self._game: EngineGame | None = None

    @property
    def game(self) -> EngineGame:
        assert self._game is not None, "both sides must set up first"
        return self._game

    def opening(self, color: Color, seed: int, clock: Clock = CLOCK) -> list[ArenaMessage]:
        """From `game` to the request for a set-up."""
        lines = [Rule(name, value) for name, value in self.ruleset.lines()]
        return [GameLine(color, self.ruleset.name), *lines, clock, Seed(seed), SetupRequest()]

    def set_up(self, color: Color, rows: Sequence[str]) -> None:
        self._rows[color] = tuple(rows)
        if len(self._rows) == len(Color):
            self._game = EngineGame(self.ruleset, self._rows[Color.RED], self._rows[Color.BLUE])

    def truth(self) -> dict[str, tuple[Color, Rank]]:
        """Every piece that is really on the board."""
        board = enumerate(self.game.board)
        return {SQUARES[square]: (Color(code > BLUE_BIT), RANKS[code]) for square, code in board if code}

    def enemy(self, color: Color) -> list[ArenaMessage]:
        """The enemy's squares, for a seat that cannot know them by itself; to be sent before the first move."""
        if self.ruleset.fills_rows:
            return []
        return [Enemy(tuple(square for square, (owner, _) in self.truth().items() if owner is not color))]

    def turn(self, wants: Sequence[Want] = (), view: View | None = None) -> list[ArenaMessage]:
        """The lines that make it the turn of the side to move, with the extra ones that its seat wants."""
        extra: list[ArenaMessage] = []
        if Want.BOARD in wants:
            assert view is not None, "a board is what a seat's view shows"
            extra.append(BoardLine(view.cells()))
        if Want.LEGAL in wants:
            extra += legal_lines(tuple(sorted(action.text for action in self.game.legal_moves())))
        return [*extra, Turn(self.game.ply + 1, 1000, 1000)]

    def play(self, action: str) -> dict[Color, list[ArenaMessage]]:
        mover = self.game.to_move
        events = self.game.apply(action)
        return {color: [self._told(event, color is mover) for event in events] for color in Color}

    def _told(self, event: Event, is_mover: bool) -> ArenaMessage:
        if not isinstance(event, Battle):
            return event
        stays = event.survivor is Survivor.DEFENDER and event.attacker is not Rank.SCOUT
        hidden = self.ruleset.defence is Defence.SILENT and stays and is_mover
        return event._replace(defender=None) if hidden else event

    def end(self, color: Color) -> End:
        """How the finished game ended for one seat."""
        outcome = self.game.outcome
        assert outcome is not None, "the game goes on"
        if outcome.winner is None:
            return End(SeatResult.DRAW, outcome.reason)
        return End(SeatResult.WIN if outcome.winner is color else SeatResult.LOSS, outcome.reason)


class Line(NamedTuple):
    """One line of a transcript, with the newline that it had on the wire."""

    from_arena: bool
    data: bytes


class Transcript:
    """A conversation written down: `arena| ` or `bot  | ` before each line; lines that start with `;` are remarks."""

    def __init__(self, text: str) -> None:
        self.lines = list(self._read(text))

    @staticmethod
    def _read(text: str) -> Iterator[Line]:
        for line in text.splitlines():
            if line.startswith(";"):
                continue
            who, bar, said = line.partition("| ")
            assert bar, f"not a line of a transcript: {line!r}"
            assert who in {"arena", "bot  "}, f"nobody is called {who!r}"
            yield Line(who == "arena", said.encode("ascii") + b"\n")

    @property
    def arena(self) -> list[bytes]:
        return [line.data for line in self.lines if line.from_arena]

    @property
    def bot(self) -> list[bytes]:
        return [line.data for line in self.lines if not line.from_arena]
