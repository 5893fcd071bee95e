"""Where a server listens, and the host names that it answers to."""

import contextlib
import errno
import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from arena.errors import UsageError
from arena.system.printable import printable, shown

LOCAL_HOST = "127.0.0.1"
LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
BACKLOG = 1024


@dataclass(frozen=True)
class Address:
    """A host, as it was named and without brackets, and a port; port 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.in_url}:{self.port}"

    @property
    def in_url(self) -> str:
        """The host as it stands in an address of a page."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_any(self) -> bool:
        """Whether it is every address of this machine."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False


def parse_address(text: str, default_port: int = 0) -> Address:
    """`HOST:PORT`, `HOST`, `:PORT` or `PORT`; a host of version 6 is in brackets. Raises `UsageError`."""
    host, colon, port = text.rpartition(":")
    if text.startswith("[") and text.endswith("]"):
        host, colon, port = text, "", ""
    elif not colon and not text.isdecimal():
        host, port = text, ""
    if (colon and not port) or (port and not (port.isascii() and port.isdecimal() and int(port) < 65536)):
        raise UsageError(f"expected HOST:PORT with a port from 0 to 65535, and got {printable(text)!r}")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if (":" in bare) != (bare != host) or not all(letter.isalnum() or letter in ".:-_%" for letter in bare):
        raise UsageError(f"expected HOST:PORT, with [::1]:PORT for version 6, and got {printable(text)!r}")
    return Address(bare.lower() or LOCAL_HOST, int(port) if port else default_port)


@dataclass(frozen=True)
class Listening:
    """A socket that listens, and the address that it really has."""

    socket: socket.socket
    address: Address

    @property
    def url(self) -> str:
        """The address for a browser on this machine."""
        host = LOCAL_HOST if self.address.is_any else self.address.in_url
        return f"http://{host}:{self.address.port}/"

    def close(self) -> None:
        self.socket.close()


def listen(address: Address) -> Listening:
    """Listen there. Raises `UsageError` if the port is in use, or the host is none of this machine."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{address}: the host is not known: {why}; expected an address of this machine, such as "
            f"127.0.0.1:{address.port}"
        ) from error
    family, kind, protocol, _, where = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6 and address.is_any:
            with contextlib.suppress(OSError):
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.setblocking(False)
        listener.bind(where)
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"{address}: {_why(error)}") from error
    return Listening(listener, Address(address.host, listener.getsockname()[1]))


def _why(error: Exception) -> str:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return "the port is in use: name another one, or port 0 for any that is free"
        case errno.EACCES:
            return "this user may not listen at that port: those from 1024 on are free to all"
        case errno.EADDRNOTAVAIL:
            return "expected an address of this machine, and it is none"
        case _:
            return f"cannot listen there: {getattr(error, 'strerror', None) or error}"


def exposure_text(address: Address) -> str:
    """What it means to listen there, in words; nothing for this machine alone."""
    if address.is_local:
        return ""
    where = "at all addresses of this machine" if address.is_any else f"at {address.in_url}"
    return (
        f"listening {where}: whoever can reach it can read these pages, without a password and unencrypted; "
        "nothing can be changed by them"
    )


HOST = re.compile(r"(\[[0-9a-f:.%]+\]|[^\[\]:/@\\?#\s]+)(?::(\d{1,5}))?", re.IGNORECASE)


NAME = re.compile(r"\[[0-9a-f:.%]+\]|[a-z0-9._-]+", re.IGNORECASE | re.ASCII)
"""What a request can have as its host: a browser writes all other letters in ASCII (Punycode)."""


@dataclass(frozen=True)
class Hosts:
    """The names, lower case and with brackets where they have colons; `numbers`: addresses in numbers, too."""

    names: frozenset[str]
    numbers: bool = False

    def allow(self, header: str) -> bool:
        """Whether a request with this Host may be answered; any port, which forwarding changes."""
        match = HOST.fullmatch(header)
        if match is None:
            return False
        name = match[1].lower().removesuffix(".")
        return name in self.names or (self.numbers and _is_number(name))


def parse_host(text: str) -> str:
    """A name that a server may be asked by, as it stands in an address of a page. Raises `UsageError`."""
    if not NAME.fullmatch(text):
        raise UsageError(
            f"expected the name of a host alone, such as arena.example.org, without http:// and port; got {shown(text)}"
        )
    return text


def hosts_of(addresses: Iterable[Address], also: Iterable[str] = ()) -> Hosts:
    """The names of servers that listen there; `also` are those that somebody has given it, as a proxy in front."""
    names, numbers = set(LOCAL_NAMES), False
    for address in addresses:
        names.add(address.in_url)
        if address.is_any:
            numbers = True
            with contextlib.suppress(OSError):
                names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return Hosts(frozenset(names | {name.lower().removesuffix(".") for name in also}), numbers)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
