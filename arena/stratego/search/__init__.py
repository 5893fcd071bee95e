"""What bots search with: the knowledge of a seat, and positions. Public names are in `arena.search`."""
