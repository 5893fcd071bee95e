"""`arena rules`: the rulesets, or one of them in plain words."""

import sys

import click

from arena.cli.completing import offer_rulesets
from arena.cli.helping import ArenaCommand
from arena.cli.shared_options import json_option, names_options
from arena.cli.streams import result
from arena.report.piece_names import Numbering, PieceLanguage


@click.command(
    "rules",
    cls=ArenaCommand,
    examples=(
        ("arena rules", "all rulesets and switches"),
        ("arena rules vintage/barrage+rescue", "the rules in force"),
    ),
)
@click.argument("name", required=False, metavar="[NAME[+SWITCH...]]", shell_complete=offer_rulesets)
@names_options
@json_option
def rules_command(name: str | None, ranks: Numbering, language: PieceLanguage, as_json: bool) -> None:
    """Print the rules of a ruleset in plain words, with their sources.

    NAME is a ruleset or a .toml file, with switches added: vintage/barrage+rescue. Without it, all rulesets and
    switches are listed.
    """
    from arena.report.consoles import width_of
    from arena.report.piece_names import Names
    from arena.report.rules_text import WIDTH, list_json, list_page, rules_json, rules_page
    from arena.stratego.rules.rulesets import load_ruleset

    width = min(WIDTH, width_of(sys.stdout))
    if name is None:
        result(list_json() if as_json else list_page(width), end="\n" if as_json else "")
        return
    ruleset = load_ruleset(name)
    names = Names(language, ranks)
    result(rules_json(ruleset, names) if as_json else rules_page(ruleset, names, width), end="\n" if as_json else "")
