"""Results as xarray data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._table import Table

if TYPE_CHECKING:
    import numpy.typing as npt
    import xarray

__all__ = ["of_series", "of_sweep"]


def of_sweep(flows: Table, swept: list[str]) -> xarray.Dataset:
    """Returns a sweep's metrics with the swept keys, `seed` and `flow` as dimensions.

    A swept quantity is a number in its base unit, if all its values have one; the name of its dimension then ends in
    the unit. A metric that is equal for all flows of a run, such as a link's, has no dimension `flow`.
    """
    import xarray

    names = flows.columns
    keys = [_numeric(flows, key) for key in swept]
    dims = [*keys, "seed"]
    values: dict[str, npt.NDArray[Any]] = {}
    places: dict[str, npt.NDArray[np.intp]] = {}
    for dim in [*dims, "flow"]:
        values[dim], places[dim] = _distinct(flows[dim])
    first = names.index("flow") if "flow" in names else len(names)
    groups = [n for n, name in enumerate(names) if name.startswith("group_")]
    of_run = set(names[max(groups, default=first) + 1 :])
    variables = {}
    for name in names[first + 1 :]:
        column = flows[name]
        on = dims if name in of_run else [*dims, "flow"]
        shape = tuple(len(values[dim]) for dim in on)
        cube: npt.NDArray[Any]
        if column.dtype == object:
            cube = np.full(shape, None, dtype=object)
        else:
            cube = np.full(shape, np.nan)
        cube[tuple(places[dim] for dim in on)] = column
        variables[name] = (on, cube)
    return xarray.Dataset(variables, coords={dim: values[dim] for dim in [*dims, "flow"]})


def of_series(series: Table) -> xarray.Dataset:
    """Returns the flows over time with the dimensions `flow` and `time_s`: NaN where a flow has no sample."""
    import xarray

    values: dict[str, npt.NDArray[Any]] = {}
    places: dict[str, npt.NDArray[np.intp]] = {}
    dims = ["flow", "time_s"]
    for dim in dims:
        values[dim], places[dim] = _distinct(series[dim])
    variables = {}
    for name in series:
        column = series[name]
        if name in dims:
            continue
        shape = tuple(len(values[dim]) for dim in dims)
        cube: npt.NDArray[Any]
        cube = np.full(shape, None, dtype=object) if column.dtype == object else np.full(shape, np.nan)
        cube[tuple(places[dim] for dim in dims)] = column
        variables[name] = (dims, cube)
    return xarray.Dataset(variables, coords=values)


def _numeric(flows: Table, key: str) -> str:
    """Returns the column of a swept key: in its base unit, if there is one such column without missing values."""
    units = [name for name in flows if name.startswith(f"{key}_")]
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
