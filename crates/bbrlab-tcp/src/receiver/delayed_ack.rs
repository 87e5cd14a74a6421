//! When an ACK is due, and how long it may be delayed.
//!
//! A receiver has three modes: immediate ACKs while the sender's cwnd is small (quick mode), one
//! ACK per two full segments in bulk transfer, and ACKs carried by replies in interactive use
//! (ping-pong mode). Most fields of [`DelayedAck`] have the names and meanings of the kernel's
//! `icsk_ack`.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_measure_rcv_mss`, `tcp_event_data_recv`,
//! `tcp_incr_quickack`, `tcp_enter_quickack_mode`), `tcp_output.c` (`tcp_send_delayed_ack`,
//! `tcp_event_ack_sent`), `tcp_timer.c` (`tcp_delack_timer_handler`), `inet_connection_sock.h`.
//! Deviations: none.

/// An ACK is due. Linux: `ICSK_ACK_SCHED`.
pub(super) const SCHED: u8 = 1;
/// The delayed-ACK timer is set. Linux: `ICSK_ACK_TIMER`.
pub(super) const TIMER: u8 = 2;
/// A segment arrived that counts as the end of a write: it has PSH, or is shorter than `rcv_mss`
/// and does not lower `rcv_mss`. Linux: `ICSK_ACK_PUSHED`.
pub(super) const PUSHED: u8 = 4;
/// A segment arrived that is shorter than `rcv_mss` and ends a write, while [`PUSHED`] was already
/// set. Linux: `ICSK_ACK_PUSHED2`.
pub(super) const PUSHED2: u8 = 8;
/// An ACK must be sent immediately. Linux: `ICSK_ACK_NOW`.
pub(super) const NOW: u8 = 16;
/// Data was dropped for lack of memory. Linux: `ICSK_ACK_NOMEM`.
pub(super) const NOMEM: u8 = 32;

/// Largest number of successive ACKs that are sent immediately in quick mode. Linux:
/// `TCP_MAX_QUICKACKS`.
pub(super) const MAX_QUICKACKS: u8 = 16;
/// The MSS in bytes if the peer has sent no MSS option. Linux: `TCP_MSS_DEFAULT`.
pub(super) const MSS_DEFAULT: u32 = 536;
/// The smallest MSS in bytes. Linux: `TCP_MIN_MSS`.
pub(super) const MIN_MSS: u32 = 88;
/// Number of replies at which the connection starts to count as interactive. Linux:
/// `tcp_pingpong_thresh`.
const PINGPONG_THRESH: u8 = 1;

/// The state of delayed ACKs. Linux: `icsk_ack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayedAck {
    /// Whether an ACK is due, and why, as bits: [`SCHED`], [`TIMER`], [`PUSHED`], [`PUSHED2`],
    /// [`NOW`], [`NOMEM`].
    pub(super) pending: u8,
    /// Number of successive ACKs that are still to be sent immediately.
    pub(super) quick: u8,
    /// Number of replies that carried an ACK. From [`PINGPONG_THRESH`] replies on, the connection
    /// counts as interactive.
    pub(super) pingpong: u8,
    /// Whether the route has `quickack 1`.
    pub(super) dst_quick_ack: bool,
    /// The delay of an ACK in ticks; 0 before the first data.
    pub(super) ato: u32,
    /// When the delayed-ACK timer is due, in jiffies.
    pub(super) timeout: u32,
    /// Time of the last data received, in jiffies.
    pub(super) lrcvtime: u32,
    /// Estimated payload bytes of the peer's full segments.
    pub(super) rcv_mss: u32,
    /// Bytes of the last segment if the segment was shorter than `rcv_mss`, else 0.
    pub(super) last_seg_size: u32,
    /// 40 ms in jiffies. Linux: `TCP_ATO_MIN`, `TCP_DELACK_MIN`.
    ato_min: u16,
    /// 200 ms in jiffies. Linux: `TCP_DELACK_MAX`.
    delack_max: u16,
}

/// Converts `us` microseconds to jiffies, rounded up. Linux: `usecs_to_jiffies`.
#[expect(clippy::cast_possible_truncation, reason = "a round-trip time")]
pub(super) const fn us_to_jiffies(us: u64, hz: u32) -> u32 {
    (us * hz as u64).div_ceil(1_000_000) as u32
}

impl DelayedAck {
    /// Creates the delayed-ACK state of a new socket.
    pub(super) fn new(dst_quick_ack: bool, hz: u32) -> Self {
        let fraction = |jiffies| u16::try_from(jiffies).expect("a second has at most 1000 jiffies");
        Self {
            pending: 0,
            quick: 0,
            pingpong: 0,
            dst_quick_ack,
            ato: 0,
            timeout: 0,
            lrcvtime: 0,
            rcv_mss: MSS_DEFAULT,
            last_seg_size: 0,
            ato_min: fraction((hz / 25).max(4)),
            delack_max: fraction(hz / 5),
        }
    }

    const fn ato_min(&self) -> u32 {
        self.ato_min as u32
    }

    const fn delack_max(&self) -> u32 {
        self.delack_max as u32
    }

    /// Whether data that arrives at `now` (jiffies) would leave the delay `ato` unchanged.
    pub(super) const fn is_steady(&self, now: u32) -> bool {
        self.ato == self.ato_min() && now.wrapping_sub(self.lrcvtime) <= self.ato_min() / 2
    }

    /// Whether the connection counts as interactive. Linux: `inet_csk_in_pingpong_mode`.
    pub(super) const fn in_pingpong_mode(&self) -> bool {
        self.pingpong >= PINGPONG_THRESH
    }

    pub(super) fn enter_pingpong_mode(&mut self) {
        self.pingpong = PINGPONG_THRESH;
    }

    pub(super) fn exit_pingpong_mode(&mut self) {
        self.pingpong = 0;
    }

    /// Whether every ACK is sent immediately. Linux: `tcp_in_quickack_mode`.
    pub(super) const fn in_quickack_mode(&self) -> bool {
        self.dst_quick_ack || (self.quick != 0 && !self.in_pingpong_mode())
    }

    /// Whether any of `bits` is set in `pending`.
    pub(super) const fn has(&self, bits: u8) -> bool {
        self.pending & bits != 0
    }

    /// Whether an ACK that is due is sent when the application reads, because a segment ended a
    /// write. Linux: in `__tcp_cleanup_rbuf`.
    pub(super) const fn is_due_with_read(&self) -> bool {
        self.has(PUSHED2) || (self.has(PUSHED) && !self.in_pingpong_mode())
    }

    /// Whether an ACK that is due must be sent immediately, even if it acknowledges less than two
    /// full segments.
    pub(super) const fn is_due_at_once(&self) -> bool {
        self.in_quickack_mode() || self.has(NOW)
    }

    pub(super) fn schedule(&mut self) {
        self.pending |= SCHED;
    }

    /// Raises the number of successive ACKs to be sent immediately, to half the number of full
    /// segments that fit into the receive window, but to at most `max`. If fewer than two full
    /// segments fit, raises the number to 2. Linux: `tcp_incr_quickack`.
    pub(super) fn incr_quickack(&mut self, rcv_wnd: u32, max: u8) {
        let fitting = rcv_wnd / (2 * self.rcv_mss);
        let fitting = if fitting == 0 { 2 } else { fitting };
        let quick = u8::try_from(fitting).unwrap_or(u8::MAX).min(max);
        self.quick = self.quick.max(quick);
    }

    /// Makes the receiver send up to `max` successive ACKs immediately from now on, and resets the
    /// delay. Linux: `tcp_enter_quickack_mode`.
    pub(super) fn enter_quickack_mode(&mut self, rcv_wnd: u32, max: u8) {
        self.incr_quickack(rcv_wnd, max);
        self.exit_pingpong_mode();
        self.ato = self.ato_min();
    }

    /// Adapts the delay to the time between segments, after data arrived at `now` (jiffies). Linux:
    /// in `tcp_event_data_recv`.
    pub(super) fn on_data(&mut self, now: u32, rcv_wnd: u32, rto: u32) {
        let ato_min = self.ato_min();
        if self.ato == 0 {
            self.incr_quickack(rcv_wnd, MAX_QUICKACKS);
            self.ato = ato_min;
        } else {
            let since = now.wrapping_sub(self.lrcvtime);
            if since <= ato_min / 2 {
                self.ato = (self.ato >> 1) + ato_min / 2;
            } else if since < self.ato {
                self.ato = ((self.ato >> 1) + since).min(rto).min(self.delack_max());
            } else if since > rto {
                // After a long pause the sender restarts with a small cwnd, so ACKs are sent
                // immediately.
                self.incr_quickack(rcv_wnd, MAX_QUICKACKS);
            }
        }
        self.lrcvtime = now;
    }

    /// Returns how long an ACK may be delayed now, in ticks. Linux: the first part of
    /// `tcp_send_delayed_ack`.
    #[inline]
    pub(super) fn delay(&self, srtt_us: u32, hz: u32) -> u32 {
        let ato = if self.ato > self.ato_min() { self.long_delay(srtt_us, hz) } else { self.ato };
        ato.min(self.delack_max())
    }

    #[cold]
    #[inline(never)]
    fn long_delay(&self, srtt_us: u32, hz: u32) -> u32 {
        let mut max = hz / 2;
        if self.in_pingpong_mode() || self.has(PUSHED) {
            max = self.delack_max();
        }
        if srtt_us != 0 {
            max = max.min(us_to_jiffies(u64::from(srtt_us >> 3), hz).max(self.ato_min()));
        }
        self.ato.min(max)
    }

    /// Called when the delayed-ACK timer has fired while an ACK was due. In ping-pong mode, leaves
    /// this mode and sets the delay to 40 ms; otherwise doubles the delay, up to 200 ms or `rto`,
    /// whichever is less. Linux: in `tcp_delack_timer_handler`.
    pub(super) fn on_timeout(&mut self, rto: u32) {
        if self.in_pingpong_mode() {
            self.exit_pingpong_mode();
            self.ato = self.ato_min();
        } else {
            self.ato = (self.ato << 1).min(rto).min(self.delack_max());
        }
    }

    /// Processes data that this socket sends at `now` (jiffies). The data counts as a reply if data
    /// of the peer arrived less than `ato` jiffies before. Linux: `tcp_event_data_sent`.
    pub(super) fn on_data_sent(&mut self, now: u32) {
        if now.wrapping_sub(self.lrcvtime) < self.ato {
            self.pingpong = self.pingpong.saturating_add(1);
        }
    }

    /// Records that an ACK was sent: one of the immediate ACKs of quick mode is used up, and no ACK
    /// is due any longer. Linux: `tcp_dec_quickack_mode`, `inet_csk_clear_xmit_timer`.
    pub(super) fn on_ack_sent(&mut self) {
        if self.quick != 0 && self.has(SCHED) {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = self.ato_min();
            }
        }
        self.pending = 0;
    }
}
