"""The address at which a server listens, and the host names that it answers to."""

import contextlib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.errors import UsageError
from arena.system.printable import printable, shown

LOCAL_HOST = "127.0.0.1"
LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
BACKLOG = 1024
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
T = TypeVar("T")


@dataclass(frozen=True)
class Address:
    """A host without brackets, and a port; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.in_url}:{self.port}"

    @property
    def in_url(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_local(self) -> bool:
        number = _number(self.host)
        return self.host == "localhost" or (number is not None and number.is_loopback)

    @property
    def is_any(self) -> bool:
        number = _number(self.host)
        return number is not None and number.is_unspecified


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(number, "ipv4_mapped", None) or number


def parse_address(text: str, default_port: int = 0) -> Address:
    """Parse `HOST:PORT`, `HOST`, `:PORT` or `PORT`; an IPv6 host is in brackets. Raises `UsageError`."""
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
    socket: socket.socket
    address: Address

    @property
    def url(self) -> str:
        host = LOCAL_HOST if self.address.is_any else self.address.in_url
        return f"http://{host}:{self.address.port}/"

    def again(self) -> "Listening":
        """Return the same for one server; it closes its own."""
        return Listening(self.socket.dup(), self.address)

    def close(self) -> None:
        self.socket.close()


def listen(address: Address) -> Listening:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server(
            (address.host, address.port),
            family=family,
            backlog=BACKLOG,
            dualstack_ipv6=address.is_any and family == socket.AF_INET6 and socket.has_dualstack_ipv6(),
        )
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{address}: cannot listen there: {why}; expected a free port at an address of this machine, such as "
            "127.0.0.1:0"
        ) from error
    listener.setblocking(False)
    return Listening(listener, Address(address.host, listener.getsockname()[1]))


def exposure_text(address: Address) -> str:
    if address.is_local:
        return ""
    where = "at all addresses of this machine" if address.is_any else f"at {address.in_url}"
    return (
        f"listening {where}: anyone who can reach it can read these pages, without a password and unencrypted; "
        "they cannot change anything"
    )


HOST = re.compile(r"(\[[0-9a-f:.%]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", re.IGNORECASE | re.ASCII)
"""A host of a request: browsers write letters beyond ASCII in ASCII (Punycode)."""


@dataclass(frozen=True)
class Hosts:
    """The host names of a server in lower case; with `numbers` also any IP address."""

    names: frozenset[str]
    numbers: bool = False

    def allow(self, header: str) -> bool:
        match = HOST.fullmatch(header)
        if match is None:
            return False
        name = match[1].lower().removesuffix(".")
        return name in self.names or (self.numbers and _number(name.strip("[]")) is not None)


def parse_host(text: str) -> str:
    match = HOST.fullmatch(text)
    if match is None or match[2]:
        raise UsageError(f"expected a host name such as arena.example.org, without http:// and port; got {shown(text)}")
    return text


def hosts_of(addresses: Iterable[Address], also: Iterable[str] = ()) -> Hosts:
    """Return the host names of servers at these addresses, and `also` others, such as that of a proxy."""
    names, numbers = set(LOCAL_NAMES), False
    for address in addresses:
        names.add(address.in_url)
        if address.is_any:
            numbers = True
            with contextlib.suppress(OSError):
                names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return Hosts(frozenset(names | {name.lower().removesuffix(".") for name in also}), numbers)


def address_key(address: str) -> str:
    """Return the key of a client's address for limits: of version 6 the first 64 bits, which one customer has."""
    number = _number(address)
    if number is None or number.version == 4:
        return str(number or address)
    return str(ipaddress.ip_network((int(number), 64), strict=False))


def client_of(peer: str, forwarded: Sequence[str], proxies: Sequence[Network]) -> str:
    """Return the address of a client. Of X-Forwarded-For only what these proxies have added counts."""
    address = peer
    for word in reversed([part.strip() for header in forwarded for part in header.split(",")]):
        number, named = _number(address), _number(word)
        if number is None or named is None or not any(number in network for network in proxies):
            break
        address = str(named)
    return address


def one_too_many(held: dict[T, str], key: str) -> T | None:
    """Return the newest of the address that holds the most, if it holds more than this one would with another."""
    most, number = Counter(held.values()).most_common(1)[0]
    holds = sum(1 for other in held.values() if other == key)
    return next(one for one in reversed(held) if held[one] == most) if number > holds + 1 else None
