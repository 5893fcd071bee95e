"""Challenges: unrated games that a team asks for, of a bot of its own against any bot, so many a day."""

import enum
import time

import msgspec

from arena.host.accounts import DAY, Actor, ChangeRefusedError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.seasons import SeasonState, current
from arena.host.submissions import PLAYING, get_submission
from arena.system.printable import counted


class ChallengeState(enum.Enum):
    WAITING = "waiting"
    PLAYED = "played"
    REFUSED = "refused"


class Challenge(msgspec.Struct, frozen=True):
    id: int
    season: int
    submission: int
    against: int
    games: int
    played: int


def games_left_today(database: CupDatabase, cup: Cup, team: int) -> int:
    sql = (
        "select sum(case challenge.state when 'refused' then played else challenge.games end) from challenge "
        "join submission on submission.id = challenge.submission where team = ? and challenge.created > ?"
    )
    return max(0, cup.challenges.games_a_day - (database.value(sql, team, time.time() - DAY) or 0))


def ask(database: CupDatabase, cup: Cup, actor: Actor, team: int, *, submission: int, against: int, games: int) -> int:
    """Ask for games of a team's bot; return the challenge's id. Raises `ChangeRefusedError`."""
    with database.change():
        season = current(database)
        if season.state not in (SeasonState.OPEN, SeasonState.FROZEN):
            raise ChangeRefusedError(f"season {season.number} is {season.state.value}: wait for the next one")
        own, other = get_submission(database, submission), get_submission(database, against)
        for bot in (own, other):
            if bot.state not in PLAYING:
                raise ChangeRefusedError(f"{bot.label} is {bot.state.value}: expected a bot in the ladder")
        if own.team != team:
            raise ChangeRefusedError("expected a bot of your own team as the one that challenges")
        if own.id == other.id:
            raise ChangeRefusedError("expected another bot, or another version of your bot")
        left = games_left_today(database, cup, team)
        if not 1 <= games <= left:
            raise ChangeRefusedError(
                f"expected from 1 to {counted(left, 'game')}, got {games}: a team may ask for "
                f"{cup.challenges.games_a_day} in 24 hours"
            )
        asked = {"season": season.number, "submission": own.id, "against": other.id, "games": games}
        id = database.insert(
            "challenge", account=actor.account, **asked, created=time.time(), state=ChallengeState.WAITING.value
        )
        database.note("challenge", {"challenge": id, **asked}, actor.account, actor.address)
    return id


def next_challenge(database: CupDatabase) -> Challenge | None:
    """Return the challenge that is played next: the first one of the team that has had the fewest of late."""
    return database.row(
        Challenge,
        "select challenge.* from challenge join submission on submission.id = challenge.submission "
        "where challenge.state = 'waiting' order by (select count(*) from challenge as other join submission as its "
        "on its.id = other.submission where its.team = submission.team and other.state = 'played' "
        "and other.created > ?), challenge.id limit 1",
        time.time() - DAY,
    )


def waiting(database: CupDatabase) -> int:
    return int(database.value("select count(*) from challenge where state = 'waiting'"))


def games_before(database: CupDatabase, challenge: Challenge) -> int:
    pair = challenge.submission, challenge.against
    others = "select total(played) from challenge where id <> ? and season = ?"
    sql = f"{others} and submission in (?, ?) and against in (?, ?)"
    return int(database.value(sql, challenge.id, challenge.season, *pair, *pair))


def note_played(database: CupDatabase, id: int, played: int, state: ChallengeState, reason: str = "") -> None:
    database.run("update challenge set played = ?, state = ?, reason = ? where id = ?", played, state.value, reason, id)
