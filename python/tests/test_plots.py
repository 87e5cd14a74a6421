"""Plots show the values of the tables, and raise an error if they cannot."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bbrlab as bl
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

PATH = {"rate": "50Mbit/s", "buffer": "1bdp"}
LATE = {
    "duration": "5s",
    "bottleneck": PATH,
    "flows": [
        {"cc": "bbr3", "rtt": "30ms", "group": "bulk"},
        {"cc": "cubic", "rtt": "30ms", "start": "2s", "bytes": "1MB", "group": "download"},
    ],
}


@pytest.fixture(autouse=True)
def no_figures_left() -> Iterator[None]:
    yield
    pyplot.close("all")


def drawn(axis: object) -> dict[str, list[float]]:
    """Returns the y values of each line that has error bars, by the line's name."""
    return {line.get_label(): line.lines[0].get_ydata().tolist() for line in axis.containers}  # type: ignore[attr-defined]


def test_the_share_of_a_late_flow_is_of_the_bytes_of_the_whole_time() -> None:
    rs = bl.sweep(LATE, {"bottleneck.buffer": ["1bdp", "4bdp"]})
    shares = drawn(rs.plot.share())
    for place, group in enumerate(rs.groups):
        for name in ("bulk", "download"):
            assert shares[name][place] == pytest.approx(100 * group["metrics"][f"flow_groups.{name}.share"]["mean"])
    assert np.allclose(np.add(shares["bulk"], shares["download"]), 100)
    assert max(shares["download"]) < 6


def test_a_group_that_meets_others_has_a_line_for_each() -> None:
    flows = [{"cc": "bbr1", "rtt": "30ms"}, {"cc": "cubic", "rtt": "30ms"}]
    over = {"bottleneck.buffer": ["1bdp", "4bdp"], "flows[0].cc": ["bbr1", "bbr3"]}
    rs = bl.sweep({"duration": "2s", "bottleneck": PATH, "flows": flows}, over)
    shares = drawn(rs.plot.share("bottleneck.buffer"))
    assert list(shares) == ["bbr1", "cubic, flows[0].cc=bbr1", "cubic, flows[0].cc=bbr3", "bbr3"]
    for name in ("bbr1", "bbr3"):
        assert np.allclose(np.add(shares[name], shares[f"cubic, flows[0].cc={name}"]), 100)
    assert list(drawn(rs.plot.metric("rtt_ms_mean", "bottleneck.buffer"))) == list(shares)


def test_completion_times_have_a_curve_for_each_group() -> None:
    flows = [
        {"cc": "bbr1", "rtt": "30ms", "bytes": "100KB", "count": 3, "group": "short"},
        {"cc": "cubic", "rtt": "30ms", "bytes": "500KB", "count": 2, "group": "long"},
    ]
    r = bl.run({"duration": "5s", "bottleneck": PATH, "flows": flows})
    axis = r.plot.cdf("fct")
    curves = {line.get_label(): line.get_xdata() for line in axis.get_lines()}
    assert {name: len(times) for name, times in curves.items()} == {"short": 3, "long": 2}
    fct = r.transfers["fct_s"]
    np.testing.assert_allclose(np.sort(np.concatenate(list(curves.values()))), np.sort(fct) * 1e3)


def test_flows_without_samples_are_not_in_the_picture() -> None:
    arrivals = {"cc": "cubic", "rtt": "30ms", "bytes": "50KB", "arrivals": {"rate": "5/s"}, "name": "web"}
    r = bl.run({"duration": "3s", "bottleneck": PATH, "flows": [{"cc": "bbr1", "rtt": "30ms"}, arrivals]})
    assert [line.get_label() for line in r.plot.timeline(["rtt"])[0].get_lines()] == ["bbr1 0"]
    with pytest.raises(bl.UsageError, match="found none of web"):
        r.plot.share()


@pytest.fixture(scope="module")
def one() -> bl.Result:
    return bl.run("examples.dumbbell", {"duration": "1s"})


@pytest.fixture(scope="module")
def swept() -> bl.Results:
    return bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "2bdp"], "flows.cc": ["bbr1", "cubic"]}, set={"duration": "1s"})


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda one, _: one.plot.timeline([]), "expected panels among throughput.*found none"),
        (lambda one, _: one.plot.timeline(backend="gnuplot"), "expected matplotlib or altair, found 'gnuplot'"),
        (lambda one, _: one.plot.share(backend="gnuplot"), "expected matplotlib or altair"),
        (lambda one, _: one.plot.cdf("speed"), "expected one of rtt, queue, throughput, fct, delay, path_queue_delay, found 'speed'"),
        (lambda one, _: one.plot.cdf("fct"), "expected samples of completion time, ms, found none"),
        (lambda _, swept: swept.plot.heatmap(x="flows.cc", y="flows.cc"), "found 'flows.cc' twice"),
        (lambda _, swept: swept.plot.heatmap("fct_ms_p50"), "expected values of fct_ms_p50, found none"),
        (lambda _, swept: swept.plot.share("flows.rtt"), "expected a swept key among"),
        (lambda _, swept: swept.plot.metric("rtt_ms_mean", backend="gnuplot"), "expected matplotlib or altair"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    draw: Callable[[bl.Result, bl.Results], object], words: str, one: bl.Result, swept: bl.Results
) -> None:
    with pytest.raises(bl.UsageError, match=words):
        draw(one, swept)


def test_delays_jitter_and_late_messages_are_columns_and_curves() -> None:
    voice = {"cc": "udp", "rtt": "40ms", "rate": "68.8kbit/s", "mss": "172B", "latency": True, "late": "150ms"}
    flows = [{"cc": "cubic", "rtt": "40ms"}, {**voice, "group": "voice"}]
    scenario = {"duration": "5s", "bottleneck": {"rate": "10Mbit/s", "buffer": "200ms"}, "flows": flows}
    r = bl.run(scenario)
    bulk, call = 0, 1
    for column in ("delay_ms_p50", "jitter_ms", "late_ratio", "loss_ratio", "path_queue_delay_ms_p95"):
        assert r.flows[column][call] >= 0
    assert np.isnan(r.flows["delay_ms_p50"][bulk])
    # The base delay is 20 ms, and the queue holds 200 ms.
    assert 20 <= r.flows["delay_ms_p50"][call] <= 230
    assert 0 <= r.flows["late_ratio"][call] <= 1
    assert r.summary["flow_groups"][1]["delay_ms"]["p95"] == r.flows["delay_ms_p95"][call]
    for what, label in [("delay", "one-way delay, ms"), ("path_queue_delay", "queue delay over the path, ms")]:
        axis = r.plot.cdf(what)
        assert axis.get_xlabel() == label and len(axis.get_lines()) == 1
    waited = [us for us in r.series["path_queue_delay_us"] if us == us]
    assert waited and max(waited) <= 201_000


def test_a_run_without_series_has_no_timeline() -> None:
    r = bl.run("examples.dumbbell", {"duration": "1s", "sample": "off"})
    with pytest.raises(bl.UsageError, match="found none: see the scenario's `sample`"):
        r.plot.timeline()


def reached(line: Any, share: float) -> float:
    """Returns the value at which the curve of a distribution reaches a share."""
    x, y = line.get_xdata(), line.get_ydata()
    return float(x[np.argmax(y >= share - 1e-12)])


def test_distributions_of_a_run_have_the_percentiles_of_its_summary() -> None:
    # The link's rate falls to a tenth for 1 s. A queue delay that is computed as the queued bytes divided by the
    # current rate would therefore be longer than any packet waits.
    rate = [["0s", "20Mbit/s"], ["2s", "2Mbit/s"], ["3s", "20Mbit/s"]]
    flows = [{"cc": "cubic", "rtt": "50ms"}, {"cc": "bbr1", "rtt": "50ms", "count": 2}]
    r = bl.run({"duration": "6s", "bottleneck": {"rate": rate, "buffer": "200pkt"}, "flows": flows})
    (queue,) = r.plot.cdf("queue").get_lines()
    waited = r.summary["links"][0]["queue_delay_ms"]
    assert queue.get_label() == "bottleneck"
    assert [reached(queue, share) for share in (0.5, 0.95, 0.99)] == [waited["p50"], waited["p95"], waited["p99"]]
    lines = r.plot.cdf("rtt").get_lines()
    assert [line.get_label() for line in lines] == ["cubic 0", "bbr1 1", "bbr1 2"]
    for line, flow in zip(lines, r.summary["flows"], strict=True):
        rtt = flow["rtt_ms"]
        assert [reached(line, share) for share in (0.5, 0.95, 0.99)] == [rtt["p50"], rtt["p95"], rtt["p99"]]
    again = pickle.loads(pickle.dumps(r))
    for column in r.delays.columns:
        assert again.delays[column].tolist() == r.delays[column].tolist()
    assert r.delays["count"][r.delays["metric"] == "links.queue_delay_ms"].sum() == r.links["link_departures"][0]


def test_without_series_rtts_are_by_group() -> None:
    r = bl.run("examples.two-bbr", {"sweep": {}, "repeat": 1, "duration": "5s", "sample": "off"})
    (line,) = r.plot.cdf("rtt").get_lines()
    (group,) = r.summary["flow_groups"]
    assert (line.get_label(), reached(line, 0.95)) == (group["group"], group["rtt_ms"]["p95"])


def test_a_run_of_an_earlier_version_says_what_computes_its_distributions(tmp_path: Path) -> None:
    bl.run("examples.dumbbell", {"duration": "1s"}, out=tmp_path, pictures=False)
    (tmp_path / "delays.parquet").unlink()
    r = bl.open(tmp_path)
    assert isinstance(r, bl.Result) and len(r.delays) == 0
    for what in ("rtt", "queue"):
        with pytest.raises(bl.UsageError, match=r"has no delays.parquet.*`bbrlab run .*` computes the run again"):
            r.plot.cdf(what)


def test_a_transfer_that_never_ended_keeps_the_curve_below_one() -> None:
    flows = [{"cc": "bbr1", "rtt": "30ms", "bytes": "100KB", "group": "web"}, {"cc": "bbr1", "rtt": "30ms", "bytes": "1GB", "group": "web"}]
    (line,) = bl.run({"duration": "2s", "bottleneck": PATH, "flows": flows}).plot.cdf("fct").get_lines()
    assert line.get_ydata().tolist() == [0.5]


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> bl.Results:
    """Makes a sweep of two points and three seeds with chosen numbers. With seed s, the flows of bbr1 have s and s + 4
    Mbit/s at 1bdp, and 10 Mbit/s more at 4bdp. The flow of cubic has 100 Mbit/s. Jain's index is s / 10. At 4bdp all
    seeds have the same digest, as if their runs were identical."""
    folder = tmp_path_factory.mktemp("by-hand")
    flows = [{"cc": "bbr1", "rtt": "30ms", "count": 2}, {"cc": "cubic", "rtt": "30ms"}]
    over = {"bottleneck.buffer": ["1bdp", "4bdp"]}
    bl.sweep({"duration": "1s", "bottleneck": PATH, "flows": flows}, over, seeds=3, out=folder, pictures=False)
    document = json.loads((folder / "summary.json").read_text())
    for n, run in enumerate(document["runs"]):
        point, seed = divmod(n, 3)
        run["digest"] = "same" if point else f"{seed}"
        run["jain"] = (seed + 1) / 10
        run["links"][0]["utilization"] = (seed + 1) / 10
        for flow, goodput in zip(run["flows"], (seed + 1 + 10 * point, seed + 5 + 10 * point, 100), strict=True):
            flow["goodput_mbps"] = goodput
        run["flow_groups"][0]["share"] = 0.25 * (seed + 1)
        run["flow_groups"][1]["share"] = 1 - 0.25 * (seed + 1)
    (folder / "summary.json").write_text(json.dumps(document))
    for run_folder in folder.iterdir():
        if run_folder.is_dir():
            shutil.rmtree(run_folder)
    opened = bl.open(folder)
    assert isinstance(opened, bl.Results)
    return opened


def intervals(axis: Any) -> dict[str, list[tuple[float, float] | None]]:
    """Returns the ends of the error bars of each line; None for a point without an error bar."""
    found: dict[str, list[tuple[float, float] | None]] = {}
    for line in axis.containers:
        bars = line.lines[2]
        # A point without an error bar has a segment without vertices.
        ends = [tuple(bar[:, 1]) if bar.size else None for bar in bars[0].get_segments()] if bars else []
        found[line.get_label()] = ends
    return found


T_2 = 4.302652730
"""The 97.5 % quantile of Student's t with two degrees of freedom: three seeds."""


def test_a_run_says_one_thing_about_chance_however_many_flows_it_has(by_hand: bl.Results) -> None:
    # With the three seeds, the means over bbr1's two flows are 3, 4 and 5 Mbit/s at 1bdp, and 13, 14 and 15 at 4bdp. At
    # 1bdp the standard deviation of the three means is 1, so half the width of the interval is t / sqrt(3).
    axis = by_hand.plot.metric("goodput_mbps", group="bbr1")
    assert drawn(axis) == {"bbr1": [4.0, 14.0]}
    (low, high), nothing = intervals(axis)["bbr1"]
    assert low == pytest.approx(4 - T_2 / 3**0.5) and high == pytest.approx(4 + T_2 / 3**0.5)
    assert nothing is None, "identical digests at 4bdp"
    # At 1bdp, flow 0 has 1, 2 and 3 Mbit/s with the three seeds.
    axis = by_hand.plot.metric("goodput_mbps", flow=0)
    assert drawn(axis) == {"flow 0": [2.0, 12.0]}
    assert intervals(axis)["flow 0"][0] == pytest.approx((2 - T_2 / 3**0.5, 2 + T_2 / 3**0.5))
    # Cubic's flow has the same goodput with all seeds, so the interval has zero width at 1bdp. At 4bdp there is no
    # interval, because the digests of all seeds are equal.
    assert intervals(by_hand.plot.metric("goodput_mbps", group="cubic"))["cubic"] == [(100.0, 100.0), None]


@pytest.mark.parametrize(
    ("name", "link"), [("jain", None), ("bottleneck_utilization", None), ("link_utilization", None), ("link_utilization", "bottleneck")]
)
def test_metrics_of_runs_and_links_have_one_line_and_the_intervals_of_the_table(
    name: str, link: str | None, by_hand: bl.Results
) -> None:
    # The seeds have the values 0.1, 0.2 and 0.3, repeated in the rows of three flows. Utilization is a share, which is
    # drawn in per cent.
    unit = 1 if name == "jain" else 100
    axis = by_hand.plot.metric(name, link=link)
    ((label, means),) = drawn(axis).items()
    assert label == (f"{name}, {link}" if link else name) and means == pytest.approx([0.2 * unit, 0.2 * unit])
    (ends, nothing) = intervals(axis)[label]
    half = 0.1 * T_2 / 3**0.5
    assert ends == pytest.approx(((0.2 - half) * unit, (0.2 + half) * unit)) and nothing is None
    low, high = by_hand.groups[0]["metrics"]["jain"]["ci95"]
    assert ends == pytest.approx((unit * low, unit * high), abs=1e-13)


def test_shares_of_groups_have_the_intervals_of_the_table(by_hand: bl.Results) -> None:
    axis = by_hand.plot.share()
    for group, mean in (("bbr1", 50), ("cubic", 50)):
        assert drawn(axis)[group] == pytest.approx([mean, mean])
        ends, nothing = intervals(axis)[group]
        assert ends == pytest.approx((50 - 25 * T_2 / 3**0.5, 50 + 25 * T_2 / 3**0.5)) and nothing is None
        low, high = by_hand.groups[0]["metrics"][f"flow_groups.{group}.share"]["ci95"]
        assert ends == pytest.approx((100 * low, 100 * high), abs=1e-13)


def test_distributions_over_runs_count_what_is_of_a_run_or_a_group_once(by_hand: bl.Results) -> None:
    of = {line.get_label(): line.get_xdata().tolist() for line in by_hand.plot.cdf("goodput_mbps", where={"bottleneck.buffer": "1bdp"}).get_lines()}
    assert of == {"bbr1": [1, 2, 3, 5, 6, 7], "cubic": [100, 100, 100]}
    shares = {line.get_label(): line.get_xdata().tolist() for line in by_hand.plot.cdf("group_share").get_lines()}
    assert shares["bbr1"] == [25, 25, 50, 50, 75, 75]
    (jain,) = by_hand.plot.cdf("jain").get_lines()
    assert jain.get_xdata().tolist() == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]


def cells(axis: Any) -> list[list[float]]:
    image: list[list[float]] = np.asarray(axis.get_images()[0].get_array()).tolist()
    return image


@pytest.fixture(scope="module")
def three_keys() -> bl.Results:
    flows = [{"cc": "bbr1", "rtt": "30ms"}, {"cc": "cubic", "rtt": "30ms"}]
    over = {"bottleneck.buffer": ["1bdp", "4bdp", "8bdp"], "bottleneck.rate": ["10Mbit/s", "20Mbit/s"], "flows.rtt": ["20ms", "40ms"]}
    return bl.sweep({"duration": "2s", "bottleneck": PATH, "flows": flows}, over)


def test_a_heatmap_shows_what_is_asked_for(three_keys: bl.Results) -> None:
    axis = three_keys.plot.heatmap("group_share", group="bbr1", where={"flows.rtt": "40ms"})
    assert [text.get_text() for text in axis.get_xticklabels()] == ["1", "4", "8"]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("bottleneck.buffer, BDP", "bottleneck.rate, Mbit/s")
    assert axis.get_figure().axes[1].get_ylabel().replace("\n", " ") == "Share of the goodput, bbr1, flows.rtt=40ms, %"
    found = cells(axis)
    for point in three_keys.groups:
        if point["point"]["flows.rtt"] == "40ms":
            column = ["1bdp", "4bdp", "8bdp"].index(point["point"]["bottleneck.buffer"])
            row = ["10Mbit/s", "20Mbit/s"].index(point["point"]["bottleneck.rate"])
            assert found[row][column] == pytest.approx(100 * point["metrics"]["flow_groups.bbr1.share"]["mean"])
    of_flow = cells(three_keys.plot.heatmap("group_share", flow=0, where={"flows.rtt": "40ms"}))
    assert of_flow == found
    of_run = cells(three_keys.plot.heatmap("jain", where={"flows.rtt": "20ms"}))
    first = three_keys.groups[0]
    assert first["point"] == {"bottleneck.buffer": "1bdp", "bottleneck.rate": "10Mbit/s", "flows.rtt": "20ms"}
    assert of_run[0][0] == first["metrics"]["jain"]["mean"]


def test_what_would_be_averaged_unasked_is_refused_with_what_there_is(three_keys: bl.Results, by_hand: bl.Results) -> None:
    def refused(draw: Callable[[], object]) -> str:
        with pytest.raises(bl.UsageError) as told:
            draw()
        return str(told.value)

    plot = three_keys.plot
    assert refused(lambda: plot.heatmap("group_share")) == (
        "heatmap: group_share would be averaged over groups (bbr1, cubic) and flows.rtt (20ms, 40ms); "
        "choose with group='bbr1' and where={'flows.rtt': '20ms'}"
    )
    assert refused(lambda: plot.heatmap("jain")) == (
        "heatmap: jain would be averaged over flows.rtt (20ms, 40ms); choose with where={'flows.rtt': '20ms'}"
    )
    assert refused(lambda: plot.heatmap("rtt_ms_mean", where={"flows.rtt": "20ms"})) == (
        "heatmap: rtt_ms_mean would be averaged over groups (bbr1, cubic); choose with group='bbr1'"
    )
    assert refused(lambda: by_hand.plot.metric("rtt_ms_mean")) == (
        "metric: rtt_ms_mean would be averaged over flows of bbr1 (0, 1); choose with flow=0, or ask for the mean over the flows of a group "
        "with group='bbr1' (group_rtt_ms_mean is the metric of the whole group)"
    )
    assert "expected a group among bbr1, cubic, found 'reno'" in refused(lambda: plot.heatmap("group_share", group="reno"))
    assert "expected the number of a flow among 0, 1, found 7" in refused(lambda: plot.metric("group_share", flow=7))
    assert "expected a value of flows.rtt among 20ms, 40ms, found '30ms'" in refused(lambda: plot.metric("jain", where={"flows.rtt": "30ms"}))
    assert "expected a swept key among bottleneck.buffer" in refused(lambda: plot.metric("jain", where={"rtt": "30ms"}))
    assert "jain is a metric of the run; leave out group= and flow=" in refused(lambda: plot.metric("jain", group="bbr1"))
    assert "expected a link among bottleneck, found 'left'" in refused(lambda: plot.metric("link_utilization", link="left"))


def test_metrics_of_several_links_need_the_name_of_one() -> None:
    links = [{"name": "a", "rate": "10Mbit/s", "buffer": "20pkt"}, {"name": "b", "rate": "8Mbit/s", "buffer": "20pkt"}]
    scenario = {"duration": "2s", "links": links, "flows": [{"cc": "cubic", "path": ["a", "b"], "right_delay": "5ms"}]}
    rs = bl.sweep(scenario, {"links.b.buffer": ["20pkt", "40pkt"]})
    with pytest.raises(bl.UsageError, match=r"link_utilization would be averaged over links \(a, b\); choose with link='a'"):
        rs.plot.metric("link_utilization")
    for link in ("a", "b"):
        ((_, means),) = drawn(rs.plot.metric("link_utilization", link=link)).items()
        assert means == [100 * group["metrics"][f"links.{link}.utilization"]["mean"] for group in rs.groups]


@pytest.fixture(scope="module")
def titled() -> bl.Results:
    flows = [{"cc": "bbr1", "rtt": "20ms", "start_jitter": "500ms"}, {"cc": "cubic", "rtt": "20ms", "group": "other"}]
    over = {"bottleneck.buffer": ["4bdp", "0.5bdp", "16bdp", "1bdp"], "flows[0].cc": ["bbr1", "bbr3"], "flows.rtt": ["20ms", "60ms"]}
    return bl.sweep({"title": "Two flows", "duration": "2s", "bottleneck": PATH, "flows": flows}, over, seeds=3)


def test_a_swept_quantity_is_an_axis_of_numbers_in_order(titled: bl.Results) -> None:
    axis = titled.plot.share("bottleneck.buffer", where={"flows.rtt": "20ms"})
    assert axis.get_xscale() == "log" and axis.get_xlabel() == "bottleneck.buffer, BDP"
    assert axis.get_xticks().tolist() == [0.5, 1, 4, 16]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["0.5", "1", "4", "16"]
    bars = axis.containers[0].lines[0]
    assert bars.get_xdata().tolist() == [0.5, 1, 4, 16]
    points = titled.points
    mine = points[(points["metric"] == "group_share") & (points["group"] == "bbr1") & (points["flows.rtt"] == "20ms")]
    of = dict(zip(mine["bottleneck.buffer"], mine["mean"], strict=True))
    assert bars.get_ydata() == pytest.approx([100 * of[buffer] for buffer in ("0.5bdp", "1bdp", "4bdp", "16bdp")])
    assert axis.get_ylim() == (0, 100) and axis.get_ylabel() == "Share of the goodput, %"
    # With only two values on the axis, the axis has numbers but is not logarithmic.
    axis = titled.plot.metric("jain", "flows.rtt", where={"bottleneck.buffer": "1bdp"})
    assert axis.get_xscale() == "linear" and axis.get_xlabel() == "flows.rtt, ms" and axis.get_xticks().tolist() == [20, 60]
    # If the values of the axis are words, no lines join the points.
    axis = titled.plot.metric("jain", "flows[0].cc", where={"bottleneck.buffer": "1bdp"})
    assert [text.get_text() for text in axis.get_xticklabels()] == ["bbr1", "bbr3"]
    assert axis.containers[0].lines[0].get_linestyle() == "None"


def test_dots_are_the_runs(titled: bl.Results) -> None:
    chosen = {"flows.rtt": "20ms", "flows[0].cc": "bbr1"}

    def dots(**more: Any) -> list[float]:
        axis = titled.plot.metric("jain", "bottleneck.buffer", where=chosen, **more)
        return [y for line in axis.get_lines() if line.get_marker() == "." for y in line.get_ydata().tolist()]

    runs = titled.runs
    mine = runs[(runs["flows.rtt"] == "20ms") & (runs["flows[0].cc"] == "bbr1")]
    assert sorted(dots()) == sorted(mine["jain"].tolist()) and len(mine) == 12
    assert dots(seeds=False) == []
    one = bl.sweep("examples.dumbbell", {"flows.count": [1, 2]}, set={"duration": "1s"}).plot.metric("run_goodput_mbps")
    assert [line.get_marker() for line in one.get_lines()].count(".") == 0


def test_colours_and_panels_show_what_is_asked_for(titled: bl.Results) -> None:
    axes = titled.plot.share("bottleneck.buffer", hue="flows[0].cc", col="flows.rtt")
    assert [axis.get_title() for axis in axes] == ["flows.rtt = 20ms", "flows.rtt = 60ms"]
    colours = {line.get_label(): line.lines[0].get_color() for line in axes[0].containers}
    assert set(colours) == {"bbr1", "bbr3", "other, flows[0].cc=bbr1", "other, flows[0].cc=bbr3"}
    assert colours["bbr1"] == colours["other, flows[0].cc=bbr1"] == bl.PALETTE[0]
    assert colours["bbr3"] == colours["other, flows[0].cc=bbr3"] == bl.PALETTE[1]
    styles = {line.get_label(): line.lines[0].get_linestyle() for line in axes[0].containers}
    assert styles["other, flows[0].cc=bbr1"] == styles["other, flows[0].cc=bbr3"]
    legend = axes[-1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list(colours)
    # Without `hue`, each line has its own colour and its own mark.
    plain = titled.plot.share("bottleneck.buffer", where={"flows.rtt": "20ms", "flows[0].cc": "bbr1"})
    assert [(line.lines[0].get_color(), line.lines[0].get_marker()) for line in plain.containers] == [(bl.PALETTE[0], "o"), (bl.PALETTE[1], "s")]
    for wrong, words in [({"hue": "cc"}, "hue: expected one of group, flows"), ({"col": "group"}, "col: expected one of flows"), ({"hue": "flows.rtt", "col": "flows.rtt"}, "different keys")]:
        with pytest.raises(bl.UsageError, match=words):
            titled.plot.share("bottleneck.buffer", **wrong)  # type: ignore[arg-type]


def test_texts_are_the_users_and_stay_inside(titled: bl.Results, tmp_path: Path) -> None:
    fig, axis = pyplot.subplots(figsize=(84 / 25.4, 60 / 25.4), layout="constrained")
    names = {"bbr1": "BBRv1", "bbr3": "BBRv3", "bottleneck.buffer": "buffer, BDP", "group_share": "share of the link, %"}
    titled.plot.share("bottleneck.buffer", group=["bbr1", "bbr3"], where={"flows.rtt": "20ms"}, labels=names, legend="top", ax=axis)
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_title()) == ("buffer, BDP", "share of the link, %", "")
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["BBRv1", "BBRv3"]
    fig.canvas.draw()
    whole = fig.bbox
    for artist in (axis.get_legend(), axis.xaxis.label, axis.yaxis.label):
        box = artist.get_window_extent()
        assert box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1
    # A legend above the axes has as many columns as fit, and a key whose text is empty is not named.
    fig, axis = pyplot.subplots(figsize=(84 / 25.4, 60 / 25.4), layout="constrained")
    titled.plot.metric("jain", "bottleneck.buffer", labels={"flows[0].cc": "", "flows.rtt": "", "20ms": "20 ms"}, legend="top", ax=axis)
    legend = axis.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["bbr1, 20 ms", "bbr1, 60ms", "bbr3, 20 ms", "bbr3, 60ms"]
    fig.canvas.draw()
    assert legend.get_window_extent().x1 <= fig.bbox.x1
    new = titled.plot.metric("jain", "bottleneck.buffer", where={"flows[0].cc": "bbr3"})
    assert new.figure.get_suptitle() == "Two flows: flows[0].cc=bbr3"
    assert titled.plot.metric("jain", "bottleneck.buffer", title="").figure.get_suptitle() == ""
    # A legend is next to the axes, not over the lines.
    new.figure.canvas.draw()
    assert new.get_legend().get_window_extent().x0 > new.get_window_extent().x1
    r = titled[0]
    (axis,) = r.plot.timeline(["cwnd"], group="bbr1", labels={"cwnd, packets": "window"})
    assert [line.get_label() for line in axis.get_lines()] == ["bbr1 0"] and axis.get_ylabel() == "window"
    with pytest.raises(bl.UsageError, match="expected a group among bbr1, other, found 'x'"):
        r.plot.timeline(group="x")


def test_axes_have_words(titled: bl.Results) -> None:
    from bbrlab._bbrlab import titles

    named = {name: title for name, title, _ in titles()}
    assert set(named) == {metric["name"] for metric in bl.metrics()}
    assert [name for name, title in named.items() if "_" in title or "." in title] == []
    label = titled.plot.metric("rtt_ms_p95", "bottleneck.buffer", flow=0, where={"flows.rtt": "20ms"}).get_ylabel()
    assert label == "RTT, p95, ms"
    assert titled.plot.metric("run_goodput_mbps", "bottleneck.buffer").get_ylabel() == "Goodput of all flows, Mbit/s"
    assert titled.plot.cdf("jain").get_xlabel() == "Jain's index"
    assert titled.plot.metric("group_share", labels={"group_share": "part"}).get_ylabel() == "part"
    # An empty text stays empty, line breaks in a text are kept, and a formula is not broken into lines.
    formula = r"$\frac{a very long formula with many words}{that would be broken into lines}$"
    for text in ("", "share\nof the group", formula):
        labels = {"group_share, other, flows[0].cc=bbr3": text}
        axis = titled.plot.heatmap("group_share", "bottleneck.buffer", "flows.rtt", group="other", where={"flows[0].cc": "bbr3"}, labels=labels)
        assert axis.figure.axes[-1].get_ylabel() == text
    pyplot.close("all")


def test_a_column_that_is_not_there_gets_the_nearest(titled: bl.Results) -> None:
    with pytest.raises(bl.UsageError, match="goodput: expected a column of numbers, found no such column; did you mean goodput_mbps or"):
        titled.plot.metric("goodput")
    for choice in ({"group": "bbr1"}, {"flow": 0}, {"link": "bottleneck"}, {}):
        with pytest.raises(bl.UsageError, match="share: .*found no such column; did you mean group_share"):
            titled.plot.heatmap("share", **choice)
        with pytest.raises(bl.UsageError, match="foo: .*found no such column; expected one of"):
            titled.plot.metric("foo", **choice)
    with pytest.raises(bl.UsageError, match="utilization: .*did you mean bottleneck_utilization or link_utilization"):
        titled.plot.metric("utilization")
    with pytest.raises(bl.UsageError, match=r"found one of `summary\.json`; use 'group_share' with group='bbr3'"):
        titled.plot.metric("flow_groups.bbr3.share")
    with pytest.raises(bl.UsageError, match=r"use 'link_queue_delay_ms_p95' with link='bottleneck'"):
        titled.plot.metric("links.bottleneck.queue_delay_ms.p95")
    with pytest.raises(bl.UsageError, match="cc: expected a column of numbers, found one of words"):
        titled.plot.metric("cc")
    with pytest.raises(bl.UsageError, match="whose name begins with link_, found 'jain'"):
        titled.plot.metric("jain", link="bottleneck")


def test_altair_gets_no_more_rows_than_it_draws(titled: bl.Results) -> None:
    pytest.importorskip("altair")
    flows = [{"cc": "cubic", "rtt": "30ms", "count": 4}]
    r = bl.run({"duration": "60s", "bottleneck": {"rate": "5Mbit/s", "buffer": "1bdp"}, "flows": flows})
    assert len(r.series) > 20_000
    chart = r.plot.timeline(["cwnd", "rtt"], backend="altair").to_dict()
    assert sum(len(rows) for rows in chart["datasets"].values()) <= 5000
    # The chart has fewer rows than the series, but still has the highest window of a flow.
    highest = max(row["y"] for rows in chart["datasets"].values() for row in rows if row["of"] == "cubic 0" and row["y"] < 1e3)
    assert highest >= r.series["cwnd_packets"][r.series["flow"] == 0].max()
    chart = titled.plot.share("bottleneck.buffer", where={"flows.rtt": "20ms"}, backend="altair").to_dict()
    assert "log" in json.dumps(chart) and "Two flows" in json.dumps(chart)


def test_a_heatmap_has_its_values_in_order_and_intervals(titled: bl.Results) -> None:
    stats = pytest.importorskip("scipy.stats")
    axis = titled.plot.heatmap("group_share", "bottleneck.buffer", "flows.rtt", group="bbr3", intervals=True)
    assert [text.get_text() for text in axis.get_xticklabels()] == ["0.5", "1", "4", "16"]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["20", "60"]
    assert axis.get_images()[0].get_clim() == (0, 100)
    points = titled.points
    chosen = (points["metric"] == "group_share") & (points["group"] == "bbr3")
    flows = titled.flows
    for row in points[chosen]:
        mine = flows[(flows["group"] == "bbr3") & (flows["bottleneck.buffer"] == row["bottleneck.buffer"]) & (flows["flows.rtt"] == row["flows.rtt"])]
        shares = mine["group_share"]
        assert row["n"] == len(shares) == 3 and row["mean"] == pytest.approx(shares.mean())
        low, high = stats.t.interval(0.95, 2, shares.mean(), stats.sem(shares))
        assert (row["lo"], row["hi"]) == pytest.approx((low, high))
    texts = [text.get_text() for text in axis.texts]
    # As in the tables of the command line, each share has one decimal.
    assert len(texts) == 8 and all(re.fullmatch(r"\d+\.\d\n±\d+\.\d", text) for text in texts), texts
    printed = str(titled)
    assert all(text.split("\n")[0] in printed for text in texts)


def test_a_heatmap_has_no_value_where_groups_are_joined() -> None:
    flows = [{"cc": "bbr3", "rtt": "20ms", "start_jitter": "1s"}] * 2
    over = {"flows[1].rtt": ["20ms", "40ms", "160ms"], "bottleneck.buffer": ["32packets", "256packets"]}
    rs = bl.sweep({"title": "Two flows", "duration": "3s", "bottleneck": {"rate": "20Mbit/s"}, "flows": flows}, over, seeds=2)
    figure, axis = pyplot.subplots(figsize=(84 / 25.4, 60 / 25.4), layout="constrained")
    rs.plot.heatmap("group_share", group="20ms", intervals=True, ax=axis)
    # With equal RTTs, both flows are in one group, whose share is not the share of the first flow.
    assert np.isnan(cells(axis)).tolist() == [[True, False, False]] * 2
    assert axis.get_facecolor() == pytest.approx((0xE8 / 255, 0xE8 / 255, 0xE8 / 255, 1))
    assert cells(rs.plot.heatmap("group_share", flow=0))[1][1:] == cells(axis)[1][1:]
    assert np.isnan(cells(rs.plot.heatmap("group_share", flow=1))).tolist() == [[True, False, False]] * 2
    assert not np.isnan(cells(rs.plot.heatmap("goodput_mbps", flow=1))).any(), "a flow's own goodput is not its group's"
    assert not np.isnan(cells(rs.plot.heatmap("jain"))).any()
    with pytest.raises(bl.UsageError, match="found none at the points where the groups of flows have different names"):
        rs.plot.heatmap("group_share", group="bbr3")
    # The label of the colour bar is broken into two lines. All labels and the texts of all cells are within the figure.
    figure.canvas.draw()
    whole, label = figure.bbox, figure.axes[1].yaxis.label
    assert label.get_text() == "Share of the goodput,\n20ms, %"
    for artist in (label, axis.xaxis.label, axis.yaxis.label, *axis.texts):
        box = artist.get_window_extent()
        assert box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1, artist
    pyplot.close("all")


def test_intervals_that_the_axes_cut_end_in_arrows() -> None:
    flows = [{"cc": "bbr1", "rtt": "20ms", "start_jitter": "1s"}, {"cc": "cubic", "rtt": "20ms", "start_jitter": "1s"}]
    path = {"rate": "10Mbit/s"}
    rs = bl.sweep({"duration": "3s", "repeat": 2, "bottleneck": path, "flows": flows}, {"bottleneck.buffer": ["0.1bdp", "1bdp", "8bdp"]})
    shares = rs.points[rs.points["metric"] == "group_share"]
    below, above = (shares["lo"] < 0).sum(), (shares["hi"] > 1).sum()
    assert below == above > 0, "with two seeds, the interval of a small share includes values below 0"
    axis = rs.plot.share("bottleneck.buffer")
    arrows = [line for line in axis.lines if line.get_marker() in (10, 11)]
    for end, count in ((0, below), (100, above)):
        assert sum(list(line.get_ydata()).count(end) for line in arrows) == count


def boxes(figure: Any, *artists: Any) -> list[Any]:
    """Draws a figure, and returns the bounding boxes of artists in it."""
    figure.canvas.draw()
    return [artist.get_window_extent() for artist in artists]


def test_given_axes_have_the_users_title_above_the_legend(titled: bl.Results) -> None:
    for sets_title in (lambda axis: {"title": "Mine"}, lambda axis: {}):
        figure, axis = pyplot.subplots(figsize=(84 / 25.4, 60 / 25.4), layout="constrained")
        titled.plot.share("bottleneck.buffer", where={"flows.rtt": "20ms"}, legend="top", ax=axis, **sets_title(axis))
        if not axis.get_title():
            axis.set_title("Mine")
        title, legend, whole = boxes(figure, axis.title, axis.get_legend(), figure)
        assert axis.get_title() == "Mine" and title.y0 >= legend.y1 - 1 and title.y1 <= whole.y1
    # Axes that the user gave have no title if the user gave no title.
    _, axis = pyplot.subplots()
    assert titled.plot.metric("jain", "bottleneck.buffer", ax=axis).get_title() == ""
    _, axes = pyplot.subplots(1, 2)
    titled.plot.metric("jain", "bottleneck.buffer", col="flows.rtt", ax=axes, title="Mine")
    assert axes[0].figure.get_suptitle() == "Mine" and axes[0].get_title() == "flows.rtt = 20ms"
    _, axes = pyplot.subplots(2, 1)
    titled[0].plot.timeline(["rtt", "cwnd"], axes=axes, title="Mine")
    assert [axis.get_title() for axis in axes] == ["Mine", ""]
    _, axis = pyplot.subplots()
    assert titled[0].plot.cdf("queue", ax=axis, title="Mine").get_title() == "Mine"


def test_a_title_of_the_users_is_not_changed(titled: bl.Results) -> None:
    choice: dict[str, Any] = {"group": ["bbr1", "other"], "where": {"flows.rtt": ["20ms", "60ms"]}}
    assert titled.plot.share("bottleneck.buffer", **choice, title="Mine").figure.get_suptitle() == "Mine"
    own = titled.plot.share("bottleneck.buffer", **choice, labels={"flows.rtt": "RTT", "20ms": "20 ms"}).figure
    assert own.get_suptitle() == "Two flows: bbr1, other, RTT=20 ms or 60ms"


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        ({"bbr9": "x"}, bl.UsageError, "labels: expected a name of the results, found 'bbr9'; did you mean bbr3 or bbr1"),
        ({"buffer": "x"}, bl.UsageError, r"found 'buffer'; did you mean bottleneck\.buffer\?"),
        ({"flows.rtt=30ms": "x"}, bl.UsageError, "found 'flows.rtt=30ms'"),
        ({"bbr1, reno": "x"}, bl.UsageError, "found 'bbr1, reno'"),
        ({"bbr1": 1}, TypeError, "labels: expected a text for 'bbr1', found 1 of type int"),
        (["bbr1"], TypeError, r"labels: expected a dict of names with their texts, found \['bbr1'\] of type list"),
    ],
)
def test_labels_are_texts_for_names_of_the_results(labels: Any, error: type[Exception], words: str, titled: bl.Results) -> None:
    with pytest.raises(error, match=words):
        titled.plot.share("bottleneck.buffer", labels=labels)
    # `labels` may also have names that only another plot of these results shows.
    known = {"bbr1": "BBRv1", "20ms": "20 ms", "flows.rtt=60ms": "far", "other, flows[0].cc=bbr3": "next", "jain": "J", "flow 0": "0", "bottleneck": "link"}
    titled.plot.share("bottleneck.buffer", labels=known)


def test_an_unknown_place_of_a_legend_is_refused(titled: bl.Results, one: bl.Result) -> None:
    with pytest.raises(bl.UsageError, match="legend: expected True, False or one of top, best, upper right.*found 'topp'"):
        titled.plot.share("bottleneck.buffer", legend="topp")
    with pytest.raises(bl.UsageError, match="found 'topp'"):
        one.plot.timeline(["rtt"], legend="topp")
    with pytest.raises(bl.UsageError, match="found 'cnwd, packets'; did you mean cwnd, packets"):
        one.plot.timeline(["cwnd"], labels={"cnwd, packets": "window"})


def test_a_group_has_its_name_in_tables(titled: bl.Results) -> None:
    assert "flows[0]" in str(titled)
    chosen = {"flows.rtt": "20ms", "bottleneck.buffer": "1bdp"}
    points = titled.points
    shares = points[(points["metric"] == "group_share") & (points["flows.rtt"] == "20ms") & (points["bottleneck.buffer"] == "1bdp")]
    first = [100 * row["mean"] for row in shares if row["group"] in ("bbr1", "bbr3")]
    assert drawn(titled.plot.share("flows[0].cc", group="flows[0]", where=chosen)) == {"flows[0]": pytest.approx(first)}
    assert drawn(titled.plot.share("flows[0].cc", flow=0, where=chosen)) == {"flow 0": pytest.approx(first)}
    both = drawn(titled.plot.share("flows[0].cc", group=["flows[0]", "other"], where=chosen))
    assert list(both) == ["flows[0]", "other"] and np.allclose(np.add(*both.values()), 100)
    heat = titled.plot.heatmap("group_share", "flows[0].cc", "bottleneck.buffer", group="flows[0]", where={"flows.rtt": "20ms"})
    assert cells(heat)[1] == pytest.approx(first), "0.5bdp is the first row"
    curve = titled.plot.cdf("group_share", group="flows[0]", labels={"flows[0]": "first"})
    assert [line.get_label() for line in curve.get_lines()] == ["first"] and len(curve.get_lines()[0].get_xdata()) == len(titled)
    with pytest.raises(bl.UsageError, match=r"expected a group among bbr1, other, bbr3, flows\[0\], found 'flows\[1\]'"):
        titled.plot.share("bottleneck.buffer", group="flows[1]")


def test_a_legend_above_panels_is_above_their_titles(titled: bl.Results) -> None:
    given = pyplot.subplots(1, 2, figsize=(174 / 25.4, 60 / 25.4), sharey=True, layout="constrained")[1]
    for axes in (given, None):
        axes = titled.plot.share("bottleneck.buffer", col="flows.rtt", legend="top", title="Mine", ax=axes)
        figure, legend = axes[0].figure, axes[0].get_legend()
        place, whole, *titles = boxes(figure, legend, figure, *(axis.title for axis in axes))
        assert len(legend.get_texts()) == 4 and all(place.y0 >= title.y1 for title in titles)
        assert place.x1 <= whole.x1 and place.y1 <= figure._suptitle.get_window_extent().y0 + 1
        widths = [axis.get_window_extent().width for axis in axes]
        assert widths[0] == pytest.approx(widths[1]), "the legend is wider than a panel, and does not change its width"


def test_a_legend_of_many_lines_leaves_room_in_the_width_of_a_column(three_keys: bl.Results) -> None:
    figure, axis = pyplot.subplots(figsize=(84 / 25.4, 60 / 25.4), layout="constrained")
    names = {"bbr1": "BBRv1", "flows.rtt": "RTT", "bottleneck.rate": "rate"}
    three_keys.plot.share("bottleneck.buffer", where={"bottleneck.rate": "10Mbit/s"}, labels=names, legend="top", ax=axis)
    legend = axis.get_legend()
    place, whole, plot, label = boxes(figure, legend, figure, axis, axis.yaxis.get_ticklabels()[-1])
    assert [text.get_text() for text in legend.get_texts()][0] == "BBRv1, RTT=20ms" and len(legend.get_texts()) == 4
    assert place.x0 >= whole.x0 and place.x1 <= whole.x1 and place.y1 <= whole.y1 and place.y0 >= plot.y1 - 1
    assert plot.height > 0.4 * whole.height, "at most two rows"
    if place.x0 < plot.x0 - 1:
        assert place.y0 >= label.y1


def test_intervals_at_a_number_are_side_by_side_with_the_dots_beside_them(titled: bl.Results) -> None:
    axis = titled.plot.share("bottleneck.buffer", where={"flows.rtt": "20ms", "flows[0].cc": "bbr3"})
    axis.figure.canvas.draw()
    first, second = (line.lines[0] for line in axis.containers)
    assert first.get_xdata().tolist() == second.get_xdata().tolist() == [0.5, 1, 4, 16]
    assert axis.get_xlim()[0] == pytest.approx(0.5 / 32**0.06) and axis.get_xlim()[1] == pytest.approx(16 * 32**0.06)

    def places(line: Any) -> Any:
        """Returns the horizontal positions of a line's markers in the figure, in points of 1/72 inch."""
        return 72 / axis.figure.dpi * line.get_transform().transform(line.get_xydata())[:, 0]

    ticks = 72 / axis.figure.dpi * axis.transData.transform([(x, 0) for x in (0.5, 1, 4, 16)])[:, 0]
    assert places(second) - places(first) == pytest.approx(2.5) and places(first) + places(second) == pytest.approx(2 * ticks)
    for line, dots in zip((first, second), (line for line in axis.lines if line.get_marker() == "."), strict=True):
        assert np.unique(places(dots)) == pytest.approx(places(line) + 4.5)
    bars = axis.containers[0].lines[2][0]
    assert bars.get_transform() == first.get_transform()


def fair_lines(axis: Any) -> list[list[float]]:
    return [list(map(float, line.get_ydata())) for line in axis.lines if line.get_color() == "#969696"]


def test_fair_shares_are_shares_of_the_number_of_flows(by_hand: bl.Results) -> None:
    assert fair_lines(by_hand.plot.share()) == [[pytest.approx(200 / 3)] * 2, [pytest.approx(100 / 3)] * 2]
    assert fair_lines(by_hand.plot.share(group="cubic")) == [[pytest.approx(100 / 3)] * 2]
    assert fair_lines(by_hand.plot.metric("goodput_mbps", group="cubic")) == []
    counts = bl.sweep(LATE, {"flows[0].count": [1, 3]}, set={"duration": "1s", "flows[1].start": "0s"})
    assert sorted(fair_lines(counts.plot.share())) == [[50, 25], [50, 75]]
    alone = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "2bdp"]}, set={"duration": "1s"})
    assert fair_lines(alone.plot.share()) == []
    links = [{"name": "a", "rate": "10Mbit/s", "buffer": "20pkt"}, {"name": "b", "rate": "8Mbit/s", "buffer": "20pkt"}]
    flows = [{"cc": "cubic", "rtt": "20ms", "path": [name], "group": name} for name in ("a", "b")]
    two = bl.sweep({"duration": "2s", "links": links, "flows": flows}, {"flows.rtt": ["20ms", "40ms"]})
    assert fair_lines(two.plot.share()) == []
