"""Stratego for OpenSpiel: importing this module registers the game `arena_stratego`.

    pyspiel.load_game("arena_stratego(ruleset=barrage)")

The seats fill their set-ups first, Red before Blue on each square. Player 0 is Red; actions are those of the other
interfaces. `resample_from_infostate` draws from all set-ups that the opponent can have, each as likely as the others.
"""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from arena.errors import UsageError
from arena.learn.action_codes import NOWHERE, PATHS, action_text, code_count, seat_square
from arena.learn.kernel_tables import HOME_COUNT, SURVIVORS, check_supported
from arena.learn.observation import FACT_COUNT, PLANE_COUNT
from arena.learn.one_game import OneGame
from arena.learn.placement import CHOICES, army_choices, setup_numbers, setup_rows
from arena.search import Knowledge
from arena.stratego.rules.board import BLUE_BIT
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Captains
from arena.stratego.rules.rulesets import as_ruleset
from arena.stratego.rules.tables import tables_of
from arena.stratego.seat_view import begun_view, enemy_squares, show
from arena.stratego.shown.boards import board_text
from protocol.messages import Battle
from protocol.notation import BOARD_SIZE, SQUARES, Color, Rank, Survivor
from protocol.view import View

GAME_NAME = "arena_stratego"
PLY_NUMBERS = ("played", "origin", "target", "attacker", "defender", "survivor", "corner")
"""A row of the history in the information state: squares from the seat's side, ranks and survivor 0 if not told.

The last number is there where captains may turn: 0, or 1 more than the square of the turn.
"""
CORNER = PLY_NUMBERS.index("corner")


class _Ply(NamedTuple):
    color: Color
    code: int
    battle: Battle | None = None

    @property
    def text(self) -> str:
        return action_text(self.code, self.color)

    def path(self, seat: Color) -> list[int]:
        """Return origin, corner (NOWHERE for a straight move) and target as a seat counts squares."""
        turned = seat is not self.color
        return [
            seat_square(square, Color.BLUE) if turned and square != NOWHERE else square for square in PATHS[self.code]
        ]


class _Play:
    """The game of a state and its history; OpenSpiel copies it with the state."""

    def __init__(self, game: OneGame) -> None:
        self.game, self.ruleset = game, game.kernel.ruleset
        self.choices: tuple[list[int], list[int]] = ([], [])
        """By side: the choices of its set-up."""
        self.plies: list[_Ply] = []

    def __deepcopy__(self, memo: object) -> "_Play":
        copied = _Play(deepcopy(self.game))
        copied.choices = self.choices[0].copy(), self.choices[1].copy()
        copied.plies = self.plies.copy()
        return copied

    def act(self, code: int) -> None:
        color = self.game.acting[0]
        if self.game.placement:
            self.game.act(color, code)
            self.choices[color].append(code)
            return
        ply = _Ply(color, code)
        origin, _, target = ply.path(Color.RED)
        pieces = self.game.kernel.games["piece"][0]
        attacker, defender = int(pieces[origin]), int(pieces[target])
        self.game.act(color, code)
        if defender:
            left = int(pieces[target])
            survivor = Survivor.NEITHER if not left else SURVIVORS[left // BLUE_BIT != color]
            ranks = Rank(attacker % BLUE_BIT), Rank(defender % BLUE_BIT)
            ply = ply._replace(battle=Battle(SQUARES[target], *ranks, survivor))
        self.plies.append(ply)

    def told(self, seat: Color) -> list[tuple[_Ply, Battle | None]]:
        """Return the plies, each with its battle as a seat was told of it."""
        tables = tables_of(self.ruleset)
        found = []
        for ply in self.plies:
            hidden = ply.battle is not None and ply.color is seat and tables.hides_defender(ply.battle)
            found.append((ply, ply.battle._replace(defender=None) if ply.battle and hidden else ply.battle))
        return found

    def view(self, seat: Color) -> View:
        """Return the view that a bot on this seat would have."""
        rows = tuple(setup_rows(choices) for choices in self.choices)
        engine = EngineGame(self.ruleset, *rows)
        view = begun_view(self.ruleset, seat, rows[seat], enemy_squares(engine, seat))
        for ply in self.plies:
            show(view, engine.apply(ply.text), engine.tables)
        view.ply = len(self.plies) + 1
        return view

    def resampled(self, seat: Color, random: Random) -> list[int]:
        """Return the choices of a set-up that the opponent can have, of the squares that it has filled."""
        if self.game.placement:
            choices: list[int] = army_choices(self.ruleset).tolist()
            random.shuffle(choices)
            return choices[: len(self.choices[seat.opponent])]
        knowledge = Knowledge(self.view(seat))
        numbers: list[int] = setup_numbers(knowledge.rows_of(knowledge.armies.sample(random))).tolist()
        return numbers


class StrategoGame(pyspiel.Game):  # type: ignore[misc]
    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.ruleset = as_ruleset((params or {}).get("ruleset", "barrage"))
        check_supported(self.ruleset)
        if self.ruleset.max_plies is None:
            raise UsageError(f"{self.ruleset.name}: OpenSpiel needs games of limited length: expected max-plies")
        self.max_plies = self.ruleset.max_plies
        info = pyspiel.GameInfo(
            num_distinct_actions=code_count(self.ruleset),
            max_chance_outcomes=0,
            num_players=len(Color),
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=len(Color) * HOME_COUNT + self.max_plies,
        )
        super().__init__(_TYPE, info, params or {})

    def new_initial_state(self) -> "OpenSpielState":
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "StrategoObserver | None":
        """Return an observer of a whole seat, with or without its history; there is none of a part of it."""
        if params:
            raise ValueError(f"expected no parameters of an observation, got {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        if not kind.perfect_recall:
            return StrategoObserver(None)
        turns = self.ruleset.captains is Captains.TWO_STEPS
        return StrategoObserver((self.max_plies, len(PLY_NUMBERS if turns else PLY_NUMBERS[:-1])))


class OpenSpielState(pyspiel.State):  # type: ignore[misc]
    def __init__(self, game: StrategoGame) -> None:
        super().__init__(game)
        self.play = _Play(OneGame(game.ruleset))

    def current_player(self) -> int:
        acting = self.play.game.acting
        return int(acting[0]) if acting else int(pyspiel.PlayerId.TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        if player != self.current_player():
            return []
        codes: list[int] = np.flatnonzero(self.play.game.mask(Color(player))).tolist()
        return codes

    def _apply_action(self, action: int) -> None:
        self.play.act(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if self.play.game.placement:
            return f"place {Rank(action).letter if action else 'nothing'}" if action < CHOICES else f"code {action}"
        return action_text(action, Color(player))

    def is_terminal(self) -> bool:
        return self.play.game.is_over

    def returns(self) -> list[float]:
        return [self.play.game.reward(color) for color in Color]

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> "OpenSpielState":
        """Return a state with the same information for the player, and any set-up that the opponent can have."""
        if self.is_terminal():
            copied: OpenSpielState = self.clone()
            return copied
        seat, random = Color(player_id), Random(probability_sampler())
        others = iter(self.play.resampled(seat, random))
        state: OpenSpielState = self.get_game().new_initial_state()
        for item in self.full_history()[: len(self.play.choices[0]) + len(self.play.choices[1])]:
            state.apply_action(item.action if item.player == player_id else next(others))
        for ply in self.play.plies:
            state.apply_action(ply.code)
        return state

    def __str__(self) -> str:
        return f"{board_text(self.play.game.cells())}\nply {len(self.play.plies)}"


class StrategoObserver:
    """Writes tensors of what a seat observes (`planes`, `facts`) or of all that it was told (`setup`, `history`)."""

    def __init__(self, history: tuple[int, int] | None) -> None:
        """`history` is the shape of the history, None for what the seat observes now."""
        self._recalls = history is not None
        shapes: dict[str, tuple[int, ...]] = {"player": (len(Color),)}
        if history is None:
            shapes |= {"planes": (PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), "facts": (FACT_COUNT,)}
        else:
            shapes |= {"setup": (HOME_COUNT, CHOICES), "history": history}
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor: NDArray[np.float32] = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        play, seat = state.play, Color(player)
        if not self._recalls:
            self.dict["planes"][:], self.dict["facts"][:] = play.game.observe(seat)
            return
        choices = play.choices[seat]
        self.dict["setup"][np.arange(len(choices)), choices] = 1
        for row, (ply, battle) in enumerate(play.told(seat)):
            origin, corner, target = ply.path(seat)
            self.dict["history"][row, :3] = 1, origin, target
            if corner != NOWHERE:
                self.dict["history"][row, CORNER] = 1 + corner
            if battle:
                defender = battle.defender or 0
                self.dict["history"][row, 3:CORNER] = battle.attacker, defender, 1 + SURVIVORS.index(battle.survivor)

    def string_from(self, state: OpenSpielState, player: int) -> str:
        play, seat = state.play, Color(player)
        setup = "/".join(setup_rows(play.choices[seat])) or "-"
        if self._recalls:
            told = [_words(ply, battle) for ply, battle in play.told(seat)]
            return " ".join([f"{seat.word} {setup}", *told])
        if play.game.placement:
            return f"{seat.word} {setup} of {play.game.placement.square} squares"
        seen = play.game.observe(seat)
        marks = [",".join(map(str, np.flatnonzero(column))) for column in seen.planes.reshape(PLANE_COUNT, -1).T]
        return f"{seat.word} {' '.join(mark or '-' for mark in marks)} {seen.facts.tolist()}"


def _words(ply: _Ply, battle: Battle | None) -> str:
    if battle is None:
        return ply.text
    defender = battle.defender.letter if battle.defender else "?"
    return f"{ply.text}:{battle.attacker.letter}{defender}{battle.survivor.value}"


_TYPE = pyspiel.GameType(
    short_name=GAME_NAME,
    long_name="Stratego under the rules of the arena",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=len(Color),
    min_num_players=len(Color),
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"ruleset": "barrage"},
)
pyspiel.register_game(_TYPE, StrategoGame)
