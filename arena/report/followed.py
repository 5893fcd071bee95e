"""A game under way as a reader sees it."""

from arena.errors import ArenaError
from arena.game import Names
from arena.game.game_spec import GameSpec
from arena.game.record import History
from arena.game.replay import ReplayStep, started
from arena.play.game_events import ActionPlayed
from arena.report.game_data import GameData, SeenPlies, game_labels
from arena.report.shown import SeenBy
from protocol.seats import Color


class FollowedGame:
    """A game under way as a reader sees it, for pages: its data ply by ply.

    It `is_broken` when an event was lost, or when it does not follow its own rules.
    """

    def __init__(
        self,
        spec: GameSpec,
        setups: tuple[str, str],
        audience: SeenBy,
        names: Names | None = None,
        history: History | None = None,
    ) -> None:
        """`history` is the earlier part of a resumed game."""
        self.spec, self.audience = spec, audience
        self._setups, self._names, self._history = setups, names or {}, history
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
        players = self.spec.players
        labels = {} if since else game_labels(self.spec.variant, (players[0].name, players[1].name), self._names)
        return self._caught_up().data(since, labels=labels, notes=[], dialogue=[])

    def left_ms(self, color: Color) -> int | None:
        """Return what a side may take for its next move; None if it is unlimited. Raises `ArenaError` if broken."""
        control = self.spec.times[color]
        return None if control.is_unlimited else self._caught_up().clock.budget_ms(color)

    @property
    def to_move(self) -> Color | None:
        """The side to move; None at the end. Raises `ArenaError` if broken."""
        state = self._caught_up().state
        return None if state.outcome else state.to_move

    def _caught_up(self) -> SeenPlies:
        if self.is_broken:
            raise ArenaError(f"game {self.spec.id} cannot be followed: events were lost")
        try:
            plies = self._plies = self._plies or self._begun()
            for action, taken in self._waiting:
                color = plies.state.to_move
                told = self.spec.kind.play_text(plies.state, action)
                plies.add(ReplayStep(len(plies) + 1, color, action, told, taken))
        except ArenaError:
            self.is_broken = True
            raise
        self._waiting = []
        return plies

    def _begun(self) -> SeenPlies:
        state = started(self.spec, self._setups)
        interrupted = self._history.interrupted if self._history else ()
        return SeenPlies(self.spec, state, self.audience, self._names, interrupted)
