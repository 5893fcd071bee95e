"""What the tests of a competition share: servers that are stopped at the end of a test."""

from served import serving

__all__ = ["serving"]
