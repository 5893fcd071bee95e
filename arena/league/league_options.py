"""The options of a league or a match as people write them, their defaults, and the formats.

Quick to import, because the command line needs names and defaults first.
"""

import enum
import os
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import UsageError
from arena.system.printable import shown

if TYPE_CHECKING:
    from arena.bots.asked import AskedBot, OwnByName
    from arena.game import Variant


SANDBOXES = ("basic", "bwrap", "cgroup", "auto")
OPPONENTS = ("hidden", "named")
LARGEST_SEED = 2**64 - 1
GUESSED = 2**32
"""A seed of a league below this can be found by trying."""
MOST_JOBS = 4096
USUAL_MATCH_GAMES = 2
USUAL_MOST_COMPARED = 20_000
MOST_GAMES = 1_000_000
"""Games of a league; their rows are in memory while it is played."""


def usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Kind(enum.Enum):
    LEAGUE = "league"
    MATCH = "match"
    COMPARE = "compare"
    PLAY = "play"


@dataclass(frozen=True)
class PlayOptions:
    """The options of a league or a match. Times and sizes are strings with units, such as `100ms` or `512M`.

    `game` names a game, or its file; empty: Stratego. `rules` name a variant of it; empty: the usual one. `limits` is a
    TOML file with other limits and times for some bots; it wins over `own`, limits of single bots by name. With
    `draws_seed` a game with chance gets a random seed, which its store keeps. `interpreters` are paths of programs that
    bots may be run by. `keep_bots` plays the two games of a pair in the same processes. `affinity` pins the bots of
    each game to a CPU; None: if every CPU has a game. `asked` are the bots as they were named, where more than paths
    were given. Bots that are `built` are not built again. Without a `store` the games are kept in a file in the
    current folder that is named after the settings.
    """

    rules: object = ""
    game: str = ""
    time: str = "100ms"
    start_time: str = "10s"
    setup_time: str = "5s"
    margin: str = "50ms"
    seed: int = 1
    draws_seed: bool = False
    jobs: int = field(default_factory=usable_cpus)
    sandbox: str = "basic"
    memory: str = "512M"
    processes: int = 64
    tmp: str = "16M"
    limits: Path | None = None
    interpreters: tuple[str, ...] = ()
    build_time: str = "10m"
    build_memory: str = "2G"
    build_disk: str = "2G"
    build_network: bool = False
    built: bool = False
    pondering: bool = True
    keep_bots: bool = False
    openings: Path | None = None
    opponents: str = "hidden"
    affinity: bool | None = None
    store: Path | None = None
    asked: "tuple[AskedBot, ...]" = ()
    own: "OwnByName | None" = None
    cluster: "ClusterOptions | None" = None


USUAL = PlayOptions()


USUAL_ROUNDS = 1
USUAL_CONFIDENCE = 0.95
USUAL_EXTRA_PAIRS = 2
GAMES_A_BOT = 500
"""The default games of a ladder for each bot, which separate 40 Elo with certainty and 25 mostly."""
MOST_PAIRS = 1000
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.9999


class FormatName(enum.Enum):
    ROUND_ROBIN = "round-robin"
    SINGLE = "single-round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    LADDER = "ladder"


PLACING = (FormatName.SWISS, FormatName.KNOCKOUT, FormatName.LADDER)


TAKES: dict[FormatName, tuple[str, ...]] = {
    FormatName.ROUND_ROBIN: ("rounds",),
    FormatName.SINGLE: ("rounds",),
    FormatName.GAUNTLET: ("rounds", "challengers"),
    FormatName.SWISS: ("rounds", "seeds"),
    FormatName.KNOCKOUT: ("seeds", "best_of", "extra_pairs"),
    FormatName.LADDER: ("confidence", "games"),
}


@dataclass(frozen=True)
class FormatOptions:
    """The options of a format, as in docs/formats.md; None where an option was not given.

    `seeds` are names of bots from the first seed on. A bot with `disqualify` faults plays no more, in all formats.
    """

    name: FormatName = FormatName.ROUND_ROBIN
    rounds: int | None = None
    challengers: int | None = None
    seeds: tuple[str, ...] = ()
    best_of: int | None = None
    extra_pairs: int | None = None
    confidence: float | None = None
    games: int | None = None
    disqualify: int | None = None


def check_format(options: FormatOptions) -> None:
    for option in fields(options):
        value, name = getattr(options, option.name), f"--{option.name.replace('_', '-')}"
        if option.name in ("name", "disqualify") or value is None or value == ():
            continue
        if option.name not in TAKES[options.name]:
            *takers, last = (name.value for name in FormatName if option.name in TAKES[name])
            words = f"{', '.join(takers)} and {last}" if takers else last
            got = ",".join(value) if isinstance(value, tuple) else value
            raise UsageError(
                f"{name} is for --format {words}: expected no such option with --format {options.name.value}, got {got}"
            )
        if isinstance(value, int) and value < (0 if option.name == "extra_pairs" else 1):
            raise UsageError(f"{name}: expected a whole number from 1, got {value}")
        if option.name in ("best_of", "extra_pairs") and value > MOST_PAIRS:
            raise UsageError(f"{name}: expected at most {MOST_PAIRS} pairs of games, got {value}")
    if options.name is FormatName.GAUNTLET and options.challengers is None:
        raise UsageError(
            "--format gauntlet: expected --challengers N (the first N bots named meet all others), got no challengers"
        )
    confidence = options.confidence
    if confidence is not None and not LEAST_CONFIDENCE < confidence <= MOST_CONFIDENCE:
        raise UsageError(
            f"--confidence: expected a likelihood above {LEAST_CONFIDENCE} and up to {MOST_CONFIDENCE}, such as 0.95, "
            f"got {confidence:g}"
        )
    if options.disqualify is not None and not 1 <= options.disqualify <= MOST_GAMES:
        raise UsageError(f"--disqualify: expected a number of faults from 1 to {MOST_GAMES}, got {options.disqualify}")


LOCAL = "local:"
MOST_LOCAL = 64
USUAL_WAIT = "1m"
FORMS = "tcp://HOST:PORT or tls://HOST:PORT of a dask scheduler, or local:N for N workers on this machine"
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?((?:[A-Za-z0-9._-]+)|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)


@dataclass(frozen=True)
class ClusterOptions:
    """The options of a cluster: an address or `local:N`, files of TLS in PEM, and how long a scheduler may be mute."""

    cluster: str
    wait: str = USUAL_WAIT
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    jobs: int | None = None
    calibrate: bool = False

    @property
    def local(self) -> int:
        """The number of workers on this machine; 0 where a scheduler is given. Raises `UsageError`."""
        if not self.cluster.startswith(LOCAL):
            return 0
        number = self.cluster.removeprefix(LOCAL)
        if not (number.isascii() and number.isdigit() and 1 <= int(number) <= MOST_LOCAL):
            raise UsageError(
                f"--cluster: expected {LOCAL}N with N workers, from 1 to {MOST_LOCAL}, got {shown(self.cluster)}"
            )
        return int(number)

    @property
    def address(self) -> str:
        """The scheduler's address, as dask writes it. Raises `UsageError`."""
        match = _ADDRESS.fullmatch(self.cluster)
        if not match or int(match[3]) > 65535:
            raise UsageError(f"--cluster: expected {FORMS}, got {shown(self.cluster)}")
        scheme = match[1] or ("tls" if self.ca or self.cert or self.key else "tcp")
        return f"{scheme}://{match[2]}:{match[3]}"

    def check(self) -> None:
        files = {"--tls-ca": self.ca, "--tls-cert": self.cert, "--tls-key": self.key}
        given = [name for name, file in files.items() if file is not None]
        if self.local:
            if given:
                raise UsageError(f"{given[0]}: --cluster {self.cluster} makes keys of its own")
            return
        is_tls = self.address.startswith("tls://")
        if is_tls and len(given) < len(files):
            missing = ", ".join(name for name in files if name not in given)
            raise UsageError(f"--cluster {self.cluster}: TLS needs {missing} as well")
        if given and not is_tls:
            raise UsageError(f"{given[0]}: expected --cluster tls://HOST:PORT with it, got {shown(self.cluster)}")
        if not (self.ca and self.cert and self.key):
            return
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(self.ca)
            context.load_cert_chain(self.cert, self.key, password=lambda: "")  # or it would be asked for at a terminal
        except (OSError, ValueError) as error:
            raise UsageError(
                "--tls-ca, --tls-cert and --tls-key: expected files in PEM, and the key of the certificate, without a "
                f"password: {shown(str(error))}"
            ) from None


def variant_of(options: PlayOptions) -> "Variant":
    """Return the game's variant of the options. Raises `UsageError`."""
    from arena.game.registry import file_of, load_game  # the command line starts sooner

    game = load_game(options.game)
    if options.cluster is not None and file_of(game.name):
        raise UsageError(
            f"--game: a cluster plays games that are installed on its machines: install {game.name} there as a package"
        )
    return game.variant(options.rules)
