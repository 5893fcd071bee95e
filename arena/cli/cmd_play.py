"""`arena play`: a person against a bot, or two people."""

from pathlib import Path
from typing import Any

import click

from arena.cli.helping import command, exclusive
from arena.cli.shared_options import FILE, HELP_GROUPS, offer_bots, person_options
from arena.league.league_options import PlayOptions

SIDES = ("red", "blue", "random")


@command(
    ("arena play warden --terminal --side red", ""),
    ("echo ready | arena play mine.py --terminal --save mine.json", "from a pipe"),
    ("arena play --resume mine.json --terminal", "on another day"),
    usual=("terminal", "side", "clock", "rules", "time", "two", "resume"),
    groups={"The game": ("terminal", "listen", "two", "side", "name", "clock", "resume", "save"), **HELP_GROUPS},
    runs_bots=True,
)
@click.argument("bot", metavar="[BOT]", required=False, shell_complete=offer_bots)
@click.option("--terminal", is_flag=True, help="Play in this terminal; type 'help' there.")
@click.option("--listen", metavar="HOST:PORT", help="Address of the page (default: 127.0.0.1, any free port).")
@click.option("--two", is_flag=True, help="Two people, each in a browser; no BOT.")
@click.option("--side", type=click.Choice(SIDES), metavar="SIDE", help="Your side: red, blue or random (default).")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Your name in tables (default: your user's); for --two repeatable.",
)
@click.option("--clock", metavar="TIME", help="Your time control (default: none).")
@click.option("--resume", type=FILE, metavar="FILE", help="Resume a saved game; BOT is its bot's path now.")
@click.option("--save", type=FILE, metavar="FILE", help="File for a paused game (default: a new one in this folder).")
@person_options
def play_command(
    bot: str | None,
    *,
    terminal: bool,
    listen: str | None,
    two: bool,
    side: str | None,
    names: tuple[str, ...],
    clock: str | None,
    resume: Path | None,
    save: Path | None,
    seed: int | None,
    **options: Any,
) -> int:
    """Play against a BOT: a path or a sample bot (drifter, forager, raider, skirmisher, warden, scholar, tactician,
    strategist; the weakest first).

    You play in the browser, at the address that is printed, or with --terminal here. Illegal moves are refused. Ctrl-C
    saves the game. The result is stored like any other.
    """
    from arena.cli.saved_play import Seats, begin_with_person, resume_with_person
    from arena.league.league_options import USUAL

    _check(bot, two=two, terminal=terminal, resume=resume)
    exclusive(terminal=terminal, listen=listen is not None)
    seats = Seats(
        is_terminal=terminal, names=names, side=side, clock=clock, seed_given=seed is not None, listen=listen or ""
    )
    if resume is not None:
        given = _said(("names", "side", "clock", "seed", "save", "rules", "time", "store"))
        if given:
            raise click.UsageError(f"--resume and --{given} cannot be used together")
        sandbox = options["sandbox"] if _said(("sandbox",)) else None
        return resume_with_person(resume, bot, sandbox, options["interpreters"], seats)
    made = PlayOptions(**options, seed=USUAL.seed if seed is None else seed)
    return begin_with_person(() if bot is None else (bot,), made, seats, save)


def _check(bot: str | None, *, two: bool, terminal: bool, resume: Path | None) -> None:
    exclusive(resume=resume, two=two)
    if resume is not None:
        return
    if two and bot is not None:
        raise click.UsageError("--two is for two people: expected no BOT")
    if two and terminal:
        raise click.UsageError(
            "--two and --terminal cannot be used together: in one terminal each would see the other's pieces"
        )
    if not two and bot is None:
        raise click.UsageError("expected a BOT to play against, such as 'arena play warden', or --two")


def _said(names: tuple[str, ...]) -> str:
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            return {"names": "name"}.get(name, name)
    return ""
