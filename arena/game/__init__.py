"""One game as a value: what it is to be, who may know what of it, how it is judged, and what came of it. Pure."""
