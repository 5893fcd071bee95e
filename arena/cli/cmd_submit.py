"""`arena submit`: a bot for a competition, followed until it is in the ladder or has failed."""

import http.client
import os
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

import click
import msgspec

from arena.cli.exit_codes import DONE, FAILED
from arena.cli.helping import command
from arena.cli.shared_options import json_option, offer_bots
from arena.cli.streams import remark, result
from arena.errors import ArenaError, UsageError
from arena.system.no_redirects import NoRedirects
from arena.system.printable import printable

TOKEN_OF_SHELL = "ARENA_TOKEN"
SECONDS = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
PATIENCE = 300.0
"""Seconds for which a server that does not answer is asked again what has become of a submission."""
LONGEST_ANSWER = 4 << 20
TOO_MANY, SERVER_ERRORS = 429, 500


@command(
    ("arena submit mine.py --to https://cup.example", "token in ARENA_TOKEN"),
    ("arena submit mine/ --to https://cup.example --token TOKEN", ""),
)
@click.argument("path", metavar="BOT", shell_complete=offer_bots)
@click.option("--to", "address", required=True, metavar="URL", help="Address of the competition.")
@click.option(
    "--token", envvar=TOKEN_OF_SHELL, metavar="TOKEN", help=f"Your token, from its pages (default: {TOKEN_OF_SHELL})."
)
@click.option("--name", default="", metavar="NAME", help="Name of the bot there (default: its own).")
@json_option
def submit_command(path: str, address: str, token: str | None, name: str, *, as_json: bool) -> int:
    """Send BOT, a file or a folder, to a competition of 'arena host', and follow it until it is in the ladder.

    Hidden files, folders of builds and what its bot.toml ignores are not sent. Exits with 0 only if it got into the
    ladder; otherwise what failed is printed.
    """
    from arena.system.terminal_text import to_json

    if not token:
        raise UsageError(f"--token: expected a token, or one in {TOKEN_OF_SHELL}: make it on the pages of your team")
    if not address.startswith(("http://", "https://")) or not token.isascii() or not token.isprintable():
        raise UsageError("--to and --token: expected an address with http:// or https://, and a token as it was shown")
    api = f"{address.rstrip('/')}/api"
    submissions = f"{api}/submissions"
    with tempfile.TemporaryFile() as file:
        bot = _pack(path, file, name)
        cup = _ask(f"{api}/cup", token, key="submissions", patience=0)
        size, most = file.tell(), cup["submissions"]["most_mib"]
        if size > most << 20:  # a server that refuses so much stops reading, and its answer may be lost
            raise ArenaError(f"{printable(bot)}: expected at most {most} MiB, got {size / (1 << 20):.1f} MiB")
        remark(f"{printable(bot)}: {size / 1024:.0f} KiB to {printable(address)}")
        query = urlencode({"bot": bot, "name": f"{Path(path).resolve().name}.tar.gz"})
        sent = _ask(f"{submissions}?{query}", token, file, patience=0)
    sent = _followed(f"{submissions}/{sent['id']:d}", token, sent, shows_logs=not as_json)
    label = f"submission {sent['id']} of {sent['bot']}"
    if as_json:
        result(to_json(sent))
    elif sent["has_failed"]:
        result(printable(f"{label} is {sent['state']}: {sent['reason']}", lines=True))
    else:
        result(printable(f"{label} is in the ladder ({sent['state']})"))
    return FAILED if sent["has_failed"] else DONE


def _pack(path: str, file: IO[bytes], name: str) -> str:
    """Write the files of a bot that belong to it as a tar.gz; return its name. Raises `UsageError`."""
    from arena.bots.asked import AskedBot
    from arena.bots.bot_files import BotFiles
    from arena.bots.finding import find_one

    bot = find_one(AskedBot(path, name or None))
    if bot.fault is not None:
        raise UsageError(bot.fault)
    assert bot.look is not None
    covered = bot.look.covered
    reader = BotFiles(os.fsencode(covered.folder))
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for parts in reader.covered_files(covered):
            within = [covered.only] if covered.only else list(map(os.fsdecode, parts))
            copy = Path(folder, *within)
            copy.parent.mkdir(parents=True, exist_ok=True)
            reader.copy(parts, copy)
        archive.add(folder, arcname=".")
    return bot.name


def _ask(
    url: str, token: str, file: IO[bytes] | None = None, *, key: str = "is_over", patience: float = PATIENCE
) -> dict[str, Any]:
    """Send a request, with a file if there is one; return the answer, an object that has to have `key`."""
    opener = urllib.request.build_opener(NoRedirects)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    if file is not None:
        headers |= {"Content-Length": str(file.tell()), "Content-Type": "application/gzip"}
        file.seek(0)
    end = time.monotonic() + patience
    while True:
        is_sure = False
        try:
            with opener.open(urllib.request.Request(url, file, headers), timeout=SECONDS) as answer:
                found = msgspec.json.decode(answer.read(LONGEST_ANSWER), type=dict[str, Any])
            if key in found:
                return found
            words = "expected a competition of 'arena host', got another answer"
        except urllib.error.HTTPError as error:
            words, is_sure = f"{error.code} {error.reason}", error.code < SERVER_ERRORS and error.code != TOO_MANY
            with suppress(msgspec.DecodeError, KeyError, OSError):
                words = str(msgspec.json.decode(error.read(LONGEST_ANSWER), type=dict[str, Any])["error"])
        except (OSError, ValueError, http.client.HTTPException, msgspec.DecodeError) as error:
            words = f"expected a competition of 'arena host': {getattr(error, 'reason', error)}"
        words = f"{printable(url.partition('/api/')[0])}: {printable(words, 1000, lines=True)}"
        if is_sure or time.monotonic() > end:
            raise ArenaError(words)
        remark(f"{words}; asked again")
        time.sleep(LONGEST_PAUSE)


def _followed(url: str, token: str, sent: dict[str, Any], *, shows_logs: bool) -> dict[str, Any]:
    shown, waited, pause = dict[str, str](), "", FIRST_PAUSE
    while True:
        for stage in sent["stages"]:
            if shown.get(stage["name"]) != stage["state"]:
                shown[stage["name"]], pause = stage["state"], FIRST_PAUSE
                words = f": {stage['text']}" if stage["text"] else ""
                remark(printable(f"{stage['name']}: {stage['state']}{words}", lines=True))
            if shows_logs and stage["state"] == "failed" and sent["has_failed"] and stage["log"]:
                result(printable(stage["log"].rstrip("\n"), lines=True))
        if sent["is_over"]:
            return sent
        if pause >= LONGEST_PAUSE and sent["waits_for"] not in ("", waited):
            waited = sent["waits_for"]
            remark(printable(waited, lines=True))
        time.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)
        sent = _ask(url, token)
