"""The project's colours."""

from __future__ import annotations

__all__ = ["PALETTE"]

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6e5028", "#3c3c3c")
"""The colours of the command line's plots, in the order of lines. People with colour vision deficiencies can
distinguish all eight."""
