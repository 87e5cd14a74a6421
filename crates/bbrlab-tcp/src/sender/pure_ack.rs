//! Short path for pure ACKs: predicted ACKs without data or SACK blocks.
//!
//! The host (the code that drives the sender) passes only the fields of a pure ACK, so that it need
//! not build a [`Segment`](crate::Segment). Unlike other predicted ACKs, a pure ACK may change the
//! peer's window, which the header prediction of `mod.rs` does not allow.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_data_snd_check`.
//! Deviations: none. A test in `tests.rs` checks that transfers have the same results with and
//! without the sender's short paths.

use bbrlab_cc::linux_int::after;
use bbrlab_units::Time;

use super::ack_state::flags;
use super::limits::{Limit, Stop};
use super::mechanisms::Sending;
use super::output::Push;
use super::{Sender, State};
use crate::Host;
use crate::segment::PureAck;

impl Sender {
    /// Processes a pure ACK as [`Self::on_segment`] does, if the ACK is predicted. For any other
    /// ACK, returns false, and the caller must call [`Self::on_segment`].
    #[inline]
    pub(super) fn on_pure_ack(&mut self, now: Time, ack: &PureAck, host: &mut impl Host) -> bool {
        let is_expected = self.is_established()
            && ack.seq == self.reverse.rcv_nxt
            && !after(ack.ack, self.conn.snd_nxt)
            && self.is_newest(ack.has_ts, ack.tsval);
        if !is_expected || !self.is_calm() {
            return false;
        }
        self.refresh_clock(now);
        if self.checks_app_limited_at_events() {
            self.check_backlog();
        }
        // If the ACK is not predicted, the general path repeats all steps so far, with the same
        // result. The timestamp echo is not stored, because the processing of a predicted ACK does
        // not read it.
        let Some(run) = self.predicted_run(ack.ack) else { return false };
        if ack.has_ts {
            self.reverse.ts_recent = ack.tsval;
        }
        let mut flag = flags::PREDICTED;
        if ack.wnd != self.window.size() {
            flag |= flags::SLOWPATH;
            self.set_window(ack.seq, ack.wnd, host);
        } else if self.state == State::Closing {
            flag |= flags::SLOWPATH;
        }
        self.take_delivered(&run, ack.ack, ack.seq, flag, host);
        self.send_after_pure_ack(now, host);
        true
    }

    /// The last step of the processing of a pure ACK: sends what may be sent now, as
    /// [`Self::send_pending`] does, and sets the retransmission timer. The function has short paths
    /// for the usual case, in which data is unsent and several packets are in flight. If pacing
    /// then delays the next skb, only the timer is set. Otherwise, new data is sent as far as cwnd
    /// and the peer's window allow it. If data is sent, sending sets the timer, and the function
    /// does not set the timer again.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the processing of nearly every ACK ends with this call"
    )]
    fn send_after_pure_ack(&mut self, now: Time, host: &mut impl Host) {
        let in_flight = self.conn.inflight;
        let has_probe = in_flight > 1 && self.mechanisms.has_tlp;
        if !self.board.has_unsent() || !has_probe || self.sending == Sending::Otherwise {
            self.set_xmit_timer(host);
            self.send_pending(now, host);
            return;
        }
        if !self.is_held_by_pacing(host) {
            self.timer.expect_loss_probe();
            let snd_nxt = self.conn.snd_nxt;
            self.write_new_now(self.nonagle, Push::All, host);
            self.check_space(self.board.in_flight());
            self.account_limit(now);
            if self.conn.snd_nxt == snd_nxt {
                self.arm_loss_probe(true, host);
            }
            return;
        }
        self.arm_loss_probe(true, host);
        if in_flight >= self.conn.ctl.cwnd {
            self.note_cwnd_full();
        }
        self.limits.note_stop(Stop::Limited(Limit::Pacing));
        self.check_space(in_flight);
        self.limits.set(now, Limit::Pacing);
    }
}
