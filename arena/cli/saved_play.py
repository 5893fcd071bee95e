"""Games that can be saved: `arena match --pause`, `arena resume`, and `arena play`."""

import getpass
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.names import name_fault
from arena.cli.exit_codes import DONE, FAILED, INTERRUPTED
from arena.cli.installation import SERVING, arena_line, needs
from arena.cli.interrupts import StopRequests, unwinding
from arena.cli.process_setup import level_line, run_unwinding, same_command, stopped_by
from arena.cli.shared_options import OutputForm, by_color
from arena.cli.streams import flush_results, remark, result, try_to_print
from arena.errors import ArenaError, UsageError
from arena.game.faults import named
from arena.game.time_control import parse_time
from arena.league.league_options import PlayOptions
from arena.league.option_values import option_value
from arena.league.person_game import Face, PersonOptions, Repeat, begin_person_game, play_person_game
from arena.league.resumed import ResumeOptions, resume_game
from arena.league.saved import AlreadyPlayed, GameOutcome, PreparedGame, begin_game, play_prepared
from arena.league.store import GameRow
from arena.play.saved_game import load_saved
from arena.report.game_list import PausedJson, game_entry, game_line
from arena.report.standings import handicap_text
from arena.sandbox.levels import AUTO
from arena.sandbox.rlimits import use_all_descriptors
from arena.system.printable import counted, printable
from arena.system.terminal_text import to_json, to_line
from protocol.seats import COLOR_BY_WORD, Color

if TYPE_CHECKING:
    from arena.web.address import Listening

NOBODY, GUEST = "you", "guest"


# --- games of bots ----------------------------------------------------------------------------------------------------


@contextmanager
def _opened(opening: AbstractContextManager[PreparedGame | AlreadyPlayed]) -> Iterator[PreparedGame | AlreadyPlayed]:
    use_all_descriptors()
    with opening as prepared:
        if isinstance(prepared, AlreadyPlayed):
            remark(f"this game is stored already, as game {prepared.row.number} of {prepared.store}")
        yield prepared


def begin(paths: Sequence[str], options: PlayOptions, file: Path, pause_after: int | None, form: OutputForm) -> int:
    with unwinding(), _opened(begin_game(paths, options, file, remark, run_unwinding)) as prepared:
        return _play(prepared, pause_after, is_level_chosen=options.sandbox == AUTO, form=form)


def resume(
    file: Path, pause_after: int | None, *, paths: Sequence[str], options: ResumeOptions, form: OutputForm
) -> int:
    """Resume a saved game; `paths` are the bots, NAME=PATH each. Returns the exit code."""
    with unwinding():
        saved = load_saved(file)
        if any(saved.persons):
            words = arena_line("play", "--resume", str(file))
            raise UsageError(f"{file}: a game with a person; resume it with: {words}")
        names = [frozenset({player.name}) for player in saved.spec.players]
        options = replace(options, bots=by_color("--bot", paths, names))
        with _opened(resume_game(saved, file, options, remark, run_unwinding)) as prepared:
            return _play(prepared, pause_after, is_level_chosen=options.sandbox == AUTO, form=form)


def _play(
    prepared: PreparedGame | AlreadyPlayed, pause_after: int | None, *, is_level_chosen: bool, form: OutputForm
) -> int:
    if isinstance(prepared, AlreadyPlayed):
        return DONE if form is OutputForm.TEXT else _print_game(prepared.row, prepared.store, form)
    remark(level_line(prepared.held.settings.level, is_level_chosen))
    red, blue = (bot.name for bot in prepared.bots)
    if prepared.spec.blue_time:
        red_time, blue_time = prepared.spec.times
        remark(handicap_text("", {red: red_time.text, blue: blue_time.text}, ()))
    remark(f"{red} (red) - {blue} (blue){_resumed(prepared)}; Ctrl-C saves the game in {prepared.file}")

    def finished(row: GameRow) -> int:
        return _print_game(row, prepared.store.path, form)

    def saved(plies: int) -> None:
        remark(f"paused after {_plies(plies)}; resume with: {_line_to_resume(prepared, 'resume')}")
        if form is not OutputForm.TEXT:
            paused = PausedJson(printable(str(prepared.file)), plies)
            result(to_line(paused) if form is OutputForm.LINES else to_json(paused))

    def play(stop: StopRequests) -> GameOutcome:
        return play_prepared(prepared, pause_after, stop, remark)

    return _run(prepared, play, finished, saved, f"stopped: {_kept(prepared)}", f"resume with: {same_command()}")


def _print_game(row: GameRow, store: Path, form: OutputForm) -> int:
    if form is OutputForm.TEXT:
        text = f"{game_line(row)}\n{row.detail}"
    else:
        text = (to_line if form is OutputForm.LINES else to_json)(game_entry(row))
    if not try_to_print(lambda: result(text), store):
        return FAILED
    remark(f"store: {store}")
    return DONE


# --- games of people --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seats:
    """The people of a game on the command line, and the display of the game."""

    is_terminal: bool
    names: tuple[str, ...] = ()
    side: str | None = None
    clock: str | None = None
    seed_given: bool = False
    listen: str = ""

    @contextmanager
    def listening(self) -> "Iterator[Listening | None]":
        """Listen for the pages before any other work; None in a terminal. Raises `UsageError`."""
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
        if len(self.names) > count:
            raise UsageError(f"--name: expected at most {count}, got {len(self.names)}")
        if self.clock is not None:
            option_value("--clock", parse_time, self.clock)
        names = (*self.names, *(_user_name(), GUEST)[len(self.names) :])
        return PersonOptions(names[:count], COLOR_BY_WORD.get(self.side or ""), self.clock, self.seed_given)


def _user_name() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return NOBODY
    return NOBODY if name_fault(name) else name


def begin_with_person(paths: tuple[str, ...], options: PlayOptions, seats: Seats, save: Path | None) -> int:
    who = seats.persons(1 if paths else 2)
    repeat = Repeat()
    with seats.listening() as listening, unwinding():
        while True:
            with _opened(begin_person_game(paths, options, who, remark, file=save, run=run_unwinding)) as prepared:
                code = _play_person(prepared, listening, repeat, is_level_chosen=options.sandbox == AUTO)
            if not repeat.is_wanted:
                return code
            assert isinstance(prepared, PreparedGame)
            color = next(color for color in Color if prepared.bots[color].name == who.names[0])
            who = replace(who, color=color.opponent if repeat.swaps_colors else color)
            repeat.is_wanted = False


def resume_with_person(
    file: Path, bot: str | None, sandbox: str | None, interpreters: tuple[str, ...], seats: Seats
) -> int:
    saved = load_saved(file)
    if not any(saved.persons):
        words = arena_line("resume", str(file))
        raise UsageError(f"{file}: expected a game with a person, got one of bots; resume it with: {words}")
    if seats.is_terminal and all(saved.persons):
        raise UsageError(f"{file}: in one terminal two people would see each other's pieces: resume without --terminal")
    places = {color: bot for color in Color if bot is not None and not saved.persons[color]}
    if bot is not None and not places:
        raise UsageError(f"{file}: two people play this game: expected no BOT")
    options = ResumeOptions(sandbox, places, interpreters)
    resumed = resume_game(saved, file, options, remark, run_unwinding)
    with seats.listening() as listening, unwinding(), _opened(resumed) as prepared:
        return _play_person(prepared, listening, None, is_level_chosen=sandbox == AUTO)


def _face(listening: "Listening | None", prepared: PreparedGame, repeat: Repeat | None) -> Face:
    if listening is None:
        from arena.cli.play_terminal import terminal_face

        return terminal_face
    from arena.web.seat_server import NextCommands, page_face

    known = () if repeat is None else tuple(repeat.tokens)

    def tell(addresses: Mapping[Color, str]) -> None:
        if known:
            return  # the pages of the game before are those of this one
        for color, address in addresses.items():
            result(f"{named(prepared.spec.players, color)}: {address}")
        flush_results()

    store = str(prepared.store.path)
    commands = NextCommands(
        go_on=_line_to_resume(prepared, "play", "--resume"),
        show=lambda number: arena_line("show", store, str(number), game=prepared.spec.variant.game),
        report=arena_line("report", store, "--out", "site", game=prepared.spec.variant.game),
    )
    stays = "the game is over; close its pages or press Ctrl-C to end the command"
    return page_face(
        listening.again(), tell, complain=remark, commands=commands, ended=lambda: remark(stays), repeat=repeat
    )


def _play_person(
    prepared: PreparedGame | AlreadyPlayed,
    listening: "Listening | None",
    repeat: Repeat | None,
    *,
    is_level_chosen: bool,
) -> int:
    if isinstance(prepared, AlreadyPlayed):
        return DONE
    if not all(player.is_person for player in prepared.bots):
        remark(level_line(prepared.held.settings.level, is_level_chosen))
    red, blue = prepared.spec.times
    names = prepared.spec.names.replace(" - ", " (red) - ") + " (blue)"
    remark(f"{names}, {prepared.spec.variant.name}; red {red.text}, blue {blue.text}{_resumed(prepared)}")
    store = prepared.store.path
    remark(f"store: {store}; Ctrl-C saves the game in {prepared.file}")

    def finished(row: GameRow) -> int:
        remark(game_line(row))
        line = arena_line("show", str(store), str(row.number), game=prepared.spec.variant.game)
        remark(f"stored as game {row.number}: {line}")
        return DONE

    def saved(plies: int) -> None:
        where = " --terminal" if listening is None else ""
        remark(f"saved after {_plies(plies)}; resume with: {_line_to_resume(prepared, 'play', '--resume')}{where}")

    def play(stop: StopRequests) -> GameOutcome:
        return play_person_game(prepared, _face(listening, prepared, repeat), stop, remark)

    return _run(prepared, play, finished, saved, f"play again with: {same_command()}")


# --- games of both kinds ----------------------------------------------------------------------------------------------


def _run(
    prepared: PreparedGame,
    play: Callable[[StopRequests], GameOutcome],
    finished: Callable[[GameRow], int],
    saved: Callable[[int], None],
    *after_error: str,
) -> int:
    """Play a game and report how it ended; `after_error` are the lines after an error that stopped it."""
    with StopRequests() as stop:
        try:
            ending = play(stop)
        except ArenaError as error:
            if type(error) is UsageError:
                raise
            raise stopped_by(error, *after_error) from error
        stop.reporting()
        if ending.changed:
            words = "what was played does not count: it is neither stored nor saved"
            raise ArenaError("\n".join([*ending.changed, words]))
        if ending.row:
            return finished(ending.row)
        if ending.plies is not None:
            saved(ending.plies)
        elif ending.why_not:
            remark(f"stopped; the game cannot be resumed: {ending.why_not}")
        else:
            remark(f"stopped before both sides had set up: {_kept(prepared)}")
        return INTERRUPTED if stop.wish else DONE


def _plies(count: int) -> str:
    return counted(count, "ply", "plies")


def _resumed(prepared: PreparedGame) -> str:
    return f", resumed after {_plies(len(prepared.history.actions))}" if prepared.history else ""


def _kept(prepared: PreparedGame) -> str:
    return f"{prepared.file} is unchanged" if prepared.history else "there is nothing to save"


def _line_to_resume(prepared: PreparedGame, *command: str) -> str:
    named = [word for path in prepared.held.settings.interpreters for word in ("--interpreter", path)]
    return arena_line(*command, str(prepared.file), *named, game=prepared.spec.variant.game)
