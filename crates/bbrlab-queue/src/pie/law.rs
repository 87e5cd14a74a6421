//! PIE's control law: a drop probability controlled by the waiting time, and the choice of the
//! packets to drop.
//!
//! The law is a proportional-integral controller. At each update, the probability changes by
//! `alpha` times the difference between waiting time and target, plus `beta` times the change of
//! the waiting time since the last update. While the probability is small, the changes are scaled
//! down. The law sums the drop probability over the packets that arrive after a drop. The next
//! random drop is possible only when this sum has reached 0.85, so that drops are spaced.
//!
//! At the start, and when waits have been short and the probability is 0, no packet is dropped
//! early for 150 ms.
//!
//! Sources: [linux] `net/sched/sch_pie.c`, `include/net/pie.h`; [rfc8033].
//! Deviations:
//! 1. The variable `backlog_old` and the counters that `tc -s` shows are not implemented, because
//!    they affect no decision.

use bbrlab_link::PieParams;
use bbrlab_units::{NS_PER_S, NS_PER_US, Span, Time};

use crate::entropy::Entropy;
use crate::info::PieInfo;
use crate::jiffies;
use crate::packet::{PSCHED_MTU, Queued};

/// A probability of 1. Linux: `MAX_PROB`.
pub(crate) const MAX_PROB: u64 = u64::MAX >> 8;

/// The shift to the right that converts nanoseconds to ticks. Linux: `PSCHED_SHIFT`.
const SHIFT: u32 = 6;

/// Number of ticks per second. Linux: `PSCHED_TICKS_PER_SEC`.
const TICKS_PER_S: u64 = NS_PER_S >> SHIFT;

/// Time from the set-up of the discipline to the first update of its probability, in jiffies.
/// Linux: `HZ / 2`.
const FIRST_UPDATE: u32 = 500;

/// The time without early drops that begins at the start, and again when waits have been short and
/// the probability is 0: 150 ms.
const BURST_ALLOWANCE: Ticks = 150_000_000 >> SHIFT;

/// Waiting time above which an update adds 0.02 to the probability, in addition to the usual
/// change: 250 ms.
const LONG_WAIT: Ticks = 250_000_000 >> SHIFT;

/// Number of bytes over which the drain rate is measured. Linux: `QUEUE_THRESHOLD`.
const QUEUE_THRESHOLD: u64 = 16384;

/// The number of fraction bits of the drain rate, `avg_dq_rate`. Linux: `PIE_SCALE`.
const PIE_SCALE: u32 = 8;

/// Value of `dq_tstamp` before the first measurement. Linux: `DTIME_INVALID`.
const DTIME_INVALID: Ticks = u64::MAX;

/// Value of `dq_count` while the drain rate is not being measured. Linux: `DQCOUNT_INVALID`.
const DQCOUNT_INVALID: u64 = u64::MAX;

/// A time in units of 64 ns. Linux: `psched_time_t`.
type Ticks = u64;

fn ticks(time: Time) -> Ticks {
    time.0 >> SHIFT
}

/// The parameters in the kernel's units. Linux: `struct pie_params`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    target: Ticks,
    /// Interval between updates, in jiffies; with 0, the timer fires only once, before the run.
    tupdate: u32,
    alpha: u64,
    beta: u64,
    ecn: bool,
    bytemode: bool,
    dq_rate_estimator: bool,
}

impl Settings {
    pub(crate) fn new(params: &PieParams) -> Self {
        Self {
            target: whole_ticks(params.target),
            tupdate: jiffies::jiffies(params.tupdate),
            alpha: scaled(params.alpha),
            beta: scaled(params.beta),
            ecn: params.ecn,
            bytemode: params.bytemode,
            dq_rate_estimator: params.dq_rate_estimator,
        }
    }

    /// Returns the first time within the run at which the timer fires. Updates before the run have
    /// no effect, because the queue is empty and the probability is 0.
    pub(crate) fn first_update(&self) -> Time {
        if self.tupdate == 0 {
            return Time::NEVER;
        }
        jiffies::first_call_in_run(FIRST_UPDATE, self.tupdate)
    }

    /// Returns the next time at which the timer fires after it fired at `now`. If `is_unfinished`,
    /// the call at `now` did only a part of its work, and the timer fires as soon as possible to do
    /// the remaining part.
    pub(crate) fn next_update(&self, now: Time, is_unfinished: bool) -> Time {
        if self.tupdate == 0 {
            return Time::NEVER;
        }
        jiffies::next_call(now, if is_unfinished { 0 } else { self.tupdate })
    }
}

/// Converts a parameter to ticks. As in Linux, the time is first rounded down to whole microseconds
/// of 32 bits, which `tc` passes to the kernel.
fn whole_ticks(span: Span) -> Ticks {
    ((span.0 / NS_PER_US).min(u64::from(u32::MAX)) * NS_PER_US) >> SHIFT
}

/// Converts a weight (`alpha` or `beta`, in 1/16 per second) to the change of the probability per
/// tick of waiting time, before the reduction for small probabilities.
fn scaled(weight: u32) -> u64 {
    u64::from(weight).wrapping_mul(MAX_PROB / TICKS_PER_S) >> 4
}

/// The state of PIE's control law. Every field has the kernel's value, even while the kernel does
/// not use it. Linux: `struct pie_vars`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Law {
    qdelay: Ticks,
    qdelay_old: Ticks,
    burst_time: Ticks,
    dq_tstamp: Ticks,
    prob: u64,
    accu_prob: u64,
    dq_count: u64,
    avg_dq_rate: u32,
}

impl Default for Law {
    fn default() -> Self {
        let mut law = Self {
            qdelay: 0,
            qdelay_old: 0,
            burst_time: 0,
            dq_tstamp: 0,
            prob: 0,
            accu_prob: 0,
            dq_count: 0,
            avg_dq_rate: 0,
        };
        law.restart();
        law
    }
}

impl Law {
    /// Returns the state that the kernel's packet logs contain.
    pub(crate) fn info(&self) -> PieInfo {
        let Self { qdelay, burst_time, prob, accu_prob, .. } = *self;
        PieInfo { qdelay, burst_time, prob, accu_prob }
    }

    /// Restarts the law, but keeps the waiting times and the probability. Linux: `pie_vars_init`.
    fn restart(&mut self) {
        self.burst_time = BURST_ALLOWANCE;
        self.dq_tstamp = DTIME_INVALID;
        self.accu_prob = 0;
        self.dq_count = DQCOUNT_INVALID;
        self.avg_dq_rate = 0;
    }

    /// Records that an arriving packet was dropped, for any reason.
    pub(crate) fn dropped(&mut self) {
        self.accu_prob = 0;
    }

    /// Whether an arriving packet must be dropped or marked. Linux: `pie_drop_early`.
    pub(crate) fn drops_early(
        &mut self,
        settings: &Settings,
        backlog: u64,
        packet: &Queued,
        entropy: &mut impl Entropy,
    ) -> bool {
        if self.burst_time > 0
            || self.qdelay < settings.target / 2 && self.prob < MAX_PROB / 5
            || backlog < 2 * u64::from(PSCHED_MTU)
        {
            return false;
        }
        let local_prob = if settings.bytemode && packet.wire_bytes <= PSCHED_MTU {
            u64::from(packet.wire_bytes) * (self.prob / u64::from(PSCHED_MTU))
        } else {
            self.prob
        };
        self.accu_prob = if local_prob == 0 { 0 } else { self.accu_prob.wrapping_add(local_prob) };
        if self.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let drops = entropy.next_u64() >> 8 < local_prob;
        if drops {
            self.accu_prob = 0;
        }
        drops
    }

    /// Marks a packet if it is ECN-capable and the probability is at most `prob_max`; returns
    /// whether it marked the packet. If the packet cannot be marked, the caller drops the packet.
    pub(crate) fn marks(&self, settings: &Settings, prob_max: u64, packet: &mut Queued) -> bool {
        settings.ecn && self.prob <= prob_max && packet.set_ce()
    }

    /// Called when a packet leaves and `backlog` bytes remain. Updates the waiting time or the
    /// drain rate, and reduces `burst_time`, the time without early drops. Linux:
    /// `pie_process_dequeue`.
    pub(crate) fn dequeued(
        &mut self,
        settings: &Settings,
        now: Time,
        packet: &Queued,
        backlog: u64,
    ) {
        let now = ticks(now);
        let took = if settings.dq_rate_estimator {
            self.measure_rate(now, packet, backlog)
        } else {
            self.measure_wait(now, packet, backlog)
        };
        self.burst_time = self.burst_time.saturating_sub(u64::from(took));
    }

    /// Measures the waiting time in the queue; returns the time in ticks since the previous packet
    /// left.
    fn measure_wait(&mut self, now: Ticks, packet: &Queued, backlog: u64) -> u32 {
        self.qdelay = if backlog == 0 { 0 } else { now.wrapping_sub(ticks(packet.arrived_at)) };
        let last = std::mem::replace(&mut self.dq_tstamp, now);
        if last == DTIME_INVALID { 0 } else { now.wrapping_sub(last) as u32 }
    }

    /// Measures the drain rate; returns the duration of the measurement that ends with this packet,
    /// or 0 if no measurement ends.
    fn measure_rate(&mut self, now: Ticks, packet: &Queued, backlog: u64) -> u32 {
        if backlog >= QUEUE_THRESHOLD && self.dq_count == DQCOUNT_INVALID {
            self.dq_tstamp = now;
            self.dq_count = 0;
        }
        if self.dq_count == DQCOUNT_INVALID {
            return 0;
        }
        self.dq_count += u64::from(packet.wire_bytes);
        if self.dq_count < QUEUE_THRESHOLD {
            return 0;
        }
        let took = now.wrapping_sub(self.dq_tstamp) as u32;
        if took == 0 {
            return 0;
        }
        let rate = ((self.dq_count as u32) << PIE_SCALE) / took;
        self.avg_dq_rate = if self.avg_dq_rate == 0 {
            rate
        } else {
            (self.avg_dq_rate - (self.avg_dq_rate >> 3)) + (rate >> 3)
        };
        if backlog < QUEUE_THRESHOLD {
            self.dq_count = DQCOUNT_INVALID;
        } else {
            self.dq_count = 0;
            self.dq_tstamp = now;
        }
        took
    }

    /// Recomputes the drop probability from the waiting time. Linux: `pie_calculate_probability`.
    pub(crate) fn update(&mut self, settings: &Settings, backlog: u64) {
        let (qdelay, qdelay_old) = if settings.dq_rate_estimator {
            self.qdelay_old = self.qdelay;
            let scaled = (backlog as u32) << PIE_SCALE;
            (u64::from(scaled.checked_div(self.avg_dq_rate).unwrap_or(0)), self.qdelay)
        } else {
            (self.qdelay, self.qdelay_old)
        };
        let old_prob = self.prob;
        let delta = self.step(settings, qdelay, qdelay_old);
        self.prob = old_prob.wrapping_add(delta.cast_unsigned());
        // If packets wait although the measured waiting time is 0, the probability does not decay.
        let mut may_decay = qdelay != 0 || backlog == 0;
        if delta > 0 {
            if self.prob < old_prob {
                self.prob = MAX_PROB;
                may_decay = false;
            }
        } else if self.prob > old_prob {
            self.prob = 0;
        }
        if qdelay == 0 && qdelay_old == 0 && may_decay {
            self.prob -= self.prob / 64;
        }
        self.qdelay = qdelay;
        let half = settings.target / 2;
        if self.qdelay < half
            && self.qdelay_old < half
            && self.prob == 0
            && (!settings.dq_rate_estimator || self.avg_dq_rate > 0)
        {
            self.restart();
        }
        if !settings.dq_rate_estimator {
            self.qdelay_old = qdelay;
        }
    }

    /// Returns the change of the probability at an update, as a share of [`MAX_PROB`].
    fn step(&self, settings: &Settings, qdelay: Ticks, qdelay_old: Ticks) -> i64 {
        let (mut alpha, mut beta) = (settings.alpha, settings.beta);
        if self.prob < MAX_PROB / 10 {
            alpha >>= 1;
            beta >>= 1;
            let mut power = 100;
            while self.prob < MAX_PROB / power && power <= 1_000_000 {
                alpha >>= 2;
                beta >>= 2;
                power *= 10;
            }
        }
        let mut delta = alpha
            .wrapping_mul(qdelay.wrapping_sub(settings.target))
            .wrapping_add(beta.wrapping_mul(qdelay.wrapping_sub(qdelay_old)))
            .cast_signed();
        if delta > (MAX_PROB / 50).cast_signed() && self.prob >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2).cast_signed();
        }
        if qdelay > LONG_WAIT {
            delta = delta.wrapping_add((MAX_PROB / 50).cast_signed());
        }
        delta
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{BURST_ALLOWANCE, Law, MAX_PROB, Settings, Ticks};
    use bbrlab_link::PieParams;
    use bbrlab_units::{Ecn, Time};
    use expect_test::{Expect, expect};

    use crate::entropy::Entropy;
    use crate::packet::Queued;

    fn ms(ms: u64) -> Ticks {
        (ms * 1_000_000) >> 6
    }

    /// Converts a probability to millionths.
    fn millionths(prob: u64) -> u64 {
        u64::try_from(u128::from(prob) * 1_000_000 / u128::from(MAX_PROB)).unwrap()
    }

    /// A source of random numbers that are all equal.
    struct Draw(u64);

    impl Entropy for Draw {
        fn flow_hash(&mut self, _: &Queued) -> u32 {
            unreachable!("PIE needs no hash")
        }

        fn next_u32(&mut self) -> u32 {
            unreachable!("PIE draws 64 bits")
        }

        fn next_u64(&mut self) -> u64 {
            self.0
        }
    }

    fn packet(ecn: Ecn) -> Queued {
        Queued {
            handle: 0,
            flow: 0,
            wire_bytes: 1514,
            ecn,
            dscp: 0,
            hosts: crate::Hosts::default(),
            tin: 0,
            marked: false,
            arrived_at: Time::ZERO,
        }
    }

    /// Makes a law with a drop probability of `prob_millionths`. The law's last two measured
    /// waiting times are `qdelay_ms`.
    fn law(prob_millionths: u64, qdelay_ms: u64) -> Law {
        let prob = u128::from(MAX_PROB) * u128::from(prob_millionths) / 1_000_000;
        let prob = u64::try_from(prob).unwrap();
        let qdelay = ms(qdelay_ms);
        Law { prob, qdelay, qdelay_old: qdelay, burst_time: 0, ..Law::default() }
    }

    /// Compares with `expected` the drop probability after an update, for each probability in
    /// `before`. All probabilities are in millionths.
    fn check(qdelay_ms: u64, qdelay_old_ms: u64, before: &[u64], expected: &Expect) {
        let settings = Settings::new(&PieParams::DEFAULT);
        let mut lines = String::new();
        for &before in before {
            let mut law = law(before, qdelay_ms);
            law.qdelay_old = ms(qdelay_old_ms);
            law.update(&settings, 15_140);
            writeln!(lines, "{before} -> {}", millionths(law.prob)).unwrap();
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn steps_are_smaller_while_the_probability_is_small() {
        // RFC 8033, 5.1, scales the step with the probability. The factor is 1/2048 below a
        // probability of 0.000001, grows in stages to 1/2 below 0.1, and is 1 from 0.1 on. Before
        // the scaling, the step is 2/16 Hz x 0.08 s + 20/16 Hz x 0.08 s = 0.11. Alpha (2/16 Hz)
        // applies to the waiting time of 95 ms less the target of 15 ms. Beta (20/16 Hz) applies to
        // the waiting time less the previous waiting time of 15 ms.
        check(
            95,
            15,
            &[0, 5, 50, 500, 5_000, 50_000],
            &expect![[r#"
                0 -> 53
                5 -> 219
                50 -> 909
                500 -> 3937
                5000 -> 18749
                50000 -> 104999
            "#]],
        );
    }

    #[test]
    fn a_step_up_is_at_most_2_percent_above_10_percent() {
        check(
            95,
            15,
            &[99_999, 100_001, 500_000],
            &expect![[r#"
                99999 -> 154998
                100001 -> 120000
                500000 -> 519999
            "#]],
        );
    }

    #[test]
    fn a_step_down_is_not_limited() {
        check(
            0,
            100,
            &[100_001, 500_000],
            &expect![[r#"
                100001 -> 0
                500000 -> 373125
            "#]],
        );
    }

    #[test]
    fn a_wait_above_250_ms_adds_2_percent() {
        check(
            250,
            250,
            &[200_000],
            &expect![[r#"
                200000 -> 219999
            "#]],
        );
        check(
            251,
            251,
            &[200_000],
            &expect![[r#"
                200000 -> 239999
            "#]],
        );
    }

    #[test]
    fn the_probability_decays_by_a_64th_of_itself_while_the_queue_is_empty() {
        let settings = Settings::new(&PieParams { alpha: 0, beta: 0, ..PieParams::DEFAULT });
        let mut law = law(640_000, 0);
        law.update(&settings, 0);
        assert_eq!(millionths(law.prob), 629_999);
        // The measured waiting time is 0, but a packet waits, so the probability does not decay.
        law.update(&settings, 1514);
        assert_eq!(millionths(law.prob), 629_999);
    }

    #[test]
    fn after_an_idle_time_a_burst_of_150_ms_is_let_through() {
        let settings = Settings::new(&PieParams::DEFAULT);
        let mut law = law(0, 0);
        law.update(&settings, 0);
        assert_eq!(law.burst_time, BURST_ALLOWANCE);
        for at_ms in 0..150 {
            law.dequeued(&settings, Time(at_ms * 1_000_000), &packet(Ecn::NotEct), 15_140);
            law.prob = MAX_PROB;
            assert!(!law.drops_early(&settings, 15_140, &packet(Ecn::NotEct), &mut Draw(0)));
        }
        law.dequeued(&settings, Time(150_000_000), &packet(Ecn::NotEct), 15_140);
        assert_eq!(law.burst_time, 0);
        assert!(law.drops_early(&settings, 15_140, &packet(Ecn::NotEct), &mut Draw(0)));
    }

    #[test]
    fn no_packet_is_dropped_before_the_sum_of_probabilities_is_85_percent_and_each_from_8_5_on() {
        let settings = Settings::new(&PieParams::DEFAULT);
        for (draw, dropped) in [(0, 9), (u64::MAX, 85)] {
            let mut law = law(100_000, 20);
            let drops_at = (1..100).find(|_| {
                law.drops_early(&settings, 15_140, &packet(Ecn::NotEct), &mut Draw(draw))
            });
            // The probability, 0.1, is rounded down, so the sum of probabilities may reach its
            // threshold, 0.85 or 8.5, one packet later.
            assert!(
                matches!(drops_at, Some(n) if n == dropped || n == dropped + 1),
                "{drops_at:?}"
            );
        }
    }

    #[test]
    fn short_queues_and_small_probabilities_at_half_the_target_are_spared() {
        let settings = Settings::new(&PieParams::DEFAULT);
        let drops = |prob, qdelay_ms, backlog| {
            let mut law = law(prob, qdelay_ms);
            law.accu_prob = MAX_PROB;
            law.drops_early(&settings, backlog, &packet(Ecn::NotEct), &mut Draw(0))
        };
        assert!(drops(100_000, 8, 3028));
        assert!(!drops(100_000, 8, 3027));
        assert!(!drops(199_999, 7, 3028));
        assert!(drops(200_001, 7, 3028));
    }

    #[test]
    fn in_bytemode_the_probability_of_a_small_packet_is_in_proportion_to_its_size() {
        let settings = Settings::new(&PieParams { bytemode: true, ..PieParams::DEFAULT });
        let mut law = law(100_000, 20);
        let small = Queued { wire_bytes: 757, ..packet(Ecn::NotEct) };
        law.drops_early(&settings, 15_140, &small, &mut Draw(u64::MAX));
        assert_eq!(millionths(law.accu_prob), 49_999);
    }

    #[test]
    fn the_drain_rate_is_measured_over_16_kilobytes() {
        let settings = Settings::new(&PieParams { dq_rate_estimator: true, ..PieParams::DEFAULT });
        let mut law = Law::default();
        // A packet of 1,514 B departs every 1.2112 ms, which is 10 Mbit/s.
        for n in 0..20 {
            law.dequeued(&settings, Time(n * 1_211_200), &packet(Ecn::NotEct), 30_280);
        }
        // The rate of 1.25 B/us is 0.08 B per tick of 64 ns, or 20.48 in the field's unit of 2^-8 B
        // per tick. The measurement counts the bytes of 11 packets, but only the 10 intervals
        // between them, so it gives 22.5, rounded down to 22.
        assert_eq!(law.avg_dq_rate, 22);
        law.update(&settings, 30_280);
        assert_eq!(law.qdelay, (30_280 << 8) / 22);
    }

    #[test]
    fn packets_are_marked_up_to_the_given_probability() {
        let settings = Settings::new(&PieParams { ecn: true, ..PieParams::DEFAULT });
        let mut ect = packet(Ecn::Ect0);
        assert!(!law(100_001, 20).marks(&settings, MAX_PROB / 10, &mut ect));
        assert!(!law(99_999, 20).marks(&settings, MAX_PROB / 10, &mut packet(Ecn::NotEct)));
        assert!(!ect.marked);
        assert!(law(99_999, 20).marks(&settings, MAX_PROB / 10, &mut ect));
        assert!(ect.marked);
    }
}
