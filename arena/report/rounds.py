"""Who met whom in the rounds of a Swiss or a knockout, with the numbers of the games: for people and for programs."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.errors import UsageError
from arena.game.spec import Player
from arena.league.pairing.placing import Meeting, Placing, Round
from arena.report.roster import ShownNames, shown_name
from arena.report.shorten import NAME_WIDTH

ROUNDS = {2: "the final", 4: "a semi-final", 8: "a quarter-final"}
"""Matches of the last rounds of a knockout, by how many bots there were."""
TITLES = {2: "Final", 4: "Semi-finals", 8: "Quarter-finals"}
OPEN = "-"
"""In the place of a bot that is not known yet."""


class MeetingEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two bots in a round; null for who is not known yet, and for the second of a bye.

    `games` are the numbers of their games that are over. In a knockout `winner` goes on, and `decided_by` is how a
    match was decided that was not by points.
    """

    bots: tuple[str | None, str | None]
    points: tuple[float, float]
    games: tuple[int, ...]
    is_over: bool
    is_bye: bool = False
    winner: str | None = None
    decided_by: str = ""


class RoundEntry(msgspec.Struct, frozen=True):
    """A round; `name` is that for people."""

    number: int
    name: str
    meetings: tuple[MeetingEntry, ...]


def round_entry(round_: Round, names: ShownNames) -> RoundEntry:
    """A round for programs; `names` are those that the table shows."""
    return RoundEntry(round_.number, title_of(round_), tuple(_entry(meeting, names) for meeting in round_.meetings))


def _entry(meeting: Meeting, names: ShownNames) -> MeetingEntry:
    one, other = (name_if_known(player, names) for player in meeting.players)
    return MeetingEntry(
        bots=(one, other),
        points=meeting.points,
        games=meeting.games,
        is_over=meeting.is_over,
        is_bye=meeting.is_bye,
        winner=name_if_known(meeting.winner, names),
        decided_by=meeting.decided_by,
    )


def name_if_known(player: Player | None, names: ShownNames) -> str | None:
    """What the table calls a player, if there is one."""
    return None if player is None else shown_name(player, names)


def title_of(round_: Round) -> str:
    """What a round is called."""
    if round_.left is None:
        return f"Round {round_.number}"
    return TITLES.get(round_.left, f"Round of {round_.left}")


def score_of(meeting: Meeting) -> str:
    """The points of the two, or what there is in their place."""
    if meeting.is_bye:
        return "bye" if meeting.players[0] else ""
    if not meeting.games and not meeting.is_over:
        return ""
    first, second = meeting.points
    return f"{first:g}-{second:g}"


def remarks_of(meeting: Meeting, names: ShownNames) -> str:
    """What else there is to say of a meeting: who wins where points do not tell, and that it is not over."""
    if meeting.is_bye:
        return ""
    if not meeting.is_over:
        return "not over" if meeting.games else "to be played"
    if not meeting.decided_by:
        return ""
    return f"{name_if_known(meeting.winner, names) or 'nobody'} wins {meeting.decided_by}"


def rounds_of(store: Path, placing: Placing | None) -> tuple[Round, ...]:
    """The rounds of a store's league. Raises `UsageError` for one that has none."""
    if placing is None or not placing.rounds:
        raise UsageError(f"--rounds: expected a store whose last league was a Swiss or a knockout, got {store}")
    return placing.rounds


def rounds_report(rounds: Sequence[Round], names: ShownNames) -> RenderableType:
    """All rounds as lists, with the numbers of the games."""
    parts: list[RenderableType] = []
    for round_ in rounds:
        grid = Grid(box=None, pad_edge=False, header_style="dim")
        for _ in range(2):
            grid.add_column("bot", no_wrap=True, overflow="ellipsis", max_width=NAME_WIDTH)
        grid.add_column("points", justify="center", no_wrap=True)
        grid.add_column("games")
        for meeting in round_.meetings:
            one, other = (name_if_known(player, names) or OPEN for player in meeting.players)
            numbers = ", ".join(map(str, meeting.games))
            what = "; ".join(filter(None, [numbers, remarks_of(meeting, names)]))
            grid.add_row(Text(one), Text("" if meeting.is_bye else other), score_of(meeting), Text(what))
        parts += ["", Text(title_of(round_), style="bold"), grid]
    return Group(*parts)
