"""A sweep on somebody else's workers: executors, and pools with `apply_async`.

A run is a pure function of scenario and seed, so a piece of the sweep that was lost with its worker is given out again, and
nobody has to know what the worker had done: what lies whole in the folder is found there.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from . import _bbrlab
from ._bbrlab import Scenario, SweepRecords
from ._errors import Error, RunError

__all__ = ["Submits", "Takes", "spread"]

PACKETS_AT_A_TIME = 2_000_000
"""The weight of a piece of work, in data packets: about half a second."""

PIECES_MIN = 64
PIECES_MAX = 10_000

FAILURES_MAX = 50
"""So many pieces may fail one after the other before the sweep is given up."""


@runtime_checkable
class Submits(Protocol):
    """What has the interface of `concurrent.futures.Executor`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any: ...


class Takes(Protocol):
    """What has the interface of `multiprocessing.Pool`, such as Ray's."""

    def apply_async(
        self,
        func: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        callback: Callable[[Any], None] | None = None,
        error_callback: Callable[[BaseException], None] | None = None,
    ) -> Any: ...


Piece = tuple[int, ...]
"""Numbers of runs."""


def spread(
    scenario: Scenario,
    executor: Submits | Takes,
    *,
    out: str | os.PathLike[str] | None,
    force: bool,
    pictures: bool,
    limit: int | None,
    progress: Callable[[int, int, float], object] | None,
) -> SweepRecords:
    """Runs all runs of a scenario on an executor's workers."""
    weights = _bbrlab.weights(scenario)
    of_run = dict(weights)
    whole = sum(of_run.values())
    folder = None if out is None else os.path.abspath(out)
    words = (scenario.name, scenario.to_toml())
    waiting = _pieces(weights)
    ended: queue.SimpleQueue[tuple[Piece, Any, BaseException | None]] = queue.SimpleQueue()
    under_way: dict[Piece, Any] = {}

    def give(piece: Piece) -> None:
        task = (compute, *words, piece, folder, force, limit)
        if isinstance(executor, Submits):
            future = executor.submit(*task)
            under_way[piece] = future
            future.add_done_callback(lambda done: ended.put(_outcome(piece, done)))
        else:
            under_way[piece] = executor.apply_async(
                task[0],
                task[1:],
                callback=lambda result: ended.put((piece, result, None)),
                error_callback=lambda error: ended.put((piece, None, error)),
            )

    rows: list[tuple[int, str]] = []
    failures, done, weight = 0, 0, 0
    computed = 0
    try:
        for piece in waiting:
            give(piece)
        while under_way:
            try:
                # With a timeout, so that Ctrl-C is heard.
                piece, result, error = ended.get(timeout=0.05)
            except queue.Empty:
                continue
            if piece not in under_way:
                continue
            del under_way[piece]
            if isinstance(error, (Error, KeyboardInterrupt)):
                raise error
            if error is not None:
                failures += 1
                if failures > FAILURES_MAX:
                    raise RunError(f"the executor has lost {failures} pieces of the sweep, the last with: {error!r}") from error
                give(piece)
                continue
            failures = 0
            made, kept = result
            computed += made
            rows += kept
            done += len(piece)
            weight += sum(of_run[run] for run in piece)
            if progress is not None:
                progress(done, len(of_run), weight / whole)
    except BaseException:
        for future in under_way.values():
            if _has(future, "cancel"):
                future.cancel()
        raise
    if folder is None:
        return _bbrlab.gather(rows)
    complete = _bbrlab.finish(scenario, folder, pictures=pictures)
    if complete < scenario.runs:
        raise RunError(
            f"{folder}: {complete} of {scenario.runs} runs are there; the workers write to a folder that this machine does not see"
        )
    records = _bbrlab.open_folder(folder)
    assert isinstance(records, SweepRecords)
    return records.as_computed(computed)


def compute(
    name: str, text: str, piece: Piece, folder: str | None, force: bool, limit: int | None
) -> tuple[int, list[tuple[int, str]]]:
    """Computes runs of a scenario, on a worker.

    Returns:
        How many were computed and not found, and if there is no folder the number of each with its record.
    """
    records = _bbrlab.sweep(
        _restored(name, text), only=piece, out=folder, force=force, pictures=False, jobs=1, limit=limit
    )
    if folder is not None:
        return records.computed, []
    packed = records.packed()
    (numbers,), (words,) = packed.chunks("number"), packed.chunks("record")
    import numpy as np

    return records.computed, list(zip(np.asarray(numbers).tolist(), [word or "" for word in words.texts()], strict=True))


@lru_cache(maxsize=8)
def _restored(name: str, text: str) -> Scenario:
    """A worker reads a scenario once, not for every piece."""
    return Scenario._restore(name, text)


def _pieces(weights: Sequence[tuple[int, int]]) -> list[Piece]:
    """The runs, the heaviest first, in pieces of about the same weight."""
    whole = sum(weight for _, weight in weights)
    full = max(min(whole // PIECES_MIN, PACKETS_AT_A_TIME), whole // PIECES_MAX)
    pieces: list[Piece] = []
    runs: list[int] = []
    held = 0
    for run, weight in weights:
        runs.append(run)
        held += weight
        if held >= full:
            pieces.append(tuple(runs))
            runs, held = [], 0
    if runs:
        pieces.append(tuple(runs))
    return pieces


def _outcome(piece: Piece, future: Any) -> tuple[Piece, Any, BaseException | None]:
    if future.cancelled():
        return piece, None, RuntimeError("it was cancelled")
    error = future.exception()
    return (piece, None, error) if error is not None else (piece, future.result(), None)


def _has(thing: object, name: str) -> bool:
    return callable(getattr(thing, name, None))
