"""The child process that does one stage of a submission: the only one that reads a bot's files, and starts the bot.

It reads a `Job` as a line of JSON from standard input, and writes a `JobAnswer` to standard output. It stops, with all
that it has started, at SIGTERM and when standard input ends: then its parent is dead.
"""

import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import msgspec
import trio

from arena.bots.asked import AskedBot
from arena.bots.finding import find_entrants
from arena.bots.folders import BotFolders
from arena.bots.samples import sample_file
from arena.bots.spec import BotSpec
from arena.check.service import CheckOptions, check_bot, prepared
from arena.check.situations import Checked, Extent, Mark
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.host.cup_settings import Playing
from arena.host.submissions import StageName
from arena.host.unpack import UnpackError, UnpackLimits, remove, unpack
from arena.league.league import open_league
from arena.league.league_options import Kind, variant_of
from arena.league.plan import LeagueEntry
from arena.league.stop import StopRequest, Wish
from arena.league.store import GameRow
from arena.report.checklist import check_text
from arena.sandbox.launch import HostError, SandboxError
from arena.sandbox.levels import choose
from arena.system.printable import counted, printable

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LONGEST_LOG = 64 * 1024
LONGEST_TEXT = 500
UNPACK_MEMORY = 2 << 30
"""Bytes of address space of the process that unpacks, which also has the arena and its libraries."""
TRIAL_GAMES = 2
TRIAL_OPPONENT = "drifter"
TRIAL_SECONDS = 600.0
"""Seconds after which the trial ends; games that take longer without a fault are no reason to refuse a bot."""
STRATEGO = "stratego"
MIRROR = "mirror"
"""The name of the bot's own copy, its opponent in a game without sample bots."""
CHECKS = 2


class Job(msgspec.Struct, frozen=True):
    """A stage and what it needs. `folder` is the bot's, `file` what was sent, as `sent_as`; `bot` is the name."""

    stage: StageName
    folder: str
    file: str
    sent_as: str
    bot: str
    most_files: int
    most_bytes: int
    play: Playing
    is_again: bool = False
    """Whether the stage had begun before."""


class JobAnswer(msgspec.Struct, frozen=True):
    """How a stage ended: with a `fault` of the bot, a `trouble` of the machine, or well. `digest` is of the files."""

    text: str = ""
    fault: str = ""
    trouble: str = ""
    log: str = ""
    digest: str = ""


class Log:
    """The lines of a stage for the author, up to a length."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str) -> None:
        if len(self.text) < LONGEST_LOG:
            self.text = printable(f"{self.text}{text.rstrip()}\n"[:LONGEST_LOG], lines=True)


class _Stopped(BaseException):
    """The process has been asked to stop."""


def run_stoppable(function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T:
    """Run an async function as `trio.run` does; SIGTERM cancels it, so that all that it has started ends."""

    async def watched() -> T:
        result: list[T] = []
        with trio.open_signal_receiver(signal.SIGTERM) as signals:
            async with trio.open_nursery() as nursery:

                async def stop() -> None:
                    async for _ in signals:
                        nursery.cancel_scope.cancel()

                nursery.start_soon(stop)
                result.append(await function(*arguments))
                nursery.cancel_scope.cancel()
        if not result:
            raise _Stopped
        return result[0]

    try:
        return trio.run(watched)
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        raise error from None


def _unpack_anew(job: Job) -> None:
    folder = Path(job.folder)
    remove(folder)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (UNPACK_MEMORY, limits[1]))
    with open(job.file, "rb") as source:
        unpack(source, folder, Path(job.sent_as).name or job.bot, UnpackLimits(job.most_files, job.most_bytes))
    resource.setrlimit(resource.RLIMIT_AS, limits)


def _unpack(job: Job, log: Log) -> JobAnswer:
    _unpack_anew(job)
    folder = Path(job.folder)
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    log.add(counted(len(files), "file"))
    for file in files[:200]:
        log.add(f"    {file}")
    bot = _bot_at(job)
    return JobAnswer(f"{counted(len(files), 'file')}, digest {bot.digest[:12]}", digest=bot.digest)


def _bot_at(job: Job) -> BotSpec:
    """Return the bot in the folder. Raises `UsageError` if there is none, or if it cannot be started."""
    found = find_entrants([job.folder])
    if len(found.bots) != 1:
        raise UsageError(f"expected one bot in the archive (a folder with a bot.toml), got {len(found.bots)}")
    (bot,) = found.sound()
    return bot


def _build(job: Job, log: Log) -> JobAnswer:
    if job.is_again:  # an unfinished build may have left files
        _unpack_anew(job)
    bot = _bot_at(job)
    with BotFolders() as folders:
        _, built = prepared(job.folder, job.play.options(Path()), folders, log.add, run_stoppable)
    if built.fault is not None:
        raise UsageError(built.fault)
    return JobAnswer("built" if bot.build else "it has no build")


def _check(job: Job, log: Log) -> JobAnswer:
    """Check the bot. If that fails it is done again, as a busy machine must not refuse a bot."""
    options = replace(job.play.options(Path()), built=True)
    asked = CheckOptions(options, (job.play.rules,), Extent.QUICK)
    for attempt in range(CHECKS):
        checked = replace(check_bot(job.folder, asked, log.add, lambda *_: None, run_stoppable), name=job.bot)
        if attempt:
            log.add("The check has been done again:")
        log.add(check_text(checked, is_verbose=True))
        if checked.is_accepted:
            return JobAnswer("ready")
    return JobAnswer(fault=_fault_of(checked))


def _fault_of(checked: Checked) -> str:
    """Return the first failure of a check in a sentence, with what to do."""
    for outcome in checked.outcomes:
        if outcome.mark is Mark.FAILED and outcome.failure is not None:
            hint = f" ({outcome.failure.hint})" if outcome.failure.hint else ""
            return f"it does not pass {outcome.situation.title!r}: {outcome.failure.words}{hint}"
    return "it is not ready; the log says what is missing"


class _TrialWatcher:
    """Writes the trial's games to the log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.games = 0

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self.games += 1
        red, blue = (player.name for player in record.players)
        self._log.add(f"game {self.games}: {red} - {blue}: {record.verdict.detail}, {record.verdict.plies} plies")

    def remark(self, text: str) -> None:
        self._log.add(text)

    def closing(self, under_way: int) -> None:
        pass


def _trial(job: Job, log: Log) -> JobAnswer:
    mine = AskedBot(job.folder, job.bot)
    other = replace(mine, name=MIRROR)
    with tempfile.TemporaryDirectory(prefix="arena-trial-") as folder:
        options = replace(job.play.options(Path(folder, "trial.sqlite")), built=True, jobs=1)
        if variant_of(options).kind.name == STRATEGO:
            other = AskedBot(str(sample_file(TRIAL_OPPONENT)))
        options = replace(options, asked=(mine, other))
        entry = LeagueEntry([mine.path, other.path], Kind.MATCH, 1, TRIAL_GAMES, archive=False)
        with open_league(entry, options, log.add, run_stoppable) as league:
            name, watcher, stop = league.plan.bots[0].name, _TrialWatcher(log), StopRequest()
            timer = threading.Timer(TRIAL_SECONDS, stop.ask, (Wish.STOP_NOW,))
            timer.daemon = True
            timer.start()
            outcome = league.play(stop, watcher)
            timer.cancel()
    if outcome.error is not None:
        raise outcome.error
    for forfeits in outcome.forfeits:
        log.add(forfeits.text)
        log.add(forfeits.stderr)
    for forfeits in outcome.forfeits:
        if forfeits.name == name or other.path == mine.path:
            return JobAnswer(fault=f"it forfeits games: {forfeits.text}")
    if outcome.changed:
        return JobAnswer(fault=f"it changes its own files: {outcome.changed[0]}")
    if not outcome.is_complete:
        log.add(f"The trial was ended after {TRIAL_SECONDS:g} s, without a fault.")
    return JobAnswer(f"{counted(watcher.games, 'game')} played without a forfeit")


STAGES: dict[StageName, Callable[[Job, Log], JobAnswer]] = {
    StageName.UNPACK: _unpack,
    StageName.BUILD: _build,
    StageName.CHECK: _check,
    StageName.TRIAL: _trial,
}


def _check_level(job: Job) -> None:
    """Raise `HostError` if the sandbox does not work any more."""
    try:
        choose(job.play.sandbox)
    except UsageError as error:
        raise HostError(str(error), "") from None


def do(job: Job) -> JobAnswer:
    """Do a stage. Errors of the bot are faults, errors of the machine are troubles."""
    log = Log()
    try:
        _check_level(job)
        answer = STAGES[job.stage](job, log)
        os.sync()  # the database must not say of files that they are there, and they are gone after a loss of power
    except (HostError, SandboxError) as error:
        answer = JobAnswer(trouble=str(error))
    except (UsageError, UnpackError) as error:
        answer = JobAnswer(fault=str(error))
    except ArenaError as error:
        answer = JobAnswer(trouble=str(error))

    def shown(text: str) -> str:
        return printable(text.replace(job.folder, job.bot), lines=True)

    if answer.fault:
        log.add(answer.fault)
    first, *_ = answer.fault.splitlines() or [""]
    return msgspec.structs.replace(
        answer,
        fault=shown(first)[:LONGEST_TEXT],
        trouble=shown(answer.trouble)[:LONGEST_TEXT],
        log=shown(log.text)[:LONGEST_LOG],
    )


def _stop_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    out = os.dup(1)
    os.dup2(2, 1)  # nothing but the answer goes to the parent
    os.set_inheritable(out, False)
    answer = msgspec.json.encode(do(job))
    with open(out, "wb") as file:
        file.write(answer)
        file.flush()
    os._exit(0)  # the thread still reads


if __name__ == "__main__":
    main()
