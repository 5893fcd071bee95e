"""Commands that serve pages: where they say these are, and one whose address is opened before it is ended by Ctrl-C."""

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.request import urlopen

PATIENCE = 120


def pages_address(league: "subprocess.Popen[str]") -> str:
    assert league.stderr is not None
    for line in league.stderr:
        if match := re.search(r"pages: (http://\S+)", line):
            return match[1]
    raise AssertionError("no address was printed")


def visit(line: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a line by the shell, load the page at the address that it prints, and end it. Returns its exit code and
    what it said on standard error."""
    with subprocess.Popen(
        ["/bin/sh", "-c", f"exec {line}"],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://\S+:\d+/", address), (line, address, process.poll())
            with urlopen(address, timeout=PATIENCE) as page:
                assert page.status == 200, line
                assert b"</html>" in page.read()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, said
