"""`arena rerun` and `arena log`: a stored game played again, and its dialogue as text and as JSON."""

import functools
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from commands import invoke as command

import arena
from arena.bots.entering import place_of
from arena.bots.limits import Limits
from arena.bots.loading import load_bot
from arena.cli.cmd_rerun import rerun_text
from arena.cli.exit_codes import FAILED
from arena.cli.main import cli
from arena.errors import ArenaError, UsageError
from arena.game.faults import Verdict
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.rerun import (
    BotFinder,
    FirstDifference,
    Part,
    RerunOptions,
    difference,
    rerun,
    sandbox_asked,
)
from arena.league.store import Store
from arena.sandbox.levels import Level
from protocol.notation import Color, Reason

BOTS = Path(__file__).parent.parent.parent / "bots"
RED, BLUE = Color.RED, Color.BLUE


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one game of two sample bots, which depend on nothing but their seed."""
    path = tmp_path_factory.mktemp("store") / "g.sqlite"
    arena.play(BOTS / "raider.py", BOTS / "drifter.py", rules="duel", time="60s", store=path)
    return path


@pytest.fixture(scope="module")
def record(path: Path) -> GameRecord:
    with Store(path, create=False) as store:
        return store.record("1")[1]


def unheard(line: str) -> None:
    """Where remarks go that a test is not about."""


def run(command: str, path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [command, str(path), "1", *arguments], standalone_mode=False)


# --- played again -----------------------------------------------------------------------------------------------------


def test_the_same_bots_play_the_same_game_and_nothing_is_stored(path: Path, record: GameRecord) -> None:
    before = path.read_bytes()
    said: list[str] = []
    done = rerun(record, RerunOptions(), said.append)
    assert done.difference is None
    assert done.played.actions == record.actions
    assert rerun_text(1, done) == f"game 1: same to the end, {len(record.actions)} plies: {record.verdict.detail}"
    assert [line.split(" is ")[0] for line in said] == ["red: raider", "blue: drifter"]
    assert path.read_bytes() == before


def test_a_bot_that_has_changed_is_refused_unless_that_is_asked_for(path: Path, record: GameRecord) -> None:
    other = str(BOTS / "warden.py")
    with pytest.raises(UsageError, match=r"expected raider as it played, digest \w{12}, got \w{12}: its files have"):
        rerun(record, RerunOptions(bots={RED: other}), unheard)
    done = rerun(record, RerunOptions(bots={RED: other}, changed_bots=True), unheard)
    assert done.difference is not None
    assert (done.difference.part, done.difference.color) == (Part.SETUP, RED)
    assert done.played.players == record.players


def test_a_game_in_which_no_bot_was_started_cannot_be_played_again(record: GameRecord) -> None:
    with pytest.raises(ArenaError, match="neither bot was started in this game") as raised:
        rerun(msgspec.structs.replace(record, confinement=("", "")), RerunOptions(), unheard)
    assert raised.value.exit_code == FAILED


# --- a record that somebody else may have written ---------------------------------------------------------------------


def held(record: GameRecord, *words: str) -> GameRecord:
    """The same record with other words on how its bots were held, those of red and blue or of both."""
    return msgspec.structs.replace(record, confinement=(words[0], words[-1]))


def test_a_record_asks_for_a_stronger_sandbox_never_for_a_weaker_one_than_the_host(record: GameRecord) -> None:
    usual = RerunOptions()
    assert sandbox_asked(record, usual) == "basic"
    assert sandbox_asked(held(record, "", "bwrap: memory 512M"), usual) == "bwrap"
    assert sandbox_asked(held(record, "basic: ", "cgroup: "), usual) == "cgroup"
    assert sandbox_asked(held(record, "none: ", "auto: "), usual) == "basic"
    assert sandbox_asked(held(record, "cgroup: "), RerunOptions(sandbox="basic")) == "basic"
    assert sandbox_asked(held(record, "basic: "), RerunOptions(last_sandbox="bwrap")) == "bwrap"


@pytest.mark.parametrize("named", [None, "auto"])
def test_without_a_sandbox_no_program_runs_that_the_host_has_not_named(
    record: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    """A program that lies beside a store, and the record of a game of it, can both be a stranger's."""
    monkeypatch.setattr(Level, "why_not", lambda level: None if level is Level.BASIC else "there is no bwrap")
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'owned')!r}, 'w')\n")
    players = (Player("evil", load_bot(evil).digest), record.players[1])
    forged = msgspec.structs.replace(held(record, "basic: " + Limits().text), players=players)
    with pytest.raises(UsageError, match=r"red: evil is .*evil\.py; without a sandbox"):
        rerun(forged, RerunOptions(near=[tmp_path], sandbox=named), unheard)
    assert not (tmp_path / "owned").exists()
    for trusted in (RerunOptions(near=[tmp_path], sandbox="basic"), RerunOptions(bots={RED: str(evil)})):
        rerun(forged, trusted, unheard)
        (tmp_path / "owned").unlink()  # it was there: it ran


def test_what_a_store_was_played_with_from_where_it_lies_runs_again_as_it_did(tmp_path: Path) -> None:
    """The store knows the place; an imported line does not bring it."""
    own = tmp_path / "own.py"
    own.write_text((BOTS / "raider.py").read_text() + "# mine\n")
    path = tmp_path / "g.sqlite"
    arena.play(own, BOTS / "drifter.py", rules="duel", time="60s", store=path)
    done = command(tmp_path, "rerun", "g.sqlite", "1")
    assert done.returncode == 0, done.stderr
    assert "same to the end" in done.stdout
    (tmp_path / "bots").mkdir()
    moved_to = own.rename(tmp_path / "bots" / "own.py")
    moved = command(tmp_path, "rerun", "g.sqlite", "1")
    assert moved.returncode == 2
    assert "bots/own.py; without a sandbox it could use your files" in moved.stderr
    named = command(tmp_path, "rerun", "g.sqlite", "1", "--bot", f"own={moved_to}")
    assert named.returncode == 0, named.stderr


TAKES_X = "import sys\nassert sys.argv[1:] == ['--depth', '3 4']\n"


def test_a_bot_with_arguments_is_found_by_those_that_the_store_has(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text((BOTS / "raider.py").read_text().replace("import", TAKES_X + "import", 1))
    (tmp_path / "arena.toml").write_text(
        f'bots = [{{ path = "own.py", args = ["--depth", "3 4"] }}, "{BOTS / "drifter.py"}"]\n'
        'rules = "duel"\ntime = "60s"\nstore = "g.sqlite"\n'
    )
    again = functools.partial(command, tmp_path, "rerun", "g.sqlite", "1")
    played = command(tmp_path, "match", "--games", "1")
    assert played.returncode == 0, played.stderr
    done = again()
    assert done.returncode == 0, done.stderr
    assert "own is own.py --depth '3 4'\n" in done.stderr
    assert "same to the end" in done.stdout
    with Store(tmp_path / "g.sqlite", create=False) as store:
        record, settings = store.record("1")[1], store.settings()
    own.rename(tmp_path / "moved.py")
    moved = again()
    assert moved.returncode == 2
    color = Color(record.players[1].name == "own").word
    assert (
        f"--bot {color}=PATH with --arguments {color}=WORDS or --sandbox basic to run it without a sandbox"
        in moved.stderr
    )
    half_named = again("--bot", "own=moved.py")
    assert half_named.returncode == 2, "the store alone says what the program is started with"
    named = again("--bot", "own=moved.py", "--arguments", "own=--depth '3 4'")
    assert named.returncode == 0, named.stderr
    other = again("--bot", "own=moved.py", "--arguments", "own=--depth 5")
    assert other.returncode == 2
    assert "its files have changed since, or it had other arguments" in other.stderr
    assert "--depth" not in "".join(value for name, value in settings.items() if name.startswith("files of "))


def test_a_record_gives_no_bot_more_than_the_store_or_the_usual_limits(record: GameRecord) -> None:
    forged = held(
        record, "basic: memory 900G, 1000000 processes, 900G of /tmp", "basic: memory 64M, 8 processes, 1M of /tmp"
    )
    said: list[str] = []
    done = rerun(forged, RerunOptions(), said.append)
    assert done.played.confinement == (f"basic: {Limits().text}", forged.confinement[1])
    assert [line for line in said if "which is more than the usual limits" in line] == [
        "red: raider had memory 900G, 1000000 processes, 900G of /tmp by the record, which is more than the usual "
        f"limits: it has {Limits().text}"
    ]
    said.clear()
    own = Limits(memory=1024 * 2**20)
    done = rerun(forged, RerunOptions(limits={"raider": own}), said.append)
    assert done.played.confinement[0] == f"basic: {own.text}"
    assert any("more than the limits that the store's settings say: it has memory 1G" in line for line in said)


# --- where two games part ---------------------------------------------------------------------------------------------


def test_the_first_thing_that_differs_is_told(record: GameRecord) -> None:
    def played(**changes: object) -> FirstDifference | None:
        return difference(record, msgspec.structs.replace(record, **changes))

    plies = len(record.actions)
    end = record.verdict
    assert played(times_us=(1,) * plies, started=1.0, stderr=("x", "y")) is None
    assert played(setups=(record.setups[0], "other")) == FirstDifference(Part.SETUP, 0, BLUE, record.setups[1], "other")
    changed = (*record.actions[:3], "a1-a2", *record.actions[4:])
    assert played(actions=changed) == FirstDifference(Part.ACTION, 4, BLUE, record.actions[3], "a1-a2")
    shorter = Verdict(end.result, Reason.CRASH, 2, "it broke down")
    assert played(actions=record.actions[:2], verdict=shorter) == FirstDifference(
        Part.END, 3, RED, record.actions[2], None
    )
    assert played(verdict=msgspec.structs.replace(end, reason=Reason.CRASH)) == FirstDifference(
        Part.END, plies + 1, RED if plies % 2 == 0 else BLUE, None, None
    )


# --- bots found again -------------------------------------------------------------------------------------------------


@pytest.fixture
def near(tmp_path: Path) -> Path:
    """A folder with a bot of one's own, a copy of it, a folder that is none, and a link."""
    for name in ("mine.py", "copy.py"):
        (tmp_path / name).write_text("print('ready')\n")
    (tmp_path / "other.py").write_text("print('other')\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "link.py").symlink_to(tmp_path / "mine.py")
    return tmp_path


def test_a_bot_is_found_by_its_content_near_or_in_an_archive_its_namesake_first(
    near: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bot = load_bot(near / "mine.py")
    player = Player("mine", bot.digest)
    archive = tmp_path_factory.mktemp("archive")
    archived = archive / bot.digest / "mine.py"
    archived.parent.mkdir()
    archived.write_text((near / "mine.py").read_text())
    found = BotFinder(RerunOptions(near=[near], archive=archive)).anywhere(player, "red")
    assert [each.path for each in found] == [near / "mine.py", archived, near / "copy.py"]
    assert {each.player for each in found} == {player}


def test_a_bot_is_found_in_a_folder_of_entrants(near: Path) -> None:
    for entrant, program in (("anna", "echo hunter"), ("bob", "echo gatherer")):
        folder = near / "entries" / entrant / "bot"
        folder.mkdir(parents=True)
        (folder / "bot.toml").write_text('command = ["./run"]\n')
        (folder / "run").write_text(f"#!/bin/sh\n{program}\n")
        (folder / "run").chmod(0o755)
    folder = near / "entries" / "anna" / "bot"
    player = Player("anna", load_bot(folder).digest)
    finder = BotFinder(RerunOptions(near=[near]))
    assert [each.path for each in finder.anywhere(player, "red")] == [folder]
    assert finder.at(str(near / "entries"), player).path == folder


def test_a_bot_is_found_where_it_played_then_in_its_entrants_folder_and_among_the_samples_last(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "thief" / "thief.py" for folder in ("copies", "entries", "old")]
    others = [tmp_path / "copies" / name / "x.py" for name in ("cat", "good")]
    for path in (*paths, *others):
        path.parent.mkdir(parents=True)
        path.write_bytes((BOTS / "raider.py").read_bytes())
    paths[0].write_text("# changed\n")
    entered = load_bot(paths[1])
    for may_differ in (False, True):
        finder = BotFinder(
            RerunOptions(near=[tmp_path], changed_bots=may_differ, places={entered.digest: place_of(entered)})
        )
        found = [bot.path for bot in finder.anywhere(Player("good", entered.digest), "red")]
        assert found == [paths[1], others[1], others[0], paths[2], BOTS / "raider.py"]
    changed = Player("thief", "0" * 64)
    finder = BotFinder(RerunOptions(near=[tmp_path], changed_bots=True, places={changed.digest: place_of(entered)}))
    assert [bot.path for bot in finder.anywhere(changed, "red")] == [paths[1]]


def test_a_changed_bot_is_taken_from_the_folder_of_its_entrant(tmp_path: Path) -> None:
    program = tmp_path / "thief" / "thief.py"
    program.parent.mkdir()
    program.write_text("# changed\n")
    player = Player("thief", "0" * 64)
    assert BotFinder(RerunOptions(near=[], changed_bots=True)).at(str(program.parent), player).path == program
    with pytest.raises(UsageError, match=r"thief/thief\.py: expected thief as it played"):
        BotFinder(RerunOptions(near=[])).at(str(program.parent), player)


# --- the commands -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bot", "x=y"], "--bot: expected NAME=PATH with one of red, blue, raider, drifter; got 'x=y'"),
        (["--arguments", "red='"], "--arguments: expected words as a shell takes them, got"),
        (["--bot", "red=a", "--bot", "raider=b"], "--bot: expected it once for red, got it twice"),
    ],
)
def test_a_wrong_bot_is_a_clear_error(path: Path, arguments: list[str], message: str) -> None:
    done = run("rerun", path, *arguments)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_the_exit_code_says_whether_the_games_are_the_same(path: Path) -> None:
    line = ["rerun", str(path), "1", "--bot", f"raider={BOTS / 'warden.py'}"]
    refused = command(path.parent, *line)
    assert (refused.returncode, refused.stdout) == (2, "")
    other = command(path.parent, *line, "--changed-bots", "--json")
    assert other.returncode == 1
    document = json.loads(other.stdout)
    assert (document["same"], document["differs"], document["ply"], document["side"]) == (False, "set-up", 0, "red")


def test_the_dialogue_is_printed_line_by_line(path: Path, record: GameRecord) -> None:
    lines = run("log", path).stdout.splitlines()
    assert lines[0] == f"# game 1 ({record.id}): red raider - blue drifter"
    assert {line[:10] for line in lines if not line.startswith("#")} == {
        *("to red    ", "to blue   ", "from red  ", "from blue "),
    }
    assert f"from red  move {record.actions[0]}" in lines
    assert lines[-1] == "to blue   quit"
    assert any(line.startswith("# red: ") and "CPU" in line for line in lines)
    assert not [line for line in run("log", path, "--no-times").stdout.splitlines() if " ms" in line]


def test_the_dialogue_as_json_is_one_object_a_line(path: Path, record: GameRecord) -> None:
    entries = [json.loads(line) for line in run("log", path, "--json").stdout.splitlines()]
    moves = [entry["line"] for entry in entries if entry.get("said_by") == "bot" and entry["ply"]]
    assert moves == [f"move {action}" for action in record.actions]
    taken = [entry["taken_us"] for entry in entries if entry["kind"] == "answer"]
    assert taken == list(record.times_us)


def test_standard_error_stands_at_the_end_as_it_has_no_time(path: Path, record: GameRecord, tmp_path: Path) -> None:
    with Store(tmp_path / "e.sqlite", create=True) as store:
        store.add(msgspec.structs.replace(record, stderr=("first\nsecond\n", "")))
    lines = run("log", tmp_path / "e.sqlite").stdout.splitlines()
    assert lines[-2:] == ["err red   first", "err red   second"]
    assert "which has no times" in lines[-3]
