"""cup.toml, the settings of a competition, which docs/host.md explains."""

import ipaddress
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from arena.errors import UsageError
from arena.game.time_control import parse_duration, parse_time
from arena.league.league_options import PlayOptions, variant_of
from arena.league.option_values import option_value
from arena.system.printable import printable
from arena.system.schema import Text, expected, structured
from arena.system.user_files import read_toml
from arena.web.address import Network

SETTINGS, KEY = "cup.toml", "secret.key"
KEY_BYTES = 32
_Count = Annotated[int, Meta(ge=1, le=1_000_000)]
_Duration = Annotated[str, Meta(extra=expected('a time such as "100ms" or "2m"'))]


class Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    by: Literal["invitation", "open"] = "invitation"
    members: _Count = 5


class Playing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules and the conditions of all games. They stay the same for a season."""

    rules: Text = "barrage"
    game: str = ""
    time: Text = "100ms"
    start_time: _Duration = "4s"
    memory: Text = "512M"
    sandbox: Literal["bwrap", "cgroup", "auto", "basic"] = "auto"
    pondering: bool = True
    games_at_once: _Count = 1
    stint: _Duration = "60s"
    park_after: _Count = 3
    probation: _Count = 10

    def options(self, store: Path) -> PlayOptions:
        return PlayOptions(
            rules=self.rules,
            game=self.game,
            time=self.time,
            start_time=self.start_time,
            memory=self.memory,
            sandbox=self.sandbox,
            pondering=self.pondering,
            jobs=self.games_at_once,
            store=store,
        )


class Submissions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    most_mib: Annotated[int, Meta(ge=1, le=1024)] = 20
    unpacked_mib: Annotated[int, Meta(ge=1, le=8192)] = 100
    build_mib: Annotated[int, Meta(ge=1, le=8192)] = 500
    files: Annotated[int, Meta(ge=1, le=100_000)] = 2000
    a_day: _Count = 10
    active: _Count = 2


class Challenges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    games_a_day: Annotated[int, Meta(ge=0, le=100_000)] = 20


class Webhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An address that is told of events, signed with the secret; `discord` sends what Discord takes."""

    url: Annotated[str, Meta(pattern=r"^https?://\S+$", extra=expected("an address with http:// or https://"))]
    secret: Text
    form: Literal["json", "discord"] = "json"


class Cup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings. `address` is that of the pages (empty: where they are served); `proxies` may name clients."""

    title: Annotated[str, Meta(min_length=1, max_length=80)]
    address: Annotated[
        str, Meta(pattern=r"^https?://[^/\s]+$", extra=expected("an address such as https://cup.example"))
    ] = ""
    trusted: bool = False
    shows: Literal["after-game", "after-season", "never"] = "after-game"
    proxies: tuple[str, ...] = ()
    registration: Registration = Registration()
    play: Playing = Playing()
    submissions: Submissions = Submissions()
    challenges: Challenges = Challenges()
    webhooks: tuple[Webhook, ...] = ()


def networks(words: Sequence[str]) -> list[Network]:
    try:
        return [ipaddress.ip_network(word) for word in words]
    except ValueError as error:
        raise UsageError(f"expected addresses such as 127.0.0.1 or 10.0.0.0/8: {error}") from None


def load_cup(folder: Path) -> Cup:
    path = folder / SETTINGS
    if not path.is_file():
        raise UsageError(f"{printable(str(folder))}: expected a folder made by 'arena host init', with a {SETTINGS}")
    where = printable(str(path))
    cup = structured(read_toml(path), Cup, where)
    option_value(f"{where}: proxies", networks, cup.proxies)
    for name, parse in (("start_time", parse_duration), ("stint", parse_duration), ("time", parse_time)):
        option_value(f"{where}: [play] {name}", parse, getattr(cup.play, name))
    option_value(f"{where}: [play] {'game' if cup.play.game else 'rules'}", variant_of, cup.play.options(folder))
    return cup


TEMPLATE = """\
# A competition of 'arena host'. docs/host.md explains each key.
title = {title}
{address}shows = "after-game"       # whole games: after-game, after-season or never

[registration]
by = "invitation"          # or "open"

[play]
rules = {rules}
time = {time}
sandbox = {sandbox}
pondering = false          # bots are stopped in their opponent's turn
games_at_once = {jobs}

[submissions]
a_day = 10
active = 2                 # bots of a team in the ladder at once
"""


def write_cup(folder: Path, *, title: str, address: str, rules: str, time: str, sandbox: str, jobs: int) -> Cup:
    """Make the folder of a competition with its settings and its key. Raises `UsageError` for one that has files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{printable(str(folder))}: expected a new or an empty folder")
    try:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)  # it may have been there, open to others
    except OSError as error:
        raise UsageError(f"{printable(str(folder))}: expected a folder of your own: {error.strerror}") from None
    words = {"title": title, "rules": rules, "time": time, "sandbox": sandbox}
    quoted = {name: msgspec.json.encode(text).decode() for name, text in words.items()}
    quoted["address"] = f"address = {msgspec.json.encode(address).decode()}\n" if address else ""
    (folder / SETTINGS).write_text(TEMPLATE.format(**quoted, jobs=jobs), encoding="utf-8")
    key = folder / KEY
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(KEY_BYTES))
    return load_cup(folder)
