"""`arena standings --by machine`: whether results depend on the machine."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from arena.game.faults import GameResult
from arena.game.record import GameRecord
from arena.league.ratings.homogeneity import homogeneity
from arena.play.machine import worker_of
from arena.system.printable import printable
from arena.system.terminal_text import Block, Grid, GridColumn
from protocol.seats import Reason

NO_MACHINE = "not recorded"
SIGNIFICANT = 0.01
"""The largest `p` at which results count as dependent on the machine."""
LATE = frozenset({Reason.TIMEOUT, Reason.SETUP_TIMEOUT})
"""Losses of bots that get no CPU; `NO_START` is one only after the whole time for starting."""
NAME_SHOWN = 40


class MachineEntry(msgspec.Struct, frozen=True):
    """The games of one machine: Red's mean score, the games lost by lateness, and the mean time of an action in
    milliseconds.
    """

    machine: str
    games: int
    red_score: float
    late: int
    mean_ms: float | None


class MachinesEntry(msgspec.Struct, frozen=True):
    """All machines, and the probability `p` that results differ this much by chance.

    `p` is from the `compared` games: those that the same bots played with the same colours on another machine.
    """

    machines: tuple[MachineEntry, ...]
    compared: int
    chi_square: float
    degrees: int
    p: float


def is_late(record: GameRecord) -> bool:
    if record.verdict.reason is Reason.NO_START:
        return record.seconds * 1000 >= min(time.start_ms for time in record.times)
    return record.verdict.reason in LATE


def machine_of(record: GameRecord) -> str:
    words = record.machine or ""
    return printable(worker_of(words) or words, 200) or NO_MACHINE


def by_machine(records: Iterable[GameRecord]) -> MachinesEntry:
    counts = defaultdict[str, Counter[str]](Counter)

    def compared() -> Iterable[tuple[tuple[str, str], str, str]]:
        for record in records:
            machine, result, (red, blue) = machine_of(record), record.verdict.result, record.players
            counts[machine] += Counter(
                games=1,
                half_points={GameResult.RED: 2, GameResult.DRAW: 1}.get(result, 0),
                late=int(is_late(record)),
                actions=len(record.times_us),
                taken_us=sum(record.times_us),
            )
            yield (red.digest, blue.digest), machine, result.value

    test = homogeneity(compared())
    entries = tuple(
        MachineEntry(
            machine,
            count["games"],
            count["half_points"] / count["games"] / 2,
            count["late"],
            count["taken_us"] / count["actions"] / 1000 if count["actions"] else None,
        )
        for machine, count in sorted(counts.items())
    )
    return MachinesEntry(entries, test.games, test.chi_square, test.degrees, test.p)


def machines_report(entry: MachinesEntry) -> list[Block]:
    numbers = (GridColumn(header, ">") for header in ("games", "Red %", "late", "ms"))
    grid = Grid(GridColumn("machine", wraps=True, most=NAME_SHOWN), *numbers)
    for one in entry.machines:
        mean = "" if one.mean_ms is None else f"{one.mean_ms:.1f}"
        grid.add_row(one.machine, str(one.games), f"{100 * one.red_score:.1f}", str(one.late), mean)
    return [grid, "", verdict_text(entry)]


def verdict_text(entry: MachinesEntry) -> str:
    if not entry.degrees:
        return "No two machines can be compared: that takes games of the same bots with the\nsame colours on both."
    p = f"{entry.p:.2f}" if entry.p >= 0.01 else f"{entry.p:.1g}"
    found = "Results depend on the machine" if entry.p < SIGNIFICANT else "No sign that results depend on the machine"
    return (
        f"{found}: p = {p}\n"
        f"(chi-square {entry.chi_square:.1f} with {entry.degrees} degrees of freedom, {entry.compared} games compared)"
    )
