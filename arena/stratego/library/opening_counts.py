"""Statistics of the set-ups in stores, exports and archives, for `arena openings`.

A set-up counts once for each game that it was played in, for either side as its owner sees it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.errors import UsageError
from arena.game import STRATEGO
from arena.league.exchange import numbered_records
from arena.stratego.gravon import UnplayableError, setups_of
from arena.stratego.library.gravon_archive import is_archive, read_archive
from arena.system.printable import counted, printable
from protocol.notation import BOARD_SIZE, EMPTY, RANK_BY_LETTER, SETUP_ROWS, Rank
from protocol.seats import Color

ROW_STARTS = range(0, SETUP_ROWS * BOARD_SIZE, BOARD_SIZE)
Played = tuple[str, Sequence[str | None], Color | None]
"""The kind or the ruleset of a game, both set-ups as rows, and the winner."""


def count_openings(paths: Sequence[Path], most: int) -> tuple[dict[str, Any], str]:
    """Count the set-ups of all games in these files; return what was found as a document and as text.

    Both have the `most` frequent set-ups. `squares` has by rank how many set-ups have it on each square, own back row
    first, files a to j; `percent` points of a hundred games. Raises `ArenaError`.
    """
    left_out: list[str] = []
    times: dict[str, Counter[str]] = defaultdict(Counter)
    half_points: Counter[tuple[str, str]] = Counter()
    for path in paths:
        for kind, setups, winner in _of_archive(path, left_out) if is_archive(path) else _of_records(path):
            for color, rows in zip(Color, setups, strict=True):
                if rows is not None:
                    times[kind][rows] += 1
                    half_points[kind, rows] += 1 if winner is None else 2 * (winner is color)
    kinds = [_statistics(kind, times[kind], half_points, most) for kind in sorted(times)]
    return {"kinds": kinds, "left_out": left_out}, "\n\n".join(map(_page, kinds)) or "no set-ups"


def _of_archive(path: Path, left_out: list[str]) -> Iterator[Played]:
    for where, _, game in read_archive(path):
        if isinstance(game, str):
            left_out.append(f"{where}: {game}")
            continue
        try:
            yield game.kind, ["/".join(rows) for rows in setups_of(game)], game.winner
        except UnplayableError as error:
            left_out.append(f"{where}: {error}")


def _of_records(path: Path) -> Iterator[Played]:
    for _, record in numbered_records(path):
        if record.variant.game != STRATEGO:
            raise UsageError(f"{printable(str(path))}: expected games of {STRATEGO}, got {record.variant.title}")
        yield record.ruleset, record.setups, record.verdict.result.winner


def _statistics(kind: str, times: Counter[str], half_points: Counter[tuple[str, str]], most: int) -> dict[str, Any]:
    squares = {rank.letter: [0] * SETUP_ROWS * BOARD_SIZE for rank in Rank}
    for setup, count in times.items():
        for square, letter in enumerate(setup.replace("/", "")):
            if letter != EMPTY:
                squares[letter][square] += count
    frequent = [
        {"setup": setup, "games": count, "percent": round(50 * half_points[kind, setup] / count, 1)}
        for setup, count in sorted(times.items(), key=lambda item: (-item[1], item[0]))[:most]
    ]
    return {
        "kind": kind,
        "setups": times.total(),
        "different": len(times),
        "squares": {letter: counts for letter, counts in squares.items() if any(counts)},
        "frequent": frequent,
    }


def _page(one: dict[str, Any]) -> str:
    lines = [
        f"{one['kind']}: {counted(one['setups'], 'set-up')}, {one['different']} different",
        "",
        "percent of a rank in a row     back    2nd    3rd  front",
    ]
    for letter, counts in one["squares"].items():
        shares = [100 * sum(counts[start : start + BOARD_SIZE]) / sum(counts) for start in ROW_STARTS]
        lines.append(
            f"{letter}  {RANK_BY_LETTER[letter].name.lower():25}" + "".join(f"{share:7.1f}" for share in shares)
        )
    lines += ["", "percent of set-ups with the flag on a square, front row first, files a to j"]
    for start in reversed(ROW_STARTS):
        flags = one["squares"]["F"][start : start + BOARD_SIZE]
        lines.append("".join(f"{100 * count / one['setups']:6.1f}" for count in flags))
    lines += ["", "games  points  the most frequent set-ups, back row first"]
    lines += [f"{each['games']:5}  {each['percent']:5.1f}%  {each['setup']}" for each in one["frequent"]]
    return "\n".join(lines)
