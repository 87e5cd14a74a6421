"""Plots of results with matplotlib or Altair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ._errors import UsageError
from ._palette import PALETTE
from ._select import Selection, numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._results import Result, Results

__all__ = ["Backend", "RunPlots", "SweepPlots"]

Backend = Literal["matplotlib", "altair"]

_BACKENDS = ("matplotlib", "altair")

Panel = Literal["throughput", "rtt", "cwnd", "inflight", "pacing", "queue"]


class _Column(NamedTuple):
    name: str
    scale: float
    label: str


_PANELS: dict[str, _Column] = {
    "throughput": _Column("throughput_bps", 1e-6, "throughput, Mbit/s"),
    "rtt": _Column("srtt_us", 1e-3, "smoothed RTT, ms"),
    "cwnd": _Column("cwnd_packets", 1.0, "cwnd, packets"),
    "inflight": _Column("inflight_packets", 1.0, "in flight, packets"),
    "pacing": _Column("pacing_rate_bps", 1e-6, "pacing rate, Mbit/s"),
    "queue": _Column("packets", 1.0, "queue, packets"),
}


class _Line(NamedTuple):
    """A line of a panel: its name, its points, and the ends of their intervals; NaN if a point has none."""

    name: str
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    low: npt.NDArray[Any] | None = None
    high: npt.NDArray[Any] | None = None


class _Sample(NamedTuple):
    """Values of a distribution, their counts (None: each counts once), and the number of samples without a value."""

    name: str
    values: npt.NDArray[Any]
    counts: npt.NDArray[Any] | None = None
    without: int = 0


_DISTRIBUTIONS = ("rtt", "queue", "throughput", "fct")

WINDOWS = 250
"""Maximum number of windows over which rates are averaged, as in the command line's plots: in a sample of 10 ms, single
packets show."""


class RunPlots:
    """The plots of one run.

    >>> import bbrlab as bl
    >>> bl.run("examples.dumbbell").plot.timeline(["rtt"])[0].get_ylabel()
    'smoothed RTT, ms'
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def timeline(
        self,
        panels: Sequence[Panel] = ("throughput", "rtt", "queue"),
        *,
        axes: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots the flows over time, one panel below the other.

        Args:
            panels: Any of `throughput`, `rtt`, `cwnd`, `inflight`, `pacing` and `queue`.
            axes: The axes to draw on, one per panel, instead of new ones.
            backend: `matplotlib`, or `altair`.

        Returns:
            An array of axes of shape (panels,), or a chart.

        Raises:
            UsageError: If a panel does not exist, nothing was sampled, or the numbers of axes and panels differ.

        >>> import bbrlab as bl
        >>> r = bl.run("examples.two-bbr", {"sweep": {}, "repeat": 1, "duration": "5s"})
        >>> [axis.get_ylabel() for axis in r.plot.timeline(["throughput", "queue"])]
        ['throughput, Mbit/s', 'queue, packets']
        """
        _check_backend(backend)
        drawn = []
        for panel in panels:
            if panel not in _PANELS:
                raise UsageError(f"timeline: expected panels among {', '.join(_PANELS)}, found {panel!r}")
            column = _PANELS[panel]
            lines = self._queues(column) if panel == "queue" else self._flows(column)
            if not lines:
                raise UsageError(f"timeline: expected samples of {column.label}, found none: see the scenario's `sample`")
            if panel == "throughput":
                lines = _windowed(lines)
            drawn.append((column.label, lines))
        if not drawn:
            raise UsageError(f"timeline: expected panels among {', '.join(_PANELS)}, found none")
        if backend == "altair":
            return _altair("time, s", drawn, step=False)
        axes = _axes(len(drawn), axes)
        for axis, (label, lines) in zip(axes, drawn, strict=True):
            _lines(axis, lines)
            axis.set_ylabel(label)
        axes[-1].set_xlabel("time, s")
        _legend(axes[0], drawn[0][1])
        return axes

    def share(self, *, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """Plots each flow's share of the throughput of all flows over time.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If not all flows were sampled. Flows of `arrivals` are never sampled.

        >>> import bbrlab as bl
        >>> r = bl.run("examples.two-bbr", {"sweep": {}, "repeat": 1, "duration": "5s"})
        >>> [text.get_text() for text in r.plot.share().get_legend().get_texts()]
        ['bbr1 0', 'bbr1 1']
        """
        _check_backend(backend)
        lines = self._flows(_PANELS["throughput"])
        unseen = [name for name in self._names().values() if name not in {line.name for line in lines}]
        if unseen:
            raise UsageError(
                f"share: expected samples of all flows, found none of {', '.join(unseen)}; "
                "`summary['flow_groups']` has the shares of the whole run"
            )
        lines = _windowed(lines)
        times = np.unique(np.concatenate([line.x for line in lines]))
        rates = np.zeros((len(lines), len(times)))
        for row, line in zip(rates, lines, strict=True):
            row[np.searchsorted(times, line.x)] = np.nan_to_num(line.y)
        whole = rates.sum(axis=0)
        shares = np.divide(rates, whole, out=np.zeros_like(rates), where=whole > 0)
        drawn = [_Line(line.name, times, share) for line, share in zip(lines, shares, strict=True)]
        if backend == "altair":
            return _altair("time, s", [("share", drawn)], step=False)
        (axis,) = _axes(1, ax)
        axis.stackplot(times, shares, labels=[line.name for line in lines], colors=_colours(len(lines)))
        axis.set(xlabel="time, s", ylabel="share of the throughput", ylim=(0, 1))
        _legend(axis, drawn)
        return axis

    def cdf(
        self,
        what: Literal["rtt", "queue", "throughput", "fct"] = "rtt",
        *,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots a distribution of the run.

        `rtt` is over the RTT samples of each flow, `queue` over the packets that left the queue of each shared link.
        `throughput` is over the rows of `series` by flow, `fct` over the transfers by group.

        RTTs and queue delays are those of `delays`, so that a percentile read off a curve equals the one in `summary`.
        If flows have no rows in `series`, RTTs are by group. A transfer that never ended counts, so the curve of its
        group stays below 1.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If nothing was measured, or an earlier version computed the run.

        >>> import bbrlab as bl
        >>> r = bl.run("examples.two-bbr", {"sweep": {}, "repeat": 1, "duration": "5s"})
        >>> r.plot.cdf("queue").get_xlabel()
        'queue delay, ms'
        """
        _check_backend(backend)
        if what not in _DISTRIBUTIONS:
            raise UsageError(f"cdf: expected one of {', '.join(_DISTRIBUTIONS)}, found {what!r}")
        if what == "fct":
            return _cdf("completion time, ms", "transfers", self._completion_times(), ax, backend)
        if what == "rtt":
            return _cdf("RTT, ms", "RTT samples", self._rtts(), ax, backend)
        if what == "queue":
            return _cdf("queue delay, ms", "packets", self._queue_delays(), ax, backend)
        column = _PANELS["throughput"]
        samples = [_Sample(line.name, line.y) for line in self._flows(column)]
        return _cdf(column.label, "samples", samples, ax, backend)

    def _completion_times(self) -> list[_Sample]:
        flows, transfers = self._result.flows, self._result.transfers
        if not len(transfers):
            return []
        groups = dict(zip(flows["flow"].tolist(), flows["group"], strict=True))
        of = np.array([groups[flow] for flow in transfers["flow"].tolist()], dtype=object)
        times = 1e3 * numbers(transfers, "fct_s")
        ended = ~np.isnan(times)
        return [
            _Sample(str(group), times[ended & (of == group)], without=int((~ended & (of == group)).sum()))
            for group in dict.fromkeys(of)
        ]

    def _rtts(self) -> list[_Sample]:
        groups = self._result.summary["flow_groups"]
        names = {index: str(group["group"]) for index, group in enumerate(groups)}
        of_groups = self._delays("flow_groups.rtt_ms", names)
        if not of_groups and any(group["rtt_ms"]["mean"] is not None for group in groups):
            raise self._without_delays()
        return self._delays("flows.rtt_ms", self._names()) or of_groups

    def _queue_delays(self) -> list[_Sample]:
        links = self._result.summary["links"]
        # No name in a scenario has brackets: these are links of one flow.
        shared = {index: link for index, link in enumerate(links) if not link["name"].endswith("]")}
        samples = self._delays("links.queue_delay_ms", {index: link["name"] for index, link in shared.items()})
        if not samples and any(link["queue_delay_ms"]["mean"] is not None for link in shared.values()):
            raise self._without_delays()
        return samples

    def _delays(self, metric: str, names: Mapping[int, str]) -> list[_Sample]:
        """Returns the distributions of a metric for the named links, groups or flows that have one."""
        delays = self._result.delays
        of_metric = delays["metric"] == metric
        index, milliseconds, counts = (delays[column][of_metric] for column in ("index", "delay_ns", "count"))
        there = set(index.tolist())
        return [
            _Sample(name, milliseconds[index == number] / 1e6, counts[index == number])
            for number, name in names.items()
            if number in there
        ]

    def _without_delays(self) -> UsageError:
        folder = self._result.folder
        again = f"`bbrlab run {folder}` computes" if folder is not None else "compute"
        return UsageError(
            f"cdf: {folder or 'the run'} has no delays.parquet, because an earlier version wrote the run; {again} the run again"
        )

    def _names(self) -> dict[int, str]:
        flows = self._result.flows
        return {
            int(flow): f"{cc} {int(flow)}" if name is None else str(name)
            for flow, cc, name in zip(flows["flow"], flows["cc"], flows["name"], strict=True)
        }

    def _flows(self, column: _Column) -> list[_Line]:
        """Returns a line per sampled flow."""
        series = self._result.series
        times, of, values = series["time_s"], series["flow"], series[column.name] * column.scale
        lines = [_Line(name, times[of == flow], values[of == flow]) for flow, name in self._names().items()]
        return [line for line in lines if len(line.x)]

    def _queues(self, column: _Column) -> list[_Line]:
        queue, names = self._result.queue, self._result.links["name"]
        times, of, values = queue["time_s"], queue["link"], queue[column.name] * column.scale
        return [_Line(str(names[link]), times[of == link], values[of == link]) for link in np.unique(of)]


class SweepPlots:
    """The plots of a sweep.

    >>> import bbrlab as bl
    >>> bl.sweep("examples.dumbbell", {"flows.count": [1, 2]}).plot.metric("group_rtt_ms_mean").get_xlabel()
    'flows.count'
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def share(
        self,
        x: str | None = None,
        *,
        where: Mapping[str, object] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots each group's share of the bytes that all receiving applications got, against a swept key.

        A point is the mean over seeds with its 95 % confidence interval. If another key is swept, there is a line per
        value of that key.

        Args:
            x: The swept key; by default the first one.
            where: Values of swept keys, each one value or a list; other runs are excluded.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If the key is not swept.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.share("flows.cc").get_ylabel()
        'share of the goodput'
        """
        selection = Selection("share", self._results, None, None, None, where)
        return _against_key(selection, "group_share", x, "share of the goodput", ax, backend)

    def metric(
        self,
        name: str,
        x: str | None = None,
        *,
        group: str | Sequence[str] | None = None,
        flow: int | None = None,
        link: str | None = None,
        where: Mapping[str, object] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots a column of `flows` or of `links` against a swept key.

        A point is the mean over seeds with its 95 % confidence interval, as in `groups`. If seeds change nothing, or
        with one seed, there is no interval. Metrics of flows and of groups have a line per group. If another key is
        swept, there is a line per value of that key.

        Args:
            name: The column.
            x: The swept key; by default the first one.
            group: The groups to draw. A metric of single flows is then the mean over the flows of a group, in each run.
            flow: The number of the flow to draw, instead of groups.
            link: The link to draw, for a column of `links`.
            where: Values of swept keys, each one value or a list; other runs are excluded.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If the key is not swept, the column does not exist or has no numbers, or several flows or links
                would be averaged.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.metric("rtt_ms_mean", "flows.cc").get_ylabel()
        'rtt_ms_mean'
        >>> rs.plot.metric("queue_delay_ms_p95", link="bottleneck", where={"flows.cc": "cubic"}).get_xlabel()
        'bottleneck.buffer'
        """
        selection = Selection("metric", self._results, group, flow, link, where)
        return _against_key(selection, name, x, selection.label(name), ax, backend)

    def cdf(
        self,
        name: str = "goodput_mbps",
        *,
        group: str | Sequence[str] | None = None,
        flow: int | None = None,
        link: str | None = None,
        where: Mapping[str, object] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots the distribution of a column of `flows` or of `links` over all runs.

        Metrics of flows and groups have a curve per group; metrics of runs and links have one curve.

        Args:
            name: The column.
            group: The groups to draw.
            flow: The number of the only flow to draw.
            link: The link to draw, for a column of `links`.
            where: Values of swept keys, each one value or a list; other runs are excluded.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If the column does not exist or has no numbers.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.cdf("rtt_ms_mean").get_xlabel()
        'rtt_ms_mean'
        """
        selection = Selection("cdf", self._results, group, flow, link, where)
        samples = [_Sample(line, values) for line, values in selection.samples(name)]
        return _cdf(selection.label(name), "samples", samples, ax, backend)

    def heatmap(
        self,
        name: str = "goodput_mbps",
        x: str | None = None,
        y: str | None = None,
        *,
        group: str | Sequence[str] | None = None,
        flow: int | None = None,
        link: str | None = None,
        where: Mapping[str, object] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots the mean over seeds of a column of `flows` or of `links` against two swept keys.

        Args:
            name: The column.
            x: The swept key of the horizontal axis; by default the first one.
            y: The swept key of the vertical axis; by default the second one.
            group: The group to draw. A metric of single flows is then the mean over its flows, in each run.
            flow: The number of the flow to draw.
            link: The link to draw, for a column of `links`.
            where: Values of swept keys, each one value or a list; other runs are excluded.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If fewer than two keys are swept, the column does not exist or has no numbers, or a cell would
                average several groups, flows, links or values of a third key. The message names them and states how to
                choose.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> axis = rs.plot.heatmap("rtt_ms_mean")
        >>> axis.get_xlabel(), axis.get_ylabel()
        ('bottleneck.buffer', 'flows.cc')
        """
        _check_backend(backend)
        selection = Selection("heatmap", self._results, group, flow, link, where)
        x_key, x_labels, x_places = selection.swept(x)
        rest = [key for key in selection.keys if key != x_key]
        if y is None and not rest:
            raise UsageError(f"heatmap: expected two swept keys, found {len(selection.keys)}; sweep another one")
        y_key, y_labels, y_places = selection.swept(y if y is not None else rest[0])
        if y_key == x_key:
            raise UsageError(f"heatmap: expected two swept keys, found {x_key!r} twice")
        means = selection.means(selection.single(name, x_key, y_key))
        if not len(means.run):
            raise UsageError(f"heatmap: expected values of {name}, found none")
        mean = np.full((len(y_labels), len(x_labels)), np.nan)
        mean[y_places[means.run], x_places[means.run]] = means.mean
        if backend == "altair":
            return _altair_heatmap(x_key, x_labels, y_key, y_labels, selection.label(name), mean)
        (axis,) = _axes(1, ax)
        image = axis.imshow(mean, origin="lower", aspect="auto", cmap="viridis")
        axis.set_xticks(range(len(x_labels)), x_labels)
        axis.set_yticks(range(len(y_labels)), y_labels)
        axis.set(xlabel=x_key, ylabel=y_key)
        middle = (np.nanmin(mean) + np.nanmax(mean)) / 2
        for (row, column), value in np.ndenumerate(mean):
            if not np.isnan(value):
                ink = "white" if value < middle else "black"
                axis.text(column, row, f"{value:.3g}", ha="center", va="center", color=ink, fontsize="small")
        axis.figure.colorbar(image, ax=axis, label=selection.label(name))
        return axis


def _against_key(selection: Selection, name: str, x: str | None, label: str, ax: Any, backend: Backend) -> Any:
    """Plots the lines of a metric against a swept key."""
    _check_backend(backend)
    key, labels, places = selection.swept(x)
    lines = []
    for line in selection.lines(name):
        means = selection.means(line)
        for words, runs in selection.by_other_keys(line, key):
            mine = runs[means.run]
            columns = []
            for ends in (means.mean, means.low, means.high):
                column = np.full(len(labels), np.nan)
                column[places[means.run[mine]]] = ends[mine]
                columns.append(column)
            lines.append(_Line(words or label, np.arange(len(labels)), *columns))
    if all(np.isnan(line.y).all() for line in lines):
        raise UsageError(f"{selection.what}: expected values of {name}, found none")
    return _against(key, labels, label, lines, ax, backend)


def _windowed(lines: list[_Line]) -> list[_Line]:
    """Returns means over time windows, which are equal for all lines."""
    end = max((float(line.x[-1]) for line in lines if len(line.x)), default=0.0)

    def windowed(line: _Line) -> _Line:
        known = ~np.isnan(line.y)
        if len(line.x) <= WINDOWS or not known.any():
            return line
        x, y = line.x[known], line.y[known]
        window = np.minimum((x / end * WINDOWS).astype(np.intp), WINDOWS - 1)
        n = np.bincount(window, minlength=WINDOWS)
        total = np.bincount(window, weights=y, minlength=WINDOWS)
        mids = (np.arange(WINDOWS) + 0.5) * end / WINDOWS
        return line._replace(x=mids[n > 0], y=total[n > 0] / n[n > 0])

    return [windowed(line) for line in lines]


def _check_backend(backend: str) -> None:
    if backend not in _BACKENDS:
        raise UsageError(f"backend: expected {' or '.join(_BACKENDS)}, found {backend!r}")


def _cdf(label: str, counted: str, samples: list[_Sample], ax: Any, backend: Backend) -> Any:
    _check_backend(backend)
    lines = []
    for name, values, counts, without in samples:
        known = ~np.isnan(values)
        order = np.argsort(values[known], kind="stable")
        upto = np.cumsum(np.ones(len(order)) if counts is None else counts[known][order])
        if len(order):
            lines.append(_Line(name, values[known][order], upto / (upto[-1] + without)))
    if not lines:
        raise UsageError(f"expected samples of {label}, found none")
    what = f"share of {counted}"
    if backend == "altair":
        return _altair(label, [(what, lines)], step=True)
    (axis,) = _axes(1, ax)
    for line, colour in zip(lines, _colours(len(lines)), strict=True):
        axis.step(line.x, line.y, where="post", color=colour, label=line.name)
    axis.set(xlabel=label, ylabel=what, ylim=(0, 1))
    _legend(axis, lines)
    return axis


def _against(key: str, labels: list[str], what: str, lines: list[_Line], ax: Any, backend: Backend) -> Any:
    _check_backend(backend)
    if backend == "altair":
        return _altair(key, [(what, lines)], step=False, labels=labels)
    (axis,) = _axes(1, ax)
    for line, colour in zip(lines, _colours(len(lines)), strict=True):
        axis.errorbar(line.x, line.y, yerr=_reach(line), color=colour, marker="o", capsize=3, label=line.name)
    axis.set_xticks(range(len(labels)), labels)
    axis.set(xlabel=key, ylabel=what)
    _legend(axis, lines)
    return axis


def _reach(line: _Line) -> npt.NDArray[Any] | None:
    """Returns the distances from a line's points to the ends of their intervals; None without intervals."""
    if line.low is None or line.high is None or np.isnan(line.low).all():
        return None
    return np.array([line.y - line.low, line.high - line.y])


def _lines(axis: Any, lines: list[_Line]) -> None:
    for line, colour in zip(lines, _colours(len(lines)), strict=True):
        axis.plot(line.x, line.y, color=colour, linewidth=1.2, label=line.name)
    # Axes that share their scale must keep growing with later lines.
    axis.set_ylim(bottom=0, auto=None)


def _legend(axis: Any, lines: list[_Line]) -> None:
    if 1 < len(lines) <= 16:
        axis.legend(fontsize="small", loc="best")


def _colours(count: int) -> list[str]:
    return [PALETTE[n % len(PALETTE)] for n in range(count)]


def _axes(count: int, given: Any) -> npt.NDArray[Any]:
    """Returns the given axes, or new ones below each other with a shared x axis."""
    if given is None:
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(
            count, 1, sharex=True, squeeze=False, figsize=(7, 1.2 + 2.2 * count), layout="constrained"
        )
        given = axes[:, 0]
    axes = np.atleast_1d(np.asarray(given, dtype=object)).ravel()
    if len(axes) != count:
        raise UsageError(f"expected {count} axes, found {len(axes)}")
    return axes


def _altair(
    x: str, panels: list[tuple[str, list[_Line]]], *, step: bool, labels: list[str] | None = None
) -> Any:
    import altair
    import pandas

    charts = []
    for label, lines in panels:
        rows = pandas.concat(
            pandas.DataFrame(
                {"x": [labels[n] for n in line.x] if labels else line.x, "y": line.y, "of": line.name}
            )
            for line in lines
        )
        # The name of a swept key has dots, which Altair interprets as parts of a field.
        x_axis = altair.X("x:O", sort=labels, title=x) if labels else altair.X("x:Q", title=x)
        encoding = altair.Chart(rows, width=480, height=160).encode(
            x=x_axis,
            y=altair.Y("y:Q", title=label),
            color=altair.Color("of:N", scale=altair.Scale(range=list(PALETTE)), title=None),
        )
        charts.append(encoding.mark_line(interpolate="step-after" if step else "linear", point=bool(labels)))
    return charts[0] if len(charts) == 1 else altair.vconcat(*charts)


def _altair_heatmap(
    x: str, x_labels: list[str], y: str, y_labels: list[str], name: str, mean: npt.NDArray[Any]
) -> Any:
    import altair
    import pandas

    rows = pandas.DataFrame(
        [
            {"x": x_labels[column], "y": y_labels[row], "value": value}
            for (row, column), value in np.ndenumerate(mean)
        ]
    )
    return (
        altair.Chart(rows)
        .mark_rect()
        .encode(
            x=altair.X("x:O", sort=x_labels, title=x),
            y=altair.Y("y:O", sort=y_labels[::-1], title=y),
            color=altair.Color("value:Q", scale=altair.Scale(scheme="viridis"), title=name),
        )
    )
