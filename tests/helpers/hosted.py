"""A competition in a folder, for tests: its settings, database and teams, and the archives that teams send."""

import io
import secrets
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from arena.host.accounts import MACHINE, Account, Actor, Team, invite, join, make_token, team_of
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import KEY, KEY_BYTES, Cup, Playing
from arena.host.submissions import BOTS, Submission, receive

HOST = MACHINE
DUEL = Playing(rules="duel", sandbox="basic", time="500ms")
BROKEN_BOT = "#!/bin/sh\necho no luck today >&2\nexit 1\n"


@dataclass
class Hosted:
    folder: Path
    cup: Cup
    database: CupDatabase

    def member(self, name: str, team: str) -> Account:
        """Register an account with a team of its own."""
        return join(self.database, self.cup, invite(self.database, HOST), name, team)

    def host(self, name: str) -> Account:
        return join(self.database, self.cup, invite(self.database, HOST, is_host=True), name)

    def team_of(self, account: Account) -> Team:
        team = team_of(self.database, account.id)
        assert team is not None
        return team

    def token(self, account: Account) -> str:
        return make_token(self.database, Actor(account.id), account.id, "a test")

    def submit(self, account: Account, bot: str, data: bytes, sent_as: str = "bot.tar.gz") -> Submission:
        file = self.folder / secrets.token_hex(8)
        file.write_bytes(data)
        try:
            team = self.team_of(account).id
            given = {"team": team, "bot": bot, "file": file, "sent_as": sent_as}
            return receive(self.database, self.cup, self.folder, Actor(account.id), **given)  # type: ignore[arg-type]
        finally:
            file.unlink(missing_ok=True)

    def again(self) -> "Hosted":
        """Open the database once more, as a server that is started again does."""
        self.database.close()
        return Hosted(self.folder, self.cup, CupDatabase(self.folder / FILE))


def make_hosted(folder: Path, cup: Cup | None = None) -> Hosted:
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / BOTS).mkdir(mode=0o700)
    (folder / KEY).write_bytes(secrets.token_bytes(KEY_BYTES))
    cup = cup or Cup(title="A test", address="http://127.0.0.1", trusted=True, play=DUEL)
    return Hosted(folder, cup, CupDatabase(folder / FILE, create=True))


def tar(files: Mapping[str, str | bytes], packed: Literal["", "gz", "bz2", "xz"] = "gz") -> bytes:
    """Return a tar of these files; those that begin with #! are programs."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=cast(Literal["w:gz"], f"w:{packed}")) as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755 if data.startswith(b"#!") else 0o644
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def dig(folder: Path) -> None:
    """Make a folder with thousands of folders in each other, as a build can."""
    folder.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-c", "import os\nfor _ in range(3000): os.mkdir('a'); os.chdir('a')"], cwd=folder, check=True
    )
