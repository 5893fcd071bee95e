"""The games that are being played: noted as they are told, shown when the host's delay is over, bounded in number."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from made_stores import play_game
from msgspec.structs import replace
from random_play import random_rows
from scripted import game_spec
from served import Serve, Served
from twins import played_alike, with_two_swapped

from arena.game.recorded import Replay, started
from arena.game.time_control import TimeControl
from arena.league.executor.task import Watched
from arena.play.game_events import ActionPlayed, GameStarted
from arena.report.shown import SeenBy
from arena.report.site.page_frame import Site
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset
from arena.web.address import Address, hosts_of
from arena.web.beside import GameStored, LeagueProgress, Told
from arena.web.feed import Viewers
from arena.web.guard import Guard, PageLook
from arena.web.live_games import (
    AGAIN,
    BOARD_AFTER,
    BOARDS_SHOWN,
    BROKEN,
    GONE,
    KEPT_OVER,
    LIST_SECONDS,
    LiveGames,
    RunningGame,
)
from protocol.seats import Color


def live_games(delay: float = 0.0) -> LiveGames:
    return LiveGames(Viewers(), PageLook(Site("a test", (), "")), SeenBy.PUBLIC, delay)


@pytest.fixture
def told() -> Callable[[str, int], Iterator[Told]]:
    """`told(id, plies)`: what is told of a game of this id."""
    ruleset = load_ruleset("duel")

    def tell(id: str, plies: int = 10) -> Iterator[Told]:
        record = play_game(ruleset, seed=5, plies=plies)
        red, blue = record.setups
        assert red is not None
        assert blue is not None
        of_it = replace(game_spec(ruleset, TimeControl(move_ms=1000)), id=id)
        yield Watched((GameStarted(of_it, (red, blue), None),), 0)
        for step in Replay(record).steps():
            event = ActionPlayed(id, step.ply, step.color, step.action, step.told, step.microseconds, 0)
            yield Watched((event,), 0)

    return tell


@pytest.fixture
def serve_games(serving: Serve) -> Callable[[LiveGames], Served]:
    def serve(games: LiveGames) -> Served:
        look = PageLook(Site("a test", (), ""))
        return serving(Guard(games.routes(), look, hosts_of([Address("127.0.0.1", 0)])), beside=games.run)

    return serve


def test_games_that_are_over_are_forgotten_the_oldest_first(told: Callable[..., Iterator[Told]]) -> None:
    games = live_games()
    start, *_ = told("x", 3)
    assert isinstance(start, Watched)
    (begun,) = start.events
    assert isinstance(begun, GameStarted)

    async def main() -> None:
        for number in range(KEPT_OVER + 10):
            id = f"{number:04x}"
            games.tell(Watched((replace(begun, spec=replace(begun.spec, id=id)),), 0))
            games.tell(GameStored(id, number, "over"))

    trio.run(main)
    assert len(games.games) == KEPT_OVER
    assert "0000" not in games.games


def test_with_a_delay_nothing_is_shown_before_its_time(told: Callable[..., Iterator[Told]]) -> None:
    async def main() -> None:
        games = live_games(delay=30.0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(games.run)
            all_of_it = list(told("aa", 6))
            for message in all_of_it:
                games.tell(message)
                await trio.sleep(10)
            last = len(all_of_it) - 1
            assert games.games["aa"].followed.ply in (last - 3, last - 2)  # of what was told up to 30 s before
            await trio.sleep(40)
            assert games.games["aa"].followed.ply == last
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_at_the_end_what_was_delayed_is_shown_and_that_it_is_over(told: Callable[..., Iterator[Told]]) -> None:
    async def main() -> None:
        games = live_games(delay=30.0)
        all_of_it = list(told("aa", 6))
        for message in all_of_it:
            games.tell(message)
        assert not games.games
        games.end()
        assert games.games["aa"].followed.ply == len(all_of_it) - 1
        assert games.text == "The league is over."

    trio.run(main)


NASTY = "<script>alert(1)</script>"


def test_the_pages_of_games_under_way_can_be_read_without_a_script(
    serve_games: Callable[[LiveGames], Served], told: Callable[..., Iterator[Told]]
) -> None:
    games = live_games()
    first, *rest = told("aa", 6)
    assert isinstance(first, Watched)
    (start,) = first.events
    assert isinstance(start, GameStarted)
    players = (replace(start.spec.players[0], name=NASTY), start.spec.players[1])
    served = serve_games(games)
    served.call(games.tell, Watched((replace(start, spec=replace(start.spec, players=players)),), 0))
    page = served.get("/now.html")
    assert 'href="now/aa.html"' in page.text
    assert NASTY not in page.text
    for message in rest:
        served.call(games.tell, message)
    page = served.get("/now/aa.html")
    assert (page.status, NASTY in page.text) == (200, False)
    last = games.games["aa"].followed.part().actions[-1]
    assert last in page.text
    served.call(games.tell, GameStored("aa", 9, "over now"))
    assert 'href="../games/9.html"' not in served.get("/now/aa.html").text
    served.call(games.read, {9})
    page = served.get("/now/aa.html")
    assert "over now" in page.text
    assert 'href="../games/9.html"' in page.text
    for path in ("/now/bb.html", "/now/../aa.html", "/now/%2e%2e.html"):
        assert served.get(path).status == 404
    assert GONE in served.get("/now/bb/events").text


class Viewer:
    """Reads the events that a connection gets."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._text = connection, b""

    def next(self, kind: str = "board") -> Any:
        begin = f"event: {kind}\ndata: ".encode()
        while b"\n\n" not in (rest := self._text.partition(begin)[2]):
            data = self._connection.recv(65536)
            assert data, self._text
            self._text += data
        event, _, self._text = rest.partition(b"\n\n")
        return json.loads(event)


EVENTS = b"GET /now/aa/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIST = b"GET /now/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_viewer_gets_the_whole_game_and_then_what_is_new_and_another_viewer_does_not_disturb_that(
    serve_games: Callable[[LiveGames], Served], told: Callable[..., Iterator[Told]]
) -> None:
    games = live_games()
    start, *rest = told("aa", 9)
    served = serve_games(games)
    served.call(games.tell, start)
    with served.connect(EVENTS) as first:
        viewer, plies = Viewer(first), 0
        assert viewer.next()["part"]["labels"]["red"] == "ann"
        for message in rest[:4]:
            served.call(games.tell, message)
        while plies < 4:
            event = viewer.next()
            assert event["since"] == plies
            plies += len(event["part"]["actions"])
        with served.connect(EVENTS) as second:
            other = Viewer(second)
            served.call(games.tell, rest[4])
            event = other.next()
            assert event["since"] == 0
            seen = len(event["part"]["actions"])
            for message in rest[5:]:
                served.call(games.tell, message)
            for one, begin in ((viewer, 4), (other, seen)):
                plies = begin
                while plies < len(rest):
                    event = one.next()
                    assert event["since"] <= plies
                    plies = event["since"] + len(event["part"]["actions"])
        served.call(games.tell, start)
        event = viewer.next()
        assert (event["since"], event["part"]["actions"], event["state"]["note"]) == (0, [], AGAIN)
        served.call(games.tell, rest[1])
        event = viewer.next()
        assert (event["part"], event["state"]["note"]) == (None, BROKEN)
        served.call(games.tell, GameStored("aa", 7, "ann won"))
        assert viewer.next()["state"] == {"note": "ann won", "is_last": False, "href": "", "clocks": []}
        served.call(games.read, {7})
        state = viewer.next()["state"]
        assert (state["is_last"], state["href"]) == (True, "../games/7.html")


@pytest.mark.parametrize(
    ("progress", "going", "ended"),
    [
        (LeagueProgress(1, 1, None), "1 game over", "The league is over: 1 game."),
        (LeagueProgress(7, None, 20.0), "7 games over, about 20 s left", "The league is over: 7 games."),
        (LeagueProgress(2, 3, None), "2 of 3 games over", "The league has stopped: 2 of 3 games were played."),
    ],
)
def test_the_end_of_a_league_reads_as_an_end(progress: LeagueProgress, going: str, ended: str) -> None:
    games = live_games()
    games.tell(progress)
    assert games.text == going
    games.end()
    assert games.text == ended


def test_the_clock_of_the_side_to_move_runs_and_the_other_stands(told: Callable[..., Iterator[Told]]) -> None:
    def clocks(game: RunningGame) -> list[tuple[int, bool]]:
        return [(one["left_ms"], one["runs"]) for one in json.loads(game.event(0).data)["state"]["clocks"]]

    async def main() -> None:
        games = live_games()
        start, first, *_ = told("aa", 3)
        games.tell(start)
        await trio.sleep(0.4)
        assert clocks(games.games["aa"]) == [(600, True), (1000, False)]
        games.tell(first)
        await trio.sleep(3)
        assert clocks(games.games["aa"]) == [(1000, False), (0, True)]

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_a_game_gets_its_board_in_the_list_after_its_first_second(told: Callable[..., Iterator[Told]]) -> None:
    async def main() -> None:
        games = live_games()
        games.tell(next(told("aa", 3)))
        assert "#tile" not in games.items()["aa"]
        await trio.sleep(BOARD_AFTER + LIST_SECONDS)
        assert "#tile" in games.items()["aa"]

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_who_comes_before_a_still_game_has_its_board_gets_the_board(told: Callable[..., Iterator[Told]]) -> None:
    async def main() -> None:
        games = live_games()
        games.tell(next(told("aa", 3)))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(games.run)
            await trio.sleep(BOARD_AFTER * 0.9)
            games.items()  # somebody reads the page
            await trio.sleep(BOARD_AFTER * 0.9)
            with games._list.viewer() as events:
                assert b"#tile" not in events.receive_nowait()
                with trio.fail_after(LIST_SECONDS * 2):
                    assert b"#tile" in await events.receive()
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_the_list_has_boards_of_some_games_and_is_sent_again_when_it_changes(
    serve_games: Callable[[LiveGames], Served], told: Callable[..., Iterator[Told]]
) -> None:
    games = live_games()
    start, first, *_ = told("aa", 3)
    assert isinstance(start, Watched)
    (begun,) = start.events
    assert isinstance(begun, GameStarted)
    ids = [f"{number:02x}" for number in range(BOARDS_SHOWN)] + ["aa"]
    served = serve_games(games)
    with served.connect(LIST) as connection:
        viewer = Viewer(connection)
        assert viewer.next("games")["games"] == ""
        for id in ids:
            served.call(games.tell, Watched((replace(begun, spec=replace(begun.spec, id=id)),), 0))
        served.until(lambda: all(game.drawn is not None for game in games.games.values()))
        with served.connect(LIST) as other:
            event = Viewer(other).next("games")
        listed = event["games"].split("<li>")[1:]
        assert [re.findall(r"now/(\w+)\.html", item) for item in listed] == [[id] for id in ids]
        drawn = ["".join(re.findall('#(?:tile|rank)-[^"]*', item)) for item in listed]
        assert drawn == [drawn[0]] * BOARDS_SHOWN + [""]
        assert set(re.findall("#rank-.", drawn[0])) == {"#rank-?"}  # no rank is known to both sides
        served.call(games.tell, GameStored("00", 1, "over"))
        served.call(games.tell, first)
        while "now/00.html" in (event := viewer.next("games")["games"]) or "ply 1<" not in event:
            pass
        served.call(games.tell, LeagueProgress(1, 1, None))
        served.call(games.end)
        while not (event := viewer.next("games"))["text"].startswith("The league is over: 1 game"):
            pass
        served.call(partial(games.read, (), is_last=True))
        assert viewer.next("games")["is_stored"]


@given(seed=st.integers(0, 2**32), rules=st.sampled_from(["duel", "isf", "duel+silent-defence", "duel+rescue"]))
@settings(max_examples=20)
def test_games_that_differ_in_what_the_public_may_not_know_are_sent_in_the_same_bytes(seed: int, rules: str) -> None:
    rng, ruleset = Random(seed), load_ruleset(rules)
    rows = [random_rows(ruleset, rng), random_rows(ruleset, rng)]
    twins = [with_two_swapped(one, rng) for one in rows]
    actions = played_alike((EngineGame(ruleset, *rows), EngineGame(ruleset, *twins)), list(Color), rng)
    cut = rng.randint(0, len(actions))

    async def sent(setups: tuple[str, str]) -> list[str]:
        games, spec = live_games(), replace(game_spec(ruleset, TimeControl(bank_ms=60_000)), id="aa")
        games.tell(Watched((GameStarted(spec, setups, None),), 0))
        state = started(spec, setups)
        for ply, action in enumerate(actions, 1):
            mover = state.to_move
            event = ActionPlayed("aa", ply, mover, action, state.play(action), 1000, 0)
            games.tell(Watched((event,), 0))
        (game,) = games.games.values()
        return [game.event(0).data, game.event(cut).data, games.list_event(games.items()).data]

    red, blue = ("/".join(one) for one in rows)
    red_twin, blue_twin = ("/".join(one) for one in twins)
    clock = trio.testing.MockClock
    assert trio.run(sent, (red, blue), clock=clock()) == trio.run(sent, (red_twin, blue_twin), clock=clock())
