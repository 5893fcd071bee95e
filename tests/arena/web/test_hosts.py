"""Which names a server answers to."""

import pytest

from arena.errors import UsageError
from arena.web.address import Address, hosts_of, parse_host

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


@pytest.mark.parametrize("name", ["arena.example.org", "Localhost", "192.0.2.1", "[2001:db8::1]", "my_box", "a."])
def test_a_name_that_is_given_is_one_that_requests_can_have(name: str) -> None:
    assert hosts_of([LOCAL], [parse_host(name)]).allow(f"{name}:8000")


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", "a/b", "*", "::1", "\u00e4.example", "\u212a", "a\n"])
def test_what_no_request_can_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="expected a host name"):
        parse_host(name)
