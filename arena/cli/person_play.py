"""What `arena play` prints around a game: how the bot is held, where the game is kept, how it goes on."""

import getpass
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.names import name_fault
from arena.bots.sandbox.levels import AUTO
from arena.cli.exit_codes import INTERRUPTED
from arena.cli.installation import SERVING, needs, shell_line, this_command
from arena.cli.interrupts import StopRequests, unwinding
from arena.cli.paused_games import does_not_count, kept_words, line_to_go_on, saying_how_to_go_on
from arena.cli.process_setup import level_line, own_process, run_unwinding
from arena.cli.streams import flush_results, remark, result
from arena.errors import UsageError
from arena.game.faults import named
from arena.game.time_control import parse_time
from arena.league.league_options import PlayOptions
from arena.league.option_values import option_value
from arena.league.person_game import Face, PersonOptions, begin_person_game, play_person_game
from arena.league.resumed import ResumeOptions, resume_game, resume_sandbox
from arena.league.saved import AlreadyPlayed, Changed, Finished, NothingPlayed, NotSaved, PreparedGame, Saved
from arena.play.saved_game import load_saved
from arena.report.game_list import game_line
from arena.system.printable import counted
from protocol.notation import COLOR_BY_WORD, Color

if TYPE_CHECKING:
    from arena.web.address import Listening

STAYS = "the game is over; the command ends when its pages are closed, or by Ctrl-C"
NOBODY, GUEST = "you", "guest"
"""What people are called whose names are not known."""


@dataclass(frozen=True)
class Seats:
    """What the command line says of who sits down, and where the game is shown."""

    is_terminal: bool
    names: tuple[str, ...] = ()
    side: str | None = None
    clock: str | None = None
    seed_given: bool = False
    listen: str = ""

    @contextmanager
    def listening(self) -> "Iterator[Listening | None]":
        """Listen where pages are to be served: at any free port of this machine unless something else was said. None in
        a terminal. Raises `UsageError`, before anything has been started or stored."""
        if self.is_terminal:
            yield None
            return
        needs(SERVING, "web", "arena play without --terminal")
        from arena.web.address import LOCAL_HOST, listen, parse_address

        listening = option_value("--listen", lambda text: listen(parse_address(text)), self.listen or LOCAL_HOST)
        try:
            yield listening
        finally:
            listening.close()

    def persons(self, count: int) -> PersonOptions:
        """As many persons as there are to be. Raises `UsageError`."""
        if len(self.names) > count:
            raise UsageError(f"--name: expected at most {count}, got {len(self.names)}")
        if self.clock is not None:
            option_value("--clock", parse_time, self.clock)
        names = (*self.names, *(_user_name(), GUEST)[len(self.names) :])
        color: Color | None = COLOR_BY_WORD.get(self.side or "")
        return PersonOptions(names[:count], color, self.clock, self.seed_given)


def _user_name() -> str:
    """What this user is called, if that can be a name in a table."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return NOBODY
    return NOBODY if name_fault(name) else name


def begin(paths: tuple[str, ...], options: PlayOptions, seats: Seats, save: Path | None) -> int:
    """Play a new game. Returns the exit code; raises `ArenaError`."""
    who = seats.persons(1 if paths else 2)
    with seats.listening() as listening, unwinding():
        own_process(options.sandbox)
        with begin_person_game(paths, options, who, remark, file=save, run=run_unwinding) as prepared:
            return _play(prepared, listening, is_level_chosen=options.sandbox == AUTO)


def go_on(file: Path, bot: str | None, sandbox: str | None, interpreters: tuple[str, ...], seats: Seats) -> int:
    """Go on with a saved game, in which the `bot` is at this path now if one is named. Returns the exit code; raises
    `ArenaError`."""
    saved = load_saved(file)
    if not any(saved.persons):
        words = shell_line(*this_command(), "resume", str(file))
        raise UsageError(f"{file}: expected a game in which a person plays, got one of bots; go on with: {words}")
    if seats.is_terminal and all(saved.persons):
        raise UsageError(f"{file}: in one terminal two people would see each other's pieces: go on without --terminal")
    places = {color: bot for color in Color if bot is not None and not saved.persons[color]}
    if bot is not None and not places:
        raise UsageError(f"{file}: two people play this game: expected no BOT")
    options = ResumeOptions(sandbox, places, interpreters)
    with seats.listening() as listening, unwinding():
        own_process(resume_sandbox(saved, options))
        with resume_game(saved, file, options, remark, run_unwinding) as prepared:
            if isinstance(prepared, AlreadyPlayed):
                remark(f"this game is stored already, as game {prepared.row.number} of {prepared.store}")
                return 0
            return _play(prepared, listening, is_level_chosen=sandbox == AUTO)


def _face(listening: "Listening | None", prepared: PreparedGame) -> Face:
    """What shows the game: pages that are served there, or the terminal."""
    if listening is None:
        from arena.cli.play_terminal import terminal_face

        return terminal_face()
    from arena.web.seat_page import NextCommands
    from arena.web.seat_server import page_face

    def tell(addresses: Mapping[Color, str]) -> None:
        for color, address in addresses.items():
            result(f"{named(prepared.spec.players, color)}: {address}")
        flush_results()

    store = str(prepared.store.path)
    commands = NextCommands(
        go_on=_line("play", "--resume", str(prepared.file)),
        show=lambda number: _line("show", store, str(number)),
        report=_line("report", store, "--out", "site"),
    )
    return page_face(listening, tell, complain=remark, commands=commands, ended=lambda: remark(STAYS))


def _play(prepared: PreparedGame, listening: "Listening | None", *, is_level_chosen: bool) -> int:
    if not all(player.is_person for player in prepared.bots):
        remark(level_line(prepared.held.level, is_level_chosen))
    red, blue = prepared.spec.times
    names = prepared.spec.names.replace(" - ", " (red) - ") + " (blue)"
    done = f", going on after {counted(len(prepared.history.actions), 'ply', 'plies')}" if prepared.history else ""
    remark(f"{names}, {prepared.spec.ruleset.name}; red {red.text}, blue {blue.text}{done}")
    remark(f"store: {prepared.store.path}; Ctrl-C saves the game in {prepared.file}")
    with StopRequests() as stop:
        with saying_how_to_go_on(prepared, "play again with"):
            ending = play_person_game(prepared, _face(listening, prepared), stop, remark)
        stop.reporting()
        match ending:
            case Finished(row):
                remark(game_line(row))
                remark(f"stored as game {row.number}: {_line('show', str(prepared.store.path), str(row.number))}")
                return 0
            case Saved(plies):
                where = " --terminal" if listening is None else ""
                done = counted(plies, "ply", "plies")
                remark(f"saved after {done}; go on with: {line_to_go_on(prepared, 'play', '--resume')}{where}")
                return INTERRUPTED if stop.wish else 0
            case NotSaved(why):
                remark(f"stopped; the game cannot go on later: {why}")
                return INTERRUPTED if stop.wish else 0
            case NothingPlayed():
                remark(f"stopped before both sides had set up: {kept_words(prepared)}")
                return INTERRUPTED if stop.wish else 0
            case Changed(lines):
                raise does_not_count(lines)


def _line(*words: str) -> str:
    return shell_line(*this_command(), *words)
