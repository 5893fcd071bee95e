"""Submissions of a competition, the stages that each goes through, and what each waits for.

    received -> unpacked -> built -> checked -> probation -> ladder

It leaves this row as failed, parked (after forfeits), withdrawn, replaced (by a newer version) or disqualified. A bot
has one version on its way. Its name belongs to the team whose bot is there, or has played under it.
"""

import enum
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from arena.bots.names import expected_name, name_fault
from arena.host.accounts import (
    DAY,
    MACHINE,
    Actor,
    ChangeRefusedError,
    by_number,
    get_team,
    is_member,
    name_key,
    require_host,
)
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.webhooks import WebhookEvent, announce
from arena.system.printable import counted, printable
from arena.system.user_files import sync_folder

RECEIVED, BOTS, TEMPORARY = "received", "bots", "temporary"
"""Folders of a competition: files as they came, unpacked and built bots, and what a stage needs for itself."""
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


class StageName(enum.Enum):
    UNPACK = "unpack"
    BUILD = "build"
    CHECK = "check"
    TRIAL = "trial"


class StageState(enum.Enum):
    BEGUN = "begun"
    WAITS = "waits"
    """The stage will begin again."""
    DONE = "done"
    FAILED = "failed"


def is_in(states: Iterable[SubmissionState]) -> str:
    """Return the condition in SQL for submissions in one of these states."""
    return f"state in ({', '.join(repr(state.value) for state in states)})"


PIPELINE = (
    (SubmissionState.RECEIVED, StageName.UNPACK, SubmissionState.UNPACKED),
    (SubmissionState.UNPACKED, StageName.BUILD, SubmissionState.BUILT),
    (SubmissionState.BUILT, StageName.CHECK, SubmissionState.CHECKED),
    (SubmissionState.CHECKED, StageName.TRIAL, SubmissionState.PROBATION),
)
"""The stages in their order, each between the states of a submission before it and after it."""
STAGE_OF = {before: name for before, name, _ in PIPELINE}
IN_PIPELINE = tuple(STAGE_OF)
PLAYING = (SubmissionState.PROBATION, SubmissionState.LADDER)
IS_PLAYING = is_in(PLAYING)
KEPT = (*IN_PIPELINE, *PLAYING, SubmissionState.PARKED, SubmissionState.DISQUALIFIED)
"""The states in which the files of a submission are kept, and its name is taken."""
ENDED = (SubmissionState.FAILED, SubmissionState.WITHDRAWN, SubmissionState.REPLACED)
MAY_COME_FROM = {
    SubmissionState.PROBATION: (SubmissionState.PARKED, SubmissionState.DISQUALIFIED),
    SubmissionState.WITHDRAWN: (*IN_PIPELINE, *PLAYING, SubmissionState.PARKED),
    SubmissionState.DISQUALIFIED: KEPT,
}
"""The states from which a team or a host can move a submission to another."""


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
    """A stage of a submission. `text` says in a line how it went, the `log` is for its team alone.

    `attempts` counts those whose process died, and the last; `seconds` is the time of all.
    """

    submission: int
    name: StageName
    state: StageState
    begun: float
    ended: float | None
    attempts: int
    seconds: float
    text: str
    log: str


class StageResult(msgspec.Struct, frozen=True):
    """How a stage ended: with a `fault` of the bot, or well; or its `trouble`, or how it `died`, to begin again."""

    text: str = ""
    fault: str = ""
    trouble: str = ""
    died: str = ""
    log: str = ""
    digest: str = ""


class TeamQuota(msgspec.Struct, frozen=True):
    """The quota of a team, its submissions of 24 hours, and its bots in the ladder or on their way."""

    a_day: int
    active: int
    sent: int
    bots: tuple[str, ...] = ()


def received_file(folder: Path, number: int) -> Path:
    return folder / RECEIVED / str(number)


def bot_folder(folder: Path, number: int) -> Path:
    return folder / BOTS / str(number)


def get_submission(database: CupDatabase, number: int) -> Submission:
    return by_number(database, Submission, "submission", number)


def in_states(
    database: CupDatabase, states: Iterable[SubmissionState], more: str = "", *values: object
) -> list[Submission]:
    """Return the submissions in these states, the first one first; `more` is a further condition."""
    return database.rows(Submission, f"select * from submission where {is_in(states)} {more} order by id", *values)


def queue(database: CupDatabase) -> list[Submission]:
    """Return the submissions on their way: a team's second one after the first ones of all teams, who take turns."""
    sql = (
        "with turn as (select team, max(begun) as last from stage join submission on id = submission group by team) "
        f"select submission.* from submission left join turn using (team) where {is_in(IN_PIPELINE)} "
        "order by row_number() over (partition by team order by id), last, id"
    )
    return database.rows(Submission, sql)


def stages_of(database: CupDatabase, number: int) -> list[Stage]:
    return database.rows(Stage, "select * from stage where submission = ? order by begun", number)


def quota_of(database: CupDatabase, cup: Cup, team: int) -> TeamQuota:
    sql = (
        "select coalesce(max(a_day), ?) as a_day, coalesce(max(active), ?) as active, "
        "(select count(*) from submission where team = ? and received > ?) as sent from quota where team = ?"
    )
    usual, since = cup.submissions, time.time() - DAY
    (quota,) = database.rows(TeamQuota, sql, usual.a_day, usual.active, team, since, team)
    bots = {one.bot for one in in_states(database, (*IN_PIPELINE, *PLAYING), "and team = ?", team)}
    return msgspec.structs.replace(quota, bots=tuple(sorted(bots)))


def set_quota(database: CupDatabase, actor: Actor, team: int, *, a_day: int | None, active: int | None) -> None:
    with database.change():
        require_host(database, actor)
        get_team(database, team)
        database.run("insert or replace into quota(team, a_day, active) values(?, ?, ?)", team, a_day, active)
        details = {"team": team, "a_day": a_day, "active": active}
        database.note("set a quota", details, actor.account, actor.address)


def _check_name(database: CupDatabase, team: int, bot: str) -> None:
    is_plain = bot.isascii() and bot[:1].isalnum()  # and is no option in a command
    if fault := name_fault(bot) or (None if is_plain else "here it is ASCII, and begins with a letter or digit"):
        raise ChangeRefusedError(f"bot: {expected_name(bot, fault)}")
    sql = f"select distinct bot from submission where team <> ? and (player <> '' or {is_in(KEPT)})"
    if name_key(bot) in map(name_key, database.column(sql, team)):
        raise ChangeRefusedError(
            f"bot: expected a name that is free, and another team has {printable(bot)} or one that looks like it: "
            "choose another"
        )


def _check_bots_at_once(quota: TeamQuota, bot: str) -> None:
    if bot not in quota.bots and len(quota.bots) >= quota.active:
        most, bots = counted(quota.active, "bot"), ", ".join(quota.bots) or "none"
        raise ChangeRefusedError(
            f"expected at most {most} of a team at once, and yours has {bots}: withdraw one, or ask the host"
        )


def receive(
    database: CupDatabase, cup: Cup, folder: Path, actor: Actor, *, team: int, bot: str, file: Path, sent_as: str
) -> Submission:
    """Make a submission of a file, which is moved into the folder. It replaces a version that is on its way."""
    with database.change():
        if not is_member(database, actor, team):
            require_host(database, actor)
        _check_name(database, team, bot)
        quota = quota_of(database, cup, team)
        if quota.sent >= quota.a_day:
            raise ChangeRefusedError(
                f"expected at most {counted(quota.a_day, 'submission')} of a team in 24 hours, and yours has sent "
                f"{quota.sent}: wait until one is 24 hours old, or ask the host"
            )
        _check_bots_at_once(quota, bot)
        now = time.time()
        row = {"team": team, "account": actor.account, "bot": bot, "bytes": file.stat().st_size}
        row |= {"sent_as": printable(sent_as, LONGEST_SENT_AS), "state": SubmissionState.RECEIVED.value}
        number = database.insert("submission", received=now, changed=now, **row)
        submission = get_submission(database, number)
        _replace_older(database, submission, IN_PIPELINE)
        database.note("submitted", {"submission": number, "bot": bot}, actor.account, actor.address)
        path = received_file(folder, number)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        file.replace(path)
        sync_folder(path.parent)
    return submission


def begin_stage(database: CupDatabase, number: int, name: StageName) -> None:
    with database.change():
        database.run(
            "insert into stage(submission, name, state, begun, attempts) values(?, ?, ?, ?, 1) on conflict do update "
            "set state = excluded.state, begun = excluded.begun",
            *(number, name.value, StageState.BEGUN.value, time.time()),
        )


def count_killed(database: CupDatabase) -> None:
    """Count the attempt that a server which was killed has left: it begins again."""
    text = "the server stopped while it was running"
    with database.change():
        sql = "update stage set state = ?, attempts = attempts + 1, text = ? where state = ?"
        database.run(sql, StageState.WAITS.value, text, StageState.BEGUN.value)


def end_stage(database: CupDatabase, cup: Cup, number: int, name: StageName, result: StageResult) -> Submission:
    with database.change():
        now, submission, fault = time.time(), get_submission(database, number), result.fault
        if result.digest:
            database.run("update submission set digest = ? where id = ?", result.digest, number)
        is_again = bool(result.trouble or result.died)
        ended = StageState.FAILED if fault else StageState.WAITS if is_again else StageState.DONE
        text = (fault or result.trouble or result.died or result.text)[:LONGEST_REASON]
        database.run(
            "update stage set state = ?, ended = ?, text = ?, log = ?, attempts = attempts + ?, "
            "seconds = seconds + ? - begun where submission = ? and name = ?",
            *(ended.value, now, text, result.log, bool(result.died), now, number, name.value),
        )
        if submission.state not in IN_PIPELINE or is_again:  # the first: it has been withdrawn meanwhile
            return submission
        state = SubmissionState.FAILED if fault else next(after for _, stage, after in PIPELINE if stage is name)
        _set_state(database, number, state, fault)
        if state in PLAYING:
            _replace_older(database, submission, (*PLAYING, SubmissionState.PARKED))
        if state not in IN_PIPELINE:
            words = f"{name.value} failed" if fault else "in the ladder, on probation"
            _announce(database, cup, WebhookEvent.SUBMISSION, number, f"{submission.label}: {words}")
        return get_submission(database, number)


def _announce(database: CupDatabase, cup: Cup, event: WebhookEvent, number: int, text: str) -> None:
    one = get_submission(database, number)
    team = get_team(database, one.team).name
    announce(database, cup, event, text, submission=number, bot=one.bot, team=team, state=one.state.value)


def _replace_older(database: CupDatabase, submission: Submission, states: Iterable[SubmissionState]) -> None:
    same = "and team = ? and bot = ? and id < ?"
    for old in in_states(database, states, same, submission.team, submission.bot, submission.id):
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
        reason = f"it has forfeited {games}, the last one {forfeit}"
        _set_state(database, number, SubmissionState.PARKED, reason)
        database.note("parked", {"submission": number, "reason": reason}, MACHINE.account, MACHINE.address)
        _announce(database, cup, WebhookEvent.PARKED, number, f"{submission.label} is parked: {reason}")
    elif submission.state is SubmissionState.PROBATION and submission.games >= cup.play.probation:
        sql = "update submission set state = ?, changed = ? where id = ?"  # forfeits go on
        database.run(sql, SubmissionState.LADDER.value, time.time(), number)
    return get_submission(database, number)


def decide(
    database: CupDatabase, cup: Cup, actor: Actor, number: int, state: SubmissionState, *, reason: str = ""
) -> Submission:
    """Withdraw or unpark a submission (to probation) as its team or a host decides; a host may also disqualify it."""
    with database.change():
        submission = get_submission(database, number)
        is_for_hosts = SubmissionState.DISQUALIFIED in (state, submission.state)
        if is_for_hosts or not is_member(database, actor, submission.team):
            require_host(database, actor)
        if submission.state not in MAY_COME_FROM[state]:
            raise ChangeRefusedError(f"{submission.label} is {submission.state.value}: it cannot go to {state.value}")
        if state is SubmissionState.DISQUALIFIED and not reason.strip():
            raise ChangeRefusedError("reason: expected some words for the team, got none")
        if state is SubmissionState.PROBATION:
            same = "and team = ? and bot = ? and id > ?"
            if newer := in_states(database, PLAYING, same, submission.team, submission.bot, number):
                raise ChangeRefusedError(f"{submission.label} has a newer version, {newer[0].label}, in the ladder")
            _check_bots_at_once(quota_of(database, cup, submission.team), submission.bot)
        _set_state(database, number, state, reason)
        details = {"submission": number, "reason": reason}
        database.note(f"submission to {state.value}", details, actor.account, actor.address)
        return get_submission(database, number)


WORDS = {
    SubmissionState.FAILED: "It has failed: {}. Mend it and submit it again.",
    SubmissionState.PARKED: "It is parked, and plays no games: {}. Mend it and submit it again, or unpark it.",
    SubmissionState.DISQUALIFIED: "The host has disqualified it: {}. Ask the host about it.",
    SubmissionState.WITHDRAWN: "It plays no games: its team has withdrawn it.",
}


def why_waiting(database: CupDatabase, cup: Cup, submission: Submission, trouble: str = "") -> str:
    """Return in words what a submission waits for, and what its team can do. `trouble` is what stops the queue."""
    reason, games = submission.reason.rstrip("."), counted(submission.games, "game")
    if submission.state in IN_PIPELINE:
        return _of_queue(database, submission, trouble)
    if submission.state is SubmissionState.LADDER:
        return f"It is in the ladder, with {games} played."
    if submission.state is SubmissionState.PROBATION:
        return f"It is on probation, with {games} of {cup.play.probation} played."
    return WORDS.get(submission.state, "It plays no games: {}.").format(reason)


def _of_queue(database: CupDatabase, submission: Submission, trouble: str) -> str:
    name = STAGE_OF[submission.state]
    words = f"Stage {IN_PIPELINE.index(submission.state) + 1} of {len(IN_PIPELINE)} ({name.value})"
    running = database.row(Stage, "select * from stage where state = ?", StageState.BEGUN.value)
    if trouble:
        return f"{words} waits until the host has mended the server: {trouble.rstrip('.')}. You need not do anything."
    if running is not None and running.submission == submission.id:
        again = f" for the {running.attempts}. time" if running.attempts > 1 else ""
        seconds = counted(max(0, int(time.time() - running.begun)), "second")
        return f"{words} is running{again}, since {seconds}."
    ids = [one.id for one in queue(database) if running is None or one.id != running.submission]
    now = f"; {running.name.value} of #{running.submission} is running now" if running else ""
    return f"{words} waits: {counted(ids.index(submission.id), 'submission')} before it{now}."
