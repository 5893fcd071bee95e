"""`arena submit`: a bot for a competition, followed until it is in the ladder or has failed."""

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

from arena.cli.exit_codes import DONE, FAILED
from arena.cli.helping import command
from arena.cli.shared_options import json_option, offer_bots
from arena.cli.streams import remark, result
from arena.errors import ArenaError, UsageError

TOKEN_OF_SHELL = "ARENA_TOKEN"
SECONDS = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
PATIENCE = 300.0
"""Seconds for which a server that does not answer is asked again."""
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
    from arena.report.layout import to_json
    from arena.system.printable import printable

    if not token:
        raise UsageError(f"--token: expected a token, or one in {TOKEN_OF_SHELL}: make it on the pages of your team")
    if not address.startswith(("http://", "https://")) or not token.isascii() or not token.isprintable():
        raise UsageError("--to and --token: expected an address with http:// or https://, and a token as it was shown")
    site = _Site(address.rstrip("/"), token)
    with tempfile.TemporaryFile() as file:
        bot = _pack(path, file, name)
        size = file.tell()
        file.seek(0)
        remark(f"{printable(bot)}: {size / 1024:.0f} KiB to {printable(address)}")
        query = urlencode({"bot": bot, "name": f"{Path(path).resolve().name}.tar.gz"})
        sent = site.ask(f"/api/submissions?{query}", file, size)
    sent = _followed(site, sent, shows_logs=not as_json)
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
    from arena.bots.finding import find_entrants
    from arena.system.printable import printable

    found = find_entrants([], follow_links=True, asked=[AskedBot(path, name or None)]).bots
    if len(found) != 1:
        raise UsageError(f"{printable(path)}: expected one bot, got {len(found)}: name one of them")
    (bot,) = found
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
        archive.add(folder, arcname=".", filter=_of_nobody)
    return bot.name


def _of_nobody(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


class _NoAnswerError(ArenaError):
    """The server cannot be reached, or not now."""


class _Site:
    def __init__(self, address: str, token: str) -> None:
        self._address, self._token = address, token

    def ask(self, path: str, file: IO[bytes] | None = None, size: int = 0) -> dict[str, Any]:
        """Return the answer to a request, with a file to send. Raises `ArenaError` with the words of the server."""
        import msgspec

        from arena.system.printable import printable

        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if file is not None:
            headers |= {"Content-Length": str(size), "Content-Type": "application/gzip"}
        method = "GET" if file is None else "POST"
        where = printable(self._address)
        try:
            request = urllib.request.Request(f"{self._address}{path}", file, headers, method=method)
            with _opener.open(request, timeout=SECONDS) as answer:
                found = msgspec.json.decode(answer.read(LONGEST_ANSWER), type=dict[str, Any])
        except urllib.error.HTTPError as error:
            words = f"{error.code} {error.reason}"
            with suppress(msgspec.DecodeError, KeyError, OSError):
                words = str(msgspec.json.decode(error.read(LONGEST_ANSWER), type=dict[str, Any])["error"])
            kind = _NoAnswerError if error.code == TOO_MANY or error.code >= SERVER_ERRORS else ArenaError
            raise kind(f"{where}: {printable(words, lines=True)}") from None
        except (OSError, ValueError) as error:
            words = str(getattr(error, "reason", error)) or type(error).__name__
            raise _NoAnswerError(f"{where}: expected a competition of 'arena host': {printable(words, 300)}") from None
        if "is_over" not in found:
            raise ArenaError(f"{where}: expected a competition of 'arena host', got another answer")
        return found


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        """Follow no redirect, which would give the token to another site."""


_opener = urllib.request.build_opener(_NoRedirects)


def _followed(site: _Site, sent: dict[str, Any], *, shows_logs: bool) -> dict[str, Any]:
    """Return a submission that is over."""
    from arena.system.printable import printable

    shown, waited, pause, asked = dict[str, str](), "", FIRST_PAUSE, time.monotonic()
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
        try:
            sent = site.ask(f"/api/submissions/{sent['id']:d}")
            asked = time.monotonic()
        except _NoAnswerError as error:
            if time.monotonic() - asked > PATIENCE:
                raise
            remark(f"{error}; asked again")
