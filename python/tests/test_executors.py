"""Sweeps on executors: the same results wherever they are computed, also when a worker dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import bbrlab as bl
import pytest

OVER = {"bottleneck.buffer": ["0.5bdp", "1bdp", "2bdp"], "flows.cc": ["bbr1", "cubic"]}
SHORT = {"duration": "2s"}


def files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def undivided() -> list[str | None]:
    return bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT).digests


@pytest.mark.parametrize("kind", ["threads", "processes", "pool"])
def test_any_executor_gives_the_same(kind: str, undivided: list[str | None], tmp_path: Path) -> None:
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
        written = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, out=tmp_path / "spread")
        assert written.digests == undivided and (written.computed, written.found) == (30, 0)
        again = bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=executor, out=tmp_path / "spread")
        assert (again.computed, again.found) == (0, 30)
    bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, out=tmp_path / "alone")
    assert files(tmp_path / "spread") == files(tmp_path / "alone")
    ours, theirs = in_memory.flows, written.flows
    assert all((ours[name] == theirs[name]).all() or ours[name].dtype == float for name in ours)


class Forgetful(Executor):
    """Loses every third piece."""

    def __init__(self) -> None:
        self.given = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        future: Future[Any] = Future()
        if self.given % 3 == 0:
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
    assert bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=Forgetful()).digests == undivided
    with pytest.raises(bl.RunError, match="gone"):
        bl.sweep("examples.dumbbell", OVER, seeds=5, set=SHORT, executor=Broken())


def test_an_error_of_a_run_is_raised_here(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with ThreadPoolExecutor(2) as executor, pytest.raises(bl.Error):
        bl.sweep("examples.dumbbell", OVER, set=SHORT, executor=executor, out=tmp_path / "file")
    with ThreadPoolExecutor(2) as executor, pytest.raises(bl.UsageError, match="limit"):
        bl.sweep("examples.dumbbell", OVER, set=SHORT, executor=executor, limit=10)


def test_a_killed_dask_worker_changes_nothing(undivided: list[str | None], tmp_path: Path) -> None:
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
            "examples.dumbbell", OVER, seeds=5, set=SHORT, executor=client.get_executor(), out=tmp_path, progress=kill_one
        )
    assert killed and rs.digests == undivided


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
assert killed
print(*rs.digests)
'''


def test_a_killed_ray_worker_changes_nothing(undivided: list[str | None], tmp_path: Path) -> None:
    pytest.importorskip("ray")
    # Ray leaves threads and processes behind, so it has a process of its own.
    done = subprocess.run(
        [sys.executable, "-c", RAY, str(tmp_path / "out")], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    # Ray speaks on standard output as well.
    assert done.stdout.splitlines()[-1].split() == undivided
