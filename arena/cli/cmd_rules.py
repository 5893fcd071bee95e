"""`arena rules`: the variants of a game, or one of them in plain words."""

import sys

import click

from arena.cli.helping import command
from arena.cli.shared_options import PLAY_OPTIONS, json_option, names_of, names_options, offer_rulesets
from arena.cli.streams import result


@command(
    ("arena rules", "all rulesets and switches"),
    ("arena rules vintage/barrage+rescue", "the rules in force"),
)
@click.argument("name", required=False, metavar="[NAME[+SWITCH...]]", shell_complete=offer_rulesets)
@PLAY_OPTIONS["game"]
@names_options
@json_option
def rules_command(name: str | None, game: str, ranks: str, language: str, as_json: bool) -> None:
    """Print the rules of a ruleset in plain words, with their sources.

    NAME is a ruleset or a .toml file, with switches added: vintage/barrage+rescue. Without it, all rulesets and
    switches are listed. With --game it is a variant of that game.
    """
    from arena.game.registry import load_game
    from arena.system.terminal_text import to_json, width_of

    kind, names = load_game(game), names_of(ranks, language)
    if as_json:
        result(to_json(kind.rules_values(name or "", names)))
        return
    result(kind.rules_page(name or "", names, width_of(sys.stdout)), end="")
