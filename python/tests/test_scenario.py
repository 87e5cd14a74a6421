"""Tests of scenarios: from files, built-ins, dicts and keywords; the command line's messages; pickles."""

from __future__ import annotations

import datetime
import pickle
import re
import time
import warnings
from pathlib import Path
from typing import Any

import bbrlab as bl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SMALL: dict[str, Any] = {
    "duration": "1s",
    "bottleneck": {"rate": "10Mbit/s", "buffer": "1bdp"},
    "flows": [{"cc": "bbr1", "rtt": "20ms"}],
}


def test_a_dict_keywords_and_a_file_give_the_same_scenario(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(
        'duration = "1s"\n[bottleneck]\nrate = "10Mbit/s"\nbuffer = "1bdp"\n[[flows]]\ncc = "bbr1"\nrtt = "20ms"\n'
    )
    scenarios = [bl.Scenario(SMALL), bl.Scenario(**SMALL), bl.Scenario(file), bl.Scenario(str(file))]
    assert len({scenario.hash for scenario in scenarios}) == 1
    assert [scenario.name for scenario in scenarios] == ["python", "python", "small", "small"]
    assert bl.Scenario(SMALL, name="mine").name == "mine"


def test_values_of_numpy_and_times_are_taken() -> None:
    plain = bl.Scenario(SMALL, {"flows.start": "500ms", "seed": 3, "repeat": 2})
    odd = bl.Scenario(
        SMALL, {"flows.start": datetime.timedelta(milliseconds=500), "seed": np.int64(3), "repeat": np.uint8(2)}
    )
    assert plain.hash == odd.hash
    swept = bl.Scenario("examples.dumbbell").swept({"flows.count": np.arange(1, 4)}, seeds=np.int32(2))
    assert (swept.points, swept.seeds, swept.runs) == (3, 2, 6)


@pytest.mark.parametrize(
    "span",
    [
        np.timedelta64(500_000_000, "ns"), np.timedelta64(20_000_000, "25ns"), np.timedelta64(500, "ms"), np.timedelta64(5 * 10**11, "ps"),
        np.timedelta64(5 * 10**17, "as"), np.array(np.timedelta64(500, "ms")), np.timedelta64(500, "ms").astype("timedelta64[ns]"),
    ],
)  # fmt: skip
def test_spans_of_numpy_are_taken_in_every_unit(span: Any) -> None:
    assert bl.Scenario(SMALL, {"flows.start": span}) == bl.Scenario(SMALL, {"flows.start": "500ms"})


@pytest.mark.parametrize(("unit", "seconds"), [("s", 1), ("m", 60), ("h", 3600), ("D", 86_400), ("W", 604_800)])
def test_spans_of_numpy_may_be_long(unit: Any, seconds: int) -> None:
    assert bl.Scenario({**SMALL, "duration": np.timedelta64(1, unit)}) == bl.Scenario({**SMALL, "duration": f"{seconds}s"})


def test_arrays_of_spans_are_swept() -> None:
    def swept_ns(given: Any) -> list[int]:
        text = bl.Scenario(SMALL).swept({"flows.start": given}).to_toml()
        _, values = text.split('"flows.start" = ')
        units = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
        return [int(number) * units[unit] for number, unit in re.findall(r'"(\d+)(\w+)"', values)]

    wanted = [0, 250_000_000, 500_000_000]
    spans = np.array([0, 250, 500], "timedelta64[ms]")
    for given in (spans, spans.astype("timedelta64[ns]"), list(spans), [spans[0], *spans[1:].tolist()]):
        assert swept_ns(given) == wanted
    pandas = pytest.importorskip("pandas")
    assert swept_ns(pandas.Series(spans)) == swept_ns(pandas.to_timedelta(spans)) == wanted
    # A pandas duration is a `datetime.timedelta`, whose smallest unit is the microsecond, but in addition has
    # nanoseconds.
    assert bl.Scenario(SMALL, {"flows.start": pandas.Timedelta("1500ns")}) == bl.Scenario(SMALL, {"flows.start": "1500ns"})


@pytest.mark.parametrize(
    ("span", "kind", "words"),
    [
        (np.timedelta64("NaT"), ValueError, r"set\.flows\.start: expected a time, found np\.timedelta64\('NaT'\), which is none"),
        (np.timedelta64("NaT", "ns"), ValueError, "which is none"),
        (np.array([1, "NaT"], "timedelta64[ns]"), ValueError, r"flows\.start\[1\]: expected a time, found .*NaT.*, which is none"),
        (np.timedelta64(2, "Y"), ValueError, "a duration with a fixed length, found .*, which counts months or years"),
        (np.timedelta64(2, "M"), ValueError, "a duration with a fixed length, found .*, which counts months or years"),
        (np.timedelta64(2), ValueError, 'a duration with a unit, such as "ms", found .*, which has none'),
        (np.datetime64("2020-01-01", "ns"), ValueError, "a duration, found .*, which is a date"),
        (np.timedelta64(1500, "ps"), bl.ScenarioError, r"1\.5ns.*not a multiple of 1 ns"),
        (np.timedelta64(-5, "fs"), bl.ScenarioError, r"-0\.000005ns.*negative"),
    ],
)
def test_wrong_spans_are_told(span: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        bl.Scenario(SMALL, {"flows.start": span})


def test_what_is_set_is_not_swept_over() -> None:
    police = {"rate": "9Mbit/s", "burst": "64KB"}
    policed = {**SMALL, "bottleneck": {**SMALL["bottleneck"], "police": police}}
    over = {"bottleneck.police": [police, {**police, "rate": "5Mbit/s"}]}
    with pytest.raises(bl.ScenarioError, match=r"`bottleneck\.police\.rate` as well as `sweep\.bottleneck\.police`"):
        bl.sweep(policed, over, set={"bottleneck.police.rate": "3Mbit/s"})
    with pytest.raises(bl.ScenarioError, match=r"`flows\.cc` as well as `sweep\.flows\.cc`"):
        bl.sweep(SMALL, {"flows.cc": ["bbr1", "cubic"]}, set=["flows.cc=reno"])
    swept = bl.Scenario(policed).swept(over)
    with pytest.raises(bl.ScenarioError, match=r"as well as the sweep of `bottleneck\.police`"):
        swept.set({"bottleneck.police.rate": "3Mbit/s"})
    # `set` can replace the list of a swept key, and `swept` can sweep a key that `set` has set before.
    assert swept.set({"sweep.bottleneck.police": [police]}).points == 1
    assert bl.Scenario(SMALL).set("flows.cc=reno").swept({"flows.cc": ["bbr1", "cubic"]}).points == 2


def test_mistakes_are_told_as_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text('duration = "1s"\n[bottleneck]\nrate = "10Mbit/s"\nbufer = "1bdp"\n[[flows]]\ncc = "bbr1"\nrtt = "20ms"\n')
    with pytest.raises(bl.ScenarioError) as caught:
        bl.Scenario(file)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 4, 1)
    assert "bufer" in str(error) and error.expected in str(error)
    assert error.mistakes[0]["help"]
    for typed in ("examples.dumbel", "dumbbell"):
        with pytest.raises(bl.ScenarioError, match="did you mean the built-in `examples.dumbbell`"):
            bl.run(typed)


def test_a_scenario_of_a_scenario_has_the_name_given() -> None:
    first = bl.Scenario("examples.dumbbell")
    assert bl.Scenario(first, name="x").name == "x"
    assert bl.Scenario(first, {"duration": "1s"}).name == first.name


def test_more_than_one_run_names_sweep() -> None:
    with pytest.raises(bl.ScenarioError, match=r"found 2 runs; bbrlab\.sweep runs them all, seed=N one of them$"):
        bl.run(SMALL, {"repeat": 2})
    with pytest.raises(bl.ScenarioError, match=r"runs them all; remove `repeat` from `set` to run only the given seed$"):
        bl.run(SMALL, {"repeat": 2}, seed=3)
    with pytest.raises(bl.ScenarioError, match=r"found 2 runs; bbrlab\.sweep runs them all$"):
        bl.run(SMALL, {"sweep.bottleneck.buffer": ["1bdp", "2bdp"]}, seed=3)


def test_a_run_has_the_seed_that_is_asked_for() -> None:
    ten = bl.Scenario(SMALL, {"repeat": 10, "flows.start_jitter": "100ms"})
    asked = bl.run(ten, seed=3)
    assert asked.summary["seed"] == 3 and asked.digest == bl.sweep(ten).digests[2]
    # `set` may be a generator, whose values can be read only once.
    short = bl.run(ten, ("duration=500ms" for _ in range(1)), seed=3)  # type: ignore[arg-type]
    assert short.digest == bl.run(ten, {"duration": "500ms"}, seed=3).digest != asked.digest
    with pytest.raises(TypeError, match='^set: expected a dict of keys and values, or a list of "key=value", found 5 of type int$'):
        bl.run(ten, 5, seed=3)  # type: ignore[arg-type]
    # `repeat` requests two runs, but `seed` requests one run, so this is an error.
    for both in ({"repeat": 2}, ["repeat = 2"]):
        with pytest.raises(bl.ScenarioError, match="expected a scenario of one run, found 2 runs"):
            bl.run(ten, both, seed=3)


def test_a_first_seed_is_not_the_number_of_seeds() -> None:
    ten = bl.Scenario(SMALL, {"repeat": 10, "flows.start_jitter": "100ms"})
    with pytest.raises(bl.UsageError) as told:
        bl.sweep(ten, seed=3)
    assert str(told.value) == (
        "sweep: expected `seeds` with seed=3, because python has up to 10 seeds per point, found none; "
        "seeds=1 runs seed 3 alone, seeds=10 the seeds 3 to 12"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert seeds_of(bl.sweep(ten, seed=3, seeds=1)) == [3]
        assert seeds_of(bl.sweep(ten, seed=3, seeds=2)) == [3, 4]
        assert seeds_of(bl.sweep(ten, seed=3, set={"repeat": 2})) == [3, 4]
        assert seeds_of(bl.sweep(ten, seed=3, set=["repeat=2"])) == [3, 4]
        until = {"repeat.until": "20%", "repeat.of": "goodput_mbps", "repeat.at_most": 10}
        assert seeds_of(bl.sweep(SMALL, seed=3, set=until))[:2] == [3, 4]
        assert seeds_of(bl.sweep(ten, set={"seed": 3, "repeat": 1})) == [3]
        # The sweep is the same whether seed=1 means the first seed or the number of seeds, so there is no warning.
        assert seeds_of(bl.sweep("examples.dumbbell", set={"duration": "2s"}, seed=1)) == [1]
    with pytest.warns(UserWarning, match="each point has one run, with the seed 3; seeds=3 would be 3 runs per point") as warned:
        assert seeds_of(bl.sweep("examples.dumbbell", set={"duration": "2s"}, seed=3)) == [3]
    assert warned[0].filename == __file__


def seeds_of(rs: bl.Results) -> list[int]:
    return [int(seed) for seed in rs.runs["seed"]]


@pytest.mark.parametrize(
    ("keys", "kind", "words"),
    [
        ({"duration": None}, TypeError, "duration: expected text, a number"),
        ({"duration": object()}, TypeError, "duration: expected"),
        ({"flows": [{"cc": b"bbr1"}]}, TypeError, r"flows\[0\]\.cc: expected"),
        ({1: "x"}, TypeError, "expected text as keys"),
        ({"duration": float("nan")}, bl.ScenarioError, "duration"),
        ({"duration": float("inf")}, bl.ScenarioError, "duration"),
        ({"seed": 10**40}, ValueError, "seed: expected a whole number of at most 64 bits"),
        ({"seed": -1}, bl.ScenarioError, "seed"),
        ({"repeat": 10**12}, bl.ScenarioError, "repeat"),
        ({"title": "\ud800"}, (ValueError, TypeError), None),
    ],
)
def test_wrong_values_are_exceptions(keys: dict[Any, Any], kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        bl.Scenario({**SMALL, **keys})


def test_a_list_in_itself_is_an_exception() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested values"):
        bl.Scenario({**SMALL, "flows": endless})


def test_a_huge_sweep_is_refused_at_once() -> None:
    begun = time.monotonic()
    thousand = [1] * 1000
    for over, words in [
        ({"flows.count": range(1, 10**9)}, "at most 1000000 values in total; with the 999999999 here"),
        ({"flows.count": np.broadcast_to(np.int64(1), (10**5, 10**4))}, "at most 1000000 values"),
        # Each of the three nested lists has 1,000 elements, so there are 1e9 values, although the lists take little
        # memory because their elements are the same objects.
        ({"flows.count": [[thousand] * 1000] * 1000}, "at most 1000000 values"),
        ({"flows.count": range(10**30)}, None),
        ({f"flows[{flow}].start": [f"{n}ms" for n in range(1000)] for flow in range(3)}, "points"),
    ]:
        with pytest.raises((ValueError, OverflowError), match=words):
            bl.sweep("examples.two-way", over)
    with pytest.raises(bl.UsageError, match="seeds: expected a whole number from 1 to 1000000, found 1000000000"):
        bl.sweep("examples.dumbbell", seeds=10**9)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("over", "kind", "words"),
    [
        ({"flows.count": [1, float("nan")]}, bl.ScenarioError, "nan"),
        ({"bottleneck.loss": [float("inf")]}, bl.ScenarioError, "inf"),
        ({"bottleneck.buffer": []}, bl.ScenarioError, "bottleneck.buffer"),
        ({"bottleneck.buffer": "1bdp"}, bl.ScenarioError, "bottleneck.buffer"),
        ({"bottleneck.buffer": [None]}, TypeError, r"sweep\.bottleneck\.buffer\[0\]: expected text, a number"),
        ({"bottleneck.buffer": (b for b in ["1bdp"])}, TypeError, r"sweep\.bottleneck\.buffer: expected .*a list"),
        ({"bottleneck.bufer": ["1bdp"]}, bl.ScenarioError, "did you mean `buffer`"),
        ([("bottleneck.buffer", ["1bdp"])], TypeError, "over: expected a dict"),
    ],
)
def test_wrong_sweeps_are_exceptions(over: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        bl.sweep("examples.dumbbell", over)


@pytest.mark.parametrize(
    "wrong",
    [
        {"seeds": 1.5}, {"seeds": "many"}, {"seeds": 0}, {"seeds": float("nan")}, {"jobs": -1}, {"jobs": "all"}, {"limit": float("nan")},
        {"limit": float("inf")}, {"limit": -1}, {"limit": "much"}, {"out": 3}, {"seed": -1}, {"seed": [1]}, {"executor": 3}, {"progress": 3},
        {"out": "a\0b"},
    ],
)
def test_wrong_arguments_are_exceptions(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises((TypeError, ValueError, bl.Error), match=f"{name}|folder|converted"):
        bl.sweep("examples.dumbbell", **{"set": {"duration": "1s"}, **wrong})


DUMBBELL: Any = "examples.dumbbell"
TWO: Any = "examples.two-bbr"
LIST: Any = [1]
NUMBER: Any = 3
BYTES: Any = b"a"


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: bl.run(DUMBBELL, NUMBER), TypeError, "set: expected a dict of keys and values, .*found 3 of type int"),
        (lambda: bl.run(DUMBBELL, NUMBER * 0), TypeError, "set: expected a dict of keys and values, .*found 0 of type int"),
        (lambda: bl.run(DUMBBELL, controls=LIST), TypeError, r"controls: expected a dict of .*, found \[1\] of type list"),
        (lambda: bl.Scenario(DUMBBELL, controls=LIST), TypeError, r"controls: expected a dict of .*, found \[1\] of type list"),
        (lambda: bl.Scenario(DUMBBELL).swept(LIST), TypeError, "sweep: expected a dict of keys with their values, found"),
        (lambda: bl.Scenario(TWO).run_toml(-1), IndexError, "expected a run from 0 to 79, found -1"),
        (lambda: bl.Scenario(TWO).run_toml(2**70), IndexError, "expected a run from 0 to 79, found 1180591620717411303424"),
        (lambda: bl.Scenario(TWO).run_toml(BYTES), TypeError, "integer"),
        (lambda: bl.run(DUMBBELL, out=""), bl.UsageError, 'expected a folder, found an empty text'),
        (lambda: bl.sweep(DUMBBELL, out=BYTES), TypeError, "out: expected a folder, found b'a' of type bytes"),
        (lambda: bl.open(NUMBER), TypeError, "open: expected a folder, found 3 of type int"),
        (lambda: bl.open(BYTES), TypeError, "open: expected a folder, found b'a' of type bytes"),
        (lambda: bl.reproduce(NUMBER), TypeError, "reproduce: expected names of papers and experiments, found 3 of type int"),
        (lambda: bl.compare(), bl.UsageError, "compare: expected two folders of results or more, found none"),
        (lambda: bl.compare("a"), bl.UsageError, "compare: expected two folders of results or more, found 1"),
        (lambda: bl.compare(NUMBER, NUMBER), TypeError, "compare: expected a folder, found 3 of type int"),
    ],
)
def test_wrong_arguments_are_told(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("source", [None, 3, 3.5, b"examples.dumbbell", ["examples.dumbbell"]])
def test_what_is_no_scenario_is_an_exception(source: Any) -> None:
    with pytest.raises(TypeError, match="expected a file, the id of a built-in scenario"):
        bl.Scenario(source)
    with pytest.raises(TypeError, match="found both"):
        bl.Scenario("examples.dumbbell", duration="1s")
    with pytest.raises(bl.UsageError, match="standard input"):
        bl.Scenario("-")


def test_a_pickled_scenario_is_the_same() -> None:
    for scenario in [bl.Scenario("networks.measured-path"), bl.Scenario("examples.two-bbr"), bl.Scenario(SMALL)]:
        again = pickle.loads(pickle.dumps(scenario))
        assert again == scenario and again.to_toml() == scenario.to_toml() and hash(again) == hash(scenario)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
known = st.sampled_from(["duration", "seed", "repeat", "bottleneck", "flows", "sweep", "title", "stack", "sample"])


@settings(max_examples=300)
@given(st.dictionaries(known | st.text(max_size=8), values, max_size=4))
def test_whatever_is_given_is_a_scenario_or_an_exception(keys: dict[str, Any]) -> None:
    try:
        scenario = bl.Scenario({**SMALL, **keys})
    except (TypeError, ValueError):
        return
    assert scenario.runs >= 1
