//! What an algorithm may read and write: the socket's fields, as values.
//!
//! The field names are the kernel's; `Conn` and `Control` together are the input and output columns of
//! the kernel traces. The sender keeps one `Conn` and updates it in place, so passing it on is free.
//!
//! Sources: [linux] `include/linux/tcp.h` `struct tcp_sock`, `include/net/tcp.h` `struct rate_sample`.

/// The state of loss recovery. Linux: `enum tcp_ca_state`, same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CaState {
    /// No dubious events.
    #[default]
    Open = 0,
    /// Duplicate ACKs or SACKs are present.
    Disorder = 1,
    /// The window is being reduced because of ECN.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// After a retransmission timeout.
    Loss = 4,
}

/// Events that are not ACKs. Linux: `enum tcp_ca_event`, and v3's TLP event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CwndEvent {
    /// First transmission while nothing is in flight.
    TxStart,
    /// The window restarts after an idle time longer than the RTO.
    CwndRestart,
    /// The end of CWR or of recovery.
    CompleteCwr,
    /// A retransmission timeout.
    Loss,
    /// ECT is set, but not CE.
    EcnNoCe,
    /// A CE-marked packet was received.
    EcnIsCe,
    /// A tail-loss probe repaired a loss (v3 tree only).
    TlpRecovery,
}

/// Who paces. Linux: `enum sk_pacing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PacingStatus {
    /// Nobody.
    #[default]
    None = 0,
    /// TCP's own timer.
    Needed = 1,
    /// The `fq` queueing discipline.
    Fq = 2,
}

/// The fields of the socket that an algorithm may write: the `o_*` columns of the kernel traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Congestion window in packets. Linux: `snd_cwnd`.
    pub cwnd: u32,
    /// Linear increase counter in packets. Linux: `snd_cwnd_cnt`.
    pub cwnd_cnt: u32,
    /// Upper bound of cwnd in packets. Linux: `snd_cwnd_clamp`.
    pub cwnd_clamp: u32,
    /// Slow start threshold in packets; [`Control::INFINITE_SSTHRESH`] at first. Linux: `snd_ssthresh`.
    pub ssthresh: u32,
    /// Bytes per second; `u64::MAX` means unset. Linux: `sk_pacing_rate`.
    pub pacing_rate: u64,
    /// Who paces.
    pub pacing_status: PacingStatus,
    /// The `delivered` count at which the application-limited bubble ends, 0 for none.
    pub app_limited: u32,
    /// See [`ecn_flags`].
    pub ecn_flags: u8,
    /// Bits of the receiver's pending ACK (2 = delayed-ACK timer armed, 16 = ACK now).
    pub ack_pending: u8,
}

impl Control {
    /// `TCP_INFINITE_SSTHRESH`.
    pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
}

/// A read-only view of the sender: the input columns of the kernel traces. What is asked whenever a sender may send comes
/// first and fills a cache line, what never changes comes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Conn {
    /// What an algorithm may also write.
    pub ctl: Control,
    /// TCP clock in nanoseconds; `tcp_mstamp` is its whole microseconds.
    pub clock_ns: u64,
    /// Earliest departure time of the next packet in nanoseconds. Linux: `tcp_wstamp_ns`.
    pub wstamp_ns: u64,
    /// 32-bit jiffies.
    pub jiffies: u32,
    /// Next byte to send.
    pub snd_nxt: u32,
    /// The most packets outstanding in the last window.
    pub max_packets_out: u32,
    /// State of loss recovery.
    pub ca_state: CaState,
    /// Whether the sender was recently limited by cwnd. Linux: `is_cwnd_limited`.
    pub is_cwnd_limited: bool,
    /// Whether the packet that a tail-loss probe retransmitted was sent application-limited.
    pub tlp_orig_app_limited: bool,
    /// First unacknowledged byte.
    pub snd_una: u32,
    /// Packets in flight. Linux: `tcp_packets_in_flight`.
    pub inflight: u32,
    /// Payload bytes of a full segment. Linux: `mss_cache`.
    pub mss: u32,
    /// Smoothed RTT in microseconds `<< 3`; 0 for none.
    pub srtt_us: u32,
    /// Packets delivered so far; wraps.
    pub delivered: u32,
    /// Packets delivered with a CE mark; wraps.
    pub delivered_ce: u32,
    /// Packets marked lost so far; wraps.
    pub lost: u32,
    /// When data was last sent, in jiffies.
    pub lsndtime: u32,
    /// Time of the latest delivery in microseconds.
    pub delivered_mstamp: u64,
    /// Windowed minimum RTT of the stack in microseconds; `u32::MAX` for none. Linux: `tcp_min_rtt`.
    pub min_rtt_us: u32,
    /// cwnd before the last reduction, in packets.
    pub prior_cwnd: u32,
    /// Next byte expected from the peer.
    pub rcv_nxt: u32,
    /// Jiffies per second: a constant of the kernel build.
    pub hz: u32,
    /// `sk_pacing_shift`, 10 by default.
    pub pacing_shift: u32,
    /// `sk_gso_max_size` in bytes.
    pub gso_max_size: u32,
    /// Upper bound of the pacing rate in bytes per second.
    pub max_pacing_rate: u64,
}

impl Conn {
    /// The TCP clock in microseconds. Linux: `tcp_mstamp`.
    #[must_use]
    pub const fn tcp_mstamp(&self) -> u64 {
        self.clock_ns / 1000
    }

    /// Whether cwnd is below ssthresh. Linux: `tcp_in_slow_start`.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.ctl.cwnd < self.ctl.ssthresh
    }
}

/// A delivery-rate sample. Linux: `struct rate_sample`, widths as there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's fields")]
pub struct RateSample {
    /// Packets delivered over the interval; -1 for an invalid sample.
    pub delivered: i32,
    /// How many of them carried a CE mark.
    pub delivered_ce: i32,
    /// Length of the interval in microseconds; -1 for an invalid sample.
    pub interval_us: i64,
    /// RTT of this ACK in microseconds; -1 for none.
    pub rtt_us: i64,
    /// Packets newly marked lost by this ACK.
    pub losses: i32,
    /// Packets lost over the interval (v2, v3).
    pub lost: i32,
    /// Packets newly acknowledged or SACKed by this ACK.
    pub acked_sacked: u32,
    /// Packets in flight before this ACK.
    pub prior_in_flight: u32,
    /// The connection's `delivered` when the sampled packet was sent.
    pub prior_delivered: u32,
    /// Packets in flight just after the sampled packet was sent (v2, v3).
    pub tx_in_flight: u32,
    /// Whether the sampled packet was sent application-limited.
    pub is_app_limited: bool,
    /// Whether the ACK may have been delayed.
    pub is_ack_delayed: bool,
    /// Whether the ACK carried ECE.
    pub is_ece: bool,
    /// Whether the ACK matches a tail-loss probe's retransmission (v3).
    pub is_tlp_ack: bool,
}

/// What an ACK acknowledged. Linux: `struct ack_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckSample {
    /// Packets acknowledged.
    pub pkts_acked: u32,
    /// RTT in microseconds; -1 for none.
    pub rtt_us: i32,
    /// Bytes in flight when the newest of them was sent.
    pub in_flight: u32,
}

/// A packet that was marked lost, with what was recorded when it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostSkb {
    /// Its first sequence number.
    pub seq: u32,
    /// One past its last sequence number.
    pub end_seq: u32,
    /// Segments in it.
    pub pcount: u32,
    /// Packets in flight just after it was sent, itself included.
    pub in_flight: u32,
    /// The connection's `lost` when it was sent.
    pub lost: u32,
    /// Whether it was sent application-limited.
    pub is_app_limited: bool,
    /// `delivered_mstamp` when it was sent; 0 if that stamp was already used up.
    pub delivered_mstamp: u64,
}

/// Bits of [`Control::ecn_flags`].
pub mod ecn_flags {
    /// ECN was negotiated.
    pub const OK: u8 = 1;
    /// Send CWR with the next new data.
    pub const QUEUE_CWR: u8 = 2;
    /// Echo ECE until CWR comes.
    pub const DEMAND_CWR: u8 = 4;
    /// An ECT packet was received.
    pub const SEEN: u8 = 8;
    /// v2: ECT on every packet. v3: low-latency ECN.
    pub const ECT_PERMANENT_V2: u8 = 16;
    /// v3: low-latency ECN negotiated.
    pub const LOW_V3: u8 = 16;
    /// v3: ECT on every packet.
    pub const ECT_PERMANENT_V3: u8 = 32;
}

/// Bits of the argument of `in_ack_event`. Linux: `enum tcp_ca_ack_event_flags`.
pub mod ack_flags {
    /// The ACK took the slow path.
    pub const SLOWPATH: u32 = 1;
    /// The ACK updated the window.
    pub const WIN_UPDATE: u32 = 2;
    /// The ACK carried ECE.
    pub const ECE: u32 = 4;
}
