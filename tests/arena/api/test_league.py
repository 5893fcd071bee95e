"""`arena.League`: bots are added, games are played, tables are printed."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.game.faults import GameResult

Bots = Callable[..., str]
QUITS = "echo move resign"


@pytest.fixture
def league(bots: Bots, tmp_path: Path, played_here: None) -> arena.League:
    """A league of two bots in a folder `r` and one beside it, under quick rules."""
    (tmp_path / "r").mkdir()
    for name in (bots("steps"), bots("quits", QUITS)):
        (tmp_path / name).rename(tmp_path / "r" / name)
    bots("mine", QUITS)
    return arena.League("l.sqlite", rules="duel", time="60s")


def test_a_league_in_four_lines_has_standings_that_are_a_value(
    league: arena.League, capsys: pytest.CaptureFixture[str]
) -> None:
    with league:
        league.add("r/*", "mine")
        table = league.run(rounds=1, on_result=print)
        print(league.standings())
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("game ") for line in lines) == 6
    assert lines[6].split()[:4] == ["#", "bot", "points", "%"]
    assert lines[7].split()[:3] == ["1", "steps", "4/4"]
    assert "How the games ended" in lines
    assert not any("\x1b" in line or line != line.rstrip() for line in lines)
    assert table == league.standings()
    assert next(iter(table)).name == "steps"
    assert (len(table), table.games, table.is_complete, table.difference) == (3, 6, True, None)
    row = table["steps"]
    assert (row.points, row.games, row.score, row.forfeits) == (4.0, 4, 1.0, 0)
    with pytest.raises(arena.UsageError, match="did you mean steps"):
        table["stesp"]


def test_bots_may_be_added_with_a_time_of_their_own(league: arena.League, tmp_path: Path) -> None:
    """A note is passed over among the bots; what takes part already has the time that was said last."""
    (tmp_path / "r" / "a.txt").write_text("a note")
    league.add("r/*", time="50s")
    league.add("mine", time="30s")
    league.add("r/steps", "mine")
    league.add("r/quits", time="40s")
    table = league.run(rounds=1)
    assert table.own_times == {"steps": "50000ms", "quits": "40000ms", "mine": "30000ms"}
    own = {"steps": 50_000, "quits": 40_000, "mine": 30_000}
    for game in league.games():
        record = league.record(game.number)
        assert [time.move_ms for time in record.times] == [own[player.name] for player in record.players]
    assert "handicap: steps 50000ms, " in str(league.standings())


def test_a_league_that_is_run_again_plays_what_is_missing(league: arena.League, bots: Bots) -> None:
    league.add("r/*")
    first: list[arena.Result] = []
    league.run(rounds=1, on_result=first.append)
    more: list[arena.Result] = []
    league.run(rounds=2, on_result=more.append)
    assert (len(first), len(more)) == (2, 2)
    league.add("mine")
    league.run(rounds=1, on_result=more.append)
    assert len(more) == 6
    assert [game.number for game in league.games()] == list(range(1, 9))
    assert len(league.standings()) == 3
    for game in league.games()[:2]:
        record = league.record(game.number)
        assert record == league.record(game.id)
        assert [player.name for player in record.players] == [game.red, game.blue]
        assert game.winner == "steps"
        assert game.result is (GameResult.RED if game.red == "steps" else GameResult.BLUE)
        assert str(game).startswith(f"game {game.number}: {game.red} - {game.blue}  ")
    with pytest.raises(arena.UsageError, match="expected a number from 1 to 8"):
        league.record(9)


def test_a_broken_bot_plays_no_game_or_is_refused(
    league: arena.League, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine").chmod(0o644)
    league.add("r/*", "mine")
    with pytest.raises(arena.UsageError, match="chmod"):
        league.run(rounds=1, strict=True)
    assert not (tmp_path / "l.sqlite").exists()
    table = league.run(rounds=1)
    assert table["mine"].games == 0
    assert any(record.getMessage().startswith("broken: ") for record in caplog.records)


def test_errors_of_a_run_are_clear(league: arena.League) -> None:
    with pytest.raises(arena.UsageError, match="expected at least two bots, got none"):
        league.run()
    league.add("r/*")
    with pytest.raises(arena.UsageError, match="rounds: expected a whole number from 1, got 0"):
        league.run(rounds=0)
    league.run(rounds=1)
    with pytest.raises(arena.UsageError, match=r"sandbox: .*did you mean bwrap"):
        arena.League("l.sqlite", sandbox="bwarp")
    other = arena.League("l.sqlite", rules="duel", time="1s")
    other.add("r/*")
    with pytest.raises(arena.UsageError, match=r"time: .* \(in the store\), .* \(asked for\)"):
        other.run(rounds=1)


def test_a_league_may_have_another_format_which_places_the_bots(league: arena.League) -> None:
    league.add("r/*", "mine")
    table = league.run(rounds=1, format="swiss", seeds=["steps", "quits"])
    assert table.placing is not None
    assert [place.place for place in table.placing.places] == [1, 2, 3]
    points = {place.name: (place.points, place.byes) for place in table.placing.places}
    assert points == {"steps": (2.0, 0), "mine": (2.0, 1), "quits": (0.0, 0)}
    assert table.games == 2
    assert str(table).index("Swiss, after 1 round: points with byes") > str(table).index("How the games ended")
    assert league.standings().placing == table.placing


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "swis"}, "format: unknown format 'swis'; did you mean swiss?"),
        ({"formt": "swiss"}, "formt: unknown option; did you mean format?"),
        ({"format": "knockout", "best_of": "3"}, "best_of: expected a whole number, got '3'"),
        ({"strict": "x"}, "strict: expected True or False, got 'x'"),
        ({"new_league": "x"}, "new_league: expected True or False, got 'x'"),
        ({"format": "swiss", "seeds": "steps"}, "seeds: expected a list of names of bots, got 'steps'"),
    ],
)
def test_a_format_is_refused_that_makes_no_sense(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(arena.UsageError, match=f"^{re.escape(words)}"):
        arena.League(tmp_path / "l.sqlite").run(**options)


def test_a_file_that_is_no_store_is_refused_when_a_league_is_made_and_none_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("print('a bot')\n")
    for path in (tmp_path / "mine.py", tmp_path):
        with pytest.raises(arena.UsageError, match="expected a store"):
            arena.League(path)
    assert (tmp_path / "mine.py").read_text() == "print('a bot')\n"
    typo = arena.League(tmp_path / "typo.sqlite")
    for read in (typo.games, typo.standings, lambda: typo.record(1)):
        with pytest.raises(arena.UsageError, match=r"typo\.sqlite: there is no such store"):
            read()
    (tmp_path / "new.sqlite").touch()
    assert arena.League(tmp_path / "new.sqlite").games() == []
