"""One game that can be interrupted and taken up again: `arena match --pause FILE` and `arena resume FILE`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from arena.bots import BotSpec
from arena.bots.sandbox.levels import AUTO
from arena.bots.sandbox.programs import HostPrograms
from arena.bots.sandbox.reaper import claim_all_orphans
from arena.bots.starting import Sandbox, runnable
from arena.cli.entrants import entrants
from arena.cli.exit_codes import FAILED, INTERRUPTED
from arena.cli.interrupts import StopRequests, Wish, unwinding
from arena.cli.options import PlayOptions
from arena.cli.play import apart_from_bots, level_line, level_of, run_games, sandbox_of, settings_of, store_of
from arena.cli.streams import OutputError, flush_results, remark, result
from arena.cli.words import shell_line, this_command
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord, History
from arena.game.spec import GameSpec
from arena.league.changes import note_versions
from arena.league.resume import agree, stored_in
from arena.league.schedule import schedule
from arena.league.store import GameRow, Store
from arena.league.versions import Versions
from arena.play.runner import MOST_TRIES, ArenaStoppedError, GameOptions, Interrupt, play_on
from arena.play.saved_game import load_saved, refuse_to_overwrite, save_game, saved_game
from arena.printable import printable
from arena.report.json import games_document
from arena.report.terminal import game_line
from protocol.notation import Reason


@dataclass(frozen=True)
class _Sitting:
    """One sitting at a game: from its beginning, or from its past; `store` is where the result belongs."""

    spec: GameSpec
    bots: tuple[BotSpec, BotSpec]
    past: History | None
    store: Path
    held: Sandbox
    pondering: bool
    seed: int | None


def begin(paths: Sequence[str], options: PlayOptions, file: Path, pause_after: int | None) -> int:
    """Play the first game of a match so that it can be interrupted. Returns the exit code."""
    with unwinding():
        check_place(file)
        refuse_to_overwrite(file)
        level = level_of(options.sandbox)
        claim_all_orphans()
        store_at = partial(store_of, options, "match")
        bots, path = entrants(paths, level, options, strict=True, follow_links=True, store=store_at)
        _refuse_unsaveable(bots)
        settings = settings_of(options, bots)
        red, blue = bots
        apart_from_bots(path, bots)
        with Store(path, create=True) as store:
            store.agree(settings.described([bot.name for bot in bots]))
            for line in note_versions(store, bots):
                remark(line)
            store.set_entrants((red.player, blue.player))
            (spec, _) = schedule(settings, [bot.player for bot in bots], 1, stored_in(store))
            if _is_stored(spec.id, store):
                return 0
        remark(level_line(level, options.sandbox == AUTO))
        with sandbox_of(level, bots, settings, options.interpreters) as held:
            trio.run(held.try_out)
            sitting = _Sitting(spec, (red, blue), None, path, held, settings.pondering, settings.seed)
            return _play(sitting, file, pause_after, options.as_json)


def _is_stored(game_id: str | None, store: Store) -> bool:
    """Whether a game has been played already; if so, says it."""
    if game_id is None or game_id not in store.ids():
        return False
    number, _ = store.record(game_id)
    remark(f"this game is stored already, as game {number} of {store.path}")
    return True


def _refuse_unsaveable(bots: Sequence[BotSpec]) -> None:
    """Raise `UsageError` if a bot's path cannot stand in the file that the game is saved in."""
    for bot in bots:
        try:
            str(bot.path.resolve()).encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(
                f"{printable(str(bot.path.resolve()))}: --pause saves where the bots are, and expected a path in UTF-8"
            ) from None


def resume(file: Path, pause_after: int | None, sandbox: str | None) -> int:
    """Go on with a saved game, at the level `sandbox` or else that of the file. Returns the exit code."""
    with unwinding():
        paused = load_saved(file)
        check_place(file)
        bots = paused.load_bots()
        level = level_of(sandbox or paused.sandbox)
        claim_all_orphans()
        store_path = Path(paused.store)
        remark(level_line(level, sandbox == AUTO))
        if paused.interpreters:
            remark(f"interpreters of the saved game, which the bots can read: {', '.join(paused.interpreters)}")
        if not os.path.exists(store_path):  # Path.exists raises an error for a name that is too long
            remark(f"store: {store_path} (a new one)")
        elif Path.cwd() not in Path(os.path.realpath(store_path)).parents:
            remark(f"store: {store_path} (outside this folder)")
        with Store(store_path, create=True) as store:
            if _is_stored(agree(paused, store, bots), store):
                return 0
        checked = runnable(level, bots, HostPrograms(paused.interpreters, bots), paused.limits[0])
        faults = [bot.fault for bot in checked if bot.fault is not None]
        if faults:
            raise UsageError("\n".join(faults))
        limits = {bot.name: limits for bot, limits in zip(bots, paused.limits, strict=True)}
        with Sandbox(level, bots, paused.limits[0], limits, paused.interpreters) as held:
            trio.run(held.try_out)
            sitting = _Sitting(paused.spec(), bots, paused.past, store_path, held, paused.pondering, paused.seed)
            return _play(sitting, file, pause_after, as_json=False)


def check_place(file: Path) -> None:
    """Raise `UsageError` if a game could not be saved here. It is better known before the game than after it."""
    try:
        _check_place(file)
    except OSError as error:  # a name that is too long, a folder that may not be searched
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None


def _check_place(file: Path) -> None:
    if not file.parent.is_dir():
        raise UsageError(f"{file}: cannot be written: there is no folder {file.parent}")
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"{file}: cannot be written: you may not make files in {file.parent}")
    if file.exists() and not file.is_file():
        raise UsageError(f"{file}: expected a file to save the game in, or none yet")


def _play(sitting: _Sitting, file: Path, pause_after: int | None, as_json: bool) -> int:
    red, blue = (bot.name for bot in sitting.bots)
    done = len(sitting.past.actions) if sitting.past else 0
    going_on = f", going on after {done} plies" if done else ""
    remark(f"{red} (red) - {blue} (blue){going_on}; Ctrl-C saves the game in {file}")
    versions = Versions()
    with StopRequests() as stop:
        played = run_games(partial(_play_unchanged, sitting, Interrupt(pause_after), stop, versions))
        for line in versions.remarks():
            remark(line)
        if isinstance(played, GameRecord):
            with Store(sitting.store, create=True) as store:
                row = store.add(played)
            stop.reporting()
            return 0 if _tell(row, sitting.store, as_json) else FAILED
        if played is None:
            kept = f"{file} is as it was" if sitting.past else "there is nothing to save"
            remark(f"stopped before both sides had set up: {kept}")
            return INTERRUPTED
        held, pondering, seed = sitting.held, sitting.pondering, sitting.seed
        save_game(
            saved_game(sitting.spec, played, sitting.bots, sitting.store, held=held, pondering=pondering, seed=seed),
            file,
        )
        stop.reporting()
        go_on = shell_line(this_command(), "resume", str(file))
        remark(f"paused after {len(played.actions)} plies; go on with: {go_on}")
        return INTERRUPTED if stop.wish else 0


def _tell(row: GameRow, store: Path, as_json: bool) -> bool:
    """Print the result of the game. Returns whether that could be done."""
    try:
        result(games_document([row]) if as_json else f"{game_line(row)}\n{row.detail}")
        flush_results()
    except OutputError as error:
        error.tell(f"; the game is stored in {store}")
        return False
    remark(f"store: {store}")
    return True


async def _play_unchanged(
    sitting: _Sitting, pause: Interrupt, stop: StopRequests, versions: Versions
) -> GameRecord | History | None:
    """Play as `_play_until_stopped` does. Raises `ArenaError` if a bot has changed by the end."""
    played = await _play_until_stopped(sitting, pause, stop)
    if played is not None and not await versions.are_unchanged(sitting.bots):
        raise ArenaError(
            "\n".join([*versions.errors(), "what was played does not count: it is neither stored nor saved"])
        )
    return played


async def _play_until_stopped(sitting: _Sitting, pause: Interrupt, stop: StopRequests) -> GameRecord | History | None:
    """Play the game to its end, or until a signal interrupts it."""

    async def heed() -> None:
        await stop.wait_beyond(Wish.GO_ON)
        pause.request()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(heed)
        played = await _play_fairly(sitting, pause)
        nursery.cancel_scope.cancel()
    return played


async def _play_fairly(sitting: _Sitting, pause: Interrupt) -> GameRecord | History | None:
    """Play, and go on from before a turn in which the arena was stopped so that it cannot be judged.

    If that happens again and again, the game is interrupted there. Raises `SandboxError` if a bot did not start because
    its sandbox does not work any more.
    """
    options = GameOptions(sitting.held.start, sitting.pondering)
    past = sitting.past
    for _ in range(MOST_TRIES):
        try:
            played = await play_on(sitting.spec, sitting.bots, past, pause, options)
        except ArenaStoppedError as error:
            past = error.past or past
            done = len(past.actions) if past else 0
            remark(f"going on after {done} plies: {error.why}")
        else:
            if isinstance(played, GameRecord) and played.verdict.reason is Reason.NO_START:
                await sitting.held.try_out(sitting.bots)  # what a sandbox cannot do is no bot's loss
            was_played = played is not None or past is sitting.past
            return played if was_played else past  # interrupted before the bots had started again
    return past
