//! Rate samples as ns-3 takes them, where a switch says so: the ACK phase from the sample before, a sample that goes on
//! without a newer packet, the last rate in place of an invalid one, the smoothed RTT as the bound of a valid one.
//!
//! Sources: [ns3] `tcp-rate-ops.cc`: `SkbDelivered`, `GenerateSample`, of 3.40 and 3.44; `tcp-bbr.cc` of 3.40:
//! `UpdateBtlBw`.
//! Deviations:
//! 1. Microseconds and packets; ns-3 has nanoseconds and bytes.
//! 2. "From time 0" is from the connection's first packet.

use bbrlab_cc::Conn;
use bbrlab_cc::linux_int::{after, trunc_u32};
use bbrlab_stack::{AckInterval, InvalidSample, RateSwitches, SampleBound};

use super::{AckRate, DeliveredSkb, RateSampler, SkbStamps};

/// The state behind the switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switched {
    switches: RateSwitches,
    /// The sample of the last ACK that had one.
    last: AckRate,
    /// Start of the ACK phase of the current sample.
    phase_mstamp: u64,
    /// Whether this ACK has made a packet the sample's.
    has_newer: bool,
    /// Time of the first packet; 0 before.
    start_mstamp: u64,
    /// Minimum of the smoothed RTT in microseconds; `None` before the first.
    srtt_us_min: Option<u32>,
}

impl Switched {
    pub(super) fn new(switches: RateSwitches) -> Self {
        Self { switches, ..Self::default() }
    }

    /// Goes on with the last sample, if that is how samples are taken and this ACK has none of its own.
    fn resume(&self, ack: &mut AckRate) {
        if !self.switches.is_sticky || ack.rs.prior_delivered != 0 {
            return;
        }
        let last = &self.last;
        ack.rs.prior_delivered = last.rs.prior_delivered;
        ack.rs.is_app_limited = last.rs.is_app_limited;
        ack.rs.tx_in_flight = last.rs.tx_in_flight;
        ack.rs.interval_us = i64::from(last.snd_interval_us);
        ack.prior_mstamp = last.prior_mstamp;
        ack.prior_delivered_ce = last.prior_delivered_ce;
        ack.prior_lost = last.prior_lost;
        ack.last_end_seq = last.last_end_seq;
        ack.is_retrans = last.is_retrans;
    }
}

impl RateSampler {
    /// A new smoothed RTT in microseconds.
    #[inline]
    pub(crate) fn note_srtt(&mut self, srtt_us: u32) {
        if self.is_switched {
            let min = self.switched.srtt_us_min.unwrap_or(u32::MAX);
            self.switched.srtt_us_min = Some(min.min(srtt_us));
        }
    }

    /// A packet was delivered: makes it the sample's, if it is newer.
    #[cold]
    pub(super) fn take_switched(
        &mut self,
        ack: &mut AckRate,
        stamps: &SkbStamps,
        skb: DeliveredSkb,
    ) {
        let switches = self.switched.switches;
        if self.switched.start_mstamp == 0 {
            self.switched.start_mstamp = stamps.first_tx_mstamp;
        }
        self.switched.resume(ack);
        let prior = ack.rs.prior_delivered;
        let is_newer = if switches.is_sticky {
            // ns-3 counts from 0 without the SYN, and 0 is "no packet yet".
            prior <= 1 || after(stamps.delivered, prior)
        } else {
            prior == 0 || self.is_newest(ack, skb)
        };
        if !is_newer {
            return;
        }
        let prior_mstamp =
            if prior == 0 { self.switched.last.prior_mstamp } else { ack.prior_mstamp };
        self.switched.phase_mstamp = match switches.ack_interval {
            AckInterval::This => stamps.delivered_mstamp,
            AckInterval::Previous if prior_mstamp == 0 => self.switched.start_mstamp,
            AckInterval::Previous => prior_mstamp,
        };
        self.take(ack, stamps, skb);
        self.switched.has_newer = true;
    }

    /// Completes the sample of an ACK; the counts of [`Self::generate`] are done.
    #[cold]
    pub(super) fn generate_switched(
        &mut self,
        conn: &Conn,
        ack: &mut AckRate,
        is_sack_reneg: bool,
    ) {
        let switches = self.switched.switches;
        let has_newer = std::mem::take(&mut self.switched.has_newer);
        self.switched.resume(ack);
        if ack.prior_mstamp == 0 || is_sack_reneg {
            ack.rs.delivered = -1;
            ack.rs.interval_us = -1;
            self.reuse(ack);
            return;
        }
        self.count(conn, ack);
        let snd_us = trunc_u32(ack.rs.interval_us.cast_unsigned());
        let ack_us = if has_newer {
            self.form.delta(conn.tcp_mstamp(), self.switched.phase_mstamp)
        } else {
            self.switched.last.rcv_interval_us
        };
        let bound_us = match switches.min_rtt {
            SampleBound::Sample => conn.min_rtt_us,
            SampleBound::Srtt => self.switched.srtt_us_min.unwrap_or(u32::MAX),
        };
        self.complete(ack, snd_us, ack_us, bound_us);
        self.switched.last = *ack;
        if ack.rs.interval_us < 0 {
            self.switched.last.prior_mstamp = 0;
            self.reuse(ack);
        }
    }

    /// An invalid sample: the last valid rate takes its place, if it does.
    fn reuse(&self, ack: &mut AckRate) {
        if self.switched.switches.invalid == InvalidSample::Reuse && self.rate_interval_us != 0 {
            ack.rs.delivered = self.rate_delivered.cast_signed();
            ack.rs.interval_us = i64::from(self.rate_interval_us);
        }
    }
}
