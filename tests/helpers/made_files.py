"""Files that tests write."""

from pathlib import Path


def put(path: Path, text: str, mode: int = 0o755) -> Path:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path
