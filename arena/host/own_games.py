"""The games of a team's bots in the stores of seasons: as its bots saw them, and for two of its versions by results."""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import trio
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import ArenaError
from arena.game.game_spec import Player
from arena.game.verdict import GameResult
from arena.host.cup_site import FOOTER, LEAGUE, CupSite, go_to
from arena.host.guarded import Visitor
from arena.host.submissions import Submission
from arena.league.readers import Audience, Reader
from arena.league.settings import game_in
from arena.league.store import GameRow, Store
from arena.league.store.document import GAME, NO_OPENINGS, OPENINGS
from arena.report.game_list import score_text
from arena.report.placings import stored_table
from arena.report.site.game_page import GameTexts
from arena.report.site.page_frame import Site
from arena.report.standings import Line
from arena.web.guard import NOT_FOUND, TEMPLATES, Asset, RequestRefused
from arena.web.store_pages import GAME as GAME_NAME
from arena.web.store_pages import TYPES
from protocol.seats import Color

LISTED = 200
MOST_IN_PAIRS = 200
MENU = (("Front page", "../../index.html"), ("Team", "../../team"), ("Games of the team", "../../team/games"))
DEALT = "Both games of a pair begin alike, so what a bot saw in one would show what is hidden in the other."
Players = frozenset[tuple[str, str]]
"""The names and digests of a team's bots in stores."""


class OwnGame(NamedTuple):
    """A game in the list of a team. `outcome` is won, drawn or lost; `is_forfeit` if the own bot lost by its fault."""

    number: int
    bot: str
    opponent: str
    color: str
    outcome: str
    score: str
    reason: str
    is_forfeit: bool
    plies: int
    started: float


class Comparison(NamedTuple):
    """Two versions in one table: their lines, the likelihood that the first is stronger, and results by opponent."""

    lines: tuple[Line, Line]
    stronger: float | None
    opponents: list[tuple[str, str, str]]


def players_of(site: CupSite, team: int) -> Players:
    sql = "select bot || char(10) || player from submission where team = ? and player <> ''"
    pairs = (text.partition("\n") for text in site.database.column(sql, team))
    return frozenset((name, digest) for name, _, digest in pairs)


def _own(players: tuple[Player, Player], bots: Players) -> frozenset[Player]:
    return frozenset(one for one in players if (one.name, one.digest) in bots)


def _is_dealt(settings: dict[str, str]) -> bool:
    return settings.get(OPENINGS, NO_OPENINGS) != NO_OPENINGS or (GAME in settings and game_in(settings).has_chance)


async def own_page(site: CupSite, request: Request, visitor: Visitor) -> Response:
    """Answer with a game as the bots of the visitor's team saw it; go to the public page of another name."""
    name, page = request.path_params["league"], request.path_params["name"]
    match, found = GAME_NAME.fullmatch(page), site.league(name)
    if found is None or visitor.team is None:
        raise RequestRefused(404, NOT_FOUND)
    if match is None:
        return go_to("/team/games" if name.startswith("challenges") else f"/{name}/{page}")
    path, season = found
    number, kind, bots = int(match[1]), match[2], players_of(site, visitor.team.id)
    is_whole = site.is_whole(season)

    def make() -> bytes:
        with Store(path, create=False) as store:
            stored, settings = store.stored(number), store.settings()
        own = _own(stored.row.players, bots) if stored.row else frozenset[Player]()
        if not own:
            raise RequestRefused(404, "Your team has no such game.")
        if _is_dealt(settings) and not is_whole:
            raise RequestRefused(403, DEALT)
        title = f"{site.cup.title}: season {season.number}, as your bot saw it"
        look = Site(title, MENU, FOOTER, TEMPLATES)
        made = GameTexts(look, Reader(Audience.BOT, "", own), settings, {}, (), has_dialogues=True).of(stored)
        return {"html": made.page, "js": made.script, "json": made.record}[kind].encode()

    try:
        async with site.one_at_once:
            body = await trio.to_thread.run_sync(make)
    except ArenaError as error:
        site.complain(f"{name}: game {number} has no page for its team: {error}")
        raise RequestRefused(503, "This game cannot be shown. The host has been told why.") from error
    return Asset.of(body, TYPES[kind]).answer(request)


def own_games(site: CupSite, name: str, team: int, *, against: str, only: str) -> list[OwnGame]:
    """Return the last games of a team in a league, the last one first."""
    games = (_listed(row, own) for row, own in _rows(site, name, team))
    chosen = [
        game
        for game in games
        if (not against or game.opponent == against)
        and (only in ("", game.outcome) or (only == "forfeited" and game.is_forfeit))
    ]
    return chosen[::-1][:LISTED]


def _rows(site: CupSite, name: str, team: int) -> Iterator[tuple[GameRow, frozenset[Player]]]:
    found, bots = site.league(name), players_of(site, team)
    if found is not None and bots:
        with Store(found[0], create=False) as store:
            for row in store.rows_of_players(sorted({digest for _, digest in bots})):
                if own := _own(row.players, bots):
                    yield row, own


def _listed(row: GameRow, own: frozenset[Player]) -> OwnGame:
    color = next(color for color in Color if row.players[color] in own)
    winner = row.result.winner
    is_drawn = row.result is GameResult.DRAW
    outcome = "drawn" if is_drawn else "won" if winner is color else "lost"
    return OwnGame(
        row.number,
        row.players[color].name,
        row.players[color.opponent].name,
        color.word,
        outcome,
        score_text(row.result),
        row.reason.value,
        row.reason.is_forfeit and outcome == "lost",
        row.plies,
        float(row.started or 0),
    )


def own_records(site: CupSite, name: str, team: int) -> bytes:
    """Return the lines of a team's games in a league as its bots saw them."""
    lines: list[bytes] = []
    found = site.league(name)
    rows = list(_rows(site, name, team))
    if found is None or not rows:
        return b""
    with Store(found[0], create=False) as store:
        if _is_dealt(store.settings()) and not site.is_whole(found[1]):
            raise RequestRefused(403, DEALT)
        for row, own in rows[-LISTED:]:
            record = store.stored(row.number).sound
            with suppress(ArenaError):
                lines += Reader(Audience.BOT, "", own).lines(record, {}) if record else ()
    return b"".join(line + b"\n" for line in lines)


def compare(site: CupSite, name: str, versions: tuple[Submission, Submission]) -> Comparison | str:
    """Compare two versions by all games of a league; return a sentence if they have not both played in it."""
    if (found := LEAGUE.fullmatch(name) and site.league(name)) is None:
        return "No game of this season is over yet."
    with Store(found[0], create=False) as store:
        table = stored_table(store, everyone=True, pairs=MOST_IN_PAIRS).table
    shown = {(one.name, one.digest): text for one, text in table.names.items()}
    names = [shown.get((one.bot, one.player), "") for one in versions]
    by_name = {line.name: line for line in table.lines}
    lines = tuple(by_name[one] for one in names if one in by_name)
    if len(lines) < 2 or names[0] == names[1]:
        return "Both versions need games in this season, and they need to be two."
    first, second = lines
    stronger = None
    for pair in table.pairs or ():
        if {pair.name, pair.opponent} == set(names):
            stronger = pair.stronger if pair.name == names[0] else 1 - pair.stronger
    met = [table.crosstable.row(one) for one in names]
    points = [{other: f"{each.points:g}/{each.games}" for other, each in row.items()} for row in met]
    opponents = [line.name for line in table.lines if any(line.name in row for row in points)]
    return Comparison(
        (first, second), stronger, [(other, points[0].get(other, ""), points[1].get(other, "")) for other in opponents]
    )
