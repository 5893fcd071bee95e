"""A game with a person as a service: prepared, played as a session, stored or saved.

It is played in this process. People decide who plays whom how often, so a store of such games has no plan, and each new
game takes an unplayed round: a random one, unless the seed was given.
"""

import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

import msgspec
import trio

from arena.bots.names import expected_name, name_fault
from arena.bots.spec import BotSpec, person_spec
from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player, with_clock, without_clock
from arena.game.time_control import parse_time
from arena.league.game_ids import Games, rounds_tried
from arena.league.league_options import Kind, PlayOptions
from arena.league.option_values import default_store, option_value, settings_of, time_control
from arena.league.plan import entrants
from arena.league.resumed import note_places
from arena.league.saved import GameOutcome, PreparedGame, check_place, keep
from arena.league.settings import Settings
from arena.league.stop import Say, StopRequest, Wish, run_games
from arena.league.store import Store
from arena.league.versions import Versions, note_versions
from arena.play.game_options import GameOptions
from arena.play.session import Session
from arena.processes.starting import Sandbox
from arena.system.concurrency import Run, background
from protocol.seats import Color

Face = Callable[[Session], Awaitable[None]]
"""Shows a session to people until they have seen its end. If it returns before, the game is interrupted."""
FAREWELL_SECONDS = 2.0


@dataclass(frozen=True)
class PersonOptions:
    """The persons who play: one in `names` plays a bot, two play each other.

    `color` is that of the first; None: the one that it has had less often against the other, or either. Without a
    `clock` persons have unlimited time. With a `seed_given` rounds follow each other.
    """

    names: tuple[str, ...]
    color: Color | None = None
    clock: str | None = None
    seed_given: bool = False


@dataclass
class Repeat:
    """Another game after one that is over, if a person wants it. Each person keeps the address of the page."""

    is_wanted: bool = False
    swaps_colors: bool = False
    tokens: dict[str, str] = field(default_factory=dict)
    """The secret of each person, by name."""


@contextlib.contextmanager
def begin_person_game(
    paths: Sequence[str],
    options: PlayOptions,
    who: PersonOptions,
    say: Say,
    *,
    file: Path | None = None,
    run: Run = trio.run,
) -> Iterator[PreparedGame]:
    """Prepare a game of a person against the bot of this path, or of two persons without one. Raises `ArenaError`."""
    options = replace(options, draws_seed=not who.seed_given)
    persons = []
    for name in who.names:
        fault = name_fault(name)
        if fault is not None:
            raise UsageError(f"--name: {expected_name(name, fault)}")
        persons.append(person_spec(name))

    def store_of(_: Sequence[BotSpec]) -> Path:
        clock = () if who.clock is None else (f"clock-{who.clock}",)
        return options.store or Path(default_store(Kind.PLAY, (), settings_of(options, []), *clock))

    with entrants(paths, options, store_of, say, run, least=len(paths)) as entered:
        options, bots = entered.options, entered.bots
        first, second = (*persons, *bots)
        if first.name == second.name:
            raise UsageError(f"--name: expected two names that differ, and both sides are called {first.name}")
        place = file or _new_file(first, second)
        check_place(place)
        if place.exists():
            raise UsageError(f"{place}: expected a new file to save the game in, and this is there already")
        settings = _settings(options, who, persons, bots)
        players = (first.player, second.player)
        with Store(entered.path, create=True) as store:
            store.agree(settings.described(players), players)
            for line in note_versions(store, bots):
                say(line)
            spec = _next_game(settings, store, players, who)
            red, blue = (first, second) if spec.players[0] == first.player else (second, first)
            with Sandbox(entered.play_settings(settings)) as held:
                if bots:
                    note_places(store, bots, entered.level)
                yield PreparedGame(spec, (red, blue), None, store, place, held, settings.seed, settings.time)


def _new_file(first: BotSpec, second: BotSpec) -> Path:
    stem = "".join(c if c.isalnum() or c in "-." else "_" for c in f"{first.name}-{second.name}")[:100]
    names = chain([f"paused-{stem}.json"], (f"paused-{stem}-{number}.json" for number in count(2)))
    return next(path for path in map(Path, names) if not path.exists())


def _settings(
    options: PlayOptions, who: PersonOptions, persons: Sequence[BotSpec], bots: Sequence[BotSpec]
) -> Settings:
    settings, time = settings_of(options, bots), time_control(options)
    clock = without_clock(time)
    if who.clock is not None:
        clock = with_clock(time, option_value("--clock", parse_time, who.clock))
    own = tuple((one.digest, clock) for one in persons)
    return msgspec.structs.replace(settings, bot_times=(*settings.bot_times, *own))


def _next_game(settings: Settings, store: Store, players: tuple[Player, Player], who: PersonOptions) -> GameSpec:
    """Return an unplayed game of these two; the first has the requested colour, or the one it has had less often."""
    first, second = players
    games = Games(settings)
    color = _rarer_color(store, first, second) if who.color is None else who.color
    for number in _rounds(who):
        as_red, as_blue = games.game(first, second, number), games.game(second, first, number)
        ways = [as_blue, as_red] if as_red.pair_seed & 2 else [as_red, as_blue]  # the lowest bit can be who begins
        if color is not None:
            ways = [as_blue if color else as_red]
        for game in ways:
            if game.id not in store:
                return game
    raise AssertionError("there is no last round")


def _rarer_color(store: Store, player: Player, other: Player) -> Color | None:
    had = Counter(
        Color.RED if row.players[0].digest == player.digest else Color.BLUE
        for row in store.each_row([player])
        if {one.digest for one in row.players} == {player.digest, other.digest}
    )
    if had[Color.RED] == had[Color.BLUE]:
        return None
    return Color.RED if had[Color.RED] < had[Color.BLUE] else Color.BLUE


def _rounds(who: PersonOptions) -> Iterator[int]:
    """Yield rounds in which to look for an unplayed game, all of which `verify` can recognise."""
    if not who.seed_given:
        numbers = list(rounds_tried(0))
        random.SystemRandom().shuffle(numbers)
        yield from numbers
    yield from count()


def play_person_game(
    prepared: PreparedGame, face: Face, stop: StopRequest, say: Say, run: Run = trio.run
) -> GameOutcome:
    """Play until the game is over and stored, or interrupted and saved in its file. Raises `ArenaError`."""
    return run_games(run, _play, prepared, face, stop, say)


async def _play(prepared: PreparedGame, face: Face, stop: StopRequest, say: Say) -> GameOutcome:
    held = prepared.held
    options = GameOptions(held.start, pondering=held.settings.pondering, try_out=held.try_out)
    session = Session(prepared.spec, prepared.bots, options, prepared.history)
    shown, left = trio.Event(), trio.Event()
    errors: list[Exception] = []

    async def show() -> None:
        try:
            await face(session)
        except Exception as error:  # what has been played is saved before anybody hears of it
            errors.append(error)
        session.leave()  # the face is gone
        shown.set()
        left.set()

    async def leave_when_asked() -> None:
        await stop.wait_beyond(Wish.GO_ON)
        session.leave()
        left.set()

    async with background(show, leave_when_asked):
        versions = Versions()
        played = await session.play()
        await versions.are_unchanged([player for player in prepared.bots if not player.is_person])
        ending = keep(prepared, played, versions, say, session.why_not_saved())
        if ending.plies is not None:
            session.remark(f"the game is saved in {prepared.file}")
        if ending.row:
            session.stored(ending.row.number)
            await left.wait()
        else:
            with trio.move_on_after(FAREWELL_SECONDS):
                await shown.wait()
    if errors:
        raise errors[0]
    return ending
