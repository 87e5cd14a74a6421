//! The PI2 control law. The controller computes one value from the waiting time, and from this
//! value the drop and mark probabilities of both queues.
//!
//! A classic sender's rate depends on the square root of the drop probability, and a scalable
//! sender's rate depends on the mark probability itself. The law therefore controls `p'`, the
//! square root of the drop probability. A classic packet is dropped with probability `p'` squared,
//! a scalable packet is marked with probability `k p'`. With this coupling, classic and scalable
//! senders have about equal rates. Unlike PIE, the law needs no table of step sizes.
//!
//! Sources: [linux-dualpi2] `net/sched/sch_dualpi2.c`: `calculate_probability`, `dualpi2_roll`;
//! [rfc9332] 2.1, A.1.
//! Deviations: none.

use bbrlab_link::DualPi2Params;
use bbrlab_units::{NS_PER_S, NS_PER_US, Span};

use crate::entropy::Entropy;

/// A probability of 1. Linux: `MAX_PROB`.
pub(super) const MAX_PROB: u32 = u32::MAX;

/// log2 of the ratio of two units: the parameters `alpha` and `beta` are in 2^-8 Hz, the law's
/// weights in 2^-6 Hz. Linux: `ALPHA_BETA_SCALING`.
const SCALING: u32 = 2;

/// The right shift that converts the sum of the weighted times to a change of `p'`. Linux:
/// `ALPHA_BETA_GRANULARITY`.
const GRANULARITY: u32 = 6;

/// The parameters and the state of PI2's control law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pi2 {
    target_ns: i64,
    alpha: u32,
    beta: u32,
    coupling_factor: u8,
    drop_on_overload: bool,
    /// `p'`, as a share of [`MAX_PROB`].
    prob: u32,
    last_qdelay_ns: i64,
}

/// The law's decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Mark,
    Drop,
}

/// Rounds a parameter down to the whole microseconds in 32 bits that `tc` passes to the kernel.
pub(super) fn whole_us(span: Span) -> Span {
    Span((span.0 / NS_PER_US).min(u64::from(u32::MAX)) * NS_PER_US)
}

impl Pi2 {
    pub(super) fn new(params: &DualPi2Params) -> Self {
        Self {
            target_ns: whole_us(params.target).0.cast_signed(),
            alpha: scaled(params.alpha),
            beta: scaled(params.beta),
            coupling_factor: params.coupling_factor.max(1),
            drop_on_overload: params.drop_on_overload,
            prob: 0,
            last_qdelay_ns: 0,
        }
    }

    /// Updates `p'` from `qdelay`, the longer of the waiting times at the heads of the two queues.
    /// Linux: `calculate_probability`.
    pub(super) fn update(&mut self, qdelay: Span) {
        let qdelay_ns = i64::try_from(qdelay.0).unwrap_or(i64::MAX);
        let integral = qdelay_ns.wrapping_sub(self.target_ns).wrapping_mul(self.alpha.into());
        let change = qdelay_ns.wrapping_sub(self.last_qdelay_ns).wrapping_mul(self.beta.into());
        let delta = integral.wrapping_add(change);
        self.last_qdelay_ns = qdelay_ns;
        // As in the kernel, if `p'` would change by more than 1, only the fractional part of the
        // change counts.
        let step = (delta.unsigned_abs() >> GRANULARITY) as u32;
        let prob = if delta > 0 {
            let new = self.prob.wrapping_add(step);
            if new < self.prob { MAX_PROB } else { new }
        } else {
            let new = self.prob.wrapping_sub(step);
            if new > self.prob { 0 } else { new }
        };
        self.prob = if self.drop_on_overload {
            prob
        } else {
            prob.min(MAX_PROB / u32::from(self.coupling_factor))
        };
    }

    /// Returns the mark probability of the L queue, `k p'`, which may exceed [`MAX_PROB`].
    fn coupled(&self) -> u64 {
        u64::from(self.prob) * u64::from(self.coupling_factor)
    }

    /// Whether marks alone cannot control the L queue, because their probability would exceed 1.
    fn is_overloaded(&self) -> bool {
        self.coupled() > u64::from(MAX_PROB)
    }

    /// Decides about a packet of the classic queue: with probability `p'` squared, the packet is
    /// marked or dropped. The packet is marked if it is ECN-capable and the law is not overloaded;
    /// if not, the packet is dropped. Linux: `dualpi2_classic_marking`.
    pub(super) fn classic(&self, is_ect: bool, entropy: &mut impl Entropy) -> Verdict {
        if !self.squared(entropy) {
            Verdict::Pass
        } else if self.is_overloaded() || !is_ect {
            Verdict::Drop
        } else {
            Verdict::Mark
        }
    }

    /// Decides about a packet of the L queue. Without overload, the packet is marked with
    /// probability `k p'`. In overload, the packet is dropped with probability `p'` squared if
    /// `drop_on_overload` is set; every packet that is not dropped is marked. Linux:
    /// `dualpi2_scalable_marking`.
    pub(super) fn scalable(&self, entropy: &mut impl Entropy) -> Verdict {
        if self.is_overloaded() {
            return if self.drop_on_overload && self.squared(entropy) {
                Verdict::Drop
            } else {
                Verdict::Mark
            };
        }
        if roll(self.coupled() as u32, entropy) { Verdict::Mark } else { Verdict::Pass }
    }

    /// Draws whether an event with probability `p'` squared occurs. Both of two draws with
    /// probability `p'` must succeed; the second is made only if the first succeeds.
    fn squared(&self, entropy: &mut impl Entropy) -> bool {
        roll(self.prob, entropy) && roll(self.prob, entropy)
    }
}

/// Converts a weight to a change of `p'` per nanosecond, as a share of [`MAX_PROB`]. Linux:
/// `dualpi2_scale_alpha_beta`.
fn scaled(weight: u32) -> u32 {
    (((u64::from(weight) * u64::from(MAX_PROB)) >> SCALING) / NS_PER_S) as u32
}

/// Draws whether an event with the probability `prob` occurs. Linux: `dualpi2_roll`.
fn roll(prob: u32, entropy: &mut impl Entropy) -> bool {
    entropy.next_u32() <= prob
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
mod tests {
    use super::{MAX_PROB, Pi2, Verdict};
    use crate::entropy::Entropy;
    use crate::packet::Queued;
    use bbrlab_link::DualPi2Params;
    use bbrlab_units::{Span, split_mix};

    /// Uniform random numbers.
    struct Uniform(u64);

    impl Entropy for Uniform {
        fn flow_hash(&mut self, _: &Queued) -> u32 {
            unreachable!("PI2 needs no hash")
        }

        fn next_u32(&mut self) -> u32 {
            (split_mix(&mut self.0) >> 32) as u32
        }

        fn next_u64(&mut self) -> u64 {
            unreachable!("PI2 draws 32 bits")
        }
    }

    /// Makes a law with a `p'` of `ppm` millionths.
    fn pi2(ppm: u64, params: DualPi2Params) -> Pi2 {
        let prob = u64::from(MAX_PROB) * ppm / 1_000_000;
        Pi2 { prob: u32::try_from(prob).unwrap(), ..Pi2::new(&params) }
    }

    const DRAWS: u64 = 200_000;

    /// Returns how many of [`DRAWS`] packets have the verdict `verdict`.
    fn count(verdict: Verdict, mut of: impl FnMut() -> Verdict) -> u64 {
        (0..DRAWS).filter(|_| of() == verdict).count() as u64
    }

    /// Checks that the count `found` differs from the count expected for a probability of `ppm`
    /// millionths by at most five standard deviations of a binomial distribution.
    fn check(what: &str, found: u64, ppm: u64) {
        let expected = DRAWS * ppm / 1_000_000;
        let variance = expected * (1_000_000 - ppm) / 1_000_000;
        let tolerance = 5 * variance.isqrt() + 1;
        assert!(found.abs_diff(expected) <= tolerance, "{what}: {found}, expected {expected}");
    }

    #[test]
    fn the_queues_are_coupled_as_in_rfc_9332() {
        // RFC 9332, 2.1: p_CL = k p' and p_C = p'^2, hence p_C = (p_CL / k)^2, for each k. With
        // probability p_C, a classic packet is marked if it is ECN-capable, and dropped if it is
        // not.
        let mut draws = Uniform(1);
        for k in [1, 2, 3] {
            let params = DualPi2Params { coupling_factor: k, ..DualPi2Params::DEFAULT };
            for ppm in [0, 10_000, 50_000, 100_000, 200_000, 333_000] {
                let pi2 = pi2(ppm, params);
                let p_cl = count(Verdict::Mark, || pi2.scalable(&mut draws));
                check("p_CL", p_cl, ppm * u64::from(k));
                let p_c = ppm * ppm / 1_000_000;
                check("p_C", count(Verdict::Drop, || pi2.classic(false, &mut draws)), p_c);
                check("p_C", count(Verdict::Mark, || pi2.classic(true, &mut draws)), p_c);
                assert_eq!(count(Verdict::Drop, || pi2.scalable(&mut draws)), 0);
            }
        }
    }

    #[test]
    fn with_overload_l4s_packets_are_dropped_as_classic_ones_and_the_rest_marked() {
        // RFC 9332, 2.5.1.2 and A.1: from p' = 1 / k on, marks alone cannot control the queue.
        let mut draws = Uniform(2);
        let pi2 = pi2(600_000, DualPi2Params::DEFAULT);
        check("L drop", count(Verdict::Drop, || pi2.scalable(&mut draws)), 360_000);
        assert_eq!(count(Verdict::Pass, || pi2.scalable(&mut draws)), 0);
        check("C drop", count(Verdict::Drop, || pi2.classic(true, &mut draws)), 360_000);
        assert_eq!(count(Verdict::Mark, || pi2.classic(true, &mut draws)), 0);
    }

    #[test]
    fn without_drop_on_overload_the_probability_of_a_mark_stops_at_1() {
        let params = DualPi2Params { drop_on_overload: false, ..DualPi2Params::DEFAULT };
        let mut pi2 = Pi2::new(&params);
        (0..1000).for_each(|_| pi2.update(Span::from_secs(1)));
        assert_eq!(pi2.prob, MAX_PROB / 2);
        let mut draws = Uniform(3);
        assert_eq!(count(Verdict::Mark, || pi2.scalable(&mut draws)), DRAWS);
        check("C", count(Verdict::Mark, || pi2.classic(true, &mut draws)), 250_000);
    }

    #[test]
    fn the_law_is_the_proportional_integral_one_of_rfc_9332() {
        // RFC 9332, A.1: p' += alpha (wait - target) + beta (wait - wait before), with alpha 0.16
        // Hz, beta 3.2 Hz and a target of 15 ms. The kernel's integers give the weights 0.1601 and
        // 3.1978, less than 0.1 % off.
        let mut pi2 = Pi2::new(&DualPi2Params::DEFAULT);
        let (mut p, mut before) = (0.0_f64, 0.0);
        for wait_ms in [15, 20, 25, 25, 40, 10, 12, 30, 30] {
            pi2.update(Span::from_millis(wait_ms));
            let wait = wait_ms as f64 / 1000.0;
            p += 0.16 * (wait - 0.015) + 3.2 * (wait - before);
            before = wait;
            let found = f64::from(pi2.prob) / f64::from(MAX_PROB);
            assert!((found - p).abs() < p * 0.001, "{wait_ms} ms: {found}, expected {p}");
        }
    }

    #[test]
    fn the_probability_stays_between_0_and_1() {
        let mut pi2 = Pi2::new(&DualPi2Params::DEFAULT);
        for wait_ms in [100, 200, 300, 400] {
            pi2.update(Span::from_millis(wait_ms));
        }
        assert_eq!(pi2.prob, MAX_PROB);
        for wait_ms in [300, 200, 100, 0] {
            pi2.update(Span::from_millis(wait_ms));
        }
        assert_eq!(pi2.prob, 0);
    }

    #[test]
    fn a_step_beyond_1_wraps_as_in_the_kernel() {
        // The waiting time falls from 400 ms to 0 in one update: the step is 3.1978 x 0.4 + 0.1601
        // x 0.015 = 1.2815. The 32 bits of the fraction contain only 0.2815.
        let mut pi2 = pi2(1_000_000, DualPi2Params::DEFAULT);
        pi2.last_qdelay_ns = 400_000_000;
        pi2.update(Span::ZERO);
        assert_eq!(u64::from(pi2.prob) * 10_000 / u64::from(MAX_PROB), 7184);
    }

    #[test]
    fn the_default_weights_are_the_kernels_integers() {
        let pi2 = Pi2::new(&DualPi2Params::DEFAULT);
        assert_eq!((pi2.alpha, pi2.beta), (44, 879));
    }
}
