"""The places of a league's format on its pages, and who met whom: values for the templates, and the page of rounds."""

from collections.abc import Mapping
from dataclasses import dataclass

from arena.league.pairing import Meeting, Placing
from arena.report.placings import (
    cells,
    headings,
    name_if_known,
    place_text,
    remarks_of,
    stop_text,
    title_of,
    title_text,
)
from arena.report.roster import ShownNames, shown_name
from arena.report.site.page_frame import PageFrame, Words

ROUNDS_PAGE = "rounds.html"


@dataclass(frozen=True)
class PlaceRow:
    """A line of the list of places; `href` is the bot's page."""

    place: str
    name: str
    href: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class PlaceList:
    """The list as it stands on the first page. `are_words` says that its cells are no numbers, `note` why a ladder is
    over; `rounds` is the page of those, if there are some."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[PlaceRow, ...]
    are_words: bool
    note: str
    rounds: str


@dataclass(frozen=True)
class MeetingSide:
    """One of the two of a meeting: the name, or who is not known yet; `href` is empty then."""

    name: str
    href: str
    points: str
    is_winner: bool


@dataclass(frozen=True)
class MeetingRow:
    """Two bots in a round, with the numbers of their games and the pages of those that have one; one side of a bye."""

    sides: tuple[MeetingSide, ...]
    games: tuple[tuple[int, str], ...]
    remark: str


def place_list(placing: Placing | None, names: ShownNames, href: Mapping[str, str], words: Words) -> PlaceList | None:
    """The list of places, under the names that the table shows; None where the table says all."""
    if placing is None or not placing.places:
        return None
    heads = headings(placing.places[0])
    rows = []
    for place in placing.places:
        name = shown_name(place.player, names)
        rows.append(PlaceRow(place_text(place), name, href.get(name, ""), tuple(cells(place, names))))
    return PlaceList(
        title=title_text(placing),
        headings=tuple(head or words.outcome for head in heads),
        rows=tuple(rows),
        are_words="" in heads,
        note=stop_text(placing.stop) if placing.stop else "",
        rounds=ROUNDS_PAGE if placing.rounds else "",
    )


def rounds_page(
    frame: PageFrame, placing: Placing, names: ShownNames, href: Mapping[str, str], shown: frozenset[int]
) -> str:
    """Who met whom in each round; `shown` are the games that have pages."""
    return frame.page(
        "rounds.html",
        ROUNDS_PAGE,
        lead=title_text(placing).partition(":")[0],
        is_bracket=placing.rounds[0].left is not None,
        rounds=[
            {
                "title": title_of(round_),
                "meetings": [_row(meeting, names, href, shown, frame.words) for meeting in round_.meetings],
            }
            for round_ in placing.rounds
        ],
    )


def _row(
    meeting: Meeting, names: ShownNames, href: Mapping[str, str], shown: frozenset[int], words: Words
) -> MeetingRow:
    has_points = bool(meeting.games) or any(meeting.points) or (meeting.is_over and not meeting.is_bye)
    sides = []
    for player, points, other in zip(meeting.players, meeting.points, meeting.points[::-1], strict=True):
        name = name_if_known(player, names)
        is_ahead = meeting.winner == player if meeting.winner else meeting.is_over and points > other
        sides.append(
            MeetingSide(
                name or words.open_place, href.get(name or "", ""), f"{points:g}" if has_points else "", is_ahead
            )
        )
    return MeetingRow(
        sides=tuple(sides[:1] if meeting.is_bye else sides),
        games=tuple((number, f"games/{number}.html" if number in shown else "") for number in meeting.games),
        remark=words.bye if meeting.is_bye else remarks_of(meeting, names),
    )
