"""Custom congestion controls: a base class whose methods handle the events of the simulator's core."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Mapping
from enum import IntEnum
from types import CodeType
from typing import ClassVar, TypedDict

from . import _bbrlab
from ._bbrlab import AckSample, Conn, Draw, LostSkb, RateSample

__all__ = ["CaState", "CongestionControl", "CwndEvent", "Info", "PacingStatus"]


class CaState(IntEnum):
    """The state of loss recovery. Linux: `enum tcp_ca_state`, same numbers."""

    OPEN = 0
    """Nothing suggests a loss."""
    DISORDER = 1
    """Duplicate ACKs or SACKs are present."""
    CWR = 2
    """cwnd is being reduced because of ECN, or because a tail-loss probe repaired a loss."""
    RECOVERY = 3
    """Fast recovery."""
    LOSS = 4
    """Recovery after a retransmission timeout."""


class CwndEvent(IntEnum):
    """Events that are not ACKs. Linux: `enum tcp_ca_event`, same numbers."""

    TX_START = 0
    """First transmission while nothing is in flight."""
    CWND_RESTART = 1
    """cwnd is reduced after an idle time longer than the RTO."""
    COMPLETE_CWR = 2
    """The end of CWR or of fast recovery (only without `cong_control`)."""
    LOSS = 3
    """A retransmission timeout."""
    ECN_NO_CE = 4
    """A packet with ECT, but without a CE mark, was received. The simulator never reports this event."""
    ECN_IS_CE = 5
    """A CE-marked packet was received. The simulator never reports this event."""
    TLP_RECOVERY = 6
    """A tail-loss probe repaired a loss. This event is reported only to classes with `notes_in_flight = True`."""


class PacingStatus(IntEnum):
    """The entity that paces. Linux: `enum sk_pacing`, same numbers."""

    NONE = 0
    """Nothing paces the flow."""
    NEEDED = 1
    """TCP's own timer paces."""
    FQ = 2
    """The `fq` queueing discipline paces."""


class Info(TypedDict, total=False):
    """Values that a congestion control reports about itself, for time series and plots."""

    bw: int
    """Bandwidth estimate in payload bytes per second."""
    min_rtt_us: int
    """The congestion control's minimum RTT in microseconds."""
    inflight_hi: int
    """Long-term bound on inflight in packets."""
    inflight_lo: int
    """Short-term bound on inflight in packets."""
    bw_hi: int
    """Long-term bound on the bandwidth in bytes per second."""
    bw_lo: int
    """Short-term bound on the bandwidth in bytes per second."""


class CongestionControl:
    """The base class of custom congestion controls.

    A subclass overrides the methods of events. The simulator's Linux sender calls these methods as the kernel calls the
    callbacks of `struct tcp_congestion_ops`. An event that is not overridden behaves like a null callback or, if the
    kernel requires the callback, like Reno's. A class that overrides only `ssthresh` is therefore Reno with another
    reduction.

    `conn` is a read-only view of the connection. The writable fields are in `conn.ctl`; they take effect when the
    method returns. A method may write these fields if its event returns nothing; the methods of other events return a
    value instead. Each connection has its own instance, made with the flow's `cc_params` as keywords. A method's effect
    may depend only on its arguments and its instance, so that the same scenario and seed give the same digest. Random
    numbers come from `draw`.

    >>> import bbrlab as bl
    >>> class Gentle(bl.CongestionControl):
    ...     def __init__(self, keep: float = 0.875) -> None:
    ...         self.keep = keep
    ...
    ...     def ssthresh(self, conn: bl.Conn) -> int:
    ...         return max(int(conn.ctl.cwnd * self.keep), 2)
    >>> r = bl.run("examples.dumbbell", {"flows.cc": Gentle, "flows.cc_params": {"keep": 0.75}})
    >>> r.flows["cc"].tolist(), r.summary["controls"][0]["name"]
    (['Gentle'], 'Gentle')
    """

    needs_ecn: ClassVar[bool] = False
    """Whether the congestion control sets ECT on every packet, also on retransmissions, like DCTCP. The flow also needs
    `ecn`: otherwise, its receiver does not accept ECN. Linux: `TCP_CONG_NEEDS_ECN`."""

    notes_in_flight: ClassVar[bool] = False
    """Whether rate samples contain `tx_in_flight`, the packets in flight when the sampled packet was sent, and `lost`,
    the packets lost since then.

    The kernel trees of BBRv2 and BBRv3 have the fields `tx_in_flight` and `lost`."""

    answers_share_of_marks: ClassVar[bool] = False
    """Whether the congestion control responds to the share of marked packets in a round trip. With such a control,
    receivers echo every mark, and a flow may have `ecn = "l4s"`."""

    def init(self, conn: Conn, draw: Draw) -> None:
        """The connection has just been established."""

    def cwnd_event(self, conn: Conn, event: CwndEvent, draw: Draw) -> None:
        """An event other than an ACK occurred: `event` says which."""

    def set_state(self, conn: Conn, new: CaState, draw: Draw) -> None:
        """The loss-recovery state is about to become `new`; `conn.ca_state` is still the old state."""

    def skb_marked_lost(self, conn: Conn, skb: LostSkb, draw: Draw) -> None:
        """A packet was marked lost; `conn.lost` already counts it."""

    def ssthresh(self, conn: Conn) -> int:
        """Returns the slow start threshold for a new loss episode, in packets.

        The default is half the window, but at least 2.
        """
        return _bbrlab.reno_ssthresh(conn)

    def undo_cwnd(self, conn: Conn) -> int:
        """Returns the window in packets to restore after a spurious loss episode. The default is the larger of the
        current window and the window before that episode."""
        return _bbrlab.reno_undo_cwnd(conn)

    def cong_control(self, conn: Conn, rs: RateSample, draw: Draw) -> None:
        """Handles an ACK in any state of loss recovery, for a congestion control that sets window and pacing rate
        itself.

        For a class that overrides `cong_control`, `cong_avoid` is not called and PRR does not reduce the window.
        """

    def cong_avoid(self, conn: Conn, ack: int, acked: int) -> None:
        """Handles an ACK of new data outside of CWR and fast recovery.

        Data up to `ack` is acknowledged, and `acked` packets are newly (S)ACKed. In CWR and fast recovery, PRR sets the
        window. The pacing rate follows from window and RTT. By default the window grows like Reno's.
        """
        _bbrlab.reno_cong_avoid(conn, acked)

    def pkts_acked(self, conn: Conn, sample: AckSample) -> int | None:
        """Handles an ACK that acknowledges or SACKs data for the first time. Returns a new slow start threshold in
        packets, or None to keep it."""
        return None

    def in_ack_event(self, conn: Conn, flags: int) -> None:
        """An ACK arrived. `flags` is the sum of 1 (slow path), 2 (window update) and 4 (ECN echo), as far as they
        apply."""

    def tso_segs(self, conn: Conn, mss_now: int) -> int:
        """Returns the size of the next burst in segments of `mss_now` bytes. If a class does not override this method,
        the sender does not call it. A burst then has about the data of 1 ms at the pacing rate, or more if the minimum
        RTT is below 5 ms, but at least `min_tso_segs` segments."""
        return 1

    def min_tso_segs(self, conn: Conn) -> int:
        """Returns the smallest burst in segments. The smallest burst may depend only on the pacing rate. The default is
        2. A class that overrides `tso_segs` does not use `min_tso_segs`."""
        return 2

    def sndbuf_expand(self) -> int:
        """Returns the ratio of the send buffer's size to the size of the window. The default is 2."""
        return 2

    def on_sent(self, conn: Conn, sent: int, retransmitted: int, draw: Draw) -> None:
        """The sender has sent `sent` data packets, of which `retransmitted` had been sent before. Linux has no such
        event.

        This callback is called once, at the end of the ACK, timer or write that has sent the packets. Changes of
        `conn.ctl` apply from the next event on.
        """

    def on_timer(self, conn: Conn, draw: Draw) -> None:
        """The timer that an event has set by `conn.ctl.timer_us` has fired. Linux has no such event.

        A congestion control has one timer, which fires once. Setting the timer again moves it, None disarms it, and the
        timer ends with the flow.
        """

    def info(self, conn: Conn) -> Info | Mapping[str, float]:
        """Returns values for a row of the time series.

        Keys of `Info` fill the columns of the series. Every other key becomes a column of its own in `Result.series`.
        Such a column has no values for a flow with several connections.
        """
        return {}


EVENTS = tuple(name for name, value in vars(CongestionControl).items() if inspect.isfunction(value))
SWITCHES = ("needs_ecn", "notes_in_flight", "answers_share_of_marks")
OTHER_WORDS = {
    "on_ack": ("cong_avoid", "cong_control"),
    "on_packet_acked": ("cong_avoid", "cong_control"),
    "on_packets_acked": ("cong_avoid", "cong_control"),
    "on_loss": ("ssthresh",),
    "on_packet_lost": ("ssthresh",),
    "on_packets_lost": ("ssthresh",),
    "on_congestion_event": ("ssthresh",),
    "get_ssthresh": ("ssthresh",),
    "congestion_avoidance": ("cong_avoid",),
    "increase_window": ("cong_avoid",),
    "congestion_control": ("cong_control",),
    "on_packet_sent": ("on_sent",),
}
"""Names of events in other simulators and stacks, each with the nearest events of `CongestionControl`."""


def check_names(control: type[CongestionControl]) -> None:
    """Checks that no name in a class is a misspelt event or Boolean attribute, which bbrlab would never call or read.

    Helpers are not checked: names that the class's own methods use, and names that begin with an underscore, or with an
    event's name and an underscore.

    Raises:
        TypeError: If a name is close to the name of an event or a Boolean attribute, or is the name of an event in
            another simulator.
    """
    parts = [part for part in control.__mro__ if part not in (CongestionControl, object)]
    used = {name for part in parts for value in vars(part).values() for name in _names_in(value)}
    for part in parts:
        for name, value in vars(part).items():
            if name.startswith("_") or name in EVENTS or name in SWITCHES or name in used:
                continue
            known = EVENTS if callable(value) else SWITCHES if isinstance(value, bool) else ()
            if any(name.startswith(f"{event}_") for event in EVENTS):
                continue
            other = OTHER_WORDS.get(name, ()) if known is EVENTS else ()
            if len(other) > 1:
                raise TypeError(
                    f"{control.__qualname__}.{name}: expected the name of an event, found one of other simulators; ACKs call `cong_avoid`, "
                    "which sets the window outside of CWR and fast recovery, or `cong_control`, which sets window and "
                    f"pacing rate in all states; rename it to one of them, or to '_{name}' if it is a helper"
                )
            for near in other or difflib.get_close_matches(name, known, 1, 0.8):
                what = f"the event {near!r}" if near in EVENTS else f"the attribute {near!r}"
                raise TypeError(
                    f"{control.__qualname__}.{name}: expected a name that is not mistaken for {what}, which the class "
                    f"{'also has' if near in vars(part) else 'does not have'}; rename it to {near!r}, or to '_{name}' if it is a helper"
                )


def _names_in(value: object) -> set[str]:
    """Returns the names of attributes and globals that a function uses."""
    value = getattr(value, "__func__", value)
    codes = [value.__code__] if inspect.isfunction(value) else []
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [one for one in code.co_consts if isinstance(one, CodeType)]
    return names


def source_of(control: type[CongestionControl]) -> tuple[str, str | None, str | None]:
    """Returns a name for a class, the SHA-256 of its source text, and the source text.

    The name has the class's module and ends with "in Python". The text contains the class and its base classes, each as
    the whole file that contains it. If a class was typed in a notebook or at a prompt, the text contains its members
    instead. If Python does not find the source of a method, the text contains the method's compiled code. Hash and text
    are None if a method has neither source nor compiled Python code, such as a method that is written in C.
    """
    name = f"{control.__module__}.{control.__qualname__} in Python"
    blocks: list[str] = []
    shown: set[str] = set()
    for part in reversed(control.__mro__):
        if part in (CongestionControl, object):
            continue
        file = _file_of(part)
        if file is None:
            if (members := _members(part)) is None:
                return name, None, None
            blocks.append(f"# {part.__qualname__}: a class without a file\n\n{members}\n")
        elif file in shown:
            blocks.append(f"# {part.__qualname__}: in the file above\n")
        else:
            shown.add(file)
            blocks.append(f"# {part.__qualname__}: in this file\n\n{file}")
    text = "\n".join(blocks)
    return name, hashlib.sha256(text.encode()).hexdigest(), text


def _file_of(part: type) -> str | None:
    """Returns the text of the file that contains a class; None if there is no such file."""
    module = inspect.getmodule(part)
    if module is None or getattr(module, "__file__", None) is None:
        return None
    try:
        inspect.getsource(part)
        return inspect.getsource(module)
    except (OSError, TypeError):
        return None


GIVEN_BY_PYTHON = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__qualname__",
    "__firstlineno__",
    "__static_attributes__",
    "__annotate_func__",
    "__annotations_cache__",
}
"""Names in the `__dict__` of a class that do not come from the class's text, or come only from annotations in the
text."""


def _members(part: type) -> str | None:
    """Returns the Python text of a class that no file contains; None if a member has no text, or a text that differs
    between processes."""
    bases = ", ".join(base.__name__ for base in part.__bases__)
    texts = []
    for name, value in vars(part).items():
        if name in GIVEN_BY_PYTHON:
            continue
        text = _text_of(name, value)
        if text is None:
            return None
        texts.append(textwrap.indent(text, "    "))
    return f"class {part.__name__}({bases}):\n" + "\n".join(texts)


def _text_of(name: str, value: object) -> str | None:
    """Returns the lines of a class that define a member. A value that cannot be written as Python code becomes a
    comment. For a callable that is neither a function nor a class, returns None."""
    if isinstance(value, (staticmethod, classmethod)):
        text = _text_of(name, value.__func__)
        return None if text is None else f"# {name}: {type(value).__name__}\n{text}"
    if isinstance(value, property):
        parts = [_text_of(name, part) for part in (value.fget, value.fset, value.fdel) if part is not None]
        # Without the first line, a property and the plain method from which it is made would have the same text.
        return None if None in parts else "\n".join([f"# {name}: property", *(part for part in parts if part is not None)])
    if inspect.isfunction(value):
        try:
            text = textwrap.dedent(inspect.getsource(value))
        except (OSError, TypeError):
            text = _comment(f"{name}: no text; compiled code: {_code(value.__code__)}")
        if value.__name__ != name:
            text = _comment(f"{name}: the function {value.__name__}") + text
        if value.__defaults__ is None and value.__kwdefaults__ is None:
            return text
        return text + _comment(f"{name}: values of the defaults: {value.__defaults__!r} {value.__kwdefaults__!r}")
    if isinstance(value, (int, float, str, bytes, tuple, frozenset, type(None))):
        return f"{name} = {value!r}\n"
    if isinstance(value, type):
        return _comment(f"{name}: {value!r}")
    # No other callable has a text. For an object that is not callable, the text has only the object's class, because a
    # method may change the object during a run.
    return None if callable(value) else _comment(f"{name}: an object of the class {type(value).__qualname__}")


def _comment(text: str) -> str:
    return textwrap.indent(text, "# ", lambda line: True) + "\n"


def _code(code: CodeType) -> str:
    """Returns compiled code as text. Equal code gives equal text within one version of Python."""
    constants = [_code(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return f"{sys.implementation.cache_tag} {code.co_name} {code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
