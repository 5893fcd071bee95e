"""A league as a folder of web pages, made from a store and readable from a disk."""
