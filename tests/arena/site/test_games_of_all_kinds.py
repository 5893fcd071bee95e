"""Games that are not Stratego as text, as JSON and as pages: all is there, and nothing that the reader was not told."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click.testing import CliRunner
from scripted import record_without_referee
from small_games import FOUR, GUESSING, HOLDING, Hands

from arena.cli.main import cli
from arena.errors import UsageError
from arena.game import Game
from arena.game.faults import GameResult, Verdict, lost_by
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.recorded import Replay, started
from arena.game.registry import FILES, load_game
from arena.game.time_control import TimeControl
from arena.league.readers import reader_named
from arena.league.store import Store
from arena.report.site.site_contents import SitePlan
from arena.report.site.write_site import write_site

if TYPE_CHECKING:
    from browsing import Axe, OpenAddress
    from playwright.sync_api import Page

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
PLAYERS = Player("ann", "1" * 64), Player("bob", "2" * 64)


def record_of(game: Game, *actions: str, seed: int = 1) -> GameRecord:
    spec = GameSpec("0123456789abcdef", game.variant(), TimeControl(move_ms=100), PLAYERS, (11, 22), seed)
    setups = ("71", "82") if game.has_setups else ("", "")
    state = started(spec, setups)
    for action in actions:
        state.play(action)
    assert state.outcome is not None
    winner, reason = state.outcome
    assert winner is not None
    verdict = Verdict(GameResult.win(winner), reason, len(actions), lost_by(PLAYERS, winner.opponent, reason))
    return record_without_referee(spec, verdict, setups, actions)


FOUR_RECORD = record_of(FOUR, *"1213141")


def stored(folder: Path, record: GameRecord) -> Path:
    path = folder / "s.sqlite"
    with Store(path, create=True) as store:
        store.add(record)
    return path


def site_of(path: Path, reader: str = "all", **plan: Any) -> Path:
    out = path.with_name(reader)
    with Store(path, create=False) as store:
        done, _ = write_site(store, out, SitePlan(reader_named(reader), **plan))
    assert not done.faults
    return out


def shown(path: Path, *options: str) -> str:
    done = CliRunner().invoke(cli, ["show", str(path), "1", *options], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_show_prints_what_was_played_and_told_and_the_position_in_each_ply(tmp_path: Path) -> None:
    text = shown(stored(tmp_path, record_of(GUESSING, "5", "9", "82")), "--no-times")
    assert "\nguessing 1, guessing, 100ms; all shown\n" in text
    assert "\nstart\nred has 71\nblue has 82\n\nply 1: red 5; miss\nred has 71\nblue has 82\n" in text
    assert "\nply 3: red 82; hit\n" in text
    assert text.endswith("after 3 plies: blue (bob) had its number guessed\nverdict: red, guessed, after 3 plies\n")


def test_show_as_json_has_the_lines_that_the_side_was_told_and_its_position(tmp_path: Path) -> None:
    path = stored(tmp_path, record_of(GUESSING, "5", "9", "82"))
    start, ply = json.loads(shown(path, "--json", "--view", "red", "--ply", "0,1"))["plies"]
    assert (start["events"], start["text"]) == ([], "red has 71\nblue has ?")
    assert (ply["action"], ply["events"]) == ("5", ["moved red 5", "miss"])


HELD = record_of(HOLDING, "keep", "exchange", "keep", "exchange", "exchange", "keep", "keep", "exchange", seed=7)


def numbers_of(record: GameRecord) -> tuple[list[str], list[str]]:
    """All that each side has ever held, which was shown to nobody else."""
    replay = Replay(record)
    assert list(replay.steps())
    assert isinstance(replay.state, Hands)
    red, blue = replay.state.ever
    return red, blue


def all_bytes(site: Path) -> str:
    """All files of a site, and the data that is packed in scripts."""
    texts = [file.read_text() for file in site.rglob("*") if file.is_file()]
    packed = [found for text in texts for found in re.findall(r'arenaGame\(\d+, "([^"]*)"\)', text)]
    assert packed
    return "\n".join([*texts, *(zlib.decompress(base64.b64decode(data)).decode() for data in packed)])


def test_what_one_side_alone_was_told_is_on_no_page_of_another_reader_and_in_none_of_its_output(tmp_path: Path) -> None:
    path, (red, blue) = stored(tmp_path, HELD), numbers_of(HELD)
    assert len(blue) == 4
    for_red = shown(path, "--view", "red") + shown(path, "--view", "red", "--json") + all_bytes(site_of(path, "red"))
    for_all = all_bytes(site_of(path, "public"))
    whole = all_bytes(site_of(path))
    for number in (*red, *blue):
        assert number in whole
        assert number not in for_all
        assert (number in for_red) is (number in red)
    assert "exchange" in for_red  # Red's own
    assert "exchange" not in for_all
    text = shown(path, "--view", "red", "--no-times")
    assert "ply 2: blue ?; acted blue\n" in text
    assert f"ply 5: red exchange; acted red; holds red {red[1]}\n" in text


def test_games_that_differ_in_what_a_reader_may_not_know_are_shown_alike(tmp_path: Path) -> None:
    """Blue's actions, its numbers, its seed and its standard error differ."""
    found = []
    for world, actions in enumerate((HELD.actions, [*HELD.actions[:7], "keep"])):
        folder = tmp_path / str(world) / "s"
        folder.mkdir(parents=True)
        record = msgspec.structs.replace(
            record_of(HOLDING, *actions, seed=7), seeds=(11, world), stderr=("", str(world))
        )
        path = stored(folder, record)
        found.append(all_bytes(site_of(path, "red")) + shown(path, "--view", "red", "--no-times"))
    assert found[0] == found[1]


def test_dice_that_happen_to_be_the_same_are_not_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, "")
    game = load_game(str(EXAMPLES / "liars-dice/liars_dice.py"))
    same = 0
    for seed in range(30):
        state = game.start(game.variant("short"), seed, ("", ""))
        while state.outcome is None:
            actions = state.legal_actions() or ()
            red, blue = state.play(actions[-1] if actions[-1] == "liar" else actions[0])
            same += red == blue and red[-1].startswith("dice ")
            assert not any(line.startswith("dice ") for line in game.public_lines((red, blue)))
    assert same


def test_the_heading_of_a_page_has_the_words_of_the_games_own_ending(tmp_path: Path) -> None:
    page = (site_of(stored(tmp_path, FOUR_RECORD)) / "games/1.html").read_text()
    (heading,) = re.findall("<h1>(.*)</h1>", page)
    assert re.sub("<[^>]*>", "", heading) == "ann beat bob, which let four in a line happen, 7 plies"


def test_the_page_of_the_rules_has_them_in_words_and_as_lines(tmp_path: Path) -> None:
    page = (site_of(stored(tmp_path, HELD)) / "rules.html").read_text()
    assert '<p class="words">Keep your number, or get another.</p>\n<p class="words">The higher one wins.</p>' in page
    assert "<dt>lower</dt><dd>lost by who held the lower number</dd>" in page


def test_names_of_pieces_are_refused_where_there_are_none(tmp_path: Path) -> None:
    path = stored(tmp_path, FOUR_RECORD)
    done = CliRunner().invoke(cli, ["show", str(path), "1", "--names", "de", "--ranks", "american"])
    assert done.exit_code == 2
    assert "--names and --ranks: four has no names or ranks of pieces" in done.stderr
    assert not done.stdout
    with pytest.raises(UsageError, match="--ranks: four has no"):
        site_of(path, names={"ranks": "american"})


# --- in a browser -----------------------------------------------------------------------------------------------------


def image(page: "Page") -> str:
    address: str = page.locator("[data-position] img").evaluate("image => decodeURIComponent(image.src)")
    return address


def test_a_page_goes_through_the_images_of_a_game_by_key_and_link(open_address: "OpenAddress", tmp_path: Path) -> None:
    site = site_of(stored(tmp_path, FOUR_RECORD))
    page = open_address(f"file://{site}/games/1.html#ply=2&view=red", 360)
    page.wait_for_selector("[data-position] img")
    assert image(page).count("<circle") == 2
    page.keyboard.press("ArrowRight")
    assert image(page).count("<circle") == 3
    page.keyboard.press("End")
    assert image(page).count("<circle") == 7
    assert "bob) let four in a line happen" in page.locator("[data-now]").inner_text()
    page.click("[data-go=first]")
    assert "The game begins." in page.locator("[data-now]").inner_text()
    page.locator("[data-ply='4']").click()
    assert image(page).count("<circle") == 4
    assert (page.locator("[data-position] img").get_attribute("alt") or "").startswith(". . . .")
    assert page.locator("fieldset.views label span").all_inner_texts() == [
        "everything",
        "what Cross (ann) knew",
        "what Circle (bob) knew",
    ]
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_page_shows_what_each_side_knew_as_text(open_address: "OpenAddress", tmp_path: Path) -> None:
    site = site_of(stored(tmp_path, HELD))
    (red, *_), (blue, *_) = numbers_of(HELD)
    page = open_address(f"file://{site}/games/1.html#ply=1")
    position = page.locator("[data-position] pre")
    assert position.inner_text() == f"red {red}\nblue {blue}"
    page.check("input[name=view][value=blue]")
    assert position.inner_text() == f"red ?\nblue {blue}"
    assert page.locator("[data-go=flip]").count() == 0
    page = open_address(f"file://{site_of(tmp_path / 's.sqlite', 'public')}/games/1.html#ply=2")
    assert page.locator("[data-position]").inner_text() == "No position to show."
    assert "acted blue" in page.locator("[data-now]").inner_text()


@pytest.mark.parametrize("record", [FOUR_RECORD, HELD], ids=["images", "text"])
def test_axe_finds_nothing_on_pages_of_games_and_rules(
    axe: "Axe", open_address: "OpenAddress", tmp_path: Path, record: GameRecord
) -> None:
    site = site_of(stored(tmp_path, record))
    for name in ("games/1", "rules", "index"):
        page = open_address(f"file://{site}/{name}.html", 360)
        if name == "games/1":
            page.wait_for_selector("[data-position] > :not([hidden])")
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_without_scripts_a_page_has_the_last_position_and_the_moves(
    open_address: "OpenAddress", tmp_path: Path
) -> None:
    site = site_of(stored(tmp_path, FOUR_RECORD))
    page = open_address(f"file://{site}/games/1.html", java_script_enabled=False)
    assert page.locator("[data-position] img").evaluate("image => image.naturalWidth > 0 || image.complete")
    assert page.locator("[data-moves] li").all_inner_texts() == [*"1213141"]
