"""Tests of running scenarios: interrupts, progress, the argument `limit`, threads, and `python -m bbrlab`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import bbrlab as bl
import pytest

LONG = {"duration": "1000s", "flows.count": 8, "sample": "off"}


def test_ctrl_c_ends_a_run_at_once() -> None:
    # Set the handler, because tests that a shell starts in the background ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            bl.run("examples.dumbbell", {**LONG, "bottleneck.rate": "10Gbit/s"}, limit=1e13)
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    def end(done: int, total: int, share: float) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    many = {"seeds": 400, "set": {"duration": "20s"}, "out": tmp_path, "pictures": False}
    with pytest.raises(KeyboardInterrupt):
        bl.sweep("examples.dumbbell", progress=end, **many)  # type: ignore[arg-type]
    rest = bl.sweep("examples.dumbbell", **many)  # type: ignore[arg-type]
    assert rest.found >= 3 and rest.found + rest.computed == 400


def test_an_exception_in_the_progress_is_raised() -> None:
    def wrong(done: int, total: int, share: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bl.sweep("examples.dumbbell", seeds=2, progress=wrong)


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int, float]] = []
    bl.sweep("examples.dumbbell", seeds=3, progress=lambda *now: told.append(now))
    assert told[-1] == (3, 3, 1.0)


def test_too_much_work_is_refused() -> None:
    with pytest.raises(bl.UsageError, match="data packets, and limit="):
        bl.run("examples.dumbbell", limit=1000)
    with pytest.raises(bl.UsageError, match="data packets, and limit="):
        bl.sweep("examples.dumbbell", seeds=1_000_000)


def test_a_back_end_is_named_as_on_the_command_line() -> None:
    assert bl.run("examples.dumbbell", on="sim").digest == bl.run("examples.dumbbell").digest
    assert bl.sweep("examples.dumbbell", on="sim").digests == bl.sweep("examples.dumbbell").digests
    wrong = r"on: expected one of the back ends sim.*, found \"ns4\""
    with pytest.raises(bl.UsageError, match=wrong):
        bl.run("examples.dumbbell", on="ns4")
    with pytest.raises(bl.UsageError, match=wrong):
        bl.sweep("examples.dumbbell", on="ns4")
    with ThreadPoolExecutor(1) as executor, pytest.raises(bl.UsageError, match=wrong):
        bl.sweep("examples.dumbbell", on="ns4", executor=executor)
    with pytest.raises(bl.UsageError, match=wrong):
        bl.Scenario("examples.dumbbell").estimate(on="ns4")


def test_the_lock_is_released_and_threads_agree() -> None:
    alone = bl.run("examples.dumbbell").digest
    scenario = bl.Scenario("examples.dumbbell")
    result = bl.run(scenario)
    with ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(lambda _: bl.run(scenario).digest, range(8)))
        sizes = list(pool.map(lambda _: len(result.series.to_dict()), range(8)))
    assert set(digests) == {alone} and len(set(sizes)) == 1


def test_two_sweeps_into_one_folder_share_it(tmp_path: Path) -> None:
    many: dict[str, Any] = {"seeds": 30, "set": {"duration": "2s"}, "pictures": False}
    alone = bl.sweep("examples.dumbbell", **many)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(bl.sweep, "examples.dumbbell", out=tmp_path / "out", **many) for _ in range(2)]
        first, second = (sweep.result() for sweep in both)
    assert first.digests == second.digests == alone.digests
    assert first.computed + second.computed == 30 and first.repeated + second.repeated == 0
    with pytest.raises(bl.UsageError, match="another"):
        bl.sweep("examples.dumbbell", out=tmp_path / "out", **{**many, "set": {"duration": "3s"}})


def test_threads_use_the_same_results(tmp_path: Path) -> None:
    rs = bl.sweep("examples.dumbbell", seeds=20, set={"duration": "1s"}, out=tmp_path / "out", pictures=False)

    def use(n: int) -> tuple[object, ...]:
        return len(rs.flows.to_dict()), rs.flows["seed"].sum(), len(rs.groups), str(rs), rs[n % 20].digest == rs.digests[n % 20]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(use, range(40)))) == 1


def test_results_whose_files_are_gone_are_exceptions(tmp_path: Path) -> None:
    rs = bl.sweep("examples.dumbbell", seeds=2, set={"duration": "1s"}, out=tmp_path / "out", pictures=False)
    shutil.rmtree(tmp_path / "out")
    assert len(rs.flows) == 2
    with pytest.raises(bl.UsageError, match="expected a folder of results"):
        rs[1]
    assert len(bl.compare(rs, rs)["points"]) == 1, "a comparison needs only the metrics, which are in memory"


def test_python_goes_on_while_a_run_is_computed() -> None:
    turns = 0
    ends = threading.Event()

    def count() -> None:
        nonlocal turns
        while not ends.is_set():
            turns += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    bl.run("examples.dumbbell", {"duration": "200s", "bottleneck.rate": "1Gbit/s", "sample": "off"})
    ends.set()
    counter.join()
    assert turns > 20


def test_the_command_is_the_command_lines(tmp_path: Path) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "bbrlab", *words], capture_output=True, text=True)

    assert call("--version").stdout == f"bbrlab {bl.__version__}\n"
    wrong = call("run", "examples.dumbel")
    assert wrong.returncode == 2 and "examples.dumbbell" in wrong.stderr
    missing = call("run")
    assert missing.returncode == 2 and "Usage" in missing.stderr


def test_a_list_of_values_is_a_sweep_and_one_value_is_none() -> None:
    with pytest.raises(bl.ScenarioError, match=r"= help: several values of a key are several runs: bbrlab\.sweep\(\.\.\., \{'flows\.cc': \['bbr1', 'cubic'\]\}\)") as told:
        bl.run("examples.dumbbell", {"flows.cc": ["bbr1", "cubic"]})
    assert told.value.mistakes[0]["help"][-1].startswith("several values of a key")
    with pytest.raises(bl.ScenarioError, match=r"bbrlab\.sweep\(\.\.\., \{'bottleneck\.rate': \['10Mbit/s', '20Mbit/s'\]\}\)"):
        bl.run("examples.dumbbell", {"bottleneck.rate": ["10Mbit/s", "20Mbit/s"]})
    with pytest.raises(bl.ScenarioError, match=r"give a list, \{'bottleneck\.buffer': \['2bdp'\]\}, or set one value at all points: set="):
        bl.sweep("examples.dumbbell", {"bottleneck.buffer": "2bdp"})
    with pytest.raises(bl.ScenarioError, match=r"give a list, \{'flows\.count': \[2\]\}"):
        bl.sweep("examples.dumbbell", {"flows.count": 2})
    # If an error has another cause, the message has no help about several values of a key.
    with pytest.raises(bl.ScenarioError) as told:
        bl.run("examples.dumbbell", {"flows.cc": "bbr9", "bottleneck.rate": [["0s", "10Mbit/s"], ["1s", "fast"]]})
    assert "several values" not in str(told.value)
