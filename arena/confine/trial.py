"""Whether what bots are run by can be run in their sandboxes, tried before the first game.

A sandbox may lack something that a program of the host needs: a library outside the system's folders, a file that an
installation keeps elsewhere. That is the host's affair: it is said once, and no bot loses a game by it. Nothing of a
bot is run for it: an interpreter is asked for its version, and of a bot's own program it is only looked whether it is
there.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from arena.bots import BotSpec
from arena.confine import bwrap
from arena.confine.launch import Launch, SandboxError, StartError
from arena.confine.recipe import Recipe
from arena.confine.run import run_to_end
from arena.limits import Limits
from arena.printable import printable

SECONDS = 60.0
CANNOT_RUN = (126, 127)
"""What a program exits with that could not be run: of a shell, of prlimit, and of the linker that misses a library."""
PYTHON_PART, SHELL = "-I", "/bin/sh"
"""What is in the trials of a Python, and of a bot's own program: those have to end well."""
LINE_SHOWN = 300


async def try_programs(bots: Iterable[tuple[BotSpec, Recipe]], limits: Limits) -> None:
    """Run what each of the bots begins with, in a sandbox as it is going to have.

    Raises `SandboxError`, and `HostError` if the machine cannot start anything.
    """
    tried = set[tuple[object, ...]]()
    for bot, recipe in bots:
        key = (recipe.trial, recipe.folders, recipe.links)
        said = None if key in tried else await _try(recipe, limits)
        tried.add(key)
        if said is not None:
            raise SandboxError(
                f"{printable(str(bot.path))}: the sandbox cannot run {_program(recipe)}, which this bot needs: {said}"
            )


def _program(recipe: Recipe) -> str:
    return recipe.trial[-1] if recipe.trial[0] == SHELL else recipe.trial[0]


async def _try(recipe: Recipe, limits: Limits) -> str | None:
    """None if the program can be run, else what was said about it."""
    line = bwrap.command(replace(recipe, words=recipe.trial, extras={}), limits, bwrap.spare_user())
    launch = Launch(bwrap.through_shell(line), Path("/"), {}, limits, helpers=bwrap.PROCESSES)
    try:
        ended = await run_to_end(launch, SECONDS)
    except StartError as error:
        return str(error)
    lines = ended.said.strip().splitlines()
    has_to_end_well = PYTHON_PART in recipe.trial or recipe.trial[0] == SHELL
    says_that_it_cannot = ended.code in CANNOT_RUN or ended.said.startswith("bwrap: ")
    if ended.code == 0 or not (has_to_end_well or says_that_it_cannot):
        return None
    return printable(lines[-1], LINE_SHOWN) if lines else f"it {ended.how}"
