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
    "compare",
    "figure_of",
    "figures",
    "finish",
    "headings",
    "open_folder",
    "reno_cong_avoid",
    "reno_ssthresh",
    "reno_undo_cwnd",
    "run",
    "sweep",
    "titles",
    "weights",
]

VERSION: str
COMMIT: str

@final
class Scenario:
    """A scenario, parsed and checked: the network and its flows. A scenario is immutable, can be
    pickled, and is equal to a scenario with the same name and hash.

    Args:
        source: A file, a folder of results, the id of a built-in scenario, another scenario, or a
            dict in the form of a scenario file. Without a source, give the file's keys and tables
            as keywords.
        set: Values of keys that replace those of the source: a dict, or a list of `"key=value"`.
        controls: Custom congestion controls: a dict from their names in the scenario to classes or
            to paths of shared objects.
        name: The scenario's name, instead of the file's or the built-in's.

    Raises:
        `ScenarioError`: If the scenario is invalid. The message is the same as on the command
            line, with the place of each mistake.
        `TypeError`: If an argument, or a value in it, has a type that no scenario can contain, or
            if there is both a source and keywords, or neither.
        `ValueError`: If there are too many or too deeply nested values, a whole number has more
            than 64 bits, or a duration has no unit or no fixed length.

    >>> import bbrlab as bl
    >>> bl.Scenario("examples.dumbbell", {"flows.cc": "bbr3"}).runs
    1
    >>> bl.Scenario(
    ...     duration="10s",
    ...     bottleneck={"rate": "50Mbit/s", "buffer": "1bdp"},
    ...     flows=[{"cc": "bbr3", "rtt": "30ms"}, {"cc": "cubic", "rtt": "30ms", "start": "2s"}],
    ... )
    <bbrlab.Scenario "python", 1 run, hash f13f6add1cc4>
    """
    def __new__(
        cls,
        source: str | PathLike[str] | Mapping[str, Any] | Scenario | None = None,
        /,
        set: Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
        *,
        controls: Mapping[str, type[CongestionControl] | str | PathLike[str]] | None = None,
        name: str | None = None,
        **keys: Any,
    ) -> Scenario: ...
    @property
    def controls(self) -> dict[str, type[CongestionControl] | str]:
        """The custom congestion controls: a dict from their names in the scenario to classes or to
        paths of shared objects."""
    @property
    def name(self) -> str:
        """The scenario's name: by default the file's without its extension, the built-in's id, or
        `python` for a dict or keywords.
        """
    @property
    def title(self) -> str:
        """The scenario's title; empty if it has none."""
    @property
    def hash(self) -> str:
        """The hash of all sweep points and seeds, in hexadecimal. Keys that are not simulated, such as
        the title, do not change the hash.
        """
    @property
    def runs(self) -> int:
        """Number of runs: `points * seeds`; an upper bound if `repeat` has `until`."""
    @property
    def points(self) -> int:
        """Number of sweep points; 1 without a sweep."""
    @property
    def seeds(self) -> int:
        """Number of seeds per sweep point; the largest number if `repeat` has `until`."""
    def to_toml(self) -> str:
        """Returns the whole scenario as the text of a file, with its sweep and seeds.

        >>> import bbrlab as bl
        >>> print(*bl.Scenario("examples.dumbbell").to_toml().splitlines()[:2], sep="\\n")
        title = "One BBR flow over one bottleneck"
        duration = "20s"
        """
    def run_toml(self, run: int) -> str:
        """Returns the scenario of one run as the text of a file.

        Args:
            run: The run's number, from 0.

        Raises:
            `IndexError`: If the run does not exist.

        >>> import bbrlab as bl
        >>> "seed = 3" in bl.Scenario("examples.two-bbr").run_toml(2)
        True
        """
    def set(self, values: Mapping[str, Any] | Sequence[str | Mapping[str, Any]]) -> Scenario:
        """Returns the scenario with other values of some keys.

        Args:
            values: A dict, or a list of `"key=value"`.

        Raises:
            `ScenarioError`: If a key does not exist or a value is invalid.

        >>> import bbrlab as bl
        >>> s = bl.Scenario("examples.dumbbell")
        >>> s.set({"bottleneck.buffer": "4bdp", "flows.count": 2}) == s.set(["bottleneck.buffer=4bdp", "flows.count=2"])
        True
        """
    def swept(self, sweep: Mapping[str, Any] | None = None, seeds: int | None = None) -> Scenario:
        """Returns the scenario with a sweep.

        Args:
            sweep: Keys, each with a list of values. A key that is already swept gets these values;
                other swept keys stay.
            seeds: Runs per sweep point, each with its own seed.

        Raises:
            `ScenarioError`: If the scenario is invalid at a sweep point, or has too many sweep
                points.

        >>> import bbrlab as bl
        >>> s = bl.Scenario("examples.dumbbell").swept({"flows.cc": ["bbr1", "cubic"], "flows.count": [1, 2, 4]}, seeds=5)
        >>> s.points, s.seeds, s.runs
        (6, 5, 30)
        """
    def estimate(self, *, on: str = "sim") -> dict[str, float]:
        """Returns an estimate of the cost without running: `runs`, `data_packets`, `events`, `cpu_s`,
        `memory_bytes` (of the largest run), `records_bytes` (of the metrics that a sweep of several
        runs returns; 0 for one run) and `series_rows`. The estimate is accurate within a factor of
        two if flows fill the link. `on` is the back end whose CPU time is estimated. A `UsageError`
        names the parts of the scenario that this back end cannot compute.

        >>> import bbrlab as bl
        >>> 10_000 < bl.Scenario("examples.dumbbell").estimate()["data_packets"] < 20_000
        True
        """
    def _flows_of_tables(self) -> list[int | None]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @staticmethod
    def _restore(
        name: str, text: str, controls: Mapping[str, type[CongestionControl] | str] | None = None
    ) -> Scenario: ...

# Written from the core's `fields.rs`; `cargo xtask bless` rewrites it.

@final
class Conn:
    """A view of the sender. A congestion control may change only the fields of `ctl`."""

    @property
    def owd_us(self) -> int | None:
        """One-way delay from the sender to the receiver by the timestamps of the latest ACK, in steps of 1000; None without timestamps. Unit: microseconds. Linux: `tcp_lp_owd_calculator`."""
    @property
    def ctl(self) -> Control:
        """The fields that a congestion control may write."""
    @property
    def clock_ns(self) -> int:
        """TCP clock. In a simulation it starts at 32.768 s. Unit: nanoseconds. Linux: `tcp_clock_cache`."""
    @property
    def wstamp_ns(self) -> int:
        """Earliest departure time of the next packet. Unit: nanoseconds. Linux: `tcp_wstamp_ns`."""
    @property
    def jiffies(self) -> int:
        """The kernel's tick counter, 32 bits; `hz` ticks are a second. Unit: jiffies. Linux: `tcp_jiffies32`."""
    @property
    def snd_nxt(self) -> int:
        """Next byte to send. Unit: sequence number. Linux: `snd_nxt`."""
    @property
    def max_packets_out(self) -> int:
        """The most packets outstanding in the last window. Unit: packets. Linux: `max_packets_out`."""
    @property
    def ca_state(self) -> CaState:
        """State of loss recovery. Linux: `icsk_ca_state`."""
    @property
    def is_cwnd_limited(self) -> bool:
        """Whether the sender was recently limited by cwnd. Linux: `is_cwnd_limited`."""
    @property
    def tlp_orig_app_limited(self) -> bool:
        """Whether the packet that a tail-loss probe retransmitted was sent application-limited. In Linux, only the kernel tree of BBRv3 has this field. Linux: `tlp_orig_data_app_limited`."""
    @property
    def snd_una(self) -> int:
        """First unacknowledged byte. Unit: sequence number. Linux: `snd_una`."""
    @property
    def inflight(self) -> int:
        """Packets in flight. Unit: packets. Linux: `tcp_packets_in_flight`."""
    @property
    def mss(self) -> int:
        """Payload of a full segment. Unit: bytes. Linux: `mss_cache`."""
    @property
    def srtt_us(self) -> int:
        """Smoothed RTT; 0 for none. Unit: microseconds times 8. Linux: `srtt_us`."""
    @property
    def delivered(self) -> int:
        """Packets delivered so far; wraps. Unit: packets. Linux: `delivered`."""
    @property
    def delivered_ce(self) -> int:
        """Packets delivered with a CE mark; wraps. Unit: packets. Linux: `delivered_ce`."""
    @property
    def lost(self) -> int:
        """Packets marked lost so far; wraps. Unit: packets. Linux: `lost`."""
    @property
    def lsndtime(self) -> int:
        """When data was last sent. Unit: jiffies. Linux: `lsndtime`."""
    @property
    def delivered_mstamp(self) -> int:
        """Time of the latest delivery. Unit: microseconds. Linux: `delivered_mstamp`."""
    @property
    def min_rtt_us(self) -> int:
        """Windowed minimum RTT of the stack; 4294967295 for none. Unit: microseconds. Linux: `tcp_min_rtt`."""
    @property
    def prior_cwnd(self) -> int:
        """cwnd before the last reduction. Unit: packets. Linux: `prior_cwnd`."""
    @property
    def rcv_nxt(self) -> int:
        """Next byte expected from the peer. Unit: sequence number. Linux: `rcv_nxt`."""
    @property
    def hz(self) -> int:
        """The kernel's tick rate, a constant of its build. Unit: jiffies per second. Linux: `HZ`."""
    @property
    def pacing_shift(self) -> int:
        """A burst has the bytes that the pacing rate sends in a second, shifted right by this number; 10 by default. Unit: bits. Linux: `sk_pacing_shift`."""
    @property
    def gso_max_size(self) -> int:
        """Upper bound of a burst. Unit: bytes. Linux: `sk_gso_max_size`."""
    @property
    def max_pacing_rate(self) -> int:
        """Upper bound of the pacing rate. Unit: bytes per second. Linux: `sk_max_pacing_rate`."""
    @property
    def tcp_mstamp(self) -> int:
        """The TCP clock. Unit: microseconds. Linux: `tcp_mstamp`."""
    @property
    def in_slow_start(self) -> bool:
        """Whether cwnd is below ssthresh. Linux: `tcp_in_slow_start`."""

@final
class Control:
    """The fields of the connection that a congestion control may write, in the events that return nothing.

    Raises:
        TypeError: If a value is no whole number.
        ValueError: If it is out of range.
        RuntimeError: If no such event is under way.
    """

    @property
    def timer_us(self) -> int | None:
        """Time until `on_timer` is called; None if the timer is not set. Unit: microseconds. From 1 to 3600000000."""
    @timer_us.setter
    def timer_us(self, value: int | None) -> None: ...
    @property
    def cwnd(self) -> int:
        """Congestion window. Unit: packets. From 1 to 1073741824. Linux: `snd_cwnd`."""
    @cwnd.setter
    def cwnd(self, value: int) -> None: ...
    @property
    def cwnd_cnt(self) -> int:
        """Linear increase counter. Unit: packets. From 0 to 4294967295. Linux: `snd_cwnd_cnt`."""
    @cwnd_cnt.setter
    def cwnd_cnt(self, value: int) -> None: ...
    @property
    def cwnd_clamp(self) -> int:
        """Upper bound of cwnd, which a control is expected to respect. Unit: packets. From 1 to 4294967295. Linux: `snd_cwnd_clamp`."""
    @cwnd_clamp.setter
    def cwnd_clamp(self, value: int) -> None: ...
    @property
    def ssthresh(self) -> int:
        """Slow start threshold; 2147483647 at first. Unit: packets. From 1 to 2147483647. Linux: `snd_ssthresh`."""
    @ssthresh.setter
    def ssthresh(self, value: int) -> None: ...
    @property
    def pacing_rate(self) -> int:
        """Rate at which payload is sent; 18446744073709551615 means unset. The sender sets it for window-based controls. Unit: bytes per second. From 1 to 18446744073709551615. Linux: `sk_pacing_rate`."""
    @pacing_rate.setter
    def pacing_rate(self, value: int) -> None: ...
    @property
    def pacing_status(self) -> PacingStatus:
        """The pacer: 0 none, 1 TCP's timer, 2 the `fq` discipline. A control that needs pacing sets this field to 1 if it is 0, usually in `init`; pacing needs no other change. From 0 to 2. Linux: `sk_pacing_status`."""
    @pacing_status.setter
    def pacing_status(self, value: int) -> None: ...
    @property
    def app_limited(self) -> int:
        """The `delivered` count at which the application-limited bubble ends; 0 for none. Unit: packets. From 0 to 4294967295. Linux: `app_limited`."""
    @app_limited.setter
    def app_limited(self, value: int) -> None: ...
    @property
    def ecn_flags(self) -> int:
        """1 ECN negotiated, 2 send CWR, 4 echo ECE, 8 ECT seen. In the kernel tree of BBRv2: 16 ECT on every packet. In the kernel tree of BBRv3: 16 low-latency ECN, 32 ECT on every packet. Unit: bits. From 0 to 63. Linux: `ecn_flags`."""
    @ecn_flags.setter
    def ecn_flags(self, value: int) -> None: ...
    @property
    def ack_pending(self) -> int:
        """The receiver's pending ACK: 2 delayed-ACK timer armed, 16 ACK now. Unit: bits. From 0 to 31. Linux: `icsk_ack.pending`."""
    @ack_pending.setter
    def ack_pending(self, value: int) -> None: ...

@final
class RateSample:
    """A delivery-rate sample. Linux: `struct rate_sample`."""

    @property
    def delivered(self) -> int:
        """Packets delivered in the sample's interval; -1 for an invalid sample. Unit: packets. Linux: `delivered`."""
    @property
    def delivered_ce(self) -> int:
        """Packets with a CE mark among those in `delivered`. Unit: packets. Linux: `delivered_ce`."""
    @property
    def interval_us(self) -> int:
        """Length of the sample's interval; -1 for an invalid sample. Unit: microseconds. Linux: `interval_us`."""
    @property
    def rtt_us(self) -> int:
        """RTT of this ACK; -1 for none. Unit: microseconds. Linux: `rtt_us`."""
    @property
    def losses(self) -> int:
        """Packets newly marked lost by this ACK. Unit: packets. Linux: `losses`."""
    @property
    def lost(self) -> int:
        """Packets lost in the sample's interval, for a control with the switch `notes_in_flight`. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field. Unit: packets. Linux: `lost`."""
    @property
    def acked_sacked(self) -> int:
        """Packets newly acknowledged or SACKed by this ACK. Unit: packets. Linux: `acked_sacked`."""
    @property
    def prior_in_flight(self) -> int:
        """Packets in flight before this ACK. Unit: packets. Linux: `prior_in_flight`."""
    @property
    def prior_delivered(self) -> int:
        """The connection's `delivered` when the sampled packet was sent. Unit: packets. Linux: `prior_delivered`."""
    @property
    def tx_in_flight(self) -> int:
        """Packets in flight just after the sampled packet was sent, for a control with the switch `notes_in_flight`. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field. Unit: packets. Linux: `tx_in_flight`."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the sampled packet was sent application-limited. Linux: `is_app_limited`."""
    @property
    def is_ack_delayed(self) -> bool:
        """Whether the ACK may have been delayed. Linux: `is_ack_delayed`."""
    @property
    def is_ece(self) -> bool:
        """Whether the ACK carried ECE. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field. Linux: `is_ece`."""
    @property
    def is_tlp_ack(self) -> bool:
        """Whether the ACK matches a tail-loss probe's retransmission. In Linux, only the kernel tree of BBRv3 has this field. Linux: `is_acking_tlp_retrans_seq`."""

@final
class AckSample:
    """The packets that an ACK acknowledged. Linux: `struct ack_sample`."""

    @property
    def pkts_acked(self) -> int:
        """Packets that this ACK acknowledged. Unit: packets. Linux: `pkts_acked`."""
    @property
    def rtt_us(self) -> int:
        """RTT of this ACK; -1 for none. Unit: microseconds. Linux: `rtt_us`."""
    @property
    def in_flight(self) -> int:
        """Bytes in flight when the newest acknowledged packet was sent. Unit: bytes. Linux: `in_flight`."""

@final
class LostSkb:
    """A packet that was marked lost, with values recorded when it was sent. Linux: `struct tcp_skb_cb`."""

    @property
    def seq(self) -> int:
        """First byte of the packet. Unit: sequence number. Linux: `seq`."""
    @property
    def end_seq(self) -> int:
        """The number after the packet's last byte. Unit: sequence number. Linux: `end_seq`."""
    @property
    def pcount(self) -> int:
        """Segments in the packet. Unit: packets. Linux: `tcp_skb_pcount`."""
    @property
    def in_flight(self) -> int:
        """Packets in flight just after the packet was sent, itself included. Unit: packets. Linux: `tx.in_flight`."""
    @property
    def lost(self) -> int:
        """The connection's `lost` when the packet was sent. Unit: packets. Linux: `tx.lost`."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the packet was sent application-limited. Linux: `tx.is_app_limited`."""
    @property
    def delivered_mstamp(self) -> int:
        """The connection's `delivered_mstamp` when the packet was sent; 0 if the receiver SACKed the packet, then discarded it, and the packet was marked lost after that. Unit: microseconds. Linux: `tx.delivered_mstamp`."""

# End of what is written from `fields.rs`.

@final
class Draw:
    """The source of a flow's random integers, derived from the run's seed. A class can use it only
    during an event whose method has the argument `draw`.
    """

    def below(self, bound: int) -> int:
        """Returns a random integer from 0 to `bound - 1`; `bound` is from 1 to 4294967295.

        Raises:
            RuntimeError: Outside of an event with a `draw`.
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
    def select(self, names: Sequence[str]) -> Frame: ...
    def take(self, rows: Sequence[int]) -> Frame: ...
    def chunks(self, name: str) -> list[Chunk]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, int]]: ...
    @staticmethod
    def _restore(file: bytes, rows: int) -> Frame: ...

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
    def controls(self) -> dict[int, CongestionControl]: ...
    def table(self, width: int | None = None) -> str: ...
    def html(self) -> str: ...
    def write(self, folder: str | PathLike[str], *, force: bool = False) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @staticmethod
    def _restore(
        tables: Sequence[Frame],
        more: Sequence[Frame],
        toml: str,
        folder: str | PathLike[str] | None,
        own: Frame,
        texts: dict[str, str],
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
    def swept(self) -> list[str]: ...
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
    on: str,
    number: int | None = None,
    has_seed: bool = False,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    pictures: bool = True,
    limit: int | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> RunRecords: ...
def sweep(
    scenario: Scenario,
    *,
    on: str,
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
def figure_of(column: str) -> Literal["run", "bottleneck", "group", "flow", "link"] | None: ...
def figures() -> list[list[str]]: ...
def headings() -> list[tuple[str, str, int]]: ...
def titles() -> list[tuple[str, str, str]]: ...
def compare(results: Sequence[RunRecords | SweepRecords]) -> dict[str, Any]: ...
def open_folder(folder: str | PathLike[str]) -> RunRecords | SweepRecords: ...
