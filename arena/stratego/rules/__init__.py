"""The rules of Stratego as a pure library: no files read while playing, no clock, no process, no random numbers."""
