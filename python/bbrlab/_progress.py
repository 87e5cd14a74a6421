"""A progress bar on a terminal or in a notebook."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["shown"]

WIDTH = 40
LEAST_S = 0.5
"""The time in seconds after which a bar appears. Shorter work has no bar."""


@contextmanager
def shown(
    name: str, progress: bool | None | Callable[[int, int, float], object]
) -> Iterator[Callable[[int, int, float], object] | None]:
    """Yields the function to call with the progress: the caller's own, or one that shows a bar. Yields None if no
    progress is shown."""
    if callable(progress):
        yield progress
        return
    if progress is False:
        yield None
        return
    if progress is not None and progress is not True:
        raise TypeError(f"progress: expected True, False, None or a callable, found {progress!r} of type {type(progress).__name__}")
    notebook = _notebook()
    if notebook is None and not (progress or sys.stderr.isatty()):
        yield None
        return
    bar = _Bar(name, notebook)
    try:
        yield bar.show
    finally:
        bar.end()


def _notebook() -> Any:
    """Returns IPython's display function in a notebook, otherwise None."""
    if "ipykernel" not in sys.modules:
        return None
    from IPython.display import display

    return display


class _Bar:
    def __init__(self, name: str, notebook: Any) -> None:
        self.name = name
        self.notebook = notebook
        self.handle: Any = None
        self.begun = time.monotonic()
        self.is_shown = False

    def show(self, done: int, total: int, share: float) -> None:
        passed = time.monotonic() - self.begun
        if passed < LEAST_S:
            return
        self.is_shown = True
        left = passed * (1 - share) / share if share > 0 else float("nan")
        full = round(WIDTH * share)
        bar = f"[{'=' * full}{' ' * (WIDTH - full)}]"
        what = f"{done}/{total} runs, {left:.0f} s left"
        if self.notebook is None:
            print(f"\r{self.name} {bar} {what}", end="", file=sys.stderr, flush=True)
            return
        name = html.escape(self.name)
        self._display(f"{self.name} {bar} {what}", f"{name} <progress value='{share:.3f}'></progress> {what}")

    def _display(self, text: str, rich: str) -> None:
        """Replaces the bar's output in the notebook."""
        data = {"text/plain": text, "text/html": rich}
        if self.handle is None:
            self.handle = self.notebook(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)

    def end(self) -> None:
        if not self.is_shown:
            return
        if self.notebook is not None:
            took = f"{time.monotonic() - self.begun:.1f} s"
            self._display(f"{self.name}: {took}", f"{html.escape(self.name)}: {took}")
        else:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
