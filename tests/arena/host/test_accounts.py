"""Who may do what in a competition: accounts, teams, invitations and tokens."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hosted import HOST, Hosted, make_hosted

from arena.host.accounts import (
    INVITED_DAYS,
    LINK_DAYS,
    MOST_TOKENS,
    TOKEN_PREFIX,
    Actor,
    ChangeRefusedError,
    accept,
    find_invitation,
    find_token,
    get_account,
    invite,
    join,
    links,
    make_link,
    make_team,
    make_token,
    members,
    register,
    remove_member,
    revoke_link,
    revoke_token,
    set_disabled,
    sign_in_by_link,
    sign_out_everywhere,
    team_of,
    tokens_of,
)
from arena.host.cup_settings import Cup, Registration


@pytest.fixture
def hosted(tmp_path: Path) -> Hosted:
    return make_hosted(tmp_path / "cup")


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
    assert actions(hosted) == ["made a link", "registered", "made a team"]
    with pytest.raises(ChangeRefusedError, match="unknown, revoked, used or too old"):
        join(hosted.database, hosted.cup, word, "Bob", "Knights")


def test_a_refused_change_leaves_no_trace(hosted: Hosted) -> None:
    word = invite(hosted.database, HOST)
    with pytest.raises(ChangeRefusedError, match="team: expected"):
        join(hosted.database, hosted.cup, word, "Ann", "two  spaces")
    assert hosted.database.column("select name from account") == []
    assert actions(hosted) == ["made a link"]
    assert find_invitation(hosted.database, word).by is None


def test_an_invitation_ends(hosted: Hosted, later: Callable[[float], None]) -> None:
    word = invite(hosted.database, HOST)
    later(INVITED_DAYS * 86_400 + 1)
    with pytest.raises(ChangeRefusedError, match="unknown, revoked, used or too old"):
        join(hosted.database, hosted.cup, word, "Ann", "Rooks")


def test_an_unknown_invitation_is_refused(hosted: Hosted) -> None:
    with pytest.raises(ChangeRefusedError, match="unknown, revoked, used or too old"):
        find_invitation(hosted.database, "\ud800")


@pytest.mark.parametrize("name", ["", "a/b", "x#2", "a\u202eb", "x" * 41, "e\u0301", " a", "a\nb"])
def test_names_obey_the_rules_for_bots(hosted: Hosted, name: str) -> None:
    with pytest.raises(ChangeRefusedError, match="name: expected a name of 1 to 40 columns"):
        join(hosted.database, hosted.cup, invite(hosted.database, HOST), name, "Rooks")


@pytest.mark.parametrize(
    ("taken", "name"),
    [("Straße", "STRASSE"), ("Rooks", "rooks"), ("Rooks", "R\u043eoks"), ("COBRA", "\u0421\u041eBR\u0410"),
     ("Rooks", "\uff32ooks"), ("Rooks", "R00ks"), ("Illes", "l1les"), ("Alpha", "\u0391lph\u03b1")],
)  # fmt: skip
def test_names_that_look_alike_are_one(hosted: Hosted, taken: str, name: str) -> None:
    hosted.member(taken, taken)
    for account, team in ((name, "Knights"), ("Bob", name)):
        with pytest.raises(ChangeRefusedError, match="is taken"):
            hosted.member(account, team)


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


def test_an_account_makes_one_team_and_only_by_the_invitation_of_a_host(hosted: Hosted) -> None:
    ann = hosted.member("Ann", "Rooks")
    word = invite(hosted.database, Actor(ann.id), team=hosted.team_of(ann).id)
    puppet = join(hosted.database, hosted.cup, word, "Puppet")
    for account in (ann, puppet):
        remove_member(hosted.database, Actor(account.id), account.id)
        with pytest.raises(ChangeRefusedError, match="makes no team"):
            make_team(hosted.database, Actor(account.id), f"Team of {account.name}")
    host = hosted.host("Hanna")
    assert make_team(hosted.database, Actor(host.id), "Hosts").name == "Hosts"


def test_invitations_end_with_the_membership_or_the_account_of_who_made_them(hosted: Hosted) -> None:
    ann, bob, host = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights"), hosted.host("Hanna")
    words = [invite(hosted.database, Actor(one.id), team=hosted.team_of(one).id) for one in (ann, bob)]
    words.append(invite(hosted.database, Actor(host.id), is_host=True))
    hosted.host("Hugo")
    remove_member(hosted.database, HOST, ann.id)
    for account in (bob, host):
        set_disabled(hosted.database, HOST, account.id, "a cheat", is_disabled=True)
    for word in words:
        with pytest.raises(ChangeRefusedError, match="unknown, revoked"):
            find_invitation(hosted.database, word)


def test_links_are_listed_for_those_who_may_revoke_them(hosted: Hosted) -> None:
    ann, bob, host = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights"), hosted.host("Hanna")
    word = invite(hosted.database, Actor(ann.id), team=hosted.team_of(ann).id)
    make_link(hosted.database, Actor(host.id), bob.id)
    second, first = links(hosted.database, Actor(host.id))
    assert (first.by, second.by) == ("Ann", "Hanna")
    assert links(hosted.database, Actor(ann.id)) == [first]
    assert links(hosted.database, Actor(bob.id)) == [second]
    assert links(hosted.database, Actor(None)) == []
    with pytest.raises(ChangeRefusedError, match="no such link"):
        revoke_link(hosted.database, Actor(bob.id), first.id)
    revoke_link(hosted.database, Actor(ann.id), first.id)
    with pytest.raises(ChangeRefusedError, match="unknown, revoked"):
        join(hosted.database, hosted.cup, word, "Cy")


def test_links_that_were_made_with_a_token_end_with_it(hosted: Hosted) -> None:
    ann = hosted.member("Ann", "Rooks")
    hosted.token(ann)
    thief = Actor(ann.id, token=1)
    assert sign_in_by_link(hosted.database, make_link(hosted.database, thief, ann.id), "") == (ann.id, 1)
    word = make_link(hosted.database, thief, ann.id)
    revoke_token(hosted.database, Actor(ann.id), 1)
    with pytest.raises(ChangeRefusedError, match="unknown, revoked"):
        sign_in_by_link(hosted.database, word, "")


def test_to_sign_out_everywhere_ends_tokens_and_links(hosted: Hosted) -> None:
    ann = hosted.member("Ann", "Rooks")
    token = hosted.token(ann)
    make_link(hosted.database, HOST, ann.id)
    invite(hosted.database, Actor(ann.id), team=hosted.team_of(ann).id)
    sign_out_everywhere(hosted.database, Actor(ann.id), ann.id)
    assert find_token(hosted.database, token) is None
    assert links(hosted.database, HOST) == []


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
    remove_member(hosted.database, Actor(ann.id), ann.id)
    assert team_of(hosted.database, ann.id) is None
    assert accept(hosted.database, hosted.cup, Actor(ann.id), word).name == "Knights"
    with pytest.raises(ChangeRefusedError, match="leave it first"):
        make_team(hosted.database, Actor(bob.id), "Bishops")


def test_registration_is_open_only_where_the_settings_say_so(hosted: Hosted) -> None:
    with pytest.raises(ChangeRefusedError, match="by invitation"):
        register(hosted.database, hosted.cup, "Ann", "Rooks", "")
    cup = Cup(title="A test", address="http://127.0.0.1", registration=Registration(by="open"))
    assert hosted.team_of(register(hosted.database, cup, "Ann", "Rooks", "")).name == "Rooks"


def test_a_token_is_shown_once_and_kept_as_its_hash(hosted: Hosted) -> None:
    ann = hosted.member("Ann", "Rooks")
    word = make_token(hosted.database, Actor(ann.id), ann.id, "laptop")
    assert word.startswith(TOKEN_PREFIX)
    found = find_token(hosted.database, word)
    assert found is not None
    assert (found.id, found.account) == (1, ann.id)
    kept = everything(hosted)
    assert word not in kept
    assert hashlib.sha256(word.encode()).hexdigest() in kept
    for wrong in ("", word[:-1], word.upper(), "\ud800"):
        assert find_token(hosted.database, wrong) is None


def test_a_token_tells_when_it_was_used_last(hosted: Hosted, later: Callable[[float], None]) -> None:
    ann = hosted.member("Ann", "Rooks")
    word = make_token(hosted.database, Actor(ann.id), ann.id, "laptop")
    assert tokens_of(hosted.database, ann.id)[0].last_used is None
    for seconds in (100, 101, 300):
        later(seconds)
        find_token(hosted.database, word)
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
    assert find_token(hosted.database, word) is None
    with pytest.raises(ChangeRefusedError, match="no such token"):
        revoke_token(hosted.database, Actor(ann.id), token.id)


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
    assert sign_in_by_link(hosted.database, word, "") == (ann.id, None)
    with pytest.raises(ChangeRefusedError, match="unknown, revoked, used or too old"):
        sign_in_by_link(hosted.database, word, "")
    word = make_link(hosted.database, Actor(ann.id), ann.id)
    later(LINK_DAYS * 86_400 + 1)
    with pytest.raises(ChangeRefusedError, match="unknown, revoked, used or too old"):
        sign_in_by_link(hosted.database, word, "")


def test_an_invitation_does_not_sign_in_to_the_account_that_used_it(hosted: Hosted) -> None:
    word = invite(hosted.database, HOST)
    join(hosted.database, hosted.cup, word, "Ann", "Rooks")
    with pytest.raises(ChangeRefusedError, match="unknown, revoked, used or too old"):
        sign_in_by_link(hosted.database, word, "")


def test_a_disabled_account_can_do_nothing(hosted: Hosted) -> None:
    ann, host = hosted.member("Ann", "Rooks"), hosted.host("Hanna")
    word, link = hosted.token(ann), make_link(hosted.database, Actor(ann.id), ann.id)
    set_disabled(hosted.database, Actor(host.id), ann.id, "spam", is_disabled=True)
    forbidden: list[tuple[str, Callable[[], object]]] = [
        ("unknown, revoked", lambda: sign_in_by_link(hosted.database, link, "")),
        ("disabled", lambda: make_link(hosted.database, HOST, ann.id)),
        ("disabled", lambda: hosted.token(ann)),
    ]
    for words, call in forbidden:
        with pytest.raises(ChangeRefusedError, match=words):
            call()
    set_disabled(hosted.database, Actor(host.id), ann.id, "sorry", is_disabled=False)
    assert find_token(hosted.database, word) is None
    link = make_link(hosted.database, HOST, ann.id)
    assert sign_in_by_link(hosted.database, link, "") == (ann.id, None)


def test_strangers_other_teams_and_former_hosts_do_nothing_for_others_and_hosts_do(hosted: Hosted) -> None:
    ann, bob = hosted.member("Ann", "Rooks"), hosted.member("Bob", "Knights")
    host, former = hosted.host("Hanna"), hosted.host("Hugo")
    set_disabled(hosted.database, Actor(host.id), former.id, "gone", is_disabled=True)
    changes: list[Callable[[Actor], object]] = [
        lambda who: invite(hosted.database, who),
        lambda who: invite(hosted.database, who, is_host=True),
        lambda who: make_link(hosted.database, who, ann.id),
        lambda who: make_token(hosted.database, who, ann.id, "x"),
        lambda who: sign_out_everywhere(hosted.database, who, ann.id),
        lambda who: remove_member(hosted.database, who, ann.id),
        lambda who: set_disabled(hosted.database, who, ann.id, "", is_disabled=True),
    ]
    for change in changes:
        for who in (Actor(None, "192.0.2.1"), Actor(bob.id), Actor(former.id)):
            with pytest.raises(ChangeRefusedError, match="only a host"):
                change(who)
        change(Actor(host.id))
    with pytest.raises(ChangeRefusedError, match="sign in first"):
        make_team(hosted.database, Actor(None, "192.0.2.1"), "Pawns")


def test_the_last_host_cannot_be_disabled(hosted: Hosted) -> None:
    host = hosted.host("Hanna")
    with pytest.raises(ChangeRefusedError, match="only host"):
        set_disabled(hosted.database, Actor(host.id), host.id, "oops", is_disabled=True)
    hosted.host("Hugo")
    set_disabled(hosted.database, Actor(host.id), host.id, "retired", is_disabled=True)
    assert get_account(hosted.database, host.id).is_disabled
