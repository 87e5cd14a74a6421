"""A laboratory for TCP congestion control.

>>> import bbrlab as bl
>>> r = bl.run("examples.dumbbell")
>>> float(round(r.flows["goodput_mbps"][0], 2))
9.46
"""

from ._bbrlab import COMMIT as __commit__
from ._bbrlab import VERSION as __version__
from ._bbrlab import AckSample, Conn, Control, Draw, LostSkb, RateSample, Scenario
from ._control import CaState, CongestionControl, CwndEvent, Info, PacingStatus
from ._errors import ControlError, Error, Mistake, RunError, ScenarioError, UsageError
from ._palette import PALETTE
from ._results import Result, Results, open
from ._run import Metric, algorithms, compare, metrics, reproduce, run, scenarios, sweep, validate_golden
from ._table import Table

__all__ = [
    "PALETTE",
    "AckSample",
    "CaState",
    "CongestionControl",
    "Conn",
    "Control",
    "ControlError",
    "CwndEvent",
    "Draw",
    "Error",
    "Info",
    "LostSkb",
    "Metric",
    "Mistake",
    "PacingStatus",
    "RateSample",
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
    "metrics",
    "open",
    "reproduce",
    "run",
    "scenarios",
    "sweep",
    "validate_golden",
]
