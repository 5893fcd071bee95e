"""What is seen while a league is played: a live table in a terminal, a line a game elsewhere, and no game held up."""

import io
import re
import threading
from itertools import pairwise, permutations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.store import GameRow, PlayerTime
from arena.report.progress import (
    ERASE_ROW,
    HIDE_CURSOR,
    SHOW_CURSOR,
    UP,
    Frame,
    LiveProgress,
    LiveTable,
    Pace,
    PlainProgress,
    Progress,
    duration_text,
    erasing,
)
from arena.report.standings import make_table
from protocol.notation import Reason

PATIENCE = 120.0
ANN, BOB, CAT = (Player(name, name[0] * 64) for name in ("ann", "bob", "cat"))
RECORD: GameRecord = None  # type: ignore[assignment]  # neither looks at it


def row(number: int, result: GameResult = GameResult.RED) -> GameRow:
    time = PlayerTime(10, 20_000, 5_000, 1_000)
    return GameRow(number, f"{number:016x}", (ANN, BOB), result, Reason.FLAG, 20, "", (time, time), 1.5)


class Screen(io.StringIO):
    """What was written, as another thread writes it."""

    def __init__(self) -> None:
        super().__init__()
        self._written = threading.Condition()

    def write(self, text: str) -> int:
        with self._written:
            count = super().write(text)
            self._written.notify_all()
            return count

    def wait_for(self, *words: str) -> str:
        with self._written:
            assert self._written.wait_for(lambda: all(word in self.getvalue() for word in words), PATIENCE), words
            return self.getvalue()


def live(screen: io.StringIO, rows: list[GameRow], total: int = 10) -> LiveProgress:
    return LiveProgress(screen, (ANN, BOB, CAT), rows, total)


def plain(screen: io.StringIO, rows: list[GameRow], total: int = 10) -> PlainProgress:
    return PlainProgress(screen, len(rows), total)


def test_the_live_table_shows_stored_games_at_once_and_then_those_that_are_over() -> None:
    screen = Screen()
    progress = live(screen, [row(1)])
    screen.wait_for("1/10 games", "1/1", "game 1: ann - bob  1-0")
    progress.finished(row(2, GameResult.DRAW), RECORD)
    screen.wait_for("2/10 games", "1.5/2", "game 2: ann - bob  ½-½")
    progress.finish()


def test_the_live_table_of_80_columns_shows_the_slowest_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    players = [Player(name, name[0] * 64) for name in ("tactician", "scholar", "warden", "raider")]
    pairs = list(permutations(players, 2))
    rows = [row(number)._replace(players=pairs[number % len(pairs)]) for number in range(1, 1201)]
    screen = Screen()
    progress = LiveProgress(screen, players, rows, 2400)
    drawn = screen.wait_for("1200/2400 games", "tactician ")
    progress.finish()
    assert re.search(r"^#  bot .* slowest$", drawn, re.MULTILINE)


def test_plain_progress_is_a_line_a_game() -> None:
    screen = Screen()
    progress = plain(screen, [row(1)])
    progress.finished(row(2, GameResult.BLUE), RECORD)
    progress.finish()
    assert screen.getvalue().startswith("[2/10, ")
    assert screen.getvalue().endswith("left] game 2: ann - bob  0-1  flag, 20 plies, 1.5 s\n")


@pytest.mark.parametrize("make", [live, plain])
def test_a_reader_that_has_stopped_holds_up_no_game(make: type) -> None:
    """The terminal takes nothing, as after Ctrl-S: each call returns all the same, and so does the end."""
    is_free = threading.Event()

    class Blocked(io.StringIO):
        def write(self, text: str) -> int:
            is_free.wait(PATIENCE)
            return super().write(text)

    screen = Blocked()
    progress: Progress = make(screen, [])
    for number in range(1000):
        progress.finished(row(number), RECORD)
        progress.remark("said")
    progress.finish()
    assert screen.getvalue() == ""
    is_free.set()


def test_a_large_league_is_drawn_before_it_is_rated() -> None:
    """300 players take seconds to rate, and that is to be a small part of the run: so it begins after minutes."""
    screen = Screen()
    players = [ANN, BOB, *(Player(f"bot{number}", f"{number:064}") for number in range(298))]
    progress = LiveProgress(screen, players, [row(1)], 89_700)
    screen.wait_for("1/89700 games", "ann ")
    progress.finish()
    assert "+" not in screen.getvalue(), "no rating"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (7299, "2 h 1 min")]
)
def test_a_duration_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_a_pipe_gets_remarks_and_no_line_a_game_unless_it_is_asked_for() -> None:
    screen = Screen()
    progress = PlainProgress(screen, 0, 2, tells_games=False)
    progress.finished(row(1), RECORD)
    progress.remark("a remark")
    progress.finish()
    assert screen.getvalue() == "a remark\n"


PLAYERS = [Player(name, name[0] * 64) for name in ("ann", "bob", "cat", "dan")]
SIDES = st.permutations(range(len(PLAYERS))).map(lambda order: order[:2])
ENDINGS = st.sampled_from(
    [
        (GameResult.RED, Reason.FLAG),
        (GameResult.BLUE, Reason.TIMEOUT),
        (GameResult.DRAW, Reason.PLY_CAP),
        (GameResult.NEITHER, Reason.NO_START),
    ]
)
TIMES = st.builds(
    PlayerTime, st.integers(0, 9), st.integers(0, 9000), st.integers(0, 900), st.none() | st.integers(0, 900)
)
GAMES = st.lists(st.tuples(SIDES, ENDINGS, st.tuples(TIMES, TIMES)), max_size=30)
Game = tuple[list[int], tuple[GameResult, Reason], tuple[PlayerTime, PlayerTime]]


def rows(games: list[Game]) -> list[GameRow]:
    return [
        GameRow(
            number=number,
            id=f"{number:016x}",
            players=(PLAYERS[red], PLAYERS[blue]),
            result=result,
            reason=reason,
            plies=10,
            detail="",
            times=times,
            seconds=1.0,
        )
        for number, ((red, blue), (result, reason), times) in enumerate(games, 1)
    ]


@settings(max_examples=40)
@given(GAMES, st.integers(0, 30))
def test_counts_are_those_of_now_and_ratings_those_of_the_last_time_and_at_last_all_are_the_tables(
    games: list[Game], rated: int
) -> None:
    played = rows(games)
    live = LiveTable(PLAYERS, played[:rated])
    live.rate()
    for row in played[rated:]:
        live.add(row)
    then = {line.name: line for line in make_table(PLAYERS, played[:rated]).lines}
    now = {line.name: line for line in make_table(PLAYERS, played).lines}
    lines = live.lines(len(PLAYERS))
    for line in lines:
        old = then[line.name]
        expected = msgspec.structs.replace(
            now[line.name],
            place=line.place,
            elo=old.elo,
            elo_low=old.elo_low,
            elo_high=old.elo_high,
            head_to_head=old.head_to_head,
            sonneborn_berger=old.sonneborn_berger,
            sonneborn_berger_per_game=old.sonneborn_berger_per_game,
        )
        assert line == expected
    scores = [-1.0 if line.score is None else line.score for line in lines]
    assert scores == sorted(scores, reverse=True)
    assert [line.place for line in lines] == sorted(line.place for line in lines)
    assert all(above.place < below.place for above, below in pairwise(lines) if above.score != below.score)
    live.rate()
    assert tuple(live.lines(len(PLAYERS))) == make_table(PLAYERS, played).lines


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50), st.floats(0.001, 0.5), st.floats(0, 2))
def test_work_that_keeps_its_pace_takes_no_more_than_its_share_of_the_time(
    costs: list[float], share: float, least: float
) -> None:
    pace = Pace(share, 0.0, least=least)
    now = spent = 0.0
    for cost in costs:
        now = max(now, pace.due)
        assert spent <= share * now * (1 + 1e-9)
        now, spent = now + cost, spent + cost
        pace.done(now, cost)
        assert pace.due >= now + least


class Terminal:
    """Rows of a terminal that folds long lines, and folds them anew when it gets another width."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.lines = [""]

    def print(self, text: str) -> None:
        first, *more = text.split("\n")
        self.lines[-1] += first
        self.lines += more

    def rows(self) -> list[str]:
        width = self.columns
        return [line[at : at + width] for line in self.lines for at in range(0, max(1, len(line)), width)]

    def after(self, erasing: str) -> list[str]:
        """The rows that are left above the cursor, which has to be in an empty one."""
        rows = self.rows()
        up = erasing.count(UP)
        assert erasing.count(ERASE_ROW) == up + 1, "each row that the cursor comes to is erased"
        return rows[: len(rows) - 1 - up]


@given(st.lists(st.integers(0, 70), min_size=1, max_size=8), st.integers(20, 90))
def test_all_rows_that_lines_take_now_are_erased_and_none_above(widths: list[int], columns: int) -> None:
    terminal = Terminal(columns)
    terminal.print("before\n" + "\n".join("x" * width for width in widths))
    assert terminal.after(erasing(widths, columns)) == ["before"]


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "10")
    return FakeTerminal()


def test_a_frame_is_drawn_over_and_wiped_in_the_end(terminal: FakeTerminal) -> None:
    with Frame(terminal) as frame:
        frame.draw("one\ntwo")
        frame.draw("three")
    assert terminal.getvalue() == f"{HIDE_CURSOR}one\ntwo{erasing([3, 3], 60)}three{erasing([5], 60)}{SHOW_CURSOR}"


def test_a_frame_of_a_terminal_that_became_narrower_is_erased_as_it_is_folded_there(
    terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Frame(terminal) as frame:
        frame.draw("x" * 50)
        monkeypatch.setenv("COLUMNS", "30")
        frame.draw("y" * 50)
        drawn = terminal.getvalue()
    assert f"{'x' * 50}{erasing([50], 30)}{'y' * 30}\n{'y' * 20}" in drawn


def test_no_more_lines_are_drawn_than_there_are_rows(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "5")
    with Frame(terminal) as frame:
        frame.draw("\n".join("abcdefgh"))
        assert terminal.getvalue() == f"{HIDE_CURSOR}a\nb\nc\nd\ne"


def test_a_remark_stays_above_what_is_drawn(terminal: FakeTerminal) -> None:
    with Frame(terminal) as frame:
        frame.draw("table")
        frame.print_above("said\nat length")
        drawn = terminal.getvalue()
    assert drawn.endswith(f"{erasing([5], 60)}said\nat length\ntable")


@pytest.mark.parametrize("width", [20, 60])
def test_no_line_is_wider_than_the_terminal(
    width: int, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    with Frame(terminal) as frame:
        frame.draw("word " * 40)
        drawn = terminal.getvalue().removeprefix(HIDE_CURSOR)
    assert max(map(len, drawn.split("\n"))) <= width
