"""Views of a league for people: tables in a terminal, boards, and JSON."""
