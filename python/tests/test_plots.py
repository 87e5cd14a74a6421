"""Pictures: what they draw is what the tables say, and what they cannot draw is refused."""

from __future__ import annotations

from collections.abc import Callable

import bbrlab as bl
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

PATH = {"rate": "50Mbit/s", "buffer": "1bdp"}
LATE = {
    "duration": "5s",
    "bottleneck": PATH,
    "flows": [
        {"cc": "bbr3", "rtt": "30ms", "group": "bulk"},
        {"cc": "cubic", "rtt": "30ms", "start": "2s", "bytes": "1MB", "group": "download"},
    ],
}


def drawn(axis: object) -> dict[str, list[float]]:
    """The lines with error bars by their names."""
    return {line.get_label(): line.lines[0].get_ydata().tolist() for line in axis.containers}  # type: ignore[attr-defined]


def test_the_share_of_a_late_flow_is_of_the_bytes_of_the_whole_time() -> None:
    rs = bl.sweep(LATE, {"bottleneck.buffer": ["1bdp", "4bdp"]})
    shares = drawn(rs.plot.share())
    for place, group in enumerate(rs.groups):
        for name in ("bulk", "download"):
            assert shares[name][place] == pytest.approx(group["metrics"][f"flow_groups.{name}.share"]["mean"])
    assert np.allclose(np.add(shares["bulk"], shares["download"]), 1)
    assert max(shares["download"]) < 0.06


def test_a_group_that_meets_others_has_a_line_for_each() -> None:
    flows = [{"cc": "bbr1", "rtt": "30ms"}, {"cc": "cubic", "rtt": "30ms"}]
    over = {"bottleneck.buffer": ["1bdp", "4bdp"], "flows[0].cc": ["bbr1", "bbr3"]}
    rs = bl.sweep({"duration": "2s", "bottleneck": PATH, "flows": flows}, over)
    shares = drawn(rs.plot.share("bottleneck.buffer"))
    assert list(shares) == ["bbr1", "cubic, flows[0].cc=bbr1", "cubic, flows[0].cc=bbr3", "bbr3"]
    for name in ("bbr1", "bbr3"):
        assert np.allclose(np.add(shares[name], shares[f"cubic, flows[0].cc={name}"]), 1)
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
        (lambda one, _: one.plot.cdf("speed"), "expected one of rtt, throughput, fct, found 'speed'"),
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


def test_a_run_without_series_has_no_timeline() -> None:
    r = bl.run("examples.dumbbell", {"duration": "1s", "sample": "off"})
    with pytest.raises(bl.UsageError, match="found none: see the scenario's `sample`"):
        r.plot.timeline()
