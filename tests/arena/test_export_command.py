"""`arena export`, `arena import` and `arena verify FILE` as a user meets them."""

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arena.cli import streams
from arena.cli.main import cli
from arena.errors import UsageError
from arena.league.exchange import export_lines
from arena.league.readers import HOST
from arena.league.store import Store

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
Run = Callable[..., tuple[int, bytes, str]]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in the current folder. A slow machine is not told how far a check has come."""
    monkeypatch.setattr(streams, "SECONDS_BETWEEN_REMARKS", math.inf)
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(GOLDEN / "own.sqlite", "own.sqlite"))


@pytest.fixture
def arena(own: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs a command in this process: its exit code, its results and its remarks."""

    def run(*arguments: str) -> tuple[int, bytes, str]:
        capsysbinary.readouterr()
        code = cli.main(list(arguments), prog_name="arena", standalone_mode=False) or 0
        out, remarks = capsysbinary.readouterr()
        return code, out, remarks.decode()

    return run


def lines_of(path: Path) -> list[bytes]:
    with Store(path, create=False) as store:
        return list(export_lines(store, store.numbers(), HOST, lambda damage: None))


def test_lines_go_to_standard_output_or_into_a_new_file(arena: Run, own: Path) -> None:
    whole = b"".join(lines_of(own))
    assert arena("export", "own.sqlite") == (0, whole, "")
    assert arena("export", "own.sqlite", "-o", "-") == (0, whole, "")
    assert arena("export", "own.sqlite", "-o", "games.jsonl") == (0, b"", "games.jsonl: 12 games\n")
    assert Path("games.jsonl").read_bytes() == whole
    assert sorted(path.name for path in Path().iterdir()) == ["games.jsonl", "own.sqlite"]


def test_nothing_that_is_there_is_overwritten_unless_that_is_asked_for(arena: Run, own: Path) -> None:
    Path("games.jsonl").write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"games\.jsonl: expected a file that does not exist yet; '--force'"):
        arena("export", "own.sqlite", "-o", "games.jsonl")
    assert Path("games.jsonl").read_bytes() == b"mine"
    arena("export", "own.sqlite", "-o", "games.jsonl", "--force")
    assert Path("games.jsonl").read_bytes() == b"".join(lines_of(own))
    before = own.read_bytes()
    with pytest.raises(UsageError, match="this is the store itself"):
        arena("export", "own.sqlite", "-o", "own.sqlite", "--force")
    assert own.read_bytes() == before
    Path("folder").mkdir()
    with pytest.raises(UsageError, match=r"folder: expected a file that does not exist yet$"):
        arena("export", "own.sqlite", "-o", "folder")
    with pytest.raises(UsageError, match=r"none/games\.jsonl: there is no folder none"):
        arena("export", "own.sqlite", "-o", "none/games.jsonl")


def test_games_are_chosen_by_bot_and_by_number_or_id(arena: Run, own: Path) -> None:
    lines = lines_of(own)
    game = json.loads(lines[10])["id"]
    assert arena("export", "own.sqlite", "--game", "3", "--game", game[:8])[1] == lines[2] + lines[10]
    of_dead = b"".join(line for line in lines if b'"name":"dead"' in line)
    assert arena("export", "own.sqlite", "--bot", "dead")[1] == of_dead
    assert arena("export", "own.sqlite", "--bot", "dead", "--game", "1")[1] == b"", "not a game of it"
    for option, value in (("--bot", "nobody"), ("--game", "99")):
        with pytest.raises(UsageError, match=value):
            arena("export", "own.sqlite", option, value)


def test_a_damaged_game_is_left_out_and_named_with_exit_code_1(arena: Run, own: Path) -> None:
    lines = lines_of(own)
    database = sqlite3.connect(own, isolation_level=None)
    database.execute("UPDATE games SET plies = 9 WHERE number = 4")
    database.close()
    code, out, remarks = arena("export", "own.sqlite", "-o", "games.jsonl")
    assert (code, out) == (1, b"")
    assert Path("games.jsonl").read_bytes() == b"".join([*lines[:3], *lines[4:]])
    assert "game 4: its row was changed after it was stored" in remarks


def test_an_import_says_how_many_games_it_added(arena: Run) -> None:
    arena("export", "own.sqlite", "--game", "3", "-o", "one.jsonl")
    assert arena("import", "new.sqlite", "one.jsonl") == (0, b"new.sqlite: 1 game was imported\n", "")
    said = b"new.sqlite: 11 games were imported, 2 were there already\n"
    assert arena("import", "new.sqlite", "own.sqlite", "one.jsonl") == (0, said, "")
    code, out, _ = arena("import", "--json", "new.sqlite", "own.sqlite")
    assert (code, json.loads(out)) == (0, {"store": "new.sqlite", "imported": 0, "present": 12})


def test_the_author_of_a_bot_is_given_its_games_as_the_bot_saw_them(arena: Run) -> None:
    code, out, remarks = arena("export", "own.sqlite", "--view", "bot:steady")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {line["view"] for line in lines} == {"red", "blue"}
    assert {line[line["view"]]["name"] for line in lines} == {"steady"}
    assert "the seed of own.sqlite is 7, which can be guessed" in remarks
    assert arena("export", "own.sqlite", "--view", "bot:steady", "--game", "2")[1] == b"", "not a game of it"


def test_a_view_that_cannot_be_had_is_refused_with_what_to_do(arena: Run) -> None:
    for view in ("bot:", "bot", "green", "RED", ""):
        with pytest.raises(UsageError, match=rf"--view: expected all, red, blue, public or bot:NAME, got '{view}'"):
            arena("export", "own.sqlite", "--view", view)
    with pytest.raises(UsageError, match=r"steady has Red in game 1 and Blue in game 6, .* 'bot:steady' for the"):
        arena("export", "own.sqlite", "--view", "red")
    with pytest.raises(UsageError, match="no games of a bot 'stedy'; did you mean steady"):
        arena("export", "own.sqlite", "--view", "bot:stedy")


def test_verify_takes_a_file_and_exits_with_1_for_findings(arena: Run) -> None:
    arena("export", "own.sqlite", "-o", "games.jsonl")
    said = b"games.jsonl: 12 games, all sound: played again, each gives the verdict that is stored\n"
    assert arena("verify", "games.jsonl") == (0, said, "")
    file = Path("games.jsonl")
    file.write_bytes(file.read_bytes()[:-5])
    code, out, _ = arena("verify", "games.jsonl")
    assert code == 1
    assert out.decode().splitlines() == [
        "line 12: the file was cut off here, or the line was",
        "games.jsonl: 12 games, 1 of them not sound",
    ]
    code, out, _ = arena("verify", "--json", "games.jsonl")
    findings = [{"line": 12, "text": "the file was cut off here, or the line was"}]
    assert (code, json.loads(out)) == (1, {"file": "games.jsonl", "games": 12, "findings": findings})
    with pytest.raises(UsageError, match="expected a store to copy games from"):
        arena("verify", "games.jsonl", "--salvage", "new.sqlite")


def test_verify_says_once_what_is_wrong_with_many_games(arena: Run) -> None:
    arena("export", "own.sqlite", "-o", "games.jsonl")
    file = Path("games.jsonl")
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"".join(line.replace(b'"seconds":', b'"seconds":1') + b"\n" for line in lines))
    code, out, _ = arena("verify", "games.jsonl")
    changed = "it was changed after it was written: its checksum is not that of the line"
    assert (code, out.decode().splitlines()) == (
        1,
        [f"line 1: {changed}", f"... and 11 more: {changed}", "games.jsonl: 12 games, 12 of them not sound"],
    )
    assert len(json.loads(arena("verify", "--json", "games.jsonl")[1])["findings"]) == 12


def test_a_report_names_the_games_that_have_no_page_with_exit_code_1(arena: Run, own: Path) -> None:
    pytest.importorskip("jinja2")
    with Store(own, create=True):
        pass  # it has the tables of today now
    with closing(sqlite3.connect(own)) as database, database:
        database.execute("UPDATE records SET record = x'00' WHERE number = 2")
    code, out, remarks = arena("report", "own.sqlite", "--out", "site")
    assert (code, b"12 games, 11 with pages" in out) == (1, True)
    assert "game 2 has no page: its record was changed after it was stored" in remarks
