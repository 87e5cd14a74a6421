//! Rate samples as ns-3 takes them. Each of these differences from Linux can be switched on
//! separately:
//!
//! - The ACK phase begins at the latest delivery before the previous sample's packet was sent. In
//!   Linux, it begins at the latest delivery before the sampled packet was sent.
//! - An ACK that delivers no packet newer than the previous sample's packet continues the previous
//!   sample. The sampled packet and the lengths of the send phase and the ACK phase stay, and the
//!   sample also counts the packets that this ACK delivers.
//! - The last valid rate replaces an invalid sample.
//! - The minimum of the smoothed RTT, not the minimum RTT, is the lower bound of a valid sample's
//!   interval.
//! - Every sample is invalid.
//!
//! Sources: [ns3] `tcp-rate-ops.cc`: `SkbDelivered`, `GenerateSample`, of 3.40 and 3.44;
//! `tcp-bbr.cc` of 3.40: `UpdateBtlBw`; [lanigan-code] `tcp-socket-base.cc`: `UpdateRateSample`.
//! Deviations:
//! 1. Times are in microseconds and data in packets; ns-3 uses nanoseconds and bytes.
//! 2. Where ns-3 measures a time from the start of the simulation, this sampler measures the time
//!    from the connection's first packet.

use bbrlab_cc::Conn;
use bbrlab_cc::linux_int::{after, trunc_u32};
use bbrlab_stack::{AckInterval, InvalidSample, RateSwitches, SampleBound};

use crate::{AckRate, DeliveredSkb, RateSampler, SkbStamps};

/// The extra state of the sampler if keys of `[stack]` select ns-3's behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switched {
    switches: RateSwitches,
    /// The latest completed sample.
    last: AckRate,
    /// Start of the ACK phase of the current sample in microseconds.
    phase_mstamp: u64,
    /// Whether one of the packets that this ACK delivered has become the sampled packet of this
    /// ACK's sample. False if the sample has no packet or continues the previous sample.
    has_newer: bool,
    /// Time of the connection's first packet in microseconds; 0 before that packet was sampled.
    start_mstamp: u64,
    /// Minimum of the smoothed RTT in microseconds; `None` before the first smoothed RTT.
    srtt_us_min: Option<u32>,
}

impl Switched {
    pub(super) fn new(switches: RateSwitches) -> Self {
        Self { switches, ..Self::default() }
    }

    /// Copies fields of the latest completed sample into `ack`. Does nothing unless three
    /// conditions hold: `is_sticky` is set, this ACK has delivered no packet newer than that
    /// sample's packet, and `ack` has no sampled packet yet (`prior_delivered` is 0).
    fn resume(&self, ack: &mut AckRate, has_newer: bool) {
        if !self.switches.is_sticky || has_newer || ack.rs.prior_delivered != 0 {
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

    /// Implements [`RateSampler::take_switched`].
    fn take(
        &mut self,
        sampler: &mut RateSampler,
        ack: &mut AckRate,
        stamps: &SkbStamps,
        skb: DeliveredSkb,
    ) {
        if self.start_mstamp == 0 {
            self.start_mstamp = stamps.first_tx_mstamp;
        }
        self.resume(ack, self.has_newer);
        let prior = ack.rs.prior_delivered;
        let is_newer = if self.switches.is_sticky {
            prior == 0 || after(stamps.delivered, prior)
        } else {
            prior == 0 || sampler.is_newest(ack, skb)
        };
        if !is_newer {
            return;
        }
        let prior_mstamp = if prior == 0 { self.last.prior_mstamp } else { ack.prior_mstamp };
        self.phase_mstamp = match self.switches.ack_interval {
            AckInterval::This => stamps.delivered_mstamp,
            AckInterval::Previous if prior_mstamp == 0 => self.start_mstamp,
            AckInterval::Previous => prior_mstamp,
        };
        sampler.take(ack, stamps, skb);
        self.has_newer = true;
    }

    /// Implements [`RateSampler::generate_switched`].
    fn generate(
        &mut self,
        sampler: &mut RateSampler,
        conn: &Conn,
        ack: &mut AckRate,
        is_sack_reneg: bool,
    ) {
        let has_newer = std::mem::take(&mut self.has_newer);
        self.resume(ack, has_newer);
        if self.switches.is_blind {
            // Only the interval becomes invalid; the count of delivered packets stays valid, as in
            // a sample whose interval is below the lower bound.
            sampler.count(conn, ack);
            ack.rs.interval_us = -1;
            return;
        }
        if ack.prior_mstamp == 0 || is_sack_reneg {
            ack.rs.delivered = -1;
            ack.rs.interval_us = -1;
            self.reuse(sampler, ack);
            return;
        }
        sampler.count(conn, ack);
        let snd_us = trunc_u32(ack.rs.interval_us.cast_unsigned());
        let ack_us = if has_newer {
            sampler.version.delta(conn.tcp_mstamp(), self.phase_mstamp)
        } else {
            self.last.rcv_interval_us
        };
        let bound_us = match self.switches.min_rtt {
            SampleBound::Sample => conn.min_rtt_us,
            SampleBound::Srtt => self.srtt_us_min.unwrap_or(u32::MAX),
        };
        (ack.snd_interval_us, ack.rcv_interval_us) = (snd_us, ack_us);
        sampler.complete(&mut ack.rs, snd_us, ack_us, bound_us);
        self.last = *ack;
        if ack.rs.interval_us < 0 {
            self.last.prior_mstamp = 0;
            self.reuse(sampler, ack);
        }
    }

    /// Replaces an invalid sample by the last valid rate, if `invalid` is [`InvalidSample::Reuse`].
    fn reuse(&self, sampler: &RateSampler, ack: &mut AckRate) {
        if self.switches.invalid == InvalidSample::Reuse && sampler.rate_interval_us != 0 {
            ack.rs.delivered = sampler.rate_delivered.cast_signed();
            ack.rs.interval_us = i64::from(sampler.rate_interval_us);
        }
    }
}

impl RateSampler {
    /// Updates the minimum of the smoothed RTT, in microseconds, for [`SampleBound::Srtt`].
    #[inline]
    pub fn note_srtt(&mut self, srtt_us: u32) {
        if let Some(switched) = &mut self.switched {
            let min = switched.srtt_us_min.unwrap_or(u32::MAX);
            switched.srtt_us_min = Some(min.min(srtt_us));
        }
    }

    /// Makes a delivered packet the sampled packet of this ACK's sample if the sample has no packet
    /// yet, or if the delivered packet is newer than the sample's present packet.
    #[cold]
    pub(super) fn take_switched(
        &mut self,
        ack: &mut AckRate,
        stamps: SkbStamps,
        skb: DeliveredSkb,
    ) {
        self.with_switched(|switched, sampler| switched.take(sampler, ack, &stamps, skb));
    }

    /// Completes the sample of an ACK. The caller has already updated the delivery state in `conn`,
    /// and the counts of delivered and lost packets in `ack` (`note_counts`).
    #[cold]
    pub(super) fn generate_switched(
        &mut self,
        conn: &Conn,
        ack: &mut AckRate,
        is_sack_reneg: bool,
    ) {
        self.with_switched(|switched, sampler| {
            switched.generate(sampler, conn, ack, is_sack_reneg);
        });
    }

    /// If the sampler has a [`Switched`], calls `act` with it and with the sampler. During the
    /// call, the sampler has no [`Switched`].
    fn with_switched(&mut self, act: impl FnOnce(&mut Switched, &mut Self)) {
        if let Some(mut switched) = self.switched.take() {
            act(&mut switched, self);
            self.switched = Some(switched);
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_stack::LossCount;

    use super::*;

    const PREVIOUS: RateSwitches = RateSwitches { ack_interval: AckInterval::Previous, ..LINUX };
    const STICKY: RateSwitches = RateSwitches { is_sticky: true, ..LINUX };
    const REUSE: RateSwitches = RateSwitches { invalid: InvalidSample::Reuse, ..LINUX };
    const SRTT: RateSwitches = RateSwitches { min_rtt: SampleBound::Srtt, ..LINUX };
    const LINUX: RateSwitches = RateSwitches {
        ack_interval: AckInterval::This,
        is_sticky: false,
        loss: LossCount::New,
        invalid: InvalidSample::Drop,
        min_rtt: SampleBound::Sample,
        is_blind: false,
    };

    type Packet = (SkbStamps, DeliveredSkb);

    /// A connection whose SYN is acknowledged. As in Linux, the SYN counts as one delivered packet.
    /// `is_sticky` is a behaviour of ns-3, and ns-3 does not count the SYN. With `is_sticky`, the
    /// SYN is therefore not counted here either. Times are in microseconds.
    struct Flow {
        sampler: RateSampler,
        conn: Conn,
        packets_out: u32,
        end_seq: u32,
    }

    impl Flow {
        fn new(switches: RateSwitches) -> Self {
            Self {
                sampler: RateSampler::new(super::super::SamplerVersion::V1, switches),
                conn: Conn {
                    delivered: u32::from(!switches.is_sticky),
                    min_rtt_us: 10,
                    ..Conn::default()
                },
                packets_out: 0,
                end_seq: 1,
            }
        }

        fn send(&mut self, at_us: u64) -> Packet {
            let stamps = self.sampler.skb_sent(&mut self.conn, self.packets_out, 1, at_us);
            self.packets_out += 1;
            self.end_seq += 1000;
            let skb =
                DeliveredSkb { tx_mstamp: at_us, end_seq: self.end_seq, ..Default::default() };
            (stamps, skb)
        }

        /// Returns the number of packets delivered and the interval of the sample in microseconds.
        fn ack(&mut self, at_us: u64, packets: &mut [Packet]) -> (i32, i64) {
            self.ack_all(at_us, packets, false)
        }

        fn ack_all(&mut self, at_us: u64, packets: &mut [Packet], is_reneg: bool) -> (i32, i64) {
            let mut ack = AckRate::default();
            let count = u32::try_from(packets.len()).expect("a few");
            for (stamps, skb) in packets {
                self.sampler.skb_delivered(&mut ack, stamps, *skb);
            }
            self.conn.clock_ns = at_us * 1000;
            self.conn.delivered += count;
            self.packets_out -= count;
            self.sampler.generate(&mut self.conn, &mut ack, count, 0, is_reneg);
            (ack.rs.delivered, ack.rs.interval_us)
        }

        /// Sends four packets: the third after the first was acknowledged, and the fourth after the
        /// second was acknowledged. Returns the flow and the last two packets.
        fn two_acked(switches: RateSwitches) -> (Self, Packet, Packet) {
            let mut flow = Self::new(switches);
            let (a, b) = (flow.send(1_000), flow.send(1_500));
            assert_eq!(flow.ack(2_000, &mut [a]), (1, 1_000));
            let c = flow.send(2_100);
            assert_eq!(flow.ack(2_500, &mut [b]), (2, 1_500));
            let d = flow.send(2_600);
            (flow, c, d)
        }
    }

    /// In ns-3, `SkbDelivered` computes the time since `m_priorTime` before it sets `m_priorTime`
    /// for the new packet.
    #[test]
    fn the_ack_phase_begins_with_the_sample_before() {
        let (mut flow, c, d) = Flow::two_acked(STICKY);
        assert_eq!(
            flow.ack(3_100, &mut [c]),
            (2, 1_100),
            "in Linux, the ACK phase begins at the first ACK"
        );
        assert_eq!(flow.ack(3_600, &mut [d]), (2, 1_100));
        let (mut flow, c, d) = Flow::two_acked(PREVIOUS);
        assert_eq!(flow.ack(3_100, &mut [c]), (2, 2_100));
        assert_eq!(flow.ack(3_600, &mut [d]), (2, 1_600));
        let (mut flow, c, d) = Flow::two_acked(PREVIOUS);
        assert_eq!(
            flow.ack(3_600, &mut [c, d]),
            (2, 1_600),
            "one ACK that delivers both packets gives the same sample"
        );
    }

    #[test]
    fn after_an_invalid_sample_the_ack_phase_begins_with_the_connection() {
        let (mut flow, c, d) = Flow::two_acked(PREVIOUS);
        flow.conn.min_rtt_us = 10_000;
        assert_eq!(flow.ack(3_100, &mut [c]), (2, -1));
        flow.conn.min_rtt_us = 10;
        assert_eq!(flow.ack(3_600, &mut [d]), (2, 2_600));
    }

    #[test]
    fn a_sticky_sample_goes_on_without_a_newer_packet() {
        let (mut flow, c, _) = Flow::two_acked(STICKY);
        assert_eq!(flow.ack(3_100, &mut [c]), (2, 1_100));
        assert_eq!(flow.ack(3_200, &mut []), (2, 1_100));
        let (mut flow, c, _) = Flow::two_acked(PREVIOUS);
        flow.ack(3_100, &mut [c]);
        assert_eq!(flow.ack(3_200, &mut []), (-1, -1));
    }

    /// With `is_sticky`, as in ns-3, an ACK starts a new sample only if it delivers a packet newer
    /// than the previous sample's packet. A packet is newer than another if more deliveries
    /// preceded its transmission. In Linux, every ACK starts a new sample.
    #[test]
    fn an_older_packet_does_not_end_a_sticky_sample() {
        for (switches, late) in [(STICKY, (2, 1_100)), (REUSE, (3, 2_200))] {
            let mut flow = Flow::new(switches);
            let (a, b) = (flow.send(1_000), flow.send(1_500));
            assert_eq!(flow.ack(2_000, &mut [a]), (1, 1_000));
            let c = flow.send(2_100);
            assert_eq!(flow.ack(3_100, &mut [c]), (1, 1_100));
            assert_eq!(flow.ack(3_200, &mut [b]), late);
        }
        let mut flow = Flow::new(REUSE);
        let (a, b) = (flow.send(1_000), flow.send(1_500));
        flow.ack(2_000, &mut [a]);
        let c = flow.send(2_100);
        assert_eq!(
            flow.ack(3_100, &mut [c, b]),
            (2, 1_100),
            "the sample comes from the newest packet that the ACK delivers"
        );
    }

    #[test]
    fn the_last_valid_rate_takes_the_place_of_an_invalid_sample() {
        let mut flow = Flow::new(REUSE);
        assert_eq!(
            flow.ack(900, &mut []),
            (-1, -1),
            "no valid rate exists that could replace the sample"
        );
        let (a, b, c) = (flow.send(1_000), flow.send(1_000), flow.send(1_000));
        assert_eq!(flow.ack(2_000, &mut [a]), (1, 1_000));
        assert_eq!(flow.ack(2_100, &mut []), (1, 1_000), "nothing delivered");
        assert_eq!(flow.ack_all(2_200, &mut [b], true), (1, 1_000), "SACKs were taken back");
        flow.conn.min_rtt_us = 10_000;
        assert_eq!(flow.ack(2_300, &mut [c]), (1, 1_000), "the interval is below the minimum RTT");
        let mut flow = Flow::new(PREVIOUS);
        let (a, b) = (flow.send(1_000), flow.send(1_000));
        assert_eq!(flow.ack(2_000, &mut [a]), (1, 1_000));
        assert_eq!(flow.ack_all(2_200, &mut [b], true), (-1, -1));
    }

    #[test]
    fn the_minimum_of_the_smoothed_rtt_bounds_samples() {
        let sample = |srtts: &[u32], interval_us: u64| {
            let mut flow = Flow::new(SRTT);
            let packet = flow.send(1_000);
            for &srtt_us in srtts {
                flow.sampler.note_srtt(srtt_us);
            }
            flow.ack(1_000 + interval_us, &mut [packet]).1
        };
        assert_eq!(sample(&[5_000, 3_000, 4_000], 3_000), 3_000);
        assert_eq!(sample(&[5_000, 3_000, 4_000], 2_999), -1);
        assert_eq!(sample(&[], 2_999), -1, "without an RTT sample, there is no smoothed RTT");
    }
}
