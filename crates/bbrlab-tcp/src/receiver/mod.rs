//! The receiving half of a Linux socket, which receives data and sends ACKs.
//!
//! A segment is processed in three steps, as in the kernel: check it and process its header
//! (`input`), queue its data (`input`, `out_of_order`, `queue`), decide whether to send an ACK
//! (`output`, `delayed_ack`). Reads by the application (`read`) free memory, which opens the
//! receive window (`window`), and determine how large the buffer should be (`autotune`).
//!
//! In-order data that is read immediately takes a fast path, which uses only the sequence numbers,
//! a few counters and one buffer inside the socket. The queues are used only while there is a hole
//! or unread data. The queues allocate no memory before their first use.
//!
//! ```text
//!             SYN                  ACK                    FIN
//!   Listen ---------> SynReceived -----> Established ------------> (closed by the peer)
//! ```
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`, `tcp_minisocks.c`,
//! `tcp.c` (6.12.117); each file names its functions.
//! Deviations:
//! 1. Buffers are not collapsed when memory runs out (`tcp_collapse`): with tiny segments,
//!    out-of-order data is dropped a little earlier than in Linux.
//! 2. A FIN that this half sends is not retransmitted. In a socket that also sends, the sending
//!    half sends and retransmits the FIN.
//! 3. The receiver supports no urgent data, no RST, no SYN cookies, no TCP Fast Open.

mod autotune;
mod clock;
mod config;
mod delayed_ack;
mod ecn_echo;
mod fast_path;
mod handshake;
mod input;
mod out_of_order;
mod out_of_order_path;
mod output;
mod queue;
mod read;
mod sack_list;
mod skb;
mod window;

pub use config::{EcnEcho, ReceiverConfig};
pub use fast_path::{Glance, Incoming};
pub use read::Read;

use std::ops::AddAssign;
use std::sync::Arc;

use bbrlab_stack::DelAck;
use bbrlab_units::Time;

use crate::oow::OowLimit;
use crate::sender::PeerWindow;
use crate::wheel::WheelTimer;
use crate::{Host, Segment, TimerId};
use autotune::Autotune;
use clock::Clock;
use delayed_ack::DelayedAck;
use ecn_echo::EcnState;
use fast_path::Expected;
use out_of_order::OutOfOrder;
use queue::ReceiveQueue;
use sack_list::SackList;
use window::Window;

/// Counts of packets, ACKs and bytes since the SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Packets that brought new data.
    pub new_packets: u64,
    /// Bytes read by the application, in order.
    pub bytes_read: u64,
    /// ACKs sent without data.
    pub acks_sent: u64,
    /// Number of data packets that brought no new data.
    pub duplicate_packets: u64,
    /// Number of packets that brought new data out of order, above a hole.
    pub out_of_order_packets: u64,
    /// Number of data packets dropped because they were outside the receive window, memory was
    /// short, or their timestamp was old.
    pub dropped_packets: u64,
}

impl AddAssign for ReceiverStats {
    fn add_assign(&mut self, other: Self) {
        let Self {
            new_packets,
            bytes_read,
            acks_sent,
            duplicate_packets,
            out_of_order_packets,
            dropped_packets,
        } = other;
        self.new_packets += new_packets;
        self.bytes_read += bytes_read;
        self.acks_sent += acks_sent;
        self.duplicate_packets += duplicate_packets;
        self.out_of_order_packets += out_of_order_packets;
        self.dropped_packets += dropped_packets;
    }
}

/// State of the connection as seen by the receiving half. Linux: `sk_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Listen,
    /// We have sent the SYN.
    SynSent,
    SynReceived,
    Established,
    /// Only the peer has closed. Linux: `CLOSE_WAIT`.
    CloseWait,
    /// Only we have closed. Linux: `FIN_WAIT1`, `FIN_WAIT2`.
    FinWait,
    /// Both have closed. Linux: `LAST_ACK` if the peer closed first, otherwise `CLOSING` or
    /// `TIME_WAIT`.
    Closed,
}

/// Values of the sending half that the receiving half needs for ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendSide {
    /// Sequence number of an ACK without data.
    pub snd_nxt: u32,
    /// Smoothed RTT in units of 1/8 microsecond; 0 if there is none.
    pub srtt_us: u32,
    /// Retransmission timeout in jiffies.
    pub rto: u32,
    /// Earliest departure time of the next packet. The timestamp of an ACK is at least this time.
    /// Linux: `tcp_wstamp_ns`.
    pub wstamp: Time,
}

/// The latest ACK number and window that the peer sent, as stored in the sending half of this
/// socket. An ACK that changes neither of them is a duplicate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peer {
    /// First byte that the peer has not acknowledged. Linux: `snd_una`.
    pub(crate) snd_una: u32,
    /// The window that the peer advertises.
    pub(crate) window: PeerWindow,
}

/// The receiving half of a socket.
///
/// The fields that the fast path uses come first, in 240 bytes. The last of these fields are the
/// first fields of `autotune`, whose other fields change only once per round trip. Together with
/// the simulator's data for this end of the flow, which is stored before this struct, the 240 bytes
/// of the fast path fill four cache lines.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    window: Window,
    /// The timestamp that ACKs echo. Linux: `rx_opt.ts_recent`.
    ts_recent: u32,
    has_ts: bool,
    state: State,
    is_reading: bool,
    /// The kind of segment that a fast path processes next. [`Self::deliver`] sets this field; each
    /// event that may make the value wrong resets the field to [`Expected::Nothing`].
    expected: Expected,
    ack: DelayedAck,
    delack_timer: WheelTimer,
    clock: Clock,
    send_side: SendSide,
    // Counts of [`ReceiverStats`].
    new_packets: u64,
    bytes_read: u64,
    acks_sent: u64,
    /// The value of [`Self::arrived`] when the connection began.
    arrived_before: u32,
    autotune: Autotune,
    // When the delayed ACK is due, and the time for which the host's timer (`TimerId::DelayedAck`)
    // is armed.
    delack_due: Time,
    delack_armed: Time,
    // More counts of [`ReceiverStats`].
    duplicate_packets: u64,
    out_of_order_packets: u64,
    dropped_packets: u64,
    /// When the first SYN-ACK was sent.
    synack_at: Time,
    /// The rate limit of the answers to unacceptable segments.
    oow: OowLimit,
    /// The latest ACK number and window that the peer sent, as stored in the sending half of this
    /// socket.
    peer: Peer,
    /// Sequence number of the first byte of the peer's stream.
    stream_start: u32,
    /// Number of unacknowledged segments, for [`DelAck::Every`].
    unacked_segments: u32,
    /// Time at which the compressed ACKs are sent as one ACK; `None` if no ACK is compressed.
    /// Linux: `compressed_ack_timer`, while it is queued.
    compressed_due: Option<Time>,
    /// Whether settings and handshake allow the fast path (`fast_path`).
    is_plain: bool,
    has_peer_fin: bool,
    /// How often the SYN-ACK was retransmitted, by the timer or for a repeated SYN. Linux:
    /// `num_retrans`.
    synack_retrans: u8,
    /// How often the timer of the SYN-ACK has expired. Linux: `num_timeout`.
    synack_timeouts: u8,
    /// Number of ACKs that are delayed because of a hole, to be compressed into one. Linux:
    /// `compressed_ack`.
    compressed_ack: u8,
    /// Number of duplicate ACKs that were sent immediately, not compressed, for the current hole.
    /// Linux: `dup_ack_counter`.
    dup_ack_counter: u8,
    /// The first byte of the hole for which `dup_ack_counter` counts duplicate ACKs. Linux:
    /// `compressed_ack_rcv_nxt`.
    compressed_ack_rcv_nxt: u32,
    /// The time for which the host's compressed-ACK timer is armed; `Time::NEVER` for none. This
    /// time may be earlier than `compressed_due`; if the timer fires before `compressed_due`, it is
    /// armed again.
    compressed_armed: Time,
    ecn: EcnState,
    sacks: SackList,
    queue: ReceiveQueue,
    out_of_order: OutOfOrder,
    /// Number of unread bytes that must be available before the application wakes up. Linux:
    /// `sk_rcvlowat`.
    rcvlowat: u32,
    config: Arc<ReceiverConfig>,
}

impl Receiver {
    /// Size in bytes of the struct's first part, which holds all fields of the fast path.
    pub const HOT: usize = std::mem::offset_of!(Self, autotune) + Autotune::HOT;

    /// Creates a listening socket. Several sockets can share one `config`.
    #[must_use]
    pub fn new(config: impl Into<Arc<ReceiverConfig>>) -> Self {
        let config = config.into();
        Self {
            window: Window::new(&config),
            ack: DelayedAck::new(config.stack.delack == DelAck::Quick, config.tick.hz()),
            clock: Clock::new(config.tick, config.ts_offset),
            ts_recent: 0,
            has_ts: config.timestamps,
            state: State::Listen,
            sacks: SackList::new(config.stack.sack, config.stack.socket.dsack),
            ecn: EcnState::new(config.ecn),
            autotune: Autotune::new(),
            queue: ReceiveQueue::default(),
            out_of_order: OutOfOrder::default(),
            compressed_ack: 0,
            dup_ack_counter: 0,
            compressed_ack_rcv_nxt: 0,
            compressed_due: None,
            compressed_armed: Time::NEVER,
            delack_timer: WheelTimer::default(),
            delack_due: Time::NEVER,
            delack_armed: Time::NEVER,
            unacked_segments: 0,
            oow: OowLimit::default(),
            peer: Peer::default(),
            send_side: SendSide::default(),
            synack_at: Time::ZERO,
            synack_retrans: 0,
            synack_timeouts: 0,
            is_reading: true,
            is_plain: false,
            expected: Expected::Nothing,
            has_peer_fin: false,
            stream_start: 0,
            arrived_before: 0,
            new_packets: 0,
            bytes_read: 0,
            acks_sent: 0,
            duplicate_packets: 0,
            out_of_order_packets: 0,
            dropped_packets: 0,
            rcvlowat: config.rcvlowat(),
            config,
        }
    }

    /// Processes a segment from the peer. Afterwards, the caller must check [`Self::wants_read`].
    pub fn on_segment(&mut self, now: Time, segment: &Segment, host: &mut impl Host) {
        let was_established = self.is_established();
        if !self.accept(now, segment, host) {
            return;
        }
        self.take_header(segment);
        if was_established {
            self.note_peer(segment);
            self.take_echo(segment);
        }
        self.take_data(segment, host);
        self.check_ack(host);
    }

    /// Processes an expired timer.
    #[inline]
    pub fn on_timer(&mut self, now: Time, timer: TimerId, host: &mut impl Host) {
        match timer {
            TimerId::DelayedAck => self.on_delack_timer(now, host),
            TimerId::CompressedAck => self.on_compressed_timer(now, host),
            TimerId::Retransmit => self.on_synack_timer(now, host),
            TimerId::Pacing | TimerId::Control => {}
        }
    }

    /// Processes the interrupt of a high-resolution timer of the same machine, other than this
    /// socket's compressed-ACK timer. At such an interrupt, the kernel also runs the compressed-ACK
    /// timer if this timer is due within its slack.
    pub fn on_host_interrupt(&mut self, now: Time, host: &mut impl Host) {
        if let Some(due) = self.compressed_due
            && now + output::COMP_SACK_SLACK >= due
        {
            self.release_compressed(host);
        }
    }

    /// Whether the application is woken up to read. If true, the caller must call [`Self::read`],
    /// immediately or when the application is scheduled.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        self.is_reading && self.is_readable()
    }

    /// Makes the application stop or resume reading.
    pub fn set_reading(&mut self, is_reading: bool) {
        self.is_reading = is_reading;
        self.expected = Expected::Nothing;
    }

    /// Returns the counts of packets, ACKs and bytes since the SYN.
    #[must_use]
    #[inline]
    pub const fn stats(&self) -> ReceiverStats {
        ReceiverStats {
            new_packets: self.new_packets,
            bytes_read: self.bytes_read,
            acks_sent: self.acks_sent,
            duplicate_packets: self.duplicate_packets,
            out_of_order_packets: self.out_of_order_packets,
            dropped_packets: self.dropped_packets,
        }
    }

    /// Returns the number of packets that brought new data so far, earlier connections of this end
    /// included, modulo 2^32.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a count that wraps")]
    pub const fn arrived(&self) -> u32 {
        (self.new_packets as u32).wrapping_add(self.arrived_before)
    }

    /// Makes [`Self::arrived`] continue from the count of `other`, the connection before this one.
    pub fn count_on(&mut self, other: &Self) {
        self.arrived_before = other.arrived();
    }

    /// Whether the handshake is complete.
    #[must_use]
    pub fn is_established(&self) -> bool {
        !matches!(self.state, State::Listen | State::SynSent | State::SynReceived)
    }

    /// Whether the application has read the peer's FIN.
    #[must_use]
    pub fn is_at_eof(&self) -> bool {
        self.has_peer_fin && self.window.available() == 0
    }

    /// Returns the sequence number of the next byte expected. Linux: `rcv_nxt`.
    #[must_use]
    pub const fn rcv_nxt(&self) -> u32 {
        self.window.rcv_nxt
    }

    /// Returns the number of bytes of memory that received data takes up. Linux: `sk_rmem_alloc`.
    #[must_use]
    pub const fn rmem_alloc(&self) -> u32 {
        self.window.rmem_alloc.cast_unsigned()
    }

    /// Calls `field` for each field of the socket, with the field's name in the kernel and the
    /// field's value, so that the values can be compared with logs of a kernel's socket.
    pub fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        let window = &self.window;
        let from_start = |seq: u32| i64::from(seq.wrapping_sub(self.stream_start)) + 1;
        field("rcv_nxt", from_start(window.rcv_nxt));
        field("copied_seq", from_start(window.copied_seq));
        field("rcv_wnd", i64::from(window.rcv_wnd));
        field("rcv_ssthresh", i64::from(window.rcv_ssthresh()));
        field("window_clamp", i64::from(window.window_clamp()));
        field("scaling_ratio", i64::from(window.scaling_ratio()));
        field("ack_pending", i64::from(self.ack.pending));
        field("quick", i64::from(self.ack.quick));
        field("pingpong", i64::from(self.ack.pingpong));
        let ms_per_tick = i64::from(1000 / self.clock.hz());
        field("ato_ms", i64::from(self.ack.ato) * ms_per_tick);
        field("rcv_mss", i64::from(self.ack.rcv_mss));
        field("rcv_rtt_us", i64::from(self.autotune.rtt_us >> 3));
        field("rcvq_space", i64::from(self.autotune.space()));
        field("rmem_alloc", i64::from(window.rmem_alloc));
        field("rcvbuf", i64::from(window.rcvbuf()));
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::Receiver;

    #[test]
    fn what_the_fast_path_touches_comes_first() {
        assert_eq!(offset_of!(Receiver, window), 0);
        assert_eq!(
            Receiver::HOT,
            240,
            "the fast path's fields take 16 bytes less than four cache lines"
        );
    }
}
