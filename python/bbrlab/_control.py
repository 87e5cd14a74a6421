"""A congestion control of one's own: a class whose methods are the core's events."""

from __future__ import annotations

import hashlib
import inspect
from enum import IntEnum
from typing import ClassVar, TypedDict

from . import _bbrlab
from ._bbrlab import AckSample, Conn, Draw, LostSkb, RateSample

__all__ = ["CaState", "CongestionControl", "CwndEvent", "Info", "PacingStatus"]


class CaState(IntEnum):
    """The state of loss recovery. Linux: `enum tcp_ca_state`, same numbers."""

    OPEN = 0
    """No dubious events."""
    DISORDER = 1
    """Duplicate ACKs or SACKs are present."""
    CWR = 2
    """The window is being reduced because of ECN."""
    RECOVERY = 3
    """Fast recovery."""
    LOSS = 4
    """After a retransmission timeout."""


class CwndEvent(IntEnum):
    """Events that are not ACKs. Linux: `enum tcp_ca_event`, same numbers."""

    TX_START = 0
    """First transmission while nothing is in flight."""
    CWND_RESTART = 1
    """The window restarts after an idle time longer than the RTO."""
    COMPLETE_CWR = 2
    """The end of CWR or of recovery."""
    LOSS = 3
    """A retransmission timeout."""
    ECN_NO_CE = 4
    """ECT is set, but not CE."""
    ECN_IS_CE = 5
    """A CE-marked packet was received."""
    TLP_RECOVERY = 6
    """A tail-loss probe repaired a loss (only with `notes_in_flight`)."""


class PacingStatus(IntEnum):
    """Who paces. Linux: `enum sk_pacing`, same numbers."""

    NONE = 0
    """Nobody."""
    NEEDED = 1
    """TCP's own timer."""
    FQ = 2
    """The `fq` queueing discipline."""


class Info(TypedDict, total=False):
    """What a congestion control reports about itself, for time series and pictures."""

    bw: int
    """Bandwidth estimate in payload bytes per second."""
    min_rtt_us: int
    """Its own minimum RTT in microseconds."""
    inflight_hi: int
    """Long-term bound on inflight in packets."""
    inflight_lo: int
    """Short-term bound on inflight in packets."""
    bw_hi: int
    """Long-term bound on the bandwidth in bytes per second."""
    bw_lo: int
    """Short-term bound on the bandwidth in bytes per second."""


class CongestionControl:
    """What a congestion control of one's own is derived from.

    A subclass overrides the events that it wants; the simulator's Linux sender calls them as the kernel calls those of
    `struct tcp_congestion_ops`. An event that is not overridden is answered as the kernel answers a null callback and, where the
    kernel demands one, as Reno: a class that overrides `ssthresh` alone is Reno with another reduction.

    `conn` is a read-only view of the connection; what a control may write is in `conn.ctl`, and takes effect when the method returns.
    It writes in the events that return nothing; the others return their value. Each connection has an instance of its own, made with
    the flow's `cc_params` as keywords. Nothing but its arguments may decide what a method does: then the same scenario and seed
    give the same digest. Random numbers come from `draw`.

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
    """Whether it negotiates ECN by itself and sets ECT on every packet, as DCTCP. Linux: `TCP_CONG_NEEDS_ECN`."""

    notes_in_flight: ClassVar[bool] = False
    """Whether samples tell what was in flight and lost when their packet was sent: `tx_in_flight` and `lost`, as the trees of BBRv2 and
    BBRv3 do."""

    answers_share_of_marks: ClassVar[bool] = False
    """Whether it answers the marks of a round trip by their share. Receivers then echo mark by mark, and a flow may ask for
    `ecn = "l4s"`."""

    def init(self, conn: Conn, draw: Draw) -> None:
        """The connection is established."""

    def cwnd_event(self, conn: Conn, event: CwndEvent, draw: Draw) -> None:
        """Something happened that is not an ACK."""

    def set_state(self, conn: Conn, new: CaState, draw: Draw) -> None:
        """The loss-recovery state is about to become `new`; `conn.ca_state` still is the old one."""

    def skb_marked_lost(self, conn: Conn, skb: LostSkb, draw: Draw) -> None:
        """A packet was marked lost; `conn.lost` already counts it."""

    def ssthresh(self, conn: Conn) -> int:
        """The slow start threshold for a new loss episode, in packets. Half the window if not overridden, at least 2."""
        return _bbrlab.reno_ssthresh(conn)

    def undo_cwnd(self, conn: Conn) -> int:
        """The window to go back to after a spurious episode, in packets. That from before the episode if not overridden."""
        return _bbrlab.reno_undo_cwnd(conn)

    def cong_control(self, conn: Conn, rs: RateSample, draw: Draw) -> None:
        """An ACK, for a control that sets window and pacing rate itself in all states.

        A class that overrides it has neither `cong_avoid` called nor its window reduced by PRR.
        """

    def cong_avoid(self, conn: Conn, ack: int, acked: int) -> None:
        """An ACK outside of recovery: new data was acknowledged up to `ack`, and `acked` packets are newly (S)ACKed.

        In recovery PRR sets the window, and the pacing rate follows from window and RTT. Grows as Reno does if not overridden.
        """
        _bbrlab.reno_cong_avoid(conn, acked)

    def pkts_acked(self, conn: Conn, sample: AckSample) -> int | None:
        """Packets left the network. Returns another slow start threshold in packets, or None."""
        return None

    def in_ack_event(self, conn: Conn, flags: int) -> None:
        """An ACK arrived; `flags` are 1 slow path, 2 window update, 4 ECN echo."""

    def tso_segs(self, conn: Conn, mss_now: int) -> int:
        """The size of the next burst in segments of `mss_now` bytes. If not overridden, a millisecond at the pacing rate."""
        return 1

    def min_tso_segs(self, conn: Conn) -> int:
        """The smallest burst in segments, which has to follow from the pacing rate alone. 2 if not overridden."""
        return 2

    def sndbuf_expand(self) -> int:
        """The factor by which the send buffer exceeds the window. 2 if not overridden."""
        return 2

    def info(self, conn: Conn) -> Info:
        """The values of interest for a time series."""
        return {}


def source_of(control: type[CongestionControl]) -> tuple[str, str | None]:
    """Where a class comes from, and the SHA-256 of its text, of its bases' and of the files that they are in.

    The hash is None if the text of one of the classes cannot be had, as of what was typed at a prompt.
    """
    digest = hashlib.sha256()
    name = f"{control.__module__}.{control.__qualname__} in Python"
    for part in control.__mro__:
        if part in (CongestionControl, object):
            continue
        try:
            text = inspect.getsource(part)
        except (OSError, TypeError):
            return name, None
        digest.update(f"{part.__qualname__}\n{text}\n".encode())
        module = inspect.getmodule(part)
        if getattr(module, "__file__", None) is not None:
            try:
                digest.update(inspect.getsource(module).encode())  # type: ignore[arg-type]
            except (OSError, TypeError):
                return name, None
    return name, digest.hexdigest()
