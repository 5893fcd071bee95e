"""The seam between the arena and games: base classes, finding games, and a game that has all that Stratego has not.

In the game of these tests, Odds, both choose a digit in each round. Red's is not told before Blue's; then a die falls.
There are no set-ups, what was chosen is hidden for half a round, and chance has a part in it.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from random import Random

import msgspec
import pytest
from scripted import Table, record_from

import arena.game
from arena.api.keywords import _game_word
from arena.errors import IllegalAnswerError, UsageError
from arena.game import Ending, Game, State, Told, Variant, add_game, game_named, moved, to_both
from arena.game.exported import decode_line, encode_line, redact
from arena.game.game_mistakes import GameMistakeError
from arena.game.game_spec import GameSpec, Player
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.game.recorded import Replay
from arena.game.referee import Referee
from arena.game.registry import FILES, load_game
from arena.game.time_control import TimeControl
from arena.league.settings import Settings, variant_in
from arena.league.store.game_row import row_of
from arena.report.game_text import GameStyle, game_text
from arena.report.shown import SeenBy
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError
from protocol.seats import MOST_REASONS, Color, Outcome, Reason, ReasonKind

RED, BLUE = Color.RED, Color.BLUE
SECONDS = TimeControl(move_ms=1000)


class Round(State):
    def __init__(self, seed: int, rounds: int) -> None:
        self._random = Random(seed)
        self._rounds = rounds
        self._chosen = ""
        self._won = [0, 0]

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        return (f"rounds {self._rounds}", *(() if seat is None else (f"secret {seat.word}",)))

    def act(self, action: str) -> Told:
        if action == "9":
            raise IllegalAnswerError("expected a digit from 0 to 8, got 9")
        mover, self.to_move = self.to_move, self.to_move.opponent
        if mover is RED:
            self._chosen = action
            return (moved(RED, action),), ()
        die = self._random.randint(1, 6)
        self._won[(int(self._chosen) + int(action) + die) % 2] += 1
        if sum(self._won) == self._rounds:
            red, blue = self._won
            winner = None if red == blue else Color(blue > red)
            self.outcome = Outcome(winner, Reason("level" if winner is None else "odds"))
        last = (moved(BLUE, action), f"die {die}")
        return last, (moved(RED, self._chosen), *last)


class Odds(Game):
    name = "odds"
    has_chance = True
    hides_actions = True
    endings = {"odds": Ending("has won fewer rounds"), "level": Ending("both have won as many", is_draw=True)}  # noqa: RUF012

    def variant_names(self) -> Sequence[str]:
        return "odds", "odds-long"

    def rules_of(self, name: str) -> Sequence[tuple[str, str]]:
        return (("rounds", "4" if name == "odds-long" else "2"),)

    def check_move_form(self, text: str) -> None:
        if re.fullmatch(r"\d", text) is None:
            raise RemoteProtocolError(f"expected 'move' and a digit, got 'move {text}'")

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Round:
        return Round(seed, int(dict(variant.rules)["rounds"]))


class Again(Game):
    """A game in which a side goes on until it says `stop`."""

    name = "again"

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> "Going":
        return Going()


class Going(State):
    def act(self, action: str) -> Told:
        mover = self.to_move
        if action == "stop":
            self.to_move = mover.opponent
        return to_both(moved(mover, action))


class Plain(Game):
    """A game that says only what it has to say."""

    name = "plain"

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> "Count":
        return Count()


class Count(State):
    def act(self, action: str) -> Told:
        self.to_move = self.to_move.opponent
        return to_both(moved(self.to_move.opponent, action))


@pytest.fixture(autouse=True)
def games_as_they_were(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(arena.game, "_games", dict(arena.game._games))
    monkeypatch.setenv(FILES, "")
    add_game(Odds())
    add_game(Again())
    yield
    for name in [name for name in sys.modules if name.startswith("arena_game_")]:
        del sys.modules[name]


def odds(variant: str = "") -> GameSpec:
    players = (Player("ann", "a" * 64), Player("bob", "b" * 64))
    return GameSpec("0123456789abcdef", game_named("odds").variant(variant), SECONDS, players, (1, 2), pair_seed=5)


@pytest.fixture
def played() -> Callable[..., GameRecord]:

    def make(actions: str, variant: str = "") -> GameRecord:
        table = Table(odds(variant))
        table.introduce()
        table.play(actions, after=0.1)
        return record_from(table)

    return make


# --- what a game need not say -----------------------------------------------------------------------------------------


def test_a_game_that_says_only_what_it_must_has_one_variant_without_rules() -> None:
    game = Plain()
    variant = game.variant()
    assert variant == game.variant("plain") == game.completed(variant) == game.settled(variant, 3)
    assert variant == Variant("plain", "1", "plain", ())
    assert (variant.title, game.lasting_rules(variant), game.unsettled(variant, 3)) == ("plain 1", (), (variant,))
    assert game.first_seat(variant) is RED
    assert (game.rules_in_words(variant), game.hint(None)) == ("", None)
    game.check_move_form("a-word")
    for text in ("", "two words"):
        with pytest.raises(RemoteProtocolError, match="expected 'move' and one action without spaces, got 'move "):
            game.check_move_form(text)
    with pytest.raises(RemoteProtocolError, match="there are no set-ups in plain, got 'setup abc'"):
        game.check_setup_form("abc")
    with pytest.raises(IllegalAnswerError, match="there are no set-ups in plain, got 'abc'"):
        game.check_setup(variant, RED, "abc")
    game.check_setup(variant, RED, "")
    with pytest.raises(UsageError, match="plain makes no set-ups: its random_setup has not been written"):
        game.random_setup(variant, RED, 1)


def test_a_state_that_says_only_what_it_must_shows_nothing_and_plays() -> None:
    state = Count()
    assert (state.first_lines(RED), state.legal_actions(), state.board_line(RED)) == ((), None, None)
    assert (state.text(None), state.svg(None)) == ("", None)
    copy = state.copy()
    told = state.play("x")
    assert told == (("moved red x",), ("moved red x",))
    assert (state.ply, state.to_move, copy.ply, copy.to_move) == (1, BLUE, 0, RED)
    assert Plain().public_lines(told) == ["moved red x"]
    Plain().check(copy, "y")
    Plain().check(copy, "resign")
    with pytest.raises(IllegalAnswerError, match="one action without spaces, got 'move two words'"):
        Plain().check(copy, "two words")
    assert copy.ply == 0


def test_in_every_game_the_seat_to_move_may_resign_and_nobody_plays_on_after_the_end() -> None:
    state = Count()
    state.play("x")
    assert state.play("resign") == (("moved blue resign",), ("moved blue resign",))
    assert (state.outcome, state.ply) == (Outcome(RED, Reason.RESIGN), 2)
    with pytest.raises(IllegalAnswerError, match="x: the game is over"):
        state.play("x")


# --- variants ---------------------------------------------------------------------------------------------------------


def test_a_variant_is_named_by_rules_and_others_are_suggested() -> None:
    game = Odds()
    assert game.variant() == Variant("odds", "1", "odds", (("rounds", "2"),))
    assert game.variant("odds-long").rules == (("rounds", "4"),)
    with pytest.raises(UsageError, match=r"--rules: odds has no variant 'odds-lung'; did you mean odds-long"):
        game.variant("odds-lung")


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant("odds", "2", "odds", (("rounds", "2"),)), "expected odds 1, which is here, got odds 2"),
        (Variant("odds", "1", "odds", (("rounds", "3"),)), "the rules of 'odds' are not those of odds 1"),
        (Variant("odds", "1", "other", ()), "odds has no variant 'other'"),
    ],
)
def test_a_record_of_another_version_or_of_other_rules_is_refused(
    variant: Variant, words: str, played: Callable[..., GameRecord]
) -> None:
    with pytest.raises(UsageError, match=words):
        Odds().check_variant(variant)
    record = played("1 2 resign")
    record = msgspec.structs.replace(record, game=variant.title, ruleset=variant.name, rules=variant.rules)
    for check in (check_record, Replay):
        with pytest.raises(RecordError, match=f"game {record.id}: .*{words}"):
            check(record)


def test_each_variant_has_a_fingerprint_of_its_own() -> None:
    game = Odds()
    variants = [game.variant(name) for name in game.variant_names()]
    variants += [Variant("odds", "2", "odds", variants[0].rules), Variant("odds", "1", "odds", (("rounds", "3"),))]
    newer = Odds()
    newer.version = "2"
    assert len({game.digest(variant) for variant in variants} | {newer.digest(variants[0])}) == 4


# --- finding games ----------------------------------------------------------------------------------------------------

FILE = """
from arena.game import *
class Mine(Game):
    name = "{name}"
    version = "{version}"
    endings = {endings}
    def rules_of(self, name):
        return {rules}
    {start}
GAME = Mine
"""
START = "def start(self, variant, seed, setups): return State()"


def written(folder: Path, **other: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "mine.py"
    values = {"name": "mine", "version": "1", "endings": "{}", "rules": "()", "start": START, **other}
    path.write_text(FILE.format(**values))
    return path


def test_a_file_is_loaded_once_and_known_to_the_processes_that_this_one_starts(tmp_path: Path) -> None:
    path = written(tmp_path)
    game = load_game(str(path))
    assert (game.name, os.environ[FILES]) == ("mine", str(path))
    assert load_game("mine") is Variant("mine", "1", "mine").kind is game
    assert type(load_game(str(path))) is type(game)
    assert os.environ[FILES] == str(path)
    arena.game._games.clear()  # as in a process that has been started
    assert game_named("mine").name == "mine"


def test_a_file_that_has_changed_is_loaded_again(tmp_path: Path) -> None:
    load_game(str(written(tmp_path)))
    path = written(tmp_path, version="2")
    os.utime(path, (1, 1))
    assert load_game(str(path)).version == game_named("mine").version == "2"


def test_of_two_games_of_a_name_the_last_one_named_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (written(tmp_path / folder, name="plain", version=folder) for folder in "12")
    entry_point(monkeypatch, "plain", f"{__name__}:Plain")
    monkeypatch.setattr(Plain, "version", "installed")
    for named, version in ((one, "1"), (other, "2"), (one, "1"), ("plain", "installed"), (other, "2"), (other, "2")):
        game = load_game(str(named))
        assert game.version == game_named("plain").version == version
        assert _game_word(game) == str(named)
        arena.game._games.clear()  # as in a process that has been started
        assert game_named("plain").version == version


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"name": "two words"}, r"expected a name of letters, digits, '-' and '\.', got 'two words'"),
        ({"name": "stratego"}, "expected a game with a name of its own: stratego comes with the arena"),
        (
            {"endings": "{'timeout': Ending('slept')}"},
            "ValueError: 'timeout' is a reason that the arena",
        ),
        ({"endings": "{'Bad Word': Ending('slept')}"}, "ValueError: 'Bad Word' is not a valid Reason"),
        ({"rules": "(('two words', '1'),)"}, "expected names of variants and rules without spaces"),
        ({"rules": "(('rounds', 'a; b'),)"}, "values of printable ASCII without ';', got 'mine' with"),
        ({"endings": "{'x': 'slept'}"}, "TypeError: endings: expected an Ending for 'x', got 'slept'"),
        (
            {"rules": "{'size': '5'}"},
            "the game cannot be loaded: a mistake in the game: rules_of .* returned {'size': '5'}",
        ),
        ({"start": f"seat_names = ('White',)\n    {START}"}, r"expected two names in seat_names, got \('White',\)"),
        ({"start": f"def __init__(self): pass\n    {START}"}, r"its __init__ has to call super\(\)\.__init__\(\)"),
        ({"start": "pass"}, "the game cannot be loaded: TypeError: Can't instantiate abstract class Mine"),
        ({"start": "1/0"}, "the game cannot be loaded: ZeroDivisionError: division by zero"),
        ({"start": f"{START}\nMine = None"}, r"expected GAME to be a game \(arena\.game\.Game\), got None"),
    ],
)
def test_a_file_without_a_usable_game_is_an_error_that_says_why(
    tmp_path: Path, other: dict[str, str], words: str
) -> None:
    path = written(tmp_path, **other)
    with pytest.raises(UsageError, match=f"^{re.escape(str(path))}: .*{words}"):
        load_game(str(path))
    assert os.environ[FILES] == ""


def test_a_game_that_is_not_there_is_an_error_that_says_how_games_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no game 'strategy' here: did you mean stratego\?; one that is not"):
        game_named("strategy")
    with pytest.raises(UsageError, match="--game: expected the name of a game, or a Python file that defines one: "):
        load_game(str(tmp_path / "none.py"))


def entry_point(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    points = [EntryPoint(name, value, "arena.games")]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("other", f"{__name__}:Plain", "expected a game of this name, got plain"),
        ("plain", f"{__name__}:Round", r"expected GAME to be a game \(arena\.game\.Game\), got <class"),
        ("plain", "there.is.none:GAME", "the game cannot be loaded: ModuleNotFoundError: No module named 'there'"),
    ],
)
def test_a_package_without_the_game_is_an_error_that_says_why(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    entry_point(monkeypatch, name, value)
    with pytest.raises(UsageError, match=f"^the entry point {name} of arena.games: {words}"):
        game_named(name)


def test_what_a_record_names_as_its_game_is_looked_up_and_never_run(
    tmp_path: Path, played: Callable[..., GameRecord]
) -> None:
    path = written(tmp_path, start="raise SystemExit")
    record = played("1 2 resign")
    for name in (str(path), "mine", "../mine", "os", "\x1b[2J"):
        strange = decode_record(encode_record(msgspec.structs.replace(record, game=f"{name} 1")))
        for check in (check_record, Replay):
            with pytest.raises(RecordError, match=f"^game {record.id}: there is no game '.*' here: ") as caught:
                check(strange)
            assert str(caught.value).isprintable()
        settings = {**Settings(record.variant, SECONDS).described(), "game": f"{name} 1"}
        with pytest.raises(UsageError, match="there is no game "):
            variant_in(settings)


# --- reasons ----------------------------------------------------------------------------------------------------------


def test_a_word_of_a_game_is_one_reason_however_often_it_is_read() -> None:
    decode = msgspec.json.Decoder(Reason).decode
    first = decode(b'"a-new-word"')
    assert first is decode(b'"a-new-word"') is Reason("a-new-word") is msgspec.convert("a-new-word", Reason)
    assert (first.value, first.kind, first.sentence) == ("a-new-word", ReasonKind.PLAYED, "lost by a-new-word")
    assert first not in tuple(Reason)
    assert (Reason("level").kind, Reason("level").sentence) == (ReasonKind.DRAWN, "both have won as many")


@pytest.mark.parametrize("word", ["", "Upper", "two words", "-a", "a" * 41, "a\n", "\x1b", "\u00e9"])
def test_other_texts_are_no_reasons(word: str) -> None:
    assert not Reason.has(word)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(word), type=Reason)


def test_words_of_strangers_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocol.seats._REASONS", dict(sys.modules["protocol.seats"]._REASONS))
    monkeypatch.setattr(Reason, "_value2member_map_", dict(Reason._value2member_map_))
    taken = sum(Reason.has(f"stranger-{number}") for number in range(2 * MOST_REASONS))
    assert 0 < taken < MOST_REASONS
    assert Reason.has("stranger-0")
    assert Reason.has("timeout")


# --- the referee ------------------------------------------------------------------------------------------------------


def test_a_game_without_set_ups_goes_from_the_seed_to_the_first_turn() -> None:
    table = Table(odds())
    table.introduce()
    for color, seed in ((RED, 1), (BLUE, 2)):
        table.expect(color, "hello 1")
        assert table.referee.seats[color].phase is (Phase.THINKING, Phase.WAITING)[color]
        lines = (f"game {color.word} odds", "rule rounds 2", "clock setup 5000 move 1000", f"seed {seed}", "rounds 2")
        turn = ("turn 1 1000 1000",) if color is RED else ()
        table.expect(color, *lines, f"secret {color.word}", *turn)


def test_what_a_seat_may_not_know_yet_is_told_with_the_next_action() -> None:
    table = Table(odds())
    table.introduce()
    table.skip()
    table.play("3")
    table.expect(BLUE, "turn 2 1000 1000")
    table.play("4")
    red_1, blue_2, die, turn = table.next_write(RED)
    assert (red_1, blue_2, turn) == ("moved red 3", "moved blue 4", "turn 3 1000 1000")
    assert re.fullmatch("die [1-6]", die)


@pytest.mark.parametrize("line", ["move 1", "note hm", "setup abc"])
def test_what_comes_unasked_before_the_first_turn_comes_in_the_opponents_turn(line: str) -> None:
    table = Table(odds())
    table.introduce()
    table.skip()
    table.reply(BLUE, line)
    verdict = table.referee.verdict
    assert verdict is not None
    assert verdict.reason is Reason.PROTOCOL
    if line != "setup abc":
        verb = line.split(maxsplit=1)[0]
        assert f"'{verb}' came during the opponent's turn; a bot must send nothing then" in verdict.detail
    else:
        assert "there are no set-ups in odds, got 'setup abc'" in verdict.detail


@pytest.mark.parametrize(
    ("action", "reason", "words"),
    [
        ("x", Reason.PROTOCOL, "expected 'move' and a digit, got 'move x'"),
        ("9", Reason.ILLEGAL_ACTION, "ply 1: 9: expected a digit from 0 to 8, got 9"),
    ],
)
def test_a_game_says_itself_what_is_malformed_and_what_is_illegal(action: str, reason: Reason, words: str) -> None:
    table = Table(odds())
    table.introduce()
    table.play(action, after=0.1)
    record = record_from(table)
    assert (record.verdict.reason, record.verdict.result.winner) == (reason, BLUE)
    assert words in record.verdict.detail
    check_record(record)


# --- records ----------------------------------------------------------------------------------------------------------


def ended(played: Callable[..., GameRecord]) -> GameRecord:
    record = played("1 2 3 4")
    assert record.verdict.reason in (Reason("odds"), Reason("level"))
    return record


def test_a_game_with_chance_is_judged_again_from_the_seed_that_nobody_was_told(
    played: Callable[..., GameRecord],
) -> None:
    record = ended(played)
    check_record(record)
    assert (record.setups, record.turns) == (("", ""), msgspec.UNSET)
    dice = set()
    for pair_seed in range(20):
        steps = list(Replay(msgspec.structs.replace(record, pair_seed=pair_seed)).steps())
        dice.add(steps[1].told[RED])
    assert len(dice) == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"setups": ("x", "")}, "there are no set-ups in odds, got 'x'"),
        ({"actions": ("1", "9", "3", "4")}, "ply 2: expected a digit from 0 to 8, got 9"),
        ({"actions": ("1", "x", "3", "4")}, "ply 2: expected 'move' and a digit, got 'move x'"),
        ({"game": "stratego 1"}, "its game is 'stratego 1': expected its name and version, and nothing for Stratego"),
    ],
)
def test_an_impossible_record_of_the_game_is_refused(
    played: Callable[..., GameRecord], change: dict[str, object], words: str
) -> None:
    record = msgspec.structs.replace(ended(played), **change)
    with pytest.raises(RecordError, match=words):
        check_record(record)
    if "game" not in change:
        with pytest.raises(RecordError, match=words):
            list(Replay(record).steps())


def test_nobody_loses_by_a_set_up_where_there_are_none(played: Callable[..., GameRecord]) -> None:
    record = ended(played)
    verdict = msgspec.structs.replace(record.verdict, reason=Reason.SETUP_TIMEOUT, plies=0)
    unplayed = msgspec.structs.replace(record, setups=(None, None), actions=(), times_us=(), forgiven_us=())
    with pytest.raises(RecordError, match="setup-timeout in a game without set-ups"):
        check_record(msgspec.structs.replace(unplayed, verdict=msgspec.convert(verdict, type(verdict))))


def test_a_record_has_who_had_the_turns_of_a_game_without_turns_by_turns() -> None:
    table = Table(msgspec.structs.replace(odds(), variant=game_named("again").variant()))
    table.introduce()
    for number, action in enumerate(["on", "on", "stop", "on", "resign"], start=1):
        table.play(action, after=number / 10)
    record = record_from(table)
    assert record.turns == "rrrbb"
    check_record(decode_line(encode_line(record, {})).record)
    red, blue = row_of(1, record).times
    assert (red.moves, red.slowest_us, blue.moves, blue.slowest_us) == (3, 300_000, 2, 500_000)
    assert [record.mover(ply) for ply in range(1, 6)] == [RED, RED, RED, BLUE, BLUE]
    assert b"turns" not in redact(record, None)
    for turns in ("rrrrb", "rrrb", "rbrbr", msgspec.UNSET):
        with pytest.raises(RecordError, match=r"its turns are '[rb]*', judged again as 'rrrbb'"):
            check_record(msgspec.structs.replace(record, turns=turns))


@pytest.mark.parametrize("seat", [RED, BLUE, None])
def test_a_view_of_a_game_that_hides_actions_has_only_the_sides_own(
    played: Callable[..., GameRecord], seat: Color | None
) -> None:
    record = ended(played)
    line = msgspec.json.decode(redact(record, seat))
    own = [action if seat is not None and number % 2 == seat else None for number, action in enumerate("1234")]
    assert line["actions"] == own
    first, red_1, blue_1, red_2, blue_2 = line["told"]
    assert first == ["rounds 2", *([f"secret {seat.word}"] if seat is not None else [])]
    assert [red_1, red_2] == ([["moved red 1"], ["moved red 3"]] if seat is RED else [[], []])
    assert "moved blue 2" in blue_1
    assert "moved blue 4" in blue_2
    assert ("moved red 1" in blue_1) is (seat is BLUE)
    assert line["pair_seed"] is None


@pytest.mark.parametrize(("view", "red", "blue"), [("red", "1", "2"), ("blue", "?", "2"), ("public", "?", "2")])
def test_a_view_shows_the_actions_that_its_reader_was_told(
    played: Callable[..., GameRecord], view: str, red: str, blue: str
) -> None:
    shown = "".join(game_text(1, ended(played), GameStyle(view=SeenBy(view), times=False)))
    assert f"\nply 1: red {red}\n" in shown
    assert f"\nply 2: blue {blue}; " in shown


def lines_of_the_game(table: Table, color: Color) -> list[str]:
    """What a seat has been sent, and what is to be sent with its next turn, but for the turns."""
    waiting = table.referee.seats[color].out
    lines = b"".join([*table.writes[color], *waiting]).decode("ascii").splitlines()
    return [line for line in lines if not line.startswith("turn ")]


@pytest.mark.parametrize("plies", range(4))
def test_a_resumed_game_tells_both_the_lines_that_they_were_told(plies: int) -> None:
    actions = ["1", "2", "3", "4"]
    table, again = Table(odds()), Table(odds())
    table.introduce()
    table.play(" ".join(actions[:plies]), after=0.1)
    history = table.referee.history()
    assert history is not None
    again.referee = Referee(odds(), history)
    again.introduce()
    for color in Color:
        assert again.referee.seats[color].phase is table.referee.seats[color].phase
        assert lines_of_the_game(again, color) == lines_of_the_game(table, color)
    for one in (table, again):
        one.play(" ".join(actions[plies:]), after=0.1)
    assert table.referee.verdict == again.referee.verdict is not None


# --- mistakes of a game -----------------------------------------------------------------------------------------------


def ends_wrongly(state: State) -> Told:
    state.outcome = "red"  # type: ignore[assignment]
    return to_both()


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (lambda state: 1 // 0, "act raised ZeroDivisionError: integer division or modulo by zero .*test_game_seam.py"),
        (lambda state: None, "returned None: expected lists of printable lines for Red and for Blue"),
        (lambda state: ("ab", "cd"), r"returned \('ab', 'cd'\)"),
        (lambda state: to_both("turn 3 1 1"), "none of them one of the arena's own"),
        (ends_wrongly, "expected a Color in to_move and an Outcome"),
    ],
)
def test_a_mistake_in_a_game_is_its_authors_and_no_bots(does: Callable[[State], Told], words: str) -> None:
    class Wrong(State):
        def act(self, action: str) -> Told:
            del action
            return does(self)

    with pytest.raises(GameMistakeError, match=words):
        Wrong().play("1")


def call(base: type, method: str, does: Callable[[], object]) -> object:
    """Call a method that a class below `base` has of its own."""
    wrong = type("Wrong", (base,), {method: lambda *_: does()})
    return getattr(wrong(), method)()


@pytest.mark.parametrize(
    ("base", "method", "found", "words"),
    [
        (Count, "first_lines", 7, "returned 7: expected printable lines"),
        (Count, "first_lines", ["turn now"], "none of them one of the arena's own"),
        (Count, "legal_actions", [1, 2], r"returned \[1, 2\]: expected actions, each one printable word"),
        (Count, "legal_actions", ["two words"], r"returned \['two words'\]"),
        (Count, "legal_actions", ["x" * 4091], "each one printable word of up to 4,090 bytes"),
        (Count, "board_line", b"board", "returned b'board': expected a printable line"),
        (Count, "text", 7, "returned 7: expected a text"),
        (Count, "svg", 7, "returned 7: expected a text, or None"),
        (Plain, "start", None, "returned None: expected a State"),
        (Plain, "rules_of", {"size": "5"}, "returned {'size': '5'}: expected pairs"),
        (Plain, "variant_names", "five", "returned 'five': expected a list"),
        (Plain, "rules_in_words", None, "returned None: expected a text"),
    ],
)
def test_a_result_of_a_wrong_type_is_a_mistake_of_the_game(base: type, method: str, found: object, words: str) -> None:
    with pytest.raises(GameMistakeError, match=rf"{method} \(.*{Path(__file__).name}, line \d+\) .*{words}"):
        call(base, method, lambda: found)


@pytest.mark.parametrize(
    ("base", "method", "error", "is_answer"),
    [
        (Count, "act", KeyError, False),
        (Count, "act", SystemExit, False),
        (Count, "act", IllegalAnswerError, True),
        (Plain, "start", KeyError, False),
        (Plain, "check_setup", ValueError, False),
        (Plain, "check_setup", IllegalAnswerError, True),
        (Plain, "check_move_form", IllegalAnswerError, False),
        (Plain, "check_move_form", RemoteProtocolError, True),
    ],
)
def test_an_exception_that_is_no_answer_is_a_mistake_of_the_game(
    base: type, method: str, error: type[BaseException], is_answer: bool
) -> None:
    def fail() -> None:
        raise error("x")

    with pytest.raises(error if is_answer else GameMistakeError) as caught:
        call(base, method, fail)
    if not is_answer:
        assert re.search(rf"{method} raised {error.__name__}: '?x'? \(.*{Path(__file__).name}, line", str(caught.value))


@pytest.mark.parametrize(
    ("legal", "words"),
    [
        (("9",), "ply 3: legal_actions lists 9, but act refused 9: expected a digit from 0 to 8"),
        ((), "ply 3: legal_actions lists none, but act refused 9"),
    ],
)
def test_nobody_loses_by_an_illegal_action_when_the_game_lists_it_or_none(
    monkeypatch: pytest.MonkeyPatch, legal: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr(Round, "legal_actions", lambda self: legal)
    table = Table(odds())
    table.introduce()
    with pytest.raises(GameMistakeError, match=words):
        table.play("1 2 9", after=0.1)


def test_a_seat_without_a_legal_action_is_a_mistake_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Round, "legal_actions", lambda self: ())
    with pytest.raises(GameMistakeError, match="ply 1: legal_actions lists none, but there is no outcome"):
        Table(odds()).introduce(["want legal"])


def test_a_reason_that_endings_do_not_explain_is_a_mistake_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odds, "endings", {})
    table = Table(odds())
    table.introduce()
    with pytest.raises(GameMistakeError, match=r"the outcome of ply 4 has the reason '(odds|level)', which is not in"):
        table.play("1 2 3 4", after=0.1)
