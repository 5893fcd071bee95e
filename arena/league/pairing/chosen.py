"""Make formats from options."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arena.errors import UsageError, suggest
from arena.game.game_spec import Player
from arena.league.game_ids import Games
from arena.league.league_options import (
    GAMES_A_BOT,
    MOST_GAMES,
    USUAL_CONFIDENCE,
    USUAL_EXTRA_PAIRS,
    FormatName,
    FormatOptions,
    check_format,
)
from arena.league.pairing.pairing import Pairing
from arena.league.pairing.round_robin import Gauntlet, RoundRobin, SingleRoundRobin, WithoutDisqualified
from arena.league.store import GameRow
from arena.system.printable import counted


@dataclass(frozen=True)
class ChosenFormat:
    """A `Format` with its options. `known` are earlier results, for a ladder.

    `idle` are the digests of bots that cannot be started. In a Swiss, `away` are the rounds in which a bot is not
    paired, by its digest.
    """

    options: FormatOptions
    known: Sequence[GameRow] = ()
    idle: Collection[str] = ()
    away: Mapping[str, Collection[int]] = field(default_factory=dict)

    @property
    def word(self) -> str:
        return "" if self.options.name is FormatName.ROUND_ROBIN else self.options.name.value

    @property
    def settings(self) -> tuple[str, ...]:
        asked = self.options
        said = (
            (asked.rounds, counted(asked.rounds or 0, "round")),
            (asked.challengers, f"the first {asked.challengers} against all others"),
            (asked.best_of, f"best of {counted(asked.best_of or 0, 'pair')} of games"),
            (asked.extra_pairs is not None, f"at most {asked.extra_pairs} more where a match is level"),
            (asked.confidence, f"until each is stronger than the next by {asked.confidence or 0:.2%}"),
            (asked.games, f"at most {asked.games} games"),
            (asked.seeds, f"seeded {', '.join(asked.seeds)}"),
            (asked.disqualify, f"out after {counted(asked.disqualify or 0, 'fault')}"),
        )
        return tuple(words for is_said, words in said if is_said)

    @property
    def goes_on(self) -> bool:
        """Whether earlier results of these players matter to it, even those of other leagues."""
        return self.options.name is FormatName.LADDER

    def __call__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None) -> Pairing:
        """Return the pairing; the options' rounds and games override the arguments. Raises `UsageError`."""
        players, options = self.settled(players, rounds, most)
        limit, rounds = options.disqualify, options.rounds or rounds
        match options.name:
            case FormatName.SWISS:  # a format is loaded where it is played
                from arena.league.pairing.swiss import Swiss

                return Swiss(games, players, rounds, limit, self.away)
            case FormatName.KNOCKOUT:
                from arena.league.pairing.knockout import Knockout

                pairs = options.best_of or 1, options.extra_pairs or 0
                return Knockout(games, players, *pairs, disqualify=limit, idle=self.idle)
            case FormatName.LADDER:
                from arena.league.pairing.ladder import Ladder

                return Ladder(
                    games,
                    players,
                    confidence=options.confidence,
                    most=options.games or 0,
                    known=self.known,
                    disqualify=limit,
                    idle=self.idle,
                )
            case FormatName.GAUNTLET:
                pairing: Pairing = Gauntlet(games, players, options.challengers or 0, rounds, self.idle)
            case FormatName.SINGLE:
                pairing = SingleRoundRobin(games, self._paired(players), rounds)
            case FormatName.ROUND_ROBIN:
                pairing = RoundRobin(games, self._paired(players), rounds, most)
        return WithoutDisqualified(pairing, limit) if limit else pairing

    def _paired(self, players: Sequence[Player]) -> list[Player]:
        return [player for player in players if player.digest not in self.idle]

    def settled(
        self, players: Sequence[Player], rounds: int, most: int | None = None
    ) -> tuple[Sequence[Player], FormatOptions]:
        """Return the players in the order of their seeds, and all options, with the defaults. Raises `UsageError`."""
        asked = self.options
        seeded = _seeded(players, asked.seeds)
        match asked.name:
            case FormatName.SWISS:
                from arena.league.pairing.swiss import usual_rounds

                return seeded, replace(asked, rounds=asked.rounds or usual_rounds(len(self._paired(seeded))))
            case FormatName.KNOCKOUT:
                extra = USUAL_EXTRA_PAIRS if asked.extra_pairs is None else asked.extra_pairs
                return seeded, replace(asked, best_of=asked.best_of or 1, extra_pairs=extra)
            case FormatName.LADDER:
                is_open = asked.confidence is None and asked.games is None
                games = asked.games or most or min(GAMES_A_BOT * len(seeded), MOST_GAMES)
                confidence = USUAL_CONFIDENCE if is_open else asked.confidence
                return seeded, replace(asked, confidence=confidence, games=games)
        return seeded, replace(asked, rounds=asked.rounds or rounds)


def format_of(options: FormatOptions) -> ChosenFormat:
    check_format(options)
    return ChosenFormat(options)


def _seeded(players: Sequence[Player], seeds: Sequence[str]) -> Sequence[Player]:
    named: list[Player] = []
    for name in seeds:
        found = [player for player in players if player.name == name]
        if not found:
            raise UsageError(f"--seeds: there is no bot {name!r} here: {suggest(name, [p.name for p in players])}")
        if found[0] in named:
            raise UsageError(f"--seeds: expected each bot once, got {name} twice")
        named += found
    return [*named, *(player for player in players if player not in named)]
