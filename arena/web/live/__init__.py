"""Games that are being played, as pages: the league's process tells a second one, which serves them.

That process runs below the bots' priority, holds no lock, writes no file, and ends with the league. What is told goes
through a pipe that nobody waits at: what does not fit is dropped, and a page of which something is missing says so.
"""
