"""A laboratory for TCP congestion control.

>>> import bbrlab as bl
>>> r = bl.run("examples.dumbbell")
>>> float(round(r.flows["goodput_mbps"][0], 2))
9.46
"""

from ._bbrlab import COMMIT as __commit__
from ._bbrlab import VERSION as __version__
from ._bbrlab import Scenario
from ._errors import Error, Mistake, RunError, ScenarioError, UsageError
from ._results import Result, Results, open
from ._run import algorithms, compare, reproduce, run, sweep, validate_golden
from ._table import Table

__all__ = [
    "Error",
    "Mistake",
    "Result",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Table",
    "UsageError",
    "__commit__",
    "__version__",
    "algorithms",
    "compare",
    "open",
    "reproduce",
    "run",
    "sweep",
    "validate_golden",
]
