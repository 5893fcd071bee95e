"""Games that can be interrupted: `arena match --pause FILE`, `arena resume FILE`, and how a stopped game is resumed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.bots.sandbox.levels import AUTO
from arena.cli.exit_codes import FAILED, INTERRUPTED
from arena.cli.installation import shell_line, this_command
from arena.cli.interrupts import StopRequests, unwinding
from arena.cli.process_setup import level_line, own_process, run_unwinding, same_command, stopped_by
from arena.cli.shared_options import OutputForm, by_color
from arena.cli.streams import OutputError, flush_results, remark, result
from arena.errors import ArenaError, UsageError
from arena.league.league_options import PlayOptions
from arena.league.resumed import ResumeOptions, resume_game, resume_sandbox
from arena.league.saved import (
    AlreadyPlayed,
    Changed,
    Finished,
    NothingPlayed,
    PreparedGame,
    Saved,
    begin_game,
    play_prepared,
)
from arena.league.store import GameRow, StoreChangedError
from arena.play.saved_game import load_saved
from arena.report.consoles import to_json, to_line
from arena.report.game_list import PausedJson, game_entry, game_line
from arena.report.standings import handicap_text
from arena.system.printable import counted, printable


class SaidOfGame(NamedTuple):
    """What the command line says of a saved game: the level, where bots are (NAME=PATH each), and interpreters."""

    sandbox: str | None
    paths: tuple[str, ...]
    interpreters: tuple[str, ...]


def begin(paths: Sequence[str], options: PlayOptions, file: Path, pause_after: int | None, form: OutputForm) -> int:
    """Play the first game of a match so that it can be interrupted. Returns the exit code."""
    with unwinding():
        own_process(options.sandbox)
        with begin_game(paths, options, file, remark, run_unwinding) as prepared:
            return _play(prepared, pause_after, is_level_chosen=options.sandbox == AUTO, form=form)


def resume(file: Path, pause_after: int | None, said: SaidOfGame, form: OutputForm) -> int:
    """Go on with a saved game. Returns the exit code."""
    with unwinding():
        saved = load_saved(file)
        if any(saved.persons):
            raise UsageError(
                f"{file}: a game in which a person plays; go on with: "
                f"{shell_line(*this_command(), 'play', '--resume', str(file))}"
            )
        names = [frozenset({player.name}) for player in saved.players]
        options = ResumeOptions(said.sandbox, by_color("--bot", said.paths, names), said.interpreters)
        own_process(resume_sandbox(saved, options))
        with resume_game(saved, file, options, remark, run_unwinding) as prepared:
            return _play(prepared, pause_after, is_level_chosen=said.sandbox == AUTO, form=form)


def _play(
    prepared: PreparedGame | AlreadyPlayed, pause_after: int | None, *, is_level_chosen: bool, form: OutputForm
) -> int:
    if isinstance(prepared, AlreadyPlayed):
        remark(f"this game is stored already, as game {prepared.row.number} of {prepared.store}")
        return 0 if form is OutputForm.TEXT or _tell(prepared.row, prepared.store, form) else FAILED
    remark(level_line(prepared.held.level, is_level_chosen))
    red, blue = (bot.name for bot in prepared.bots)
    if prepared.spec.blue_time:
        red_time, blue_time = prepared.spec.times
        remark(handicap_text("", {red: red_time.text, blue: blue_time.text}, ()))
    done = len(prepared.history.actions) if prepared.history else 0
    going_on = f", going on after {counted(done, 'ply', 'plies')}" if done else ""
    remark(f"{red} (red) - {blue} (blue){going_on}; Ctrl-C saves the game in {prepared.file}")
    kept = kept_words(prepared)
    with StopRequests() as stop:
        with saying_how_to_go_on(prepared, "resume with", f"stopped: {kept}"):
            ending = play_prepared(prepared, pause_after, stop, remark)
        stop.reporting()
        match ending:
            case Finished(row):
                return 0 if _tell(row, prepared.store.path, form) else FAILED
            case Saved(plies):
                remark(
                    f"paused after {counted(plies, 'ply', 'plies')}; go on with: {line_to_go_on(prepared, 'resume')}"
                )
                if form is not OutputForm.TEXT:
                    paused = PausedJson(printable(str(prepared.file)), plies)
                    result(to_line(paused) if form is OutputForm.LINES else to_json(paused))
                return INTERRUPTED if stop.wish else 0
            case NothingPlayed():
                remark(f"stopped before both sides had set up: {kept}")
                return INTERRUPTED
            case Changed(lines):
                raise does_not_count(lines)


def _tell(row: GameRow, store: Path, form: OutputForm) -> bool:
    """Print the result of the game. Returns whether that could be done."""
    match form:
        case OutputForm.TEXT:
            text = f"{game_line(row)}\n{row.detail}"
        case OutputForm.LINES:
            text = to_line(game_entry(row))
        case _:
            text = to_json(game_entry(row))
    try:
        result(text)
        flush_results()
    except OutputError as error:
        error.tell(f"; the game is stored in {store}")
        return False
    remark(f"store: {store}")
    return True


CHANGED = (
    "this game is not stored; what is at {path} now would be taken for its store: put the one with the games of before "
    "back there before you give the same command again"
)


def kept_words(prepared: PreparedGame) -> str:
    """What is there of a game that was stopped before it could be saved."""
    return f"{prepared.file} is as it was" if prepared.history else "there is nothing to save"


def line_to_go_on(prepared: PreparedGame, *command: str) -> str:
    """The command line by which the saved game goes on, with the interpreters that it needs; `command` is what stands
    before its file."""
    named = [word for path in prepared.held.interpreters for word in ("--interpreter", path)]
    return shell_line(*this_command(), *command, str(prepared.file), *named)


@contextmanager
def saying_how_to_go_on(prepared: PreparedGame, again: str, *before: str) -> Iterator[None]:
    """Have an error by which the game ends say what is to be said `before`, and how to go on: `again`, and the same
    command. One that says that these bots cannot play it is left as it is: there is nothing to go on with."""
    try:
        yield
    except ArenaError as error:
        if type(error) is UsageError:
            raise
        is_changed = isinstance(error, StoreChangedError)
        how = CHANGED.format(path=prepared.store.path) if is_changed else f"{again}: {same_command()}"
        raise stopped_by(error, *before, how) from error


def does_not_count(lines: Iterable[str]) -> ArenaError:
    """The error of a game whose bots have changed while it was played: these lines say how."""
    return ArenaError("\n".join([*lines, "what was played does not count: it is neither stored nor saved"]))
