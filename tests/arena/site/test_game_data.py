"""What a page is given of a game is what its reader could see at each ply, compared with the engine and the views."""

import itertools
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_stores import play_game, read_game_script
from random_play import random_rows
from twins import PLAYERS, played_alike, record_of_twin, with_two_swapped

from arena.game.faults import GameResult, Verdict
from arena.game.record import GameRecord
from arena.game.recorded import Replay
from arena.league.readers import reader_named
from arena.league.store import Store
from arena.report.game_data import GameData, game_data, game_script, labels_of
from arena.report.game_text import facts_of
from arena.report.shown import SeenBy
from arena.report.site.game_page import game_page
from arena.report.site.page_frame import PageFrame, Site
from arena.report.site.site_contents import SitePlan
from arena.report.site.write_site import write_site
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset, Starts
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_view import true_cells
from arena.stratego.state import as_stratego
from protocol.notation import SQUARES, Color, Reason

RULES = [
    "isf",
    "tek",
    "vintage/lightning",
    "jumbo-81320/infiltrator+rescue+silent-defence+mobile-flag+lightning-captains",
    "vintage/barrage+silent-defence+rescue+mobile-flag+exploding-bombs",
]
FRAME = PageFrame(Site("a league", (("Standings", "index.html"),), "made by a test"))


def boards(data: GameData, view: str) -> list[list[str]]:
    """The boards that a page shows, put together as its script does it."""
    start = data.views[view].start
    found = [[start[at : at + 2] for at in range(0, len(start), 2)]]
    for change in data.views[view].changes:
        cells = list(found[-1])
        for name, cell in change.items():
            cells[SQUARES.index(name)] = cell
        found.append(cells)
    return found


@pytest.mark.parametrize("rules", RULES)
def test_a_page_shows_at_each_ply_what_was_there_and_what_each_side_knew(rules: str) -> None:
    record = play_game(load_ruleset(rules), seed=len(rules))
    data = read_game_script(game_script(1, game_data(record, SeenBy.ALL, {}, labels={})))
    shown = {view: boards(data, view) for view in ("all", "red", "blue")}
    replay = Replay(record)
    state = as_stratego(replay.state)
    for ply, step in enumerate(itertools.chain([None], replay.steps())):
        assert [cell[:2] for cell in shown["all"][ply]] == list(true_cells(state.board))
        for color in Color:
            cells, own = shown[color.word][ply], color.word[0]
            assert [cell[:2] for cell in cells] == list(state.view(color).cells())
            known = [cell for cell in state.view(color.opponent).cells() if cell[0] == own and cell[1] not in "?!"]
            for view in (cells, shown["all"][ply]):
                assert [cell[:2] for cell in view if cell[0] == own and cell.endswith("+")] == known
        assert step is None or data.actions[ply - 1] == step.action
    assert len(shown["all"]) == len(record.actions) + 1


@given(
    seed=st.integers(0, 2**32),
    rules=st.sampled_from(["duel", "barrage", "isf", "duel+silent-defence", "duel+rescue+mobile-flag"]),
    audience=st.sampled_from([SeenBy.RED, SeenBy.BLUE, SeenBy.PUBLIC]),
)
@settings(deadline=None, max_examples=40)
def test_games_that_differ_in_what_a_reader_may_not_know_give_the_same_page_and_script(
    seed: int, rules: str, audience: SeenBy
) -> None:
    rng, ruleset = Random(seed), load_ruleset(rules)
    rows = [random_rows(ruleset, rng), random_rows(ruleset, rng)]
    hidden = [color for color in Color if not audience.sees(color)]
    twins = [with_two_swapped(rows[color], rng) if color in hidden else rows[color] for color in Color]
    seats = [color for color in Color if audience in (SeenBy.PUBLIC, SeenBy(color.word))]
    actions = played_alike((EngineGame(ruleset, *rows), EngineGame(ruleset, *twins)), seats, rng)
    found = []
    for world, setups in enumerate((rows, twins)):
        record = _record(ruleset, setups, actions, hidden, Random(seed + world))
        facts = facts_of(1, record, audience, {})
        labels = labels_of(facts, record.variant, {})
        data = game_data(record, audience, {}, labels=labels)
        page = game_page(FRAME, facts, record, seen_by=audience, data=data)
        found.append((page, game_script(1, data)))
    assert found[0] == found[1]


@pytest.mark.parametrize("reader", ["bot:ann", "public"])
def test_leagues_that_differ_in_what_is_hidden_give_the_same_files_the_return_game_included(
    tmp_path: Path, reader: str
) -> None:
    """Ann and Bob set up alike in both games of a pair; Bob's set-up, seeds and words differ between the leagues."""
    rng, ruleset = Random(len(reader)), load_ruleset("duel")
    rows = [random_rows(ruleset, rng), random_rows(ruleset, rng)]
    hidden = [1] if reader == "bot:ann" else [0, 1]
    twins = [with_two_swapped(rows[bot], rng) if bot in hidden else rows[bot] for bot in (0, 1)]
    leagues: list[list[GameRecord]] = [[], []]
    for number, order in enumerate(((0, 1), (1, 0))):
        worlds = [[setups[bot] for bot in order] for setups in (rows, twins)]
        seats = [color for color in Color if order[color] not in hidden] or list(Color)
        actions = played_alike((EngineGame(ruleset, *worlds[0]), EngineGame(ruleset, *worlds[1])), seats, rng)
        for league, setups in zip(leagues, worlds, strict=True):
            own = [color for color in Color if order[color] in hidden]
            record = _record(ruleset, setups, actions, own, Random(len(leagues[0]) + 7 * len(leagues[1])))
            players = (PLAYERS[order[0]], PLAYERS[order[1]])
            times = (5,) * len(record.times_us)
            own_times = {"times_us": times, "cpu_us": (), "forgiven_us": (), "used": None}  # which pages of bots show
            league.append(msgspec.structs.replace(record, id=f"{number:016x}", players=players, **own_times))
    found = []
    for world, league in enumerate(leagues):
        (tmp_path / f"{world}").mkdir()
        with Store(tmp_path / f"{world}/l.sqlite", create=True) as store:
            store.agree({"ruleset": "duel", "time": "1s/move"}, PLAYERS)
            store.keep(entrants=PLAYERS)
            store.add_all(league)
            write_site(store, tmp_path / f"{world}/out", SitePlan(reader_named(reader)))
        files = [path for path in (tmp_path / f"{world}/out").rglob("*") if path.is_file()]
        found.append({str(path.relative_to(tmp_path / f"{world}")): path.read_bytes() for path in files})
    assert leagues[0] != leagues[1]
    assert found[0] == found[1]


def _record(
    ruleset: Ruleset, setups: list[tuple[str, ...]], actions: list[str], hidden: list[Color], rng: Random
) -> GameRecord:
    """A game that the side to move gives up, in which all that is the hidden sides' own differs with `rng`."""
    loser = Color(len(actions) % 2 ^ (ruleset.starts is Starts.BLUE))
    words = f"own {rng.random()}" if loser in hidden else "own"
    verdict = Verdict(GameResult.win(loser.opponent), Reason.RESIGN, len(actions) + 1, words)
    return record_of_twin(ruleset, setups, [*actions, "resign"], verdict, hidden=hidden, rng=rng)
