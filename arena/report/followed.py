"""A game under way as a reader sees it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from arena.errors import ArenaError
from arena.game.game_spec import GameSpec
from arena.game.person_seat import ClockState
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
