"""Accounts, teams, invitations and tokens of a competition: who may do what.

There are no passwords. A person signs in with a token, or with a link that is good once. Of both only the SHA-256 is
kept. Each change and its row of the audit log are written in one transaction.
"""

import hashlib
import hmac
import secrets
import time
from contextlib import suppress

import msgspec

from arena.bots.names import expected_name, name_fault
from arena.errors import ArenaError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.system.printable import counted, printable, shown

TOKEN_PREFIX = "arena_"
"""The beginning of each token, by which programs that look for published secrets can find one."""
WORD_BYTES = 32
DAY = 86400.0
INVITED_DAYS, LINK_DAYS = 14, 1
MOST_DAYS = 366
MOST_TOKENS = 20
USED_SECONDS = 60.0
"""The least time between two updates of a token's last use."""


class ChangeRefusedError(ArenaError):
    """A change that a person asked for and that cannot be made. The text says why, and what to do."""


class Actor(msgspec.Struct, frozen=True):
    """The author of a change, for the audit log: an account, a stranger, or the arena itself (`is_machine`)."""

    account: int | None
    address: str = ""
    is_machine: bool = False


MACHINE = Actor(None, "arena host", is_machine=True)
"""The arena itself and its command line, which may do what a host may."""


class Account(msgspec.Struct, frozen=True):
    id: int
    name: str
    is_host: bool
    is_disabled: bool
    created: float


class Team(msgspec.Struct, frozen=True):
    id: int
    name: str
    created: float


class Token(msgspec.Struct, frozen=True):
    id: int
    account: int
    name: str
    created: float
    last_used: float | None
    revoked: float | None


class Invitation(msgspec.Struct, frozen=True):
    """A link that is good once: to register (in `team`, or as a host), or to sign in to `account`."""

    hash: str
    team: int | None
    account: int | None
    is_host: bool
    created: float
    expires: float
    used: float | None


def secret_hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def checked_name(database: CupDatabase, table: str, name: str) -> str:
    """Return a name that a new account or team may have. Raises `ChangeRefusedError`."""
    if fault := name_fault(name):
        raise ChangeRefusedError(f"name: {expected_name(name, fault)}")
    taken = {taken.casefold() for taken in database.column(f"select name from {table}")}
    if name.casefold() in taken:
        raise ChangeRefusedError(f"name: expected one that is free, and {printable(name)} is taken. Choose another.")
    return name


def get_account(database: CupDatabase, number: int) -> Account:
    found = database.row(Account, "select * from account where id = ?", number)
    if found is None:
        raise ChangeRefusedError(f"there is no account {number}")
    return found


def get_team(database: CupDatabase, number: int) -> Team:
    found = database.row(Team, "select * from team where id = ?", number)
    if found is None:
        raise ChangeRefusedError(f"there is no team {number}")
    return found


def team_of(database: CupDatabase, account: int) -> Team | None:
    return database.row(Team, "select team.* from team join member on team.id = team where account = ?", account)


def members(database: CupDatabase, team: int) -> list[Account]:
    sql = "select account.* from account join member on account.id = member.account where team = ? order by name"
    return database.rows(Account, sql, team)


def accounts(database: CupDatabase) -> list[Account]:
    return database.rows(Account, "select * from account order by name")


def teams(database: CupDatabase) -> list[Team]:
    return database.rows(Team, "select * from team order by name")


def is_host(database: CupDatabase, actor: Actor) -> bool:
    if actor.account is None:
        return actor.is_machine
    account = get_account(database, actor.account)
    return account.is_host and not account.is_disabled


def is_member(database: CupDatabase, actor: Actor, team: int) -> bool:
    found = actor.account is not None and team_of(database, actor.account)
    return isinstance(found, Team) and found.id == team


def require_host(database: CupDatabase, actor: Actor) -> None:
    if not is_host(database, actor):
        raise ChangeRefusedError("only a host of this competition may do this")


def invite(
    database: CupDatabase, actor: Actor, *, team: int | None = None, is_host: bool = False, days: float = INVITED_DAYS
) -> str:
    """Make an invitation and return its secret word. A member may invite to the own team, a host anybody."""
    if not 0 < days <= MOST_DAYS:
        raise ChangeRefusedError(f"days: expected a number from 1 to {MOST_DAYS}, got {shown(days)}")
    with database.change():
        if team is not None:
            get_team(database, team)
        if is_host or team is None or not is_member(database, actor, team):
            require_host(database, actor)
        word = _new_link(database, days, team=team, is_host=is_host)
        database.note("invited", {"team": team, "is_host": is_host, "days": days}, actor.account, actor.address)
    return word


def make_link(database: CupDatabase, actor: Actor, account: int, days: float = LINK_DAYS) -> str:
    """Return the word of a link that signs in to an account once: an own one, or for a host anybody's."""
    with database.change():
        if actor.account != account:
            require_host(database, actor)
        _refuse_disabled(get_account(database, account))
        word = _new_link(database, min(days, MOST_DAYS), account=account)
        database.note("made a link to sign in", {"account": account}, actor.account, actor.address)
    return word


def _new_link(
    database: CupDatabase, days: float, *, team: int | None = None, account: int | None = None, is_host: bool = False
) -> str:
    word, now = secrets.token_urlsafe(WORD_BYTES), time.time()
    database.insert(
        "invitation",
        hash=secret_hash(word),
        team=team,
        account=account,
        is_host=is_host,
        created=now,
        expires=now + days * DAY,
    )
    return word


def find_invitation(database: CupDatabase, word: str) -> Invitation:
    """Return the invitation of a link. Raises `ChangeRefusedError` for one that is unknown, used or too old."""
    found = database.row(Invitation, "select * from invitation where hash = ?", secret_hash(word))
    if found is None or found.used is not None or found.expires < time.time():
        why = "unknown" if found is None else "too old" if found.used is None else "used already"
        raise ChangeRefusedError(f"this link is {why}: expected one that is new. Ask who sent it for another.")
    return found


def _use(database: CupDatabase, word: str, account: int | None) -> None:
    sql = "update invitation set used = ?, account = ? where hash = ?"
    database.run(sql, time.time(), account, secret_hash(word))


def sign_in_by_link(database: CupDatabase, word: str, address: str) -> Account:
    """Use a link of `make_link` and return the account."""
    with database.change():
        invitation = find_invitation(database, word)
        if invitation.account is None:
            raise ChangeRefusedError("this link is an invitation: expected a name for a new account")
        account = get_account(database, invitation.account)
        _refuse_disabled(account)
        _use(database, word, account.id)
        database.note("signed in with a link", {}, account.id, address)
    return account


def join(
    database: CupDatabase, cup: Cup, word: str, account_name: str, team_name: str = "", *, address: str = ""
) -> Account:
    """Make an account by invitation. With `team_name` it makes a team, unless the invitation is to one."""
    with database.change():
        invitation = find_invitation(database, word)
        if invitation.account is not None:
            raise ChangeRefusedError("this link is for an account that exists: sign in with it")
        if invitation.team is None and not (team_name or invitation.is_host):
            raise ChangeRefusedError("team: expected a name for your team. You can invite others to it afterwards.")
        account = _new_account(database, account_name, address, is_host=invitation.is_host)
        _use(database, word, account.id)
        if invitation.team is not None:
            _add_member(database, cup, account.id, invitation.team, address)
        elif team_name:
            _new_team(database, Actor(account.id, address), team_name)
    return account


def accept(database: CupDatabase, cup: Cup, actor: Actor, word: str) -> Team:
    """Use an invitation to a team with an account that has none."""
    account = _signed_in(actor)
    with database.change():
        invitation = find_invitation(database, word)
        if invitation.team is None or invitation.account is not None:
            raise ChangeRefusedError("this link is for a new account: expected an invitation to a team")
        _refuse_member(database, account)
        _use(database, word, account)
        _add_member(database, cup, account, invitation.team, actor.address)
        return get_team(database, invitation.team)


def register(database: CupDatabase, cup: Cup, account_name: str, team_name: str, address: str) -> Account:
    """Make an account and its team where registration is open."""
    if cup.registration.by != "open":
        raise ChangeRefusedError("this competition takes entrants by invitation: ask its host for a link")
    with database.change():
        account = _new_account(database, account_name, address, is_host=False)
        _new_team(database, Actor(account.id, address), team_name)
    return account


def _new_account(database: CupDatabase, name: str, address: str, *, is_host: bool) -> Account:
    name, now = checked_name(database, "account", name), time.time()
    number = database.insert("account", name=name, is_host=is_host, created=now)
    database.note("registered", {"name": name, "is_host": is_host}, number, address)
    return get_account(database, number)


def make_team(database: CupDatabase, actor: Actor, name: str) -> Team:
    account = _signed_in(actor)
    with database.change():
        _refuse_member(database, account)
        return _new_team(database, actor, name)


def _signed_in(actor: Actor) -> int:
    if actor.account is None:
        raise ChangeRefusedError("expected an account: sign in first")
    return actor.account


def _new_team(database: CupDatabase, actor: Actor, name: str) -> Team:
    name = checked_name(database, "team", name)
    number = database.insert("team", name=name, created=time.time())
    database.insert("member", account=actor.account, team=number)
    database.note("made a team", {"team": number, "name": name}, actor.account, actor.address)
    return get_team(database, number)


def _add_member(database: CupDatabase, cup: Cup, account: int, team: int, address: str) -> None:
    there = len(members(database, team))
    if there >= cup.registration.members:
        raise ChangeRefusedError(
            f"the team has {counted(there, 'member')}, and more than {cup.registration.members} are not allowed here"
        )
    database.insert("member", account=account, team=team)
    database.note("joined a team", {"team": team}, account, address)


def _refuse_member(database: CupDatabase, account: int) -> None:
    if (team := team_of(database, account)) is not None:
        raise ChangeRefusedError(f"expected an account without a team, and this one is in {team.name}: leave it first")


def remove_member(database: CupDatabase, actor: Actor, account: int) -> None:
    """Take an account out of its team. A member may do this to any member of the own team, a host to anybody."""
    with database.change():
        team = team_of(database, account)
        if team is None:
            raise ChangeRefusedError("this account is in no team")
        if not is_member(database, actor, team.id):
            require_host(database, actor)
        database.run("delete from member where account = ?", account)
        database.note("took out of a team", {"team": team.id, "account": account}, actor.account, actor.address)


def set_disabled(database: CupDatabase, actor: Actor, account: int, reason: str, *, is_disabled: bool) -> None:
    """Disable an account, which ends its sessions and stops its tokens, or enable it again."""
    with database.change():
        require_host(database, actor)
        found = get_account(database, account)
        if is_disabled and found.is_host and not _other_hosts(database, account):
            raise ChangeRefusedError("this is the only host's account: expected another host before it is disabled")
        database.run("update account set is_disabled = ? where id = ?", is_disabled, account)
        database.run("delete from session where account = ?", account)
        action = "disabled" if is_disabled else "enabled"
        database.note(action, {"account": account, "reason": reason}, actor.account, actor.address)


def _other_hosts(database: CupDatabase, account: int) -> int:
    sql = "select count(*) from account where is_host and not is_disabled and id <> ?"
    return int(database.value(sql, account))


def _refuse_disabled(account: Account) -> None:
    if account.is_disabled:
        raise ChangeRefusedError("this account is disabled: ask the host of the competition")


def make_token(database: CupDatabase, actor: Actor, account: int, name: str) -> str:
    """Make a token and return it: this is the only time that it is shown."""
    if fault := name_fault(name):
        raise ChangeRefusedError(f"name: {expected_name(name, fault)}")
    with database.change():
        if actor.account != account:
            require_host(database, actor)
        _refuse_disabled(get_account(database, account))
        if sum(token.revoked is None for token in tokens_of(database, account)) >= MOST_TOKENS:
            raise ChangeRefusedError(f"expected at most {MOST_TOKENS} tokens: revoke one that you do not use")
        word = TOKEN_PREFIX + secrets.token_urlsafe(WORD_BYTES)
        number = database.insert("token", hash=secret_hash(word), account=account, name=name, created=time.time())
        details = {"token": number, "name": name, "account": account}
        database.note("made a token", details, actor.account, actor.address)
    return word


def tokens_of(database: CupDatabase, account: int) -> list[Token]:
    columns = "id, account, name, created, last_used, revoked"
    return database.rows(Token, f"select {columns} from token where account = ? order by id", account)


def revoke_token(database: CupDatabase, actor: Actor, number: int) -> None:
    """Revoke a token: an own one, or for a host anybody's."""
    with database.change():
        owner = database.value("select account from token where id = ? and revoked is null", number)
        if owner is None or (owner != actor.account and not is_host(database, actor)):
            raise ChangeRefusedError("you have no such token")
        database.run("update token set revoked = ? where id = ?", time.time(), number)
        database.note("revoked a token", {"token": number, "account": owner}, actor.account, actor.address)


class _Found(msgspec.Struct, frozen=True):
    id: int
    hash: str
    account: int
    last_used: float | None


def account_of_token(database: CupDatabase, word: str) -> Account | None:
    """Return the account of a token that is good; remember its use."""
    given = secret_hash(word)
    sql = "select id, hash, account, last_used from token where hash = ? and revoked is null"
    found = database.row(_Found, sql, given)
    if found is None or not hmac.compare_digest(found.hash, given):
        return None
    account = get_account(database, found.account)
    if account.is_disabled:
        return None
    now = time.time()
    if found.last_used is None or now - found.last_used > USED_SECONDS:
        with suppress(ArenaError), database.change():  # on a full disk, pages go on
            database.run("update token set last_used = ? where id = ?", now, found.id)
    return account
