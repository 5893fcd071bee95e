"""A cluster as a user asks for it: `--cluster` and its options. Quick to import."""

import re
from dataclasses import dataclass
from pathlib import Path

from arena.errors import UsageError
from arena.system.printable import shown

LOCAL = "local:"
MOST_LOCAL = 64
USUAL_WAIT = "1m"
FORMS = "tcp://HOST:PORT or tls://HOST:PORT of a dask scheduler, or local:N for N workers on this machine"
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?((?:[A-Za-z0-9._-]+)|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)


@dataclass(frozen=True)
class ClusterOptions:
    """What was asked for. `cluster` is an address or `local:N`, `wait` a time such as `1m`: how long a scheduler may be
    out of reach, and a worker silent. The files are those of TLS, in PEM. `jobs` is how many games each worker plays at
    a time; None: as many as it has CPUs. With `calibrate` clocks are scaled to each machine."""

    cluster: str
    wait: str = USUAL_WAIT
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    jobs: int | None = None
    calibrate: bool = False

    @property
    def local(self) -> int:
        """How many workers there are to be on this machine; 0 where a scheduler is given. Raises `UsageError`."""
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
        """Raise `UsageError` for what makes no sense."""
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
        if self.ca and self.cert and self.key:
            _check_tls(self.ca, self.cert, self.key)


def _check_tls(ca: Path, cert: Path, key: Path) -> None:
    """Raise `UsageError` for files that no connection can be made with, whoever is at its other end."""
    import ssl

    given = {"--tls-ca": ca, "--tls-cert": cert, "--tls-key": key}
    for option, file in given.items():
        try:
            file.open("rb").close()
        except OSError as error:
            raise UsageError(f"{option} {shown(str(file))}: cannot be read: {error.strerror}") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for option in ("--tls-ca", "--tls-cert"):
        try:
            context.load_verify_locations(given[option])
        except (OSError, ValueError):
            raise UsageError(f"{option} {shown(str(given[option]))}: expected a certificate in PEM") from None
    try:
        context.load_cert_chain(cert, key, password=lambda: "")  # or it would be asked for at the terminal
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            words = f"it is not the key of the certificate {shown(str(cert))}"
        else:
            words = "expected a private key in PEM, without a password"
        raise UsageError(f"--tls-key {shown(str(key))}: {words}") from None
