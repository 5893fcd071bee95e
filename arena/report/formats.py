"""How a format places the bots, beside the table of ratings: a short list, and the same for programs."""

from collections.abc import Mapping, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.counted import counted
from arena.game.spec import Player
from arena.league.pairing.placing import (
    FormatPlace,
    KnockoutPlace,
    LadderPlace,
    LadderStop,
    Placing,
    StopReason,
    SwissPlace,
)
from arena.league.store import Disqualified
from arena.report.shorten import NAME_WIDTH
from arena.report.standings import Line

Names = Mapping[Player, str]

ROUNDS = {2: "the final", 4: "a semi-final", 8: "a quarter-final"}


class PlaceEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bot's place by the format's own rules. What the format does not have is left out; see docs/formats.md."""

    place: int | None
    """None for a bot that was disqualified."""
    name: str
    points: float | None = None
    byes: int | None = None
    buchholz: float | None = None
    won: int | None = None
    lost_in: str | None = None
    lost_to: str | None = None
    score: str | None = None
    decided_by: str | None = None
    elo: float | None = None
    games: int | None = None
    above_next: float | None = None


class DisqualifiedEntry(msgspec.Struct, frozen=True):
    """A bot that played no more; `left_out` is None where it depends on results how many games that are."""

    name: str
    faults: int
    left_out: int | None
    is_so_far: bool
    """Whether more may be left out, as the league is not over."""
    not_counted: int = 0
    """Games of it in this table that are none of that league, which left them out."""


class PlacingEntry(msgspec.Struct, frozen=True):
    """What the format says of the bots."""

    places: tuple[PlaceEntry, ...]
    disqualified: tuple[DisqualifiedEntry, ...]
    stop: LadderStop | None = None
    """Why a ladder is over, if it is one and it is."""


def placing_entry(placing: Placing, names: Names) -> PlacingEntry:
    """A placing for programs; `names` are those that the table shows."""
    return PlacingEntry(
        places=tuple(_entry(place, names) for place in placing.places),
        disqualified=tuple(
            DisqualifiedEntry(
                _name(one.player, names), one.faults, one.left_out, one.is_so_far, placing.others.get(one.player, 0)
            )
            for one in placing.disqualified
        ),
        stop=placing.stop,
    )


def borne_out(disqualified: Sequence[Disqualified], lines: Sequence[Line], names: Names) -> Placing | None:
    """What a store says of disqualified bots, as far as the games in its table do: who has fewer faults there than is
    said has not been disqualified. None if nobody is left. `names` are those that the table shows.

    A table of all games in the store can have games of such a bot that its league left out: they are counted, to be
    said with it.
    """
    by_name = {line.name: line for line in lines}
    found, others = [], {}
    for one in disqualified:
        line = by_name.get(names.get(one.player, ""))
        if line is not None and 1 <= one.faults <= line.forfeits:
            found.append(one)
            if one.counted is not None and line.games > one.counted:
                others[one.player] = line.games - one.counted
    return Placing(disqualified=tuple(found), others=others) if found else None


def placing_report(placing: Placing, names: Names) -> RenderableType:
    """A placing as a list, a line for each bot that was disqualified, and why a ladder is over."""
    parts: list[RenderableType] = []
    if placing.places:
        title, grid = _list(placing.places, names)
        parts += ["", Text(title, style="bold"), grid]
    parts += map(Text, disqualified_lines(placing, names))
    if placing.stop:
        parts.append(Text(_stop(placing.stop)))
    return Group(*parts)


def disqualified_lines(placing: Placing, names: Names) -> list[str]:
    """A line for each bot that was disqualified."""
    return [_disqualified(one, names, placing.others.get(one.player, 0)) for one in placing.disqualified]


def _name(player: Player, names: Names) -> str:
    return names.get(player, player.name)


def _place(place: FormatPlace) -> str:
    """A disqualified bot has none."""
    return "-" if place.place is None else str(place.place)


def _points(points: float) -> str:
    return f"{points:g}"


def _entry(place: FormatPlace, names: Names) -> PlaceEntry:
    name = _name(place.player, names)
    match place:
        case SwissPlace():
            return PlaceEntry(
                place.place, name, points=place.points, byes=place.byes, buchholz=place.buchholz, won=place.wins
            )
        case KnockoutPlace() if place.lost_in is None:
            return PlaceEntry(place.place, name)
        case KnockoutPlace():
            return PlaceEntry(
                place.place,
                name,
                lost_in=_round(place),
                lost_to=_name(place.lost_to, names) if place.lost_to else None,
                score=_score(place),
                decided_by=place.decided_by,
            )
        case LadderPlace():
            return PlaceEntry(place.place, name, elo=place.elo, games=place.games, above_next=place.above_next)


def _list(places: Sequence[FormatPlace], names: Names) -> tuple[str, Grid]:
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    grid.add_column("#", justify="right")
    grid.add_column("bot", no_wrap=True, overflow="ellipsis", max_width=NAME_WIDTH)
    headers: tuple[str, ...]
    first, cells = places[0], [(_place(place), Text(_name(place.player, names))) for place in places]
    match first:
        case SwissPlace():
            title, headers = "Swiss: points with byes", ("points", "Buchholz", "won", "byes")
        case KnockoutPlace():
            title, headers = "Knockout", ("",)
        case LadderPlace():
            title, headers = "Ladder: how likely each is stronger than the next", ("Elo", "games", "above next")
    for header in headers:
        grid.add_column(header, justify="left" if header == "" else "right")
    for start, place in zip(cells, places, strict=True):
        grid.add_row(*start, *_cells(place, names))
    return title, grid


def _cells(place: FormatPlace, names: Names) -> list[str | Text]:
    match place:
        case SwissPlace():
            return [_points(place.points), _points(place.buchholz), str(place.wins), str(place.byes)]
        case KnockoutPlace():
            return [Text(_fate(place, names))]
        case LadderPlace():
            above = "" if place.above_next is None else f"{min(place.above_next, 0.9999):.2%}"
            return [f"{round(place.elo) or 0:+d}", str(place.games), above]


def _round(place: KnockoutPlace) -> str:
    return ROUNDS.get(place.lost_in or 0, f"the round of {place.lost_in}")


def _score(place: KnockoutPlace) -> str:
    return f"{_points(place.points)}-{_points(place.opponent_points)}"


def _fate(place: KnockoutPlace, names: Names) -> str:
    if place.lost_in is None:
        return "winner" if place.is_winner else "still in"
    words = f"lost {_round(place)}"
    if place.lost_to:
        words += f" to {_name(place.lost_to, names)} {_score(place)}"
    return f"{words} {place.decided_by}".rstrip()


def _disqualified(one: Disqualified, names: Names, others: int) -> str:
    words = f"{_name(one.player, names)} is disqualified after {counted(one.faults, 'fault')}"
    if one.left_out is None:
        words += " and plays no more"
    else:
        words += f": {counted(one.left_out, 'game')} left out{' so far' if one.is_so_far else ''}"
    if others:
        words += f"; this table counts {counted(others, 'game')} of it that the league does not"
    return words


def _stop(stop: LadderStop) -> str:
    before = "all" if stop.known == stop.games else f"{stop.known} of them"
    played = f"{stop.games} games" + (f", {before} from before" if stop.known else "")
    match stop.reason:
        case StopReason.SURE:
            return f"the ladder is over, after {played}: each bot is above the next with {stop.confidence:.4g} or more"
        case StopReason.NO_PAIR:
            return f"the ladder is over, after {played}: no two bots are left to play"
    words = f"the ladder is over, as its games are spent ({played})"
    if stop.unclear is None:
        return words
    bots = "1 bot is" if stop.unclear == 1 else f"{stop.unclear} bots are"
    return f"{words}: {bots} above the next with less than {stop.confidence:.4g}; a larger --games goes on"
