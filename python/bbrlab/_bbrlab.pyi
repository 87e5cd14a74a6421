"""The Rust half of the package."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

from ._control import CaState, CongestionControl, PacingStatus

__all__ = [
    "AckSample",
    "COMMIT",
    "Chunk",
    "Conn",
    "Control",
    "Draw",
    "Frame",
    "Gathering",
    "LostSkb",
    "RateSample",
    "RunRecords",
    "Scenario",
    "Simulation",
    "SweepRecords",
    "VERSION",
    "answer",
    "command",
    "figure_of",
    "finish",
    "open_folder",
    "reno_cong_avoid",
    "reno_ssthresh",
    "reno_undo_cwnd",
    "run",
    "sweep",
    "weights",
]

VERSION: str
COMMIT: str

@final
class Scenario:
    def __new__(
        cls,
        source: str | PathLike[str] | Mapping[str, Any] | Scenario | None = None,
        /,
        set: Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
        *,
        controls: Mapping[str, type[CongestionControl]] | None = None,
        name: str | None = None,
        **keys: Any,
    ) -> Scenario: ...
    @property
    def controls(self) -> dict[str, type[CongestionControl]]: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def runs(self) -> int: ...
    @property
    def points(self) -> int: ...
    @property
    def seeds(self) -> int: ...
    def to_toml(self) -> str: ...
    def run_toml(self, run: int) -> str: ...
    def set(self, values: Mapping[str, Any] | Sequence[str | Mapping[str, Any]]) -> Scenario: ...
    def swept(self, sweep: Mapping[str, Any] | None = None, seeds: int | None = None) -> Scenario: ...
    def estimate(self) -> dict[str, float]: ...
    def _flows_of_tables(self) -> list[int | None]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @staticmethod
    def _restore(
        name: str, text: str, controls: Mapping[str, type[CongestionControl]] | None = None
    ) -> Scenario: ...

@final
class Conn:
    """A read-only view of the sender: the core's fields under its names, in its units."""

    @property
    def ctl(self) -> Control:
        """What a congestion control may write."""
    @property
    def clock_ns(self) -> int:
        """TCP clock in nanoseconds. When a run begins it shows 32.768 s."""
    @property
    def tcp_mstamp(self) -> int:
        """Its whole microseconds."""
    @property
    def wstamp_ns(self) -> int:
        """Earliest departure time of the next packet in nanoseconds."""
    @property
    def jiffies(self) -> int:
        """Ticks of `hz`, 32 bits."""
    @property
    def snd_nxt(self) -> int:
        """Next byte to send."""
    @property
    def snd_una(self) -> int:
        """First unacknowledged byte."""
    @property
    def rcv_nxt(self) -> int:
        """Next byte expected from the peer."""
    @property
    def max_packets_out(self) -> int:
        """The most packets outstanding in the last window."""
    @property
    def ca_state(self) -> CaState:
        """State of loss recovery."""
    @property
    def is_cwnd_limited(self) -> bool:
        """Whether the sender was recently limited by cwnd."""
    @property
    def tlp_orig_app_limited(self) -> bool:
        """Whether the packet that a tail-loss probe retransmitted was sent application-limited."""
    @property
    def inflight(self) -> int:
        """Packets in flight."""
    @property
    def mss(self) -> int:
        """Payload bytes of a full segment."""
    @property
    def srtt_us(self) -> int:
        """Smoothed RTT in microseconds times 8; 0 for none."""
    @property
    def min_rtt_us(self) -> int:
        """Windowed minimum RTT of the stack in microseconds; 4294967295 for none."""
    @property
    def delivered(self) -> int:
        """Packets delivered so far; wraps at 32 bits."""
    @property
    def delivered_ce(self) -> int:
        """Packets delivered with a CE mark; wraps."""
    @property
    def delivered_mstamp(self) -> int:
        """Time of the latest delivery in microseconds."""
    @property
    def lost(self) -> int:
        """Packets marked lost so far; wraps."""
    @property
    def lsndtime(self) -> int:
        """When data was last sent, in jiffies."""
    @property
    def prior_cwnd(self) -> int:
        """cwnd before the last reduction, in packets."""
    @property
    def hz(self) -> int:
        """Jiffies per second."""
    @property
    def pacing_shift(self) -> int:
        """`sk_pacing_shift`."""
    @property
    def gso_max_size(self) -> int:
        """Most bytes of a burst."""
    @property
    def max_pacing_rate(self) -> int:
        """Upper bound of the pacing rate in bytes per second."""
    @property
    def in_slow_start(self) -> bool:
        """Whether cwnd is below ssthresh."""

@final
class Control:
    """The fields of the connection that a congestion control may write, in the events that return nothing.

    Raises:
        TypeError: If a value is no whole number.
        ValueError: If it is out of range.
        RuntimeError: If no such event is under way.
    """

    @property
    def cwnd(self) -> int:
        """Congestion window in packets, at least 1."""
    @cwnd.setter
    def cwnd(self, value: int) -> None: ...
    @property
    def cwnd_cnt(self) -> int:
        """Linear increase counter in packets."""
    @cwnd_cnt.setter
    def cwnd_cnt(self, value: int) -> None: ...
    @property
    def cwnd_clamp(self) -> int:
        """Upper bound of cwnd in packets, which a control is expected to respect."""
    @cwnd_clamp.setter
    def cwnd_clamp(self, value: int) -> None: ...
    @property
    def ssthresh(self) -> int:
        """Slow start threshold in packets; 2147483647 at first."""
    @ssthresh.setter
    def ssthresh(self, value: int) -> None: ...
    @property
    def pacing_rate(self) -> int:
        """Payload bytes per second; 18446744073709551615 means unset. Window-based controls get it from the sender."""
    @pacing_rate.setter
    def pacing_rate(self, value: int) -> None: ...
    @property
    def pacing_status(self) -> PacingStatus:
        """Who paces. A control that wants to be paced sets `PacingStatus.NEEDED` where it is `NONE`, mostly in `init`."""
    @pacing_status.setter
    def pacing_status(self, value: int) -> None: ...
    @property
    def app_limited(self) -> int:
        """The `delivered` count at which the application-limited bubble ends, 0 for none."""
    @app_limited.setter
    def app_limited(self, value: int) -> None: ...
    @property
    def ecn_flags(self) -> int:
        """Bits: 1 negotiated, 2 send CWR, 4 echo ECE, 8 ECT seen; of BBRv2 and v3 16 and 32."""
    @ecn_flags.setter
    def ecn_flags(self, value: int) -> None: ...
    @property
    def ack_pending(self) -> int:
        """Bits of the receiver's pending ACK: 2 delayed-ACK timer armed, 16 ACK now."""
    @ack_pending.setter
    def ack_pending(self, value: int) -> None: ...

@final
class RateSample:
    """A delivery-rate sample. Linux: `struct rate_sample`."""

    @property
    def delivered(self) -> int:
        """Packets delivered over the interval; -1 for an invalid sample."""
    @property
    def delivered_ce(self) -> int:
        """How many of them carried a CE mark."""
    @property
    def interval_us(self) -> int:
        """Length of the interval in microseconds; -1 for an invalid sample."""
    @property
    def rtt_us(self) -> int:
        """RTT of this ACK in microseconds; -1 for none."""
    @property
    def losses(self) -> int:
        """Packets newly marked lost by this ACK."""
    @property
    def lost(self) -> int:
        """Packets lost over the interval, with `notes_in_flight`."""
    @property
    def acked_sacked(self) -> int:
        """Packets newly acknowledged or SACKed by this ACK."""
    @property
    def prior_in_flight(self) -> int:
        """Packets in flight before this ACK."""
    @property
    def prior_delivered(self) -> int:
        """The connection's `delivered` when the sampled packet was sent."""
    @property
    def tx_in_flight(self) -> int:
        """Packets in flight just after the sampled packet was sent, with `notes_in_flight`."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the sampled packet was sent application-limited."""
    @property
    def is_ack_delayed(self) -> bool:
        """Whether the ACK may have been delayed."""
    @property
    def is_ece(self) -> bool:
        """Whether the ACK carried ECE."""
    @property
    def is_tlp_ack(self) -> bool:
        """Whether the ACK matches a tail-loss probe's retransmission."""

@final
class AckSample:
    """What an ACK acknowledged. Linux: `struct ack_sample`."""

    @property
    def pkts_acked(self) -> int:
        """Packets acknowledged."""
    @property
    def rtt_us(self) -> int:
        """RTT in microseconds; -1 for none."""
    @property
    def in_flight(self) -> int:
        """Bytes in flight when the newest of them was sent."""

@final
class LostSkb:
    """A packet that was marked lost, with what was recorded when it was sent."""

    @property
    def seq(self) -> int:
        """Its first sequence number."""
    @property
    def end_seq(self) -> int:
        """One past its last sequence number."""
    @property
    def pcount(self) -> int:
        """Segments in it."""
    @property
    def in_flight(self) -> int:
        """Packets in flight just after it was sent, itself included."""
    @property
    def lost(self) -> int:
        """The connection's `lost` when it was sent."""
    @property
    def is_app_limited(self) -> bool:
        """Whether it was sent application-limited."""
    @property
    def delivered_mstamp(self) -> int:
        """`delivered_mstamp` when it was sent; 0 if that stamp was already used up."""

@final
class Draw:
    """The source of a flow's random integers, derived from the run's seed, for as long as the event lasts."""

    def below(self, bound: int) -> int:
        """A random integer in 0..bound; `bound` is at most 4294967295.

        Raises:
            RuntimeError: If no event with a `draw` is under way.
        """

@final
class Simulation:
    def __new__(cls, scenario: Scenario, run: int) -> Simulation: ...
    def advance(self, until_ns: int) -> bool: ...
    def finish(self) -> RunRecords: ...

@final
class Chunk:
    @property
    def kind(self) -> str: ...
    @property
    def nulls(self) -> int: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self, /) -> int: ...
    def valid(self) -> bytes: ...
    def texts(self) -> list[str | None]: ...

@final
class Frame:
    @property
    def names(self) -> list[str]: ...
    def __len__(self, /) -> int: ...
    def chunks(self, name: str) -> list[Chunk]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    @staticmethod
    def _restore(stream: bytes) -> Frame: ...

@final
class Gathering:
    def __new__(cls, runs: int) -> Gathering: ...
    def add(self, tables: Sequence[Frame]) -> None: ...
    def records(self, computed: int, repeated: int) -> SweepRecords: ...

@final
class RunRecords:
    @property
    def toml(self) -> str: ...
    @property
    def folder(self) -> Path | None: ...
    @property
    def digest(self) -> str | None: ...
    def summary(self) -> dict[str, Any]: ...
    def frame(self, name: str) -> Frame: ...
    def table(self, width: int | None = None) -> str: ...
    def html(self) -> str: ...
    def write(self, folder: str | PathLike[str], *, force: bool = False) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @staticmethod
    def _restore(
        tables: Sequence[Frame], more: Sequence[Frame], toml: str, folder: str | PathLike[str] | None
    ) -> RunRecords: ...

@final
class SweepRecords:
    @property
    def folder(self) -> Path | None: ...
    @property
    def computed(self) -> int: ...
    @property
    def found(self) -> int: ...
    def __len__(self, /) -> int: ...
    def run_folder(self, n: int) -> Path | None: ...
    def summary(self, n: int) -> dict[str, Any]: ...
    @property
    def repeated(self) -> int: ...
    def tables(self) -> list[Frame]: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @staticmethod
    def _restore(tables: Sequence[Frame], out: str | PathLike[str] | None, counts: tuple[int, int, int]) -> SweepRecords: ...
    def digests(self) -> list[str | None]: ...
    def groups(self) -> list[dict[str, Any]]: ...
    def means(
        self, values: Sequence[float | None]
    ) -> list[tuple[int, int, float | None, tuple[float, float] | None]]: ...
    def frame(self, name: str) -> Frame: ...
    def table(self, width: int | None = None) -> str: ...
    def html(self) -> str: ...

def reno_cong_avoid(conn: Conn, acked: int) -> None: ...
def reno_ssthresh(conn: Conn) -> int: ...
def reno_undo_cwnd(conn: Conn) -> int: ...
def command(words: Sequence[str], again: Sequence[str]) -> int: ...
def answer(words: Sequence[str]) -> str: ...
def run(
    scenario: Scenario,
    *,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    pictures: bool = True,
    limit: int | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> RunRecords: ...
def sweep(
    scenario: Scenario,
    *,
    only: Sequence[int] | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    pictures: bool = True,
    jobs: int | None = None,
    limit: int | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> SweepRecords: ...
def weights(scenario: Scenario) -> Frame: ...
def finish(
    scenario: Scenario, out: str | PathLike[str], *, pictures: bool, computed: int, repeated: int
) -> SweepRecords: ...
def figure_of(column: str) -> Literal["run", "bottleneck", "group", "flow"] | None: ...
def open_folder(folder: str | PathLike[str]) -> RunRecords | SweepRecords: ...
