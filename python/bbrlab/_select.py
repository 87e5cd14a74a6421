"""Selects what a plot of a sweep shows: one value per run for each line.

The selection averages only what the user has asked to average.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._bbrlab import figure_of, figures
from ._errors import UsageError
from ._table import Table, not_among

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._results import Results

__all__ = ["Line", "Means", "Part", "Selection", "SweptKey", "keys_of", "numbers", "spelled"]

NAMES_SHOWN = 12

Over = tuple[str, list[str], str]
"""A dimension, such as the groups of flows, over which a plot would take a mean without the user's request. The three
parts are the dimension's noun, such as `groups`, its values, and the argument that chooses one of the values."""


class Line(NamedTuple):
    """The values of a metric in each run, for a group of flows, a flow, a link or the whole run."""

    name: str | None
    """The group or the flow; None for a metric of a link or of the run."""
    values: npt.NDArray[np.float64]
    """One value of the metric per run; NaN if a run has no value."""
    there: npt.NDArray[np.bool_]
    """Whether a run has this group, flow or link."""


class Means(NamedTuple):
    """The means of a line over the seeds, for each sweep point that has a value."""

    run: npt.NDArray[np.intp]
    """The index of the sweep point's first run."""
    mean: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    """The lower end of the 95 % interval; NaN if there is none."""
    high: npt.NDArray[np.float64]


UNITS = {
    "bps": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")),
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "us")),
    "bytes": ((1e6, "MB"), (1e3, "KB"), (1, "B")),
    "packets": ((1, "packets"),),
    "bdp": ((1, "BDP"),),
}
"""For each base unit of swept keys, the units that axes can have, the largest first, each with its size in the base
unit."""


class SweptKey(NamedTuple):
    """A swept key as an axis: its values in order."""

    key: str
    labels: list[str]
    """The values as the scenario spells them: numbers in order of value, words in order of appearance."""
    places: npt.NDArray[np.intp]
    """The index of each run's value; -1 for a run that is not shown."""
    values: npt.NDArray[np.float64] | None
    """The values as numbers in `unit`; None if they are words or have different units."""
    unit: str
    """The unit; empty if there is none."""


class Part(NamedTuple):
    """The part of a `Line` that each panel draws as one curve.

    The runs of a part agree in every swept key, except the keys of the x axis and of the panels.
    """

    name: str
    """The group, followed by the keys whose values differ within the panel, each with its value."""
    traits: dict[str, str]
    """The values that distinguish the part: the group's name as `group`, and the values of the keys in `name` and of
    the key that colours show."""
    runs: npt.NDArray[np.bool_]


class Selection:
    """The runs of a sweep that a plot shows, and the rows of a metric in them.

    Args:
        what: The name of the plot's method, with which error messages begin.
        results: The sweep.
        group: One or more groups of flows.
        flow: The number of a flow.
        link: The name of a link.
        where: Values of swept keys, each one value or a list.
    """

    def __init__(
        self,
        what: str,
        results: Results,
        group: str | Sequence[str] | None,
        flow: int | None,
        link: str | None,
        where: Mapping[str, object] | None,
    ) -> None:
        self.what = what
        self._results = results
        self._group, self._flow, self._link = group, flow, link
        self.choice = [
            *([group] if isinstance(group, str) else group or []),
            *([] if flow is None else [f"flow {flow}"]),
            *([] if link is None else [link]),
            *(f"{key}={' or '.join(map(spelled, _as_list(value)))}" for key, value in (where or {}).items()),
        ]
        self._flows = results.flows
        self.keys = keys_of(results)
        self._run_of_row = _runs_of_rows(self._flows)
        self._first_row = np.unique(self._run_of_row, return_index=True)[1]
        self._names = self._named_groups()
        self.runs = np.ones(len(self._first_row), np.bool_)
        for key, wanted in (where or {}).items():
            self.runs &= self._where(key, wanted)

    def _named_groups(self) -> npt.NDArray[Any]:
        """Returns the name of each row's group of flows. For a group whose name differs between runs, the user can give
        the name of its table in the scenario, such as `flows[0]`; this name then replaces the group's own names."""
        names: npt.NDArray[Any] = self._flows["group"].copy()
        wanted = [] if self._group is None else _as_list(self._group)
        for name, of_runs in self._groups_of_tables().items():
            if name in wanted and name not in names:
                names[names == of_runs[self._run_of_row]] = name
        return names

    def _groups_of_tables(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the groups whose names differ between runs, because the names are values of a swept key. A key of the
        result is the name of the group's table in the scenario, such as `flows[0]`; its value has the group's own name
        in each run."""
        found: dict[str, npt.NDArray[Any]] = {}
        groups = self._flows["group"]
        firsts = np.flatnonzero(_first_rows(self._run_of_row, groups))
        of_runs: list[list[str]] = [[] for _ in self._first_row]
        for row in firsts:
            of_runs[self._run_of_row[row]].append(str(groups[row]))
        for place in range(max(map(len, of_runs), default=0)):
            own = np.array([names[place] if place < len(names) else None for names in of_runs], dtype=object)
            there = own != None  # noqa: E711
            if len(set(own[there])) < 2:
                continue
            for key in self.keys:
                values = np.array([spelled(value) for value in self.values_of(key)], dtype=object)
                if key.startswith("flows[") and (values == own)[there].all():
                    found.setdefault(key.rpartition(".")[0], own)
                    break
        return found

    @property
    def has_flow(self) -> bool:
        """Whether the user chose a single flow."""
        return self._flow is not None

    def label(self, name: str) -> str:
        """Returns the name of a metric, followed by the user's choices."""
        return ", ".join([name, *self.choice])

    def values_of(self, key: str) -> npt.NDArray[Any]:
        """Returns the value of a swept key in each run."""
        values: npt.NDArray[Any] = self._flows[key][self._first_row]
        return values

    def swept(self, key: str | None) -> SweptKey:
        """Returns a swept key as an axis; by default the first one."""
        if key is None:
            if not self.keys:
                raise UsageError("expected a sweep, found a scenario without one: there is no key to plot against")
            key = self.keys[0]
        values = self._swept(key)
        labels = list(dict.fromkeys(values[self.runs].tolist()))
        found, unit = self._base_values(key)
        of_labels: npt.NDArray[np.float64] | None = None
        if found is not None:
            of_label = dict(zip(values.tolist(), found.tolist(), strict=True))
            labels.sort(key=of_label.__getitem__)
            of_labels = np.array([of_label[label] for label in labels], dtype=np.float64)
            scale, unit = _readable(of_labels, unit)
            of_labels = of_labels / scale
        order = {value: place for place, value in enumerate(labels)}
        places = np.array([order.get(value, -1) for value in values.tolist()], dtype=np.intp)
        return SweptKey(key, [spelled(value) for value in labels], places, of_labels, unit)

    def _base_values(self, key: str) -> tuple[npt.NDArray[np.float64] | None, str]:
        """Returns the value of a swept key in each run as a number, with its unit; None if a run has no such number."""
        for column, unit in [(key, ""), *((f"{key}_{unit}", unit) for unit in UNITS)]:
            if _has_numbers(self._flows, column):
                values = self._flows[column][self._first_row].astype(np.float64)
                if np.isfinite(values).all():
                    return values, unit
        return None, ""

    def lines(self, name: str) -> list[Line]:
        """Returns the lines of a metric: one per group of flows, or a single one.

        Raises:
            UsageError: If the metric does not exist. Also if the user chose none of several links for a metric of
                links, or neither a group nor a flow for a metric of flows whose groups have several flows.
        """
        lines, over = self._lines(name)
        if over:
            self._refuse(name, over)
        return lines

    def single(self, name: str, x: str, y: str) -> Line:
        """Returns the line of a metric in a plot with one value per combination of values of `x` and `y`.

        Metrics of groups have no value in the runs that `joined()` returns. In such a run, one group may contain flows
        that form several groups in other runs, so its value cannot be compared with values of other runs.

        Raises:
            UsageError: If the metric does not exist, or several groups, flows, links or points of the sweep would be
                averaged.
        """
        lines, over = self._lines(name)
        _, of = self._table_and_owner(name)
        if of == "group" or (of == "flow" and self._flow is None):
            apart = ~self.joined()
            lines = [line._replace(there=line.there & apart) for line in lines]
        counts = np.sum([line.there for line in lines], axis=0)
        there: npt.NDArray[np.bool_] = counts > 0
        if counts.max() > 1:
            groups = [str(line.name) for line in lines]
            over = [("groups", groups, f"group={groups[0]!r}")]
        over += self._differing_keys(there, x, y)
        if over:
            self._refuse(name, over)
        values = np.full(len(self.runs), np.nan)
        for line in lines:
            values[line.there] = line.values[line.there]
        return Line(None, values, there)

    def joined(self) -> npt.NDArray[np.bool_]:
        """Returns the shown runs with fewer groups of flows than other shown runs. In such a run, a swept value may
        make several groups' names equal, so one group contains flows that other runs have in several groups."""
        firsts = _first_rows(self._run_of_row, self._flows["group"])
        count = np.bincount(self._run_of_row[firsts], minlength=len(self.runs))
        joined: npt.NDArray[np.bool_] = self.runs & (count < count[self.runs].max(initial=0))
        return joined

    def fair_shares(self) -> list[npt.NDArray[np.float64]]:
        """Returns the fair share of each shown group in each run: the group's number of flows divided by the number of
        all flows.

        A share is NaN if the group is alone in its run or flows come and go. There are no fair shares if packets wait
        at several links.
        """
        if self._flow is not None or _links_with_queues(self._results.groups) > 1:
            return []
        runs, rejected = self._run_of_row, numbers(self._flows, "group_rejected")
        coming = np.bincount(runs[~np.isnan(rejected)], minlength=len(self.runs)) > 0
        firsts = _first_rows(runs, self._flows["group"])
        flows = numbers(self._flows, "group_flows")
        total = np.bincount(runs[firsts], weights=flows[firsts], minlength=len(self.runs))
        shares = []
        for group in dict.fromkeys(self._names[self._rows()]):
            mine = np.flatnonzero(firsts & (self._names == group))
            share = np.full(len(self.runs), np.nan)
            share[runs[mine]] = flows[mine] / total[runs[mine]]
            share[(share >= 1) | coming | ~self.runs] = np.nan
            shares.append(share)
        return shares

    def samples(self, name: str) -> list[tuple[str, npt.NDArray[Any]]]:
        """Returns the names and the values of a metric's samples.

        A metric of flows has one sample per group, with one value per flow. A metric of groups has one sample per
        group, with one value per run. A metric of a link or of the run has one sample with the metric's name, and one
        value per run.
        """
        table, of = self._table_and_owner(name)
        if of == "link":
            line = self._line_of_link(table, name)
            return [(name, line.values[line.there])]
        values = numbers(self._flows, name)
        if of == "run":
            return [(name, values[self._first_row][self.runs])]
        rows, groups = self._rows(), self._names
        if of == "group":
            rows &= _first_rows(self._run_of_row, groups)
        return [(str(group), values[rows & (groups == group)]) for group in dict.fromkeys(groups[rows])]

    def means(self, line: Line) -> Means:
        """Returns the means over seeds, computed by the Rust code that also computes `Results.groups`."""
        known = line.there & ~np.isnan(line.values)
        values = [value if is_known else None for value, is_known in zip(line.values.tolist(), known.tolist(), strict=True)]
        found = [point for point in self._results._records.means(values) if point[2] is not None]
        nothing = (np.nan, np.nan)
        return Means(
            np.array([run for run, *_ in found], dtype=np.intp),
            np.array([mean for _, _, mean, _ in found], dtype=np.float64),
            np.array([(ends or nothing)[0] for *_, ends in found], dtype=np.float64),
            np.array([(ends or nothing)[1] for *_, ends in found], dtype=np.float64),
        )

    def parts(self, line: Line, apart: Sequence[str], hue: str | None) -> list[Part]:
        """Returns the parts of a line, one per combination of values of the keys that are not in `apart`."""
        named = [key for key in self.keys if key not in apart and len(set(self.values_of(key)[line.there])) > 1]
        differ = [key for key in self.keys if key in named or key == hue]
        points = list(zip(*(self.values_of(key) for key in differ), strict=True)) or [()] * len(self.runs)
        parts = []
        for point in dict.fromkeys(point for point, is_there in zip(points, line.there, strict=True) if is_there):
            runs = line.there & np.fromiter((other == point for other in points), np.bool_, len(points))
            of_keys = {key: spelled(value) for key, value in zip(differ, point, strict=True)}
            words = ([line.name] if line.name else []) + [f"{key}={of_keys[key]}" for key in named]
            parts.append(Part(", ".join(words), {"group": line.name or "", **of_keys}, runs))
        return parts

    def _lines(self, name: str) -> tuple[list[Line], list[Over]]:
        """Returns the lines of a metric. If a line would average the flows of a group although the user chose no group,
        also returns these flows; otherwise an empty list."""
        table, of = self._table_and_owner(name)
        if of == "link":
            return [self._line_of_link(table, name)], []
        values = numbers(self._flows, name)
        if of == "run":
            return [Line(None, values[self._first_row], self.runs)], []
        rows, groups = self._rows(), self._names
        if self._flow is not None:
            return [self._line(f"flow {self._flow}", values, rows)], []
        lines = [self._line(str(group), values, rows & (groups == group)) for group in dict.fromkeys(groups[rows])]
        return lines, (self._flows_of_a_group(name, rows) if of == "flow" and self._group is None else [])

    def _refuse(self, name: str, over: Sequence[Over]) -> None:
        """Raises the error for a mean that the user did not request."""
        means = " and ".join(f"{noun} ({_some(values)})" for noun, values, _ in over)
        choices = " and ".join(choice for *_, choice in over)
        raise UsageError(f"{self.what}: {name} would be averaged over {means}; choose with {choices}")

    def _differing_keys(self, there: npt.NDArray[np.bool_], x: str, y: str) -> list[Over]:
        """Returns the swept keys, other than `x` and `y`, that have several values at one combination of values of `x`
        and `y`. Each key comes with its values and the argument that chooses one of them."""
        cells = list(zip(self.values_of(x)[there], self.values_of(y)[there], strict=True))
        differing = []
        for key in self.keys:
            values = self.values_of(key)[there].tolist()
            first: dict[object, object] = {}
            if any(first.setdefault(cell, value) != value for cell, value in zip(cells, values, strict=True)):
                names = [spelled(value) for value in dict.fromkeys(values)]
                differing.append((key, names, f"where={{{key!r}: {values[0]!r}}}"))
        return differing

    def _table_and_owner(self, name: str) -> tuple[Table, str]:
        """Returns the table that contains a metric, and the metric's owner: `run`, `group`, `flow` or `link`."""
        flows, links = self._flows, self._results.links
        if figure_of(name) is None:
            # This call raises the error for a column that does not exist, before choices such as `link` are checked.
            numbers(flows, name)
        is_of_link = figure_of(name) == "link"
        if self._link is not None and not is_of_link:
            raise UsageError(f"{self.what}: expected a metric of a link, whose name begins with link_, found {name!r}; leave out link=")
        of = figure_of(name) or "run"
        of = "run" if of == "bottleneck" else of
        if of in ("link", "run") and (self._group is not None or self._flow is not None):
            raise UsageError(
                f"{self.what}: {name} is a metric of the {'link' if of == 'link' else 'run'}; leave out group= and flow=, which "
                "choose among metrics of flows and groups"
            )
        return (links if is_of_link else flows), of

    def _line_of_link(self, links: Table, name: str) -> Line:
        values, names = numbers(links, name), links["link_name"]
        runs = _runs_of_rows(links)
        # Leave out the private links of flows. The names that bbrlab gives to private links end in a bracket; the names
        # of links in scenarios have no brackets.
        shared = [link for link in dict.fromkeys(names.tolist()) if not link.endswith("]")]
        link = self._link
        if link is None:
            if len(shared) != 1:
                self._refuse(name, [("links", shared, f"link={shared[0]!r}" if shared else "link=")])
            (link,) = shared
        elif link not in names:
            raise UsageError(f"{self.what}: expected a link among {_some(shared)}, found {link!r}")
        mine = names == link
        of_runs = np.full(len(self.runs), np.nan)
        of_runs[runs[mine]] = values[mine]
        there = np.zeros(len(self.runs), np.bool_)
        there[runs[mine]] = True
        return Line(None, of_runs, there & self.runs)

    def _rows(self) -> npt.NDArray[np.bool_]:
        """Returns, for each row of `flows`, whether it belongs to the chosen runs, groups and flow."""
        flows = self._flows
        rows: npt.NDArray[np.bool_] = self.runs[self._run_of_row]
        if self._group is not None:
            known = list(dict.fromkeys([*self._names[rows].tolist(), *flows["group"][rows].tolist(), *self._groups_of_tables()]))
            wanted = _as_list(self._group)
            for group in wanted:
                if group not in known:
                    raise UsageError(f"{self.what}: expected a group among {_some(known)}, found {group!r}")
            rows &= np.isin(self._names.astype(str), [str(group) for group in wanted])
        if self._flow is not None:
            numbers_of_flows = flows["flow"][rows]
            if self._flow not in numbers_of_flows:
                there = _some([str(number) for number in dict.fromkeys(numbers_of_flows.tolist())])
                raise UsageError(f"{self.what}: expected the number of a flow among {there}, found {self._flow!r}")
            rows &= flows["flow"] == self._flow
        return rows

    def _line(self, name: str, values: npt.NDArray[np.float64], rows: npt.NDArray[np.bool_]) -> Line:
        """Returns a line with one value per run: the mean of `values` over the selected rows of the run, however many
        flows it has."""
        size = len(self.runs)
        known = rows & ~np.isnan(values)
        count = np.bincount(self._run_of_row[known], minlength=size)
        total = np.bincount(self._run_of_row[known], weights=values[known], minlength=size)
        mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
        return Line(name, mean, np.bincount(self._run_of_row[rows], minlength=size) > 0)

    def _flows_of_a_group(self, name: str, rows: npt.NDArray[np.bool_]) -> list[Over]:
        """Returns the flows of the first group that has several flows in one run, in the form that the error message
        needs; empty if there is no such group."""
        groups, numbers_of_flows = self._names, self._flows["flow"]
        for group in dict.fromkeys(groups[rows]):
            mine = rows & (groups == group)
            if np.bincount(self._run_of_row[mine]).max() > 1:
                flows = [str(number) for number in dict.fromkeys(numbers_of_flows[mine].tolist())]
                whole = f"group_{name}"
                instead = f" ({whole} is the metric of the whole group)" if figure_of(whole) == "group" else ""
                choice = f"flow={flows[0]}, or ask for the mean over the flows of a group with group={str(group)!r}{instead}"
                return [(f"flows of {group}", flows, choice)]
        return []

    def _swept(self, key: str) -> npt.NDArray[Any]:
        if key not in self.keys:
            raise UsageError(f"{self.what}: expected a swept key among {', '.join(self.keys) or 'none'}, found {key!r}")
        return self.values_of(key)

    def _where(self, key: str, wanted: object) -> npt.NDArray[np.bool_]:
        values = self._swept(key)
        runs = np.zeros(len(values), np.bool_)
        for one in _as_list(wanted):
            mine = np.fromiter((value == one or spelled(value) == spelled(one) for value in values), np.bool_, len(values))
            if not mine.any():
                there = _some([spelled(value) for value in dict.fromkeys(values.tolist())])
                raise UsageError(f"{self.what}: where: expected a value of {key} among {there}, found {one!r}")
            runs |= mine
        return runs


def keys_of(results: Results) -> list[str]:
    """Returns the swept keys of a sweep; none if the sweep has no runs."""
    return list(results.summary(0)["point"]) if len(results) else []


def numbers(table: Table, name: str) -> npt.NDArray[np.float64]:
    """Returns the numbers in the column `name` of a table. Raises `UsageError` if this column has no numbers."""
    if name in table and table[name].dtype == object:
        raise UsageError(f"{name}: expected a column of numbers, found one of words")
    if not _has_numbers(table, name):
        if (instead := _in_tables(name)) is not None:
            raise UsageError(f"{name}: expected the name of a column, found one of `summary.json`; use {instead}")
        known = [metric[0] for metric in figures()] + [column for column in table.columns if _has_numbers(table, column)]
        raise UsageError(f"{name}: expected a column of numbers, {not_among(name, list(dict.fromkeys(known)))}")
    column: npt.NDArray[np.float64] = table[name].astype(np.float64)
    return column


WAITING_MS = 1.0
"""Threshold in milliseconds: packets count as waiting at a link if the link's mean queue delay reaches this value at
any point of the sweep."""


def _links_with_queues(points: Sequence[Mapping[str, Any]]) -> int:
    """Returns the number of links at which packets wait or are dropped. The link `bottleneck` always counts; if no link
    has this name, the first link always counts."""
    most: dict[str, tuple[float, float]] = {}
    for point in points:
        metrics = point["metrics"]
        for metric, delay in metrics.items():
            if metric.startswith("links.") and metric.endswith(".queue_delay_ms.mean"):
                link = metric.removesuffix(".queue_delay_ms.mean")
                drops = metrics.get(f"{link}.drop_ratio", {}).get("mean")
                earlier = most.get(link, (0.0, 0.0))
                most[link] = max(earlier[0], delay["mean"] or 0.0), max(earlier[1], drops or 0.0)
    main = "links.bottleneck" if "links.bottleneck" in most else next(iter(most), None)
    return sum(link == main or delay >= WAITING_MS or drops > 0 for link, (delay, drops) in most.items())


def _in_tables(name: str) -> str | None:
    """Returns the arguments with which a plot shows the metric that `summary.json` calls `name`, such as
    `flow_groups.bbr3.share`; None if no metric has this name."""
    for column, of, _, _, json_name in figures():
        for start, owner, choice in (("flow_groups.", "group", "group"), ("links.", "link", "link"), ("flows.", "flow", "flow")):
            if of == owner and name.startswith(start) and name.endswith(f".{json_name}"):
                return f"{column!r} with {choice}={name.removeprefix(start).removesuffix(f'.{json_name}')!r}"
        if of == "run" and name == json_name != column:
            return repr(column)
    return None


def _has_numbers(table: Table, name: str) -> bool:
    return name in table and table[name].dtype != object


def _readable(values: npt.NDArray[np.float64], unit: str) -> tuple[float, str]:
    """Returns the unit for an axis of these values: the largest unit in which the largest value is at least 1, or else
    the smallest unit. The result is the unit's size in the base unit, and its name."""
    most = float(np.abs(values).max(initial=0))
    known = UNITS.get(unit, ((1, unit),))
    return next(((size, name) for size, name in known if most >= size), known[-1])


def _as_list(value: object) -> list[object]:
    """Returns one value, or several, as a list."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _some(names: Sequence[str]) -> str:
    """Joins the first `NAMES_SHOWN` names for a message, and says how many more there are."""
    more = len(names) - NAMES_SHOWN
    return ", ".join([*names[:NAMES_SHOWN], *([f"{more} more"] if more > 0 else [])])


def spelled(value: object) -> str:
    """Returns a value in the spelling of scenarios."""
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def _runs_of_rows(table: Table) -> npt.NDArray[np.intp]:
    """Returns the index of each row's run. Runs are counted in the order in which they appear in the table."""
    order: dict[object, int] = {}
    keys = zip(table["scenario_hash"], table["seed"], strict=True)
    return np.array([order.setdefault(key, len(order)) for key in keys], dtype=np.intp)


def _first_rows(runs: npt.NDArray[np.intp], groups: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Returns for each row whether it is the first row of its group in its run."""
    first = np.zeros(len(runs), np.bool_)
    seen: dict[object, int] = {}
    for row, key in enumerate(zip(runs.tolist(), groups, strict=True)):
        first[row] = seen.setdefault(key, row) == row
    return first
