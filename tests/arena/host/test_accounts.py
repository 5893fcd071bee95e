"""Who may do what in a competition: accounts, teams, invitations and tokens."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hosted import HOST, Hosted, make_hosted

from arena.host import accounts
from arena.host.accounts import (
    LINK_DAYS,
    MOST_TOKENS,
    TOKEN_PREFIX,
    Actor,
    ChangeRefusedError,
    accept,
    account_of_token,
    find_invitation,
    get_account,
    invite,
    join,
    make_link,
    make_team,
    make_token,
    members,
    register,
    remove_member,
    revoke_token,
    set_disabled,
    sign_in_by_link,
    team_of,
    tokens_of,
)
from arena.host.cup_settings import Cup, Registration


@pytest.fixture
def hosted(tmp_path: Path) -> Hosted:
    return make_hosted(tmp_path / "cup")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """`later(seconds)`: all clocks of the accounts are moved on."""
    now = time.time

    def move(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: now() + seconds)

    return move


def actions(hosted: Hosted) -> list[str]:
    return hosted.database.column("select action from audit order by id")


def everything(hosted: Hosted) -> str:
    """All that the database keeps, as text."""
    tables = hosted.database.column("select name from sqlite_master where type = 'table'")
    columns = {table: hosted.database.column("select name from pragma_table_info(?)", table) for table in tables}
    return "\n".join(
        str(value)
        for table, names in columns.items()
        for name in names
        for value in hosted.database.column(f"select {name} from {table}")
    )


def test_an_invitation_makes_an_account_with_a_team_once(hosted: Hosted) -> None:
    word = invite(hosted.database, HOST)
    account = join(hosted.database, hosted.cup, word, "Ann", "Rooks", address="192.0.2.1")
    assert (account.name, account.is_host, account.is_disabled) == ("Ann", False, False)
    assert hosted.team_of(account).name == "Rooks"
    assert actions(hosted) == ["invited", "registered", "made a team"]
    with pytest.raises(ChangeRefusedError, match="used already"):
        join(hosted.database, hosted.cup, word, "Bob", "Knights")


def test_a_refused_change_leaves_no_trace(hosted: Hosted) -> None:
    word = invite(hosted.database, HOST)
    with pytest.raises(ChangeRefusedError, match="name: expected"):
        join(hosted.database, hosted.cup, word, "Ann", "two  spaces")
    assert accounts.accounts(hosted.database) == []
    assert actions(hosted) == ["invited"]
    assert find_invitation(hosted.database, word).used is None


def test_an_invitation_ends(hosted: Hosted, later: Callable[[float], None]) -> None:
    word = invite(hosted.database, HOST, days=1)
    later(86_401)
    with pytest.raises(ChangeRefusedError, match="too old"):
        join(hosted.database, hosted.cup, word, "Ann", "Rooks")


def test_an_unknown_invitation_is_refused(hosted: Hosted) -> None:
    with pytest.raises(ChangeRefusedError, match="unknown"):
        find_invitation(hosted.database, "\ud800")


@pytest.mark.parametrize("name", ["", "a/b", "x#2", "a\u202eb", "x" * 41, "e\u0301", " a", "a\nb"])
def test_names_obey_the_rules_for_bots(hosted: Hosted, name: str) -> None:
    with pytest.raises(ChangeRefusedError, match="name: expected a name of 1 to 40 columns"):
        join(hosted.database, hosted.cup, invite(hosted.database, HOST), name, "Rooks")


def test_names_that_differ_in_case_only_are_one(hosted: Hosted) -> None:
    hosted.member("Straße", "Rooks")
    with pytest.raises(ChangeRefusedError, match="is taken"):
        hosted.member("STRASSE", "Knights")
    with pytest.raises(ChangeRefusedError, match="is taken"):
        hosted.member("Bob", "rooks")


def test_members_invite_to_their_own_team_and_nobody_else(hosted: Hosted) -> None:
    ann, bob = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights")
    rooks = hosted.team_of(ann)
    word = invite(hosted.database, Actor(ann.id), team=rooks.id)
    cy = join(hosted.database, hosted.cup, word, "Cy")
    assert members(hosted.database, rooks.id) == [ann, cy]
    for refused in ({"team": rooks.id}, {"is_host": True}, {}):
        with pytest.raises(ChangeRefusedError, match="only a host"):
            invite(hosted.database, Actor(bob.id), **refused)
    with pytest.raises(ChangeRefusedError, match="only a host"):
        invite(hosted.database, Actor(ann.id), team=rooks.id, is_host=True)


def test_a_team_has_no_more_members_than_the_settings_allow(hosted: Hosted) -> None:
    cup = Cup(title="A test", address="http://127.0.0.1", registration=Registration(members=1))
    team = hosted.team_of(hosted.member("Ann", "Rooks"))
    with pytest.raises(ChangeRefusedError, match="1 member"):
        join(hosted.database, cup, invite(hosted.database, HOST, team=team.id), "Bob")


def test_a_member_leaves_and_joins_another_team(hosted: Hosted) -> None:
    ann, bob = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights")
    word = invite(hosted.database, Actor(bob.id), team=hosted.team_of(bob).id)
    with pytest.raises(ChangeRefusedError, match="leave it first"):
        accept(hosted.database, hosted.cup, Actor(ann.id), word)
    with pytest.raises(ChangeRefusedError, match="only a host"):
        remove_member(hosted.database, Actor(bob.id), ann.id)
    remove_member(hosted.database, Actor(ann.id), ann.id)
    assert team_of(hosted.database, ann.id) is None
    assert accept(hosted.database, hosted.cup, Actor(ann.id), word).name == "Knights"
    with pytest.raises(ChangeRefusedError, match="leave it first"):
        make_team(hosted.database, Actor(ann.id), "Bishops")


def test_registration_is_open_only_where_the_settings_say_so(hosted: Hosted) -> None:
    with pytest.raises(ChangeRefusedError, match="by invitation"):
        register(hosted.database, hosted.cup, "Ann", "Rooks", "")
    cup = Cup(title="A test", address="http://127.0.0.1", registration=Registration(by="open"))
    assert hosted.team_of(register(hosted.database, cup, "Ann", "Rooks", "")).name == "Rooks"


def test_a_token_is_shown_once_and_kept_as_its_hash(hosted: Hosted) -> None:
    ann = hosted.member("Ann", "Rooks")
    word = make_token(hosted.database, Actor(ann.id), ann.id, "laptop")
    assert word.startswith(TOKEN_PREFIX)
    assert account_of_token(hosted.database, word) == ann
    kept = everything(hosted)
    assert word not in kept
    assert hashlib.sha256(word.encode()).hexdigest() in kept
    for wrong in ("", word[:-1], word.upper(), "\ud800"):
        assert account_of_token(hosted.database, wrong) is None


def test_a_token_tells_when_it_was_used_last(hosted: Hosted, later: Callable[[float], None]) -> None:
    ann = hosted.member("Ann", "Rooks")
    word = make_token(hosted.database, Actor(ann.id), ann.id, "laptop")
    assert tokens_of(hosted.database, ann.id)[0].last_used is None
    for seconds in (100, 101, 300):
        later(seconds)
        account_of_token(hosted.database, word)
        (token,) = tokens_of(hosted.database, ann.id)
        assert token.last_used is not None
        assert token.last_used - token.created == pytest.approx(100 if seconds < 300 else 300, abs=5)


def test_a_revoked_token_is_not_good(hosted: Hosted) -> None:
    ann, bob = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights")
    word = make_token(hosted.database, Actor(ann.id), ann.id, "laptop")
    (token,) = tokens_of(hosted.database, ann.id)
    with pytest.raises(ChangeRefusedError, match="no such token"):
        revoke_token(hosted.database, Actor(bob.id), token.id)
    revoke_token(hosted.database, Actor(ann.id), token.id)
    assert account_of_token(hosted.database, word) is None
    with pytest.raises(ChangeRefusedError, match="no such token"):
        revoke_token(hosted.database, Actor(ann.id), token.id)


def test_only_the_owner_and_hosts_make_tokens_and_links(hosted: Hosted) -> None:
    ann, bob, host = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights"), hosted.host("Hanna")
    makers: list[Callable[[int], str]] = [
        lambda who: make_token(hosted.database, Actor(who), ann.id, "x"),
        lambda who: make_link(hosted.database, Actor(who), ann.id),
    ]
    for make in makers:
        assert make(ann.id) != make(host.id)
        with pytest.raises(ChangeRefusedError, match="only a host"):
            make(bob.id)


def test_an_account_has_a_limited_number_of_tokens(hosted: Hosted) -> None:
    ann = hosted.member("Ann", "Rooks")
    for number in range(MOST_TOKENS):
        make_token(hosted.database, Actor(ann.id), ann.id, f"token {number}")
    with pytest.raises(ChangeRefusedError, match="revoke one"):
        hosted.token(ann)


def test_a_link_signs_in_once(hosted: Hosted, later: Callable[[float], None]) -> None:
    ann = hosted.member("Ann", "Rooks")
    word = make_link(hosted.database, Actor(ann.id), ann.id)
    with pytest.raises(ChangeRefusedError, match="account that exists"):
        join(hosted.database, hosted.cup, word, "Bob", "Knights")
    assert sign_in_by_link(hosted.database, word, "") == ann
    with pytest.raises(ChangeRefusedError, match="used already"):
        sign_in_by_link(hosted.database, word, "")
    word = make_link(hosted.database, Actor(ann.id), ann.id)
    later(LINK_DAYS * 86_400 + 1)
    with pytest.raises(ChangeRefusedError, match="too old"):
        sign_in_by_link(hosted.database, word, "")


def test_an_invitation_does_not_sign_in_to_the_account_that_used_it(hosted: Hosted) -> None:
    word = invite(hosted.database, HOST)
    join(hosted.database, hosted.cup, word, "Ann", "Rooks")
    with pytest.raises(ChangeRefusedError, match="used already"):
        sign_in_by_link(hosted.database, word, "")


def test_a_disabled_account_can_do_nothing(hosted: Hosted) -> None:
    ann, host = hosted.member("Ann", "Rooks"), hosted.host("Hanna")
    word, link = hosted.token(ann), make_link(hosted.database, Actor(ann.id), ann.id)
    with pytest.raises(ChangeRefusedError, match="only a host"):
        set_disabled(hosted.database, Actor(ann.id), host.id, "revenge", is_disabled=True)
    set_disabled(hosted.database, Actor(host.id), ann.id, "spam", is_disabled=True)
    assert account_of_token(hosted.database, word) is None
    for forbidden in (
        lambda: sign_in_by_link(hosted.database, link, ""),
        lambda: make_link(hosted.database, HOST, ann.id),
        lambda: hosted.token(ann),
    ):
        with pytest.raises(ChangeRefusedError, match="disabled"):
            forbidden()
    set_disabled(hosted.database, Actor(host.id), ann.id, "sorry", is_disabled=False)
    assert account_of_token(hosted.database, word) == get_account(hosted.database, ann.id)


def test_a_stranger_is_no_host(hosted: Hosted) -> None:
    ann, stranger = hosted.member("Ann", "Rooks"), Actor(None, "192.0.2.1")
    forbidden: list[Callable[[], object]] = [
        lambda: invite(hosted.database, stranger),
        lambda: invite(hosted.database, stranger, is_host=True),
        lambda: make_link(hosted.database, stranger, ann.id),
        lambda: make_token(hosted.database, stranger, ann.id, "x"),
        lambda: remove_member(hosted.database, stranger, ann.id),
        lambda: set_disabled(hosted.database, stranger, ann.id, "", is_disabled=True),
    ]
    for call in forbidden:
        with pytest.raises(ChangeRefusedError, match="only a host"):
            call()
    with pytest.raises(ChangeRefusedError, match="sign in first"):
        make_team(hosted.database, stranger, "Pawns")


def test_a_disabled_host_is_none(hosted: Hosted) -> None:
    first, second = hosted.host("Hanna"), hosted.host("Hugo")
    set_disabled(hosted.database, Actor(first.id), second.id, "gone", is_disabled=True)
    with pytest.raises(ChangeRefusedError, match="only a host"):
        invite(hosted.database, Actor(second.id))


def test_the_last_host_cannot_be_disabled(hosted: Hosted) -> None:
    host = hosted.host("Hanna")
    with pytest.raises(ChangeRefusedError, match="only host"):
        set_disabled(hosted.database, Actor(host.id), host.id, "oops", is_disabled=True)
    hosted.host("Hugo")
    set_disabled(hosted.database, Actor(host.id), host.id, "retired", is_disabled=True)
    assert get_account(hosted.database, host.id).is_disabled
