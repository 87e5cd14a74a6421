"""The `bbrlab` command, as the package installs it."""

from __future__ import annotations

import signal
import sys

from . import _bbrlab

__all__ = ["main"]


def main() -> int:
    """Runs the `bbrlab` command with the arguments of this process.

    Returns:
        The exit status: 0 done, 1 failed, 2 bad usage or input, 130 interrupted.
    """
    # The command handles Ctrl-C itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _bbrlab.command(["bbrlab", *sys.argv[1:]], [sys.executable, "-m", "bbrlab"])
