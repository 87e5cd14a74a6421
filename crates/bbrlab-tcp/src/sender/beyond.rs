//! Events that custom congestion controls receive and Linux's do not: one-way delays, packets sent,
//! and the expiry of a timer that the congestion control sets.
//!
//! Sources: [linux] `net/ipv4/tcp_lp.c`: `tcp_lp_owd_calculator`, for the one-way delay.
//! Deviations:
//! 1. TCP-LP estimates the clock rate of the other host, and converts both timestamps to the same
//!    unit before it subtracts them. In this implementation, the clocks of both hosts run at the
//!    same rate and show the same time.

use bbrlab_cc::{Cc, CongestionControl as _};
use bbrlab_units::Time;

use super::arrival::IncomingAck;
use super::{Sender, State};
use crate::segment::flag;
use crate::{Host, TimerId};

impl Sender {
    /// Whether the host (the code that drives the sender) must call [`Self::take_timestamps`]
    /// before each arriving segment, and [`Self::end_event`] after each event. The result stays the
    /// same during a connection.
    #[must_use]
    pub fn hears_more(&self) -> bool {
        matches!(&self.cc, Cc::Plugged(cc) if cc.extras().is_any())
    }

    /// Passes to the congestion control the timestamps of an arriving segment, which show its
    /// one-way delay.
    #[cold]
    pub fn take_timestamps(&mut self, arrival: impl IncomingAck) {
        let segment = arrival.segment();
        let Cc::Plugged(cc) = &mut self.cc else { return };
        if segment.has_ts && segment.has(flag::ACK) && self.state != State::Closed {
            cc.take_timestamps(segment.tsval, segment.tsecr);
        }
    }

    /// Passes to the congestion control the packets that the current event has sent, and arms or
    /// disarms the congestion control's timer.
    #[cold]
    pub fn end_event(&mut self, host: &mut impl Host) {
        let Cc::Plugged(cc) = &self.cc else { return };
        let extras = cc.extras();
        if !self.is_established() || !(extras.sent || extras.timer) {
            return;
        }
        self.refresh_conn();
        let (Cc::Plugged(cc), conn) = (&mut self.cc, &mut self.conn) else { return };
        let stats = &self.stats;
        if let Some(ctl) = cc.report_sent(conn, stats.sent, stats.retransmitted, host) {
            conn.ctl = ctl;
        }
        match cc.timer_change(conn.clock_ns) {
            Some(Some(at_ns)) => host.arm(TimerId::Control, Time(at_ns)),
            Some(None) => host.disarm(TimerId::Control),
            None => {}
        }
    }

    /// Processes the expiry of the congestion control's timer. If the congestion control changes a
    /// field of [`Control`](bbrlab_cc::Control), sends the packets that are allowed now. If no
    /// field changes, sends nothing: TCP may be waiting until it can send a larger burst, and a
    /// timer that changes nothing must not end this wait.
    #[cold]
    pub(super) fn on_control_timer(&mut self, host: &mut impl Host) {
        self.refresh_conn();
        let Cc::Plugged(cc) = &mut self.cc else { return };
        let ctl = cc.report_timer(&self.conn, host);
        if ctl == self.conn.ctl {
            return;
        }
        self.conn.ctl = ctl;
        if self.board.is_repair_due() && self.conn.ctl.cwnd > self.board.in_flight() {
            self.retransmit_lost(host);
        }
        self.data_snd_check(host);
    }
}
