"""The places and rounds of a format, next to the table of ratings, as text and JSON."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.league.league_options import PLACING, FormatName
from arena.league.pairing.pairing import (
    FormatPlace,
    KnockoutPlace,
    LadderPlace,
    LadderStop,
    Meeting,
    Placing,
    Round,
    StopReason,
    SwissPlace,
)
from arena.league.store import Contents, Disqualified, GameRow, Groups, Store
from arena.report.game_list import ShownNames, shown_name
from arena.report.layout import Block, Grid, GridColumn, Styled
from arena.report.result_words import elo_text, points_text
from arena.report.standings import Line
from arena.report.terminal import NAME_WIDTH
from arena.system.printable import counted

ROUNDS = {2: "the final", 4: "a semi-final", 8: "a quarter-final"}
"""Names of the last rounds of a knockout by their number of bots."""
TITLES = {2: "Final", 4: "Semi-finals", 8: "Quarter-finals"}
OPEN = "-"
"""A bot that is not known yet."""


class MeetingEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two bots in a round; null for a bot that is not known yet, and for the second of a bye.

    `games` are the numbers of their finished games. In a knockout the `winner` stays in; `decided_by` tells how a match
    was decided other than by points.
    """

    bots: tuple[str | None, str | None]
    points: tuple[float, float]
    games: tuple[int, ...]
    is_over: bool
    is_bye: bool = False
    winner: str | None = None
    decided_by: str = ""


class RoundEntry(msgspec.Struct, frozen=True):
    number: int
    name: str
    meetings: tuple[MeetingEntry, ...]


def _round_entry(round_: Round, names: ShownNames) -> RoundEntry:
    meetings = []
    for meeting in round_.meetings:
        one, other = (name_if_known(player, names) for player in meeting.players)
        winner = name_if_known(meeting.winner, names)
        meetings.append(
            MeetingEntry(
                (one, other),
                meeting.points,
                meeting.games,
                meeting.is_over,
                meeting.is_bye,
                winner,
                meeting.decided_by,
            )
        )
    return RoundEntry(round_.number, title_of(round_), tuple(meetings))


def name_if_known(player: Player | None, names: ShownNames) -> str | None:
    return None if player is None else shown_name(player, names)


def title_of(round_: Round) -> str:
    if round_.left is None:
        return f"Round {round_.number}"
    return TITLES.get(round_.left, f"Round of {round_.left}")


def score_of(meeting: Meeting) -> str:
    if meeting.is_bye:
        return "bye" if meeting.players[0] else ""
    if not meeting.games and not meeting.is_over:
        return ""
    return "-".join(map(points_text, meeting.points))


def remarks_of(meeting: Meeting, names: ShownNames) -> str:
    """Return the remark on a meeting: the winner if points do not show it, or that it is not over."""
    if meeting.is_bye:
        return ""
    if not meeting.is_over:
        return "not over" if meeting.games else "to be played"
    if not meeting.decided_by:
        return ""
    return f"{name_if_known(meeting.winner, names) or 'no bot'} wins {meeting.decided_by}"


def rounds_of(store: Path, placing: Placing | None) -> tuple[Round, ...]:
    if placing is None or not placing.rounds:
        raise UsageError(f"--rounds: expected a store whose last league was a Swiss or a knockout, got {store}")
    return placing.rounds


def rounds_report(rounds: Sequence[Round], names: ShownNames) -> list[Block]:
    blocks: list[Block] = []
    for round_ in rounds:
        bot = GridColumn("bot", most=NAME_WIDTH)
        grid = Grid(bot, bot, GridColumn("points", "^"), GridColumn("games", wraps=True))
        for meeting in round_.meetings:
            one, other = (name_if_known(player, names) or OPEN for player in meeting.players)
            numbers = ", ".join(map(str, meeting.games))
            what = "; ".join(filter(None, [numbers, remarks_of(meeting, names)]))
            grid.add_row(one, "" if meeting.is_bye else other, score_of(meeting), what)
        blocks += ["", Styled(title_of(round_), "bold"), grid]
    return blocks


class PlaceEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bot's place by the rules of the format (docs/formats.md); None if it was disqualified or never paired.

    Fields that the format does not have are left out.
    """

    place: int | None
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
    """A disqualified bot.

    `left_out` is the number of games not played (None: depends on results), `is_so_far` is set while the league runs,
    `not_counted` is the number of its games in this table outside the league.
    """

    name: str
    faults: int
    left_out: int | None
    is_so_far: bool
    not_counted: int = 0


class PlacingEntry(msgspec.Struct, frozen=True):
    """The results of a format next to the table.

    `stop` is why a ladder is over. `is_over` tells whether the places are final (None in a format without places);
    `stage` is the progress as text. `rounds` are those of a Swiss or a knockout. `problem` is why the places cannot be
    computed.
    """

    places: tuple[PlaceEntry, ...]
    disqualified: tuple[DisqualifiedEntry, ...]
    stop: LadderStop | None = None
    is_over: bool | None = None
    stage: str = ""
    rounds: tuple[RoundEntry, ...] = ()
    problem: str = ""


def placing_entry(placing: Placing, names: ShownNames) -> PlacingEntry:
    return PlacingEntry(
        places=tuple(_entry(place, names) for place in placing.places),
        disqualified=tuple(
            DisqualifiedEntry(name, one.faults, one.left_out, one.is_so_far, placing.others.get(one.player, 0))
            for one in placing.disqualified
            for name in (shown_name(one.player, names),)
        ),
        stop=placing.stop,
        is_over=placing.stage.is_over if placing.stage else None,
        stage=stage_text(placing),
        rounds=tuple(_round_entry(each, names) for each in placing.rounds),
        problem=placing.problem,
    )


def placing_in(
    store: Store, contents: Contents[list[GameRow]] | Contents[Groups], lines: Sequence[Line], names: ShownNames
) -> Placing | None:
    """Return the places of a store's last league, or None if its format has only the table.

    Places follow from the games, and so do disqualified bots in a format with places. In other formats the store names
    the disqualified bots; those confirmed by the games are returned.
    """
    said, found = borne_out(contents.kept.disqualified, lines, names), None
    plain = (f'"{name.value}"' for name in FormatName if name not in PLACING)
    if contents.kept.format and not any(name in contents.kept.format for name in plain):
        from arena.league.stored_league import stored_places  # not loaded for a format without places

        found = stored_places(store, contents)
    if found is None or found.problem:
        return replace(said or Placing(), problem=found.problem) if found else said
    return replace(found, others=said.others) if said else found


def borne_out(disqualified: Sequence[Disqualified], lines: Sequence[Line], names: ShownNames) -> Placing | None:
    """Return the disqualified bots of a store that have as many faults in its table, or None.

    A table of all games can have games of such a bot outside the league: they are counted in `others`.
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


def placing_report(placing: Placing, names: ShownNames) -> list[Block]:
    blocks: list[Block] = []
    if placing.places:
        blocks += ["", Styled(title_text(placing), "bold"), _list(placing.places, names)]
    blocks += placing_lines(placing, names)
    if placing.stop:
        blocks.append(stop_text(placing.stop))
    return blocks


def title_text(placing: Placing) -> str:
    match placing.places[0]:
        case SwissPlace():
            name, what = "Swiss", ": points with byes"
        case KnockoutPlace():
            name, what = "Knockout", ""
        case LadderPlace():
            name, what = "Ladder", ": how likely each is stronger than the next"
    if not placing.stage:
        return f"{name}{what}"
    provisional = "" if placing.stage.is_over else "provisional places "
    return f"{name}, {provisional}{stage_text(placing)}{what}"


def stage_text(placing: Placing) -> str:
    stage = placing.stage
    if stage is None or not placing.places:
        return ""
    match placing.places[0]:
        case SwissPlace():
            last = placing.rounds[-1] if placing.rounds else None
            if last and not last.is_over and last.played:
                return f"in round {last.number} of {stage.of} ({last.played} of {last.games} games)"
            if stage.is_over and stage.done == stage.of:
                return f"after {counted(stage.of, 'round')}"
            return f"after round {stage.done} of {stage.of}" if stage.done else f"before round 1 of {stage.of}"
        case KnockoutPlace() if stage.is_over:
            return f"after {counted(stage.of, 'match', 'matches')}"
        case KnockoutPlace():
            return f"after {stage.done} of {counted(stage.of, 'match', 'matches')}"
        case LadderPlace() if stage.is_over:
            return f"after {counted(stage.done, 'game')}"
        case LadderPlace():
            return f"after {stage.done} of at most {counted(stage.of, 'game')}"


def placing_lines(placing: Placing, names: ShownNames) -> list[str]:
    """Return a line for each disqualified bot, and why places are missing."""
    lines = [_disqualified(one, names, placing.others.get(one.player, 0)) for one in placing.disqualified]
    if placing.problem:
        lines.append(f"the places of the league's format cannot be worked out from this store: {placing.problem}")
    return lines


def place_text(place: FormatPlace) -> str:
    return "-" if place.place is None else str(place.place)


def _entry(place: FormatPlace, names: ShownNames) -> PlaceEntry:
    name = shown_name(place.player, names)
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
                lost_to=shown_name(place.lost_to, names) if place.lost_to else None,
                score=_score(place),
                decided_by=place.decided_by,
            )
        case LadderPlace():
            return PlaceEntry(place.place, name, elo=place.elo, games=place.games, above_next=place.above_next)


def _list(places: Sequence[FormatPlace], names: ShownNames) -> Grid:
    others = (GridColumn(header, ">" if header else "<", wraps=not header) for header in headings(places[0]))
    grid = Grid(GridColumn("#", ">"), GridColumn("bot", most=NAME_WIDTH), *others)
    for place in places:
        grid.add_row(place_text(place), shown_name(place.player, names), *cells(place, names))
    return grid


def headings(place: FormatPlace) -> tuple[str, ...]:
    match place:
        case SwissPlace():
            return "points", "Buchholz", "won", "byes"
        case KnockoutPlace():
            return ("",)
        case LadderPlace():
            return "Elo", "games", "above next"


def cells(place: FormatPlace, names: ShownNames) -> list[str]:
    match place:
        case SwissPlace():
            return [points_text(place.points), points_text(place.buchholz), str(place.wins), str(place.byes)]
        case KnockoutPlace():
            return [_fate(place, names)]
        case LadderPlace():
            above = "" if place.above_next is None else f"{min(place.above_next, 0.9999):.2%}"
            return [elo_text(place.elo), str(place.games), above]


def _round(place: KnockoutPlace) -> str:
    return ROUNDS.get(place.lost_in or 0, f"the round of {place.lost_in}")


def _score(place: KnockoutPlace) -> str:
    return f"{points_text(place.points)}-{points_text(place.opponent_points)}"


def _fate(place: KnockoutPlace, names: ShownNames) -> str:
    if place.lost_in is None:
        return "winner" if place.is_winner else place.decided_by or "still in"
    words = f"lost {_round(place)}"
    if place.lost_to:
        words += f" to {shown_name(place.lost_to, names)} {_score(place)}"
    return f"{words} {place.decided_by}".rstrip()


def _disqualified(one: Disqualified, names: ShownNames, others: int) -> str:
    words = f"{shown_name(one.player, names)} is disqualified after {counted(one.faults, 'fault')}"
    if one.left_out is not None:
        words += f": {counted(one.left_out, 'game')} left out{' so far' if one.is_so_far else ''}"
    if others:
        words += f"; {counted(others, 'game')} of it outside the league {'is' if others == 1 else 'are'} in this table"
    return words


def stop_text(stop: LadderStop) -> str:
    before = "all" if stop.known == stop.games else f"{stop.known} of them"
    played = f"{stop.games} games" + (f", {before} from before" if stop.known else "")
    match stop.reason:
        case StopReason.SURE:
            return f"the ladder is over, after {played}: each bot is above the next with {stop.confidence:.4g} or more"
        case StopReason.NO_PAIR:
            return f"the ladder is over, after {played}: no two bots are left to play"
    words = f"the ladder is over: the game limit is reached ({played})"
    if stop.unclear is None:
        return words
    bots = "1 bot is" if stop.unclear == 1 else f"{stop.unclear} bots are"
    return f"{words}; {bots} above the next with less than {stop.confidence:.4g}; a larger --games plays more"
