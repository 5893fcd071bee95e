"""An interrupted game goes on as if nothing had happened: same actions, same clocks, same verdict."""

import json
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import made_bots
import msgspec
import psutil
import pytest
from commands import ARENA, invoke, unhurried
from sandboxes import at_every_level, in_bwrap
from scripted import Table, game_spec

from arena.bots.limits import GIB, MIB, Limits
from arena.bots.loading import load_bot
from arena.bots.spec import TOKEN_VARIABLE
from arena.game.recheck import check_record
from arena.game.record import GameRecord, History, NoteLine
from arena.game.referee import Referee
from arena.game.registry import NoSuchGameError
from arena.game.time_control import TimeControl
from arena.league.saved import PreparedGame, play_prepared
from arena.league.stop import StopRequest
from arena.league.store import Store, StoreChangedError
from arena.play.saved_game import load_saved, save_game, saved_game
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.levels import Level
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.state import as_stratego
from protocol.notation import Color

ROOT = Path(__file__).parent.parent.parent
RED_ROWS = "FBBS2339M./........../........../2........."
BLUE_ROWS = "FBBS339M2./........../........../.........2"
PATIENCE = 120


def play(table: Table, plies: int) -> None:
    """Play both seats in a way that follows from the ply alone."""
    while table.referee.verdict is None and len(table.referee.actions) < plies:
        ply, (color,) = len(table.referee.actions), table.referee.awaited()
        assert table.referee.state is not None
        legal = as_stratego(table.referee.state).legal_actions()
        table.reply(color, f"note at {ply}", f"move {legal[(7 * ply + 3) % len(legal)]}", after=0.001 * (ply % 7))


def lines_to(table: Table, color: Color) -> list[bytes]:
    return b"".join(table.writes[color]).splitlines()


RULES = ["duel", "vintage/duel+rescue+silent-defence", "jumbo-09495/duel", "travel/duel+mobile-bombs+mobile-flag"]


@pytest.mark.parametrize(("rules", "part"), list(zip(RULES, [0.0, 0.1, 0.5, 0.9], strict=True)))
def test_a_game_that_was_cut_equals_one_that_was_not(rules: str, part: float) -> None:
    """Every later line that the bots are sent is the same, to the byte, boards, legal actions and clocks included."""
    game = game_spec(load_ruleset(rules), TimeControl(move_ms=None, bank_ms=10_000, increment_ms=3))
    whole, first, second = (Table(game) for _ in range(3))
    rows, wants = (RED_ROWS.split("/"), BLUE_ROWS.split("/")), (["want legal board"],) * 2
    whole.begin(*rows, *wants)
    play(whole, 60)
    cut = int(len(whole.referee.actions) * part)
    first.begin(*rows, *wants)
    play(first, cut)
    history = first.referee.history()
    assert history is not None
    assert len(history.actions) == cut
    second.referee = Referee(game, history=history)
    second.introduce(*wants)
    play(second, 60)
    assert second.referee.actions == whole.referee.actions
    assert second.referee.times_us == whole.referee.times_us
    assert second.referee.notes == whole.referee.notes
    for color in Color:
        told, again = (
            [line for line in lines_to(table, color) if not line.startswith((b"turn", b"legal", b"board"))]
            for table in (whole, second)
        )
        opening = next(index for index, line in enumerate(told) if line == b"setup")
        restored = next(index for index, line in enumerate(again) if line.startswith(b"restore"))
        assert again[:restored] == told[:opening]
        assert again[restored + 1 :] == told[opening + 1 :]
        turns, turns_again = (
            [line for line in lines_to(table, color) if line.startswith((b"turn", b"legal", b"board"))]
            for table in (whole, second)
        )
        assert turns[len(turns) - len(turns_again) :] == turns_again


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("alpha.py", "beta.py"):
        (tmp_path / name).write_text(made_bots.PLAIN)
    return tmp_path


def stored(path: Path) -> GameRecord:
    with Store(path, create=False) as store:
        return store.record("1")[1]


def test_pausing_twice_changes_nothing_but_times(folder: Path) -> None:
    """The bots' random numbers follow from seed and ply, so their actions are the same too."""
    rules = "duel+rescue"
    for name in ("alpha.py", "beta.py"):
        shutil.copy(ROOT / "bots" / "drifter.py", folder / name)
    whole = invoke(folder, "match", "alpha.py", "beta.py", "--games", "1", "--rules", rules, "--store", "w.sqlite")
    assert whole.returncode == 0, whole.stderr
    cut = ("match", "alpha.py", "beta.py", "--rules", rules, "--store", "c.sqlite", "--pause", "g.json")
    paused = invoke(folder, *cut, "--pause-after", "5")
    assert paused.returncode == 0, paused.stderr
    assert "paused after 5 plies; resume with: arena resume g.json" in paused.stderr
    assert "paused after 20 plies" in invoke(folder, "resume", "g.json", "--pause-after", "20").stderr
    done = invoke(folder, "resume", "g.json")
    assert done.returncode == 0, done.stderr
    before, after = stored(folder / "w.sqlite"), stored(folder / "c.sqlite")
    check_record(after)
    unlike = ("times_us", "cpu_us", "forgiven_us", "interrupted")
    same = {**dict.fromkeys(unlike, ()), "used": None, "started": 0.0, "seconds": 0.0}
    assert msgspec.structs.replace(before, **same) == msgspec.structs.replace(after, **same)


def test_ctrl_c_saves_the_game_and_leaves_no_process(folder: Path) -> None:
    slow = made_bots.PLAIN.replace('"turn":', '"turn": time.sleep(0.03);')
    (folder / "slow.py").write_text(f"import time\n{slow}")
    command = ["match", "slow.py", "beta.py", "--rules", "duel", "--pause", "g.json", "--store", "c.sqlite"]
    with subprocess.Popen([*ARENA, *unhurried(command)], cwd=folder, stderr=subprocess.PIPE, text=True) as running:
        while not bots_of(running.pid):
            assert running.poll() is None
        children = bots_of(running.pid)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert "paused after" in errors or "nothing to save" in errors
    assert "Traceback" not in errors
    assert not [pid for pid in children if psutil.pid_exists(pid)]


def bots_of(pid: int) -> list[int]:
    """The processes that an arena has started with its token: once there is one, it listens for signals."""
    found = []
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                if TOKEN_VARIABLE in child.environ():
                    found.append(child.pid)
    return found


def test_a_bot_that_has_changed_since_may_not_go_on_and_a_saved_game_is_no_store(folder: Path) -> None:
    invoke(folder, "match", "alpha.py", "beta.py", "--rules", "duel", "--pause", "g.json", "--pause-after", "4")
    (folder / "beta.py").write_text((folder / "beta.py").read_text() + "# newer\n")
    done = invoke(folder, "resume", "g.json")
    assert done.returncode == 2
    assert "beta, but its files have changed since" in done.stderr
    assert "restore them, or play the game again with 'arena match'" in done.stderr
    shown = invoke(folder, "show", "g.json", "1")
    assert shown.returncode == 2
    assert "g.json" in shown.stderr


def test_a_saved_file_reads_back_as_the_same_value(tmp_path: Path) -> None:
    bot = load_bot(ROOT / "bots" / "drifter.py")
    history = History(("x", ""), (RED_ROWS, BLUE_ROWS), ("a4-a5",), (1234,), (NoteLine(1, "red", "hm"),))
    settings = PlaySettings([bot], Level.BASIC, limits={bot.name: Limits(memory=GIB)}, pondering=False)
    game = game_spec()
    paused = saved_game(game, history, (bot, bot), tmp_path / "s.sqlite", settings=settings, seed=1)
    assert (paused.sandbox, paused.limits[0].memory, paused.pondering) == ("basic", GIB, False)
    save_game(paused, tmp_path / "g.json")
    assert load_saved(tmp_path / "g.json") == paused
    assert json.loads((tmp_path / "g.json").read_text())["past"]["actions"] == ["a4-a5"]
    other = msgspec.structs.replace(game, variant=msgspec.structs.replace(game.variant, game="go"))
    save_game(msgspec.structs.replace(paused, spec=other), tmp_path / "g.json")
    with pytest.raises(NoSuchGameError, match="there is no game 'go' here"):  # not: this is no paused game
        load_saved(tmp_path / "g.json")


TIGHT = Limits(memory=300 * MIB, processes=20)
ROOMY = Limits(memory=GIB, processes=20)


def pause_a_game(folder: Path, *options: str) -> dict[str, Any]:
    """What the file says in which a game has just been saved, after three plies."""
    command = ("match", "alpha.py", "beta.py", "--rules", "duel", "--store", "c.sqlite", "--pause", "g.json")
    done = invoke(folder, *command, "--pause-after", "3", *options)
    assert done.returncode == 0, done.stderr
    return saved(folder)


def saved(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "g.json").read_text())
    assert isinstance(content, dict)
    return content


@in_bwrap
def test_a_level_that_is_asked_for_wins_over_that_of_the_file_and_is_kept_in_it(folder: Path) -> None:
    assert pause_a_game(folder)["sandbox"] == "basic"
    done = invoke(folder, "resume", "g.json", "--sandbox", "bwrap", "--pause-after", "5")
    assert done.returncode == 0, done.stderr
    assert "sandbox: bwrap\n" in done.stderr
    assert saved(folder)["sandbox"] == "bwrap"


@at_every_level
def test_a_game_goes_on_in_the_sandbox_and_under_the_limits_that_it_began_under(folder: Path, level: Level) -> None:
    sandbox = level.value
    (folder / "limits.toml").write_text('[beta]\nmemory = "1G"\n')
    options = ["--memory", "300M", "--processes", "20", "--limits", "limits.toml", "--no-pondering"]
    first = pause_a_game(folder, "--sandbox", sandbox, *options)
    (folder / "limits.toml").unlink()
    order = [player["name"] for player in first["spec"]["players"]]
    limits = [{"alpha": TIGHT, "beta": ROOMY}[name] for name in order]
    assert first["sandbox"] == sandbox
    assert first["limits"] == [msgspec.to_builtins(of_one) for of_one in limits]
    assert first["pondering"] is False
    assert "paused after 6 plies" in invoke(folder, "resume", "g.json", "--pause-after", "6").stderr
    again = saved(folder)
    assert len(again["past"]["actions"]) == 6
    assert {**again, "past": None, "checksum": ""} == {**first, "past": None, "checksum": ""}
    done = invoke(folder, "resume", "g.json")
    assert done.returncode == 0, done.stderr
    record = stored(folder / "c.sqlite")
    assert record.confinement == (f"{sandbox}: {limits[0].text}", f"{sandbox}: {limits[1].text}")
    assert len(record.cpu_us) == len(record.actions) > 6


DUELS = ROOT / "tests" / "golden" / "stores" / "duel.sqlite"


def test_a_store_that_is_exchanged_while_the_game_is_played_gets_no_game(tmp_path: Path) -> None:
    path, bot = tmp_path / "l.sqlite", load_bot(ROOT / "bots" / "drifter.py")
    with Store(Path(shutil.copy(DUELS, tmp_path / "all.sqlite")), create=False) as store:
        records = [store.record(number)[1] for number in ("1", "2", "3")]
    with Store(path, create=True) as store:
        other = path.read_bytes()
        store.add_all(records[:2])
        held = Sandbox(PlaySettings([bot], Level.BASIC))
        prepared = PreparedGame(game_spec(), (bot, bot), None, store, tmp_path / "g", held, 1)

        def play_and_exchange(*_: object) -> GameRecord:
            """In place of the loop in which the game is played."""
            path.rename(tmp_path / "gone.sqlite")
            path.write_bytes(other)
            return records[2]

        with pytest.raises(StoreChangedError):
            play_prepared(prepared, None, StopRequest(), str, play_and_exchange)  # type: ignore[arg-type]
    assert path.read_bytes() == other
