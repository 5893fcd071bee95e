"""The version of the arena, which every record names."""

__version__ = "0.1.0"
