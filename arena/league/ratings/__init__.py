"""Ratings and tables from the results of games."""
