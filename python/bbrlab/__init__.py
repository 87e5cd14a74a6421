"""A laboratory for TCP congestion control.

>>> import bbrlab as bl
>>> r = bl.run("examples.dumbbell")
>>> float(round(r.flows["goodput_mbps"][0], 2))
9.46
"""

from sys import modules as _modules

try:
    from ._bbrlab import COMMIT as __commit__
    from ._bbrlab import VERSION as __version__
    from ._bbrlab import AckSample, Conn, Control, Draw, LostSkb, RateSample, Scenario
    from ._control import CaState, CongestionControl, CwndEvent, Info, PacingStatus
    from ._errors import ControlError, Error, Mistake, RunError, ScenarioError, UsageError
    from ._palette import PALETTE
    from ._results import Result, Results, open
    from ._run import Metric, algorithms, compare, metrics, reproduce, run, scenarios, sweep, validate_golden
    from ._table import Table

    # Modules that are imported only later need these names. A missing name must fail here, with the message below.
    for _name in ("Gathering", "Simulation", "figure_of", "figures", "headings", "titles"):
        if not hasattr(_modules[f"{__name__}._bbrlab"], _name):
            raise ImportError(f"cannot import name {_name!r}", name=f"{__name__}._bbrlab")
except ImportError as _error:
    if _error.name != f"{__name__}._bbrlab":
        raise
    _reason = (
        "the Python files and the compiled module of bbrlab are of different commits, or the module is missing "
        f"({_error}); install bbrlab again, in a clone with `pip install ./python`"
    )
    raise ImportError(_reason, name=_error.name, path=_error.path) from None

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
