"""Pictures of results on matplotlib, or on Altair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ._errors import UsageError
from ._palette import PALETTE
from ._table import Table

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
    """A line of a panel: its name, its points, and half the width of its interval where it has one."""

    name: str
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    half: npt.NDArray[Any] | None = None


_SAMPLED = ("rtt", "throughput", "fct")

WINDOWS = 250
"""So many windows at most are rates averaged over, as in the command line's pictures: in a sample of 10 ms a packet more or less shows."""


class RunPlots:
    """The pictures of one run.

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
        """The flows over time, one panel below the other.

        Args:
            panels: Any of `throughput`, `rtt`, `cwnd`, `inflight`, `pacing` and `queue`.
            axes: As many axes as panels to draw on, in place of new ones.
            backend: `matplotlib`, or `altair`.

        Returns:
            An array of axes of shape (panels,), or a chart.

        Raises:
            UsageError: If there is no such panel, nothing was sampled, or there are not as many axes as panels.

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
        """What share of all flows' throughput each flow has, over time.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If nothing was sampled, or not all flows were: those that come and go are not.

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
        self, what: Literal["rtt", "throughput", "fct"] = "rtt", *, ax: Any = None, backend: Backend = "matplotlib"
    ) -> Any:
        """The distribution of what was sampled: RTTs and throughputs by flow, completion times by group.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If nothing was sampled.

        >>> import bbrlab as bl
        >>> r = bl.run("examples.two-bbr", {"sweep": {}, "repeat": 1, "duration": "5s"})
        >>> r.plot.cdf("rtt").get_xlabel()
        'RTT, ms'
        """
        _check_backend(backend)
        if what not in _SAMPLED:
            raise UsageError(f"cdf: expected one of {', '.join(_SAMPLED)}, found {what!r}")
        if what == "fct":
            label = "completion time, ms"
            samples = self._completion_times()
        else:
            column = _PANELS[what]._replace(name="rtt_us", label="RTT, ms") if what == "rtt" else _PANELS[what]
            label = column.label
            samples = [(line.name, line.y) for line in self._flows(column)]
        return _cdf(label, samples, ax, backend)

    def _completion_times(self) -> list[tuple[str, npt.NDArray[Any]]]:
        flows, transfers = self._result.flows, self._result.transfers
        if not len(transfers):
            return []
        groups = dict(zip(flows["flow"].tolist(), flows["group"], strict=True))
        of = np.array([groups[flow] for flow in transfers["flow"].tolist()], dtype=object)
        times = 1e3 * _numbers(transfers, "fct_s")
        return [(str(group), times[of == group]) for group in dict.fromkeys(of)]

    def _names(self) -> dict[int, str]:
        flows = self._result.flows
        return {
            int(flow): f"{cc} {int(flow)}" if name is None else str(name)
            for flow, cc, name in zip(flows["flow"], flows["cc"], flows["name"], strict=True)
        }

    def _flows(self, column: _Column) -> list[_Line]:
        """A line for each flow that was sampled."""
        series = self._result.series
        times, of, values = series["time_s"], series["flow"], series[column.name] * column.scale
        lines = [_Line(name, times[of == flow], values[of == flow]) for flow, name in self._names().items()]
        return [line for line in lines if len(line.x)]

    def _queues(self, column: _Column) -> list[_Line]:
        queue, names = self._result.queue, self._result.links["name"]
        times, of, values = queue["time_s"], queue["link"], queue[column.name] * column.scale
        return [_Line(str(names[link]), times[of == link], values[of == link]) for link in np.unique(of)]


class SweepPlots:
    """The pictures of a sweep.

    >>> import bbrlab as bl
    >>> bl.sweep("examples.dumbbell", {"flows.count": [1, 2]}).plot.metric("rtt_ms_mean").get_xlabel()
    'flows.count'
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def share(self, x: str | None = None, *, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """What part each group of flows has of the bytes that all receiving applications got, against a swept key: mean over seeds,
        with its 95 % interval. A group that meets others under another key that is swept has a line for each of that key's values.

        Args:
            x: The swept key; the first one, if none is named.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If it is not swept.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.share("flows.cc").get_ylabel()
        'share of the goodput'
        """
        flows = self._results.flows
        key, labels, places = self._swept(flows, x)
        shares = _numbers(flows, "group_share")
        # The rows of a group repeat it.
        first = _first_rows(_run_of_row(flows), flows["group"])
        lines = [
            _means(name, places[rows & first], shares[rows & first], len(labels)) for name, rows in self._lines(flows, key)
        ]
        return _against(key, labels, "share of the goodput", lines, ax, backend)

    def metric(self, name: str, x: str | None = None, *, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """A column of `flows` against a swept key, by group: mean and 95 % interval over all flows of the group and all seeds. A group
        has a line for each value of another key that is swept.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If the key is not swept, or there is no such column of numbers.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.metric("rtt_ms_mean", "flows.cc").get_ylabel()
        'rtt_ms_mean'
        """
        flows = self._results.flows
        key, labels, places = self._swept(flows, x)
        values = _numbers(flows, name)
        lines = [_means(line, places[rows], values[rows], len(labels)) for line, rows in self._lines(flows, key)]
        return _against(key, labels, name, lines, ax, backend)

    def cdf(self, name: str = "goodput_mbps", *, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """The distribution of a column of `flows` over all runs, by group.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If there is no such column of numbers.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> rs.plot.cdf("rtt_ms_mean").get_xlabel()
        'rtt_ms_mean'
        """
        return _cdf(name, _by(self._results.flows, "group", name, 1.0), ax, backend)

    def heatmap(
        self,
        name: str = "goodput_mbps",
        x: str | None = None,
        y: str | None = None,
        *,
        ax: Any = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """The mean of a column of `flows` over two swept keys.

        Args:
            name: The column.
            x: The swept key to the right; the first one, if none is named.
            y: The swept key upwards; the second one, if none is named.

        Returns:
            The axes, or a chart.

        Raises:
            UsageError: If fewer than two keys are swept, or there is no such column of numbers.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]})
        >>> axis = rs.plot.heatmap("rtt_ms_mean")
        >>> axis.get_xlabel(), axis.get_ylabel()
        ('bottleneck.buffer', 'flows.cc')
        """
        _check_backend(backend)
        flows = self._results.flows
        keys = self._keys()
        x_key, x_labels, x_places = self._swept(flows, x)
        rest = [key for key in keys if key != x_key]
        if y is None and not rest:
            raise UsageError(f"heatmap: expected two swept keys, found {len(keys)}; sweep another one")
        y_key, y_labels, y_places = self._swept(flows, y if y is not None else rest[0])
        if y_key == x_key:
            raise UsageError(f"heatmap: expected two swept keys, found {x_key!r} twice")
        values = _numbers(flows, name)
        known = ~np.isnan(values)
        if not known.any():
            raise UsageError(f"heatmap: expected values of {name}, found none")
        cell = y_places * len(x_labels) + x_places
        size = len(x_labels) * len(y_labels)
        total = np.bincount(cell[known], weights=values[known], minlength=size)
        count = np.bincount(cell[known], minlength=size)
        mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0).reshape(len(y_labels), -1)
        if backend == "altair":
            return _altair_heatmap(x_key, x_labels, y_key, y_labels, name, mean)
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
        axis.figure.colorbar(image, ax=axis, label=name)
        return axis

    def _lines(self, flows: Table, x: str) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """The lines of a picture against `x`, with their rows: one for each group and, where a group occurs with several values of
        other keys that are swept, for each of these."""
        groups, others = flows["group"], [key for key in self._keys() if key != x]
        lines = []
        for group in dict.fromkeys(groups):
            mine = groups == group
            differ = [key for key in others if len(set(flows[key][mine])) > 1]
            points = list(zip(*(flows[key] for key in differ), strict=True)) or [()] * len(groups)
            of_point = dict.fromkeys(point for point, is_mine in zip(points, mine, strict=True) if is_mine)
            for point in of_point:
                rows = mine & np.fromiter((other == point for other in points), np.bool_, len(points))
                words = [f"{key}={value}" for key, value in zip(differ, point, strict=True)]
                lines.append((", ".join([str(group), *words]), rows))
        return lines

    def _keys(self) -> list[str]:
        return list(self._results.summary(0)["point"]) if len(self._results) else []

    def _swept(self, flows: Table, key: str | None) -> tuple[str, list[str], npt.NDArray[np.intp]]:
        """A swept key, its values as they are spelled, and which of them each row has."""
        keys = self._keys()
        if key is None:
            if not keys:
                raise UsageError("expected a sweep, found a scenario without one: there is nothing to draw against")
            key = keys[0]
        if key not in keys:
            raise UsageError(f"expected a swept key among {', '.join(keys) or 'none'}, found {key!r}")
        order: dict[object, int] = {}
        places = np.array([order.setdefault(value, len(order)) for value in flows[key]], dtype=np.intp)
        return key, [str(value) for value in order], places


def _windowed(lines: list[_Line]) -> list[_Line]:
    """Means over windows of time, which are the same ones for all lines."""
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


def _numbers(flows: Table, name: str) -> npt.NDArray[np.float64]:
    if name not in flows or flows[name].dtype == object:
        numbers = [column for column in flows if flows[column].dtype != object]
        raise UsageError(f"expected a column of numbers such as {', '.join(numbers[:12])}, found {name!r}")
    column: npt.NDArray[np.float64] = flows[name].astype(np.float64)
    return column


def _run_of_row(flows: Table) -> npt.NDArray[np.intp]:
    """The number of each row's run, in the order of the runs."""
    order: dict[object, int] = {}
    keys = zip(flows["scenario_hash"], flows["seed"], strict=True)
    return np.array([order.setdefault(key, len(order)) for key in keys], dtype=np.intp)


def _first_rows(runs: npt.NDArray[np.intp], groups: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which rows are the first of their run and group."""
    first = np.zeros(len(runs), np.bool_)
    seen: dict[object, int] = {}
    for row, key in enumerate(zip(runs.tolist(), groups, strict=True)):
        first[row] = seen.setdefault(key, row) == row
    return first


def _check_backend(backend: str) -> None:
    if backend not in _BACKENDS:
        raise UsageError(f"backend: expected {' or '.join(_BACKENDS)}, found {backend!r}")


def _by(table: Table, by: str, name: str, scale: float) -> list[tuple[str, npt.NDArray[Any]]]:
    names, values = table[by], _numbers(table, name) * scale
    return [(str(value), values[names == value]) for value in dict.fromkeys(names)]


def _means(name: str, places: npt.NDArray[np.intp], values: npt.NDArray[Any], count: int) -> _Line:
    """The mean at each place, and half of its 95 % interval (Student's t)."""
    known = ~np.isnan(values)
    places, values = places[known], values[known]
    n = np.bincount(places, minlength=count)
    mean = np.divide(np.bincount(places, values, count), n, out=np.full(count, np.nan), where=n > 0)
    square = np.bincount(places, (values - mean[places]) ** 2, count)
    spread = np.sqrt(np.divide(square, n - 1, out=np.zeros(count), where=n > 1))
    half = _t_975(np.maximum(n - 1, 1)) * spread / np.sqrt(np.maximum(n, 1))
    return _Line(name, np.arange(count), mean, half)


def _t_975(freedom: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The 97.5 % point of Student's t, by an expansion from the normal's for more than ten degrees of freedom.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    few = np.array([12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228])
    z = 1.959964
    v = np.maximum(freedom, 1).astype(np.float64)
    many = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    point: npt.NDArray[np.float64] = np.where(freedom <= 10, few[np.clip(freedom, 1, 10) - 1], many)
    return point


def _cdf(label: str, samples: list[tuple[str, npt.NDArray[Any]]], ax: Any, backend: Backend) -> Any:
    _check_backend(backend)
    lines = []
    for name, values in samples:
        known = np.sort(values[~np.isnan(values)])
        if len(known):
            lines.append(_Line(name, known, np.arange(1, len(known) + 1) / len(known)))
    if not lines:
        raise UsageError(f"expected samples of {label}, found none")
    if backend == "altair":
        return _altair(label, [("share of samples", lines)], step=True)
    (axis,) = _axes(1, ax)
    for line, colour in zip(lines, _colours(len(lines)), strict=True):
        axis.step(line.x, line.y, where="post", color=colour, label=line.name)
    axis.set(xlabel=label, ylabel="share of samples", ylim=(0, 1))
    _legend(axis, lines)
    return axis


def _against(key: str, labels: list[str], what: str, lines: list[_Line], ax: Any, backend: Backend) -> Any:
    _check_backend(backend)
    if backend == "altair":
        return _altair(key, [(what, lines)], step=False, labels=labels)
    (axis,) = _axes(1, ax)
    for line, colour in zip(lines, _colours(len(lines)), strict=True):
        axis.errorbar(line.x, line.y, yerr=line.half, color=colour, marker="o", capsize=3, label=line.name)
    axis.set_xticks(range(len(labels)), labels)
    axis.set(xlabel=key, ylabel=what)
    _legend(axis, lines)
    return axis


def _lines(axis: Any, lines: list[_Line]) -> None:
    for line, colour in zip(lines, _colours(len(lines)), strict=True):
        axis.plot(line.x, line.y, color=colour, linewidth=1.2, label=line.name)
    # Axes that share their height go on growing with what is drawn on them.
    axis.set_ylim(bottom=0, auto=None)


def _legend(axis: Any, lines: list[_Line]) -> None:
    if 1 < len(lines) <= 16:
        axis.legend(fontsize="small", loc="best")


def _colours(count: int) -> list[str]:
    return [PALETTE[n % len(PALETTE)] for n in range(count)]


def _axes(count: int, given: Any) -> npt.NDArray[Any]:
    """New axes below each other that share the time, or the given ones."""
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
        # The name of a swept key has dots, which Altair takes for parts of a field.
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
