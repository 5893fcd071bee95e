"""Where a server listens: what can be written, and what is said of what cannot."""

import socket
from ipaddress import ip_network

import pytest

from arena.errors import UsageError
from arena.web.address import Address, address_key, client_of, hosts_of, listen, parse_address, parse_host


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        (":9000", "127.0.0.1", 9000),
        ("localhost", "localhost", 7777),
        ("Example.org:1", "example.org", 1),
        ("[::1]:65535", "::1", 65535),
        ("", "127.0.0.1", 7777),
    ],
)
def test_a_host_and_a_port_are_read_as_they_are_usually_written(text: str, host: str, port: int) -> None:
    assert parse_address(text, 7777) == Address(host, port)


@pytest.mark.parametrize(
    "text", ["host:", "host:x", "host:65536", "::1:80", "host:-1", "a b:1", "http://x:1", "x/y:1", "[a:80", "h:٣"]
)
def test_anything_else_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(UsageError, match="expected HOST:PORT"):
        parse_address(text)


def test_port_0_is_a_free_port_and_the_address_says_which() -> None:
    listening = listen(Address("127.0.0.1", 0))
    try:
        assert listening.address.port > 0
        assert listening.url == f"http://127.0.0.1:{listening.address.port}/"
        with socket.create_connection(("127.0.0.1", listening.address.port)):
            pass
    finally:
        listening.close()


def test_a_port_in_use_is_said_in_words() -> None:
    first = listen(Address("127.0.0.1", 0))
    try:
        with pytest.raises(UsageError, match=rf":{first.address.port}: cannot listen there: Address already in use"):
            listen(first.address)
    finally:
        first.close()


LOCAL = Address("127.0.0.1", 8000)


@pytest.mark.parametrize("header", ["127.0.0.1", "127.0.0.1:8000", "localhost:9", "LOCALHOST", "[::1]:1", "localhost."])
def test_a_local_server_answers_to_local_names_at_any_port(header: str) -> None:
    assert hosts_of([LOCAL]).allow(header)


@pytest.mark.parametrize(
    "header",
    [
        *("", "evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.0.2.1", "localhost@evil", "::1"),
        *("a b", "localhost:", "localhost:123456", "localhost/", "127.0.0.1\n"),
    ],
)
def test_and_to_no_other_name(header: str) -> None:
    assert not hosts_of([LOCAL]).allow(header)


def test_a_server_at_all_addresses_answers_to_numbers_which_cannot_be_rebound_and_to_no_foreign_name() -> None:
    hosts = hosts_of([Address("0.0.0.0", 8000)])
    assert hosts.allow("192.0.2.1:8000")
    assert hosts.allow("[2001:db8::1]")
    assert not hosts.allow("evil.example")


def test_the_host_that_was_named_and_names_given_besides_are_answered() -> None:
    hosts = hosts_of([Address("arena.example", 80)], ["Pages.Example."])
    assert hosts.allow("arena.example")
    assert hosts.allow("pages.example:443")


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", "a/b", "*", "::1", "\u00e4.example", "\u212a", "a\n"])
def test_what_no_request_can_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="expected a host name"):
        parse_host(name)


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.1, 203.0.113.7, 10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
        ("192.0.2.1", ["203.0.113.7"], "192.0.2.1"),
        ("10.0.0.1", ["203.0.113.7, nonsense"], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("", ["203.0.113.7"], ""),
    ],
)
def test_the_last_address_that_no_proxy_has_is_the_client(peer: str, forwarded: list[str], client: str) -> None:
    assert client_of(peer, forwarded, [ip_network("10.0.0.0/8")]) == client


def test_a_customer_with_many_addresses_of_version_6_counts_once() -> None:
    assert address_key("2001:db8::1") == address_key("2001:db8::ffff") != address_key("2001:db8:0:1::1")
    assert address_key("::ffff:192.0.2.1") == address_key("192.0.2.1") != address_key("::ffff:192.0.2.2")
