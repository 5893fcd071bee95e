"""`arena completion`: what makes a shell complete the commands, options, bots, rulesets and games of `arena`."""

import click

from arena.cli.completing import VARIABLE
from arena.cli.helping import ArenaCommand
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
""".replace("VARIABLE", VARIABLE)
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
    result(BASH if shell == "bash" else _script(shell), end="")


def _script(shell: str) -> str:
    """What click has for a shell."""
    from click.shell_completion import get_completion_class

    from arena.cli.main import cli
    from arena.cli.words import NAME

    of_shell = get_completion_class(shell)
    assert of_shell is not None, f"click completes nothing in {shell}"
    return of_shell(cli, {}, NAME, VARIABLE).source()
