"""The rules of Stratego as a pure library: no files read while playing, no clock, no processes, no dice of its own."""
