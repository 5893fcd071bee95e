"""Whatever is made of a store has the numbers of its league: its table, `standings`, pages, exports, lists of games.

Leagues of made-up stores are played without processes, in all formats, one after the other in one store, with bots that
are disqualified or broken, stopped and gone on with, and with games of other stores that are imported.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import invoke
from ended_leagues import BOTS, Made, Run, made_in
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from arena.api.leagues import League
from arena.errors import UsageError
from arena.league.league_options import FormatName, FormatOptions
from arena.league.store import Store
from arena.report.placings import PlacingEntry
from arena.report.site.site_contents import SitePlan, read_site
from arena.report.standings import Line, Table
from arena.system.terminal_text import to_json
from arena.web.store_pages import StoreReader


class Numbers(NamedTuple):
    """What a table says of a bot."""

    name: str
    points: float
    games: int
    forfeits: int
    elo: float | None


def numbers_of(lines: Iterable[Line]) -> list[Numbers]:
    return sorted(Numbers(line.name, line.points, line.games, line.forfeits, line.elo) for line in lines)


def added_up(games: Iterable[tuple[str, str, str]]) -> dict[str, tuple[float, int]]:
    """The points and the games of each bot by red, blue and result, as whoever adds them up would."""
    found: dict[str, tuple[float, int]] = {}
    for red, blue, result in games:
        for name, word in ((red, "red"), (blue, "blue")):
            points, played = found.get(name, (0.0, 0))
            found[name] = (points + (1 if result == word else 0.5 if result == "draw" else 0), played + 1)
    return found


def check_all(path: Path, table: Table, placing: PlacingEntry | None) -> None:
    """Everything that is made of the store says what the table says."""
    expected = numbers_of(table.lines)
    document = json.loads(command("standings", str(path), "--json"))
    said = [{key: line[key] for key in Numbers._fields} for line in document["standings"]]
    assert sorted(Numbers(**line) for line in said) == expected
    assert len(document["games"]) == table.games
    assert (document["complete"], document["planned_games"]) == (table.is_complete, table.planned)
    standings = League(path).standings()
    assert numbers_of(standings) == expected
    assert standings.placing == placing
    assert document["placing"] == json.loads(to_json(placing))

    with Store(path, create=False) as store:
        report = read_site(store, SitePlan())
    served = StoreReader(path, SitePlan(), lambda site, version: site, lambda line: None)
    served.read_first()
    assert served.state.contents is not None
    for contents in (report, served.state.contents):
        assert numbers_of(contents.table.lines) == expected
        assert len(contents.numbers) == table.games
        assert contents.not_counted == document["not_counted"]
        assert contents.placing == placing

    added = {line.name: (line.points, line.games) for line in table.lines if line.games}
    exported = map(json.loads, command("export", str(path), "--counted").splitlines())
    assert added_up((g["red"]["name"], g["blue"]["name"], g["verdict"]["result"]) for g in exported) == added
    everybody = {line.name for line in table.lines}
    listed = map(json.loads, command("games", str(path), "--jsonl").splitlines())
    of_league = [g for g in listed if g["counted"] and {g["red"], g["blue"]} <= everybody]
    assert added_up((g["red"], g["blue"], g["result"]) for g in of_league) == added


FORMATS = [
    FormatOptions(),
    FormatOptions(rounds=1),
    FormatOptions(FormatName.SINGLE, rounds=1),
    FormatOptions(FormatName.GAUNTLET, rounds=1, challengers=2),
    FormatOptions(FormatName.SWISS, rounds=2),
    FormatOptions(FormatName.SWISS, rounds=3, seeds=("bot3",)),
    FormatOptions(FormatName.KNOCKOUT, best_of=1),
    FormatOptions(FormatName.KNOCKOUT, best_of=2, extra_pairs=1, seeds=("bot3", "bot1")),
    FormatOptions(FormatName.LADDER, games=10),
    FormatOptions(FormatName.LADDER, games=14, confidence=0.6),
]
asked = st.builds(replace, st.sampled_from(FORMATS), disqualify=st.sampled_from([None, 1, 2]))
runs = st.builds(Run, asked, st.integers(3, BOTS), st.sampled_from([None, None, 1, 4, 9]))


def command(*arguments: str) -> str:
    """Run a command in this process; return its results."""
    done = invoke(Path(), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], AbstractContextManager[Made]]:
    """A new folder, in which the results of games follow from a seed."""

    @contextmanager
    def make(seed: int) -> Iterator[Made]:
        with made_in(tmp_path_factory.mktemp("made"), seed) as made:
            yield made

    return make


@pytest.fixture
def made(make: Callable[[int], AbstractContextManager[Made]]) -> Iterator[Made]:
    with make(7) as made:
        yield made


@given(seed=st.integers(0, 999), played=st.lists(runs, min_size=1, max_size=3), merged=st.none() | runs)
@example(  # games of an earlier league, which a stopped one has not come to
    seed=0,
    played=[
        Run(FormatOptions(), most=1),
        Run(FormatOptions(FormatName.GAUNTLET, rounds=1, challengers=2)),
        Run(FormatOptions(disqualify=1), bots=3, most=1),
    ],
    merged=None,
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_that_is_made_of_a_store_has_the_numbers_of_its_last_league(
    make: Callable[[int], AbstractContextManager[Made]],
    seed: int,
    played: list[Run],
    merged: Run | None,
) -> None:
    with make(seed) as made:
        for number, run in enumerate(played, 1):
            if merged and number == len(played) and made.path.exists():
                made.merge(merged)
            try:
                table = made.play(run)
            except UsageError:  # a format that was asked for otherwise before is not changed without a word
                run = run._replace(is_new=True)  # noqa: PLW2901
                table = made.play(run)
            if run.most is None:
                assert table.is_complete
                assert numbers_of(made.play(run).lines) == numbers_of(table.lines), "nothing is left to play"
            if table.games:
                check_all(made.path, table, made.placing)


def test_games_that_do_not_count_are_said_in_a_line_are_marked_and_count_with_all(made: Made) -> None:
    made.play(Run(FormatOptions(rounds=2)))
    table = made.play(Run(FormatOptions(rounds=1)))
    with Store(made.path, create=False) as store:
        left_out = len(store.rows()) - table.games
    assert left_out == 20
    words = "20 games outside this league are excluded"
    assert json.loads(command("standings", str(made.path), "--json"))["not_counted"] == 20
    with Store(made.path, create=False) as store:
        assert words in read_site(store, SitePlan()).notes
    listed = command("games", str(made.path)).splitlines()
    assert sum(line.endswith(", not counted") for line in listed) == 20
    everything = json.loads(command("standings", str(made.path), "--all", "--json"))
    assert (everything["not_counted"], len(everything["games"])) == (0, 40)
    assert len(command("export", str(made.path)).splitlines()) == 40
    made.play(Run(FormatOptions(rounds=2)))
    assert json.loads(command("standings", str(made.path), "--json"))["not_counted"] == 0
