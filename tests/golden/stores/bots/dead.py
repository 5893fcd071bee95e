"""Does not start."""

import sys

sys.exit("no engine in this folder")
