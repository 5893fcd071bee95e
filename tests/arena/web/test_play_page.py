"""The page on which a person plays, in a real browser: with the mouse, with the keyboard alone, in two browsers."""

import random
import re
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import SCREENS, look_at
from play_table import PlayTable, Seat, at_random, from_lines, history_until

from arena.bots.loading import load_bot
from arena.game.faults import GameResult
from arena.game.person_seat import SeatStage
from arena.game.recheck import check_record
from arena.game.record import GameRecord
from arena.stratego.seat_state import seat_of
from protocol.notation import SQUARES, Color, Reason

if TYPE_CHECKING:
    from browsing import Axe, OpenAddress
    from playwright.sync_api import Locator, Page, Response, Route

RED = ("F.B.......", "B.........", ".S3.3.....", "2..9M....2")
BLUE = ("..........", ".B.B......", "S..33.....", "2F..9M...2")
BOTS = Path(__file__).parents[3] / "bots"


@pytest.fixture
def open_page(seat: Seat, open_address: "OpenAddress") -> Callable[..., "Page"]:
    """`open_page(table, color, width, scheme)`: a seat in a browser of its own, which is closed before the table."""

    def make(table: PlayTable, color: Color = Color.RED, width: int = 1280, scheme: Any = "light") -> "Page":
        page = open_address(table.address(color), width, color_scheme=scheme, has_touch=True)
        page.wait_for_selector("#play[data-stage]")
        return page

    return make


def square(page: "Page", name: str) -> "Locator":
    return page.locator(f"[data-square={name}]")


def at(page: "Page", stage: str, plies: int | None = None) -> None:
    """Wait until the page is there, and shows that ply."""
    page.wait_for_selector(f"#play[data-stage={stage}]" + ("" if plies is None else f"[data-ply='{plies}']"))


def shown(page: "Page") -> dict[str, str]:
    """The letter of the piece on each square of the board that has one, `?` or `!` for one that is not known."""
    cells = page.locator("[data-square]").evaluate_all(
        "(all) => all.map(({ dataset }) => [dataset.square, dataset.cell])"
    )
    return {name: cell[1] for name, cell in cells if cell[0] in "rb"}


def unknown(page: "Page") -> set[str]:
    return {name for name, letter in shown(page).items() if letter in "?!"}


def draft(page: "Page", rows: tuple[str, ...]) -> None:
    """Load the page with a set-up under way."""
    page.evaluate("(rows) => history.replaceState(rows, '')", "/".join(rows))
    page.reload()


def set_up(page: "Page") -> None:
    at(page, "setting-up")
    page.select_option("[data-presets]", index=1)
    page.click("[data-do=ready]")


def test_a_set_up_is_made_by_dragging_clicking_keys_a_preset_or_at_random(seat: Seat, open_page: Any) -> None:
    table = seat()
    page = open_page(table)
    at(page, "setting-up")
    assert shown(page) == {}
    assert page.locator("[data-tray] button").all_inner_texts()[0].split() == ["10", "marshal", "\u00d71"]
    page.drag_and_drop("[data-letter=M]", "[data-square=e4]")
    assert shown(page) == {"e4": "M"}
    left = page.locator("[data-letter=M]")
    assert ("\u00d70" in left.inner_text(), left.get_attribute("aria-disabled")) == (True, "true")
    assert page.inner_text("[data-missing]") == "Still to be placed: 9."
    page.drag_and_drop("[data-square=e4]", "[data-square=a1]")
    assert shown(page) == {"a1": "M"}
    page.click("[data-letter=F]")
    square(page, "b2").click()
    square(page, "b2").click()
    square(page, "a1").click()
    assert shown(page) == {"a1": "F", "b2": "M"}
    square(page, "b2").press("ArrowRight")
    page.keyboard.press("s")
    assert shown(page) == {"a1": "F", "b2": "M", "c2": "S"}
    page.keyboard.press("Delete")
    page.drag_and_drop("[data-square=b2]", "[data-tray]", target_position={"x": 3, "y": 3})
    assert shown(page) == {"a1": "F"}
    square(page, "a1").click()
    square(page, "e5").click()
    assert "only to your four rows" in page.inner_text("[data-refused]")
    page.keyboard.press("Escape")
    page.click("[data-do=ready]")
    assert "Still to be placed: 9." in page.inner_text("[data-refused]")
    page.select_option("[data-presets]", index=1)
    chosen = shown(page)
    assert len(chosen) == 10
    page.select_option("[data-presets]", label="Random 1")
    random_one = shown(page)
    assert sorted(random_one.values()) == sorted(chosen.values())
    assert all(int(name[1:]) <= 4 for name in random_one)
    page.click("[data-do=clear]")
    assert shown(page) == {}
    page.select_option("[data-presets]", label="Random 2")
    page.click("[data-do=ready]")
    at(page, "ready")
    assert len(shown(page)) == 10
    assert table.state(Color.RED).setup is not None


def test_a_piece_is_dragged_with_a_finger(seat: Seat, open_page: Any) -> None:
    page = open_page(seat(), width=360)
    at(page, "setting-up")
    page.select_option("[data-presets]", index=1)
    page.locator("[data-board]").scroll_into_view_if_needed()
    before = shown(page)
    start = next(name for name in before if name != "j4")
    origin, target = (square(page, name).bounding_box() for name in (start, "j4"))
    assert origin
    assert target
    touch = page.context.new_cdp_session(page)
    points = [
        {"x": box["x"] + box["width"] / 2 + by, "y": box["y"] + box["height"] / 2}
        for box, by in ((origin, 0), (origin, 12), (target, 0))
    ]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[:1]})
    for point in points[1:]:
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expected = {name: text for name, text in before.items() if name != start} | {"j4": before[start]}
    if "j4" in before:
        expected[start] = before["j4"]
    assert shown(page) == expected


def test_a_whole_game_against_a_bot_is_played_with_the_mouse_and_its_record_stands(seat: Seat, open_page: Any) -> None:
    table = seat("duel", ("Ada", "unused"), bot=load_bot(BOTS / "drifter.py"), max_plies=8)
    page, numbers = open_page(table), random.Random(1)
    set_up(page)
    for plies in range(0, 8, 2):
        at(page, "moving", plies)
        movable = page.locator(".movable").evaluate_all("(cells) => cells.map((cell) => cell.dataset.square)")
        choices = {(choice.origin, choice.target) for choice in table.state(Color.RED).choices}
        assert set(movable) == {origin for origin, _ in choices}
        origin = numbers.choice(movable)
        square(page, origin).click()
        targets = page.locator(".target").evaluate_all("(cells) => cells.map((cell) => cell.dataset.square)")
        assert set(targets) == {target for start, target in choices if start == origin}
        if plies % 4:
            page.keyboard.press("Escape")
            assert page.locator(".target").count() == 0
            page.drag_and_drop(f"[data-square={origin}]", f"[data-square={targets[0]}]")
        else:
            square(page, targets[0]).click()
    at(page, "over")
    record = table.end()
    assert isinstance(record, GameRecord)
    check_record(record)
    assert record.verdict.reason is Reason.PLY_CAP
    assert page.locator("[data-moves] li .action").evaluate_all(
        "(all) => all.map((one) => one.firstChild.textContent.split('\\u00a0')[0])"
    ) == list(record.actions)
    page.locator("[data-after]:not(:empty)").wait_for()
    assert "arena show store 7" in page.inner_text("[data-after]")
    assert not unknown(page)


def test_a_whole_game_is_played_with_the_keyboard_alone_and_announced(seat: Seat, open_page: Any) -> None:
    table = seat(blue=from_lines(BLUE, ["e7-e6", "f7-f6", "e6-e7"]))
    page = open_page(table)
    at(page, "setting-up")
    assert page.evaluate("document.activeElement.dataset.square")  # where the person has something to do
    for row, letters in enumerate(RED):
        for file, letter in enumerate(letters):
            if letter != ".":
                go(page, f"{'abcdefghij'[file]}{row + 1}")
                page.keyboard.press(letter)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.do ?? ''") == "ready":
            break
    page.keyboard.press("Enter")
    at(page, "moving", 0)
    assert table.state(Color.RED).setup == RED
    play_by_keys(page, "j4", "j7")
    at(page, "moving", 2)
    assert [row.split(chr(10))[:2] for row in page.locator("[data-moves] li").all_inner_texts()] == [
        ["1.", "j4-j7\u00a0\u00d7"],
        ["2.", "e7-e6"],
    ]
    assert "ply 2 of 2: Bea e7-e6" in page.inner_text("[data-now]")
    assert page.inner_text("[data-status]") == "Your move."
    go(page, "e4")
    label = square(page, "e4").get_attribute("aria-label")
    assert label == "e4 Ada: marshal; may go to f4, e5"
    page.keyboard.press("Enter")
    assert "may go to f4, e5" in page.inner_text("[data-told]")
    page.keyboard.press("Escape")
    assert page.locator(".selected").count() == 0
    play_by_keys(page, "e4", "e5")
    at(page, "moving", 4)
    go(page, "b7")
    about = page.text_content("[data-about]") or ""
    assert about.startswith("b7 Bea: unknown piece that has not movedAda knows that it is one of")
    could = page.locator("[data-about] .hidden").all_inner_texts()
    assert could == ["marshal", "general", "miner", "scout", "spy", "bomb", "flag"]
    page.keyboard.press("Enter")
    assert "Choose one of your own pieces" in page.inner_text("[data-refused]")
    play_by_keys(page, "a4", "b4")
    at(page, "moving", 6)
    while page.evaluate("document.activeElement.name ?? ''") != "text":
        page.keyboard.press("Tab")
    page.keyboard.type("b4-b7")
    page.keyboard.press("Enter")
    at(page, "over", 7)
    assert "flag" in page.inner_text("[data-status]")
    assert page.locator("[data-player=blue] [data-lost] .hidden").all_inner_texts() == ["scout", "flag"]
    record = table.end()
    assert isinstance(record, GameRecord)
    check_record(record)
    assert (record.verdict.result, record.verdict.reason) == (GameResult.win(Color.RED), Reason.FLAG)


def go(page: "Page", name: str) -> None:
    """Move the cursor of the board there, from where the keyboard is."""
    here = page.evaluate("document.activeElement.dataset.square")
    files = ord(name[0]) - ord(here[0])
    rows = int(name[1:]) - int(here[1:])
    for key, times in (
        ("ArrowRight" if files > 0 else "ArrowLeft", files),
        ("ArrowUp" if rows > 0 else "ArrowDown", rows),
    ):
        for _ in range(abs(times)):
            page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.square") == name


def play_by_keys(page: "Page", origin: str, target: str) -> None:
    go(page, origin)
    page.keyboard.press("Enter")
    go(page, target)
    page.keyboard.press("Enter")


def resign(page: "Page") -> None:
    page.click("[data-opens=resign-asked]")
    page.click("[data-resign-asked] button[value=yes]")


def play_typed(page: "Page", action: str) -> None:
    page.fill("[data-typed] input", action)
    page.press("[data-typed] input", "Enter")  # wherever the page has put the focus meanwhile


def keep_state(kept: list[str], answer: "Response") -> None:
    if "/state" in answer.url:
        kept.append(answer.text())


def test_two_browsers_play_each_other_and_neither_is_sent_what_the_other_hides(seat: Seat, open_page: Any) -> None:
    table = seat("duel", ("Ada", "Bea"))
    pages = {color: open_page(table, color) for color in Color}
    sent: dict[Color, list[str]] = {color: [] for color in Color}
    keep = {color: partial(keep_state, sent[color]) for color in Color}
    rows = {Color.RED: RED, Color.BLUE: BLUE}
    for color, page in pages.items():
        page.on("response", keep[color])
        at(page, "setting-up")
        draft(page, rows[color])
        at(page, "setting-up")
        page.click("[data-do=ready]")
    red, blue = pages[Color.RED], pages[Color.BLUE]
    at(red, "moving", 0)
    at(blue, "waiting", 0)
    assert blue.locator("[data-square]").first.get_attribute("data-square") == "j1"
    for plies, (page, action) in enumerate([(red, "e4-e5"), (blue, "j7-j4"), (red, "d4-c4"), (blue, "e7-e6")]):
        at(page, "moving", plies)
        play_typed(page, action)
    at(red, "moving", 4)
    at(blue, "waiting", 4)
    assert [shown(red).get(name) for name in ("e7", "e6", "b7", "j7", "j4")] == [None, "!", "?", None, None]
    for color, page in pages.items():
        page.remove_listener("response", keep[color])
        texts = [*sent[color], page.content()]
        assert len(texts) > 4
        enemy = color.opponent.word[0]
        for text in texts:
            # Rows of one or two pieces may be in a random set-up that the page offers.
            told_apart = [row for row in rows[color.opponent] if len(row.replace(".", "")) > 2]
            assert not any(re.search(f'["/]{re.escape(row)}["/]', text) for row in told_apart)
            for start in re.findall('"start":"([^"]+)"', text):
                assert set(re.findall(f"{enemy}(.)", start)) == {"?"}
    resign(red)
    for page in pages.values():
        at(page, "over", 5)
        assert "resigned" in page.inner_text("[data-status]")
        assert not unknown(page)
        assert (shown(page)["b7"], len(shown(page))) == ("F", 18)
        page.click("[data-go=first]")
        looks_at(page, 0)
        assert (shown(page)["b7"], shown(page)["a1"], len(shown(page))) == ("F", "F", 20)
    assert "You have lost: red (Ada) resigned." in red.inner_text("[data-status]")
    assert "You have won: red (Ada) resigned." in blue.inner_text("[data-status]")


def test_who_closes_the_tab_comes_back_and_two_tabs_show_the_same(seat: Seat, open_page: Any) -> None:
    table = seat(blue=at_random(3))
    page = open_page(table)
    set_up(page)
    at(page, "moving", 0)
    other = page.context.new_page()
    other.goto(table.address(Color.RED))
    at(other, "moving", 0)
    play_typed(page, table.state(Color.RED).choices[0].action)
    at(page, "moving", 2)
    at(other, "moving", 2)
    assert shown(other) == shown(page)
    assert other.inner_text("[data-moves]") == page.inner_text("[data-moves]")
    page.close()
    other.close()
    back = open_page(table)
    at(back, "moving", 2)
    assert back.locator("[data-moves] li").count() == 2


def test_a_page_that_has_lost_its_connection_says_so_and_goes_on_when_it_is_back(seat: Seat, open_page: Any) -> None:
    table = seat(blue=at_random(3))
    page = open_page(table)
    set_up(page)
    at(page, "moving", 0)
    waiting: list[Route] = []
    page.route("**/events", lambda route: waiting.append(route))  # noqa: PLW0108
    with page.expect_request("**/events"):
        table.served.call(table.pages.close)
    page.locator("[data-connection]", has_text="Not connected").wait_for()
    waiting[0].continue_()
    page.locator("[data-connection]").wait_for(state="hidden")
    play_typed(page, table.state(Color.RED).choices[0].action)
    at(page, "moving", 2)


def looks_at(page: "Page", ply: int | None) -> None:
    """Wait until the board is the one after this ply; None: the one of now."""
    page.wait_for_selector("#play:not([data-earlier])" if ply is None else f"#play[data-earlier][data-ply='{ply}']")


def after_four_plies(page: "Page") -> list[dict[str, str]]:
    """Set up and play as Red; returns the boards after 0, 2 and 4 plies."""
    draft(page, RED)
    page.click("[data-do=ready]")
    boards = []
    for plies, action in ((0, "e4-e5"), (2, "e5-f5")):
        at(page, "moving", plies)
        boards.append(shown(page))
        play_typed(page, action)
    at(page, "moving", 4)
    return [*boards, shown(page)]


def test_who_looks_back_sees_each_ply_as_it_was_known_then_and_plays_on_from_the_board_of_now(
    seat: Seat, open_page: Any
) -> None:
    table = seat(blue=from_lines(BLUE, ["j7-j4", "e7-e6", "f7-f6"]))
    page = open_page(table)
    at(page, "setting-up")
    assert page.locator("[data-controls]").is_hidden()
    *boards, now = after_four_plies(page)

    page.click("[data-go=first]")
    looks_at(page, 0)
    assert shown(page) == boards[0]
    assert boards[0]["j7"] == "?"
    square(page, "a4").click()
    assert "an earlier position" in page.inner_text("[data-refused]")
    assert page.locator(".target, .movable, .selected").count() == 0
    page.locator("[data-moves]").focus()
    page.keyboard.press("ArrowRight")
    looks_at(page, 1)
    page.keyboard.press("ArrowRight")
    looks_at(page, 2)
    assert page.inner_text("[data-refused]") == ""
    assert shown(page) == boards[1]
    assert "ply 2 of 4: Bea j7-j4" in page.inner_text("[data-now]")
    assert page.locator("[data-moves] [aria-current]").inner_text().startswith("2.")
    assert page.locator("[data-player=blue] [data-lost] .hidden").all_inner_texts() == ["scout"]
    page.click("[data-go=back]")
    looks_at(page, 1)
    assert page.locator("[data-player=blue] [data-lost] li").count() == 0
    page.keyboard.press("n")
    looks_at(page, 2)  # the fight
    page.locator("[data-moves] [data-ply='3']").click()
    looks_at(page, 3)
    page.keyboard.press("N")
    looks_at(page, 2)
    page.keyboard.press("End")
    looks_at(page, None)
    assert shown(page) == now

    page.locator("[data-moves] [data-ply='2']").click()
    looks_at(page, 2)
    square(page, "e7").focus()
    page.keyboard.press("ArrowRight")
    looks_at(page, 2)  # on the board arrows lead to other squares
    page.click("[data-go=back]")
    looks_at(page, 1)
    play_typed(page, "f5-f6")
    at(page, "moving", 6)
    looks_at(page, None)


def test_the_game_goes_on_while_one_looks_back_and_after_it_what_was_hidden_then_stays_hidden(
    seat: Seat, open_page: Any
) -> None:
    table = seat("duel", ("Ada", "Bea"))
    pages = {color: open_page(table, color) for color in Color}
    for color, page in pages.items():
        at(page, "setting-up")
        draft(page, RED if color is Color.RED else BLUE)
        page.click("[data-do=ready]")
    red, blue = pages[Color.RED], pages[Color.BLUE]
    at(red, "moving", 0)
    play_typed(red, "e4-e5")
    at(red, "waiting", 1)
    red.click("[data-go=back]")
    looks_at(red, 0)
    before = shown(red)
    at(blue, "moving", 1)
    play_typed(blue, "e7-e6")
    red.wait_for_selector("#play[data-stage=moving][data-plies='2']")
    looks_at(red, 0)
    assert shown(red) == before
    assert "Your move" in red.inner_text("[data-status]")
    resign(blue)
    red.click("[data-go=last]")
    looks_at(red, None)
    play_typed(red, "e5-e4")
    at(red, "over", 4)
    assert not unknown(red)
    red.check("input[name=view][value=red]")
    red.click("[data-go=back]")
    looks_at(red, 3)  # to resign was the fourth
    assert unknown(red) == {name for name in shown(red) if int(name[1:]) > 5}
    red.click("[data-go=first]")
    looks_at(red, 0)
    assert shown(red) == before


@pytest.mark.parametrize(
    ("rules", "form", "fields"),
    [
        ("vintage/lightning+lightning-captains", "-", {}),
        ("jumbo-81320/infiltrator+rescue", "+", {"rescued", "rescue_square"}),
        ("jumbo-81320/infiltrator", "?", {"guessed"}),
    ],
)
def test_what_a_ruleset_has_to_choose_from_is_asked_in_a_dialog(
    seat: Seat, open_page: Any, rules: str, form: str, fields: set[str]
) -> None:
    path = re.compile(r"^\w+-\w+-\w+$")
    history = history_until(rules, form)
    table = seat(rules, history=history, blue=at_random(3))
    page = open_page(table)
    before = table.until(Color.RED, SeatStage.MOVING, len(history.actions))
    at(page, "moving", before.plies)
    wanted = [
        choice for choice in before.choices if (path.match(choice.action) if form == "-" else form in choice.action)
    ]
    choice = wanted[-1]
    square(page, choice.origin).click()
    square(page, choice.target).click()
    dialog = page.locator("[data-choice]")
    if sum((one.origin, one.target) == (choice.origin, choice.target) for one in before.choices) > 1 or choice.guessed:
        dialog.wait_for()
        for field in ("guessed", "over", "rescued", "rescue_square"):
            value = getattr(choice, field) or ""
            if page.locator(f"select[name={field}]").is_visible():
                page.select_option(f"select[name={field}]", value)
                fields = fields - {field}
        page.click("[data-choice] button[value=yes]")
    assert not fields
    at(page, "moving", before.plies + 2)
    assert seat_of(table.session, Color.RED).actions[before.plies].action == choice.action


def test_what_is_typed_is_understood_and_shown_at_once_and_what_was_refused_does_not_stay(
    seat: Seat, open_page: Any
) -> None:
    page = open_page(seat(blue=from_lines(BLUE, ["e7-e6", "f7-f6"])))
    at(page, "setting-up")
    draft(page, RED)
    page.click("[data-do=ready]")
    at(page, "moving", 0)
    page.evaluate(
        "window.plies = []; new MutationObserver(() => plies.push(document.querySelector('#play').dataset.ply))"
        ".observe(document.querySelector('#play'), { attributeFilter: ['data-ply'] })"
    )
    play_typed(page, "e4e5")
    assert page.inner_text("[data-refused]") == "Did you mean e4-e5? Press Enter to play it."
    assert page.input_value("[data-typed] input") == "e4-e5"
    page.keyboard.press("Enter")
    at(page, "moving", 2)
    assert [ply for ply in dict.fromkeys(page.evaluate("plies")) if ply != "0"] == ["1", "2"]
    assert page.inner_text("[data-refused]") == ""
    assert page.evaluate("document.activeElement.name") == "text"
    play_typed(page, "e5-f5")
    page.wait_for_selector("#play[data-plies='4'][data-stage=moving]")
    square(page, "f5").click()
    assert page.locator(".target").count() == 3
    assert page.inner_text("[data-refused]") == ""
    page.keyboard.press("Escape")
    play_typed(page, "f5-f8")
    page.locator("[data-refused]", has_text="one square at a time").wait_for()
    square(page, "f5").click()
    assert page.inner_text("[data-refused]") == ""
    play_typed(page, "Resign")
    page.click("[data-resign-asked] button[value='']")
    assert page.get_attribute("#play", "data-stage") == "moving"
    play_typed(page, "resign")
    page.click("[data-resign-asked] button[value=yes]")
    at(page, "over", 5)


def test_a_game_that_ends_before_both_have_set_up_has_a_result_and_no_replay(
    seat: Seat, open_page: Any, tmp_path: Path
) -> None:
    bot, seen = tmp_path / "quits.py", tmp_path / "seen"
    bot.write_text(
        "#!/usr/bin/env python3\nimport os, sys, time\n"
        "for line in sys.stdin:\n    if line.startswith('hello'):\n        print('ready', flush=True)\n"
        "    if line.startswith('setup'):\n"
        f"        while not os.path.exists({str(seen)!r}):\n            time.sleep(0.05)\n        sys.exit(1)\n"
    )
    bot.chmod(0o755)
    page = open_page(seat("duel", ("Ada", "unused"), bot=load_bot(bot)))
    set_up(page)
    seen.touch()
    at(page, "over")
    assert "You have won: blue (quits)" in page.inner_text("[data-status]")
    assert (
        page.locator("[data-controls], [data-typed], [data-tray]").evaluate_all(
            "(all) => all.filter((one) => one.offsetParent).length"
        )
        == 0
    )
    square(page, "a1").click()
    assert page.inner_text("[data-refused]") == ""


def test_the_page_fits_the_width_all_that_is_touched_is_large_enough_and_axe_finds_nothing(
    axe: "Axe", seat: Seat, open_page: Any
) -> None:
    names = ("Ada", "a bot with a name that is rather long for a page of a telephone")
    page = open_page(seat(names=names, blue=from_lines(BLUE, ["j7-j4", "e7-e6"])))
    screens = cycle(SCREENS)

    def fits() -> None:
        for width, _ in SCREENS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            small = page.evaluate(
                "[...document.querySelectorAll('button, select, input')].filter((one) => one.offsetParent)"
                ".map((one) => [one.outerHTML.slice(0, 80), (one.closest('label') ?? one).getBoundingClientRect()])"
                ".filter(([, box]) => box.width < 24 || box.height < 24).map(([html]) => html)"
            )
            assert small == []
        look_at(page, axe, [next(screens)])

    at(page, "setting-up")
    draft(page, RED)
    at(page, "setting-up")
    square(page, "a4").click()
    fits()
    page.keyboard.press("Escape")
    page.click("[data-do=ready]")
    at(page, "moving", 0)
    labels = page.locator("[data-square]").evaluate_all(
        "(cells) => cells.map((cell) => cell.getAttribute('aria-label'))"
    )
    assert len(set(labels)) == len(SQUARES)
    page.click("[data-go=flip]")
    assert page.locator("[data-square]").first.get_attribute("data-square") == "j1"
    play_typed(page, "e4-e5")
    at(page, "moving", 2)
    square(page, "a4").click()
    assert page.locator(".attack").count() == 1
    fits()
    page.click("[data-opens=resign-asked]")
    fits()
    page.click("[data-resign-asked] button[value=yes]")
    at(page, "over")
    fits()
