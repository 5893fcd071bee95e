"""`arena rules`: the rulesets, or one of them in plain words; and the options for how pieces are shown."""

import sys

import click

from arena.cli.helping import ArenaCommand, with_options
from arena.cli.streams import result
from arena.report.piece_names import Numbering, PieceLanguage

NAMES_OPTIONS = (
    click.option(
        "--ranks",
        type=click.Choice([each.value for each in Numbering]),
        default=Numbering.EUROPEAN.value,
        callback=lambda _, __, value: Numbering(value),
        show_default=True,
        metavar="KIND",
        help="How ranks are numbered; the marshal is 10 (european) or 1 (american).",
    ),
    click.option(
        "--names",
        "language",
        type=click.Choice([each.value for each in PieceLanguage]),
        default=PieceLanguage.ENGLISH.value,
        callback=lambda _, __, value: PieceLanguage(value),
        show_default=True,
        metavar="LANGUAGE",
        help="The language that the pieces are named in.",
    ),
)


@click.command(
    "rules",
    cls=ArenaCommand,
    examples=(
        ("arena rules", "all rulesets and switches"),
        ("arena rules vintage/barrage+rescue", "the rules in force"),
    ),
)
@click.argument("name", required=False, metavar="[NAME[+SWITCH...]]")
@with_options(NAMES_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def rules_command(name: str | None, ranks: Numbering, language: PieceLanguage, as_json: bool) -> None:
    """Print the rules of a ruleset in plain words, with their sources.

    NAME is a ruleset or a .toml file, with switches added: vintage/barrage+rescue. Without it, all rulesets and
    switches are listed.
    """
    from arena.report.consoles import width_of
    from arena.report.piece_names import Names
    from arena.report.rules_text import WIDTH, list_json, list_page, rules_json, rules_page
    from arena.rules.loading import load_ruleset

    width = min(WIDTH, width_of(sys.stdout))
    if name is None:
        result(list_json() if as_json else list_page(width), end="\n" if as_json else "")
        return
    ruleset = load_ruleset(name)
    names = Names(language, ranks)
    result(rules_json(ruleset, names) if as_json else rules_page(ruleset, names, width), end="\n" if as_json else "")
