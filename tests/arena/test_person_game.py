"""Games of people as a service: stored like any other, saved and taken up again, and told apart from those of bots."""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from unplayed import Quiet

from arena.errors import ArenaError, UsageError
from arena.game.game_spec import is_person, person
from arena.game.person_seat import SeatStage
from arena.league.exchange import export_lines, import_games
from arena.league.league import open_league
from arena.league.league_options import Kind, PlayOptions
from arena.league.person_game import PersonOptions, begin_person_game, play_person_game
from arena.league.plan import LeagueEntry
from arena.league.readers import HOST
from arena.league.rerun import RerunOptions, rerun
from arena.league.resumed import ResumeOptions, resume_game
from arena.league.saved import GameOutcome, PreparedGame
from arena.league.stop import StopRequest
from arena.league.store import Store
from arena.league.store.document import own_times_in
from arena.league.verify import salvage, verify
from arena.play.saved_game import load_saved
from arena.play.session import Session
from protocol.notation import Color, Reason

BOTH = PersonOptions(("Ada", "Bea"), seed_given=True)
NEVER_ENDS = 120.0
Face = Callable[[Session], Awaitable[None]]


def options(store: Path, rules: str = "duel") -> PlayOptions:
    return PlayOptions(rules=rules, store=store)


def people(seed: int = 1, *, resign_at: int = 60, pause_at: int = 10**6) -> Face:
    """Whoever is a person plays at random, resigns at that ply or pauses at the other one."""

    async def sit(session: Session, color: Color) -> None:
        numbers = random.Random(seed + color)
        state = await session.changed(color)
        while state.stage not in (SeatStage.OVER, SeatStage.PAUSED):
            if state.stage is SeatStage.SETTING_UP:
                session.set_up(color, session.random_setup(color, seed + color))
            elif state.stage is SeatStage.MOVING and not state.resigns:
                if state.plies >= pause_at:
                    session.pause()
                elif state.plies >= resign_at:
                    session.resign(color)
                else:
                    session.act(color, numbers.choice(state.choices).action)
            state = await session.changed(color, state.version)

    async def face(session: Session) -> None:
        async with trio.open_nursery() as nursery:
            for color in session.persons:
                nursery.start_soon(sit, session, color)

    return face


def in_time(face: Face) -> Face:
    """The same, as long as it ends."""

    async def limited(session: Session) -> None:
        with trio.fail_after(NEVER_ENDS):
            await face(session)

    return limited


def begun(
    store: Path, folder: Path, face: Face, who: PersonOptions = BOTH, paths: tuple[str, ...] = ()
) -> tuple[GameOutcome, PreparedGame]:
    with begin_person_game(paths, options(store), who, print, file=folder / "paused.json") as prepared:
        return play_person_game(prepared, in_time(face), StopRequest(), print), prepared


def gone_on(file: Path, face: Face) -> GameOutcome:
    with resume_game(load_saved(file), file, ResumeOptions(), print) as prepared:
        assert isinstance(prepared, PreparedGame)
        return play_person_game(prepared, in_time(face), StopRequest(), print)


def faults(path: Path) -> list[str]:
    with Store(path, create=False) as store:
        return [str(damage) for damage in verify(store, lambda done, of: None)]


def test_a_game_of_two_people_is_stored_and_stands_up_to_verify(tmp_path: Path) -> None:
    store = tmp_path / "people.sqlite"
    for seed in range(3):
        ending, _ = begun(store, tmp_path, people(seed))
        assert ending.row
        assert ending.row.number == seed + 1
    assert faults(store) == []


def test_the_one_who_is_named_first_has_the_colour_that_was_asked_for(tmp_path: Path) -> None:
    for color in Color:
        _, prepared = begun(tmp_path / "s.sqlite", tmp_path, people(), PersonOptions(("Ada", "Bea"), color))
        assert prepared.spec.players[color] == person("Ada")


def test_without_a_colour_the_next_game_has_the_other_one(tmp_path: Path) -> None:
    for who in (BOTH, PersonOptions(("Ada", "Bea"))):
        reds = [begun(tmp_path / "s.sqlite", tmp_path, people(), who)[1].spec.players[0].name for _ in range(2)]
        assert sorted(reds) == ["Ada", "Bea"]


def test_a_person_plays_a_bot_in_a_process_and_the_game_is_one_like_any_other(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    who = PersonOptions(("Ada",), Color.BLUE, seed_given=True)
    ending, prepared = begun(store, tmp_path, people(), who, ("drifter",))
    assert ending.row
    assert [player.name for player in prepared.spec.players] == ["drifter", "Ada"]
    assert [is_person(player) for player in prepared.spec.players] == [False, True]
    assert faults(store) == []
    with Store(store, create=False) as opened:
        _, record = opened.record("1")
    assert record.confinement[0]
    assert record.confinement[1] == ""
    with pytest.raises(UsageError, match="Ada took part as a person"):
        rerun(record, RerunOptions(), print)


def test_a_paused_game_goes_on_from_its_file_and_ends_in_the_same_store(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    who = PersonOptions(("Ada",), Color.RED, clock="60+1", seed_given=True)
    ending, prepared = begun(store, tmp_path, people(pause_at=6), who, ("drifter",))
    assert ending == GameOutcome(plies=6)
    saved = load_saved(prepared.file)
    assert saved.persons == (True, False)
    assert saved.goes_on_with == "arena play --resume"
    done = gone_on(prepared.file, people(2))
    assert done.row
    assert done.row.plies > 6
    assert faults(store) == []
    with resume_game(saved, prepared.file, ResumeOptions(), print) as again:
        assert not isinstance(again, PreparedGame)


def test_a_face_that_fails_loses_no_game(tmp_path: Path) -> None:
    async def face(session: Session) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(people(), session)
            while session.state(Color.RED).plies < 3:
                await session.changed(Color.RED, session.state(Color.RED).version)
            raise ArenaError("the page is gone")

    made = options(tmp_path / "s.sqlite", rules="isf")
    with (
        pytest.raises((ArenaError, ExceptionGroup)),
        begin_person_game((), made, BOTH, print, file=tmp_path / "p.json") as prepared,
    ):
        play_person_game(prepared, face, StopRequest(), print)
    assert len(load_saved(tmp_path / "p.json").history.actions) >= 3


def test_a_bot_that_cannot_be_restored_is_played_and_cannot_be_paused(tmp_path: Path) -> None:
    bot = tmp_path / "once.py"
    text = (
        "from protocol.bot import Bot, run\n"
        "class Once(Bot):\n"
        "    can_restore = False\n"
        "    def move(self, view): return view.legal[0]\n"
        "run(Once)\n"
    )
    bot.write_text(text)
    said: list[str] = []

    async def face(session: Session) -> None:
        (color,) = session.persons
        async with trio.open_nursery() as nursery:
            nursery.start_soon(people(), session)
            state = await session.changed(color)
            while state.plies < 4 and state.end is None:
                state = await session.changed(color, state.version)
            said.append(session.why_no_pause())
            nursery.cancel_scope.cancel()

    ending, prepared = begun(
        tmp_path / "s.sqlite", tmp_path, face, PersonOptions(("Ada",), seed_given=True), (str(bot),)
    )
    assert ending.why_not
    assert "cannot restore" in ending.why_not
    assert said == [ending.why_not]
    assert not prepared.file.exists()


def test_a_bot_that_dies_in_the_middle_loses_at_once(tmp_path: Path) -> None:
    bot = tmp_path / "brief.py"
    bot.write_text(
        "import sys\n"
        "from protocol.bot import Bot, run\n"
        "class Brief(Bot):\n"
        "    def move(self, view):\n"
        "        if view.ply > 6: sys.exit(4)\n"
        "        return view.legal[0]\n"
        "run(Brief)\n"
    )
    ending, _ = begun(tmp_path / "s.sqlite", tmp_path, people(), PersonOptions(("Ada",), seed_given=True), (str(bot),))
    assert ending.row
    assert ending.row.reason is Reason.CRASH
    assert "exited with code 4" in ending.row.detail
    assert ending.row.result.winner is not None
    assert is_person(ending.row.players[ending.row.result.winner])
    assert faults(tmp_path / "s.sqlite") == []


def test_a_persons_games_in_the_store_of_a_league_leave_its_table_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "league.sqlite"
    played = PlayOptions(rules="duel", store=store, jobs=1)
    with open_league(LeagueEntry(["drifter", "raider"], Kind.MATCH, 1, 2), played, print) as league:
        league.play(StopRequest(), Quiet())
    with Store(store, create=False) as opened:
        before = opened.kept().entrants
    begun(store, tmp_path, people(), PersonOptions(("Ada",), seed_given=True), ("drifter",))
    with Store(store, create=False) as opened:
        assert opened.kept().entrants == before
        assert opened.count_others(before) == 1
    assert faults(store) == []


def test_games_of_people_are_exported_imported_and_salvaged(tmp_path: Path) -> None:
    store, lines, copy = tmp_path / "a.sqlite", tmp_path / "a.jsonl", tmp_path / "b.sqlite"
    who = PersonOptions(("Ada",), Color.RED, clock="60+1", seed_given=True)
    begun(store, tmp_path, people(), who, ("drifter",))
    begun(store, tmp_path, people(2), PersonOptions(("Bea",), Color.BLUE, clock="60+1", seed_given=True), ("drifter",))
    with Store(store, create=False) as opened:
        lines.write_bytes(b"".join(export_lines(opened, opened.numbers(), HOST, print)))
    assert import_games(copy, [lines], lambda *_: None).new == 2
    assert faults(copy) == []
    with Store(store, create=False) as whole, Store(copy, create=False) as other:
        assert {row.id for row in whole.rows()} == {row.id for row in other.rows()}
        assert own_times_in(whole.settings()) == own_times_in(other.settings())
    salvaged = tmp_path / "c.sqlite"
    with Store(store, create=False) as old, Store(salvaged, create=True) as new:
        assert salvage(old, new) == 2
    assert faults(salvaged) == []


@pytest.mark.parametrize(
    ("who", "paths", "words"),
    [
        (PersonOptions(("Ada", "Ada")), (), "expected two names that differ"),
        (PersonOptions(("drifter",)), ("drifter",), "expected two names that differ"),
        (PersonOptions(("a\nb",)), ("drifter",), "--name: expected a name"),
        (PersonOptions(("Ada",), clock="soon"), ("drifter",), "--clock: expected a time"),
        (PersonOptions(("Ada",), seed_given=True), ("nobody.py",), "nobody.py"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    who: PersonOptions, paths: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=words):
        begun(tmp_path / "s.sqlite", tmp_path, people(), who, paths)
