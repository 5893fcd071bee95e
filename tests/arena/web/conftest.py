"""What the tests of served pages share: servers that are stopped at the end of a test."""

from play_table import seat
from served import serving

__all__ = ["seat", "serving"]
