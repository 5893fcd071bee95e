"""`arena completion`: scripts for completion in a shell."""

import click
from click.shell_completion import get_completion_class

from arena.cli.catalog import COMPLETION_VARIABLE
from arena.cli.helping import command
from arena.cli.installation import NAME
from arena.cli.streams import result

SHELLS = ("bash", "zsh", "fish")


@command(
    ('eval "$(arena completion bash)"', "for bash, in ~/.bashrc"),
    ('eval "$(arena completion zsh)"', "for zsh, in ~/.zshrc, after compinit"),
    ("arena completion fish | source", "for fish, in ~/.config/fish/config.fish"),
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print a script that makes SHELL complete the commands and options of arena.

    It completes bots, rulesets and switches, and the games and bots of a store, too. Needs bash 4.4 or later.
    """
    of_shell = get_completion_class(shell)
    assert of_shell is not None, f"click completes nothing in {shell}"
    root = click.get_current_context().find_root().command
    result(of_shell(root, {}, NAME, COMPLETION_VARIABLE).source(), end="")
