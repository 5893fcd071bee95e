"""What is seen while a league is played: a live table in a terminal, a line a game elsewhere, and no game held up."""

import io
import threading

import pytest
from rich.console import Console

from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store import GameRow, PlayerTime
from arena.report.progress import DRAWING_SHARE, LiveProgress, Pace, PlainProgress, Progress, duration_text
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
    console = Console(file=screen, force_terminal=True, width=80, height=24, color_system=None)
    return LiveProgress(console, (ANN, BOB, CAT), rows, total)


def plain(screen: io.StringIO, rows: list[GameRow], total: int = 10) -> PlainProgress:
    return PlainProgress(Console(file=screen, width=80), len(rows), total)


def test_the_live_table_shows_stored_games_at_once_and_then_those_that_are_over() -> None:
    screen = Screen()
    progress = live(screen, [row(1)])
    screen.wait_for("1/10 games", "1/1", "game 1: ann - bob  1-0")
    progress.finished(row(2, GameResult.DRAW), RECORD)
    screen.wait_for("2/10 games", "1.5/2", "game 2: ann - bob  ½-½")
    progress.finish()


def test_the_live_table_shows_ratings() -> None:
    screen = Screen()
    progress = live(screen, [row(1), row(2, GameResult.BLUE)])
    screen.wait_for("+0")
    progress.finish()


class Unrated(Pace):
    """A pace by which ratings are computed once, and not again."""

    def done(self, now: float, cost: float) -> None:
        super().done(now, cost if self._share == DRAWING_SHARE else PATIENCE)


@pytest.mark.parametrize(
    ("players", "words"),
    [((ANN, BOB), "After 1 game: Elo of ann over bob: at least"), ((ANN, BOB, CAT), "; Elo after 1 game")],
)
def test_a_rating_that_is_older_than_the_counts_says_so(
    monkeypatch: pytest.MonkeyPatch, players: tuple[Player, ...], words: str
) -> None:
    monkeypatch.setattr("arena.report.progress.Pace", Unrated)
    screen = Screen()
    console = Console(file=screen, force_terminal=True, width=80, height=24, color_system=None)
    progress = LiveProgress(console, players, [row(1)], 10)
    screen.wait_for("Elo of ann over bob" if len(players) == 2 else "+", "1/1")
    progress.finished(row(2, GameResult.BLUE), RECORD)
    screen.wait_for("1/2", words)
    progress.finish()


@pytest.mark.parametrize("make", [live, plain])
def test_a_remark_is_written_whole_even_if_it_is_the_last_thing_said(make: type) -> None:
    screen = Screen()
    progress: Progress = make(screen, [])
    progress.remark("x" * 200)
    progress.finish()
    assert "x" * 200 in screen.getvalue()


def test_the_end_wipes_what_was_drawn() -> None:
    screen = Screen()
    progress = live(screen, [row(1)])
    screen.wait_for("game 1: ann - bob")
    progress.finish()
    erased = screen.getvalue().rpartition("game 1: ann - bob")[2]
    assert "\x1b[2K" in erased


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
    console = Console(file=screen, force_terminal=True, width=80, height=24, color_system=None)
    progress = LiveProgress(console, players, [row(1)], 89_700)
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
    progress = PlainProgress(Console(file=screen, width=80), 0, 2, tells_games=False)
    progress.finished(row(1), RECORD)
    progress.remark("a remark")
    progress.finish()
    assert screen.getvalue() == "a remark\n"
