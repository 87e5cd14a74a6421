"""Tests of congestion controls in shared objects: digests like those of the built-in ones, and errors."""

from __future__ import annotations

import pickle
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import bbrlab as bl
import pytest

ROOT = Path(__file__).parents[2]
PATH: dict[str, Any] = {
    "duration": "2s",
    "bottleneck": {"rate": "20Mbit/s", "buffer": "0.5bdp", "loss": 0.001},
    "flows": [{"cc": "reno", "rtt": "40ms"}],
}
IN_C = {"flows.cc": "plugin:reno_c"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiles the example in C, and returns the path of the shared object."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("skipped: no C compiler")
    built = tmp_path_factory.mktemp("plugin") / "libreno.so"
    include = ROOT / "crates/bbrlab-ffi/include"
    source = ROOT / "adapters/c/reno.c"
    subprocess.run([compiler, "-O2", "-fPIC", "-shared", "-I", include, source, "-o", built], check=True)
    return built


def test_a_shared_object_gives_the_results_of_the_built_in(library: Path) -> None:
    own = bl.run(PATH)
    in_c = bl.run(PATH, IN_C, controls={"plugin:reno_c": library})
    assert in_c.summary["digest"] == own.summary["digest"]
    (told,) = in_c.summary["controls"]
    assert (told["name"], told["source"], len(told["sha256"])) == ("plugin:reno_c", "libreno.so", 64)


def test_a_sweep_and_an_executor_take_shared_objects(library: Path, tmp_path: Path) -> None:
    over = {"flows.cc": ["reno", "plugin:reno_c"]}
    controls = {"plugin:reno_c": str(library)}
    swept = bl.sweep(PATH, over, seeds=2, controls=controls, out=tmp_path / "swept")
    assert swept.digests[:2] == swept.digests[2:]
    # Complete runs are not computed again. A run is identified by its seed and the hash of its scenario. The hash of
    # the scenario includes the hash of the library, and the library is the same in both sweeps.
    again = bl.sweep(PATH, over, seeds=2, controls=controls, out=tmp_path / "swept")
    assert again._records.computed == 0
    with ProcessPoolExecutor(1) as executor:
        spread = bl.sweep(PATH, over, seeds=2, controls=controls, executor=executor)
    assert spread.digests == swept.digests


def test_a_scenario_with_a_shared_object_can_be_pickled(library: Path) -> None:
    scenario = bl.Scenario(PATH, IN_C, controls={"plugin:reno_c": library})
    restored = pickle.loads(pickle.dumps(scenario))
    assert restored == scenario
    assert bl.run(restored).summary["digest"] == bl.run(PATH).summary["digest"]


def test_wrong_shared_objects_are_refused(library: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(bl.UsageError, match="expected a shared object that this machine can load"):
        bl.run(PATH, IN_C, controls={"plugin:reno_c": text})
    with pytest.raises(bl.UsageError, match="the congestion control in .* has the name \"plugin:reno_c\": expected this name as the key, found \"plugin:other\""):
        bl.run(PATH, {"flows.cc": "plugin:other"}, controls={"plugin:other": library})
    with pytest.raises(bl.RunError, match="failed in create with cc_params"):
        bl.run(PATH, {**IN_C, "flows.cc_params": {"beta": 2}}, controls={"plugin:reno_c": library})
