"""The games that are being played: noted as they are told, shown when the host's delay is over, bounded in number."""

from collections.abc import Callable, Iterator

import pytest
import trio
import trio.testing
from made_stores import play_game
from msgspec.structs import replace
from scripted import game_spec
from served import Serve

from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord
from arena.game.replay import Replay
from arena.game.time_control import TimeControl
from arena.league.executor.task import Watched
from arena.play.game_events import ActionPlayed, GameStarted
from arena.report.shown import SeenBy
from arena.report.site.page_frame import Site
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.shown.shown_board import ShownBoard
from arena.stratego.watched_board import WatchedBoard
from arena.web.address import Address, hosts_of
from arena.web.beside import GameStored, Told
from arena.web.feed import Viewers
from arena.web.guard import Guard, PageLook
from arena.web.live_games import ENDED, KEPT_OVER, MOVES_SHOWN, LiveGames


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


def test_games_that_are_over_are_forgotten_the_oldest_first(told: Callable[..., Iterator[Told]]) -> None:
    games = live_games()
    start, *_ = told("x", 3)
    assert isinstance(start, Watched)
    (begun,) = start.events
    assert isinstance(begun, GameStarted)
    for number in range(KEPT_OVER + 10):
        id = f"{number:04x}"
        games.tell(Watched((replace(begun, spec=replace(begun.spec, id=id)),), 0))
        games.tell(GameStored(id, number, "over"))
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
            assert games.games["aa"].ply in (last - 3, last - 2)  # of what was told up to 30 s before
            await trio.sleep(40)
            assert games.games["aa"].ply == last
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
        assert games.games["aa"].ply == len(all_of_it) - 1
        assert games.text == ENDED

    trio.run(main)


NASTY = "<script>alert(1)</script>"


def test_the_pages_of_games_under_way_can_be_read_without_a_script(
    serving: Serve, told: Callable[..., Iterator[Told]]
) -> None:
    games = live_games()
    first, *rest = told("aa", 6)
    assert isinstance(first, Watched)
    (start,) = first.events
    assert isinstance(start, GameStarted)
    players = (replace(start.spec.players[0], name=NASTY), start.spec.players[1])
    games.tell(Watched((replace(start, spec=replace(start.spec, players=players)),), 0))
    look = PageLook(Site("a test", (), ""))
    served = serving(Guard(games.routes(), look, hosts_of([Address("127.0.0.1", 0)])), beside=games.run)
    page = served.get("/now.html")
    assert 'href="now/aa.html"' in page.text
    assert NASTY not in page.text
    with served.connect(b"GET /now/aa/events HTTP/1.1\r\nHost: localhost\r\n\r\n") as viewer:
        for message in rest:
            served.call(games.tell, message)
        found = b""
        while f'"ply": {len(rest)}'.encode() not in found:
            found += viewer.recv(65536)
    page = served.get("/now/aa.html")
    assert (page.status, NASTY in page.text) == (200, False)
    assert f"{len(rest)}. " in page.text
    served.call(games.tell, GameStored("aa", 9, "over now"))
    page = served.get("/now/aa.html")
    assert "over now" in page.text
    assert 'href="../games/9.html"' in page.text
    for path in ("/now/bb.html", "/now/bb/events", "/now/../aa.html", "/now/%2e%2e.html"):
        assert served.get(path).status == 404


RULES = ["isf", "vintage/lightning+silent-defence", "jumbo-81320/infiltrator+rescue"]


def events_of(record: GameRecord) -> Iterator[ActionPlayed]:
    for step in Replay(record).steps():
        yield ActionPlayed(record.id, step.ply, step.color, step.action, step.told, step.microseconds, 0)


def watched(record: GameRecord, spec: GameSpec, audience: SeenBy = SeenBy.PUBLIC) -> WatchedBoard:
    red, blue = record.setups
    assert red is not None
    assert blue is not None
    return WatchedBoard(spec, (red, blue), audience)


def common(by_red: str, by_blue: str) -> str:
    """What both sides know of a square: a rank only if both have it."""
    if by_red == by_blue:
        return by_red
    assert by_red[0] == by_blue[0]
    return by_red if by_red[1] in "?!" else by_blue


@pytest.mark.parametrize("rules", RULES)
def test_the_public_sees_after_each_ply_what_both_sides_know_and_no_more(rules: str) -> None:
    ruleset = load_ruleset(rules)
    record = play_game(ruleset, seed=1, plies=120)
    game = watched(record, game_spec(ruleset, TimeControl(move_ms=1000)))
    replay = Replay(record)
    positions = [ShownBoard(replay.spec.kind, replay.state, SeenBy(side), {}) for side in ("red", "blue")]
    steps = replay.steps()
    for event in [None, *events_of(record)]:
        if event:
            game.play(event)
            next(steps)
        state = game.state()
        assert state["cells"] == "".join(map(common, *(position.cells() for position in positions)))
        assert state["ply"] == (event.ply if event else 0)
        assert event is None or event.action in state["moves"][-1]
    assert len(game.state()["moves"]) == MOVES_SHOWN


def test_with_all_ranks_the_board_is_the_true_one() -> None:
    ruleset = load_ruleset("isf")
    record = play_game(ruleset, seed=2, plies=60)
    game, replay = watched(record, game_spec(ruleset, TimeControl(move_ms=1000)), SeenBy.ALL), Replay(record)
    position = ShownBoard(replay.spec.kind, replay.state, SeenBy.ALL, {})
    for event, _ in zip(events_of(record), replay.steps(), strict=True):
        game.play(event)
        assert game.state()["cells"] == "".join(position.cells())
