"""A league as a folder of web pages, made from a store and readable from a disk.

Templates make plain HTML from values. A small script shows a game ply by ply from data for each viewer (`game_data`);
the script contains no rules.
"""
