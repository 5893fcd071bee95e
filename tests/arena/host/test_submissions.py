"""Submissions: who may send what, what each waits for, and what becomes of it."""

import time
from pathlib import Path

import pytest
from hosted import HOST, Hosted, make_hosted

from arena.host import submissions
from arena.host.accounts import Account, Actor, ChangeRefusedError
from arena.host.submissions import (
    LONGEST_REASON,
    PIPELINE,
    PLAYING,
    RECEIVED,
    StageName,
    StageResult,
    StageState,
    Submission,
    SubmissionState,
    begin_stage,
    count_killed,
    decide,
    end_stage,
    get_submission,
    in_states,
    queue,
    quota_of,
    receive,
    received_file,
    record_game,
    set_quota,
    stages_of,
    why_waiting,
)


@pytest.fixture
def hosted(tmp_path: Path) -> Hosted:
    return make_hosted(tmp_path / "cup")


@pytest.fixture
def ann(hosted: Hosted) -> Account:
    return hosted.member("Ann", "Rooks")


def passed(hosted: Hosted, submission: Submission, until: SubmissionState = SubmissionState.PROBATION) -> Submission:
    """Let a submission pass its stages up to a state."""
    for _, name, state in PIPELINE:
        begin_stage(hosted.database, submission.id, name)
        digest = f"digest of {submission.id}" if name is StageName.UNPACK else ""
        submission = ended(hosted, submission, name, digest=digest)
        if state is until:
            break
    return submission


def ended(hosted: Hosted, submission: Submission, name: StageName, **result: str) -> Submission:
    return end_stage(hosted.database, hosted.cup, submission.id, name, StageResult(**result))


def play(hosted: Hosted, submission: Submission, *forfeits: str) -> Submission:
    for forfeit in forfeits:
        with hosted.database.change():
            submission = record_game(hosted.database, hosted.cup, submission.id, forfeit)
    return submission


def withdraw(hosted: Hosted, actor: Actor, number: int) -> Submission:
    return decide(hosted.database, hosted.cup, actor, number, SubmissionState.WITHDRAWN)


def unpark(hosted: Hosted, actor: Actor, number: int) -> Submission:
    return decide(hosted.database, hosted.cup, actor, number, SubmissionState.PROBATION)


def disqualify(hosted: Hosted, actor: Actor, number: int, reason: str) -> Submission:
    return decide(hosted.database, hosted.cup, actor, number, SubmissionState.DISQUALIFIED, reason=reason)


def why(hosted: Hosted, submission: Submission, trouble: str = "") -> str:
    return why_waiting(hosted.database, hosted.cup, get_submission(hosted.database, submission.id), trouble)


def test_a_submission_is_kept_with_its_file(hosted: Hosted, ann: Account) -> None:
    sent = hosted.submit(ann, "Rook", b"data", "mine\x1b.tar")
    assert received_file(hosted.folder, sent.id).read_bytes() == b"data"
    assert (sent.state, sent.bytes, sent.sent_as) == (SubmissionState.RECEIVED, 4, "mine\\x1b.tar")
    assert queue(hosted.database) == [sent]
    assert hosted.database.column("select action from audit")[-1] == "submitted"


def test_a_file_that_cannot_be_moved_makes_no_submission(hosted: Hosted, ann: Account) -> None:
    (hosted.folder / RECEIVED).touch()  # where a folder should be
    with pytest.raises(OSError, match="File exists"):
        hosted.submit(ann, "Rook", b"data")
    assert queue(hosted.database) == []
    (hosted.folder / RECEIVED).unlink()
    assert hosted.submit(ann, "Rook", b"data").id == 1


@pytest.mark.parametrize("bot", ["", "a/b", "x#2", "a\u202eb", "x" * 41, "R\u043eok", ".", "--help"])
def test_names_of_bots_obey_the_rules(hosted: Hosted, ann: Account, bot: str) -> None:
    with pytest.raises(ChangeRefusedError, match="bot: expected a name"):
        hosted.submit(ann, bot, b"data")


@pytest.mark.parametrize("end", ["fails", "is withdrawn", "is replaced", "played"])
def test_a_name_belongs_to_the_team_whose_bot_is_there_or_has_played(hosted: Hosted, ann: Account, end: str) -> None:
    bob = hosted.member("Bob", "Knights")
    first = hosted.submit(ann, "Rook", b"data")
    for alike in ("ROOK", "R0ok"):
        with pytest.raises(ChangeRefusedError, match=f"another team has {alike} or one that looks like it"):
            hosted.submit(bob, alike, b"data")
    begin_stage(hosted.database, first.id, StageName.UNPACK)
    if end == "fails":
        ended(hosted, first, StageName.UNPACK, fault="broken")
    else:
        hosted.database.run("update submission set player = ?", "digest" if end == "played" else "")
        last = hosted.submit(ann, "Rook", b"more") if end == "is replaced" else first
        withdraw(hosted, Actor(ann.id), last.id)
    if end == "played":
        with pytest.raises(ChangeRefusedError, match="another team has ROOK"):
            hosted.submit(bob, "ROOK", b"data")
    else:
        assert hosted.submit(bob, "ROOK", b"data").state is SubmissionState.RECEIVED


def test_strangers_submit_nothing_for_a_team(hosted: Hosted, ann: Account) -> None:
    bob, team, file = hosted.member("Bob", "Knights"), hosted.team_of(ann).id, hosted.folder / "x"
    file.touch()
    with pytest.raises(ChangeRefusedError, match="only a host"):
        receive(
            *(hosted.database, hosted.cup, hosted.folder, Actor(bob.id)), team=team, bot="Rook", file=file, sent_as="x"
        )


def test_submissions_a_day_are_limited(hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    set_quota(hosted.database, HOST, 1, a_day=2, active=None)
    for _ in range(2):
        hosted.submit(ann, "Rook", b"data")
    with pytest.raises(ChangeRefusedError, match="at most 2 submissions of a team in 24 hours"):
        hosted.submit(ann, "Rook", b"data")
    now = time.time()
    monkeypatch.setattr(submissions.time, "time", lambda: now + 86_401)  # type: ignore[attr-defined]
    hosted.submit(ann, "Rook", b"data")


def test_bots_at_once_are_limited_and_versions_are_not(hosted: Hosted, ann: Account) -> None:
    first = hosted.submit(ann, "A", b"data")
    passed(hosted, first)
    hosted.submit(ann, "B", b"data")
    with pytest.raises(ChangeRefusedError, match="at most 2 bots of a team at once, and yours has A, B: withdraw one"):
        hosted.submit(ann, "C", b"data")
    hosted.submit(ann, "A", b"data")
    withdraw(hosted, Actor(ann.id), first.id)
    with pytest.raises(ChangeRefusedError, match="A, B"):
        hosted.submit(ann, "C", b"data")  # A is still on its way
    set_quota(hosted.database, HOST, 1, a_day=None, active=3)
    hosted.submit(ann, "C", b"data")
    assert quota_of(hosted.database, hosted.cup, 1).bots == ("A", "B", "C")


def test_only_a_host_sets_quotas(hosted: Hosted, ann: Account) -> None:
    with pytest.raises(ChangeRefusedError, match="only a host"):
        set_quota(hosted.database, Actor(ann.id), 1, a_day=99, active=99)


def test_a_new_version_replaces_the_old_one_when_it_gets_there(hosted: Hosted, ann: Account) -> None:
    old = passed(hosted, hosted.submit(ann, "Rook", b"1"))
    other = passed(hosted, hosted.submit(ann, "Bishop", b"2"))
    new = passed(hosted, hosted.submit(ann, "Rook", b"3"), SubmissionState.CHECKED)
    assert in_states(hosted.database, PLAYING) == [old, other]
    new = passed(hosted, new)
    assert in_states(hosted.database, PLAYING) == [other, new]
    assert get_submission(hosted.database, old.id).reason == f"a newer version is #{new.id} (Rook)"


def test_a_bot_has_one_version_on_its_way(hosted: Hosted, ann: Account) -> None:
    old = passed(hosted, hosted.submit(ann, "Rook", b"1"), SubmissionState.BUILT)
    other, new = hosted.submit(ann, "Bishop", b"2"), hosted.submit(ann, "Rook", b"3")
    assert queue(hosted.database) == [other, new]
    assert why(hosted, old) == f"It plays no games: a newer version is #{new.id} (Rook)."


def test_teams_take_turns(hosted: Hosted, ann: Account) -> None:
    people = [ann, hosted.member("Bob", "Knights"), hosted.member("Cyd", "Pawns")]
    for one in people:
        for number in (1, 2):
            hosted.submit(one, f"{one.name} {number}", b"1")
    order = list[str]()
    while waiting := queue(hosted.database):
        order.append(waiting[0].bot)
        begin_stage(hosted.database, waiting[0].id, StageName.UNPACK)
        withdraw(hosted, HOST, waiting[0].id)
    assert order == ["Ann 1", "Bob 1", "Cyd 1", "Ann 2", "Bob 2", "Cyd 2"]
    for one in reversed(people):
        hosted.submit(one, one.name, b"1")
    assert [one.bot for one in queue(hosted.database)] == ["Ann", "Bob", "Cyd"]  # who had the last turn is the last


def test_a_bot_leaves_probation_after_its_games(hosted: Hosted, ann: Account) -> None:
    sent = play(hosted, passed(hosted, hosted.submit(ann, "Rook", b"1")), *[""] * 9)
    assert (sent.state, sent.games) == (SubmissionState.PROBATION, 9)
    assert why(hosted, sent) == "It is on probation, with 9 games of 10 played."
    sent = play(hosted, sent, "")
    assert sent.state is SubmissionState.LADDER
    assert why(hosted, sent) == "It is in the ladder, with 10 games played."


def test_a_bot_is_parked_after_forfeits_in_a_row(hosted: Hosted, ann: Account) -> None:
    sent = passed(hosted, hosted.submit(ann, "Rook", b"1"))
    sent = play(hosted, sent, "game 1", "game 2", "", "game 4", "game 5")
    assert (sent.state, sent.forfeits) == (SubmissionState.PROBATION, 2)
    sent = play(hosted, sent, "game 6 (out of time)")
    assert sent.state is SubmissionState.PARKED
    assert why(hosted, sent) == (
        "It is parked, and plays no games: it has forfeited 3 games in a row, the last one game 6 (out of time). Mend "
        "it and submit it again, or unpark it."
    )
    assert play(hosted, sent, "game 7").state is SubmissionState.PARKED
    bob = hosted.member("Bob", "Knights")
    with pytest.raises(ChangeRefusedError, match="only a host"):
        unpark(hosted, Actor(bob.id), sent.id)
    sent = unpark(hosted, Actor(ann.id), sent.id)
    assert (sent.state, sent.forfeits) == (SubmissionState.PROBATION, 0)
    with pytest.raises(ChangeRefusedError, match="is probation: it cannot go to probation"):
        unpark(hosted, Actor(ann.id), sent.id)


def test_an_old_version_or_one_bot_too_many_is_not_unparked(hosted: Hosted, ann: Account) -> None:
    old = play(hosted, passed(hosted, hosted.submit(ann, "A", b"1")), *["game 1"] * 3)
    passed(hosted, hosted.submit(ann, "B", b"2"))
    passed(hosted, hosted.submit(ann, "C", b"3"))
    with pytest.raises(ChangeRefusedError, match="yours has B, C: withdraw one"):
        unpark(hosted, Actor(ann.id), old.id)


def test_a_parked_version_is_replaced_by_a_newer_one(hosted: Hosted, ann: Account) -> None:
    old = play(hosted, passed(hosted, hosted.submit(ann, "A", b"1")), *["game 1"] * 3)
    passed(hosted, hosted.submit(ann, "A", b"2"))
    assert get_submission(hosted.database, old.id).state is SubmissionState.REPLACED
    with pytest.raises(ChangeRefusedError, match="is replaced: it cannot go to probation"):
        unpark(hosted, Actor(ann.id), old.id)


def test_only_a_host_disqualifies_and_takes_that_back(hosted: Hosted, ann: Account) -> None:
    sent, host = passed(hosted, hosted.submit(ann, "Rook", b"1")), hosted.host("Hanna")
    with pytest.raises(ChangeRefusedError, match="only a host"):
        disqualify(hosted, Actor(ann.id), sent.id, "revenge")
    with pytest.raises(ChangeRefusedError, match="reason: expected some words"):
        disqualify(hosted, Actor(host.id), sent.id, " ")
    sent = disqualify(hosted, Actor(host.id), sent.id, "a copy of warden.")
    assert why(hosted, sent) == "The host has disqualified it: a copy of warden. Ask the host about it."
    with pytest.raises(ChangeRefusedError, match="only a host"):
        unpark(hosted, Actor(ann.id), sent.id)
    assert unpark(hosted, Actor(host.id), sent.id).state is SubmissionState.PROBATION


def test_what_is_withdrawn_during_a_stage_stays_withdrawn(hosted: Hosted, ann: Account) -> None:
    sent = hosted.submit(ann, "Rook", b"1")
    begin_stage(hosted.database, sent.id, StageName.UNPACK)
    withdraw(hosted, Actor(ann.id), sent.id)
    assert ended(hosted, sent, StageName.UNPACK).state is SubmissionState.WITHDRAWN
    assert why(hosted, sent) == "It plays no games: its team has withdrawn it."
    with pytest.raises(ChangeRefusedError, match="is withdrawn: it cannot go to withdrawn"):
        withdraw(hosted, Actor(ann.id), sent.id)


def test_stages_are_kept_with_times_attempts_and_logs(hosted: Hosted, ann: Account) -> None:
    sent, name = hosted.submit(ann, "Rook", b"1"), StageName.UNPACK
    begin_stage(hosted.database, sent.id, name)
    (first,) = stages_of(hosted.database, sent.id)
    assert (first.state, first.attempts, first.ended) == (StageState.BEGUN, 1, None)
    attempts = []
    for result in ({"trouble": "the disk is full"}, {"died": "was killed"}, {}):
        begin_stage(hosted.database, sent.id, name)
        if result:
            ended(hosted, sent, name, **result)
        else:
            count_killed(hosted.database)  # a server that is killed writes nothing
        (stage,) = stages_of(hosted.database, sent.id)
        attempts.append((stage.state, stage.attempts, stage.text))
    assert attempts == [
        (StageState.WAITS, 1, "the disk is full"),
        (StageState.WAITS, 2, "was killed"),
        (StageState.WAITS, 3, "the server stopped while it was running"),
    ]
    hosted.database.run("update stage set begun = begun - 100, seconds = 7")
    ended(hosted, sent, name, fault="x" * 9999, log="a\nb")
    (last,) = stages_of(hosted.database, sent.id)
    assert (last.state, last.text, last.log) == (StageState.FAILED, "x" * LONGEST_REASON, "a\nb")
    assert 107 <= last.seconds < 200


def test_there_is_always_an_answer_to_why_am_i_waiting(hosted: Hosted, ann: Account) -> None:
    bob = hosted.member("Bob", "Knights")
    first, second = hosted.submit(ann, "Rook", b"1"), hosted.submit(bob, "Knight", b"2")
    assert why(hosted, first) == "Stage 1 of 4 (unpack) waits: 0 submissions before it."
    begin_stage(hosted.database, first.id, StageName.UNPACK)
    assert why(hosted, first) == "Stage 1 of 4 (unpack) is running, since 0 seconds."
    third = hosted.submit(ann, "Bishop", b"3")
    assert why(hosted, second) == "Stage 1 of 4 (unpack) waits: 0 submissions before it; unpack of #1 is running now."
    assert why(hosted, third) == "Stage 1 of 4 (unpack) waits: 1 submission before it; unpack of #1 is running now."
    ended(hosted, first, StageName.UNPACK, died="was killed")
    begin_stage(hosted.database, first.id, StageName.UNPACK)
    assert "is running for the 2. time" in why(hosted, first)
    for one in (first, second):
        assert "waits until the host has mended the server: the disk is full." in why(hosted, one, "the disk is full.")
    for state in SubmissionState:
        hosted.database.run("update submission set state = ? where id = 2", state.value)
        assert why(hosted, second).endswith((".", "it."))
