"""Leagues without processes, in a store: their games end at once, as it follows from their ids."""

import random
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
import unplayed
from executors import executor_here

from arena.game.faults import Fault, GameResult, Verdict, forfeit, verdict_of
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord
from arena.league.exchange import import_games
from arena.league.executor.task import Executor, GameTask
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import FormatOptions, Kind, PlayOptions
from arena.league.pairing.chosen import format_of
from arena.league.plan import LeagueEntry
from arena.league.stop import StopRequest, Wish
from arena.league.store import GameRow, Store
from arena.processes.runnable import PlaySettings
from arena.report.game_list import Roster
from arena.report.placings import PlacingEntry, placing_entry
from arena.report.standings import Table, make_table
from protocol.notation import Color, Reason

ROWS = "FBBS2339M./........../........../2........."
"""A set-up for both, whose last piece can go ahead."""
BOTS = 5


class Ended(NamedTuple):
    """What a game came to, for its record."""

    actions: tuple[str, ...]
    verdict: Verdict


def ended(game: GameSpec, seed: int) -> Ended:
    """How a game ends follows from its id: who is to move resigns, or one bot or both fail before it begins."""
    chance = random.Random(f"{seed} {game.id}")
    if chance.random() < 0.05:
        return Ended((), forfeit(game.players, [(color, Fault(Reason.NO_START, "it ended")) for color in Color], 0))
    for color in Color:
        if game.players[color].name == "bot1" and chance.random() < 0.6:
            return Ended((), forfeit(game.players, [(color, Fault(Reason.CRASH, "it ended"))], 0))
    loser = chance.choice(list(Color))
    actions = (*(["a4-a5"] if loser is Color.BLUE else []), "resign")
    return Ended(actions, verdict_of(game.players, GameResult.win(loser.opponent), Reason.RESIGN, len(actions)))


def record_of(game: GameSpec, seed: int) -> GameRecord:
    actions, verdict = ended(game, seed)
    return msgspec.structs.replace(
        unplayed.record_of(game),
        setups=(game.opening or (ROWS, ROWS)) if actions else (None, None),
        opening=game.opening or msgspec.UNSET,
        actions=actions,
        times_us=tuple(1000 for _ in actions),
        verdict=verdict,
        started=1.0e9,
        seconds=1.0,
        cpu_us=tuple(0 for _ in actions),
        forgiven_us=tuple(0 for _ in actions),
    )


class Stopping(unplayed.Quiet):
    """Asks to stop after so many games."""

    def __init__(self, stop: StopRequest, games: int | None) -> None:
        super().__init__()
        self._stop, self._left = stop, games

    def finished(self, row: GameRow, record: GameRecord) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                self._stop.ask(Wish.STOP_NOW)


class Run(NamedTuple):
    """A league that is played in the store, of the first so many bots; `most`: it is stopped after so many games."""

    options: FormatOptions
    bots: int = BOTS
    most: int | None = None
    is_new: bool = False


class Made:
    """A store of leagues whose games end at once; the first bot crashes often."""

    def __init__(self, folder: Path, seed: int, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.path = folder, folder / "l.sqlite"
        self.placing: PlacingEntry | None = None
        """That of the last league, as it was printed at its end."""
        for number in range(1, BOTS + 1):
            self.put(number)

        async def play(task: GameTask) -> GameRecord:
            return record_of(task.spec, seed)

        @asynccontextmanager
        async def executor(league: OpenLeague, settings: PlaySettings, jobs: int) -> AsyncGenerator[Executor, None]:
            async with executor_here(play, jobs) as executor:
                yield executor

        patch.setattr(OpenLeague, "_executor", executor)

    def put(self, number: int, version: str = "", *, is_broken: bool = False) -> None:
        """Put a version of a bot in its place, which may be one that cannot be started."""
        bot = self.folder / f"bot{number}"
        bot.write_text(f"#!/bin/sh\n# {number} {version}\n")
        bot.chmod(0o644 if is_broken else 0o755)

    @contextmanager
    def opened(self, run: Run, store: str, **options: Any) -> Iterator[OpenLeague]:
        paths = [str(self.folder / f"bot{number}") for number in range(1, run.bots + 1)]
        entry = LeagueEntry(paths, Kind.LEAGUE, 2, strict=False, format=format_of(run.options), is_new=run.is_new)
        asked = replace(PlayOptions(rules="duel", time="10s", store=self.folder / store, jobs=2), **options)
        self.said: list[str] = []
        with open_league(entry, asked, self.said.append) as league:
            yield league

    def killed(self, run: Run, games: int) -> None:
        self.play(run, "whole.sqlite")
        with Store(self.folder / "whole.sqlite", create=False) as whole:
            records = [whole.record(str(number))[1] for number in whole.numbers()]
        self.path.unlink(missing_ok=True)
        with self.opened(run, self.path.name) as league:
            league.store.add_all(records[:games])

    def play(self, run: Run, store: str = "l.sqlite", **options: Any) -> Table:
        stop = StopRequest()
        with self.opened(run, store, **options) as league:
            outcome = league.play(stop, Stopping(stop, run.most))
            assert outcome.error is None
            assert outcome.is_complete or run.most is not None
            players, rows, placing = league.players, league.rows(), league.placing()
            self.placing = placing_entry(placing, Roster(players, rows).names) if placing else None
            return make_table(players, rows, league.planned, meets_all=league.meets_all)

    def merge(self, run: Run) -> None:
        """Add the games of another store, in which a league of such bots was played."""
        if self.play(run, "other.sqlite").games:
            import_games(self.path, [self.folder / "other.sqlite"], lambda *_: None)


@contextmanager
def made_in(folder: Path, seed: int) -> Iterator[Made]:
    """Such a store, as long as games are to end so."""
    with pytest.MonkeyPatch.context() as patch:
        yield Made(folder, seed, patch)
