"""A scheduler and workers that a test has started end with the tests, also on Ctrl-C in a fixture's setup."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from waiting import PATIENCE, until

SCRIPT = """
import sys
from pathlib import Path
from clusters import Cluster
cluster = Cluster(Path(sys.argv[1]))
cluster.start_worker("one")
print(cluster.scheduler.pid, cluster.workers["one"].pid, flush=True)
sys.stdin.read()
"""
HELPERS = Path(__file__).parents[2] / "helpers"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_scheduler_and_no_worker_outlives_the_process_that_has_started_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    line = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HELPERS) as tests:
        assert tests.stdout is not None
        started = [psutil.Process(int(word)) for word in tests.stdout.readline().split()]
        assert len(started) == 2
        tests.send_signal(number)
        tests.wait(PATIENCE)
    until(lambda: not any(process.is_running() for process in started), "scheduler and worker end")
