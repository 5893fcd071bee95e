"""Makes the tables that the documentation shows, from stores of leagues that have been played.

    arena league bots/* --store quick.sqlite
    python docs/tables.py picture quick.sqlite

writes docs/league.svg, the picture in README.md.

    arena league bots/* --rounds 10 --margin 3s --store strength.sqlite
    python docs/tables.py strength strength.sqlite

writes the table in docs/bots.md, between the fences that follow the line with `<!-- strength -->`.
"""

import argparse
import io
import re
import sys
from pathlib import Path

from arena.league.store import Store
from arena.report.standings import Table, make_table, table_note
from arena.report.terminal import full_report, standings_grid
from arena.system.terminal_text import drawn, unpainted

DOCS = Path(__file__).parent
PICTURE = DOCS / "league.svg"
STRENGTH = DOCS / "bots.md"
MARK = "<!-- strength -->"
OPENS, CLOSES = "```text\n", "```\n"
WIDTH = 80
DEFAULT_ROUNDS = 2


def table_of(store: Path) -> tuple[Table, str]:
    """The table of a store, and what is said of the clocks below it, as `arena standings` makes them."""
    with Store(store, create=False) as opened:
        contents = opened.count()
    table = make_table(contents.entrants, contents.rows, contents.kept.planned, meets_all=contents.kept.meets_all)
    return table, table_note(table.lines, contents.settings)


def draw_picture(store: Path) -> None:
    from rich.console import Console  # only for the picture: the tests have no rich
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    table, note = table_of(store)
    rounds = (table.planned or table.games) // (len(table.lines) * (len(table.lines) - 1))
    option = "" if rounds == DEFAULT_ROUNDS else f" --rounds {rounds}"
    console.print(Text(f"$ arena league bots/*{option}", style="dim"))
    console.print(Text.from_ansi("\n".join(drawn(full_report(table, WIDTH, note), WIDTH))))
    console.save_svg(str(PICTURE), title="stratego-arena", unique_id="league")
    picture = re.sub(r"@font-face \{.*?\}", "", PICTURE.read_text(), flags=re.DOTALL)  # they come from another host
    PICTURE.write_text("".join(f"{line.rstrip()}\n" for line in picture.splitlines() if line.strip()))


def write_strength(store: Path) -> None:
    table, _ = table_of(store)
    text = "".join(f"{unpainted(line)}\n" for line in standings_grid(table.lines, WIDTH).lines(WIDTH))
    before, mark, after = STRENGTH.read_text().partition(MARK)
    if not mark:
        sys.exit(f"{STRENGTH}: expected a line with {MARK} above the table")
    above, _, rest = after.partition(OPENS)
    _, _, below = rest.partition(CLOSES)
    STRENGTH.write_text(before + mark + above + OPENS + text + CLOSES + below)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("picture", "strength"))
    parser.add_argument("store", type=Path)
    options = parser.parse_args()
    {"picture": draw_picture, "strength": write_strength}[options.what](options.store)


if __name__ == "__main__":
    main()
