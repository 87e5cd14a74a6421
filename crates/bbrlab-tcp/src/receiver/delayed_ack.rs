//! When an ACK is owed, and how long it may wait.
//!
//! Three wishes pull at a receiver: ACKs at once while the sender's window is small (quick mode), one
//! ACK per two full segments in bulk transfer, and none of their own where replies carry them
//! (ping-pong mode). The counters below are the kernel's.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_measure_rcv_mss`, `tcp_event_data_recv`, `tcp_incr_quickack`,
//! `tcp_enter_quickack_mode`), `tcp_output.c` (`tcp_send_delayed_ack`, `tcp_event_ack_sent`),
//! `tcp_timer.c` (`tcp_delack_timer_handler`), `inet_connection_sock.h`.
//! Deviations: none.

use crate::wheel::Tick;

/// An ACK is owed. Linux: `ICSK_ACK_SCHED`.
pub(super) const SCHED: u8 = 1;
/// The timer is set. Linux: `ICSK_ACK_TIMER`.
pub(super) const TIMER: u8 = 2;
/// A segment that ends a write came. Linux: `ICSK_ACK_PUSHED`.
pub(super) const PUSHED: u8 = 4;
/// A second one. Linux: `ICSK_ACK_PUSHED2`.
pub(super) const PUSHED2: u8 = 8;
/// Owed at once. Linux: `ICSK_ACK_NOW`.
pub(super) const NOW: u8 = 16;
/// Data was dropped for lack of memory. Linux: `ICSK_ACK_NOMEM`.
pub(super) const NOMEM: u8 = 32;

/// `TCP_MAX_QUICKACKS`.
pub(super) const MAX_QUICKACKS: u8 = 16;
/// `TCP_MSS_DEFAULT`.
pub(super) const MSS_DEFAULT: u32 = 536;
/// `TCP_MIN_MSS`.
pub(super) const MIN_MSS: u32 = 88;
/// `tcp_pingpong_thresh`.
const PINGPONG_THRESH: u8 = 1;

/// Linux: `icsk_ack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelayedAck {
    /// [`SCHED`] and its neighbours.
    pub(super) pending: u8,
    /// ACKs that still leave at once.
    pub(super) quick: u8,
    /// Replies that carried an ACK; at the threshold the connection is interactive.
    pub(super) pingpong: u8,
    /// The route's `quickack 1`.
    pub(super) dst_quick_ack: bool,
    /// The delay in ticks; 0 before the first data.
    pub(super) ato: u32,
    /// When the timer is due, in jiffies.
    pub(super) timeout: u32,
    /// Jiffies of the last data received.
    pub(super) lrcvtime: u32,
    /// Payload bytes of the peer's full segments, as far as seen.
    pub(super) rcv_mss: u32,
    /// Size of the last segment if it was a short one.
    pub(super) last_seg_size: u32,
}

/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`: 40 ms.
pub(super) const fn ato_min(tick: Tick) -> u32 {
    let ticks = tick.hz() / 25;
    if ticks < 4 { 4 } else { ticks }
}

/// `TCP_DELACK_MAX`: 200 ms.
pub(super) const fn delack_max(tick: Tick) -> u32 {
    tick.hz() / 5
}

/// Ticks that `us` microseconds take, rounded up. Linux: `usecs_to_jiffies`.
#[expect(clippy::cast_possible_truncation, reason = "a round-trip time")]
pub(super) const fn us_to_jiffies(us: u64, tick: Tick) -> u32 {
    (us * tick.hz() as u64).div_ceil(1_000_000) as u32
}

impl DelayedAck {
    /// Linux: `inet_csk_in_pingpong_mode`.
    pub(super) const fn in_pingpong_mode(&self) -> bool {
        self.pingpong >= PINGPONG_THRESH
    }

    pub(super) fn enter_pingpong_mode(&mut self) {
        self.pingpong = PINGPONG_THRESH;
    }

    pub(super) fn exit_pingpong_mode(&mut self) {
        self.pingpong = 0;
    }

    /// Linux: `tcp_in_quickack_mode`.
    pub(super) const fn in_quickack_mode(&self) -> bool {
        self.dst_quick_ack || (self.quick != 0 && !self.in_pingpong_mode())
    }

    pub(super) const fn has(&self, bit: u8) -> bool {
        self.pending & bit != 0
    }

    pub(super) fn schedule(&mut self) {
        self.pending |= SCHED;
    }

    /// Linux: `tcp_incr_quickack`.
    pub(super) fn incr_quickack(&mut self, rcv_wnd: u32, max: u8) {
        let fitting = rcv_wnd / (2 * self.rcv_mss);
        let fitting = if fitting == 0 { 2 } else { fitting };
        let quick = u8::try_from(fitting).unwrap_or(u8::MAX).min(max);
        self.quick = self.quick.max(quick);
    }

    /// Linux: `tcp_enter_quickack_mode`.
    pub(super) fn enter_quickack_mode(&mut self, rcv_wnd: u32, max: u8, tick: Tick) {
        self.incr_quickack(rcv_wnd, max);
        self.exit_pingpong_mode();
        self.ato = ato_min(tick);
    }

    /// Data came at `now` (tick): adapt the delay to the pace. Linux: in `tcp_event_data_recv`.
    pub(super) fn on_data(&mut self, now: u32, rcv_wnd: u32, rto: u32, tick: Tick) {
        let ato_min = ato_min(tick);
        if self.ato == 0 {
            self.incr_quickack(rcv_wnd, MAX_QUICKACKS);
            self.ato = ato_min;
        } else {
            let since = now.wrapping_sub(self.lrcvtime);
            if since <= ato_min / 2 {
                self.ato = (self.ato >> 1) + ato_min / 2;
            } else if since < self.ato {
                self.ato = ((self.ato >> 1) + since).min(rto).min(delack_max(tick));
            } else if since > rto {
                // After a long pause the sender begins with a small window.
                self.incr_quickack(rcv_wnd, MAX_QUICKACKS);
            }
        }
        self.lrcvtime = now;
    }

    /// How long the ACK may wait, in ticks. Linux: the head of `tcp_send_delayed_ack`.
    pub(super) fn delay(&self, srtt_us: u32, tick: Tick) -> u32 {
        let mut ato = self.ato;
        let delack_min = ato_min(tick);
        if ato > delack_min {
            let mut max = tick.hz() / 2;
            if self.in_pingpong_mode() || self.has(PUSHED) {
                max = delack_max(tick);
            }
            if srtt_us != 0 {
                max = max.min(us_to_jiffies(u64::from(srtt_us >> 3), tick).max(delack_min));
            }
            ato = ato.min(max);
        }
        ato.min(delack_max(tick))
    }

    /// The timer went off and an ACK was owed. Linux: in `tcp_delack_timer_handler`.
    pub(super) fn on_timeout(&mut self, rto: u32, tick: Tick) {
        if self.in_pingpong_mode() {
            self.exit_pingpong_mode();
            self.ato = ato_min(tick);
        } else {
            self.ato = (self.ato << 1).min(rto).min(delack_max(tick));
        }
    }

    /// Data of our own was sent at `now` (jiffies): a reply if it followed closely.
    /// Linux: `tcp_event_data_sent`.
    pub(super) fn on_data_sent(&mut self, now: u32) {
        if now.wrapping_sub(self.lrcvtime) < self.ato {
            self.pingpong = self.pingpong.saturating_add(1);
        }
    }

    /// An ACK left. Linux: `tcp_dec_quickack_mode`, `inet_csk_clear_xmit_timer`.
    pub(super) fn on_ack_sent(&mut self, tick: Tick) {
        if self.quick != 0 && self.has(SCHED) {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = ato_min(tick);
            }
        }
        self.pending = 0;
    }
}
