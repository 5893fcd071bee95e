"""With TLS nobody without a certificate gets in, and with one the league is the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster, cluster_of
from distributed import Security

from .conftest import Bots, results


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate, its key, and who has signed it: itself."""
    folder = tmp_path_factory.mktemp("keys")
    made = Security.temporary()  # type: ignore[no-untyped-call]
    for name, text in (("ca", made.tls_ca_file), ("cert", made.tls_client_cert), ("key", made.tls_client_key)):
        (folder / f"{name}.pem").write_text(text)
    return folder


@pytest.fixture(scope="module")
def cluster(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster"), "w1", keys=keys) as made:
        yield made


def test_a_league_over_tls_is_the_league_that_it_is_without(
    cluster: Cluster, keys: Path, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    assert cluster.address.startswith("tls://")
    files = [word for name in ("ca", "cert", "key") for word in (f"--tls-{name}", str(keys / f"{name}.pem"))]
    league = cluster.league(*bots.arguments, *files, "--store", "l.sqlite", folder=tmp_path)
    assert league.end() == 0, league.said
    assert results(tmp_path / "l.sqlite") == plain


def test_with_another_authority_the_scheduler_does_not_answer(cluster: Cluster, bots: Bots, tmp_path: Path) -> None:
    other = Security.temporary()  # type: ignore[no-untyped-call]
    files = []
    for name, text in (("ca", other.tls_ca_file), ("cert", other.tls_client_cert), ("key", other.tls_client_key)):
        (tmp_path / f"{name}.pem").write_text(text)
        files += [f"--tls-{name}", str(tmp_path / f"{name}.pem")]
    league = cluster.league(*bots.arguments, *files, "--store", "l.sqlite", folder=tmp_path, wait="2s")
    assert league.end() == 1
    assert "no scheduler has answered within 2 s" in league.said
    assert "Traceback" not in league.said
