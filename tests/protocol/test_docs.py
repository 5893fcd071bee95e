"""`docs/protocol.md` is true: its examples are run, its tables are complete, its bot plays and its game is a game."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_arena import SmallArena, Transcript
from talking import play, talking

from arena.bots.spec import INHERITED, base_environment
from arena.game.live import MAX_NOTE_BYTES
from arena.game.seat import MAX_LINES_A_TURN
from arena.processes.pipes import STDERR_KEPT
from arena.stratego.rules.ruleset import Chase, NoMove
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.setup import check_setup
from arena.stratego.rules.tables import fight
from protocol.actions import STRATEGO_FORMS
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.codec import decode_from_bot, encode_for_bot
from protocol.conversation import BOT_MAY_SEND, Phase, after
from protocol.messages import (
    ArenaMessage,
    Battle,
    BotMessage,
    Clock,
    End,
    Hello,
    Legal,
    Quit,
    Seed,
    Setup,
    SetupRequest,
    Turn,
    Want,
    Wants,
)
from protocol.notation import COLOR_WORDS, RANK_BY_LETTER, SQUARES, Color, Rank, Reason
from protocol.view import View

DOC = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="ascii")
BLOCKS = re.findall(r"^```(.+)\n((?:.*\n)*?)^```$", DOC, re.MULTILINE)
ARENA_LINES = [line for kind, body in BLOCKS if kind == "arena" for line in body.splitlines()]
BOT_LINES = [line for kind, body in BLOCKS if kind == "bot" for line in body.splitlines()]


def section(title: str) -> str:
    """The text of one section, subsections included."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", DOC, re.MULTILINE | re.DOTALL)
    assert found, f"no section is called {title!r}"
    return found[1]


def table(text: str) -> list[list[str]]:
    """The cells of the first table in `text`, its head and the line under it left out."""
    found = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert found, "no table here"
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in found[0].splitlines()[2:]]


def quoted(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)


FROM_THE_ARENA = ("What the arena sends", "What the arena sends in Stratego")
FROM_BOTS = ("What a bot sends",)


def verb_sections(titles: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """The verb, the whole form and the text of each section that a line has to itself."""
    for form, text in re.findall(r"^### `(.+)`\n((?:(?!^### ).*\n)*)", "".join(map(section, titles)), re.MULTILINE):
        yield form.split()[0], form, text


# --- examples -----------------------------------------------------------------------------------------------------


def test_every_block_of_the_text_is_of_a_kind_that_is_run_here() -> None:
    assert {kind for kind, _ in BLOCKS} == {"python", "text", "arena", "bot", "game red", "game blue"}
    assert DOC.count("```") == 2 * len(BLOCKS)


@pytest.mark.parametrize("line", ARENA_LINES, ids=lambda line: line[:24])
def test_each_line_of_the_arena_is_read_and_written_as_it_stands(line: str) -> None:
    message = decode_for_bot(line.encode())
    assert message is not None
    assert encode_for_bot(message) == line.encode() + b"\n"


@pytest.mark.parametrize("line", BOT_LINES, ids=lambda line: line[:24])
def test_each_line_of_a_bot_is_read_and_written_as_it_stands(line: str) -> None:
    message = decode_from_bot(line.encode(), STRATEGO_FORMS)
    assert message is not None
    assert encode_from_bot(message) == line.encode() + b"\n"


@pytest.mark.parametrize(
    ("titles", "read", "kinds"),
    [
        (FROM_THE_ARENA, decode_for_bot, ArenaMessage.__args__),
        (FROM_BOTS, lambda line: decode_from_bot(line, STRATEGO_FORMS), BotMessage.__args__),
    ],
)
def test_every_verb_has_a_section_with_an_example_of_its_own(
    titles: tuple[str, ...], read: Callable[[bytes], object], kinds: tuple[type, ...]
) -> None:
    found = list(verb_sections(titles))
    assert len(found) == len(kinds)
    explained: set[type] = set()
    for verb, _, text in found:
        examples = re.findall(r"^```(?:arena|bot)\n((?:.*\n)*?)^```$", text, re.MULTILINE)
        lines = "".join(examples).splitlines()
        assert {line.split()[0] for line in lines} == {verb}
        explained |= {type(read(line.encode())) for line in lines}
    assert explained == set(kinds)


# --- tables and numbers -------------------------------------------------------------------------------------------


def test_the_tables_of_reasons_are_complete() -> None:
    tables = [table(section(title)) for title in ("Reasons", "Reasons of Stratego")]
    rows = {quoted(row[0])[0]: row[1] for rows in tables for row in rows}
    assert rows == {reason.value: reason.kind.value for reason in Reason}


def test_the_table_of_rules_is_complete() -> None:
    rows = {quoted(row[0])[0]: row[1] for row in table(section("Rules"))}
    for name in ruleset_names():
        assert list(rows) == [rule for rule, _ in load_ruleset(name).lines()]
    assert quoted(rows["starts"]) == list(COLOR_WORDS)
    assert set(quoted(rows["chase"])) == {chase.value for chase in Chase}
    assert set(quoted(rows["no-move"])) == {no_move.value for no_move in NoMove}
    assert all("`none`" in rows[name] for name in ("two-squares", "max-plies", "max-quiet-plies"))


def test_the_example_rules_are_those_of_the_ruleset_named() -> None:
    ((name, body),) = re.findall(r"Some rules of `(\S+)`.*\n\n```arena\n((?:.*\n)*?)```", section("Rules"))
    assert set(body.splitlines()) < {f"rule {rule} {value}" for rule, value in load_ruleset(name).lines()}


def test_the_example_set_ups_are_legal_under_the_rulesets_named() -> None:
    text = section("Set-ups")
    words = re.search(r"first\s+example\s+is\s+for\s+`(\S+)`,\s+the\s+second\s+for\s+`(\S+)`", text)
    assert words
    lines = re.findall(r"^setup .*", text, re.MULTILINE)
    for name, line in zip(words.groups(), lines, strict=True):
        check_setup(load_ruleset(name), line.removeprefix("setup ").split("/"))
    (restored,) = (line for line in ARENA_LINES if line.startswith("restore"))
    check_setup(load_ruleset("duel"), restored.removeprefix("restore ").split("/"))


@pytest.mark.parametrize("line", [line for line in ARENA_LINES if line.startswith("battle")])
def test_the_example_fights_end_as_the_rules_have_it(line: str) -> None:
    battle = decode_for_bot(line.encode())
    assert isinstance(battle, Battle)
    left = {fight(battle.attacker, rank) for rank in ([battle.defender] if battle.defender else Rank)}
    assert battle.survivor in left


def test_the_environment_of_a_bot_is_the_one_that_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(quoted(row[0]), quoted(row[1])) for row in table(section("Where a bot runs"))]
    for name in INHERITED:
        monkeypatch.setenv(name, "/given")
    monkeypatch.setenv("SECRET", "/not-given")
    environment = base_environment()
    assert {name for names, _ in rows for name in names} == set(environment)
    set_to = {names[0]: values[0] for names, values in rows if len(names) == 1 and values}
    assert set_to == {name: environment[name] for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")}


def test_the_table_of_phases_is_the_state_machine() -> None:
    rows = {row[0]: (row[2], quoted(row[3])) for row in table(section("A conversation from its start"))}
    verbs = {type(decode_from_bot(line.encode(), STRATEGO_FORMS)): line.split()[0] for line in BOT_LINES}
    assert set(rows) == {phase.name.lower().replace("_", " ") for phase in Phase}
    for phase in Phase:
        waits, may_send = rows[phase.name.lower().replace("_", " ")]
        assert waits == ("yes" if phase.bot_must_answer else "no")
        assert sorted(may_send) == sorted(verbs[kind] for kind in BOT_MAY_SEND[phase])


def test_the_pieces_and_the_squares_are_named() -> None:
    text = section("Squares, pieces and actions")
    cells = [cell for row in table(text) for cell in row]
    pieces = {quoted(letter)[0]: name for letter, name in zip(cells[::2], cells[1::2], strict=True) if quoted(letter)}
    assert pieces == {letter: rank.name.lower() for letter, rank in RANK_BY_LETTER.items()}
    lakes = re.search(r"The lakes are (.*?)\.", text)
    assert lakes
    empty = View(Color.RED, "isf").cells()
    named = set(re.findall(r"[a-j]\d", lakes[1]))
    assert named == {name for name, cell in zip(SQUARES, empty, strict=True) if cell == "~~"}


def test_what_the_arena_keeps_and_bears_is_named_with_its_true_numbers() -> None:
    assert f"more than {MAX_LINES_A_TURN:,} lines" in section("What loses a game")
    assert f"the last {STDERR_KEPT // 1024} KiB" in section("What loses a game")
    assert f"the first {MAX_NOTE_BYTES // 1024} KiB" in section("What a bot sends")


# --- the whole game -----------------------------------------------------------------------------------------------


SAME_RULES = "arena| # the rule lines are those that Red got\n"
AND_SO_ON = "arena| # and so on, up to ply 14\n"
"""Lines of Blue's conversation that the text leaves out."""
LINES_TO_PLY_14 = """\
arena| moved red b5-b6
arena| turn 6 59425 59374
bot  | move e7-e6
arena| moved blue e7-e6
arena| moved red b6-b7
arena| turn 8 59337 59352
bot  | move c7-b7
arena| moved blue c7-b7
arena| battle b7 S 3 defender
arena| moved red b7-b8
arena| turn 10 59339 59402
bot  | move f9-f10
arena| moved blue f9-f10
arena| moved red b8-b9
arena| turn 12 58998 58910
bot  | move e6-e5
arena| moved blue e6-e5
arena| moved red b9-a9
arena| battle a9 3 B attacker
arena| turn 14 58772 58920
bot  | move e5-e4
arena| moved blue e5-e4
arena| battle e4 3 M defender
"""


@pytest.fixture
def conversations() -> "dict[Color, Transcript]":
    bodies = {kind: body for kind, body in BLOCKS if kind.startswith("game")}
    rules = re.findall(r"^arena\| rule .*\n", bodies["game red"], re.MULTILINE)
    for omitted, lines in ((SAME_RULES, "".join(rules)), (AND_SO_ON, LINES_TO_PLY_14)):
        assert bodies["game blue"].count(omitted) == 1
        bodies["game blue"] = bodies["game blue"].replace(omitted, lines)
    return {color: Transcript(bodies[f"game {color.word}"]) for color in Color}


@pytest.mark.parametrize("color", Color, ids=lambda color: color.word)
def test_in_the_game_every_message_comes_in_its_phase(color: Color, conversations: "dict[Color, Transcript]") -> None:
    phase = Phase.STARTING
    leads_to = {Hello: Phase.INTRODUCING, SetupRequest: Phase.SETTING_UP, Turn: Phase.THINKING, Quit: Phase.CLOSED}
    for from_arena, line in conversations[color].lines:
        if from_arena:
            heard = decode_for_bot(line)
            phase = Phase.IDLE if isinstance(heard, End) else leads_to.get(type(heard), phase)
        else:
            said = decode_from_bot(line[:-1], STRATEGO_FORMS)
            assert said is not None
            phase = after(phase, said)
    assert phase is Phase.CLOSED


def timeless(messages: list[ArenaMessage]) -> list[str]:
    """The messages for comparing, without the times and the order of the legal moves."""
    plain: list[ArenaMessage] = []
    for message in messages:
        match message:
            case Turn(ply):
                plain.append(Turn(ply, 0, 0))
            case Legal(actions):
                plain.append(Legal(tuple(sorted(actions))))
            case _:
                plain.append(message)
    return [repr(message) for message in plain]


def test_the_game_is_a_game_and_both_players_are_told_what_happened_in_it(
    conversations: "dict[Color, Transcript]",
) -> None:
    """Played again under the real rules, every line of the arena comes out as it stands in the text."""
    heard = {color: [decode_for_bot(line) for line in conversations[color].arena] for color in Color}
    answers = {
        color: [decode_from_bot(line[:-1], STRATEGO_FORMS) for line in conversations[color].bot] for color in Color
    }
    arena = SmallArena("barrage")
    told: dict[Color, list[ArenaMessage]] = {color: [Hello(1)] for color in Color}
    wants: dict[Color, tuple[Want, ...]] = dict.fromkeys(Color, ())
    for color in Color:
        wants[color] = next((said.wants for said in answers[color] if isinstance(said, Wants)), ())
        seed = next(message.value for message in heard[color] if isinstance(message, Seed))
        clock = next(message for message in heard[color] if isinstance(message, Clock))
        told[color] += arena.opening(color, seed, clock)
        arena.set_up(color, next(said.rows for said in answers[color] if isinstance(said, Setup)))
    for color in Color:
        told[color] += arena.enemy(color)
    moves = {
        color: [line.split()[1].decode() for line in conversations[color].bot if line.startswith(b"move")]
        for color in Color
    }
    while arena.game.outcome is None:
        color = arena.game.to_move
        told[color] += arena.turn(wants[color])
        said = arena.play(moves[color].pop(0))
        for other in Color:
            told[other] += said[other]
    assert not any(moves.values())
    for color in Color:
        told[color] += [arena.end(color), Quit()]
        assert timeless([message for message in heard[color] if message is not None]) == timeless(told[color])
    assert arena.game.outcome.reason is Reason.FLAG


# --- the bot in twenty lines --------------------------------------------------------------------------------------

TWENTY_LINES = next(body for kind, body in BLOCKS if kind == "python")


@pytest.mark.parametrize("ruleset", ["isf+rescue", "jumbo-81320/infiltrator"])
def test_the_first_bot_plays_itself(ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    command = [sys.executable, "-c", TWENTY_LINES]
    with talking(command) as red, talking(command) as blue:
        verdict = play(ruleset, 300, (red, blue)).verdict
    assert verdict is not None
    assert not verdict.reason.is_forfeit, verdict.detail
