"""Settings for all tests: hypothesis generates the same examples in every run."""

import os

from hypothesis import settings

# Plots are drawn but not shown.
os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")
