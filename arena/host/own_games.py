"""The games of a team's bots in the stores of seasons: as its bots saw them, and for two of its versions by results."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from arena.errors import ArenaError
from arena.game.game_spec import Player
from arena.host.cup_site import FOOTER, CupSite, go_to
from arena.host.guarded import Visitor
from arena.host.submissions import Submission
from arena.league.readers import Audience, Reader
from arena.league.settings import game_in
from arena.league.store import GameRow, Store
from arena.league.store.document import GAME, NO_OPENINGS, OPENINGS
from arena.report.placings import stored_table
from arena.report.site.game_page import GameTexts
from arena.report.site.page_frame import Site
from arena.report.standings import Line
from arena.web.guard import NOT_FOUND, TEMPLATES, RequestRefused
from arena.web.store_pages import GAME as GAME_NAME
from arena.web.store_pages import TYPES
from protocol.seats import Color

LISTED = 200
MOST_IN_PAIRS = 200
MENU = (("Front page", "../../index.html"), ("Team", "../../team"), ("Games of the team", "../../team/games"))
Bots = frozenset[tuple[str, str]]
"""Names and digests."""
DEALT = "Both games of a pair begin alike, so what a bot saw in one would show what is hidden in the other."


class OwnGame(NamedTuple):
    """A game with a bot of the team on the side `color`; the `outcome` is the team's."""

    row: GameRow
    own: frozenset[Player]
    color: Color
    outcome: str

    @property
    def is_forfeit(self) -> bool:
        return self.outcome == "lost" and self.row.reason.is_forfeit


class Comparison(NamedTuple):
    """Two versions in one table: their lines, the likelihood that the first is stronger, and points by opponent."""

    lines: tuple[Line, ...]
    stronger: float | None
    opponents: list[tuple[str, str, str]]


def players_of(site: CupSite, team: int) -> Bots:
    """Return a team's bots in stores: a digest alone may be that of another team's copy."""
    sql = "select distinct bot, player from submission where team = ? and player <> ''"
    return frozenset((one["bot"], one["player"]) for one in site.database.rows(dict, sql, team))


def _own(players: tuple[Player, Player], bots: Bots) -> frozenset[Player]:
    return frozenset(one for one in players if (one.name, one.digest) in bots)


def _refuse_dealt(settings: dict[str, str]) -> None:
    if settings.get(OPENINGS, NO_OPENINGS) != NO_OPENINGS or (GAME in settings and game_in(settings).has_chance):
        raise RequestRefused(403, DEALT)


async def own_page(site: CupSite, request: Request, visitor: Visitor) -> Response:
    """Answer with a game as the bots of the visitor's team saw it; go to the public page of another name."""
    name, page = request.path_params["league"], request.path_params["name"]
    match, found = GAME_NAME.fullmatch(page), site.league(name)
    if found is None:
        raise RequestRefused(404, NOT_FOUND)
    if match is None:
        return go_to("/team/games" if name.startswith("challenges") else f"/{name}/{page}")
    path, season = found
    number, kind = int(match[1]), match[2]
    with Store(path, create=False) as store:
        stored, settings = store.stored(number), store.settings()
    own = _own(stored.row.players, players_of(site, visitor.own_team.id)) if stored.row else frozenset[Player]()
    if not own:
        raise RequestRefused(404, "Your team has no such game.")
    if not site.is_whole(season):
        _refuse_dealt(settings)

    def make() -> str:
        look = Site(f"{site.cup.title}: season {season.number}, as your bot saw it", MENU, FOOTER, TEMPLATES)
        made = GameTexts(look, Reader(Audience.BOT, "", own), settings, {}, (), has_dialogues=True).of(stored)
        return {"html": made.page, "js": made.script, "json": made.record}[kind]

    return Response(await site.compute(make), media_type=TYPES[kind])


def _games(store: Store, bots: Bots) -> Iterator[OwnGame]:
    digests = sorted({digest for _, digest in bots})
    for row in store.rows_of_players(digests) if digests else ():
        if own := _own(row.players, bots):
            color = next(color for color in Color if row.players[color] in own)
            is_drawn, has_won = row.result.winner is None and not row.reason.is_forfeit, row.result.winner is color
            yield OwnGame(row, own, color, "drawn" if is_drawn else "won" if has_won else "lost")


def own_games(path: Path, bots: Bots, *, against: str = "", only: str = "") -> list[OwnGame]:
    """Return the last games of these bots in a store, the last one first."""
    with Store(path, create=False) as store:
        games = list(_games(store, bots))
    chosen = [game for game in games if against in ("", game.row.players[game.color.opponent].name)]
    chosen = [one for one in chosen if only in ("", one.outcome) or (only == "forfeited" and one.is_forfeit)]
    return chosen[::-1][:LISTED]


def own_records(path: Path, bots: Bots, *, is_whole: bool) -> bytes:
    """Return the lines of the last games of these bots as they saw them."""
    lines: list[bytes] = []
    games = own_games(path, bots)
    with Store(path, create=False) as store:
        if not is_whole:
            _refuse_dealt(store.settings())
        for game in games:
            record = store.stored(game.row.number).sound
            lines += Reader(Audience.BOT, "", game.own).lines(record, {}) if record else ()
    return b"".join(line + b"\n" for line in lines)


def compare(path: Path, versions: Sequence[Submission]) -> Comparison:
    """Compare two versions by all games of a store. Raises `ArenaError` if they have not both played in it."""
    with Store(path, create=False) as store:
        table = stored_table(store, everyone=True, pairs=MOST_IN_PAIRS).table
    named = {(one.name, one.digest): text for one, text in table.names.items()}
    names = [named.get((one.bot, one.player), "") for one in versions]
    by_name = {line.name: line for line in table.lines}
    if names[0] == names[1] or not by_name.keys() >= set(names):
        raise ArenaError("Both versions need games in this season, and they need to be two.")
    stronger = None
    for pair in table.pairs or ():
        if {pair.name, pair.opponent} == set(names):
            stronger = pair.stronger if pair.name == names[0] else 1 - pair.stronger
    rows = [table.crosstable.row(one) for one in names]
    points = [{other: f"{each.points:g}/{each.games}" for other, each in row.items()} for row in rows]
    opponents = [line.name for line in table.lines if any(line.name in row for row in points)]
    results = [(other, points[0].get(other, ""), points[1].get(other, "")) for other in opponents]
    return Comparison(tuple(by_name[one] for one in names), stronger, results)
