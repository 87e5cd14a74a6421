"""Settings of the examples in docstrings."""

from __future__ import annotations

import pytest
from bbrlab import _progress


@pytest.fixture(autouse=True)
def no_bar_in_examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents progress bars. On a busy machine, a slow example would show a bar, and its output would differ."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.setattr(_progress, "LEAST_S", float("inf"))
