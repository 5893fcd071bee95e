"""Tasks and what comes of them survive the way to a worker process and back, however the pipes cut them up."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import game_spec
from unplayed import record_of

from arena.bots.limits import Limits
from arena.bots.spec import BotSpec
from arena.errors import ArenaError, UsageError
from arena.game.record import History, NoteLine
from arena.league.executor.child_process import Frames, frame
from arena.league.executor.task import (
    Failed,
    Notice,
    Paused,
    Played,
    SkippedGames,
    WorkerSetup,
    from_worker,
    sendable,
    to_worker,
)
from arena.processes.runnable import PlaySettings, RefusedBotsError
from arena.sandbox.launch import HostError, SandboxError
from arena.sandbox.levels import Level

odd_text = st.text(st.characters(exclude_categories=()), max_size=20)
text = st.text(max_size=20)
numbers = st.integers(0, 2**63 - 1)


def parts_of(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(places)]


@st.composite
def bot_specs(draw: st.DrawFn) -> BotSpec:
    path = Path("/" + draw(odd_text).replace("\0", ""))
    return BotSpec(
        name=draw(odd_text),
        path=path,
        command=tuple(draw(st.lists(odd_text, max_size=3))),
        folder=path.parent,
        digest=draw(odd_text),
        environment=draw(st.dictionaries(odd_text, odd_text, max_size=3)),
        fault=draw(st.none() | odd_text),
        entered_as=draw(odd_text),
    )


limits = st.builds(Limits, numbers, numbers, numbers)
play_settings = st.builds(
    PlaySettings,
    st.lists(bot_specs(), max_size=3).map(tuple),
    st.sampled_from(Level),
    limits,
    st.dictionaries(odd_text, limits, max_size=2),
    st.lists(odd_text, max_size=2).map(tuple),
    st.booleans(),
)
pasts = st.builds(
    History,
    st.tuples(text, text),
    st.tuples(text, text),
    st.lists(text, max_size=3).map(tuple),
    st.lists(numbers, max_size=3).map(tuple),
    st.lists(st.builds(NoteLine, numbers, text, text), max_size=2).map(tuple),
    interrupted=st.lists(st.tuples(numbers, numbers), max_size=2).map(tuple),
)


@given(asked=play_settings, slots=st.integers(1, 99), cpus=st.lists(st.integers(0, 99)).map(tuple))
def test_the_settings_of_a_run_are_the_same_in_a_worker(asked: PlaySettings, slots: int, cpus: tuple[int, ...]) -> None:
    (setup,) = Frames(to_worker).feed(frame(WorkerSetup.of(asked, slots=slots, cpus=cpus)))
    assert setup.settings() == asked
    assert [bot.player for bot in setup.settings().bots] == [bot.player for bot in asked.bots]
    assert (setup.slots, setup.cpus) == (slots, cpus)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_came_of_games_is_the_same_in_the_parent_however_the_pipe_cuts_it(data: st.DataObject) -> None:
    message: st.SearchStrategy[Any] = (
        st.just(Played(record_of(game_spec())))
        | st.builds(Paused, text, st.none() | pasts)
        | st.builds(Notice, text)
        | st.builds(SkippedGames, st.lists(text).map(tuple))
    )
    messages = data.draw(st.lists(message, max_size=4))
    cuts = data.draw(st.lists(st.integers(0, 4000), max_size=8))
    frames = Frames(from_worker)
    found = [one for part in parts_of(b"".join(map(frame, messages)), cuts) for one in frames.feed(part)]
    assert found == messages


@given(odd_text)
def test_a_line_for_the_user_is_sent_as_it_is_unless_it_has_half_a_character(string: str) -> None:
    sent = sendable(string)
    assert sent.encode().decode() == sent
    if not any("\ud800" <= character <= "\udfff" for character in string):
        assert sent == string


# --- errors -----------------------------------------------------------------------------------------------------------


class StrangeError(UsageError):
    """One that has a class and an exit code of its own."""

    exit_code = 77


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ArenaError("plain"), ArenaError),
        (UsageError("usage"), UsageError),
        (HostError("no processes are left"), HostError),
        (SandboxError("the sandbox is gone"), SandboxError),
        (RefusedBotsError("ann is no program\nbob is none"), RefusedBotsError),
        (StrangeError("strange"), UsageError),
    ],
)
def test_an_error_has_its_class_text_and_exit_code_on_the_other_side(error: ArenaError, kind: type[ArenaError]) -> None:
    (sent,) = Frames(from_worker).feed(frame(Failed.of(error, "7")))
    again = sent.error()
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.exit_code == error.exit_code
