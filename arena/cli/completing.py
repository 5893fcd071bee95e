"""Completions of a shell for parameters: games, rulesets, bots, and the games and names of the store on the line.

Completing starts no bot and writes no file. An error is silent: the command offers nothing then.
"""

import click
from click.shell_completion import CompletionItem

MOST_GAMES = 50
OF_BOT = "bot:"
PATH_STARTS = (".", "/", "~")


def offer_bots(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.bots.samples import SAMPLES

    samples = [CompletionItem(name, help="a sample bot") for name in SAMPLES if name.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file"), *samples]


def offer_languages(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.bots.languages import LANGUAGES

    return [CompletionItem(each.name, help=each.title) for each in LANGUAGES if each.name.startswith(incomplete)]


def offer_rulesets(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer variants of the game on the line: for Stratego rulesets, and after a plus the remaining switches."""
    from arena.game.finding import load_game

    if incomplete.startswith(PATH_STARTS):
        return [CompletionItem(incomplete, type="file")]
    game = load_game(ctx.params.get("game") or "")
    return [CompletionItem(name, help=title or None) for name, title in game.offered_variants(incomplete)]


def offer_game_kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the installed games, and files in Python."""
    from arena.game.finding import installed_games

    files = CompletionItem(incomplete, type="file")
    return [files, *(CompletionItem(name) for name in installed_games() if name.startswith(incomplete))]


def offer_games(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_games

    return [
        CompletionItem(str(game.number), help=f"{game.red} - {game.blue}, {game.result}, {game.plies} plies")
        for game in peek_games(_store(ctx), incomplete, MOST_GAMES)
    ]


def offer_reasons(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the reasons by which the games of the store on the command line ended."""
    from arena.league.peek import peek_reasons

    return [CompletionItem(word) for word in ["forfeit", *peek_reasons(_store(ctx))] if word.startswith(incomplete)]


def offer_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_names

    return [CompletionItem(name) for name in peek_names(_store(ctx), incomplete)]


def offer_readers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the readers of games, and after `bot:` the names in the store on the line."""
    if incomplete.startswith(OF_BOT):
        names = offer_names(ctx, param, incomplete.removeprefix(OF_BOT))
        return [CompletionItem(f"{OF_BOT}{name.value}") for name in names]
    return [CompletionItem(word) for word in ("all", "red", "blue", "public", OF_BOT) if word.startswith(incomplete)]


def _store(ctx: click.Context) -> str:
    return str(ctx.params.get("store") or next(iter(ctx.args), ""))
