"""One game that can be interrupted and taken up again: `arena match --pause FILE` and `arena resume FILE`."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import trio

from arena.bots import BotSpec, find_bots
from arena.cli.entrants import built
from arena.cli.options import PlayOptions
from arena.cli.play import INTERRUPTED, STOP_SIGNALS, confinement_of, default_store, level_of, settings_of
from arena.confine.custody import claim_all_orphans
from arena.confine.levels import Confinement
from arena.league.changes import note_versions
from arena.league.resume import agree
from arena.league.schedule import schedule
from arena.match import MOST_TRIES, ArenaStoppedError, Conditions, Pause, play_on
from arena.model import GameRecord, GameSpec, Past, UsageError
from arena.pause import load_paused, paused_game, refuse_to_overwrite, save_paused
from arena.printable import printable
from arena.report.document import games_document
from arena.report.text import game_line
from arena.store import Store


@dataclass(frozen=True)
class _Sitting:
    """One sitting at a game: from its beginning, or from its past; `store` is where the result belongs."""

    spec: GameSpec
    bots: tuple[BotSpec, BotSpec]
    past: Past | None
    store: Path
    held: Confinement
    pondering: bool
    seed: int | None


def begin(paths: Sequence[str], options: PlayOptions, file: Path, pause_after: int | None) -> int:
    """Play the first game of a match so that it can be interrupted. Returns the exit code."""
    refuse_to_overwrite(file)
    level = level_of(options.sandbox)
    bots = built(find_bots(paths), level, options)
    if len(bots) != 2:
        raise UsageError(f"expected two bots, got {len(bots)}: hidden files are passed over")
    faults = [bot.fault for bot in bots if bot.fault is not None]
    if faults:
        raise UsageError("\n".join(faults))
    _refuse_unsaveable(bots)
    settings = settings_of(options, bots)
    (spec, _) = schedule(settings, [bot.player for bot in bots], 1)
    red, blue = bots
    path = options.store or Path(default_store("match", bots, settings))
    with Store(path, create=True) as store:
        store.agree(settings.described([bot.name for bot in bots]))
        for line in note_versions(store, bots):
            click.echo(line, err=True)
        store.set_entrants((red.player, blue.player))
        if _is_stored(spec.id, store):
            return 0
    with confinement_of(level, bots, settings, options.interpreters) as held:
        trio.run(held.try_out)
        sitting = _Sitting(spec, (red, blue), None, path, held, settings.pondering, settings.seed)
        return _play(sitting, file, pause_after, options.as_json)


def _is_stored(game_id: str, store: Store) -> bool:
    """Whether a game has been played already; if so, says it."""
    if game_id not in store.ids():
        return False
    number, _ = store.record(game_id)
    click.echo(f"this game is stored already, as game {number} of {store.path}", err=True)
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


def resume(file: Path, pause_after: int | None) -> int:
    """Go on with a saved game. Returns the exit code."""
    paused = load_paused(file)
    bots = paused.load_bots()
    level = level_of(paused.sandbox)
    with Store(Path(paused.store), create=True) as store:
        agree(paused, store)
        if _is_stored(paused.id, store):
            return 0
    limits = {bot.name: limits for bot, limits in zip(bots, paused.limits, strict=True)}
    with Confinement(level, bots, paused.limits[0], limits, paused.interpreters) as held:
        trio.run(held.try_out)
        sitting = _Sitting(paused.spec(), bots, paused.past, Path(paused.store), held, paused.pondering, paused.seed)
        return _play(sitting, file, pause_after, as_json=False)


def _play(sitting: _Sitting, file: Path, pause_after: int | None, as_json: bool) -> int:
    claim_all_orphans()
    red, blue = (bot.name for bot in sitting.bots)
    done = len(sitting.past.actions) if sitting.past else 0
    going_on = f", going on after {done} plies" if done else ""
    click.echo(f"{red} (red) - {blue} (blue){going_on}; Ctrl-C saves the game in {file}", err=True)
    pause = Pause(pause_after)
    result, stopped = trio.run(_play_until_stopped, sitting, pause)
    if isinstance(result, GameRecord):
        with Store(sitting.store, create=True) as store:
            row = store.add(result)
        click.echo(games_document([row]) if as_json else f"{game_line(row)}\n{row.detail}")
        click.echo(f"store: {sitting.store}", err=True)
        return 0
    if result is None:
        kept = f"{file} is as it was" if sitting.past else "there is nothing to save"
        click.echo(f"stopped before both sides had set up: {kept}", err=True)
        return INTERRUPTED
    held, pondering, seed = sitting.held, sitting.pondering, sitting.seed
    save_paused(
        paused_game(sitting.spec, result, sitting.bots, sitting.store, held=held, pondering=pondering, seed=seed), file
    )
    click.echo(f"paused after {len(result.actions)} plies; go on with: arena resume {shlex.quote(str(file))}", err=True)
    return INTERRUPTED if stopped else 0


async def _play_until_stopped(sitting: _Sitting, pause: Pause) -> tuple[GameRecord | Past | None, bool]:
    """The result of the game, and whether a signal interrupted it."""
    stopped = False

    async def listen() -> None:
        nonlocal stopped
        async for _ in signals:
            stopped = True
            pause.request()

    with trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
            result = await _play_fairly(sitting, pause)
            nursery.cancel_scope.cancel()
    return result, stopped


async def _play_fairly(sitting: _Sitting, pause: Pause) -> GameRecord | Past | None:
    """Play, and go on from before a turn in which the arena was stopped so that it cannot be judged.

    If that happens again and again, the game is interrupted there.
    """
    conditions = Conditions(sitting.held.start, sitting.pondering)
    past = sitting.past
    for _ in range(MOST_TRIES):
        try:
            return await play_on(sitting.spec, sitting.bots, past, pause, conditions)
        except ArenaStoppedError as error:
            past = error.past or past
            done = len(past.actions) if past else 0
            click.echo(f"going on after {done} plies: {error.why}", err=True)
    return past
