"""Leagues: which games there are to play, and playing the ones that are missing."""
