"""Submissions of a competition, the stages that each goes through, and what each waits for.

    received -> unpacked -> built -> checked -> probation -> ladder

A submission leaves this row as failed, parked (after forfeits), withdrawn, replaced (by a newer version of the same
bot) or disqualified. The name of a bot belongs to the first team that submits it.
"""

import enum
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from arena.bots.names import expected_name, name_fault
from arena.host.accounts import DAY, MACHINE, Actor, ChangeRefusedError, get_team, is_member, require_host
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.webhooks import Event, announce
from arena.system.printable import counted, printable

RECEIVED, BOTS = "received", "bots"
LONGEST_SENT_AS = 200
LONGEST_REASON = 500


class SubmissionState(enum.Enum):
    RECEIVED = "received"
    UNPACKED = "unpacked"
    BUILT = "built"
    CHECKED = "checked"
    PROBATION = "probation"
    LADDER = "ladder"
    FAILED = "failed"
    PARKED = "parked"
    WITHDRAWN = "withdrawn"
    REPLACED = "replaced"
    DISQUALIFIED = "disqualified"


IN_PIPELINE = (SubmissionState.RECEIVED, SubmissionState.UNPACKED, SubmissionState.BUILT, SubmissionState.CHECKED)
PLAYING = (SubmissionState.PROBATION, SubmissionState.LADDER)
KEPT = (*IN_PIPELINE, *PLAYING, SubmissionState.PARKED, SubmissionState.DISQUALIFIED)
"""The states in which the files of a submission are kept, and may not be submitted again."""


class StageName(enum.Enum):
    UNPACK = "unpack"
    BUILD = "build"
    CHECK = "check"
    TRIAL = "trial"


AFTER = {
    StageName.UNPACK: SubmissionState.UNPACKED,
    StageName.BUILD: SubmissionState.BUILT,
    StageName.CHECK: SubmissionState.CHECKED,
    StageName.TRIAL: SubmissionState.PROBATION,
}
"""The stages in their order, and the state of a submission after each."""
NEXT = dict(zip(IN_PIPELINE, StageName, strict=True))


class StageState(enum.Enum):
    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"


class Submission(msgspec.Struct, frozen=True):
    """A version of a team's bot. `digest` is that of its files as they came, `player` that of the bot in the ladder.

    `sent_as` is the name of the file, `forfeits` are those in a row, `changed` is the time of the last change of state.
    """

    id: int
    team: int
    account: int
    bot: str
    digest: str
    bytes: int
    sent_as: str
    received: float
    changed: float
    state: SubmissionState
    reason: str
    forfeits: int
    games: int
    player: str

    @property
    def label(self) -> str:
        return f"#{self.id} ({self.bot})"


class Stage(msgspec.Struct, frozen=True):
    """A stage of a submission. `text` says in a line how it went, the `log` is for its team alone."""

    submission: int
    name: StageName
    state: StageState
    begun: float
    ended: float | None
    attempts: int
    text: str
    log: str


class TeamQuota(msgspec.Struct, frozen=True):
    """The quota of a team, its submissions of 24 hours, and its bots in the ladder or on their way."""

    a_day: int
    active: int
    sent: int
    bots: tuple[str, ...]


def received_file(folder: Path, number: int) -> Path:
    return folder / RECEIVED / str(number)


def bot_folder(folder: Path, number: int) -> Path:
    return folder / BOTS / str(number)


def mover(folder: Path, file: Path) -> Callable[[int], None]:
    """Return a function for `receive` that moves an uploaded file."""

    def move(number: int) -> None:
        path = received_file(folder, number)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        file.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    return move


def get_submission(database: CupDatabase, number: int) -> Submission:
    found = database.row(Submission, "select * from submission where id = ?", number)
    if found is None:
        raise ChangeRefusedError(f"there is no submission {number}")
    return found


def submissions_of(database: CupDatabase, team: int, limit: int = 100) -> list[Submission]:
    """Return the submissions of a team, the last one first."""
    return database.rows(Submission, "select * from submission where team = ? order by id desc limit ?", team, limit)


def in_states(
    database: CupDatabase, states: Sequence[SubmissionState], more: str = "", *values: object
) -> list[Submission]:
    """Return the submissions in these states, the first one first; `more` is a further condition."""
    marks = ", ".join("?" * len(states))
    sql = f"select * from submission where state in ({marks}) {more} order by id"
    return database.rows(Submission, sql, *(state.value for state in states), *values)


def queue(database: CupDatabase) -> list[Submission]:
    """Return the submissions that wait for their stages or are in one, in the order in which they are taken."""
    return in_states(database, IN_PIPELINE)


def playing(database: CupDatabase) -> list[Submission]:
    return in_states(database, PLAYING)


def stages_of(database: CupDatabase, number: int) -> list[Stage]:
    return database.rows(Stage, "select * from stage where submission = ? order by begun", number)


def quota_of(database: CupDatabase, cup: Cup, team: int) -> TeamQuota:
    """Return the quota of a team: its own where the host has set one."""
    own = {name: database.value(f"select {name} from quota where team = ?", team) for name in ("a_day", "active")}
    since = time.time() - DAY
    sent = database.value("select count(*) from submission where team = ? and received > ?", team, since)
    bots = {one.bot for one in in_states(database, (*IN_PIPELINE, *PLAYING), "and team = ?", team)}
    usual = cup.submissions
    return TeamQuota(
        usual.a_day if own["a_day"] is None else own["a_day"],
        usual.active if own["active"] is None else own["active"],
        sent,
        tuple(sorted(bots)),
    )


def set_quota(database: CupDatabase, actor: Actor, team: int, *, a_day: int | None, active: int | None) -> None:
    """Set the quota of a team; None: as the settings say."""
    with database.change():
        require_host(database, actor)
        get_team(database, team)
        for name, value in (("a_day", a_day), ("active", active)):
            if value is not None and not 0 <= value <= 1_000_000:
                raise ChangeRefusedError(f"{name}: expected a number from 0 to 1000000, got {value}")
        database.run("insert or replace into quota(team, a_day, active) values(?, ?, ?)", team, a_day, active)
        details = {"team": team, "a_day": a_day, "active": active}
        database.note("set a quota", details, actor.account, actor.address)


def check_bot_name(database: CupDatabase, team: int, bot: str) -> None:
    if fault := name_fault(bot):
        raise ChangeRefusedError(f"bot: {expected_name(bot, fault)}")
    sql = "select distinct bot from submission where team <> ? and state <> ?"
    others = database.column(sql, team, SubmissionState.FAILED.value)
    if bot.casefold() in {other.casefold() for other in others}:
        raise ChangeRefusedError(f"bot: expected a name that is free, and another team has {printable(bot)}")


def check_receivable(database: CupDatabase, cup: Cup, actor: Actor, team: int, bot: str, *, size: int) -> None:
    """Raise `ChangeRefusedError` if a team may not submit this bot now."""
    get_team(database, team)
    if not is_member(database, actor, team):
        require_host(database, actor)
    check_bot_name(database, team, bot)
    quota = quota_of(database, cup, team)
    if size == 0:
        raise ChangeRefusedError("expected a file with a bot, got an empty one")
    if size > cup.submissions.most_mib << 20:
        raise ChangeRefusedError(f"expected at most {cup.submissions.most_mib} MiB, got {size / (1 << 20):.1f} MiB")
    if quota.sent >= quota.a_day:
        hours = "wait until one of them is 24 hours old" if quota.a_day else "ask the host of the competition"
        raise ChangeRefusedError(
            f"expected at most {counted(quota.a_day, 'submission')} of a team in 24 hours, and yours has sent "
            f"{quota.sent}: {hours}"
        )
    if bot not in quota.bots and len(quota.bots) >= quota.active:
        has = (
            f"and yours has {', '.join(quota.bots)}: withdraw one" if quota.bots else "ask the host of the competition"
        )
        raise ChangeRefusedError(f"expected at most {counted(quota.active, 'bot')} of a team at once, {has}")


def receive(
    database: CupDatabase,
    cup: Cup,
    actor: Actor,
    team: int,
    bot: str,
    *,
    size: int,
    sent_as: str,
    move: Callable[[int], None],
) -> Submission:
    """Make a submission. `move` puts its file to `received_file`, in the same transaction."""
    with database.change():
        check_receivable(database, cup, actor, team, bot, size=size)
        now = time.time()
        number = database.insert(
            "submission",
            team=team,
            account=actor.account,
            bot=bot,
            bytes=size,
            sent_as=printable(sent_as, LONGEST_SENT_AS),
            received=now,
            changed=now,
            state=SubmissionState.RECEIVED.value,
        )
        database.note("submitted", {"submission": number, "bot": bot, "bytes": size}, actor.account, actor.address)
        move(number)
    return get_submission(database, number)


def begin_stage(database: CupDatabase, number: int, name: StageName) -> Stage:
    """Write that a stage begins, for the first time or again."""
    with database.change():
        database.run(
            "insert into stage(submission, name, state, begun, attempts) values(?, ?, ?, ?, 1) on conflict do update "
            "set state = excluded.state, begun = excluded.begun, ended = null, attempts = attempts + 1",
            *(number, name.value, StageState.BEGUN.value, time.time()),
        )
    return stage_of(database, number, name)


def stage_of(database: CupDatabase, number: int, name: StageName) -> Stage:
    (found,) = database.rows(Stage, "select * from stage where submission = ? and name = ?", number, name.value)
    return found


def end_attempt(database: CupDatabase, number: int, name: StageName, text: str, *, is_counted: bool) -> None:
    """Write why an attempt did not finish a stage. It does not count if the machine or its host was the reason."""
    with database.change():
        database.run("update stage set text = ? where submission = ? and name = ?", text, number, name.value)
        if not is_counted:
            database.run(
                "update stage set attempts = attempts - 1 where submission = ? and name = ?", number, name.value
            )


def end_stage(
    database: CupDatabase, cup: Cup, number: int, name: StageName, *, fault: str, text: str, log: str, digest: str = ""
) -> Submission:
    """Write how a stage ended, and what becomes of its submission: with a `fault` it has failed."""
    with database.change():
        now, state = time.time(), StageState.FAILED if fault else StageState.DONE
        database.run(
            "update stage set state = ?, ended = ?, text = ?, log = ? where submission = ? and name = ?",
            *(state.value, now, (fault or text)[:LONGEST_REASON], log, number, name.value),
        )
        submission = get_submission(database, number)
        if submission.state not in IN_PIPELINE:  # it has been withdrawn meanwhile
            return submission
        if digest:
            fault = fault or _already_submitted(database, submission, digest)
            database.run("update submission set digest = ? where id = ?", digest, number)
        if fault:
            _set_state(database, number, SubmissionState.FAILED, fault)
            text = f"{submission.label}: {name.value} failed"
            _announce_end(database, cup, number, text)
        else:
            _set_state(database, number, AFTER[name])
            if AFTER[name] in PLAYING:
                _replace_older(database, submission)
                _announce_end(database, cup, number, f"{submission.label} is in the ladder, on probation")
    return get_submission(database, number)


def _announce_end(database: CupDatabase, cup: Cup, number: int, text: str) -> None:
    one = get_submission(database, number)
    details = {
        "submission": number,
        "bot": one.bot,
        "team": get_team(database, one.team).name,
        "state": one.state.value,
    }
    announce(database, cup, Event.SUBMISSION, text, **details)


def _already_submitted(database: CupDatabase, submission: Submission, digest: str) -> str:
    same = "and team = ? and bot = ? and digest = ? and id <> ?"
    found = in_states(database, KEPT, same, submission.team, submission.bot, digest, submission.id)
    if not found:
        return ""
    return f"already submitted as {found[0].label}, which is {found[0].state.value}: its files are the same"


def _replace_older(database: CupDatabase, submission: Submission) -> None:
    same = "and team = ? and bot = ? and id < ?"
    older = (*IN_PIPELINE, *PLAYING, SubmissionState.PARKED)
    for old in in_states(database, older, same, submission.team, submission.bot, submission.id):
        _set_state(database, old.id, SubmissionState.REPLACED, f"a newer version is {submission.label}")


def _set_state(database: CupDatabase, number: int, state: SubmissionState, reason: str = "") -> None:
    sql = "update submission set state = ?, reason = ?, changed = ?, forfeits = 0 where id = ?"
    database.run(sql, state.value, printable(reason, LONGEST_REASON, lines=True), time.time(), number)


def record_game(database: CupDatabase, cup: Cup, number: int, forfeit: str = "") -> Submission:
    """Count a game of a submission, within a transaction; `forfeit` says which game was lost by a fault, and how.

    A bot leaves probation after its games, and is parked after its forfeits in a row.
    """
    sql = "update submission set games = games + 1, forfeits = case when ? then forfeits + 1 else 0 end where id = ?"
    database.run(sql, bool(forfeit), number)
    submission = get_submission(database, number)
    if submission.state not in PLAYING:
        return submission
    if forfeit and submission.forfeits >= cup.play.park_after:
        games = counted(submission.forfeits, "game in a row", "games in a row")
        park(database, cup, number, f"it has forfeited {games}, the last one {forfeit}")
    elif submission.state is SubmissionState.PROBATION and submission.games >= cup.play.probation:
        sql = "update submission set state = ?, changed = ? where id = ?"  # forfeits go on
        database.run(sql, SubmissionState.LADDER.value, time.time(), number)
    return get_submission(database, number)


def park(database: CupDatabase, cup: Cup, number: int, reason: str) -> None:
    """Take a bot out of the ladder until its team mends it, within a transaction."""
    submission = get_submission(database, number)
    _set_state(database, number, SubmissionState.PARKED, reason)
    database.note("parked", {"submission": number, "reason": reason}, MACHINE.account, MACHINE.address)
    team = get_team(database, submission.team).name
    announce(
        database,
        cup,
        Event.PARKED,
        f"{submission.label} of {team} is parked: {reason}",
        submission=number,
        bot=submission.bot,
        team=team,
    )


def _of_actor(database: CupDatabase, actor: Actor, number: int) -> Submission:
    """Return a submission that is the actor's team's, or any one for a host. Raises `ChangeRefusedError`."""
    submission = get_submission(database, number)
    if not is_member(database, actor, submission.team):
        require_host(database, actor)
    return submission


def unpark(database: CupDatabase, cup: Cup, actor: Actor, number: int) -> Submission:
    """Return a parked bot to the ladder, on probation; a host may do this for a disqualified one as well."""
    with database.change():
        submission = _of_actor(database, actor, number)
        if submission.state is SubmissionState.DISQUALIFIED:
            require_host(database, actor)
        elif submission.state is not SubmissionState.PARKED:
            raise ChangeRefusedError(f"{submission.label} is {submission.state.value}: expected one that is parked")
        same = "and team = ? and bot = ? and id > ?"
        if newer := in_states(database, PLAYING, same, submission.team, submission.bot, number):
            raise ChangeRefusedError(f"{submission.label} has a newer version, {newer[0].label}, in the ladder")
        quota = quota_of(database, cup, submission.team)
        if submission.bot not in quota.bots and len(quota.bots) >= quota.active:
            raise ChangeRefusedError(
                f"expected at most {counted(quota.active, 'bot')} of a team at once, and there are "
                f"{', '.join(quota.bots)}: withdraw one"
            )
        _set_state(database, number, SubmissionState.PROBATION)
        database.note("unparked", {"submission": number}, actor.account, actor.address)
    return get_submission(database, number)


def withdraw(database: CupDatabase, actor: Actor, number: int) -> Submission:
    with database.change():
        submission = _of_actor(database, actor, number)
        if submission.state not in (*IN_PIPELINE, *PLAYING, SubmissionState.PARKED):
            raise ChangeRefusedError(
                f"{submission.label} is {submission.state.value} already: there is nothing to withdraw"
            )
        _set_state(database, number, SubmissionState.WITHDRAWN, "its team has withdrawn it")
        database.note("withdrew", {"submission": number}, actor.account, actor.address)
    return get_submission(database, number)


def disqualify(database: CupDatabase, actor: Actor, number: int, reason: str) -> Submission:
    with database.change():
        require_host(database, actor)
        submission = get_submission(database, number)
        if not reason.strip():
            raise ChangeRefusedError("reason: expected some words for the team, got none")
        if submission.state not in KEPT:
            raise ChangeRefusedError(f"{submission.label} is {submission.state.value}, and plays no games")
        _set_state(database, number, SubmissionState.DISQUALIFIED, reason)
        details = {"submission": number, "reason": reason}
        database.note("disqualified", details, actor.account, actor.address)
    return get_submission(database, number)


SEASON_WORDS = {
    "frozen": "The season is frozen, so it plays challenges only.",
    "final": "The final of the season is being played.",
    "finished": "The season is finished: it plays again in the next one.",
}


def why_waiting(database: CupDatabase, cup: Cup, submission: Submission, trouble: str = "") -> str:
    """Return in words what a submission waits for, and what its team can do. `trouble` is what stops the queue."""
    reason = submission.reason.rstrip(".")
    match submission.state:
        case SubmissionState.FAILED:
            return f"It has failed: {reason}. Mend it and submit it again."
        case SubmissionState.PARKED:
            return f"It is parked, and plays no games: {reason}. Mend it and submit it again, or unpark it."
        case SubmissionState.DISQUALIFIED:
            return f"The host has disqualified it: {reason}. Ask the host about it."
        case SubmissionState.WITHDRAWN | SubmissionState.REPLACED:
            return f"It plays no games: {reason}."
        case SubmissionState.PROBATION | SubmissionState.LADDER:
            season = database.value("select state from season order by number desc limit 1")
            return f"{_of_playing(cup, submission)} {SEASON_WORDS.get(season, '')}".strip()
        case _:
            return _of_queue(database, submission, trouble)


def _of_playing(cup: Cup, submission: Submission) -> str:
    games = counted(submission.games, "game")
    if submission.state is SubmissionState.LADDER:
        return f"It is in the ladder, with {games} played."
    if not submission.games:
        return "It is on probation, and waits for its first game: it joins with the next round of games."
    return f"It is on probation, with {games} of {cup.play.probation} played."


def _of_queue(database: CupDatabase, submission: Submission, trouble: str) -> str:
    stages = {stage.name: stage for stage in stages_of(database, submission.id)}
    name = NEXT[submission.state]
    number = f"Stage {list(StageName).index(name) + 1} of {len(StageName)} ({name.value})"
    stage = stages.get(name)
    if trouble:
        return f"{number} waits until the host has mended the server: {trouble.rstrip('.')}. You need not do anything."
    if stage is not None and stage.state is StageState.BEGUN:
        again = f" for the {stage.attempts}. time" if stage.attempts > 1 else ""
        seconds = counted(max(0, int(time.time() - stage.begun)), "second")
        return f"{number} is running{again}, since {seconds}."
    before = [one for one in queue(database) if one.id < submission.id]
    if not before:
        return f"{number} is the next to run."
    now = next((one for one in stages_of(database, before[0].id) if one.state is StageState.BEGUN), None)
    runs = f"; {now.name.value} of #{before[0].id} is running now" if now else ""
    return f"{number} waits: {counted(len(before), 'submission')} before it{runs}."
