"""Every call of the tests tries the same examples."""

import os

from hypothesis import settings

# Pictures are drawn and not shown.
os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")
