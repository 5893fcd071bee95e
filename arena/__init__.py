"""A bot arena for the board game Stratego. `docs/design.md` walks through the house floor by floor."""

__version__ = "0.1.0"
