"""The pages in a real browser, from the disk: nothing fails, all can be read and done by everybody, and the board shows
what `arena show` prints."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from browsing import look_at
from made_stores import make_store, play_game

from arena.game.record import GameRecord, NoteLine
from arena.game.recorded import Replay
from arena.league.store import Store
from arena.report.game_data import game_data, game_script, labels_of
from arena.report.game_text import facts_of
from arena.report.shown import SeenBy
from arena.report.site.game_page import game_page
from arena.report.site.page_frame import FOLDER, PageFrame, Site
from arena.report.site.site_contents import SitePlan
from arena.report.site.write_site import write_site
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.shown.piece_names import STRONGEST_FIRST, Names, Numbering, PieceLanguage
from arena.stratego.shown.shown_board import ShownBoard
from protocol.notation import RANK_BY_LETTER, SQUARES, Color

if TYPE_CHECKING:
    from browsing import Axe

    from tests.arena.site.conftest import OpenPage

RULES = [
    *("barrage", "tek", "vintage/lightning", "isf+mobile-bombs+mobile-flag", "isf+silent-defence"),
    "jumbo-81320/infiltrator+rescue+silent-defence+mobile-flag+lightning-captains",
]
KINDS = ("index", "crosstable", "games", "rules", "bots/1", "games/1")
NASTY = "<script>document.title='run'</script><img src=https://evil.example/x onerror=\"document.title='run'\">"
HOSTILE = f"{NASTY}</script></title>{{{{7*7}}}}\x1b[31m\u202e\u2066\u200f&lt;'\"`" + "W" * 300
SHOWN = """
() => {
  const boards = [], lost = [], looks = {};
  for (let at = 0; at <= last; at++) {
    go(at);
    const squares = [...document.querySelectorAll("[data-board] [data-square]")];
    boards.push(squares.map((box) => box.dataset.square + box.dataset.cell).join(" "));
    for (const [square, box] of boxes) {
      const place = places.get(square), said = box.getAttribute("aria-label").split(";")[0];
      const uses = [...place.querySelectorAll("use")].map((use) => use.getAttribute("href"));
      const isLake = box.getAttribute("fill") === "var(--lake)", label = said.slice(square.length + 1);
      looks[box.dataset.cell] = [isLake, uses.filter((id) => id !== "#eye"), place.textContent, label];
    }
    const text = (list) => [...list.children].map((item) => item.textContent).join(" ");
    lost.push([...document.querySelectorAll("[data-lost]")].map(text));
  }
  return { boards, lost, looks };
}
"""


def site_of(folder: Path, **more: Any) -> list[GameRecord]:
    records = make_store(folder / "l.sqlite", **more)
    with Store(folder / "l.sqlite", create=False) as store:
        write_site(store, folder / "out", SitePlan(title="a league"))
    return records


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league with all kinds of pages, and all that can be on them."""

    def say(record: GameRecord) -> GameRecord:
        notes = (NoteLine(1, "red", "a note"), NoteLine(2, "blue", "another"))
        return msgspec.structs.replace(record, declared=("I", "me"), stderr=("oh", ""), notes=notes)

    folder = tmp_path_factory.mktemp("site")
    site_of(folder, games=12, change=say, plies=80)
    return folder / "out"


def test_all_kinds_of_pages_load_without_a_complaint_fit_the_width_and_axe_finds_nothing(
    axe: "Axe", open_page: "OpenPage", site: Path
) -> None:
    for name in KINDS:
        page = open_page(site / f"{name}.html", fragment="#bot=ann" if name == "games" else "#ply=3")
        assert page.title()
        look_at(page, axe)


def test_the_board_shows_at_each_ply_and_in_each_view_what_show_prints_under_rules_of_every_kind(
    open_page: "OpenPage", tmp_path: Path
) -> None:
    """Twenty plies of each, all of its squares; pieces in one language and numbering after the other."""
    shutil.copytree(FOLDER / "static", tmp_path / "static")
    (tmp_path / "games").mkdir()
    called = [Names(language, numbering) for language in PieceLanguage for numbering in Numbering]
    frame, page = PageFrame(Site("a league", (), "")), open_page(tmp_path / "static/core.js")
    for number, rules in enumerate(RULES, 1):
        record = play_game(load_ruleset(rules), seed=number, plies=20)
        names = called[number % len(called)]
        facts = facts_of(number, record, SeenBy.ALL, {})
        options = {"names": names.language.value, "ranks": names.numbering.value}
        labels = labels_of(facts, record.variant, options)
        data = game_data(record, SeenBy.ALL, options, labels=labels)
        html = game_page(frame, facts, record, seen_by=SeenBy.ALL, data=data)
        (tmp_path / f"games/{number}.html").write_text(html)
        (tmp_path / f"games/{number}.js").write_text(game_script(number, data))
        page.goto(f"file://{tmp_path}/games/{number}.html{'#from=blue' if number % 2 else ''}")
        page.wait_for_selector("[data-square]")
        for view in ("all", "red", "blue"):
            page.check(f"input[name=view][value={view}]")
            _check_shown(page.evaluate(SHOWN), record, view, names, flipped=bool(number % 2))


def _check_shown(shown: dict[str, Any], record: GameRecord, view: str, names: Names, *, flipped: bool) -> None:
    ranks = range(10) if flipped else range(9, -1, -1)
    files = range(9, -1, -1) if flipped else range(10)
    order = [10 * rank + file for rank in ranks for file in files]
    replay = Replay(record)
    position = ShownBoard(replay.spec.kind, replay.state, SeenBy(view), {})
    steps = replay.steps()
    for ply, board in enumerate(shown["boards"]):
        if ply:
            next(steps)
        cells = position.cells()
        assert board == " ".join(SQUARES[square] + cells[square] for square in order), ply
        lost = [_lost_text(position, color, names) for color in Color]
        assert shown["lost"][ply] == (lost if flipped else lost[::-1]), ply
    assert next(steps, None) is None
    for cell, (is_lake, drawn, text, label) in shown["looks"].items():
        rank = RANK_BY_LETTER.get(cell[1])
        assert is_lake == (cell == "~~")
        if cell[0] not in "rb":
            assert (drawn, text) == ([], "")
            continue
        tile, name = f"#tile-{'red' if cell[0] == 'r' else 'blue'}", record.players[0 if cell[0] == "r" else 1].name
        if rank is None:
            assert (drawn, text) == ([tile, f"#rank-{cell[1]}"], "")
            assert label.startswith(f"{name}: unknown piece")
        else:
            assert (drawn, label) == ([tile, f"#rank-{cell[1]}"], f"{name}: {names.name(rank)}")
            assert text == ("" if cell[1] in "FB" else names.number(rank))


def _lost_text(position: ShownBoard, color: Color, names: Names) -> str:
    """Return what is read of a list of lost pieces: what is on each (nothing on a bomb), its name, and how many."""
    lost = position.lost(color)
    found = []
    for rank in (rank for rank in STRONGEST_FIRST if rank in lost):
        number = "" if rank.letter in "FB" else names.number(rank)
        count = "" if lost.count(rank) == 1 else f"\N{MULTIPLICATION SIGN}{lost.count(rank)}"
        found.append(f"{number}{names.name(rank)}{count and ' ' + count}{count}")
    return " ".join(found)


def test_keys_the_slider_links_and_the_address_go_to_a_ply(open_page: "OpenPage", tmp_path: Path) -> None:
    (record,) = site_of(tmp_path, games=1)
    plies = len(record.actions)
    page = open_page(tmp_path / "out/games/1.html", fragment="#ply=4&view=red&from=blue")
    now = page.locator("[data-now]")

    def at() -> int:
        return int(page.locator("#ply").input_value())

    assert at() == 4
    assert page.is_checked("input[name=view][value=red]")
    assert page.locator("[data-board] [data-square]").first.get_attribute("data-square") == "j1"
    for key, ply in (("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 0), ("End", plies), ("ArrowLeft", plies - 1)):
        page.keyboard.press(key)
        assert at() == ply
    page.keyboard.press("f")
    assert page.locator("[data-board] [data-square]").first.get_attribute("data-square") == "a10"
    page.click("[data-moves] a >> nth=2")
    assert at() == 3
    assert record.actions[2] in now.inner_text()
    page.wait_for_function("() => location.hash.startsWith('#ply=3')")
    page.evaluate("location.hash = '#ply=%zz&view=nobody&length=2'")
    page.wait_for_function("() => document.querySelector('#ply').value === '0'")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    page.wait_for_function("() => document.querySelector('#ply').value > 1")
    page.click("[data-go=play]")
    stopped = at()
    page.click("[data-go=back]")
    assert at() == stopped - 1


def test_all_of_a_replay_can_be_done_with_the_keyboard_alone_and_is_announced(
    open_page: "OpenPage", tmp_path: Path
) -> None:
    (record,) = site_of(tmp_path, games=1)
    page = open_page(tmp_path / "out/games/1.html")
    reached: list[str] = []
    while "moves" not in reached:
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            """() => {
              const at = document.activeElement, { outlineStyle, outlineWidth, strokeWidth } = getComputedStyle(at);
              const frame = at.id === "ply" ? getComputedStyle(at.parentNode) : null;
              const { go, square, moves } = at.dataset, name = go || square || at.name || at.id || at.tagName;
              const ring = frame ? frame.outlineWidth : square ? strokeWidth : outlineStyle + outlineWidth;
              return [moves === "" ? "moves" : name, ring];
            }"""
        )
        assert outline in ("solid3px", "3px", "6px"), name
        reached.append(name)
        if name == "a1":
            page.keyboard.press("ArrowUp")
            assert page.evaluate("document.activeElement.dataset.square") == "a2"
            assert (page.evaluate("document.activeElement.getAttribute('aria-label')")).startswith("a2 ")
        if name == "next":
            page.keyboard.press("Enter")
            assert record.actions[0] in page.inner_text("[data-now][aria-live=polite]")
        if name == "ply":
            page.keyboard.press("ArrowRight")
            assert page.locator("#ply").input_value() == "2"  # the slider's own key
        if name == "view":
            page.keyboard.press("ArrowDown")
            assert page.is_checked("input[name=view][value=red]")
    controls = ["first", "back", "play", "next", "last", "fight", "reveal", "flip"]
    assert [name for name in reached if name in controls] == controls
    assert len(reached) < 25  # the list of moves is one stop


def test_the_list_is_filtered_by_bots_reason_and_length(open_page: "OpenPage", tmp_path: Path) -> None:
    records = site_of(tmp_path, games=6, names=("a nn", "b+b", "eve"))
    page = open_page(tmp_path / "out/crosstable.html")
    page.click("td a[title='a nn - b+b']")
    both = [record for record in records if {player.name for player in record.players} == {"a nn", "b+b"}]
    page.wait_for_function(f"() => document.querySelectorAll('#games tbody tr').length == {len(both)}")
    page.select_option("select[name=against]", "")
    ann = [record for record in records if "a nn" in {player.name for player in record.players}]
    page.wait_for_function(f"() => document.querySelectorAll('#games tbody tr').length == {len(ann)}")
    page.fill("input[name=from]", "100000")
    page.wait_for_function("() => document.querySelectorAll('#games tbody tr').length == 0")
    assert page.inner_text("#found") == "0 games"


def test_nothing_that_a_bot_says_runs_is_fetched_or_breaks_the_page(open_page: "OpenPage", tmp_path: Path) -> None:
    width = 360

    def say(record: GameRecord) -> GameRecord:
        notes = (NoteLine(1, "red", HOSTILE), NoteLine(2, "blue", "\u05d0" * 200))
        both = (HOSTILE, HOSTILE)
        return msgspec.structs.replace(record, declared=both, authors=both, stderr=both, notes=notes)

    names = (NASTY, "\u202eevil\u2066\x1b[2J", "W" * 200)
    site_of(tmp_path, games=3, names=names, change=say)
    for name in (*KINDS, "bots/2", "bots/3", "games/2"):
        page = open_page(tmp_path / f"out/{name}.html", width, fragment="#ply=1")
        assert page.title() != "run"
        assert page.locator("img, iframe, object, embed, base, form[action]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        text = page.evaluate("document.documentElement.textContent")
        assert not set(text) & set("\x1b\u202e\u2066\u200f")
        assert page.locator("meta[http-equiv=Content-Security-Policy]").count() == 1
        if name == "games/1":
            assert NASTY in page.inner_text("[data-now]")


def test_a_page_that_lets_a_script_in_after_all_does_not_run_it(
    open_page: "OpenPage", site: Path, complaints: list[str]
) -> None:
    """The policy holds where the escaping should fail."""
    page = open_page(site / "index.html")
    found = page.evaluate(
        """() => new Promise((resolve) => {
          document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "document.title = 'run'";
          document.body.append(script);
        })"""
    )
    assert found.startswith("script-src")
    assert page.title() != "run"
    assert "Content Security Policy" in complaints.pop()


def test_after_a_click_on_a_view_the_arrows_go_through_the_game_and_with_the_keyboard_they_choose_the_view(
    open_page: "OpenPage", site: Path
) -> None:
    page = open_page(site / "games/1.html", fragment="#ply=3")
    for pressed in ("fieldset label:has([value=red]) span", "input[value=red]"):
        page.click(pressed)
        page.wait_for_function("() => document.activeElement === document.body")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("view") == "red"
    assert page.evaluate("ply") == 5
    page.focus("input[value=red]")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("view") == "blue"


def test_without_a_script_a_game_has_its_last_position_its_moves_and_no_controls(
    open_page: "OpenPage", site: Path
) -> None:
    for name in ("games/1", "games"):
        page = open_page(site / "index.html", java_script_enabled=False)
        page.goto(f"file://{site}/{name}.html")
        assert page.locator("button, input, select").locator("visible=true").count() == 0
    page.goto(f"file://{site}/games/1.html")
    assert page.locator("[data-board] use[href='#tile-red']").count() > 1
    assert page.locator("[data-moves] li").count() > 10
    assert "With JavaScript" in page.inner_text("[data-now]")


def test_what_an_unknown_piece_may_be_is_told_of_the_square_that_is_pointed_at(
    open_page: "OpenPage", site: Path
) -> None:
    page = open_page(site / "games/1.html", fragment="#ply=1&view=red")
    page.hover("[data-square][data-cell='b?'] >> nth=0")
    told = page.locator("[data-about]")
    assert "knows that it is one of" in told.inner_text()
    assert page.locator("[data-about] .piece").count() > 5
    page.hover("[data-square][data-cell^='r'] >> nth=0")
    assert "one of" not in told.inner_text()


def test_pieces_slide_and_what_falls_in_a_fight_is_gone_when_the_motion_is_over(
    open_page: "OpenPage", site: Path
) -> None:
    page = open_page(site / "games/1.html")
    page.emulate_media(reduced_motion="no-preference")
    page.wait_for_selector("[data-square]")
    fight = page.evaluate("Math.min(...Object.keys(game.views[view].fights))")
    page.evaluate("(at) => go(at)", fight - 1)
    assert page.evaluate("document.getAnimations().length") == 0
    page.evaluate("slideMs = 600_000")  # for this motion, so that a busy machine sees it too
    page.keyboard.press("n")
    assert page.locator("#ply").input_value() == str(fight)
    assert page.evaluate("document.getAnimations().length") > 0
    page.evaluate("document.getAnimations().forEach((motion) => motion.finish())")
    page.wait_for_function("() => document.getAnimations().length === 0")
    assert page.locator(".lost-piece").count() > 0
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_position_can_be_saved_as_an_image_and_a_ply_shared(open_page: "OpenPage", site: Path) -> None:
    page = open_page(site / "games/1.html", fragment="#ply=9&view=blue")
    with page.expect_download() as saved:
        page.click("[data-save-as=svg]")
    text = saved.value.path().read_text()
    assert saved.value.suggested_filename == "game-1-ply-9.svg"
    assert text.startswith("<svg")
    assert [needed for needed in ("var(--", "class=") if needed in text] == []  # nothing of the page
    with page.expect_download() as saved:
        page.click("[data-save-as=png]")
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    page = open_page(site / "embed.html", 420, fragment="#game=1&ply=9&view=blue")
    page.wait_for_selector("[data-square]")
    assert page.locator("#ply").input_value() == "9"
    assert page.locator("p > a").all_inner_texts() == ["a league, game 1"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (768, 1024), (360, 740)])
def test_board_controls_and_what_happened_are_in_the_window_and_stay_in_their_places(
    open_page: "OpenPage", site: Path, width: int, height: int
) -> None:
    page = open_page(site / "games/1.html", width)
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_selector("[data-square]")
    places = """() => ["board", "controls", "timeline", "now"].map((name) => {
      const { top, bottom } = document.querySelector(`[data-${name}]`).getBoundingClientRect();
      return [top, bottom];
    })"""
    first = page.evaluate(places)
    assert all(0 <= top < bottom <= height for top, bottom in first), first
    for _ in range(20):
        page.keyboard.press("n")
        assert page.evaluate(places) == first
