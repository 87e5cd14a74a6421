"""Settings for all tests: every run tries the same examples."""

import os

from hypothesis import settings

# Plots are drawn but not shown.
os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")
