"""The games to be played, and the places where they are played."""
