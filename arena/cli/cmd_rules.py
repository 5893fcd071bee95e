"""`arena rules`: the rulesets, or one of them in plain words."""

import sys

import click

from arena.cli.completing import offer_rulesets
from arena.cli.helping import ArenaCommand
from arena.cli.shared_options import json_option, names_options
from arena.cli.streams import result


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
def rules_command(name: str | None, ranks: str, language: str, as_json: bool) -> None:
    """Print the rules of a ruleset in plain words, with their sources.

    NAME is a ruleset or a .toml file, with switches added: vintage/barrage+rescue. Without it, all rulesets and
    switches are listed.
    """
    from arena.report.consoles import to_json, width_of
    from arena.stratego.rules.rulesets import load_ruleset
    from arena.stratego.shown.piece_names import names_of
    from arena.stratego.shown.rules_text import WIDTH, list_page, list_values, rules_page, rules_values

    width = min(WIDTH, width_of(sys.stdout))
    if name is None:
        result(to_json(list_values()) if as_json else list_page(width), end="\n" if as_json else "")
        return
    ruleset = load_ruleset(name)
    names = names_of({"names": language, "ranks": ranks})
    text = to_json(rules_values(ruleset, names)) if as_json else rules_page(ruleset, names, width)
    result(text, end="\n" if as_json else "")
