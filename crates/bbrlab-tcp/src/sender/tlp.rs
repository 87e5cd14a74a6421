//! Tail loss probes: when no ACK arrives for two round trips, the sender sends one packet to
//! trigger an ACK.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_schedule_loss_probe`, `tcp_send_loss_probe`;
//! `net/ipv4/tcp_input.c`: `tcp_process_tlp_ack`; RFC 8985, section 7.
//! Deviations: none.

use bbrlab_cc::linux_int::{after, before, trunc_u32};
use bbrlab_cc::{CaState, CwndEvent};

use super::ack_state::flags;
use super::output::Push;
use super::scoreboard::tag;
use super::timers::{TIMEOUT_MIN_US, TimerPurpose};
use super::{Nonagle, Sender};
use crate::Host;
use crate::rtt::RTO_MAX_S;

/// Longest delay of the next departure, in jiffies, that the shortcut in [`Sender::arm_loss_probe`]
/// accepts. The value is far below the 71 minutes after which the kernel's 32-bit microseconds
/// wrap.
const LONG_DELAY: u32 = 1_000;

/// The state of tail loss probes: the probe in flight, and the probe timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tlp {
    /// `snd_nxt` when the probe was sent. Linux: `tlp_high_seq`, 0 for none.
    high_seq: Option<u32>,
    /// Whether the probe is a retransmission.
    is_retrans: bool,
    /// The probe timeout after the latest RTT sample: two smoothed RTTs plus [`TIMEOUT_MIN_US`], in
    /// jiffies (at most [`RTO_MAX_S`]) and in microseconds.
    timeout: u32,
    timeout_us: u32,
    /// `timeout_us` rounded up to whole jiffies, in microseconds. While `rounded_us` is
    /// unchanged, `timeout` is unchanged too.
    rounded_us: u32,
    /// A lower bound of the send times of all packets in flight, in microseconds: see
    /// [`Sender::is_rto_beyond_probe`].
    oldest_us: u64,
}

impl Tlp {
    /// Creates the state at the start of a connection: no probe is in flight, and the probe timeout
    /// is one second until the first RTT sample. Linux: `TCP_TIMEOUT_INIT`.
    pub(super) const fn new(hz: u32) -> Self {
        Self {
            high_seq: None,
            is_retrans: false,
            timeout: hz,
            timeout_us: u32::MAX,
            rounded_us: 0,
            oldest_us: 0,
        }
    }

    /// Returns `snd_nxt` as it was when the probe in flight was sent.
    #[inline]
    pub(super) const fn high_seq(&self) -> Option<u32> {
        self.high_seq
    }

    /// Whether the probe in flight is a retransmission; false if no probe is in flight.
    pub(super) const fn is_retransmission_out(&self) -> bool {
        self.high_seq.is_some() && self.is_retrans
    }

    /// Forgets the probe in flight, if there is one: no later ACK counts as the probe's answer.
    pub(super) fn forget(&mut self) {
        self.high_seq = None;
    }
}

impl Sender {
    /// Whether a loss probe may be scheduled. Linux: the conditions of `tcp_schedule_loss_probe`.
    #[inline]
    pub(super) fn may_schedule_loss_probe(&self) -> bool {
        self.board.packets_out() != 0 && self.may_schedule_loss_probe_of_some()
    }

    /// Whether a loss probe may be scheduled, if at least one packet is in flight.
    #[inline]
    pub(super) fn may_schedule_loss_probe_of_some(&self) -> bool {
        self.mechanisms.has_tlp && matches!(self.conn.ca_state, CaState::Open | CaState::Cwr)
    }

    /// Arms the timer for a loss probe; returns false if no probe may be scheduled. Linux:
    /// `tcp_schedule_loss_probe`.
    #[inline]
    pub(super) fn schedule_loss_probe(&mut self, host: &mut impl Host) -> bool {
        let may_probe = self.may_schedule_loss_probe();
        if may_probe {
            self.arm_loss_probe(true, host);
        }
        may_probe
    }

    /// Arms the timer for a loss probe. The caller must have checked that a loss probe is permitted
    /// (see [`Self::may_schedule_loss_probe`]). `advancing_rto` is true after an ACK, and false
    /// after new data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet and every ACK")]
    pub(super) fn arm_loss_probe(&mut self, advancing_rto: bool, host: &mut impl Host) {
        debug_assert!(
            self.rtt.srtt_us == 0
                || self.tlp.timeout_us == (self.rtt.srtt_us >> 2) + TIMEOUT_MIN_US,
            "outside of recoveries, the probe timeout is two smoothed RTTs plus `TIMEOUT_MIN_US`"
        );
        if self.board.packets_out() == 1 {
            self.arm_unusual_loss_probe(advancing_rto, host);
            return;
        }
        let mut timeout = if advancing_rto {
            self.tlp.timeout.min(self.timer.rto())
        } else if self.is_rto_beyond_probe() {
            self.tlp.timeout
        } else {
            self.probe_timeout_before_rto()
        };
        debug_assert_eq!(timeout, self.probe_timeout(advancing_rto).min(RTO_MAX_S * self.conn.hz));
        if !self.is_departure_near() {
            let delay = self.departure_delay();
            if delay > LONG_DELAY {
                self.arm_unusual_loss_probe(advancing_rto, host);
                return;
            }
            timeout = (timeout + delay).min(RTO_MAX_S * self.conn.hz);
        }
        self.set_timer(TimerPurpose::LossProbe, timeout, host);
    }

    /// Returns the probe timeout in jiffies for a timer that is armed because new data was sent.
    /// The result is at most the time until the RTO of the first packet in flight expires. Several
    /// packets must be in flight. If the first packet was sent only once, stores its send time in
    /// `oldest_us`.
    #[inline(never)]
    fn probe_timeout_before_rto(&mut self) -> u32 {
        let Some(head) = self.board.head_sent() else { return self.tlp.timeout };
        let sent_us = head.sent_us();
        if !head.has(tag::EVER_RETRANS) {
            self.tlp.oldest_us = sent_us;
        }
        let delta_us = trunc_u32(self.rto_delta_after_us(sent_us).cast_unsigned());
        if delta_us > 0 && delta_us < self.tlp.timeout_us {
            self.tlp.timeout.min(self.us_to_jiffies(delta_us))
        } else {
            self.tlp.timeout
        }
    }

    /// The part of [`Self::arm_loss_probe`] for two rare cases: only one packet is in flight, or
    /// pacing delays the next packet by more than [`LONG_DELAY`] jiffies.
    #[cold]
    #[inline(never)]
    fn arm_unusual_loss_probe(&mut self, advancing_rto: bool, host: &mut impl Host) {
        let timeout = self.probe_timeout(advancing_rto);
        self.reset_timer_after_pacing(TimerPurpose::LossProbe, timeout, host);
    }

    /// Whether the RTO of the first packet in flight cannot expire before the probe timeout.
    ///
    /// No packet in flight was sent before `oldest_us`. When `oldest_us` was stored, it was the
    /// send time of the first packet in flight, which had been sent only once. Packets are first
    /// sent in the order of their sequence numbers, so every other packet was sent at `oldest_us`
    /// or later. A retransmission can only make a packet's send time later. `oldest_us` therefore
    /// remains a bound, and the current first packet need not be read.
    #[inline]
    fn is_rto_beyond_probe(&self) -> bool {
        let rto_us = u64::from(self.timer.rto()) * u64::from(self.clock.us_per_jiffy());
        self.clock.mstamp_us() + u64::from(self.tlp.timeout_us) <= self.tlp.oldest_us + rto_us
    }

    /// Returns the probe timeout in jiffies, bounded by the RTO.
    fn probe_timeout(&self, advancing_rto: bool) -> u32 {
        let (mut timeout, timeout_us) = if self.board.packets_out() == 1 || self.rtt.srtt_us == 0 {
            self.lone_probe_timeout()
        } else {
            (self.tlp.timeout, self.tlp.timeout_us)
        };
        if advancing_rto {
            timeout = timeout.min(self.timer.rto());
        } else {
            // The kernel truncates the 64-bit difference to 32 bits: an RTO in the past becomes an
            // RTO far in the future.
            let delta_us = trunc_u32(self.rto_delta_us().cast_unsigned());
            if delta_us > 0 && delta_us < timeout_us {
                timeout = timeout.min(self.us_to_jiffies(delta_us));
            }
        }
        timeout
    }

    /// Returns the probe timeout in jiffies and in microseconds for two cases: there is no RTT
    /// sample, or only one packet is in flight, and its ACK may be delayed.
    #[cold]
    fn lone_probe_timeout(&self) -> (u32, u32) {
        if self.rtt.srtt_us == 0 {
            return (self.conn.hz, u32::MAX);
        }
        let extra_us =
            if self.board.packets_out() == 1 { self.rtt.rto_min_us } else { TIMEOUT_MIN_US };
        let timeout_us = (self.rtt.srtt_us >> 2) + extra_us;
        (self.us_to_jiffies(timeout_us), timeout_us)
    }

    /// Computes the probe timeout after a change of the smoothed RTT.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn update_probe_timeout(&mut self) {
        let timeout_us = (self.rtt.srtt_us >> 2) + TIMEOUT_MIN_US;
        self.tlp.timeout_us = timeout_us;
        // If the new timeout, rounded up to whole jiffies, is still `rounded_us`, the stored number
        // of jiffies stays right. This test needs no division.
        if self.tlp.rounded_us.wrapping_sub(timeout_us) >= self.clock.us_per_jiffy() {
            let jiffies = self.us_to_jiffies(timeout_us);
            self.tlp.rounded_us = jiffies * self.clock.us_per_jiffy();
            self.tlp.timeout = jiffies.min(RTO_MAX_S * self.conn.hz);
        }
    }

    /// Sends new data, or retransmits the last segment, when the probe timer fires, unless a probe
    /// is in flight already. Linux: `tcp_send_loss_probe`.
    pub(super) fn send_loss_probe(&mut self, host: &mut impl Host) {
        if self.tlp.high_seq.is_none() && self.transmit_loss_probe(host) {
            self.tlp.high_seq = Some(self.conn.snd_nxt);
            self.stats.tlp_count += 1;
            self.timer.clear();
        }
        if self.board.tail().is_none() {
            self.timer.clear();
            return;
        }
        self.rearm_rto(host);
    }

    /// Sends a probe; returns false if no probe could be sent.
    fn transmit_loss_probe(&mut self, host: &mut impl Host) -> bool {
        self.tlp.is_retrans = false;
        if self.board.first_unsent().is_some_and(|first| self.fits_send_window(&first)) {
            let packets_out = self.board.packets_out();
            self.write_new(Nonagle::Off, Push::LossProbe, host);
            return self.board.packets_out() > packets_out;
        }
        let Some(mut at) = self.board.tail() else { return false };
        if self.is_in_host_queue(at) {
            return false;
        }
        let mss = self.conn.mss;
        let skb = self.board.sent(at);
        // Without RACK, or in ns-3's state machine, packets can be SACKed in the Open state. A
        // SACKed packet is not sent again.
        if (self.mechanisms.is_ns3 || !self.mechanisms.has_rack) && skb.has(tag::SACKED) {
            return false;
        }
        if skb.pcount > 1 && skb.len > (skb.pcount - 1) * mss {
            at = self.board.split(at, (skb.pcount - 1) * mss, mss);
        }
        self.conn.tlp_orig_app_limited = self.board.is_app_limited(at);
        if !self.retransmit_skb_quietly(at, 1, host) {
            return false;
        }
        self.tlp.is_retrans = true;
        true
    }

    /// Processes an ACK while a probe is in flight. If the ACK shows that the probe repaired a
    /// loss, reduces cwnd. Linux: `tcp_process_tlp_ack`.
    ///
    /// Returns whether the ACK covers the probe and may be for either the original or the probe.
    /// The kernel tree of BBRv3 stores this result in the rate sample.
    pub(super) fn process_tlp_ack(&mut self, ack: u32, flag: u32, host: &mut impl Host) -> bool {
        let Some(high_seq) = self.tlp.high_seq else { return false };
        if before(ack, high_seq) {
            return false;
        }
        if !self.tlp.is_retrans || flag & flags::DSACK_TLP != 0 {
            self.tlp.forget();
        } else if after(ack, high_seq) {
            // The probe repaired a loss, so cwnd is reduced.
            if self.hooks.notes_in_flight {
                self.ca_event(CwndEvent::TlpRecovery, host);
            }
            self.init_cwnd_reduction();
            self.set_ca_state(CaState::Cwr, host);
            self.end_cwnd_reduction(host);
            self.try_keep_open(host);
        } else if flag & (flags::SND_UNA_ADVANCED | flags::NOT_DUP | flags::DATA_SACKED) == 0 {
            self.tlp.forget();
        } else {
            return true;
        }
        false
    }
}
