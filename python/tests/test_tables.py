"""Tests of tables: rows, one name per metric, and the conversions to other packages."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bbrlab as bl
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

PATH = {"rate": "10Mbit/s", "buffer": "1bdp"}
FLOWS = [{"cc": "bbr3", "rtt": "30ms", "start_jitter": "100ms"}, {"cc": "cubic", "rtt": "30ms", "group": "loss-based", "name": "c"}]
OVER = {"bottleneck.buffer": ["4bdp", "1bdp"], "flows[0].cc": ["bbr1", "bbr3"]}


@pytest.fixture(scope="module")
def rs() -> bl.Results:
    return bl.sweep({"duration": "3s", "bottleneck": PATH, "flows": FLOWS}, OVER, seeds=3)


@pytest.fixture(scope="module")
def one() -> bl.Result:
    return bl.run({"duration": "3s", "bottleneck": PATH, "flows": FLOWS})


def test_runs_have_a_row_each(rs: bl.Results) -> None:
    runs = rs.runs
    assert len(runs) == len(rs) == 12
    for n, row in enumerate(runs):
        summary = rs.summary(n)
        assert row["run_goodput_mbps"] == summary["goodput_mbps"] and row["jain"] == summary["jain"]
        assert row["bottleneck_drops"] == summary["links"][0]["drops"] and row["digest"] == summary["digest"]
        assert row["bottleneck.buffer"] == summary["point"]["bottleneck.buffer"] and row["seed"] == summary["seed"]


def test_points_are_the_groups_of_the_summary_in_rows(rs: bl.Results) -> None:
    points = list(rs.points)
    columns = ["bottleneck.buffer", "bottleneck.buffer_bdp", "flows[0].cc", "group", "link_name", "metric", "mean", "lo", "hi", "n"]
    assert rs.points.columns[:10] == columns
    names = {metric["json"]: metric["name"] for metric in bl.metrics() if metric["of"] != "bottleneck"}
    count = 0
    for group in rs.groups:
        mine = [row for row in points if all(row[key] == value for key, value in group["point"].items())]
        for json_name, metric in group["metrics"].items():
            of, link = None, None
            general = json_name
            if found := re.match(r"flow_groups\.([\w-]+)\.(.*)", json_name):
                of, general = found[1], f"flow_groups[].{found[2]}"
            if found := re.match(r"links\.(\w+)\.(.*)", json_name):
                link, general = found[1], f"links[].{found[2]}"
            (row,) = [
                row for row in mine if (row["group"], row["link_name"], row["metric"]) == (of, link, names[general])
            ]
            count += 1
            assert row["n"] == metric["n"]
            ends = metric["ci95"] or [np.nan, np.nan]
            np.testing.assert_equal([row["mean"], row["lo"], row["hi"]], [np.nan if metric["mean"] is None else metric["mean"], *ends])
    assert count == len(points)


def test_points_name_tins_and_waits() -> None:
    queue = {"bottleneck.queue": "prio", "bottleneck.slot": {"min_delay": "5ms", "max_delay": "10ms"}}
    points = bl.sweep({"duration": "2s", "bottleneck": PATH, "flows": FLOWS}, set=queue, seeds=2).points
    found = set(zip(points["metric"], points["link_name"], strict=True))
    assert {("tin_drops", "bottleneck.tins.band0"), ("wait_wait_ms_p95", "bottleneck.slots"), ("link_drops", "bottleneck")} <= found


def test_swept_keys_come_first_and_hashes_last(rs: bl.Results, one: bl.Result) -> None:
    keys = ["bottleneck.buffer", "bottleneck.buffer_bdp", "flows[0].cc"]
    for table in (rs.flows, rs.links, rs.runs):
        assert table.columns[:4] == [*keys, "seed"] and table.columns[-1] == "scenario_hash"
    assert rs.points.columns[-1] == "scenario_hash"
    assert one.flows.columns[:4] == ["flow", "name", "group", "cc"] and one.flows.columns[-2:] == ["seed", "scenario_hash"]
    assert one.series.columns[:5] == ["time_s", "flow", "name", "group", "cc"] and one.series.columns[-1] == "scenario_hash"
    assert rs[5].series.columns[:3] == keys


def test_series_say_whose_they_are(one: bl.Result) -> None:
    series = one.series
    of = {(row["flow"], row["name"], row["group"], row["cc"]) for row in series[["flow", "name", "group", "cc"]]}
    assert of == {(0, None, "bbr3", "bbr3"), (1, "c", "loss-based", "cubic")}
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(series).groupby("cc")["sent_packets"].max().to_dict().keys() == {"bbr3", "cubic"}
    transfers = bl.run({"duration": "2s", "bottleneck": PATH, "flows": [{"cc": "bbr1", "rtt": "9ms", "bytes": "9KB", "count": 2}]}).transfers
    assert transfers["cc"].tolist() == ["bbr1", "bbr1"]


def test_a_metric_has_one_name() -> None:
    """Tables, `points`, plots and docs/results.md use the names of `bl.metrics()`."""
    rs = bl.sweep("examples.dumbbell", seeds=2, set={"duration": "1s"})
    of = {metric["name"]: metric["of"] for metric in bl.metrics()}
    assert len(of) == len(bl.metrics()), "names are unique"
    for name, table in (("flows", rs.flows), ("links", rs.links), ("runs", rs.runs)):
        mine = {"flows": {"flow", "group", "run", "bottleneck"}, "links": {"link"}, "runs": {"run", "bottleneck"}}[name]
        assert {metric for metric, whose in of.items() if whose in mine} <= set(table.columns)
        assert {of[column] for column in table.columns if column in of} <= mine
    assert {of[name] for name in set(rs.points["metric"].tolist())} == {"run", "group", "link"}
    page = (ROOT / "docs/results.md").read_text()
    assert [name for name, whose in of.items() if whose != "link" and f"| `{name}` |" not in page] == []
    assert {name.removeprefix("link_") for name, whose in of.items() if whose == "link"} == {
        name.removeprefix("bottleneck_") for name, whose in of.items() if whose == "bottleneck"
    }
    summary = rs.summary(0)
    # docs/results.md says that `lateness_us` is omitted for runs in virtual time, such as this one.
    assert "lateness_us" not in summary
    for metric in bl.metrics():
        if metric["name"].startswith("lateness_us"):
            continue
        value: Any = summary
        for part in re.findall(r"\w+", metric["json"]):
            value = value[part]
            value = value[0] if isinstance(value, list) else value


def test_files_lists_and_comparisons_have_the_names_of_metrics(tmp_path: Path) -> None:
    """The columns of Parquet files and the names in JSON, in `bbrlab list` and in `bbrlab compare` follow from
    `bl.metrics()`."""
    polars = pytest.importorskip("polars")
    of: dict[str, set[str]] = {}
    for metric in bl.metrics():
        of.setdefault(metric["of"], set()).add(metric["name"])
    in_json = {metric["json"].replace("[]", "") for metric in bl.metrics()}
    for folder, cc in (("a", "bbr1"), ("b", "cubic")):
        bl.sweep({"duration": "1s", "bottleneck": PATH, "flows": FLOWS}, set={"flows[0].cc": cc}, seeds=2, out=tmp_path / folder)
    columns = set(polars.read_parquet_schema(tmp_path / "a" / "summary.parquet"))
    metrics = of["flow"] | of["group"] | of["run"] | of["bottleneck"]
    assert metrics <= columns
    document = json.loads((tmp_path / "a" / "summary.json").read_text())
    compared = bl.compare(tmp_path / "a", tmp_path / "b")
    of_points = [point["metrics"] for point in (*document["groups"], *compared["points"])]
    for name in (name for metrics in of_points for name in metrics):
        owner, _, rest_of_name = name.partition(".")
        if owner in ("flow_groups", "links"):
            name = f"{owner}.{rest_of_name.partition('.')[2]}"
        assert name in in_json, name
    listed = subprocess.run([sys.executable, "-m", "bbrlab", "list", "metrics", "--json"], capture_output=True, check=True)
    names = {metric["name"] for metric in json.loads(listed.stdout)}
    # `bbrlab list metrics` lists `flow_groups.rtt_ms` once, although it has several values, such as the mean. The
    # metrics of CAKE's tins (`links.tins`) and of waits (`waits`) are in separate tables, not in `bl.metrics()`.
    own = {name for name in names if not name.startswith(("links.tins.", "waits."))}
    assert {name for name in own if name not in in_json and not any(it.startswith(f"{name}.") for it in in_json)} == set()
    shown = {metric["json"].replace("[]", "") for metric in bl.metrics() if metric["heading"]}
    assert {name for name in shown if name not in names and name.rpartition(".")[0] not in names} == set()


def test_headings_of_printed_tables_belong_to_metrics(rs: bl.Results) -> None:
    of = {metric["name"]: metric["heading"] for metric in bl.metrics()}
    assert of["group_share"] == "share, %" and of["run_goodput_mbps"] == "goodput, Mbit/s" and of["goodput_mbps"] == ""
    assert of["link_utilization"] == of["bottleneck_utilization"] == "used, %" and of["jain"] == "Jain"
    first, second, *_ = str(rs).splitlines()
    printed = set(re.split(r"\s{2,}", f"{first}  {second}"))
    for name in ("group_share", "run_goodput_mbps", "link_queue_delay_ms_mean", "group_rtt_ms_mean", "jain"):
        title = of[name].split(",")[0]
        assert any(title in heading for heading in printed), title


def test_rows_and_columns_are_chosen_as_in_other_packages(rs: bl.Results) -> None:
    flows = rs.flows
    some = flows[["flow", "cc", "goodput_mbps"]]
    assert some.columns == ["flow", "cc", "goodput_mbps"] and len(some) == len(flows)
    assert some[0] == {"flow": 0, "cc": "bbr1", "goodput_mbps": flows["goodput_mbps"][0]}
    assert some[-1] == list(some)[-1] == some[np.int64(len(flows) - 1)]
    assert list(some[2:5]) == list(some)[2:5] == list(some[np.arange(2, 5)]) and len(some[::-1]) == len(flows)
    assert list(some.head(2)) == list(some)[:2] and list(some.tail(2)) == list(some)[-2:] and len(flows.head()) == 5
    mine = flows[flows["cc"] == "cubic"]
    assert len(mine) == 12 and set(mine["group"]) == {"loss-based"}
    assert len(flows[flows["flow"] > 7]) == 0 and flows[:0].columns == flows.columns
    assert dict(some).keys() == {"flow", "cc", "goodput_mbps"}
    assert "cc" in flows and "goodput" not in flows
    for key, kind, words in [
        (99, IndexError, "expected a row from 0 to 23, found 99"),
        (["flow", "goodput"], KeyError, "did you mean goodput_mbps"),
        (np.array([True]), IndexError, "expected True or False for each of 24 rows"),
        (1.5, TypeError, "expected a column's name, a row's number"),
    ]:
        with pytest.raises(kind, match=words):
            flows[key]
    with pytest.raises(KeyError, match="group_share: found no such column; it is a metric, with rows of its own"):
        rs.points["group_share"]


def test_a_table_shows_its_rows(rs: bl.Results) -> None:
    text = repr(rs.flows[["flow", "cc", "goodput_mbps", "name"]].head(2)).splitlines()
    assert text[0].split() == ["flow", "cc", "goodput_mbps", "name"] and text[1].split()[:2] == ["0", "bbr1"]
    assert len(text) == 4 and text[-1] == "2 rows, 4 columns" and len({len(line) for line in text[:-1]}) == 1
    whole = repr(rs.flows).splitlines()
    assert len(whole) == 12 and max(map(len, whole)) <= 110 and whole[-1].startswith("24 rows, ") and "not shown" in whole[-1]
    assert repr(rs.flows[:0]).splitlines()[-1].startswith("0 rows")


def test_other_packages_read_tables_as_they_are(rs: bl.Results, one: bl.Result) -> None:
    pandas = pytest.importorskip("pandas")
    for table in (rs.flows, rs.points, one.series):
        frame = pandas.DataFrame(table)
        assert frame.columns.tolist() == table.columns and len(frame) == len(table)
        pandas.testing.assert_frame_equal(frame, table.to_pandas(), check_dtype=False)
        interchanged = pandas.api.interchange.from_dataframe(table)
        assert interchanged.columns.tolist() == table.columns and len(interchanged) == len(table)
    assert pandas.DataFrame(rs.flows)["goodput_mbps"].dtype == np.float64
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(rs.points).shape == rs.points.shape


def test_seaborn_draws_a_table(one: bl.Result) -> None:
    seaborn = pytest.importorskip("seaborn")
    axis = seaborn.lineplot(data=one.series, x="time_s", y="cwnd_packets", hue="cc")
    assert {text.get_text() for text in axis.get_legend().get_texts()} == {"bbr3", "cubic"}


def test_results_in_memory_are_whole(rs: bl.Results, tmp_path: Path) -> None:
    assert rs.folder is None
    assert [r.digest for r in rs] == rs.digests
    r = rs[7]
    assert r.summary["point"] == rs.summary(7)["point"] and len(r.series) > 100 and rs[7] is r
    without_cost = {**r.summary, "cpu_s": None}
    assert without_cost == {**rs.summary(7), "cpu_s": None}
    written = bl.sweep({"duration": "3s", "bottleneck": PATH, "flows": FLOWS}, OVER, seeds=3, out=tmp_path, pictures=False)
    for name in ("series", "queue", "delays"):
        for column in getattr(r, name).columns:
            np.testing.assert_array_equal(getattr(r, name)[column], getattr(written[7], name)[column])
    assert written.scenario == rs.scenario and rs.scenario.points == 4
    opened = bl.open(tmp_path)
    assert isinstance(opened, bl.Results) and opened.scenario.hash == rs.scenario.hash


def test_what_is_in_memory_is_compared(rs: bl.Results, tmp_path: Path) -> None:
    other = bl.sweep({"duration": "3s", "bottleneck": PATH, "flows": FLOWS}, OVER, seeds=3, set={"flows[1].cc": "reno"})
    found = bl.compare(rs, other)
    assert len(found["points"]) == 4 and found["points"][0]["seeds"] == [3, 3]
    for name, results in (("a", rs), ("b", other)):
        bl.sweep(results.scenario, out=tmp_path / name, pictures=False)
    assert bl.compare(tmp_path / "a", other) == bl.compare(tmp_path / "a", tmp_path / "b") == found
    with pytest.raises(bl.UsageError, match="a point in common, found none; the swept keys are bottleneck.buffer, .* against flows.count"):
        bl.compare(rs, bl.sweep("examples.dumbbell", {"flows.count": [1, 2]}, set={"duration": "1s"}))


def test_a_control_that_is_not_a_function_of_its_arguments_is_told() -> None:
    calls = iter(range(10**9))

    class Impure(bl.CongestionControl):
        def cong_avoid(self, conn: bl.Conn, ack: int, acked: int) -> None:
            conn.ctl.cwnd = 5 + next(calls) % 31

    rs = bl.sweep("examples.dumbbell", seeds=2, set={"duration": "2s", "flows.cc": Impure})
    with pytest.raises(bl.RunError, match="expected digest .* when it is computed again"):
        rs[0]
    # A pickle does not contain the class, because another process could not find it.
    again = pickle.loads(pickle.dumps(rs))
    assert again.digests == rs.digests
    with pytest.raises(bl.UsageError, match="pickled without their custom congestion controls"):
        again[0]


def test_a_pickled_sweep_is_whole(rs: bl.Results) -> None:
    again = pickle.loads(pickle.dumps(rs))
    assert again[3].digest == rs.digests[3] and again.points.shape == rs.points.shape


def test_cubes_have_units_and_attributes(rs: bl.Results, one: bl.Result) -> None:
    pytest.importorskip("xarray")
    cube = rs.to_xarray()
    assert cube["goodput_mbps"].attrs["units"] == "Mbit/s" and "receiving application" in cube["goodput_mbps"].attrs["long_name"]
    assert cube["bottleneck.buffer_bdp"].attrs["units"] == "BDP" and cube.attrs["version"] == bl.__version__
    assert cube["run_goodput_mbps"].dims == ("bottleneck.buffer_bdp", "flows[0].cc", "seed")
    over_time = one.to_xarray()
    assert over_time["srtt_us"].attrs["units"] == "us" and over_time["cc"].values.tolist() == ["bbr3", "cubic"]
    assert set(over_time.dims) == {"flow", "time_s"}


def test_what_can_be_run_is_listed() -> None:
    scenarios = bl.scenarios()
    assert {"examples.dumbbell", "networks.wifi"} <= {scenario["id"] for scenario in scenarios}
    assert all(scenario["title"] for scenario in scenarios)


def test_a_name_of_a_data_frame_or_a_column_is_no_attribute(one: bl.Result) -> None:
    with pytest.raises(AttributeError, match=r"a data frame may have it: table\.to_pandas\(\)\.groupby"):
        one.flows.groupby  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"'goodput_mbps', which is a column: table\['goodput_mbps'\]"):
        one.flows.goodput_mbps  # type: ignore[attr-defined]
    assert not hasattr(one.flows, "_name")


def test_columns_can_be_added_to_a_data_frame(rs: bl.Results) -> None:
    pandas = pytest.importorskip("pandas")
    frame = rs.to_pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame["load"] = frame["goodput_mbps"] / 10
    assert list(frame.columns) == [*rs.flows.columns, "load"]
    for name, column in rs.flows.to_dict().items():
        if column.dtype != object:
            assert frame[name].dtype == column.dtype
            np.testing.assert_array_equal(frame[name], column)
        else:
            assert frame[name].dtype == pandas.Series(["a"]).astype("str").dtype
            assert [None if pandas.isna(value) else value for value in frame[name]] == column.tolist()


def test_points_as_text_have_means_and_intervals(rs: bl.Results) -> None:
    shares = rs.points[rs.points["metric"] == "group_share"]
    lines = str(shares).splitlines()
    names = lines[0].split()
    assert names[-5:] == ["metric", "mean", "lo", "hi", "n"] and {"bottleneck.buffer", "flows[0].cc", "group"} <= set(names)
    assert lines[1].split()[-4] == f"{shares['mean'][0]:.6g}" and max(map(len, lines)) <= 110
    assert lines[-1] == f"{len(shares)} rows, {len(shares.columns)} columns, {len(shares.columns) - len(names)} of them not shown"
    # Tables other than `points` show their first columns.
    assert str(rs.flows).splitlines()[0].split() == rs.flows.columns[: len(str(rs.flows).splitlines()[0].split())]


@pytest.mark.parametrize(
    ("package", "extra"),
    [
        ("pandas", "tables"),
        ("polars", "tables"),
        ("pyarrow", "tables"),
        ("xarray", "tables"),
        ("matplotlib", "plot"),
        ("altair", "altair"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    rs: bl.Results, monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    ways: dict[str, Callable[[], object]] = {
        "pandas": rs.points.to_pandas,
        "polars": rs.points.to_polars,
        "pyarrow": rs.points.to_arrow,
        "xarray": rs.to_xarray,
        "matplotlib": lambda: rs.plot.share("bottleneck.buffer"),
        "altair": lambda: rs.plot.share("bottleneck.buffer", backend="altair"),
    }
    with pytest.raises(ModuleNotFoundError, match=f"`pip install {package}` installs it, and bbrlab's extra `{extra}`"):
        ways[package]()


@pytest.fixture(scope="module")
def crowd() -> bl.Table:
    """A table whose rows are stored in several chunks, because it has many flows. Some flows have no value in some
    columns."""
    flows = [{"cc": "reno", "rtt": "10ms", "count": 9000, "bytes": "1KB", "start_jitter": "1s"}]
    run = bl.run({"duration": "1.01s", "sample": "off", "bottleneck": {"rate": "1Gbit/s", "buffer": "1bdp"}, "flows": flows})
    table = run.flows[["flow", "name", "cc", "fct_ms_mean", "fct_ms_p95", "goodput_mbps"]]
    assert len(table._frame.chunks("cc")) > 1
    return table


def test_rows_are_gathered_from_all_parts_of_a_table(rs: bl.Results, one: bl.Result, crowd: bl.Table) -> None:
    for table in (rs.flows, rs.points, one.series, crowd):
        rows = list(table)
        order = [len(rows) - 1, 0, len(rows) // 2, 0]
        assert [repr(row) for row in table[order]] == [repr(rows[at]) for at in order]
        assert len(table[:0]) == 0
        with pytest.raises(ValueError, match=f"expected rows below {len(rows)}"):
            table._frame.take([len(rows)])


def test_pickled_tables_keep_rows_types_and_missing_values(rs: bl.Results, one: bl.Result, crowd: bl.Table) -> None:
    for table in (rs.flows, rs.points, one.series, one.queue, rs.flows.head(0), crowd):
        again = pickle.loads(pickle.dumps(table))
        assert again.columns == table.columns and len(again) == len(table)
        assert again.to_arrow().schema == table.to_arrow().schema
        assert again.to_arrow().combine_chunks().equals(table.to_arrow().combine_chunks())
    nothing = rs.flows._frame.select([])
    assert len(pickle.loads(pickle.dumps(nothing))) == len(rs.flows) == len(nothing.take(list(range(len(rs.flows)))))
