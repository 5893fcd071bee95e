"""`arena completion`, and what a shell is offered: rulesets, bots, and the games and bots of the store on the line.

The metavar of a parameter (`BOT`, `NAME[+SWITCH...]`, `GAME`) says what to offer, so that a new command can be
completed at once. Completing starts no bot, writes nothing, and never fails: after an error there is nothing to offer.
"""

from collections.abc import Callable
from functools import partial

import click
from click.shell_completion import CompletionItem, get_completion_class

from arena.cli.catalog import COMPLETION_VARIABLE
from arena.cli.helping import WORDS, ArenaCommand
from arena.cli.installation import NAME
from arena.cli.streams import result

SHELLS = ("bash", "zsh", "fish")

BASH = """\
_arena_completion() {
    local type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            plain) printf -v value %q "$value"; COMPREPLY+=("$value") ;;
            dir) compopt -o filenames; while read -r value; do COMPREPLY+=("$value"); done \\
                < <(compgen -d -- "${COMP_WORDS[COMP_CWORD]}") ;;
            file) compopt -o filenames; while read -r value; do COMPREPLY+=("$value"); done \\
                < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
        esac
    done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD VARIABLE=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F _arena_completion arena
""".replace("VARIABLE", COMPLETION_VARIABLE)
"""As click has it, but for files: where a bot can be a file or a sample bot, click's offers one of the two."""


@click.command(
    "completion",
    cls=ArenaCommand,
    examples=(
        ('eval "$(arena completion bash)"', "for bash, in ~/.bashrc"),
        ('eval "$(arena completion zsh)"', "for zsh, in ~/.zshrc, after compinit"),
        ("arena completion fish | source", "for fish, in ~/.config/fish/config.fish"),
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print what makes SHELL complete the commands and options of arena.

    Bots, rulesets and switches are completed, too, and behind the name of a store its games and bots. Completing
    starts no bot and writes nothing. bash has to be 4.4 or later.
    """
    if shell == "bash":
        result(BASH, end="")
        return
    of_shell = get_completion_class(shell)
    assert of_shell is not None, f"click completes nothing in {shell}"
    root = click.get_current_context().find_root().command
    result(of_shell(root, {}, NAME, COMPLETION_VARIABLE).source(), end="")


MOST_GAMES = 50
OF_BOT = "BOT:"
"""Stands in the help before the name of a bot whose games are meant, in small letters."""
PATH_STARTS = (".", "/", "~")

Offer = Callable[[click.Context, str], list[CompletionItem]]


def teach(command: click.Command) -> None:
    """Tell the parameters of a command what to offer."""
    for param in command.params:
        offer = _offer_for(param, any(each.name == "store" for each in command.params))
        if offer is not None:
            param.shell_complete = partial(_offered, offer)  # type: ignore[method-assign]  # click's own way is the
            # argument `shell_complete` of each parameter, which a new one would be without


def _offer_for(param: click.Parameter, has_store: bool) -> Offer | None:
    if isinstance(param.type, click.Choice) or (isinstance(param, click.Option) and param.is_flag):
        return None
    metavar = (param.metavar or param.name or "").strip("[]").removesuffix("...").upper()
    if "+SWITCH" in metavar:
        return _rulesets
    if metavar in ("BOT", "BOT BOT", "NEW OLD") and isinstance(param, click.Argument):
        return _bots
    if param.name == "language":
        return _languages
    if metavar == "STORE GAME":
        return _stored_game
    if has_store and metavar == "GAME":
        return _games
    if has_store and metavar.endswith(OF_BOT + "NAME"):
        return partial(_readers, metavar.lower().split("|")[:-1])
    if has_store and metavar.startswith("NAME"):
        return _names
    return _files if metavar in ("FILE", "PATH", "STORE") else None


def _offered(offer: Offer, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    try:
        return offer(ctx, incomplete)
    except Exception:
        return []


def _files(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _bots(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from arena.bots.samples import SAMPLES

    samples = [CompletionItem(name, help="a sample bot") for name in SAMPLES if name.startswith(incomplete)]
    return [*_files(ctx, incomplete), *samples]


def _languages(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from arena.bots.languages import LANGUAGES

    return [CompletionItem(each.name, help=each.title) for each in LANGUAGES if each.name.startswith(incomplete)]


def _rulesets(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from arena.rules.loading import ruleset_names, switch_names, switch_title

    if incomplete.startswith(PATH_STARTS):
        return _files(ctx, incomplete)
    before, plus, last = incomplete.rpartition("+")
    if not plus:
        return [CompletionItem(name) for name in ruleset_names() if name.startswith(incomplete)]
    there = before.split("+")
    switches = [name for name in switch_names() if name.startswith(last) and name not in there]
    return [CompletionItem(f"{before}+{name}", help=switch_title(name)) for name in switches]


def _games(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    return _games_of(_store(ctx), incomplete)


def _games_of(store: str, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_games

    found = peek_games(store, incomplete, MOST_GAMES)
    return [
        CompletionItem(str(game.number), help=f"{game.red} - {game.blue}, {game.result}, {game.plies} plies")
        for game in found
    ]


def _stored_game(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """A file behind the option, and behind that the games in it."""
    words = ctx.meta.get(WORDS, ())
    if words and not words[-1].startswith("-"):
        return _games_of(words[-1], incomplete)
    return _files(ctx, incomplete)


def _names(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_names

    return [CompletionItem(name) for name in peek_names(_store(ctx), incomplete)]


def _readers(words: list[str], ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    before = OF_BOT.lower()
    if not incomplete.startswith(before):
        return [CompletionItem(word) for word in (*words, before) if word.startswith(incomplete)]
    return [CompletionItem(before + name.value) for name in _names(ctx, incomplete.removeprefix(before))]


def _store(ctx: click.Context) -> str:
    """The store that was named earlier on the line. Behind an option without its value, click leaves it unassigned."""
    return str(ctx.params.get("store") or next(iter(ctx.args), ""))
