"""Tests of results: files that equal the command line's byte for byte, tables that other libraries read, and folders of
results from the package or the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import bbrlab as bl
import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "bbrlab"]
TWO = {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]}


def command(*words: str) -> str:
    return subprocess.run([*COMMAND, *words], check=True, capture_output=True, text=True).stdout


def files(folder: Path) -> dict[str, bytes]:
    """Returns the content of each file in a folder, by its path, except `run.json`, which has the date and the
    machine."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_a_run_has_the_command_lines_bytes(tmp_path: Path) -> None:
    command("run", "examples.dumbbell", "--out", str(tmp_path / "line"), "--quiet")
    written = bl.run("examples.dumbbell", out=tmp_path / "python")
    assert files(tmp_path / "line") == files(tmp_path / "python")
    in_memory = bl.run("examples.dumbbell")
    in_memory.save(tmp_path / "saved")
    without_pictures = {name: data for name, data in files(tmp_path / "line").items() if not name.startswith("run.")}
    assert files(tmp_path / "saved") == without_pictures
    assert in_memory.digest == written.digest
    opened = bl.open(tmp_path / "line")
    assert isinstance(opened, bl.Result) and opened.digest == written.digest
    for name in ("flows", "links", "series", "queue", "transfers"):
        ours, theirs = getattr(in_memory, name), getattr(opened, name)
        assert ours.columns == theirs.columns
        for column in ours.columns:
            np.testing.assert_array_equal(ours[column], theirs[column])


def test_a_sweep_has_the_command_lines_bytes_and_is_found_again(tmp_path: Path) -> None:
    words = [f"sweep.{key}={json.dumps(values)}" for key, values in TWO.items()]
    sets = [word for key in words for word in ("--set", key)]
    command("run", "examples.dumbbell", *sets, "--set", "repeat=2", "--out", str(tmp_path / "line"), "--quiet")
    rs = bl.sweep("examples.dumbbell", TWO, seeds=2, out=tmp_path / "python")
    assert files(tmp_path / "line") == files(tmp_path / "python")
    assert (len(rs), rs.computed, rs.found) == (8, 8, 0)
    again = bl.sweep("examples.dumbbell", TWO, seeds=2, out=tmp_path / "line")
    assert (again.computed, again.found) == (0, 8)
    opened = bl.open(tmp_path / "line")
    assert isinstance(opened, bl.Results) and opened.digests == rs.digests
    in_memory = bl.sweep("examples.dumbbell", TWO, seeds=2)
    assert in_memory.digests == rs.digests
    assert rs[3].digest == rs.digests[3]
    with pytest.raises(IndexError):
        rs[8]


def test_a_sweep_of_one_run_reads_its_folder(tmp_path: Path) -> None:
    results = bl.sweep("examples.dumbbell", out=tmp_path / "one")
    assert results[0].digest == results.digests[0]
    assert results[0].folder == tmp_path / "one"


def test_tables_are_taken_without_a_copy() -> None:
    r = bl.run("examples.dumbbell")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(r.series)
    assert frame.shape == r.series.shape and frame["time_s"].to_list() == r.series["time_s"].tolist()
    ours = r.series["time_s"]
    assert not ours.flags.owndata and not ours.flags.writeable
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(r.series)
    assert table.column("time_s").chunk(0).buffers()[1].address == ours.__array_interface__["data"][0]
    pandas = r.flows.to_pandas()
    assert pandas["cc"].tolist() == ["bbr1"] and pandas.shape == r.flows.shape
    duckdb = pytest.importorskip("duckdb")
    flows = r.series
    assert duckdb.sql("select count(*) from flows").fetchall() == [(len(flows),)]


def test_a_column_outlives_its_table() -> None:
    column = bl.run("examples.dumbbell").series["time_s"]
    assert column[0] >= 0 and np.all(np.diff(column) >= 0)


def test_figures_without_a_meaning_are_nan_or_none() -> None:
    flows = bl.run("examples.dumbbell").flows
    assert np.isnan(flows["jain"]).all() and flows["name"].tolist() == [None]
    with pytest.raises(KeyError, match="goodput: found no such column; did you mean goodput_mbps or "):
        flows["goodput"]
    with pytest.raises(KeyError, match="expected one of flow, name, group"):
        flows["colour"]


def test_a_sweep_as_a_cube() -> None:
    pytest.importorskip("xarray")
    rs = bl.sweep("examples.two-bbr", {"bottleneck.buffer": ["1bdp", "2bdp", "0.5bdp"]}, seeds=2, set={"duration": "4s"})
    cube = rs.to_xarray()
    assert dict(cube.sizes) == {"bottleneck.buffer_bdp": 3, "seed": 2, "flow": 2}
    assert cube["bottleneck.buffer_bdp"].values.tolist() == [0.5, 1.0, 2.0]
    flows = rs.flows
    chosen = (flows["bottleneck.buffer_bdp"] == 2.0) & (flows["seed"] == 2) & (flows["flow"] == 1)
    at = cube["goodput_mbps"].sel({"bottleneck.buffer_bdp": 2.0, "seed": 2, "flow": 1})
    assert float(at) == flows["goodput_mbps"][chosen][0]
    assert cube["bottleneck_utilization"].dims == ("bottleneck.buffer_bdp", "seed")


def test_folders_that_hold_nothing_or_something_damaged(tmp_path: Path) -> None:
    with pytest.raises(bl.UsageError, match="expected a folder of results"):
        bl.open(tmp_path)
    with pytest.raises(bl.UsageError, match="expected a folder of results"):
        bl.open(tmp_path / "absent")
    bl.run("examples.dumbbell", out=tmp_path / "run", pictures=False)
    (tmp_path / "run" / "series.parquet").write_bytes(b"PAR1")
    with pytest.raises(bl.UsageError, match="damaged"):
        bl.open(tmp_path / "run")
    bl.sweep("examples.dumbbell", seeds=2, out=tmp_path / "sweep", pictures=False)
    (tmp_path / "sweep" / "sweep.json").unlink()
    with pytest.raises(bl.UsageError, match=r"expected run\.json of a run or sweep\.json of a sweep, found only folders of runs"):
        bl.open(tmp_path / "sweep")


def test_a_run_that_is_not_there_is_told(tmp_path: Path) -> None:
    rs = bl.sweep("examples.dumbbell", seeds=2, out=tmp_path, pictures=False)
    assert rs[-1].digest == rs[np.int64(1)].digest == rs.digests[1]  # type: ignore[index]
    for number in (2, -3, 10**30):
        for ask in (rs.__getitem__, rs.summary):
            with pytest.raises(IndexError, match=f"expected a run from 0 to 1, found {number}"):
                ask(number)
    with pytest.raises(TypeError, match=r"expected the number of a run, found slice\(0, 2, None\) of type slice"):
        rs[0:2]  # type: ignore[index]
    with pytest.raises(TypeError, match="expected the number of a run, found 'a' of type str"):
        rs.summary("a")  # type: ignore[arg-type]


def test_a_column_with_missing_figures_is_a_copy() -> None:
    series = bl.run("examples.dumbbell").series
    assert not series["sent_packets"].flags.writeable and series["sent_packets"].dtype == np.int64
    assert series["srtt_us"].flags.writeable and np.isnan(series["srtt_us"][0])


def test_the_other_verbs(tmp_path: Path) -> None:
    names = [algorithm["name"] for algorithm in bl.algorithms()]
    assert {"bbr1", "bbr3", "cubic"} <= set(names)
    a = bl.run("examples.dumbbell", out=tmp_path / "a", pictures=False)
    b = bl.run("examples.dumbbell", seed=2, out=tmp_path / "b", pictures=False)
    assert bl.compare(a, b)["points"] or bl.compare(a, tmp_path / "b")
    assert bl.compare(a, b) == bl.compare(tmp_path / "a", bl.run("examples.dumbbell", seed=2))
    with pytest.raises(bl.UsageError, match="nonsense"):
        bl.reproduce("nonsense")


def test_saving_takes_the_place_of_nothing_else(tmp_path: Path) -> None:
    r, other = (bl.run("examples.dumbbell", {"duration": "1s"}, seed=seed) for seed in (1, 2))
    folder = r.save(tmp_path / "run")
    assert r.save(folder) == folder
    with pytest.raises(bl.UsageError, match="contains another run"):
        other.save(folder)
    bl.sweep("examples.dumbbell", seeds=2, set={"duration": "1s"}, out=tmp_path / "sweep")
    with pytest.raises(bl.UsageError, match="contains a sweep"):
        r.save(tmp_path / "sweep")
    for name in ("notes.txt", "scenario.toml"):
        mine = tmp_path / f"own {name}" / name
        mine.parent.mkdir()
        mine.write_text("mine")
        with pytest.raises(bl.UsageError, match="contains files that no run wrote"):
            r.save(mine.parent)
        assert mine.read_text() == "mine"
    other.save(folder, force=True)
    opened = bl.open(folder)
    assert isinstance(opened, bl.Result) and opened.digest == other.digest


def test_what_nobody_can_reach_is_not_sampled() -> None:
    resource = pytest.importorskip("resource")

    def cpu_s(sample: str) -> float:
        before = resource.getrusage(resource.RUSAGE_SELF)
        rs = bl.sweep(bl.Scenario("examples.dumbbell", {"sample": sample, "duration": "5s"}), seeds=2, jobs=1)
        after = resource.getrusage(resource.RUSAGE_SELF)
        assert rs.flows["goodput_mbps"].min() > 0
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # If the sweep recorded 500,000 rows of flows and as many of queues per run, a run would take more than ten times as
    # long.
    assert cpu_s("10us") < 5 * cpu_s("off") + 0.1
    r = bl.sweep(bl.Scenario("examples.dumbbell", {"duration": "1s"}), seeds=2)[0]
    assert len(r.queue) and len(r.series)
