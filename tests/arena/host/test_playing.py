"""The ladder without end, challenges, forfeits, and kill -9 of the player and the host."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio
from made_bots import MOVES, QUICK
from made_cups import CRASHES, add_bot, make_account, make_cup, opened, play_until, when
from sandboxes import in_bwrap
from waiting import until

from arena.errors import ArenaError
from arena.host.accounts import Account, Actor, ChangeRefusedError, Team
from arena.host.challenges import ask, games_left_today
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup, load_cup
from arena.host.pipeline import child_token
from arena.host.playing import ContinuousPlay
from arena.host.seasons import SeasonLeague, current, freeze, league_seed, store_file
from arena.host.submissions import SubmissionState, bot_folder, decide, get_submission
from arena.league.store import GameRow, Store
from arena.sandbox.levels import Level
from arena.sandbox.reaper import left_by
from protocol.seats import Color

KILLS = int(os.environ.get("ARENA_KILLS", "1"))


class Made:
    """A competition with two teams, and a bot of each."""

    def __init__(self, folder: Path, cup: Cup, database: CupDatabase) -> None:
        self.folder, self.cup, self.database = folder, cup, database
        self.foxes = make_account(database, cup, "fox")
        self.owls = make_account(database, cup, "owl")
        self.bots = [self.add("swift", self.foxes), self.add("wise", self.owls)]

    def add(self, name: str, of: tuple[Account, Team], *program: str) -> int:
        return add_bot(self.database, self.folder, of, name, *program)

    def challenges(self) -> list[dict[str, Any]]:
        sql = "select challenge.* from challenge join submission on submission.id = submission where team = ?"
        return self.database.rows(dict, f"{sql} order by challenge.id desc", self.foxes[1].id)

    def games(self, number: int) -> int:
        return get_submission(self.database, number).games

    def stored(self) -> list[GameRow]:
        """The games of the ladder."""
        path = store_file(SeasonLeague.LADDER, self.folder, 1)
        if not path.exists() or not path.stat().st_size:
            return []
        with Store(path, create=False) as store:
            return store.rows()

    def ask(self, games: int) -> int:
        account, team = self.foxes
        actor = Actor(account.id)
        return ask(
            *(self.database, self.cup, actor, team.id), submission=self.bots[0], against=self.bots[1], games=games
        )


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    folder = tmp_path / "cup"
    cup = make_cup(folder, stint="100ms", play="probation = 4")
    with opened(folder) as database:
        yield Made(folder, cup, database)


def check_count(made: Made) -> None:
    """The games up to the last counted one are counted once for each of their bots, under their names.

    They have the seed of the season.
    """
    season = current(made.database)
    told = [row for row in made.stored() if row.number <= season.counted]
    names = [player.name for row in told for player in row.players]
    for number in made.bots:
        bot = get_submission(made.database, number)
        assert bot.games == names.count(bot.bot)
    with Store(store_file(SeasonLeague.LADDER, made.folder, 1), create=False) as store:
        assert store.settings()["seed"] == str(league_seed(season.seed, SeasonLeague.LADDER))


def test_bots_play_the_ladder_and_leave_probation_and_new_ones_join_it_at_the_next_stint(made: Made) -> None:
    def is_over(play: ContinuousPlay) -> bool:
        if len(made.bots) == 2 and made.games(made.bots[0]) >= 4:
            assert get_submission(made.database, made.bots[0]).state is SubmissionState.LADDER
            made.bots.append(made.add("late", made.owls))
            assert play.why_waiting(made.bots[2])
            play.wake()
        return len(made.bots) == 3 and made.games(made.bots[2]) >= 1

    play = play_until(made.folder, made.cup, made.database, is_over)
    assert not play.problem
    check_count(made)


def test_a_new_leader_that_is_not_on_probation_is_told(made: Made) -> None:
    """The bot that resigns at once is the last one; the order is certain soon, and then the ladder rests."""
    resigns = made.add("meek", made.owls, QUICK.format(first=""))
    made.bots.append(resigns)
    decide(made.database, made.cup, Actor(made.owls[0].id), made.bots[1], SubmissionState.WITHDRAWN)
    play = play_until(made.folder, made.cup, made.database, lambda play: current(made.database).leader)
    assert current(made.database).leader == made.bots[0]
    assert made.games(made.bots[0]) >= made.cup.play.probation
    assert made.database.value("select count(*) from audit where action = 'new leader'") == 1
    assert not play.problem


@in_bwrap
def test_bots_of_strangers_play_in_a_sandbox_and_are_stopped_in_the_turn_of_their_opponent(made: Made) -> None:
    play_until(*(made.folder, made.cup, made.database), lambda play: made.games(made.bots[0]) >= 2, level=Level.BWRAP)
    with Store(store_file(SeasonLeague.LADDER, made.folder, 1), create=False) as store:
        _, record = store.record(1)
        assert all(words.startswith("bwrap") for words in record.confinement)
        assert record.pondered_us is not None


def test_three_forfeits_in_a_row_park_a_bot_and_others_do_not_wait_for_it(made: Made) -> None:
    bad = made.add("broken", made.owls, CRASHES)

    def is_over(play: ContinuousPlay) -> bool:
        is_parked = get_submission(made.database, bad).state is SubmissionState.PARKED
        return is_parked and made.games(made.bots[0]) >= 8

    play_until(made.folder, made.cup, made.database, is_over)
    parked = get_submission(made.database, bad)
    assert "game" in parked.reason
    assert "of season 1" in parked.reason
    made.bots.append(bad)
    check_count(made)
    assert made.database.value("select count(*) from audit where action = 'parked'") == 1


def test_a_challenge_is_played_between_stints_and_does_not_count(made: Made) -> None:
    made.ask(2)
    play_until(made.folder, made.cup, made.database, lambda play: made.challenges()[0]["played"] == 2)
    assert made.games(made.bots[0]) >= 1
    check_count(made)


def test_a_challenge_is_of_an_own_bot_in_the_ladder_and_within_the_games_of_a_day(made: Made) -> None:
    (_, owls), most = made.owls, made.cup.challenges.games_a_day
    actor = Actor(made.owls[0].id)
    with pytest.raises(ChangeRefusedError, match="of your own team"):
        ask(made.database, made.cup, actor, owls.id, submission=made.bots[0], against=made.bots[1], games=1)
    with pytest.raises(ChangeRefusedError, match="another bot"):
        ask(made.database, made.cup, actor, owls.id, submission=made.bots[1], against=made.bots[1], games=1)
    with pytest.raises(ChangeRefusedError, match=f"from 1 to {most} games, got {most + 1}"):
        made.ask(most + 1)
    made.ask(most)
    assert games_left_today(made.database, made.cup, made.foxes[1].id) == 0
    with pytest.raises(ChangeRefusedError, match="from 1 to 0 games"):
        made.ask(1)
    decide(made.database, made.cup, actor, made.bots[1], SubmissionState.WITHDRAWN)
    play_until(
        *(made.folder, made.cup, made.database),
        lambda play: made.challenges()[0]["state"] == "refused",
    )
    assert "wise is not in the ladder any more" in made.challenges()[0]["reason"]


def test_a_challenge_that_cannot_be_played_is_refused_at_no_cost_and_the_ladder_goes_on(made: Made) -> None:
    store_file(SeasonLeague.CHALLENGES, made.folder, 1).write_text("no store")
    left = games_left_today(made.database, made.cup, made.foxes[1].id)
    made.ask(2)

    before: list[int] = []

    def is_over(play: ContinuousPlay) -> bool:
        if not before and made.challenges()[0]["state"] == "refused":
            before.append(made.games(made.bots[0]))
        return bool(before) and made.games(made.bots[0]) > before[0]

    play_until(made.folder, made.cup, made.database, is_over)
    assert games_left_today(made.database, made.cup, made.foxes[1].id) == left


def test_a_frozen_season_plays_challenges_alone_in_a_store_of_their_own(made: Made) -> None:
    freeze(made.database, made.cup)
    first, second = made.ask(3), made.ask(2)
    play = play_until(
        *(made.folder, made.cup, made.database),
        lambda play: made.challenges()[0]["played"] == 2 and play.running is None,
    )
    assert made.stored() == []
    assert [(one["id"], one["played"]) for one in made.challenges()] == [(second, 2), (first, 3)]
    with Store(store_file(SeasonLeague.CHALLENGES, made.folder, 1), create=False) as store:
        assert len(store.numbers()) == 5
        assert {row.players[Color.RED].name for row in store.rows()} == {"swift", "wise"}
    assert "frozen" in play.now


def test_a_bot_that_cannot_be_started_is_named_and_others_play_without_it(made: Made) -> None:
    lost = made.add("lost", made.owls)
    program = next(bot_folder(made.folder, lost).iterdir())
    program.write_text("#!/no/such/interpreter\n")
    play = play_until(made.folder, made.cup, made.database, lambda play: made.games(made.bots[0]) >= 2)
    assert "/no/such/interpreter" in play.why_waiting(lost)
    assert str(made.folder) not in play.why_waiting(lost)
    assert get_submission(made.database, lost).games == 0


def test_what_is_remarked_of_bots_is_said_once_and_not_in_each_stint(made: Made) -> None:
    for number in made.bots:
        next(bot_folder(made.folder, number).iterdir()).write_text(MOVES)
    stints, said = list[object](), list[str]()

    def is_over(play: ContinuousPlay) -> bool:
        if play.running and play.running.players and play.running not in stints:
            stints.append(play.running)
        return len(stints) == 2

    play_until(made.folder, made.cup, made.database, is_over, said=said)
    assert [remark.partition(",")[0] for remark in said if "the same files 2 times" in remark] == ["swift"]


def test_settings_that_no_longer_fit_the_season_are_told_and_play_goes_on_when_they_do(made: Made) -> None:
    play_until(made.folder, made.cup, made.database, lambda play: made.games(made.bots[0]) >= 1)
    path = made.folder / "cup.toml"
    path.write_text(path.read_text().replace('time = "5s"', 'time = "6s"'))
    play = play_until(made.folder, load_cup(made.folder), made.database, lambda play: play.problem)
    assert "time" in play.problem
    assert str(made.folder) not in play.now
    before = made.games(made.bots[0])
    play_until(made.folder, made.cup, made.database, lambda play: made.games(made.bots[0]) > before)


def test_games_that_could_not_be_counted_are_counted_later(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    change, failures = CupDatabase.change, list[str]()

    def full(database: CupDatabase, *, waits: bool = True) -> AbstractContextManager[None]:
        if made.games(made.bots[0]) >= 2 and not failures:
            failures.append("full")
            raise ArenaError("the database of the competition cannot be written: database or disk is full")
        return change(database, waits=waits)

    monkeypatch.setattr(CupDatabase, "change", full)
    play_until(made.folder, made.cup, made.database, lambda play: failures and made.games(made.bots[0]) >= 3)
    check_count(made)


def test_a_player_that_is_killed_at_any_moment_loses_no_game_that_was_told(made: Made) -> None:
    random, kills = Random(1), 0
    play = ContinuousPlay(made.folder, made.cup, made.database, Level.BASIC)

    async def main() -> None:
        nonlocal kills
        async with trio.open_nursery() as nursery:
            nursery.start_soon(play.run)
            with trio.fail_after(120):
                while kills < KILLS:
                    before = made.games(made.bots[0])
                    await when(lambda before=before: play.pid and made.games(made.bots[0]) > before)  # type: ignore[misc]
                    await trio.sleep(random.random())
                    if play.pid:
                        os.kill(play.pid, signal.SIGKILL)
                        kills += 1
                before = made.games(made.bots[0])
                await when(lambda: made.games(made.bots[0]) > before + 1)  # one may have been stored and not told
            nursery.cancel_scope.cancel()

    trio.run(main)
    check_count(made)
    until(lambda: not left_by(child_token(made.folder)), "no process of the player or of a bot is left")


HOST = """
import sys, trio
from pathlib import Path
from arena.host.cup_settings import load_cup
from arena.host.cup_database import CupDatabase
from arena.host.pipeline import child_token
from arena.host.playing import ContinuousPlay
from arena.sandbox.levels import Level
from arena.sandbox.reaper import left_by
folder = Path(sys.argv[1])
trio.run(ContinuousPlay(folder, load_cup(folder), CupDatabase(folder / "host.sqlite"), Level.BASIC).run)
"""


def test_a_host_that_is_killed_at_any_moment_leaves_no_player_and_counts_each_game_once(made: Made) -> None:
    random = Random(2)
    for _ in range(KILLS):
        before = made.games(made.bots[0])
        host = subprocess.Popen([sys.executable, "-c", HOST, str(made.folder)])
        until(lambda before=before: made.games(made.bots[0]) > before, "a game is counted")  # type: ignore[misc]
        with contextlib.suppress(subprocess.TimeoutExpired):
            host.wait(random.random())
        host.kill()
        host.wait()
        until(lambda: not left_by(child_token(made.folder)), "no process of the player or of a bot is left")
    before = made.games(made.bots[0])
    play_until(made.folder, made.cup, made.database, lambda play: made.games(made.bots[0]) > before + 1)
    check_count(made)
