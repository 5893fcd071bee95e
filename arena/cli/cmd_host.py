"""`arena host`: a competition in one process and one folder."""

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
LEVELS = ("auto", "bwrap", "cgroup")
FOLDER = click.Path(path_type=Path, file_okay=False)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
LISTENS = "127.0.0.1"


class HostGroup(ArenaCommand, click.Group):
    """A command with commands of its own, in the style of the others."""

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
@click.argument("cup", type=FOLDER, metavar="CUP")
@click.option("--title", default="Arena", show_default=True, metavar="TEXT", help="Title of the competition.")
@click.option(
    "--address",
    default=f"http://127.0.0.1:{PORT}",
    show_default=True,
    metavar="URL",
    help="Where people reach it: of a proxy with HTTPS.",
)
@click.option("--rules", default="barrage", show_default=True, metavar="NAME", help="Ruleset of all games.")
@click.option("--time", default="100ms", show_default=True, metavar="TIME", help="Time of the bots.")
@click.option(
    "--sandbox",
    type=click.Choice(LEVELS),
    default="auto",
    show_default=True,
    metavar="LEVEL",
    help="Sandbox of the bots.",
)
@click.option("-j", "--jobs", type=Whole(1, MOST_JOBS), default=1, show_default=True, help="Games at once.")
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
    if sandbox == "basic":
        raise UsageError(
            "--sandbox basic: expected bwrap, cgroup or auto; write trusted = true into cup.toml afterwards"
        )
    settings = write_cup(
        cup, title=title, address=address.rstrip("/"), rules=rules, time=time, sandbox=sandbox, jobs=jobs
    )
    link = make_host(cup, settings)
    try:
        host_level(settings)
    except UsageError as error:
        remark(str(error))
    lines = [
        f"{printable(str(cup))}: a competition; its settings are in cup.toml",
        "",
        "start it:",
        f"    {arena_line('host', 'run', str(cup))}",
        "then open this link, which is good once, and makes you its host:",
        f"    {link}",
    ]
    result("\n".join(lines))
    return DONE


@command(
    ("arena host run cup", ""),
    ("arena host run cup --listen 0.0.0.0:8000", "for other machines; a proxy adds HTTPS"),
    short_help="serve, check and play, until Ctrl-C",
)
@click.argument("cup", type=FOLDER, metavar="CUP")
@click.option(
    "--listen",
    "where",
    default=LISTENS,
    show_default=True,
    metavar="HOST:PORT",
    help=f"Address to listen on; the default port is {PORT}, and 0 any free one.",
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
@click.argument("cup", type=FOLDER, metavar="CUP")
@click.argument("file", type=NEW_FILE, metavar="FILE")
@click.option("--public", is_flag=True, help="What everybody may have.")
def export_command(cup: Path, file: Path, *, public: bool) -> int:
    """Write all that the public may have of CUP to FILE: games, tables, settings and seeds, or their hashes."""
    _needs("export")
    from arena.host.export import export_public

    if not public:
        raise UsageError(f"expected --public; 'arena host backup {printable(str(cup))} TO' copies all that there is")
    index = export_public(cup, file, remark)
    games = sum(league.games for season in index.seasons for league in season.leagues.values())
    remark(f"{printable(str(file))}: {games} games")
    return DONE


@command(
    ("arena host verify cup-public.tar.gz", ""),
    ("arena host verify cup-public.tar.gz --earlier cup-may.tar.gz", "nothing was changed since"),
    short_help="check such an archive",
)
@click.argument("file", type=NEW_FILE, metavar="FILE")
@click.option("--earlier", type=NEW_FILE, metavar="FILE", help="An archive that you got before.")
def verify_command(file: Path, earlier: Path | None) -> int:
    """Check the public archive of a competition: replay its games, and compare seeds, hashes and the order of play.

    Each line names a fault. Exits with 0 if there is none, with 1 otherwise.
    """
    from arena.host.public_check import verify_public

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
@click.argument("cup", type=FOLDER, metavar="CUP")
@click.argument("to", type=FOLDER, metavar="TO")
def backup_command(cup: Path, to: Path) -> int:
    """Copy CUP to the new folder TO, also while it runs. The copy has all secrets."""
    _needs("backup")
    from arena.host.backup import backup

    return _told(backup(cup, to), to)


@command(("arena host restore cup-monday cup", ""), short_help="make a competition from a copy")
@click.argument("source", type=FOLDER, metavar="BACKUP")
@click.argument("cup", type=FOLDER, metavar="CUP")
def restore_command(source: Path, cup: Path) -> int:
    """Make CUP from a BACKUP that this version can read."""
    _needs("restore")
    from arena.host.backup import restore

    return _told(restore(source, cup), cup)


@command(("arena host upgrade cup", ""), short_help="check that this version can read all")
@click.argument("cup", type=FOLDER, metavar="CUP")
def upgrade_command(cup: Path) -> int:
    """Check that this version can read all of CUP, which is to be done before a new version runs it."""
    _needs("upgrade")
    from arena.host.backup import upgrade

    return _told(upgrade(cup), cup)


_COMMANDS: tuple[Any, ...] = (
    *(init_command, run_command, export_command, verify_command, backup_command, restore_command, upgrade_command),
)
for _command in _COMMANDS:
    host_command.add_command(_command)
