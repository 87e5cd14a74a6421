"""Plots of results with matplotlib or Altair."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ._bbrlab import figures, headings, titles
from ._errors import Error, UsageError
from ._optional import optional
from ._palette import PALETTE
from ._select import Selection, SweptKey, keys_of, numbers, spelled
from ._table import meant

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._results import Result, Results

__all__ = ["Backend", "RunPlots", "SweepPlots"]

Backend = Literal["matplotlib", "altair"]

_BACKENDS = ("matplotlib", "altair")

Panel = Literal["throughput", "rtt", "cwnd", "inflight", "pacing", "queue"]


EMPTY_CELL = "#E8E8E8"
"""The colour of a heat map's cells without a value, as in the command line's plots."""

FAIR_SHARE = "#969696"
"""The colour of the line at a fair share, as in the command line's plots."""

LABEL_WIDTH = 5.5
"""The width of a character of an axis label in points (1/72 inch), on average, at matplotlib's default size."""


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


class _Dots(NamedTuple):
    """The dots of single runs: for each run, its position on the x axis and its value of the metric."""

    x: npt.NDArray[Any]
    y: npt.NDArray[Any]


class _Line(NamedTuple):
    """A line of a panel: its name, its points, and the ends of the points' intervals. An end is NaN if a point has no
    interval."""

    name: str
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    low: npt.NDArray[Any] | None = None
    high: npt.NDArray[Any] | None = None
    dots: _Dots | None = None
    colour: str = PALETTE[0]
    style: int = 0
    """The index of the line's dashes in `DASHES`."""
    mark: int = 0
    """The index of the line's marker in `MARKERS`."""


class _Look(NamedTuple):
    """The user's choices for a plot."""

    ax: Any = None
    backend: str = "matplotlib"
    title: str = ""
    legend: bool | str = True
    labels: Mapping[str, str] | None = None
    is_own_title: bool = False
    """Whether the user gave the title. The user's title is not changed, and is also set on axes that the user gave."""

    def text(self, name: str) -> str:
        """Returns the user's text for a name, which may be a key and its value joined by `=`. If the text of the key is
        empty, only the text of the value is returned."""
        labels = self.labels or {}
        key, equals, value = name.partition("=")
        if name in labels or not equals:
            return labels.get(name, name)
        key, value = labels.get(key, key), " or ".join(labels.get(one, one) for one in value.split(" or "))
        return f"{key}={value}" if key else value

    def texts(self, words: str) -> str:
        """Returns the user's text for a list of names, such as the list "a, b". If the user has given texts, but none
        for the whole list, returns the text of each name, separated by commas."""
        if self.labels and words not in self.labels:
            return ", ".join(self.text(word) for word in words.split(", "))
        return self.text(words)


Legend = bool | str
"""Whether a plot has a legend: to the right of the axes for True, above them for "top", within them for a place of
matplotlib such as "best"."""

PLACES = (
    "top", "best", "upper right", "upper left", "lower left", "lower right", "right", "center left", "center right",
    "lower center", "upper center", "center",
)  # fmt: skip
"""The places of a legend: above the axes, and matplotlib's places within them."""

RUN_AXES = (
    "time, s", "share of the throughput, %", "completion time, ms", "RTT, ms", "queue delay, ms", "one-way delay, ms",
    "queue delay over the path, ms", "share of transfers", "share of RTT samples", "share of packets", "share of messages",
    "share of samples",
)  # fmt: skip
"""The titles of axes in plots of a run, except those of `_PANELS`."""

MARGIN = 0.06
"""The distance from the last value of an axis to the end of the axis, as a share of the distance between first and
last."""

SHIFT = 2.5
"""The largest distance, in points (1/72 inch), by which the markers of two neighbouring lines are shifted apart if they
are at the same number on the x axis."""

SHIFTS_MAX = 16
"""The largest distance, in points (1/72 inch), by which the markers of the first and the last line are shifted apart if
they are at the same number on the x axis."""

DOTS_BESIDE = 4.5
"""The distance in points (1/72 inch) from the bar of a confidence interval to the dots of the runs from which it is
computed."""

LINES_WITH_DOTS_BESIDE = 4
"""The largest number of lines with which a panel has the dots of runs to the right of the confidence intervals, as in
the command line's plots. With more lines, the dots are on the intervals."""

LEGEND_ROWS = 2
"""The largest number of rows for which a legend above the axes keeps its letter size and its left end. If a legend
needs more rows, its letters become smaller or its left end moves left."""

TITLE_GAP = 8
"""The distance in points (1/72 inch) from the axes, or from the titles of several panels, to a legend above them.

Exception: with one panel, a legend that begins at the left end of the axes touches them."""

DASHES: tuple[Literal["-", "--", ":", "-."], ...] = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

LOG_RATIO = 8
"""An axis with three values or more is logarithmic if its largest value is at least this many times its smallest."""

TICKS_MAX = 12

DECIMALS = 2
"""Number of decimals of metrics that no table of the command line shows."""

LINES_NAMED = 16

ROWS_ALTAIR = 5000
"""Maximum number of rows that Altair draws."""


class _Sample(NamedTuple):
    """Values of a distribution, their counts (None: each counts once), and the number of samples without a value."""

    name: str
    values: npt.NDArray[Any]
    counts: npt.NDArray[Any] | None = None
    without: int = 0


_DISTRIBUTIONS = ("rtt", "queue", "throughput", "fct", "delay", "path_queue_delay")

WINDOWS = 250
"""Maximum number of time windows over which rates are averaged, as in the command line's plots. Over a single sampling
period of 10 ms, a rate would jump with every packet."""


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
        group: str | Sequence[str] | None = None,
        title: str | None = None,
        legend: Legend = True,
        labels: Mapping[str, str] | None = None,
        axes: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots the flows over time, one panel below the other.

        Args:
            panels: Any of `throughput`, `rtt`, `cwnd`, `inflight`, `pacing` and `queue`.
            group: The groups of flows to draw; by default all.
            title: The title; by default, a new figure has the scenario's title. An empty text omits the title.
            legend: Whether to draw a legend, or its place: "top", or a place in the axes such as "best". With a single
                line, or with more than 16, no legend is drawn. Altair ignores this argument.
            labels: A dict from names of flows, links and axes to the texts that the plot shows in their place.
            axes: The axes to draw on, one per panel, instead of new ones.
            backend: `matplotlib`, or `altair`.

        Returns:
            An array of axes of shape (panels,); with `backend="altair"`, an Altair chart.

        Raises:
            UsageError: If a panel does not exist, nothing was sampled, or the numbers of axes and panels differ.

        >>> import bbrlab as bl
        >>> r = bl.run("examples.two-bbr", {"sweep": {}, "repeat": 1, "duration": "5s"})
        >>> [axis.get_ylabel() for axis in r.plot.timeline(["throughput", "queue"])]
        ['throughput, Mbit/s', 'queue, packets']
        """
        _check_backend(backend)
        look = self._look(axes, backend, title, legend, labels)
        drawn = []
        for panel in panels:
            if panel not in _PANELS:
                raise UsageError(f"timeline: expected panels among {', '.join(_PANELS)}, found {panel!r}")
            column = _PANELS[panel]
            lines = self._queues(column) if panel == "queue" else self._flows(column, self._chosen(group))
            if not lines:
                raise UsageError(f"timeline: expected samples of {column.label}, found none: see the scenario's `sample`")
            if panel == "throughput":
                lines = _windowed(lines)
            lines = [line._replace(name=look.text(line.name)) for line in _coloured(lines)]
            drawn.append((look.text(column.label), lines))
        if not drawn:
            raise UsageError(f"timeline: expected panels among {', '.join(_PANELS)}, found none")
        if backend == "altair":
            return _altair("time, s", drawn, look, step=False)
        axes = _axes(len(drawn), look)
        for axis, (label, lines) in zip(axes, drawn, strict=True):
            _lines(axis, lines)
            axis.set_ylabel(label)
        axes[-1].set_xlabel(look.text("time, s"))
        _legend(axes[0], drawn[0][1], legend)
        return axes

    def share(
        self,
        *,
        title: str | None = None,
        legend: Legend = True,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots each flow's share of the throughput of all flows over time.

        Returns:
            The axes; with `backend="altair"`, an Altair chart.

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
        shares = np.divide(100 * rates, whole, out=np.zeros_like(rates), where=whole > 0)
        look = self._look(ax, backend, title, legend, labels)
        drawn = _coloured([_Line(look.text(line.name), times, share) for line, share in zip(lines, shares, strict=True)])
        what = look.text("share of the throughput, %")
        if backend == "altair":
            return _altair("time, s", [(what, drawn)], look, step=False)
        (axis,) = _axes(1, look)
        axis.stackplot(times, shares, colors=_colours(len(lines)))
        axis.set(xlabel=look.text("time, s"), ylabel=what, ylim=(0, 100), xlim=(0, times[-1]))
        _legend(axis, drawn, legend)
        return axis

    def cdf(
        self,
        what: Literal["rtt", "queue", "throughput", "fct", "delay", "path_queue_delay"] = "rtt",
        *,
        title: str | None = None,
        legend: Legend = True,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots a distribution of the run.

        The curves of `rtt` are over the RTT samples of each flow, and the curves of `throughput` over the rows of each
        flow in `series`. The curves of `queue` are over the packets that left the queue of each shared link. The curves
        of `fct` are over the transfers of each group. The curves of `delay` are over the messages of each group whose
        flows send datagrams or have `latency` or `late`. The curves of `path_queue_delay` are over the packets of each
        group whose flows have `latency`.

        RTTs and queue delays come from the table `delays`, so a percentile read off a curve equals the percentile in
        `summary`. If flows have no rows in `series`, `rtt` has a curve per group. A transfer that never ended is a
        sample without a value, so the curve of its group stays below 1.

        Returns:
            The axes; with `backend="altair"`, an Altair chart.

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
        look = self._look(ax, backend, title, legend, labels)
        if what == "fct":
            return _cdf("completion time, ms", "transfers", self._completion_times(), look)
        if what == "rtt":
            return _cdf("RTT, ms", "RTT samples", self._rtts(), look)
        if what == "queue":
            return _cdf("queue delay, ms", "packets", self._queue_delays(), look)
        if what == "delay":
            return _cdf("one-way delay, ms", "messages", self._group_delays("delay_ms"), look)
        if what == "path_queue_delay":
            samples = self._group_delays("path_queue_delay_ms")
            return _cdf("queue delay over the path, ms", "packets", samples, look)
        column = _PANELS["throughput"]
        samples = [_Sample(line.name, line.y) for line in self._flows(column)]
        return _cdf(column.label, "samples", samples, look)

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

    def _group_delays(self, metric: str) -> list[_Sample]:
        groups = self._result.summary["flow_groups"]
        samples = self._delays(f"flow_groups.{metric}", {at: str(group["group"]) for at, group in enumerate(groups)})
        if not samples and any(group[metric]["mean"] is not None for group in groups):
            raise self._without_delays()
        return samples

    def _queue_delays(self) -> list[_Sample]:
        links = self._result.summary["links"]
        # Leave out the private links of single flows. The name of a private link ends with the number of its flow in
        # brackets, such as `left[3]`. Names in scenarios cannot contain brackets.
        shared = {index: link for index, link in enumerate(links) if not link["name"].endswith("]")}
        samples = self._delays("links.queue_delay_ms", {index: link["name"] for index, link in shared.items()})
        if not samples and any(link["queue_delay_ms"]["mean"] is not None for link in shared.values()):
            raise self._without_delays()
        return samples

    def _delays(self, metric: str, names: Mapping[int, str]) -> list[_Sample]:
        """Returns the distribution of a metric for each of the named links, groups or flows that has a histogram of
        this metric."""
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

    def _look(
        self, ax: Any, backend: str, title: str | None, legend: Legend, labels: Mapping[str, str] | None
    ) -> _Look:
        """Returns the user's choices for a plot. The title of a new figure is the scenario's by default."""
        of_figure = self._result.scenario.title if title is None else title
        _check_backend(backend)
        _check_legend(legend)
        if labels is not None:
            names = [*self._names().values(), *self._result.flows["group"].tolist(), *self._result.links["link_name"].tolist()]
            _check_labels(labels, [*names, *RUN_AXES, *(column.label for column in _PANELS.values())], {})
        return _Look(ax, backend, of_figure, legend, labels, title is not None)

    def _chosen(self, group: str | Sequence[str] | None) -> set[int] | None:
        """Returns the numbers of the flows in the groups `group`; None, which stands for all flows, if `group` is
        None."""
        if group is None:
            return None
        flows = self._result.flows
        wanted = [group] if isinstance(group, str) else list(group)
        known = dict.fromkeys(flows["group"].tolist())
        for one in wanted:
            if one not in known:
                raise UsageError(f"timeline: expected a group among {', '.join(known)}, found {one!r}")
        return {flow for flow, of in zip(flows["flow"].tolist(), flows["group"], strict=True) if of in wanted}

    def _flows(self, column: _Column, chosen: set[int] | None = None) -> list[_Line]:
        """Returns a line per sampled flow of the chosen flows; None chooses all."""
        series = self._result.series
        times, of, values = series["time_s"], series["flow"], series[column.name] * column.scale
        names = {flow: name for flow, name in self._names().items() if chosen is None or flow in chosen}
        lines = [_Line(name, times[of == flow], values[of == flow]) for flow, name in names.items()]
        return [line for line in lines if len(line.x)]

    def _queues(self, column: _Column) -> list[_Line]:
        queue, names = self._result.queue, self._result.links["link_name"]
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
        hue: str | None = None,
        col: str | None = None,
        group: str | Sequence[str] | None = None,
        flow: int | None = None,
        where: Mapping[str, object] | None = None,
        seeds: bool = True,
        title: str | None = None,
        legend: Legend = True,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots each group's share of the bytes that all receiving applications got, against a swept key.

        `metric("group_share", ...)` draws the same plot and has the same arguments. With `flow`, the plot shows the
        share of the flow's group.

        Returns:
            The axes; with `col`, an array of axes; with `backend="altair"`, an Altair chart.

        Raises:
            UsageError: If the key is not swept.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.share("flows.cc").get_ylabel()
        'Share of the goodput, %'
        """
        selection = Selection("share", self._results, group, flow, None, where)
        look = self._look(ax, backend, title, legend, labels)
        return _against_key(selection, "group_share", x, hue, col, seeds, look)

    def metric(
        self,
        name: str,
        x: str | None = None,
        *,
        hue: str | None = None,
        col: str | None = None,
        group: str | Sequence[str] | None = None,
        flow: int | None = None,
        link: str | None = None,
        where: Mapping[str, object] | None = None,
        seeds: bool = True,
        title: str | None = None,
        legend: Legend = True,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots a column of `flows`, `runs` or `links` against a swept key.

        A plotted point is the mean over seeds with its 95 % confidence interval, as in `points`. If seeds change
        nothing, or with one seed, there is no interval. Metrics of flows and of groups have a line per group. If
        another key is swept, there is a line per value of that key. If the values of the key `x` are quantities, the
        x axis has numbers. The x axis is logarithmic if there are three values or more and they span a factor of 8 or
        more.

        Args:
            name: The column.
            x: The swept key; by default the first one.
            hue: What colours show: `group`, or a swept key. Lines of one colour can differ in other swept keys or in
                the group. Dashes and marks together show these differences. By default, each line has its own colour.
            col: A swept key with a panel for each of its values.
            group: The groups to draw, by their names in the column `group` of the results' table `flows`, or by the
                names in the printed table, such as `flows[0]`. With `group`, a metric of single flows is the mean over
                the flows of a group, in each run.
            flow: The number of the flow to draw, instead of groups.
            link: The link to draw, if `name` is a column of `links`.
            where: Swept keys, each with one value or a list of values; runs with other values are excluded.
            seeds: Whether to draw a dot for each run, on lines with several seeds. Altair draws no dots.
            title: The title; by default, a new figure has the scenario's title, followed by the chosen groups, flow,
                link and values. An empty text omits the title.
            legend: Whether to draw a legend, or its place: "top", or a place in the axes such as "best". With a single
                line, or with more than 16, no legend is drawn. Altair ignores this argument.
            labels: A dict from names of groups, keys, values and metrics to the texts that the plot shows in their
                place. A key whose text is empty is not named in the legend.
            ax: The axes to draw on; with `col`, one per panel.
            backend: `matplotlib`, or `altair`.

        Returns:
            The axes; with `col`, an array of axes; with `backend="altair"`, an Altair chart.

        Raises:
            UsageError: If the key is not swept, the column does not exist or has no numbers, or several flows or links
                would be averaged.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.metric("rtt_ms_mean", "flows.cc").get_ylabel()
        'Mean RTT per flow, ms'
        >>> rs.plot.metric("link_queue_delay_ms_p95", link="bottleneck", where={"flows.cc": "cubic"}).get_xlabel()
        'bottleneck.buffer, BDP'
        """
        selection = Selection("metric", self._results, group, flow, link, where)
        return _against_key(selection, name, x, hue, col, seeds, self._look(ax, backend, title, legend, labels))

    def cdf(
        self,
        name: str = "goodput_mbps",
        *,
        group: str | Sequence[str] | None = None,
        flow: int | None = None,
        link: str | None = None,
        where: Mapping[str, object] | None = None,
        title: str | None = None,
        legend: Legend = True,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots the distribution of a column of `flows`, `runs` or `links` over all runs.

        Metrics of flows and groups have a curve per group; metrics of runs and links have one curve.

        Args:
            name: The column.
            group: The groups to draw.
            flow: The number of the only flow to draw.
            link: The link to draw, if `name` is a column of `links`.
            where: Swept keys, each with one value or a list of values; runs with other values are excluded.
            title: The title; by default, a new figure has the scenario's title. An empty text omits the title.
            legend: Whether to draw a legend, or its place: "top", or a place in the axes such as "best". With a single
                line, or with more than 16, no legend is drawn. Altair ignores this argument.
            labels: A dict from names of groups and metrics to the texts that the plot shows in their place.
            ax: The axes to draw on.
            backend: `matplotlib`, or `altair`.

        Returns:
            The axes; with `backend="altair"`, an Altair chart.

        Raises:
            UsageError: If the column does not exist or has no numbers.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.cdf("rtt_ms_mean").get_xlabel()
        'Mean RTT per flow, ms'
        """
        selection = Selection("cdf", self._results, group, flow, link, where)
        scale = _scale(name)
        samples = [_Sample(line, scale * values) for line, values in selection.samples(name)]
        look = self._look(ax, backend, title, legend, labels)
        return _cdf(_axis_title(name, selection, look), "samples", samples, look)

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
        intervals: bool = False,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Plots the mean over seeds of a column of `flows`, `runs` or `links` against two swept keys.

        A cell without a value is grey. A value can be missing because the sweep point has no run or because the run has
        no value of the metric. A value is also missing if two groups of flows have equal names at this point. Groups
        with equal names are one group, so the point has fewer groups than other points. A metric of runs, of links, or
        of a single flow chosen by `flow` has a value even at a point with equal names.

        Args:
            name: The column.
            x: The swept key of the horizontal axis; by default the first one.
            y: The swept key of the vertical axis; by default the first one that is not `x`.
            group: The group to draw. With `group`, a metric of single flows is the mean over the group's flows, in
                each run.
            flow: The number of the flow to draw.
            link: The link to draw, if `name` is a column of `links`.
            where: Swept keys, each with one value or a list of values; runs with other values are excluded.
            intervals: Whether to write half the width of the 95 % confidence interval below each mean. Altair writes
                neither means nor intervals.
            title: The title; by default, a new figure has the scenario's title. An empty text omits the title.
            labels: A dict from names of keys, values and metrics to the texts that the plot shows in their place.
            ax: The axes to draw on.
            backend: `matplotlib`, or `altair`.

        Returns:
            The axes; with `backend="altair"`, an Altair chart.

        Raises:
            UsageError: If fewer than two keys are swept, the column does not exist or has no numbers, or a cell would
                average several groups, flows, links or values of a third key. The message names these groups, flows,
                links or values, and states how to choose one.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> axis = rs.plot.heatmap("rtt_ms_mean")
        >>> axis.get_xlabel(), axis.get_ylabel()
        ('bottleneck.buffer, BDP', 'flows.cc')
        """
        _check_backend(backend)
        selection = Selection("heatmap", self._results, group, flow, link, where)
        across = selection.swept(x)
        rest = [key for key in selection.keys if key != across.key]
        if y is None and not rest:
            raise UsageError(f"heatmap: expected two swept keys, found {len(selection.keys)}; sweep another one")
        up = selection.swept(y if y is not None else rest[0])
        if up.key == across.key:
            raise UsageError(f"heatmap: expected two swept keys, found {across.key!r} twice")
        means = selection.means(selection.single(name, across.key, up.key))
        if not len(means.run):
            where_apart = " at the points where the groups of flows have different names" if selection.joined().any() else ""
            raise UsageError(f"heatmap: expected values of {name}, found none{where_apart}")
        scale = _scale(name)
        mean, half = np.full((2, len(up.labels), len(across.labels)), np.nan)
        cells = up.places[means.run], across.places[means.run]
        mean[cells], half[cells] = scale * means.mean, scale * (means.high - means.low) / 2
        look = self._look(ax, backend, title, True, labels)
        label = _axis_title(name, selection, look)
        x_labels, y_labels = (_ticks(key, look) for key in (across, up))
        x_title, y_title = (_key_title(key, look) for key in (across, up))
        if backend == "altair":
            return _altair_heatmap(look, x_title, x_labels, y_title, y_labels, label, mean)
        (axis,) = _axes(1, look)
        ends = {"vmin": 0, "vmax": 100} if name == "group_share" else {}
        image = axis.imshow(mean, origin="lower", aspect="auto", cmap="viridis", **ends)
        axis.set_xticks(range(len(x_labels)), x_labels)
        axis.set_yticks(range(len(y_labels)), y_labels)
        axis.set(xlabel=x_title, ylabel=y_title, facecolor=EMPTY_CELL)
        low, high = image.get_clim()
        decimals = next((decimals for metric, _, decimals in headings() if metric == name), DECIMALS)
        for (row, column), value in np.ndenumerate(mean):
            if not np.isnan(value):
                ink = "white" if value < (low + high) / 2 else "black"
                reach = half[row, column]
                text = f"{value:.{decimals}f}" + (f"\n±{reach:.{decimals}f}" if intervals and not np.isnan(reach) else "")
                axis.text(column, row, text, ha="center", va="center", color=ink, fontsize="small")
        axis.figure.colorbar(image, ax=axis, label=_broken(label, axis))
        return axis

    def _look(
        self, ax: Any, backend: str, title: str | None, legend: Legend, labels: Mapping[str, str] | None
    ) -> _Look:
        """Returns the user's choices for a plot. The title of a new figure is the scenario's by default."""
        _check_backend(backend)
        _check_legend(legend)
        if labels is not None:
            flows, links = self._results.flows, self._results.links
            values = {key: list(map(spelled, flows[key].tolist())) for key in keys_of(self._results)}
            # If a group of flows is named after a swept value, printed tables use the name of its `[[flows]]` table in
            # the scenario file instead: `flows[0]`, `flows[1]`.
            tables = [key.rpartition(".")[0] for key in values if key.startswith("flows[")]
            names = [*flows["group"].tolist(), *tables, *(f"flow {flow}" for flow in flows["flow"].tolist()), *links["link_name"].tolist()]
            _check_labels(labels, [*names, *(metric for metric, *_ in titles()), "share of samples"], values)
        return _Look(ax, backend, self._of_scenario() if title is None else title, legend, labels, title is not None)

    def _of_scenario(self) -> str:
        try:
            return self._results.scenario.title
        except Error:
            # The folder of an earlier version may contain a scenario that this version rejects.
            return ""


def _broken(label: str, axis: Any) -> str:
    """Returns the label of a vertical axis with line breaks between words, so that no line is much longer than the axes
    are high. Line breaks of the label are kept. A label with `$` gets no line breaks, because it can contain a
    formula."""
    if "$" in label:
        return label
    height_points = 72 * axis.figure.get_size_inches()[1] * axis.get_position().height
    width = max(int(height_points / LABEL_WIDTH), 8)
    return "\n".join(textwrap.fill(line, width, break_long_words=False) for line in label.split("\n"))


def _key_title(key: SweptKey, look: _Look) -> str:
    """Returns the title of a swept key's axis: the user's text without any addition, or the key with its unit."""
    if key.key in (look.labels or {}) or not key.unit:
        return look.text(key.key)
    return f"{key.key}, {key.unit}"


def _scale(name: str) -> float:
    """Returns the factor by which plots multiply a metric: 100 for a share, which is drawn in per cent."""
    return 100.0 if any(metric == name and unit == "share" for metric, _, unit, *_ in figures()) else 1.0


def _axis_title(name: str, selection: Selection, look: _Look, *, with_choice: bool = True) -> str:
    """Returns the title of a metric's axis: the user's text for the name, without any addition, or the words and the
    unit that plots of the command line have. With `with_choice`, the chosen groups, links and values are between these
    words and the unit."""
    labels, choice = look.labels or {}, selection.choice if with_choice else []
    whole = selection.label(name) if with_choice else name
    if whole in labels or name in labels:
        return labels[whole] if whole in labels else labels[name]
    title, unit = next(((title, unit) for column, title, unit in titles() if column == name), (name, ""))
    if selection.has_flow:
        title = title.replace(" per flow", "")
    return ", ".join(filter(None, [title, *map(look.text, choice), unit]))


def _against_key(
    selection: Selection, name: str, x: str | None, hue: str | None, col: str | None, seeds: bool, look: _Look
) -> Any:
    """Plots the lines of a metric against a swept key."""
    _check_backend(look.backend)
    across = selection.swept(x)
    for argument, key in (("hue", hue), ("col", col)):
        known = [key for key in (*(("group",) if argument == "hue" else ()), *selection.keys) if key != across.key]
        if key is not None and key not in known:
            raise UsageError(f"{selection.what}: {argument}: expected one of {', '.join(known) or 'no other key'}, found {key!r}")
    if col is not None and col == hue:
        raise UsageError(f"{selection.what}: expected different keys for hue and col, found {col!r} for both")
    scale = _scale(name)
    label = selection.label(name)
    panels = [("", np.ones(len(selection.runs), np.bool_))]
    if col is not None:
        of_col = selection.swept(col)
        panels = [
            (f"{look.text(col)} = {look.text(value)}", of_col.places == place) for place, value in enumerate(of_col.labels)
        ]
    at = np.arange(len(across.labels)) if across.values is None else across.values
    drawn: list[tuple[str, list[_Line]]] = []
    fair: list[list[_Line]] = []
    fair_shares = selection.fair_shares() if name == "group_share" else []
    colours: dict[str, int] = {}
    styles: dict[str, int] = {}
    apart = [across.key, *([col] if col is not None else [])]
    of_lines = [(line, selection.means(line), selection.parts(line, apart, hue)) for line in selection.lines(name)]
    dashed = _beside(hue, [part.traits for *_, parts in of_lines for part in parts])
    for panel, runs_of_panel in panels:
        lines = []
        for line, means, parts in of_lines:
            for part in parts:
                runs = part.runs & runs_of_panel
                mine = runs[means.run]
                columns = []
                for ends in (means.mean, means.low, means.high):
                    column = np.full(len(at), np.nan)
                    column[across.places[means.run[mine]]] = scale * ends[mine]
                    columns.append(column)
                if np.isnan(columns[0]).all():
                    continue
                # Without `hue`, every line has its own colour.
                shown = part.name if hue is None else part.traits[hue]
                rest = ", ".join(part.traits.get(trait, "") for trait in dashed)
                colour = colours.setdefault(shown, len(colours))
                style = styles.setdefault(rest, len(styles)) if hue is not None else colour // len(PALETTE)
                # Lines of the same colour have different marks. Without `hue`, lines of different colours also have
                # different marks, up to eight lines, so that marks distinguish these lines on paper without colours.
                mark = style if hue is not None else colour % len(PALETTE) + colour // len(PALETTE)
                dots = _Dots(at[across.places[runs]], scale * line.values[runs]) if seeds and _has_seeds(runs, across.places) else None
                mean, low, high = columns
                ink = PALETTE[colour % len(PALETTE)]
                lines.append(_Line(look.texts(part.name or label), at, mean, low, high, dots, ink, style, mark))
        if lines:
            drawn.append((panel, lines))
            fair.append(_fair_lines(fair_shares, runs_of_panel, across, at))
    if not drawn:
        raise UsageError(f"{selection.what}: expected values of {name}, found none")
    if selection.choice and not look.is_own_title:
        look = look._replace(title=": ".join(filter(None, [look.title, look.texts(", ".join(selection.choice))])))
    what = _axis_title(name, selection, look, with_choice=False)
    return _against(across, what, drawn, fair, name, col is not None, look)


def _fair_lines(
    shares: list[npt.NDArray[np.float64]], runs: npt.NDArray[np.bool_], across: SweptKey, at: npt.NDArray[Any]
) -> list[_Line]:
    """Returns a panel's lines at the fair shares of groups, with a single line for groups with equal shares. A share
    that is equal at all values of the axis is a line with one y value and without x values."""
    lines: list[_Line] = []
    for of_runs in shares:
        known = runs & ~np.isnan(of_runs)
        found = dict(zip(across.places[known].tolist(), 100 * of_runs[known], strict=True))
        values = np.array([found.get(place, np.nan) for place in range(len(at))])
        if not found:
            continue
        if len(set(found.values())) == 1:
            line = _Line("", at[:0], np.array([next(iter(found.values()))]))
        else:
            line = _Line("", at, values)
        if not any(len(line.x) == len(other.x) and np.array_equal(line.y, other.y, equal_nan=True) for other in lines):
            lines.append(line)
    return lines


def _draw_fair(axis: Any, lines: list[_Line], is_joined: bool) -> None:
    """Draws the fair shares of groups in grey: a line across the axes if the share is equal everywhere, otherwise a
    line through the share at each value of the axis. If the values of the axis are words, draws a short line at each
    word."""
    grey: dict[str, Any] = {"color": FAIR_SHARE, "linewidth": 0.8, "zorder": 0.5}
    for line in lines:
        if not len(line.x):
            axis.axhline(line.y[0], **grey)
        elif is_joined:
            axis.plot(line.x, line.y, **grey)
        else:
            axis.hlines(line.y, line.x - 0.4, line.x + 0.4, **grey)


def _beside(hue: str | None, traits: Sequence[Mapping[str, str]]) -> list[str]:
    """Returns the names of the traits, such as swept keys, that differ between lines of one colour; none without `hue`.
    Dashes and marks must show these traits."""
    if hue is None:
        return []
    pairs = {(trait, of[hue], value) for of in traits for trait, value in of.items()}
    several = {trait for trait, colour, _ in pairs if len({value for one, other, value in pairs if (one, other) == (trait, colour)}) > 1}
    return [trait for trait in dict.fromkeys(trait for of in traits for trait in of) if trait in several]


def _has_seeds(runs: npt.NDArray[np.bool_], places: npt.NDArray[np.intp]) -> bool:
    """Returns whether a line has several runs at some value of the axis."""
    return bool(np.bincount(places[runs], minlength=1).max() > 1)


def _windowed(lines: list[_Line]) -> list[_Line]:
    """Replaces the points of a line by their means over time windows, if the line has more than `WINDOWS` points. All
    lines of the plot have the same windows."""
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


def _check_legend(place: Legend) -> None:
    if not isinstance(place, bool) and place not in PLACES:
        raise UsageError(f"legend: expected True, False or one of {', '.join(PLACES)}, found {place!r}")


def _check_labels(labels: Mapping[str, str], names: Sequence[object], values: Mapping[str, Sequence[str]]) -> None:
    """Checks that `labels` has only texts, and only for names that plots of the results show.

    Args:
        labels: The user's texts.
        names: The names in plots of the results, except swept keys and their values.
        values: The values of the swept keys.

    Raises:
        TypeError: If `labels` is not a dict of texts.
        UsageError: If a name is unknown.
    """
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels: expected a dict of names with their texts, found {labels!r} of type {type(labels).__name__}")
    of_values = [value for of_key in values.values() for value in of_key]
    known = list(dict.fromkeys(str(name) for name in [*values, *of_values, *names] if name is not None))

    def is_known(name: str) -> bool:
        key, equals, value = name.partition("=")
        return name in known or (bool(equals) and all(one in values.get(key, ()) for one in value.split(" or ")))

    for name, text in labels.items():
        if not isinstance(text, str):
            raise TypeError(f"labels: expected a text for {name!r}, found {text!r} of type {type(text).__name__}")
        # A plot can show several names together, separated by commas.
        if not is_known(str(name)) and not all(map(is_known, str(name).split(", "))):
            raise UsageError(f"labels: expected a name of the results, found {name!r}; {meant(str(name), known)}")


def _cdf(label: str, counted: str, samples: list[_Sample], look: _Look) -> Any:
    _check_backend(look.backend)
    lines = []
    for (name, values, counts, without), colour in zip(samples, _colours(len(samples)), strict=True):
        known = ~np.isnan(values)
        order = np.argsort(values[known], kind="stable")
        upto = np.cumsum(np.ones(len(order)) if counts is None else counts[known][order])
        if len(order):
            lines.append(_Line(look.texts(name), values[known][order], upto / (upto[-1] + without), colour=colour))
    if not lines:
        raise UsageError(f"expected samples of {label}, found none")
    what, label = look.text(f"share of {counted}"), look.texts(label)
    if look.backend == "altair":
        return _altair(label, [(what, lines)], look, step=True)
    (axis,) = _axes(1, look)
    for line in lines:
        axis.step(line.x, line.y, where="post", color=line.colour, label=line.name)
    axis.set(xlabel=label, ylabel=what, ylim=(0, 1))
    _legend(axis, lines, look.legend)
    return axis


def _against(
    across: SweptKey,
    what: str,
    panels: list[tuple[str, list[_Line]]],
    fair: list[list[_Line]],
    name: str,
    is_several: bool,
    look: _Look,
) -> Any:
    key = _key_title(across, look)
    labels = [look.text(label) for label in across.labels]
    is_log = _is_log(across)
    if look.backend == "altair":
        drawn = [(f"{panel}: {what}" if panel else what, lines) for panel, lines in panels]
        return _altair(key, drawn, look, step=False, labels=labels if across.values is None else None, is_log=is_log)
    axes = _axes(len(panels), look, is_row=True)
    lowest = min(float(np.nanmin(line.y)) for _, lines in panels for line in lines)
    for axis, (panel, lines), fair_lines in zip(axes, panels, fair, strict=True):
        # If the values of the x axis are words, no line joins the points, because words have no order. Points of
        # several lines at the same word are drawn side by side. If the values are numbers, `_shifts` moves the points
        # of each line to the left or right, so that no error bar hides another one. Two neighbouring lines are moved
        # apart by less than the size of a marker.
        places = [0.0 if across.values is not None else 0.5 * ((at + 0.5) / len(lines) - 0.5) for at in range(len(lines))]
        if is_log:
            axis.set_xscale("log")
        earlier = axis.get_xlim() if axis.has_data() else ()
        _draw_fair(axis, fair_lines, across.values is not None)
        shifts = _shifts(axis, across, len(lines))
        for aside, shift, line in zip(places, shifts, lines, strict=True):
            axis.errorbar(
                line.x + aside, line.y, yerr=_reach(line), color=line.colour, marker=MARKERS[line.mark % len(MARKERS)],
                linestyle="none" if across.values is None else DASHES[line.style % len(DASHES)],
                markersize=4, linewidth=1.2, elinewidth=1.0, capsize=2.5, label=line.name, transform=_shifted(axis, shift),
            )  # fmt: skip
            if line.dots is not None:
                dots_x = line.dots.x + aside
                beside = _shifted(axis, shift + (DOTS_BESIDE if len(lines) <= LINES_WITH_DOTS_BESIDE else 0))
                axis.plot(
                    dots_x, line.dots.y, ".", color=line.colour, alpha=0.5, markersize=4, markeredgewidth=0, zorder=1, transform=beside,
                )  # fmt: skip
        if across.values is None:
            axis.set_xticks(range(len(labels)), labels)
            axis.set_xlim(-0.5, len(labels) - 0.5)
        else:
            if len(labels) <= TICKS_MAX:
                axis.set_xticks(across.values, _ticks(across, look))
                axis.minorticks_off()
            # Set the ends of the axis, because matplotlib would derive them from the shifted points.
            ends = [*_ends(across.values, is_log), *earlier]
            axis.set_xlim(min(ends), max(ends))
        if name == "group_share":
            axis.set_ylim(0, 100)
            _arrows(axis, lines, places, shifts, 100)
        elif lowest >= 0:
            axis.set_ylim(bottom=0)
            _arrows(axis, lines, places, shifts, np.inf)
        axis.set(xlabel=key)
        if panel:
            axis.set_title(panel, fontsize="medium")
    axes[0].set_ylabel(what)
    legend = [line for _, lines in panels for line in lines]
    _legend(axes[-1], list({line.name: line for line in legend}.values()), look.legend, is_joined=across.values is not None, panels=list(axes))
    return axes if is_several else axes[0]


def _ticks(key: SweptKey, look: _Look) -> list[str]:
    """Returns the labels of a key's values. Labels of quantities have no unit, because the title of the axis has the
    unit."""
    if key.values is None:
        return [look.text(label) for label in key.labels]
    both = zip(key.labels, key.values, strict=True)
    return [look.text(label if label in (look.labels or {}) else f"{value:.4g}") for label, value in both]


def _is_log(across: SweptKey) -> bool:
    """Returns whether the axis of a key is logarithmic: three values or more that span a large factor."""
    values = across.values
    return values is not None and len(values) > 2 and bool(values[0] > 0) and bool(values[-1] >= LOG_RATIO * values[0])


def _reach(line: _Line) -> npt.NDArray[Any] | None:
    """Returns the distances from a line's points to the ends of their intervals; None without intervals."""
    if line.low is None or line.high is None or np.isnan(line.low).all():
        return None
    return np.array([line.y - line.low, line.high - line.y])


def _ends(values: npt.NDArray[np.float64], is_log: bool) -> tuple[float, float]:
    """Returns the ends of an axis of numbers: its first and last value, with a margin of `MARGIN` times the distance
    between these values."""
    if values[0] == values[-1]:
        room = float(abs(values[0])) or 1.0
        return float(values[0] - room), float(values[0] + room)
    places = np.log(values) if is_log else values
    margin = MARGIN * np.ptp(places)
    ends = np.array([places[0] - margin, places[-1] + margin])
    low, high = np.exp(ends) if is_log else ends
    return float(low), float(high)


def _shifts(axis: Any, across: SweptKey, count: int) -> list[float]:
    """Returns the shifts of the lines along an axis of numbers, in points (1/72 inch). The shifts of all lines together
    take less space than the distance between two neighbouring values."""
    each = 0.0
    if across.values is not None:
        each = min(SHIFT, SHIFTS_MAX / count)
        if len(across.values) > 1:
            places = np.log(across.values) if axis.get_xscale() == "log" else across.values
            width = 72 * axis.get_window_extent().width / axis.figure.dpi
            each = min(each, 0.3 * width * float(np.diff(places).min() / np.ptp(places)) / (1 + 2 * MARGIN) / count)
    return [(at - (count - 1) / 2) * each for at in range(count)]


def _shifted(axis: Any, points: float) -> Any:
    """Returns the transform from an axis's data to the figure, shifted to the right by this number of points (1/72
    inch)."""
    from matplotlib.transforms import ScaledTranslation

    return axis.transData + ScaledTranslation(points / 72, 0, axis.figure.dpi_scale_trans)


def _arrows(axis: Any, lines: list[_Line], places: list[float], shifts: list[float], most: float) -> None:
    """Draws an arrow out of the axes for each interval that ends below 0 or above `most`, where the axes cut it."""
    # 11 and 10 are matplotlib's markers CARETDOWNBASE and CARETUPBASE. The arrow's base is on the edge of the axes, its
    # tip is outside.
    down, up = 11, 10
    for aside, shift, line in zip(places, shifts, lines, strict=True):
        if line.low is None or line.high is None:
            continue
        for end, marker, is_beyond in ((0.0, down, line.low < 0), (most, up, line.high > most)):
            if is_beyond.any():
                x = line.x[is_beyond] + aside
                axis.plot(
                    x, np.full(len(x), end), marker=marker, color=line.colour, linestyle="none", markersize=5, clip_on=False,
                    transform=_shifted(axis, shift),
                )  # fmt: skip


def _lines(axis: Any, lines: list[_Line]) -> None:
    for line in lines:
        axis.plot(line.x, line.y, color=line.colour, linewidth=1.2, label=line.name)
    # Fix only the lower end of the y axis: if axes share their scale, lines that are drawn later may raise the upper
    # end.
    axis.set_ylim(bottom=0, auto=None)


def _legend(axis: Any, lines: list[_Line], place: Legend, *, is_joined: bool = True, panels: Sequence[Any] = ()) -> None:
    """Draws a legend next to or in an axis, or above the panels of a row."""
    if not (1 < len(lines) <= LINES_NAMED) or place is False:
        return
    from matplotlib.lines import Line2D

    entries = [
        Line2D(
            [], [], color=line.colour, linestyle=DASHES[line.style % len(DASHES)] if is_joined else "none", label=line.name,
            marker=MARKERS[line.mark % len(MARKERS)] if line.low is not None else None, markersize=4,
        )
        for line in lines
    ]  # fmt: skip
    if place == "top":
        _legend_above(panels or [axis], entries)
    elif place is True:
        axis.legend(handles=entries, fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, frameon=False)
    else:
        axis.legend(handles=entries, fontsize="small", loc=place, frameon=False)


def _legend_above(panels: Sequence[Any], entries: list[Any]) -> None:
    """Draws a legend between one axis and its title, or above a row of panels and their titles.

    The legend has as many columns as fit. If a legend that begins at the left end of the axes has too many rows,
    smaller letters are tried, and then a legend that begins at the left end of the figure. """
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import ScaledTranslation

    first, last = panels[0], panels[-1]
    bounds, right = first.get_window_extent(), last.get_window_extent().x1
    dpi, inches = first.figure.dpi, first.figure.dpi_scale_trans + ScaledTranslation(0, 1, first.transAxes)
    lift = 0.0
    if len(panels) > 1:
        lift = max(axis.title.get_window_extent().height for axis in panels) / dpi + TITLE_GAP / 72

    def above(size: str, ncols: int, start: float) -> Any:
        # If the legend begins left of the axes, it must be above the highest label of the y axis.
        anchor = ((start - bounds.x0) / dpi, max(lift, 0.0 if start == bounds.x0 else TITLE_GAP / 72))
        look: dict[str, Any] = {"bbox_to_anchor": anchor, "bbox_transform": inches}
        look |= {"loc": "lower left", "borderaxespad": 0, "frameon": False, "handlelength": 1.7, "columnspacing": 1.3}
        return first.legend(handles=entries, fontsize=size, ncols=ncols, **look)

    edge = first.figure.bbox.x0 + 0.01 * first.figure.bbox.width
    fewest: tuple[int, str, int, float] | None = None
    for size, start in (("small", bounds.x0), ("x-small", bounds.x0), ("small", edge), ("x-small", edge)):
        ncols = next(n for n in range(len(entries), 0, -1) if n == 1 or above(size, n, start).get_window_extent().width <= right - start)
        rows = -(-len(entries) // ncols)
        if fewest is None or rows < fewest[0]:
            fewest = rows, size, ncols, start
        if fewest[0] <= LEGEND_ROWS:
            break
    assert fewest is not None
    rows, size, ncols, start = fewest
    # The legend gets the smallest number of columns with which it has this number of rows.
    legend = above(size, -(-len(entries) // rows), start)
    if len(panels) == 1:
        _raise_title(first, legend)
        return
    # The legend belongs to the first panel but may be wider, and the layout would change the panel's width to make room
    # for the legend. The layout therefore ignores the legend, and an empty box of the same height keeps the room above
    # the panels.
    legend.set_in_layout(False)
    height = lift + legend.get_window_extent().height / dpi
    first.add_artist(Rectangle((0, 0), 0.1, height, transform=inches, fill=False, linewidth=0, clip_on=False))


class _Over(NamedTuple):
    """A locator for matplotlib that places axes at a legend."""

    legend: Any

    def __call__(self, axis: Any, renderer: Any) -> Any:
        box = self.legend.get_window_extent(renderer)
        return box.transformed(axis.figure.transSubfigure.inverted())


def _raise_title(axis: Any, legend: Any) -> None:
    """Makes matplotlib place the title of axes above a legend, also a title that the user sets later. For this, empty
    inner axes are placed at the legend, because matplotlib places the title above all inner axes."""
    over = axis.inset_axes((0, 1, 1, 0))
    over.set_axis_off()
    over.set_axes_locator(_Over(legend))


def _colours(count: int) -> list[str]:
    return [PALETTE[n % len(PALETTE)] for n in range(count)]


def _coloured(lines: list[_Line]) -> list[_Line]:
    """Gives each line a colour of the palette. If there are more lines than colours, the colours repeat."""
    return [line._replace(colour=colour) for line, colour in zip(lines, _colours(len(lines)), strict=True)]


def _axes(count: int, look: _Look, *, is_row: bool = False) -> npt.NDArray[Any]:
    """Returns the given axes, or new ones: below each other with a shared x axis, or in a row with a shared y axis.

    A new figure has the title above all axes. Given axes get a title only if the user gave one. If given axes are a row
    of several panels, the title is above their figure, because each panel has its own title. Otherwise, the title is
    above the first of the given axes.
    """
    given = look.ax
    if given is None:
        with optional("matplotlib"):
            import matplotlib.pyplot as plt

        if is_row:
            size = (7.0, 3.6) if count == 1 else (1.6 + 2.6 * count, 3.2)
            figure, axes = plt.subplots(1, count, sharey=True, squeeze=False, figsize=size, layout="constrained")
        else:
            size = (7.0, 1.2 + 2.2 * count)
            figure, axes = plt.subplots(count, 1, sharex=True, squeeze=False, figsize=size, layout="constrained")
        if look.title:
            figure.suptitle(look.title, fontsize="medium")
        return np.asarray(axes.ravel(), dtype=object)
    axes = np.atleast_1d(np.asarray(given, dtype=object)).ravel()
    if len(axes) != count:
        raise UsageError(f"expected {count} axes, found {len(axes)}")
    if look.title and look.is_own_title and is_row and count > 1:
        axes[0].figure.suptitle(look.title, fontsize="medium")
    elif look.title and look.is_own_title:
        axes[0].set_title(look.title, fontsize="medium")
    return axes


def _thinned(line: _Line, most: int) -> _Line:
    """Returns at most `most` points of a line. A line with more points is divided into parts with about equal numbers
    of points, and each part keeps its lowest and its highest point."""
    if len(line.x) <= most:
        return line
    edges = np.linspace(0, len(line.x), max(most // 2, 1) + 1).astype(np.intp)
    kept: set[int] = set()
    for begin, end in itertools.pairwise(edges.tolist()):
        stretch = line.y[begin:end]
        if not np.isnan(stretch).all():
            kept |= {begin + int(np.nanargmin(stretch)), begin + int(np.nanargmax(stretch))}
    at = np.array(sorted(kept), dtype=np.intp)
    return line._replace(x=line.x[at], y=line.y[at])


def _altair(
    x: str,
    panels: list[tuple[str, list[_Line]]],
    look: _Look,
    *,
    step: bool,
    labels: list[str] | None = None,
    is_log: bool = False,
) -> Any:
    with optional("altair"):
        import altair
    with optional("pandas"):
        import pandas

    charts = []
    most = ROWS_ALTAIR // sum(len(lines) for _, lines in panels)
    for label, lines in panels:
        thinned = [_thinned(line, most) for line in lines]
        rows = pandas.concat(
            pandas.DataFrame(
                {
                    "x": [labels[n] for n in line.x] if labels else line.x,
                    "y": line.y,
                    "low": np.nan if line.low is None else line.low,
                    "high": np.nan if line.high is None else line.high,
                    "of": line.name,
                }
            )
            for line in thinned
        )
        # The field of the x axis is called `x`, not after the swept key, because Altair takes the dots in a key's name
        # for separators of nested fields.
        scale = altair.Scale(type="log") if is_log else altair.Undefined
        x_axis = altair.X("x:O", sort=labels, title=x) if labels else altair.X("x:Q", title=x, scale=scale)
        colours = altair.Scale(domain=[line.name for line in lines], range=[line.colour for line in lines])
        encoding = altair.Chart(rows, width=480, height=160).encode(
            x=x_axis, y=altair.Y("y:Q", title=label), color=altair.Color("of:N", scale=colours, title=None)
        )
        has_points = any(line.low is not None for line in lines)
        chart = encoding.mark_line(interpolate="step-after" if step else "linear", point=has_points)
        if has_points and rows["low"].notna().any():
            chart = encoding.transform_filter("isValid(datum.low)").mark_rule().encode(y="low:Q", y2="high:Q") + chart
        charts.append(chart)
    chart = charts[0] if len(charts) == 1 else altair.vconcat(*charts)
    return chart.properties(title=look.title) if look.title else chart


def _altair_heatmap(
    look: _Look, x: str, x_labels: list[str], y: str, y_labels: list[str], name: str, mean: npt.NDArray[Any]
) -> Any:
    with optional("altair"):
        import altair
    with optional("pandas"):
        import pandas

    rows = pandas.DataFrame(
        [
            {"x": x_labels[column], "y": y_labels[row], "value": value}
            for (row, column), value in np.ndenumerate(mean)
        ]
    )
    chart = (
        altair.Chart(rows)
        .mark_rect()
        .encode(
            x=altair.X("x:O", sort=x_labels, title=x),
            y=altair.Y("y:O", sort=y_labels[::-1], title=y),
            color=altair.Color("value:Q", scale=altair.Scale(scheme="viridis"), title=name),
        )
    )
    return chart.properties(title=look.title) if look.title else chart
