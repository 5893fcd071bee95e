"""The table of a store, and the places and rounds of its format: one document for text, JSON and pages."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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
    StopReason,
    SwissPlace,
)
from arena.league.store import Contents, Disqualified, Groups, Store
from arena.report.game_list import ShownNames, players_of, shown_name
from arena.report.standings import Line, Table, make_table
from arena.report.terminal import NAME_WIDTH, elo_text, points_text
from arena.system.printable import counted
from arena.system.terminal_text import Block, Grid, GridColumn, Styled

ROUNDS = {2: "the final", 4: "a semi-final", 8: "a quarter-final"}
"""Names of the last rounds of a knockout by their number of bots."""
TITLES = {2: "Final", 4: "Semi-finals", 8: "Quarter-finals"}
OPEN = "-"
"""A bot that is not known yet."""


class MeetingEntry(Meeting[str], frozen=True, omit_defaults=True):
    """A meeting of bots by their names."""

    @property
    def score(self) -> str:
        if self.is_bye:
            return "bye" if self.bots[0] else ""
        return "-".join(map(points_text, self.points)) if self.games or self.is_over else ""

    @property
    def remark(self) -> str:
        """The winner if points do not show it, or that the meeting is not over."""
        if self.is_bye:
            return ""
        if not self.is_over:
            return "not over" if self.games else "to be played"
        return f"{self.winner or 'no bot'} wins {self.decided_by}" if self.decided_by else ""


class RoundEntry(msgspec.Struct, frozen=True):
    number: int
    name: str
    meetings: tuple[MeetingEntry, ...]


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

    @property
    def place_text(self) -> str:
        return "-" if self.place is None else str(self.place)


class DisqualifiedEntry(msgspec.Struct, frozen=True):
    """A disqualified bot. `not_counted` is the number of its games in this table outside the league."""

    name: str
    faults: int
    left_out: int | None
    is_so_far: bool
    not_counted: int = 0

    def __str__(self) -> str:
        words = f"{self.name} is disqualified after {counted(self.faults, 'fault')}"
        if self.left_out is not None:
            words += f": {counted(self.left_out, 'game')} left out{' so far' if self.is_so_far else ''}"
        if self.not_counted:
            games, are = counted(self.not_counted, "game"), "is" if self.not_counted == 1 else "are"
            words += f"; {games} of it outside the league {are} in this table"
        return words


class PlacingEntry(msgspec.Struct, frozen=True):
    """The results of a format next to the table.

    `stop` is why a ladder is over. `is_over` tells whether the places are final (None in a format without places);
    `stage` is the progress as text. `rounds` are those of a Swiss or a knockout. `problem` is why the places cannot be
    computed. `format` is the name of a format with places.
    """

    places: tuple[PlaceEntry, ...]
    disqualified: tuple[DisqualifiedEntry, ...]
    stop: LadderStop | None = None
    is_over: bool | None = None
    stage: str = ""
    rounds: tuple[RoundEntry, ...] = ()
    problem: str = ""
    format: str = ""

    @property
    def is_knockout(self) -> bool:
        return self.format == KNOCKOUT

    @property
    def title(self) -> str:
        stage = f", {'' if self.is_over else 'provisional places '}{self.stage}" if self.stage else ""
        return f"{self.format}{stage}"

    @property
    def full_title(self) -> str:
        return self.title + _WHAT[self.format]

    @property
    def headings(self) -> tuple[str, ...]:
        return _HEADINGS[self.format]

    def cells(self, place: PlaceEntry) -> list[str]:
        """Return what stands below the headings in the line of a place."""
        if self.format == LADDER:
            above = "" if place.above_next is None else f"{min(place.above_next, 0.9999):.2%}"
            return [elo_text(place.elo), str(place.games), above]
        if not self.is_knockout:
            return [points_text(place.points or 0), points_text(place.buchholz or 0), str(place.won), str(place.byes)]
        if place.lost_in is None:
            is_winner = self.is_over and place.place is not None
            return ["winner" if is_winner else place.decided_by or "still in"]
        words = ["lost", place.lost_in, *(["to", place.lost_to, place.score or ""] if place.lost_to else [])]
        return [" ".join([*words, place.decided_by or ""]).rstrip()]

    @property
    def lines(self) -> list[str]:
        """A line for each disqualified bot, and why places are missing."""
        lines = [str(one) for one in self.disqualified]
        if self.problem:
            lines.append(f"the places of the league's format cannot be worked out from this store: {self.problem}")
        return lines


SWISS, KNOCKOUT, LADDER = "Swiss", "Knockout", "Ladder"
_FORMATS: dict[type[FormatPlace], str] = {SwissPlace: SWISS, KnockoutPlace: KNOCKOUT, LadderPlace: LADDER}
_HEADINGS = {
    SWISS: ("points", "Buchholz", "won", "byes"),
    KNOCKOUT: ("",),
    LADDER: ("Elo", "games", "above next"),
}
_WHAT = {SWISS: ": points with byes", KNOCKOUT: "", LADDER: ": how likely each is stronger than the next"}


def placing_entry(placing: Placing, names: ShownNames) -> PlacingEntry:
    def called(player: Player | None) -> str | None:
        return None if player is None else shown_name(player, names)

    def met(meeting: Meeting[Player]) -> MeetingEntry:
        one, other = map(called, meeting.bots)
        winner = called(meeting.winner)
        return MeetingEntry(
            (one, other), meeting.points, meeting.games, meeting.is_over, meeting.is_bye, winner, meeting.decided_by
        )

    return PlacingEntry(
        places=tuple(_entry(place, names) for place in placing.places),
        disqualified=tuple(
            DisqualifiedEntry(
                shown_name(one.player, names),
                one.faults,
                one.left_out,
                one.is_so_far,
                placing.others.get(one.player, 0),
            )
            for one in placing.disqualified
        ),
        stop=placing.stop,
        is_over=placing.stage.is_over if placing.stage else None,
        stage=stage_text(placing),
        rounds=tuple(
            RoundEntry(
                each.number,
                f"Round {each.number}" if each.left is None else TITLES.get(each.left, f"Round of {each.left}"),
                tuple(map(met, each.meetings)),
            )
            for each in placing.rounds
        ),
        problem=placing.problem,
        format=_FORMATS[type(placing.places[0])] if placing.places else "",
    )


def _entry(place: FormatPlace, names: ShownNames) -> PlaceEntry:
    name = shown_name(place.player, names)
    match place:
        case SwissPlace():
            return PlaceEntry(
                place.place, name, points=place.points, byes=place.byes, buchholz=place.buchholz, won=place.wins
            )
        case KnockoutPlace() if place.lost_in is None:
            return PlaceEntry(place.place, name, decided_by=place.decided_by or None)
        case KnockoutPlace():
            return PlaceEntry(
                place.place,
                name,
                lost_in=ROUNDS.get(place.lost_in or 0, f"the round of {place.lost_in}"),
                lost_to=shown_name(place.lost_to, names) if place.lost_to else None,
                score=f"{points_text(place.points)}-{points_text(place.opponent_points)}",
                decided_by=place.decided_by,
            )
        case LadderPlace():
            return PlaceEntry(place.place, name, elo=place.elo, games=place.games, above_next=place.above_next)


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
        case KnockoutPlace():
            done = "" if stage.is_over else f"{stage.done} of "
            return f"after {done}{counted(stage.of, 'match', 'matches')}"
        case LadderPlace() if stage.is_over:
            return f"after {counted(stage.done, 'game')}"
        case LadderPlace():
            return f"after {stage.done} of at most {counted(stage.of, 'game')}"


def placing_report(placing: PlacingEntry | None) -> list[Block]:
    if placing is None:
        return []
    blocks: list[Block] = []
    if placing.places:
        others = (GridColumn(header, ">" if header else "<", wraps=not header) for header in placing.headings)
        grid = Grid(GridColumn("#", ">"), GridColumn("bot", most=NAME_WIDTH), *others)
        for place in placing.places:
            grid.add_row(place.place_text, place.name, *placing.cells(place))
        blocks += ["", Styled(placing.full_title, "bold"), grid]
    return [*blocks, *placing.lines, *([stop_text(placing.stop)] if placing.stop else [])]


def rounds_report(store: Path, placing: PlacingEntry | None) -> Iterator[Block]:
    """Yield who met whom in each round. Raises `UsageError` for a format without rounds."""
    if placing is None or not placing.rounds:
        raise UsageError(f"--rounds: expected a store whose last league was a Swiss or a knockout, got {store}")
    for each in placing.rounds:
        bot = GridColumn("bot", most=NAME_WIDTH)
        grid = Grid(bot, bot, GridColumn("points", "^"), GridColumn("games", wraps=True))
        for meeting in each.meetings:
            one, other = (name or OPEN for name in meeting.bots)
            what = "; ".join(filter(None, [", ".join(map(str, meeting.games)), meeting.remark]))
            grid.add_row(one, "" if meeting.is_bye else other, meeting.score, what)
        yield from ("", Styled(each.name, "bold"), grid)


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
    bots = counted(stop.unclear, "bot is", "bots are")
    return f"{words}; {bots} above the next with less than {stop.confidence:.4g}; a larger --games plays more"


class StoredTable(NamedTuple):
    """The table of these players of a store; `placing` is None if the last format has only the table."""

    contents: Contents[Groups]
    players: Sequence[Player]
    table: Table
    placing: PlacingEntry | None


def stored_table(
    store: Store, *, everyone: bool = False, anchor: str | None = None, pairs: bool | int = False
) -> StoredTable:
    """Make the table of the last league of a store, or of `everyone`. `pairs` may be the most bots that get pairs."""
    contents = store.count(counted=not everyone)
    rows, entrants = contents.rows, contents.entrants
    players = [*players_of(rows, entrants), *entrants] if everyone or not entrants else entrants
    planned, meets_all = contents.kept.planned_for(players)
    has_pairs = pairs is True or len(players) <= pairs
    table = make_table(players, rows, planned, meets_all=meets_all, anchor=anchor, pairs=has_pairs)
    return StoredTable(contents, players, table, _placing_in(store, contents, table))


def _placing_in(store: Store, contents: Contents[Groups], table: Table) -> PlacingEntry | None:
    """Return the places of a store's last league, or the disqualified bots that its games confirm."""
    said, found = borne_out(contents.kept.disqualified, table.lines, table.names), None
    plain = (f'"{name.value}"' for name in FormatName if name not in PLACING)
    if contents.kept.format and not any(name in contents.kept.format for name in plain):
        from arena.league.stored_league import stored_places  # not loaded for a format without places

        found = stored_places(store, contents)
    if found is None or found.problem:
        placing = replace(said or Placing(), problem=found.problem) if found else said
    else:
        placing = replace(found, others=said.others) if said else found
    return placing_entry(placing, table.names) if placing else None


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
