"""Results as xarray data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._bbrlab import figures
from ._optional import optional
from ._table import Table

if TYPE_CHECKING:
    import numpy.typing as npt
    import xarray

__all__ = ["of_series", "of_sweep"]


UNITS = {
    "bps": "bit/s", "mbps": "Mbit/s", "us": "us", "ms": "ms", "s": "s", "packets": "packets", "bytes": "bytes", "bdp": "BDP",
}  # fmt: skip
"""The units of metrics by the last part of their names."""

OF_THE_PROGRAM = ("scenario", "profile", "backend", "backend_version", "version", "commit")
"""Columns that become attributes of a data set if they have one value."""


def of_sweep(flows: Table, swept: list[str]) -> xarray.Dataset:
    """Returns a sweep's metrics with the swept keys, `seed` and `flow` as dimensions.

    If all values of a swept quantity can be given in its base unit, they are numbers in this unit, and the name of the
    dimension ends in the unit. A metric that is equal for all flows of a run, such as a link's, has no dimension
    `flow`. Each metric has the attributes `units` and `long_name`.
    """
    with optional("xarray"):
        import xarray

    keys = [_numeric(flows, key) for key in swept]
    dims = [*keys, "seed"]
    values: dict[str, npt.NDArray[Any]] = {}
    places: dict[str, npt.NDArray[np.intp]] = {}
    for dim in [*dims, "flow"]:
        values[dim], places[dim] = _distinct(flows[dim])
    metrics = {name: (of, unit, meaning) for name, of, unit, meaning, _ in figures() if of != "link"}
    variables = {}
    for name in ["name", "group", "cc", *metrics, "bottleneck_name"]:
        if name not in flows:
            continue
        column = flows[name]
        of, unit, meaning = metrics.get(name, ("run" if name == "bottleneck_name" else "flow", "", ""))
        on = dims if of in ("run", "bottleneck") else [*dims, "flow"]
        cube = _filled([len(values[dim]) for dim in on], column)
        cube[tuple(places[dim] for dim in on)] = column
        attributes = {"units": unit, "long_name": meaning} if meaning else {}
        variables[name] = (on, cube, attributes)
    coordinates = {dim: (dim, values[dim], _attributes(dim)) for dim in [*dims, "flow"]}
    return xarray.Dataset(variables, coordinates, _of_the_program(flows))


def of_series(series: Table, flows: Table) -> xarray.Dataset:
    """Returns the flows over time with the dimensions `flow` and `time_s`: NaN where a flow has no sample."""
    with optional("xarray"):
        import xarray

    values: dict[str, npt.NDArray[Any]] = {}
    places: dict[str, npt.NDArray[np.intp]] = {}
    dims = ["flow", "time_s"]
    for dim in dims:
        values[dim], places[dim] = _distinct(series[dim])
    variables: dict[str, Any] = {}
    for name in series.columns:
        column = series[name]
        if name in dims or name in ("name", "group", "cc", "seed", "scenario_hash"):
            continue
        cube = _filled([len(values[dim]) for dim in dims], column)
        cube[tuple(places[dim] for dim in dims)] = column
        variables[name] = (dims, cube, _attributes(name))
    rows = {flow: row for row, flow in enumerate(flows["flow"].tolist())}
    of_flows = {
        name: ("flow", flows[name][[rows[flow] for flow in values["flow"].tolist()]]) for name in ("name", "group", "cc")
    }
    coordinates = {dim: (dim, values[dim], _attributes(dim)) for dim in dims}
    return xarray.Dataset(variables, {**coordinates, **of_flows}, _of_the_program(flows))


def _filled(shape: list[int], column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array of this shape, filled with the missing value of the column's type: `None` for objects,
    otherwise NaN."""
    return np.full(shape, None, dtype=object) if column.dtype == object else np.full(shape, np.nan)


def _attributes(name: str) -> dict[str, str]:
    """Returns the attribute `units` for a metric whose name ends in a known unit, otherwise an empty dict."""
    end = name.rsplit("_", 1)[-1]
    return {"units": UNITS[end]} if end != name and end in UNITS else {}


def _of_the_program(flows: Table) -> dict[str, str]:
    found = {name: list(dict.fromkeys(flows[name].tolist())) for name in OF_THE_PROGRAM if name in flows}
    return {name: str(values[0]) for name, values in found.items() if len(values) == 1 and values[0]}


def _numeric(flows: Table, key: str) -> str:
    """Returns the name of the column that has a swept key's values in the base unit, if there is one without missing
    values; otherwise returns the key."""
    units = [name for name in flows.columns if name.startswith(f"{key}_")]
    if len(units) == 1 and not np.isnan(flows[units[0]]).any():
        return units[0]
    return key


def _distinct(column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Returns the distinct values of a column, and the index of each row's value.

    Numbers are sorted; words are in order of appearance.
    """
    if column.dtype != object:
        values, places = np.unique(column, return_inverse=True)
        return values, places.reshape(-1)
    order: dict[object, int] = {}
    found = np.array([order.setdefault(value, len(order)) for value in column], dtype=np.intp)
    words: npt.NDArray[Any] = np.empty(len(order), dtype=object)
    words[:] = list(order)
    return words, found
