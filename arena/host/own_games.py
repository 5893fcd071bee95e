"""The games of a team's bots in the stores of seasons: as its bots saw them, and for two of its versions by results."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from arena.game.game_spec import Player
from arena.host.cup_site import ROWS, CupSite, go_to
from arena.host.guarded import Visitor
from arena.host.seasons import is_whole
from arena.host.submissions import Submission
from arena.league.readers import Audience, Reader
from arena.league.settings import game_in
from arena.league.store import GameRow, Store
from arena.league.store.document import NO_OPENINGS, Setting
from arena.report.site.game_page import GamePages
from arena.report.site.page_frame import Site
from arena.web.guard import NOT_FOUND, TEMPLATES, RequestRefused
from arena.web.store_pages import GAME as GAME_NAME
from arena.web.store_pages import TYPES
from arena.web.store_server import FOOTER
from protocol.seats import Color

MENU = (("Front page", "../../index.html"), ("Team", "../../team"), ("Games of the team", "../../team/games"))
Bots = frozenset[tuple[str, str]]
OwnGame = tuple[GameRow, Color, str]
"""A game, the side of the team's bot in it, and the team's outcome."""
DEALT = "Both games of a pair begin alike, so what a bot saw in one would show what is hidden in the other."


def players_of(site: CupSite, team: int) -> Bots:
    """Return a team's bots in stores: a digest alone may be that of another team's copy."""
    sql = "select distinct bot, player from submission where team = ? and player <> ''"
    return frozenset((one["bot"], one["player"]) for one in site.database.rows(dict, sql, team))


def _own(players: tuple[Player, Player], bots: Bots) -> frozenset[Player]:
    return frozenset(one for one in players if (one.name, one.digest) in bots)


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
    is_dealt = settings.get(Setting.OPENINGS, NO_OPENINGS) != NO_OPENINGS or (
        Setting.GAME in settings and game_in(settings).has_chance
    )
    if is_dealt and not is_whole(site.cup, season):
        raise RequestRefused(403, DEALT)

    def make() -> str:
        look = Site(f"{site.cup.title}: season {season.number}, as your bot saw it", MENU, FOOTER, TEMPLATES)
        made = GamePages(look, Reader(Audience.BOT, "", own), settings, {}, {}, has_dialogues=True).of(stored)
        return {"html": made.page, "js": made.script, "json": made.record}[kind]

    return Response(await site.compute(make), media_type=TYPES[kind])


def _games(store: Store, bots: Bots) -> Iterator[OwnGame]:
    digests = sorted({digest for _, digest in bots})
    for row in store.rows_of_players(digests, newest_first=True) if digests else ():
        if own := _own(row.players, bots):
            color = next(color for color in Color if row.players[color] in own)
            is_drawn = row.result.winner is None and not row.reason.is_forfeit
            yield row, color, "drawn" if is_drawn else "won" if row.result.winner is color else "lost"


def own_games(path: Path, bots: Bots, *, against: str, only: str, before: int) -> list[OwnGame]:
    def is_chosen(row: GameRow, color: Color, outcome: str) -> bool:
        is_only = only in ("", outcome) or ((only, outcome) == ("forfeited", "lost") and row.reason.is_forfeit)
        return is_only and row.number < before and against in ("", row.players[color.opponent].name)

    with Store(path, create=False) as store:
        return list(islice((game for game in _games(store, bots) if is_chosen(*game)), ROWS))


def compare(path: Path, versions: Sequence[Submission]) -> dict[str, list[Counter[str]]]:
    """Return, by opponents with games against all versions, how many games each won, drew and lost."""
    found: dict[str, list[Counter[str]]] = {}
    with Store(path, create=False) as store:
        for place, version in enumerate(versions):
            for row, color, outcome in _games(store, frozenset([(version.bot, version.player)])):
                counts = found.setdefault(row.players[color.opponent].name, [Counter() for _ in versions])
                counts[place][outcome] += 1
    return {name: counts for name, counts in sorted(found.items()) if all(counts)}
