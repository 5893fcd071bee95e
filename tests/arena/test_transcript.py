"""The dialogue of a game follows from its record: line by line what both bots were sent, and what they are known to
have sent; and what a record does not say is said to be unknown."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import trio
from bot_games import play
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_play import random_rows
from scripted import Table, game_spec

from arena.bots.spec import BotSpec
from arena.game.faults import Cause, Excess, GameResult
from arena.game.game_spec import GameSpec
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.game.recorded import judged
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.game.transcript import ActionTime, Remark, Speaker, SpokenLine, TranscriptEntry, transcript
from arena.play.game_options import GameOptions, Keeper
from arena.play.runner import play_game
from arena.stratego.game import ruleset_of, variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color, Reason

RED, BLUE = Color.RED, Color.BLUE
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
RULESETS = ("isf", "barrage+rescue", "vintage/lightning", "jumbo-81320/infiltrator", "duel+silent-defence")
CONTROLS = (
    TimeControl(),
    TimeControl(move_ms=None, bank_ms=900_000, increment_ms=3),
    TimeControl(move_ms=60_000, bank_ms=900_000, increment_ms=7, margin_ms=0),
)
WANTS = ("", "want board", "want legal", "want board legal")
ENDINGS = ("on the board", "resign", "illegal", "garbage", "late", "dies", "dies waiting", "too much")
SEATED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


def recorded(referee: Referee) -> GameRecord:
    """The record of a game that was judged here, as it is read back from a store."""
    record = judged(referee, arena="0", started=0.0, seconds=0.0, stderr=("", ""))
    return decode_record(encode_record(record))


def said(entries: Iterable[TranscriptEntry], color: Color, speaker: Speaker) -> list[str]:
    """The lines that the arena said to a side, or the side to the arena."""
    return [entry.text for entry in entries if isinstance(entry, SpokenLine) and entry[1:3] == (color, speaker)]


def written(table: Any, color: Color) -> list[str]:
    """What a seat was sent, in lines."""
    return b"".join(table.writes[color]).decode("ascii").split("\n")[:-1]


# --- against games that were judged here ------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, suppress_health_check=SEATED)
@given(
    ruleset=st.sampled_from(RULESETS),
    time=st.sampled_from(CONTROLS),
    wants=st.tuples(st.sampled_from(WANTS), st.sampled_from(WANTS)),
    plies=st.integers(0, 60),
    ending=st.sampled_from(ENDINGS),
    seed=st.integers(0, 10**6),
    has_opening=st.booleans(),
)
def test_each_bot_was_sent_line_by_line_what_follows_from_the_record(
    *, ruleset: str, time: TimeControl, wants: tuple[str, str], plies: int, ending: str, seed: int, has_opening: bool
) -> None:
    """Whatever the rules, the clocks, what the bots asked for, who chose the set-ups, how long they thought and how the
    game ended."""
    rng = Random(seed)
    game = game_spec(load_ruleset(ruleset), time)
    rows = [random_rows(ruleset_of(game.variant), rng) for _ in Color]
    if has_opening:
        game = msgspec.structs.replace(game, opening=("/".join(rows[RED]), "/".join(rows[BLUE])))
    table = Table(game)
    introductions = [["name someone", *([line] if line else [])] for line in wants]
    if has_opening:
        table.introduce(*introductions)
    else:
        table.begin(rows[RED], rows[BLUE], *introductions)
    for _ in range(plies):
        if not table.referee.is_over:
            table.play_random(rng, 1, after=rng.choice([0.0, 1e-7, 0.0123456789, 0.09]))
    end(table, ending, rng)
    record = recorded(table.referee)
    entries = list(transcript(record))
    for color in Color:
        assert said(entries, color, Speaker.ARENA) == written(table, color)
    moves = [entry.text for entry in entries if isinstance(entry, SpokenLine) and entry.text.startswith("move ")]
    illegal = ["move a1-a1"] if record.verdict.reason is Reason.ILLEGAL_ACTION else []
    assert moves == [f"move {action}" for action in record.actions] + illegal
    assert [entry.taken_us for entry in entries if isinstance(entry, ActionTime)] == list(record.times_us)


def end(table: Any, how: str, rng: Random) -> None:
    """End a game in this way, if it is not over."""
    referee = table.referee
    if referee.state is None or referee.is_over:
        return
    mover = referee.state.to_move
    match how:
        case "resign":
            table.play("resign")
        case "illegal":
            table.play("a1-a1")
        case "garbage":
            table.reply(mover, "hello?")
        case "late":
            table.expire()
        case "dies":
            table.gone(mover)
        case "dies waiting":
            table.gone(mover.opponent)
        case "too much":
            referee.over_limit(mover, Excess(Cause.MEMORY, "used \xe9" + "x" * 600))
            table.send()
        case _:
            while not referee.is_over:
                table.play_random(rng, 50, after=0.001)
                if len(referee.actions) > 1500:
                    table.play("resign")


FAULTS = {
    "no 'ready' of red": [(RED, "oops")],
    "no 'ready' of blue": [(BLUE, "oops")],
    "no 'ready' of both": [(RED, "oops"), (BLUE, "move a4-a5")],
    "an illegal set-up": [(RED, "ready"), (BLUE, "ready"), (RED, f"setup {'/'.join(['F' * 10] * 4)}"), (BLUE, "SETUP")],
    "two illegal set-ups": [
        *((color, "ready") for color in Color),
        *((color, f"setup {'/'.join(['F' * 10] * 4)}") for color in Color),
    ],
}


@pytest.mark.parametrize(
    ("name", "has_opening"), [*((name, False) for name in FAULTS), *((name, True) for name in FAULTS if "'" in name)]
)
def test_a_game_that_never_began_has_the_lines_that_were_sent(*, name: str, has_opening: bool) -> None:
    lines, game = FAULTS[name], game_spec()
    rows = "/".join(random_rows(ruleset_of(game.variant), Random(1)))
    if has_opening:
        game = msgspec.structs.replace(game, opening=(rows, rows))
    table = Table(game)
    table.send()
    setup = f"setup {rows}"
    for color, text in lines:
        table.reply(color, text.replace("SETUP", setup))
    if not table.referee.is_over:
        (waiting,) = table.referee.awaited()
        table.reply(waiting, "ready")
    record = recorded(table.referee)
    check_record(record)
    entries = list(transcript(record))
    for color in Color:
        assert said(entries, color, Speaker.ARENA) == written(table, color)


def test_a_game_that_was_interrupted_has_every_sitting() -> None:
    """The bots were started three times; each time they were told all again, and the clocks were as they stood."""
    rng = Random(5)
    game = game_spec(time=CONTROLS[2])
    table = Table(game)
    table.begin(
        random_rows(ruleset_of(game.variant), rng),
        random_rows(ruleset_of(game.variant), rng),
        ["want board"],
        ["want legal"],
    )
    table.play_random(rng, 5, after=0.0123456789)
    sent = [written(table, color) for color in Color]
    for plies in (3, 4):
        history = table.referee.history(table.now + 1.2345678)
        table.referee = Referee(game, history=history)
        table.writes = ([], [])
        table.introduce(["want board"], ["want legal"])
        table.play_random(rng, plies, after=0.01)
        for color in Color:
            sent[color] += written(table, color)
    table.writes = ([], [])
    table.play("resign")
    record = recorded(table.referee)
    assert len(record.interrupted) == 2
    entries = list(transcript(record))
    for color in Color:
        assert said(entries, color, Speaker.ARENA) == sent[color] + written(table, color)
    interrupted = [entry for entry in entries if isinstance(entry, Remark) and entry.text.startswith("interrupted")]
    assert [entry.color for entry in interrupted] == [Color.RED, Color.BLUE] * 2
    first = game.variant.kind.first_seat(game.variant)
    movers = [first if ply % 2 else first.opponent for ply, _ in record.interrupted]
    assert [entry.color for entry in interrupted if " after 1234.6 ms of this turn" in entry.text] == movers


# --- against processes ------------------------------------------------------------------------------------------------

RECORDING = """
import atexit
LOG = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def write_down(way, text):
    os.write(LOG, (way + text).encode())

class Recorded:
    def readline(self):
        line = stdin.readline()
        if line:
            write_down("< ", line)
        return line

stdin, sys.stdin = sys.stdin, Recorded()
send = say

def say(line):
    send(line)
    write_down("> ", line + "\\n")

"""


def heard(log: Path, way: str) -> list[str]:
    return [line[2:] for line in log.read_text().splitlines() if line.startswith(way)]


PLAYS = """
hear("hello")
say("name recorded")
say("want board legal")
say("ready")
while True:
    set_up()
    while True:
        line = sys.stdin.readline()
        fields = line.split()
        if not fields or fields[0] == "quit":
            sys.exit()
        heard[fields[0]] = fields[1:]
        if fields[0] == "end":
            break
        if fields[0] == "turn":
            say("note at " + fields[1])
            say("move " + ("resign" if fields[1] == "21" else heard["legal"][int(fields[1]) % len(heard["legal"])]))
"""


@pytest.fixture
def recording(make_bot: Callable[..., BotSpec], tmp_path: Path) -> Callable[..., tuple[BotSpec, Path]]:
    """`recording(name, plays)`: a bot that writes down every line of its dialogue, and where it does."""

    def make(name: str, plays: str = PLAYS) -> tuple[BotSpec, Path]:
        log = tmp_path / f"{name}.log"
        return make_bot(RECORDING.format(log=str(log)) + plays, name), log

    return make


def test_a_live_game_has_exactly_the_lines_that_its_bots_have_written_down(
    recording: Callable[[str], tuple[BotSpec, Path]],
) -> None:
    (red, red_log), (blue, blue_log) = recording("ann"), recording("bob")
    time = TimeControl(move_ms=60_000, bank_ms=600_000, increment_ms=11, setup_ms=600_000, start_ms=600_000)
    record = trio.run(partial(play, red, blue, ruleset="barrage", time=time))
    assert (record.verdict.reason, record.verdict.plies) == (Reason.RESIGN, 21)
    entries = list(transcript(decode_record(encode_record(record))))
    for color, log in ((RED, red_log), (BLUE, blue_log)):
        assert said(entries, color, Speaker.ARENA) == heard(log, "< ")
        assert said(entries, color, Speaker.BOT) == heard(log, "> ")
    assert any(entry.cpu_us for entry in entries if isinstance(entry, ActionTime))


def test_two_games_in_the_same_processes_have_the_lines_of_each(
    recording: Callable[[str], tuple[BotSpec, Path]],
) -> None:
    bots = [recording("ann"), recording("bob")]
    (ann, _), (bob, _) = bots
    first = GameSpec("0" * 16, variant_of(load_ruleset("barrage")), PATIENT, (ann.player, bob.player), (1, 2), 3)
    second = msgspec.structs.replace(first, id="1" * 16, players=(bob.player, ann.player), seeds=(2, 1))
    keeper = Keeper()

    async def play_both() -> list[GameRecord]:
        with trio.fail_after(120):
            records = [await play_game(first, ann, bob, GameOptions(keeper=keeper))]
            keeper.expects_another = False
            records.append(await play_game(second, bob, ann, GameOptions(keeper=keeper)))
            await keeper.end()
            return records

    one, other = trio.run(play_both)
    assert other.kept == (True, True)
    before, after = list(transcript(one, is_followed=True)), list(transcript(other))
    for color, (_, log) in zip(Color, bots, strict=True):
        for speaker, way in ((Speaker.ARENA, "< "), (Speaker.BOT, "> ")):
            assert said(before, color, speaker) + said(after, color.opponent, speaker) == heard(log, way)


# --- what is not in a record ------------------------------------------------------------------------------------------


@pytest.fixture
def resigned() -> GameRecord:
    """A duel of a few plies, with a note, in which Red resigned."""
    game, rng = game_spec(), Random(3)
    table = Table(game)
    table.begin(random_rows(ruleset_of(game.variant), rng), random_rows(ruleset_of(game.variant), rng), ["want legal"])
    table.reply(RED, "note I begin")
    table.play_random(rng, 4)
    table.play("resign")
    return recorded(table.referee)


def test_when_a_first_note_was_made_is_not_known(resigned: GameRecord) -> None:
    entries = list(transcript(resigned))
    at = entries.index(SpokenLine(1, RED, Speaker.BOT, "note I begin"))
    assert "does not say which of these notes" in str(entries[at - 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: {"actions": ("a1-a1", *r.actions[1:])}, "ply 1: "),
        (lambda r: {"actions": r.actions[:-1]}, "5 times"),
        (lambda r: {"times_us": (10**9, *r.times_us[1:])}, "ply 1: "),
        (lambda r: {"setups": ("x", r.setups[1])}, "expected 'setup'"),
        (lambda r: {"interrupted": ((99, 1),)}, "interrupted at ply 99"),
        (lambda r: {"setups": (None, None)}, "recorded as blue by resign, judged again as not over"),
        (
            lambda r: {"verdict": msgspec.structs.replace(r.verdict, result=GameResult.RED)},
            "recorded as red by resign, judged again as blue by resign",
        ),
    ],
)
def test_a_record_that_cannot_be_true_is_refused(
    resigned: GameRecord, change: Callable[[GameRecord], dict[str, object]], message: str
) -> None:
    with pytest.raises(RecordError, match=f"game {resigned.id}: .*{message}|{message}"):
        list(transcript(msgspec.structs.replace(resigned, **change(resigned))))
