"""What a file may decide of how bots are held: a stronger sandbox and smaller limits, never less."""

from pathlib import Path

import pytest

from arena.bots.entering import place_of
from arena.bots.limits import GIB, Limits
from arena.bots.loading import load_bot
from arena.errors import UsageError
from arena.league.trust import is_trusted, level_for, limits_for, sandbox_for, untrusted_text
from arena.sandbox.levels import Level
from protocol.notation import Color


@pytest.mark.parametrize(
    ("asked", "said", "level"),
    [
        (None, [], "basic"),
        (None, ["basic", None, "none", ""], "basic"),
        (None, ["basic", "cgroup", "bwrap"], "cgroup"),
        ("basic", ["cgroup"], "basic"),
        ("auto", ["basic"], "auto"),
    ],
)
def test_the_host_chooses_the_level_else_it_is_the_strongest_of_what_is_said(
    asked: str | None, said: list[str | None], level: str
) -> None:
    assert sandbox_for(asked, said) == level


def test_a_level_that_does_not_work_here_is_refused_and_none_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Level, "why_not", lambda level: None if level is Level.BASIC else "there is no bwrap")
    with pytest.raises(UsageError, match="played with sandbox bwrap; --sandbox chooses a weaker one"):
        level_for(None, ["bwrap"])
    assert level_for("basic", ["bwrap"]) is Level.BASIC


def test_limits_are_those_of_the_store_or_the_usual_ones_at_most_and_what_is_taken_away_is_said() -> None:
    said: list[str] = []

    def limits(wanted: Limits, **of_store: Limits) -> Limits:
        return limits_for(Color.RED, "ann", wanted, of_store, where="the record", say=said.append)

    huge, small = Limits(memory=GIB * 9), Limits(processes=3)
    assert (limits(small), limits(Limits()), said) == (small, Limits(), [])
    assert limits(huge) == Limits()
    assert limits(huge, ann=Limits(memory=GIB)) == Limits(memory=GIB)
    assert limits(huge, bob=huge) == Limits()
    assert limits(Limits(memory=GIB), ann=huge) == Limits(memory=GIB)
    assert [line.partition("memory")[0] for line in said] == [
        "red: ann had ",
        "red: ann had ",
        "red: ann had ",
        "red: ann has more than the usual limits, as the store says: ",
    ]


def test_a_program_runs_without_a_sandbox_where_it_was_played_with_or_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("print()\n")
    bot = load_bot(path)
    trusted = [
        is_trusted(bot, level, asked, places, is_named=is_named)
        for level, asked, places, is_named in (
            (Level.BASIC, None, {}, False),
            (Level.BASIC, "auto", {bot.digest: "0" * 32}, False),
            (Level.BASIC, "basic", {}, False),
            (Level.BASIC, None, {}, True),
            (Level.BASIC, None, {bot.digest: place_of(bot)}, False),
            (Level.BWRAP, None, {}, False),
        )
    ]
    assert trusted == [False, False, True, True, True, True]
    words = untrusted_text(Color.BLUE, bot, "--bot blue=PATH")
    assert words.startswith(f"blue: mine is {path}; without a sandbox")
    assert words.endswith(
        "pass --sandbox bwrap to isolate it, or --bot blue=PATH or --sandbox basic to run it without a sandbox"
    )
