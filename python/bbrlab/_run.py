"""Functions that run scenarios, and functions for the other commands of the command line."""

from __future__ import annotations

import builtins
import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypedDict

import numpy as np

from . import _bbrlab
from ._bbrlab import RunRecords, Scenario, SweepRecords
from ._control import CongestionControl
from ._errors import ScenarioError, UsageError
from ._progress import shown
from ._results import Result, Results, path_of
from ._spread import Submits, Takes, spread

__all__ = [
    "Controls",
    "Given",
    "Metric",
    "algorithms",
    "compare",
    "metrics",
    "reproduce",
    "run",
    "scenarios",
    "sweep",
    "validate_golden",
]


class Metric(TypedDict):
    """A metric.

    >>> import bbrlab as bl
    >>> bl.metrics()[0]["name"]
    'start_s'
    """

    name: str
    """The metric's name in tables, in plots and in `points`."""
    of: str
    """The subject of the metric: `flow`, `group`, `run`, `bottleneck` or `link`."""
    unit: str
    definition: str
    json: str
    """The path of the metric in `summary.json`."""
    heading: str
    """The metric's heading in printed tables of sweeps, after the name of its group or link; empty if these tables do
    not show the metric."""


Given = str | os.PathLike[str] | Mapping[str, Any] | Scenario
"""A scenario: a file, the id of a built-in scenario, a dict, or a `Scenario`."""

Controls = Mapping[str, type[CongestionControl] | str | os.PathLike[str]]
"""A dict from the names of congestion controls in a scenario to classes or to paths of shared objects."""

Progress = bool | None | Callable[[int, int, float], object]
"""Whether to show progress (None: on a terminal and in a notebook), or a function to call. The function is called with
the number of runs done, the number of all runs and the completed share of the work, between 0 and 1."""


PACKETS_MAX = 2**64 - 1
JOBS_MAX = 4096
SEEDS_MAX = 1_000_000
"""The largest values of `limit`, `jobs` and `repeat` that the command line accepts."""


def run(
    scenario: Given,
    set: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    controls: Controls | None = None,
    seed: int | None = None,
    on: str = "sim",
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    pictures: bool = True,
    limit: float | None = None,
    progress: Progress = None,
) -> Result:
    """Runs a scenario of one run.

    Args:
        scenario: A file, the id of a built-in scenario, a dict or a `Scenario`.
        set: Values of keys that replace the scenario's, such as `{"bottleneck.buffer": "2bdp"}`.
        controls: Custom congestion controls. In this dict, the keys are names that the scenario uses, and the values
            are classes. For a name `plugin:NAME`, the value is the path of a shared object. Without `controls`, a class
            can replace its name in `set` or in a dict, as in `{"flows.cc": MyControl}`.
        seed: The run's seed. If the scenario has several seeds, only this one is run, unless `set` has `repeat`.
        on: The back end that computes the run, as `--on` of the command line.
        out: A folder for the files that the command line writes. Without `out`, nothing is written.
        force: Whether to recompute a complete run in the folder. `force` also permits an `out` that contains another
            run or a sweep, which is overwritten. With `force`, `out` may also contain files that no run wrote. A file
            among these is overwritten only if it has the name of a file of the run.
        pictures: Whether to write the run's plot to the folder.
        limit: Maximum work in data packets; 10 000 000 000 by default. The limit also bounds memory and time series.
            Each byte of the run's estimated memory counts as one packet, and each row of `series` or `queue` as 100
            packets.
        progress: Whether to show progress, or a function to call with it.

    Raises:
        ScenarioError: If the scenario is invalid, or has more than one run.
        UsageError: If the work exceeds the limit, the folder contains other files or results, the back end does not
            exist, or the back end cannot compute a part of the scenario.
        ControlError: If a custom congestion control raised an exception.
        RunError: If a file cannot be written.
        KeyboardInterrupt: After Ctrl-C.

    >>> import bbrlab as bl
    >>> bl.run("examples.dumbbell", {"flows.cc": "cubic"}).flows["cc"].tolist()
    ['cubic']
    """
    out = None if out is None else path_of("out", out)
    # With `seed`, only one run is computed even if the scenario has several seeds.
    sets = _sets(set)
    seeds = 1 if seed is not None and not _sets_repeat(sets) else None
    checked = _scenario(scenario, sets, seed, controls, seeds=seeds)
    with shown(checked.name, progress) as tell:
        records = _bbrlab.run(
            checked,
            on=on,
            has_seed=seed is not None,
            out=out,
            force=force,
            pictures=pictures,
            limit=_packets(limit),
            progress=tell,
        )
    return Result(records)


def sweep(
    scenario: Given,
    over: Mapping[str, Sequence[Any]] | None = None,
    *,
    seeds: int | None = None,
    set: Mapping[str, Any] | Sequence[str] | None = None,
    controls: Controls | None = None,
    seed: int | None = None,
    on: str = "sim",
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    pictures: bool = True,
    jobs: int | None = None,
    limit: float | None = None,
    executor: Submits | Takes | None = None,
    progress: Progress = None,
) -> Results:
    """Runs all runs of a scenario: the points of its sweep, each with its seeds.

    Args:
        scenario: A file, the id of a built-in scenario, a dict or a `Scenario`.
        over: Keys to sweep with their values, such as
            `{"bottleneck.buffer": ["1bdp", "4bdp"], "flows.cc": ["bbr1", "cubic"]}`: every combination is a sweep
            point, and the last key changes fastest. A key that the scenario sweeps gets the values of `over`; the
            scenario's other swept keys stay. A swept key must not be in `set`.
        seeds: Runs per sweep point, with the seeds `seed`, `seed` + 1 and so on; 1 unless the scenario has another
            `repeat`.
        set: Values of keys that replace the scenario's.
        controls: Custom congestion controls: a dict from their names in the scenario to classes or to paths of shared
            objects. A sweep with classes recomputes runs that are already in the folder. The classes may read data
            outside of their text, and bbrlab cannot know whether this data has changed. Such a sweep computes one run
            at a time, because the interpreter runs one thread at a time. For several runs at a time, pass an
            `executor` of processes to which pickle can transfer the classes.
        seed: The first seed. If the scenario has several seeds per sweep point, `seed` needs `seeds`. If the scenario
            has one seed per point and `seeds` is not given, a `seed` above 1 gives a warning: `seed` is not the number
            of seeds.
        on: The back end that computes the runs, as `--on` of the command line.
        out: A folder, in which each run gets its own folder; a single run's files are in `out` itself. Complete runs in
            the folder are not recomputed, except with `force` or with classes in `controls`.
        force: Whether to recompute complete runs. `force` also permits an `out` that contains another run or sweep,
            which is overwritten. With `force`, `out` may also contain files that no run wrote; only files with the same
            names are overwritten.
        pictures: Whether to write the sweep's plots to the folder.
        jobs: Number of concurrent runs; one per processor by default.
        limit: Maximum work in data packets; 10 000 000 000 by default. The limit also bounds memory and time series.
            Each byte of the runs' estimated memory counts as one packet, and each row of a time series as 100 packets.
            With an executor, the limit applies to each chunk of runs (the runs that a worker gets at once), not to the
            whole sweep.
        executor: A `concurrent.futures.Executor`, such as Dask's `client.get_executor()`, or a pool with `apply_async`,
            such as Ray's. The executor's workers compute the runs, the heaviest first. With `out`, the workers write
            the runs to this folder, which this process and every worker must be able to access. Without `out`, the
            workers return the results. The runs of a lost worker are recomputed, except complete runs in the folder.
        progress: Whether to show progress, or a function to call with it.

    Raises:
        ScenarioError: If the scenario is invalid at any sweep point.
        UsageError: If the work exceeds the limit, the folder contains other files or results, the back end does not
            exist, or the back end cannot compute a part of the scenario.
        ControlError: If a custom congestion control raised an exception.
        RunError: If a file cannot be written.
        KeyboardInterrupt: After Ctrl-C. With `out`, complete runs stay in the folder. The same call then computes only
            the other runs, unless it recomputes complete runs (see `out`).

    >>> import bbrlab as bl
    >>> rs = bl.sweep("examples.dumbbell", {"bottleneck.buffer": ["0.5bdp", "8bdp"]})
    >>> rs.flows["bottleneck.buffer_bdp"].tolist()
    [0.5, 8.0]
    """
    out = None if out is None else path_of("out", out)
    sets = _sets(set)
    checked = _scenario(scenario, sets, seed, controls, over, seeds)
    if seed is not None and seeds is None and not _sets_repeat(sets):
        _check_lone_seed(checked, seed)
    with shown(checked.name, progress) as tell:
        if executor is not None:
            spread_over = spread(
                checked, executor, on=on, out=out, force=force, pictures=pictures, limit=_packets(limit), progress=tell
            )
            return Results(spread_over, checked, on)
        records = _bbrlab.sweep(
            checked, on=on, out=out, force=force, pictures=pictures, jobs=_jobs(jobs), limit=_packets(limit), progress=tell
        )
    return Results(records, checked, on)


def reproduce(
    *names: str,
    seeds: int | None = None,
    quick: bool = False,
    explain: bool = False,
    out: str | os.PathLike[str] | None = None,
    limit: float | None = None,
) -> dict[str, Any]:
    """Runs experiments of the five papers, or the test cases `c4`. Compares published with measured values, and gives a
    verdict on each claim.

    Args:
        names: Papers or experiments, such as `lanigan2020.single-flow`; by default all.
        seeds: Seeds per sweep point; five by default, one at 1 Gbit/s and above.
        quick: One seed, no sweep points at 1 Gbit/s, and shorter runs if the metrics settle early. A claim that needs
            more gets no verdict.
        explain: Whether to find, for each claim that is expected to be an artifact of the paper's setup, the settings
            that make the claim true.
        out: The folder for the runs; `bbrlab-runs` by default. Each experiment has its own folder in it.
        limit: Maximum work in data packets; 10 000 000 000 by default, as in `run`.

    Returns:
        The document of `bbrlab reproduce --json`, with `claims`, `experiments`, `cpu_s` and other keys.

    Raises:
        UsageError: If the experiment does not exist, or the work exceeds the limit.
        RunError: If a file cannot be written.

    >>> import bbrlab as bl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     document = bl.reproduce("piotrowska2024.single-flow", quick=True, out=folder)
    >>> document["claims"][0]["statement"], document["claims"][0]["verdict"]
    ('All three versions fill an uncontested 10 Mbps link', 'holds')
    """
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"reproduce: expected names of papers and experiments, found {name!r} of type {type(name).__name__}")
    words = ["reproduce", *names, "--json", "--no-pictures", "--quiet"]
    words += ["--seeds", str(seeds)] if seeds is not None else []
    words += ["--quick"] if quick else []
    words += ["--explain"] if explain else []
    words += ["--out", os.fspath(path_of("out", out))] if out is not None else []
    words += ["--limit", str(_packets(limit))] if limit is not None else []
    return _answer(words)


def validate_golden(*folders: str | os.PathLike[str], only: Sequence[str] = ()) -> dict[str, Any]:
    """Replays recorded calls of the kernel's congestion controls with bbrlab's versions, and compares the results.

    Args:
        folders: One or more folders, each with a manifest of traces.
        only: Names of algorithms, or of parts of the kernel's TCP code such as `prr`; by default all.

    Returns:
        The document of `bbrlab validate golden --json`.

    Raises:
        UsageError: If there is no folder, a folder has no traces, a trace is missing or damaged, or a name in `only` is
            unknown.

    >>> import bbrlab as bl
    >>> replayed = bl.validate_golden("../crates/bbrlab-oracle/tests/data/golden", only=["bbr1"])
    >>> replayed["mismatches"], replayed["unsupported"]
    (0, [])
    """
    words = ["validate", "golden", *[os.fspath(path_of("validate_golden", folder)) for folder in folders], "--json"]
    for name in only:
        words += ["--only", name]
    return _answer(words)


def compare(*results: str | os.PathLike[str] | Result | Results) -> dict[str, Any]:
    """Compares the first results with each of the other results, at their common sweep points.

    Args:
        results: Results in memory, or folders of results.

    Returns:
        The document of `bbrlab compare --json`: differences of every metric with confidence intervals.

    Raises:
        UsageError: If the results have no common sweep point, or a folder has no results.

    >>> import bbrlab as bl
    >>> a, b = bl.run("examples.dumbbell"), bl.run("examples.dumbbell", {"flows.cc": "cubic"})
    >>> point = bl.compare(a, b)["points"][0]
    >>> round(point["metrics"]["links.bottleneck.queue_delay_ms.mean"]["difference"], 1)
    6.0
    """
    if len(results) < 2:
        raise UsageError(f"compare: expected two folders of results or more, found {len(results) or 'none'}")
    return _bbrlab.compare([_records(one) for one in results])


def algorithms() -> list[dict[str, Any]]:
    """Lists the built-in congestion controls with their names, origins and parameters.

    >>> import bbrlab as bl
    >>> [a["name"] for a in bl.algorithms()][:3]
    ['bbr1', 'bbr_prime', 'bbr_hsr']
    """
    listed: list[dict[str, Any]] = json.loads(_bbrlab.answer(["list", "algorithms", "--json"]))
    return listed


def scenarios() -> list[dict[str, Any]]:
    """Lists the built-in scenarios with their ids, titles and files.

    >>> import bbrlab as bl
    >>> [s["title"] for s in bl.scenarios() if s["id"] == "examples.dumbbell"]
    ['One BBR flow over one bottleneck']
    """
    listed: list[dict[str, Any]] = json.loads(_bbrlab.answer(["list", "scenarios", "--json"]))
    return listed


def metrics() -> list[Metric]:
    """Lists the metrics. Each metric has its name in tables, plots and `points`, its unit and its definition.

    >>> import bbrlab as bl
    >>> (share,) = [m for m in bl.metrics() if m["name"] == "group_share"]
    >>> share["of"], share["json"], share["heading"]
    ('group', 'flow_groups[].share', 'share, %')
    """
    where = {"run": "", "bottleneck": "links[].", "group": "flow_groups[].", "flow": "flows[].", "link": "links[]."}
    headings = {name: heading for name, heading, _ in _bbrlab.headings()}
    return [
        Metric(
            name=name, of=of, unit=unit, definition=meaning, json=f"{where[of]}{json_name}", heading=headings.get(name, "")
        )
        for name, of, unit, meaning, json_name in _bbrlab.figures()
    ]


def _answer(words: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_bbrlab.answer(words))
    return document


def _records(results: str | os.PathLike[str] | Result | Results) -> RunRecords | SweepRecords:
    if isinstance(results, (Result, Results)):
        return results._records
    return _bbrlab.open_folder(path_of("compare", results))


def _scenario(
    given: Given,
    set: Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None,
    seed: int | None,
    controls: Controls | None,
    over: Mapping[str, Any] | None = None,
    seeds: int | None = None,
) -> Scenario:
    # All values are passed at once, so that a key that is both set and swept is reported as an error.
    sets = _sets(set)
    if seed is not None:
        sets.append({"seed": seed})
    if over is not None:
        if not isinstance(over, Mapping):
            raise TypeError(f"over: expected a dict of keys with their values, found {over!r} of type {type(over).__name__}")
        sets.append({f"sweep.{key}": values for key, values in over.items()})
    if seeds is not None:
        # `seeds` may also be a dict: the rule that decides the number of seeds, as in a scenario file.
        expected = f"a whole number from 1 to {SEEDS_MAX}"
        sets.append({"repeat": seeds if isinstance(seeds, Mapping) else whole("seeds", seeds, 1, SEEDS_MAX, expected)})
    if isinstance(given, Scenario) and not any(sets) and not controls:
        return given
    try:
        checked = Scenario(given, sets, controls=controls)
    except ScenarioError as error:
        told = _with_help(error, sets, over or {})
        if told is error:
            raise
        raise told from None
    if controls and not any(_has_control(checked, name) for name in controls):
        names = " or ".join(map(repr, controls))
        raise UsageError(
            f"controls: expected a flow with the congestion control {names}, found none in {checked.name}; choose it with "
            f"set={{'flows.cc': {next(iter(controls))!r}}}"
        )
    return checked


def _has_control(scenario: Scenario, name: str) -> bool:
    """Returns whether a scenario uses the congestion control `name` as a value, and does not only declare it."""
    quoted = f'"{name}"'
    return any(quoted in line and not line.startswith(f"{quoted} = ") for line in scenario.to_toml().splitlines())


def _with_help(error: ScenarioError, sets: Sequence[str | Mapping[str, Any]], over: Mapping[str, Any]) -> ScenarioError:
    """Adds to an error the call that the user may have meant, if a key that is not swept has a list of values, or a
    swept key has one value. Returns other errors unchanged."""
    text = str(error)
    meant = ""
    for each in sets:
        for key, values in each.items() if isinstance(each, Mapping) else ():
            if str(key).startswith(("sweep.", "repeat")) or f"| {key}=[" not in text:
                continue
            # A list of lists is a schedule, not a list of values to sweep.
            if isinstance(values, (Sequence, np.ndarray)) and not any(isinstance(value, (list, tuple, Mapping)) for value in values):
                shown = [value.__name__ if isinstance(value, type) else value for value in values]
                meant = f"several values of a key are several runs: bbrlab.sweep(..., {{{key!r}: {shown!r}}})"
    for key, value in over.items():
        if f'`sweep."{key}"`: expected a list of values' in text and isinstance(value, (str, Real)):
            meant = f"give a list, {{{key!r}: [{value!r}]}}, or set one value at all points: set={{{key!r}: {value!r}}}"
    if not meant:
        return error
    mistakes = [{**one, "help": [*one["help"], meant]} if not at else one for at, one in enumerate(error.mistakes)]
    gap = "" if "\n  = " in text else "\n  |"
    return ScenarioError(f"{text}{gap}\n  = help: {meant}", mistakes)  # type: ignore[arg-type]


def _sets(set: Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None) -> list[str | Mapping[str, Any]]:
    """Returns the values of the argument `set` as a list of "key=value" and dicts.

    Raises:
        TypeError: If `set` is not None, a dict, a text or an iterable such as a list.
    """
    if set is None:
        return []
    if isinstance(set, (str, Mapping)):
        return [set]
    if isinstance(set, Iterable):
        return list(set)
    found = f"{set!r} of type {type(set).__name__}"
    raise TypeError(f'set: expected a dict of keys and values, or a list of "key=value", found {found}')


def _sets_repeat(sets: list[str | Mapping[str, Any]]) -> bool:
    """Returns whether the argument `set` sets the number of seeds (`repeat`)."""
    keys = [key for each in sets for key in (each if isinstance(each, Mapping) else [str(each).partition("=")[0]])]
    return any(str(key).strip().partition(".")[0] == "repeat" for key in keys)


def _check_lone_seed(scenario: Scenario, seed: int) -> None:
    """Checks that the argument `seed` of a sweep without the argument `seeds` is unambiguous.

    Warns if each point has one run and `seed` is above 1. In this case, `seed` could be a mistake for `seeds`, the
    number of runs per point.

    Raises:
        UsageError: If the scenario has several seeds per point. In this case, `seed` could be the only seed to run, or
            the first of several seeds.
    """
    if scenario.seeds > 1:
        last = seed + scenario.seeds - 1
        raise UsageError(
            f"sweep: expected `seeds` with seed={seed}, because {scenario.name} has up to {scenario.seeds} seeds per point, found "
            f"none; seeds=1 runs seed {seed} alone, seeds={scenario.seeds} the seeds {seed} to {last}"
        )
    if 1 < seed <= SEEDS_MAX:
        warnings.warn(
            f"sweep: each point has one run, with the seed {seed}; seeds={seed} would be {seed} runs per point, and seeds=1 "
            "ends this warning",
            UserWarning,
            stacklevel=3,
        )


def _packets(limit: float | None) -> int | None:
    return None if limit is None else whole("limit", limit, 0, PACKETS_MAX, "a number of packets such as 1e11")


def _jobs(jobs: int | None) -> int | None:
    return None if jobs is None else whole("jobs", jobs, 1, JOBS_MAX, f"a whole number from 1 to {JOBS_MAX}")


def whole(name: str, given: float, least: int, most: int, expected: str) -> int:
    """Returns a number as an integer. If the number is not a whole number from `least` to `most`, raises an error."""
    if not isinstance(given, Real) or isinstance(given, bool):
        raise TypeError(f"{name}: expected {expected}, found {given!r} of type {type(given).__name__}")
    # The condition below is false for NaN and infinities.
    if least <= given <= most and given == int(given):
        return int(given)
    raise UsageError(f"{name}: expected {expected}, found {given!r}")
