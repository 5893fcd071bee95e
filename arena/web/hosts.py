"""Under which names a server may be asked: a page of elsewhere may have its own name lead to this machine.

That is "DNS rebinding": the browser takes what is then loaded for that page's own. The name that was asked for is in
the header Host, and a server that answers to its own names only gives nothing away. An address in numbers cannot be
made to lead elsewhere, and is allowed where the server listens at all addresses.
"""

import contextlib
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from arena.errors import UsageError
from arena.printable import shown
from arena.web.address import LOCAL_NAMES, Address

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
