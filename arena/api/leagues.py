"""A league as an object: `arena.League`."""

import glob
import os
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from arena.api.keywords import (
    AnyPath,
    FormatKeywords,
    LeagueKeywords,
    Rules,
    check_time_word,
    check_type,
    chosen_format,
    path_of,
    plain_errors,
    play_options,
)
from arena.api.matches import OnResult, play_league
from arena.api.shown_results import Result, Standings, result_of, standings_of, stored_record
from arena.api.threads import OnEvent, log
from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.league.league import OpenLeague
from arena.league.league_options import USUAL_ROUNDS, Kind
from arena.league.option_values import check_values
from arena.league.plan import LeagueEntry
from arena.league.store import Contents, Damage, GameRow, Store, damage_text, is_empty_file
from arena.report.game_list import Roster, players_of
from arena.report.placings import placing_entry, stored_table
from arena.report.standings import make_table


class League:
    """A league with its games in a store, an SQLite file that is created with the first game.

    Use it in a `with` statement or without one: the store is open only while games are played or read. Options are
    those of `arena league`, and stored games are not played again. Raises `UsageError` for an invalid option and for a
    file that is no store; `run` checks the bots, and whether the games of the store were played under these options.
    Reading raises `UsageError` if there is no such file.
    """

    def __init__(
        self,
        store: AnyPath,
        *,
        rules: Rules = "",
        time: str = "100ms",
        **options: Unpack[LeagueKeywords],
    ) -> None:
        self.path: Path = path_of(store, "store")
        self._options = play_options(LeagueKeywords, options, League, rules=rules, time=time, store=self.path)
        with plain_errors():
            check_values(self._options)
        if os.path.lexists(self.path) and not is_empty_file(self.path):
            with plain_errors(), Store(self.path, create=False):
                pass  # it is one
        self._paths: list[str] = []
        self._times: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def add(self, *paths: AnyPath, time: str | None = None) -> None:
        """Add bots: paths as on the command line, with `*`, `?` and `[...]` as in a shell, and `~`.

        Bots that take part already are ignored. With a `time` (`1s/move`, `60+0.6`) these bots have that in place of
        the league's, even if they took part already. Raises `UsageError` for a pattern that no file matches, and for an
        invalid time.
        """
        if time is not None:
            check_time_word(time)
        for path in paths:
            text = os.path.expanduser(path_of(path, "bot"))
            known = {os.path.realpath(one) for one in self._paths}
            found = [text]
            if glob.has_magic(text) and not os.path.lexists(text):
                found = sorted(glob.glob(text))
                if not found:
                    raise UsageError(f"{text}: expected bots, found no such file")
            self._paths += [one for one in found if os.path.realpath(one) not in known]
            if time is not None:
                self._times |= dict.fromkeys(map(os.path.realpath, found), time)

    def run(
        self,
        rounds: int | None = None,
        *,
        on_result: OnResult | None = None,
        on_event: OnEvent | None = None,
        strict: bool = False,
        follow_links: bool = False,
        new_league: bool = False,
        archive: bool | None = None,
        **format_options: Unpack[FormatKeywords],
    ) -> Standings:
        """Play all games of the format, and return the standings.

        The default is a round robin: every pair meets twice in each of the `rounds` (1). Another `format`, and its
        options, are as for `arena league --format`: see docs/formats.md. `on_result` is called with each game as soon
        as it is stored, `on_event` with events of the games, both in the calling thread; an exception in them stops the
        league. Bots that cannot be started play no game; if it is `strict` they are refused. So are paths that are
        symbolic links, unless `follow_links`. A Swiss, a knockout or a ladder continues with new versions of bots; a
        `new_league` starts again. Raises `UsageError` for wrong arguments, and other `ArenaError`; games stored before
        an error stay.
        """
        if rounds is not None and (type(rounds) is not int or rounds < 1):
            raise UsageError(f"rounds: expected a whole number from 1, got {rounds!r}")
        for name, value in {"strict": strict, "follow_links": follow_links, "new_league": new_league}.items():
            check_type(name, value, bool)
        with plain_errors():
            format_ = chosen_format(rounds, format_options, League.run)
        times = [self._times.get(os.path.realpath(path)) for path in self._paths]
        entry = LeagueEntry(
            tuple(self._paths),
            Kind.LEAGUE,
            rounds or USUAL_ROUNDS,
            strict=strict,
            follow_links=follow_links,
            format=format_,
            times=times,
            is_new=new_league,
            archive=archive,
        )
        return play_league(entry, self._options, _standings, on_result=on_result, on_event=on_event)

    def standings(self, *, everyone: bool = False) -> Standings:
        """Return the table of the bots that took part the last time, or of all that have ever played in the store.

        It counts the games of their league and those added later, or with `everyone` all games. `placing` is that of
        the last league, as `run` has returned it.
        """
        if is_empty_file(self.path):
            return standings_of(make_table([], [], meets_all=None), {})
        with plain_errors(), Store(self.path, create=False) as store:
            contents, _, table, placing = stored_table(store, everyone=everyone)
        self._warn(contents.damage)
        return standings_of(table, contents.settings, placing)

    def games(self) -> list[Result]:
        """Return all stored games, oldest first."""
        contents = self._read()
        names = Roster(players_of(contents.rows, contents.entrants), contents.rows).names
        return [result_of(row, names) for row in contents.rows]

    def record(self, game: int | str) -> GameRecord:
        """Return the record of a game, by its number or the start of its id. Raises `UsageError` if there is none."""
        return stored_record(self.path, game)

    def _read(self) -> Contents[list[GameRow]]:
        if is_empty_file(self.path):
            return Contents([], {})
        with plain_errors(), Store(self.path, create=False) as store:
            contents = store.read()
        self._warn(contents.damage)
        return contents

    def _warn(self, damage: tuple[Damage, ...]) -> None:
        if damage:
            log.warning("%s is damaged; what is named here does not count:\n%s", self.path, damage_text(damage))


def _standings(league: OpenLeague) -> Standings:
    table = make_table(league.players, league.rows(), league.planned, meets_all=league.meets_all)
    placing = league.placing()
    return standings_of(table, league.store.settings(), placing_entry(placing, table.names) if placing else None)
