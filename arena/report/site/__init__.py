"""A league as a folder of web pages: made from a store, and read from a disk or from any server of files.

The pages are plain HTML, made from values by templates; nothing in them decides anything about a game. What moves is a
small script that is given what each viewer saw, ply by ply (`game_data`), and knows no rule.
"""
