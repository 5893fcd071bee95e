"""Files that tests write."""

from pathlib import Path


def put(path: Path, content: str | bytes = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return path
