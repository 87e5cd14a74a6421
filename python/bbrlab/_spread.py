"""A sweep on external workers: executors, and pools with `apply_async`.

A run is a pure function of scenario and seed. A chunk of the sweep that was lost with its worker is therefore submitted
again. If the sweep has a folder, the runs that the lost worker had completed are found in the folder, and only the
other runs are computed again.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from functools import lru_cache
from multiprocessing.pool import Pool
from typing import Any, NamedTuple, Protocol, runtime_checkable

from . import _bbrlab
from ._bbrlab import Frame, Gathering, Scenario, SweepRecords
from ._control import CongestionControl
from ._errors import Error, RunError, UsageError

__all__ = ["Submits", "Takes", "spread"]

PACKETS_AT_A_TIME = 2_000_000
"""Maximum weight of a chunk, in data packets: about 0.5 s of work."""

PIECES_MIN = 64
PIECES_MAX = 10_000

UNDER_WAY_MAX = 1000
UNDER_WAY_MIN = 16
TEXT_UNDER_WAY = 1 << 28
"""Limits for the chunks that are submitted but have no result yet: at most `UNDER_WAY_MAX` chunks, with scenario texts
of at most `TEXT_UNDER_WAY` bytes together; `UNDER_WAY_MIN` chunks are allowed even if their texts are longer. The
limits are enough for a few hundred workers, and an executor's memory does not grow with the sweep."""

FAILURES_MAX = 50
"""Number of consecutive failures of chunks after which the sweep is aborted."""


@runtime_checkable
class Submits(Protocol):
    """An object with the interface of `concurrent.futures.Executor`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any: ...


class Takes(Protocol):
    """An object with the interface of `multiprocessing.Pool`, such as Ray's pool."""

    def apply_async(
        self,
        func: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        callback: Callable[[Any], None] | None = None,
        error_callback: Callable[[BaseException], None] | None = None,
    ) -> Any: ...


class Piece(NamedTuple):
    """Some runs of a sweep that are submitted together, and their weight (estimated work) in data packets."""

    runs: tuple[int, ...]
    """The numbers of the runs."""
    weight: int


class Outcome(NamedTuple):
    """The result of computing a chunk of runs."""

    computed: int
    """Number of the chunk's runs that were computed; the other runs were found complete in the folder."""
    repeated: int
    """Number of computed runs that a lost worker had begun before."""
    tables: list[Frame] | None
    """The results of the runs as Arrow tables, if they were not written to a folder."""


Named = tuple[tuple[str, type[CongestionControl] | str], ...]
"""The names of custom congestion controls, with their classes or the paths of their shared objects."""


def spread(
    scenario: Scenario,
    executor: Submits | Takes,
    *,
    on: str,
    out: str | os.PathLike[str] | None,
    force: bool,
    pictures: bool,
    limit: int | None,
    progress: Callable[[int, int, float], object] | None,
) -> SweepRecords:
    """Runs all runs of a scenario on an executor's workers."""
    if not (isinstance(executor, Submits) or callable(getattr(executor, "apply_async", None))):
        kind = type(executor).__name__
        raise TypeError(f"executor: expected a concurrent.futures.Executor, or a pool with apply_async, found {executor!r} of type {kind}")
    folder = None if out is None else os.path.abspath(out)
    _check_controls(scenario, executor)
    text, controls = scenario.to_toml(), tuple(scenario.controls.items())
    waiting, total = _pieces(_bbrlab.weights(scenario))
    at_once = max(min(TEXT_UNDER_WAY // len(text), UNDER_WAY_MAX), UNDER_WAY_MIN)
    ended: queue.SimpleQueue[tuple[Piece, Outcome | None, BaseException | None]] = queue.SimpleQueue()
    under_way: dict[Piece, Any] = {}
    # Keep a reference to the executor's dict of worker processes: a broken executor drops its own reference, but the
    # dict still has the processes.
    processes = getattr(executor, "_processes", None)
    workers: Mapping[int, Any] = {} if processes is None else processes
    lost: list[BaseException] = []

    def give(piece: Piece) -> None:
        task = (compute, _origin(), scenario.name, text, controls, piece.runs, on, folder, force, limit)
        try:
            if isinstance(executor, Submits):
                future = executor.submit(*task)
                under_way[piece] = future
                future.add_done_callback(lambda done: ended.put(_ended(piece, done)))
            else:
                under_way[piece] = executor.apply_async(
                    task[0],
                    task[1:],
                    callback=lambda result: ended.put((piece, result, None)),
                    error_callback=lambda error: ended.put((piece, None, error)),
                )
        except Exception as error:
            raise RunError(f"the executor takes no more work: {_reason(error, lost, workers)}") from error

    gathering = Gathering(scenario.runs if folder is None else 0)
    computed, repeated = 0, 0

    def work() -> None:
        nonlocal computed, repeated
        failures, done, weight = 0, 0, 0
        while True:
            while len(under_way) < at_once and (next_one := next(waiting, None)) is not None:
                give(next_one)
            if not under_way:
                return
            try:
                # The timeout lets Python handle Ctrl-C while no chunk ends.
                piece, outcome, error = ended.get(timeout=0.05)
            except queue.Empty:
                continue
            if under_way.pop(piece, None) is None:
                continue
            if isinstance(error, (Error, KeyboardInterrupt)):
                raise error
            if outcome is None:
                failures += 1
                lost[:] = [] if error is None else [error]
                if failures > FAILURES_MAX:
                    reason = _reason(error, (), workers)
                    raise RunError(f"the executor has lost {failures} chunks of the sweep in a row, the last with: {reason}") from error
                if folder is None:
                    # Without a folder, it is unknown how many of the chunk's runs the lost worker had begun, so all of
                    # them count as repeated.
                    repeated += len(piece.runs)
                give(piece)
                continue
            failures = 0
            computed += outcome.computed
            repeated += outcome.repeated
            if outcome.tables is not None:
                gathering.add(outcome.tables)
            done += len(piece.runs)
            weight += piece.weight
            if progress is not None:
                progress(done, scenario.runs, weight / total)

    # The loop is a separate function, so that the `try` does not begin with a loop. If Ctrl-C is pressed while a loop
    # jumps back, CPython 3.11 treats the exception as raised just before the loop's first instruction. A `try` that
    # begins with the loop would therefore not catch the exception.
    try:
        work()
    except BaseException:
        for future in under_way.values():
            if callable(getattr(future, "cancel", None)):
                future.cancel()
        raise
    if folder is not None:
        return _bbrlab.finish(scenario, folder, pictures=pictures, computed=computed, repeated=repeated)
    return gathering.records(computed, repeated)


def _reason(error: BaseException | None, lost: Sequence[BaseException], workers: Mapping[int, Any]) -> str:
    """Returns why an executor failed: its exceptions with their causes, and how worker processes ended."""
    found: list[str] = []
    for one in (error, *lost):
        while one is not None:
            # An exception from a worker process has a `_RemoteTraceback` as its cause. The cause's text is the
            # traceback in the worker; the last line of this text names the exception.
            words = str(one).strip().strip('"').strip().splitlines() or [""]
            text = words[-1] if type(one).__name__ == "_RemoteTraceback" else f"{type(one).__name__}: {' '.join(words)}"
            if text not in found:
                found.append(text)
            one = one.__cause__
    if isinstance(error, BrokenExecutor):
        until = time.monotonic() + 1
        for worker in tuple(workers.values()):
            worker.join(max(0.0, until - time.monotonic()))
            # The pool's own thread may have received the exit code without having stored it yet.
            while worker.exitcode is None and time.monotonic() < until:
                time.sleep(0.005)
    # Processes that ended by SIGTERM are not reported, because the pool itself terminates them.
    ended = {worker.exitcode for worker in tuple(workers.values())} - {None, 0, -signal.SIGTERM}
    for code in sorted(ended):
        how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
        if code == -9:
            how += ", as the system does when memory is short"
        elif code == 1 and any(getattr(worker, "_start_method", "") != "fork" for worker in workers.values()):
            how += '; its message is on standard error (a script that starts processes needs `if __name__ == "__main__":`)'
        found.append(f"a worker process ended {how}")
    return "; ".join(found)


def compute(
    origin: str,
    name: str,
    text: str,
    controls: Named,
    runs: tuple[int, ...],
    on: str,
    folder: str | None,
    force: bool,
    limit: int | None,
) -> Outcome:
    """Computes the runs of a chunk, on a worker.

    Raises:
        UsageError: If the sweep is from another version, whose results would differ.
    """
    if origin != _origin():
        raise UsageError(f"expected workers with bbrlab {origin}, found one with {_origin()}")
    records = _bbrlab.sweep(
        _restored(name, text, controls), on=on, only=runs, out=folder, force=force, pictures=False, jobs=1, limit=limit
    )
    return Outcome(records.computed, records.repeated, records.tables() if folder is None else None)


def _origin() -> str:
    return f"{_bbrlab.VERSION} ({_bbrlab.COMMIT})"


@lru_cache(maxsize=8)
def _restored(name: str, text: str, controls: Named) -> Scenario:
    """Parses a scenario once per worker, not once per chunk."""
    return Scenario._restore(name, text, dict(controls))


def _check_controls(scenario: Scenario, executor: object) -> None:
    """Checks that congestion controls can be pickled for workers that receive pickles.

    Dask and Ray transfer classes by other mechanisms.
    """
    if not isinstance(executor, (ProcessPoolExecutor, Pool)):
        return
    for name, control in scenario.controls.items():
        try:
            pickle.dumps(control)
        except Exception as error:
            raise UsageError(
                f"control {name!r}: expected a class that other processes can import, found {control!r}: {error}; "
                "define it in a separate module"
            ) from error


def _pieces(weights: Frame) -> tuple[Iterator[Piece], int]:
    """Returns the runs, the heaviest first, in chunks of about equal weight, and the total weight."""
    import numpy as np

    (runs,), (weight,) = (map(np.asarray, weights.chunks(name)) for name in ("run", "weight"))
    whole = int(weight.sum())
    full = max(min(whole // PIECES_MIN, PACKETS_AT_A_TIME), whole // PIECES_MAX)

    def pieces() -> Iterator[Piece]:
        begin, held = 0, 0
        for at, of_run in enumerate(weight, 1):
            held += int(of_run)
            if held >= full or at == len(runs):
                yield Piece(tuple(runs[begin:at].tolist()), held)
                begin, held = at, 0

    return pieces(), whole


def _ended(piece: Piece, future: Any) -> tuple[Piece, Outcome | None, BaseException | None]:
    if future.cancelled():
        return piece, None, RuntimeError("it was cancelled")
    error = future.exception()
    return (piece, None, error) if error is not None else (piece, future.result(), None)
