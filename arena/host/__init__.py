"""`arena host`: a competition as one process and one folder."""
