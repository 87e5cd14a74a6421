"""Tests of congestion controls in Python: events, digests like those of the built-in ones, exceptions for failures."""

from __future__ import annotations

import hashlib
import json
import math
import operator
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import bbrlab as bl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import kernel_controls  # noqa: E402
from bbrlab._control import source_of
from kernel_controls import Bbr1, Reno  # noqa: E402

DUMBBELL: dict[str, Any] = {
    "duration": "8s",
    "bottleneck": {"rate": "10Mbit/s", "buffer": "1bdp"},
    "flows": [{"cc": "reno", "rtt": "40ms"}],
}

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "short buffer": {"bottleneck.buffer": "0.2bdp"},
    "random loss": {"bottleneck.loss": 0.02},
    "heavy loss": {"bottleneck.loss": 0.2},
    "timeouts": {"bottleneck.rate": [["0s", "10Mbit/s"], ["3s", "0bit/s"], ["5s", "8Mbit/s"]]},
    "reordering, undone": {"bottleneck.reorder": {"ratio": 0.01, "by": "8ms"}},
    "every packet acknowledged": {"stack.delack": {"every": 1}},
    "slow ticks, connections": {"stack.hz": 250, "flows.train": {"bytes": "200KB", "count": 5, "gap": "100ms"}},
    "idle times": {"flows.write": {"bytes": "20KB", "every": "1500ms"}},
    "three flows": {"flows.count": 3, "flows.start_step": "300ms"},
    "marks": {"flows.ecn": True, "bottleneck.ecn_threshold": "10pkt"},
    "classic recovery": {"stack.recovery": "classic"},
    "a policer's rate": {"bottleneck.burst": "30KB"},
    "no segmentation offload, 20 s": {"stack.tso": "off", "duration": "20s"},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(("built_in", "control"), [("reno", Reno), ("bbr1", Bbr1)])
def test_the_kernels_controls_in_python_have_the_built_in_ones_digests(built_in: str, control: Any, name: str) -> None:
    theirs = bl.run(DUMBBELL, {**SETTINGS[name], "flows.cc": built_in})
    ours = bl.run(DUMBBELL, {**SETTINGS[name], "flows.cc": control})
    assert ours.digest == theirs.digest
    for column in ("cwnd_packets", "ssthresh_packets", "pacing_rate_bps", "bw_bps", "min_rtt_us", "inflight_packets"):
        np.testing.assert_array_equal(ours.series[column], theirs.series[column])
    if name == "timeouts":
        assert theirs.flows["rto_count"][0] > 0
    if name == "random loss":
        assert theirs.flows["lost_packets"][0] > 20


def test_reno_under_ns3_has_the_built_in_ones_digest() -> None:
    ns3 = {"stack.profile": "ns3", "bottleneck.loss": 0.01}
    assert bl.run(DUMBBELL, {**ns3, "flows.cc": Reno}).digest == bl.run(DUMBBELL, {**ns3, "flows.cc": "reno"}).digest


class Nothing(bl.CongestionControl):
    """Behaves like Reno: it overrides only `info`, and the base class's other methods do what Reno does."""

    def info(self, conn: bl.Conn) -> bl.Info:
        return {"bw": 125_000, "inflight_hi": 7}


class Calling(bl.CongestionControl):
    """Behaves like Reno, because every method calls the method of the base class."""

    def ssthresh(self, conn: bl.Conn) -> int:
        return super().ssthresh(conn)

    def undo_cwnd(self, conn: bl.Conn) -> int:
        return super().undo_cwnd(conn)

    def cong_avoid(self, conn: bl.Conn, ack: int, acked: int) -> None:
        super().cong_avoid(conn, ack, acked)


@pytest.mark.parametrize("name", ["plain", "timeouts", "reordering, undone", "marks"])
def test_what_a_class_has_not_is_renos(name: str) -> None:
    reno = bl.run(DUMBBELL, SETTINGS[name])
    nothing = bl.run(DUMBBELL, {**SETTINGS[name], "flows.cc": Nothing})
    assert nothing.digest == reno.digest
    assert bl.run(DUMBBELL, {**SETTINGS[name], "flows.cc": Calling}).digest == reno.digest
    assert set(nothing.series["bw_bps"][50:]) == {1_000_000.0} and set(nothing.series["inflight_hi_packets"][50:]) == {7.0}


class Listener(bl.CongestionControl):
    """Counts the calls of each method.

    `hear` also checks the times in `conn`, and several methods check their other arguments.
    """

    heard: ClassVar[Counter[str]] = Counter()
    instances: ClassVar[list[Listener]] = []
    notes_in_flight = True

    def __init__(self, name: str = "nameless", factor: float = 1.0, fast: bool = False, n: int = 0) -> None:
        self.instances.append(self)
        self.given = (name, factor, fast, n)
        self.last = 0

    def hear(self, event: str, conn: bl.Conn) -> None:
        self.heard[event] += 1
        assert conn.clock_ns >= self.last and conn.tcp_mstamp == conn.clock_ns // 1000
        self.last = conn.clock_ns

    def init(self, conn: bl.Conn, draw: bl.Draw) -> None:
        self.hear("init", conn)
        assert conn.ctl.cwnd == 10 and conn.ctl.ssthresh == 2**31 - 1 and conn.in_slow_start

    def cwnd_event(self, conn: bl.Conn, event: bl.CwndEvent, draw: bl.Draw) -> None:
        self.hear(f"cwnd_event {event.name}", conn)

    def set_state(self, conn: bl.Conn, new: bl.CaState, draw: bl.Draw) -> None:
        self.hear(f"set_state {new.name}", conn)
        assert isinstance(conn.ca_state, bl.CaState)

    def skb_marked_lost(self, conn: bl.Conn, skb: bl.LostSkb, draw: bl.Draw) -> None:
        self.hear("skb_marked_lost", conn)
        assert skb.pcount >= 1 and skb.in_flight >= 1 and (skb.end_seq - skb.seq) % 2**32 > 0

    def ssthresh(self, conn: bl.Conn) -> int:
        self.hear("ssthresh", conn)
        return np.int64(max(conn.ctl.cwnd // 2, 2))  # type: ignore[return-value]

    def undo_cwnd(self, conn: bl.Conn) -> int:
        self.hear("undo_cwnd", conn)
        return max(conn.ctl.cwnd, conn.prior_cwnd)

    def cong_avoid(self, conn: bl.Conn, ack: int, acked: int) -> None:
        self.hear("cong_avoid", conn)
        super().cong_avoid(conn, ack, acked)

    def pkts_acked(self, conn: bl.Conn, sample: bl.AckSample) -> int | None:
        self.hear("pkts_acked", conn)
        assert sample.rtt_us == -1 or sample.rtt_us > 30_000
        return None

    def in_ack_event(self, conn: bl.Conn, flags: int) -> None:
        self.hear("in_ack_event", conn)
        assert 0 <= flags < 8

    def tso_segs(self, conn: bl.Conn, mss_now: int) -> int:
        self.hear("tso_segs", conn)
        assert mss_now == conn.mss
        return 2

    def sndbuf_expand(self) -> int:
        self.heard["sndbuf_expand"] += 1
        return 2


def test_every_event_is_heard() -> None:
    Listener.heard.clear()
    Listener.instances.clear()
    params = {"name": "x", "factor": 0.5, "fast": True, "n": 3}
    flows = [{"cc": Listener, "rtt": "40ms", "cc_params": params}, {"cc": Listener, "rtt": "60ms"}, {"cc": "cubic", "rtt": "40ms"}]
    r = bl.run({**DUMBBELL, "flows": flows}, {**SETTINGS["timeouts"], "bottleneck.loss": 0.005})
    assert [instance.given for instance in Listener.instances] == [("x", 0.5, True, 3), ("nameless", 1.0, False, 0)]
    assert r.flows["cc"].tolist() == ["Listener", "Listener", "cubic"]
    expected = {"init", "skb_marked_lost", "ssthresh", "undo_cwnd", "cong_avoid", "pkts_acked", "in_ack_event", "tso_segs"}
    expected |= {"sndbuf_expand", "cwnd_event TX_START", "cwnd_event LOSS", "cwnd_event COMPLETE_CWR"}
    expected |= {"set_state RECOVERY", "set_state LOSS", "set_state OPEN", "set_state DISORDER"}
    assert not expected - set(Listener.heard), expected - set(Listener.heard)


class Ledbat(bl.CongestionControl):
    """Keeps the queueing delay of the forward path at `target_us`, like LEDBAT (RFC 6817).

    The queueing delay is the one-way delay minus the smallest one-way delay so far.
    """

    def __init__(self, target_us: int = 10_000) -> None:
        self.target_us = target_us
        self.base_us = 2**32
        self.window = 2.0
        self.delays_us: list[int] = []

    def init(self, conn: bl.Conn, draw: bl.Draw) -> None:
        assert conn.owd_us == 20_000 and conn.ctl.pacing_status == bl.PacingStatus.NONE
        conn.ctl.cwnd = 2

    def cong_avoid(self, conn: bl.Conn, ack: int, acked: int) -> None:
        assert conn.owd_us is not None
        self.base_us = min(self.base_us, conn.owd_us)
        queue_us = conn.owd_us - self.base_us
        self.delays_us.append(queue_us)
        off_target = max((self.target_us - queue_us) / self.target_us, -1)
        self.window = max(self.window + off_target * acked / self.window, 2)
        conn.ctl.cwnd = int(self.window)

    def ssthresh(self, conn: bl.Conn) -> int:
        self.window = max(self.window / 2, 2)
        return int(self.window)


LONG: dict[str, Any] = {"duration": "30s", "bottleneck": {"rate": "20Mbit/s", "buffer": "4bdp"}, "flows": [{"rtt": "40ms"}]}


def test_a_ledbat_keeps_its_queue_by_one_way_delays_and_yields_to_reno() -> None:
    alone = bl.run(LONG, {"flows.cc": Ledbat})
    late = np.array(alone.controls[0].delays_us[len(alone.controls[0].delays_us) // 2 :])
    assert (late % 1000 == 0).all() and 7_000 < late.mean() < 13_000
    assert alone.summary["links"][0]["utilization"] > 0.9
    both = bl.run(LONG, {"flows": [{"cc": Ledbat, "rtt": "40ms"}, {"cc": "reno", "rtt": "40ms"}]})
    ledbat, reno = both.flows["goodput_mbps"]
    assert ledbat < reno / 4
    assert bl.run(LONG, {"flows.cc": Ledbat}).digest == alone.digest


class Clocked(Reno):
    """Counts its packets, and samples its window every 10 ms."""

    def __init__(self) -> None:
        self.sent = self.again = 0
        self.times_ns: list[int] = []
        self.left: list[int | None] = []

    def init(self, conn: bl.Conn, draw: bl.Draw) -> None:
        assert conn.ctl.timer_us is None
        conn.ctl.timer_us = 10_000

    def on_sent(self, conn: bl.Conn, sent: int, retransmitted: int, draw: bl.Draw) -> None:
        self.sent += sent
        self.again += retransmitted
        self.left.append(conn.ctl.timer_us)

    def on_timer(self, conn: bl.Conn, draw: bl.Draw) -> None:
        assert conn.ctl.timer_us is None
        self.times_ns.append(conn.clock_ns)
        conn.ctl.timer_us = 10_000
        assert conn.ctl.timer_us == 10_000


def test_a_timer_and_packets_sent_change_nothing_by_themselves() -> None:
    for change in ({}, {"bottleneck.loss": 0.02}, SETTINGS["timeouts"]):
        ours = bl.run(DUMBBELL, {**change, "flows.cc": Clocked})
        assert ours.digest == bl.run(DUMBBELL, {**change, "flows.cc": "reno"}).digest
        control = ours.controls[0]
        assert (np.diff(control.times_ns) == 10_000_000).all() and 794 <= len(control.times_ns) <= 796
        assert (control.sent, control.again) == (ours.flows["sent_packets"][0], ours.flows["retransmitted_packets"][0])
        assert all(left is not None and 0 <= left <= 10_000 for left in control.left)


def test_a_timer_can_be_moved_and_ended_and_ends_with_the_flow() -> None:
    class Once(Clocked):
        def init(self, conn: bl.Conn, draw: bl.Draw) -> None:
            pass

        def cong_avoid(self, conn: bl.Conn, ack: int, acked: int) -> None:
            conn.ctl.timer_us = None if conn.clock_ns > 34 * 10**9 else 500_000
            super().cong_avoid(conn, ack, acked)

    once = bl.run(DUMBBELL, {"flows.cc": Once})
    assert len(once.controls[0].times_ns) <= 1
    short = bl.run(DUMBBELL, {"flows.cc": Clocked, "flows.bytes": "200KB"})
    assert 10 < len(short.controls[0].times_ns) < 100


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, r"ctl\.timer_us: expected None, or microseconds from now from 1 to 3600000000, found 0 of type int"),
        (-5, "found -5"),
        (0.5, r"found 0\.5 of type float"),
        (2**40, "found 1099511627776"),
        ("soon", "found 'soon' of type str"),
    ],
)
def test_a_timer_at_the_same_instant_or_never_is_an_exception(value: Any, words: str) -> None:
    class Stuck(Clocked):
        def on_timer(self, conn: bl.Conn, draw: bl.Draw) -> None:
            conn.ctl.timer_us = value

    with pytest.raises(bl.ControlError, match=rf"`Stuck` of flow 0 failed in on_timer\(\) at 0\.\d+ s: .*{words}"):
        bl.run(DUMBBELL, {"flows.cc": Stuck})


def test_a_timer_needs_its_event() -> None:
    with pytest.raises(bl.ControlError, match=r"ctl\.timer_us: expected a class with the event on_timer, found none"):
        bl.run(DUMBBELL, {"flows.cc": failing("init", lambda self, conn, draw: setattr(conn.ctl, "timer_us", 5))})
    with pytest.raises(bl.ControlError, match=r"ctl\.timer_us: expected a write in an event that changes the connection"):
        bl.run(DUMBBELL, {"flows.cc": type("Asks", (Clocked,), {"ssthresh": lambda self, conn: setattr(conn.ctl, "timer_us", 5)})})


class Dctcp(Reno):
    """Declares a response to the share of marks, so the receiver echoes each mark, as for DCTCP. Counts the echoes."""

    needs_ecn = True
    answers_share_of_marks = True
    echoes: ClassVar[int] = 0
    acks: ClassVar[int] = 0

    def in_ack_event(self, conn: bl.Conn, flags: int) -> None:
        Dctcp.acks += 1
        Dctcp.echoes += flags & 4 != 0
        assert conn.ctl.ecn_flags & 1

    def ssthresh(self, conn: bl.Conn) -> int:
        return max(conn.ctl.cwnd - 2, 2)


def test_the_switches_of_a_class_are_the_cores() -> None:
    marked = {"bottleneck.ecn_threshold": "5pkt", "bottleneck.buffer": "2bdp", "flows.cc": Dctcp}
    for ecn in (True, "l4s"):
        Dctcp.echoes = Dctcp.acks = 0
        r = bl.run(DUMBBELL, {**marked, "flows.ecn": ecn})
        # `Dctcp` has two attributes set, `needs_ecn` and `answers_share_of_marks`, so the receiver echoes each mark
        # once, or two marks with one ACK. Without these attributes, echoes would continue until the sender responds, as
        # in RFC 3168.
        marks = int(r.links["link_marks"][0])
        assert marks > 20 and marks / 2 <= Dctcp.echoes <= marks and Dctcp.acks > 1000
    with pytest.raises(bl.ScenarioError, match="expected a `cc` that responds to the share of marks"):
        bl.run(DUMBBELL, {**marked, "flows.ecn": "l4s", "flows.cc": Reno})


class Random(bl.CongestionControl):
    def cong_control(self, conn: bl.Conn, rs: bl.RateSample, draw: bl.Draw) -> None:
        conn.ctl.cwnd = 5 + draw.below(40)


def test_random_numbers_are_the_seeds() -> None:
    def digest(seed: int) -> str | None:
        return bl.run({**DUMBBELL, "flows": [{"cc": Random, "rtt": "40ms", "count": 3}]}, seed=seed).digest

    assert digest(1) == digest(1) != digest(2)


def test_a_name_stands_for_a_class() -> None:
    by_name = {**DUMBBELL, "flows": [{"cc": "mine", "rtt": "40ms"}]}
    reno = bl.run(DUMBBELL).digest
    assert bl.run(by_name, controls={"mine": Reno}).digest == reno
    assert bl.run({**by_name, "controls": {"mine": Reno}}).digest == reno
    assert bl.run(bl.Scenario(**by_name, controls={"mine": Reno})).digest == reno
    s = bl.Scenario(by_name, controls={"mine": Reno})
    assert s.controls == {"mine": Reno}
    assert bl.run(s, controls={"mine": Random}).digest != reno
    for again in (pickle.loads(pickle.dumps(s)), s.set({"seed": 1}), bl.Scenario(s)):
        assert again.controls == {"mine": Reno} and bl.run(again).digest == reno
    with pytest.raises(bl.ScenarioError) as caught:
        bl.run({**DUMBBELL, "flows": [{"cc": "mien", "rtt": "40ms"}]}, controls={"mine": Reno})
    assert 'did you mean "mine"?' in str(caught.value) and "`controls`: mine" in str(caught.value)
    with pytest.raises(bl.ScenarioError, match="defined in `controls`: give the class itself instead of its name, or controls={name: class}"):
        bl.run(by_name)
    bare = bl.Scenario._restore("kept", s.to_toml())
    with pytest.raises((bl.UsageError, bl.RunError), match=r"`controls\.mine`: expected a program that provides this congestion control"):
        bl.run(bare)
    assert bl.run(bare, controls={"mine": Reno}).digest == reno


def named(name: str) -> type[bl.CongestionControl]:
    return type(name, (Reno,), {"ssthresh": lambda self, conn: 2})


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (Reno(), TypeError, "expected a class of congestion controls, found an instance of Reno"),
        (bl.CongestionControl, TypeError, "expected a class with one of the events init,"),
        (type("Empty", (bl.CongestionControl,), {"step": print}), TypeError, "ACKs call cong_control or cong_avoid"),
        (type("Wrong", (bl.CongestionControl,), {"ssthresh": 2}), TypeError, "Wrong.ssthresh: expected a method, found 2"),
        (int, TypeError, r"cc: expected text, a number.* found the class int; a congestion control inherits from"),
        (type("Free", (), {"ssthresh": print}), TypeError, r"found Free, which does not inherit from bbrlab\.CongestionControl"),
        (named("reno"), bl.ScenarioError, 'found "reno", which is a built-in name'),
        (named("udp"), bl.ScenarioError, "which is a built-in name"),
        (named("ä" * 30), bl.ScenarioError, "expected unique names"),
        (named("x" * 50), bl.ScenarioError, "expected unique names of up to 40 letters"),
    ],
)
def test_what_is_no_control_is_refused(value: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        bl.Scenario({**DUMBBELL, "flows": [{"cc": value, "rtt": "40ms"}]})


def test_two_classes_of_one_name_are_told_apart_by_controls() -> None:
    one, other = named("Twin"), named("Twin")
    flows = [{"cc": one, "rtt": "40ms"}, {"cc": other, "rtt": "40ms"}]
    with pytest.raises(bl.UsageError, match="found two classes Twin"):
        bl.Scenario({**DUMBBELL, "flows": flows})
    with pytest.raises(TypeError, match=r"controls\['mine'\]: expected a class of congestion controls"):
        bl.run(DUMBBELL, controls={"mine": "reno"})  # type: ignore[dict-item]


def failing(event: str, method: Any) -> type[bl.CongestionControl]:
    return type("Failing", (Reno,), {event: method})


def raises(error: BaseException) -> Any:
    def method(*_: Any) -> None:
        raise error

    return method


@pytest.mark.parametrize("event", ["init", "set_state", "cwnd_event", "ssthresh", "cong_avoid", "cong_control", "pkts_acked", "sndbuf_expand"])
def test_an_exception_ends_the_run_and_tells_where(event: str) -> None:
    scenario = {**DUMBBELL, "flows": [{"cc": "cubic", "rtt": "40ms"}, {"cc": failing(event, raises(KeyError("x"))), "rtt": "50ms"}]}
    with pytest.raises(bl.ControlError) as caught:
        bl.run(scenario)
    error = caught.value
    assert (error.control, error.flow, error.event) == ("Failing", 1, event) and error.time_s is not None
    assert isinstance(error.__cause__, KeyError) and error.__cause__.__traceback__ is not None
    assert f"`Failing` of flow 1 failed in {event}() at {error.time_s:.9f} s: KeyError: 'x'" == str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.flow, again.time_s) == (str(error), 1, error.time_s)
    with pytest.raises(bl.ControlError):
        bl.sweep(scenario, seeds=2)


def test_a_constructor_that_fails_is_told_with_its_arguments() -> None:
    with pytest.raises(bl.ControlError, match=r"failed in __init__\(\) with cc_params = \{ beta = 0\.5 \}: TypeError") as caught:
        bl.run(DUMBBELL, {"flows.cc": Reno, "flows.cc_params": {"beta": 0.5}})
    assert caught.value.time_s is None and caught.value.event == "__init__"

    class Second(Reno):
        made: ClassVar[int] = 0

        def __init__(self) -> None:
            Second.made += 1
            if Second.made > 2:
                raise OSError("enough")

    with pytest.raises(bl.ControlError, match="OSError: enough"):
        bl.run(DUMBBELL, {"flows.cc": Second, "flows.train": {"bytes": "50KB", "count": 9, "gap": "10ms"}})


@pytest.mark.parametrize(
    ("field", "value", "kind", "words"),
    [
        ("cwnd", 0, ValueError, r"ctl\.cwnd: expected packets from 1 to 1073741824, found 0 of type int"),
        ("cwnd", -3, ValueError, "found -3"),
        ("cwnd", 10**30, ValueError, "found 1000000"),
        ("cwnd", 12.5, TypeError, r"found 12\.5 of type float; int\(\.\.\.\) makes a whole number"),
        ("cwnd", math.nan, TypeError, "found nan of type float"),
        ("cwnd", "12", TypeError, "found '12' of type str"),
        ("cwnd", None, TypeError, "found None of type NoneType"),
        ("cwnd", np.array([3]), TypeError, "cwnd"),
        ("ssthresh", 0, ValueError, "ctl.ssthresh: expected packets from 1 to 2147483647"),
        ("pacing_rate", 0, ValueError, "ctl.pacing_rate: expected bytes per second from 1"),
        ("pacing_rate", 2**64, ValueError, "ctl.pacing_rate"),
        ("pacing_rate", math.inf, TypeError, "found inf"),
        ("pacing_status", 2, ValueError, "PacingStatus.NEEDED"),
        ("cwnd_clamp", 0, ValueError, "cwnd_clamp"),
        ("ecn_flags", 300, ValueError, "ecn_flags"),
        ("missing", 1, AttributeError, "missing"),
    ],
)
def test_wrong_outputs_are_exceptions(field: str, value: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(bl.ControlError) as caught:
        bl.run(DUMBBELL, {"flows.cc": failing("cong_avoid", lambda self, conn, ack, acked: setattr(conn.ctl, field, value))})
    assert isinstance(caught.value.__cause__, kind)
    with pytest.raises(kind, match=words):
        raise caught.value.__cause__


@pytest.mark.parametrize(
    ("event", "value", "words"),
    [
        ("ssthresh", None, "ssthresh: expected packets from 1 to 2147483647, found None"),
        ("ssthresh", 0, "found 0"),
        ("ssthresh", 2.5, "int"),
        ("undo_cwnd", -1, "undo_cwnd: expected packets"),
        ("pkts_acked", "x", "pkts_acked: expected packets"),
        ("min_tso_segs", 0, "min_tso_segs: expected segments from 1 to 65535"),
        ("tso_segs", 70_000, "tso_segs: expected segments"),
        ("sndbuf_expand", 0, "sndbuf_expand: expected a factor"),
        ("info", [], "info: expected a dict"),
        ("info", {"srtt_us": 3}, "found \"srtt_us\", which is a column of the series"),
        ("info", {"window": "wide"}, "expected a number, found 'wide' of type str"),
        ("info", {"bw": -3}, "bw"),
        ("cong_avoid", 12, "cong_avoid: expected None, found 12 of type int; set changes in conn.ctl"),
        ("cong_control", True, "cong_control: expected None"),
    ],
)
def test_wrong_answers_are_exceptions(event: str, value: Any, words: str) -> None:
    with pytest.raises(bl.ControlError, match=words) as caught:
        bl.run(DUMBBELL, {"flows.cc": failing(event, lambda *_: value), "bottleneck.reorder": {"ratio": 0.05, "by": "9ms"}})
    assert caught.value.event == event


def test_what_is_kept_shows_the_last_event_and_writes_nothing() -> None:
    kept: list[Any] = []

    def keep(self: Any, conn: bl.Conn, rs: bl.RateSample, draw: bl.Draw) -> None:
        kept[:] = [conn, rs, draw]
        conn.ctl.cwnd = 20

    bl.run(DUMBBELL, {"flows.cc": failing("cong_control", keep)})
    conn, rs, draw = kept
    assert conn.ctl.cwnd == 20 and conn.delivered > 1000 and rs.delivered > 0 and "cwnd: 20" in repr(conn)
    with pytest.raises(RuntimeError, match="expected a write in an event"):
        conn.ctl.cwnd = 3
    with pytest.raises(RuntimeError, match="expected a current event"):
        draw.below(3)
    with pytest.raises(AttributeError):
        conn.mss = 3
    with pytest.raises(TypeError):
        type(conn)()
    with pytest.raises(bl.ControlError, match="expected a write in an event that changes"):
        bl.run(DUMBBELL, {"flows.cc": failing("ssthresh", lambda self, conn: setattr(conn.ctl, "cwnd", 2))})
    with pytest.raises(bl.ControlError, match="draw.below: expected a bound from 1"):
        bl.run(DUMBBELL, {"flows.cc": failing("init", lambda self, conn, draw: draw.below(0))})


def test_a_run_within_an_event_of_a_run() -> None:
    inner: list[str | None] = []

    def nested(self: Any, conn: bl.Conn, draw: bl.Draw) -> None:
        draw.below(3)
        inner.append(bl.run(DUMBBELL, {"flows.cc": Random}).digest)
        draw.below(3)

    outer = bl.run(DUMBBELL, {"flows.cc": failing("init", nested)})
    assert outer.digest == bl.run(DUMBBELL).digest and inner == [bl.run(DUMBBELL, {"flows.cc": Random}).digest]


@pytest.mark.parametrize("way", ["loops", "runs", "sweeps"])
def test_ctrl_c_is_heard_within_a_tenth_of_a_second(way: str) -> None:
    def loop(*_: Any) -> None:
        while True:
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    control = failing("set_state", loop) if way == "loops" else Reno
    # If `way` is not "loops", the flow with the Python class stops at 2 s of simulated time, which the run reaches
    # before the signal comes.
    flows = [{"cc": control, "rtt": "40ms", "stop": "2s"}, {"cc": "cubic", "rtt": "40ms"}]
    long = {**DUMBBELL, "flows": flows, "duration": "9000s", "sample": "off"}
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            if way == "sweeps":
                bl.sweep(long, seeds=2, set={"bottleneck.rate": "1Gbit/s"}, limit=1e13)
            else:
                bl.run(long, {"bottleneck.rate": "10Mbit/s" if way == "loops" else "1Gbit/s"}, limit=1e13)
        heard = time.monotonic()
    finally:
        signal.signal(signal.SIGINT, before)
        timer.cancel()
    # On an idle machine, a run ends within 0.1 s after the signal. The limit is higher, because the machine may be
    # busy.
    assert heard - sent[0] < 0.5


def test_an_exception_in_the_progress_ends_the_run() -> None:
    with pytest.raises(ZeroDivisionError):
        bl.run(DUMBBELL, {"flows.cc": Reno, "duration": "100s"}, progress=raises(ZeroDivisionError()))
    told: list[tuple[int, int, float]] = []
    bl.sweep(DUMBBELL, set={"flows.cc": Reno}, seeds=3, progress=lambda *now: told.append(now))
    assert told[-1] == (3, 3, 1.0)


@pytest.mark.parametrize("stop", ["3000s", "1s"])
def test_other_threads_go_on(stop: str) -> None:
    """Other Python threads run during a run, also after the flow with the Python class has stopped and the simulator no
    longer calls Python code."""
    flows = [{"cc": Reno, "rtt": "40ms", "stop": stop}, {"cc": "cubic", "rtt": "40ms"}]
    turns = 0
    ends = threading.Event()

    def count() -> None:
        nonlocal turns
        while not ends.is_set():
            turns += 1
            time.sleep(0.001)

    def enough(*_: object) -> None:
        if turns > 5:
            raise StopIteration

    counter = threading.Thread(target=count)
    counter.start()
    try:
        # The run goes on until the other thread has counted to 6, however long this takes on a slow machine.
        with pytest.raises(StopIteration):
            bl.run({**DUMBBELL, "flows": flows, "duration": "3000s", "sample": "off"}, progress=enough)
    finally:
        ends.set()
        counter.join()
    assert turns > 5


def test_a_folder_tells_who_took_part_and_nothing_is_found_again(tmp_path: Path) -> None:
    r = bl.run(DUMBBELL, {"flows.cc": Reno}, out=tmp_path / "run")
    source, sha256 = r.summary["controls"][0]["source"], r.summary["controls"][0]["sha256"]
    assert source == "kernel_controls.Reno in Python" and len(sha256) == 64
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["runs"][0]["controls"] == r.summary["controls"]
    assert sha256 in (tmp_path / "run" / "scenario.toml").read_text()
    text = kept_text(tmp_path / "run", "Reno", sha256)
    assert text == f"# Reno: in this file\n\n{Path(kernel_controls.__file__).read_text()}"
    assert "controls" not in bl.run(DUMBBELL).summary
    assert (tmp_path / "run" / "run.svg").stat().st_size > 10_000
    opened = bl.open(tmp_path / "run")
    assert isinstance(opened, bl.Result) and opened.summary["controls"] == r.summary["controls"]
    assert opened.digest == bl.run(opened.scenario, controls={"Reno": Reno}).digest
    # The same scenario with another text of the congestion control's class is another run.
    with pytest.raises(bl.UsageError, match="contains another run"):
        bl.run(DUMBBELL, {"flows.cc": "Reno"}, controls={"Reno": Bbr1}, out=tmp_path / "run")
    with pytest.raises(bl.UsageError, match="contains another run"):
        bl.run(DUMBBELL, out=tmp_path / "run")
    over = {"flows.cc": ["reno", Reno]}
    for found in (0, 1):
        rs = bl.sweep(DUMBBELL, over, set={"duration": "2s"}, out=tmp_path / "sweep")
        assert (rs.found, rs.computed) == (found, 2 - found) and rs.digests[0] == rs.digests[1]
        assert rs.flows["cc"].tolist() == ["reno", "Reno"]
    assert rs.summary(0)["scenario_hash"] != rs.summary(1)["scenario_hash"]
    # In the folder of the sweep, only the run that uses the class has the class's text.
    assert [folder.parent.name.split("_")[0] for folder in sorted((tmp_path / "sweep").glob("*/control-*"))] == ["Reno"]
    plain = bl.run(DUMBBELL, {"duration": "2s"})
    assert rs.summary(0)["scenario_hash"] == plain.summary["scenario_hash"]
    again = subprocess.run(
        [sys.executable, "-m", "bbrlab", "run", str(tmp_path / "run"), "--out", str(tmp_path / "again")],
        capture_output=True,
        text=True,
    )
    assert again.returncode == 2 and "`controls.Reno`: expected a program that provides this congestion control" in again.stderr
    assert not (tmp_path / "again").exists()


def test_results_are_not_replaced_if_something_that_a_class_uses_has_changed(tmp_path: Path) -> None:
    divisor = 2

    class Uses(bl.CongestionControl):
        def ssthresh(self, conn: bl.Conn) -> int:
            return max(conn.ctl.cwnd // divisor, 2)

    def run(force: bool = False) -> str:
        return str(bl.run(DUMBBELL, {"flows.cc": Uses, "duration": "2s"}, out=tmp_path / "run", force=force).digest)

    def sweep() -> list[str]:
        over = {"flows.cc": ["reno", Uses]}
        return list(bl.sweep(DUMBBELL, over, set={"duration": "2s"}, out=tmp_path / "sweep").digests)

    first, both = run(), sweep()
    assert (run(), sweep()) == (first, both)
    divisor = 4
    for again in (run, sweep):
        with pytest.raises(bl.UsageError, match="something that the control uses has changed.*force=True"):
            again()
    assert bl.open(tmp_path / "run").digest == first and list(bl.open(tmp_path / "sweep").digests) == both
    assert run(force=True) != first


def kept_text(folder: Path, name: str, sha256: str) -> str:
    """Returns the text of the congestion control `name` that the folder of a run contains. The text's SHA-256 must be
    `sha256`, the hash in the results."""
    data = (folder / f"control-{name}.py").read_bytes()
    assert hashlib.sha256(data).hexdigest() == sha256
    assert json.loads((folder / "run.json").read_text())["files"][f"control-{name}.py"] == sha256
    return data.decode()


def typed(text: str) -> type[bl.CongestionControl]:
    """Returns a class that no file contains, like a class that is typed at a prompt."""
    names: dict[str, Any] = {"bl": bl, "__name__": "__main__"}
    exec(text, names)
    control: type[bl.CongestionControl] = names["Typed"]
    return control


def sha256(control: type[bl.CongestionControl]) -> str | None:
    controls: list[dict[str, str | None]] = bl.run(DUMBBELL, {"flows.cc": control, "duration": "1s"}).summary["controls"]
    return controls[0]["sha256"]


def test_a_class_that_is_in_no_file_is_known_by_its_methods(tmp_path: Path) -> None:
    text = "class Typed(bl.CongestionControl):\n    least = 2\n    def ssthresh(self, conn):\n        return self.least\n"
    control = typed(text)
    out = bl.run(DUMBBELL, {"flows.cc": control}, out=tmp_path / "out")
    saved = bl.run(DUMBBELL, {"flows.cc": control})
    saved.save(tmp_path / "saved")
    bl.open(tmp_path / "saved").save(tmp_path / "opened")  # type: ignore[union-attr]
    pickle.loads(pickle.dumps(saved)).save(tmp_path / "pickled")
    kept = {kept_text(tmp_path / name, "Typed", str(sha256(control))) for name in ("out", "saved", "opened", "pickled")}
    # No file contains the text that was given to `exec`, so the run keeps the compiled code instead.
    (one,) = kept
    assert "class Typed(CongestionControl):\n    least = 2\n" in one and "# ssthresh: no text; compiled code: cpython" in one
    bl.run(DUMBBELL, out=tmp_path / "out", force=True)
    assert not list((tmp_path / "out").glob("control-*")), "a run without this control removes its text from the folder"
    assert out.summary["controls"] == saved.summary["controls"] and len(str(sha256(control))) == 64
    assert sha256(typed(text)) == sha256(control)
    others = [text.replace("least = 2", "least = 3"), text.replace("self.least", "self.least + 1"), text.replace("ssthresh", "undo_cwnd")]
    others += [text + "    x = ssthresh\n", text + "    x = property(ssthresh)\n"]
    assert len({sha256(control), *(sha256(typed(other)) for other in others)}) == 6


def test_a_class_of_a_notebook_cell_is_known_by_the_text_of_its_methods(tmp_path: Path) -> None:
    code = (
        "import bbrlab as bl\nleast = 3\nclass Typed(bl.CongestionControl):\n    'A class.'\n    keep = 0.5\n\n    @staticmethod\n"
        "    def few():\n        return 4\n\n    def ssthresh(self, conn, more=least):\n        # {}\n        return 2\n\n"
        "    def _most(self, conn):\n        return 9\n\n    undo_cwnd = _most\n"
    )
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    to = f"out={str(tmp_path / 'out')!r}, force=True, pictures=False, progress=False"
    show = f"print(bl.run({DUMBBELL!r}, {{'flows.cc': Typed, 'duration': '1s'}}, {to}).summary['controls'][0]['sha256'])"
    cells = [cell for word in ("one", "one", "another") for cell in (code.format(word), show)]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    one, again, other = (cell.outputs[0]["text"] for cell in notebook.cells[1::2])
    assert one == again != other and len(one.strip()) == 64
    assert kept_text(tmp_path / "out", "Typed", other.strip()) == (
        "# Typed: a class without a file\n\nclass Typed(CongestionControl):\n    __doc__ = 'A class.'\n\n    keep = 0.5\n\n"
        "    # few: staticmethod\n    @staticmethod\n    def few():\n        return 4\n\n"
        "    def ssthresh(self, conn, more=least):\n        # another\n        return 2\n"
        "    # ssthresh: values of the defaults: (3,) None\n\n"
        "    def _most(self, conn):\n        return 9\n\n"
        "    # undo_cwnd: the function _most\n    def _most(self, conn):\n        return 9\n\n"
    )


def test_a_program_without_a_text_has_no_folder(tmp_path: Path) -> None:
    # `print` is written in C, so the method has no source text.
    control = type("Typed", (bl.CongestionControl,), {"ssthresh": print, "__module__": "__main__"})
    assert source_of(control)[1] is None
    built_in = type("Typed", (bl.CongestionControl,), {"sndbuf_expand": operator.itemgetter(0), "__module__": "__main__"})
    with pytest.raises(bl.UsageError, match="need a `sha256` of its program"):
        bl.run(DUMBBELL, {"flows.cc": built_in}, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"cong_ctrl": print, "ssthresh": print}, "Typed.cong_ctrl: expected a name that is not mistaken for the event 'cong_control'"),
        ({"cong_avoidance": print, "cong_avoid": print}, "'cong_avoid', which the class also has"),
        ({"pkt_acked": print, "init": print}, "rename it to 'pkts_acked', or to '_pkt_acked' if it is a helper"),
        ({"need_ecn": True, "init": print}, "the attribute 'needs_ecn'"),
        ({"on_loss": print, "ssthresh": print}, "Typed.on_loss: expected a name that is not mistaken for the event 'ssthresh'"),
        ({"on_ack": print}, "ACKs call `cong_avoid`, which sets the window .*, or `cong_control`, .*, or to '_on_ack' if it is a helper"),
        ({"congestion_avoidance": print, "init": print}, "the event 'cong_avoid', which the class does not have"),
    ],
)
def test_a_misspelt_event_is_told(names: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        bl.Scenario(DUMBBELL, {"flows.cc": type("Typed", (bl.CongestionControl,), names)})


def test_a_helper_is_no_misspelt_event() -> None:
    class Uses(bl.CongestionControl):
        def cong_avoid(self, conn: bl.Conn, ack: int, acked: int) -> None:
            conn.ctl.cwnd = self.min_segs()

        def min_segs(self) -> int:
            return 4

    assert bl.Scenario(DUMBBELL, {"flows.cc": Uses}).runs == 1
    names = {"_cong_ctrl": print, "cong_avoid_ai": print, "update": print, "state": 3, "cong_ctrl": 0.5, "init": print}
    assert bl.Scenario(DUMBBELL, {"flows.cc": type("Typed", (bl.CongestionControl,), names)}).runs == 1


class Reporting(Reno):
    """Reports values of its own, and counts its losses."""

    def __init__(self, step: float = 0.5) -> None:
        self.step, self.reports, self.losses = step, 0, 0

    def skb_marked_lost(self, conn: bl.Conn, skb: bl.LostSkb, draw: bl.Draw) -> None:
        self.losses += skb.pcount

    def info(self, conn: bl.Conn) -> dict[str, float]:
        self.reports += 1
        own = {"half_cwnd": conn.ctl.cwnd / 2, "bw": 1000}
        return own if self.reports % 2 else {**own, "even": self.reports}


@pytest.mark.parametrize("sample", ["50ms", "ack"])
def test_own_values_are_columns_of_the_series_and_the_instance_stays(sample: str, tmp_path: Path) -> None:
    flows = [{"cc": "reno", "rtt": "40ms"}, {"cc": Reporting, "rtt": "40ms", "start": "1s", "cc_params": {"step": 0.25}}]
    scenario = {**DUMBBELL, "flows": flows, "sample": sample}
    r = bl.run(scenario)
    mine = r.series[r.series["flow"] == 1]
    known = ~np.isnan(mine["half_cwnd"])
    # Before the handshake there is no report.
    assert 0 < np.argmax(known) < 3 or sample == "ack"
    assert known[np.argmax(known) :].all()
    np.testing.assert_array_equal(mine["half_cwnd"][known], mine["cwnd_packets"][known] / 2)
    even = mine["even"][~np.isnan(mine["even"])]
    assert even.tolist() == list(range(2, len(even) * 2 + 1, 2))
    assert np.isnan(r.series[r.series["flow"] == 0]["half_cwnd"]).all()
    assert set(mine["bw_bps"][known]) == {8000.0}
    (instance,) = r.controls.values()
    assert isinstance(instance, Reporting) and instance.step == 0.25
    assert instance.losses == r.flows["lost_packets"][1] > 0 and instance.reports == known.sum()
    again = pickle.loads(pickle.dumps(r))
    np.testing.assert_array_equal(again.series["half_cwnd"], r.series["half_cwnd"])
    assert again.controls == {}
    written = bl.run(scenario, out=tmp_path, pictures=False)
    np.testing.assert_array_equal(written.series["half_cwnd"], r.series["half_cwnd"])
    assert list(written.controls) == [1]


def test_a_flow_of_several_connections_has_no_own_values() -> None:
    train = {"flows.train": {"bytes": "20KB", "count": 3, "gap": "200ms"}, "flows.cc": Reporting, "sample": "20ms"}
    r = bl.run(DUMBBELL, train)
    assert np.isnan(r.series["half_cwnd"]).all() and list(r.controls) == [0]


def test_sweeps_and_executors(tmp_path: Path) -> None:
    over = {"flows.cc": ["reno", Reno, Bbr1], "bottleneck.buffer": ["0.5bdp", "2bdp"]}
    short = {"duration": "2s"}
    here = bl.sweep(DUMBBELL, over, seeds=2, set=short)
    assert here.digests[:4] == here.digests[4:8]
    with ThreadPoolExecutor(2) as threads:
        rs = bl.sweep(DUMBBELL, over, seeds=2, set=short, executor=threads)
    assert rs.digests == here.digests
    assert [rs.summary(n).get("controls") for n in range(12)] == [here.summary(n).get("controls") for n in range(12)]
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
        rs = bl.sweep(DUMBBELL, over, seeds=2, set=short, executor=processes, out=tmp_path)
        assert rs.digests == here.digests
        with pytest.raises(bl.UsageError, match="expected a class that other processes can import"):
            bl.sweep(DUMBBELL, {"flows.cc": [failing("init", print)]}, seeds=2, set=short, executor=processes)
        broken = {**short, "bottleneck.loss": 0.1, "flows.cc": Broken}
        with pytest.raises(bl.ControlError, match="OSError: always"):
            bl.sweep(DUMBBELL, seeds=2, set=broken, executor=processes)


class Broken(Reno):
    def ssthresh(self, conn: bl.Conn) -> int:
        raise OSError("always")


numbers = st.integers(-(2**70), 2**70) | st.integers(0, 40) | st.integers(2**29, 2**32)
answers = numbers | st.floats() | st.none() | st.text(max_size=3)


class Hostile(bl.CongestionControl):
    """Executes the actions in `script`, one per event, and begins again after the last."""

    script: ClassVar[list[tuple[str, Any]]] = []

    def __init__(self) -> None:
        self.turn = 0

    def act(self, conn: bl.Conn) -> Any:
        self.turn += 1
        field, value = self.script[self.turn % len(self.script)]
        if field != "return":
            setattr(conn.ctl, field, value)
            return None
        return value

    def init(self, conn: bl.Conn, draw: bl.Draw) -> None:
        self.act(conn)

    def cong_control(self, conn: bl.Conn, rs: bl.RateSample, draw: bl.Draw) -> None:
        self.act(conn)

    def set_state(self, conn: bl.Conn, new: bl.CaState, draw: bl.Draw) -> None:
        self.act(conn)

    def ssthresh(self, conn: bl.Conn) -> int:
        self.turn += 1
        field, value = self.script[self.turn % len(self.script)]
        return value if field == "ssthresh" else 2

    def min_tso_segs(self, conn: bl.Conn) -> int:
        self.turn += 1
        field, value = self.script[self.turn % len(self.script)]
        return value if field == "cwnd_clamp" else 2


fields = st.sampled_from(
    ["cwnd", "cwnd_cnt", "cwnd_clamp", "ssthresh", "pacing_rate", "pacing_status", "app_limited", "ecn_flags", "ack_pending"]
)
within = st.one_of(
    st.tuples(st.just("cwnd"), st.integers(1, 50) | st.integers(1, 2**30)),
    st.tuples(st.just("pacing_rate"), st.integers(1, 2**64 - 1) | st.integers(1, 2_000_000)),
    st.tuples(st.just("ssthresh"), st.integers(1, 2**31 - 1) | st.integers(1, 30)),
    st.tuples(st.just("app_limited"), st.integers(0, 2**32 - 1)),
    st.tuples(st.just("ecn_flags"), st.integers(0, 63)),
    st.tuples(st.just("cwnd_clamp"), st.integers(1, 2**32 - 1)),
    st.tuples(st.just("pacing_status"), st.just(1)),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(fields | st.just("return"), answers) | within, min_size=1, max_size=6), st.sampled_from(list(SETTINGS)))
def test_whatever_a_control_does_is_a_run_or_an_exception(script: list[tuple[str, Any]], name: str) -> None:
    Hostile.script = script
    try:
        first = bl.run(DUMBBELL, {**SETTINGS[name], "duration": "2s", "flows.cc": Hostile})
    except bl.ControlError as error:
        assert isinstance(error.__cause__, (TypeError, ValueError))
        return
    assert first.digest == bl.run(DUMBBELL, {**SETTINGS[name], "duration": "2s", "flows.cc": Hostile}).digest


@settings(max_examples=60)
@given(st.lists(within, min_size=1, max_size=8), st.sampled_from(list(SETTINGS)))
def test_whatever_is_within_bounds_is_a_run(script: list[tuple[str, Any]], name: str) -> None:
    Hostile.script = script
    try:
        bl.run(DUMBBELL, {**SETTINGS[name], "duration": "2s", "flows.cc": Hostile})
    except bl.ControlError as error:
        # All values in `within` are within the bounds of their fields. Only two of these values may be rejected. The
        # first is a pacing status other than the host's. The second is a value of `cwnd_clamp`: the method
        # `Hostile.min_tso_segs` returns this value as the smallest burst, and the value may be too large for a burst.
        assert "pacing_status" in str(error) or "min_tso_segs" in str(error)


def test_controls_that_no_flow_has_are_refused() -> None:
    with pytest.raises(bl.UsageError, match=r"controls: expected a flow with the congestion control 'mine', found none in .*set=\{'flows\.cc': 'mine'\}"):
        bl.run(DUMBBELL, controls={"mine": Reno})
    with pytest.raises(bl.UsageError, match="controls: expected a flow with"):
        bl.sweep(DUMBBELL, {"flows.cc": ["reno", "cubic"]}, controls={"mine": Reno})
    rs = bl.sweep(DUMBBELL, {"flows.cc": ["mine", "reno"]}, set={"duration": "1s"}, controls={"mine": Reno, "other": Reno})
    assert rs.flows["cc"].tolist() == ["mine", "reno"]
