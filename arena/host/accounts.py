"""Accounts, teams, links and tokens of a competition: who may do what.

There are no passwords. A person signs in with a token, or with a link that is good once. Of both only the SHA-256 is
kept. What was made with a token - sessions, links - ends with it, and the links that an account has made end with it.
"""

import hashlib
import secrets
import time
import unicodedata
from contextlib import suppress
from typing import TypeVar

import msgspec

from arena.bots.names import expected_name, name_fault
from arena.errors import ArenaError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.system.printable import counted, printable

T = TypeVar("T")
TOKEN_PREFIX = "arena_"
"""The beginning of each token, by which programs that look for published secrets can find one."""
WORD_BYTES = 32
DAY = 86400.0
INVITED_DAYS, LINK_DAYS = 14, 1
MOST_TOKENS = 20
LINKS = 100
USED_SECONDS = 60.0
"""The least time between two updates of a token's last use."""
LOOKS_LIKE = {
    **str.maketrans("авекмнорстухіјѕԁһԛԝ", "abekmhopctyxljsdhqw"),
    **str.maketrans("αβεηικμνορτυχ", "abenlkmvoptux"),
    **str.maketrans("01i|", "olll"),
}
"""Letters of other alphabets, and digits, that look like a Latin letter."""


class ChangeRefusedError(ArenaError):
    """A change that a person asked for and that cannot be made. The text says why, and what to do."""


class Actor(msgspec.Struct, frozen=True):
    """The author of a change: an account, with the token by which it came, a stranger, or the arena itself."""

    account: int | None
    address: str = ""
    is_machine: bool = False
    token: int | None = None


MACHINE = Actor(None, "arena host", is_machine=True)
"""The arena itself and its command line, which may do what a host may."""


class Account(msgspec.Struct, frozen=True):
    """`can_found`: it may make a team, once."""

    id: int
    name: str
    is_host: bool
    is_disabled: bool
    can_found: bool
    created: float


class Team(msgspec.Struct, frozen=True):
    id: int
    name: str


class Token(msgspec.Struct, frozen=True):
    id: int
    account: int
    name: str
    created: float
    last_used: float | None


class Invitation(msgspec.Struct, frozen=True):
    """A link that is good once: to register (in `team`, or as a host), or to sign in to `account`. `by` has made it."""

    id: int
    team: int | None
    account: int | None
    is_host: bool
    token: int | None
    expires: float
    by: str | None = None


def secret_hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def name_key(name: str) -> str:
    """Return the same text for names that people cannot tell apart."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return folded.translate(LOOKS_LIKE)


def checked_name(database: CupDatabase, table: str, name: str) -> str:
    """Return a name that can be taken. Raises `ChangeRefusedError`, which begins with the field of the forms."""
    fault, field = name_fault(name), "team" if table == "team" else "name"
    if fault:
        raise ChangeRefusedError(f"{field}: {expected_name(name, fault)}")
    if name_key(name) in map(name_key, database.column(f"select name from {table}")):
        words = f"expected one that is free, and {printable(name)} or one that looks like it is taken: choose another"
        raise ChangeRefusedError(f"{field}: {words}")
    return name


def by_number(database: CupDatabase, kind: type[T], table: str, number: int) -> T:
    """Return a row of a table by its id. Raises `ChangeRefusedError` if there is none."""
    found = database.row(kind, f"select * from {table} where id = ?", number)
    if found is None:
        raise ChangeRefusedError(f"there is no {table} {number}")
    return found


def get_account(database: CupDatabase, number: int) -> Account:
    return by_number(database, Account, "account", number)


def get_team(database: CupDatabase, number: int) -> Team:
    return by_number(database, Team, "team", number)


def team_of(database: CupDatabase, account: int) -> Team | None:
    return database.row(Team, "select team.* from team join member on team.id = team where account = ?", account)


def members(database: CupDatabase, team: int) -> list[Account]:
    sql = "select account.* from account join member on account.id = member.account where team = ? order by name"
    return database.rows(Account, sql, team)


def is_host(database: CupDatabase, actor: Actor) -> bool:
    if actor.account is None:
        return actor.is_machine
    account = get_account(database, actor.account)
    return account.is_host and not account.is_disabled


def is_member(database: CupDatabase, actor: Actor, team: int) -> bool:
    return bool(database.value("select 1 from member where account = ? and team = ?", actor.account, team))


def require_host(database: CupDatabase, actor: Actor) -> None:
    if not is_host(database, actor):
        raise ChangeRefusedError("only a host of this competition may do this")


def invite(database: CupDatabase, actor: Actor, *, team: int | None = None, is_host: bool = False) -> str:
    """Make an invitation and return its secret word. A member may invite to the own team, a host anybody."""
    with database.change():
        if is_host or team is None or not is_member(database, actor, team):
            require_host(database, actor)
        return _new_link(database, actor, INVITED_DAYS, team=team, is_host=is_host)


def make_link(database: CupDatabase, actor: Actor, account: int) -> str:
    """Return the word of a link that signs in to an account once: an own one, or for a host anybody's."""
    with database.change():
        _check_own(database, actor, account)
        return _new_link(database, actor, LINK_DAYS, account=account, is_host=False)


def _new_link(database: CupDatabase, actor: Actor, days: float, **values: int | None) -> str:
    word, now = secrets.token_urlsafe(WORD_BYTES), time.time()
    database.run("delete from invitation where expires < ?", now)
    made = {"maker": actor.account, "token": actor.token, "created": now, "expires": now + days * DAY}
    number = database.insert("invitation", hash=secret_hash(word), **made, **values)
    database.note("made a link", {"link": number, **values}, actor.account, actor.address)
    return word


def find_invitation(database: CupDatabase, word: str) -> Invitation:
    sql = "select * from invitation where hash = ? and expires > ?"
    found = database.row(Invitation, sql, secret_hash(word), time.time())
    if found is None:
        raise ChangeRefusedError("this link is unknown, revoked, used or too old: ask who sent it for another")
    return found


def _use(database: CupDatabase, word: str) -> Invitation:
    found = find_invitation(database, word)
    database.run("delete from invitation where id = ?", found.id)
    return found


def links(database: CupDatabase, actor: Actor, more: str = "", *values: object) -> list[Invitation]:
    """Return the last links that an actor may revoke and that meet a further condition: a host's are all."""
    sql = (
        "select invitation.*, name as by from invitation left join account on account.id = maker "
        "where expires > ? and (? or ? in (account, maker) or team in (select team from member where account = ?)) "
        f"{more} order by invitation.id desc limit {LINKS}"
    )
    own = actor.account
    return database.rows(Invitation, sql, time.time(), is_host(database, actor), own, own, *values)


def revoke_link(database: CupDatabase, actor: Actor, number: int) -> None:
    with database.change():
        if not links(database, actor, "and invitation.id = ?", number):
            raise ChangeRefusedError("you have no such link: it may be used already")
        database.run("delete from invitation where id = ?", number)
        database.note("revoked a link", {"link": number}, actor.account, actor.address)


def sign_in_by_link(database: CupDatabase, word: str, address: str) -> tuple[int, int | None]:
    """Use a link of `make_link`; return the account, and the token by which the link was made."""
    with database.change():
        link = _use(database, word)
        if link.account is None:
            raise ChangeRefusedError("this link is an invitation: expected a name for a new account")
        database.note("signed in with a link", {"link": link.id}, link.account, address)
        return link.account, link.token


def join(database: CupDatabase, cup: Cup, word: str, name: str, team_name: str = "", *, address: str = "") -> Account:
    """Make an account by invitation. With `team_name` it makes a team, unless the invitation is to one."""
    with database.change():
        link = _use(database, word)
        if link.account is not None:
            raise ChangeRefusedError("this link is for an account that exists: sign in with it")
        if link.team is None and not (team_name or link.is_host):
            raise ChangeRefusedError("team: expected a name for your team. You can invite others to it afterwards.")
        can_found = link.team is None or cup.registration.by == "open"
        details = {"is_host": link.is_host, "can_found": can_found}
        account = _new_account(database, name, address, link=link.id, **details)
        if link.team is not None:
            _add_member(database, cup, account, link.team, address)
        elif team_name:
            _new_team(database, Actor(account, address), team_name)
        return get_account(database, account)


def accept(database: CupDatabase, cup: Cup, actor: Actor, word: str) -> Team:
    with database.change():
        account, link = _free_account(database, actor), _use(database, word)
        if link.team is None:
            raise ChangeRefusedError("this link is for a new account: expected an invitation to a team")
        _add_member(database, cup, account.id, link.team, actor.address)
        return get_team(database, link.team)


def register(database: CupDatabase, cup: Cup, name: str, team_name: str, address: str) -> Account:
    if cup.registration.by != "open":
        raise ChangeRefusedError("this competition takes entrants by invitation: ask its host for a link")
    with database.change():
        account = _new_account(database, name, address, is_host=False, can_found=True)
        _new_team(database, Actor(account, address), team_name)
        return get_account(database, account)


def _new_account(
    database: CupDatabase, name: str, address: str, *, is_host: bool, can_found: bool, link: int | None = None
) -> int:
    name, now = checked_name(database, "account", name), time.time()
    number = database.insert("account", name=name, is_host=is_host, can_found=can_found, created=now)
    database.note("registered", {"name": name, "is_host": is_host, "link": link}, number, address)
    return number


def make_team(database: CupDatabase, actor: Actor, name: str) -> Team:
    with database.change():
        if not _free_account(database, actor).can_found:
            raise ChangeRefusedError("this account makes no team (each makes one, if a host has invited it): join one")
        return _new_team(database, actor, name)


def _new_team(database: CupDatabase, actor: Actor, name: str) -> Team:
    name = checked_name(database, "team", name)
    number = database.insert("team", name=name, created=time.time())
    database.insert("member", account=actor.account, team=number)
    database.run("update account set can_found = 0 where id = ?", actor.account)
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


def _free_account(database: CupDatabase, actor: Actor) -> Account:
    if actor.account is None:
        raise ChangeRefusedError("expected an account: sign in first")
    if (team := team_of(database, actor.account)) is not None:
        raise ChangeRefusedError(f"expected an account without a team, and this one is in {team.name}: leave it first")
    return get_account(database, actor.account)


def remove_member(database: CupDatabase, actor: Actor, account: int) -> None:
    """Take an account out of its team, with its invitations to it: a member any of the own team, a host anybody."""
    with database.change():
        team = team_of(database, account)
        if team is None:
            raise ChangeRefusedError("this account is in no team")
        if not is_member(database, actor, team.id):
            require_host(database, actor)
        database.run("delete from member where account = ?", account)
        database.run("delete from invitation where maker = ? and team = ?", account, team.id)
        database.note("took out of a team", {"team": team.id, "account": account}, actor.account, actor.address)


def set_disabled(database: CupDatabase, actor: Actor, account: int, reason: str, *, is_disabled: bool) -> None:
    """Disable an account, which signs it out everywhere, or enable it again."""
    with database.change():
        require_host(database, actor)
        others = "select count(*) from account where is_host and not is_disabled and id <> ?"
        if is_disabled and get_account(database, account).is_host and not database.value(others, account):
            raise ChangeRefusedError("this is the only host's account: expected another host before it is disabled")
        database.run("update account set is_disabled = ? where id = ?", is_disabled, account)
        _end_all(database, account)
        action = "disabled" if is_disabled else "enabled"
        database.note(action, {"account": account, "reason": reason}, actor.account, actor.address)


def sign_out_everywhere(database: CupDatabase, actor: Actor, account: int) -> None:
    """End all sessions, tokens and links of an account: an own one, or for a host anybody's."""
    with database.change():
        _check_own(database, actor, account)
        _end_all(database, account)
        database.note("signed out everywhere", {"account": account}, actor.account, actor.address)


def _end_all(database: CupDatabase, account: int) -> None:
    for table in ("token", "session"):
        database.run(f"delete from {table} where account = ?", account)
    database.run("delete from invitation where ? in (account, maker)", account)


def _check_own(database: CupDatabase, actor: Actor, account: int) -> None:
    if actor.account != account:
        require_host(database, actor)
    if get_account(database, account).is_disabled:
        raise ChangeRefusedError("this account is disabled: ask the host of the competition")


def make_token(database: CupDatabase, actor: Actor, account: int, name: str) -> str:
    """Make a token and return it: this is the only time that it is shown."""
    if fault := name_fault(name):
        raise ChangeRefusedError(f"name: {expected_name(name, fault)}")
    with database.change():
        _check_own(database, actor, account)
        if len(tokens_of(database, account)) >= MOST_TOKENS:
            raise ChangeRefusedError(f"expected at most {MOST_TOKENS} tokens: revoke one that you do not use")
        word = TOKEN_PREFIX + secrets.token_urlsafe(WORD_BYTES)
        number = database.insert("token", hash=secret_hash(word), account=account, name=name, created=time.time())
        details = {"token": number, "name": name, "account": account}
        database.note("made a token", details, actor.account, actor.address)
    return word


def tokens_of(database: CupDatabase, account: int) -> list[Token]:
    return database.rows(Token, "select * from token where account = ? order by id", account)


def revoke_token(database: CupDatabase, actor: Actor, number: int) -> None:
    """Revoke a token, with what was made with it: an own one, or for a host anybody's."""
    with database.change():
        owner = database.value("select account from token where id = ?", number)
        if owner is None or (owner != actor.account and not is_host(database, actor)):
            raise ChangeRefusedError("you have no such token")
        database.run("delete from token where id = ?", number)
        database.note("revoked a token", {"token": number, "account": owner}, actor.account, actor.address)


def find_token(database: CupDatabase, word: str) -> Token | None:
    found = database.row(Token, "select * from token where hash = ?", secret_hash(word))
    now = time.time()
    if found is not None and now - (found.last_used or 0) > USED_SECONDS:
        with suppress(ArenaError), database.change():  # on a full disk, pages go on
            database.run("update token set last_used = ? where id = ?", now, found.id)
    return found
