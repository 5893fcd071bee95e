"""The child process that does one stage of a submission: the only one that reads a bot's files, and starts the bot.

It reads a `Job` as JSON from standard input, and writes a `StageResult` to standard output.
"""

import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import trio

from arena.bots.asked import AskedBot
from arena.bots.finding import find_entrants
from arena.bots.samples import sample_file
from arena.check.service import CheckOptions, check_bot
from arena.check.situations import Checked, Extent, Mark
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.host.cup_settings import Playing, Submissions
from arena.host.submissions import TEMPORARY, StageName, StageResult, Submission, bot_folder, received_file
from arena.host.unpack import remove, unpack
from arena.league.executor.child_process import own_output, until_dead
from arena.league.league import open_league
from arena.league.league_options import Kind, variant_of
from arena.league.plan import LeagueEntry, prepared
from arena.league.play_missing import Watcher
from arena.league.stop import StopRequest, Wish
from arena.league.store import GameRow
from arena.processes.folders import BotFolders
from arena.report.checklist import check_text
from arena.sandbox.launch import HostError, SandboxError
from arena.sandbox.levels import choose
from arena.system.printable import counted, printable

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
    """A stage and what it needs; `cup` is the competition's folder. The child dies with the process `parent`."""

    stage: StageName
    cup: str
    submission: Submission
    limits: Submissions
    play: Playing
    is_again: bool
    parent: int

    @property
    def folder(self) -> str:
        return str(bot_folder(Path(self.cup), self.submission.id))


class StageLog(Watcher):
    """The lines of a stage for the author. It watches the games of a trial."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.games = 0

    def remark(self, text: str) -> None:
        self.lines.append(text.rstrip())

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self.games += 1
        red, blue = (player.name for player in record.players)
        self.remark(f"game {self.games}: {red} - {blue}: {record.verdict.detail}, {record.verdict.plies} plies")


def _unpack_anew(job: Job) -> None:
    folder = Path(job.folder)
    remove(folder)
    with open(received_file(Path(job.cup), job.submission.id), "rb") as source:
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (UNPACK_MEMORY, limits[1]))
        try:
            unpack(source, folder, Path(job.submission.sent_as).name or job.submission.bot, job.limits)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)


def _unpack(job: Job, log: StageLog) -> StageResult:
    _unpack_anew(job)
    files = sum(path.is_file() for path in Path(job.folder).rglob("*"))
    found = find_entrants([job.folder])
    if len(found.bots) != 1:
        raise UsageError(f"expected one bot in the archive (a folder with a bot.toml), got {len(found.bots)}")
    (bot,) = found.sound()
    return StageResult(f"{counted(files, 'file')}, digest {bot.digest[:12]}", digest=bot.digest)


def _build(job: Job, log: StageLog) -> StageResult:
    if job.is_again:  # an unfinished build may have left files
        _unpack_anew(job)
    options = replace(job.play.options(Path()), build_disk=f"{job.limits.build_mib}M")
    with BotFolders() as folders:
        _, bot = prepared(job.folder, options, folders, log.remark, trio.run)
    if bot.fault is not None:
        raise UsageError(bot.fault)
    return StageResult("built" if bot.build else "it has no build")


def _check(job: Job, log: StageLog) -> StageResult:
    """Check the bot. If that fails it is done again, as a busy machine must not refuse a bot."""
    options = replace(job.play.options(Path()), built=True)
    asked = CheckOptions(options, (job.play.rules,), Extent.QUICK)
    for _ in range(CHECKS):
        checked = replace(check_bot(job.folder, asked, log.remark, lambda *_: None, trio.run), name=job.submission.bot)
        log.remark(check_text(checked, is_verbose=True))
        if checked.is_accepted:
            return StageResult("ready")
    return StageResult(fault=_fault_of(checked))


def _fault_of(checked: Checked) -> str:
    for outcome in checked.outcomes:
        if outcome.mark is Mark.FAILED and outcome.failure is not None:
            hint = f" ({outcome.failure.hint})" if outcome.failure.hint else ""
            return f"it does not pass {outcome.situation.title!r}: {outcome.failure.words}{hint}"
    return "it is not ready; the log says what is missing"


def _trial(job: Job, log: StageLog) -> StageResult:
    mine = AskedBot(job.folder, job.submission.bot)
    other = replace(mine, name=MIRROR)
    with tempfile.TemporaryDirectory(prefix="arena-trial-") as folder:
        options = replace(job.play.options(Path(folder, "trial.sqlite")), built=True, jobs=1)
        if variant_of(options).kind.name == STRATEGO:
            other = AskedBot(str(sample_file(TRIAL_OPPONENT)))
        options = replace(options, asked=(mine, other))
        entry = LeagueEntry([mine.path, other.path], Kind.MATCH, 1, TRIAL_GAMES, archive=False)
        with open_league(entry, options, log.remark, trio.run) as league:
            name, stop = league.plan.bots[0].name, StopRequest()
            timer = threading.Timer(TRIAL_SECONDS, stop.ask, (Wish.STOP_NOW,))
            timer.daemon = True
            timer.start()
            outcome = league.play(stop, log)
            timer.cancel()
    if outcome.error is not None:
        raise outcome.error
    for forfeits in outcome.forfeits:
        log.remark(forfeits.text)
        log.remark(forfeits.stderr)
        if forfeits.name == name or other.path == mine.path:
            return StageResult(fault=f"it forfeits games: {forfeits.text}")
    if outcome.changed:
        return StageResult(fault=f"it changes its own files: {outcome.changed[0]}")
    if not outcome.is_complete:
        log.remark(f"The trial was ended after {TRIAL_SECONDS:g} s, without a fault.")
    return StageResult(f"{counted(log.games, 'game')} played without a forfeit")


STAGES: dict[StageName, Callable[[Job, StageLog], StageResult]] = {
    StageName.UNPACK: _unpack,
    StageName.BUILD: _build,
    StageName.CHECK: _check,
    StageName.TRIAL: _trial,
}


def _check_machine(job: Job) -> None:
    try:
        choose(job.play.sandbox)
    except UsageError as error:
        raise HostError(str(error), "") from None
    if job.stage is not StageName.UNPACK:
        os.stat(job.folder)


def do(job: Job) -> StageResult:
    """Do a stage. Errors of the bot are faults, errors of the machine are troubles."""
    log = StageLog()
    try:
        _check_machine(job)
        result = STAGES[job.stage](job, log)
        os.sync()  # the database must not say of files that they are there, and they are gone after a loss of power
    except SandboxError as error:
        result = StageResult(trouble=str(error))
    except UsageError as error:
        result = StageResult(fault=str(error))
    except ArenaError as error:
        result = StageResult(trouble=str(error))
    except OSError as error:
        result = StageResult(trouble=f"this machine cannot continue: {error.strerror}")
    if result.fault:
        log.remark(result.fault)

    def shown(text: str, most: int) -> str:
        for path, name in ((job.folder, job.submission.bot), (str(Path(job.cup, TEMPORARY)), "/tmp")):
            text = text.replace(path, name)
        return printable(text, lines=True)[:most]

    fault, trouble = (shown(text.partition("\n")[0], LONGEST_TEXT) for text in (result.fault, result.trouble))
    return msgspec.structs.replace(result, fault=fault, trouble=trouble, log=shown("\n".join(log.lines), LONGEST_LOG))


async def _die_with(parent: int) -> None:
    await until_dead(parent, lambda: os.getppid() == parent)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    threading.Thread(target=trio.run, args=(_die_with, job.parent), daemon=True).start()
    with own_output() as file:
        file.write(msgspec.json.encode(do(job)))
