"""`arena standings`: the table of a store."""

import sys
from pathlib import Path

import click

from arena.cli.helping import command, exclusive
from arena.cli.shared_options import json_option, known_game_option, offer_names, store_argument
from arena.cli.stores import open_to_read, warn_of_damage
from arena.cli.streams import remark, result
from arena.errors import UsageError
from arena.system.printable import counted


@command(
    ("arena standings league.sqlite --anchor raider=1000", ""),
    ("arena standings league.sqlite --csv --crosstable", "for a spreadsheet"),
    ("arena standings swiss.sqlite --rounds", "of a Swiss or a knockout"),
)
@store_argument
@click.option("--all", "everyone", is_flag=True, help="Include bots, versions and games outside the last league.")
@click.option("--anchor", metavar="NAME[=ELO]", shell_complete=offer_names, help="Fix the Elo of this bot (at 0).")
@click.option("--rounds", is_flag=True, help="Swiss and knockout: who met whom in each round.")
@click.option("--pairs", is_flag=True, help="For each two bots, the likelihood that the first is stronger.")
@click.option("--by", type=click.Choice(["machine"]), metavar="machine", help="Results by the machine of the games.")
@known_game_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
@click.option("--crosstable", is_flag=True, help="With --csv or --markdown: the crosstable.")
@click.option("--places", is_flag=True, help="With --csv or --markdown: the places of a Swiss, a knockout or a ladder.")
def standings_command(
    store: Path,
    everyone: bool,
    anchor: str | None,
    pairs: bool,
    by: str | None,
    *,
    rounds: bool,
    as_json: bool,
    as_csv: bool,
    as_markdown: bool,
    crosstable: bool,
    places: bool,
) -> int:
    """Print the table of the games in STORE, and the places of its format."""
    from arena.report.placings import placing_report, rounds_report, stored_table
    from arena.report.standings import table_note, with_declared
    from arena.report.terminal import against_itself_text, full_report, not_counted_text
    from arena.system.terminal_text import print_blocks, width_of

    forms = [form for form, is_asked in (("csv", as_csv), ("markdown", as_markdown)) if is_asked]
    exclusive(csv=as_csv, markdown=as_markdown, json=as_json)
    exclusive(places=places, crosstable=crosstable)
    exclusive(pairs=pairs, csv=as_csv, markdown=as_markdown)
    exclusive(rounds=rounds, csv=as_csv, markdown=as_markdown)
    for option, is_given in (("crosstable", crosstable), ("places", places)):
        if is_given and not forms:
            raise UsageError(f"--{option} needs --csv or --markdown; the table and --json have the {option} anyway")

    if by is not None:
        asked = (("pairs", pairs), ("rounds", rounds))
        return _print_by_machine(store, [*forms, *(name for name, is_asked in asked if is_asked)], as_json=as_json)

    with open_to_read(store, needs_game=False) as opened:
        contents, _, table, placing = stored_table(opened, everyone=everyone, anchor=anchor, pairs=pairs)
        stored = opened.each_row(counted=not everyone) if as_json or as_csv else ()
        kept = [row for row in stored if set(row.players) <= table.names.keys()]
        table = with_declared(table, kept, opened)
        if as_json:
            from arena.report.documents import league_json

            settings, not_counted = contents.settings, contents.not_counted
            result(league_json(store, settings, table, kept, placing=placing, not_counted=not_counted))
        elif forms:
            from arena.report.documents import places_text, table_text

            text = table_text(table, forms[0], crosstable=crosstable)
            result(places_text(store, placing, forms[0]) if places else text, end="")
            for line in placing.lines if placing else ():
                remark(line)
            if table.against_itself:
                remark(against_itself_text(table))
        else:
            chosen = list(rounds_report(store, placing)) if rounds else []
            print_blocks(full_report(table, width_of(sys.stdout), table_note(table.lines, contents.settings)))
            print_blocks([*placing_report(placing), *chosen])
        left_out = contents.rows.games - table.games - table.against_itself
    if left_out:
        are = "is" if left_out == 1 else "are"
        remark(f"{counted(left_out, 'game')} of other bots or versions {are} left out; --all shows them")
    if contents.not_counted:
        remark(f"{not_counted_text(contents.not_counted)}; --all counts them")
    return warn_of_damage(store, contents.damage)


def _print_by_machine(store: Path, others: list[str], *, as_json: bool) -> int:
    from arena.report.machines import by_machine, machines_report
    from arena.system.terminal_text import print_blocks, to_json

    if others:
        raise UsageError(f"--{others[0]}: expected --by machine alone, or with --json")
    with open_to_read(store, needs_game=False) as opened:
        stored = (opened.stored(row.number).sound for row in opened.each_row())
        entry = by_machine(record for record in stored if record is not None)
        damage = opened.count().damage
    if as_json:
        result(to_json(entry))
    else:
        print_blocks(machines_report(entry))
    return warn_of_damage(store, damage)
