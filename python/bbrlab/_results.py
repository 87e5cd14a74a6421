"""The results of a run and of a sweep."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _bbrlab
from ._bbrlab import RunRecords, Scenario, SweepRecords
from ._control import CongestionControl
from ._errors import RunError, UsageError
from ._table import Table

if TYPE_CHECKING:
    import pandas
    import polars
    import xarray

    from ._plot import RunPlots, SweepPlots

__all__ = ["Result", "Results", "open"]


class Result:
    """The results of one run: metrics, tables and plots.

    >>> import bbrlab as bl
    >>> r = bl.run("examples.dumbbell")
    >>> r.digest, r.summary["seed"], r.flows["goodput_mbps"].round(2).tolist()
    ('33a158dbbe280222', 1, [9.46])
    """

    def __init__(self, records: RunRecords) -> None:
        self._records = records

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The document `summary.json`. Flows, groups and links are three lists, each with a dict per element."""
        return self._records.summary()

    @property
    def digest(self) -> str | None:
        """The digest over every packet; None if the back end computes none. Two runs with equal digests are equal
        packet by packet."""
        return self._records.digest

    @property
    def folder(self) -> Path | None:
        """The folder of the run's files; None if they were not written."""
        return self._records.folder

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario of only this run, without classes of custom congestion controls."""
        return Scenario._restore(str(self.summary["scenario"]), self._records.toml)

    @cached_property
    def controls(self) -> dict[int, CongestionControl]:
        """The instances of custom congestion controls by flow, in their states at the end of the run. A flow with
        several connections has the instance of the last one. The dict is empty for a run that was opened from a folder
        or unpickled.

        >>> import bbrlab as bl
        >>> class Counting(bl.CongestionControl):
        ...     losses = 0
        ...
        ...     def skb_marked_lost(self, conn, skb, draw):
        ...         self.losses += skb.pcount
        >>> r = bl.run("examples.dumbbell", {"flows.cc": Counting})
        >>> bool(r.controls[0].losses == r.flows["lost_packets"][0])
        True
        """
        return self._records.controls()

    @cached_property
    def flows(self) -> Table:
        """A row per flow, with the columns of `summary.parquet`."""
        return Table(self._records.frame("flows"))

    @cached_property
    def links(self) -> Table:
        """A row per link: queue, drops, marks, utilisation. The names of metrics begin with `link_`."""
        return Table(self._records.frame("links"))

    @cached_property
    def series(self) -> Table:
        """The flows over time, a row per flow and sample, with the columns of `series.parquet` and the flow's `name`,
        `group` and `cc`.

        Values that custom congestion controls report under keys of their own are further columns. A run that was
        opened from a folder does not have these columns."""
        return Table(self._records.frame("series"))

    @cached_property
    def queue(self) -> Table:
        """The queues over time, a row per link and sample, with the columns of `queue.parquet`."""
        return Table(self._records.frame("queue"))

    @cached_property
    def transfers(self) -> Table:
        """A row per transfer that began, with the columns of `transfers.parquet`. Empty without transfers.

        A transfer that did not complete has no `fct_s`. If a `[[flows]]` table of the scenario has `arrivals`, only the
        first 10 000 of its transfers that complete have rows."""
        return Table(self._records.frame("transfers"))

    @cached_property
    def delays(self) -> Table:
        """The distributions from which percentiles are computed, as histograms. The table has a row per bucket of a
        histogram, with the columns of `delays.parquet`. The table is empty if nothing was measured, or if an earlier
        version computed the run."""
        return Table(self._records.frame("delays"))

    @property
    def plot(self) -> RunPlots:
        """Plots with matplotlib or Altair."""
        from ._plot import RunPlots

        return RunPlots(self)

    def to_polars(self) -> polars.DataFrame:
        """`flows` as a polars data frame with one row per flow. The data are not copied.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").to_polars()["cc"].to_list()
        ['bbr1']
        """
        return self.flows.to_polars()

    def to_pandas(self) -> pandas.DataFrame:
        """`flows` as a pandas data frame with one row per flow.

        >>> import bbrlab as bl
        >>> float(bl.run("examples.dumbbell").to_pandas()["goodput_mbps"].round(2).iloc[0])
        9.46
        """
        return self.flows.to_pandas()

    def to_xarray(self) -> xarray.Dataset:
        """The flows over time with the dimensions `flow` and `time_s`. The name of a variable with a unit ends in the
        unit, and its attribute `units` has the unit.

        >>> import bbrlab as bl
        >>> dict(bl.run("examples.dumbbell", {"sample": "100ms"}).to_xarray()["srtt_us"].sizes)
        {'flow': 1, 'time_s': 201}
        """
        from ._xarray import of_series

        return of_series(self.series, self.flows)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the same files as `bbrlab run --no-pictures`. Returns the folder.

        Args:
            folder: The folder to write.
            force: Whether to overwrite another run or a sweep in the folder. With `force`, the folder may also contain
                files that no run wrote. A file among these is overwritten only if it has the name of a file that this
                method writes.

        Raises:
            UsageError: If the folder contains other files or results, or if the source text of a custom congestion
                control is unknown.
            RunError: If a file cannot be written.

        >>> import bbrlab as bl, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(file.name for file in bl.run("examples.dumbbell").save(folder).iterdir())
        ['delays.parquet', 'queue.parquet', 'run.json', 'scenario.toml', 'series.parquet', 'summary.json', 'summary.parquet']
        """
        for control in self.summary.get("controls", []):
            if control["sha256"] is None:
                raise UsageError(
                    f"save: `controls.{control['name']}`: expected a `sha256` of its program for results in a folder, found none: the "
                    f"text of {control['source']} cannot be had"
                )
        self._records.write(folder, force=force)
        return Path(folder)

    def __reduce__(self) -> tuple[type[Result], tuple[RunRecords]]:
        return Result, (self._records,)

    def __repr__(self) -> str:
        return self._records.table()

    def _repr_html_(self) -> str:
        return self._records.html()


class Results:
    """The results of the runs of a sweep, in the order of its sweep points and seeds.

    >>> import bbrlab as bl
    >>> rs = bl.sweep("examples.dumbbell", {"flows.cc": ["bbr1", "cubic"]}, seeds=2)
    >>> len(rs), rs.flows["flows.cc"].tolist(), rs.flows["seed"].tolist()
    (4, ['bbr1', 'bbr1', 'cubic', 'cubic'], [1, 2, 1, 2])
    """

    def __init__(self, records: SweepRecords, scenario: Scenario | None = None, on: str = "sim") -> None:
        self._records = records
        self._scenario = scenario
        self._on = on
        self._latest: tuple[int, Result] | None = None

    def __len__(self) -> int:
        """The number of runs."""
        return len(self._records)

    def __getitem__(self, n: int) -> Result:
        """Returns a run with its tables over time.

        If the sweep has a folder, the tables are read from the folder. Without a folder, the run is computed again,
        which gives the same packets; only the latest such run is kept.

        Raises:
            IndexError: If the run does not exist.
            UsageError: If the files in the folder are missing, or results without a folder were pickled without their
                custom congestion controls.
            RunError: If the run differs when it is computed again, because of a custom congestion control that depends
                on more than its arguments.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"flows.cc": ["bbr1", "cubic"]})
        >>> [len(r.series) for r in rs]
        [2001, 2001]
        """
        n = self._number(n)
        folder = self._records.run_folder(n)
        if folder is not None:
            opened = open(folder)
            assert isinstance(opened, Result)
            return opened
        latest = self._latest
        if latest is None or latest[0] != n:
            latest = self._latest = (n, self._again(n))
        return latest[1]

    def _again(self, n: int) -> Result:
        """Computes run `n` again, now with its tables over time. The sweep must have no folder."""
        result = Result(_bbrlab.run(self.scenario, on=self._on, number=n, limit=2**64 - 1))
        if result.digest != self.digests[n]:
            raise RunError(
                f"run {n}: expected digest {self.digests[n]} when it is computed again, found {result.digest}; a custom congestion "
                "control depends on more than its arguments and `draw`"
            )
        return result

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario with its sweep."""
        if self._scenario is not None:
            return self._scenario
        if self.folder is None:
            raise UsageError(
                "scenario: expected results of this program, found some that were pickled without their custom congestion controls; "
                "bbrlab.sweep(..., out=...) keeps every run"
            )
        return Scenario(self.folder / "scenario.toml", name=str(self.summary(0)["scenario"]) if len(self) else None)

    def __iter__(self) -> Iterator[Result]:
        return (self[n] for n in range(len(self)))

    @property
    def folder(self) -> Path | None:
        """The folder of the sweep's files; None if they were not written."""
        return self._records.folder

    @property
    def computed(self) -> int:
        """Number of runs that the call of `sweep` has computed; 0 for results that were opened from a folder."""
        return self._records.computed

    @property
    def found(self) -> int:
        """Number of runs found complete in the folder, including runs that a worker had written before the worker was
        lost."""
        return self._records.found

    @property
    def repeated(self) -> int:
        """Number of computed runs that were computed twice, because a worker that was lost had begun them.

        If the sweep has no folder, it is unknown which runs a lost worker had begun. The number then counts all runs
        of the lost chunks (a chunk is the group of runs that a worker gets at once). Runs that the executor itself
        repeats, as Dask does, are not counted.
        """
        return self._records.repeated

    @cached_property
    def digests(self) -> list[str | None]:
        """The digest of each run; None for a run without one."""
        return self._records.digests()

    def summary(self, n: int) -> dict[str, Any]:
        """Returns a run's entry in the list `runs` of `summary.json`.

        The entry has the scenario's name, the swept values (`point`), the seed, all metrics of the run, and the lists
        `links`, `flow_groups` and `flows`.

        Args:
            n: The run's position; -1 is the last one.

        Raises:
            IndexError: If the run does not exist.

        >>> import bbrlab as bl
        >>> bl.sweep("examples.dumbbell", {"flows.cc": ["bbr1", "cubic"]}).summary(-1)["point"]
        {'flows.cc': 'cubic'}
        """
        return self._records.summary(self._number(n))

    def _number(self, n: int) -> int:
        """Returns the number of a run, from 0."""
        if not isinstance(n, SupportsIndex):
            raise TypeError(f"expected the number of a run, found {n!r} of type {type(n).__name__}")
        try:
            return range(len(self))[n]
        except IndexError:
            there = f"from 0 to {len(self) - 1}" if len(self) else "of results that have some"
            raise IndexError(f"expected a run {there}, found {n}") from None

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """The list `groups` of `summary.json`, with the names that metrics have in that document. `points` is a table
        of the same numbers, with the names that metrics have in tables."""
        return self._records.groups()

    @cached_property
    def flows(self) -> Table:
        """A row per run and flow, with the columns of `summary.parquet`; the swept keys are first. A swept quantity has
        further columns that repeat its values as numbers in a base unit: `bottleneck.buffer_bdp` has the values of
        `bottleneck.buffer` in BDPs. If the values have several base units, each unit has a column."""
        return Table(self._records.frame("flows"))

    @cached_property
    def links(self) -> Table:
        """A row per run and link. The names of metrics begin with `link_`."""
        return Table(self._records.frame("links"))

    @cached_property
    def runs(self) -> Table:
        """A row per run: the swept keys, the metrics of the run and of its bottleneck.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"flows.cc": ["bbr1", "cubic"]})
        >>> rs.runs[["flows.cc", "run_goodput_mbps"]].to_pandas().round(2).values.tolist()
        [['bbr1', 9.46], ['cubic', 9.54]]
        """
        return Table(self._records.frame("runs"))

    @cached_property
    def points(self) -> Table:
        """A row per metric at each point of the sweep: the mean over the seeds, its 95 % confidence interval from `lo`
        to `hi`, and the number `n` of seeds with a value.

        In the row of a metric of a group of flows, `group` has the name of the group. In the row of a metric of a link,
        `link_name` has the name of the link. `lo` and `hi` are missing with one seed, and where seeds change nothing.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.two-bbr", {"bottleneck.buffer": ["1bdp", "4bdp"]}, seeds=3, set={"duration": "4s"})
        >>> shares = rs.points[rs.points["metric"] == "group_share"]
        >>> shares[["bottleneck.buffer", "group", "mean", "n"]][1]
        {'bottleneck.buffer': '4bdp', 'group': 'bbr1', 'mean': 1.0, 'n': 3}
        """
        return Table(self._records.frame("points"))

    @property
    def plot(self) -> SweepPlots:
        """Plots with matplotlib or Altair."""
        from ._plot import SweepPlots

        return SweepPlots(self)

    def to_polars(self) -> polars.DataFrame:
        """`flows` as a polars data frame with one row per flow of each run. The data are not copied.

        >>> import bbrlab as bl
        >>> bl.sweep("examples.dumbbell", seeds=3).to_polars()["seed"].to_list()
        [1, 2, 3]
        """
        return self.flows.to_polars()

    def to_pandas(self) -> pandas.DataFrame:
        """`flows` as a pandas data frame with one row per flow of each run.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"flows.cc": ["bbr1", "cubic"]}, seeds=2)
        >>> rs.to_pandas().groupby("flows.cc")["goodput_mbps"].mean().round(2).to_dict()
        {'bbr1': 9.46, 'cubic': 9.54}
        """
        return self.flows.to_pandas()

    def to_xarray(self) -> xarray.Dataset:
        """The metrics with the swept keys, `seed` and `flow` as dimensions. The values of a swept quantity, such as a
        buffer, are numbers if all have the same base unit.

        >>> import bbrlab as bl
        >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["1bdp", "2bdp"]}, seeds=3)
        >>> dict(rs.to_xarray()["goodput_mbps"].sizes)
        {'bottleneck.buffer_bdp': 2, 'seed': 3, 'flow': 1}
        """
        from ._xarray import of_sweep

        return of_sweep(self.flows, list(self.summary(0)["point"]) if len(self) else [])

    def __reduce__(self) -> tuple[type[Results], tuple[SweepRecords, Scenario | None, str]]:
        # A scenario with custom congestion controls is not pickled: another process may not find the controls' classes,
        # and the metrics do not need the classes.
        scenario = None if self._scenario is not None and self._scenario.controls else self._scenario
        return Results, (self._records, scenario, self._on)

    def __repr__(self) -> str:
        return self._records.table() or "<bbrlab.Results without runs>"

    def _repr_html_(self) -> str:
        return self._records.html() or html.escape(repr(self))


def open(folder: str | os.PathLike[str]) -> Result | Results:
    """Opens a folder of results of this package or the command line: a run's `Result` or a sweep's `Results`.

    Raises:
        UsageError: If the folder contains no results, or a file in it is damaged.

    >>> import bbrlab as bl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = bl.run("examples.dumbbell", out=folder, pictures=False)
    ...     bl.open(folder).digest == made.digest
    True
    """
    records = _bbrlab.open_folder(path_of("open", folder))
    return Result(records) if isinstance(records, RunRecords) else Results(records)


def path_of(name: str, given: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Returns the path of a folder that the user gave as the argument `name`; raises an error for other values."""
    if isinstance(given, (str, os.PathLike)):
        return given
    raise TypeError(f"{name}: expected a folder, found {given!r} of type {type(given).__name__}")
