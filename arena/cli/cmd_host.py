"""`arena host`: a competition in one process and one folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import ArenaCommand, Whole, command
from arena.cli.installation import SERVING, arena_line, needs, refuse_windows
from arena.cli.shared_options import PORT
from arena.cli.streams import flush_results, remark, result
from arena.errors import UsageError
from arena.league.league_options import MOST_JOBS
from arena.system.printable import printable

NEEDS = (*SERVING, "python_multipart")
LEVELS = click.Choice(("auto", "bwrap", "cgroup"))
FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
CUP = click.argument("cup", type=FOLDER, metavar="CUP")
HERE = "127.0.0.1"


def _option(*names: str, **more: Any) -> Callable[[click.decorators.FC], click.decorators.FC]:
    return click.option(*names, show_default=True, **more)


class HostGroup(ArenaCommand, click.Group):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    "host",
    cls=HostGroup,
    examples=(
        ("arena host init cup --rules barrage", ""),
        ("arena host run cup", "open the link that init has printed"),
    ),
)
def host_command() -> None:
    """Host a competition: people submit bots, which are checked, play a ladder, and are shown on web pages."""


def _needs(word: str) -> None:
    refuse_windows()
    needs(NEEDS, "host", f"arena host {word}")


@command(
    ("arena host init cup --title 'Winter Cup' --address https://cup.example", ""),
    usual=("title", "address", "rules", "time", "sandbox", "jobs"),
    short_help="make a folder for a competition",
)
@CUP
@_option("--title", default="Arena", metavar="TEXT", help="Title of the competition.")
@_option(
    "--address", default="", metavar="URL", help="Where people reach it: of a proxy with HTTPS (default: of 'run')."
)
@_option("--rules", default="barrage", metavar="NAME", help="Ruleset of all games.")
@_option("--time", default="100ms", metavar="TIME", help="Time of the bots.")
@_option("--sandbox", type=LEVELS, default="auto", metavar="LEVEL", help="Sandbox of the bots.")
@_option("-j", "--jobs", type=Whole(1, MOST_JOBS), default=1, help="Games at once.")
def init_command(cup: Path, *, title: str, address: str, rules: str, time: str, sandbox: str, jobs: int) -> int:
    """Make the folder CUP for a competition, with its settings in cup.toml, and print an invitation for its host."""
    _needs("init")
    from arena.host.cup_settings import write_cup
    from arena.host.serve_cup import host_level, make_host
    from arena.league.league_options import PlayOptions, variant_of
    from arena.league.option_values import check_values

    options = PlayOptions(rules=rules, time=time, sandbox="basic", jobs=jobs)
    check_values(options)
    variant_of(options)
    address = address.rstrip("/")
    settings = write_cup(cup, title=title, address=address, rules=rules, time=time, sandbox=sandbox, jobs=jobs)
    link = f"{address or f'http://{HERE}:{PORT}'}{make_host(cup, settings)}"
    try:
        host_level(settings)
    except UsageError as error:
        remark(str(error))
    result(f"{printable(str(cup))}: a competition; its settings are in cup.toml\n\nstart it:")
    result(f"    {arena_line('host', 'run', str(cup))}")
    result(f"then open this link, which is good once, and makes you its host:\n    {link}")
    return DONE


@command(
    ("arena host run cup", ""),
    ("arena host run cup --listen 0.0.0.0:8000", "for other machines; a proxy adds HTTPS"),
    short_help="serve, check and play, until Ctrl-C",
)
@CUP
@_option(
    "--listen", "where", default=HERE, metavar="HOST:PORT", help=f"Address to listen on; the default port is {PORT}."
)
def run_command(cup: Path, where: str) -> int:
    """Serve the pages of CUP, take submissions and play, until Ctrl-C. The next start goes on where it was."""
    _needs("run")
    from arena.host.serve_cup import serve_host
    from arena.league.option_values import option_value
    from arena.web.address import parse_address

    address = option_value("--listen", lambda text: parse_address(text, PORT), where)

    def ready(url: str) -> None:
        result(url)
        flush_results()
        remark("Ctrl-C ends it")

    serve_host(cup, address, ready=ready, complain=lambda text: remark(f"arena: {text}"))
    return DONE


@command(("arena host export cup cup-public.tar.gz --public", ""), short_help="write what the public may have")
@CUP
@click.argument("file", type=FILE, metavar="FILE")
@click.option("--public", is_flag=True, required=True, expose_value=False, help="What everybody may have.")
def export_command(cup: Path, file: Path) -> int:
    """Write all that the public may have of CUP to FILE: games, tables, settings and seeds, or their hashes."""
    _needs("export")
    from arena.host.export import export_public

    index = export_public(cup, file, remark)
    games = sum(league.games for season in index.seasons for league in season.leagues.values())
    remark(f"{printable(str(file))}: {games} games")
    return DONE


@command(
    ("arena host verify cup-public.tar.gz", ""),
    ("arena host verify cup-public.tar.gz --earlier cup-may.tar.gz", "nothing was changed since"),
    short_help="check such an archive",
)
@click.argument("file", type=FILE, metavar="FILE")
@click.option("--earlier", type=FILE, metavar="FILE", help="An archive that you got before.")
def verify_command(file: Path, earlier: Path | None) -> int:
    """Check the public archive of a competition: replay its games, and compare seeds, hashes and the order of play.

    Each line names a fault. Exits with 0 if there is none, with 1 otherwise.
    """
    from arena.host.export import verify_public

    faults = verify_public(file, remark, earlier)
    for fault in faults:
        result(printable(fault, 500))
    if not faults:
        result(printable(f"{file}: no fault was found"))
    return FOUND if faults else DONE


def _told(words: str, path: Path) -> int:
    result(printable(f"{path}: {words}"))
    return DONE


@command(("arena host backup cup cup-monday", ""), short_help="copy all, also while it runs")
@CUP
@click.argument("to", type=FOLDER, metavar="TO")
def backup_command(cup: Path, to: Path) -> int:
    """Copy CUP to the new folder TO, also while it runs. The copy has all secrets."""
    _needs("backup")
    from arena.host.backup import backup

    return _told(backup(cup, to), to)


@command(("arena host restore cup-monday cup", ""), short_help="make a competition from a copy")
@click.argument("source", type=FOLDER, metavar="BACKUP")
@CUP
def restore_command(source: Path, cup: Path) -> int:
    """Make CUP from a BACKUP that this version can read."""
    _needs("restore")
    from arena.host.backup import restore

    return _told(restore(source, cup), cup)


@command(("arena host upgrade cup", ""), short_help="check that this version can read all")
@CUP
def upgrade_command(cup: Path) -> int:
    """Check that this version can read all of CUP, which is to be done before a new version runs it."""
    _needs("upgrade")
    from arena.host.backup import upgrade

    return _told(upgrade(cup), cup)


for _command in (
    *(init_command, run_command, export_command, verify_command, backup_command, restore_command, upgrade_command),
):
    host_command.add_command(_command)
