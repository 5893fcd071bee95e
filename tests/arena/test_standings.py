"""The table of a league as people and programs get it: what is missing is said, and it fits the terminal."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from arena.api.shown_results import standings_of
from arena.errors import UsageError
from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.league.store import GameRow, PlayerTime
from arena.report.documents import league_json
from arena.report.game_list import Roster, players_of
from arena.report.standings import Advantage, Table, handicap_text, make_table
from arena.report.terminal import advantage_text, full_report, interval_text
from arena.system.terminal_text import drawn, unpainted
from protocol.notation import Reason

RED, DRAW, BLUE = GameResult.RED, GameResult.DRAW, GameResult.BLUE
ANN, BOB, CAT, DAN = (Player(name, f"digest of {name}") for name in ("ann", "bob", "cat", "dan"))
TIME = PlayerTime(moves=100, total_us=123_456, slowest_us=45_678, cpu_us=98_765)


def rows(*games: tuple[Player, Player, GameResult]) -> list[GameRow]:
    return [
        GameRow(number, f"{number:016}", (red, blue), result, Reason.FLAG, 100, "", (TIME, TIME), 1.0)
        for number, (red, blue, result) in enumerate(games, 1)
    ]


def match(wins: int, draws: int, losses: int, first: Player = ANN, second: Player = BOB) -> list[GameRow]:
    results = [RED] * wins + [DRAW] * draws + [BLUE] * losses
    return rows(*((first, second, result) for result in results))


def league(players: Sequence[Player], games_each: int) -> list[GameRow]:
    """The first of each pair wins three of four games."""
    pairs = itertools.combinations(players, 2)
    return rows(*((a, b, BLUE if game % 4 == 3 else RED) for a, b in pairs for game in range(games_each)))


def printed(table: Table, width: int) -> str:
    return "\n".join(map(unpainted, drawn(full_report(table, width), width)))


def document(table: Table, played: Sequence[GameRow]) -> dict[str, object]:
    decoded = json.loads(league_json(Path("l.sqlite"), {}, table, played))
    assert isinstance(decoded, dict)
    return decoded


def test_games_of_a_bot_against_itself_count_nowhere_and_are_named() -> None:
    """The arena plays none, but stores may come from anywhere."""
    games = match(5, 2, 3)
    both = make_table([ANN, BOB], [*games, *rows((ANN, ANN, RED), (BOB, BOB, DRAW))])
    assert both.against_itself == 2
    assert structs.replace(both, against_itself=0) == make_table([ANN, BOB], games)
    assert "2 games of a bot against itself do not count" in printed(both, 80)
    assert document(both, games)["against_itself"] == 2
    alone = make_table([ANN], rows((ANN, ANN, RED)))
    assert (alone.games, alone.against_itself) == (0, 1)
    assert printed(alone, 80).splitlines() == [
        "no game has been played yet",
        "1 game of a bot against itself does not count",
    ]


def test_a_match_says_the_difference_its_interval_and_how_likely_the_first_is_stronger() -> None:
    table = make_table([ANN, BOB], match(15, 0, 5))
    text = printed(table, 80)
    assert "Elo of ann over bob: +191 (95%: +6..+409)\nLikelihood that ann is stronger: 98.7%\n" in text
    found = document(table, [])["difference"]
    assert isinstance(found, dict)
    assert {name: round(value, 3) for name, value in found.items() if isinstance(value, float)} == {
        "elo": 190.849,
        "low": 6.223,
        "high": 409.32,
        "stronger": 0.987,
    }


def test_a_league_that_is_not_over_says_how_many_games_it_lacks() -> None:
    played = league([ANN, BOB, CAT], 4)
    table = make_table([ANN, BOB, CAT], played[:7], planned=12)
    assert "incomplete: 7 of 12 games; places go by points per game" in printed(table, 80)
    found = document(table, played[:7])
    assert (found["complete"], found["planned_games"]) == (False, 12)
    whole = make_table([ANN, BOB, CAT], played, planned=12)
    assert "incomplete" not in printed(whole, 80)
    assert document(whole, played)["complete"] is True


def test_without_a_plan_of_these_bots_nothing_is_said_to_be_missing_or_complete() -> None:
    played = league([ANN, BOB, CAT], 4)[:-1]
    table = make_table([ANN, BOB, CAT], played, meets_all=None)
    assert "games may be missing: the store has no schedule for these bots\n" in printed(table, 80)
    assert "incomplete" not in printed(table, 80)
    found = document(table, played)
    assert (found["complete"], found["planned_games"]) == (None, None)
    assert standings_of(table, {}).is_complete is None
    assert "perhaps incomplete" in repr(standings_of(table, {}))


def test_bots_that_are_equal_share_a_place_in_the_table_and_have_a_line_each_in_the_crosstable() -> None:
    played = match(0, 2, 0, BOB, ANN) + match(2, 0, 0, ANN, CAT) + match(2, 0, 0, BOB, CAT)
    lines = printed(make_table([CAT, BOB, ANN], played), 80).splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["1", "ann"], ["1", "bob"], ["3", "cat"]]
    cross = lines[lines.index("Crosstable: points/games of the row's bot") + 2 :]
    assert [line.split()[:2] for line in cross[:3]] == [["1", "ann"], ["2", "bob"], ["3", "cat"]]


def called(player: Player, name: str) -> Player:
    return Player(name, player.digest)


def test_games_are_those_of_a_content_under_the_name_that_it_had_last() -> None:
    played = match(2, 0, 0) + match(1, 0, 0, called(ANN, "old"), BOB) + match(0, 0, 1, called(BOB, "b"), ANN)
    table = make_table([called(ANN, "new"), BOB], played)
    assert [(line.name, line.digest, line.points, line.games) for line in table.lines] == [
        ("new", ANN.digest, 4.0, 4),
        ("bob", BOB.digest, 0.0, 4),
    ]
    (meeting,) = [meeting for meeting in table.meetings if (meeting.name, meeting.opponent) == ("new", "bob")]
    assert (meeting.points, meeting.games) == (4.0, 4)
    assert make_table(players_of(played), played).lines[0].name == "ann"


def test_whoever_has_a_name_now_is_the_one_who_is_meant_by_it() -> None:
    played = match(1, 0, 0, ANN, called(BOB, "old")) + match(1, 0, 0, called(ANN, "old"), called(BOB, "new"))
    roster = Roster(players_of(played), played)
    assert {player.name: player.digest for player in roster.players} == {"old": ANN.digest, "new": BOB.digest}
    assert roster.called("old") == {ANN, called(ANN, "old")}
    assert roster.called("ann") == {ANN, called(ANN, "old")}, "nobody else has it now"
    assert roster.called("new") == {called(BOB, "old"), called(BOB, "new")}


def test_versions_of_one_bot_are_told_apart_by_their_digests_and_asked_for_by_them() -> None:
    one, two = Player("ann", "aaaaaaaa"), Player("ann", "aabbbbbb")
    roster = Roster([one, two, BOB])
    assert set(roster.names.values()) == {"ann@aaaaaa", "ann@aabbbb", "bob"}
    assert roster.called("ann") == {one, two}
    assert roster.called("ann@AAA") == {one}
    with pytest.raises(UsageError, match="2 versions of 'ann'"):
        roster.called("ann@aa")
    with pytest.raises(UsageError, match="did you mean bob"):
        roster.called("bop")


def test_the_values_that_break_ties_are_given() -> None:
    """The double round of docs/ratings.md: a and b have 4 points each, and 11 and 9 of Sonneborn-Berger."""
    a, b, c, d = (Player(name, f"digest of {name}") for name in "abcd")
    won = [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d), (b, a), (a, c), (d, a), (c, b), (b, d), (c, d)]
    table = make_table([b, a, d, c], rows(*((winner, loser, RED) for winner, loser in won)))
    assert [(line.place, line.name, line.points, line.sonneborn_berger) for line in table.lines] == [
        (1, "a", 4, 11),
        (2, "b", 4, 9),
        (3, "c", 3, 6),
        (4, "d", 1, 4),
    ]
    assert [line.head_to_head for line in table.lines] == [0.5, 0.5, None, None]
    for line in table.lines:
        assert line.sonneborn_berger_per_game == pytest.approx(line.sonneborn_berger / 36)


def test_ratings_are_relative_to_the_anchor() -> None:
    played = league(FIVE, 4)
    free, fixed = make_table(FIVE, played), make_table(FIVE, played, anchor="raider=1500")
    anchor = {line.name: line for line in fixed.lines}["raider"]
    assert (anchor.elo, anchor.elo_low, anchor.elo_high) == (1500, 1500, 1500)
    elos = [[line.elo for line in table.lines if line.elo is not None] for table in (free, fixed)]
    for before, after in itertools.pairwise(zip(*elos, strict=True)):
        assert after[0] - before[0] == pytest.approx(after[1] - before[1])
    assert "Elo relative to raider at 1500\n" in printed(fixed, 80)
    assert document(fixed, [])["anchor"] == {"name": "raider", "elo": 1500}
    assert document(free, [])["anchor"] is None


@pytest.mark.parametrize(
    ("anchor", "message"),
    [
        ("anne", "no bot 'anne' in this table; did you mean ann"),
        ("ann=high", "NAME=ELO with a number from -100000 to 100000, got 'ann=high'"),
    ],
)
def test_an_anchor_that_is_none_is_refused(anchor: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_table([ANN, BOB], match(1, 0, 1), anchor=anchor)


def test_the_advantage_is_below_the_table_and_in_json() -> None:
    played = match(6, 0, 2) + match(6, 0, 2, BOB, ANN)
    table = make_table([ANN, BOB], played)
    assert "Red's advantage: +" in printed(table, 80)
    found = document(table, [])["advantage"]
    assert isinstance(found, dict)
    assert found["low"] < 400 * 0.4771 < found["high"], "three wins to one are 191 Elo"


def test_the_pairs_are_there_if_they_are_asked_for() -> None:
    played = league(FIVE, 4)
    table = make_table(FIVE, played, pairs=True)
    names = [line.name for line in table.lines]
    assert table.pairs is not None
    assert [(pair.name, pair.opponent) for pair in table.pairs] == list(itertools.combinations(names, 2))
    assert all(0.5 < pair.stronger < 1 for pair in table.pairs)
    assert "tactician  drifter" in printed(table, 80)
    assert document(table, [])["pairs"] == [
        {"name": pair.name, "opponent": pair.opponent, "stronger": pair.stronger} for pair in table.pairs
    ]
    assert document(make_table(FIVE, played), [])["pairs"] is None


def test_the_crosstable_of_a_large_league_is_that_of_the_first_bots_and_says_so() -> None:
    many = [Player(f"bot{number:02}", f"digest {number}") for number in range(30)]
    table = make_table(many, league(many, 2))
    text = printed(table, 80)
    assert "the first 7 of 30 bots; --json has all" in text
    assert len(table.meetings) == 30 * 29
    lines = text.splitlines()
    start = lines.index("Crosstable: points/games of the row's bot")
    assert lines[start + 1].split() == ["#", "bot", *"1234567"]
    assert [line.split()[0] for line in lines[start + 2 : start + 9]] == list("1234567")
    assert all(len(line) <= 80 for line in lines)


FIVE = [Player(name, f"digest of {name}") for name in ("tactician", "scholar", "warden", "raider", "drifter")]


@pytest.mark.parametrize("games_each", [1, 4, 200])
def test_a_usual_table_of_80_columns_shows_the_slowest_move(games_each: int) -> None:
    table = make_table(FIVE, league(FIVE, games_each))
    text = printed(table, 80)
    header = ["#", "bot", "points", "%", "W", "D", "L", "forfeits", "Elo", "95%", "ms", "CPU", "slowest"]
    assert set(header) - set(text.splitlines()[0].split()) <= {"CPU"}
    assert printed(table, 100).splitlines()[0].split() == header
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "…" not in text


@pytest.mark.parametrize(("width", "games_each"), [(60, 200), (80, 2), (80, 200), (100, 2)])
def test_a_narrow_table_leaves_columns_out_and_cuts_no_number(width: int, games_each: int) -> None:
    table = make_table(FIVE, league(FIVE, games_each))
    lines = printed(table, width).splitlines()
    header = lines[0].split()
    assert all(len(line) <= width for line in lines)
    kept = [name for name in header if name not in {"W", "D", "L", "ms", "CPU", "slowest"}]
    assert kept == ["#", "bot", "points", "%", "forfeits", "Elo", "95%"]
    for line, shown in zip(table.lines, lines[1:6], strict=True):
        assert f" {line.name} " in shown
        assert f" {line.points:g}/{line.games} " in shown
        assert interval_text(line.elo_low, line.elo_high) in shown
    wide = printed(table, 100).splitlines()[0].split()
    order = ["CPU", "W", "D", "L", "ms", "slowest"]
    dropped = [name for name in order if name in wide and name not in header]
    assert dropped == order[: len(dropped)]


@pytest.mark.parametrize(
    ("advantage", "text"),
    [
        (Advantage(12.3, -4.0, 30.0), "Red's advantage: +12 Elo (95%: -4..+30)"),
        (Advantage(12.3, 4.0, None), "Red's advantage: at least +4 Elo (95%)"),
        (Advantage(-12.3, None, -3.0), "Red's advantage: at most -3 Elo (95%)"),
        (Advantage(0.0, None, None), "Red's advantage: not enough games to estimate"),
    ],
)
def test_what_red_is_worth_is_said_as_far_as_it_is_known(advantage: Advantage, text: str) -> None:
    assert advantage_text(advantage) == text


@pytest.mark.parametrize(
    ("own", "names", "words"),
    [
        ({}, ["ann", "bob"], ""),
        ({"ann": "1000ms"}, ["ann", "bob"], "handicap: ann 1000ms, bob 100ms"),
        ({"ann": "1000ms", "bob": "60+0"}, ["ann", "bob"], "handicap: ann 1000ms, bob 60+0"),
        ({"ann": "1000ms"}, ["ann", "bob", "cat"], "handicap: ann 1000ms, all others 100ms"),
    ],
)
def test_every_clock_is_named_where_they_differ(own: dict[str, str], names: list[str], words: str) -> None:
    assert handicap_text("100ms", own, names) == words
