"""The options of `arena league` for a cluster: where it is, how it is spoken with, and whether clocks are scaled."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from arena.cli.extras import needs
from arena.cli.shared import with_options
from arena.errors import UsageError
from arena.league.cluster import USUAL_WAIT, ClusterOptions

CLUSTER_GROUP = ("cluster", "cluster-wait", "calibrate", "tls-ca", "tls-cert", "tls-key")
"""The options of `arena league` for a cluster, by their names."""


def cluster_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for a cluster to a command."""
    return with_options(function, _OPTIONS)


_OPTIONS = (
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Play on the workers of the dask scheduler there (tcp://HOST:PORT or tls://HOST:PORT), or local:N on N of "
        "this machine.",
    ),
    click.option(
        "--cluster-wait",
        default=USUAL_WAIT,
        show_default=True,
        metavar="TIME",
        help="How long a scheduler may be out of reach, and a worker be missing or silent.",
    ),
    click.option(
        "--calibrate",
        is_flag=True,
        help="Scale clocks to each machine of a cluster: on one that is half as fast, twice the time.",
    ),
    *(
        click.option(name, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help=words)
        for name, words in (
            ("--tls-ca", "Who signs the certificates of a cluster, in PEM."),
            ("--tls-cert", "The certificate of this arena for a cluster, in PEM."),
            ("--tls-key", "The key of that certificate, in PEM."),
        )
    ),
)


def collect_cluster(values: dict[str, Any]) -> ClusterOptions | None:
    """The options for a cluster out of a command's arguments, which are taken out of these. Raises `UsageError`."""
    cluster, wait = values.pop("cluster"), values.pop("cluster_wait")
    files = {name: values.pop(f"tls_{name}") for name in ("ca", "cert", "key")}
    calibrate = values.pop("calibrate")
    if cluster is None:
        if calibrate:
            raise UsageError("--calibrate: expected --cluster with it: on one machine all bots have the same clocks")
        given = next((name for name, file in files.items() if file is not None), None)
        if given:
            raise UsageError(f"--tls-{given}: expected --cluster tls://HOST:PORT with it")
        return None
    source = click.get_current_context().get_parameter_source("jobs")
    is_usual = source in (click.core.ParameterSource.DEFAULT, None)
    options = ClusterOptions(cluster, wait, **files, jobs=None if is_usual else values["jobs"], calibrate=calibrate)
    options.check()
    needs(["distributed", "cryptography"], "cluster", "arena league --cluster")
    return options
