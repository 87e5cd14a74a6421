"""Settings of the examples in docstrings."""

from __future__ import annotations

import pytest
from bbrlab import _progress


@pytest.fixture(autouse=True)
def no_bar_in_examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine an example may take long enough for a progress bar, which would be part of its output."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.setattr(_progress, "LEAST_S", float("inf"))
