"""What is said of a bot where it is named: arguments are part of what it is, its name, limits and time are not."""

import sys
from pathlib import Path

import pytest

from arena.bots.asked import AskedBot, Own, OwnByName
from arena.bots.entering import assign_identities
from arena.bots.finding import find_entrants
from arena.bots.limits import GIB, MIB, Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.time_control import TimeControl
from arena.league.league_options import PlayOptions
from arena.league.option_values import settings_of
from arena.league.store import BotNote, Store
from arena.league.store.document import decode_document
from arena.league.versions import compare

SECOND = TimeControl(move_ms=1000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot that is a file, and one that is a folder."""
    (tmp_path / "one.py").write_text("print('one')\n")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "bot.toml").write_text(f'command = ["{sys.executable}", "main.py", "--fast"]\n')
    (tmp_path / "two" / "main.py").write_text("print('two')\n")
    return tmp_path


def bot(path: Path, *arguments: str, name: str | None = None, own: Own | None = None) -> BotSpec:
    return load_bot(path, AskedBot(str(path), name, arguments, own or Own()))


def test_arguments_come_after_those_of_the_bots_own_command(folder: Path) -> None:
    assert bot(folder / "one.py", "--depth", "3").command[1:] == (str(folder / "one.py"), "--depth", "3")
    assert bot(folder / "two", "-v").command == (sys.executable, "main.py", "--fast", "-v")


@pytest.mark.parametrize("name", ["one.py", "two"])
def test_other_arguments_make_another_bot_and_none_the_same(folder: Path, name: str) -> None:
    path = folder / name
    plain = load_bot(path)
    assert bot(path).digest == plain.digest
    digests = {plain.digest, *(bot(path, *words).digest for words in (["a"], ["a", "b"], ["a b"], ["ab"], ["", "a"]))}
    assert len(digests) == 6
    assert bot(path, "a").digest == bot(path, "a", name="other").digest


def test_a_bot_with_arguments_counts_as_changed_only_when_its_files_are(folder: Path) -> None:
    asked = bot(folder / "two", "a")
    assert asked.look is not None
    (folder / "two" / "main.py").touch()
    _, change = compare(asked, asked.look)
    assert change is None
    (folder / "two" / "main.py").write_text("print('new')\n")
    _, change = compare(asked, asked.look)
    assert change is not None
    assert change.files == {"main.py": "changed"}


def test_one_path_with_different_arguments_is_several_bots_whatever_their_order(folder: Path) -> None:
    path = folder / "one.py"
    bots = [bot(path, "a"), bot(path, "b"), bot(path)]
    named = {each.digest: each.name for each in assign_identities(bots)}
    assert len(set(named.values())) == 3
    assert {each.digest: each.name for each in assign_identities(bots[::-1])} == named


def test_a_broken_bot_keeps_the_name_and_the_arguments_that_it_was_asked_for_with(folder: Path) -> None:
    (folder / "two" / "bot.toml").write_text("command = 3\n")
    path = str(folder / "two")
    asked = [AskedBot(path, "first", ("a",)), AskedBot(path, "second", ("b",)), AskedBot(str(folder / "one.py"))]
    found = find_entrants([each.path for each in asked], asked=asked).bots
    assert [each.name for each in found] == ["first", "second", "one"]
    assert len({each.digest for each in found}) == 3


def test_a_store_keeps_the_arguments_of_those_who_play_or_have_played(tmp_path: Path) -> None:
    with Store(tmp_path / "l.sqlite", create=True) as store:
        assert store.kept().arguments == {}
        store.note_bots({"a": BotNote("", ("-x", "é")), "b": BotNote("")}, ())
        assert store.kept().arguments == {"a": ("-x", "é")}
        store.note_bots({"c": BotNote("", ("1",))}, ("a",))
        assert store.kept().arguments == {"a": ("-x", "é"), "c": ("1",)}
        store.note_bots({"d": BotNote("", ("x" * 100_000,))}, ("a",))
        assert store.kept().arguments == {"a": ("-x", "é")}, "that is too much"
        store.note_bots({}, ())
        assert store.kept().arguments == {}


def test_arguments_with_nul_are_none() -> None:
    document = decode_document(b'{"kept":{"arguments":{"a":["\\u0000"],"b":["x"]}}}')
    assert document is not None
    assert document.kept.arguments == {"b": ("x",)}


# --- limits and time --------------------------------------------------------------------------------------------------


def settings(folder: Path, own: OwnByName | None = None, limits: str = "") -> dict[str, tuple[Limits, str]]:
    """The limits and the time of two bots, of which the first was named with some of its own, by name."""
    bots = [bot(folder / "one.py", own=Own(memory=GIB, time=SECOND)), bot(folder / "two")]
    file = None
    if limits:
        file = folder / "limits.toml"
        file.write_text(limits)
    made = settings_of(PlayOptions(own=own, limits=file), bots)
    times = dict(made.bot_times)
    bot_limits = dict(made.bot_limits)
    return {
        each.name: (bot_limits.get(each.name, made.limits), times.get(each.player.digest, made.time).text)
        for each in bots
    }


def test_it_wins_over_the_table_of_its_name_and_the_file_of_limits_wins_over_both(folder: Path) -> None:
    own = OwnByName("arena.toml", {"one": Own(memory=2 * GIB, tmp=MIB), "two": Own(processes=3)}, is_strict=True)
    assert settings(folder, own) == {
        "one": (Limits(memory=GIB, tmp=MIB), SECOND.text),
        "two": (Limits(processes=3), "100ms"),
    }
    assert settings(folder, own, '[one]\nmemory = "3G"\n')["one"] == (Limits(memory=3 * GIB, tmp=MIB), SECOND.text)


def test_a_table_of_a_bot_that_is_not_there_is_refused_only_where_the_file_names_the_bots(folder: Path) -> None:
    tables = {"tow": Own(processes=3)}
    assert settings(folder, OwnByName("arena.toml", tables, is_strict=False)) == settings(folder)
    with pytest.raises(UsageError, match=r"arena\.toml: \[bot\.tow\]: no bot here has that name; did you mean two\?"):
        settings(folder, OwnByName("arena.toml", tables, is_strict=True, prefix="bot."))
