"""What `--cluster` and the options beside it may be: mistakes are told at once, with the option that is wrong."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from arena.errors import UsageError
from arena.league.league_options import ClusterOptions

NAMES = ("ca", "cert", "key")


@pytest.fixture(scope="module")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of TLS, right ones and others."""
    folder = tmp_path_factory.mktemp("pems")
    from distributed import Security  # here, as it takes a second to import

    made, other = Security.temporary(), Security.temporary()  # type: ignore[no-untyped-call]
    key = load_pem_private_key(made.tls_client_key.encode(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    files = {
        "ca": made.tls_ca_file,
        "cert": made.tls_client_cert,
        "key": made.tls_client_key,
        "other-key": other.tls_client_key,
        "locked-key": locked.decode(),
        "words": "no certificate",
        "empty": "",
        "half": made.tls_client_cert[:300],
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "bytes").write_bytes(b"\xff\0\x80" * 50)
    return folder


def options_of(cluster: str, files: dict[str, Path]) -> ClusterOptions:
    return ClusterOptions(cluster, ca=files.get("ca"), cert=files.get("cert"), key=files.get("key"))


def refusal(pems: Path, cluster: str = "tls://10.0.0.1:8786", **files: str | None) -> str:
    given = {name: files.get(name, name) for name in NAMES}
    options = options_of(cluster, {name: pems / file for name, file in given.items() if file is not None})
    with pytest.raises(UsageError) as caught:
        options.check()
    return str(caught.value)


def test_files_that_belong_together_are_taken(pems: Path) -> None:
    options_of("tls://10.0.0.1:8786", {name: pems / name for name in NAMES}).check()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", ["none", "words", "empty", "half", "bytes", "other-key", "locked-key"])
def test_files_that_are_no_pem_or_do_not_belong_together_are_refused(pems: Path, name: str, file: str) -> None:
    """A key with a password is refused, and nobody is asked for it."""
    assert refusal(pems, **{name: file}).startswith("--tls-ca, --tls-cert and --tls-key: expected files in PEM")


@pytest.mark.parametrize("missing", NAMES)
@pytest.mark.parametrize("cluster", ["tls://10.0.0.1:8786", "10.0.0.1:8786"])
def test_some_of_the_three_files_are_not_enough(pems: Path, missing: str, cluster: str) -> None:
    assert refusal(pems, cluster, **{missing: None}) == f"--cluster {cluster}: TLS needs --tls-{missing} as well"


def test_files_without_tls_are_refused(pems: Path) -> None:
    assert refusal(pems, "tcp://10.0.0.1:8786").startswith("--tls-ca: expected --cluster tls://HOST:PORT with it")
    assert refusal(pems, "local:2") == "--tls-ca: --cluster local:2 makes keys of its own"


@pytest.mark.parametrize(
    ("cluster", "address"),
    [
        ("tcp://host:8786", "tcp://host:8786"),
        ("host:1", "tcp://host:1"),
        ("tls://[::1]:65535", "tls://[::1]:65535"),
    ],
)
def test_an_address_is_taken_as_dask_writes_it(cluster: str, address: str) -> None:
    assert ClusterOptions(cluster).address == address


@pytest.mark.parametrize("cluster", ["host", "host:", "http://host:1", "tcp://host:65536", "tcp://a b:1", ""])
def test_what_is_no_address_is_refused(cluster: str) -> None:
    with pytest.raises(UsageError, match="--cluster: expected tcp://HOST:PORT or tls://HOST:PORT"):
        ClusterOptions(cluster).check()


@pytest.mark.parametrize("cluster", ["local:", "local:0", "local:65", "local:x", "local:-1"])
def test_a_number_of_local_workers_has_bounds(cluster: str) -> None:
    with pytest.raises(UsageError, match="--cluster: expected local:N with N workers, from 1 to 64"):
        ClusterOptions(cluster).check()
