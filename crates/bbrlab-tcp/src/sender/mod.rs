//! The data sender of Linux 6.12. The sender processes segments and expired timers, transmits
//! segments and arms timers.
//!
//! A [`Sender`] is the sending half of a socket. The host passes to the sender every segment from
//! the peer, every expired timer and the application's calls, each with the time. The sender
//! transmits and arms timers through [`Host`].
//!
//! The diagram shows the steps in which an ACK is processed, in the kernel's order, and the other
//! events. The names of the files show where each step is:
//!
//! ```text
//! on_arrival (arrival.rs: which path processes it)
//!   on_segment ─ validate.rs: is the segment acceptable?
//!                │
//!                ack.rs ── window.rs, sack.rs (ack_state.rs: flags and state of the ACK)
//!                │        free acknowledged skbs, RTT sample (crate::rtt)
//!                │        tlp.rs: was the probe needed?
//!                │        recovery.rs ── undo.rs, rack.rs: next state, lost packets
//!                │        timers.rs: restart TLP or RTO
//!                │        rate sample (crate::rate)
//!                │        congestion.rs: congestion control, or PRR (crate::prr)
//!                └─────── retransmit.rs: retransmit lost packets
//!             output.rs ─ new data: cwnd, window, pacing, tso.rs (burst size, Nagle), ecn.rs
//!             sndbuf.rs ─ free space in the send buffer wakes the application (app.rs)
//!             limits.rs ─ what limits the sender now
//! on_timer ── timers.rs ─ rto.rs, tlp.rs, rack.rs, probe.rs; pacing in output.rs, idle_pacing.rs
//!   on_pure_ack  pure_ack.rs: short path for a predicted ACK without data or SACK blocks
//!   on_sack ──── recovery_ack.rs: short path for an ACK with SACK blocks during a recovery
//! predicted.rs: short path for an ACK while nothing is lost, SACKed or in doubt
//! dupthresh.rs: loss detection by counting SACKed packets, instead of RACK
//! mechanisms.rs: the steps that the stack's switches leave on; ns3/: ns-3's replacements
//! beyond.rs: events that only custom congestion controls have
//! fq.rs: the host's queueing discipline, if it paces instead of TCP
//! connect ─── handshake.rs
//! ```
//!
//! State that several steps share is in types with private fields: `scoreboard/` (unsent data and
//! data in flight), `Episode` and its `Undo`, `Rack`, `Reordering`, `Tlp`, `XmitTimer`,
//! `PeerWindow`, `Sndbuf`, `App`. [`Conn`] holds the state that the congestion control reads. Only
//! [`Conn`] stores cwnd and the recovery state. Values that belong to other types are copied into
//! [`Conn`] before each call of the congestion control.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_rcv_established`; `include/linux/tcp.h`:
//! `struct tcp_sock`.
//! Deviations: see the numbered lists in the files of this folder.

mod ack;
mod ack_state;
mod app;
mod arrival;
mod beyond;
mod config;
mod congestion;
mod dupthresh;
mod ecn;
mod episode;
mod fq;
mod handshake;
mod idle_pacing;
mod info;
mod limits;
mod mechanisms;
mod ns3;
mod output;
mod predicted;
mod probe;
mod pure_ack;
mod rack;
mod recovery;
mod recovery_ack;
mod reordering;
mod retransmit;
mod rto;
mod sack;
mod scoreboard;
mod sndbuf;
mod timers;
mod tlp;
mod tso;
mod undo;
mod validate;
mod window;

#[cfg(test)]
mod tests;

pub(crate) use ack::AckPlace;
pub use arrival::IncomingAck;
pub use config::SenderConfig;
pub(crate) use handshake::NS3_SYN_TIMEOUT_S;
pub use info::SenderInfo;
pub use limits::{Limit, Limits};
pub use timers::TimerPurpose;
pub(crate) use window::PeerWindow;

use std::ops::AddAssign;
use std::sync::Arc;

use bbrlab_cc::linux_int::{after, before, trunc_u32};
use bbrlab_cc::{CaState, Cc, CongestionControl, Conn, Control, Hooks, PacingStatus, ecn_flags};
use bbrlab_stack::{Device, PacingSwitches, RateSwitches, RttClock, Rule3, SenderQdisc};
use bbrlab_units::{Span, Time};

use crate::cwnd_validation::CwndUsage;
use crate::oow::OowLimit;
use crate::pacing::{BurstSize, Pace};
use crate::rate::{RateSampler, SamplerVersion};
use crate::rtt::RttEstimator;
use crate::segment::flag;
use crate::{Host, Segment, TimerId};

use ack_state::flags;
use app::App;
use episode::Episode;
use fq::Fq;
use limits::Stop;
use mechanisms::{Mechanisms, Sending};
use ns3::Ns3;
use rack::Rack;
use reordering::Reordering;
use scoreboard::Scoreboard;
use sndbuf::Sndbuf;
use timers::{Clock, XmitTimer};
use tlp::Tlp;

/// Largest size of an skb in bytes. Linux: `sk_dst_gso_max_size`, 65536 - (`MAX_TCP_HEADER` + 1).
const GSO_MAX_SIZE: u32 = 65_536 - 320 - 1;

/// The value of an RTT in microseconds that means "no sample": 71 minutes, longer than any RTT.
const NO_SAMPLE: u32 = u32::MAX;

/// The pacing rate in bytes per second, shifted right by 10 bits, is the size of a burst: the data
/// of about a millisecond. See [`Burst::pacing_shift`](crate::pacing::Burst::pacing_shift). Linux:
/// `sk_pacing_shift`.
const PACING_SHIFT: u32 = 10;

/// The connection states that a sender distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum State {
    Closed,
    SynSent,
    Established,
    /// One end has closed the connection. Header prediction is off in this state.
    Closing,
}

/// How Nagle's algorithm applies to one call of the output engine. Linux: `TCP_NAGLE_OFF`,
/// `TCP_NAGLE_PUSH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nonagle {
    /// Nagle's algorithm applies.
    On,
    /// Nagle's algorithm is off: by the application's choice, or because the call sends a probe,
    /// F-RTO's new data or a FIN.
    Off,
    /// Nagle's algorithm holds back no segment of this call. Used within a `send()`, when an skb is
    /// full or the send buffer is full, and for an skb that is not the last: no data will be added
    /// to such an skb. Windows and pacing still limit what is sent.
    Push,
}

/// The header fields that the receiving half of the socket provides for every segment sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reverse {
    /// Next byte expected from the peer.
    pub rcv_nxt: u32,
    /// Window advertised to the peer, in bytes.
    pub wnd: u32,
    /// The peer's latest timestamp.
    pub ts_recent: u32,
    /// Whether segments carry ECE, because of a CE mark that the peer has not yet answered with
    /// CWR.
    pub is_ece: bool,
}

/// Counts since the connection was opened. `lost`, `delivered` and `delivered_ce` are in [`Conn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stats {
    /// Data packets that were retransmissions.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub rto_count: u32,
    /// Tail loss probes.
    pub tlp_count: u32,
    /// Number of reductions of cwnd that were undone.
    pub undo_count: u32,
    // Every packet changes the following counts.
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        let Self { retransmitted, rto_count, tlp_count, undo_count, sent, sent_bytes } = other;
        self.retransmitted += retransmitted;
        self.rto_count += rto_count;
        self.tlp_count += tlp_count;
        self.undo_count += undo_count;
        self.sent += sent;
        self.sent_bytes += sent_bytes;
    }
}

/// Counts that the sender needs for decisions and that are not reported in [`Stats`].
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Number of segments that the peer reported as duplicates.
    dsack_dups: u32,
    /// Retransmissions of the SYN.
    syn_retrans: u32,
    /// Number of packets marked lost before the connection was established.
    lost_syns: u32,
}

/// The sending half of a socket.
///
/// With a thousand senders, the sender that an event needs is mostly not in the CPU's cache. The
/// fields are therefore in the order in which events need them, in cache lines of 64 bytes (a test
/// in `tests.rs` checks this).
///
/// - Sending a packet reads or writes seven lines. Six are from the last half of `limits` to the
///   first fields of the queue in `board`; one is from the end of `stats` to the beginning of
///   `sampler`.
/// - Processing an ACK reads or writes four more lines, from `rack` to the fields of BBRv1 in `cc`.
///
/// Fields that few packets and ACKs need are before, between and after these lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Sender {
    // The following fields are for the application's writes and for runs with ns-3's mechanisms.
    config: Arc<SenderConfig>,
    ns3: Ns3,
    app: App,
    // Sending a packet and processing an ACK need the following fields. The first of these fields
    // decide whether a packet may be sent.
    limits: Limits,
    clock: Clock,
    state: State,
    is_pacing_armed: bool,
    /// Whether a pacing setting of the TCP stack differs from Linux's.
    is_pacing_switched: bool,
    /// Whether the settings allow predicted ACKs, for which a short path replaces the general
    /// processing of ACKs (`predicted.rs`).
    predicts_acks: bool,
    /// Whether the settings allow the short path for ACKs during a recovery (`recovery_ack.rs`).
    recovers_plainly: bool,
    /// Which short path sends new data.
    sending: Sending,
    /// Whether Nagle's algorithm applies to this connection: `Nonagle::Off` if the application has
    /// switched Nagle's algorithm off (`TCP_NODELAY`), otherwise `Nonagle::On`.
    nonagle: Nonagle,
    /// Whether the receiver has discarded data that it had SACKed (reneging) since the recovery
    /// state was last Open.
    is_sack_reneg: bool,
    conn: Conn,
    window: PeerWindow,
    mechanisms: Mechanisms,
    hooks: Hooks,
    usage: CwndUsage,
    reverse: Reverse,
    sndbuf: Sndbuf,
    board: Scoreboard,
    // The following fields are for recovery, and for a host whose queueing discipline paces.
    episode: Episode,
    /// The host's queueing discipline, if it has one.
    fq: Option<Box<Fq>>,
    // Sending a packet also needs the following fields.
    stats: Stats,
    pace: Pace,
    /// Bytes acknowledged; the SYN counts as one.
    acked_bytes: u64,
    sampler: RateSampler,
    // The following fields are for bursts of several segments, and for ACKs that are not predicted.
    burst_size: BurstSize,
    reordering: Reordering,
    counts: Counts,
    /// The rate limit of the ACKs that answer unacceptable segments.
    oow: OowLimit,
    /// The timestamp that the segment being processed echoes; `None` if it echoes no timestamp.
    /// Linux: `rcv_tsecr`, `saw_tstamp`.
    rcv_tsecr: Option<u32>,
    /// One past the last sequence number of the latest segment sent that was not full. Linux:
    /// `snd_sml`.
    snd_sml: u32,
    /// Whether RTT samples come from echoed timestamps only.
    measures_by_echo: bool,
    // Processing an ACK also needs the following fields.
    _ack_line: CacheLine,
    rack: Rack,
    timer: XmitTimer,
    /// The RTT sample, in microseconds, that [`Sender::take_rtt_sample`] has not returned yet;
    /// [`NO_SAMPLE`] for none.
    rtt_sample_us: u32,
    tlp: Tlp,
    rtt: RttEstimator,
    cc: Cc,
}

/// A field of size 0 that makes the next field of a structure start a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct CacheLine;

/// Returns a header timestamp in milliseconds, before the offset is added. Linux:
/// `tcp_skb_timestamp_ts`.
#[expect(clippy::cast_possible_truncation, reason = "timestamps are 32 bits wide and wrap")]
const fn timestamp_ms(ns: u64) -> u32 {
    (ns / 1_000_000) as u32
}

impl Sender {
    /// Creates a socket that is not connected yet. Several sockets can share one `config`.
    #[must_use]
    pub fn new(config: impl Into<Arc<SenderConfig>>, cc: Cc) -> Self {
        let config = config.into();
        let hooks = cc.hooks();
        let hz = config.tick.hz();
        let mechanisms = Mechanisms::of(&config);
        let counting = mechanisms.counting(&config.stack);
        let max_pacing_rate = if mechanisms.is_paced_by_timer {
            config.max_pacing_rate.min(ns3::MAX_PACING_RATE)
        } else {
            config.max_pacing_rate
        };
        let conn = Conn {
            ctl: Control {
                cwnd: config.stack.initial_cwnd,
                cwnd_clamp: u32::MAX,
                ssthresh: Control::INFINITE_SSTHRESH,
                pacing_rate: max_pacing_rate,
                pacing_status: match config.stack.sender_qdisc {
                    // Without `fq`, an upper bound of the pacing rate makes TCP itself pace. Linux:
                    // in `sk_setsockopt`, for `SO_MAX_PACING_RATE`.
                    SenderQdisc::None if config.max_pacing_rate != u64::MAX => PacingStatus::Needed,
                    SenderQdisc::None => PacingStatus::None,
                    SenderQdisc::Fq => PacingStatus::Fq,
                },
                app_limited: u32::MAX,
                ..Control::default()
            },
            max_pacing_rate,
            jiffies: config.tick.jiffies(Time::ZERO),
            hz,
            mss: config.mss,
            min_rtt_us: u32::MAX,
            snd_una: config.isn,
            snd_nxt: config.isn,
            pacing_shift: config.device.map_or(PACING_SHIFT, Device::pacing_shift),
            gso_max_size: GSO_MAX_SIZE,
            ..Conn::default()
        };
        // If a setting of the TCP stack makes the rate sampler differ from Linux's, every skb must
        // be passed to the sampler, so no ACK is predicted.
        let predicts_acks = config.stack.sack
            && config.stack.socket.rtt_clock == RttClock::Exact
            && config.stack.rate == RateSwitches::default()
            && !mechanisms.has_rfc6298_rto
            && !mechanisms.is_rto_impatient
            && mechanisms.rule3 == Rule3::Off
            && !mechanisms.exit_sets_ssthresh;
        let version = if hooks.notes_in_flight { SamplerVersion::V3 } else { SamplerVersion::V1 };
        Self {
            conn,
            clock: Clock::new(config.tick, config.ts_offset),
            board: Scoreboard::new(config.stack.sack, hooks.notes_in_flight, counting),
            window: PeerWindow::default(),
            episode: Episode::new(config.isn),
            reordering: Reordering::NONE,
            snd_sml: config.isn,
            rcv_tsecr: None,
            rtt_sample_us: NO_SAMPLE,
            state: State::Closed,
            mechanisms,
            sending: Sending::of(&config),
            nonagle: if config.nodelay { Nonagle::Off } else { Nonagle::On },
            is_pacing_armed: false,
            is_sack_reneg: false,
            is_pacing_switched: config.stack.pacing != PacingSwitches::default(),
            measures_by_echo: config.stack.socket.rtt_clock != RttClock::Exact,
            predicts_acks,
            recovers_plainly: predicts_acks && mechanisms.has_rack && !mechanisms.is_ns3,
            hooks,
            timer: XmitTimer::new(hz),
            rtt: RttEstimator::new(0, trunc_u32(config.stack.min_rto.0 / 1000)),
            sampler: RateSampler::new(version, config.stack.rate),
            _ack_line: CacheLine,
            rack: Rack::new(),
            tlp: Tlp::new(hz),
            usage: CwndUsage::default(),
            pace: Pace::default(),
            burst_size: BurstSize::default(),
            reverse: Reverse { rcv_nxt: 0, wnd: config.rcv_wnd[1], ts_recent: 0, is_ece: false },
            sndbuf: Sndbuf::new(&config),
            cc,
            limits: Limits::default(),
            stats: Stats::default(),
            counts: Counts::default(),
            oow: OowLimit::default(),
            acked_bytes: 0,
            app: App::new(config.isn),
            fq: mechanisms.has_small_queue().then(Box::default),
            ns3: Ns3::default(),
            config,
        }
    }

    /// Processes a segment that no short path has processed: the general part of
    /// [`Self::on_arrival`]. Returns whether the segment was acceptable.
    #[inline(never)]
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        host: &mut impl Host,
    ) -> bool {
        match self.state {
            State::Closed => false,
            State::SynSent => {
                self.start_segment(now, segment);
                self.on_synack(segment, host);
                self.account_limit(now);
                true
            }
            State::Established | State::Closing => self.on_established(now, segment, host),
        }
    }

    /// Processes a segment after the handshake; returns whether the segment was acceptable. Linux:
    /// the sender's part of `tcp_rcv_established` and `tcp_rcv_state_process`.
    fn on_established(&mut self, now: Time, segment: &Segment, host: &mut impl Host) -> bool {
        self.start_segment(now, segment);
        let is_predicted = self.is_predicted(segment);
        if !self.accepts(segment, host) {
            return false;
        }
        self.take_ack(segment, is_predicted, host);
        if segment.has(flag::FIN) && segment.seq == self.reverse.rcv_nxt {
            self.reverse.rcv_nxt = segment.end_seq();
            self.state = State::Closing;
            self.send_ack(host);
        }
        self.send_pending(now, host);
        true
    }

    /// Processes the acknowledgement in a segment, for a socket that also receives and whose
    /// receiving half has accepted the segment. The caller must call [`Self::send_pending`] next.
    /// Linux: `tcp_ack`.
    #[inline]
    pub fn on_ack(&mut self, now: Time, segment: &Segment, host: &mut impl Host) {
        self.start_segment(now, segment);
        if segment.has(flag::ACK) && !segment.has(flag::RST) {
            self.take_ack(segment, self.is_predicted(segment), host);
        }
    }

    /// Processes the acknowledgement of an acceptable segment. `is_predicted` is true if header
    /// prediction expected the segment.
    #[inline]
    fn take_ack(&mut self, segment: &Segment, is_predicted: bool, host: &mut impl Host) {
        if !is_predicted {
            self.ack(segment, flags::SLOWPATH, host);
        } else if segment.len == 0 {
            self.ack(segment, 0, host);
        } else if segment.ack == self.conn.snd_una {
            // Header prediction expected this segment, and its ACK number is not new, so only its
            // sequence number is recorded.
            self.window.note_seq(segment.seq);
        } else {
            self.ack(segment, flags::DATA, host);
        }
    }

    /// Sends the new data that may be sent now, and records what limits the sender from now on.
    /// This is the last step after the arrival of a segment. Linux: `tcp_data_snd_check`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the processing of every ACK ends with this call")]
    pub fn send_pending(&mut self, now: Time, host: &mut impl Host) {
        self.data_snd_check(host);
        self.account_limit(now);
    }

    /// Sets the header fields that the receiving half provides for all further segments.
    pub fn set_reverse(&mut self, reverse: Reverse) {
        self.reverse = reverse;
    }

    /// Returns the header fields that the receiving half provides.
    #[must_use]
    pub fn reverse(&self) -> Reverse {
        self.reverse
    }

    /// Updates the clock and stores the timestamp echo of an arriving segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the processing of every ACK begins with this call")]
    fn start_segment(&mut self, now: Time, segment: &Segment) {
        self.refresh_clock(now);
        self.note_echo(segment.has_ts && segment.has(flag::ACK), segment.tsecr);
    }

    /// Stores `tsecr`, the timestamp that an arriving segment echoes, without the timestamp offset.
    /// Stores `None` if the segment echoes no timestamp (`is_echo` is false).
    #[inline]
    fn note_echo(&mut self, is_echo: bool, tsecr: u32) {
        self.rcv_tsecr = is_echo.then(|| tsecr.wrapping_sub(self.clock.ts_offset()));
    }

    /// Whether header prediction expects this segment: an ACK without SACK blocks, with the next
    /// sequence number and an unchanged advertised window. Linux: `tcp_rcv_established`.
    #[inline]
    fn is_predicted(&self, segment: &Segment) -> bool {
        segment.flags & !flag::PSH == flag::ACK
            && segment.sack_count == 0
            && segment.wnd == self.window.size()
            && segment.seq == self.reverse.rcv_nxt
            && !before(segment.ack, self.conn.snd_una)
            && !after(segment.ack, self.conn.snd_nxt)
            && self.is_newest(segment.has_ts, segment.tsval)
            && self.state == State::Established
    }

    /// Sends new data, if there is any. Linux: `tcp_data_snd_check`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the processing of every ACK ends with this call")]
    fn data_snd_check(&mut self, host: &mut impl Host) {
        if self.board.has_unsent() {
            self.push_pending_frames(self.nonagle, host);
        } else {
            self.limits.note_stop(Stop::Limited(Limit::App));
        }
        self.send_by_rule3(host);
        self.check_space(self.board.in_flight());
    }

    /// Processes an expired timer.
    #[inline]
    pub fn on_timer(&mut self, now: Time, timer: TimerId, host: &mut impl Host) {
        // The pacing timer fires before almost every packet, all other timers rarely. Only the
        // function for the other timers is therefore `#[cold]`.
        if timer == TimerId::Pacing {
            self.on_pacing_timer(now, host);
        } else {
            self.on_other_timer(now, timer, host);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_other_timer(&mut self, now: Time, timer: TimerId, host: &mut impl Host) {
        self.refresh_clock(now);
        if timer == TimerId::Retransmit {
            self.on_retransmit_timer(host);
        } else if timer == TimerId::Control {
            self.on_control_timer(host);
        }
        self.account_limit(now);
    }

    /// Records what limits the sender from now on.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the processing of nearly every event ends here, mostly without a new limit"
    )]
    pub(super) fn account_limit(&mut self, now: Time) {
        let limit = if self.is_established() && self.board.has_unsent() {
            self.limits.last_stop()
        } else {
            self.limit_without_unsent()
        };
        if limit != self.limits.current() {
            self.change_limit(now, limit);
        }
    }

    #[cold]
    #[inline(never)]
    fn change_limit(&mut self, now: Time, limit: Limit) {
        if limit != Limit::Rwnd {
            self.limits.set(now, limit);
            return;
        }
        let sent = self.board.head_sent_us().map(|sent_us| Time(sent_us * 1000));
        self.limits.change(now, limit, sent.map_or(Span::ZERO, |sent| now.since(sent)));
    }

    /// Returns what limits a sender that has no unsent data, or no connection yet.
    #[cold]
    #[inline(never)]
    fn limit_without_unsent(&self) -> Limit {
        if !self.is_established() {
            Limit::Cwnd
        } else if self.board.is_repair_due() {
            if self.is_pacing_armed { Limit::Pacing } else { Limit::Cwnd }
        } else if !self.app.has_more() {
            Limit::App
        } else if self.board.in_flight() >= self.conn.ctl.cwnd {
            Limit::Cwnd
        } else {
            Limit::Sndbuf
        }
    }

    /// Returns the time of the current event in milliseconds. Linux: `tcp_time_stamp_ts`.
    fn now_ms(&self) -> u32 {
        trunc_u32(self.clock.mstamp_us() / 1000)
    }

    /// Returns the earliest departure time of the next packet. Linux: `tcp_wstamp_ns`.
    #[must_use]
    pub fn next_departure(&self) -> Time {
        Time(self.conn.wstamp_ns)
    }

    /// Returns the state of the connection that the congestion control reads: cwnd, srtt,
    /// delivered, lost, pacing rate. The returned `inflight`, `srtt_us`, `min_rtt_us` and `rcv_nxt`
    /// have the values at the last call of the congestion control; [`Self::snapshot`] returns the
    /// current values.
    #[must_use]
    pub fn conn(&self) -> &Conn {
        &self.conn
    }

    /// Returns the time of the current event, in microseconds of the host's clock, modulo 2^32.
    #[inline]
    #[must_use]
    pub fn clock_us(&self) -> u32 {
        trunc_u32(self.clock.mstamp_us())
    }

    /// Returns the congestion control.
    #[must_use]
    pub fn cc(&self) -> &Cc {
        &self.cc
    }

    /// Returns a mutable reference to the congestion control. The replay of a kernel trace uses the
    /// reference to set the algorithm's phase.
    pub fn cc_mut(&mut self) -> &mut Cc {
        &mut self.cc
    }

    /// Returns the counts since the connection was opened.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the limits of the sender, and how long each limit applied.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the RTT sample taken since the last call, in microseconds; the latest one if there
    /// were several, `None` if there was none.
    pub fn take_rtt_sample(&mut self) -> Option<u32> {
        let sample_us = std::mem::replace(&mut self.rtt_sample_us, NO_SAMPLE);
        (sample_us != NO_SAMPLE).then_some(sample_us)
    }

    /// Returns the number of data packets that were marked lost. The kernel's counter,
    /// [`Conn::lost`], also includes SYNs.
    #[must_use]
    pub fn lost(&self) -> u32 {
        if self.is_established() { self.conn.lost.wrapping_sub(self.counts.lost_syns) } else { 0 }
    }

    /// Returns the window that the peer advertises.
    pub(crate) fn peer_window(&self) -> PeerWindow {
        self.window
    }

    /// Returns the retransmission timeout in jiffies. Linux: `icsk_rto`.
    #[must_use]
    pub const fn rto(&self) -> u32 {
        self.timer.rto()
    }

    /// Whether the handshake is complete.
    #[inline]
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.state >= State::Established
    }

    /// Returns the number of bytes acknowledged so far; a FIN counts as one byte, the SYN does not.
    #[must_use]
    pub fn acked_bytes(&self) -> u64 {
        // The SYN takes one sequence number.
        self.acked_bytes.saturating_sub(1)
    }

    /// Whether the application has nothing left to write, and all its data is acknowledged,
    /// including the FIN if it has closed.
    #[must_use]
    pub fn is_all_acked(&self) -> bool {
        self.app.is_done() && self.conn.snd_una == self.app.write_seq
    }

    /// Returns the number of packets in flight now. Linux: `tcp_packets_in_flight`.
    #[must_use]
    pub fn packets_in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Whether ECN was negotiated.
    #[must_use]
    pub fn has_ecn(&self) -> bool {
        self.conn.ctl.ecn_flags & ecn_flags::OK != 0
    }

    /// Returns the recovery state. Linux: `icsk_ca_state`.
    #[must_use]
    pub fn ca_state(&self) -> CaState {
        self.conn.ca_state
    }
}
