"""The `arena` command as its users meet it: real bots, real mistakes, real terminals."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import ARENA, invoke, run_program, unhurried
from made_bots import PLAIN

from arena.league.store import Store
from arena.sandbox.levels import Level, choose
from protocol.notation import Color


def with_bots(folder: Path) -> Path:
    for name in ("alpha.py", "beta.py"):
        (folder / name).write_text(f"{PLAIN}# {name}\n")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to work in, with two bots."""
    return with_bots(tmp_path)


LEAGUE = ("league", "alpha.py", "beta.py", "--rules", "duel", "--store", "l.sqlite", "-j", "1")


def league(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return invoke(folder, *LEAGUE, *more)


@pytest.fixture(scope="module")
def two_rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """A store with two rounds of a league of alpha and beta, and what the league has printed."""
    made = with_bots(tmp_path_factory.mktemp("made"))
    done = league(made, "--rounds", "2")
    assert done.returncode == 0, done.stderr
    return (made / "l.sqlite").read_bytes(), done.stdout


@pytest.fixture
def played(folder: Path, two_rounds: tuple[bytes, str]) -> Path:
    (folder / "l.sqlite").write_bytes(two_rounds[0])
    return folder


def test_a_league_prints_its_tables_on_stdout_and_its_progress_on_stderr(folder: Path) -> None:
    done = league(folder, "--rounds", "2", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "alpha" in done.stdout
    assert "Crosstable" in done.stdout
    assert "How the games ended" in done.stdout
    assert "[4/4]" in done.stderr
    assert "l.sqlite" in done.stderr
    assert "[" not in done.stdout.replace("points/games", "")
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert "] game" not in league(folder, "--rounds", "3").stderr, "a pipe gets no line for each game"
    quiet = league(folder, "--rounds", "3", "--quiet")
    assert quiet.stderr == ""
    assert sorted(line.split()[1] for line in quiet.stdout.splitlines()) == ["alpha", "beta", "bot"]


def test_the_same_command_again_plays_nothing_twice_and_prints_the_same_table(
    played: Path, two_rounds: tuple[bytes, str]
) -> None:
    again = league(played, "--rounds", "2")
    assert "4 of them stored already" in again.stderr
    assert not re.search(r"game \d", again.stderr)
    assert again.stdout == two_rounds[1] == invoke(played, "standings", "l.sqlite").stdout
    none = invoke(played, "games", "l.sqlite", "--reason", "crash")
    assert (none.returncode, none.stdout, none.stderr) == (0, "", "l.sqlite: no game is as asked for\n")


def test_a_default_store_with_games_of_other_bots_is_pointed_out(folder: Path) -> None:
    (folder / "gamma.py").write_text(PLAIN)
    others = "of other bots"
    play = ("--rules", "duel", "--rounds", "1")
    assert others not in invoke(folder, "league", "alpha.py", "beta.py", *play).stderr
    assert others not in invoke(folder, "league", "alpha.py", "beta.py", "gamma.py", *play).stderr
    again = invoke(folder, "league", "alpha.py", "gamma.py", *play)
    assert "the store also has 4 games of other bots: 'arena standings --all' shows them" in again.stderr


def test_a_bot_that_cannot_start_forfeits_and_its_stderr_is_shown(folder: Path) -> None:
    (folder / "dead.py").write_text("import sys\nsys.exit('no model file in /models')\n")
    done = invoke(folder, "league", "alpha.py", "beta.py", "dead.py", "--rules", "duel", "--rounds", "1", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert len(document["games"]) == 6
    assert document["endings"]["no-start"] == 4
    assert "dead forfeited 4 games (no-start)" in done.stderr
    assert "dead stderr: no model file in /models" in done.stderr


BAD_INPUT: list[tuple[Sequence[str], str]] = [
    (["league", "alpha.py", "bet.py"], "did you mean beta.py?"),
    (["league", "alpha.py"], "expected at least two bots, got only alpha"),
    (["league"], "expected the bots that are to play, got none. For example: arena league bots/*"),
    (["match", "alpha.py"], "expected two bots, got 1: alpha.py. For example: arena match mine.py warden"),
    (["match", "alpha.py", "beta.py", "--games", "x"], "'--games': expected a whole number from 1 to 1000000, got 'x'"),
    (["league", "alpha.py", "beta.py", "--rounds", "-1"], "'--rounds': expected a whole number of at least 1, got -1"),
    (["league", "alpha.py", "beta.py", "--rounds", "1000000000"], "--rounds: expected at most 500000 with 2 bots"),
    (["league", "alpha.py", "beta.py", "--rules", "barage"], "unknown ruleset 'barage'; did you mean barrage?"),
    (["check", "notes.txt"], "notes.txt: expected a bot, got a document"),
    (["league", "alpha.py", "beta.py", "--round", "2"], "No such option"),
    (["leage"], "No such command 'leage'. Did you mean 'arena league' ("),
    (["zzz"], "No such command 'zzz'."),
    (["show", "l.sqlite"], "Missing argument 'GAME'. For example: arena show league.sqlite 3"),
    (["check", "alpha.py", "beta.py"], "Got unexpected extra argument (beta.py). For example: arena check mine.py"),
    (["standings", "notes.txt"], "notes.txt: expected a store"),
    (["match", "alpha.py", "beta.py", "--store", "no/l.sqlite"], "no/l.sqlite: cannot be "),
    (["match", "alpha.py", "beta.py", "--store", "/dev/full"], "/dev/full: expected a store"),
    (["standings", "pipe"], "pipe: expected a store (a file made by 'arena league' or 'arena match'), got a FIFO"),
    (["resume", "pipe"], "pipe: expected a file, got a FIFO"),
    ([*LEAGUE, "--tmp", "1048577G"], "--tmp: expected at most 1048576G"),
    ([*LEAGUE, "--limits", "o.toml"], "o.toml: [alhpa]: no bot here has that name; did you mean alpha"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT, ids=[words for _, words in BAD_INPUT])
def test_bad_input_gets_one_clear_message_and_exit_code_2(folder: Path, arguments: list[str], words: str) -> None:
    for name in ("notes.txt", "notes"):
        (folder / name).write_text("these are notes, and they are no bot and no store either" * 20)
    (folder / "o.toml").write_text('[alhpa]\nmemory = "1G"\n')
    os.mkfifo(folder / "pipe")
    done = invoke(folder, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("*.sqlite"))


def test_an_internal_error_is_owned_up_to_without_a_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("arena.cli.play_games.play", broken)
    done = invoke(folder, "league", "alpha.py", "beta.py")
    assert done.returncode == 1
    assert "internal error: RuntimeError: boom" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_current_folder_that_was_deleted_is_no_internal_error(folder: Path) -> None:
    here = shlex.join([*ARENA, "match", "warden", "drifter"])
    done = run_program(["sh", "-c", f"mkdir gone; cd gone; rmdir ../gone; {here}"], folder)
    assert (done.returncode, done.stderr) == (2, "arena: the current folder has been deleted: go to another one\n")


def test_a_saved_game_that_cannot_be_resumed_now_is_as_it_was(folder: Path) -> None:
    """One message, as for a league, and the same command resumes the game later."""
    words = ["match", "alpha.py", "beta.py", "--rules", "duel", "--store", "l.sqlite", "--pause", "g.json"]
    paused = invoke(folder, *words, "--pause-after", "3")
    assert paused.returncode == 0, paused.stderr
    arguments = "resume g.json"
    before = (folder / "g.json").read_bytes()
    limited = f"ulimit -n 20; exec {sys.executable} -c 'from arena.cli.main import main; main()' {arguments}"
    done = subprocess.run(["sh", "-c", limited], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "this machine cannot start another bot" in done.stderr
    assert "stopped: g.json is unchanged\n" in done.stderr
    assert f"resume with: arena {arguments}" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "g.json").read_bytes() == before
    assert invoke(folder, *arguments.split()).returncode == 0


# --- how bots are held ----------------------------------------------------------------------------------------------

SAYS_ITS_CPUS = """
import os, sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello": print("ready", flush=True)
    if words[0] == "setup":
        print("cpus", *sorted(os.sched_getaffinity(0)), file=sys.stderr, flush=True)
        print("setup FBBS2339M./........../........../2.........", flush=True)
    if words[0] == "turn": print("move resign", flush=True)
    if words[0] == "quit": break
"""


def test_kept_bots_play_the_return_game_in_the_same_process_and_one_that_is_missing_in_new_ones(folder: Path) -> None:
    match = ["match", "alpha.py", "beta.py", "--rules", "duel", "--keep-bots", "--store", "m.sqlite"]
    assert invoke(folder, *match, "--games", "3").returncode == 0
    assert invoke(folder, *match, "--games", "6").returncode == 0
    with Store(folder / "m.sqlite", create=False) as store:
        kept = [store.record(str(number))[1].kept or None for number in range(1, 7)]
    assert sorted(kept, key=bool) == [None] * 4 + [(True, True)] * 2, "the fourth game is alone"
    number = str(kept.index((True, True)) + 1)
    shown = invoke(folder, "show", "m.sqlite", number)
    assert shown.stdout.count("had played the other game of the pair before in the same process") == 2


@pytest.mark.parametrize("option", [["--keep-bots"], ["--openings", "o.txt"]])
def test_a_game_that_can_be_paused_is_no_part_of_a_pair(folder: Path, option: list[str]) -> None:
    done = invoke(folder, "match", "alpha.py", "beta.py", "--pause", "g.json", *option)
    assert done.returncode == 2
    assert option[0] in done.stderr


OPENINGS = """# one
red  FBBS2339M./........../........../2.........
blue FBBS2339M./........../........../.2........
# two
red  FBBS2339M./........../........../.2........
blue FBBS2339M./........../........../.2........
"""


def test_a_league_with_openings_is_played_both_ways_resumed_and_checked(folder: Path) -> None:
    """Both bots play either side of each opening; the file may have other comments when the league goes on."""
    (folder / "o.txt").write_text(OPENINGS)
    given = [tuple(line.split()[1] for line in OPENINGS.splitlines() if line.startswith(c)) for c in ("red", "blue")]
    openings = set(zip(*given, strict=True))
    assert league(folder, "--rounds", "1", "--openings", "o.txt").returncode == 0
    (folder / "o.txt").write_text(OPENINGS.replace("# two", ""))
    done = league(folder, "--rounds", "2", "--openings", "o.txt")
    assert done.returncode == 0, done.stderr
    assert "4 games" in done.stderr
    with Store(folder / "l.sqlite", create=False) as store:
        records = [store.record(str(number))[1] for number in range(1, 5)]
    assert {(record.players[0].name, record.opening) for record in records} == {
        (name, opening) for name in ("alpha", "beta") for opening in openings
    }
    assert all(record.setups == record.opening and record.actions for record in records)
    assert invoke(folder, "verify", "l.sqlite").returncode == 0
    assert "set-ups: both were given, as an opening" in invoke(folder, "show", "l.sqlite", "1").stdout
    again = invoke(folder, "rerun", "l.sqlite", "1")
    assert again.stdout.startswith("game 1: same to the end"), again.stdout + again.stderr
    logged = invoke(folder, "log", "l.sqlite", "1").stdout
    for color in Color:
        assert f"to {color.word:<7}restore {records[0].setups[color]}\n" in logged
    (folder / "o.txt").write_text(OPENINGS[: OPENINGS.rindex("# two")])
    refused = league(folder, "--rounds", "2", "--openings", "o.txt")
    assert refused.returncode == 2
    assert "openings: 2 of digest" in refused.stderr


def test_what_auto_has_chosen_is_said_before_the_first_game(folder: Path) -> None:
    done = league(folder, "--rounds", "1", "--rules", "duel", "--sandbox", "auto")
    assert done.returncode == 0, done.stderr
    chosen = choose("auto").value
    before, _, _ = done.stderr.partition("game 1")
    assert re.search(rf"^sandbox: {chosen} \(strongest available", before, re.MULTILINE)
    with Store(folder / "l.sqlite", create=False) as store:
        record = store.record("1")[1]
    assert record.actions
    assert [words.split(":")[0] for words in record.confinement] == [chosen, chosen]


def test_the_largest_limits_can_be_set(folder: Path) -> None:
    """What the command line lets through, the system takes."""
    largest = ["--memory", "1048576G", "--tmp", "1048576G", "--processes", "1000000", "--seed", str(2**64 - 1)]
    times = ["--time", "604800+604800,10080m", "--start-time", "10080m", "--setup-time", "10080m", "-j", "4096"]
    done = league(folder, "--rounds", "1", *largest, *times)
    assert done.returncode == 0, done.stderr
    if Level.BWRAP.why_not() is None:
        quick = ["alpha.py", "beta.py", "--rules", "duel", "--games", "1", "--sandbox", "bwrap"]
        done = invoke(folder, "match", *quick, *largest, *times)
        assert done.returncode == 0, done.stderr


def test_a_default_store_whose_name_would_be_too_long_is_found_again(folder: Path) -> None:
    """Forty characters of four bytes are a name; two of them and a combination of switches are too long for a file."""
    names = ["\U00020000" * 20, "\U00020001" * 20]
    for old, new in zip(("alpha.py", "beta.py"), names, strict=True):
        (folder / old).rename(folder / f"{new}.py")
    rules = "vintage/original+rescue+silent-defence+exploding-bombs+mobile-flag+attackers-advantage+lightning-captains"
    command = ["match", *(f"{name}.py" for name in names), "--rules", rules]
    first = invoke(folder, *command)
    assert first.returncode == 0, first.stderr
    (store,) = folder.glob("match-*.sqlite")
    assert 240 < len(os.fsencode(store.name)) <= 255 - len("-journal")
    assert re.fullmatch(r"match-.*-[0-9a-f]{16}\.sqlite", store.name)
    again = invoke(folder, *command)
    assert "2 of them stored already" in again.stderr
    assert invoke(folder, *command, "--seed", "2").returncode == 0
    assert len(list(folder.glob("match-*.sqlite"))) == 2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin programs to a CPU")
def test_with_affinity_the_bots_of_a_game_share_one_cpu_and_others_have_another(folder: Path) -> None:
    for name in ("ann.py", "bob.py"):
        (folder / name).write_text(SAYS_ITS_CPUS)
    usable = os.sched_getaffinity(0)
    jobs = min(2, len(usable))
    command = unhurried(["match", "ann.py", "bob.py", "--rules", "duel", "-j", str(jobs)])

    def cpus(games: int, *options: str) -> list[tuple[set[int], ...]]:
        line = [*ARENA, *command, "--games", str(games), "--store", f"{games}.sqlite", *options]
        assert run_program(line, folder).returncode == 0
        with Store(folder / f"{games}.sqlite", create=False) as store:
            records = [store.record(str(number))[1] for number in range(1, games + 1)]
        return [
            tuple({int(word) for word in said.split("cpus")[1].split()} for said in game.stderr) for game in records
        ]

    pinned = cpus(6, "--affinity")
    assert all(red == blue and len(red) == 1 for red, blue in pinned), pinned
    assert len({min(red) for red, _ in pinned}) == jobs
    assert cpus(2, "--no-affinity") == [(usable, usable)] * 2
