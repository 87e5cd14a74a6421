"""Sweeps on executors give the same results on every executor, even if a worker dies."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import bbrlab as bl
import numpy as np
import pytest
from bbrlab import _spread

OVER = {"bottleneck.buffer": ["0.5bdp", "1bdp", "2bdp"], "flows.cc": ["bbr1", "cubic"]}
SHORT = {"duration": "2s"}


def files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def assert_same(ours: bl.Table, theirs: bl.Table) -> None:
    assert ours.columns == theirs.columns
    for name in ours.columns:
        np.testing.assert_array_equal(ours[name], theirs[name])


@pytest.fixture(scope="module")
def whole() -> bl.Results:
    return bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT)


@pytest.fixture(scope="module")
def undivided(whole: bl.Results) -> list[str | None]:
    return whole.digests


@pytest.mark.parametrize("kind", ["threads", "processes", "pool"])
def test_any_executor_gives_the_same(kind: str, whole: bl.Results, tmp_path: Path) -> None:
    undivided = whole.digests
    spawn = get_context("spawn")
    pools: dict[str, Any] = {
        "threads": lambda: ThreadPoolExecutor(2),
        "processes": lambda: ProcessPoolExecutor(2, mp_context=spawn),
        "pool": lambda: spawn.Pool(2),
    }
    with pools[kind]() as executor:
        told: list[int] = []
        in_memory = bl.sweep(
            "examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, progress=lambda done, *_: told.append(done)
        )
        assert in_memory.digests == undivided and told[-1] == 30
        assert (in_memory.computed, in_memory.repeated, in_memory.found) == (30, 0, 0)
        written = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, out=tmp_path / "spread")
        assert written.digests == undivided
        assert (written.computed, written.repeated, written.found) == (30, 0, 0)
        again = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, out=tmp_path / "spread")
        assert (again.computed, again.found) == (0, 30)
    bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, out=tmp_path / "alone")
    assert files(tmp_path / "spread") == files(tmp_path / "alone")
    for ours in (in_memory, written):
        assert_same(ours.flows, whole.flows)
        assert_same(ours.links, whole.links)
        assert str(ours) == str(whole) and ours.groups == whole.groups


class Loses(Executor):
    """An executor that loses every third chunk, after calling `before` with the chunk."""

    def __init__(self, before: Callable[..., object] = lambda *task: None) -> None:
        self.given = 0
        self.lost: set[int] = set()
        self.before = before

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        future: Future[Any] = Future()
        if self.given % 3 == 0:
            self.before(*args)
            self.lost.update(next(arg for arg in args if isinstance(arg, tuple) and arg))
            future.set_exception(ConnectionError("lost"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


class Broken(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(ConnectionError("gone"))
        return future


def test_lost_pieces_are_given_out_again(undivided: list[str | None]) -> None:
    executor = Loses()
    rs = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor)
    assert rs.digests == undivided and executor.given > 30
    assert (rs.computed, rs.repeated) == (30, executor.given - 30)
    with pytest.raises(bl.RunError, match="gone"):
        bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=Broken())


def test_of_what_a_lost_worker_had_only_what_is_not_whole_is_computed_again(whole: bl.Results, tmp_path: Path) -> None:
    # A worker that dies while it computes leaves the lock of a run; a worker that dies later leaves complete runs.
    names = [run.folder.name for run in bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, out=tmp_path / "alone") if run.folder]
    for name in names[3], names[17]:
        (tmp_path / "out" / name).mkdir(parents=True)
        (tmp_path / "out" / name / ".lock").write_text("held\n")
    executor = Loses(before=_spread.compute)
    rs = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, out=tmp_path / "out")
    assert rs.digests == whole.digests and len(executor.lost) >= 10
    assert (rs.computed, rs.found) == (30 - len(executor.lost), len(executor.lost))
    # Each of the two locked runs counts as repeated, unless its worker's result was lost.
    assert rs.repeated == len({3, 17} - executor.lost)
    again = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=Loses(), out=tmp_path / "out")
    assert (again.computed, again.repeated, again.found) == (0, 0, 30)
    assert files(tmp_path / "out") == files(tmp_path / "alone")


def test_runs_that_were_begun_and_not_ended_are_counted(tmp_path: Path) -> None:
    names = [run.folder.name for run in bl.sweep("examples.dumbbell", seeds=3, set=SHORT, out=tmp_path / "alone") if run.folder]
    (tmp_path / "out" / names[1]).mkdir(parents=True)
    (tmp_path / "out" / names[1] / ".lock").write_text("held\n")
    rs = bl.sweep("examples.dumbbell", seeds=3, set=SHORT, out=tmp_path / "out")
    assert (rs.computed, rs.repeated, rs.found) == (3, 1, 0)


MEMORY = '''
import ctypes, sys
from concurrent.futures import ThreadPoolExecutor
import bbrlab as bl

def memory(field):
    (line,) = [line for line in open("/proc/self/status") if line.startswith(field)]
    return int(line.split()[1]) * 1024

def sweep(runs):
    scenario = bl.Scenario(
        duration="50ms", sample="off", repeat=runs, bottleneck={"rate": "1Mbit/s", "buffer": "10pkt"},
        flows=[{"cc": "bbr1", "rtt": "20ms", "start_jitter": "10ms"}],
    )
    with ThreadPoolExecutor(2) as executor:
        return bl.sweep(scenario, executor=executor)

sweep(500)
ctypes.CDLL("libc.so.6").malloc_trim(0)
before = memory("VmRSS")
results = sweep(int(sys.argv[1]))
print(memory("VmHWM") - before, memory("VmRSS") - before)
'''


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc")
def test_a_sweep_needs_memory_for_its_records_alone() -> None:
    def peak(runs: int) -> int:
        done = subprocess.run([sys.executable, "-c", MEMORY, str(runs)], capture_output=True, text=True, check=True)
        return int(done.stdout.split()[0])

    # The results of a run with one flow take 3.6 KB (the structs of the run, its flow, group and link), so a second
    # copy in any form would exceed the limit.
    per_run = (peak(6000) - peak(1000)) / 5000
    assert 3000 < per_run < 6500


class Lazy(Executor):
    """An executor that computes its tasks later in one thread, and records the largest number of tasks that were
    waiting."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []
        self.most = 0
        self.threads = ThreadPoolExecutor(1)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, fn, args))
        self.most = max(self.most, len(self.held))
        self.threads.submit(self.work)
        return future

    def work(self) -> None:
        future, fn, args = self.held.pop(0)
        future.set_result(fn(*args))


def test_an_executor_holds_a_bounded_number_of_pieces(
    monkeypatch: pytest.MonkeyPatch, undivided: list[str | None]
) -> None:
    monkeypatch.setattr(_spread, "UNDER_WAY_MAX", 4)
    monkeypatch.setattr(_spread, "UNDER_WAY_MIN", 1)
    executor = Lazy()
    assert bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor).digests == undivided
    assert 1 <= executor.most <= 4


def test_an_executor_that_is_broken_for_good_ends_the_sweep() -> None:
    executor = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    pid = executor.submit(os.getpid).result()

    def kill(*_: object) -> None:
        os.kill(pid, signal.SIGKILL)

    with executor, pytest.raises(bl.RunError, match="executor"):
        bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, progress=kill)


GUARDLESS = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import bbrlab as bl
bl.sweep("examples.dumbbell", set={"duration": "1s"}, executor=ProcessPoolExecutor(1, mp_context=get_context("spawn")))
"""


def test_the_reason_of_a_broken_executor_is_told(tmp_path: Path) -> None:
    executor = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    pid = executor.submit(os.getpid).result()
    with executor, pytest.raises(bl.RunError, match="BrokenProcessPool: .*; a worker process ended by signal 9, as .* memory is short"):
        bl.sweep("examples.dumbbell", OVER, set=SHORT, executor=executor, progress=lambda *_: os.kill(pid, signal.SIGKILL))
    script = tmp_path / "guardless.py"
    script.write_text(GUARDLESS)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert 'a worker process ended with exit code 1; its message is on standard error' in done.stderr.splitlines()[-1]
    assert 'needs `if __name__ == "__main__":`' in done.stderr


class Fails(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        error = ConnectionError("gone")
        error.__cause__ = OSError("disk full")
        future.set_exception(error)
        return future


def test_the_cause_of_an_executors_error_is_told() -> None:
    with pytest.raises(bl.RunError, match="ConnectionError: gone; OSError: disk full"):
        bl.sweep("examples.dumbbell", set=SHORT, executor=Fails())


def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = _spread._origin()
    told = iter([f"0.0.9 ({origin})"])
    monkeypatch.setattr(_spread, "_origin", lambda: next(told, origin))
    with ThreadPoolExecutor(1) as executor, pytest.raises(bl.UsageError, match=r"expected workers with bbrlab 0\.0\.9"):
        bl.sweep("examples.dumbbell", set=SHORT, executor=executor)


def test_results_are_pickled_with_all_that_they_hold(whole: bl.Results, tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(whole))
    assert (str(again), again.digests, again.groups) == (str(whole), whole.digests, whole.groups)
    assert_same(again.flows, whole.flows)
    assert_same(pickle.loads(pickle.dumps(whole.links)), whole.links)
    for result in (
        bl.run("examples.dumbbell"),
        bl.run("examples.completion-times", {"flows.cc": "bbr3", "duration": "4s", "sweep": {}}, out=tmp_path),
        bl.run("queues.alone", {"bottleneck.queue": "cake", "duration": "2s", "sweep": {}, "repeat": 1}),
    ):
        copy = pickle.loads(pickle.dumps(result))
        assert (str(copy), copy.summary, copy.scenario, copy.folder) == (
            str(result), result.summary, result.scenario, result.folder,
        )
        for name in ("flows", "links", "series", "queue", "transfers"):
            assert_same(getattr(copy, name), getattr(result, name))


def test_a_run_is_a_function_for_other_processes() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = list(executor.map(bl.run, ["examples.dumbbell"] * 2, [SHORT, {**SHORT, "flows.cc": "cubic"}]))
    assert [r.digest for r in there] == [
        bl.run("examples.dumbbell", SHORT).digest, bl.run("examples.dumbbell", {**SHORT, "flows.cc": "cubic"}).digest,
    ]


def test_an_error_of_a_run_is_raised_here(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with ThreadPoolExecutor(2) as executor, pytest.raises(bl.Error):
        bl.sweep("examples.dumbbell", OVER, set=SHORT, executor=executor, out=tmp_path / "file")
    with ThreadPoolExecutor(2) as executor, pytest.raises(bl.UsageError, match="limit"):
        bl.sweep("examples.dumbbell", OVER, set=SHORT, executor=executor, limit=10)


@pytest.mark.parametrize("written", [True, False])
def test_a_killed_dask_worker_changes_nothing(whole: bl.Results, tmp_path: Path, written: bool) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())
        killed: list[int] = []

        def kill_one(done: int, total: int, share: float) -> None:
            if not killed and done >= 5:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])

        rs = bl.sweep(
            "examples.dumbbell",
            OVER,
            seeds=5,
            set=SHORT,
            executor=client.get_executor(),
            out=tmp_path if written else None,
            progress=kill_one,
        )
    assert killed and rs.digests == whole.digests
    assert_same(rs.flows, whole.flows)
    print(f"Dask, one of two workers killed, {'with' if written else 'without'} a folder: {rs.repeated} of 30 runs twice")
    # The killed worker may have lost one run that it was computing and up to eight runs that were being written.
    assert rs.computed + rs.found == 30 and rs.repeated <= 9


RAY = '''
import os, signal, sys
import bbrlab as bl
import ray
from ray.util.multiprocessing import Pool

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
pool = Pool(2)
workers = sorted(set(pool.map(lambda _: os.getpid(), range(32), chunksize=1)))
killed = []

def kill_one(done, total, share):
    if not killed and done >= 5:
        os.kill(workers[0], signal.SIGKILL)
        killed.append(workers[0])

over = {"bottleneck.buffer": ["0.5bdp", "1bdp", "2bdp"], "flows.cc": ["bbr1", "cubic"]}
rs = bl.sweep("examples.dumbbell", over, seeds=5, set={"duration": "2s"}, executor=pool, out=sys.argv[1], progress=kill_one)
assert killed and rs.computed + rs.found == 30 and rs.repeated <= 9
print(f"Ray, one of two workers killed: {rs.repeated} of 30 runs twice")
print(*rs.digests)
'''


def test_a_killed_ray_worker_changes_nothing(undivided: list[str | None], tmp_path: Path) -> None:
    pytest.importorskip("ray")
    # Ray does not end all of its threads and processes, so the test runs Ray in a separate process.
    done = subprocess.run(
        [sys.executable, "-c", RAY, str(tmp_path / "out")], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    # Ray also writes to standard output.
    print(*[line for line in done.stdout.splitlines() if line.startswith("Ray,")])
    assert done.stdout.splitlines()[-1].split() == undivided


class Waits(Executor):
    """An executor that never starts a task."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]


@pytest.mark.parametrize("ms", range(120, 240, 7))
def test_an_interrupt_takes_back_what_has_not_begun(ms: int) -> None:
    executor = Waits()
    signal.setitimer(signal.ITIMER_REAL, ms / 1000)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert executor.futures and all(future.cancelled() for future in executor.futures)
