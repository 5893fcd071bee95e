"""What a person sees of a league: tables in a terminal, boards, and the same as JSON."""
