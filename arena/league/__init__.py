"""Leagues: the games that there are to play, and playing those that are missing."""
